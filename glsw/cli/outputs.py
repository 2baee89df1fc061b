"""Writes results to standard output or to a file."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from glsw.alignment.hits import SearchResult, joined
from glsw.cli.command import Command
from glsw.cli.messages import Bar, gcups, say
from glsw.cli.stream import PlainStream, WritingThread
from glsw.output import Format, names_and_lengths
from glsw.output.cigar import NOT_KNOWN, mapping_qualities
from glsw.output.format import of_rows
from glsw.output.result_file import ResultFile, is_replaced
from glsw.search.fingerprint import Fingerprint
from glsw.sequences.database import Database
from glsw.sequences.database_writer import beside, same_file
from glsw.sequences.records import Record
from glsw.words import numbered


def check_output(output: str, *inputs: str, option: str = "--output") -> None:
    """Raise an error if a result file could not be opened later, or is an input."""
    if output == "-":
        return
    if not output:
        raise ValueError(f"{option}: it names no file")
    path = Path(output)
    if not path.parent.is_dir():
        raise ValueError(f"{option} {output}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"{option} {output}: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} {output}: no permission to write")
    for written in (output, beside(os.path.realpath(output), ".part")):
        if any(same_file(written, other) for other in inputs):
            name = "it" if written == output else f"{written}, where results are written first,"
            raise ValueError(f"{option} {output}: {name} is an input, and would be overwritten")
    if is_replaced(path):
        ResultFile(path).check()


Destination: TypeAlias = ResultFile | PlainStream


def destination(
    command: Command,
    output: str,
    fingerprint: Callable[[], Fingerprint] | None = None,
    patience: float = 0.0,
) -> Destination:
    """Return where the results of a command go, see `ResultFile`; `main` looks for what is left."""
    if output == "-" or not is_replaced(Path(output)):
        return PlainStream(output)
    command.file = ResultFile(output, fingerprint, patience)
    return command.file


def write(
    results: Iterable[SearchResult | Any],
    form: Format | Any,
    to: Destination,
    bar: Bar,
    targets: Iterable[Record] | Database = (),
    *,
    note: str = "",
    done: int = 0,
    command: Sequence[str] | None = None,
    reason: Callable[[], str] = str,
) -> None:
    """Write each result when it is computed, and after the last one a summary to stderr.

    Results of wings and their formats have what is asked for here of a `SearchResult` and a
    `Format`: cells, memory, engine and device; a header and ``write``.

    A thread writes while the next results are computed.

    The time of the summary is that until the last result, whatever it was spent on. The summary
    ends with ``note``; ``reason`` says why mapping qualities are not known, "" if it has no words.
    Formats that show the ``command`` get that of the process unless another one is given.

    The file is opened when the first result is there. Some formats list all ``targets`` before it.
    If some results are ``done``, it has these, and what is before them, already.
    """
    header = "" if done else form.header
    if not isinstance(header, str):
        header = header(names_and_lengths(targets), command_line(command))
    start, rest = time.perf_counter(), iter(results)
    first = list(islice(rest, 1))
    write_one = form.begin(done) if isinstance(form, Format) else form.write
    cells, memory, written = 0, 0, done
    engines, devices = dict[str, None](), dict[str, None]()
    unlisted = Unlisted(hint="" if command else "; --top 0 lists all")
    unknown = 0  # queries of which MAPQ is not known
    with to:
        to.stream.write(header)

        def write_result(result: Any) -> None:
            nonlocal written
            bar.clear()
            write_one(result, to.stream)
            written += 1
            if to.is_due():
                to.mark(written)

        with WritingThread(write_result, lambda: to.mark(written)) as writing:
            for result in chain(first, rest):
                writing.put(result, len(result) if isinstance(result, SearchResult) else 1)
                if isinstance(result, SearchResult):
                    unlisted.add(result)
                    if form.maps and NOT_KNOWN in of_rows(result, mapping_qualities):
                        unknown += 1
                cells += result.cells
                memory = max(memory, result.memory)
                engines[result.engine] = devices[result.device] = None
            seconds = time.perf_counter() - start
        if isinstance(form, Format) and form.footer:
            to.stream.write(form.footer(written))
    bar.close()
    rate = cells / seconds if seconds else 0
    ran = f", engine {joined(engines)} on {joined(devices)}" if engines else ""
    ran += f", {memory / 2**20:.1f} MiB" if memory / 2**20 >= 0.05 else ""
    resumed = f"; {numbered(done, 'result')} of an earlier run" if done else ""
    if said := str(unlisted):
        say(said)
    if unlisted.places:
        all_places = "" if command else "; --max-hsps 0 lists all"
        say(f"{numbered(unlisted.places, 'hit')} with further alignments not listed{all_places}")
    if unknown:
        of = f"{unknown} quer{'y' if unknown == 1 else 'ies'}"
        say(f"MAPQ is 255, unknown, for {of}: {reason() or 'there are no bit scores'}")
    say(f"{cells} cells in {seconds:.2f} s, {gcups(rate)}{ran}{note}{resumed}")


@dataclass
class Unlisted:
    """The message about hits of a search that are not listed.

    Parameters
    ----------
    queries, cut : int
        How many there are, and how many have more hits than are listed.
    listed, more : int
        Hits of the latter, and the ones beyond, as far as they were counted.
    most : int
        Hits of a query that were listed where nobody counted the ones beyond, 0 if there is none.
    places : int
        Hits listed that have further alignments.
    limit : str
        The words on the E-values of hits.
    hint : str
        What lists them, if that can be asked for.
    """

    queries: int = 0
    cut: int = 0
    listed: int = 0
    more: int = 0
    most: int = 0
    places: int = 0
    limit: str = ""
    hint: str = ""

    def add(self, result: SearchResult) -> None:
        """Add the result of a query."""
        self.queries += 1
        self.places += result.more_places or 0
        if result.more == 0:
            return
        self.cut += 1
        self.listed += len(result)
        self.more += result.more or 0
        if result.more is None:
            self.most = len(result)
        if result.evalue is not None:
            self.limit = f" with E-values of at most {result.evalue:g}"

    def __str__(self) -> str:
        if not self.cut:
            return ""
        if self.most:
            return (
                f"no E-values limit the hits: at most {self.most} are listed per query{self.hint}"
            )
        hits = f"{self.listed} of {self.listed + self.more} hits{self.limit} are listed"
        if self.queries == 1:
            return f"{hits}{self.hint}"
        have = "has" if self.cut == 1 else "have"
        cut = f"{self.cut} of {self.queries} queries {have} more hits than are listed"
        return f"{cut}: {hits}{self.hint}"


def command_line(words: Sequence[str] | None) -> str:
    """Return a command line as text, without ``--resume``."""
    words = sys.argv[1:] if words is None else words
    return shlex.join(["glsw", *(word for word in words if word != "--resume")])
