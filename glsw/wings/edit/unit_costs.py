"""Edit distance as a scoring: unit costs (Levenshtein 1966)."""

from __future__ import annotations

import numpy as np

from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.matrices import match_matrix
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, Alphabet


def unit_costs(alphabet: Alphabet = DNA, *, infix: bool = False) -> Scoring:
    """Return the scoring whose scores are negative edit distances.

    A mismatch and each position of a gap score -1, a match 0.

    Parameters
    ----------
    alphabet : Alphabet
        An ambiguous letter, such as N, never matches.
    infix : bool
        Align the whole query with any part of the target: mode ``"semiglobal"`` with free ends of
        the target (mode HW of edlib). Otherwise alignment is global.

    Examples
    --------
    >>> scoring = unit_costs()
    >>> scoring.matrix[:2, :2].tolist(), scoring.gap_open, scoring.gap_extend, scoring.local
    ([[0, -1], [-1, 0]], 1, 1, False)
    """
    matrix = match_matrix(1, 0, alphabet).astype(np.int32) - 1
    scoring = Scoring(matrix, alphabet, 1, 1, "edit distance")
    return scoring.in_mode("semiglobal" if infix else "global", free="target")


def is_infix(scoring: Scoring) -> bool:
    """Tell whether a scoring with unit costs aligns whole queries with any part of targets."""
    return scoring.end_gaps == EndGaps.for_mode("semiglobal", *_COSTS, "target")


def has_unit_costs(scoring: Scoring) -> bool:
    """Tell whether scores are negative edit distances, as those of `unit_costs`.

    >>> has_unit_costs(unit_costs(infix=True))
    True
    >>> has_unit_costs(Scoring.match_mismatch(1, -1, 1, 1).in_mode("global"))
    False
    """
    return (
        (scoring.match_and_mismatch or ())[:2] == (0, -1)
        and (scoring.insertion, scoring.deletion, scoring.scale) == (*_COSTS, 1)
        and (is_infix(scoring) or scoring.end_gaps == EndGaps.for_mode("global", *_COSTS))
    )


_COSTS = GapCost(1, 1), GapCost(1, 1)
