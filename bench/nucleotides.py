"""Scores of nucleotide queries against many sequences, by match and mismatch.

    python -m bench.nucleotides --output bench/results/nucleotides-llvmpipe.json

Engine `lanes` and, where pyopal is installed, `cpu`, which judges it: all scores. Exit status 1 if
one is wrong: it has no time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from bench import options, workloads
from bench.measure import Check, compare, measure, report, write
from glsw.device.device import Device, DeviceError, open_device
from glsw.device.shader import ShaderError
from glsw.engines import Engine
from glsw.engines.cpu import Cpu
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SCORING = Scoring.match_mismatch(2, -3, 7, 2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, DeviceError, ShaderError) as error:
        print(f"nucleotides: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    subjects = workloads.dna(np.full(arguments.sequences, arguments.length))
    judge = Cpu(SCORING)
    results = []
    print(f"{device.info.name}; match 2, mismatch -3, first gap position 7, each further one 2")
    for m in arguments.queries:
        query = workloads.dna([m], seed=m)
        expected = _scan(judge, query, subjects)
        entry: dict[str, object] = {"length": m, "sequences": len(subjects)}
        ways: tuple[tuple[Engine, Device | None], ...] = (
            (Lanes(SCORING, device), device),
            (judge, None),
        )
        for engine, on in ways:
            measured = measure(
                partial(_scan, engine, query, subjects),
                partial(_check, expected, judge.where),
                cells=m * len(subjects.residues),
                device=on,
                budget=arguments.budget,
            )
            entry[engine.name] = measured.as_dict()
            rate = "WRONG" if measured.gcups is None else f"{measured.gcups:.2f} GCUPS"
            print(f"{m:>6} {engine.name:>6} {rate}")
        results.append(entry)
    if arguments.output:
        settings = {"sequences": arguments.sequences, "length": arguments.length}
        write(
            arguments.output,
            report("nucleotides", device, settings, results, commit=arguments.commit),
        )
    return 0 if all(entry["lanes"]["wall"] for entry in results) else 1  # type: ignore[index]


def _scan(engine: Engine, query: Sequences, subjects: Sequences) -> npt.NDArray[np.int32]:
    scores: npt.NDArray[np.int32]
    ((scores,),) = engine.scan(query, [subjects])
    return scores


def _check(expected: npt.NDArray[np.int32], judge: str, found: npt.NDArray[np.int32]) -> Check:
    return compare(found, expected, judge)


def _parser() -> argparse.ArgumentParser:
    text = (__doc__ or "").partition("\n")[0]
    parser = options.parser("nucleotides", text, 5.0, "for each query and engine (5)")
    parser.add_argument("--queries", type=options.counts, default=[150, 500, 1500, 5000])
    parser.add_argument("--sequences", type=options.count, default=2000)
    parser.add_argument("--length", type=options.count, default=1000, help="of the sequences")
    return parser


if __name__ == "__main__":
    sys.exit(main())
