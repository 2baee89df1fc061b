"""Windows of long targets: scores and places of the best alignments are those of whole targets."""

import cases
import numpy as np
import pytest
from cases import COMPUTE, able, hinting
from hypothesis import given, settings, strategies as st

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.traceback import best_end, trace
from glsw.engines import auto, choice, windows as module
from glsw.engines.base import ScanHints
from glsw.engines.cpu import Cpu
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import LaneSizes
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.engines.windows import Windows, longest_spans, scan_windows, window_length
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SCORINGS = (
    Scoring.match_mismatch(2, -3, 7, 2),
    Scoring.match_mismatch(1, -1, 1, 1),
    Scoring.match_mismatch(5, -4, 12, 3),
    Scoring.match_mismatch(1, 0, 2, 1),
    Scoring.match_mismatch(4, -4, 4, 2),
)


def related(random, m, n, letters=2):
    """Return a query and a target that has parts of it, with letters changed and put in between."""
    query = random.integers(0, letters, m).astype(np.uint8)
    target = random.integers(0, letters, n).astype(np.uint8)
    for _ in range(random.integers(0, 4)):
        piece = query[random.integers(0, m) :][: random.integers(1, m + 1)]
        far = np.insert(piece, random.integers(0, len(piece), 3), random.integers(0, letters, 3))
        at = random.integers(0, max(1, n - len(far)))
        target[at : at + len(far)] = far[: n - at]
    return query, target


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(0, len(SCORINGS) - 1), st.integers(1, 24), st.booleans())
def test_the_best_alignment_is_that_of_the_whole_target(seed, which, m, masked):
    random, scoring = np.random.default_rng(seed), SCORINGS[which]
    query, target = related(random, m, int(random.integers(30, 200)))
    n = len(target)
    mask = Mask.nothing(m)
    if masked:
        score, *end = best_end(query, target, scoring)
        mask = mask.with_runs(trace(query, target, scoring, *end)[0])
    queries = Sequences.of([query])
    span = int(longest_spans(scoring, queries)[0])
    windows = Windows.of(Sequences.of([target]), span + int(random.integers(0, 20)), span - 1)
    scores = []
    for window, start in zip(windows.sequences, windows.start.tolist(), strict=True):
        part = mask.part(slice(0, m), slice(start, start + len(window)))
        scores.append(best_end(query, window, scoring, part)[0])
    found = np.array([scores], np.int32)
    score, i, j = best_end(query, target, scoring, mask)
    assert windows.best(found).tolist() == [[score]]
    start, stop = windows.scores(found[0], 0, span).columns(m)
    if not score:
        assert (start, stop) == (0, 0)
        return
    part = mask.part(slice(0, m), slice(start, stop))
    crop = target[start:stop]
    cropped = best_end(query, crop, scoring, part)
    assert (cropped[0], cropped[1], cropped[2] + start) == (score, i, j)
    whole, _ = cases.traced(query, target, scoring, i, j, mask=mask)
    there, _ = cases.traced(query, crop, scoring, *cropped[1:], mask=part)
    assert whole[0, -1] - whole[0, 0] <= span
    there[0] += start
    assert there.tolist() == whole.tolist()
    assert n >= stop > start >= 0


def test_some_alignments_span_as_much():
    scoring = Scoring.match_mismatch(1, -100, gap_open=3, gap_extend=1)
    query = np.zeros(19, np.uint8)
    (span,) = longest_spans(scoring, Sequences.of([query])).tolist()
    assert span == 19 + 8
    pieces = [
        np.full(n, letter, np.uint8) for n, letter in ((7, 0), (4, 1), (6, 0), (4, 1), (6, 0))
    ]
    target = np.concatenate(pieces)
    score, i, j = best_end(query, target, scoring)
    coordinates, _ = cases.traced(query, target, scoring, i, j)
    assert (score, coordinates[0, -1] - coordinates[0, 0]) == (7, span)  # 19 - 6 - 6


@pytest.mark.parametrize(("length", "expected"), [(14, 14), (15, 15 + 2), (100, 100 + 30)])
def test_spans_of_queries(length, expected):
    """No gap can be paid for twice, only one, or several."""
    scoring = Scoring.match_mismatch(1, -1, gap_open=7, gap_extend=2)
    spans = longest_spans(scoring, Sequences.of([np.zeros(length, np.uint8)]))
    assert spans.tolist() == [expected]


