"""The suite: many benchmarks one after the other within a time, in one document.

The document is written after every step. The same command goes on with it after an interruption.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import machine, options, plan, schema, speeds
from bench.document import Results
from bench.interrupts import LateError, captured, deadline, interrupts
from bench.plan import KNOWN, NAMES, Budget, LeftOutError, Step
from glsw.device.device import Device, open_device

QUICK, QUICK_SOFTWARE, FULL = 180.0, 270.0, 1500.0
"""Seconds of the suites; the second leaves half a minute of five for what takes too long."""

LEAST = 0.5
"""Seconds below which no step begins."""

OVERTIME, GRACE = 2.5, 8.0
"""A step is stopped after this multiple of its share and a grace in seconds."""

LATE = 1.06
"""The last step is stopped when the suite took this multiple of the budget."""

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suite.

    Returns
    -------
    int
        0, 1 if a result was wrong, 2 if a step failed or the input cannot be used, 130 if it was
        interrupted.
    """
    begin = time.perf_counter()
    try:
        return options.run(_parser(), partial(_run, begin), argv)
    except KeyboardInterrupt:
        _say("interrupted before the first step")
        return INTERRUPTED


def _run(begin: float, arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, quiet=True)
    settings = _settings(arguments, device)
    todo = plan.steps(settings["names"], full=arguments.full, devices=settings["devices"])
    path = arguments.output = arguments.output or Path(
        f"bench-{machine.slug(device.info.name)}.json"
    )
    results = Results("suite", device, settings, arguments)
    if not (arguments.fresh or arguments.list):
        results += _kept(path, results.document())
    done = len(results)
    suite = Suite(device, settings, todo, results, begin, arguments.verbose)
    if arguments.list:
        suite.show()
        return 0
    if done == len(todo):
        _say(f"{path} is finished; --fresh measures again")
        return suite.status()

    _say(
        f"{settings['suite']} suite on {device.info.name}: {len(todo)} steps in about "
        f"{_clock(settings['budget'])}, to {path}" + (f"; {done} are there already" if done else "")
    )
    try:
        suite.run()
    except KeyboardInterrupt:
        _say(
            f"interrupted after {len(suite.results)} of {len(todo)} steps; the same command goes on"
        )
        return INTERRUPTED
    suite.summary()
    _say(f"the document is {path}")
    _validate(json.loads(path.read_text(encoding="utf-8")))
    return suite.status()


def _validate(document: Any) -> None:
    """Raise ValueError if a document is not valid; say so if that cannot be told."""
    try:
        schema.validate(document)
    except ModuleNotFoundError as error:
        _say(f"the document is not validated: {error.name} is missing; install glsw[bench]")


def _settings(arguments: argparse.Namespace, device: Device) -> dict[str, Any]:
    """Return what tells one suite from another."""
    short = QUICK_SOFTWARE if device.info.software else QUICK
    names = [name for name in NAMES if not arguments.names or name in arguments.names]
    return {
        "suite": "full" if arguments.full else "quick",
        "names": names,
        "engines": arguments.engines,
        "budget": arguments.budget or (FULL if arguments.full else short),
        "devices": arguments.devices,
    }


_SAME = ("renderer", "driver", "gl")


