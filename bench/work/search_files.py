"""Whole search commands on the files of a database, ours and others; several devices."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from bench.commands import Cudasw4, write_fasta
from bench.measure import Check, Measurement, Spread
from bench.work.base import Case, Run, Told
from bench.work.search_base import BLOSUM, TOP, Database
from glsw.align import Aligner
from glsw.output import FORMATS

ROOT = Path(__file__).parents[2]


class Files:
    """The queries and targets of a database as files, and commands that read them."""

    def __init__(self, base: Database) -> None:
        self.base, self.setup = base, base.setup
        self._expected: str | None = None

    def cases(self) -> Iterator[Case]:
        fields = {**self.base.fields(self.base.everything), "grace": 300.0}
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
        self.base.drop()
        write_fasta(folder / "q.fasta", "query", self.base.queries)
        write_fasta(folder / "db.fasta", "target", self.base.targets)
        start = time.perf_counter()
        words = ("makedb", folder / "db.fasta", folder / "db.glsw", "--force", "--no-progress")
        glsw_command(*words)
        self.indexing = time.perf_counter() - start
        return folder

    def _ours(self, seconds: float) -> Told:
        folder = self.folder
        words: list[Any] = ["search", folder / "q.fasta", folder / "db.glsw", "--format", "tsv"]
        words += ["--top", TOP, "--engine", "lanes", "--no-progress"]
        words += ["--device", self.setup.device.info.index]

        def run() -> list[list[int]]:
            best: list[list[int]] = [[] for _ in self.base.lengths]
            text = io.StringIO(glsw_command(*words))
            for row in csv.DictReader(text, dialect=csv.excel_tab, quoting=csv.QUOTE_NONE):
                if row.get("hsp", "1") == "1":  # a hit may have more alignments
                    best[int(row["query"].removeprefix("query"))].append(int(row["score"]))
            return best

        told = self._timed(run, max(seconds, 0.1))
        note = "alignments and E-values of ten hits each"
        return Told(told, {"setup": self.indexing, "note": note})

    def _cudasw4(self, kind: str, seconds: float) -> Told:
        program = self.base.cudasw4

        def run() -> list[list[int]]:
            program.command(kind)
            return program.best_scores()

        told = self._timed(run, float("inf"))
        return Told(told, {"setup": program.indexing, "note": "scores only"})

    def _timed(self, run: Callable[[], list[list[int]]], seconds: float) -> Measurement:
        """Judge and time a command up to four times; the first one warms up."""
        times: list[float] = []
        check = Check("nobody", 0, 0)
        everything = self.base.everything
        while len(times) < 4 and sum(times) < seconds:
            start = time.perf_counter()
            best = run()
            times.append(time.perf_counter() - start)
            check = self.base.check_best(everything, best)
            if not check.passed:
                return Measurement(check, self.base.cells(everything))
        return Measurement(check, self.base.cells(everything), Spread.of(times[1:] or times))

    def _on_devices(self, devices: Sequence[int], seconds: float) -> Run:
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

        return Run(run, check, self.base.cells(self.base.everything), close=aligner.close)


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
