"""Devices that return wrong numbers: every task ends, with a result or with DeviceError.

What is read from the device is replaced by other bytes, whichever engine reads it: all of it, by a
device that computes garbage, or one read, which then never gives a wrong result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cases
import numpy as np
import pytest
from damaged_reads import DAMAGE, Reads, reading
from garbage import check_ends, in_time, judge, on_linux, wrong_directions
from smaller import smaller
from subtests import with_subtests
from wing import of_wing

from glsw.alignment.batch import Batch, Mask
from glsw.device.current import UnreliableError
from glsw.device.device import Device
from glsw.engines import ENGINES, Auto, Fragment, Lanes, windows
from glsw.engines.base import Best, Engine, Pairs, Progress
from glsw.engines.tiles import BoundedTile, ScanTile
from glsw.pairs.align_pairs import aligned
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.trust.proofs import DeviceFaultWarning

pytestmark = on_linux


# Pairs


def pairs() -> Batch:
    """Return related pairs of DNA, some of them without letters."""
    rng = np.random.default_rng(9)
    found = []
    for m, n in ((33, 38), (18, 26), (0, 5), (5, 0), (17, 9)):
        query = rng.integers(0, 4, m).astype(np.uint8)
        longer = np.concatenate([query, rng.integers(0, 4, n).astype(np.uint8)])
        found.append((query, np.delete(longer, slice(m // 2, m // 2 + 3))[:n]))
    return Batch.pairwise(*zip(*found, strict=True))


LOCAL, LINEAR = Scoring.match_mismatch(5, -4, 7, 2), Scoring.match_mismatch(5, -4, 4, 4)
SCORINGS = {"local": LOCAL, "global": LINEAR.in_mode("global")}
EDITS = {
    name: cases.unit_costs(DNA, infix=infix)
    for name, infix in of_wing("edit", {"edits": False, "infix edits": True}).items()
}
PAIRS = pairs()
MASKED = PAIRS.masked(
    Mask.of([0, m // 2], [0, n // 2], m) if m and n else Mask.nothing(m)
    for m, n in PAIRS.lengths.tolist()
)


def check_aligned(engine: Engine, batch: Batch) -> None:
    scores, runs = aligned(engine, batch, "conventional")
    assert scores.shape == (len(batch),)
    assert len(runs) == len(batch)
    assert (runs.start >= 0).all()
    assert (runs.end <= batch.lengths).all()


def check_each(engine: Engine) -> None:
    [found] = engine.answers([Pairs(PAIRS)])
    assert found.shape == (len(PAIRS),)


def check_scan(engine: Engine) -> None:
    queries, targets = PAIRS.queries, PAIRS.targets
    [found] = engine.answers([ScanTile(queries, targets)])
    assert found.shape == (len(queries), len(targets))
    assert found.dtype == np.int32


def check_passing(engine: Engine) -> None:
    queries, targets = PAIRS.queries, PAIRS.targets
    bounds = (np.full(len(each), bound, np.int32) for each, bound in ((queries, 20), (targets, 9)))
    [passing] = engine.answers([BoundedTile(queries, targets, *bounds)])
    for numbers, sequences in ((passing.query, queries), (passing.target, targets)):
        assert len(numbers) == len(passing.score)
        assert numbers.max(initial=0) < len(sequences)


def check_distances(engine: Any) -> None:
    queries, targets = PAIRS.queries, PAIRS.targets
    n = PAIRS.target_lengths
    for found, most in (
        (engine.distances(PAIRS), n),
        (engine.distances_of_each(queries, targets), np.broadcast_to(n, (len(queries), len(n)))),
    ):
        assert found.distance.shape == most.shape
        assert (found.distance >= 0).all()
        assert (found.target_end <= most).all()


def judge_engine(engine: Engine, device: Device) -> None:
    """Judge all tasks of an engine."""
    judge(lambda: check_each(engine), device)
    judge(lambda: check_ends(engine.ends(PAIRS), PAIRS), device)
    judge(lambda: check_aligned(engine, PAIRS), device)
    judge(lambda: check_scan(engine), device)
    if engine.scoring.local:
        judge(lambda: check_passing(engine), device)
        if engine.fits(Pairs(MASKED)):
            judge(lambda: check_aligned(engine, MASKED), device)
    if engine.name in cases.OF_EDITS:
        judge(lambda: check_distances(engine), device)


@with_subtests("name", [*SCORINGS, *EDITS])
@with_subtests("configuration", cases.configurations([*cases.GENERAL, *cases.OF_EDITS]))
def test_pairs(name: str, configuration: tuple[str, dict[str, object]], device: Device) -> None:
    scoring = (SCORINGS | EDITS)[name]
    kind = ENGINES[configuration[0]]
    if kind.capabilities.requires and cases.takes(configuration, scoring):
        judge_engine(cases.build(configuration, scoring, device), device)
        if kind.name in cases.OF_EDITS:
            options: dict[str, Any] = configuration[1]
            judge(lambda: check_distances(kind(scoring, device, **options)), device)


@with_subtests("name", SCORINGS)
@with_subtests("configuration", cases.path_configurations())
def test_paths(name: str, configuration: tuple[str, dict[str, object]], device: Device) -> None:
    scoring = SCORINGS[name]
    if configuration[0] in ("diagonal", "blocked", "scan") and cases.takes(configuration, scoring):
        engine = cases.build(configuration, scoring, device)
        judge(lambda: check_aligned(engine, PAIRS), device)


@with_subtests("number", ["int32", "f32"])
def test_pairs_with_their_own_queries(number: str, device: Device) -> None:
    options = {"number": number, "workgroup": 4, "own_queries": True}
    engine = cases.engine_of(Lanes, LOCAL, cases.standing_in(device), **options)
    judge(lambda: check_each(engine), device)


class Cutting(Engine):
    """Has one engine scan windows of long targets, and another one align what matters."""

    name = "cutting"

    def __init__(self, scanner: Engine, aligner: Engine) -> None:
        self.capabilities, self.aligner = aligner.capabilities, aligner
        super().__init__(aligner.scoring, aligner.device)
        self.long = windows.LongTargets(scanner, aligner.best)

    def best(self, asked: Pairs, progress: Progress) -> Best:
        return self.long.best(asked, progress)


@with_subtests("masked", [False, True])
def test_windows(masked: bool, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    smaller(monkeypatch, shortest_window=8)
    query, target = PAIRS.pair(0)
    batch = Batch.one_to_many(query[:5], [np.tile(target, n) for n in (5, 6)])
    if masked:
        batch = batch.masked([Mask.of([0, 4], [0, 40], 5)] * 2)
    for aligner in (Auto(LOCAL, device), Fragment(LOCAL, device)):
        if not (masked and isinstance(aligner, Fragment)):
            engine = lambda: Cutting(Lanes(LOCAL, device, rows=8), aligner)  # noqa: B023, E731
            judge(lambda: check_ends(engine().ends(batch), batch), device)  # noqa: B023
            judge(lambda: check_aligned(engine(), batch), device)  # noqa: B023


# One read


TASKS: dict[str, Callable[[Engine], list[np.ndarray]]] = {
    "scores": lambda engine: [engine.scores(PAIRS)],
    "ends": lambda engine: [(found := engine.ends(PAIRS)).score, found.end],
    "alignments": lambda engine: [
        (found := aligned(engine, PAIRS, "conventional"))[0],
        found[1].start,
        found[1].moves,
        found[1].lengths,
    ],
    "scan": lambda engine: [*engine.answers([ScanTile(PAIRS.queries, PAIRS.targets)])],
}


@with_subtests("configuration", [(name, {}) for name in (*cases.GENERAL, *cases.OF_EDITS)])
def test_no_read_is_believed_that_is_damaged(
    configuration: tuple[str, dict[str, object]], device: Device
) -> None:
    kind = ENGINES[configuration[0]]
    if not kind.capabilities.requires:
        return
    rng = np.random.default_rng(8)
    hardware = cases.standing_in(device)
    scoring = EDITS["edits"] if kind.name in cases.OF_EDITS else LOCAL
    engine = cases.build(configuration, scoring, hardware)
    refused = 0
    for task in TASKS.values():
        every = Reads()
        with reading(every):
            right = task(engine)
        for damage in DAMAGE.values():
            try:
                with (
                    warnings.catch_warnings(record=True) as said,
                    reading(Reads(damage, int(rng.integers(every.count)), rng)),
                ):
                    warnings.simplefilter("always")
                    assert all(map(np.array_equal, task(engine), right))
            except UnreliableError:
                said = None
            if device.trouble:
                assert said is None or DeviceFaultWarning in {each.category for each in said}
                refused += 1
                device.trouble = ""
                engine = cases.build(configuration, scoring, hardware)
    assert refused >= len(DAMAGE)


# Directions


@with_subtests("configuration", cases.path_configurations())
def test_wrong_directions(configuration: tuple[str, dict[str, object]], device: Device) -> None:
    with wrong_directions():
        for scoring in SCORINGS.values():
            if configuration[0] != "cpu" and cases.takes(configuration, scoring):
                engine = cases.build(configuration, scoring, device)
                in_time(lambda: check_aligned(engine, PAIRS))  # noqa: B023
