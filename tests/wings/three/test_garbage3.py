"""Engines of three sequences on devices that return garbage."""

from __future__ import annotations

from pathlib import Path

import cases3
import numpy as np
import pytest
from garbage import check_ends, check_paths, in_time, judge, wrong_directions
from subtests import with_subtests

from glsw.alignment.batch import Batch
from glsw.device.device import Device
from glsw.scoring.scoring import Scoring
from glsw.wings.three.engines import Engine3
from glsw.wings.three.scoring import Scoring3

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is measured as on Linux"
)
MOST_ALIGNMENTS = 500  # of three short sequences, which have fewer


def triples() -> Batch:
    rng = np.random.default_rng(3)
    word = rng.integers(0, 4, 12).astype(np.uint8)
    lengths = (9, 12, 7), (1, 1, 1), (5, 0, 6), (12, 4, 9)
    return Batch.of([[np.delete(word, k)[:n] for k, n in enumerate(each)] for each in lengths])


TRIPLES = triples()
OF_PAIRS = Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, 7, 2))
SCORINGS3 = {
    "identity": Scoring3.identity(3, -1, 2, 1),
    "pairs": OF_PAIRS,
    "pairs, global": OF_PAIRS.in_mode("global"),
    "identity, semi-global": Scoring3.identity().in_mode("semiglobal"),
}


def check_disjoint(engine: Engine3) -> None:
    for count, (t, paths) in enumerate(engine.disjoint(TRIPLES)):
        assert count < MOST_ALIGNMENTS
        check_paths(paths, TRIPLES.select(np.array([t])))


@with_subtests("name", SCORINGS3)
@with_subtests("configuration", cases3.configurations())
def test_triples(name: str, configuration: tuple[str, dict[str, object]], device: Device) -> None:
    engine = cases3.build(configuration, SCORINGS3[name], device)

    def tables() -> None:
        found = list(engine.tables(TRIPLES))
        assert [each.shape for each in found] == [tuple(each) for each in TRIPLES.lengths.tolist()]

    judge(tables, device)
    judge(lambda: check_ends(engine.ends(TRIPLES), TRIPLES), device)
    judge(lambda: check_paths(engine.paths(TRIPLES), TRIPLES), device)
    if engine.scoring.local:
        judge(lambda: check_disjoint(engine), device)


@with_subtests("configuration", cases3.configurations())
def test_wrong_directions_of_triples(
    configuration: tuple[str, dict[str, object]], device: Device
) -> None:
    with wrong_directions():
        for scoring in SCORINGS3.values():
            engine = cases3.build(configuration, scoring, device)
            in_time(lambda: check_paths(engine.paths(TRIPLES), TRIPLES))  # noqa: B023
