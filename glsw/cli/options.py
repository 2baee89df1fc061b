"""Groups of options that several commands have."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

from glsw.cli.words import PROGRESS, Rows, add_rows, count, devices_of, name, number, positive, size
from glsw.engines import ENGINES
from glsw.output import Format, format_of
from glsw.output.sam import sam_format
from glsw.sequences.query import STRANDS
from glsw.wings import registered

if TYPE_CHECKING:
    from concurrent.futures import Executor

STRAND: Rows = {("--strand", STRANDS): "strands of the query (both, plus of proteins)"}
READ_GROUP: Rows = {
    ("--read-group", name, None, "LINE"): (
        r"with --format sam, the read group of all records, such as '@RG\tID:run1\tSM:sample'"
    ),
}


def add_of_wings(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the options that wings have for a group of a command."""
    modules = _wings_at(parser, group)
    parser.set_defaults(wings=[*(parser.get_default("wings") or ()), *modules])
    for module in modules:
        module.add(parser, group)


def _wings_at(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> list[ModuleType]:
    place = f"{parser.prog.split()[-1]} {group.title}"
    modules: dict[str, tuple[str, ...]] = registered("OPTIONS")
    return [importlib.import_module(name) for name, places in modules.items() if place in places]


def executor_of(
    arguments: argparse.Namespace, database: str = ""
) -> AbstractContextManager[Executor | None]:
    """Return the executor that computes for a command, None if it computes itself.

    ``database`` is the path of what other processes read.
    """
    if "executor" not in arguments:
        return nullcontext()
    made: AbstractContextManager[Executor] = arguments.executor(arguments, database)
    return made


def add_several(
    parser: argparse.ArgumentParser, what: str, least: int | None = 1, note: str = "1"
) -> None:
    """Add the number of alignments, of which no two share ``what``, and their least score."""
    group = parser.add_argument_group("alignments")
    rows: Rows = {
        ("--max-alignments", count, 1, "K"): (
            f"report the K best alignments that share no {what}, 0 for all (1)"
        ),
        ("--min-score", number, least, "S"): f"report alignments with at least this score ({note})",
    }
    add_rows(group, rows)


def complete_format(arguments: argparse.Namespace) -> None:
    """Give the format what other options say of it, if they are given."""
    given = arguments.format.name
    for word, formats in (
        ("link", ("html",)),
        ("alignments", ("table", "pairwise")),
        ("read_group", ("sam",)),
    ):
        if (value := getattr(arguments, word, None)) is None:
            continue
        if given not in formats:
            option = word.replace("_", "-")
            raise ValueError(f"--{option} is for --format {' or '.join(formats)}, not {given}")
        if word == "read_group":
            sam_format(value)  # raises the error of what is no read group
        arguments.format = format_of(f"{given} {value}")


def threads(note: str = "") -> Rows:
    """Return the row of the number of threads."""
    text = f"CPU threads, for engine cpu and software OpenGL{note} (all cores)"
    return {("--threads", positive, None, "N"): text}


def add_running(
    parser: argparse.ArgumentParser,
    *,
    several: str = "",
    engine: str | None = "auto",
    engines: str = f"{', '.join(ENGINES)} (auto)",
) -> argparse._ArgumentGroup:
    """Add engine, device or devices, memory, threads, what wings have, and the progress bar.

    ``several`` is the help on several devices if there may be some, ``engines`` that on engines.
    Returns their group.
    """
    group = parser.add_argument_group("running")
    rows: Rows = {
        ("--engine", name, engine, "NAME"): engines,
        ("--device", devices_of if several else name, None, "N"): (
            "number of the device or part of its name, see glsw devices; auto: the GPU whose index "
            f"is the local rank of this process (Slurm, MPI, Dask){several}"
        ),
        ("--memory", size, None, "SIZE"): (
            "limit of device memory for parts of a database and for tables, such as 512M or 2G"
        ),
        **threads("; of each worker of a cluster" if _wings_at(parser, group) else ""),
    }
    add_rows(group, rows)
    add_of_wings(parser, group)
    add_rows(group, PROGRESS)
    return group


def add_output(
    parser: argparse.ArgumentParser,
    formats: Mapping[str, Any],
    text: str,
    kind: Callable[[str], Format] | None = None,
) -> argparse._ArgumentGroup:
    """Add the format, of which the first is the default, and the file; return their group.

    A format is one of the names, or the result of ``kind`` for a text.
    """
    group = parser.add_argument_group("output")
    first = next(iter(formats))
    format_row = (
        ("--format", tuple(formats), first) if kind is None else ("--format", kind, first, "NAME")
    )
    rows: Rows = {
        format_row: f"{text} ({first})",
        ("--output", None, "-", "FILE"): "write results to this file instead of standard output",
    }
    add_rows(group, rows)
    return group
