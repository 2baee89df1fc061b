"""Other programs that compute scores in memory: parasail, pyopal, Biopython and StringZilla."""

import atexit
import os
import pickle
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from itertools import pairwise
from multiprocessing import get_all_start_methods, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Literal, TypeAlias

import Bio
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array

from glsw import Alphabet, Batch, Scoring, Sequences
from glsw.engines import Reference
from glsw.scoring.gaps import MODES

try:
    import parasail
except ImportError:
    parasail = None
try:
    import pyopal
    from scoring_matrices import ScoringMatrix
except ImportError:
    pyopal = None  # type: ignore[assignment,unused-ignore]

SHARES = 8  # of the pairs, for each core: one that is done takes the next
Scores: TypeAlias = npt.NDArray[np.int32]
Ready: TypeAlias = Callable[[], Scores]
_BLOSUM62 = Scoring.named("BLOSUM62", 12, 1)


class Competitor(ABC):
    """Another program that computes scores; ``path`` is that of a command."""

    name: str
    version: str
    function: str | None = None  # which of its functions is called, where it has several
    shown = False  # the function belongs to the name
    parallel = False  # it uses several cores by itself

    def __init__(self, scoring: Scoring, cores: int = 1, path: str = "") -> None:
        self._scoring, self._cores, self._path = scoring, cores, path

    @abstractmethod
    def prepared(self, batch: Batch) -> AbstractContextManager[Ready]:
        """Give what returns the score of each pair, or those that are `listed`: that is timed."""

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it takes these scores, by default every matrix of single letters."""
        return isinstance(scoring.alphabet.letters, str)

    def listed(self, scores: Scores) -> Scores:
        return scores

    def scores_of(self, batch: Batch) -> Scores:
        with self.prepared(batch) as scores:
            return scores()


def is_blosum62(scoring: Scoring) -> bool:
    same = scoring.alphabet == _BLOSUM62.alphabet
    return same and np.array_equal(scoring.matrix, _BLOSUM62.matrix)


def mode_of(scoring: Scoring) -> str:
    """Return whether alignments are local, global or semi-global; ValueError for other ends."""
    for mode in MODES:
        if scoring.end_gaps == scoring.in_mode(mode).end_gaps:
            return mode
    raise ValueError(f"{scoring.name}: gaps at the ends have costs of their own")


def _table(scoring: Scoring) -> tuple[str, npt.NDArray[Any]]:
    """Return the letters of an alphabet and their scores."""
    letters = "".join(scoring.alphabet.letters)
    return letters, scoring.matrix[: len(letters), : len(letters)]


def texts(alphabet: Alphabet, sequences: Sequences) -> list[str]:
    """Return the letters of sequences."""
    letters = alphabet.decode(sequences.residues)
    return [letters[start:end] for start, end in pairwise(sequences.offsets.tolist())]


def _letters(scoring: Scoring, batch: Batch) -> tuple[str, list[str]]:
    """Return the query and the targets of a batch as texts."""
    alphabet, targets = scoring.alphabet, batch.targets.select(batch.target_index)
    return alphabet.decode(batch.queries[0]), texts(alphabet, targets)


class Pyopal(Competitor):
    """pyopal: Opal, many targets at a time in SIMD registers, and in threads."""

    name, parallel = "pyopal", True
    version = str(getattr(pyopal, "__version__", None))

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        letters, matrix = _table(self._scoring)
        costs = {"gap_open": self._scoring.gap_open, "gap_extend": self._scoring.gap_extend}
        aligner = pyopal.Aligner(ScoringMatrix(matrix.tolist(), letters), **costs)
        query, targets = _letters(self._scoring, batch)
        database = pyopal.Database(targets, aligner.alphabet)
        parts = batch.parts(1 if self._cores == 1 else SHARES * self._cores)

        def score(part: slice) -> Scores:
            found = aligner.align(query, database, start=part.start, end=part.stop)
            return np.array([each.score for each in found], np.int32)

        with ThreadPoolExecutor(self._cores) as pool:
            yield lambda: np.concatenate(list(pool.map(score, parts)))


def _texts(scoring: Scoring, batch: Batch) -> list[tuple[str, str]]:
    """Return the query and the target of each pair."""
    found, which = np.unique(batch.query_index, return_inverse=True)
    queries = texts(scoring.alphabet, batch.queries.select(found))
    targets = texts(scoring.alphabet, batch.targets.select(batch.target_index))
    return list(zip(map(queries.__getitem__, which.tolist()), targets, strict=True))


Method: TypeAlias = Literal["plain", "simd", "trace"]


class Parasail(Competitor):
    """parasail, for every matrix of single letters; its time includes the loop of Python.

    Method ``"plain"`` is its code without SIMD instructions, a cell at a time: what papers call a
    sequential CPU. ``"simd"`` is striped, or with linear gaps the scan: some scores of the striped
    functions of version 1.3.4 are too low there. A query of many targets has one profile.
    ``"trace"`` is the same with the alignment, as CIGAR. The numbers have as many bits as needed.
    Alignments may be global or semi-global; of these parasail leaves out the one of nothing but
    gaps, which scores 0.
    """

    name, version = "parasail", str(getattr(parasail, "__version__", None))
    function: str

    def __init__(self, scoring: Scoring, method: Method = "simd") -> None:
        super().__init__(scoring)
        self._method = method
        kind = "scan" if scoring.linear else "striped"
        kinds = {"plain": "", "simd": f"_{kind}_sat", "trace": f"_trace_{kind}_sat"}
        names = {"local": "sw", "global": "nw", "semiglobal": "sg"}
        self.function = names[mode_of(scoring)] + kinds[method]

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return parasail is not None and Competitor.available(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        letters, scores = _table(self._scoring)
        matrix = parasail.matrix_create(letters, 0, 0)
        for place, number in np.ndenumerate(scores):
            matrix.set_value(*place, int(number))
        costs = self._scoring.gap_open, self._scoring.gap_extend
        pairs, name = _texts(self._scoring, batch), self.function
        least = 0 if name.startswith("sg") else -(2**31)
        one = self._method == "simd" and len(pairs) > 1 and np.ptp(batch.query_index) == 0
        align = getattr(parasail, name.replace("_sat", "_profile_sat") if one else name)

        def score(result: Any) -> int:
            if self._method == "trace":
                result.cigar  # noqa: B018  walks back
            return max(int(result.score), least)

        def scores_of_pairs() -> Scores:
            if one:
                profile = parasail.profile_create_sat(pairs[0][0], matrix)
                found = [score(align(profile, target, *costs)) for _, target in pairs]
            else:
                found = [score(align(*pair, *costs, matrix)) for pair in pairs]
            return np.array(found, np.int32)

        yield scores_of_pairs


def judge(scoring: Scoring, batch: Batch) -> tuple[str, Scores]:
    """Return who judges pairs, parasail or the reference, and their scores."""
    if Parasail.available(scoring):
        return Parasail.name, Parasail(scoring).scores_of(batch)
    return Reference.name, Reference(scoring).scores(batch)


class Biopython(Competitor):
    """Biopython's ``PairwiseAligner``, a pair at a time, for every matrix of single letters."""

    name, version = "Biopython", str(Bio.__version__)

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return scoring.local and Competitor.available(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        letters, matrix = _table(self._scoring)
        aligner: Any = PairwiseAligner(mode="local")  # type: ignore[no-untyped-call]
        aligner.substitution_matrix = Array(letters, 2, matrix.astype(float))  # type: ignore[no-untyped-call]
        aligner.open_gap_score = -self._scoring.gap_open
        aligner.extend_gap_score = -self._scoring.gap_extend
        pairs, score = _texts(self._scoring, batch), aligner.score
        yield lambda: np.array([score(*pair) for pair in pairs], np.int32)


@cache
def stringzilla_scope() -> tuple[Any, bool, str]:
    """Return StringZilla's scope of work, whether that is a GPU, and its version."""
    import stringzillas

    on_gpu = "cuda" in stringzillas.__capabilities__
    words = {"gpu_device": 0} if on_gpu else {"cpu_cores": 1}
    return stringzillas.DeviceScope(**words), on_gpu, str(stringzillas.__version__)


def stringzilla_name() -> str:
    return "StringZilla GPU" if stringzilla_scope()[1] else "StringZilla"


def strings(texts: Sequence[str]) -> Any:
    """Return texts as StringZilla takes them, on the GPU if it works there."""
    import stringzilla
    import stringzillas

    made = stringzilla.Strs(list(texts))
    return stringzillas.to_device(made) if stringzilla_scope()[1] else made


class StringZilla(Competitor):
    """StringZilla: one query with many targets, local or global, on a GPU or one core."""

    def __init__(self, scoring: Scoring) -> None:
        import stringzillas

        super().__init__(scoring)
        self.name = stringzilla_name()
        self._scope, _, self.version = stringzilla_scope()
        classes, costs = np.zeros(256, np.uint8), np.zeros((32, 32), np.int8)
        letters, matrix = _table(scoring)
        classes[np.frombuffer(letters.encode(), np.uint8)] = np.arange(len(letters))
        costs[: len(letters), : len(letters)] = matrix
        gaps = {"open": -scoring.gap_open, "extend": -scoring.gap_extend}
        made = (
            stringzillas.SmithWatermanScores
            if scoring.local
            else (stringzillas.NeedlemanWunschScores)
        )
        self._engine = made(classes, costs, **gaps, capabilities=self._scope)

    def matrix(self, queries: Any, targets: Any) -> Any:
        return np.asarray(self._engine(queries, targets, device=self._scope)).astype(np.int32)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        query, targets = _letters(self._scoring, batch)
        sides = strings([query]), strings(targets)
        yield lambda: self.matrix(*sides).ravel()


_CONTEXT: Any = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
if _CONTEXT.get_start_method() == "forkserver":  # one process imports this, for all of a run
    _CONTEXT.set_forkserver_preload([__name__])


class Processes(Competitor):
    """A program in several processes; they prepare their shares before the clock starts."""

    def __init__(self, make: Callable[[], Competitor], cores: int) -> None:
        self._make, self._cores, one = make, cores, make()
        self.name, self.version, self.function = one.name, one.version, one.function

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        shares = [batch.select(part).compact() for part in batch.parts(SHARES * self._cores)]
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            # Through a file: what goes through a pipe is written while each process starts.
            path = Path(folder, "pairs")
            path.write_bytes(pickle.dumps(shares))
            words: Any = {"initializer": _keep, "initargs": (self._make, path)}
            with ProcessPoolExecutor(self._cores, _CONTEXT, **words) as pool:
                for started in [pool.submit(os.getpid) for _ in range(self._cores)]:
                    started.result()  # processes are started when they are needed
                yield lambda: np.concatenate(list(pool.map(_kept_scores, range(len(shares)))))


def on_cores(make: Callable[[], Competitor], cores: int) -> Competitor:
    """Return a program that uses one core by itself on so many."""
    return make() if cores == 1 else Processes(make, cores)


_kept: list[Ready] = []


def _keep(make: Callable[[], Competitor], path: Path) -> None:
    """Prepare in a process the shares in a file; end with the process that has started it."""
    Thread(target=_end_with_parent, daemon=True).start()
    competitor, stack = make(), ExitStack()
    for share in pickle.loads(path.read_bytes()):
        _kept.append(stack.enter_context(competitor.prepared(share)))
    atexit.register(stack.close)


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()  # which may have been killed
    os._exit(1)


def _kept_scores(share: int) -> Scores:
    return _kept[share]()
