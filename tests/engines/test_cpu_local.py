"""Local alignments by passes of parasail: the small table, and masks, as by the reference."""

from dataclasses import replace

import cases
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from glsw.aligner import Aligner
from glsw.alignment.batch import Mask
from glsw.alignment.paths import coordinates
from glsw.alignment.traceback import best_end, trace
from glsw.engines import cpu_local, windows
from glsw.engines.auto import Auto
from glsw.engines.cpu import Cpu
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.cpu_local import LocalPaths
from glsw.engines.reference import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import Record

PASSES = CpuSizes(column_table=0)  # no table is so small that it is kept as a whole at once


def related(rng, letters, longest):
    """Return a query and a target that often has a copy of it, with changes, gaps, and repeats."""
    m, n = rng.integers(1, longest, 2)
    query, target = (rng.integers(0, letters, size).astype(np.uint8) for size in (m, n))
    if rng.random() < 0.7:
        size = min(m, n)
        i, j = rng.integers(0, m - size + 1), rng.integers(0, n - size + 1)
        changed = rng.random(size) < 0.2
        target[j : j + size] = np.where(changed, target[j : j + size], query[i : i + size])
    if rng.random() < 0.5 and n > 6:
        target = np.delete(target, slice(*np.sort(rng.integers(1, n, 2))))
    if rng.random() < 0.3:
        target = np.concatenate([target, target[: len(target) // 2]])
    return query, target


def judged(paths, scoring, query, target, mask=None):
    """Compare an alignment with that of the rows of NumPy, and return it."""
    found = paths.best(query, target, mask)
    assert found is not None
    best = best_end(query, target, scoring, mask)
    assert found[0] == best
    expected, _ = cases.traced(query, target, scoring, *best[1:], mask=mask)
    runs = found[1][::-1]
    end = np.array(best[:0:-1])
    assert coordinates((runs & 3).astype(np.uint8), runs >> 2, end).tolist() == expected.tolist()
    return best[0], expected


@st.composite
def scorings(draw):
    """Scorings of few letters, so that ties are frequent; some beyond 16 bits."""
    match, mismatch = draw(st.integers(1, 5)), draw(st.integers(-5, 0))
    extend = draw(st.integers(0, 4))
    opening = extend + draw(st.sampled_from((0, 1, 3, 6)))
    unit = draw(st.sampled_from((1, 1, 1, 1000, 10**5)))
    numbers = (unit * each for each in (match, mismatch, max(1, opening), extend))
    return draw(st.sampled_from((Scoring.match_mismatch(*numbers), Scoring.blast())))


@settings(max_examples=150)
@given(
    scorings(),
    st.integers(0, 2**32),
    st.integers(0, 6),
    st.integers(1, 40),
    st.booleans(),
)
def test_further_alignments_are_those_of_numpy(scoring, seed, begins, forbidden, all_letters):
    """Three disjoint alignments, with few letters for their masks; or whole columns are kept."""
    rng = np.random.default_rng(seed)
    letters = len(scoring.alphabet) if all_letters else 3
    query, target = related(rng, letters, int(rng.choice([12, 60, 150])))
    limits = CpuSizes(
        begins=begins,
        column_table=0 if begins else 2**30,
        whole_table=0,
        forbidden=forbidden,
        forbidden_again=1 + forbidden // 4,
    )
    paths, mask = LocalPaths(scoring, limits), Mask.nothing(len(query))
    for _ in range(3):
        score, found = judged(paths, scoring, query, target, mask)
        if not score:
            break
        mask = cases.with_path(mask, found)


def test_the_table_has_what_lies_between_begin_and_end(monkeypatch):
    """Of equal alignments, here two copies, the conventional end is chosen."""
    rng = np.random.default_rng(1)
    scoring = Scoring.nucleotide()
    query, filler = rng.integers(0, 3, 300).astype(np.uint8), np.full(400, 3, np.uint8)
    piece = query[100:160]
    target = np.concatenate([filler, piece, filler, piece, filler])
    tables, table = [], cpu_local.table

    def counted(name, query, target, *rest):
        tables.append(len(query) * len(target))
        return table(name, query, target, *rest)

    monkeypatch.setattr(cpu_local, "table", counted)
    paths = LocalPaths(scoring, PASSES)
    score, found = judged(paths, scoring, query, target)
    assert score == 120
    assert found.tolist() == [[860, 920], [100, 160]]
    assert tables == [60 * (920 - 400)]  # which has both copies: they are in the same rows
    del tables[:]
    judged(paths, scoring, query, target[:800])
    assert tables == [60 * 60]
    del tables[:]
    judged(LocalPaths(scoring, replace(PASSES, begins=1)), scoring, query, target)
    assert tables == [len(query) * len(target)]


def test_a_mask_with_too_many_pairs_goes_to_numpy():
    """The library has 254 letters, and each pair that a path could use would need one."""
    limits = replace(PASSES, forbidden=2, forbidden_again=400)
    scoring = Scoring.match_mismatch(2, -3, 5, 2)
    same = np.random.default_rng(3).integers(0, 4, 400).astype(np.uint8)
    every = np.arange(400)
    mask = Mask.of(every, every, 400)
    assert LocalPaths(scoring, limits).best(same, same, mask) is None
    engine = Cpu(scoring, threads=1, limits=limits)
    batch = cases.Batch.pairwise([same], [same]).masked([mask])
    expected = Reference(scoring).ends(batch)
    found = engine.paths(batch)
    assert found.ends.score.tolist() == engine.scores(batch).tolist() == expected.score.tolist()
    assert found.ends.end.tolist() == expected.end.tolist()


def test_masks_of_long_targets_are_computed_in_windows(device):
    """Neither OpenGL nor rows of NumPy are needed, and windows are scanned once."""
    if not device.info.software:
        pytest.skip("there is a GPU")
    rng = np.random.default_rng(2)
    scoring = Scoring.nucleotide()
    query = rng.integers(0, 4, 90).astype(np.uint8)
    target = rng.integers(0, 4, 200_000).astype(np.uint8)
    for at in (500, 70_000, 70_200, 199_900):
        target[at : at + 90] = np.where(rng.random(90) < 0.1, 0, query)
    batch = cases.Batch.pairwise([query], [target])
    for engine in (
        Cpu(scoring, limits=PASSES),
        Auto(scoring, device, scanner=Cpu, limits=PASSES),
    ):
        masks = [Mask.nothing(90)]
        for _ in range(4):
            some = batch.masked(masks)
            found = engine.paths(some)
            score, i, j = best_end(query, target, scoring, masks[0])
            assert found.ends.score.tolist() == [score]
            assert found.ends.end.tolist() == [[i, j]]
            masks = [masks[0].with_runs(found.forwards())]
        assert "diagonal" not in engine.label


def test_windows_of_a_search_are_not_scanned_again(monkeypatch):
    rng = np.random.default_rng(4)
    query = rng.integers(0, 4, 60).astype(np.uint8)
    target = rng.integers(0, 4, 40_000).astype(np.uint8)
    for at in (500, 30_000, 30_100):
        target[at : at + 60] = np.where(rng.random(60) < 0.1, 0, query)
    scoring = Scoring.nucleotide()
    expected, mask = [], Mask.nothing(60)
    for _ in range(5):
        score, i, j = best_end(query, target, scoring, mask)
        expected.append((score, i, j))
        mask = mask.with_runs(trace(query, target, scoring, i, j, mask=mask)[0])
    scan, scanned = windows._scan_cut, []
    monkeypatch.setattr(windows, "_scan_cut", lambda *args: scanned.append(0) or scan(*args))
    aligner = Aligner(scoring, engine="cpu")
    aligner.engine = aligner._pool.engine = Cpu(scoring, limits=replace(PASSES, table=2**20))
    texts = (scoring.alphabet.decode(codes) for codes in (query, target))
    (hit,) = aligner.search(*(Record("one", "", text) for text in texts), max_hsps=5, strand="plus")
    ends = [each.alignment.coordinates[::-1, -1].tolist() for each in hit.hsps]
    assert [(each.score, *end) for each, end in zip(hit.hsps, ends, strict=True)] == expected
    assert len(scanned) == 1
