"""The columns of the table of a search: their names and their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.alignment.hsp_table import HspTable

_Places = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

DESCRIPTIONS: Mapping[str, str] = {
    "query": "id of the query",
    "rank": "of the hit, 1 for the best of the query",
    "hsp": "number of the alignment among those of the hit, 1 for the best",
    "target": "id of the target",
    "score": "in units of the matrix",
    "bits": "score in bits; nothing where there are no statistics",
    "evalue": "E-value; nothing where there are no statistics",
    "identity": "fraction of the columns that have equal letters, from 0 to 1",
    "identities": "columns with equal letters",
    "positives": "columns with two letters that score above 0",
    "gaps": "columns with a gap",
    "columns": "of the alignment",
    "strand": "of the query, `+` or `-`",
    "frame": "reading frame of the query, 1 to 3 and -1 to -3; 0 if it was not translated",
    "query_start": "first aligned letter on the query as given, counted from 0, on both strands",
    "query_end": "the letter after the last one, so that the difference is a length",
    "query_length": "letters of the query as given",
    "target_start": "first aligned letter on the target as given, counted from 0",
    "target_end": "the letter after the last one",
    "target_length": "letters of the target as given",
    "target_frame": "reading frame of the target; 0 if it was not translated",
    "cigar": "of the searched query, on the minus strand its reverse complement, along the target: "
    "`=` equal, `X` different, `I` only in the query, `D` only in the target",
    "description": "of the target",
}
"""What the columns say, see `COLUMNS`."""

COLUMNS = tuple(DESCRIPTIONS)
"""The columns of `SearchResult.rows` and of the format tsv, per high-scoring pair."""


def columns_of(table: HspTable) -> list[list[Any]]:
    """Return the values of `COLUMNS`, a list each with a value per row of a table."""
    queries, targets = table.queries, table.targets
    identities, columns = table.identities, table.columns
    of_queries, of_targets = table.query_contexts, table.target_contexts
    known = (
        [None if math.isnan(value) else value for value in each.tolist()]
        for each in (table.bits, table.evalues)
    )
    return [
        [queries[k].given.id for k in table.query.tolist()],
        table.rank.tolist(),
        table.number.tolist(),
        [targets[k].given.id for k in table.target.tolist()],
        list(map(table.scoring.display, table.units.tolist())),
        *known,
        (identities / np.maximum(1, columns)).tolist(),
        *(each.tolist() for each in (identities, table.positives, table.gaps, columns)),
        ["+" if strand > 0 else "-" for strand in of_queries.strands.tolist()],
        of_queries.frames.tolist(),
        *_ranges(table.query_places, of_queries.strands < 0),
        of_queries.lengths.tolist(),
        *_ranges(table.target_places, of_targets.strands < 0),
        of_targets.lengths.tolist(),
        of_targets.frames.tolist(),
        table.cigars(),
        [targets[k].given.description for k in table.target.tolist()],
    ]


def _ranges(places: _Places, minus: npt.NDArray[np.bool_]) -> Iterator[list[int]]:
    """Yield starts from 0 and half-open ends of places, which count from 1; some descend.

    >>> [*_ranges((np.array([3, 9]), np.array([5, 7])), np.array([False, True]))]
    [[2, 6], [5, 9]]
    """
    first, last = places
    yield (np.where(minus, last, first) - 1).tolist()
    yield np.where(minus, first, last).tolist()
