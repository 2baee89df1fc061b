"""Jobs of engine `lanes`: slices of time with all work groups once, and borders of their own."""

import random
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from cases import standing_in

from glsw import Scoring
from glsw.device.transfer import Fence
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import Geometry, LaneSizes
from glsw.engines.lanes.jobs import Queue, Slices, WorkGroups
from glsw.engines.throttle import SECONDS, Throttle
from glsw.engines.tiles import ScanTile
from glsw.sequences.encoded import Sequences, offsets_of


class AnyThrottle:
    """Cuts slices of random sizes, as `Throttle.overlapping` may."""

    def __init__(self, chance):
        self._chance = chance

    def overlapping(self, work, room, most):
        start = 0
        while start < len(room) - 1:
            fitting = int(np.searchsorted(room, room[start] + most, "right")) - 1
            size = self._chance.randint(1, 9)
            yield range(start, min(start + size, max(fitting, start + 1), len(room) - 1))
            start = min(start + size, max(fitting, start + 1), len(room) - 1)


def work(chance):
    """Return random work groups of several geometries, the longest targets first."""
    geometry = Geometry(chance.choice([0, 1, 2]), 8, chance.choice([1, 2, 8]), 16, 2)
    count, longest = chance.randint(1, 40), chance.choice([5, 200])
    lengths = sorted((chance.randint(1, longest) for _ in range(count)), reverse=True)
    columns = np.array(lengths) * geometry.chains
    return WorkGroups(
        geometry=geometry,
        groups=chance.choice([1, 3, 20]),
        strips=chance.choice([1, 2, 5]),
        border_columns=offsets_of(columns),
        cells=offsets_of(columns * chance.randint(1, 50)),
        useful=int(columns.sum()),
    )


@pytest.mark.parametrize("room", [2**10, 2**13, 2**16, 2**30])
@pytest.mark.parametrize("seed", range(12))
def test_work_groups_that_run_at_once_share_no_borders(seed, room):
    chance = random.Random(f"{seed} {room}")
    jobs = [work(chance) for _ in range(chance.randint(1, 5))]
    slices = Slices(jobs)
    count = len(slices.cells) - 1
    first = chance.randint(0, count)
    done = {id(job): [] for job in jobs}
    for some in filter(None, (range(first, count), range(first))):
        reserved, running = [0], []

        def wait(running=running):
            for each in running:
                each.clear()

        for dispatches in slices.run(some, AnyThrottle(chance), room, reserved.append, wait):
            running[:] = [*running[-1:], []]  # two slices are on the device
            for each in dispatches:
                job, groups = each.job, each.groups
                done[id(job)] += groups
                size = int(job.border_bytes[groups.stop] - job.border_bytes[groups.start])
                if not size:
                    continue
                begin, end = each.start, each.start + size
                assert begin % 16 == 0
                assert end <= max(reserved)
                assert all(end <= a or b <= begin for one in running for a, b in one)
                running[-1].append((begin, end))
                assert size <= max(
                    room, job.border_bytes[groups.start + 1] - job.border_bytes[groups.start]
                )
    assert all(sorted(done[id(job)]) == list(range(len(job.cells) - 1)) for job in jobs)


class FakeDevice:
    """A device whose fences note when they are waited for, and have been passed or not."""

    patience = None

    def __init__(self, passed=False, speeds=None):
        self.told, self._passed = [], passed
        self.info = SimpleNamespace(software=speeds is None)
        self.proofs = SimpleNamespace(verdicts=SimpleNamespace(speeds=speeds))

    def finish(self):
        self.told.append("waited")

    def fence(self):
        told, passed = self.told, self._passed

        class Fence:
            def passed(self):
                return passed

            def wait(self, seconds):
                told.append("waited")
                return True

        return Fence()


@pytest.mark.parametrize(("size", "slices"), [(100, 1), (50, 2), (20, 5)])
def test_two_slices_can_be_queued_before_one_is_waited_for(size, slices):
    device, whole = FakeDevice(), np.arange(101)
    queued = Throttle(device, size).overlapping(whole, 0 * whole, 0)
    assert [len(next(queued)), len(next(queued))] == ([size] * slices + [0])[:2]
    assert not device.told
    assert sum(map(len, queued)) == 100 - min(2, slices) * size
    assert len(device.told) >= min(2, slices)


@pytest.mark.parametrize("passed", [False, True])
def test_slices_that_ended_before_they_were_waited_for_make_none_smaller(monkeypatch, passed):
    seconds = count()
    monkeypatch.setattr("time.perf_counter", lambda: next(seconds))
    throttle, whole = Throttle(FakeDevice(passed), 10), np.arange(101)
    throttle.new, throttle.rate = False, 500.0
    slices = list(throttle.overlapping(whole, 0 * whole, 0))
    assert (len(slices) == 11) == passed
    assert (throttle.rate == 500) == passed
    assert (throttle.full_rate is None) == passed


@pytest.mark.parametrize(
    ("speeds", "rate"),
    [
        ({"lanes": 2e8, "cpu": 1e12}, 2e8),
        ({"fragment": 3e7}, 3e7),
        ({}, 3e8),
        ({"lanes": 4e12}, 4e12),
    ],
)
def test_first_slices_follow_the_stored_speed(speeds, rate):
    """On no GPU that computes at that rate, or is not known, do they take 0.5 s."""
    cells = 2**34

    def first(parts):
        return next(part for part in parts if part)

    most = rate * (0.5 if rate < 1e12 else SECONDS)
    work = np.arange(0, cells + 1, 2**20)
    throttle = Throttle(FakeDevice(speeds=speeds), LaneSizes().first_slice)
    part = first(throttle.overlapping(work, 0 * work, 0))
    assert 0 < work[part.stop] <= most
    assert rate < 1e12 or work[part.stop] == LaneSizes().first_slice
    for steps in (1, 64, 2**14):
        parts = []
        Throttle(FakeDevice(speeds=speeds), 64).run_slices(steps, parts.append, cells=cells)
        assert parts[0].stop == 1 or parts[0].stop * cells / steps <= most


@pytest.mark.parametrize(("seconds", "rate"), [(1e-3, None), (0.5, 20)])
def test_short_slices_and_the_first_do_not_tell_the_full_rate(monkeypatch, seconds, rate):
    now = count(step=seconds)
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    throttle, work = Throttle(FakeDevice(), 10), np.arange(0, 31, 10)
    list(throttle.overlapping(work[:2], 0 * work[:2], 0))
    assert throttle.full_rate is None
    list(throttle.overlapping(work, 0 * work, 0))
    assert throttle.full_rate == rate


def test_the_next_round_is_prepared_before_the_device_is_waited_for(device, monkeypatch):
    told = []

    def telling(kind, name):
        method = getattr(kind, name)

        def told_of(self, *given):
            told.append(name)
            return method(self, *given)

        monkeypatch.setattr(kind, name, told_of)

    engine = Lanes(Scoring.blast(), standing_in(device), number="int32")
    some = Sequences.of([np.arange(20, dtype=np.uint8)] * 3)
    tiles = [ScanTile(some, some) for _ in range(4)]
    assert all((each == each[0, 0]).all() for each in engine.answers(tiles))  # it has a rate
    telling(Queue, "slices_of")
    telling(Fence, "wait")
    assert len(list(engine.answers(tiles))) == 4
    assert told == ["slices_of", *["slices_of", "wait"] * 3, "wait"]
