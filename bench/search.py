"""Database search: 20 standard queries against equal subjects and against Swiss-Prot's lengths.

    python -m bench.search --output bench/results/search-llvmpipe.json

Prints GCUPS of each query by engine and number type, what part of the best rate that is, the
search command from start to end, one device beside several, and programs of others on the CPU.
Exit status 1 if a score was wrong: it has no time.
"""

from __future__ import annotations

import argparse
import csv
import gc
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import competitors, options, pairs, workloads
from bench.measure import WARM_UP, Check, Measurement, compare, cores, measure, report, write
from glsw.align import Aligner
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError
from glsw.device.shader import ShaderError
from glsw.engines import ENGINES, Engine, engine_of
from glsw.engines.spec import device_for
from glsw.output import FORMATS
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import read

CUDASW = {"DPX": 5000.0, "half2": 4200.0}
"""GCUPS of CUDASW++4.0 (Schmidt et al. 2024) on an H100 SXM, driver 580.159.

Measured with a million subjects of 512 and queries of the same 20 lengths, by its option.
"""

NUMBERS = ("auto", "int32", "f16", "f32")
TASKS = ("each", "together", "peers", "command", "devices")
TOP = 10
COMMANDS = 2
"""How often the whole command is run: the first time it may have to compile."""

PROBE = 1e8
"""Cells from which the speed of a peer is estimated."""

_ROOT = Path(__file__).parents[1]
_SCORING = Scoring.named("BLOSUM62", 12, 1)
_HARDWARE = {"sequences": 1_000_000, "entries": [50_000, 500_000]}
_SOFTWARE = {"sequences": 200, "entries": [1000]}


class Query(NamedTuple):
    """A query and its name."""

    name: str
    codes: npt.NDArray[np.uint8]


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
        return engine_of(kind, _SCORING, device, **words)


@dataclass
class Subjects:
    """What is searched.

    Attributes
    ----------
    name, kind : str
        ``kind`` is ``"uniform"``, ``"swissprot"`` or ``"file"``.
    sequences : Sequences
        By descending length.
    planted : ndarray of int
        The subjects that are relatives of queries.
    """

    name: str
    kind: str
    sequences: Sequences
    planted: npt.NDArray[np.intp]

    def facts(self) -> dict[str, Any]:
        """Return what stands in the JSON."""
        lengths = self.sequences.lengths
        return {
            "name": self.name,
            "kind": self.kind,
            "sequences": len(lengths),
            "residues": int(lengths.sum()),
            "mean": float(lengths.mean()),
            "median": float(np.median(lengths)),
            "longest": int(lengths[0]),
            "planted": len(self.planted),
        }

    def parts(self, residues: int) -> list[Sequences]:
        """Cut the subjects into parts of so many residues at most; a single part is not copied."""
        whole = self.sequences
        return [whole.part(part) for part in whole.parts(residues)]


