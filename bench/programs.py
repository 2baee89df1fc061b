"""Other programs that compute scores: parasail, ssearch36, pyopal and Biopython.

>>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
>>> encode = scoring.alphabet.encode
>>> batch = Batch.one_to_many(encode("ATCTCGTATGAT"), [encode("GTCTATCAC"), encode("TTTT")])
>>> program = Biopython(scoring)
>>> with program.prepared(batch) as work:
...     program.scores(work).tolist(), program.scores(program.part(work, range(1, 2))).tolist()
([10, 4], [4])
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import Bio
import numpy as np
import numpy.typing as npt
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array

from bench.generated import shares
from glsw.batch import Batch
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
SHARES = 8
"""Of the pairs, for each core: one that is done takes the next."""
Scores: TypeAlias = npt.NDArray[np.int32]


class Competitor(ABC):
    """Another program that computes scores.

    Attributes
    ----------
    name, version : str
    function : str or None
        Which of its functions is called, where it has several.
    shown : bool
        Whether the function belongs to the name.
    """

    name: str
    version: str
    function: str | None = None
    shown = False

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
        return scores

    def scores_of(self, batch: Batch) -> Scores:
        with self.prepared(batch) as prepared:
            return self.scores(prepared)


class Parasail(Competitor):
    """parasail's striped Smith-Waterman, one profile a query, wider numbers where 8 bits overflow.

    Linear gaps are left to its scan with 32 bits: there some scores of the striped functions of
    version 1.3.4 are too low. Its time includes the Python loop and result object of its binding.

    Parameters
    ----------
    scoring : Scoring
    in_32_bits : bool
        Always use the scan, which has no narrow numbers that overflow.
    """

    name = "parasail"

    def __init__(self, scoring: Scoring, *, in_32_bits: bool = False) -> None:
        self._scoring, self._scan = scoring, in_32_bits or scoring.linear
        self.version = str(parasail.__version__)

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return parasail is not None and _is_blosum62(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        yield _letters(self._scoring, batch)

    def part(self, prepared: Any, pairs: range) -> Any:
        query, targets = prepared
        return query, targets[pairs.start : pairs.stop]

    def scores(self, prepared: Any) -> Scores:
        query, targets = prepared
        opening, extending = self._scoring.gap_open, self._scoring.gap_extend
        if self._scan:
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
        return pyopal is not None and isinstance(scoring.alphabet.letters, str)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the letters of the query, pyopal's database of the targets, and shares of it."""
        query, targets = _letters(self._scoring, batch)
        parts = shares(batch, 1 if self._cores == 1 else SHARES * self._cores)
        with ThreadPoolExecutor(self._cores) as pool:
            yield query, pyopal.Database(targets, self._aligner.alphabet), parts, pool

    def scores(self, prepared: Any) -> Scores:
        query, database, parts, pool = prepared

        def score(part: range) -> Scores:
            found = self._aligner.align(query, database, start=part.start, end=part.stop)
            return np.array([each.score for each in found], np.int32)

        return np.concatenate(list(pool.map(score, parts)))


class OfPairs(Competitor):
    """A program for pairs that each have a query of their own, and every matrix of letters."""

    _scoring: Scoring

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return isinstance(scoring.alphabet.letters, str)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        yield _letters_of_pairs(self._scoring, batch)

    def part(self, prepared: Any, pairs: range) -> Any:
        return prepared[pairs.start : pairs.stop]


Method: TypeAlias = Literal["plain", "simd", "trace"]


class ParasailPairs(OfPairs):
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
        return parasail is not None and OfPairs.available(scoring)

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


@lru_cache
def _ssearch_version() -> str:
    done = subprocess.run(["ssearch36", "-h"], capture_output=True, text=True)
    match = re.search(r"version:?\s+(\S+)", done.stdout + done.stderr)
    return match[1] if match else "unknown"
