"""One search: queries, targets, who judges the scores, engines, other programs, whole commands."""

from __future__ import annotations

import csv
import gc
import io
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench import generated, rivals
from bench.machine import run
from bench.measure import Check, Measurement, Spread, both, commands
from bench.programs import Scores, judge
from bench.rivals import Cudasw4, write_fasta
from bench.row import digest
from bench.work import base
from bench.work.alignments import PairWork, Right
from bench.work.base import Case, Entry, Run, Setup, estimated, named, portion
from glsw import Aligner, Batch, Scoring, Sequences
from glsw.engines import Engine
from glsw.engines.tiles import ScanTile
from glsw.output import FORMATS

BLOSUM = Scoring.named("BLOSUM62", 12, 1)
WITH_CUDASW4 = Scoring.named("BLOSUM62", *Cudasw4.gaps)
"""Of all programs where CUDASW++4.0 is one of them: it has no other gap costs."""
GLSW = sys.executable, "-m", "glsw"
MEAN, TOP = 361, Cudasw4.best
"""Letters of a target with Swiss-Prot's lengths; hits of a query that whole commands list."""
Made: TypeAlias = tuple[Sequences, Sequences, Any]
"""Queries, targets, and the indices of targets that are like a query."""


class QueryWork(PairWork):
    """A query with all targets: parasail judges a sample and the planted, an engine the rest."""

    scores = None

    def __init__(self, database: Database, q: int) -> None:
        self._database = database
        make = lambda: Batch.one_to_many(database.made[0][q], database.made[1])  # noqa: E731
        super().__init__(database.setup, database.scoring, make)

    @cached_property
    def _right(self) -> Right:
        sample = portion(self.batch, self._database.sample)
        planted = [0, len(self.batch) - 1, *self._database.made[2]]
        chosen = np.unique(np.concatenate([sample, planted])).astype(np.intp)
        name, expected = judge(self.scoring, self.batch.select(chosen))
        return name, chosen, expected[:, None]


