"""Suggestions for words with typing mistakes."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question for the end of an error, empty if no known word is near.

    >>> did_you_mean("serch", ["align", "search"]), did_you_mean("xyz", ["align"])
    (', did you mean search?', '')
    """
    import difflib

    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean {nearest[0]}?" if nearest else ""
