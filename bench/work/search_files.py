"""Whole search commands on the files of a database, ours and others; several devices."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np

from bench import rivals
from bench.measure import Check, Measurement, Spread, both
from bench.work.base import (
    Run,
    Told,
)
from bench.work.search_base import BLOSUM, Database
from glsw.align import Aligner
from glsw.output import FORMATS

ROOT = Path(__file__).parents[2]
TOP = 10


class Files:
    """The queries and targets of a database as files, and commands that read them."""

    def __init__(self, base: Database) -> None:
        self.base = base
        self._expected: str | None = None

    @cached_property
    def folder(self) -> Path:
        folder = self.base.setup.folder
        self.base.drop()
        rivals.write_fasta(folder / "q.fasta", "query", self.base.queries)
        rivals.write_fasta(folder / "db.fasta", "target", self.base.targets)
        start = time.perf_counter()
        words = ("makedb", folder / "db.fasta", folder / "db.glsw", "--force", "--no-progress")
        glsw_command(*words)
        self.indexing = time.perf_counter() - start
        return folder

    def ours(self, seconds: float) -> Told:
        folder = self.folder
        words: list[Any] = ["search", folder / "q.fasta", folder / "db.glsw", "--format", "tsv"]
        words += ["--top", TOP, "--engine", "lanes", "--no-progress"]
        words += ["--device", self.base.setup.device.info.index]
        times: list[float] = []
        check = Check("the engines", 0, 0)
        while len(times) < 4 and sum(times) < max(seconds, 0.1):
            start = time.perf_counter()
            text = glsw_command(*words)
            times.append(time.perf_counter() - start)
            check = self._check(text)
            if not check.passed:
                break
        wall = Spread.of(times[1:] or times) if check.passed else None
        everything = range(len(self.base.lengths))
        measured = Measurement(check, self.base.cells(everything), wall)
        facts = {"setup": self.indexing, "note": "alignments and E-values of ten hits each"}
        return Told(measured, facts)

    def _check(self, text: str) -> Check:
        found: dict[str, list[int]] = {}
        for row in csv.DictReader(io.StringIO(text), dialect=csv.excel_tab, quoting=csv.QUOTE_NONE):
            if row.get("hsp", "1") == "1":  # a hit may have more alignments
                found.setdefault(row["query"], []).append(int(row["score"]))
        wrong, compared, first = 0, 0, None
        for q in range(len(self.base.lengths)):
            scores = self.base.judge(q).scores
            if scores is not None:
                best = [int(s) for s in np.sort(scores)[::-1][:TOP] if s > 0]
                mine = found.get(f"query{q}", [])
                compared, wrong = compared + 1, wrong + (mine != best)
                if mine != best:
                    first = first or f"query {q}: {mine}, expected {best}"
        return Check("the engines", compared, wrong, first)

    def cudasw4(self, kind: str, seconds: float) -> Told:
        program, times = self.base.cudasw4, list[float]()
        for _ in range(4):
            times.append(program.command(kind)[0])
        scores = program.scores()
        checks = [
            program.check(q, scores.get(q, []), found)
            for q in range(len(self.base.lengths))
            if (found := self.base.judge(q).scores) is not None
        ]
        if not checks:
            raise ValueError("not judged: no engine has the scores of all targets")
        check = reduce(both, checks)
        wall = Spread.of(times[1:]) if check.passed else None
        measured = Measurement(check, self.base.cells(range(len(self.base.lengths))), wall)
        return Told(measured, {"setup": program.indexing, "note": "scores only"})

    def on_devices(self, devices: Sequence[int], seconds: float) -> Run:
        """Return the search on some devices; the output of all of them is the same."""
        folder = self.folder
        one: Any = devices[0] if len(devices) == 1 else list(devices)
        aligner = Aligner(BLOSUM, engine="lanes", device=one)

        def run() -> str:
            stream = io.StringIO()
            for result in aligner.search(folder / "q.fasta", folder / "db.glsw", top=TOP):
                FORMATS["tsv"].write(result, stream)
            return stream.getvalue()

        def check(text: str) -> Check:
            self._expected = self._expected or text
            same = text == self._expected
            return Check("one device", 1, int(not same), None if same else "other bytes")

        cells = self.base.cells(range(len(self.base.lengths)))
        return Run(run, check, cells, close=aligner.close)


def glsw_command(*words: object) -> str:
    """Run a glsw command of this checkout; raise RuntimeError if it fails."""
    command = [sys.executable, "-m", "glsw", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return done.stdout


def environment() -> dict[str, str]:
    """Return the variables with which Python finds the glsw of this checkout."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}
