"""What a format of results is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TextIO, TypeAlias

from glsw.result import SearchResult

Header: TypeAlias = Callable[[Iterable[tuple[str, int]], str], str]
"""``header(targets, command)``: of the name and letters of each target, and the command line."""


class Format(NamedTuple):
    """How results are written.

    Parameters
    ----------
    write : callable
        ``write(result, stream)`` writes one result, after those before it.
    header : str or callable
        What stands once before all results; a `Header` if that depends on the targets.
    footer : callable, optional
        ``footer(results)`` is what stands after so many results.
    """

    write: Callable[[SearchResult, TextIO], None]
    header: str | Header = ""
    footer: Callable[[int], str] | None = None


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
