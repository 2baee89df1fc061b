"""The scoring of alignments of three sequences: by identity, or as a sum of pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import MODES, Mode, checked_cost
from glsw.scoring.matrices import MAX_DECIMALS, MAX_UNITS
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, Alphabet

_Numbers = TypeVar("_Numbers", int, npt.NDArray[np.int64])
Scheme = Literal["identity", "sum-of-pairs"]
SCHEMES: tuple[Scheme, ...] = ("identity", "sum-of-pairs")
_MAX_SCORE = 2**23 - 1
"""The highest score: engines keep a score and the position of its cell in one number."""


class Costs(NamedTuple):
    """The costs of a column with gaps, which depend on the column before it.

    Parameters
    ----------
    opens : int
        No gap continues: the column before aligns other sequences, or there is none.
    extends : int
        The same sequences have a gap as in the column before.
    mixed : int
        Of the two pairs of a letter and a gap one continues and one begins.
    """

    opens: int
    extends: int
    mixed: int


@dataclass(frozen=True, eq=False)
class Scoring3:
    """The scoring of the columns of an alignment of three sequences.

    Created by `identity` and `sum_of_pairs`.

    Parameters
    ----------
    scheme : {"identity", "sum-of-pairs"}
        See the two constructors.
    pairs : Scoring
        Alphabet, substitution matrix and gap costs; with "identity", match and mismatch are the
        scores of three letters.
    mode : {"local", "global", "semiglobal"}
        See `in_mode`.
    gap_gap : int
        With "sum-of-pairs", the cost of a pair of two gaps, in integer units of ``pairs``.

    Notes
    -----
    Costs are negative scores: a scoring that minimises a cost has a matrix without positive
    entries, and mode "global".

    With linear gaps, ``gap_open == gap_extend``, columns are independent. With affine gaps the
    score of a column depends on the one before (*quasi-natural* gap costs, Altschul 1989):

    - "identity": a column with gaps costs ``gap_extend`` if the same sequences have a gap in the
      previous column, otherwise ``gap_open``.
    - "sum-of-pairs": a letter against a gap costs ``gap_extend`` if the same sequence of the pair
      has a gap in the previous column and the other a letter, otherwise ``gap_open``. A column with
      gaps in both sequences of a pair interrupts its gap, which is then opened again; natural gap
      costs, which ignore such columns, would count one gap.

    Examples
    --------
    >>> Scoring3.identity().costs
    Costs(opens=1, extends=1, mixed=1)
    >>> Scoring3.sum_of_pairs(Scoring.blast("BLOSUM62", 11, 1)).costs
    Costs(opens=24, extends=2, mixed=13)

    Costs of DNA: transitions 2, transversions 5, gaps 5. PA-Star counts two gaps like one.

    >>> matrix = [[0, -5, -2, -5], [-5, 0, -5, -2], [-2, -5, 0, -5], [-5, -2, -5, 0]]
    >>> pairs = Scoring.from_array(matrix, "ACGT", gap_open=5, gap_extend=5)
    >>> scoring = Scoring3.sum_of_pairs(pairs, gap_gap=5).in_mode("global")
    >>> scoring.mode, scoring.gap_gap
    ('global', 5)
    """

    scheme: Scheme
    pairs: Scoring
    mode: Mode = "local"
    gap_gap: int = 0

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            names = " or ".join(map(repr, SCHEMES))
            raise ValueError(f"scheme {self.scheme!r}: {names} expected")
        if not isinstance(self.pairs, Scoring):
            raise TypeError(f"pairs must be a Scoring, not {type(self.pairs).__name__}")
        if self.gap_gap != int(self.gap_gap) or not 0 <= self.gap_gap <= MAX_UNITS:
            raise ValueError(
                f"gap_gap must be a whole number from 0 to {MAX_UNITS}, got {self.gap_gap}"
            )
        if self.gap_gap and self.scheme == "identity":
            raise ValueError("gap_gap is the cost of a pair: scheme 'sum-of-pairs' expected")
        object.__setattr__(self, "gap_gap", int(self.gap_gap))
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: {', '.join(map(repr, MODES))} expected")
        if self.scheme == "identity" and self.match_and_mismatch[1] > 0:
            mismatch = self.display(self.match_and_mismatch[1])
            raise ValueError(f"mismatch {mismatch} must not be more than 0")

    @classmethod
    def identity(
        cls,
        match: float = 1,
        mismatch: float = -1,
        gap_open: float = 1,
        gap_extend: float | None = None,
        *,
        alphabet: Alphabet = DNA,
    ) -> Scoring3:
        """Return a scoring by whether all three letters are equal (Sudo et al. 2012, eq. 2).

        Parameters
        ----------
        match : float
            Score of three equal letters. An ambiguous letter, such as N, equals none.
        mismatch : float
            Score of any other three letters.
        gap_open, gap_extend : float
            Costs, positive numbers, of a column with one gap or two: see `Scoring3`. Without
            ``gap_extend`` gaps are linear, as in the paper.
        alphabet : Alphabet

        Raises
        ------
        TypeError, ValueError
            As `Scoring.match_mismatch`; if ``mismatch`` is more than 0.
        """
        extension = gap_open if gap_extend is None else gap_extend
        pairs = Scoring.match_mismatch(match, mismatch, gap_open, extension, alphabet=alphabet)
        return cls("identity", pairs)

    @classmethod
    def sum_of_pairs(cls, pairs: Scoring | None = None, gap_gap: float = 0) -> Scoring3:
        """Return a scoring by the sum of the three pairs of a column.

        Two letters score as in the matrix, the row being that of the earlier sequence; a letter
        against a gap costs a gap, and a gap against a gap nothing unless ``gap_gap`` is given.
        So every column with gaps has two pairs with a gap cost.

        Parameters
        ----------
        pairs : Scoring, optional
            By default ``Scoring.blast()``, BLOSUM62 with BLAST's gap costs 11/1.
        gap_gap : float
            The cost of two gaps, a positive number.

        Raises
        ------
        ValueError
            If ``gap_gap`` is below 0, too large, or has more decimals than ``pairs``.
        """
        pairs = Scoring.blast() if pairs is None else pairs
        units = round(checked_cost("gap_gap", gap_gap) * pairs.scale, MAX_DECIMALS)
        return cls("sum-of-pairs", pairs, gap_gap=units)  # type: ignore[arg-type]

    def in_mode(self, mode: Mode) -> Scoring3:
        """Return this scoring for local, global or semi-global alignment.

        Parameters
        ----------
        mode : {"local", "global", "semiglobal"}
            "local": the alignment begins and ends anywhere. "global": it contains all letters of
            the three sequences. "semiglobal": it begins with the first letter of at least one
            sequence and ends with the last letter of at least one; letters of the others before and
            after are not aligned, and free.
        """
        return replace(self, mode=mode)

    @property
    def local(self) -> bool:
        """Whether alignments may begin and end anywhere."""
        return self.mode == "local"

    @property
    def whole(self) -> int:
        """How many sequences an alignment contains from their first letter, and to their last."""
        return {"local": 0, "semiglobal": 1, "global": 3}[self.mode]

    def score_offset(self, lengths: npt.NDArray[np.int64]) -> int:
        """Return the number that engines add to H in tables of up to these lengths, shape (3,).

        With it H is above 0 in every cell, even if all letters are opposite gaps, so that the 0 of
        local alignment never counts. For local alignments it is 0.
        """
        if self.local:
            return 0
        return 1 + 3 * self.costs.opens + int(lengths.sum()) * (self.costs.extends + self.gap_gap)

    @property
    def match_and_mismatch(self) -> tuple[int, int]:
        """The scores of three equal letters and of any other three, with "identity"."""
        if self.pairs.match_and_mismatch is None:
            raise ValueError(
                f"scheme 'identity' has one match and one mismatch, {self.name} has more"
            )
        match, mismatch, _ = self.pairs.match_and_mismatch
        return match, mismatch if len(self.alphabet) > 1 else -_MAX_SCORE

    @property
    def name(self) -> str:
        """The scheme and the matrix."""
        return f"{self.scheme} {self.pairs.name}"

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of all three sequences."""
        return self.pairs.alphabet

    @property
    def linear(self) -> bool:
        """Whether every position of a gap costs the same."""
        return self.pairs.linear

    @property
    def costs(self) -> Costs:
        """The costs of columns with gaps, in integer units."""
        opens, extends = self.pairs.gap_open, self.pairs.gap_extend
        if self.scheme == "identity":
            return Costs(opens, extends, opens)
        return Costs(2 * opens, 2 * extends, opens + extends)

    @property
    def maximum(self) -> int:
        """The highest score of a column, in integer units."""
        return self.pairs.maximum if self.scheme == "identity" else 3 * self.pairs.maximum

    @property
    def pairs_gain(self) -> bool:
        """Whether two letters against a gap can score above 0.

        If not, every best alignment begins and ends with three letters.
        """
        return self.scheme != "identity" and self.pairs.maximum > self.costs.extends

    def bounds(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return scores that triples of these lengths, shape (N, 3), cannot exceed, shape (N,).

        In integer units.

        >>> Scoring3.identity(match=2).bounds(np.array([[100, 200, 300]])).tolist()
        [200]
        """
        low, middle, _ = np.sort(lengths.astype(np.int64), axis=1).T
        return self._bound(low, middle)

    def _bound(self, low: _Numbers, middle: _Numbers) -> _Numbers:
        """Return `bounds` of triples by the shortest and the middle one of the three lengths."""
        gain = max(0, self.maximum) * low
        return gain + self.pairs.maximum * (middle + low) if self.pairs_gain else gain

    def check(self, lengths: npt.NDArray[np.int64]) -> None:
        """Raise ValueError if a triple of lengths, shape (N, 3), could score 2^23 or more.

        Or, in mode "global" or "semiglobal", if the scores of cells could differ by as much.
        """
        if not len(lengths):
            return
        longest = lengths.max(axis=0)
        offset = self.score_offset(longest)
        low, middle, _ = sorted(longest.tolist())
        if self._bound(low, middle) + offset <= _MAX_SCORE:
            return  # no triple has more than one of the longest sequences
        bounds = self.bounds(lengths) + offset
        if bounds.max() > _MAX_SCORE:
            worst = int(bounds.argmax())
            raise ValueError(
                f"lengths {', '.join(map(str, lengths[worst].tolist()))} could "
                f"{'score' if self.local else 'have scores that differ by'} "
                f"{bounds[worst]} with {self.name}, more than {_MAX_SCORE}"
            )

    def display(self, score: int) -> int | float:
        """Return a score of integer units in units of the matrix as published."""
        return self.pairs.display(score)
