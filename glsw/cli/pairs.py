"""The common part of ``glsw search`` and ``glsw align``: two files in, results out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from glsw.align import Aligner
from glsw.cli.inputs import Targets, check_standard_input, only
from glsw.cli.messages import progress_bar
from glsw.cli.outputs import check_output, write
from glsw.cli.scoring import scoring_of
from glsw.engines import Progress
from glsw.results import SearchResult
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import Record, as_records

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
    scoring = scoring_of(arguments)
    read = preparation(arguments, scoring)
    check_output(arguments.output, arguments.query, arguments.target)
    queries, targets = _inputs(arguments.query, arguments.target, one_each)
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
        write(results, arguments.format, arguments.output, bar, targets)


def _inputs(query: str, target: str, one_each: bool) -> tuple[list[Record], Targets]:
    check_standard_input(query, target)
    queries = as_records(Path(query), what="query")
    targets: Targets
    if not one_each and is_database(target):
        targets = Database.open(target)
    else:
        targets = as_records(Path(target), what="target")
    for path, records in ((query, queries), (target, targets)):
        if one_each:
            only(path, records)
    return queries, targets


def _residues(side: Targets, scoring: Scoring) -> int:
    if isinstance(side, Database):
        return side.residues
    return sum(map(len, side)) // scoring.alphabet.width
