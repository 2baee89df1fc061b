"""The command ``glsw merge``: combines the shards of a search into its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from glsw import cli
from glsw.alignment.hits import SearchResult
from glsw.cli.command import Command, Group, argument, group, option
from glsw.cli.messages import Bar, progress_bar
from glsw.cli.options import Output, Running
from glsw.cli.outputs import destination, write
from glsw.cli.pairs import aligner_for
from glsw.cli.search import Search
from glsw.cli.summary import check_files, counted, summary_of
from glsw.cli.words import SUMMARY, format_in
from glsw.output import FORMATS, Format
from glsw.wings.shards import options as shards
from glsw.wings.shards.verbs import description, merge


class _Files(Group, title="files"):
    about = "Their contents must be unchanged."
    query: str | None = option("FILE: the query file, if it has moved", type=str)
    target: str | None = option("DB: the database, if it has moved", type=str)


class _Output(Output):
    format: Format | None = option(
        "NAME: a format of glsw search (the format of the shards)",
        type=partial(format_in, formats=FORMATS),
    )
    summary: str | None = option(SUMMARY, type=str)


class Merge(Command):
    """Combine the shards of a search."""

    examples = (
        "glsw merge run",
        "glsw merge run --format blast-tab --output hits.tsv --summary hits.json",
    )
    folder: str = argument("DIR: the --output folder of glsw search --shard")
    files: _Files = group(_Files)
    running: Running = group(Running)
    output: _Output = group(_Output)

    def run(self) -> None:
        """Write the results, which are those of one process."""
        found, output = description(self.folder), self.output
        words = shards.words_of(found.notes)
        form = output.format and output.format.name
        one_process = shards.as_one_process(words, "-", form)
        search = cli.parsed([*one_process, "--engine", str(self.running.engine)])
        assert isinstance(search, Search)
        search.output.output = output.output
        search.output.complete()
        shards.find_files(search, found.notes)
        search.query = self.files.query or search.query
        search.target = self.files.target or search.target
        search.running.device = self.running.device
        search.running.memory = self.running.memory
        paths = search.query, search.target
        check_files(output.output, output.summary, *paths)
        to = destination(self, output.output)
        command = shards.as_one_process(words, output.output, form)
        search.checked = False
        with self._contents_unsaid(search):
            given = search.read_inputs()
        with (
            aligner_for(search, given.scoring) as aligner,
            progress_bar(self.running.no_progress, len(given.queries), "query") as bar,
            summary_of(
                self, output.summary, aligner, given.queries, given.targets, paths=paths
            ) as summary,
        ):
            with self._contents_unsaid(search):
                prepared = search.prepare(aligner, given)
            results = _shown(merge(prepared, self.folder), bar)
            write(
                *(counted(summary, results), search.output.format, to, bar, given.targets),
                note=given.note,
                command=command,
                reason=partial(search.no_second_place, given.scoring),
            )

    @contextmanager
    def _contents_unsaid(self, search: Search) -> Iterator[None]:
        """Replace errors that quote a file, unless it was named: a stranger may be the author."""
        try:
            yield
        except ValueError:
            named = shards.files_of(search)
            if {*named} <= {self.files.query, self.files.target}:
                raise
            raise ValueError(
                f"{self.folder} was not made from {', '.join(named)}: --query and --target name "
                "others"
            ) from None


def _shown(results: Iterable[SearchResult], bar: Bar) -> Iterable[SearchResult]:
    for result in results:
        bar.update(1)
        yield result