class ScoreJudge:
    """Judges the scores of a query: a sample by parasail, the rest by the first engine.

    The sample has evenly spaced subjects, the longest, the shortest, and those that are planted.

    Attributes
    ----------
    scores : ndarray of int32, shape (subjects,), or None
        Those of the first engine whose sample was right.
    """

    def __init__(self, query: Query, subjects: Subjects, cells: float) -> None:
        batch = Batch.one_to_many(query.codes, subjects.sequences)
        ends = [0, len(batch) - 1]
        self.chosen = np.unique(
            np.concatenate([competitors.portion(batch, cells), ends, subjects.planted])
        ).astype(np.intp)
        self.name, self.expected = competitors.judge_in_32_bits(_SCORING, batch.select(self.chosen))
        self.scores: npt.NDArray[np.int32] | None = None
        self._first = ""

    def judge(self, scores: npt.NDArray[np.int32], engine: str) -> Check:
        """Compare all scores of the query, in the order of the subjects."""
        check = compare(scores[self.chosen], self.expected, self.name)
        if self.scores is None:
            if check.passed:
                self.scores, self._first = scores, engine
            return check
        if engine == self._first:
            rest = compare(scores, self.scores, "its first run")
        else:
            rest = compare(scores, self.scores, self._first)
        return pairs.both(check, rest)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, DeviceError, ShaderError) as error:
        print(f"bench.search: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    kinds = [ENGINES[name] for name in arguments.engines]
    device = device_for(*kinds, device=arguments.device)
    for name, value in (_SOFTWARE if device is None or device.info.software else _HARDWARE).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    queries, origin = _queries(arguments)
    configurations = _configurations(arguments, device)
    settings = {
        "scoring": {"matrix": _SCORING.name, "gap_open": 12, "gap_extend": 1},
        "queries": {"origin": origin, "lengths": [len(query.codes) for query in queries]},
        "configurations": [each.label for each in configurations],
        "tasks": arguments.tasks,
        "sample": arguments.sample,
        "budget": arguments.budget,
        "cudasw4": CUDASW,
    }
    print(f"{'the CPU' if device is None else device.info.name}; BLOSUM62, first gap position 12,")
    print(f"each further one 1; {len(queries)} queries, {origin}")
    results: list[dict[str, Any]] = []

    def keep() -> None:
        if arguments.output:
            document = report("search", device, settings, results, commit=arguments.commit)
            write(arguments.output, document)

    sizes = list(_sizes(arguments))
    databases = [size for size in sizes if size[0] != "uniform"] or sizes[-1:]
    for size in sizes:
        subjects = _subjects(*size, arguments, queries)
        result: dict[str, Any] = {"database": subjects.facts(), "runs": []}
        results.append(result)
        print(f"\n{_described(result['database'])}", flush=True)
        judges = [ScoreJudge(query, subjects, arguments.sample) for query in queries]
        for configuration in configurations if set(arguments.tasks) != {"devices"} else ():
            result["runs"].append(
                _searched(configuration, subjects, queries, judges, device, arguments)
            )
            keep()
        _print_table(result)
        beside = Comparisons(subjects, queries, judges, arguments)
        if "peers" in arguments.tasks and size == databases[-1]:
            result["peers"] = beside.peers()
            _print_peers(result["peers"])
        if {"command", "devices"} & set(arguments.tasks) and size in databases:
            with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
                files = beside.files(Path(folder))
                if "command" in arguments.tasks:
                    result["command"] = beside.command(files, device, result["runs"])
                    _print_command(result["command"])
                if "devices" in arguments.tasks and len(arguments.devices) > 1:
                    result["devices"] = beside.devices(files, device)
                    _print_devices(result["devices"])
        keep()
    _print_notes(results, device)
    return _tell_wrong(results)


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
    subjects: Subjects,
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
    parts = subjects.parts(engine.part)
    residues = len(subjects.sequences.residues)
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
        _progress(configuration.label, result["queries"][-1])
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
    """Return all scores, shape (queries, subjects)."""
    found = list(engine.scan(queries, parts))
    return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


def _judged(judges: list[ScoreJudge], engine: str, found: npt.NDArray[np.int32]) -> Check:
    """Judge the scores of one query or of all, shape (queries, subjects)."""
    checks = (judge.judge(each, engine) for judge, each in zip(judges, found, strict=True))
    return reduce(pairs.both, checks)


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


# what goes beside


class Files(NamedTuple):
    """Where the queries and the subjects are."""

    queries: Path
    database: Path
    makedb: float | None
    """Seconds that indexing took; None if the database is the FASTA file."""


@dataclass
class Comparisons:
    """A database, and all that is compared with the scores that the engines found in it."""

    subjects: Subjects
    queries: list[Query]
    judges: list[ScoreJudge]
    arguments: argparse.Namespace

    def peers(self) -> list[dict[str, Any]]:
        """Measure programs of others with a few queries on a part of the subjects."""
        found = []
        for k in _spread(len(self.queries), self.arguments.peer_queries):
            query, scores = self.queries[k], self.judges[k].scores
            if scores is None:
                continue
            batch = Batch.one_to_many(query.codes, self.subjects.sequences)

            def cut(
                cells: float, batch: Batch = batch, scores: Any = scores
            ) -> tuple[Batch, npt.NDArray[np.int32]]:
                chosen = competitors.portion(batch, cells)
                return batch.select(chosen), scores[chosen]

            for count in sorted({1, cores()}):
                for peer in competitors.on_cores(_SCORING, count):
                    try:
                        measured = competitors.measured(
                            peer,
                            batch.cells,
                            cut,
                            judge="the engines",
                            budget=self.arguments.budget,
                            trial=PROBE * count,
                        )
                    except RuntimeError as error:
                        print(f"  left out: {error}", flush=True)
                        continue
                    found.append(
                        {"peer": peer.name, "cores": count, "query": query.name}
                        | {"length": len(query.codes)}
                        | measured
                    )
        return found

    def files(self, folder: Path) -> Files:
        """Write queries and subjects, and index these with ``glsw makedb``."""
        queries, fasta, indexed = (folder / name for name in ("q.fasta", "db.fasta", "db.glsw"))
        _write_fasta(queries, "query", Sequences.of([query.codes for query in self.queries]))
        _write_fasta(fasta, "subject", self.subjects.sequences)
        start = time.perf_counter()
        done = _glsw("makedb", fasta, indexed)
        seconds = time.perf_counter() - start
        if done.returncode:
            print(f"not indexed: {_last_line(done.stderr)}", file=sys.stderr)
            return Files(queries, fasta, None)
        return Files(queries, indexed, seconds)

    def command(
        self, files: Files, device: Device | None, runs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Measure ``glsw search`` from start to end, beside the kernels of the fastest run."""
        engine = self.arguments.engines[0]
        words = [files.queries, files.database, "--format", "tsv", "--top", str(TOP)]
        words += ["--engine", engine, "--no-progress"]
        words += (
            []
            if device is None or not ENGINES[engine].capabilities.requires
            else ["--device", str(device.info.index)]
        )
        seconds: list[float] = []
        check = Check("the engines", 0, 0)
        for _ in range(COMMANDS):
            start = time.perf_counter()
            done = _glsw("search", *words)
            seconds.append(time.perf_counter() - start)
            if done.returncode:
                check = Check("the engines", 1, 1, _last_line(done.stderr))
                break
            check = self._check_lines(done.stdout)
        kernels = [run["kernel"] for run in runs if run["engine"] == engine and run.get("kernel")]
        kernel = min(kernels, default=None)
        return {
            "engine": engine,
            "indexed": files.makedb is not None,
            "makedb": files.makedb,
            "check": vars(check),
            "seconds": seconds,
            "kernel": kernel,
            "allowed": kernel and 1.5 * kernel + 2,
        }

    def _check_lines(self, text: str) -> Check:
        """Compare the scores of the hits of all queries with the best ones."""
        found: dict[str, list[int]] = {}
        for row in csv.DictReader(io.StringIO(text), dialect=csv.excel_tab, quoting=csv.QUOTE_NONE):
            if row.get("hsp", "1") == "1":  # a hit may have more alignments
                found.setdefault(row["query"], []).append(int(row["score"]))
        lists = [found.get(f"query{k}", []) for k in range(len(self.queries))]
        best = [
            _best(judge.scores) if judge.scores is not None else each
            for judge, each in zip(self.judges, lists, strict=True)
        ]
        wrong = [k for k, (one, other) in enumerate(zip(lists, best, strict=True)) if one != other]
        first = f"query {wrong[0]}: {lists[wrong[0]]}, expected {best[wrong[0]]}" if wrong else None
        return Check("the engines", len(lists), len(wrong), first)

    def devices(self, files: Files, device: Device | None) -> dict[str, Any]:
        """Measure the search on the first device and on all; their output has to be equal."""
        queries = list(read(files.queries))
        database: Any = Database.open(files.database) if files.makedb is not None else None
        database = list(read(files.database)) if database is None else database
        cells = len(self.subjects.sequences.residues) * sum(map(len, queries))
        chosen = self.arguments.devices
        warm_up = 0.0 if device is None or device.info.software else WARM_UP
        expected: str | None = None
        measured = []
        for some in (chosen[0], list(chosen)):
            try:
                aligner = Aligner(_SCORING, engine=self.arguments.engines[0], device=some)
            except (ValueError, DeviceError) as error:
                return {"devices": chosen, "refused": str(error)}

            def check(text: str) -> Check:
                nonlocal expected
                expected = text if expected is None else expected
                same = text == expected
                return Check("one device", 1, int(not same), None if same else "other bytes")

            with closing(aligner) if hasattr(aligner, "close") else nullcontext():
                measured.append(
                    measure(
                        partial(_tsv, aligner, queries, database),
                        check,
                        cells=cells,
                        budget=2 * self.arguments.budget,
                        warm_up=warm_up,
                    )
                )
        one, all_ = measured
        ratio = one.wall.median / all_.wall.median if one.wall and all_.wall else None
        return {
            "devices": chosen,
            "refused": None,
            "engine": self.arguments.engines[0],
            "one": one.as_dict(),
            "all": all_.as_dict(),
            "ratio": ratio,
            "bytes": len(expected or ""),
        }


def _tsv(aligner: Aligner, queries: Any, database: Any) -> str:
    """Return what the search command writes."""
    stream = io.StringIO()
    for result in aligner.search(queries, database, top=TOP):
        FORMATS["tsv"].write(result, stream)
    return stream.getvalue()


def _best(scores: npt.NDArray[np.int32]) -> list[int]:
    return [int(score) for score in np.sort(scores)[::-1][:TOP] if score > 0]


def _glsw(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a glsw command of this checkout."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "glsw", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def _write_fasta(path: Path, name: str, sequences: Sequences) -> None:
    letters = np.frombuffer("".join(PROTEIN.letters).encode(), np.uint8)[sequences.residues]
    with path.open("wb") as file:
        for k, (start, end) in enumerate(
            zip(sequences.offsets, sequences.offsets[1:], strict=False)
        ):
            file.write(b">%s%d\n" % (name.encode(), k))
            file.write(letters[start:end].tobytes())
            file.write(b"\n")


def _spread(count: int, some: int) -> list[int]:
    """Return some of so many indices, evenly spaced from the first to the last; one: the middle.

    >>> _spread(20, 3), _spread(2, 5), _spread(20, 1)
    ([0, 10, 19], [0, 1], [10])
    """
    if some == 1:
        return [count // 2]
    return sorted({round(k) for k in np.linspace(0, count - 1, min(some, count))})


# sequences


def _queries(arguments: argparse.Namespace) -> tuple[list[Query], str]:
    """Return the queries and where they come from."""
    path = arguments.queries
    data = os.environ.get("GLSW_DATA")
    if path is None and data and (standard := Path(data, "queries", "standard20.fasta")).is_file():
        path = standard
    if path is None:
        codes = workloads.queries(workloads.STANDARD)
        found = [Query(f"generated {len(each)}", each) for each in codes]
        origin = "generated"
    else:
        records = list(read(path))
        found = [
            Query(each.id, PROTEIN.encode(each.letters, name=each.id, unknown="X"))
            for each in records
        ]
        origin = Path(path).name
    found.sort(key=lambda query: len(query.codes))
    return [found[k] for k in _spread(len(found), arguments.queries_subset)], origin


def _sizes(arguments: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield kind, and length or entries, of each database."""
    yield from (("uniform", length) for length in arguments.lengths)
    yield from (("swissprot", count) for count in arguments.entries)
    if arguments.database:
        yield "file", 0


def _subjects(
    kind: str, size: int, arguments: argparse.Namespace, queries: list[Query]
) -> Subjects:
    if kind == "file":
        name = Path(arguments.database).name
        return Subjects(name, kind, _from_file(arguments.database), np.empty(0, np.intp))
    if kind == "uniform":
        made = workloads.many(np.full(arguments.sequences, size))
        name = f"equal subjects of {size}"
    else:
        made = workloads.many(workloads.swissprot_lengths(size))
        name = "lengths of Swiss-Prot"
    planted = workloads.plant(made, Sequences.of([query.codes for query in queries]))
    return Subjects(name, kind, made, planted)


def _from_file(path: str) -> Sequences:
    """Return the sequences of a FASTA file or an indexed database, the longest first."""
    if is_database(path):
        return Database.open(path).sequences
    found = [PROTEIN.encode(each.letters, name=each.id, unknown="X") for each in read(path)]
    return Sequences.of(sorted(found, key=len, reverse=True))


# tables


def _described(facts: dict[str, Any]) -> str:
    return (
        f"{facts['name']}: {facts['sequences']:,} sequences, {facts['residues']:,} residues, "
        f"longest {facts['longest']:,}"
    )


def _progress(label: str, result: dict[str, Any]) -> None:
    """Say on a terminal how far it is."""
    if sys.stderr.isatty():
        rate = "WRONG" if result["kernel_gcups"] is None else f"{result['gcups']:.2f} GCUPS"
        print(f"  {label}, {result['length']}: {rate}", file=sys.stderr)


WIDTH = 26


def _print_table(result: dict[str, Any]) -> None:
    """Print a line a query: GCUPS by the device, percent of the best, GCUPS by the wall."""
    runs = [run for run in result["runs"] if not run["refused"]]
    for run in result["runs"]:
        if run["refused"]:
            print(f"  {run['label']}: {run['refused']}")
    if not any(run["queries"] for run in runs):
        return
    print(f"{'':>8}" + "".join(f"{run['label']:>{WIDTH}}" for run in runs))
    print(f"{'length':>8}" + f"{'GCUPS':>12}{'of best':>8}{'wall':>6}"[:WIDTH] * len(runs))
    best = [max((each["kernel_gcups"] or 0 for each in run["queries"]), default=0) for run in runs]
    for row in zip(*(run["queries"] for run in runs), strict=False):
        cells = (
            f"{'WRONG':>{WIDTH}}"
            if each["kernel_gcups"] is None
            else _cell(
                each["kernel_gcups"], f"{100 * each['kernel_gcups'] / most:.0f}%", each["gcups"]
            )
            for each, most in zip(row, best, strict=True)
        )
        print(f"{row[0]['length']:>8}" + "".join(cells))
    print(
        f"{'all':>8}"
        + "".join(_cell(run.get("kernel_gcups"), "", run.get("gcups")) for run in runs)
    )
    if any(run["together"] for run in runs):
        together = [run["together"] or {"kernel_gcups": None, "gcups": None} for run in runs]
        cells = (_cell(each["kernel_gcups"], "", each["gcups"]) for each in together)
        print(f"{'at once':>8}" + "".join(cells))
    memory = (f"{run['memory'] / 2**20:,.1f} MiB" for run in runs)
    print(f"{'memory':>8}" + "".join(f"{text:>{WIDTH}}" for text in memory), flush=True)
    for run in runs:
        if run["parts"] > 1:
            print(f"  {run['label']}: {run['parts']} parts, uploaded again for each query")


def _cell(rate: float | None, middle: str, wall: float | None) -> str:
    return f"{_text(rate):>12}{middle:>6}{_text(wall):>8}"


def _text(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.3g}" if rate < 100 else f"{rate:.0f}"


def _print_peers(results: list[dict[str, Any]]) -> None:
    for each in results:
        where = "one core" if each["cores"] == 1 else f"{each['cores']} cores"
        rate = "WRONG" if each["gcups"] is None else f"{each['gcups']:.2f} GCUPS"
        print(f"  {each['peer']}, {where}, {each['length']}: {rate}", flush=True)


def _print_command(result: dict[str, Any]) -> None:
    if result["check"]["wrong"]:
        print(f"  glsw search, engine {result['engine']}: WRONG", flush=True)
        return
    database = "indexed" if result["indexed"] else "FASTA"
    indexed = f"; indexed in {result['makedb']:.2f} s" if result["indexed"] else ""
    seconds = ", ".join(f"{each:.2f}" for each in result["seconds"])
    kernel = result["kernel"]
    beside = f", kernels {kernel:.2f} s" if kernel else ""
    print(f"  glsw search, {database}, engine {result['engine']}: {seconds} s{beside}{indexed}")
    if kernel:
        kept = "within" if min(result["seconds"]) <= result["allowed"] else "beyond"
        print(f"  that is {kept} 1.5 x kernels + 2 s = {result['allowed']:.2f} s", flush=True)


def _print_devices(result: dict[str, Any]) -> None:
    names = ",".join(map(str, result["devices"]))
    if result["refused"] or result["ratio"] is None:
        print(f"  devices {names}: {result['refused'] or 'WRONG'}")
        return
    one, many = (result[key]["wall"]["median"] for key in ("one", "all"))
    print(
        f"  devices {names}: {one:.2f} s on one, {many:.2f} s on all: {result['ratio']:.2f} times,"
    )
    print(f"  the same {result['bytes']} bytes", flush=True)


def _print_notes(results: list[dict[str, Any]], device: Device | None) -> None:
    """Print what the rates mean, and those of equal subjects of 512 beside others."""
    print("\nGCUPS by the device's clock if it has one, else the wall's; wall: from call to scores")
    rates: dict[str, dict[str, float]] = {}
    for result in results:
        name = f"{result['database']['name']}, {result['database']['sequences']:,}"
        if result["database"]["kind"] != "uniform" or result["database"]["longest"] == 512:
            for run in result["runs"]:
                if run.get("kernel_gcups"):
                    rates.setdefault(run["label"], {})[name] = run["kernel_gcups"]
    for label, each in rates.items():
        (name, base), *others = each.items()
        for other, rate in others:
            print(f"{label}: {other}: {100 * rate / base:.0f}% of the rate with {name}")
    theirs = ", ".join(f"{rate:.0f} ({name})" for name, rate in CUDASW.items())
    print(f"CUDASW++4.0 on an H100 SXM, 1,000,000 subjects of 512, these 20 lengths: {theirs}")
    if device is None or device.info.software:
        return
    for label, each in rates.items():
        for name, base in each.items():
            ratios = (f"{base / rate:.2f} of it with {option}" for option, rate in CUDASW.items())
            print(f"{label} on {device.info.name}, {name}: {_text(base)}, {', '.join(ratios)}")


def _tell_wrong(results: list[dict[str, Any]]) -> int:
    """Say on stderr what was wrong; return the exit status."""
    status = 0
    for result in results:
        for what, check in _checks(result):
            if check["wrong"] or not check["pairs"]:
                status = 1
                print(
                    f"WRONG: {result['database']['name']}, {what}: {check['wrong']} of "
                    f"{check['pairs']} differ from {check['judge']}; {check['first']}",
                    file=sys.stderr,
                )
    return status


def _checks(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was checked and how it went."""
    for run in result["runs"]:
        for each in run["queries"]:
            yield f"{run['label']}, query {each['query']}", each["check"]
        if run["together"]:
            yield f"{run['label']}, all queries", run["together"]["check"]
    for each in result.get("peers", []):
        yield f"{each['peer']}, query {each['query']}", each["check"]
    if "command" in result:
        yield "glsw search", result["command"]["check"]
    if "devices" in result and not result["devices"]["refused"]:
        for name in ("one", "all"):
            yield f"devices, {name}", result["devices"][name]["check"]


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "search",
        (__doc__ or "").splitlines()[0],
        2,
        "for each measurement (default 2); everything is run twice at least",
    )
    parser.add_argument(
        "--engines",
        type=options.choices(ENGINES),
        default=["lanes" if "lanes" in ENGINES else "auto"],
        metavar="NAME,...",
        help="the first one also for the command and the devices (default lanes)",
    )
    parser.add_argument(
        "--numbers",
        type=options.choices(NUMBERS),
        metavar="NAME,...",
        help=f"of {', '.join(NUMBERS)}, for engines that have a choice (default int32, and f16 "
        "if the device has it)",
    )
    parser.add_argument(
        "--tasks",
        type=options.choices(TASKS),
        default=list(TASKS),
        metavar="NAME,...",
        help=f"of {', '.join(TASKS)} (default all): query by query, all queries in one scan, "
        "programs of others, the whole command, several devices (with --devices)",
    )
    parser.add_argument(
        "--lengths",
        type=_counts_or_none,
        default=[128, 256, 512, 1024, 2048],
        metavar="N,N,...",
        help="of equal subjects, or none (default 128,256,512,1024,2048)",
    )
    parser.add_argument(
        "--sequences",
        type=options.count,
        metavar="N",
        help="equal subjects (default 1000000, on software 200)",
    )
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
    parser.add_argument(
        "--queries-subset",
        type=options.count,
        default=20,
        metavar="N",
        help="so many of them, evenly spaced by length",
    )
    parser.add_argument(
        "--peer-queries",
        type=options.count,
        default=3,
        metavar="N",
        help="queries for the programs of others (default 3)",
    )
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
    parser.add_argument(
        "--devices",
        type=options.indices,
        default=[],
        metavar="N,N,...",
        help="measure the search also on the first of these against all of them",
    )
    return parser


def _counts_or_none(text: str) -> list[int]:
    """Read numbers from 1, or the word none.

    >>> _counts_or_none("128,512"), _counts_or_none("none")
    ([128, 512], [])
    """
    return [] if text == "none" else options.counts(text)


if __name__ == "__main__":
    sys.exit(main())
