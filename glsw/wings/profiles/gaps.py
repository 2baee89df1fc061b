"""Gap costs by position: from the gaps of an alignment, and from the transitions of an HMM."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import PositionalGaps
from glsw.wings.profiles.letters import Letters

Gaps = Literal["fixed", "positional"]
"""Whether a profile has the gap costs of its scoring at every position, or costs by position."""
_PSEUDOCOUNTS = 4.0
"""Rows without an own opinion, which open gaps as often as the scoring says; docs/SENSITIVITY.md
has what others find."""

_Float = npt.NDArray[np.float64]


def check_gaps(gaps: str) -> None:
    """Raise ValueError if there is no such choice."""
    if gaps not in get_args(Gaps):
        raise ValueError(f"gaps {gaps!r}: {' or '.join(map(repr, get_args(Gaps)))} expected")


def gaps_from_frequencies(frequencies: _Float, rows: _Float, made: Letters) -> PositionalGaps:
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
    made : Letters

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> frequencies, rows = np.array([0, 0, 0.1, 0.5]), np.array([0, 5, 5, 20])
    >>> gaps_from_frequencies(frequencies, rows, Letters(Scoring.blast())).opens.tolist()
    [12, 15, 9, 3]
    """
    scoring = made.scoring
    usual = np.exp(-made.lambda_ * scoring.gap_open)
    mixed = (rows * frequencies + _PSEUDOCOUNTS * usual) / (rows + _PSEUDOCOUNTS)
    opens = np.rint(-made.in_units(mixed)).astype(np.int32)
    extends = np.full(len(opens), scoring.gap_extend, np.int32)
    return PositionalGaps(np.maximum(opens, extends), extends)


def gaps_from_transitions(transitions: _Float, made: Letters) -> PositionalGaps:
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
    made : Letters
    """
    chances = np.exp(-transitions)
    before = np.concatenate([chances[1:2], chances[1:-1]])  # of node 1 there is none: its own
    opening = (chances[1:, 1] + before[:, 2]) / 2
    extension = (chances[1:, 4] + before[:, 6]) / 2
    opens, extends = (
        np.maximum(0, np.rint(-made.in_units(each))).astype(np.int32)
        for each in (opening, extension)
    )
    return PositionalGaps(np.maximum(opens, extends), extends)
