"""Alignments of three sequences as users get them: objects of Biopython."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from glsw.alignment.alignment import biopython_alignment
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Paths
from glsw.scoring.three import Scoring3
from glsw.sequences.records import Record

if TYPE_CHECKING:
    import Bio.Align

    from glsw.engines.base import Progress
    from glsw.engines.three.base import Engine3

MARKS = "clustal_consensus"
"""The column annotation of an alignment that has the line of `marks`."""


def alignment_of(
    paths: Paths, triples: Batch, records: Sequence[Record], scoring: Scoring3
) -> Bio.Align.Alignment:
    """Return the first path as an alignment of the three records, with its score and `marks`."""
    coordinates = paths.coordinates(0) * scoring.alphabet.width
    score = scoring.display(int(paths.ends.score[0]))
    alignment = biopython_alignment(records, coordinates, score)
    alignment.column_annotations = {MARKS: marks(paths, triples, scoring)}  # type: ignore[attr-defined]
    return alignment


def alignments_of(
    engine: Engine3,
    triples: Batch,
    records: Sequence[Record],
    min_score: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Bio.Align.Alignment]:
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
        yield alignment_of(paths, triples, records, scoring)


def marks(paths: Paths, triples: Batch, scoring: Scoring3) -> str:
    """Return a character per column of the first path, three per column of codons.

    ``*`` stands for three equal letters, ``:`` for three of which any two score above 0, ``.``
    for three of which two do, and a space for other columns and those with gaps.
    """
    moves, matrix = paths.moves(0), scoring.pairs.matrix
    steps = (moves >> np.arange(3, dtype=np.uint8)[:, None] & 1).astype(np.int64)
    after = paths.ends.end[0][:, None] - steps.sum(axis=1, keepdims=True) + steps.cumsum(axis=1)
    whole = moves == 7
    x, y, z = (codes[at[whole] - 1] for codes, at in zip(triples[0], after, strict=True))
    good = np.stack([matrix[x, y], matrix[x, z], matrix[y, z]]) > 0
    symbols = np.full(len(moves), " ")
    symbols[whole] = np.select(
        [(x == y) & (y == z), good.all(axis=0), good.any(axis=0)], ["*", ":", "."], " "
    )
    return "".join(symbol * scoring.alphabet.width for symbol in symbols.tolist())
