"""Scores of all letters of an alphabet, given those of its unambiguous ones: for one position."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.statistics.ungapped_constants import background, ungapped_lambda

_Float = npt.NDArray[np.float64]
_STANDS_FOR = {
    True: {"B": "DN", "Z": "EQ", "J": "IL"},
    False: {
        **{"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"},
        **{"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"},
    },
}
"""Of amino acids, and of nucleotides."""


class Parts(NamedTuple):
    """What a profile is made of, see `glsw.Profile`."""

    scores: npt.NDArray[np.int32]
    letters: str
    scoring: Scoring
    id: str
    description: str = ""
    gap_open: npt.NDArray[np.int32] | None = None
    gap_extend: npt.NDArray[np.int32] | None = None


class Letters:
    """The unambiguous letters of a scoring, their frequencies, and the scale of its scores.

    Parameters
    ----------
    scoring : Scoring

    Attributes
    ----------
    codes : ndarray of int64, shape (L,)
        The unambiguous letters.
    frequencies : ndarray of float64, shape (L,)
        How often they are in random sequences, see `glsw.statistics.ungapped_constants`.
    lambda_ : float
        Of alignments without gaps, per integer unit.

    Raises
    ------
    ValueError
        If no local statistics exist for the scoring.
    """

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.codes, self.frequencies = background(scoring.alphabet)
        self.lambda_ = ungapped_lambda(scoring)

    def in_units(self, ratios: _Float) -> _Float:
        """Return the scores of ratios of frequencies, observed to random, in units of the scoring.

        Ratios of 0 get the lowest score of the matrix, or less.
        """
        floor = 10.0 * min(-1, self.scoring.minimum)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(ratios) / self.lambda_, floor)

    def complete(self, scores: npt.NDArray[np.integer], letters: str) -> npt.NDArray[np.int32]:
        """Return scores of all letters, shape (m, A), given those of the unambiguous, (m, L).

        A letter that stands for several has the mean of their scores, by their frequencies. X, N
        and * score with a position as the matrix has it for the position's letter in ``letters``;
        so do all where the unambiguous ones do.
        """
        alphabet = self.scoring.alphabet
        rows = self.scoring.matrix[alphabet.encode(letters, unknown=alphabet.wildcard)].copy()
        other = (rows[:, self.codes] != scores).any(axis=1)
        rows[:, self.codes] = scores
        for letter, of_several in several(alphabet).items():
            some = np.isin(self.codes, [alphabet.letters.index(each) for each in of_several])
            weights = self.frequencies[some] / self.frequencies[some].sum()
            means = np.rint(scores[:, some] @ weights)[other]
            rows[other, alphabet.letters.index(letter)] = means
        return rows


def several(alphabet: Alphabet) -> dict[str, str]:
    """Return the ambiguous letters of an alphabet that stand for few letters, and these.

    >>> from glsw.sequences.alphabet import PROTEIN
    >>> several(PROTEIN)
    {'B': 'DN', 'Z': 'EQ'}
    """
    if not alphabet.amino_acids and not alphabet.nucleotides:
        return {}
    known = set(alphabet.letters)
    return {
        letter: some if set(some) <= known else some.replace("T", "U")
        for letter, some in _STANDS_FOR[alphabet.amino_acids].items()
        if letter in known
    }


def letters_of(alphabet: Alphabet, wanted: str) -> npt.NDArray[np.intp]:
    """Return the column in ``wanted`` of each unambiguous letter of an alphabet.

    Raises
    ------
    ValueError
        If a letter is in only one of both.
    """
    codes, _ = background(alphabet)
    own = [str(alphabet.letters[code]) for code in codes]
    if sorted(own) != sorted(wanted):
        raise ValueError(
            f"scores of the letters {wanted}, the scoring has {''.join(own)} ({alphabet.name})"
        )
    return np.array([wanted.index(letter) for letter in own], np.intp)
