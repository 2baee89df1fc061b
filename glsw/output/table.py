"""The ranked list of a search, for people."""

from __future__ import annotations

import shutil
from typing import TextIO

from glsw.result import Hit, SearchResult

WIDTH = 100
"""Characters of a line where the output is no terminal."""

_TITLES = ("rank", "score", "identity", "query", "target", "length", "name")


def write(result: SearchResult, stream: TextIO) -> None:
    """Write a line about the query and one for each hit.

    The columns are rank, score, identical columns of the alignment in percent, ranges of query and
    target (the first residue is 1, the last is included), residues of the whole target, its id
    and description. Descriptions are cut at the width of the terminal, ids never.

    Examples
    --------
    >>> import sys
    >>> from glsw import Aligner, Record
    >>> database = [Record("far", "", "PPPPPP"), Record("near", "by far", "PAWHE")]
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", database), sys.stdout)
    query query (10 letters): 1 hit in 2 sequences of 11 residues
    rank  score  identity  query  target  length  name
       1     16     80.0%    5-9     2-5       5  near by far
    <BLANKLINE>
    """
    width = shutil.get_terminal_size((WIDTH, 24)).columns if stream.isatty() else WIDTH
    query = result.query
    hits = f"{len(result)} hit" + "s" * (len(result) != 1)
    title = (
        f"query {query.id} ({len(query)} letters): {hits} "
        f"in {result.sequences} sequences of {result.residues} residues"
    )
    lines = [title]
    if result.hits:
        rows = [_TITLES, *map(_row, result)]
        *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
        for row, record in zip(rows, [None, *(hit.target for hit in result)], strict=True):
            aligned = [f"{cell:>{size}}" for cell, size in zip(row[:-1], widths, strict=True)]
            line = "  ".join([*aligned, row[-1]])
            if record:
                line = _with_description(line, record.description, width)
            lines.append(line)
    stream.write("\n".join([*lines, "", ""]))


def _row(hit: Hit) -> tuple[str, ...]:
    found = hit.alignment
    return (
        str(hit.rank),
        str(hit.score),
        f"{found.identity:.1%}",
        f"{found.query_start + 1}-{found.query_end}",
        f"{found.target_start + 1}-{found.target_end}",
        str(len(hit.target) // found.scoring.alphabet.width),
        hit.target.id,
    )


def _with_description(line: str, description: str, width: int) -> str:
    """Append as much of the description as fits.

    >>> _with_description("1 P69905", "hemoglobin subunit alpha", 30)
    '1 P69905 hemoglobin subunit...'
    """
    whole = f"{line} {' '.join(description.split())}".rstrip()
    if len(whole) <= width:
        return whole
    room = width - len("...")
    return f"{whole[:room].rstrip()}..." if room > len(line) + 1 else line
