"""Aymone 2022, Table 1: 1000 pairs of 512 x 512, with traceback on the device.

    python -m bench.aymone2022 --output bench/results/aymone2022-llvmpipe.json

Times the engine `diagonal` with the paper's two tie rules, then without traceback, then with other
scorings, and one core of parasail. Exit status 1 if a score or an alignment was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import competitors, options, pairs, programs, workloads
from bench.document import Results
from bench.measure import Check, both, compare, measure, tell_wrong
from glsw.batch import Batch
from glsw.device.device import Device, open_device
from glsw.engines import Diagonal, Reference, Ties
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.traceback import trace


@dataclass(frozen=True)
class PaperTime:
    """A line of the paper's Table 1."""

    device: str
    version: str
    seconds: float

    @property
    def gcups(self) -> float:
        """Cells of 1000 pairs of 512 x 512 per second, in billions."""
        return 1000 * 512**2 / self.seconds / 1e9


PAPER = (
    PaperTime("CPU of the T4's machine", "-", 2.2840359211),
    PaperTime("Tesla T4", "pure", 0.0886352062),
    PaperTime("Tesla T4", "conventional", 0.1009891033),
    PaperTime("CPU of the A100's machine", "-", 2.7850348949),
    PaperTime("A100-SXM4-40GB", "pure", 0.0104529858),
    PaperTime("A100-SXM4-40GB", "conventional", 0.0118029118),
)
"""Table 1; the number of pairs is that of the program that goes with the report."""


@dataclass(frozen=True)
class Workload:
    """What is aligned, and how it is scored."""

    name: str
    scoring: Scoring
    related: bool = False

    def batch(self, count: int, length: int) -> Batch:
        """Return ``count`` pairs of sequences of one length."""
        dna = self.scoring.alphabet.name == "DNA"
        some = workloads.dna if dna else workloads.proteins
        queries = some(np.full(count, length), 512)
        if self.related:
            return Batch.pairwise(queries, workloads.relatives(queries, 4 if dna else 20))
        return Batch.pairwise(queries, some(np.full(count, length), 513))


_PAPERS = Scoring.match_mismatch(1, -1, 2, 2)
WORKLOADS = {
    "linear": Workload("DNA 1/-1, linear gaps 2", _PAPERS),
    "relatives": Workload("DNA 1/-1, linear gaps 2, relatives", _PAPERS, related=True),
    "affine": Workload("DNA 2/-3, affine gaps 7, 2", Scoring.match_mismatch(2, -3, 7, 2)),
    "protein": Workload("protein BLOSUM62, affine gaps 12, 1", Scoring.named("BLOSUM62", 12, 1)),
}
"""The first one is the paper's; unrelated sequences have short alignments, relatives long ones."""

TASKS: tuple[tuple[str, Ties], ...] = (
    ("paths", "any"),
    ("paths", "conventional"),
    ("ends", "conventional"),
    ("scores", "any"),
)
"""Alignments by the paper's pure and conventional versions; end cells; scores."""

SAMPLE = 5e6
"""Cells that the reference repeats, where end cells and alignments are judged."""

_Outcome: TypeAlias = npt.NDArray[np.int32] | Ends | Paths


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a result was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    count, length = arguments.pairs, arguments.length
    chosen = [WORKLOADS[name] for name in arguments.workloads]
    settings = {
        "engine": Diagonal.name,
        "pairs": count,
        "length": length,
        "workloads": [workload.name for workload in chosen],
        "budget": arguments.budget,
        "paper": [{**asdict(row), "gcups": row.gcups} for row in PAPER],
    }
    print(f"engine {Diagonal.name} on {device.info.name}: {count} pairs of {length} x {length}")
    results = Results("aymone2022", device, settings, arguments)
    # Twice as long for ours as for the two ways of the core.
    share = arguments.budget / len(chosen) / (len(TASKS) + 1)
    for workload in chosen:
        batch = workload.batch(count, length)
        judge = _Judge(workload.scoring, batch)
        print(f"\n{workload.name}\n{HEADING}")
        for task, ties in TASKS:
            results.keep(
                {"workload": workload.name, "task": task, "ties": ties}
                | _measured(task, ties, judge, device, share)
            )
            _print_row(f"{task}, {ties}" if task != "scores" else task, results[-1])
        for method in ("trace", "simd"):
            if programs.ParasailPairs.available(workload.scoring):
                result = _core(method, judge, device, share / 2)
                results.keep({"workload": workload.name, "task": method, "ties": None} | result)
                _print_row(f"one core, {result['function']}", result)
    _print_paper()
    return tell_wrong(
        (f"{each['workload']}, {each['task']}, {each['ties']}", each["check"]) for each in results
    )


