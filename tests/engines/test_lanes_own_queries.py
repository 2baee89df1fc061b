"""Engine `lanes` with pairs that each have their own query."""

import threading

import numpy as np
import pytest
from cases import standing_in
from smaller import smaller

from glsw.alignment.batch import Batch
from glsw.engines import Lanes, engine_of
from glsw.engines.cpu import Cpu
from glsw.engines.lanes import engine as engine_module, own_queries
from glsw.pairs import many_pairs
from glsw.run.pool import Runner
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)


def random_batch(seed, count, queries, targets, together=False):
    rng = np.random.default_rng(seed)
    sides = [
        Sequences.of([rng.integers(0, 20, n, np.uint8) for n in rng.integers(*each, count)])
        for each in (queries, targets)
    ]
    index = rng.integers(0, count, (2 * count, 2)).astype(np.int32)
    return Batch.pairwise(*sides) if together else Batch(tuple(sides), index)


CASES = {
    "several numbers": random_batch(1, 100, (0, 500), (0, 300)),
    "in order": random_batch(2, 60, (30, 90), (20, 700), together=True),
    "equal": random_batch(3, 100, (50, 51), (60, 61), together=True),
    "no letters": random_batch(5, 50, (20, 30), (0, 1)),
    "no pairs": random_batch(6, 50, (20, 30), (9, 10)).select(slice(0)),
}


@pytest.mark.parametrize("number", ["int32", "f32"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("keys", [2**16, 0], ids=["short keys", "long keys"])
def test_scores_of_pairs_of_any_lengths(device, monkeypatch, keys, name, number):
    smaller(monkeypatch, short_keys=keys)
    engine = Lanes(BLOSUM62, standing_in(device), number=number, own_queries=True)
    found = engine.scores(CASES[name])
    assert found.tolist() == Cpu(BLOSUM62).scores(CASES[name]).tolist()


def test_a_thread_lays_out_the_chunks_of_many_pairs(device, monkeypatch):
    smaller(monkeypatch, pairs=70)
    batch = random_batch(8, 100, (0, 60), (0, 90))
    options = {"number": "f32", "rows": 8, "workgroup": 8, "own_queries": True}
    router = engine_of(Lanes, BLOSUM62, standing_in(device), **options)
    threads, laid_out = [], own_queries.shares_of

    def shares_of(*args):
        threads.append(threading.current_thread().name)
        return laid_out(*args)

    for module in (own_queries, engine_module):
        monkeypatch.setattr(module, "shares_of", shares_of)
    found = many_pairs.score_pairs(Runner(router), batch)
    assert found.tolist() == Cpu(BLOSUM62).scores(batch).tolist()
    assert threads == ["glsw-ahead_0"] * 3
    options["own_queries"] = False  # there is nothing to lay out
    router = engine_of(Lanes, BLOSUM62, standing_in(device), **options)
    assert many_pairs.score_pairs(Runner(router), batch).tolist() == found.tolist()
    assert len(threads) == 3
