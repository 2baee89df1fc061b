"""Programs of others, on one core of the CPU or all: judges of the scores, and bars beside ours."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch, Sequences
from glsw.engines import Reference
from glsw.scoring import Scoring

try:
    import parasail
except ImportError:
    parasail = None
try:
    import pyopal
    from scoring_matrices import ScoringMatrix
except ImportError:
    pyopal = None

_BLOSUM62 = Scoring.named("BLOSUM62", 12, 1)
_LISTED = re.compile(r"\(\s*\d+\)\s+(\d+)\s*$")


class Parasail:
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
        """Give the letters of one query and of the targets, what `scores` takes."""
        yield _letters(self._scoring, batch)

    def scores(self, prepared: Any) -> npt.NDArray[np.int32]:
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


class Ssearch36:
    """``ssearch36`` of the FASTA package, the SSEARCH of the paper; lists its ten best scores.

    Its time includes starting the program and reading the database from a file.

    Parameters
    ----------
    scoring : Scoring
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
        return shutil.which("ssearch36") is not None and _is_blosum62(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give a folder with the query and the targets in files, what `scores` reads."""
        query, targets = _letters(self._scoring, batch)
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            Path(folder, "query").write_text(f">query\n{query}\n")
            with Path(folder, "targets").open("w") as file:
                file.writelines(f">{k}\n{target}\n" for k, target in enumerate(targets))
            yield folder

    def scores(self, prepared: Any) -> npt.NDArray[np.int32]:
        """Return the best scores, descending."""
        extend = self._scoring.gap_extend
        # Its -f is what a gap costs besides -g for every position, the first included.
        words = ["-f", str(extend - self._scoring.gap_open), "-g", str(-extend)]
        command = ["ssearch36", "-q", "-T", str(self._cores), "-s", "BP62", *words]
        command += ["-z", "-1", "-d", "0", "-b", str(self.best), "query", "targets"]
        done = subprocess.run(command, cwd=prepared, capture_output=True, text=True, check=True)
        listed = (_LISTED.search(line) for line in done.stdout.splitlines())
        return np.array([int(match[1]) for match in listed if match], dtype=np.int32)


class ParasailCores(Parasail):
    """`Parasail` in several processes, each with a share of the targets.

    They are started, and have the targets, before the clock starts.
    """

    def __init__(self, scoring: Scoring, cores: int) -> None:
        super().__init__(scoring)
        self._cores = cores

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        """Give the processes, each of which knows all pairs, and shares of the targets."""
        bounds = [len(batch) * k // (8 * self._cores) for k in range(8 * self._cores + 1)]
        shares = [share for share in map(range, bounds, bounds[1:]) if share]
        work = Parasail(self._scoring), _letters(self._scoring, batch)
        with ProcessPoolExecutor(
            self._cores, get_context("spawn"), initializer=_keep, initargs=work
        ) as pool:
            for started in [pool.submit(_kept_scores, range(0)) for _ in range(self._cores)]:
                started.result()
            yield pool, shares

    def scores(self, prepared: Any) -> npt.NDArray[np.int32]:
        """Return the score of each pair."""
        pool, shares = prepared
        return np.concatenate(list(pool.map(_kept_scores, shares)))


class Pyopal:
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
        """Give the letters of the query and pyopal's database of the targets."""
        query, targets = _letters(self._scoring, batch)
        with ThreadPoolExecutor(self._cores) as pool:
            yield query, pyopal.Database(targets, self._aligner.alphabet), pool

    def scores(self, prepared: Any) -> npt.NDArray[np.int32]:
        """Return the score of each pair."""
        query, database, pool = prepared
        shares = 1 if self._cores == 1 else 8 * self._cores
        bounds = [len(database) * k // shares for k in range(shares + 1)]

        def part(first: int, end: int) -> list[int]:
            if first == end:
                return []
            found = self._aligner.align(query, database, start=first, end=end)
            return [each.score for each in found]

        return np.concatenate(
            [np.array(each, np.int32) for each in pool.map(part, bounds, bounds[1:])]
        )


Method: TypeAlias = Literal["plain", "simd", "trace"]


class ParasailPairs:
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
        """Give the letters of the pairs, what `scores` takes."""
        decode = self._scoring.alphabet.decode
        yield [tuple(map(decode, batch.pair(p))) for p in range(len(batch))]

    def scores(self, prepared: Any) -> npt.NDArray[np.int32]:
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


Peer: TypeAlias = Parasail | ParasailPairs | Pyopal | Ssearch36


def on_cores(scoring: Scoring, cores: int) -> list[Peer]:
    """Return the programs here that search a database with these scores, on so many cores."""
    found: list[Peer] = []
    if Pyopal.available(scoring):
        found.append(Pyopal(scoring, cores))
    if Parasail.available(scoring):
        found.append(Parasail(scoring) if cores == 1 else ParasailCores(scoring, cores))
    if Ssearch36.available(scoring):
        found.append(Ssearch36(scoring, cores))
    return found


def judge(scoring: Scoring, batch: Batch) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges these pairs of one query, parasail or the reference, and its scores."""
    if Parasail.available(scoring):
        peer = Parasail(scoring)
        with peer.prepared(batch) as work:
            return peer.name, peer.scores(work)
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


def _letters(scoring: Scoring, batch: Batch) -> tuple[str, list[str]]:
    decode = scoring.alphabet.decode
    query: Sequences = batch.queries
    return decode(query[0]), [decode(batch.targets[int(k)]) for k in batch.target_index]


_kept: tuple[Parasail, str, list[str]]


def _keep(peer: Parasail, work: tuple[str, list[str]]) -> None:
    """Remember in a process what it works on."""
    global _kept
    _kept = peer, *work


def _kept_scores(share: Sequence[int]) -> npt.NDArray[np.int32]:
    peer, query, targets = _kept
    return peer.scores((query, [targets[k] for k in share]))


@lru_cache
def _ssearch_version() -> str:
    done = subprocess.run(["ssearch36", "-h"], capture_output=True, text=True)
    match = re.search(r"version:?\s+(\S+)", done.stdout + done.stderr)
    return match[1] if match else "unknown"
