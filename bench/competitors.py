"""Programs of others, on one core of the CPU or all: judges of the scores, and bars beside ours.

>>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
>>> encode = scoring.alphabet.encode
>>> batch = Batch.one_to_many(encode("ATCTCGTATGAT"), [encode("GTCTATCAC"), encode("TTTT")])
>>> program = Biopython(scoring)
>>> with program.prepared(batch) as work:
...     program.scores(work).tolist(), program.scores(program.part(work, range(1, 2))).tolist()
([10, 4], [4])
"""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache, partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeAlias

import Bio
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array

from bench.measure import Measurement, compare, measure
from glsw.batch import Batch
from glsw.engines import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.sequences.encoded import Sequences

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
_LISTED = re.compile(r"\(\s*\d+\)\s+(?:\[f\]\s+)?(\d+)\s*$")
_SHARES = 8  # of the pairs, for each core
TRIAL = 1e7
"""Cells that are always done, from which the speed of a program is estimated."""

Scores: TypeAlias = npt.NDArray[np.int32]


class Competitor(ABC):
    """A program of others that computes scores.

    Attributes
    ----------
    name, version : str
    function : str or None
        Which of its functions is called, where it has several.
    """

    name: str
    version: str
    function: str | None = None

    @abstractmethod
    def prepared(self, batch: Batch) -> AbstractContextManager[Any]:
        """Give the pairs as `scores` takes them; that is not timed."""

    @abstractmethod
    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair, or those that it lists: see `listed`."""

    def part(self, prepared: Any, pairs: range) -> Any:
        """Return what `scores` takes for some of the pairs, if it can be given a part."""
        raise NotImplementedError(self.name)

    def listed(self, scores: Scores) -> Scores:
        """Return what `scores` has to find if these are the scores of the pairs."""
        return scores


class Parasail(Competitor):
    """parasail's striped Smith-Waterman, one profile a query, wider numbers where 8 bits overflow.

    Linear gaps are left to its scan with 32 bits: there some scores of the striped functions of
    version 1.3.4 are too low. Its time includes the Python loop and result object of its binding.
    """

    name = "parasail"

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.version = str(parasail.__version__)

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it is installed and has these scores."""
        return parasail is not None and _is_blosum62(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of one query and of the targets."""
        yield _letters(self._scoring, batch)

    def part(self, prepared: Any, pairs: range) -> Any:
        """Return the query with some of the targets."""
        query, targets = prepared
        return query, targets[pairs.start : pairs.stop]

    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair."""
        query, targets = prepared
        opening, extending = self._scoring.gap_open, self._scoring.gap_extend
        if self._scoring.linear:
            align = parasail.sw_scan_profile_32
            profile = parasail.profile_create_32(query, parasail.blosum62)
        else:
            align = parasail.sw_striped_profile_sat
            profile = parasail.profile_create_sat(query, parasail.blosum62)
        return np.array(
            [align(profile, target, opening, extending).score for target in targets],
            dtype=np.int32,
        )


class Ssearch36(Competitor):
    """``ssearch36`` of the FASTA package, the SSEARCH of the paper; lists its ten best scores.

    Its time includes starting the program and reading the database from a file.

    Parameters
    ----------
    scoring : Scoring
        BLOSUM62, or match and mismatch of DNA.
    cores : int
        Threads to use.
    """

    name = "ssearch36"
    best = 10

    def __init__(self, scoring: Scoring, cores: int = 1) -> None:
        self._scoring = scoring
        self._cores = cores
        self.version = _ssearch_version()

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it is installed and has these scores."""
        known = _is_blosum62(scoring) or _is_simple_dna(scoring)
        return shutil.which("ssearch36") is not None and known

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give a folder with the query and the targets in files, what `scores` reads."""
        query, targets = _letters(self._scoring, batch)
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            Path(folder, "query").write_text(f">query\n{query}\n")
            with Path(folder, "targets").open("w") as file:
                file.writelines(f">{k}\n{target}\n" for k, target in enumerate(targets))
            yield folder

    def scores(self, prepared: Any) -> Scores:
        """Return the best scores, descending."""
        extend = self._scoring.gap_extend
        if _is_blosum62(self._scoring):
            words = ["-s", "BP62"]
        else:  # one strand
            match, mismatch = int(self._scoring.matrix[0, 0]), int(self._scoring.matrix[0, 1])
            words = ["-n", "-3", "-r", f"+{match}/{mismatch}"]
        # Its -f is what a gap costs besides -g for every position, the first included.
        words += ["-f", str(extend - self._scoring.gap_open), "-g", str(-extend)]
        command = ["ssearch36", "-q", "-T", str(self._cores), *words]
        command += ["-z", "-1", "-d", "0", "-b", str(self.best), "query", "targets"]
        done = subprocess.run(command, cwd=prepared, capture_output=True, text=True)
        if done.returncode:  # it has been seen to end by a signal, with many threads
            raise RuntimeError(f"ssearch36 ended with status {done.returncode}")
        listed = (_LISTED.search(line) for line in done.stdout.splitlines())
        return np.array([int(match[1]) for match in listed if match], dtype=np.int32)

    def listed(self, scores: Scores) -> Scores:
        """Return the best of these scores, descending."""
        return np.sort(scores)[::-1][: self.best]


class Pyopal(Competitor):
    """pyopal: Opal, many targets at a time in the lanes of SIMD registers.

    Parameters
    ----------
    scoring : Scoring
    cores : int
        Threads to use, each with a share of the targets.
    """

    name = "pyopal"

    def __init__(self, scoring: Scoring, cores: int = 1) -> None:
        self._cores = cores
        self._scoring = scoring
        count = len(scoring.alphabet)
        scores = ScoringMatrix(
            scoring.matrix[:count, :count].tolist(), "".join(scoring.alphabet.letters)
        )
        self._aligner = pyopal.Aligner(
            scores, gap_open=scoring.gap_open, gap_extend=scoring.gap_extend
        )
        self.version = str(pyopal.__version__)

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it is installed and knows such letters."""
        return pyopal is not None and isinstance(scoring.alphabet.letters, str)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of the query, pyopal's database of the targets, and shares of it."""
        query, targets = _letters(self._scoring, batch)
        parts = shares(batch, 1 if self._cores == 1 else _SHARES * self._cores)
        with ThreadPoolExecutor(self._cores) as pool:
            yield query, pyopal.Database(targets, self._aligner.alphabet), parts, pool

    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair."""
        query, database, parts, pool = prepared

        def score(part: range) -> Scores:
            found = self._aligner.align(query, database, start=part.start, end=part.stop)
            return np.array([each.score for each in found], np.int32)

        return np.concatenate(list(pool.map(score, parts)))


Method: TypeAlias = Literal["plain", "simd", "trace"]


class ParasailPairs(Competitor):
    """parasail on pairs that each have a query of their own, for every matrix of single letters.

    Parameters
    ----------
    scoring : Scoring
    method : str
        ``"plain"`` is its code without SIMD instructions, a cell at a time: what papers call a
        sequential CPU. ``"simd"`` is striped, or with linear gaps (see `Parasail`) the scan;
        ``"trace"`` the same with the alignment, as CIGAR. The numbers have as many bits as needed.
    """

    name = "parasail"
    function: str

    def __init__(self, scoring: Scoring, method: Method = "simd") -> None:
        self._scoring, self._method = scoring, method
        self.version = str(parasail.__version__)
        kind = "scan" if scoring.linear else "striped"
        self.function = {
            "plain": "sw",
            "simd": f"sw_{kind}_sat",
            "trace": f"sw_trace_{kind}_sat",
        }[method]
        letters = len(scoring.alphabet)
        self._matrix = parasail.matrix_create("".join(scoring.alphabet.letters), 0, 0)
        for (row, column), score in np.ndenumerate(scoring.matrix[:letters, :letters]):
            self._matrix.set_value(row, column, int(score))

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it is installed and knows such letters."""
        return parasail is not None and isinstance(scoring.alphabet.letters, str)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of the pairs."""
        yield _letters_of_pairs(self._scoring, batch)

    def part(self, prepared: Any, pairs: range) -> Any:
        """Return some of the pairs."""
        return prepared[pairs.start : pairs.stop]

    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair."""
        align = getattr(parasail, self.function)
        costs = self._scoring.gap_open, self._scoring.gap_extend
        found = np.zeros(len(prepared), np.int32)
        for p, (query, target) in enumerate(prepared):
            result = align(query, target, *costs, self._matrix)
            if self._method == "trace":
                result.cigar  # noqa: B018  walks back
            found[p] = result.score
        return found


class Biopython(Competitor):
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

    @staticmethod
    def available(scoring: Scoring) -> bool:
        """Tell whether it knows such letters."""
        return isinstance(scoring.alphabet.letters, str)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of the pairs."""
        yield _letters_of_pairs(self._scoring, batch)

    def part(self, prepared: Any, pairs: range) -> Any:
        """Return some of the pairs."""
        return prepared[pairs.start : pairs.stop]

    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair."""
        score = self._aligner.score
        return np.array([score(*pair) for pair in prepared], np.int32)  # type: ignore[no-untyped-call]


class Processes(Competitor):
    """A program in several processes, which take shares of the pairs one after the other.

    They are started, and all pairs are prepared in each, before the clock starts.

    Parameters
    ----------
    make : callable
        Makes the program in each process; it has to be picklable.
    cores : int
    """

    def __init__(self, make: Callable[[], Competitor], cores: int) -> None:
        self._make, self._cores = make, cores
        one = make()
        self.name, self.version, self.function = one.name, one.version, one.function

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the processes and shares of the pairs."""
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            # Through a file: what goes through a pipe is written while each process starts.
            path = Path(folder, "pairs")
            path.write_bytes(pickle.dumps(batch.compact()))
            with ProcessPoolExecutor(
                self._cores,
                get_context("spawn"),
                initializer=_keep,
                initargs=(self._make, path),
            ) as pool:
                for started in [pool.submit(_kept_scores, range(0)) for _ in range(self._cores)]:
                    started.result()
                yield pool, shares(batch, _SHARES * self._cores)

    def scores(self, prepared: Any) -> Scores:
        """Return the score of each pair."""
        pool, parts = prepared
        return np.concatenate(list(pool.map(_kept_scores, parts)))


def on_cores(scoring: Scoring, cores: int, *, slow: bool = False) -> list[Competitor]:
    """Return the programs here that search a database with these scores, on so many cores.

    ``slow`` is to have Biopython too, which is no program for databases.
    """
    found: list[Competitor] = []
    if Pyopal.available(scoring):
        found.append(Pyopal(scoring, cores))
    if Parasail.available(scoring):
        found.append(_on(partial(Parasail, scoring), cores))
    if Ssearch36.available(scoring):
        found.append(Ssearch36(scoring, cores))
    if slow and Biopython.available(scoring):
        found.append(_on(partial(Biopython, scoring), cores))
    return found


def of_pairs(scoring: Scoring, cores: int) -> list[Competitor]:
    """Return the programs here that compute pairs with these scores, on so many cores."""
    found: list[Competitor] = []
    if ParasailPairs.available(scoring):
        found.append(_on(partial(ParasailPairs, scoring), cores))
    if Biopython.available(scoring):
        found.append(_on(partial(Biopython, scoring), cores))
    return found


def _on(make: Callable[[], Competitor], cores: int) -> Competitor:
    return make() if cores == 1 else Processes(make, cores)


def shares(batch: Batch, count: int) -> list[range]:
    """Return so many ranges of pairs, or fewer, with about as many cells each; none is empty.

    >>> targets = [np.zeros(length, np.uint8) for length in (4, 2, 2)]
    >>> shares(Batch.one_to_many(np.zeros(9, np.uint8), targets), 2)
    [range(0, 1), range(1, 3)]
    """
    cells = np.append(0, np.cumsum(batch.query_lengths * batch.target_lengths))
    inner = np.searchsorted(cells, cells[-1] * np.arange(1, count) / count)
    bounds = np.unique([0, *inner.tolist(), len(batch)]).tolist()
    return [range(*each) for each in pairwise(bounds)]


Cut: TypeAlias = Callable[[float], tuple[Batch, Scores]]


def measured(
    competitor: Competitor,
    cells: int,
    cut: Cut,
    *,
    judge: str,
    budget: float,
    rate: float | None = None,
    trial: float = TRIAL,
) -> dict[str, Any]:
    """Measure a program on what it can do three times in ``budget`` seconds, or on a trial.

    Parameters
    ----------
    competitor : Competitor
    cells : int
        Of the whole work.
    cut : callable
        Given a number of cells, returns a part of the work with about so many, and its scores.
    judge : str
        Whose scores these are.
    budget : float
        Seconds, without those in which the pairs are prepared.
    rate : float, optional
        Billions of cells a second that are expected; by default found by a trial.
    trial : float
        Cells of the trial, and of the part at least.

    Returns
    -------
    dict
        A measurement with ``version``, ``function``, ``pairs``, ``scaled`` (it had a part) and
        ``seconds`` (of the whole, by the rate of the part; None if a score was wrong).
    """

    def on(part: Batch, scores: Scores, budget: float) -> Measurement:
        with competitor.prepared(part) as work:
            return measure(
                lambda: competitor.scores(work),
                lambda found: compare(found, competitor.listed(scores), judge),
                cells=part.cells,
                budget=budget,
            )

    if rate is None:
        part, scores = cut(trial)
        found = on(part, scores, 0.0)
        rate = found.gcups
    if rate is not None:
        part, scores = cut(max(trial, rate * 1e9 * budget / 3))
        found = on(part, scores, budget)
    return {
        **found.as_dict(),
        "version": competitor.version,
        "function": competitor.function,
        "pairs": len(part),
        "scaled": part.cells < cells,
        "seconds": found.gcups and cells / found.gcups / 1e9,
    }


def judge(scoring: Scoring, batch: Batch) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges these pairs of one query, parasail or the reference, and its scores."""
    if Parasail.available(scoring):
        competitor = Parasail(scoring)
        with competitor.prepared(batch) as work:
            return competitor.name, competitor.scores(work)
    return Reference.name, Reference(scoring).scores(batch)


def judge_in_32_bits(scoring: Scoring, batch: Batch) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges these pairs of one query and its scores, as `judge` does, but slower.

    parasail's scan has no narrow numbers that overflow, for linear and for affine gaps.
    """
    if not Parasail.available(scoring):
        return judge(scoring, batch)
    query, targets = _letters(scoring, batch)
    profile = parasail.profile_create_32(query, parasail.blosum62)
    costs = scoring.gap_open, scoring.gap_extend
    found = [parasail.sw_scan_profile_32(profile, target, *costs).score for target in targets]
    return Parasail.name, np.array(found, np.int32)


def portion(batch: Batch, cells: float) -> npt.NDArray[np.intp]:
    """Return the indices of evenly spaced pairs with about so many cells, at least one pair."""
    step = max(1, -(-batch.cells // max(1, int(cells))))
    return np.arange(step // 2 if step < len(batch) else 0, len(batch), step)


def _is_blosum62(scoring: Scoring) -> bool:
    return scoring.alphabet == _BLOSUM62.alphabet and np.array_equal(
        scoring.matrix, _BLOSUM62.matrix
    )


def _is_simple_dna(scoring: Scoring) -> bool:
    kinds = scoring.match_and_mismatch
    return scoring.alphabet == DNA and kinds is not None and kinds[0] > 0 > kinds[1]


def _letters(scoring: Scoring, batch: Batch) -> tuple[str, list[str]]:
    decode = scoring.alphabet.decode
    query: Sequences = batch.queries
    return decode(query[0]), [decode(batch.targets[int(k)]) for k in batch.target_index]


def _letters_of_pairs(scoring: Scoring, batch: Batch) -> list[tuple[str, str]]:
    decode = scoring.alphabet.decode
    queries = {q: decode(batch.queries[q]) for q in set(batch.query_index.tolist())}
    return [
        (queries[q], decode(batch.targets[t]))
        for q, t in zip(batch.query_index.tolist(), batch.target_index.tolist(), strict=True)
    ]


_kept: tuple[ExitStack, Competitor, Any]


def _keep(make: Callable[[], Competitor], path: Path) -> None:
    """Prepare in a process what it works on, the pairs in a file."""
    global _kept
    batch: Batch = pickle.loads(path.read_bytes())
    stack, competitor = ExitStack(), make()
    _kept = stack, competitor, stack.enter_context(competitor.prepared(batch))


def _kept_scores(pairs: range) -> Scores:
    _, competitor, prepared = _kept
    return competitor.scores(competitor.part(prepared, pairs))


@lru_cache
def _ssearch_version() -> str:
    done = subprocess.run(["ssearch36", "-h"], capture_output=True, text=True)
    match = re.search(r"version:?\s+(\S+)", done.stdout + done.stderr)
    return match[1] if match else "unknown"
