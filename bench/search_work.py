"""The work of `bench.search`: queries, databases, and who judges the scores.

Queries are the standard ones or generated; databases have targets of one length, Swiss-Prot's
lengths, or come from a file.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import competitors, workloads
from bench.measure import Check, both, compare
from glsw.batch import Batch
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences

SCORING = Scoring.named("BLOSUM62", 12, 1)


class Query(NamedTuple):
    """A query and its name."""

    name: str
    codes: npt.NDArray[np.uint8]


@dataclass
class Targets:
    """What is searched.

    Attributes
    ----------
    name, kind : str
        ``kind`` is ``"uniform"``, ``"swissprot"`` or ``"file"``.
    sequences : Sequences
        By descending length.
    planted : ndarray of int
        The targets that are relatives of queries.
    """

    name: str
    kind: str
    sequences: Sequences
    planted: npt.NDArray[np.intp]

    def facts(self) -> dict[str, Any]:
        """Return what stands in the JSON."""
        lengths = self.sequences.lengths
        return {
            "name": self.name,
            "kind": self.kind,
            "sequences": len(lengths),
            "residues": int(lengths.sum()),
            "mean": float(lengths.mean()),
            "median": float(np.median(lengths)),
            "longest": int(lengths[0]),
            "planted": len(self.planted),
        }

    def parts(self, residues: int) -> list[Sequences]:
        """Cut the targets into parts of at most this number of residues."""
        return [self.sequences.part(part) for part in self.sequences.parts(residues)]


class ScoreJudge:
    """Judges the scores of a query: a sample by parasail, the rest by the first engine.

    The sample has evenly spaced targets, the longest, the shortest, and those that are planted.

    Attributes
    ----------
    scores : ndarray of int32, shape (targets,), or None
        Those of the first engine whose sample was right.
    """

    def __init__(self, query: Query, targets: Targets, cells: float) -> None:
        batch = Batch.one_to_many(query.codes, targets.sequences)
        ends = [0, len(batch) - 1]
        self.chosen = np.unique(
            np.concatenate([competitors.portion(batch, cells), ends, targets.planted])
        ).astype(np.intp)
        self.name, self.expected = competitors.judge(
            SCORING, batch.select(self.chosen), in_32_bits=True
        )
        self.scores: npt.NDArray[np.int32] | None = None
        self._first = ""

    def judge(self, scores: npt.NDArray[np.int32], engine: str) -> Check:
        """Compare all scores of the query, in the order of the targets."""
        check = compare(scores[self.chosen], self.expected, self.name)
        if self.scores is None:
            if check.passed:
                self.scores, self._first = scores, engine
            return check
        if engine == self._first:
            rest = compare(scores, self.scores, "its first run")
        else:
            rest = compare(scores, self.scores, self._first)
        return both(check, rest)


def spread(count: int, some: int) -> list[int]:
    """Return ``some`` of ``count`` indices, evenly spaced from first to last; one: the middle.

    >>> spread(20, 3), spread(2, 5), spread(20, 1)
    ([0, 10, 19], [0, 1], [10])
    """
    if some == 1:
        return [count // 2]
    return sorted({round(k) for k in np.linspace(0, count - 1, min(some, count))})


def queries_of(arguments: argparse.Namespace) -> tuple[list[Query], str]:
    """Return the queries and where they come from."""
    path = arguments.queries
    data = os.environ.get("GLSW_DATA")
    if path is None and data and (standard := Path(data, "queries", "standard20.fasta")).is_file():
        path = standard
    if path is None:
        codes = workloads.queries(workloads.STANDARD)
        found = [Query(f"generated {len(each)}", each) for each in codes]
        origin = "generated"
    else:
        found = [Query(each.id, codes) for each, codes in workloads.encoded(path)]
        origin = Path(path).name
    found.sort(key=lambda query: len(query.codes))
    return [found[k] for k in spread(len(found), arguments.queries_subset)], origin


def sizes_of(arguments: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield kind, and length or entries, of each database."""
    yield from (("uniform", length) for length in arguments.lengths)
    yield from (("swissprot", count) for count in arguments.entries)
    if arguments.database:
        yield "file", 0


def targets_of(
    kind: str, size: int, arguments: argparse.Namespace, queries: list[Query]
) -> Targets:
    if kind == "file":
        name = Path(arguments.database).name
        return Targets(name, kind, _from_file(arguments.database), np.empty(0, np.intp))
    if kind == "uniform":
        made = workloads.many(np.full(arguments.sequences, size))
        name = f"equal targets of {size}"
    else:
        made = workloads.many(workloads.swissprot_lengths(size))
        name = "lengths of Swiss-Prot"
    planted = workloads.plant(made, Sequences.of([query.codes for query in queries]))
    return Targets(name, kind, made, planted)


def _from_file(path: str) -> Sequences:
    """Return the sequences of a FASTA file or an indexed database, the longest first."""
    if is_database(path):
        return Database.open(path).sequences
    found = workloads.from_file(path)
    return found.select(np.argsort(-found.lengths, kind="stable"))
