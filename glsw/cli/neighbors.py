"""The command ``glsw neighbors``: compares all pairs of sequences, lists those within a cutoff."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from glsw.cli.command import Command, Group, argument, group, option
from glsw.cli.inputs import FILES, check_standard_input, queries_of, residues
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import Masks, OnDevices, Output, Running
from glsw.cli.outputs import destination
from glsw.cli.pairs import aligner_for
from glsw.cli.scoring import Scored, scoring_for
from glsw.cli.summary import check_files, summary_of
from glsw.cli.words import SUMMARY
from glsw.output.sparse import SPARSE_FORMATS
from glsw.pairs.distances import ASCENDING, DISTANCES, Distance, check_cutoff
from glsw.pairs.near_pairs import listed, scipy_sparse
from glsw.scoring.scoring import Scoring
from glsw.sequences.fasta import read_all
from glsw.sequences.records import Records

if TYPE_CHECKING:
    from concurrent.futures import Executor


class _Pairs(Group, title="pairs"):
    cutoff: float = option(
        "C: minimum score or identity, or maximum self difference or E-value",
        flag="--cutoff",
        required=True,
    )
    distance: Distance = option(
        "score; self: the lower of the two self-scores minus the score; identity: identical "
        "columns of the best alignment divided by all its columns, 0 to 1, of which a local "
        "alignment may have few, see --mode and --min-score; evalue: E-value of a search with the "
        "row in all columns (score)",
        DISTANCES[0],
    )
    top: int = option(
        "K: list the K best of each row, not counting the sequence itself, 0 for all (0)", 0
    )
    min_score: float | None = option(
        "S: list pairs with at least this score; with identities, only these are aligned",
    )
    both: bool = option(
        "without FASTA2, list each pair in both orders (once, the better if they differ)"
    )
    own: bool = option(
        "without FASTA2, also list each sequence with itself, if it passes (no)",
        flag="--self",
    )


class _Output(Output):
    format: str = option(
        "tsv: names of row and column, and the value; mtx: Matrix Market, by numbers from 1 (tsv)",
        "tsv",
        choices=tuple(SPARSE_FORMATS),
    )
    summary: str | None = option(SUMMARY, type=str)


class Neighbors(Command):
    """Compare all pairs of sequences."""

    examples = (
        "glsw neighbors proteins.fasta --cutoff 200 --output near.tsv",
        "glsw neighbors proteins.fasta --distance identity --cutoff 0.9 --mode global",
        "glsw neighbors queries.fasta proteins.fasta --distance evalue --cutoff 1e-3",
    )
    sequences: str = argument(f"FASTA: the rows: {FILES}")
    other: str | None = argument(
        "FASTA2: the columns; without it all sequences of FASTA are compared with each other, and "
        "every pair is listed once",
        nargs="?",
    )
    pairs: _Pairs = group(_Pairs)
    scoring: Scored = group(Scored)
    masks: Masks = group(Masks)
    running: Running = group(OnDevices)
    output: _Output = group(_Output)

    def run(self) -> None:
        """Compare all pairs, then write those that pass; cheap checks come first."""
        _ = self.scoring.given  # raises errors of options
        pairs = self.pairs
        check_cutoff(pairs.distance, pairs.cutoff)
        if self.other is not None and (pairs.both or pairs.own):
            option = "--both" if pairs.both else "--self"
            raise ValueError(f"{option} is for one FASTA; with two, all pairs are listed")
        try:
            scipy_sparse()
        except ModuleNotFoundError as error:
            raise ValueError(str(error)) from None
        with self.running.workers() as executor:
            self._run(executor)

    def _run(self, executor: Executor | None) -> None:
        asked, output = self.pairs, self.output
        paths = [self.sequences, *([] if self.other is None else [self.other])]
        check_files(output.output, output.summary, *paths)
        check_standard_input(*paths)
        records = queries_of(paths[0]) if paths[1:] else read_all(paths[0])
        others = [read_all(path) for path in paths[1:]]
        sides = [records, *others]
        scoring, note = scoring_for(self.scoring, *zip(paths, sides, strict=True))
        cells = residues(sides[0], scoring) * residues(sides[-1], scoring)
        if not others and scoring.symmetric:
            own = _lengths(records, scoring)
            cells = (cells + sum(n * n for n in own)) // 2  # each pair once
        start = time.perf_counter()
        done = 0
        with (
            aligner_for(self, scoring) as aligner,
            progress_bar(self.running.no_progress, cells) as bar,
            summary_of(self, output.summary, aligner, sides[0], sides[-1], paths=paths) as summary,
        ):

            def progress(cells: int) -> None:
                nonlocal done
                done += cells
                bar.update(cells)

            found = aligner.neighbors(
                *sides,
                cutoff=asked.cutoff,
                k=asked.top or None,
                distance=asked.distance,
                min_score=asked.min_score,
                progress=progress,
                executor=executor,
            )
            pairs = math.prod(found.shape)
            if not others:
                ascending = asked.distance in ASCENDING
                found = listed(found, ascending=ascending, both=asked.both, own=asked.own)
                pairs = (pairs - len(records)) // (1 if asked.both else 2)
                pairs += len(records) * asked.own
            seconds = time.perf_counter() - start
            bar.close()
            names = [_names(side) for side in sides]
            once = not (others or asked.both)
            form = SPARSE_FORMATS[output.format]
            lines = form(found, asked.distance, names[0], names[-1], once)
            with destination(self, output.output) as to:
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
