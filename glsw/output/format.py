"""The parts of an output format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, TextIO, TypeAlias, TypeVar

from glsw.alignment.columns import Column
from glsw.alignment.hits import SearchResult
from glsw.alignment.table import HitTable

ValueT = TypeVar("ValueT")

Write: TypeAlias = Callable[[SearchResult, TextIO], None]
"""``write(result, stream)`` writes one result, after those before it."""

Header: TypeAlias = Callable[[Iterable[tuple[str, int]], str], str]
"""``header(targets, command)``: of the name and letters of each target, and the command line."""


class Format(NamedTuple):
    """An output format.

    Parameters
    ----------
    write : callable
        A `Write` that writes any single result.
    header : str or callable
        The text before all results; a `Header` if it depends on the targets.
    footer : callable, optional
        ``footer(results)`` returns the text after all results, given their number.
    writer : callable, optional
        ``writer(done)`` returns a `Write` that takes earlier results into account; ``done`` of them
        were written by an earlier run.
    lists_targets : bool
        Whether a `Header` reads the targets.
    maps : bool
        Whether it shows where reads map: places count by part of a query, and have MAPQ.
    name : str
        The text from which `glsw.output.format_of` returns it, including its columns.
    """

    write: Write
    header: str | Header = ""
    footer: Callable[[int], str] | None = None
    writer: Callable[[int], Write] | None = None
    lists_targets: bool = True
    maps: bool = False
    name: str = ""

    def begin(self, done: int = 0) -> Write:
        """Return what writes one result after another, after some that are there already."""
        return self.writer(done) if self.writer else self.write


def of_rows(result: SearchResult, make: Callable[[HitTable], list[ValueT]]) -> list[ValueT]:
    """Return what ``make`` returns for the high-scoring pairs of a result, a value each.

    It is called once for the table of a result, in which those of other queries may be too.
    """
    listed = result.listed
    return listed.table.made(make)[listed.rows] if len(listed) else []


def of_columns(columns: Iterable[Column]) -> Callable[[SearchResult], list[str]]:
    """Return what makes a line of each high-scoring pair, the columns apart by tabs."""
    return partial(of_rows, make=partial(Column.lines, tuple(columns)))


def with_more(lines: list[str], result: SearchResult) -> list[str]:
    r"""Return the lines of a result; the first has the numbers of `SearchResult`, if any.

    These are ``more`` and ``more_places``.

    >>> from glsw import Aligner
    >>> aligner, targets = Aligner(engine="reference"), ["PAWHE", "PAWHEAE"]
    >>> result = aligner.search("HEAGAWGHEE", targets, top=1, composition=0)
    >>> with_more(["name\n"], result)
    ['name\tZN:i:1\n']
    """
    numbers = {"ZN": result.more, "ZP": result.more_places}
    tags = "".join(f"\t{name}:i:{number}" for name, number in numbers.items() if number)
    return [f"{lines[0][:-1]}{tags}\n", *lines[1:]] if tags else lines


def program() -> tuple[str, str]:
    """Return the name and the version of this program."""
    from glsw._version import __version__

    return "glsw", __version__