def test_gaps_that_cost_nothing_have_no_windows():
    scoring = Scoring.match_mismatch(2, -3, 5, 0)
    spans = longest_spans(scoring, Sequences.of([np.zeros(9, np.uint8)]))
    assert spans.tolist() == [2**62]
    assert window_length(int(spans[0]), 10**9, 64) == 0


@pytest.mark.parametrize("scoring", [Scoring.blast(), Scoring.nucleotide()])
@pytest.mark.parametrize(("targets", "n"), [(6, 1_550_000), (1, 4_640_000)])
@pytest.mark.parametrize("m", [300, 1000, 5478, 8000])
def test_windows_of_a_genome_cost_little_more_than_it(scoring, m, targets, n):
    """A protein of 5,478 residues against a genome in six frames: no cell goes elsewhere."""
    best = int(scoring.matrix.max(axis=1)[:20].argmin())  # of the letters, one that scores little
    queries = Sequences.of([np.full(m, best, np.uint8)])
    part = Sequences(np.zeros(targets * n, np.uint8), np.arange(targets + 1) * n)
    spans = longest_spans(scoring, queries)
    for kind in (Lanes, Cpu):
        hints = ScanHints(targets_at_once=2**16)
        if kind is Cpu:
            hints = Cpu(scoring, threads=2).hints
        cutting = Cutting(scoring)
        cutting.hints = hints
        assert module.pays(cutting, ScanTile(queries, part))
        ((_, windows),) = module.window_groups(cutting, queries, spans, part, {})
        cells, useful = windows.cells(queries, part)
        assert useful < cells < 1.5 * useful
        assert windows.sequences.lengths.max() <= LaneSizes().longest
        rounds = len(windows.sequences) / hints.targets_together
        assert kind is Lanes or np.ceil(rounds) / rounds < 1.1  # of lanes that are idle


def test_lanes_take_targets_as_long_as_windows(device):
    """One of titin's length went to another engine, and windows had to be shorter."""
    able(device, COMPUTE)
    random, scoring = np.random.default_rng(9), Scoring.blast()
    target = random.integers(0, 20, 36_000).astype(np.uint8)
    query = target[20_000:20_300]
    queries, part = Sequences.of([query, query[::-1]]), Sequences.of([target, target[::-1]])
    hardware = cases.standing_in(device, subgroup_size=32)
    engine = Lanes(scoring, hardware, subgroups=False)  # without others
    (found,) = engine.answers([ScanTile(queries, part)])
    (want,) = Cpu(scoring).answers([ScanTile(queries, part)])
    assert found.tolist() == want.tolist()
    for slow in (device, cases.standing_in(device, subgroup_size=0)):
        made = Lanes(scoring, slow)
        assert made.limits.longest == made.limits.longest_elsewhere or not slow.info.software
    assert Lanes(scoring.in_mode("global"), hardware).limits.longest == 2**15
    router = auto.Auto(
        scoring, cases.standing_in(device), limits=LaneSizes(longest_elsewhere=2**18)
    )
    router.engine(Lanes).rest = pytest.fail
    (found,) = router.answers([ScanTile(queries, part)])
    assert found.tolist() == want.tolist()


