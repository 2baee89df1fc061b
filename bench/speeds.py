"""How fast a device is: cells per second of some engines, so that a suite can choose sizes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from bench import workloads
from bench.measure import second_run
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import ENGINES, Engine
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

_SCORING = Scoring.named("BLOSUM62", 12, 1)
_LETTERS = 128
_MOST = 2e10  # cells of a trial: larger ones take long to make

TRIED = ("fragment", "diagonal", "lanes")
"""Engines that are tried: draws, compute shaders for pairs, and for databases."""


def speeds(device: Device, *, seconds: float = 0.7) -> dict[str, float]:
    """Return about how many cells per second the engines `TRIED` do with many pairs.

    Each is tried for about this time, with growing batches, after it was compiled.
    """
    return {
        name: _speed(name, device, seconds)
        for name in TRIED
        if device.info.version >= (ENGINES[name].capabilities.requires or (3, 3))
    }


def _speed(name: str, device: Device, seconds: float) -> float:
    engine = ENGINES[name](_SCORING, device)
    length = _LETTERS if device.info.software else 8 * _LETTERS
    query = workloads.queries([length])
    count, best, begin = 1, 0.0, time.perf_counter()
    while True:
        targets = workloads.many(np.full(count, length))
        batch, parts = Batch.one_to_many(query[0], targets), [targets]
        run: Callable[[], object] = partial(engine.scores, batch)
        if name == "lanes":  # for searches, which keep their targets on the device
            run = partial(_scan, engine, query, parts)
        took = second_run(run)
        best = max(best, batch.cells / took)
        gone = time.perf_counter() - begin
        # The first trial has little to do besides the costs of a call.
        most = seconds if count > 1 else 4 * seconds
        if gone + 8 * took > most or 4 * batch.cells > _MOST:
            return best
        count *= 4


def _scan(engine: Engine, queries: Sequences, parts: list[Sequences]) -> object:
    return list(engine.scan(queries, parts))
