"""Long pairs with the engine `blocked`: score and ends, exact pruning, the whole alignment.

    python -m bench.megabase --lengths 100000,1000000 --output bench/results/megabase-DEVICE.json
    python -m bench.megabase --pair A.fasta B.fasta --output ...

Random DNA (dissimilar) and relatives of it (similar), match 1, mismatch -3, first gap position 5,
each further one 2. Up to `JUDGED` cells parasail judges the score; beyond, the runs with and
without pruning judge each other, and the recomputed score of the alignment judges both. Exit
status 1 if something was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import options, pairs, programs, workloads
from bench.document import Results
from bench.measure import Check, both, compare, measure, tell_wrong
from glsw.batch import Batch
from glsw.device.device import open_device
from glsw.engines import Blocked
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import as_records

SCORING = Scoring.match_mismatch(1, -3, 5, 2)
JUDGED = 2e10
TASKS = "ends", "ends, pruned", "alignment"
GOALS = {100_000: "300 GCUPS", 1_000_000: "5 s"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _work(arguments: argparse.Namespace) -> Iterator[tuple[str, Batch]]:
    for length in arguments.lengths:
        query = workloads.dna([length])
        yield f"{length}, dissimilar", Batch.pairwise(query, workloads.dna([length], 7))
        yield f"{length}, similar", Batch.pairwise(query, workloads.relatives(query, 4))
    encode = SCORING.alphabet.encode
    for files in arguments.pair:
        (one,), (other,) = (as_records(path, what="sequence") for path in files)
        codes = [encode(each.letters, name=each.id) for each in (one, other)]
        yield f"{one.id} x {other.id}", Batch.pairwise(codes[:1], codes[1:])


class _Judge:
    """Judges every result of a pair by the first one, and by parasail where that is quick."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.expected: list[list[int]] = []
        self.score: int | None = None
        if batch.cells <= JUDGED and programs.ParasailPairs.available(SCORING):
            peer = programs.ParasailPairs(SCORING)
            self.score = int(peer.scores_of(batch)[0])

    def __call__(self, found: Ends | Paths) -> Check:
        ends = found.ends if isinstance(found, Paths) else found
        cells = pairs.cells_of(ends)
        if not self.expected:
            self.expected = cells.tolist()
        check = compare(cells, self.expected, "blocked, not pruned")
        if self.score is not None:
            check = both(check, compare(ends.score, [self.score], "parasail"))
        if isinstance(found, Paths):
            again = pairs.path_scores(SCORING, self.batch, found)
            check = both(check, compare(again, ends.score, "path recomputed"))
        return check


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    settings = {
        "scoring": {"match": 1, "mismatch": -3, "gap_open": 5, "gap_extend": 2},
        "memory": arguments.memory,
        "budget": arguments.budget,
        "goals": GOALS,
    }
    print(f"engine blocked on {device.info.name}\n")
    print(f"{'pair':40} {'task':16} {'seconds':>9} {'GCUPS':>8} {'MiB':>7}  score, ends")
    results = Results("megabase", device, settings, arguments)
    for name, batch in _work(arguments):
        judge = _Judge(batch)
        for task in TASKS:
            engine = Blocked(SCORING, device, memory=arguments.memory, prune=task != "ends")
            work: Callable[[Batch], Ends | Paths] = engine.ends
            work = engine.paths if task == "alignment" else work
            timed = measure(
                partial(work, batch),
                judge,
                cells=batch.cells,
                device=device,
                budget=arguments.budget,
                warm_up=arguments.warm_up,
            )
            results.keep(
                {"pair": name, "task": task, "memory": engine.memory_used}
                | {"result": judge.expected[0], **timed.as_dict()}
            )
            _print(results[-1])
    return tell_wrong((f"{each['pair']}, {each['task']}", each["check"]) for each in results)


def _print(row: dict[str, Any]) -> None:
    text = f"{row['pair'][:40]:40} {row['task']:16}"
    if row["wall"] is None:
        print(f"{text} WRONG: {row['check']['judge']}: {row['check']['first']}", flush=True)
        return
    print(
        f"{text} {row['wall']['median']:9.3f} {row['gcups']:8.1f} "
        f"{row['memory'] / 2**20:7.1f}  {row['result']}",
        flush=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("megabase", __doc__, 30.0, "for each line (default 30)")
    parser.add_counts("--lengths", [10_000], "of both sequences")
    parser.add_argument(
        "--pair",
        type=Path,
        nargs=2,
        action="append",
        default=[],
        metavar="FASTA",
        help="two files of one sequence each, as well",
    )
    parser.add_argument("--memory", type=int, default=2**30, metavar="BYTES", help="default 1 GiB")
    parser.add_argument("--warm-up", type=float, metavar="SECONDS", help="default 1 on hardware")
    return parser


if __name__ == "__main__":
    sys.exit(main())