@dataclass
class Database:
    """Queries and targets of one search, who judges them, and the engine that was used last.

    The queries have these lengths, the ``count`` random targets all one length or Swiss-Prot's
    lengths, and a relative of each query is planted; ``make`` returns others. Of each query, other
    programs judge ``sample`` cells.
    """

    setup: Setup
    lengths: Sequence[int]
    count: int
    length: int | None = None
    scoring: Scoring = BLOSUM
    sample: float = 1e7
    make: Callable[[], Made] | None = None

    def __post_init__(self) -> None:
        self.everything = range(len(self.lengths))
        self._works = [QueryWork(self, q) for q in self.everything]
        self._engine: tuple[Entry, Engine] | None = None
        self._rates: dict[str, float] = {}
        self._expected: str | None = None
        self._scans: dict[str, tuple[Any, list[list[int]], set[Any]]] = {}

    @cached_property
    def made(self) -> Made:
        if self.make:
            return self.make()
        count, length = self.count, self.length
        sizes = generated.swissprot_lengths(count) if length is None else np.full(count, length)
        queries, targets = generated.queries(self.lengths), generated.many(sizes)
        return queries, targets, generated.plant(targets, queries)

    def cells(self, queries: Sequence[int]) -> int:
        return sum(self.lengths[q] for q in queries) * len(self.made[1].residues)

    def fields(self, queries: Sequence[int]) -> dict[str, Any]:
        sizes = sum(self.lengths[q] for q in queries), self.length or MEAN
        many = f"{len(queries)} queries" if len(queries) > 1 else None
        words = {"scoring": named(self.scoring), "count": self.count}
        return {**words, "sizes": sizes, "options": many}

    def engine_cases(
        self, entries: Iterable[Entry], groups: Sequence[Sequence[int]]
    ) -> Iterator[Case]:
        """Yield a case for each engine and group of queries."""
        for entry in entries:
            if self.setup.wants(entry.engine):
                for queries in groups:
                    start = partial(self._start, entry, queries)
                    yield entry.case(self.setup.device, start, **self.fields(queries))

    def drop(self) -> None:
        """Give the memory of the engine back."""
        self._engine = None
        gc.collect()

    def _start(self, entry: Entry, queries: Sequence[int], seconds: float) -> Run:
        if self._engine is None or self._engine[0] != entry:
            self.drop()
            self._engine = entry, entry.made(self.scoring, self.setup.device)
        engine, (every, targets, _) = self._engine[1], self.made
        some = Sequences.of(every[q] for q in queries)
        judges = [self._works[q] for q in queries]
        first: list[float] = []

        def scores(queries: Sequences, targets: Sequences) -> Scores:
            parts = map(targets.part, targets.parts(engine.hints.part))
            found = list(engine.answers(ScanTile(queries, part) for part in parts))
            return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

        def scan() -> Scores:
            start = time.perf_counter()
            found = scores(some, targets)
            first.append(time.perf_counter() - start)
            return found

        def check(found: Scores) -> Check:
            rows = zip(judges, found, strict=True)
            return reduce(both, (one.check(entry.label, "any", row) for one, row in rows))

        def of_part(part: Batch) -> None:
            scores(some, part.targets.select(part.target_index))

        known = entry.engine == "lanes" and any(each.first for each in judges)
        seconds_of = None if known else estimated(of_part, judges[0].batch)
        facts = base.facts_of(engine)
        return Run(
            *(scan, check, self.cells(queries), seconds_of),
            facts=lambda: {"setup": first[0], **facts()},
        )

    def rival_cases(
        self, queries: Iterable[int], cores: int = 0, only: Any = "", *, slow: bool = False
    ) -> Iterator[Case]:
        """Yield other programs of which the name begins so, on these numbers of cores."""
        for q in queries:
            words = self.scoring, cores or self.setup.cores
            found = rivals.searching(self.setup.rivals, *words, slow=slow)
            found = [each for each in found if each[0].name.startswith(only)]
            yield from base.rival_cases(found, self._works[q].cut, self._rates, **self.fields([q]))

    def cudasw4_cases(self, groups: Iterable[Sequence[int]]) -> Iterator[Case]:
        """Yield the scans of CUDASW++4.0 by its own clock, for groups of queries."""
        for kind in Cudasw4.kinds if Cudasw4.name in self.setup.rivals else ():
            for queries in groups:
                words = {"ours": False, "grace": 300.0, **self.fields(queries)}
                yield Case(f"{Cudasw4.name} {kind}", partial(self._scanned, kind, queries), **words)

    @cached_property
    def cudasw4(self) -> Cudasw4:
        self.drop()
        return Cudasw4(self.setup.rivals[Cudasw4.name], *self.made[:2], self.setup.folder)

    def check_best(self, queries: Sequence[int], best: Sequence[Sequence[int]]) -> Check:
        """Compare the best scores of each query with those of all targets by an engine."""
        wrong, known = [], [(q, first[1]) for q in queries if (first := self._works[q].first)]
        if not known:
            raise ValueError("not judged: no engine has the scores of all targets")
        for q, cells in known:
            mine, wanted = (
                [int(score) for score in scores if score > 0]
                for scores in (best[q], np.sort(cells[:, 0])[: -TOP - 1 : -1])
            )
            wrong += [f"query {q}: {mine}, expected {wanted}"] * (mine != wanted)
        return Check("the engines", len(known), len(wrong), next(iter(wrong), None))

    def _scanned(self, kind: str, queries: Sequence[int], seconds: float) -> Measurement:
        group = tuple(queries)
        if kind not in self._scans or group in self._scans[kind][2]:  # the first or another pass
            self._scans[kind] = self.cudasw4.scans(kind), self.cudasw4.best_scores(), set()
        times, best, told = self._scans[kind]
        told.add(group)
        check = self.check_best(queries, best)
        wall = Spread.of(times[:, group].sum(axis=1).tolist())
        return Measurement(check, self.cells(queries), wall)

    def file_cases(self) -> Iterator[Case]:
        fields = {**self.fields(self.everything), "grace": 300.0}
        if self.setup.wants("lanes"):
            yield Case("glsw search", self._ours, "command", **fields)
        for kind in Cudasw4.kinds if Cudasw4.name in self.setup.rivals else ():
            start = partial(self._cudasw4, kind)
            yield Case(f"{Cudasw4.name} {kind}", start, "command", ours=False, **fields)
        devices = self.setup.devices
        for some in (devices[:1], devices) if len(devices) > 1 else ():
            fields["options"] = f"devices {','.join(map(str, some))}"
            yield Case("glsw search", partial(self._on_devices, some), "devices", **fields)

    @cached_property
    def folder(self) -> Path:
        folder = self.setup.folder
        self.drop()
        write_fasta(folder / "q.fasta", "query", self.made[0])
        write_fasta(folder / "db.fasta", "target", self.made[1])
        start = time.perf_counter()
        database = str(folder / "db.fasta"), str(folder / "db.glsw")
        run([*GLSW, "makedb", *database, "--force", "--no-progress"])
        self.indexing = time.perf_counter() - start
        return folder

    def _ours(self, seconds: float) -> Measurement:
        folder, index = self.folder, self.setup.device.info.index
        words = ["search", str(folder / "q.fasta"), str(folder / "db.glsw"), "--format", "tsv"]
        words += f"--top {TOP} --evalue inf --engine lanes --no-progress --device {index}".split()
        first, extend = self.scoring.gap_open, self.scoring.gap_extend
        words += ["--gapopen", str(first - extend), "--gapextend", str(extend)]

        def search() -> list[list[int]]:
            best: list[list[int]] = [[] for _ in self.lengths]
            text = io.StringIO(run([*GLSW, *words]))
            for row in csv.DictReader(text, dialect=csv.excel_tab, quoting=csv.QUOTE_NONE):
                if row.get("hsp", "1") == "1":  # a hit may have more alignments
                    best[int(row["query"].removeprefix("query"))].append(int(row["score"]))
            return best

        facts = {"note": "alignments and E-values of ten hits each", "shaders": {"*": digest("*")}}
        limit = math.inf if self.setup.size == "full" else seconds
        return self._timed(search, limit, setup=self.indexing, **facts)

    def _cudasw4(self, kind: str, seconds: float) -> Measurement:
        program = self.cudasw4

        def command() -> list[list[int]]:
            program.command(kind)
            return program.best_scores()

        return self._timed(command, math.inf, setup=program.indexing, note="scores only")

    def _timed(self, command: Callable[[], Any], limit: float, **facts: Any) -> Measurement:
        """Judge a command, and time it after one that warms up."""
        check, times = commands(command, partial(self.check_best, self.everything), limit)
        note = f"{facts['note']}; after one command, which took {times[0]:.3g} s"
        wall = Spread.of(times[1:] or times)
        return Measurement(check, self.cells(self.everything), wall, facts=facts | {"note": note})

    def _on_devices(self, devices: Sequence[int], seconds: float) -> Run:
        """Return the search on some devices; the output of all of them is the same."""
        folder = self.folder
        one: Any = devices[0] if len(devices) == 1 else list(devices)
        aligner = Aligner(self.scoring, engine="lanes", device=one)

        def search() -> str:
            stream = io.StringIO()
            files = folder / "q.fasta", folder / "db.glsw"
            for result in aligner.search(*files, top=TOP, evalue=None):
                FORMATS["tsv"].write(result, stream)
            return stream.getvalue()

        def check(text: str) -> Check:
            self._expected = self._expected or text
            same = text == self._expected
            return Check("one device", 1, int(not same), None if same else "other bytes")

        facts = lambda: {"shaders": {"*": digest("*")}}  # noqa: E731
        return Run(search, check, self.cells(self.everything), facts=facts, close=aligner.close)
