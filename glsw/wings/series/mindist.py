"""Distances of SAX letters, as in MINDIST, and a scoring derived from them.

The distance of two letters is never more than that of the z-normalised means that they stand for.

References
----------
Lin, Keogh, Lonardi, Chiu (2003): A symbolic representation of time series, with implications
for streaming algorithms. DMKD '03, doi:10.1145/882082.882086. Sections refer to this paper.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.wings.series.sax import alphabet, breakpoints, whole_number

_MAX_DECIMALS = 4
"""Of the numbers of a scoring."""


def distances(letters: int) -> npt.NDArray[np.float64]:
    """Return the least distance of two z-normalised means by their letters (section 3.3).

    Parameters
    ----------
    letters : int
        Size of the alphabet, 2 to 26.

    Returns
    -------
    ndarray of float64, shape (letters, letters)
        In standard deviations; 0 for equal and for neighbouring letters.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` is not a whole number from 2 to 26.

    Examples
    --------
    >>> distances(4).round(2).tolist()[0]
    [0.0, 0.0, 0.67, 1.35]
    """
    borders = breakpoints(letters)
    lower = np.append(borders, np.inf)  # of the interval above, by the lower letter
    upper = np.insert(borders, 0, -np.inf)
    gap = np.maximum(upper[:, None] - lower, 0)
    cells: npt.NDArray[np.float64] = np.maximum(gap, gap.T)
    return cells


def mindist_scoring(
    letters: int,
    match: float = 1,
    gap_open: float = 1,
    gap_extend: float = 1,
    *,
    decimals: int = 2,
) -> Scoring:
    """Return a scoring in which unlike letters score minus their distance.

    Equal letters score ``match``, neighbours 0, all others minus `distances`, rounded to
    ``decimals`` and stored in integer units of a power of ten, ``scale``.

    The letters of random series are equally likely, so the mean of the matrix is the expected score
    of a random pair. Alignments are local only if it is negative: with ``match`` 1 from 4 letters
    on; larger alphabets allow a higher ``match``.

    Parameters
    ----------
    letters : int
        Size of the alphabet, 2 to 26.
    match : float
        Score of equal letters, in standard deviations, more than 0.
    gap_open, gap_extend : float
        Costs of the first and of each further position of a gap, in standard deviations.
    decimals : int
        Of the distances, 0 to 4.

    Returns
    -------
    Scoring
        Over ``alphabet(letters)``.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` or ``decimals`` is out of range or not a whole number; if ``match`` is not
        positive; if ``match`` or a gap cost is too large or has more than four decimals.

    Examples
    --------
    >>> scoring = mindist_scoring(4)
    >>> scoring.scale, scoring.gap_open
    (100, 100)
    >>> scoring.matrix[0].tolist()
    [100, 0, -67, -135]
    """
    cells = distances(letters)
    digits = whole_number("decimals", decimals)
    if not 0 <= digits <= _MAX_DECIMALS:
        raise ValueError(f"decimals must be from 0 to {_MAX_DECIMALS}, got {decimals}")
    # This also checks match and the gap costs.
    identity = Scoring.match_mismatch(match, 0, gap_open, gap_extend, alphabet=alphabet(letters))
    matrix = identity.matrix / identity.scale - cells.round(digits)
    name = f"MINDIST of {letters} letters, match {match}"
    scoring = Scoring.from_array(
        matrix.round(_MAX_DECIMALS), identity.alphabet.letters, gap_open, gap_extend, name=name
    )
    return replace(scoring, alphabet=identity.alphabet)
