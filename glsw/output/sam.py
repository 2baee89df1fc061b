"""Sequence Alignment/Map (SAM 1.6), of which readers need the names of all targets first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from glsw.output.blast import is_nucleic
from glsw.output.cigar import cigar, edits, operations
from glsw.output.format import in_a_line, program
from glsw.results import Alignment, Hit, Hsp, SearchResult
from glsw.sequences.records import Record

UNMAPPED, REVERSE, SECONDARY, SUPPLEMENTARY = 0x4, 0x10, 0x100, 0x800

_NO_NAME = re.compile(r"[^!-?A-~]")  # characters that names of reads must not have
_NO_TARGET = re.compile(r"""[\\,"'`()\[\]{}<>]|[^!-~]""")  # nor names of targets
_NO_LETTER = re.compile(r"[^A-Za-z=.]")  # nor sequences
_LONGEST = 254  # characters of a name


def header(targets: Iterable[tuple[str, int]], command: str) -> str:
    r"""Return the lines of the format, of each target and of the program.

    Parameters
    ----------
    targets : iterable of (str, int)
        Name and letters of each sequence of the database.
    command : str
        The command line, perhaps empty.

    Raises
    ------
    ValueError
        If two targets have one name, which SAM does not allow.

    Examples
    --------
    >>> header([("chr1", 1000)], "").splitlines()[:2]
    ['@HD\tVN:1.6\tSO:unsorted\tGO:query', '@SQ\tSN:chr1\tLN:1000']
    """
    lines, seen = ["@HD\tVN:1.6\tSO:unsorted\tGO:query"], set()
    for name, length in targets:
        shown = _target_name(name)
        if shown in seen:
            raise ValueError(f"SAM needs different names, {shown} is that of two targets")
        seen.add(shown)
        lines.append(f"@SQ\tSN:{shown}\tLN:{length}")
    name, version = program()
    line = f"@PG\tID:{name}\tPN:{name}\tVN:{version}"
    lines.append(f"{line}\tCL:{in_a_line(command)}" if command else line)
    return "\n".join([*lines, ""])


def write(result: SearchResult, stream: TextIO) -> None:
    """Write a record for each high-scoring pair, or one that says that there is none, see `Writer`.

    Nothing is known of what was written of the query before.
    """
    Writer()(result, stream)


class Writer:
    """Writes a record for each high-scoring pair, or one that says that there is none.

    Of the last query it remembers where its pairs were: several results of one may follow each
    other, as those of several alignments of a pair of sequences do.

    Notes
    -----
    The first pair is primary. A further one that shares more than half of its place on the query,
    or of the other's, with one that is not secondary is secondary (0x100); else it is
    supplementary (0x800). On the minus strand (0x10) the reverse complement of the query stands
    there. SEQ is always the whole query, soft-clipped where not aligned, and MAPQ 255: unknown.
    Letters that SAM does not have, for example the stop ``*``, are N, in proteins X; characters of
    names that it does not have are ``_``.

    A translated query is the protein of its frame, and never on the minus strand.

    Tags: ``AS`` the score in integer units (times ten for a matrix with one decimal), ``NM``
    letters that differ or stand opposite a gap, ``MD``, ``ZE`` E-value and ``ZB`` bits where known;
    ``ZF`` the frame and ``ZS`` the place of the first letter in the query, where it was translated.
    """

    def __init__(self) -> None:
        self._query: Record | None = None
        self._taken: list[tuple[int, int]] = []

    def __call__(self, result: SearchResult, stream: TextIO) -> None:
        """Write the records of one result."""
        if result.query is not self._query:
            self._query, self._taken = result.query, []
        if not result.hits:
            stream.write(_line(_unmapped(result.query)))
        for hit in result:
            for hsp in hit.hsps:
                stream.write(_line(_fields(result, hsp, self._flag(hit, hsp))))

    def _flag(self, hit: Hit, hsp: Hsp) -> int:
        place = min(hsp.query_place), max(hsp.query_place)
        flag = 0
        if hit.rank > 1 or hsp is not hit.hsps[0]:
            secondary = any(_overlap(place, other) for other in self._taken) or not self._taken
            flag = SECONDARY if secondary else SUPPLEMENTARY
        if flag != SECONDARY:
            self._taken.append(place)
        return flag | REVERSE if hsp.context.strand < 0 and not hsp.context.frame else flag


def _line(fields: Iterable[object]) -> str:
    return "\t".join(map(str, fields)) + "\n"


def _unmapped(query: Record) -> tuple[object, ...]:
    letters = re.sub(_NO_LETTER, "N", query.letters) or "*"
    return _name(query.id), UNMAPPED, "*", 0, 0, "*", "*", 0, 0, letters, "*"


def _fields(result: SearchResult, hsp: Hsp, flag: int) -> Iterator[object]:
    found = hsp.alignment
    width = found.scoring.alphabet.width
    clipped = found.query_start * width, len(found.query) - found.query_end * width
    before, after = (f"{count}S" if count else "" for count in clipped)
    stranger = "N" if is_nucleic(found.scoring.alphabet) else "X"
    yield from (_name(result.query.id), flag, _target_name(found.target.id))
    yield from (found.target_start * width + 1, 255, f"{before}{cigar(found)}{after}")
    yield from ("*", 0, 0, re.sub(_NO_LETTER, stranger, found.query.letters), "*")
    yield f"AS:i:{found.units}"
    yield f"NM:i:{edits(found)}"
    yield f"MD:Z:{_mismatches(found, stranger)}"
    if hsp.evalue is not None:
        yield f"ZE:f:{hsp.evalue:.3g}"
    if hsp.bits is not None:
        yield f"ZB:f:{hsp.bits:.1f}"
    if hsp.context.frame:
        yield f"ZF:i:{hsp.context.frame}"
        yield f"ZS:i:{hsp.query_place[0]}"


def _mismatches(found: Alignment, stranger: str) -> str:
    """Return the letters of the target where they differ, and how many are equal between."""
    target = re.sub(r"[^A-Z-]", stranger, found.rows()[2].upper())
    text, equal, at = "", 0, 0
    for letter, length in operations(found):
        part = target[at : at + length]
        at += length
        if letter == "=":
            equal += length
        elif letter == "X":
            text += f"{equal}{'0'.join(part)}"
            equal = 0
        elif letter == "D":
            text += f"{equal}^{part}"
            equal = 0
    return f"{text}{equal}"


def _overlap(place: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether they share more than half of the shorter."""
    common = min(place[1], other[1]) - max(place[0], other[0]) + 1
    return 2 * common > min(last - first + 1 for first, last in (place, other))


def _name(name: str) -> str:
    return re.sub(_NO_NAME, "_", name)[:_LONGEST] or "*"


def _target_name(name: str) -> str:
    shown = re.sub(_NO_TARGET, "_", name) or "_"
    return f"_{shown[1:]}" if shown[0] in "*=" else shown
