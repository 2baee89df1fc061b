"""The option ``--shard`` of ``glsw search``, and what ``glsw merge`` reads of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glsw.cli.command import Group, option
from glsw.cli.messages import progress_bar, say
from glsw.cli.pairs import aligner_for
from glsw.cli.search import Search

if TYPE_CHECKING:
    from concurrent.futures import Executor

_FILES = "query", "target", "matrix", "second_track", "second_matrix"
"""The options that may name files."""


def _shard(text: str) -> tuple[int, int]:
    """Return the number of a shard, from 1 on, and how many there are."""
    words = text.split("/")
    if len(words) != 2 or not all(each.isascii() and each.isdecimal() for each in words):
        raise argparse.ArgumentTypeError(f"{text!r}: two numbers such as 3/16 expected")
    number, shards = map(int, words)
    if not 1 <= number <= shards:
        raise argparse.ArgumentTypeError(f"{text}: a number from 1 to {shards} expected")
    return number, shards


class Options(Group):
    """The option ``--shard``."""

    shard: tuple[int, int] | None = option(
        "K/N: search only part K of N, from 1 to N, and write its hits to a file in the folder "
        "--output; glsw merge combines all parts",
        type=_shard,
    )

    def apply(self, command: Search) -> None:
        """Scan a shard instead of the whole database."""
        if self.shard:
            command.instead = partial(scan, command, *self.shard)


def scan(search: Search, number: int, count: int) -> None:
    """Scan a shard, and write its file into the folder of the output."""
    search.check()
    if search.output.summary:
        raise ValueError("--shard and --summary cannot be combined: glsw merge has --summary")
    folder = search.output.output
    if folder == "-":
        raise ValueError("--shard is for --output DIR, a folder")
    if Path(folder).exists() and not Path(folder).is_dir():
        raise ValueError(f"--output {folder}: it is not a folder, which --shard requires")
    if "-" in (search.query, search.target):
        raise ValueError("standard input ('-') cannot be read again by other shards")
    with search.running.workers(search.target) as executor:
        _scan(search, number, count, executor)


def _scan(search: Search, number: int, count: int, executor: Executor | None) -> None:
    from glsw.wings.shards.verbs import path_of, scan_shard

    folder, given = search.output.output, search.read_inputs()
    with (
        aligner_for(search, given.scoring) as aligner,
        progress_bar(search.running.no_progress, 0) as bar,
    ):
        done = scan_shard(
            search.prepare(aligner, given),
            number,
            count,
            folder,
            resume=bool(search.output.resume),
            notes={"words": search.words, "folder": str(Path.cwd())},
            progress=bar.update,
            expect=bar.expect,
            executor=executor,
        )
    if done.was_complete:
        say(f"{path_of(folder, number, count)} is complete")
    else:
        ran = f"engine {done.engine} on {done.device}"
        say(f"{done.path}: {done.cells} cells in {done.seconds:.2f} s, {ran}{given.note}")


def words_of(notes: Mapping[str, Any]) -> list[str]:
    """Return the words of the command line that began a folder of shards.

    Raises
    ------
    ValueError
        If no command line did.
    """
    words = notes.get("words")
    if (
        not isinstance(words, list)
        or words[:1] != ["search"]
        or {"-h", "--help"} & {*map(str, words)}
    ):
        raise ValueError(
            "no glsw search made these shards: merge them with glsw.wings.shards.verbs"
        )
    return [str(word) for word in words]


def files_of(search: Search) -> list[str]:
    """Return the files that a search reads."""
    words = (getattr(part, name) for part, name in _named(search))
    return [word for word in words if word and os.path.exists(word)]


def find_files(search: Search, notes: Mapping[str, Any]) -> None:
    """Let the files of a search be found from another folder."""
    folder = str(notes.get("folder", ""))
    for part, name in _named(search):
        path = getattr(part, name)
        if path and os.path.exists(os.path.join(folder, path)):
            setattr(part, name, os.path.relpath(os.path.join(folder, path)))


def _named(search: Search) -> Iterator[tuple[Group, str]]:
    """Yield the options that may name files: their groups and names."""
    return ((part, each.name) for part, each in search.options() if each.name in _FILES)


def as_one_process(words: Sequence[str], output: str, form: str | None) -> list[str]:
    """Return the command line of one process that writes what a merge writes.

    >>> words = "search q db --shard 3/16 --cluster mpi --output dir --format sam".split()
    >>> " ".join(as_one_process(words, "-", None))
    'search q db --format sam'
    >>> " ".join(as_one_process(words, "hits", "blast-tab"))
    'search q db --output hits --format blast-tab'
    """
    wanted = {"--shard": None, "--cluster": None, "--output": None if output == "-" else output}
    if form is not None:
        others = "--link", "--alignments", "--read-group"
        wanted |= {"--format": form, **dict.fromkeys(others)}
    made = list(_replaced(words, wanted))
    return made if form is None or "--format" in made else [*made, "--format", form]


def _replaced(words: Sequence[str], wanted: Mapping[str, str | None]) -> Iterator[str]:
    """Yield words with other values of some options, or without an option where that is None."""
    rest = iter(words)
    for word in rest:
        option, equals, _ = word.partition("=")
        if option not in wanted:
            yield word
            continue
        if not equals:
            next(rest, None)
        if (value := wanted[option]) is not None:
            yield from [option, value]
