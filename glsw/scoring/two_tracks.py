"""The sum of the scores of two letters per position: `TwoTrackScoring`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from glsw.scoring import matrices
from glsw.scoring.scoring import Scoring
from glsw.sequences.paired_alphabet import PairedAlphabet, second_alphabet
from glsw.words import Range

WEIGHTS = Range(0)
"""The factors of scores of the second track that there can be."""


@dataclass(frozen=True, eq=False, repr=False)
class TwoTrackScoring(Scoring):
    """A scoring of sequences with two letters per position: the sum of two matrices.

    The score of two positions is that of their first letters plus ``weight`` times that of their
    second letters. The product is rounded, once per entry of the second matrix, to integer units of
    the first matrix (half to even). Gap costs are those of the first track. Created by `of`; other
    parameters as for `Scoring`.

    Parameters
    ----------
    first : Scoring
        The scoring of the first track; results show its letters.
    weighted : ndarray of int32, shape (B, B), read-only
        The weighted scores of the second track.
    alphabet : PairedAlphabet
        The pairs of letters.
    matrix : ndarray of int32, shape (A B, A B), read-only
        The scores of pairs of letters.

    Examples
    --------
    >>> structure = Scoring.from_array([[3, -2], [-2, 4]], "xy", 1, 1, name="states")
    >>> both = TwoTrackScoring.of(Scoring.match_mismatch(2, -3, 5, 2), structure, weight=1.5)
    >>> both.name, both.weighted.tolist()
    ('match 2 mismatch -3 + 1.5 states', [[4, -3], [-3, 6]])
    >>> query, target = both.alphabet.encode("AxCy"), both.alphabet.encode("AyCy")
    >>> both.matrix[query, target].tolist()
    [-1, 8]
    """

    wide_queries: ClassVar[bool] = True  # queries have codes of 16 bits, as those of positions
    alphabet: PairedAlphabet
    first: Scoring = field(kw_only=True)
    weighted: npt.NDArray[np.int32] = field(kw_only=True)

    @classmethod
    def of(
        cls, first: Scoring, second: Scoring | str | os.PathLike[str], weight: float = 1.0
    ) -> TwoTrackScoring:
        """Return the scoring of two tracks.

        Parameters
        ----------
        first : Scoring
            Matrix and gap costs of the first track.
        second : Scoring, str or path
            The matrix of the second track: a scoring, whose gap costs are ignored, the name of a
            matrix, or the path of a file in NCBI's format.
        weight : float
            Factor for the scores of the second track; 0 or more.

        Raises
        ------
        OSError
            If the file cannot be read.
        TypeError, ValueError
            If ``first`` is not a scoring of letters, the weight is negative, or the matrix does not
            exist.
        """
        if type(first) is not Scoring:
            raise TypeError(f"first must be a Scoring, not {type(first).__name__}")
        if isinstance(second, str):
            second = Scoring.named(second)
        elif isinstance(second, os.PathLike):
            second = Scoring.from_file(Path(second), 1, 1)
        if type(second) is not Scoring:
            raise TypeError(f"second must be a Scoring, not {type(second).__name__}")
        WEIGHTS.check("weight", weight)
        letters = "".join(second.alphabet.letters)
        alphabet = PairedAlphabet.of(first.alphabet, second_alphabet(letters))
        order = [letters.index(letter) for letter in alphabet.second.letters]
        units = second.matrix[np.ix_(order, order)] * (weight * first.scale / second.scale)
        weighted = matrices.checked_matrix(np.rint(units).astype(np.int64), alphabet.second)
        a, b = len(first.alphabet), len(alphabet.second)
        sums = first.matrix[:, None, :, None] + weighted[None, :, None, :]
        others = {each.name: getattr(first, each.name) for each in fields(Scoring)} | {
            "matrix": sums.reshape(a * b, a * b),
            "alphabet": alphabet,
            "name": f"{first.name} + {weight:g} {second.name}",
        }
        return cls(**others, first=first, weighted=weighted)

    @cached_property
    def by_track(self) -> npt.NDArray[np.int32]:
        """The scores of each pair with the letters of each track, shape (A B, A + B).

        The score of two pairs is the sum of two of them.
        """
        a, b = len(self.first.matrix), len(self.weighted)
        return np.hstack([np.repeat(self.first.matrix, b, axis=0), np.tile(self.weighted, (a, 1))])

    @property
    def shown(self) -> Scoring:
        """The scoring of the first track, in the mode of this one."""
        return replace(self.first, end_gaps=self.end_gaps)

    @property
    def letters(self) -> Scoring:
        """Itself, or the first one if the second track scores nothing."""
        return self if self.weighted.any() else self.shown


def check_one_track(scoring: Scoring, what: str) -> None:
    """Raise ValueError if a scoring is of two tracks, which ``what`` does not have."""
    if isinstance(scoring, TwoTrackScoring):
        raise ValueError(
            f"{what} does not support two tracks: search, score, align and alignments do"
        )
