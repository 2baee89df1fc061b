"""Score maps: equal to those of whole tables, in bands too; what a cap means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import limited
from naive_map import score_map, scores_of_cells

from glsw.engines import reference
from glsw.scoring.scoring import Scoring
from glsw.wings.dotplot.score_map import UNCAPPED, VALUES, Bands, MapTile, ScoreMap

SCORINGS = [
    Scoring.nucleotide(),
    Scoring.match_mismatch(2, -1, 3, 1),
    Scoring.match_mismatch(1, -1, 1, 1),
    Scoring.blast(),
    replace(Scoring.match_mismatch(2, -3, 5, 2), insertion_open=4, insertion_extend=1),
]
SIDES = [1, 4, 8, 24]


def random_pair(rng, letters, most=36):
    """Return two sequences that share segments, one of them with an insertion or a repeat."""
    query, target = (rng.integers(0, letters, rng.integers(1, most)) for _ in range(2))
    shared = query[: rng.integers(0, len(query) + 1)]
    target = np.concatenate([target, shared, target[: rng.integers(0, 4)], shared])[:most]
    return query.astype(np.uint8), target.astype(np.uint8)


def filled(codes, tile, padding):
    return np.concatenate([codes, np.full(-len(codes) % tile.side, padding, np.uint8)])


def test_the_maps_of_300_random_pairs_are_those_of_whole_tables(device):
    rng = np.random.default_rng(20260722)
    engines = {
        (k, memory): ScoreMap(scoring, device, memory=memory)
        for k, scoring in enumerate(SCORINGS)
        for memory in (10, 4000, 2**30)  # bands of one row of tiles, of some, and one band
    }
    bands = set()
    for trial in range(300):
        k, memory = trial % len(SCORINGS), (10, 4000, 2**30)[trial % 3]
        scoring, engine = SCORINGS[k], engines[k, memory]
        query, target = random_pair(rng, int(rng.integers(2, 5)))
        tile = engine.tile(int(rng.choice(SIDES)))
        cap = int(rng.choice([7, 20, UNCAPPED]))
        value = VALUES[trial % 7 == 0]
        query, target = (filled(each, tile, engine.padding) for each in (query, target))
        found = engine.tiles(query, target, tile, value=value, cap=cap)
        expected = score_map(query, target, scoring, tile.side, cap, value)
        np.testing.assert_array_equal(found, expected, f"{trial}: {scoring.name} {tile} {value}")
        bands.add(-(-len(found) // engine.bands(len(query), len(target), tile, cap).part) > 1)
    assert bands == {False, True}


@pytest.mark.parametrize("band", [1, 2, 5])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_what_is_kept_may_be_in_several_buffers(device, monkeypatch, band, at_once):
    rng = np.random.default_rng(20261124 + band)
    for trial, scoring in enumerate(SCORINGS * 2):
        engine = ScoreMap(scoring, device)
        monkeypatch.setattr(engine, "bands", lambda *_: Bands(band, band * at_once))
        tile = engine.tile(int(rng.choice([1, 4])))
        query, target = (
            filled(each, tile, engine.padding) for each in random_pair(rng, 3, most=60)
        )
        cap = int(rng.choice([20, UNCAPPED]))
        found = engine.tiles(query, target, tile, cap=cap)
        expected = score_map(query, target, scoring, tile.side, cap, "through")
        np.testing.assert_array_equal(found, expected, f"{trial}: {scoring.name} {tile}")


def test_bands_fit_the_buffers_and_parts_the_memory(device):
    tile = MapTile(8192, 128, 16, 2048)
    row = 4 * 2 * 600 * 8192  # bytes of the borders of a row of tiles
    large = limited(device, max_storage_block=2**31 - 1)

    def bands(memory):
        engine = ScoreMap(Scoring.nucleotide(), large, memory=memory)
        return engine.bands(567 * 8192, 600 * 8192, tile, 8192)

    assert bands(2**31) == Bands(53, 53)
    assert bands(2**33) == Bands(53, 53 * 4)
    assert bands(24 * 2**30).part > 567
    assert bands(10 * row) == Bands(9, 9)
    assert bands(10) == Bands(1, 1)


def test_the_oracle_has_the_tables_of_the_reference():
    rng = np.random.default_rng(1)
    for scoring in SCORINGS:
        query, target = random_pair(rng, 4, 24)
        h, _, _ = reference.fill(query, target, scoring)
        ends = scores_of_cells(query, target, scoring, UNCAPPED, "end")
        np.testing.assert_array_equal(ends, h[1:, 1:])
        through = scores_of_cells(query, target, scoring, UNCAPPED, "through")
        assert through.max() == h.max()
        assert (through >= ends).all()


def test_a_capped_map_tells_alignments_apart_that_an_uncapped_one_joins(device):
    scoring = Scoring.nucleotide()
    rng = np.random.default_rng(2)
    shared = rng.integers(0, 4, 400).astype(np.uint8)
    engine = ScoreMap(scoring, device)
    tile = engine.tile(8)
    plain, capped = (engine.tiles(shared, shared, tile, cap=cap) for cap in (UNCAPPED, 80))
    assert plain.max() == 800
    assert capped.max() == 80
    far = np.abs(np.subtract.outer(np.arange(50), np.arange(50))) == 10  # 80 residues aside
    assert np.median(plain[far]) > 300  # by gaps from the diagonal
    assert np.median(capped[far]) < 40


@pytest.mark.parametrize("side", [*range(1, 70), 100, 1000, 3333, 10000])
def test_tiles_are_whole_strips_and_whole_columns(side):
    for software in (False, True):
        tile = MapTile.near(side, software=software)
        assert tile.side % (tile.lanes * tile.rows) == tile.side % tile.columns == 0
        assert 0.65 * side <= tile.side <= 1.5 * side
        assert tile.rows <= 16
        assert tile.columns <= 2048


def test_work_counts_the_passes(device):
    scoring = Scoring.nucleotide()
    one, bands = ScoreMap(scoring, device), ScoreMap(scoring, device, memory=10)
    tile = one.tile(8)
    codes = np.zeros(80, np.uint8)
    for engine, value in ((one, "end"), (one, "through"), (bands, "through")):
        counted = []
        engine.tiles(codes, codes, tile, value=value, progress=counted.append)
        assert sum(counted) == engine.work(80, 80, tile, value)
    assert bands.work(80, 80, tile, "through") == 3 * 6400


def test_only_local_alignments_have_maps(device):
    with pytest.raises(ValueError, match="local alignments only"):
        ScoreMap(Scoring.nucleotide().in_mode("global"), device)


def test_nothing_has_an_empty_map(device):
    engine = ScoreMap(Scoring.nucleotide(), device)
    nothing, some = np.empty(0, np.uint8), np.zeros(8, np.uint8)
    assert engine.tiles(nothing, some, engine.tile(8)).shape == (0, 1)
