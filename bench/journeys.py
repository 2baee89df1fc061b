"""Whole command lines as users run them, compared with BLAST, ssearch36, DIAMOND and MMseqs2.

    python -m bench journeys --data FOLDER --output FILE.json

Seconds are from the start of a process to its end, the output written. Each command is run once
and judged, then timed. Other programs that are on PATH do the same work with the same scoring as
far as they can; those that are not exact have no GCUPS, and `recall` is the part of our hits (up
to E-value 0.001) that they list. Exit status 1 if a score is wrong.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import glsw
from bench import machine, options
from bench.document import Results
from bench.journeys_work import (
    JOURNEYS,
    RIVALS,
    Hit,
    Inputs,
    command_line,
    hits,
    judged,
    records,
)
from bench.measure import Check, Measurement, Spread, tell_wrong
from bench.schema import impersonal
from bench.search_comparisons import environment
from glsw.device.device import open_device
from glsw.engines import ENGINES

SIGNIFICANT = 1e-3
"""E-value up to which hits count in `recall`; tools report others as they like."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the journeys; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    engine = arguments.engine
    if arguments.data is not None and not arguments.data.is_dir():
        raise ValueError(f"{arguments.data} is no folder")
    needs = engine == "auto" or ENGINES[engine].capabilities.requires
    device = open_device(arguments.device, quiet=True) if needs else None
    settings = {"engine": engine, "quick": arguments.quick, "repeat": arguments.repeat}
    results = Results("journeys", device, settings | {"limit": arguments.limit}, arguments)
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        work = Work(Path(folder), arguments)
        for name in arguments.journeys:
            journey = JOURNEYS[name]
            for program in ("glsw", *arguments.rivals):
                rival = RIVALS.get(program)
                fits = rival is None or (journey.query and rival.dna == journey.dna)
                if fits and (rival is None or shutil.which(program)):
                    print(_shown(results.keep(work.row(name, program))), flush=True)
    return tell_wrong((f"{row['journey']}, {row['program']}", row["check"]) for row in results)


class FailedError(Exception):
    """A command ended with another status than 0."""


