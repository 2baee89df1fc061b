"""What each option of ``glsw search`` costs: a search with it beside the same one without it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import glsw
from bench.measure import Check, Measurement, Spread
from bench.row import digest
from bench.work.base import Case
from bench.work.journeys import Journeys

_PAIRS = 3  # of searches with and without it, in turn


class Options(Journeys, called="options"):
    """Domains against domains, by composition 0 and one alignment per hit unless an option says so.

    An option is measured with some values, or a reason says why it has no factor.
    """

    plain: str
    factors: Mapping[str, Sequence[str] | str]

    def cases(self) -> Iterator[Case]:
        for option, values in self.factors.items():
            for value in [] if isinstance(values, str) else values:
                words = f"{option} {value}".rstrip()
                fields: dict[str, Any] = {"version": glsw.__version__, "options": words}
                yield Case("glsw", partial(self._factor, words), "command", grace=600, **fields)

    def _factor(self, words: str, seconds: float) -> Measurement:
        """Time searches with and without an option in turn: what slows the machine slows both."""
        for name in ("domains118", "decoys"):
            self.inputs.path(name)
        engine = (self.setup.engines or ["auto"])[0]
        on = "" if self.setup.software else f" --device {self.device.info.index}"
        command = f"python -m glsw {self.plain} --engine {engine}{on}"
        times: dict[str, list[float]] = {"": [], words: []}
        for _ in range(1 + _PAIRS):
            for each, found in times.items():
                start = time.perf_counter()
                self._seconds(f"{command} {each}")
                found.append(time.perf_counter() - start)
        (_, *without), (_, *with_it) = times.values()  # the first ones warm up
        factor = min(with_it) / min(without)
        facts: dict[str, Any] = {"note": f"{factor:.2f} times {min(without):.2f} s"}
        facts["shaders"] = {"*": digest("*")}
        check = Check("exit status", 2 * len(with_it), 0)
        return Measurement(check, 0, Spread.of(with_it), facts=facts)
