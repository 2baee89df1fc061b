"""Pairwise mApping Format (PAF), as of minimap2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from glsw.output.cigar import cigar, edits, operations
from glsw.output.format import in_a_line
from glsw.results import Hsp, SearchResult


def write(result: SearchResult, stream: TextIO) -> None:
    r"""Write a line for each high-scoring pair.

    The twelve columns are name, length, start and end of the query as given, its strand, name,
    length, start and end of the target, equal letters, letters of the alignment with gaps, and 255,
    mapping quality not known. Here starts count from 0 and ends are not included, as PAF has it.

    Tags: ``AS``, ``NM``, ``ZE``, ``ZB`` and ``ZF`` as in `glsw.output.sam`, and ``cg``, the CIGAR
    along the target. Of a translated query places and length are in nucleotides, columns 10 and 11
    and the CIGAR in amino acids, each worth three letters of the query.

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
    for hit in result:
        for hsp in hit.hsps:
            fields = map(in_a_line, _fields(result, hsp))
            stream.write("\t".join(fields) + "\n")


def _fields(result: SearchResult, hsp: Hsp) -> Iterator[object]:
    found, context = hsp.alignment, hsp.context
    width = found.scoring.alphabet.width
    first, last = sorted(hsp.query_place)
    runs = operations(found)
    yield from (result.query.id, context.length * width, (first - 1) * width, last * width)
    yield "+" if context.strand > 0 else "-"
    yield from (found.target.id, len(found.target))
    yield from (found.target_start * width, found.target_end * width)
    yield sum(length for letter, length in runs if letter == "=")
    yield sum(length for _, length in runs)
    yield 255
    yield f"AS:i:{found.units}"
    yield f"NM:i:{edits(found)}"
    if hsp.evalue is not None:
        yield f"ZE:f:{hsp.evalue:.3g}"
    if hsp.bits is not None:
        yield f"ZB:f:{hsp.bits:.1f}"
    if context.frame:
        yield f"ZF:i:{context.frame}"
    yield f"cg:Z:{cigar(found)}"
