"""Suggestions for words with typing mistakes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

CallT = TypeVar("CallT", bound=Callable[..., Any])


def suggesting(call: CallT) -> CallT:
    """Let a function or method name the nearest parameter if it is called with one it lacks.

    >>> @suggesting
    ... def search(evalue=1): ...
    >>> search(evlaue=1)
    Traceback (most recent call last):
        ...
    TypeError: search() has no option 'evlaue', did you mean evalue?
    """

    @functools.wraps(call)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return call(*arguments, **options)
        except TypeError as error:
            found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            inside = error.__traceback__ is None or error.__traceback__.tb_next is not None
            if inside or not found or found[1] not in options:
                raise
            import inspect

            name = call.__qualname__.removesuffix(".__init__")
            hint = did_you_mean(found[1], inspect.signature(call).parameters)
            raise TypeError(f"{name}() has no option {found[1]!r}{hint}") from None

    return cast("CallT", called)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question for the end of an error, empty if no known word is near.

    Dashes of options do not make words alike.

    >>> did_you_mean("serch", ["align", "search"]), did_you_mean("xyz", ["align"])
    (', did you mean search?', '')
    >>> did_you_mean("-evlaue", ["--evalue"]), did_you_mean("--top", ["--output"])
    (', did you mean --evalue?', '')
    """
    import difflib

    words = {each.lstrip("-"): each for each in known}
    nearest = difflib.get_close_matches(word.lstrip("-"), list(words), n=1)
    return f", did you mean {words[nearest[0]]}?" if nearest else ""
