"""The best alignments of a dot plot, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.alignment.alignment import Alignment
from glsw.engines.base import Progress, ignore
from glsw.sequences.named import NamedSequences
from glsw.sequences.nucleic import is_rna, reversed_strand
from glsw.sequences.records import Record
from glsw.wings.dotplot.axis import Axis
from glsw.wings.dotplot.mapper import Maps, Sign


@dataclass(frozen=True, eq=False)
class Line:
    """An alignment on a dot plot.

    Parameters
    ----------
    sign : {"+", "-"}
        The strand of the target.
    query, target : int
        The numbers of the segments on the axes.
    score : int or float
        In units of the matrix.
    identity : float
        Fraction of identical columns.
    coordinates : ndarray of int64, shape (2, K)
        The ends of its runs, of the target in row 0 and of the query in row 1, counted on the plus
        strand: those of the target fall on the minus strand.
    """

    sign: Sign
    query: int
    target: int
    score: int | float
    identity: float
    coordinates: npt.NDArray[np.int64]


def best_lines(
    aligner: Aligner,
    queries: NamedSequences,
    targets: NamedSequences,
    axes: tuple[Axis, Axis],
    maps: Maps,
    most: int,
    progress: Progress | None = None,
    expect: Progress = ignore,
) -> tuple[Line, ...]:
    """Return the best alignments of the pairs of sequences with the best tiles.

    Parameters
    ----------
    aligner : Aligner
        Of local alignments.
    queries, targets : NamedSequences
    axes : (Axis, Axis)
    maps : dict
        Those of `Mapper.maps`.
    most : int
        How many: of as many pairs and strands, the alignments of each that share no aligned pair.
    progress : callable, optional
        As of `Aligner.alignments`.
    expect : callable, optional
        Called with the cells of each table before it is computed. The number of tables is not known
        earlier.
    """
    found: list[Line] = []
    rows, columns = axes
    for sign, i, j in _best_pairs(axes, maps, most):
        number = columns.segments[j].record
        record: Record = targets.record(number)
        length = len(targets.sequences[number])
        if sign == "-":
            letters = reversed_strand(record.letters, is_rna(record.letters))
            record = Record(record.id, record.description, letters)
        query = queries.record(rows.segments[i].record)
        cells = len(queries.sequences[rows.segments[i].record]) * length
        expect(cells)
        for rank, alignment in enumerate(
            aligner.alignments(query, record, max_alignments=most, progress=progress), start=1
        ):
            found.append(_line(alignment, sign, i, j, length))
            if (
                len(found) >= most
                and alignment.score
                <= sorted((each.score for each in found), reverse=True)[most - 1]
            ):
                break  # the others of this pair score less
            if rank < most:
                expect(cells)
    found.sort(key=lambda line: -line.score)
    return tuple(found[:most])


def _line(alignment: Alignment, sign: Sign, query: int, target: int, length: int) -> Line:
    coordinates = alignment.coordinates.astype(np.int64)
    if sign == "-":
        coordinates = np.stack([length - coordinates[0], coordinates[1]])
    return Line(sign, query, target, alignment.score, alignment.identity, coordinates)


def _best_pairs(axes: tuple[Axis, Axis], maps: Maps, most: int) -> Iterator[tuple[Sign, int, int]]:
    """Yield the strands and pairs of segments with the best tiles, the best first.

    Of equal ones, as many have the cap, that with more such tiles is ahead.
    """
    rows, columns = axes
    highest = max((int(tiles.max(initial=0)) for tiles in maps.values()), default=0)
    ranked = []
    for sign, tiles in maps.items():
        if not tiles.size:
            continue
        best, count = (
            operation.reduceat(operation.reduceat(values, rows.starts), columns.starts, axis=1)
            for operation, values in (
                (np.maximum, tiles),
                (np.add, (tiles == highest).astype(np.int64)),
            )
        )
        ranked += [
            (-score, -int(count[i, j]), sign, i, j)
            for (i, j), score in np.ndenumerate(best)
            if score > 0
        ]
    for *_, sign, i, j in sorted(ranked)[:most]:
        yield sign, i, j
