"""One line a hit, columns apart by tabs, for programs."""

from __future__ import annotations

from typing import TextIO

from glsw.result import Hit, SearchResult

COLUMNS = (
    "query",
    "rank",
    "target",
    "score",
    "identity",
    "identities",
    "gaps",
    "columns",
    "query_start",
    "query_end",
    "query_length",
    "target_start",
    "target_end",
    "target_length",
    "cigar",
    "description",
)
"""The first line of the output.

``identity`` is in percent of the ``columns`` of the alignment; ``gaps`` counts columns. Starts and
ends count from 1 and include the last residue, lengths are those of the whole sequences.
``cigar`` reads the query relative to the target (``=`` equal, ``X`` different, ``I`` only in the
query, ``D`` only in the target). ``description`` is the target's.
"""

HEADER = "\t".join(COLUMNS) + "\n"


def write(result: SearchResult, stream: TextIO) -> None:
    r"""Write the `COLUMNS` of each hit, without the header.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"]), stream)
    >>> stream.getvalue().split("\t")[:8]
    ['query', '1', 'target 1', '16', '80.00', '4', '1', '5']
    """
    stream.write("".join(f"{_line(result, hit)}\n" for hit in result))


def _line(result: SearchResult, hit: Hit) -> str:
    found = hit.alignment
    width = found.scoring.alphabet.width
    values = (
        result.query.id,
        hit.rank,
        hit.target.id,
        hit.score,
        f"{100 * found.identity:.2f}",
        found.identities,
        found.gaps,
        found.columns,
        found.query_start + 1,
        found.query_end,
        len(result.query) // width,
        found.target_start + 1,
        found.target_end,
        len(hit.target) // width,
        found.cigar,
        hit.target.description,
    )
    return "\t".join(" ".join(str(value).split()) for value in values)
