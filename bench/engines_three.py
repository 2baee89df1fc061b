"""The workload of `bench.engines` of three sequences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import cpu3, triples
from bench.engines_work import CompetitorRun, Entry, Workload, estimated
from bench.measure import Check, both, compare, measure
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.three import Engine3
from glsw.paths import Ends


class Three(Workload):
    """Three sequences: score and end."""

    name, task = "three", "ends"
    scoring_name = "identity 1/-1, linear gaps 1"

    def __init__(self, length: int, device: Device) -> None:
        super().__init__(device)
        self._length = length
        self.lengths, self.count, self.cells = [length] * 3, 1, length**3
        self.data = triples.Data.of(None, 8)
        self.scoring = self.data.scorings["identity"]
        self._found: Ends | None = None

    def entries(self) -> list[Entry]:
        """Return the engines."""
        names = ("subtable", "plane", triples.GPUI)
        return [Entry(name, (name,), triples.kind_of(name)) for name in names]

    def prepare(self) -> None:
        """Build the C code, which is judged by the reference; it, or that, judges the engines."""
        self.judges = triples.Judges.of(self.device, self.data, 10.0)
        lengths = [self._length] * 3
        self.work = triples.Work.single(self.data, self.judges, "identity", lengths)

    def run(self, engine: Engine3) -> Ends:
        """Return score and end."""
        return engine.ends(self.work.triples)

    def check(self, label: str, found: Ends) -> Check:
        """Judge what `run` returned."""
        checked = self.work.check(label, "ends", found)
        if checked.passed and self._found is None:
            self._found = found
        return checked

    def estimate(self, engine: Engine3, limit: float) -> float:
        """Tell from the first letters."""

        def part(cells: float) -> tuple[Callable[[], object], int]:
            length = min(self._length, max(1, round(cells ** (1 / 3))))
            some = Batch.of([[word[:length] for word in self.work.triples[0]]])
            return partial(engine.ends, some), some.cells

        return estimated(part, self.cells, limit)

    def competitors(self) -> list[CompetitorRun]:
        """Return the C code on one core: a triple is not divided."""
        if self.judges.refused:
            return []
        return [CompetitorRun(cpu3.NAME, 1, self._code)]

    def _code(self, passed: Entry | None, budget: float) -> dict[str, Any]:
        """Measure it, judged by an engine, or if none was right by the reference as it was."""
        judged = Check(**(self.judges.check or {}))

        def check(found: npt.NDArray[np.int32]) -> Check:
            if passed is None or self._found is None:
                return judged
            expected = triples.cells_of(self._found)
            return both(compare(found, expected, passed.label), judged)

        timed = measure(
            lambda: cpu3.best(self.scoring, self.work.triples),
            check,
            cells=self.cells,
            budget=budget,
        )
        seconds = timed.wall and timed.wall.median
        more = {"version": cpu3.compiler(), "function": None, "pairs": 1, "scaled": False}
        return {**timed.as_dict(), **more, "seconds": seconds}
