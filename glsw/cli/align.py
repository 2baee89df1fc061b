"""The command ``glsw align``: alignments of two sequences."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from heapq import merge
from itertools import islice

from glsw.aligner import Aligner, checked_most
from glsw.alignment.alignment import Alignment
from glsw.alignment.hits import Hit, Hsp, SearchResult
from glsw.cli.command import argument, group, option
from glsw.cli.inputs import FILES, lengths
from glsw.cli.messages import Bar, tables
from glsw.cli.options import Masks, ResultOutput, Running, Several, Strands
from glsw.cli.pairs import Comparison, Inputs
from glsw.cli.scoring import Scored
from glsw.cli.words import format_in
from glsw.output import ALIGNMENT_FORMATS, Format, format_of
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Context, InContext, QueryPreparation


class _Output(ResultOutput):
    format: Format = option(
        "NAME: pairwise: text; tsv, blast-tab: one line per alignment; sam; paf; gff3; jsonl "
        "(pairwise)",
        format_of("pairwise", ALIGNMENT_FORMATS),
        type=partial(format_in, formats=ALIGNMENT_FORMATS),
    )


class Align(Comparison, notes={"max_alignments": "aligned pair of residues"}):
    """Align two sequences."""

    examples = (
        "glsw align a.fasta b.fasta",
        "glsw align a.fasta b.fasta --mode global --matrix BLOSUM45",
        "glsw align a.fasta b.fasta --max-alignments 5 --format blast-tab",
    )
    query: str = argument(f"QUERY: a file of one sequence: {FILES}")
    target: str = argument("TARGET: a file of one sequence")
    scoring: Scored = group(Scored)
    strands: Strands = group(Strands)
    masks: Masks = group(Masks)
    several: Several = group(Several)
    running: Running = group(Running)
    output: _Output = group(_Output)
    one_each = True

    def run(self) -> None:
        """Align the sequences of two files; write each alignment when it is computed."""
        self.output.complete()
        self.compare()

    def preparation(self, scoring: Scoring) -> QueryPreparation:
        """Return how queries are prepared: as they are given."""
        strand, unknown = self.strands.strand, self.scoring.unknown
        return QueryPreparation(scoring.alphabet, strand, unknown=unknown)

    def no_second_place(self, scoring: Scoring) -> str:
        """Return why no second place of a query is found."""
        return "glsw align does not look for a second place"

    def compared(
        self, aligner: Aligner, given: Inputs, bar: Bar, done: int
    ) -> Iterator[SearchResult]:
        """Yield a result per alignment of the pair, or one without hits if there is none."""
        (query,), (target,) = given.queries, given.targets
        most = self.several.max_alignments if aligner.scoring.several else 1

        def alignments(strand: InContext) -> Iterator[tuple[Alignment, Context]]:
            of_strand = aligner.alignments(
                query if strand.context.strand > 0 else strand.record,
                target,
                max_alignments=most or None,
                min_score=self.several.min_score,
                progress=bar.update,
            )
            return ((each, strand.context) for each in of_strand)

        queries = self.preparation(aligner.scoring).query_set([query])
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
