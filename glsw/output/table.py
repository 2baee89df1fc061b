"""The ranked list of a search, for people."""

from __future__ import annotations

import shutil
from typing import TextIO

from glsw.alignment.hits import SearchResult
from glsw.alignment.text import WIDTH


def write(result: SearchResult, stream: TextIO, alignments: int | None = None) -> None:
    """Write the list, see `SearchResult.table`, as wide as the terminal, and a blank line.

    Of so many hits ``alignments`` follow, 0 for all.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner, Record
    >>> database = [Record("far", "", "PPPPPP"), Record("near", "by far", "PAWHE")]
    >>> stream = io.StringIO()
    >>> write(Aligner(engine="reference").search("HEAGAWGHEE", database), stream)
    >>> stream.getvalue().splitlines()[0]
    'query query (10 letters): 1 hit in 2 sequences of 11 residues'
    >>> stream.getvalue().splitlines()[2].split()[-5:]
    ['2-5', '5', 'near', 'by', 'far']
    """
    width = shutil.get_terminal_size((WIDTH, 24)).columns if stream.isatty() else WIDTH
    hits = () if alignments is None else result.hits[: alignments or None]
    stream.write("".join(f"{part}\n\n" for part in (result.table(width), *hits)))
