"""Pairwise mApping Format (PAF), as of minimap2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

import numpy as np

from glsw.alignment.hits import SearchResult
from glsw.alignment.hsp_table import HspTable
from glsw.output import sam
from glsw.output.cigar import compared, mapping_qualities, reversed_cigar, significance
from glsw.output.format import named, of_rows, with_more

COLUMNS = (
    "name of the query",
    "letters of the query as given",
    "start on the query, counted from 0",
    "end on the query, not included",
    "strand of the query relative to the target, `+` or `-`",
    "name of the target",
    "letters of the target",
    "start on the target, counted from 0",
    "end on the target, not included",
    "equal letters",
    "columns of the alignment",
    "mapping quality, 255 if not known, see `glsw.output.cigar.mapping_qualities`",
)
"""What the twelve columns say."""

_AS_SAM = ("AS:i", "ZE:f", "ZL:f", "ZB:f", "ZF:i", "ZG:i", "ZN:i")
TAGS: Mapping[str, str] = {name: sam.TAGS[name] for name in _AS_SAM} | {
    "NM:i": "letters that differ or stand opposite a gap",
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
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"]), stream)
    >>> fields = stream.getvalue().split("\t")
    >>> fields[:12]
    ['query', '10', '4', '9', '+', 'target 1', '5', '1', '5', '4', '5', '255']
    >>> fields[-1]
    'cg:Z:2=1I2=\n'
    """
    stream.write("".join(with_more(of_rows(result, _lines), result)))


def _lines(table: HspTable) -> list[str]:
    width, letters = table.scoring.alphabet.width, compared(table)
    first, last = np.sort(table.query_places, axis=0)
    start, end = np.sort(table.target_places, axis=0)
    queries, targets = table.query_contexts, table.target_contexts
    columns = (
        named(table.queries[k].given.id for k in table.query.tolist()),
        (queries.lengths * width).tolist(),
        ((first - 1) * width).tolist(),
        (last * width).tolist(),
        ["+" if strand > 0 else "-" for strand in (queries.strands * targets.strands).tolist()],
        named(table.targets[k].given.id for k in table.target.tolist()),
        (targets.lengths * width).tolist(),
        ((start - 1) * width).tolist(),
        (end * width).tolist(),
        letters.equal,
        letters.columns,
        mapping_qualities(table),
        [f"AS:i:{units}" for units in table.units.tolist()],
        [
            f"NM:i:{count - equal}"
            for equal, count in zip(letters.equal, letters.columns, strict=True)
        ],
    )
    cigars = [
        reversed_cigar(cigar) if strand < 0 else cigar
        for cigar, strand in zip(letters.cigars, targets.strands.tolist(), strict=True)
    ]
    ends = zip(significance(table), cigars, strict=True)
    return [
        "\t".join(map(str, fields)) + f"{known}\tcg:Z:{cigar}\n"
        for fields, (known, cigar) in zip(zip(*columns, strict=True), ends, strict=True)
    ]
