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
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import options, workloads
from bench.document import Results
from bench.measure import Check, compare, measure, tell_wrong
from glsw.device.device import Device, open_device
from glsw.engines import Engine
from glsw.engines.cpu import Cpu
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SCORING = Scoring.match_mismatch(2, -3, 7, 2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    targets = workloads.dna(np.full(arguments.sequences, arguments.length))
    judge = Cpu(SCORING)
    settings = {"sequences": arguments.sequences, "length": arguments.length}
    results = Results("nucleotides", device, settings, arguments)
    print(f"{device.info.name}; match 2, mismatch -3, first gap position 7, each further one 2")
    for m in arguments.queries:
        query = workloads.dna([m], seed=m)
        expected = _scan(judge, query, targets)
        entry: dict[str, Any] = {"length": m, "sequences": len(targets)}
        ways: tuple[tuple[Engine, Device | None], ...] = (
            (Lanes(SCORING, device), device),
            (judge, None),
        )
        for engine, on in ways:
            measured = measure(
                partial(_scan, engine, query, targets),
                partial(_check, expected, judge.where),
                cells=m * len(targets.residues),
                device=on,
                budget=arguments.budget,
            )
            entry[engine.name] = measured.as_dict()
            rate = "WRONG" if measured.gcups is None else f"{measured.gcups:.2f} GCUPS"
            print(f"{m:>6} {engine.name:>6} {rate}")
        results.keep(entry)
    return tell_wrong(
        (f"lanes, length {each['length']}", each["lanes"]["check"]) for each in results
    )


def _scan(engine: Engine, query: Sequences, targets: Sequences) -> npt.NDArray[np.int32]:
    scores: npt.NDArray[np.int32]
    ((scores,),) = engine.scan(query, [targets])
    return scores


def _check(expected: npt.NDArray[np.int32], judge: str, found: npt.NDArray[np.int32]) -> Check:
    return compare(found, expected, judge)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("nucleotides", __doc__, 5.0, "for each query and engine (default 5)")
    parser.add_counts("--queries", [150, 500, 1500, 5000], "lengths of the queries")
    parser.add_count("--sequences", "how many targets (default 2000)", 2000)
    parser.add_count("--length", "of the targets (default 1000)", 1000)
    return parser


if __name__ == "__main__":
    sys.exit(main())
