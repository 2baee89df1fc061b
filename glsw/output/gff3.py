"""GFF3, version 1.26: locations of queries on the targets, for genome browsers and annotation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TextIO
from urllib.parse import quote

import numpy as np

from glsw.alignment.columns import TABLE, Column
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output.cigar import along_target, strands
from glsw.output.format import of_columns
from glsw.words import in_a_line

HEADER = "##gff-version 3\n"

ATTRIBUTES: Mapping[str, str] = {
    "Name": "name of the query",
    "Target": "name of the query, its first and last aligned letter, 1-based; the feature's "
    "strand is the query's strand on the target",
    "Gap": "alignment along the ascending target: `M` pairs, `I` only in the query, `D` only in "
    "the target; in amino acids if one side was translated",
    "score": "in units of the matrix",
    "bits": "bit score, if there are statistics",
    "identity": "fraction of the columns that have equal letters, from 0 to 1",
}
"""Attributes, and what they say."""

_SEQUENCE_ID, _VALUE = "!$*+-.:?@^_|", " !\"#$'()*+-./:<>?@[\\]^_`{|}~"
_PAIRS = re.compile(r"(?:\d+[=X])+")


def write(result: SearchResult, stream: TextIO) -> None:
    """Write a feature on the target for each high-scoring pair.

    Its type is `nucleotide_match`, `protein_match` or, if one side was translated,
    `translated_nucleotide_match`; its score is the E-value. `ATTRIBUTES` follow. A comment says how
    many hits are not listed.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0)
    >>> write(result, sys.stdout)
    target%201	glsw	protein_match	2	5	0.11	+	.	Name=query;Target=query 5 9 +;\
Gap=M2 I1 M2;score=16;bits=10.8;identity=0.8000
    """
    stream.write("".join(_lines(result)))
    if result.unlisted:
        stream.write(f"# {in_a_line(result.query.id)}: {result.unlisted}\n")


def _kinds(table: HitTable) -> list[str]:
    """Return the types of features."""
    alphabet = table.scoring.alphabet
    kind = "nucleotide" if alphabet.nucleotides or alphabet.width > 1 else "protein"
    frames = (table.query_contexts.frames != 0) | (table.target_contexts.frames != 0)
    return ["translated_nucleotide_match" if each else f"{kind}_match" for each in frames.tolist()]


def _attributes(table: HitTable) -> list[str]:
    """Return what stands last, of each of `ATTRIBUTES` that is known."""
    columns = (TABLE[name].texts(table) for name in ("query", "score", "bits", "identity"))
    places = np.sort(table.query_places, axis=0).tolist()
    lines = []
    for query, score, bits, identity, first, last, cigar in zip(
        *columns, *places, along_target(table), strict=True
    ):
        name = quote(query, _VALUE)
        lines.append(
            f"Name={name};Target={name.replace(' ', '%20')} {first} {last} +;"
            f"Gap={_gap(cigar)};score={score};"
            f"{f'bits={bits};' if bits else ''}identity={identity}"
        )
    return lines


_lines = of_columns(
    (
        TABLE["target"]._replace(text=lambda name: quote(in_a_line(name), _SEQUENCE_ID)),
        Column("source", lambda table: ["glsw"] * len(table)),
        Column("type", _kinds),
        Column("start, counted from 1", lambda table: np.minimum(*table.target_places).tolist()),
        Column("end, inclusive", lambda table: np.maximum(*table.target_places).tolist()),
        Column(
            "E-value",
            lambda table: [text or "." for text in TABLE["evalue"].texts(table)],
        ),
        Column("strand of the query on the target", strands),
        Column("phase", lambda table: ["."] * len(table)),
        Column("attributes", _attributes),
    )
)


def _gap(cigar: str) -> str:
    """Return the attribute Gap of a CIGAR.

    >>> _gap("2=1X3D4=1I")
    'M3 D3 M4 I1'
    """
    pairs = _PAIRS.sub(lambda run: f"{sum(map(int, re.findall(r'[0-9]+', run[0])))}M", cigar)
    return " ".join(kind + length for length, kind in re.findall(r"(\d+)(\D)", pairs))
