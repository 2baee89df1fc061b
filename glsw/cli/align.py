"""The command ``glsw align``: alignments of two sequences."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial

from glsw.align import Aligner
from glsw.cli.inputs import FILES, lengths
from glsw.cli.messages import Bar, tables
from glsw.cli.options import add_output, add_running, add_several
from glsw.cli.pairs import Inputs, compare
from glsw.cli.scoring import add_masks, add_scoring
from glsw.cli.summary import add_summary
from glsw.cli.words import format_in
from glsw.output import ALIGNMENT_FORMATS
from glsw.results import Hit, Hsp, SearchResult
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context, QueryPreparation


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    parser.add_argument("query", metavar="QUERY", help=f"a file of one sequence: {FILES}")
    parser.add_argument("target", metavar="TARGET", help="a file of one sequence")
    add_scoring(parser)
    add_masks(parser)
    add_several(parser, "aligned pair of residues", None, "1, with another --mode none")
    add_running(parser)
    output = add_output(
        parser,
        ALIGNMENT_FORMATS,
        "pairwise: text; tsv, blast-tab: one line per alignment; sam; paf; jsonl",
        partial(format_in, formats=ALIGNMENT_FORMATS),
    )
    add_summary(output)


def run(arguments: argparse.Namespace) -> None:
    """Align the sequences of two files; write each alignment when it is computed."""
    compare(arguments, _disjoint, _as_given, one_each=True)


def _as_given(arguments: argparse.Namespace, scoring: Scoring) -> QueryPreparation:
    return QueryPreparation(scoring.alphabet, "plus")


def _disjoint(
    aligner: Aligner, given: Inputs, arguments: argparse.Namespace, bar: Bar
) -> Iterator[SearchResult]:
    """Yield a result per alignment of the pair, or one result without hits if there is none."""
    (query,), (target,) = given.queries, given.targets
    found = aligner.alignments(
        query,
        target,
        max_alignments=arguments.max_alignments or None,
        min_score=arguments.min_score,
        progress=bar.update,
    )
    m, n = lengths(aligner, query, target)
    most = arguments.max_alignments if aligner.scoring.local else 1
    found = tables(found, m * n, most, bar)
    rank, start = 0, time.perf_counter()

    def result(*hits: Hit) -> SearchResult:
        seconds = time.perf_counter() - start
        engine = aligner.engine
        return SearchResult(
            query, hits, m * n, seconds, engine.label, engine.where, 1, n, engine.memory_used
        )

    for rank, alignment in enumerate(found, start=1):
        yield result(Hit(rank, target, (Hsp(alignment, Context(m)),)))
        start = time.perf_counter()
    if not rank:
        yield result()
