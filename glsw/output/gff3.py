"""GFF3, version 1.26: where queries are on the targets, for genome browsers and annotation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TextIO
from urllib.parse import quote

import numpy as np

from glsw.alignment.columns import TABLE
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable
from glsw.output.cigar import compared, reversed_cigar
from glsw.output.format import of_rows
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
    stream.write("".join(of_rows(result, _lines)))
    if result.unlisted:
        stream.write(f"# {in_a_line(result.query.id)}: {result.unlisted}\n")


def _lines(table: HitTable) -> list[str]:
    frames = (table.query_contexts.frames != 0) | (table.target_contexts.frames != 0)
    same = "nucleotide_match" if table.scoring.alphabet.nucleotides else "protein_match"
    if table.scoring.alphabet.width > 1:
        same = "nucleotide_match"
    places = [np.sort(each, axis=0).tolist() for each in (table.target_places, table.query_places)]
    target_minus = table.target_contexts.strands < 0
    minus = table.query_contexts.strands * table.target_contexts.strands < 0
    texts = {name: TABLE[name].texts(table) for name in ("query", "target", "score", "identity")}
    lines = []
    for k, cigar in enumerate(compared(table).cigars):
        evalue, bits = table.evalues[k], table.bits[k]
        name = quote(texts["query"][k], _VALUE)
        first, last = places[1][0][k], places[1][1][k]
        attributes = [
            f"Name={name}",
            f"Target={name.replace(' ', '%20')} {first} {last} +",
            f"Gap={_gap(reversed_cigar(cigar) if target_minus[k] else cigar)}",
            f"score={texts['score'][k]}",
            *([] if math.isnan(bits) else [f"bits={bits:.1f}"]),
            f"identity={texts['identity'][k]}",
        ]
        fields = (
            quote(texts["target"][k], _SEQUENCE_ID),
            "glsw",
            "translated_nucleotide_match" if frames[k] else same,
            str(places[0][0][k]),
            str(places[0][1][k]),
            "." if math.isnan(evalue) else f"{evalue:.3g}",
            "-" if minus[k] else "+",
            ".",
            ";".join(attributes),
        )
        lines.append("\t".join(fields) + "\n")
    return lines


def _gap(cigar: str) -> str:
    """Return the attribute Gap of a CIGAR.

    >>> _gap("2=1X3D4=1I")
    'M3 D3 M4 I1'
    """
    pairs = _PAIRS.sub(lambda run: f"{sum(map(int, re.findall(r'[0-9]+', run[0])))}M", cigar)
    return " ".join(kind + length for length, kind in re.findall(r"(\d+)(\D)", pairs))
