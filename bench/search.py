"""Database search: 20 standard queries against equal targets and against Swiss-Prot's lengths.

    python -m bench.search --output bench/results/search-llvmpipe.json

Prints GCUPS of each query by engine and number type, what part of the best rate that is, the
search command from start to end, one device compared with several, and other programs on the CPU.
Exit status 1 if a score was wrong: it has no time.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import options
from bench.document import Results
from bench.measure import Check, Measurement, both, measure, tell_wrong
from bench.search_comparisons import Comparisons
from bench.search_tables import (
    CUDASW,
    described,
    print_command,
    print_competitors,
    print_devices,
    print_notes,
    print_table,
    progress,
)
from bench.search_work import SCORING, Query, ScoreJudge, Targets, queries_of, sizes_of, targets_of
from glsw.device.device import Device, DeviceError
from glsw.engines import ENGINES, Engine, engine_of
from glsw.engines.spec import device_for
from glsw.sequences.encoded import Sequences

NUMBERS = ("auto", "int32", "f16", "f32")
TASKS = ("each", "together", "peers", "command", "devices")
_HARDWARE = {"sequences": 1_000_000, "entries": [50_000, 500_000]}
_SOFTWARE = {"sequences": 200, "entries": [1000]}


class Configuration(NamedTuple):
    """An engine and what it computes with, None if it has no choice."""

    engine: str
    number: str | None

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return f"{self.engine} {self.number}" if self.number else self.engine

    def engine_on(self, device: Device | None, memory: int | None) -> Engine:
        """Return the engine, with those of the options that it takes."""
        kind = ENGINES[self.engine]
        words: dict[str, Any] = {"number": self.number} if self.number else {}
        if memory is not None and kind.capabilities.memory:
            words["memory"] = memory
        return engine_of(kind, SCORING, device, **words)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    kinds = [ENGINES[name] for name in arguments.engines]
    device = device_for(*kinds, device=arguments.device)
    for name, value in (_SOFTWARE if device is None or device.info.software else _HARDWARE).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    queries, origin = queries_of(arguments)
    configurations = _configurations(arguments, device)
    settings = {
        "scoring": {"matrix": SCORING.name, "gap_open": 12, "gap_extend": 1},
        "queries": {"origin": origin, "lengths": [len(query.codes) for query in queries]},
        "configurations": [each.label for each in configurations],
        "tasks": arguments.tasks,
        "sample": arguments.sample,
        "budget": arguments.budget,
        "cudasw4": CUDASW,
    }
    print(f"{'the CPU' if device is None else device.info.name}; BLOSUM62, first gap position 12,")
    print(f"each further one 1; {len(queries)} queries, {origin}")
    results = Results("search", device, settings, arguments)

    sizes = list(sizes_of(arguments))
    databases = [size for size in sizes if size[0] != "uniform"] or sizes[-1:]
    for size in sizes:
        targets = targets_of(*size, arguments, queries)
        result: dict[str, Any] = {"database": targets.facts(), "runs": []}
        results.keep(result)
        print(f"\n{described(result['database'])}", flush=True)
        judges = [ScoreJudge(query, targets, arguments.sample) for query in queries]
        for configuration in configurations if set(arguments.tasks) != {"devices"} else ():
            result["runs"].append(
                _searched(configuration, targets, queries, judges, device, arguments)
            )
            results.save()
        print_table(result)
        comparisons = Comparisons(targets, queries, judges, arguments)
        if "peers" in arguments.tasks and size == databases[-1]:
            result["peers"] = comparisons.competitors()
            print_competitors(result["peers"])
        if {"command", "devices"} & set(arguments.tasks) and size in databases:
            with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
                files = comparisons.files(Path(folder))
                if "command" in arguments.tasks:
                    result["command"] = comparisons.command(files, device, result["runs"])
                    print_command(result["command"])
                if "devices" in arguments.tasks and len(arguments.devices) > 1:
                    result["devices"] = comparisons.devices(files, device)
                    print_devices(result["devices"])
        results.save()
    print_notes(results, device)
    return tell_wrong(_checks(results))


# engines


def _configurations(arguments: argparse.Namespace, device: Device | None) -> list[Configuration]:
    numbers = arguments.numbers
    if numbers is None:
        numbers = ["int32", "f16"] if device and device.info.half else ["int32"]
    found: list[Configuration] = []
    for name in arguments.engines:
        choice = len(ENGINES[name].capabilities.number_types) > 1
        found += [Configuration(name, number) for number in (numbers if choice else [None])]
    return found


def _searched(
    configuration: Configuration,
    targets: Targets,
    queries: list[Query],
    judges: list[ScoreJudge],
    device: Device | None,
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    """Measure an engine, query by query and all together; ``refused`` says why it could not."""
    result: dict[str, Any] = {**configuration._asdict(), "label": configuration.label}
    memory = arguments.memory and arguments.memory << 20
    try:
        engine = configuration.engine_on(device, memory)
    except (ValueError, DeviceError) as error:
        return result | {"refused": str(error), "queries": [], "together": None}
    on = device if ENGINES[configuration.engine].capabilities.requires else None
    parts = targets.parts(engine.part)
    residues = len(targets.sequences.residues)
    result |= {"refused": None, "parts": len(parts), "queries": [], "together": None}
    for query, judge in zip(queries, judges, strict=True):
        if "each" not in arguments.tasks and judge.scores is not None:
            continue
        one = Sequences.of([query.codes])
        first: list[float] = []
        measured = measure(
            partial(_first_timed, partial(_scan, engine, one, parts), first),
            partial(_judged, [judge], configuration.label),
            cells=len(query.codes) * residues,
            device=on,
            budget=arguments.budget,
            warm_up=0.0 if result["queries"] else None,
        )
        result["queries"].append(
            {"query": query.name, "length": len(query.codes), "first": first[0]} | _rates(measured)
        )
        progress(configuration.label, result["queries"][-1])
    result["memory"] = engine.memory_used
    timed = [each for each in result["queries"] if each["kernel"]]
    if len(timed) == len(queries):
        result["kernel"] = sum(each["kernel"] for each in timed)
        result["wall"] = sum(each["wall"]["median"] for each in timed)
        cells = sum(each["cells"] for each in timed)
        result["kernel_gcups"] = cells / result["kernel"] / 1e9
        result["gcups"] = cells / result["wall"] / 1e9
    if "together" in arguments.tasks and all(judge.scores is not None for judge in judges):
        every = Sequences.of([query.codes for query in queries])
        measured = measure(
            partial(_scan, engine, every, parts),
            partial(_judged, judges, configuration.label),
            cells=len(every.residues) * residues,
            device=on,
            budget=arguments.budget,
            warm_up=0.0,
        )
        result["together"] = _rates(measured)
    del engine
    gc.collect()  # the next engine needs its buffers
    return result


def _scan(engine: Engine, queries: Sequences, parts: list[Sequences]) -> npt.NDArray[np.int32]:
    """Return all scores, shape (queries, targets)."""
    found = list(engine.scan(queries, parts))
    return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def _judged(judges: list[ScoreJudge], engine: str, found: npt.NDArray[np.int32]) -> Check:
    """Judge the scores of one query or of all, shape (queries, targets)."""
    checks = (judge.judge(each, engine) for judge, each in zip(judges, found, strict=True))
    return reduce(both, checks)


def _first_timed(run: partial[npt.NDArray[np.int32]], first: list[float]) -> npt.NDArray[np.int32]:
    """Run, and note the seconds of the first time: it compiles and uploads."""
    start = time.perf_counter()
    found = run()
    if not first:
        first.append(time.perf_counter() - start)
    return found


def _rates(measured: Measurement) -> dict[str, Any]:
    """Return a measurement with ``kernel``: seconds by the device's clock where it has one."""
    clock = measured.device or measured.wall
    return {
        **measured.as_dict(),
        "kernel": clock and clock.median,
        "kernel_gcups": clock and measured.cells / clock.median / 1e9,
    }


