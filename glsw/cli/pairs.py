"""The common part of ``glsw search`` and ``glsw align``: two files in, results out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from glsw.align import Aligner
from glsw.cli.inputs import Targets, check_kind, check_standard_input, only
from glsw.cli.messages import progress_bar
from glsw.cli.outputs import check_output, write
from glsw.cli.scoring import scoring_for, scoring_of
from glsw.engines import Progress
from glsw.results import SearchResult
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import Record, Records, as_records, read_all

Task: TypeAlias = Callable[
    [Aligner, list[Record], Targets, argparse.Namespace, Progress], Iterable[SearchResult]
]
"""The work of a command with an aligner, queries and targets."""


def compare(
    arguments: argparse.Namespace,
    task: Task,
    preparation: Callable[[argparse.Namespace, Scoring], QueryPreparation],
    *,
    one_each: bool = False,
) -> None:
    """Compare the sequences of two files; cheap checks come first."""
    scoring_of(arguments)  # raises errors of options
    check_output(arguments.output, arguments.query, arguments.target)
    check_standard_input(arguments.query, arguments.target)
    queries = as_records(Path(arguments.query), what="query")
    scoring, note = scoring_for(arguments, queries)
    read = preparation(arguments, scoring)
    targets = _targets(arguments.target, one_each)
    if one_each:
        only(arguments.query, queries)
        only(arguments.target, targets)
    check_kind(arguments, arguments.target, targets, scoring, bool(note))
    width = read.query_alphabet.width
    cells = sum(read.residues(len(each) // width) for each in queries) * _residues(targets, scoring)
    with (
        Aligner(
            scoring,
            mode=arguments.mode,
            engine=arguments.engine,
            device=arguments.device,
            ties=arguments.ties,
            unknown=arguments.unknown,
            memory=arguments.memory,
            lower_case_mask=arguments.lower_case_mask,
            mask_low_complexity=arguments.mask_low_complexity,
        ) as aligner,
        progress_bar(arguments, cells) as bar,
    ):

        def progress(cells: int) -> None:
            bar.update(cells)

        results = task(aligner, queries, targets, arguments, progress)
        write(results, arguments.format, arguments.output, bar, targets, note=note)


def _targets(path: str, one_each: bool) -> Targets:
    if one_each:
        return as_records(Path(path), what="target")
    return Database.open(path) if is_database(path) else read_all(path)


def _residues(side: Targets, scoring: Scoring) -> int:
    if isinstance(side, Database):
        return side.residues
    if isinstance(side, Records):
        return len(side.letters) // scoring.alphabet.width
    return sum(map(len, side)) // scoring.alphabet.width
