"""Converts frequencies of letters and gaps to scores and gap costs in the units of a scoring."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet
from glsw.statistics.ungapped_constants import background, ungapped_lambda

Gaps = Literal["fixed", "positional"]
"""Whether a profile has the gap costs of its scoring at every position, or costs by position."""
_PSEUDOCOUNTS = 4.0
"""Rows without an own opinion, which open gaps as often as the scoring says; docs/SENSITIVITY.md
has what others find."""
_MAX_OBSERVATIONS = 400
_Float = npt.NDArray[np.float64]
_STANDS_FOR = {
    True: {"B": "DN", "Z": "EQ", "J": "IL"},
    False: {
        **{"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"},
        **{"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"},
    },
}
"""Of amino acids, and of nucleotides."""


class Background:
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
    likely : ndarray of float64, shape (L, L)
        How many times as often as by chance a letter is aligned with another one.
    distinct : ndarray of float64, shape (401,)
        Expected different letters among 0, 1, 2 ... random ones.

    Raises
    ------
    ValueError
        If no local statistics exist for the scoring.
    """

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.codes, self.frequencies = background(scoring.alphabet)
        self.lambda_ = ungapped_lambda(scoring)
        self.likely = np.exp(self.lambda_ * scoring.matrix[np.ix_(self.codes, self.codes)])
        missing = (1 - self.frequencies) ** np.arange(_MAX_OBSERVATIONS + 1)[:, np.newaxis]
        self.distinct = len(self.codes) - missing.sum(axis=1)

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


def check_gaps(gaps: str) -> None:
    """Raise ValueError if there is no such choice."""
    if gaps not in get_args(Gaps):
        raise ValueError(f"gaps {gaps!r}: {' or '.join(map(repr, get_args(Gaps)))} expected")


def gaps_from_frequencies(
    frequencies: _Float, rows: _Float, background: Background
) -> PositionalGaps:
    """Return gap costs of positions where an alignment opens gaps so often.

    A cost is that of a probability P in units of the scores, -ln(P) / lambda, lambda being that of
    the matrix without gaps. What the scoring costs to open a gap is such a probability too, p, and
    P = (n f + 4 p) / (n + 4), where n independent rows open a gap with the frequency f: a mean
    of what was observed and of the scoring, as of letters and pseudocounts. Extending a gap costs
    what it does in the scoring.

    Parameters
    ----------
    frequencies, rows : ndarray of float64, shape (m,)
        f and n.
    background : Background

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> frequencies, rows = np.array([0, 0, 0.1, 0.5]), np.array([0, 5, 5, 20])
    >>> gaps_from_frequencies(frequencies, rows, Background(Scoring.blast())).opens.tolist()
    [12, 15, 9, 3]
    """
    scoring = background.scoring
    usual = np.exp(-background.lambda_ * scoring.gap_open)
    mixed = (rows * frequencies + _PSEUDOCOUNTS * usual) / (rows + _PSEUDOCOUNTS)
    opens = np.rint(-background.in_units(mixed)).astype(np.int32)
    extends = np.full(len(opens), scoring.gap_extend, np.int32)
    return PositionalGaps(np.maximum(opens, extends), extends)


def gaps_from_transitions(transitions: _Float, background: Background) -> PositionalGaps:
    """Return gap costs by position from the transitions of an HMMER3 model.

    The cost to open a gap at node k is that of the mean of the probabilities m->i of node k and
    m->d of the node before, and the cost to extend it that of the mean of i->i and d->d, in units
    of the scores, -ln(P) / lambda. Left out is what HMMER takes to leave a gap, i->m and d->m, and
    to have none, m->m: a gap costs nothing when it ends.

    Parameters
    ----------
    transitions : ndarray of float64, shape (m + 1, 7)
        Negative logarithms of nodes 0 (the beginning) to m, in HMMER3's order: m->m, m->i, m->d,
        i->m, i->i, d->m, d->d.
    background : Background
    """
    chances = np.exp(-transitions)
    before = np.concatenate([chances[1:2], chances[1:-1]])  # of node 1 there is none: its own
    opening = (chances[1:, 1] + before[:, 2]) / 2
    extension = (chances[1:, 4] + before[:, 6]) / 2
    opens, extends = (
        np.maximum(0, np.rint(-background.in_units(each))).astype(np.int32)
        for each in (opening, extension)
    )
    return PositionalGaps(np.maximum(opens, extends), extends)
