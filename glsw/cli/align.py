"""The command ``glsw align``: alignments of two sequences."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from heapq import merge
from itertools import islice

from glsw.aligner import Aligner, checked_most
from glsw.alignment.alignment import Alignment
from glsw.alignment.hits import Hit, Hsp, SearchResult
from glsw.cli.inputs import FILES, lengths
from glsw.cli.messages import Bar, tables
from glsw.cli.options import (
    READ_GROUP,
    STRAND,
    add_output,
    add_running,
    add_several,
    complete_format,
)
from glsw.cli.pairs import Inputs, compare
from glsw.cli.scoring import add_masks, add_scoring
from glsw.cli.summary import SUMMARY
from glsw.cli.words import add_rows, format_in
from glsw.output import ALIGNMENT_FORMATS
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context, InContext, QueryPreparation

_ARGUMENTS = {
    ("query", None, None, "QUERY"): f"a file of one sequence: {FILES}",
    ("target", None, None, "TARGET"): "a file of one sequence",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)
    add_scoring(parser)
    add_rows(parser.add_argument_group("strands"), STRAND)
    add_masks(parser)
    add_several(parser, "aligned pair of residues", None, "1; no limit with other modes")
    add_running(parser)
    output = add_output(
        parser,
        ALIGNMENT_FORMATS,
        "pairwise: text; tsv, blast-tab: one line per alignment; sam; paf; gff3; jsonl",
        partial(format_in, formats=ALIGNMENT_FORMATS),
    )
    add_rows(output, {**READ_GROUP, **SUMMARY})


def run(arguments: argparse.Namespace) -> None:
    """Align the sequences of two files; write each alignment when it is computed."""
    complete_format(arguments)
    compare(arguments, _disjoint, _as_given, one_each=True)


def _as_given(arguments: argparse.Namespace, scoring: Scoring) -> QueryPreparation:
    return QueryPreparation(scoring.alphabet, arguments.strand, unknown=arguments.unknown)


def _disjoint(
    aligner: Aligner, given: Inputs, arguments: argparse.Namespace, bar: Bar
) -> Iterator[SearchResult]:
    """Yield a result per alignment of the pair, or one result without hits if there is none."""
    (query,), (target,) = given.queries, given.targets
    most = arguments.max_alignments if aligner.scoring.several else 1

    def alignments(strand: InContext) -> Iterator[tuple[Alignment, Context]]:
        of_strand = aligner.alignments(
            query if strand.context.strand > 0 else strand.record,
            target,
            max_alignments=most or None,
            min_score=arguments.min_score,
            progress=bar.update,
        )
        return ((each, strand.context) for each in of_strand)

    queries = _as_given(arguments, aligner.scoring).query_set([query])
    strands = [alignments(queries[k]) for k in range(len(queries))]
    m, n = lengths(aligner.scoring.alphabet, query, target)
    best_first = merge(*strands, key=lambda each: -each[0].score)
    found = tables(islice(best_first, checked_most(most or None)), m * n, most, bar)
    rank, cells, start = 0, len(strands) * m * n, time.perf_counter()

    def result(*hits: Hit) -> SearchResult:
        seconds = time.perf_counter() - start
        engine = aligner.engine
        return SearchResult(
            query, hits, cells, seconds, engine.label, engine.where, 1, n, engine.memory_used
        )

    for rank, (alignment, context) in enumerate(found, start=1):
        yield result(Hit(rank, target, (Hsp(alignment, context),)))
        start, cells = time.perf_counter(), m * n
    if not rank:
        yield result()
