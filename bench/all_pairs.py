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

from bench import competitors, options, workloads
from bench.measure import Check, compare, measure, report, write
from glsw.all_pairs import score_matrix
from glsw.batch import Batch
from glsw.device.device import DeviceError, open_device
from glsw.device.shader import ShaderError
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import read

SCORING = Scoring.named("BLOSUM62", 12, 1)
SAMPLE = 10_000
"""Pairs that are judged."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, DeviceError, ShaderError) as error:
        print(f"bench.all_pairs: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


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
    results: list[dict[str, Any]] = []
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
        results.append({"number": number, "memory": engine.memory_used, **timed.as_dict()})
        clock = "" if timed.device is None else f", {timed.device.median:.3f} s by the device"
        wall = (
            f"{timed.wall.median:.3f} s{clock}, {timed.gcups:.0f} GCUPS" if timed.wall else "WRONG"
        )
        print(f"lanes {number}: {wall}", flush=True)
        if arguments.output:
            document = report("all_pairs", device, settings, results, commit=arguments.commit)
            write(arguments.output, document)
    return 0 if all(each["wall"] for each in results) else 1


def _judge(proteins: Sequences, chosen: npt.NDArray[np.int64]) -> tuple[str, npt.NDArray[np.int32]]:
    """Return who judges the chosen pairs, shape (2, N), and their scores."""
    batch = Batch.indexed(proteins, proteins, *chosen.astype(np.int32))
    if not competitors.ParasailPairs.available(SCORING):
        raise ValueError("parasail is needed to judge the scores")
    peer = competitors.ParasailPairs(SCORING)
    with peer.prepared(batch) as work:
        return peer.name, peer.scores(work)


def _proteins(arguments: argparse.Namespace) -> tuple[Sequences, str]:
    if arguments.sequences is None:
        return workloads.swissprot_like(arguments.generated), "a generated database"
    encode = SCORING.alphabet.encode
    records = read(arguments.sequences)
    codes = (encode(each.letters, name=each.id, unknown="X") for each in records)
    return Sequences.of(codes), Path(arguments.sequences).name


def _parser() -> argparse.ArgumentParser:
    text = (__doc__ or "").partition("\n")[0]
    parser = options.parser("all_pairs", text, 20.0, "for each number type (20)")
    parser.add_argument("--sequences", metavar="FASTA", help="default: generated")
    parser.add_argument("--generated", type=options.count, default=200, metavar="N")
    parser.add_argument("--sample", type=options.count, default=SAMPLE, metavar="N")
    return parser


if __name__ == "__main__":
    sys.exit(main())
