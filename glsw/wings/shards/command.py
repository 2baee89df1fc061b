"""The command ``glsw merge``: the results of a search whose shards are there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from glsw import cli
from glsw.alignment.hits import SearchResult
from glsw.cli import search
from glsw.cli.messages import Bar, progress_bar
from glsw.cli.options import add_output, add_running
from glsw.cli.outputs import check_output, destination, no_second_place, write
from glsw.cli.pairs import aligner_for, read_inputs
from glsw.cli.summary import SUMMARY, check_summary, counted, summary_of
from glsw.cli.words import add_rows, format_in
from glsw.output import FORMATS
from glsw.wings.shards import options as shards
from glsw.wings.shards.verbs import description, merge

_ARGUMENTS = {
    ("folder", None, None, "DIR"): "the --output folder of glsw search --shard",
}
_FILES = {
    ("--query", None, None, "FILE"): "the query file, if it has moved",
    ("--target", None, None, "DB"): "the database, if it has moved",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)
    files = parser.add_argument_group("files", "Their contents must be unchanged.")
    add_rows(files, _FILES)
    add_running(parser)
    output = add_output(
        parser,
        {"the format of the shards": None},
        "a format of glsw search",
        partial(format_in, formats=FORMATS),
    )
    add_rows(output, SUMMARY)
    parser.set_defaults(format=None)


def run(arguments: argparse.Namespace) -> None:
    """Write the results, which are those of one process."""
    found = description(arguments.folder)
    words = shards.words_of(found.notes)
    form = arguments.format and arguments.format.name
    one_process = shards.as_one_process(words, "-", form)
    of_search = cli.parsed([*one_process, "--engine", arguments.engine])
    of_search.output = arguments.output
    search.choose_format(of_search)
    shards.find_files(of_search, found.notes)
    for name in ("query", "target"):
        if moved := getattr(arguments, name):
            setattr(of_search, name, moved)
    for name in ("device", "memory", "no_progress"):
        setattr(of_search, name, getattr(arguments, name))
    paths = of_search.query, of_search.target
    check_output(arguments.output, *paths)
    check_summary(arguments, *paths)
    to = destination(arguments)
    command = shards.as_one_process(words, arguments.output, form)
    with _contents_unsaid(arguments, of_search):
        given = read_inputs(of_search, search.preparation, check=False)
    with (
        aligner_for(of_search, given.scoring) as aligner,
        progress_bar(arguments, len(given.queries), "query") as bar,
        summary_of(arguments, aligner, given.queries, given.targets, paths=paths) as summary,
    ):
        with _contents_unsaid(arguments, of_search):
            prepared = search.prepare(aligner, given, of_search)
        results = _shown(merge(prepared, arguments.folder), bar)
        results = counted(summary, results)
        write(
            *(results, of_search.format, to, bar, given.targets),
            note=given.note,
            command=command,
            reason=no_second_place(of_search, given.scoring),
        )


@contextmanager
def _contents_unsaid(
    arguments: argparse.Namespace, of_search: argparse.Namespace
) -> Iterator[None]:
    """Replace errors that quote a file, unless the user named it: a stranger may be the author."""
    try:
        yield
    except ValueError:
        named = shards.files_of(of_search)
        if {*named} <= {arguments.query, arguments.target}:
            raise
        raise ValueError(
            f"{arguments.folder} was not made from {', '.join(named)}: --query and --target name "
            "others"
        ) from None


def _shown(results: Iterable[SearchResult], bar: Bar) -> Iterable[SearchResult]:
    for result in results:
        bar.update(1)
        yield result
