"""Whole command lines as users run them, compared with BLAST, ssearch36, DIAMOND and MMseqs2.

Seconds are from the start of a process to its end, the output written. Each command is run once
and judged, then timed. Programs that are not exact have no rate in cells, but ``recall``: the part
of our hits up to E-value 0.001 that they list.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import glsw
from bench.measure import Check, Measurement, Spread
from bench.row import impersonal
from bench.work.base import Case, Told, Workload
from bench.work.journey_inputs import (
    JOURNEYS,
    RIVALS,
    Hit,
    Inputs,
    command_line,
    hits,
    judged,
    records,
)
from bench.work.search_files import environment

SIGNIFICANT = 1e-3
"""E-value up to which hits count in `recall`; programs report others as they like."""

LIMIT = 300.0
"""Seconds after which a command is stopped."""


class Journeys(Workload):
    """Reads, primers and genes against genomes, proteomes against databases."""

    name, weight = "journeys", 0
    text = "whole command lines, compared with BLAST, ssearch36, DIAMOND and MMseqs2"
    repeats = 3

    @cached_property
    def inputs(self) -> Inputs:
        quick = self.setup.size not in ("large", "full")
        return Inputs(self.setup.folder, self.setup.data, quick)

    def cases(self) -> Iterator[Case]:
        self._ours: dict[str, list[Hit]] = {}
        for name, journey in JOURNEYS.items():
            for program in ("glsw", *RIVALS):
                rival = RIVALS.get(program)
                fits = rival is None or (journey.query and rival.dna == journey.dna)
                if fits and (rival is None or program in self.setup.rivals):
                    yield Case(
                        program,
                        partial(self._start, name, program),
                        task="command",
                        grace=5 * LIMIT,
                        options=name,
                        ours=rival is None,
                        cores=self.setup.cores if rival else None,
                        version=_version(program, rival.version) if rival else glsw.__version__,
                    )

    def _start(self, name: str, program: str, seconds: float) -> Told:
        """Index the target, run and check a command, time it.

        Another program that fails is left out; ours is wrong.
        """
        journey, rival = JOURNEYS[name], RIVALS.get(program)
        sizes = []
        for each in (journey.query, journey.target):
            letters = [len(record) for record in records(self.inputs.path(each))] if each else []
            sizes.append(sum(letters))
        device = "" if rival else shlex.join(["--device", str(self.device.info.index)])
        engines = self.setup.engines or ["auto"]
        prepare, command = command_line(
            journey, program, cores=self.setup.cores, engine=engines[0], device=device
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
            found = list(hits(output, scores=program == "glsw"))
            if rival:
                share = _recall(self._ours.get(name, []), found)
                facts["note"] += "" if share is None else f"; recall {share:.3f}"
            elif journey.query:
                self._ours[name], check = found, judged(journey, self.inputs, found)
            lines = _lines(output)
            facts["note"] += f"; {lines} lines"
            while check.passed and len(times) < self.repeats:
                output.unlink()
                times.append(self._seconds(command, output))
                if (again := _lines(output)) != lines:
                    check = Check("the first run", 1, 1, f"{again} lines, not {lines}")
        except RuntimeError as error:
            if rival:
                raise
            check = Check("exit status", 1, 1, str(error))
        cells = sizes[0] * sizes[1] * journey.strands
        exact = rival is None or rival.exact
        wall = Spread.of(times) if check.passed else None
        return Told(Measurement(check, cells if exact else 0, wall), facts)

    def _seconds(self, command: str, output: Path | None = None) -> float:
        words = shlex.split(command)
        if words[0] == "python":
            words[0] = sys.executable
        elif words[0] in self.setup.rivals:
            words[0] = self.setup.rivals[words[0]]
        stdout = Path(os.devnull) if output is None or output.name in words else output
        with tempfile.TemporaryFile() as errors, stdout.open("wb") as out:
            start = time.perf_counter()
            process = subprocess.Popen(
                words,
                cwd=self.setup.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
            # wait(timeout) would look only every 50 ms.
            timer = threading.Timer(LIMIT, _kill, [process])
            timer.start()
            try:
                status = process.wait()
            finally:
                timer.cancel()
                _kill(process)
            seconds = time.perf_counter() - start
            if seconds >= LIMIT:
                raise RuntimeError(f"stopped after {LIMIT:g} s")
            if status:
                errors.seek(0)
                text = errors.read().decode(errors="replace").strip().splitlines()
                last = (text or [f"status {status}"])[-1]
                raise RuntimeError(impersonal(last.replace(str(self.setup.folder), "FOLDER")))
        return seconds


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and all that it started, unless it has ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _recall(ours: list[Hit], found: list[Hit]) -> float | None:
    """Return the part of our significant hits that are found too, None if there is none."""
    mine = [hit for hit in ours if hit.evalue is None or hit.evalue <= SIGNIFICANT]
    wanted = {(_key(hit.query), _key(hit.target)) for hit in mine}
    there = {(_key(hit.query), _key(hit.target)) for hit in found}
    return len(wanted & there) / len(wanted) if wanted else None


def _key(name: str) -> str:
    """Return the accession of a name: some programs print nothing else.

    >>> _key("sp|P02232|LGB1_VICFA"), _key("read1")
    ('P02232', 'read1')
    """
    parts = name.split("|")
    return parts[1] if len(parts) > 2 else name


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(not line.startswith((b"@", b"#")) for line in file)


def _version(program: str, word: str) -> str:
    done = subprocess.run([program, word], capture_output=True, text=True)
    words = (done.stdout + done.stderr).replace("version:", " ").split()
    return next((word for word in words if word[0].isdigit()), "unknown")


WORKLOADS = (Journeys,)
