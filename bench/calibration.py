"""Are E-values right? Hits of random proteins in random proteins, counted and expected.

    python -m bench.calibration --output FILE.json --plot FILE.png

Random queries search random databases. All hits are false; how many reach an E-value is compared
with how many should: the sum, over the sequences, of the chance to reach the least whole score that
has this E-value in a sequence of that length. (That is somewhat less than the E-value itself:
scores go in steps.) `CASES` says of which lengths and composition. Scores of some pairs are
compared with parasail or the reference; exit status 1 if one differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import competitors, options, workloads
from bench.document import Results
from bench.measure import compare, tell_wrong
from glsw.batch import Batch
from glsw.engines import ENGINES, Engine, engine_of
from glsw.engines.spec import device_for
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.statistics import Fitted, Method, ScoreHistogram, Statistics, for_search
from glsw.statistics.ungapped_constants import ROBINSON

SCORINGS = {"BLOSUM62 11/1": ("BLOSUM62", 11, 1), "PAM70 10/1": ("PAM70", 10, 1)}
"""Matrices with gapopen and gapextend."""


class RandomSet(NamedTuple):
    """Queries and database, both of Swiss-Prot's lengths or all of one length."""

    length: int | None
    composition: Mapping[str, float]
    queries: int
    sequences: int


CASES = {
    "like Swiss-Prot": RandomSet(None, workloads.COMPOSITION, 150, 4000),
    "Robinson, 1000 letters": RandomSet(1000, ROBINSON, 80, 1500),
    "Robinson, 100 letters": RandomSet(100, ROBINSON, 300, 4000),
}
"""The published constants are for the composition of Robinson and Robinson, and long sequences."""

EVALUES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

LABELS: dict[Method, str] = {"karlin-altschul": "published constants", "fit": "fit"}
"""The methods, and what the picture calls them."""

_JUDGED = 2e5  # cells of each query, of pairs whose scores are compared


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    kind = ENGINES[arguments.engine]
    device = device_for(kind, device=arguments.device)
    settings = {
        "engine": arguments.engine,
        "cases": {name: case._asdict() for name, case in CASES.items()},
        "fraction": arguments.fraction,
        "evalues": list(EVALUES),
        "scorings": {name: list(words) for name, words in SCORINGS.items()},
    }
    results = Results("calibration", device, settings, arguments)
    for name, words in SCORINGS.items():
        scoring = Scoring.blast(*words)
        engine = engine_of(kind, scoring, device) if device else kind(scoring)
        for case, sizes in CASES.items():
            queries = max(1, round(sizes.queries * arguments.fraction))
            found = _counted(engine, sizes._replace(queries=queries))
            results.keep({"scoring": name, "case": case, **found})
            _print(results[-1])
    if arguments.plot:
        where = f", {device.info.name}" if device else ""
        plot(results, arguments.plot, arguments.engine + where)
    return tell_wrong((f"{each['scoring']}, {each['case']}", each["check"]) for each in results)


def _proteins(case: RandomSet, count: int, seed: int) -> Sequences:
    """Return random proteins."""
    lengths = (
        workloads.swissprot_lengths(count, seed)
        if case.length is None
        else np.full(count, case.length)
    )
    return workloads.proteins(lengths, seed, case.composition)


