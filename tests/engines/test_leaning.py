"""Leaning cells of ``blocked`` and ``diagonal``, in all forms that sizes and devices lead to."""

from dataclasses import replace

import cases
import numpy as np
import pytest

from glsw import Batch, Scoring
from glsw.alignment.batch import Mask
from glsw.engines import Reference
from glsw.engines.blocked import Blocked
from glsw.engines.diagonal import Diagonal
from glsw.engines.gl import leans
from glsw.scoring.gaps import EndGaps, GapCost

SCORINGS = (
    Scoring.match_mismatch(1, -3, 5, 2),
    Scoring.match_mismatch(2, -3, 5, 5),
    Scoring.blast("BLOSUM62", 11, 1),
    Scoring.named("BLOSUM62", 0, 0),
)


def pairs_of(letters):
    """Return unrelated pairs, some with a common piece, a long similar one and one of ties."""
    rng = np.random.default_rng(3)
    pairs = []
    for m, n in ((1, 1), (3, 700), (700, 3), (300, 301), (1000, 777), (513, 1025), (1500, 1600)):
        query, target = (rng.integers(0, letters, size).astype(np.uint8) for size in (m, n))
        if min(m, n) > 100:
            target[20:100] = query[10:90]
        if m == 1500:
            target[:1400] = query[50:1450]
            changed = rng.random(n) < 0.1
            target[changed] = rng.integers(0, letters, int(changed.sum()))
        pairs.append((query, target))
    same = np.zeros(400, np.uint8)
    return Batch.of([*pairs, (same, same[:300])])


@pytest.mark.parametrize("scoring", SCORINGS, ids=lambda scoring: scoring.name)
@pytest.mark.parametrize("profile", [False, True])
@pytest.mark.parametrize("prune", [False, True])
def test_tiles_of_any_form(device, scoring, profile, prune, loaded):
    """On hardware with a profile of the query in shared memory, where there is room for it."""
    batch = pairs_of(4 if scoring.match_and_mismatch else 20)
    expected = cases.by_reference(scoring, batch)
    room = device.info.limits["max_shared_memory"] if profile else 0
    some = cases.limited(cases.standing_in(device), max_shared_memory=room)
    for rows, workgroup, columns in ((4, 8, None), (12, 8, 64), (8, 16, 200), (16, 8, 1000)):
        rows = rows if leans(scoring) else min(rows, 8)
        options = {"rows": rows, "workgroup": workgroup, "columns": columns, "prune": prune}
        engine = Blocked(scoring, some, **options)
        found = engine.ends(batch)
        for name in ("score", "query_end", "target_end"):
            wanted = getattr(expected, name).tolist()
            assert getattr(found, name).tolist() == wanted, (name, rows, workgroup)
        assert engine.scores(batch).tolist() == expected.score.tolist()
    leaning = [macros for name, macros in loaded if name == "blocked_leaning.comp"]
    assert {macros["ROWS"] for macros in leaning} == ({4, 8, 12, 16} if leans(scoring) else set())
    assert any(macros["PROFILE"] for macros in leaning) == (profile and leans(scoring))


@pytest.mark.parametrize("scoring", SCORINGS, ids=lambda scoring: scoring.name)
@pytest.mark.parametrize("mode", ["local", "global"])
def test_strips_of_any_size(device, scoring, mode, loaded):
    batch = pairs_of(4 if scoring.match_and_mismatch else 20)
    expected = cases.by_reference(scoring.in_mode(mode), batch)
    for workgroup in (1, 8, 32):
        engine = Diagonal(scoring.in_mode(mode), device, workgroup=workgroup)
        found = engine.ends(batch)
        for name in ("score", "query_end", "target_end"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        assert engine.scores(batch).tolist() == expected.score.tolist()
        names = {name for name, _ in loaded if name.startswith("diagonal")}
        assert names == {"diagonal_leaning.comp" if leans(scoring) else "diagonal.comp"}


def test_gaps_that_cost_more_at_left_ends(device, loaded):
    """There gaps of both sequences do not cost the same in the other order."""
    rng = np.random.default_rng(8)
    inside = Scoring.match_mismatch(2, -8, 4, 0)
    words = [
        [rng.integers(0, 4, n).astype(np.uint8) for n in rng.integers(1, 14, 300)] for _ in "ab"
    ]
    batch = Batch.pairwise(*words)
    for *left, cheap in (
        ((9, 4), (2, 1), False),
        ((2, 1), (9, 4), False),
        ((4, 0), (6, 0), False),
        ((4, 0), (0, 0), True),
    ):
        both = (GapCost(*cost) for cost in left)
        scoring = replace(inside, end_gaps=EndGaps(*both, inside.insertion, inside.deletion))
        expected = Reference(scoring).ends(batch)
        for kind in (Diagonal, Blocked):
            engine = kind(scoring, device)
            loaded.clear()
            found = engine.ends(batch)
            assert found.score.tolist() == expected.score.tolist() == engine.scores(batch).tolist()
            assert found.end.tolist() == expected.end.tolist()
            assert any("leaning" in name for name, _ in loaded) == cheap


_ANY = GapCost(99, 9)


def end_gaps(seed):
    """Return a scoring with any costs of end gaps, at left ends also more than inside."""
    rng = np.random.default_rng(seed)

    def cost(most=_ANY):
        extend = min(int(rng.integers(6)), most.extend)
        return GapCost(min(extend + int(rng.choice([0, rng.integers(10)])), most.open), extend)

    insertion, deletion = (GapCost(max(1, each.open), each.extend) for each in (cost(), cost()))
    if seed % 2:
        insertion = deletion
    left = cost(), cost()
    ends = EndGaps(*left, cost(insertion), cost(deletion))
    letters = int(rng.integers(1, 5)), -int(rng.integers(9))
    made = Scoring.match_mismatch(*letters, *deletion)
    return replace(made, insertion_open=insertion[0], insertion_extend=insertion[1], end_gaps=ends)


@pytest.mark.parametrize("configuration", cases.configurations(cases.GENERAL), ids=str)
def test_any_end_gaps(device, configuration):
    rng = np.random.default_rng(1)
    words = [rng.integers(0, 4, n).astype(np.uint8) for n in rng.integers(14, size=80)]
    batch = Batch.pairwise(words[:40], words[40:])
    for seed in range(120):
        scoring = end_gaps(seed)
        if cases.takes(configuration, scoring):
            expected = cases.by_reference(scoring, batch)
            engine = cases.build(configuration, scoring, device)
            found = engine.ends(batch)
            assert found.score.tolist() == expected.score.tolist(), seed
            assert found.end.tolist() == expected.end.tolist(), seed
            assert engine.scores(batch).tolist() == expected.score.tolist(), seed


def test_masks_in_rows_that_a_word_has_room_for(device):
    scoring, word = SCORINGS[0], np.arange(40, dtype=np.uint8) % 4
    plain = Batch.pairwise([word], [word])
    masked = plain.masked([Mask.of(range(40), range(40), 40)])
    expected = Reference(scoring).scores(masked).tolist()
    assert expected != Reference(scoring).scores(plain).tolist()
    for rows in (8, 16):
        assert Blocked(scoring, device, rows=rows).scores(masked).tolist() == expected
    with pytest.raises(ValueError, match="rows 24: at most 16 expected with masks"):
        Blocked(scoring, device, rows=24).scores(masked)