@pytest.mark.parametrize("half", [False, True])
def test_no_chain_of_lanes_computes_longer_than_a_watchdog_waits(device, half):
    """Other engines can cut a pair into dispatches: lanes end one with a target."""
    able(device, COMPUTE)
    blast = Scoring.blast()
    sizes = {"cells": 4 * 10**4, "cells_elsewhere": 2 * 10**4}
    limits = LaneSizes(**sizes, long_target=16, in_flight=1, targets_at_once=4)
    hardware = cases.standing_in(device, subgroup_size=32, half=half)
    options = {"subgroups": False, "number": "f32", "limits": limits}
    random, most = np.random.default_rng(4), limits.cells if half else limits.cells_elsewhere
    queries, targets = (
        Sequences.of([random.integers(0, 20, n).astype(np.uint8) for n in lengths])
        for lengths in ([100, 5], [900, 40, 190, 210, 390, 410, 3000, 70])
    )
    left = []

    def rest(batch, progress):
        left.extend(batch.lengths.tolist())
        return Cpu(blast).scores(batch)

    engine = Lanes(blast, hardware, own_queries=False, **options)
    engine.rest = rest
    (want,) = Cpu(blast).answers([ScanTile(queries, targets)])
    (found,) = engine.answers([ScanTile(queries, targets)])
    assert found.tolist() == want.tolist()
    too_many = [n for n in targets.lengths.tolist() if 100 * n > most]
    assert {n for m, n in left if m == 100} == set(too_many)
    shares = engine.targets.present.shares
    assert max(share.lengths[0] for share, long in shares if not long) <= most // 400
    assert max(share.lengths[0] for share, _ in shares) <= most // 100
    left.clear()
    batch = Batch.indexed(queries, targets, *np.indices((2, 8), np.int32).reshape(2, -1))
    for made in (engine, Lanes(blast, hardware, **options)):
        made.rest = rest
        assert made.scores(batch).tolist() == want.ravel().tolist()
        assert {100, max(too_many)} in map(set, left)
    engine = Lanes(blast, hardware, **options)  # without others it takes them
    assert engine.scores(batch).tolist() == want.ravel().tolist()
    part, spans = Sequences.of([np.zeros(60_000, np.uint8)]), longest_spans(blast, queries)
    groups = list(module.window_groups(engine, queries, spans, part, {}))
    assert [windows.sequences.lengths.max() for _, windows in groups] == [
        min(4096, most // 5),
        60_000,
    ]


class Cutting(Reference):
    """Cuts long targets."""

    hints = ScanHints(targets_at_once=4)


@pytest.mark.parametrize("lengths", [(4000, 900, 3), (4000, 0, 50_000), (700, 2900)])
def test_scans_of_long_targets(lengths, monkeypatch):
    scoring = SCORINGS[0]
    monkeypatch.setattr(module, "LONGEST_WINDOW", 2**10)
    random = np.random.default_rng(3)
    queries = Sequences.of(
        [random.integers(0, 4, m).astype(np.uint8) for m in (20, 4, 21, 0, 60, 400, 19)]
    )
    parts = [
        Sequences.of([random.integers(0, 4, n).astype(np.uint8) for n in lengths]),
        Sequences.of([random.integers(0, 4, n).astype(np.uint8) for n in (20, 30)]),
    ]
    found = list(scan_windows(Cutting(scoring), [ScanTile(queries, part) for part in parts]))
    for part, (scores, _) in zip(parts, found, strict=True):
        (want,) = Reference(scoring).answers([ScanTile(queries, part)])
        assert scores.tolist() == want.tolist()
    (_, places), (_, none) = found
    assert none is None
    assert places is not None
    assert 0 in places.targets or 1 in places.targets
    for q, query in enumerate(queries):
        for t in places.targets:
            score, i, j = best_end(query, parts[0][t], scoring)
            start, stop = places.windows(q, int(t)).columns(len(query))
            if score:
                crop = best_end(query, parts[0][t][start:stop], scoring)
                assert (score, i, j) == (crop[0], crop[1], crop[2] + start)


@pytest.mark.parametrize("n", [800, 1300, 3000, 9000, 40_000])
@pytest.mark.parametrize("masked", [False, True])
def test_auto_cuts_targets_once(device, n, masked, monkeypatch):
    able(device, COMPUTE)
    monkeypatch.setattr(Lanes, "hints", hinting(Lanes, targets_at_once=64))
    monkeypatch.setattr(choice, "seconds", lambda engine, *_: not engine.startswith("windows"))
    random = np.random.default_rng(n)
    queries = [random.integers(0, 4, m).astype(np.uint8) for m in (4, 20, 55)]
    target = random.integers(0, 4, n).astype(np.uint8)
    target[n // 2 : n // 2 + 20] = queries[1]
    scoring = SCORINGS[0]
    batch = Batch.indexed(
        Sequences.of(queries),
        Sequences.of([target]),
        np.arange(3, dtype=np.int32),
        np.zeros(3, np.int32),
    )
    if masked:
        ends = [best_end(query, target, scoring) for query in queries]
        batch = batch.masked(
            Mask.nothing(len(query)).with_runs(trace(query, target, scoring, i, j)[0])
            for query, (_, i, j) in zip(queries, ends, strict=True)
        )
    router = auto.Auto(scoring, device)
    paths = router.paths(batch)
    assert paths is not None
    for p, query in enumerate(queries):
        score, i, j = best_end(query, target, scoring, batch.mask(p))
        assert (paths.ends.score[p], *paths.ends.end[p]) == (score, i, j)
        want, _ = cases.traced(query, target, scoring, i, j, mask=batch.mask(p))
        assert paths.coordinates(p).tolist() == want.tolist()
    if not masked:
        assert router.scores(batch).tolist() == paths.ends.score.tolist()
        assert router.ends(batch).end.tolist() == paths.ends.end.tolist()
    assert "lanes" in router.label
