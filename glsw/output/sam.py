"""Sequence Alignment/Map (SAM 1.6), with a header that lists all targets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import groupby
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from glsw.alignment.columns import Column, array, of_target
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable, compete
from glsw.output.blast import is_nucleic
from glsw.output.cigar import compared, mapping_qualities, significance
from glsw.output.format import Format, of_rows, program, with_more
from glsw.sequences.nucleic import kind_of
from glsw.sequences.query import Context
from glsw.sequences.records import Record
from glsw.words import in_a_line

UNMAPPED, REVERSE, SECONDARY, SUPPLEMENTARY = 0x4, 0x10, 0x100, 0x800

TAGS: Mapping[str, str] = {
    "AS:i": "score in integer units: times ten for a matrix with one decimal",
    "NM:i": "edit distance (mismatches and gaps), unless the target was translated",
    "MD:Z": "mismatching letters of the target, and the numbers of matches between them, likewise",
    "ZE:f": "E-value, if there are statistics",
    "ZL:f": "decimal logarithm of an E-value above 0: in BAM `ZE` is 0 below 1e-45",
    "ZB:f": "bit score, if there are statistics",
    "ZF:i": "reading frame of the query, if translated",
    "ZS:i": "position of its first aligned nucleotide, counted from 1, if translated",
    "ZG:i": "reading frame of the target, if translated",
    "ZN:i": "in the first record of a query, the number of hits within the limits not listed",
    "ZP:i": "likewise, the number of listed hits with further alignments that are not listed",
    "SA:Z": "if a query has several parts, the other records that are not secondary, each as name, "
    "position, strand, CIGAR, MAPQ and NM (0 if the target was translated)",
    "RG:Z": "read group, with `--read-group`",
}
"""Tags with their types, and what they say."""

_NO_NAME = re.compile(r"[^!-?A-~]")  # characters that names of reads must not have
_NO_TARGET = re.compile(r"""[\\,"'`()\[\]{}<>]|[^!-~]""")  # nor names of targets
_NO_LETTER = re.compile(r"[^A-Za-z=.]")  # nor sequences
_U_TO_T = str.maketrans("Uu", "Tt")
_NO_QUALITY = re.compile(r"[^!-~]")  # nor qualities
_READ_GROUP = re.compile(r"@RG(\t[A-Za-z][A-Za-z0-9]:[ -~]+)+")
_LONGEST = 254  # characters of a name


def sam_format(read_group: str = "") -> Format:
    r"""Return the format, in which all records are of a read group if one is given.

    Parameters
    ----------
    read_group : str
        Its line in the header, such as ``"@RG\tID:run1\tSM:sample"``; ``\t`` may be the two
        characters too.

    Raises
    ------
    ValueError
        If it is no such line.

    Examples
    --------
    >>> sam_format("@RG\tSM:sample")
    Traceback (most recent call last):
        ...
    ValueError: read group '@RG\tSM:sample': '@RG\tID:name', perhaps with further fields, expected
    """
    line, name = read_group.replace("\\t", "\t"), ""
    if line:
        found = re.search(r"\tID:([^\t]+)", line) if _READ_GROUP.fullmatch(line) else None
        if not found:
            shown = ascii(read_group).replace("\\\\", "\\")
            raise ValueError(
                rf"read group {shown}: '@RG\tID:name', perhaps with further fields, expected"
            )
        name = found[1]
    of_all, writer = partial(header, read_group=line), partial(Writer, read_group=name)
    return Format(write, of_all, writer=writer, maps=True)


