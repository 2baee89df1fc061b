"""What gaps cost, inside and at the ends, and scorings of alignments from end to end."""

from dataclasses import replace

import numpy as np
import pytest

from glsw.scoring.gaps import FREE, EndGaps, GapCost
from glsw.scoring.scoring import Scoring

SCORING = Scoring.match_mismatch(2, -1, 5, 2)
INSIDE = GapCost(5, 2)


def test_cost_of_lengths():
    assert INSIDE.of([0, 1, 2, 5]).tolist() == [0, 5, 7, 13]
    assert INSIDE.of([[0], [3]]).tolist() == [[0], [9]]
    assert int(INSIDE.of(1)) == 5
    assert GapCost(0, 3).of([0, 1, 2]).tolist() == [0, 0, 3]
    assert INSIDE.of([]).shape == (0,)
    assert GapCost(10**6, 10**6).of(10**6) == 10**12  # beyond 32 bits
    assert FREE.of(range(4)).tolist() == [0] * 4


def test_borders():
    ends = EndGaps(GapCost(3, 1), GapCost(4, 2), GapCost(5, 0), GapCost(6, 3))
    assert ends.left(range(3)).tolist() == [0, -3, -4]
    assert ends.above(range(3)).tolist() == [0, -4, -6]
    assert ends.behind([0, 1, 2, 0], [0, 0, 0, 2]).tolist() == [0, -5, -5, -9]
    assert EndGaps() == (FREE,) * 4


def test_global_is_all_gaps_alike():
    scoring = SCORING.in_mode("global")
    assert scoring.end_gaps == (INSIDE,) * 4
    assert (scoring.local, SCORING.local) == (False, True)
    assert scoring.linear == SCORING.linear is False
    assert SCORING.in_mode("semiglobal").end_gaps == EndGaps()
    assert scoring.in_mode("local").end_gaps is None
    assert SCORING.in_mode("semiglobal", free="query").end_gaps == (FREE, INSIDE, FREE, INSIDE)
    assert SCORING.in_mode("semiglobal", free="target").end_gaps == (INSIDE, FREE, INSIDE, FREE)


def test_insertions():
    assert SCORING.insertion == SCORING.deletion == INSIDE
    assert not SCORING.separate
    other = replace(SCORING, insertion_open=3, insertion_extend=3)
    assert (other.insertion, other.deletion) == ((3, 3), INSIDE)
    assert other.separate
    assert not other.linear
    assert replace(other, gap_extend=5).linear
    assert not replace(SCORING, insertion_open=5, insertion_extend=2).separate
    assert other.in_mode("global").end_gaps == ((3, 3), INSIDE, (3, 3), INSIDE)


def test_origin_is_above_all_costs():
    assert SCORING.score_offset(100, 200) == 0
    scoring = SCORING.in_mode("global")
    for m, n in ((0, 0), (1, 1), (30, 700)):
        origin = scoring.score_offset(m, n)
        assert origin + scoring.end_gaps.left(m) + scoring.end_gaps.above(n) - 2 * INSIDE.open > 0
    assert scoring.score_offset([1, 2], [3, 4]).shape == (2,)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (
            EndGaps(right_insertion=GapCost(6, 2)),
            r"right_insertion costs 6 and 2: not more than inside expected \(5, 2\)",
        ),
        (EndGaps(right_deletion=GapCost(5, 3)), "right_deletion costs 5 and 3"),
        (EndGaps(left_deletion=GapCost(-1, 0)), "between 0 and 1000000, got -1"),
        (EndGaps(left_insertion=GapCost(0, 10**6 + 1)), "left_insertion must cost between 0"),
    ],
)
def test_ends_that_are_refused(ends, message):
    with pytest.raises(ValueError, match=message):
        replace(SCORING, end_gaps=ends)


def test_wrong_kinds():
    with pytest.raises(TypeError, match="end_gaps must be EndGaps, got tuple"):
        replace(SCORING, end_gaps=((0, 0),) * 4)
    with pytest.raises(
        ValueError, match="give both insertion_open and insertion_extend, or neither"
    ):
        replace(SCORING, insertion_open=1)
    with pytest.raises(ValueError, match="insertion_open 1 must not be less than insertion_extend"):
        replace(SCORING, insertion_open=1, insertion_extend=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "glocal"}, "mode 'glocal': 'local', 'global', 'semiglobal' expected"),
        (
            {"mode": "semiglobal", "free": "none"},
            "free 'none': 'both', 'query', 'target' expected",
        ),
    ],
)
def test_modes_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SCORING.in_mode(**options)


def test_range_of_scores():
    scoring = Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**6)
    scoring.check(2000, 2000)
    with pytest.raises(
        ValueError, match=r"lengths 2000 and 2000 .* in global alignment .* too far"
    ):
        scoring.in_mode("global").check(2000, 2000)
    scoring.in_mode("semiglobal").check(200, 200)
    assert np.iinfo(np.int32).max > scoring.in_mode("global").score_offset(
        400, 400
    ) + scoring.bound(400, 400)
