"""The estimates by which the engine `auto` chooses, compared with measured seconds.

``data/engine_seconds.ndjson`` has a line per shape of work: seconds of the engines on an NVIDIA
H100 ("hardware", driver 580.159) and on llvmpipe 15 with two cores ("software"; "equal letters" if
scores only depend on whether two letters are equal, which is faster there), measured at commit
4b89493, of ``lanes, own queries`` at commit 833cbb5, of scores by ``blocked`` on llvmpipe at commit
efd6130, times 2.0: so much faster was the machine with ``diagonal`` and ``scan``. What a cell costs
with ``lanes, own queries`` is the rate of the kernel at commit a35ad6a, without lines here. Of
several pairs, ``blocked`` on llvmpipe was measured at commit 4e1e015 beside ``diagonal``, to whose
older seconds it is scaled; the last lines, with tables of all queries and targets, on an H100 at
that commit. An engine is missing where it was more than three times slower than another one.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import standing_in

from glsw.alignment.batch import Batch
from glsw.engines import Lanes
from glsw.engines.costs import (
    COEFFICIENTS,
    EACH_QUERY,
    OWN_QUERIES,
    WHOLE_TABLE,
    Shape,
    seconds,
    terms,
    way_of_lanes,
)
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

_LINES = (Path(__file__).parent.parent / "data/engine_seconds.ndjson").read_text("ascii")
MEASURED = [json.loads(line) for line in _LINES.splitlines()]


def estimate(engine: str, row: dict) -> float:
    targets = row.get("targets", row["pairs"])  # different ones
    shape = Shape(row["m"], row["n"], row["pairs"], row["queries"], targets)
    task = " alignment" if row["task"] == "alignment" else ""
    return seconds(engine + task, shape, row["device"].split(",")[0])


@pytest.mark.parametrize("device", ["hardware", "software", "software, equal letters"])
def test_the_choice_is_nearly_the_fastest(device):
    rows = [row for row in MEASURED if row["device"] == device]
    assert len(rows) >= (200 if device == "hardware" else 100)
    ratios = []
    for row in rows:
        measured = row["seconds"]
        estimates = {engine: estimate(engine, row) for engine in measured}
        chosen = min(measured, key=estimates.__getitem__)
        ratios.append(measured[chosen] / min(measured.values()))
    assert np.mean(np.array(ratios) <= 1.5) >= 0.96
    assert np.mean(ratios) < 1.08


def test_auto_itself_was_nearly_as_fast_as_the_fastest():
    ratios = [row["auto"] / min(row["seconds"].values()) for row in MEASURED if "auto" in row]
    assert len(ratios) > 200
    assert np.mean(np.array(ratios) <= 1.5) >= 0.9


@pytest.mark.parametrize("device", COEFFICIENTS)
def test_every_engine_has_a_factor_for_each_term(device):
    shape = Shape(100, 1000, 10, 5, 10)
    for engine, factors in COEFFICIENTS[device].items():
        assert len(factors) == len(terms(engine, shape, device != "hardware"))
        assert min(factors) >= 0
        assert seconds(engine, shape, device) > 0
    with pytest.raises(KeyError):
        terms("quantum", shape)


def test_a_slow_device_computes_no_pairs_only_to_spare_the_host():
    sparse = Shape(300, 300, 10_000, 100, 1000)  # a tenth of a table
    assert way_of_lanes(sparse, own_queries=False) == WHOLE_TABLE
    assert way_of_lanes(sparse, own_queries=False, rate=4e12) == WHOLE_TABLE
    assert way_of_lanes(sparse, own_queries=False, rate=2e10) == EACH_QUERY
    dense = sparse._replace(pairs=100_000)
    assert way_of_lanes(dense, own_queries=True, rate=2e10) == WHOLE_TABLE
    half = dense._replace(pairs=60_000)
    assert way_of_lanes(half, own_queries=True) == WHOLE_TABLE
    assert way_of_lanes(half, own_queries=True, rate=2e10) == OWN_QUERIES
    for way in (WHOLE_TABLE, OWN_QUERIES):  # what the host does takes as long
        fast, slow = (seconds(way, half, "hardware", slower=k) for k in (1, 100))
        assert fast < slow < 100 * fast


@pytest.mark.parametrize(("half", "way"), [(True, WHOLE_TABLE), (False, EACH_QUERY)])
def test_lanes_learn_the_rate_of_the_device(device, half, way):
    lanes = Lanes(Scoring.blast(), standing_in(device, half=half), own_queries=False)
    sides = [Sequences.of([np.zeros(300, np.uint8)] * count) for count in (100, 5000)]
    index = np.stack([np.arange(10_000) // 100, np.arange(10_000) % 5000]).T.astype(np.int32)
    batch = Batch((sides[0], sides[1]), index)
    assert lanes.way(batch) == way  # as assumed
    lanes.queue.throttle.full_rate = 2e10
    assert lanes.way(batch) == EACH_QUERY
    lanes.queue.throttle.full_rate = 4e12
    assert lanes.way(batch) == WHOLE_TABLE