def _checks(results: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was checked and how it went."""
    for result in results:
        name = result["database"]["name"]
        for run in result["runs"]:
            for each in run["queries"]:
                yield f"{name}, {run['label']}, query {each['query']}", each["check"]
            if run["together"]:
                yield f"{name}, {run['label']}, all queries", run["together"]["check"]
        for each in result.get("peers", []):
            yield f"{name}, {each['peer']}, query {each['query']}", each["check"]
        if "command" in result:
            yield f"{name}, glsw search", result["command"]["check"]
        if "devices" in result and not result["devices"]["refused"]:
            for which in ("one", "all"):
                yield f"{name}, devices, {which}", result["devices"][which]["check"]


def _parser() -> argparse.ArgumentParser:
    text = "for each measurement (default 2); everything is run twice at least"
    parser = options.parser("search", __doc__, 2, text)
    parser.add_choices(
        "--engines", ENGINES, ["lanes"], "; the first one also for the command and the devices"
    )
    parser.add_argument(
        "--numbers",
        type=options.choices(NUMBERS),
        metavar="NAME,...",
        help=f"of {', '.join(NUMBERS)}, for engines that have a choice (default int32, and f16 "
        "if the device has it)",
    )
    parser.add_choices(
        "--tasks",
        TASKS,
        text=": query by query, all queries in one scan, other programs, the whole command, "
        "several devices (with --devices)",
    )
    parser.add_argument(
        "--lengths",
        type=_counts_or_none,
        default=[128, 256, 512, 1024, 2048],
        metavar="N,N,...",
        help="of equal targets, or none (default 128,256,512,1024,2048)",
    )
    parser.add_count("--sequences", "equal targets (default 1000000, on software 200)")
    parser.add_argument(
        "--entries",
        type=_counts_or_none,
        metavar="N,N,...",
        help="in databases with Swiss-Prot's lengths, or none (default 50000,500000, on software "
        "1000)",
    )
    parser.add_argument("--database", metavar="FILE", help="FASTA or made by makedb, as well")
    parser.add_argument(
        "--queries",
        metavar="FASTA",
        help="default: queries/standard20.fasta in the folder GLSW_DATA, else generated",
    )
    parser.add_count("--queries-subset", "how many of them, evenly spaced by length", 20)
    parser.add_count("--competitor-queries", "queries for other programs (default 3)", 3)
    parser.add_argument(
        "--sample",
        type=float,
        default=3e7,
        metavar="CELLS",
        help="of each query that parasail judges (default 3e7)",
    )
    parser.add_argument(
        "--memory", type=options.count, metavar="MIB", help="for engines that take it"
    )
    parser.add_devices("measure the search also on the first of these against all of them")
    return parser


def _counts_or_none(text: str) -> list[int]:
    """Read numbers from 1, or the word none.

    >>> _counts_or_none("128,512"), _counts_or_none("none")
    ([128, 512], [])
    """
    return [] if text == "none" else options.counts(text)


if __name__ == "__main__":
    sys.exit(main())
