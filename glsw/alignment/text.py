"""Rows of alignments as text and HTML, for people at a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from glsw.words import visible

if TYPE_CHECKING:
    from glsw.sequences.records import Record

_ROW_WIDTH = 60  # characters of a row in a line of text
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
    return f"<pre>{escaped(str(shown))}</pre>"


def frames_text(query: int, target: int) -> str:
    """Return the frames of what was translated, of both as in ``+1/-2``; else nothing.

    >>> frames_text(1, -2), frames_text(0, 3), frames_text(0, 0)
    ('+1/-2', '+3', '')
    """
    return "/".join(f"{frame:+}" for frame in (query, target) if frame)


def short_name(record: Record) -> str:
    """Return an id, at most its first characters."""
    return visible(record.id[:_MAX_NAME])


def titled(records: Mapping[str, Record]) -> list[str]:
    """Return the lines that explain the names of rows."""
    size = max(map(len, records))
    return [
        visible(f"{name:{size}} {record.id} {record.description}".rstrip())
        for name, record in records.items()
    ]


def counted(identities: int, gaps: int, columns: int) -> str:
    """Return the numbers of columns with equal letters and with gaps, as text.

    >>> counted(4, 1, 5)
    'identities 4/5 (80.0%), gaps 1/5 (20.0%)'
    """
    whole = max(1, columns)
    return (
        f"identities {identities}/{columns} ({identities / whole:.1%}), "
        f"gaps {gaps}/{columns} ({gaps / whole:.1%})"
    )


def escaped(text: str) -> str:
    """Return a text for HTML, control characters visible."""
    from html import escape

    return escape(visible(text))