def _measured(
    task: str, ties: Ties, judge: _Judge, device: Device, budget: float
) -> dict[str, Any]:
    """Measure one task with all pairs."""
    engine, batch = Diagonal(judge.scoring, device), judge.batch

    def run() -> _Outcome:
        if task == "scores":
            return engine.scores(batch)
        return engine.paths(batch, ties=ties) if task == "paths" else engine.ends(batch, ties=ties)

    run()  # compiles
    check = pairs.once(judge.of(ties), _arrays)
    timed = measure(run, check, cells=batch.cells, device=device, budget=budget)
    return {**timed.as_dict(), "pairs": len(batch), "memory": engine.memory_used}


class _Judge:
    """Judges results of a batch: all scores, alignments by recomputing them, a part in full."""

    def __init__(self, scoring: Scoring, batch: Batch) -> None:
        self.scoring, self.batch = scoring, batch
        self._chosen = competitors.portion(batch, SAMPLE)
        part = batch.select(self._chosen)
        self._ends = pairs.cells_of(Reference(scoring).ends(part))
        self._paths = [
            trace(*part.pair(p), scoring, int(i), int(j))[0].tolist()
            for p, (_, i, j) in enumerate(self._ends)
        ]
        if programs.ParasailPairs.available(scoring):
            peer = programs.ParasailPairs(scoring)
            self.name, self.scores = peer.name, peer.scores_of(batch)
        else:
            self.name, self.scores = Reference.name, Reference(scoring).scores(batch)

    def of(self, ties: Ties) -> Callable[[_Outcome], Check]:
        """Return what judges results by a tie rule."""
        return lambda outcome: self._judge(outcome, ties)

    def _judge(self, outcome: _Outcome, ties: Ties) -> Check:
        if isinstance(outcome, np.ndarray):
            return compare(outcome, self.scores, self.name)
        ends = outcome.ends if isinstance(outcome, Paths) else outcome
        check = compare(ends.score, self.scores, self.name)
        if ties == "conventional":
            cells = pairs.cells_of(ends)[self._chosen]
            check = both(check, compare(cells, self._ends, Reference.name))
        if isinstance(outcome, Paths):
            scores = pairs.path_scores(self.scoring, self.batch, outcome)
            check = both(check, compare(scores, self.scores, "scores of the alignments"))
            if ties == "conventional":
                paths = [outcome.coordinates(p).tolist() for p in self._chosen]
                other = [k for k, path in enumerate(paths) if path != self._paths[k]]
                first = f"pair {self._chosen[other[0]]}: another alignment" if other else None
                check = both(check, Check("traceback", len(paths), len(other), first))
        return check


def _arrays(outcome: _Outcome) -> tuple[npt.NDArray[Any], ...]:
    """Return all that a result holds."""
    if isinstance(outcome, Paths):
        return (*_arrays(outcome.ends), outcome.runs, outcome.offsets)
    if isinstance(outcome, Ends):
        return (outcome.score, outcome.query_end, outcome.target_end)
    return (outcome,)


def _core(method: programs.Method, judge: _Judge, device: Device, budget: float) -> dict[str, Any]:
    """Measure parasail on as many of the pairs as it can do three times in ``budget`` seconds."""
    peer = programs.ParasailPairs(judge.scoring, method)

    def cut(cells: float) -> tuple[Batch, npt.NDArray[np.int32]]:
        part = judge.batch.select(competitors.portion(judge.batch, cells))
        return part, Diagonal(judge.scoring, device).scores(part)

    cells = judge.batch.cells
    return competitors.measured(peer, cells, cut, judge=Diagonal.name, budget=budget, trial=SAMPLE)


HEADING = " " * 32 + "  pairs    wall ms  device ms  us / pair    GCUPS   spread"


def _print_row(name: str, result: dict[str, Any]) -> None:
    wall, clock = result["wall"], result["device"]
    if wall is None:
        print(f"{name:<32}{result['pairs']:>7}{'WRONG':>11}", flush=True)
        return
    print(
        f"{name:<32}{result['pairs']:>7}{wall['median'] * 1e3:>11.3f}"
        + (f"{clock['median'] * 1e3:>11.3f}" if clock else f"{'-':>11}")
        + f"{wall['median'] / result['pairs'] * 1e6:>11.2f}{result['gcups']:>9.2f}"
        + ("" if wall["spread"] is None else f"{wall['spread'] * 100:>8.1f}%"),
        flush=True,
    )


def _print_paper() -> None:
    print("\npaper, Table 1: 1000 pairs of 512 x 512, linear gaps, with traceback; kernel alone")
    for row in PAPER:
        print(
            f"{row.device + ', ' + row.version:<39}{row.seconds * 1e3:>11.3f}{'':>11}"
            f"{row.seconds * 1e3:>11.2f}{row.gcups:>9.2f}"
        )


def _parser() -> argparse.ArgumentParser:
    text = "about this long in all (default 60); everything is run three times at least"
    parser = options.parser("aymone2022", __doc__, 60, text)
    parser.add_count("--pairs", "default 1000, as in the paper", 1000)
    parser.add_count("--length", "default 512, as in the paper", 512)
    parser.add_choices("--workloads", WORKLOADS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