def header(targets: Iterable[tuple[str, int]], command: str, read_group: str = "") -> str:
    r"""Return the lines of the format, of each target, of the read group and of the program.

    Parameters
    ----------
    targets : iterable of (str, int)
        Name and letters of each sequence of the database.
    command : str
        The command line, perhaps empty.
    read_group : str
        The whole line, perhaps empty.

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
            raise ValueError(f"SAM needs different names, {shown} is the name of two targets")
        seen.add(shown)
        lines.append(f"@SQ\tSN:{shown}\tLN:{length}")
    if read_group:
        lines.append(read_group)
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
    or of the other's, with a better one that is not secondary is secondary (0x100); else it is
    supplementary (0x800). On the minus strand (0x10) the reverse complement of the query stands
    there. SEQ is always the whole query, soft-clipped where not aligned, and QUAL its qualities, if
    it has some (FASTQ), in the same direction; ``*`` for a translated one, and if a character is
    none of SAM. MAPQ is that of `glsw.output.cigar.mapping_qualities`. Letters that SAM does not
    have, for example the stop ``*``, are N, in proteins X; RNA is written with T, for which BAM has
    a code; characters of names that SAM does not have are ``_``.

    A translated query is the protein of its frame, and never on the minus strand. A translated
    target is shown as given: places and CIGAR are in its nucleotides, three per pair of residues
    (``M``) and per residue opposite a gap, on its minus strand (0x10) too; SEQ is ``*``.

    The tags are `TAGS`.
    """

    def __init__(self, done: int = 0, read_group: str = "") -> None:
        self._group = f"\tRG:Z:{read_group}" if read_group else ""
        self._query: Record | None = None
        self._taken: list[tuple[int, int]] = []

    def __call__(self, result: SearchResult, stream: TextIO) -> None:
        """Write the records of one result."""
        if result.query is not self._query:
            self._query, self._taken = result.query, []
        if not len(result):
            stream.write("\t".join(map(str, _unmapped(result.query))) + f"{self._group}\n")
            return
        table, name = result.listed.table, _name(result.query.id)
        nucleic = is_nucleic(table.scoring.alphabet)
        letters: dict[int, str] = {}
        lines = []
        rows = of_rows(result, _rows)
        flags = [0] * len(rows)
        for k in sorted(range(len(rows)), key=lambda k: (not rows[k].best, -rows[k].units)):
            flags[k] = self._flag(rows[k])
        parts = [k for k, flag in enumerate(flags) if not flag & SECONDARY]
        for k, (row, flag) in enumerate(zip(rows, flags, strict=True)):
            if row.query not in letters:
                shown = table.queries[row.query]
                found = _letters(shown.record.letters, nucleic)
                letters[row.query] = f"{found}\t{_quality(shown.given, shown.context)}"
            sequence = "*\t*" if row.of_nucleotides else letters[row.query]
            others = [rows[other].as_other for other in parts if k in parts and other != k]
            tags = f"{row.tags}\tSA:Z:{''.join(others)}" if others else row.tags
            lines.append(f"{name}\t{flag}\t{row.place}\t*\t0\t0\t{sequence}\t{tags}{self._group}\n")
        stream.write("".join(with_more(lines, result)))

    def _flag(self, row: _SamHsp) -> int:
        flag = 0
        if not row.best:
            secondary = any(compete(*row.on_query, *other) for other in self._taken)
            flag = SECONDARY if secondary or not self._taken else SUPPLEMENTARY
        if flag != SECONDARY:
            self._taken.append(row.on_query)
        return flag | REVERSE if row.reverse else flag


class _SamHsp(NamedTuple):
    """What is written of a high-scoring pair, whatever was written before it."""

    query: int
    best: bool
    reverse: bool
    of_nucleotides: bool
    on_query: tuple[int, int]
    place: str
    tags: str
    units: int
    edits: int

    @property
    def as_other(self) -> str:
        """What other records of the query say of it, see ``SA:Z`` of `TAGS`."""
        name, position, quality, cigar = self.place.split("\t")
        strand = "-" if self.reverse else "+"
        return f"{name},{position},{strand},{cigar},{quality},{self.edits};"


def _unmapped(query: Record) -> tuple[object, ...]:
    letters = _letters(query.letters, kind_of([query.letters]).nucleic is not False) or "*"
    quality = _quality(query)
    return _name(query.id), UNMAPPED, "*", 0, 0, "*", "*", 0, 0, letters, quality


def _quality(query: Record, context: Context | None = None) -> str:
    """Return the qualities of a query in a context, ``*`` if it has none that SAM can have."""
    quality = query.quality
    if not quality or (context and context.frame) or re.search(_NO_QUALITY, quality):
        return "*"
    return quality[::-1] if context and context.strand < 0 else quality


def _letters(letters: str, nucleic: bool) -> str:
    if nucleic:
        return re.sub(_NO_LETTER, "N", letters).translate(_U_TO_T)
    return re.sub(_NO_LETTER, "X", letters)


def _translated(table: HitTable) -> npt.NDArray[np.bool_]:
    """Return whether targets were translated; these are shown as nucleotides."""
    return table.target_contexts.frames.astype(bool)


