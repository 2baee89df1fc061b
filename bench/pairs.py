"""What the benchmarks of pairs share: engines by name, judges, one core of the CPU, too long runs.

>>> from glsw.traceback import trace
>>> scoring = Scoring.match_mismatch(2, -1, 1, 1)
>>> encode = scoring.alphabet.encode
>>> query, target = encode("ATCTCGTATGAT"), encode("GTCTATCAC")  # Liu et al. 2006, figure 2
>>> path_score(scoring, query, target, trace(query, target, scoring, 11, 8)[0])
10
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bench import competitors, options, programs
from bench.measure import Check, compare, measure
from bench.measure import estimate as measure_estimate
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import ENGINES, Blocked, Diagonal, Engine, Reference
from glsw.engines.base import Workload
from glsw.engines.scan import Scan
from glsw.engines.wavefront import Wavefront
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import ranges

METHODS: Mapping[str, Callable[..., Engine]] = {
    "wavefront": Wavefront,
    "blocked": Blocked,
    "diagonal": Diagonal,
    "blocks": partial(Scan, form="blocks"),
    "single-stage": partial(Scan, form="single-stage"),
    "fused": partial(Scan, form="fused"),
}
"""What computes a single pair, by the name in tables: engines, and the forms of the row scan."""

SCAN_FORMS = ("fused", "blocks", "single-stage")
"""Variants of the engine `scan`, by their names in tables."""


def engines_made_for(workload: Workload) -> tuple[str, ...]:
    """Return the names of the engines that declare a workload."""
    return tuple(name for name, kind in ENGINES.items() if workload in kind.capabilities.workloads)


MEANING = {
    "wavefront": "anti-diagonals over global memory, a dispatch each, a cell an invocation",
    "blocked": "blocked anti-diagonals, borders of tiles in global memory",
    "diagonal": "anti-diagonals of one work group, in registers and shared memory",
    "blocks": "row scan, UP and DOWN sweeps in blocks of 256 (Lin 2015)",
    "single-stage": "row scan, log2 n steps over global memory (2014 paper)",
    "fused": "row scan in registers, many rows a dispatch (ours)",
}

BY_REFERENCE = 2e6
"""Cells up to which the reference judges end cells."""

PEER_RATE = 2e9
"""Cells per second that parasail does on one core at least, with SIMD."""

_FIRST_ROWS = 64

AGAIN = 0.25
"""Seconds of warm-up after the first method, which keeps the clocks of a card up."""

Found = npt.NDArray[np.signedinteger]
Result = TypeVar("Result")


def cells_of(ends: Ends) -> Found:
    """Return score, query_end and target_end of each pair, shape (N, 3)."""
    return np.stack([ends.score, ends.query_end, ends.target_end], axis=1)


def path_score(
    scoring: Scoring,
    query: npt.NDArray[np.uint8],
    target: npt.NDArray[np.uint8],
    coordinates: npt.NDArray[np.int64],
) -> int:
    """Return what an alignment scores, letter by letter and gap by gap; -1 if it is none.

    ``coordinates``, shape (2, K): see `glsw.traceback.trace`.
    """
    along_target, along_query = np.diff(coordinates)
    aligned = (along_target > 0) & (along_query > 0)
    outside = (coordinates < 0).any() or (coordinates[:, -1] > [len(target), len(query)]).any()
    if outside or (along_target != along_query)[aligned].any():
        return -1
    runs = along_query[aligned]
    j, i = (ranges(first, runs) for first in coordinates[:, :-1][:, aligned])
    gaps = np.maximum(along_target, along_query)[~aligned]
    costs = scoring.gap_open * len(gaps) + scoring.gap_extend * (gaps - 1).sum()
    return int(scoring.matrix[query[i], target[j]].sum(dtype=np.int64) - costs)


def path_scores(scoring: Scoring, batch: Batch, paths: Paths) -> npt.NDArray[np.int64]:
    """Return the recomputed score of each alignment, shape (N,)."""
    return np.array(
        [path_score(scoring, *batch.pair(p), paths.coordinates(p)) for p in range(len(batch))],
        dtype=np.int64,
    )


def once(
    judge: Callable[[Result], Check], arrays: Callable[[Result], tuple[npt.NDArray[Any], ...]]
) -> Callable[[Result], Check]:
    """Return a check that judges in full only what differs from the last result that was right."""
    right: tuple[tuple[npt.NDArray[Any], ...], Check] | None = None

    def check(result: Result) -> Check:
        nonlocal right
        held = arrays(result)
        if right is None or not all(map(np.array_equal, held, right[0])):
            found = judge(result)
            if not found.passed:
                return found
            right = held, found
        return right[1]

    return check


def first_rows(batch: Batch, rows: int) -> Batch:
    """Return a pair with its query cut to this number of residues."""
    query, _ = batch.pair(0)
    return batch if rows >= len(query) else Batch.one_to_many(query[:rows], batch.targets)


def square(batch: Batch, cells: float) -> Batch:
    """Return the starts of both sequences of a pair, of at most about this number of cells."""
    query, target = batch.pair(0)
    length = max(1, int(cells**0.5))
    if batch.cells <= cells:
        return batch
    return Batch.one_to_many(query[:length], [target[:length]])


def estimate(run: Callable[[Batch], object], batch: Batch, budget: float) -> float:
    """Return about how many seconds a pair takes, from those of its first rows."""
    columns = max(1, int(batch.target_lengths[0]))

    def part(cells: float) -> tuple[Callable[[], object], int]:
        some = first_rows(batch, max(1, int(cells) // columns))
        return partial(run, some), some.cells

    first = _FIRST_ROWS * columns
    return measure_estimate(part, batch.cells, budget, first=first, growth=4)


def expected_cell(
    scoring: Scoring, batch: Batch, device: Device, budget: float
) -> tuple[str, Found]:
    """Return who judges a pair, and its score, query_end and target_end, shape (1, 3).

    Scores are parasail's if it can do the pair in ``budget`` seconds. Ends, and the scores of
    larger pairs, are those of the reference, or else of the engine blocked with tiles of another
    shape than usual and all tiles computed.
    """
    if batch.cells <= BY_REFERENCE:
        name = Reference.name
        engine: Engine = Reference(scoring)
    else:
        name, other = "blocked in other tiles", 16 if device.info.software else 64
        engine = Blocked(scoring, device, workgroup=other, columns=384, prune=False)
    cell = cells_of(engine.ends(batch))
    if programs.ParasailPairs.available(scoring) and batch.cells <= budget * PEER_RATE:
        peer = programs.ParasailPairs(scoring)
        cell[:, 0] = peer.scores_of(batch)
        name = f"{peer.name} (score), {name} (end)"
    return name, cell


def race(
    methods: Sequence[str], scoring: Scoring, batch: Batch, device: Device, budget: float
) -> dict[str, Any]:
    """Measure score and end of one pair, method by method, and of one core.

    Returns
    -------
    dict
        ``engines``: by name a measurement, with ``estimate`` in seconds in place of times for what
        would take more than ``budget``; ``cpu``: see `one_core`.
    """
    engines = {name: METHODS[name](scoring, device) for name in methods}
    seconds = {name: estimate(engine.ends, batch, budget) for name, engine in engines.items()}
    chosen = [name for name in methods if seconds[name] <= budget]
    results: dict[str, Any] = {
        name: {"check": None, "cells": batch.cells, "wall": None, "device": None, "gcups": None}
        | {"estimate": seconds[name]}
        for name in methods
    }
    if chosen:
        judge, expected = expected_cell(scoring, batch, device, budget)
    for name in chosen:
        engine = engines[name]
        timed = measure(
            partial(_best_cells, engine, batch),
            lambda found: compare(found, expected, judge),
            cells=batch.cells,
            device=device,
            budget=budget,
            warm_up=None if name == chosen[0] or device.info.software else AGAIN,
        )
        results[name] = {**timed.as_dict(), "estimate": None}
    return {
        "engines": results,
        "cpu": {
            method: one_core(method, scoring, batch, device, budget / 4)
            for method in ("plain", "simd")
            if programs.ParasailPairs.available(scoring)
        },
    }


def _best_cells(engine: Engine, batch: Batch) -> Found:
    return cells_of(engine.ends(batch))


def one_core(
    method: programs.Method, scoring: Scoring, batch: Batch, device: Device, budget: float
) -> dict[str, Any]:
    """Measure parasail on a pair; if that is too long, on its start, ``seconds`` then scaled."""
    peer = programs.ParasailPairs(scoring, method)

    def cut(cells: float) -> tuple[Batch, npt.NDArray[np.int32]]:
        part = square(batch, cells)
        return part, Blocked(scoring, device).scores(part)

    return competitors.measured(peer, batch.cells, cut, judge=Blocked.name, budget=budget)


def seconds_of(result: Mapping[str, Any]) -> tuple[float | None, str]:
    """Return seconds of an engine or a core, and "~" if they were not measured on the whole."""
    if "seconds" in result:
        return result["seconds"], "~" if result["scaled"] else ""
    if result["wall"]:
        return result["wall"]["median"], ""
    return result["estimate"], "~"


def faster(result: Mapping[str, Any], than: Mapping[str, Any] | None) -> str:
    """Return how many times as fast a result is as another, as text for a table.

    >>> core = {"seconds": 3.0, "scaled": True}
    >>> faster({"wall": {"median": 0.02}, "estimate": None}, core)
    '~150'
    """
    if than is None:
        return "-"
    (ours, mark), (theirs, other) = seconds_of(result), seconds_of(than)
    if ours is None or theirs is None:
        return "-"
    ratio = theirs / ours
    return f"{mark or other}{ratio:.0f}" if ratio >= 99.5 else f"{mark or other}{ratio:.2g}"


def checks(
    results: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    """Yield the checks of all engines and cores of `race`, for `measure.tell_wrong`."""
    for result in results:
        for name, each in (result["engines"] | result.get("cpu", {})).items():
            yield f"{name}, {each['cells']} cells", each["check"]


def settings_of(arguments: argparse.Namespace, scoring: Mapping[str, Any], paper: Any) -> Any:
    """Return the settings of a benchmark of `race`."""
    return {
        "methods": {name: MEANING[name] for name in arguments.methods},
        "lengths": arguments.lengths,
        "scoring": scoring,
        "task": "ends",
        "budget": arguments.budget,
        "paper": paper,
    }


def print_methods(methods: Iterable[str]) -> None:
    """Print what the methods are."""
    for name in methods:
        print(f"  {name:<13} {MEANING[name]}")


def parser(
    module: str, text: str | None, budget: float, lengths: Sequence[int], methods: Sequence[str]
) -> options.Parser:
    """Return the parser of a benchmark of `race`."""
    budget_help = (
        f"a method that would take longer for a pair is left out (default {budget:g}); the others "
        "are run twice at least, for about this long"
    )
    made = options.parser(module, text, budget, budget_help)
    made.add_counts("--lengths", lengths, "of both sequences")
    made.add_choices("--methods", METHODS, methods)
    return made
