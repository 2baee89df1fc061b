"""Text of files for people: a control character is shown, not obeyed."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_IN_XML = re.compile(r"[\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    r"""Return a text with control characters as their numbers; tabs and line feeds remain.

    A title may have been made to clear a terminal, or to write other results than those found.

    >>> print(visible("P69905\x1b[2J\rglobin"))
    P69905\x1b[2J\x0dglobin
    """
    return _CONTROL.sub(_escape, text)


def in_figure(name: str) -> str:
    r"""Return a name for matplotlib, without formulas, of characters that SVG can have.

    >>> in_figure("a$b$"), in_figure("a\x1b[2J")
    ('a\\$b\\$', 'a\\x1b[2J')
    """
    return _NOT_IN_XML.sub(_escape, visible(name)).replace("$", r"\$")


def _escape(found: re.Match[str]) -> str:
    return f"\\x{ord(found[0]):02x}"
