"""Alignments and hits as text and HTML, for people at a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.words import numbered, visible

if TYPE_CHECKING:
    from glsw.alignment.alignment import Alignment
    from glsw.alignment.hits import Hit, Hsp, SearchResult
    from glsw.sequences.records import Record

_Bools = npt.NDArray[np.bool_]
_Int64 = npt.NDArray[np.int64]

WIDTH = 100
"""Characters of a line of a list of hits, unless its reader's terminal is known."""

_ROW_WIDTH = 60  # characters of a row in a line of text
_MAX_HTML_ROWS = 100
_MAX_NAME = 24  # characters of an id in a repr


@dataclass(frozen=True)
class NumberedRow:
    """A row of an alignment: letters and gaps, and the number of each letter.

    Parameters
    ----------
    text : str
        Letters, and ``-`` for gaps.
    first : int
        Number of the first letter.
    step : int
        Difference of the numbers of neighbouring residues: -1 on the minus strand, 3 or -3 where
        a residue stands for three letters.
    width : int
        Characters of a residue.

    Examples
    --------
    >>> NumberedRow("MK--V", first=30, step=-3).lines(3)
    [('MK-', 30, 25), ('-V', 24, 22)]
    """

    text: str
    first: int
    step: int = 1
    width: int = 1

    def lines(self, characters: int) -> list[tuple[str, int, int]]:
        """Cut the row into lines; return each with its first and its last number.

        Both are the last number so far in a line of gaps only.
        """
        parts, at = [], self.first
        characters -= characters % self.width
        sign = 1 if self.step > 0 else -1
        for k in range(0, len(self.text), characters):
            part = self.text[k : k + characters]
            begin = at
            at += self.step * ((len(part) - part.count("-")) // self.width)
            parts.append((part, begin if at != begin else at - sign, at - sign))
        return parts


def in_lines(
    rows: Mapping[str, NumberedRow], marks: str, after: int, *, blast: bool = False
) -> Iterator[list[str]]:
    r"""Yield the rows of an alignment in lines of 60 characters, the lines of all rows together.

    Parameters
    ----------
    rows : mapping of str to NumberedRow
        The rows by name, equally long.
    marks : str
        A character per column, which stand below the first rows.
    after : int
        The number of these.
    blast : bool
        Write wider and numbers to the left, and none in a line of nothing but gaps.

    Examples
    --------
    >>> rows = {"a": NumberedRow("MKV", 9), "b": NumberedRow("-KI", 1)}
    >>> print("\n".join(next(in_lines(rows, " |:", 1))))
    a  9 MKV 11
          |:
    b  1 -KI 2
    """
    lines = [row.lines(_ROW_WIDTH) for row in rows.values()]
    digits = len(str(max((n for row in lines for _, *ends in row for n in ends), default=0)))
    size, space, align = max(map(len, rows)), "  " if blast else " ", "<" if blast else ">"
    at = 0
    for parts in zip(*lines, strict=True):
        shown = []
        for name, (text, *ends) in zip(rows, parts, strict=True):
            first, last = ("", "") if blast and not text.strip("-") else ends
            cells = f"{name:{size}}", f"{first:{align}{digits}}", text, f"{last}"
            shown.append(space.join(cells).rstrip())
        columns = len(parts[0][0])
        indent = " " * (size + digits + 2 * len(space))
        shown.insert(after, f"{indent}{marks[at : at + columns]}".rstrip())
        at += columns
        yield shown


def preformatted(shown: object) -> str:
    """Return the text of an object as HTML."""
    return f"<pre>{_escaped(str(shown))}</pre>"


def of_alignment(alignment: Alignment) -> str:
    """Return names, score and rows of an alignment."""
    if not alignment.columns:
        return "\n".join([*_names(alignment), f"no alignment, score {alignment.score}"])
    summary = f"score {alignment.score}, {_counts(alignment)}"
    return "\n".join([*_names(alignment), summary, *_lines(alignment)])


def of_hsp(hsp: Hsp, *, names: bool = True) -> str:
    """Return names, score, significance and rows of one alignment of a hit."""
    parts = [f"score {hsp.score}"]
    if hsp.bits is not None:
        parts.append(f"{hsp.bits:.1f} bits")
    if hsp.evalue is not None:
        parts.append(f"E {hsp.evalue:.2g}")
    parts.append(_counts(hsp.alignment))
    if frames := frames_text(hsp.context.frame, hsp.of_target.frame):
        parts.append(f"frame {frames}")
    elif hsp.context.strand < 0:
        parts.append("minus strand")
    places = (hsp.query_place[0], hsp.context.step), (hsp.target_place[0], hsp.of_target.step)
    lines = _lines(hsp.alignment, *places)
    return "\n".join([*(_names(hsp.alignment) if names else ()), ", ".join(parts), *lines])


def of_hit(hit: Hit) -> str:
    """Return rank, title and alignments of a hit."""
    title = visible(f"{hit.rank}. {hit.target.id} {hit.target.description}".rstrip())
    hsps = "\n\n".join(of_hsp(hsp, names=False) for hsp in hit.hsps)
    return f"{title} ({hit.hsps[0].of_target.length} letters)\n{hsps}"


def frames_text(query: int, target: int) -> str:
    """Return the frames of what was translated, of both as in ``+1/-2``; else nothing.

    >>> frames_text(1, -2), frames_text(0, 3), frames_text(0, 0)
    ('+1/-2', '+3', '')
    """
    return "/".join(f"{frame:+}" for frame in (query, target) if frame)


def in_a_line(alignment: Alignment) -> str:
    """Return names, places counted from 1, and the score of an alignment."""
    if not alignment.columns:
        names = f"{short_name(alignment.query)} with {short_name(alignment.target)}"
        return f"{names}, no alignment, score {alignment.score}"
    query, target = (
        f"{short_name(record)} {first + 1}-{end}"
        for record, first, end in (
            (alignment.query, alignment.query_start, alignment.query_end),
            (alignment.target, alignment.target_start, alignment.target_end),
        )
    )
    return f"{query} with {target}, score {alignment.score}"


def expected(found: Hit | Hsp) -> str:
    """Return the E-value, if there is one, for the end of a line."""
    return "" if found.evalue is None else f", E-value {found.evalue:.2g}"


def short_name(record: Record) -> str:
    """Return an id, at most its first characters."""
    return visible(record.id[:_MAX_NAME])


def titled(records: Mapping[str, Record]) -> list[str]:
    """Return the lines that say what the names of rows stand for."""
    size = max(map(len, records))
    return [
        visible(f"{name:{size}} {record.id} {record.description}".rstrip())
        for name, record in records.items()
    ]


def counted(identities: int, gaps: int, columns: int) -> str:
    """Return how many columns have equal letters, and how many a gap.

    >>> counted(4, 1, 5)
    'identities 4/5 (80.0%), gaps 1/5 (20.0%)'
    """
    whole = max(1, columns)
    return (
        f"identities {identities}/{columns} ({identities / whole:.1%}), "
        f"gaps {gaps}/{columns} ({gaps / whole:.1%})"
    )


def _names(alignment: Alignment) -> list[str]:
    return titled({"query": alignment.query, "target": alignment.target})


def _counts(alignment: Alignment) -> str:
    return counted(alignment.identities, alignment.gaps, alignment.columns)


def _lines(
    alignment: Alignment,
    of_query: tuple[int, int] | None = None,
    of_target: tuple[int, int] | None = None,
) -> list[str]:
    """Return the rows in lines, with first number and step of each as in `NumberedRow`."""
    width = alignment.scoring.alphabet.width
    query, between, target = alignment.rows()
    rows = {
        "query": NumberedRow(query, *(of_query or (alignment.query_start + 1, 1)), width),
        "target": NumberedRow(target, *(of_target or (alignment.target_start + 1, 1)), width),
    }
    return [line for block in in_lines(rows, between, 1) for line in ("", *block)]


def table(result: SearchResult, width: int = WIDTH) -> str:
    """Return the ranked list of hits, see `SearchResult.table`."""
    lines = [_title(result)]
    if result.hits:
        rows = _listing(result)
        *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
        for row, record in zip(rows, [None, *_described(result)], strict=True):
            aligned = [f"{cell:>{size}}" for cell, size in zip(row[:-1], widths, strict=True)]
            line = "  ".join([*aligned, row[-1]]).rstrip()
            if record:
                line = _with_description(line, record.description, width)
            lines.append(line)
    return "\n".join([*lines, *notes(result)])


def notes(result: SearchResult) -> list[str]:
    """Return what stands below a list of hits: of those not listed, and where E-values are from."""
    parts = [result.unlisted] if result.unlisted else []
    if result.statistics:
        parts.append(f"E-values: {result.statistics.name}")
    return parts


def unlisted(result: SearchResult) -> str:
    """Return what is said of hits and of their alignments that are not listed, if anything is."""
    said = [_unlisted_hits(result)]
    if result.more_places:
        few = numbered(result.more_places, "listed hit")
        have = "has" if result.more_places == 1 else "have"
        said.append(f"{few} {have} further alignments, not listed")
    return "; ".join(filter(None, said))


def _unlisted_hits(result: SearchResult) -> str:
    if result.more is None:
        rest, score = result.sequences - len(result), result[-1].score
        return (
            f"No E-value limits this list: the other {rest} sequences, not listed, have scores of "
            f"at most {score}"
        )
    limit = "" if result.evalue is None else f" with E-values of at most {result.evalue:g}"
    if not result.more:
        return f"There are no hits{limit}" if limit and not len(result) else ""
    are = "is" if result.more == 1 else "are"
    return f"{numbered(result.more, 'more hit')}{limit} {are} not listed"


def html_table(result: SearchResult) -> str:
    """Return the ranked list of hits as HTML, long ones cut."""
    heads, *rows = _listing(result) if result.hits else [[]]
    text = [f"<p>{_escaped(_title(result))}</p>"]
    if rows:
        text += ["<table>", _html_row("th", [*heads, "description"])]
        for row, record in list(zip(rows, _described(result), strict=True))[:_MAX_HTML_ROWS]:
            text.append(_html_row("td", [*row, record.description if record else ""]))
        text.append("</table>")
    if len(rows) > _MAX_HTML_ROWS:
        text.append(f"<p>and {len(rows) - _MAX_HTML_ROWS} more</p>")
    text += [f"<p>{_escaped(note)}</p>" for note in notes(result)]
    return "\n".join(text)


def _title(result: SearchResult) -> str:
    query = result.query
    return (
        f"query {visible(query.id)} ({numbered(len(query), 'letter')}): "
        f"{numbered(len(result), 'hit')} in {numbered(result.sequences, 'sequence')} "
        f"of {numbered(result.residues, 'residue')}"
    )


def _described(result: SearchResult) -> Iterator[Record | None]:
    """Yield the target for the first pair of each hit, None for the others."""
    table, rows = result.listed.table, result.listed.rows
    for target, number in zip(table.target[rows].tolist(), table.number[rows], strict=True):
        yield table.targets[target].given if number == 1 else None


def _listing(result: SearchResult) -> list[list[str]]:
    """Return titles and cells of the ranked list, without descriptions."""
    table = result.listed.table.select(result.listed.rows)
    query, target = table.query_contexts, table.target_contexts
    best = table.number == 1
    names = (table.targets[k].given.id for k in table.target.tolist())
    columns = {
        "rank": _of_best(best, table.rank),
        "score": [str(table.scoring.display(units)) for units in table.units.tolist()],
        "bits": ["" if isnan(x) else f"{x:.1f}" for x in table.bits.tolist()],
        "E-value": ["" if isnan(x) else f"{x:.2g}" for x in table.evalues.tolist()],
        "identity": [
            f"{equal / max(1, every):.1%}"
            for equal, every in zip(table.identities.tolist(), table.columns.tolist(), strict=True)
        ],
        "frame": list(map(frames_text, query.frames.tolist(), target.frames.tolist())),
        "strand": ["plus" if strand > 0 else "minus" for strand in query.strands.tolist()],
        "query": _ranges(table.query_places),
        "target": _ranges(table.target_places),
        "length": _of_best(best, target.lengths),
        "name": [visible(name) if first else "" for name, first in zip(names, best, strict=True)],
    }
    shown = {
        "bits": any(columns["bits"]),
        "E-value": any(columns["E-value"]),
        "frame": any(columns["frame"]),
        "strand": bool(((query.strands < 0) & (query.frames == 0)).any()),
    }
    chosen = {title: cells for title, cells in columns.items() if shown.get(title, True)}
    return [list(chosen), *map(list, zip(*chosen.values(), strict=True))]


def _of_best(best: _Bools, numbers: _Int64) -> list[str]:
    """Return numbers as text, nothing where a pair is not the best of its hit."""
    return [f"{n}" if first else "" for n, first in zip(numbers.tolist(), best, strict=True)]


def _ranges(places: tuple[_Int64, _Int64]) -> list[str]:
    first, last = (each.tolist() for each in places)
    return [f"{a}-{b}" for a, b in zip(first, last, strict=True)]


def _with_description(line: str, description: str, width: int) -> str:
    """Append as much of the description as fits.

    >>> _with_description("1 P69905", "hemoglobin subunit alpha", 30)
    '1 P69905 hemoglobin subunit...'
    """
    whole = f"{line} {visible(' '.join(description.split()))}".rstrip()
    if len(whole) <= width:
        return whole
    room = width - len("...")
    return f"{whole[:room].rstrip()}..." if room > len(line) + 1 else line


def _html_row(kind: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{_escaped(cell)}</{kind}>' for cell in cells)}</tr>"


def _escaped(text: str) -> str:
    from html import escape

    return escape(visible(text))
