"""The command ``glsw search``: the sequences of a database, ranked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.inputs import FILES
from glsw.cli.messages import Bar, say
from glsw.cli.options import (
    READ_GROUP,
    STRAND,
    add_of_wings,
    add_output,
    add_running,
    complete_format,
    executor_of,
)
from glsw.cli.outputs import usual_places
from glsw.cli.pairs import Inputs, compare
from glsw.cli.scoring import add_masks, add_scoring
from glsw.cli.summary import SUMMARY
from glsw.cli.words import MATRIX, Rows, add_rows, cost, count, evalue, format_in, name, number
from glsw.options import ORDERS, HitOptions, defaults_of
from glsw.output import FORMATS, format_of
from glsw.output.pairwise import ALIGNMENTS
from glsw.scoring.scoring import Scoring
from glsw.search.limits import DEFAULT_EVALUE, DEFAULT_TOP
from glsw.search.search import PreparedSearch
from glsw.sequences.query import STRANDS, QueryPreparation
from glsw.statistics import METHODS
from glsw.words import numbered

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DEFAULTS = defaults_of(HitOptions)
_OF_ALIGNER = "mode", "ties", "unknown", "lower_case_mask", "mask_low_complexity", "seg"
"""Options of the aligner that decide what is written, beside the scoring."""
TASKS: dict[str, dict[str, Any]] = {
    "blastp": {},
    "blastp-short": {
        "matrix": "PAM30",
        "evalue": 2e5,
        "top": DEFAULT_TOP,
        "composition": 0,
        "seg": "no",
    },
}
"""Tasks of BLAST: the defaults of options in each."""
_FEW_LETTERS = 30
"""Queries of fewer letters are what blastp-short is for."""
_ARGUMENTS = {
    ("query", None, None, "QUERY"): f"one or more queries: {FILES}",
    ("target", None, None, "DB"): f"sequences to search: {FILES}; or a database of makedb",
}
_TASK = {
    ("--task", tuple(TASKS)): (
        "defaults of other options: blastp, or blastp-short for queries of fewer than "
        f"{_FEW_LETTERS} letters, which is --matrix PAM30 (gap costs 9/1) --evalue 200000 --top "
        f"{DEFAULT_TOP} --composition 0 --seg no (blastp)"
    ),
}
_HITS = {
    ("--top", count, None, "N"): (
        f"list the N best hits, 0 for all ({DEFAULT_TOP}, but all if --evalue is given)"
    ),
    ("--min-score", number, _DEFAULTS["min_score"], "S"): (
        "list hits with at least this score, which is positive in every mode (1)"
    ),
    ("--evalue", evalue, None, "E"): (
        f"list hits with at most this E-value, inf for no limit ({DEFAULT_EVALUE:g}; where there "
        "are no E-values, only --top limits the list)"
    ),
    ("--max-hsps", count, None, "K"): (
        "report the K best alignments per hit that share no aligned pair of residues, 0 for "
        "all; in sam and paf K of each part of the query (1; for DNA 2 in sam and paf, as MAPQ "
        "needs at least 2)"
    ),
    ("--statistics", METHODS, _DEFAULTS["statistics"]): (
        "method for E-values: published constants, a fit to all scores of a query, or constants "
        "if available for the scoring, otherwise a fit (auto)"
    ),
    ("--order", ORDERS, _DEFAULTS["order"]): (
        "sort hits by score, or by E-value, then score, as in BLAST; ties are in database "
        "order (score)"
    ),
}
_OUTPUT: Rows = {
    ("--alignments", count, None, "N"): (
        "show the alignments of the N best hits, 0 for all: in table (default none) and in "
        f"pairwise (default {ALIGNMENTS})"
    ),
    ("--resume", bool): (
        "continue the same search from FILE.part if it was interrupted or killed; otherwise "
        "start from the beginning"
    ),
    ("--link", name, None, "PATTERN"): (
        "with --format html, link targets to addresses such as "
        "https://www.uniprot.org/uniprotkb/{accession}; {id} is the whole name, {start} and {end} "
        "are the first and last letter of the best alignment"
    ),
    **READ_GROUP,
    **SUMMARY,
}
_TWO_TRACKS = {
    ("--second-track", name, None, "FILE"): (
        f"second letters of the queries, with the same names and lengths in the same order: {FILES}"
    ),
    ("--second-matrix", name, None, "FILE"): (
        f"scores of second letters, with --second-track: {MATRIX}"
    ),
    ("--weight", cost, None, "W"): (
        "factor for the scores of second letters, which are then rounded (1)"
    ),
}
_STRANDS_AND_FRAMES: Rows = {
    **STRAND,
    ("--translated", bool): (
        "search proteins with a DNA query translated in three frames of each strand, as blastx"
    ),
    ("--genetic-code", count, None, "N"): (
        "NCBI number of the genetic code of the queries, with --translated (1)"
    ),
    ("--translated-target", bool): (
        "search DNA with a protein, as tblastn: translate the targets in three frames of each "
        "strand; with --translated, the query too, as tblastx"
    ),
    ("--target-strand", STRANDS): "strands of the targets, with --translated-target (both)",
    ("--target-genetic-code", count, None, "N"): (
        "NCBI number of the genetic code of the targets, with --translated-target (1)"
    ),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, {**_ARGUMENTS, **_TASK})
    add_scoring(parser)
    _add_tracks(parser)
    _add_strands(parser)
    add_masks(parser)
    hits = parser.add_argument_group("hits")
    add_rows(hits, _HITS)
    add_of_wings(parser, hits)
    add_running(parser, several="; numbers such as 0,1 or all to use several GPUs")
    output = add_output(
        parser,
        {"table on a terminal, otherwise pairwise": None},
        "pairwise: ranked list and alignments; table: only the list; tsv: one line per alignment; "
        "blast-tab, blast-tab-comments: BLAST's formats 6 and 7, optionally with columns, such as "
        "'blast-tab std qlen'; sam; paf; gff3; jsonl; html: one page for a browser",
        partial(format_in, formats=FORMATS),
    )
    parser.set_defaults(format=None)
    add_rows(output, _OUTPUT)
    add_of_wings(parser, output)


def _add_tracks(parser: argparse.ArgumentParser) -> None:
    """Add the options of sequences with two letters per position."""
    group = parser.add_argument_group(
        "two tracks",
        "QUERY and DB (from makedb --second-track) have a second letter at each position, such as "
        "its structural state; both scores are added. Reported letters and identities are those "
        "of the first track.",
    )
    add_rows(group, _TWO_TRACKS)


def _add_strands(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("strands and frames")
    add_rows(group, _STRANDS_AND_FRAMES)


def run(arguments: argparse.Namespace) -> None:
    """Search for each query; write its result before the next one."""
    check(arguments)
    wings = getattr(arguments, "wings", ())
    deciding = [
        *(*_OF_ALIGNER, *_DEFAULTS, "translated", "translated_target"),
        *(name for wing in wings for name in getattr(wing, "DECIDES", ())),
    ]
    settings = [name for name in deciding if name in arguments]
    with executor_of(arguments, arguments.target) as executor:
        task = partial(_ranked, executor=executor)
        compare(arguments, task, preparation, settings=settings)


def check(arguments: argparse.Namespace) -> None:
    """Raise the errors of options; choose the format."""
    choose_format(arguments)
    for side in ("", "target"):
        _genetic_code(arguments, side)


def choose_format(arguments: argparse.Namespace) -> None:
    """Choose the format of the options if none is given, and complete it."""
    if arguments.format is None:
        on_terminal = arguments.output == "-" and sys.stdout is not None and sys.stdout.isatty()
        arguments.format = format_of("table" if on_terminal else "pairwise")
    complete_format(arguments)


def prepare(aligner: Aligner, given: Inputs, arguments: argparse.Namespace) -> PreparedSearch:
    """Return the search of the options, which has not begun."""
    return aligner.prepare(given.queries, given.targets, **_options(arguments, aligner.scoring))


def preparation(arguments: argparse.Namespace, scoring: Scoring) -> QueryPreparation:
    """Return how the options prepare queries; the errors are also those of targets."""
    if (code := _genetic_code(arguments, "target")) is not None:
        QueryPreparation(scoring.alphabet, arguments.target_strand, code)
    return QueryPreparation(scoring.alphabet, arguments.strand, _genetic_code(arguments))


def _genetic_code(arguments: argparse.Namespace, of: str = "") -> int | None:
    """Return the genetic code of queries, or ``of="target"`` that of targets."""
    translated, option = ("translated", "genetic_code")
    if of:
        translated, option = f"{translated}_{of}", f"{of}_{option}"
    code: int | None = getattr(arguments, option)
    if getattr(arguments, translated):
        return 1 if code is None else code
    for other in (option, *["target_strand"] * bool(of)):
        if (value := getattr(arguments, other)) is not None:
            option, translated = (each.replace("_", "-") for each in (other, translated))
            raise ValueError(f"--{option} {value} requires --{translated}")
    return None


def _ranked(
    aligner: Aligner,
    given: Inputs,
    arguments: argparse.Namespace,
    bar: Bar,
    executor: Executor | None,
) -> Iterator[SearchResult]:
    found = _results(aligner, given, arguments, bar, executor)
    return _with_hint(found, arguments, given.scoring)


def _results(
    aligner: Aligner,
    given: Inputs,
    arguments: argparse.Namespace,
    bar: Bar,
    executor: Executor | None,
) -> Iterator[SearchResult]:
    searched = _options(arguments, aligner.scoring)
    options = {"progress": bar.update, "executor": executor, **searched}
    if "results" in arguments:
        yield from arguments.results(aligner, given, arguments, bar, options)
        return
    results = aligner.search(given.queries, given.targets, skip=arguments.skip, **options)
    for result, expected in zip(results, given.cells[arguments.skip :], strict=True):
        bar.expect(result.cells - expected)  # a fully masked query has no cells
        yield result


def _with_hint(
    results: Iterable[SearchResult], arguments: argparse.Namespace, scoring: Scoring
) -> Iterator[SearchResult]:
    """Yield results; then name the task that is for short queries if some have no hits."""
    short = 0
    for result in results:
        short += not len(result) and 0 < len(result.query) < _FEW_LETTERS
        yield result
    if short and arguments.task is None and _is_blastp(arguments, scoring):
        what = f"{numbered(short, 'sequence')} of fewer than {_FEW_LETTERS} letters"
        say(f"no hits for {what}: --task blastp-short is for short queries")


def _is_blastp(arguments: argparse.Namespace, scoring: Scoring) -> bool:
    """Return whether a search is what blastp does: local, by letters of proteins, untranslated."""
    special = "translated", "translated_target", "second_track", "read_queries"
    plain = not any(getattr(arguments, name, None) for name in special)
    return plain and scoring.local and scoring.alphabet.amino_acids


def _options(arguments: argparse.Namespace, scoring: Scoring) -> dict[str, Any]:
    """Return the options of `glsw.search` that are given, or that the format needs."""
    named = ((name, getattr(arguments, name, None)) for name in _DEFAULTS)
    options = {name: value for name, value in named if value is not None}
    for most in ("top", "max_hsps"):
        if options.get(most) == 0:
            options[most] = None  # for all
    if arguments.format.maps:
        options["per_part"] = True
        options.setdefault("max_hsps", usual_places(scoring))
    codes = _genetic_code(arguments), _genetic_code(arguments, "target")
    return options | {"genetic_code": codes[0], "target_genetic_code": codes[1]}
