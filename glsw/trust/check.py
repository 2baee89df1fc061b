"""The test of `glsw devices --test`: everything that computes on a device, in every variant."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from glsw.device.device import Device
from glsw.trust.proofs import Proofs
from glsw.trust.provable import Provable, Trial, Variant
from glsw.trust.verdicts import RIGHT


class Tested(NamedTuple):
    """The result of a trial."""

    engine: str
    variant: str
    work: str
    verdict: str  # `RIGHT`, or what is wrong
    seconds: float  # with the compilation of programs that are used for the first time


def tested(device: Device, kinds: Iterable[type[Provable]]) -> Iterator[Tested]:
    """Yield the tests of all that is given; verdicts of before do not count."""
    Proofs.of(device).verdicts.clear()
    for kind in kinds:
        yield from tests_of(kind, device)


def tests_of(kind: type[Provable], device: Device) -> Iterator[Tested]:
    """Yield the tests of an engine in every variant."""
    for trial in kind.trials():
        for variant in kind.variants_on(device.info):
            start = time.perf_counter()
            with device:
                verdict = Proofs.of(device).tried(partial(_holds, kind, variant, trial, device))
            seconds = time.perf_counter() - start
            yield Tested(kind.name, variant.name, trial.work, verdict, seconds)


def _holds(kind: type[Provable], variant: Variant, trial: Trial, device: Device) -> bool:
    made = kind(*trial.given, device, **variant.options)
    return all(map(made.holds, made.every(trial.task)))


def summary(rows: list[Tested]) -> str:
    """Return what the tests say, in a line."""
    wrong = [row for row in rows if row.verdict != RIGHT]
    if not wrong:
        return f"{len(rows)} tests, all right"
    return f"{len(wrong)} of {len(rows)} tests failed"