def _counted(engine: Engine, case: RandomSet) -> dict[str, Any]:
    """Return how many hits there are and should be, for each method and E-value."""
    scoring = engine.scoring
    database, asked = _proteins(case, case.sequences, 1), _proteins(case, case.queries, 2)
    lengths, at, counts = np.unique(database.lengths, return_inverse=True, return_counts=True)
    size = len(database), int(database.lengths.sum())
    observed = {method: np.zeros(len(EVALUES), int) for method in LABELS}
    expected = {method: np.zeros(len(EVALUES)) for method in LABELS}
    judge, expected_scores, found_scores = "", [], []
    start = time.perf_counter()
    for query in asked:
        batch = Batch.one_to_many(query, database)
        scores = engine.scores(batch)
        some = competitors.portion(batch, _JUDGED)
        judge, right = competitors.judge(scoring, batch.select(some))
        expected_scores.append(right)
        found_scores.append(scores[some])
        histogram = ScoreHistogram.of(scoring)
        histogram.add(scores, database.lengths)
        for method in LABELS:
            statistics = for_search(scoring, len(query), *size, histogram, method)
            for k, evalue in enumerate(EVALUES):
                least = statistics.cutoff(evalue, len(query), lengths)
                observed[method][k] += int((scores >= least[at]).sum())
                chances = _chances(statistics, least, len(query), lengths, size)
                expected[method][k] += float(chances @ counts)
    check = compare(np.concatenate(found_scores), np.concatenate(expected_scores), judge)
    return {
        "queries": len(asked),
        "sequences": size[0],
        "residues": size[1],
        "check": asdict(check),
        "cells": int(asked.lengths.sum()) * size[1],
        "seconds": time.perf_counter() - start,
        "methods": {
            method: {"observed": observed[method].tolist(), "expected": expected[method].tolist()}
            for method in LABELS
        },
    }


def _chances(
    statistics: Statistics, scores: Any, query: int, lengths: Any, size: tuple[int, int]
) -> Any:
    """Return the chance that one sequence of each length reaches its score."""
    evalues = statistics.evalue(scores, query, lengths)
    return evalues / size[0] if isinstance(statistics, Fitted) else evalues * lengths / size[1]


def _print(result: Mapping[str, Any]) -> None:
    print(
        f"\n{result['scoring']}, {result['case']}: {result['queries']} queries, "
        f"{result['sequences']} sequences"
    )
    print(f"{'E-value at most':>26}" + "".join(f"{evalue:>9g}" for evalue in EVALUES))
    for method, found in result["methods"].items():
        print(f"{method + ' expected':>26}" + "".join(f"{x:>9.1f}" for x in found["expected"]))
        print(f"{'observed':>26}" + "".join(f"{x:>9}" for x in found["observed"]), flush=True)


def plot(results: Sequence[Mapping[str, Any]], path: Path, engine: str) -> None:
    """Draw observed over expected hits, with the error of counting."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    size = 3.9 * len(CASES), 3.1 * len(SCORINGS)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(SCORINGS), len(CASES), sharex=True, sharey=True)
    for axes, result in zip(panels.flat, results, strict=True):
        axes.axhline(1, color="0.6", linewidth=1)
        for shift, colour, (method, found) in zip(
            (0.97, 1.03), ("#1f77b4", "#d95f02"), result["methods"].items(), strict=True
        ):
            expected = np.array(found["expected"])
            axes.errorbar(
                np.array(EVALUES) * shift,
                np.array(found["observed"]) / expected,
                yerr=1 / np.sqrt(expected),
                color=colour,
                marker="o",
                markersize=4,
                linewidth=1,
                label=LABELS[method],
            )
        axes.set(xscale="log", ylim=(0, 2.6))
        axes.set_title(f"{result['scoring']}, {result['case']}", fontsize=9)
        axes.xaxis.set_major_locator(FixedLocator(EVALUES))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.grid(color="0.95")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("E-value at most")
    for axes in panels[:, 0]:
        axes.set_ylabel("hits observed / expected")
    panels[0, 0].legend(frameon=False, fontsize=8, title="bars: 1 / sqrt(expected)")
    figure.suptitle(
        f"False hits of random queries in random proteins, engine {engine}", fontsize=10
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("calibration", __doc__)
    parser.add_argument("--engine", choices=list(ENGINES), default="cpu", help="default cpu")
    parser.add_argument(
        "--fraction", type=float, default=1.0, help="of the queries, for a shorter run (default 1)"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw it with matplotlib")
    return parser


if __name__ == "__main__":
    sys.exit(main())
