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
import numpy.typing as npt

from bench import competitors, options, workloads
from bench.measure import Check, compare, measure, report, write
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError, open_device
from glsw.device.shader import ShaderError
from glsw.engines import Reference
from glsw.engines.fragment import Fragment
from glsw.scoring.scoring import Scoring

BITS = {8: 16, 4: 32, 1: 32}
"""Of a border value, by tile."""

GAPS = {"affine": (12, 1), "linear": (8, 8)}
"""Cost of the first and of each further gap position."""

TASKS = ("scores", "ends")

CHECKED = 5e5
"""Cells that the reference repeats where the ends are judged."""

Found = npt.NDArray[np.int32]


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
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, DeviceError, ShaderError) as error:
        print(f"bench.fragment_tiles: {error}", file=sys.stderr)
        return 2


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
    results: list[dict[str, Any]] = []
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
                affordable = pairs * length**2 <= rate * 1e9 * arguments.budget
                if pairs and affordable:
                    result = _measured(layout, device, arguments.budget)
                    results.append(result)
                    rate = result["gcups"] or 0
                    print(f"{rate:>9.3f}" if rate else f"{'WRONG':>9}", end="", flush=True)
                else:
                    print(f"{'-':>9}", end="", flush=True)
            print()
            if arguments.output:
                document = report(
                    "fragment_tiles", device, settings, results, commit=arguments.commit
                )
                write(arguments.output, document)
    return 1 if any(result["wall"] is None for result in results) else 0


def _measured(layout: Layout, device: Device, budget: float) -> dict[str, Any]:
    """Measure one layout with a batch that fills one quad."""
    scoring = Scoring.named("BLOSUM62", *GAPS[layout.gaps])
    engine = Fragment(scoring, device, tile=layout.tile, texels=layout.texels)
    query = workloads.queries([layout.length])[0]
    pairs = layout.pairs(device)
    batch = Batch.one_to_many(query, workloads.uniform(pairs, layout.length))

    def run() -> Found:
        return _ends(engine, batch) if layout.task == "ends" else engine.scores(batch)

    timed = measure(
        run, _judge(layout.task, scoring, batch), cells=batch.cells, device=device, budget=budget
    )
    return {**asdict(layout), "bits": BITS[layout.tile], "pairs": pairs, **timed.as_dict()}


def _ends(engine: Fragment | Reference, batch: Batch) -> Found:
    ends = engine.ends(batch)
    return np.stack([ends.score, ends.query_end, ends.target_end], axis=1)


def _judge(task: str, scoring: Scoring, batch: Batch) -> Callable[[Found], Check]:
    """Return what compares all scores with parasail's, or some ends with the reference's."""
    if task == "scores" and competitors.Parasail.available(scoring):
        chosen = np.arange(len(batch))
        judge, expected = competitors.judge(scoring, batch)
    else:
        chosen = competitors.portion(batch, CHECKED)
        judge = Reference.name
        expected = _ends(Reference(scoring), batch.select(chosen))
        expected = expected[:, 0] if task == "scores" else expected
    return lambda found: compare(found[chosen], expected, judge)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "fragment_tiles",
        (__doc__ or "").splitlines()[0],
        5,
        "for each layout (default 5); every one is run twice at least, and those are left out "
        "of which one run would take longer",
    )
    parser.add_argument(
        "--lengths",
        type=options.counts,
        default=[361],
        metavar="N,N,...",
        help="of query and targets alike (default 361)",
    )
    parser.add_argument(
        "--exponents",
        type=options.counts,
        default=[14, 16, 17, 18, 19, 20],
        metavar="E,E,...",
        help="texels of a quad, powers of two (default 14,16,17,18,19,20)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
