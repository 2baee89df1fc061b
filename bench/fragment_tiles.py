"""Which layout of the ``fragment`` engine is fastest: cells per texel, width of borders, N x L.

    python -m bench.fragment_tiles --output bench/results/fragment_tiles-llvmpipe.json

One full quad of N pairs of equal lengths is timed for each tile (8 cells a side with 16-bit
borders, 4 and 1 with 32 bits), gap model, task and number of texels. The defaults of
`glsw.engines.fragment` come from its tables.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bench import competitors, options, programs, workloads
from bench.document import Results
from bench.measure import Check, compare, measure, tell_wrong
from bench.pairs import Found, cells_of
from glsw.batch import Batch
from glsw.device.device import Device, open_device
from glsw.engines import Reference
from glsw.engines.fragment import Fragment
from glsw.scoring.scoring import Scoring

BITS = {8: 16, 4: 32, 1: 32}
"""Of a border value, by tile."""

GAPS = {"affine": (12, 1), "linear": (8, 8)}
"""Cost of the first and of each further gap position."""

TASKS = ("scores", "ends")

NEVER_LONG = 2**18
"""Cells up to which no layout is left out."""

CHECKED = 5e5
"""Cells that the reference repeats where the ends are judged."""


@dataclass(frozen=True)
class Layout:
    """What is compared: tables of ``length`` x ``length`` cells, tiles, texels of a quad."""

    length: int
    task: str
    gaps: str
    tile: int
    texels: int

    def pairs(self, device: Device) -> int:
        """Return how many pairs fill the quad, 0 if it is too small for one."""
        rows = -(-self.length // self.tile)
        return min(self.texels // rows, device.info.limits["max_texture_size"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(3, 3))
    texels = [2**exponent for exponent in arguments.exponents]
    settings = {
        "lengths": arguments.lengths,
        "matrix": "BLOSUM62",
        "gaps": {name: list(costs) for name, costs in GAPS.items()},
        "texels": texels,
        "budget": arguments.budget,
    }
    print(f"engine fragment on {device.info.name}, GCUPS of one full quad")
    results = Results("fragment_tiles", device, settings, arguments)
    for length, task, gaps in itertools.product(arguments.lengths, TASKS, GAPS):
        print(f"\n{length} x {length}, {task}, {gaps} gaps; columns: texels of a quad")
        print(
            f"{'tile':>5}{'bits':>5}" + "".join(f"{'2^' + str(e):>9}" for e in arguments.exponents)
        )
        for tile in BITS:
            print(f"{tile:>5}{BITS[tile]:>5}", end="", flush=True)
            rate = math.inf
            for size in texels:
                layout = Layout(length, task, gaps, tile, size)
                pairs = layout.pairs(device)
                # A quad twice as large takes twice as long, or less.
                affordable = pairs * length**2 <= max(NEVER_LONG, rate * 1e9 * arguments.budget)
                if pairs and affordable:
                    result = _measured(layout, device, arguments.budget)
                    results.keep(result)
                    rate = result["gcups"] or 0
                    print(f"{rate:>9.3f}" if rate else f"{'WRONG':>9}", end="", flush=True)
                else:
                    print(f"{'-':>9}", end="", flush=True)
            print()
    return tell_wrong(
        (f"{each['length']}, {each['task']}, {each['gaps']}, tile {each['tile']}", each["check"])
        for each in results
    )


def _measured(layout: Layout, device: Device, budget: float) -> dict[str, Any]:
    """Measure one layout with a batch that fills one quad."""
    scoring = Scoring.named("BLOSUM62", *GAPS[layout.gaps])
    engine = Fragment(scoring, device, tile=layout.tile, texels=layout.texels)
    query = workloads.queries([layout.length])[0]
    pairs = layout.pairs(device)
    batch = Batch.one_to_many(query, workloads.uniform(pairs, layout.length))

    def run() -> Found:
        return cells_of(engine.ends(batch)) if layout.task == "ends" else engine.scores(batch)

    timed = measure(
        run, _judge(layout.task, scoring, batch), cells=batch.cells, device=device, budget=budget
    )
    return {**asdict(layout), "bits": BITS[layout.tile], "pairs": pairs, **timed.as_dict()}


def _judge(task: str, scoring: Scoring, batch: Batch) -> Callable[[Found], Check]:
    """Return what compares all scores with parasail's, or some ends with the reference's."""
    if task == "scores" and programs.Parasail.available(scoring):
        chosen = np.arange(len(batch))
        judge, expected = competitors.judge(scoring, batch)
    else:
        chosen = competitors.portion(batch, CHECKED)
        judge = Reference.name
        expected = cells_of(Reference(scoring).ends(batch.select(chosen)))
        expected = expected[:, 0] if task == "scores" else expected
    return lambda found: compare(found[chosen], expected, judge)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "fragment_tiles",
        __doc__,
        5,
        "for each layout (default 5); every one is run twice at least, and those are left out "
        "of which one run would take longer",
    )
    parser.add_counts("--lengths", [361], "of query and targets alike")
    parser.add_counts("--exponents", [14, 16, 17, 18, 19, 20], "texels of a quad, powers of two")
    return parser


if __name__ == "__main__":
    sys.exit(main())
