"""What a report is made of: sections of sentences, tables and figures; and numbers as text.

>>> number(1234.6), number(0.5), number(0.00012345), number(2.92e-5), number(1e-9), number(None)
('1,235', '0.5', '0.000123', '0.0000292', '1.00e-09', '')
>>> notes = Notes()
>>> notes.mark("too long"), notes.mark("no memory"), notes.mark("too long")
('¹', '²', '¹')
>>> notes.lines()
['¹ too long', '² no memory']
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

WRONG = "WRONG"
"""Stands in place of a number where a result was wrong."""

NOT_RUN = "-"
"""Stands where something was not run; the mark after it tells why."""

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Notes:
    """Footnotes of a table, numbered as they come."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """Return the sign of a note."""
        sign = str(len(self._found) + 1).translate(_SUPERSCRIPTS)
        return self._found.setdefault(text, sign)

    def lines(self) -> list[str]:
        """Return all notes with their signs."""
        return [f"{sign} {text}" for text, sign in self._found.items()]


@dataclass(frozen=True)
class Table:
    """Rows of text; a row with one cell is a heading of those below it.

    ``files`` are those that the numbers come from, ``folded`` tables are opened by the reader.
    """

    caption: str
    head: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    folded: bool = False

    def wordy(self) -> list[bool]:
        """Tell of each column whether it has words, which begin at the left.

        >>> Table("", ["a", "b", "c"], [["x", "1.5", "a clock"], ["y", "WRONG¹", ""]]).wordy()
        [True, False, True]
        """
        found = [True]
        for k in range(1, len(self.head)):
            cells = [row[k] for row in self.rows if len(row) > k and row[k]]
            words = [text[0].isalpha() and not text.startswith(WRONG) for text in cells]
            found.append(sum(words) > len(cells) / 2)
        return found


@dataclass(frozen=True)
class Picture:
    """A figure: ``svg`` is one element, ``name`` is that of its file."""

    name: str
    title: str
    text: str
    svg: str
    files: list[str] = field(default_factory=list)


Block: TypeAlias = str | Table | Picture


@dataclass(frozen=True)
class Section:
    """A chapter; ``name`` is what links point at."""

    name: str
    title: str
    blocks: list[Block]

    def tables(self) -> list[Table]:
        """Return its tables."""
        return [block for block in self.blocks if isinstance(block, Table)]

    def pictures(self) -> list[Picture]:
        """Return its figures."""
        return [block for block in self.blocks if isinstance(block, Picture)]


def number(value: float | None, mark: str = "") -> str:
    """Return a number with three digits, or as an integer if it has more; None is empty."""
    if value is None:
        return ""
    if value == 0:
        return f"{mark}0"
    size = abs(value)
    if size >= 999.5:
        return f"{mark}{value:,.0f}"
    if size >= 1e-4:
        return f"{mark}{value:.3g}"
    return f"{mark}{value:.{-_exponent(size) + 2}f}" if size >= 1e-7 else f"{mark}{value:.2e}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def times(ratio: float | None, mark: str = "") -> str:
    """Return how many times as fast something is.

    >>> times(12.34), times(0.501), times(151.2, "~")
    ('12', '0.5', '~151')
    """
    if ratio is None:
        return ""
    return f"{mark}{ratio:,.0f}" if ratio >= 99.5 else f"{mark}{ratio:.2g}"


def joined(words: Iterable[str]) -> str:
    """Return words with commas, each once.

    >>> joined(["b", "a", "b"])
    'b, a'
    """
    return ", ".join(dict.fromkeys(words))
