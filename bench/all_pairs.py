"""All proteins of a file against all of them: the score matrix, each pair computed once.

    python -m bench.all_pairs --sequences FASTA --output FILE.json

Engine `lanes` in each number type; a random sample of the pairs is judged by parasail. Exit status
1 if a score is wrong: it has no time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench import options, programs, workloads
from bench.document import Results
from bench.measure import Check, compare, measure, tell_wrong
from glsw.all_pairs import score_matrix
from glsw.batch import Batch
from glsw.device.device import open_device
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SCORING = Scoring.named("BLOSUM62", 12, 1)
SAMPLE = 10_000
"""Pairs that are judged."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    proteins, origin = _proteins(arguments)
    lengths = proteins.lengths
    # Of n sequences, n (n + 1) / 2 pairs.
    cells = (int(lengths.sum()) ** 2 + int((lengths**2).sum())) // 2
    judged = min(arguments.sample, len(proteins) ** 2)
    chosen = np.random.default_rng(9).integers(0, len(proteins), (2, judged))
    judge, expected = _judge(proteins, chosen)
    settings = {
        "scoring": {"matrix": SCORING.name, "gap_open": 12, "gap_extend": 1},
        "sequences": {"origin": origin, "count": len(proteins), "residues": int(lengths.sum())},
        "sample": judged,
        "budget": arguments.budget,
    }
    print(f"{device.info.name}: {len(proteins)} proteins of {origin}, {cells:,} cells")
    results = Results("all_pairs", device, settings, arguments)
    numbers: tuple[Literal["int32", "f16"], ...] = ("int32", "f16")
    for number in numbers if device.info.half else numbers[:1]:
        engine = Lanes(SCORING, device, number=number)
        first: list[npt.NDArray[np.int32]] = []

        def check(found: npt.NDArray[np.int32], first: Any = first) -> Check:
            first[:] = first or [found]
            same = bool((found == first[0]).all() and (found == found.T).all())
            shown = found[tuple(chosen)] if same else np.full(judged, -1)
            return compare(shown, expected, judge)

        timed = measure(
            partial(score_matrix, engine, proteins),
            check,
            cells=cells,
            device=device,
            budget=arguments.budget,
        )
        results.keep({"number": number, "memory": engine.memory_used, **timed.as_dict()})
        clock = "" if timed.device is None else f", {timed.device.median:.3f} s by the device"
        wall = (
            f"{timed.wall.median:.3f} s{clock}, {timed.gcups:.0f} GCUPS" if timed.wall else "WRONG"
        )
        print(f"lanes {number}: {wall}", flush=True)
    return tell_wrong((f"lanes {each['number']}", each["check"]) for each in results)


def _judge(proteins: Sequences, chosen: npt.NDArray[np.int64]) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges the chosen pairs, shape (2, N), and their scores."""
    batch = Batch.indexed(proteins, proteins, *chosen.astype(np.int32))
    if not programs.ParasailPairs.available(SCORING):
        raise ValueError("parasail is needed to judge the scores")
    peer = programs.ParasailPairs(SCORING)
    return peer.name, peer.scores_of(batch)


def _proteins(arguments: argparse.Namespace) -> tuple[Sequences, str]:
    if arguments.sequences is None:
        return workloads.swissprot_like(arguments.generated), "a generated database"
    return workloads.from_file(arguments.sequences), Path(arguments.sequences).name


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("all_pairs", __doc__, 20.0, "for each number type (default 20)")
    parser.add_argument("--sequences", metavar="FASTA", help="default: generated")
    parser.add_count("--generated", "proteins to generate (default 200)", 200)
    parser.add_count("--sample", f"pairs that parasail judges (default {SAMPLE})", SAMPLE)
    return parser


if __name__ == "__main__":
    sys.exit(main())
