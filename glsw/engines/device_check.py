"""What `glsw devices --test` does: the self-test of every engine in every variant.

Wings register the self-tests of their own engines, see `glsw.wings`.

Verdicts of before do not count. The speeds of ``lanes`` and of ``cpu`` are measured too, and kept:
``auto`` uses the faster one where no device is asked for.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import product

import numpy as np

from glsw.device.device import Device
from glsw.device.verdicts import RIGHT
from glsw.engines import ENGINES, cpu, engine_of
from glsw.engines.auto import Auto
from glsw.engines.base import Engine, Variant, ignore
from glsw.engines.lanes.engine import Lanes, trial_of
from glsw.engines.lanes.geometry import Geometry
from glsw.engines.proof import FAULTS, SIZES, Proofs, ProofTask, Tested, awkward, tasks_of
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.sequences.encoded import Sequences
from glsw.wings import registered

_SECONDS = 0.3  # of a measurement, at least
_QUERY, _TARGETS, _TARGET = 400, 2000, 300  # letters, sequences, letters: doubled until it takes so
_MOST_TARGETS = 2**17


def tested(device: Device) -> Iterator[Tested]:
    """Yield the tests of all engines that a device can run, and those of wings."""
    device.verdicts.clear()
    proofs = Proofs(device)
    for name, kind in ENGINES.items():
        needs = kind.capabilities.requires
        if name == "auto" or needs is None or needs > device.info.version:
            continue
        yield from tests_of(proofs, kind, _scorings())
    if device.info.compute:
        for module in registered("TESTS").values():
            yield from importlib.import_module(module).tested(device)


def tests_of(proofs: Proofs, kind: type[Engine], scorings: dict[str, Scoring]) -> Iterator[Tested]:
    """Yield the tests of an engine in every variant, with those scorings that it takes."""
    for work, scoring in scorings.items():
        if kind.capabilities.takes(scoring):
            for variant in kind.variants_on(proofs.device.info):
                for task in tasks_of(kind, scoring):
                    trial = partial(_holds, proofs, kind, variant, scoring, task)
                    yield proofs.tested(kind.name, variant.name, f"{work}: {task}", trial)


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
            device.verdicts.put_speed(kind.name, speeds[kind.name])
    return speeds


def _scorings() -> dict[str, Scoring]:
    """Return scorings whose programs differ, by what they are for."""
    protein = Scoring.blast()
    dna = Scoring.match_mismatch(2, -3, 5, 5, alphabet=DNA)
    return {
        "protein": protein,
        "DNA, linear gaps": dna,
        "protein, global": protein.in_mode("global"),
        "DNA, linear gaps, global": dna.in_mode("global"),
    }


def _holds(
    proofs: Proofs, kind: type[Engine], variant: Variant, scoring: Scoring, task: ProofTask
) -> bool:
    """Tell whether a variant of an engine does a task; one that scans does that too."""
    engine = engine_of(kind, scoring, proofs.device, **variant.options)
    right = all(proofs.holds(engine, task, size) for size in SIZES)
    if "ends" in kind.capabilities.tasks or not right:
        return right
    batch = awkward(scoring)
    tile, reference = ScanTile(*batch.sequences), Reference(scoring)
    (found,) = engine.answers([tile])
    expected = proofs.expected(scoring, "scan", lambda: reference.table(tile, ignore))
    if not np.array_equal(found, expected):
        return False
    lanes = engine.scanner if isinstance(engine, Auto) else None
    return not isinstance(lanes, Lanes) or all(
        trial_of(proofs, lanes, each) for each in _usual(lanes)
    )


def _usual(lanes: Lanes) -> set[Geometry]:
    """Return the geometries that queries of usual lengths have, in one query, two, or streams."""
    made = lanes.geometries
    return {
        made.of(m, queries, long, joins=joins)
        for m, long in product((60, 300, 3000), (False, True))
        for queries in range(1, 2 + made.pairs_queries)
        for joins in (False, *[True] * (m > 2000 and not lanes.on_software))
    }


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
            return _QUERY * _TARGET * count / seconds
        count *= 4


def summary(rows: list[Tested]) -> str:
    """Return what the tests say, in a line."""
    wrong = [row for row in rows if row.verdict != RIGHT]
    if not wrong:
        return f"{len(rows)} tests, all right"
    return f"{len(wrong)} of {len(rows)} tests failed"
