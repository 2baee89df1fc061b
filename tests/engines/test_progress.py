"""Progress: the cells that any call reports are those of its pairs, in all."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CHUNKED, OF_EDITS, OPTIONS, standing_in, unit_costs
from smaller import smaller
from wing import wing

from glsw.alignment.batch import Batch, Mask
from glsw.engines import ENGINES, cpu_lanes, engine_of
from glsw.engines.base import Pairs
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import LaneSizes
from glsw.engines.tiles import BoundedTile, ScanTile
from glsw.engines.windows import scan_windows
from glsw.pairs.all_pairs import score_matrix
from glsw.pairs.many_pairs import align_pairs, score_pairs
from glsw.run.pool import Runner
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SCORINGS = (
    Scoring.blast(),
    Scoring.match_mismatch(2, -3, 5, 2),
    Scoring.match_mismatch(127, -100, 120, 20),  # beyond 16 bits
)
LIMITS = {
    "cpu": cpu_lanes.CpuSizes(table=1000, long=2000),
    **{
        name: replace(wing("edit.bit_parallel").SOFTWARE, window=64, lengths=1) for name in OF_EDITS
    },
}
OF_LANES = LaneSizes(targets_at_once=64, borders=4096, first_slice=2000, longest=250)


def sequences(rng, letters, count, longest):
    """Return sequences, some of them empty or equal; perhaps all as long."""
    lengths = rng.integers(0, longest + 1, count) * (rng.random(count) < 0.9)
    if rng.random() < 0.2:
        lengths[:] = lengths.max()
    word = rng.integers(0, letters, longest, np.uint8)
    equal = rng.random(count) < 0.5
    return Sequences.of(
        word[:n] if e else rng.integers(0, letters, n, np.uint8)
        for n, e in zip(lengths.tolist(), equal.tolist(), strict=True)
    )


def pairs(rng, scoring):
    """Return pairs of which some come twice, in any order; of short and long sequences or equal."""
    letters = min(20, len(scoring.alphabet))
    longest = ((12, 300), (60, 60), (120, 70))[rng.integers(3)]
    queries, targets = (sequences(rng, letters, int(rng.integers(1, 12)), n) for n in longest)
    if rng.random() < 0.2:
        targets = queries
    index = rng.integers(0, (len(queries), len(targets)), (int(rng.integers(0, 40)), 2))
    return Batch((queries, targets), index.astype(np.int32))


def calls(engine, batch):
    """Yield calls that take what hears of progress, and the cells of each."""
    queries, targets = batch.sequences
    tile = BoundedTile(
        queries, targets, *(np.full(len(each), 20, np.int32) for each in batch.sequences)
    )
    every = int(queries.lengths.sum() * targets.lengths.sum())
    own = queries.lengths
    once = int(own.sum() ** 2 + (own**2).sum()) // 2 if engine.scoring.symmetric else own.sum() ** 2
    first = targets.part(slice(0, 2)), targets.part(slice(2, len(targets)))
    some = [batch.select(slice(start, start + 7)) for start in range(0, len(batch), 7)]
    yield batch.cells, lambda told: engine.scores(batch, progress=told)
    yield batch.cells, lambda told: list(engine.answers(map(Pairs, some), progress=told))
    yield batch.cells, lambda told: score_pairs(Runner(engine, progress=told), batch)
    tiles = [ScanTile(queries, part) for part in first]
    yield every, lambda told: list(engine.answers(iter(tiles), progress=told))
    yield (
        every,
        lambda told: list(scan_windows(engine, [ScanTile(queries, targets)], progress=told)),
    )
    yield (
        own.sum() ** 2,
        lambda told: list(engine.answers([ScanTile(queries, queries)], progress=told)),
    )
    yield 2 * every, lambda told: list(engine.answers([tile, tile], progress=told))
    yield once, lambda told: score_matrix(Runner(engine, progress=told), queries)
    if "ends" not in engine.capabilities.tasks:
        return
    yield batch.cells, lambda told: engine.ends(batch, progress=told)
    yield batch.cells, lambda told: align_pairs(Runner(engine, progress=told), batch)
    if engine.capabilities.masks and engine.scoring.local:
        masked = batch.masked(Mask.nothing(int(m)) for m in batch.query_lengths)
        yield (
            batch.cells,
            lambda told: align_pairs(Runner(engine, ties="any", progress=told), masked),
        )


@pytest.fixture
def cut_finely(request, device, monkeypatch):
    """Cut work into many chunks, slices and windows, as on either kind of device."""
    smaller(monkeypatch, pairs=9)
    hardware = request.param == "hardware"
    return standing_in(device) if hardware else device


@pytest.mark.seeds(2)
@pytest.mark.parametrize(
    ("name", "cut_finely"),
    [*((name, "software") for name in ENGINES), ("auto", "hardware"), ("lanes", "hardware")],
    indirect=["cut_finely"],
)
def test_all_cells_are_reported_once(cut_finely, name, seed):
    rng = np.random.default_rng(seed)
    kind = ENGINES[name]
    scorings = [unit_costs(), unit_costs(infix=True)] if name in OF_EDITS else SCORINGS
    for scoring in scorings:
        options = [*OPTIONS.get(name, [{}]), CHUNKED.get(name, {})]
        chosen = options[rng.integers(len(options))]
        if limits := LIMITS.get(name, None if cut_finely.info.software else OF_LANES):
            chosen = chosen | {"limits": limits}
        engine = engine_of(kind, scoring, cut_finely, **chosen)
        if name == "lanes" and rng.random() < 0.5:
            engine = engine_of(kind, scoring, standing_in(cut_finely), **chosen)
        for _ in range(2):
            batch = pairs(rng, scoring)
            for number, (cells, call) in enumerate(calls(engine, batch)):
                finished = []
                call(finished.append)
                assert sum(finished) == cells, (number, chosen, batch.lengths.tolist())


def test_targets_that_are_too_long_for_some_queries_are_reported(device):
    """For the longest query; the pairs of others are computed as integers."""
    rng = np.random.default_rng(3)
    queries, targets = (
        Sequences.of([rng.integers(0, 20, n, np.uint8) for n in lengths])
        for lengths in ((4, 9, 90), (70, 80, 12))
    )
    limits = LaneSizes(cells_elsewhere=4000, large_pair=2**10, few_pairs=0)
    engine, reference = Lanes(SCORINGS[0], standing_in(device), limits=limits), ENGINES["reference"]
    engine.rest = lambda batch, told: reference(SCORINGS[0]).scores(batch, progress=told)
    finished = []
    list(engine.answers([ScanTile(queries, targets)], progress=finished.append))
    assert sum(finished) == len(queries.residues) * len(targets.residues)
