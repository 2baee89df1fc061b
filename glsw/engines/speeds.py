"""The speeds of the device and the processor in scans, measured once and kept with the verdicts.

``auto`` uses the faster one where no device is named.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from glsw.device.device import Device, by_kind
from glsw.device.info import DeviceInfo
from glsw.engines import ENGINES, cpu, engine_of
from glsw.engines.base import Engine
from glsw.engines.lanes.geometry import BY_MEDIUMP
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.trust.proofs import FAULTS, Proofs, UnprovedError
from glsw.trust.verdicts import Verdicts

_SECONDS, _QUICK = 0.3, 0.04  # of a measurement, at least; of one on the way to a search
_QUERY, _TARGETS, _TARGET = 400, 32, 300  # letters, sequences, letters: more until it takes so
_MOST_TARGETS, _MOST_QUICKLY = 2**17, 2**15


def scanner_of(info: DeviceInfo) -> str:
    """Return the name of the engine for scans on a device."""
    return "lanes" if info.compute else "fragment"


def faster(one: DeviceInfo, other: DeviceInfo) -> bool:
    """Tell whether a device is faster than another one: as measured, or else by their kinds."""
    first, second = (Verdicts.of(each).speeds.get(scanner_of(each)) for each in (one, other))
    return first > second if first and second else by_kind(one, other)


def known(device: Device) -> dict[str, float]:
    """Return the cells per second of a device and the processor; measured now if they are not kept.

    A software renderer is no faster than the processor, which need not be measured.
    """
    verdicts = Proofs.of(device).verdicts
    if not (device.info.software or verdicts.speeds) and cpu.is_installed():
        verdicts.forget(cpu.Cpu.name)
        if verdicts.kept:  # else each process would measure again
            measured(device, quick=True)
    return verdicts.speeds


def measured(device: Device, *, quick: bool = False) -> dict[str, float]:
    """Return the cells per second of engines, measured now, and keep them.

    Of ``lanes`` it is the speed with the faster type of scores, which is chosen by this.
    If so quickly, in some tenths of a second: in longer work a fast device is faster than that.
    """
    scoring = Scoring.blast()
    verdicts, scanner = Proofs.of(device).verdicts, ENGINES[scanner_of(device.info)]
    verdicts.forget(BY_MEDIUMP)
    # Its scores in trials need all bits that mediump floats must have.
    steep = replace(scoring, matrix=7 * scoring.matrix, gap_open=84, gap_extend=7)
    made: list[tuple[type[Engine], Callable[[], Engine]]] = []
    made.append((scanner, lambda: engine_of(scanner, scoring, device, proves=quick)))
    if device.info.mediump and not device.info.half:
        made.append((scanner, lambda: scanner.proving(steep, device, number="mediump")))
    if cpu.is_installed() and cpu.takes(scoring):
        made.append((cpu.Cpu, lambda: cpu.Cpu(scoring)))
    speeds: dict[str, float] = {}
    for kind, make in made:
        if device.trouble and kind.capabilities.requires:
            continue
        with suppress(*FAULTS, UnprovedError):  # the tests say what is wrong
            engine = make()
            speed = _speed(engine, quick)
            if engine.label == kind.name and speed > speeds.get(kind.name, 0):  # else it is wrong
                if kind.name in speeds:
                    verdicts.put_speed(BY_MEDIUMP, speed)
                speeds[kind.name] = speed
                verdicts.put_speed(kind.name, speed)
    return speeds


def _speed(engine: Engine, quick: bool) -> float:
    """Return the cells per second of a scan that takes long enough.

    What each scan takes before it computes is left out, by the scan before; it counts for at most
    3/4 of the time.
    """
    least, most = (_QUICK, _MOST_QUICKLY) if quick else (_SECONDS, _MOST_TARGETS)
    rng = np.random.default_rng(7)
    query = Sequences.of([rng.integers(0, 20, _QUERY).astype(np.uint8)])
    count, cells, seconds = _TARGETS, 0, 0.0
    while True:
        before, took = cells, seconds
        cells = _QUERY * _TARGET * count
        letters = rng.integers(0, 20, count * _TARGET, np.uint8)
        targets = Sequences(letters, np.arange(count + 1) * _TARGET)
        with engine.turn:
            for _ in range(2):  # once for compilation and clocks
                start = time.perf_counter()
                list(engine.answers([ScanTile(query, targets)]))
                seconds = time.perf_counter() - start
        if seconds >= least or count >= most:
            return float(round((cells - before) / max(seconds - took, seconds / 4)))
        count *= 4
