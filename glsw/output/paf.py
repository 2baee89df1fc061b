"""Pairwise mApping Format (PAF), as of minimap2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from glsw.alignment.columns import TABLE, Column, Values, array
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output import sam
from glsw.output.cigar import along_target, compared, mapping_qualities, significance, strands
from glsw.output.format import of_columns, with_more


def _letters(name: str) -> Values:
    """Return a column of `TABLE` in letters."""
    values = TABLE[name].values
    return lambda table: [table.scoring.alphabet.width * count for count in values(table)]


def _edits(table: HitTable) -> list[str]:
    found = table.made(compared)
    rows = zip(found.columns, found.equal, significance(table), strict=True)
    return [f"{columns - equal}{tags}" for columns, equal, tags in rows]


COLUMNS = (
    TABLE["query"]._replace(about="name of the query"),
    Column("length of the query as given", _letters("query_length")),
    Column("start on the query, counted from 0", _letters("query_start")),
    Column("end on the query, exclusive", _letters("query_end")),
    Column("strand of the query relative to the target, `+` or `-`", strands),
    TABLE["target"]._replace(about="name of the target"),
    Column("length of the target", _letters("target_length")),
    Column("start on the target, counted from 0", _letters("target_start")),
    Column("end on the target, exclusive", _letters("target_end")),
    Column("number of equal letters", lambda table: table.made(compared).equal),
    Column("columns of the alignment", lambda table: table.made(compared).columns),
    Column(
        "mapping quality, 255 if unknown, see `glsw.output.cigar.mapping_qualities`",
        lambda table: table.made(mapping_qualities),
    ),
)
"""The twelve columns."""

_lines = of_columns(
    (
        *COLUMNS,
        Column("score", array("units"), "AS:i:%s"),
        Column("edit distance and tags of significance", _edits, "NM:i:%s"),
        Column("CIGAR", along_target, "cg:Z:%s"),
    )
)

_AS_SAM = ("AS:i", "ZE:f", "ZL:f", "ZB:f", "ZF:i", "ZG:i", "ZN:i", "ZP:i")
TAGS: Mapping[str, str] = {name: sam.TAGS[name] for name in _AS_SAM} | {
    "NM:i": "edit distance (mismatches and gaps)",
    "cg:Z": "CIGAR along the target, with `=` and `X`",
}
"""Tags with their types, and what they say."""


def write(result: SearchResult, stream: TextIO) -> None:
    r"""Write a line for each high-scoring pair.

    `COLUMNS` are followed by `TAGS`. Of what was translated places and length are in
    nucleotides, columns 10 and 11 and the CIGAR in amino acids, each worth three of its letters.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0), stream)
    >>> fields = stream.getvalue().split("\t")
    >>> fields[:12]
    ['query', '10', '4', '9', '+', 'target 1', '5', '1', '5', '4', '5', '255']
    >>> fields[-1]
    'cg:Z:2=1I2=\n'
    """
    stream.write("".join(with_more(_lines(result), result)))