def _letters_of_residue(table: HitTable) -> npt.NDArray[np.int64]:
    return np.where(_translated(table), 3, table.scoring.alphabet.width)


def _starts(table: HitTable) -> npt.NDArray[np.int64]:
    of_residues = table.runs.start[:, 1] * _letters_of_residue(table) + 1
    return np.where(_translated(table), np.minimum(*table.target_places), of_residues)


def _cigars(table: HitTable) -> list[str]:
    """Return CIGARs with the letters that are clipped."""
    lengths = np.array([len(table.queries[k].record.codes) for k in table.query.tolist()])
    ends = table.runs.start[:, 0], lengths - table.ends[:, 0]
    cigars, turned = [*table.made(compared).cigars], table.target_contexts.strands < 0
    clips = np.array(ends, np.int64) * _letters_of_residue(table)
    before, after = np.where(turned, clips[::-1], clips).tolist()
    for k in np.flatnonzero(_translated(table)).tolist():
        cigars[k] = _in_nucleotides(cigars[k], turned=bool(turned[k]))
    return list(map("{}{}{}".format, map(_clip, before), cigars, map(_clip, after)))


def _edits(table: HitTable) -> list[int]:
    """Return edit distances, 0 where the target was translated."""
    found = table.made(compared)
    edits = np.array(found.columns, np.int64) - np.array(found.equal, np.int64)
    return list(np.where(_translated(table), 0, edits).tolist())


def _differences(table: HitTable) -> list[str]:
    """Return the tags of differing letters."""
    each = zip(_edits(table), table.made(compared).mismatches, _translated(table), strict=True)
    return ["" if frame else f"\tNM:i:{edits}\tMD:Z:{text}" for edits, text, frame in each]


def _first_nucleotides(table: HitTable) -> list[str]:
    """Return the tag of the place of a translated query."""
    places = zip(table.query_places[0].tolist(), table.query_contexts.frames, strict=True)
    return [f"\tZS:i:{place}" if frame else "" for place, frame in places]


def _rows(table: HitTable) -> list[_SamHsp]:
    (strands, frames, _), of_targets = table.query_contexts, table.target_contexts.strands
    minus = np.where(_translated(table), of_targets < 0, (strands < 0) & (frames == 0))
    columns = (
        table.query.tolist(),
        ((table.rank == 1) & (table.number == 1)).tolist(),
        minus.tolist(),
        _translated(table).tolist(),
        map(tuple, np.sort(table.query_places, axis=0).T.tolist()),
        Column.lines(_PLACE, table, end=""),
        Column.lines(_TAGS, table, "", ""),
        table.units.tolist(),
        _edits(table),
    )
    return list(map(_SamHsp, *columns))


def _in_nucleotides(cigar: str, *, turned: bool) -> str:
    """Return the CIGAR of residues in nucleotides, which are not compared.

    >>> _in_nucleotides("10=2X1D3=", turned=True)
    '9M3D36M'
    """
    kinds = ("M" if kind in "=X" else kind for kind in cigar if not kind.isdigit())
    runs = zip(kinds, map(int, re.findall(r"\d+", cigar)), strict=True)
    joined = [
        f"{3 * sum(count for _, count in group)}{kind}"
        for kind, group in groupby(runs, lambda run: run[0])
    ]
    return "".join(reversed(joined) if turned else joined)


def _clip(letters: int) -> str:
    return f"{letters}S" if letters else ""


def _name(name: str) -> str:
    return re.sub(_NO_NAME, "_", name)[:_LONGEST] or "*"


def _target_name(name: str) -> str:
    shown = re.sub(_NO_TARGET, "_", name) or "_"
    return f"_{shown}" if shown[0] in "*=" else shown


_PLACE = (
    Column("name of the target", of_target("id"), _target_name),
    Column(
        "first aligned letter of the target, counted from 1", lambda table: _starts(table).tolist()
    ),
    Column("mapping quality", lambda table: table.made(mapping_qualities)),
    Column("CIGAR", _cigars),
)
_TAGS = (
    Column("score", array("units"), "AS:i:%s"),
    Column("edit distance and mismatches", _differences),
    Column("significance and frames", significance),
    Column("first aligned nucleotide", _first_nucleotides),
)
