"""Pairwise mApping Format (PAF), as of minimap2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from glsw.alignment.columns import TABLE
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output import sam
from glsw.output.cigar import compared, mapping_qualities, reversed_cigar, significance
from glsw.output.format import of_rows, with_more

COLUMNS = (
    "name of the query",
    "length of the query as given",
    "start on the query, counted from 0",
    "end on the query, exclusive",
    "strand of the query relative to the target, `+` or `-`",
    "name of the target",
    "length of the target",
    "start on the target, counted from 0",
    "end on the target, exclusive",
    "number of equal letters",
    "columns of the alignment",
    "mapping quality, 255 if unknown, see `glsw.output.cigar.mapping_qualities`",
)
"""What the twelve columns say."""

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
    stream.write("".join(with_more(of_rows(result, _lines), result)))


def _lines(table: HitTable) -> list[str]:
    width, found = table.scoring.alphabet.width, compared(table)
    strands = table.query_contexts.strands * table.target_contexts.strands
    edits = [count - equal for count, equal in zip(found.columns, found.equal, strict=True)]
    minus = (table.target_contexts.strands < 0).tolist()

    def texts(name: str) -> list[str]:
        return TABLE[name].texts(table)

    def letters(name: str) -> list[str]:
        return [str(width * count) for count in TABLE[name].values(table)]

    fields = (
        texts("query"),
        letters("query_length"),
        letters("query_start"),
        letters("query_end"),
        ["+" if strand > 0 else "-" for strand in strands.tolist()],
        texts("target"),
        letters("target_length"),
        letters("target_start"),
        letters("target_end"),
        map(str, found.equal),
        map(str, found.columns),
        map(str, table.made(mapping_qualities)),
        [f"AS:i:{units}" for units in table.units.tolist()],
        map("NM:i:{}{}".format, edits, significance(table)),
        map("cg:Z:{}\n".format, map(_along_target, found.cigars, minus)),
    )
    return list(map("\t".join, zip(*fields, strict=True)))


def _along_target(cigar: str, minus: bool) -> str:
    return reversed_cigar(cigar) if minus else cigar