def _kept(path: Path, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps that a file has already.

    Raises
    ------
    ValueError
        It is of another commit, device or suite, or no document of a suite.
    """
    if not path.exists():
        return []
    advice = "--fresh begins anew, --output names another file"
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
        _validate(old)
    except ValueError as error:
        raise ValueError(f"{path}: {error}; {advice}") from None
    if old.get("benchmark") != "suite":
        raise ValueError(f"{path} is no document of a suite; {advice}")
    for what, one, other in _differences(old, document):
        if one != other:
            raise ValueError(f"{path} is of {what} {_text(one)}, this is {_text(other)}; {advice}")
    kept: list[dict[str, Any]] = old["results"]
    return kept


def _differences(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Yield what has to be the same, in the old document and in the new one."""
    yield "commit", old["commit"], new["commit"]
    yield "a checkout with changes:", old["dirty"], new["dirty"]
    for key in _SAME:
        yield f"another device, {key}", (old["device"] or {}).get(key), new["device"][key]
    for key, value in new["settings"].items():
        yield f"another suite, {key}", old["settings"].get(key), value


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


@dataclass
class Suite:
    """The steps of a suite and what came out.

    Attributes
    ----------
    results : Results
        One for each step that is done or left out.
    begin : float
        When it began, by `time.perf_counter`.
    """

    device: Device
    settings: Mapping[str, Any]
    todo: Sequence[Step]
    results: Results
    begin: float
    verbose: bool = False
    _speeds: dict[str, float] = field(default_factory=dict)
    _before: float = 0.0
    _used: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._before = sum(result["seconds"] for result in self.results)

    @property
    def gone(self) -> float:
        """Seconds so far, those of an interrupted run included."""
        return self._before + time.perf_counter() - self.begin

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return float(self.settings["budget"]) - self.gone

    def run(self) -> None:
        """Do what is not done yet; write the document after every step."""
        done = {result["step"] for result in self.results}
        waiting = [step for step in self.todo if step.name not in done]
        with interrupts() as ctrl_c, tempfile.TemporaryDirectory() as folder:
            self._speeds = speeds.speeds(self.device)
            while waiting:
                result = self._step(waiting[0], waiting, Path(folder, "step.json"))
                ctrl_c.check()
                ctrl_c.later = True
                waiting.pop(0)
                self.results.keep(result)
                ctrl_c.later = False
                ctrl_c.check()

    def _step(self, step: Step, waiting: Sequence[Step], output: Path) -> dict[str, Any]:
        """Do a step, or say why not."""
        share = self._share(step, waiting)
        found, why = self._arguments(step, share)
        number = f"step {len(self.results) + 1} of {len(self.todo)}: {step.name}"
        if why is not None:
            _say(f"{number}: left out, {why}")
            return _result(step, found, left_out=why)
        rest = _clock(self._estimate(waiting))
        _say(f"{number}, about {_clock(share)}; {_clock(self.gone)} gone, about {rest} to go")
        limit = min(OVERTIME * share + GRACE, float(self.settings["budget"]) * LATE - self.gone)
        start = time.perf_counter()
        result = self._main(step, found, output, max(1.0, limit))
        result["seconds"] = round(time.perf_counter() - start, 3)
        self._used.append((share, result["seconds"]))
        if result["status"]:
            _say(f"{step.name}: {_STATUS[result['status']]}: {result['message']}")
        return result

    def _share(self, step: Step, waiting: Sequence[Step]) -> float:
        """Return the seconds that a step should take."""
        rivals = [each for each in waiting if not self._refused(each)]
        weights = sum(each.weight for each in rivals) or 1.0
        return max(0.0, self.left) * step.weight / weights

    def _estimate(self, waiting: Sequence[Step]) -> float:
        """Return about how many seconds the remaining steps take."""
        shared = sum(share for share, _ in self._used)
        used = sum(seconds for _, seconds in self._used)
        return max(0.0, self.left) * (min(1.0, used / shared) if shared else 1.0)

    def _refused(self, step: Step) -> str | None:
        return step.refused(self.device.info, self.settings["engines"])

    def _arguments(self, step: Step, share: float) -> tuple[list[str], str | None]:
        """Return the command line of a step, or why it has none."""
        if why := self._refused(step):
            return [], why
        if self.left < LEAST:
            return [], f"the {self.settings['budget']:g} s are used up"
        asked = self.settings["engines"]
        budget = Budget(
            share,
            self._speeds,
            self.device.info,
            step.wanted(asked),
            chosen=asked is not None,
            full=self.settings["suite"] == "full",
            devices=self.settings["devices"],
        )
        try:
            return step.arguments(budget), None
        except LeftOutError as reason:
            return [], str(reason)

    def _main(self, step: Step, arguments: list[str], output: Path, limit: float) -> dict[str, Any]:
        """Run a benchmark; take over what it wrote."""
        result = _result(step, arguments)
        output.unlink(missing_ok=True)
        words = [*arguments, "--device", str(self.device.info.index), "--output", str(output)]
        told = io.StringIO()
        out = None if self.verbose else io.StringIO()
        try:
            with deadline(limit), captured(out, told, self.verbose):
                result["status"] = import_module(f"bench.{step.benchmark}").main(words)
        except LateError:
            result["left_out"] = f"the rest was stopped after {limit:.0f} s"
        except SystemExit as error:
            result["status"] = 2 if error.code else 0
        except Exception as error:
            result["status"] = 2
            text = str(error).strip().splitlines() or ["no message"]
            told.write(f"\n{type(error).__name__}: {text[0]}\n")
        if result["status"]:
            result["message"] = schema.impersonal(_last_line(told.getvalue()))
        if output.exists():
            found = json.loads(output.read_text(encoding="utf-8"))
            result["settings"], result["results"] = found["settings"], found["results"]
        gc.collect()  # engines and their buffers
        self.device.activate()
        return result

    def show(self) -> None:
        """Print the command lines that a run would have if each step took its share."""
        self._speeds = speeds.speeds(self.device)
        for step in self.todo:
            words, why = self._arguments(step, self._share(step, self.todo))
            text = shlex.join(["python", "-m", f"bench.{step.benchmark}", *words])
            print(f"{step.name}: left out, {why}" if why else text)

    def summary(self) -> None:
        """Print a line per step, and what was wrong."""
        width = max(len(step.name) for step in self.todo)
        print(f"{'step':<{width}}{'seconds':>9}  status")
        for result in self.results:
            words = _STATUS[result["status"]]
            if result["left_out"]:
                words = f"left out: {result['left_out']}"
            print(f"{result['step']:<{width}}{result['seconds']:>9.1f}  {words}")
        for result in self.results:
            if result["status"]:
                print(f"{result['step']}: {result['message']}", file=sys.stderr)
        sys.stdout.flush()

    def status(self) -> int:
        """Return 1 if a result was wrong, 2 if a step failed, else 0."""
        found = {result["status"] for result in self.results}
        return 1 if 1 in found else 2 if 2 in found else 0


_STATUS = {0: "right", 1: "WRONG", 2: "failed"}


def _result(step: Step, arguments: list[str], *, left_out: str | None = None) -> dict[str, Any]:
    return {
        "step": step.name,
        "benchmark": step.benchmark,
        "arguments": arguments,
        "seconds": 0.0,
        "status": 0,
        "message": None,
        "left_out": left_out,
        "settings": {},
        "results": [],
    }


def _last_line(text: str) -> str:
    """Return the first line that says what is wrong, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    wrong = [line for line in lines if line.startswith("WRONG")]
    return wrong[0] if wrong else lines[-1]


def _clock(seconds: float) -> str:
    """Return seconds for a person.

    >>> _clock(7.4), _clock(187)
    ('7 s', '3 min 7 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = options.parser(
        "run",
        "Measure every paper's benchmark on a device, in minutes; the same command goes on after "
        "an interruption. The document is bench-DEVICE.json in this folder by default.",
    )
    parser.prog = "python -m bench run"
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        type=options.one_of(NAMES),
        help=f"of {' '.join(NAMES)} (default all)",
    )
    parser.add_argument(
        "--full", action="store_true", help=f"all sizes of the papers, {FULL / 60:g} minutes"
    )
    parser.add_argument(
        "--budget",
        type=options.positive,
        metavar="SECONDS",
        help=f"default {QUICK:g}, on software {QUICK_SOFTWARE:g}, full {FULL:g}",
    )
    parser.add_argument(
        "--engines", type=options.choices(KNOWN), metavar="NAME,...", help="these only"
    )
    parser.add_devices("compare the first of these with all of them as well")
    parser.add_argument("--fresh", action="store_true", help="begin anew, whatever is in the file")
    parser.add_argument("--list", action="store_true", help="show the command lines, do not run")
    parser.add_argument("--verbose", action="store_true", help="show what the benchmarks print")
    return parser
