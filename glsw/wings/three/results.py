"""Alignments of three sequences, also as Biopython objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.alignment import biopython_alignment
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Paths
from glsw.sequences.records import Record
from glsw.wings.three.scoring import Scoring3

if TYPE_CHECKING:
    import Bio.Align

    from glsw.engines.base import Progress
    from glsw.wings.three.engines.base import Engine3

MARKS = "clustal_consensus"
"""The column annotation of an alignment that has the line of marks."""
_MARKS = np.array([" ", ".", ":", "*"])
_EQUAL = 3


@dataclass(frozen=True, eq=False)
class Alignment3:
    """An alignment of three sequences.

    Parameters
    ----------
    records : sequence of Record
        The three whole sequences.
    coordinates : ndarray of int64, shape (3, runs + 1)
        Residues of each before the first column, and before the end of each run of columns.
    similar : ndarray of uint8, shape (columns,)
        3 where three letters are equal, 2 where any two of three score above 0, 1 where some two
        do, else 0, as in columns with gaps.
    score : int or float
        In units of the matrix.
    width : int
        Characters of a residue.
    """

    records: Sequence[Record]
    coordinates: npt.NDArray[np.int64]
    similar: npt.NDArray[np.uint8]
    score: int | float
    width: int

    @staticmethod
    def of(
        paths: Paths, triples: Batch, records: Sequence[Record], scoring: Scoring3
    ) -> Alignment3:
        """Return the first path as an alignment of the records of the first triple."""
        score = scoring.display(int(paths.ends.score[0]))
        similar = _similar(paths, triples, records, scoring)
        return Alignment3(records, paths.coordinates(0), similar, score, scoring.alphabet.width)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.similar)

    @property
    def identities(self) -> int:
        """How many columns have three equal letters."""
        return int((self.similar == _EQUAL).sum())

    @property
    def gaps(self) -> int:
        """How many columns have one gap or two."""
        residues = np.diff(self.coordinates)
        return int(residues.max(axis=0)[residues.min(axis=0) == 0].sum())

    @property
    def marks(self) -> str:
        """A character per column, ``*:. ``, or as many as a residue has, see ``similar``."""
        return "".join(_MARKS[self.similar].repeat(self.width).tolist())

    def rows(self) -> list[str]:
        """Return the letters of each sequence, with ``-`` for gaps."""
        width, columns = self.width, np.diff(self.coordinates).max(axis=0).tolist()
        return [
            "".join(
                record.letters[start * width : end * width] or "-" * (count * width)
                for (start, end), count in zip(pairwise(places), columns, strict=True)
            )
            for record, places in zip(self.records, self.coordinates.tolist(), strict=True)
        ]

    def biopython(self, records: Sequence[Record] | None = None) -> Bio.Align.Alignment:
        """Return the alignment as Biopython's, perhaps with other names, with its `marks`."""
        made = biopython_alignment(
            records or self.records, self.coordinates * self.width, self.score
        )
        made.column_annotations = {MARKS: self.marks}  # type: ignore[attr-defined]
        return made


def alignments_of(
    engine: Engine3,
    triples: Batch,
    records: Sequence[Record],
    min_score: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Alignment3]:
    """Yield the alignments of one triple, those with common cells left out, the best first.

    In mode "local" ``min_score`` is 1 unless given; in others there is one alignment.
    """
    scoring = engine.scoring
    found: Iterable[tuple[int, Paths]]
    if scoring.local:
        found, least = engine.disjoint(triples, progress=progress), 1.0
    else:
        found, least = [(0, engine.paths(triples, progress=progress))], -math.inf
    least = least if min_score is None else min_score
    for _, paths in found:
        if scoring.display(int(paths.ends.score[0])) < least:
            return
        yield Alignment3.of(paths, triples, records, scoring)


def _similar(
    paths: Paths, triples: Batch, records: Sequence[Record], scoring: Scoring3
) -> npt.NDArray[np.uint8]:
    """Return how similar the letters of each column of the first path are, see `Alignment3`."""
    moves, matrix = paths.moves(0), scoring.pairs.matrix
    steps = (moves >> np.arange(3, dtype=np.uint8)[:, None] & 1).astype(np.int64)
    after = paths.ends.end[0][:, None] - steps.sum(axis=1, keepdims=True) + steps.cumsum(axis=1)
    whole = moves == 7
    x, y, z = (codes[at[whole] - 1] for codes, at in zip(triples[0], after, strict=True))
    a, b, c = (
        scoring.alphabet.compared(codes, record.letters)[at[whole] - 1]
        for codes, record, at in zip(triples[0], records, after, strict=True)
    )
    good = np.stack([matrix[x, y], matrix[x, z], matrix[y, z]]) > 0
    similar = np.zeros(len(moves), np.uint8)
    similar[whole] = np.where((a == b) & (b == c), _EQUAL, good.any(axis=0) * 1 + good.all(axis=0))
    return similar
