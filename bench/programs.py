"""Other programs that compute scores in memory: parasail, pyopal, Biopython and StringZilla."""

from __future__ import annotations

import atexit
import os
import pickle
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Literal, TypeAlias

import Bio
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array

from glsw.batch import Batch
from glsw.engines import Reference
from glsw.scoring.scoring import Scoring

try:
    import parasail
except ImportError:
    parasail = None
try:
    import pyopal
    from scoring_matrices import ScoringMatrix
except ImportError:
    pyopal = None  # type: ignore[assignment,unused-ignore]

_BLOSUM62 = Scoring.named("BLOSUM62", 12, 1)
SHARES = 8
"""Of the pairs, for each core: one that is done takes the next."""
Scores: TypeAlias = npt.NDArray[np.int32]


class Competitor(ABC):
    """Another program that computes scores."""

    name: str
    version: str
    function: str | None = None  # which of its functions is called, where it has several
    shown = False  # the function belongs to the name

    @abstractmethod
    def prepared(self, batch: Batch) -> AbstractContextManager[Any]:
        """Give the pairs as `scores` takes them; that is not timed."""

    @abstractmethod
    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair, or those that it lists: see `listed`."""

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it takes these scores, by default every matrix of single letters."""
        return isinstance(scoring.alphabet.letters, str)

    @classmethod
    def on(cls, cores: int, scoring: Scoring, path: str) -> Competitor:
        """Return the program on so many cores; ``path`` is that of a command."""
        return on_cores(partial(cls, scoring), cores)  # type: ignore[call-arg]

    def listed(self, scores: Scores) -> Scores:
        return scores

    def scores_of(self, batch: Batch) -> Scores:
        with self.prepared(batch) as prepared:
            return self.scores(prepared)


# one query


def letters_of(scoring: Scoring, batch: Batch) -> tuple[str, list[str]]:
    """Return the query and the targets of a batch as texts."""
    decode = scoring.alphabet.decode
    return decode(batch.queries[0]), [decode(batch.targets[int(k)]) for k in batch.target_index]


def is_blosum62(scoring: Scoring) -> bool:
    same = scoring.alphabet == _BLOSUM62.alphabet
    return same and np.array_equal(scoring.matrix, _BLOSUM62.matrix)


class Parasail(Competitor):
    """parasail's striped Smith-Waterman, one profile a query, wider numbers where 8 bits overflow.

    Linear gaps are left to its scan: some scores of the striped functions of version 1.3.4 are too
    low there. Its time includes the Python loop and result object of its binding.
    """

    name = "parasail"

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.version = str(parasail.__version__)

    available = staticmethod(is_blosum62)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        yield letters_of(self._scoring, batch)

    def scores(self, prepared: Any) -> Scores:
        query, targets = prepared
        costs = self._scoring.gap_open, self._scoring.gap_extend
        kind = "scan" if self._scoring.linear else "striped"
        align = getattr(parasail, f"sw_{kind}_profile_sat")
        profile = parasail.profile_create_sat(query, parasail.blosum62)
        return np.array([align(profile, target, *costs).score for target in targets], np.int32)


class Pyopal(Competitor):
    """pyopal: Opal, many targets at a time in SIMD registers, and in threads."""

    name = "pyopal"

    def __init__(self, scoring: Scoring, cores: int = 1) -> None:
        self._scoring, self._cores = scoring, cores
        letters = "".join(scoring.alphabet.letters)
        scores = scoring.matrix[: len(letters), : len(letters)].tolist()
        costs = {"gap_open": scoring.gap_open, "gap_extend": scoring.gap_extend}
        self._aligner = pyopal.Aligner(ScoringMatrix(scores, letters), **costs)
        self.version = str(pyopal.__version__)

    @classmethod
    def on(cls, cores: int, scoring: Scoring, path: str) -> Pyopal:
        return cls(scoring, cores)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of the query, pyopal's database of the targets, and shares of it."""
        query, targets = letters_of(self._scoring, batch)
        parts = batch.parts(1 if self._cores == 1 else SHARES * self._cores)
        with ThreadPoolExecutor(self._cores) as pool:
            yield query, pyopal.Database(targets, self._aligner.alphabet), parts, pool

    def scores(self, prepared: Any) -> Scores:
        query, database, parts, pool = prepared

        def score(part: slice) -> Scores:
            found = self._aligner.align(query, database, start=part.start, end=part.stop)
            return np.array([each.score for each in found], np.int32)

        return np.concatenate(list(pool.map(score, parts)))


# pairs


class OfPairs(Competitor):
    """A program for pairs that each have a query of their own."""

    _scoring: Scoring

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        decode = self._scoring.alphabet.decode
        queries = {q: decode(batch.queries[q]) for q in set(batch.query_index.tolist())}
        index = zip(batch.query_index.tolist(), batch.target_index.tolist(), strict=True)
        yield [(queries[q], decode(batch.targets[t])) for q, t in index]


Method: TypeAlias = Literal["plain", "simd", "trace"]


