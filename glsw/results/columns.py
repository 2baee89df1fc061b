"""The columns of the table of a search: their names and their values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glsw.results.hsp_table import HspTable

COLUMNS = (
    "query",
    "rank",
    "hsp",
    "target",
    "score",
    "bits",
    "evalue",
    "identity",
    "identities",
    "positives",
    "gaps",
    "columns",
    "strand",
    "frame",
    "query_start",
    "query_end",
    "query_length",
    "target_start",
    "target_end",
    "target_length",
    "target_frame",
    "cigar",
    "description",
)
"""The columns of `SearchResult.rows` and of the format tsv, per high-scoring pair.

``hsp`` numbers the pairs of a hit from 1, the best. ``bits`` and ``evalue`` may be unknown.
``identity`` is in percent of the ``columns`` of the alignment; ``positives`` score above 0;
``gaps`` counts columns. ``strand`` is that of the query, + or -, ``frame`` its reading frame and
``target_frame`` the target's, 0 if it was not translated. Starts and ends count from 1 and include
the last residue; they are places on the sequences as given, where on the minus strand the start
stands behind the end.
Lengths are those of the whole sequences. ``cigar`` describes the searched query, on the minus
strand its reverse complement, relative to the target (``=`` equal, ``X`` different,
``I`` only in the query, ``D`` only in the target). ``description`` is the target's.
"""


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
        (100 * (identities / np.maximum(1, columns))).tolist(),
        *(each.tolist() for each in (identities, table.positives, table.gaps, columns)),
        ["+" if strand > 0 else "-" for strand in of_queries.strands.tolist()],
        of_queries.frames.tolist(),
        *(each.tolist() for each in (*table.query_places, of_queries.lengths)),
        *(each.tolist() for each in (*table.target_places, of_targets.lengths)),
        of_targets.frames.tolist(),
        table.cigars(),
        [targets[k].given.description for k in table.target.tolist()],
    ]
