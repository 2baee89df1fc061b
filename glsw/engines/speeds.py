"""The speeds of engines ``lanes`` and ``cpu``, measured after the self-test and cached.

``auto`` uses the faster one where no device is asked for.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

from glsw.device.device import Device
from glsw.engines import ENGINES, cpu, engine_of
from glsw.engines.base import Engine
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.trust.proofs import FAULTS, Proofs

_SECONDS = 0.3  # of a measurement, at least
_QUERY, _TARGETS, _TARGET = 400, 2000, 300  # letters, sequences, letters: doubled until it takes so
_MOST_TARGETS = 2**17


def measured(device: Device) -> dict[str, float]:
    """Return the cells per second of engines, measured now, and keep them."""
    scoring = Scoring.blast()
    kinds = [ENGINES["lanes" if device.info.compute else "fragment"]]
    if cpu.is_installed() and cpu.takes(scoring):
        kinds.append(ENGINES["cpu"])
    speeds = {}
    for kind in kinds:
        if device.trouble and kind.capabilities.requires:
            continue
        with suppress(*FAULTS):  # the tests say what is wrong
            speeds[kind.name] = _speed(engine_of(kind, scoring, device))
            Proofs.of(device).verdicts.put_speed(kind.name, speeds[kind.name])
    return speeds


def _speed(engine: Engine) -> float:
    """Return the cells per second of a scan that takes some tenths of a second."""
    rng = np.random.default_rng(7)
    query = Sequences.of([rng.integers(0, 20, _QUERY).astype(np.uint8)])
    count = _TARGETS
    while True:
        letters = rng.integers(0, 20, (count, _TARGET)).astype(np.uint8)
        targets = Sequences.of(list(letters))
        with engine.turn:
            for _ in range(2):  # once for compilation and clocks
                start = time.perf_counter()
                list(engine.answers([ScanTile(query, targets)]))
                seconds = time.perf_counter() - start
        if seconds >= _SECONDS or count >= _MOST_TARGETS:
            return float(round(_QUERY * _TARGET * count / seconds))
        count *= 4
