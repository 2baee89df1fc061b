"""The command ``glsw search``: the sequences of a database, ranked."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterable

from glsw.align import Aligner
from glsw.cli.inputs import FILES, Targets
from glsw.cli.options import Command, add_output, add_running
from glsw.cli.pairs import compare
from glsw.cli.scoring import add_scoring
from glsw.cli.words import count, number
from glsw.engines import Progress
from glsw.output import FORMATS
from glsw.result import SearchResult
from glsw.sequences import Record


def add(command: Command) -> None:
    """Add the command with its options."""
    parser = command("search", run, "rank the sequences of a database by their best alignment")
    parser.add_argument("query", metavar="QUERY", help=f"one or more queries: {FILES}")
    parser.add_argument(
        "target", metavar="DB", help=f"sequences to search: {FILES}; or what makedb wrote"
    )
    add_scoring(parser)
    hits = parser.add_argument_group("hits")
    hits.add_argument(
        "--top", metavar="N", type=count, default=10, help="the N best hits, 0 for all (10)"
    )
    hits.add_argument(
        "--min-score", metavar="S", type=number, default=1, help="hits of at least this score (1)"
    )
    add_running(parser, several=True)
    add_output(
        parser,
        FORMATS,
        "pairwise: ranked list and alignments; table: the list only; tsv: a line of columns a hit",
    )


def run(arguments: argparse.Namespace) -> None:
    """Search for each query, write what is found before the next one."""
    compare(arguments, FORMATS, _ranked)


def _ranked(
    aligner: Aligner,
    queries: list[Record],
    targets: Targets,
    arguments: argparse.Namespace,
    progress: Progress,
) -> Iterable[SearchResult]:
    _recommend(aligner)
    return aligner.search(
        queries,
        targets,
        top=arguments.top or None,
        min_score=arguments.min_score,
        progress=progress,
    )


def _recommend(aligner: Aligner) -> None:
    """Say what is faster than OpenGL without a GPU."""
    if aligner.engine.name == "auto" and aligner.engine.device.info.software:
        how = "" if importlib.util.find_spec("pyopal") else ", after pip install glsw[cpu]"
        print(f"glsw: engine 'cpu' searches several times faster here{how}", file=sys.stderr)
