"""The command ``glsw neighbors``: of all pairs of sequences those within a cutoff."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from glsw.cli.inputs import FILES, check_standard_input, queries_of, residues
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import add_output, add_running, executor_of
from glsw.cli.outputs import check_output, destination
from glsw.cli.pairs import aligner_for
from glsw.cli.scoring import add_masks, add_scoring, scoring_for, scoring_of
from glsw.cli.summary import SUMMARY, check_summary, summary_of
from glsw.cli.words import add_rows, count, number
from glsw.output.sparse import SPARSE_FORMATS
from glsw.pairs.distances import ASCENDING, DISTANCES, check_cutoff
from glsw.pairs.near_pairs import listed, scipy_sparse
from glsw.scoring.scoring import Scoring
from glsw.sequences.fasta import read_all
from glsw.sequences.records import Records

if TYPE_CHECKING:
    from concurrent.futures import Executor

_ARGUMENTS = {
    ("sequences", None, None, "FASTA"): f"the rows: {FILES}",
}
_PAIRS = {
    ("--distance", DISTANCES, DISTANCES[0]): (
        "score; self: the lower of the two self-scores minus the score; identity: identical "
        "columns of the best alignment divided by all its columns, 0 to 1, of which a local "
        "alignment may have few, see --mode and --min-score; evalue: E-value of a search with the "
        "row in all columns (score)"
    ),
    ("--top", count, 0, "K"): (
        "list the K best of each row, not counting the sequence itself, 0 for all (0)"
    ),
    ("--min-score", number, None, "S"): (
        "list pairs with at least this score; with identities, only these are aligned"
    ),
    ("--both", bool): (
        "without FASTA2, list each pair in both orders (once, the better if they differ)"
    ),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)
    parser.add_argument(
        "other",
        metavar="FASTA2",
        nargs="?",
        help="the columns; without it all sequences of FASTA are compared with each other, and "
        "every pair is listed once",
    )
    group = parser.add_argument_group("pairs")
    group.add_argument(
        "--cutoff",
        metavar="C",
        type=number,
        required=True,
        help="minimum score or identity, or maximum self difference or E-value",
    )
    add_rows(group, _PAIRS)
    group.add_argument(
        "--self",
        dest="own",
        action="store_true",
        help="without FASTA2, also list each sequence with itself, if it passes (no)",
    )
    add_scoring(parser)
    add_masks(parser)
    add_running(parser, several="; also numbers such as 0,1, or all, to use several GPUs")
    output = add_output(
        parser,
        SPARSE_FORMATS,
        "tsv: names of row and column, and the value; mtx: Matrix Market, by numbers from 1",
    )
    add_rows(output, SUMMARY)


def run(arguments: argparse.Namespace) -> None:
    """Compare all pairs, then write those that pass; cheap checks come first."""
    scoring_of(arguments)  # raises errors of options
    check_cutoff(arguments.distance, arguments.cutoff)
    if arguments.other is not None and (arguments.both or arguments.own):
        option = "--both" if arguments.both else "--self"
        raise ValueError(f"{option} is for one FASTA; with two, all pairs are listed")
    try:
        scipy_sparse()
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    with executor_of(arguments) as executor:
        _run(arguments, executor)


def _run(arguments: argparse.Namespace, executor: Executor | None) -> None:
    paths = [arguments.sequences, *[arguments.other] * (arguments.other is not None)]
    check_output(arguments.output, *paths)
    check_summary(arguments, *paths)
    check_standard_input(*paths)
    records = queries_of(paths[0]) if paths[1:] else read_all(paths[0])
    others = [read_all(path) for path in paths[1:]]
    sides = [records, *others]
    scoring, note = scoring_for(arguments, *zip(paths, sides, strict=True))
    cells = residues(sides[0], scoring) * residues(sides[-1], scoring)
    if not others and scoring.symmetric:
        own = _lengths(records, scoring)
        cells = (cells + sum(n * n for n in own)) // 2  # each pair once
    start = time.perf_counter()
    done = 0
    with (
        aligner_for(arguments, scoring) as aligner,
        progress_bar(arguments, cells) as bar,
        summary_of(arguments, aligner, sides[0], sides[-1], paths=paths) as summary,
    ):

        def progress(cells: int) -> None:
            nonlocal done
            done += cells
            bar.update(cells)

        found = aligner.neighbors(
            *sides,
            cutoff=arguments.cutoff,
            k=arguments.top or None,
            distance=arguments.distance,
            min_score=arguments.min_score,
            progress=progress,
            executor=executor,
        )
        pairs = math.prod(found.shape)
        if not others:
            ascending = arguments.distance in ASCENDING
            found = listed(found, ascending=ascending, both=arguments.both, own=arguments.own)
            pairs = (pairs - len(records)) // (1 if arguments.both else 2)
            pairs += len(records) * arguments.own
        seconds = time.perf_counter() - start
        bar.close()
        names = [_names(side) for side in sides]
        once = not (others or arguments.both)
        form = SPARSE_FORMATS[arguments.format]
        lines = form(found, arguments.distance, names[0], names[-1], once)
        with destination(arguments) as to:
            for text in lines:
                to.stream.write(text)
        rate = done / seconds if seconds else 0
        engine = aligner.engine
        if summary:
            for name, hits in zip(names[0], np.diff(found.indptr).tolist(), strict=True):
                summary.add(name, hits=hits)
            summary.work(done, seconds)
            summary.ran(engine.label, aligner.where, engine.memory_used)
        say(
            f"{found.nnz} of {pairs} pairs, {done} cells in "
            f"{seconds:.2f} s, {gcups(rate)}, engine {engine.label} on {aligner.where}{note}"
        )


def _lengths(side: Records, scoring: Scoring) -> Iterator[int]:
    return (n // scoring.alphabet.width for _, n in side.names_and_lengths())


def _names(side: Records) -> Sequence[str]:
    return [name for name, _ in side.titles]
