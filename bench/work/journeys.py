"""Whole command lines as users run them, beside other programs (see bench/README.md)."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import glsw
from bench import rivals
from bench.machine import environment
from bench.measure import Check, Measurement, Spread
from bench.rivals import version_of
from bench.row import impersonal
from bench.work.base import Case, Told, Workload
from bench.work.journey_inputs import JOURNEYS, PROGRAMS, Hit, Inputs, command_line, hits
from bench.work.parts import rival_cases

SIGNIFICANT = 1e-3
"""E-value up to which hits count in `recall`; programs report others as they like."""

LIMIT, REPEATS = 300.0, 3
"""Seconds after which a command is stopped; times that it is timed."""

_LIBRARIES = {"pyopal", "parasail"}
"""They compute the cells of a journey alone."""


class Journeys(Workload):
    """Reads, primers and genes against genomes, proteomes against databases."""

    name = "journeys"

    @cached_property
    def inputs(self) -> Inputs:
        quick = self.setup.size not in ("large", "full")
        return Inputs(self.setup.folder, self.setup.data, quick)

    def cases(self) -> Iterator[Case]:
        self._ours: dict[str, list[Hit]] = {}
        others = {name: each for name, each in PROGRAMS.items() if name in self.setup.rivals}
        libraries = {name: self.setup.rivals[name] for name in _LIBRARIES & {*self.setup.rivals}}
        for name, journey in JOURNEYS.items():
            fields: dict[str, Any] = {"options": name, "grace": 5 * LIMIT}
            start = partial(self._start, name, "glsw")
            yield Case("glsw", start, "command", version=glsw.__version__, **fields)
            for program, rival in others.items():
                if journey.query and rival.dna == journey.dna:
                    words = {"ours": False, "cores": self.setup.cores, **fields}
                    version = version_of(program, rival.version)
                    start = partial(self._start, name, program)
                    yield Case(program, start, "command", version=version, **words)
            if journey.query:
                find, cores = rivals.aligning if journey.dna else rivals.searching, self.setup.cores
                found = find(libraries, journey.scoring, cores)
                on_all_cores = [each for each in found if each[1] == cores]
                cut = partial(self.inputs.cut, journey)
                yield from rival_cases(on_all_cores, cut, {}, **fields)

    def _start(self, name: str, program: str, seconds: float) -> Told:
        """Index the target, run, check and time a command; another that fails is left out."""
        journey, ours, info = JOURNEYS[name], program == "glsw", self.device.info
        letters = self.inputs.letters(journey.query) * self.inputs.letters(journey.target)
        prepare, command = command_line(
            *(journey, program),
            cores=self.setup.cores,
            engine=(self.setup.engines or ["auto"])[0],
            device="" if info.software else f" --device {info.index}",  # as users without a GPU
        )
        output = self.setup.folder / f"out.{program}"
        facts: dict[str, Any] = {"note": command}
        generated = sorted(self.inputs.generated & {journey.query, journey.target})
        facts["note"] += f"; generated: {', '.join(generated)}" if generated else ""
        times: list[float] = []
        check = Check("exit status", 1, 0)
        try:
            facts["setup"] = self._seconds(prepare) if prepare else None
            self._seconds(command, output)
            found = list(hits(output, scores=ours))
            if not ours:
                share = _recall(self._ours.get(name, []), found)
                facts["note"] += "" if share is None else f"; recall {share:.3f}"
            elif journey.query:
                self._ours[name], check = found, self.inputs.judged(journey, found)
            lines = _lines(output)
            facts["note"] += f"; {lines} lines"
            while check.passed and len(times) < REPEATS:
                output.unlink()
                times.append(self._seconds(command, output))
                if (again := _lines(output)) != lines:
                    check = Check("the first run", 1, 1, f"{again} lines, not {lines}")
        except RuntimeError as error:
            if not ours:
                raise
            check = Check("exit status", 1, 1, str(error))
        cells = letters * journey.strands * PROGRAMS[program].exact
        wall = Spread.of(times) if check.passed else None
        return Told(Measurement(check, cells, wall), facts)

    def _seconds(self, command: str, output: Path | None = None) -> float:
        """Run a command; return its seconds, or raise RuntimeError with its last words."""
        words = shlex.split(command)
        known = {**self.setup.rivals, "python": sys.executable}
        words[0] = known.get(words[0], words[0])
        stdout = Path(os.devnull) if output is None or output.name in words else output
        pipes: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment()}
        with stdout.open("wb") as out:
            start = time.perf_counter()
            process = subprocess.Popen(
                *(words,), cwd=self.setup.folder, stdout=out, start_new_session=True, **pipes
            )
            try:
                _, errors = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"stopped after {LIMIT:g} s") from None
            finally:
                if process.poll() is None:  # with all that it started
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            seconds = time.perf_counter() - start
        if process.returncode:
            text = errors.decode(errors="replace").strip().splitlines()
            last = (text or [f"status {process.returncode}"])[-1]
            raise RuntimeError(impersonal(last.replace(str(self.setup.folder), "FOLDER")))
        return seconds


def _recall(ours: list[Hit], found: list[Hit]) -> float | None:
    """Return the part of our significant hits that are found too, None if there is none."""
    mine = [hit for hit in ours if hit.evalue is None or hit.evalue <= SIGNIFICANT]
    wanted, there = ({(_key(h.query), _key(h.target)) for h in side} for side in (mine, found))
    return len(wanted & there) / len(wanted) if wanted else None


def _key(name: str) -> str:
    """Return the accession of a name: some programs print nothing else."""
    parts = name.split("|")
    return parts[1] if len(parts) > 2 else name


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(not line.startswith((b"@", b"#")) for line in file)
