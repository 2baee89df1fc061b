"""The parts of an output format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TextIO, TypeAlias

from glsw.results import SearchResult

Write: TypeAlias = Callable[[SearchResult, TextIO], None]
"""``write(result, stream)`` writes one result, after those before it."""

Header: TypeAlias = Callable[[Iterable[tuple[str, int]], str], str]
"""``header(targets, command)``: of the name and letters of each target, and the command line."""


class Format(NamedTuple):
    """How results are written.

    Parameters
    ----------
    write : callable
        A `Write` of any result by itself.
    header : str or callable
        The text before all results; a `Header` if that depends on the targets.
    footer : callable, optional
        ``footer(results)`` is the text after all results, given their number.
    writer : callable, optional
        ``writer()`` returns a `Write` that remembers the results before, where these matter.
    """

    write: Write
    header: str | Header = ""
    footer: Callable[[int], str] | None = None
    writer: Callable[[], Write] | None = None

    def begin(self) -> Write:
        """Return what writes one result after another."""
        return self.writer() if self.writer else self.write


def program() -> tuple[str, str]:
    """Return the name and the version of this program."""
    from glsw import __version__

    return "glsw", __version__


def in_a_line(text: object) -> str:
    r"""Return a value without tabs and line ends, for a column.

    >>> in_a_line("a\tb  c\n")
    'a b c'
    """
    return " ".join(str(text).split())