class Work:
    """Runs commands in the folder of their files."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self._folder, self._arguments = folder, arguments
        self._inputs = Inputs(folder, arguments.data, arguments.quick)
        self._ours: list[Hit] = []

    def row(self, name: str, program: str) -> dict[str, Any]:
        """Index the target, run and check a command, time it; return what came out.

        Another program that fails is left out; ours is wrong.
        """
        journey, device = JOURNEYS[name], self._arguments.device
        row = self._facts(name, program)
        prepare, command = command_line(
            journey,
            program,
            cores=machine.cores(),
            engine=self._arguments.engine,
            device="" if device is None else shlex.join(["--device", str(device)]),
        )
        row["command"] = command
        seconds: list[float] = []
        check = Check("exit status", 1, 0)
        output = self._folder / f"out.{program}"
        try:
            row["prepare"] = self._seconds(prepare) if prepare else None
            self._seconds(command, output)
            found = list(hits(output, scores=program == "glsw"))
            if program != "glsw":
                row["recall"] = _recall(self._ours, found)
            elif journey.query:
                self._ours, check = found, judged(journey, self._inputs, found)
            row["lines"] = _lines(output)
            while check.passed and len(seconds) < self._arguments.repeat:
                output.unlink()
                seconds.append(self._seconds(command, output))
                if (lines := _lines(output)) != row["lines"]:
                    check = Check("the first run", 1, 1, f"{lines} lines, not {row['lines']}")
        except FailedError as error:
            if program != "glsw":
                return row | _left_out(f"failed: {error}")
            check = Check("exit status", 1, 1, str(error))
        except subprocess.TimeoutExpired:
            return row | _left_out(f"stopped after {self._arguments.limit:g} s")
        wall = Spread.of(seconds) if check.passed else None
        row |= Measurement(check, row["cells"], wall).as_dict()
        return row if row["exact"] and row["cells"] else row | {"gcups": None}

    def _facts(self, name: str, program: str) -> dict[str, Any]:
        """Return program and sizes, and empty fields for what is measured."""
        journey, rival = JOURNEYS[name], RIVALS.get(program)
        version = _version(program, rival.version) if rival else str(glsw.__version__)
        row = {"journey": name, "text": journey.text, "program": program, "version": version}
        sizes = []
        for each in (journey.query, journey.target):
            letters = [len(record) for record in records(self._inputs.path(each))] if each else []
            sizes += [len(letters), sum(letters)]
        names = ("queries", "query_letters", "targets", "target_letters")
        generated = sorted(self._inputs.generated & {journey.query, journey.target})
        return {
            **row,
            **dict(zip(names, sizes, strict=True)),
            "exact": rival is None or rival.exact,
            "generated": generated,
            "cells": sizes[1] * sizes[3] * journey.strands,
            **dict.fromkeys(("command", "prepare", "lines", "recall", "left_out")),
        }

    def _seconds(self, command: str, output: Path | None = None) -> float:
        """Run a command; raise `FailedError`, or `subprocess.TimeoutExpired`."""
        words = shlex.split(command)
        if words[0] == "python":
            words[0] = sys.executable
        stdout = Path(os.devnull) if output is None or output.name in words else output
        with tempfile.TemporaryFile() as errors, stdout.open("wb") as out:
            start = time.perf_counter()
            process = subprocess.Popen(
                words,
                cwd=self._folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
            # wait(timeout) would look only every 50 ms.
            timer = threading.Timer(self._arguments.limit, _kill, [process])
            timer.start()
            try:
                status = process.wait()
            finally:
                timer.cancel()
                _kill(process)
            seconds = time.perf_counter() - start
            if seconds >= self._arguments.limit:
                raise subprocess.TimeoutExpired(words, self._arguments.limit)
            if status:
                errors.seek(0)
                text = errors.read().decode(errors="replace").strip().splitlines()
                last = (text or [f"status {status}"])[-1]
                raise FailedError(impersonal(last.replace(str(self._folder), "FOLDER")))
        return seconds


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and all that it started, unless it has ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _left_out(why: str) -> dict[str, Any]:
    return {**dict.fromkeys(("check", "wall", "device", "gcups")), "left_out": why}


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


def _shown(row: dict[str, Any]) -> str:
    kind = "exact" if row["exact"] else "heuristic"
    start = f"{row['text']:<28} {row['program']:<10}{kind:<10}"
    if row["left_out"] or not row["wall"]:
        return f"{start} {row['left_out'] or 'WRONG'}"
    wall = row["wall"]
    rate = f"{row['gcups']:9.2f} GCUPS" if row["gcups"] else " " * 15
    recall = "" if row["recall"] is None else f", recall {row['recall']:.3f}"
    origin = f", generated: {', '.join(row['generated'])}" if row["generated"] else ""
    return f"{start}{wall['minimum']:8.2f} s{rate} {row['lines']} lines{recall}{origin}"


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("journeys", __doc__)
    parser.prog = "python -m bench journeys"
    data = os.environ.get("GLSW_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(data) if data else None,
        metavar="FOLDER",
        help="real sequences, searched by file name (default: $GLSW_DATA, else generated ones)",
    )
    parser.add_choices("--journeys", JOURNEYS)
    parser.add_choices("--rivals", RIVALS, text=", if on PATH")
    parser.add_argument(
        "--engine",
        type=options.one_of(("auto", *ENGINES)),
        default="auto",
        metavar="NAME",
        help="of our commands (auto)",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute on two cores")
    parser.add_count("--repeat", "timed runs after the first, which is checked (default 3)", 3)
    parser.add_argument(
        "--limit",
        type=options.positive,
        default=300.0,
        metavar="SECONDS",
        help="a command is stopped after (default 300)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
