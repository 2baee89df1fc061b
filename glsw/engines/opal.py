"""The library Opal: its databases and its aligners, for engine ``cpu``."""

from __future__ import annotations

import importlib.util
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glsw.arrays import Int32, UInt8
from glsw.device.device import DeviceError
from glsw.scoring.scoring import Scoring, mode_among
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    import pyopal

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What the library takes as letters; code k goes by the name ``LETTERS[k]``."""


_KEPT = 8  # scorings
_ENDS = "semiglobal"
_MODES = {"sw": ("local",), "nw": ("global",), "hw": (_ENDS, "target"), "ov": (_ENDS,)}


class Encoded(NamedTuple):
    """Sequences as the library keeps them, and an aligner for the letters that they may have."""

    targets: Sequences
    letters: str
    database: pyopal.Database
    aligner: pyopal.Aligner


class Opal:
    """Opal through pyopal, for one scoring.

    Its ``algorithm`` is the library's name of the mode, "" if that does not have it.

    For each column of a target it gathers the scores of all letters of its alphabet, so this has
    the letters that occur, and no others: DNA has 4 or 5 of 16.

    Parameters
    ----------
    scoring : Scoring
        One that it `takes`.

    Raises
    ------
    DeviceError
        If pyopal is not installed.
    """

    def __init__(self, scoring: Scoring) -> None:
        try:
            import pyopal
            from scoring_matrices.lib import ScoringMatrix  # noqa: F401
        except ImportError as error:
            raise DeviceError("engine 'cpu' needs pyopal: pip install 'glsw[cpu]'") from error
        self.version = pyopal.__version__
        self.scoring, self.algorithm = scoring, algorithm_of(scoring)
        if not scoring.local and self.algorithm and not is_exact(self.algorithm):
            self.algorithm = ""
        self._aligners: dict[str, pyopal.Aligner] = {}
        self._encoded: Encoded | None = None
        self._chosen: tuple[pyopal.Database, Int32, pyopal.Database] | None = None

    def keeps(self, targets: Sequences) -> bool:
        """Tell whether these targets are the last ones that were encoded."""
        encoded = self._encoded
        return encoded is not None and encoded.targets is targets

    def encoded(self, targets: Sequences, queries: Sequences) -> Encoded:
        """Return the targets, with an alphabet for the queries too; the last ones are kept."""
        encoded = self._encoded  # which other threads may change
        if encoded is None or encoded.targets is not targets:
            encoded = None
        known = encoded.letters if encoded else _letters_in(targets)
        letters = "".join(sorted({*known, *_letters_in(queries)}))
        if encoded is None or letters != encoded.letters:
            import pyopal

            text, bounds = text_of(targets.residues), targets.offsets.tolist()
            sequences = (text[start:stop] for start, stop in pairwise(bounds))
            database = pyopal.Database(sequences, letters)
            self._encoded = encoded = Encoded(targets, letters, database, self._aligner(letters))
        return encoded

    def extracted(self, database: pyopal.Database, targets: Int32) -> pyopal.Database:
        """Return these targets in this order; the last ones are kept."""
        chosen = self._chosen  # which other threads may change
        same = chosen is not None and chosen[0] is database and np.array_equal(chosen[1], targets)
        if chosen is None or not same:
            self._chosen = chosen = database, targets, database.extract(targets.tolist())
        return chosen[2]

    def _aligner(self, letters: str) -> pyopal.Aligner:
        if letters not in self._aligners:
            import pyopal
            from scoring_matrices.lib import ScoringMatrix

            codes = [LETTERS.index(letter) for letter in letters]
            # It keeps scores as float32, which is exact for all that a `Scoring` may have.
            scores = self.scoring.matrix[np.ix_(codes, codes)].astype(float).tolist()
            matrix = ScoringMatrix(scores, alphabet=letters)
            costs = {"gap_open": self.scoring.gap_open, "gap_extend": self.scoring.gap_extend}
            self._aligners[letters] = pyopal.Aligner(matrix, **costs)
        return self._aligners[letters]


def takes(scoring: Scoring) -> bool:
    """Return whether the library can have the letters of a scoring."""
    return len(scoring.alphabet) <= len(LETTERS) and not scoring.wide_queries


@lru_cache(_KEPT)
def algorithm_of(scoring: Scoring) -> str:
    """Return what the library calls the mode of a scoring, "" if it has no such mode.

    >>> algorithm_of(Scoring.blast()), algorithm_of(Scoring.blast().in_mode("semiglobal"))
    ('sw', 'ov')
    """
    return mode_among(_MODES, scoring)


@cache
def is_exact(algorithm: str) -> bool:
    """Make the library exact for all gap costs in a mode that is not local; tell whether it is.

    What it has for minus infinity is the least number of a type plus the cost to extend a gap, of
    the first call in the process. So the first calls are these: with no cost in 8 and 16 bits,
    which saturate, and with a large one in 32 bits, which would wrap around. Another caller may
    have been earlier; then scores of a gap against a pair of -2**7, -2**15 and -5 show it.
    """
    import pyopal
    from scoring_matrices.lib import ScoringMatrix

    def score(pair: int, gap_open: int, gap_extend: int) -> int:
        matrix = ScoringMatrix([[float(pair)]], alphabet="A")
        align: Any = pyopal.Aligner(matrix, gap_open=gap_open, gap_extend=gap_extend).align
        targets = pyopal.Database(["A"], "A")
        return int(align("A", targets, algorithm=algorithm, overflow="simple")[0].score)

    large = 2**28
    score(1000, 0, 0)
    score(1, large, large)
    least = int(algorithm != "nw")  # by a free gap and one that costs as much as fits
    exact = all(score(-(2**bits), 2**bits - 1, 0) == least - 2**bits for bits in (7, 15))
    return exact and score(-5, large, large) == -5


def is_installed() -> bool:
    """Return whether the library is installed, with the package that has its matrices."""
    return all(map(importlib.util.find_spec, ("pyopal", "scoring_matrices")))


def text_of(codes: UInt8) -> bytes:
    """Return codes as the library's letters."""
    return (codes + np.uint8(ord(LETTERS[0]))).tobytes()


def _letters_in(sequences: Sequences) -> list[str]:
    return [LETTERS[code] for code in sequences.codes_in_use()]
