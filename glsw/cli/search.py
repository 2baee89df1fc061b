"""The command ``glsw search``: ranks the sequences of a database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.command import Group, argument, group, of_wings, option
from glsw.cli.inputs import FILES
from glsw.cli.messages import Bar, say
from glsw.cli.options import Masks, OnDevices, ResultOutput, Running
from glsw.cli.pairs import Comparison, Inputs, Tracks
from glsw.cli.scoring import Frames, Scored
from glsw.cli.words import format_in
from glsw.options import COUNT, EVALUES, HitOptions, Order, complete, defaults_of, marked, ranges_of
from glsw.output import FORMATS, Format, format_of
from glsw.output.pairwise import ALIGNMENTS
from glsw.output.result_file import OtherRunError
from glsw.scoring.scoring import Scoring
from glsw.search.limits import DEFAULT_EVALUE, DEFAULT_TOP
from glsw.search.search import PreparedSearch
from glsw.search.stages import stage_of
from glsw.sequences.query import QueryPreparation
from glsw.statistics import Method
from glsw.words import numbered

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DEFAULTS = defaults_of(HitOptions)
_FEW_LETTERS = 30
"""Queries of fewer letters are what blastp-short is for."""


class Hits(Group, title="hits", decides=True, defaults=_DEFAULTS, ranges=ranges_of(HitOptions)):
    """Which hits are listed."""

    top: int | None = option(
        f"N: list the N best hits, 0 for all ({DEFAULT_TOP}, but all if --evalue is given)",
        None,
        tasks={"blastp-short": DEFAULT_TOP},
    )
    min_score: float = option(
        "S: list hits with at least this score, which is positive in every mode (1)",
    )
    evalue: float | None = option(
        f"E: list hits with at most this E-value, inf for no limit ({DEFAULT_EVALUE:g}; where "
        "there are no E-values, only --top limits the list)",
        None,
        tasks={"blastp-short": 2e5},
        within=EVALUES,
    )
    max_hsps: int | None = option(
        "K: report the K best alignments per hit that share no aligned pair of residues, 0 for "
        "all; in sam and paf K of each part of the query (1; for DNA 2 in sam and paf, as MAPQ "
        "needs at least 2)",
        None,
    )
    statistics: Method = option(
        "method for E-values: published constants, a fit to all scores of a query, or constants "
        "if available for the scoring, otherwise a fit (auto)",
    )
    order: Order = option(
        "sort hits by score, or by E-value, then score, as in BLAST; ties are in database "
        "order (score)",
    )
    min_identity: float = option(
        "F: list alignments in which at least this fraction of the columns has equal letters, "
        "from 0 to 1 (0)",
    )
    min_coverage: float = option(
        "F: list alignments that span at least this fraction of the query's letters, from 0 to 1 "
        "(0)",
    )
    wings: list[Group] = of_wings()


class SearchOutput(ResultOutput):
    """Where results go, and how they are written."""

    format: Format | None = option(
        "NAME: pairwise: ranked list and alignments; table: only the list; tsv: one line per "
        "alignment; blast-tab, blast-tab-comments: BLAST's formats 6 and 7, optionally with "
        "columns, such as 'blast-tab std qlen'; sam; paf; gff3; jsonl; html: one page for a "
        "browser (table on a terminal, otherwise pairwise)",
        None,
        type=partial(format_in, formats=FORMATS),
    )
    alignments: int | None = option(
        "N: show the alignments of the N best hits, 0 for all: in table (default none) and in "
        f"pairwise (default {ALIGNMENTS})",
    )
    resume: bool | None = option(
        "continue the same search from FILE.part if it was interrupted or killed; otherwise "
        "start from the beginning",
        avoids=(OtherRunError, "without --resume it is overwritten"),
    )
    link: str | None = option(
        "PATTERN: with --format html, link targets to addresses such as "
        "https://www.uniprot.org/uniprotkb/{accession}; {id} is the whole name, {start} and {end} "
        "are the first and last letter of the best alignment",
    )
    wings: list[Group] = of_wings()

    def complete(self) -> None:
        """Choose the format if none is given, and complete it."""
        if self.format is None:
            on_terminal = self.output == "-" and sys.stdout is not None and sys.stdout.isatty()
            self.format = format_of("table" if on_terminal else "pairwise")
        super().complete()


class Search(Comparison):
    """Search a database.

    Attributes
    ----------
    results : callable, optional
        How a wing finds results: ``results(aligner, inputs, bar, done, options)``.
    """

    examples = (
        "glsw search queries.fasta uniprot_sprot.fasta.gz --evalue 1e-5",
        "glsw search queries.fasta sprot.glsw --format blast-tab --output hits.tsv",
        "glsw search genes.fa sprot.glsw --translated --seg yes  # as blastx",
        "glsw search reads.fq genome.fa --format sam --output reads.sam",
    )
    query: str = argument(f"QUERY: one or more queries: {FILES}")
    target: str = argument(f"DB: sequences to search: {FILES}; or a database of makedb")
    task: Literal["blastp", "blastp-short"] | None = option(
        "defaults of other options: blastp, or blastp-short for queries of fewer than "
        f"{_FEW_LETTERS} letters, which is --matrix PAM30 (gap costs 9/1) --evalue 200000 --top "
        f"{DEFAULT_TOP}{{}} --seg no (blastp)",
    )
    scoring: Scored = group(Scored)
    tracks: Tracks = group(Tracks)
    frames: Frames = group(Frames)
    masks: Masks = group(Masks)
    hits: Hits = group(Hits)
    running: Running = group(OnDevices)
    output: SearchOutput = group(SearchOutput)
    results: (
        Callable[[Aligner, Inputs, Bar, int, dict[str, Any]], Iterable[SearchResult]] | None
    ) = None
    executor: Executor | None = None

    def run(self) -> None:
        """Search for each query; write its result before the next one."""
        self.check()
        with self.running.workers(self.target) as self.executor:
            self.compare()

    def check(self) -> None:
        """Raise the errors of options; choose the format."""
        self.output.complete()
        self.frames.codes()

    def prepare(self, aligner: Aligner, given: Inputs) -> PreparedSearch:
        """Return the search that the options describe, not yet started."""
        return aligner.prepare(given.queries, given.targets, **self._options(aligner.scoring))

    def preparation(self, scoring: Scoring) -> QueryPreparation:
        """Return how the options prepare queries; the errors are also those of targets."""
        frames, (code, target_code) = self.frames, self.frames.codes()
        if target_code is not None:
            QueryPreparation(scoring.alphabet, frames.target_strand, target_code)
        return QueryPreparation(scoring.alphabet, frames.strand, code)

    def no_second_place(self, scoring: Scoring) -> str:
        """Return why no second place of a query is found, empty if one may be."""
        settings = complete("search", HitOptions, self._options(scoring))
        if reason := stage_of(scoring, settings).one_place:
            return reason
        if self.hits.top == 1:
            return "--top 1 lists no second place"
        wanted = _usual_places(scoring) if self.hits.max_hsps is None else self.hits.max_hsps
        if wanted == 1:
            return "only one place per sequence was looked for; --max-hsps 2 looks for a second"
        return ""

    def compared(
        self, aligner: Aligner, given: Inputs, bar: Bar, done: int
    ) -> Iterator[SearchResult]:
        """Yield the results of queries; then suggest the task for short queries without hits."""
        short = 0
        for result in self._results(aligner, given, bar, done):
            short += not len(result) and 0 < len(result.query) < _FEW_LETTERS
            yield result
        special = self.frames.any or self.tracks.second_track or self.read_queries
        scoring = given.scoring
        is_blastp = not special and scoring.local and scoring.alphabet.amino_acids
        if short and self.task is None and is_blastp:
            what = f"{numbered(short, 'sequence')} of fewer than {_FEW_LETTERS} letters"
            say(f"no hits for {what}: --task blastp-short is for short queries")

    def _results(
        self, aligner: Aligner, given: Inputs, bar: Bar, done: int
    ) -> Iterable[SearchResult]:
        searched = self._options(aligner.scoring)
        options = {"progress": bar.update, "executor": self.executor, **searched}
        if self.results:
            yield from self.results(aligner, given, bar, done, options)
            return
        results = aligner.search(given.queries, given.targets, skip=done, **options)
        for result, expected in zip(results, given.cells[done:], strict=True):
            bar.expect(result.cells - expected)  # a fully masked query has no cells
            yield result

    def _options(self, scoring: Scoring) -> dict[str, Any]:
        """Return the options of `glsw.search` that are given, or that the format needs."""
        given = self.named(_DEFAULTS)
        options = {name: value for name, value in given.items() if value is not None}
        for most in marked(HitOptions, COUNT):
            if options.get(most) == 0:
                options[most] = None  # for all
        if self.output.format and self.output.format.maps:
            options["per_part"] = True
            options.setdefault("max_hsps", _usual_places(scoring))
        codes = self.frames.codes()
        return options | {"genetic_code": codes[0], "target_genetic_code": codes[1]}


def _usual_places(scoring: Scoring) -> int:
    """Return how many places of a part of a query are listed in formats that map."""
    return 2 if scoring.local and scoring.alphabet.nucleotides else 1
