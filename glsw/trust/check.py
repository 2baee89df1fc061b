"""The tests of `glsw devices --test`: everything that computes on a device, in every variant."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from glsw.device.device import Device
from glsw.device.info import DeviceInfo
from glsw.trust.proofs import Proofs
from glsw.trust.provable import Provable, Trial, Variant
from glsw.trust.verdicts import RIGHT


class Tested(NamedTuple):
    """The result of a test."""

    engine: str
    variant: str
    work: str
    verdict: str  # `RIGHT`, or what is wrong
    seconds: float  # with the compilation of programs that are used for the first time


class Test(NamedTuple):
    """A trial of an engine in a variant."""

    kind: type[Provable]
    variant: Variant
    trial: Trial

    def row(self, verdict: str, seconds: float) -> Tested:
        """Return its result."""
        return Tested(self.kind.name, self.variant.name, self.trial.work, verdict, seconds)

    def on(self, device: Device) -> Tested:
        """Carry it out."""
        start = time.perf_counter()
        with device:
            verdict = Proofs.of(device).tried(partial(self._holds, device))
        return self.row(verdict, time.perf_counter() - start)

    def _holds(self, device: Device) -> bool:
        made = self.kind(*self.trial.given, device, **self.variant.options)
        return all(map(made.holds, made.every(self.trial.task)))


def tests_for(info: DeviceInfo, kinds: Iterable[type[Provable]]) -> list[Test]:
    """Return the tests of engines on such a device, in every variant."""
    return [
        Test(kind, variant, trial)
        for kind in kinds
        for trial in kind.trials()
        for variant in kind.variants_on(info)
    ]


def tests_of(kind: type[Provable], device: Device) -> Iterator[Tested]:
    """Yield the results of the tests of an engine, in this process."""
    for test in tests_for(device.info, [kind]):
        yield test.on(device)


def summary(rows: list[Tested]) -> str:
    """Return what the tests say, in a line."""
    wrong = [row for row in rows if row.verdict != RIGHT]
    if not wrong:
        return f"{len(rows)} tests, all right"
    return f"{len(wrong)} of {len(rows)} tests failed"
