"""``bench run``: the command line that measures a device, and the class of sizes that suits it."""

import argparse
import platform
import re
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bench import Parser, at_least, machine, rivals, table
from bench.generated import dna
from bench.measure import second_run
from bench.row import LICENCE, SCHEMA, File, state
from bench.runner import Runner, say
from bench.work import WORKLOADS
from bench.work.base import SIZES, Setup
from glsw import Batch, Scoring
from glsw.device.device import Device, SoftwareRendererWarning, open_device
from glsw.engines import ENGINES, Auto
from glsw.wings.three.engines import ENGINES3
from glsw.words import numbered

SECONDS = {"hardware": 130.0, "software": 270.0, "full": 1500.0}  # of a suite, by default
INTERRUPTED = 130  # the exit status
RATES = ((1e7, "small"), (5e9, "medium"), (1e11, "large"))
"""Cells per second of `auto` with pairs, from which on a class of sizes is used."""


def size_for(device: Device) -> str:
    """Return the class of sizes for a device, from the rate of engine `auto` with a few pairs."""
    found, scoring = "tiny", Scoring.match_mismatch(1, -1, 2, 2)
    for count, length in ((16, 128), (256, 512), (4096, 512)):
        batch = Batch.pairwise(*(dna([length] * count, seed) for seed in (1, 2)))
        rate = batch.cells / second_run(partial(Auto(scoring, device).ends, batch))
        sizes = [size for least, size in RATES if rate >= least]
        if not sizes:
            return found
        found = max(found, sizes[-1], key=SIZES.index)
        if device.info.software:
            return min(found, "small", key=SIZES.index)
    return found


def header(device: Device, size: str) -> dict[str, Any]:
    """Return the first line of a file."""
    info = device.info
    facts = {
        "renderer": info.name,
        "vendor": info.vendor,
        "gl": ".".join(map(str, info.version)),
        "driver": info.version_string.partition(" ")[2],
        **{name: getattr(info, name) for name in ("software", "compute", "subgroup_size", "half")},
        "limits": dict(info.limits),
        "extensions": sorted(device.ctx.extensions),
        "cards": None if info.software else machine.cards(),
    }
    return {
        "schema": SCHEMA,
        "licence": LICENCE,
        "device": facts,
        "cpu": machine.cpu_model(),
        "cores": machine.cores(),
        "os": f"{platform.system()} {platform.machine()}",
        "versions": machine.versions(),
        "size": size,
    }


def common(header: Mapping[str, Any], commit: str | None) -> dict[str, Any]:
    """Return the fields that all rows of a run have."""
    return {
        "device": header["device"]["renderer"],
        "driver": header["device"]["driver"],
        "cpu": f"{header['cpu']}, {header['cores']} cores",
        "commit": commit or machine.git("rev-parse", "HEAD"),
        "dirty": machine.dirty(commit),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _competitor(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if name.lower() not in rivals.WORDS or not path:
        words = ", ".join(rivals.WORDS)
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=PATH is expected, of {words}")
    return rivals.WORDS[name.lower()], path


def _known(known: Iterable[str], text: str) -> list[str]:
    for word in text.split(","):
        if word not in known:
            raise argparse.ArgumentTypeError(f"{word!r}: {', '.join(known)} are known")
    return text.split(",")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def _indices(text: str) -> list[int]:
    if not all(word.isdigit() for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r}: numbers with commas between are expected")
    return [int(word) for word in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    about = "Measure a device, row by row; the same command goes on after an interruption."
    parser = Parser(" run", about)
    add = parser.add_argument
    known = partial(_known, WORKLOADS)
    add("names", nargs="*", type=known, metavar="WORKLOAD", help="default: a suite")
    device = add("--device", help="index, or part of the name")
    device.type = lambda text: int(text) if text.isdigit() else text
    add("--output", type=Path, metavar="FILE", help="default: bench-DEVICE.ndjson")
    add("--size", choices=SIZES, help="default: by the speed of the device")
    add("--only", type=_pattern, metavar="REGEX", help="rows whose names, sizes or options have it")
    positive = at_least(float, 1e-9, "a number above 0")
    add("--budget", type=positive, metavar="SECONDS", help="for all")
    count = at_least(int, 1, "a number from 1")
    add("--passes", type=count, default=2, metavar="N", help="default 2")
    engines = partial(_known, dict.fromkeys((*ENGINES, *ENGINES3, "gpui")))
    add("--engines", type=engines, metavar="NAME,...")
    about = f"where another program is that is not on PATH: {', '.join(rivals.WORDS)}"
    competitor = add("--competitor", action="append", default=[], metavar="NAME=PATH", help=about)
    competitor.type = _competitor
    add("--data", type=Path, metavar="FOLDER", help="of real sequences")
    several = "compare the first of these with all of them"
    add("--devices", type=_indices, default=[], metavar="N,N,...", help=several)
    add("--fresh", action="store_true", help="begin a new file")
    add("--commit", help="commit of a copy without git history")
    add("--list", action="store_true", help="show the workloads")
    return parser


def main(argv: Sequence[str]) -> int:
    """Measure; return 0, 1 if a result was wrong, 130 for Ctrl-C."""
    arguments = _parser().parse_args(argv)
    warnings.simplefilter("ignore", SoftwareRendererWarning)
    if arguments.list:
        for name, kind in WORKLOADS.items():
            asked = "" if kind.weight else " (only if it is asked for)"
            print(f"{name:<18}{kind.described()}{asked}")
        return 0
    if arguments.data and not arguments.data.is_dir():
        raise ValueError(f"--data {arguments.data}: there is no such folder")
    found = rivals.find(dict(arguments.competitor))
    device = open_device(arguments.device, quiet=True)
    path = arguments.output or Path(f"bench-{machine.slug(device.info.name)}.ndjson")
    old = File.read(path) if path.exists() and not arguments.fresh else None
    size = arguments.size or (old.header["size"] if old else size_for(device))
    names = [*chain(*arguments.names)] or [name for name in WORKLOADS if WORKLOADS[name].weight]
    default = SECONDS["software" if device.info.software else "hardware"]
    seconds = arguments.budget or (SECONDS["full"] if size == "full" else default)
    if old and (there := old.header["device"]) and there["renderer"] != device.info.name:
        raise ValueError(f"{path} is of another device; --output names another file")
    file = File(path, header(device, size), old.rows if old else {})
    file.write()
    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        others = arguments.engines, found, arguments.data, arguments.devices
        setup = Setup(device, size, *others, machine.cores(), Path(folder))
        fields = common(file.header, arguments.commit)
        runner = Runner(setup, file, fields, machine.meter_for(device), arguments.only)
        say(f"{device.info.name}, sizes {size}, to {path}")
        if absent := [name for name in rivals.NAMES if name not in found]:
            say(f"not found: {', '.join(absent)} (--competitor NAME=PATH)")
        try:
            runner.run([WORKLOADS[name](setup) for name in names], seconds, arguments.passes)
        except KeyboardInterrupt:
            say(f"interrupted; the same command goes on with {path}")
            return INTERRUPTED
    file.write()
    chosen = [row for row in file.rows.values() if row["workload"] in names]
    wrong = [row for row in chosen if state(row) == "wrong"]
    for row in wrong:
        first = f"; {row['first']}" if row.get("first") else ""
        say(f"WRONG: {table.title(row)}: {row['wrong']} of {row['judged']}{first}")
    measured, rows = numbered(runner.measured, "measurement"), numbered(len(file.rows), "row")
    say(f"{measured}, {rows} in {path}")
    return int(bool(wrong))