class ParasailPairs(OfPairs):
    """parasail on pairs that each have a query of their own, for every matrix of single letters.

    Method ``"plain"`` is its code without SIMD instructions, a cell at a time: what papers call a
    sequential CPU. ``"simd"`` is striped, or with linear gaps (see `Parasail`) the scan;
    ``"trace"`` the same with the alignment, as CIGAR. The numbers have as many bits as needed.
    """

    name = "parasail"
    function: str

    def __init__(self, scoring: Scoring, method: Method = "simd") -> None:
        self._scoring, self._method = scoring, method
        self.version = str(parasail.__version__)
        kind = "scan" if scoring.linear else "striped"
        functions = {"plain": "sw", "simd": f"sw_{kind}_sat", "trace": f"sw_trace_{kind}_sat"}
        self.function = functions[method]
        letters = len(scoring.alphabet)
        self._matrix = parasail.matrix_create("".join(scoring.alphabet.letters), 0, 0)
        for (row, column), score in np.ndenumerate(scoring.matrix[:letters, :letters]):
            self._matrix.set_value(row, column, int(score))

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return parasail is not None and Competitor.available(scoring)

    def scores(self, prepared: Any) -> Scores:
        align = getattr(parasail, self.function)
        costs = self._scoring.gap_open, self._scoring.gap_extend
        found = np.zeros(len(prepared), np.int32)
        for p, (query, target) in enumerate(prepared):
            result = align(query, target, *costs, self._matrix)
            if self._method == "trace":
                result.cigar  # noqa: B018  walks back
            found[p] = result.score
        return found


def judge(scoring: Scoring, batch: Batch) -> tuple[str, Scores]:
    """Return who judges pairs, parasail or the reference, and their scores."""
    if ParasailPairs.available(scoring):
        return ParasailPairs.name, ParasailPairs(scoring).scores_of(batch)
    return Reference.name, Reference(scoring).scores(batch)


class Biopython(OfPairs):
    """Biopython's ``PairwiseAligner``, a pair at a time, for every matrix of single letters."""

    name = "Biopython"

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.version = str(Bio.__version__)
        letters = "".join(scoring.alphabet.letters)
        matrix = scoring.matrix[: len(letters), : len(letters)].astype(float)
        self._aligner = PairwiseAligner(mode="local")  # type: ignore[no-untyped-call]
        self._aligner.substitution_matrix = Array(letters, 2, matrix)  # type: ignore[no-untyped-call]
        self._aligner.open_gap_score = -scoring.gap_open
        self._aligner.extend_gap_score = -scoring.gap_extend

    def scores(self, prepared: Any) -> Scores:
        score = self._aligner.score
        return np.array([score(*pair) for pair in prepared], np.int32)  # type: ignore[no-untyped-call]


# StringZilla, on the GPU where its wheel has one


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
    """StringZilla's Smith-Waterman scores of one query with many targets, on a GPU or one core."""

    def __init__(self, scoring: Scoring) -> None:
        import stringzillas

        self._scoring, self.name = scoring, stringzilla_name()
        self._scope, _, self.version = stringzilla_scope()
        classes, costs = np.zeros(256, np.uint8), np.zeros((32, 32), np.int8)
        for code, letter in enumerate(scoring.alphabet.letters):
            classes[ord(letter)] = code
        count = len(scoring.alphabet)
        costs[:count, :count] = scoring.matrix[:count, :count]
        gaps = {"open": -scoring.gap_open, "extend": -scoring.gap_extend}
        self._engine = stringzillas.SmithWatermanScores(
            *(classes, costs), **gaps, capabilities=self._scope
        )

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        query, targets = letters_of(self._scoring, batch)
        yield strings([query]), strings(targets)

    def matrix(self, queries: Any, targets: Any) -> Any:
        return np.asarray(self._engine(queries, targets, device=self._scope)).astype(np.int32)

    def scores(self, prepared: Any) -> Scores:
        found: Scores = self.matrix(*prepared).ravel()
        return found


# several processes


class Processes(Competitor):
    """A program in several processes; they prepare their shares before the clock starts."""

    def __init__(self, make: Callable[[], Competitor], cores: int) -> None:
        self._make, self._cores = make, cores
        one = make()
        self.name, self.version, self.function = one.name, one.version, one.function

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        shares = [batch.select(part).compact() for part in batch.parts(SHARES * self._cores)]
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            # Through a file: what goes through a pipe is written while each process starts.
            path = Path(folder, "pairs")
            path.write_bytes(pickle.dumps(shares))
            words: Any = {"initializer": _keep, "initargs": (self._make, path)}
            with ProcessPoolExecutor(self._cores, get_context("spawn"), **words) as pool:
                for started in [pool.submit(os.getpid) for _ in range(self._cores)]:
                    started.result()  # processes are started when they are needed
                yield pool, len(shares)

    def scores(self, prepared: Any) -> Scores:
        pool, count = prepared
        return np.concatenate(list(pool.map(_kept_scores, range(count))))


def on_cores(make: Callable[[], Competitor], cores: int) -> Competitor:
    return make() if cores == 1 else Processes(make, cores)


_kept: list[Callable[[], Scores]] = []


def _keep(make: Callable[[], Competitor], path: Path) -> None:
    """Prepare in a process the shares in a file; end with the process that has started it."""
    Thread(target=_end_with_parent, daemon=True).start()
    competitor, stack = make(), ExitStack()
    for share in pickle.loads(path.read_bytes()):
        prepared = stack.enter_context(competitor.prepared(share))
        _kept.append(partial(competitor.scores, prepared))
    atexit.register(stack.close)


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()  # which may have been killed
    os._exit(1)


def _kept_scores(share: int) -> Scores:
    return _kept[share]()
