"""Text from users and for them: suggestions for typos, control characters made visible.

All packages use it, and the command line starts with it: it imports only what loads fast.
"""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar, cast

CallT = TypeVar("CallT", bound=Callable[..., Any])
_OF_SCORING = "matrix", "match", "mismatch", "gap_open", "gap_extend", "existence", "extension"
UNSEEN = r"\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
"""Characters of text that nobody sees, and those that turn the order of others, as for `re`."""
_ESCAPED = re.compile(rf"[\x00-\x08\x0b-\x1f{UNSEEN}]")
_NOT_IN_XML = re.compile(r"[\ud800-\udfff\ufffe\uffff]")


class ParameterError(ValueError):
    """A parameter has a value that it cannot have; ``text`` says why, behind its name.

    The command line puts the option in the place of the name.

    >>> raise ParameterError("strand", "'both': only nucleic acid has a minus strand")
    Traceback (most recent call last):
        ...
    glsw.words.ParameterError: strand 'both': only nucleic acid has a minus strand
    """

    def __init__(self, parameter: str, text: str) -> None:
        super().__init__(parameter, text)
        self.parameter, self.text = parameter, text

    def __str__(self) -> str:
        return f"{self.parameter} {self.text}"


class Range(NamedTuple):
    """The numbers that a parameter can have, all of them finite.

    Parameters
    ----------
    least, most : int or float
    above : bool
        Whether it has to be above the least one.
    whole : bool
        Whether it has to be whole.
    also : str
        What else it can be, such as "None for all".

    Examples
    --------
    >>> Range(0, 1).has(3), str(Range(1, whole=True))
    (False, 'a whole number of 1 or more')
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    whole: bool = False
    also: str = ""

    def has(self, number: float) -> bool:
        """Tell whether it can have a number."""
        within = self.least <= number <= self.most and -math.inf < number < math.inf
        above = not self.above or number > self.least
        return within and above and not (self.whole and number % 1)

    def check(self, name: str, number: Any) -> None:
        """Raise TypeError or ParameterError if a parameter has no such number."""
        if number is None and self.also.startswith("None"):
            return
        kind: Any = Integral if self.whole else Real
        if isinstance(number, bool) or not isinstance(number, kind):
            what = "whole number" if self.whole else "number"
            raise TypeError(f"{name} must be a {what}, not {type(number).__name__}")
        if not self.has(number):
            raise ParameterError(name, f"{number}: {self} expected")

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        least, most = self.least > -math.inf, self.most < math.inf
        if self.above:
            kind += f" above {self.least}{f', at most {self.most:g}' if most else ''}"
        elif least and most:
            kind += f" from {self.least} to {self.most}"
        elif least or most:
            kind += f" of {self.least} or more" if least else f" of {self.most} or less"
        elif not self.whole:
            kind = "a finite number"
        return f"{kind}, or {self.also}," if self.also else kind


POSITIVE = Range(1, whole=True)


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
            raise no_option(name, found[1], inspect.signature(call).parameters) from None

    return cast("CallT", called)


def no_option(call: str, name: str, known: Iterable[str]) -> TypeError:
    """Return the error of an option that a function lacks.

    >>> no_option("score", "matrix", ["scoring", "mode"])
    TypeError("score() has no option 'matrix': it is part of scoring")
    """
    of_scoring = name in _OF_SCORING and "scoring" in known
    hint = ": it is part of scoring" if of_scoring else did_you_mean(name, known)
    return TypeError(f"{call}() has no option {name!r}{hint}")


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


def one_of(name: str, value: object, known: Iterable[object]) -> None:
    """Raise ValueError if a parameter has a value that is not among those known.

    >>> one_of("mode", "glocal", ("local", "global"))
    Traceback (most recent call last):
        ...
    ValueError: mode 'glocal': 'local', 'global' expected
    """
    if value not in (known := tuple(known)):
        raise ValueError(f"{name} {value!r}: {', '.join(map(repr, known))} expected")


def is_number(text: str) -> bool:
    """Tell whether a text is a number as `float` reads it.

    >>> [is_number(text) for text in ("-1e-4", "nan", "1,5", "")]
    [True, True, False, False]
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def visible(text: str) -> str:
    r"""Return a text with control and invisible characters as numbers; tabs and line feeds remain.

    A title may have been made to clear a terminal, or to show other results than those found. All
    names and descriptions pass here on their way to people or to formats of text.

    >>> print(visible("P69905\x1b[2J\rglobin"), visible("evil\u202egnp.exe"))
    P69905\x1b[2J\x0dglobin evil\u202egnp.exe
    """
    return _ESCAPED.sub(_escape, text)


def in_a_line(text: object) -> str:
    r"""Return a value without tabs, line ends and control characters, for a column.

    >>> in_a_line("a\tb  c\n"), in_a_line("a\b")
    ('a b c', 'a\\x08')
    """
    return visible(" ".join(str(text).split()))


def numbered(count: int, noun: str, form: str = "") -> str:
    """Return a number and its noun, the number by a format.

    >>> numbered(1, "sequence"), numbered(2000, "hit", ",")
    ('1 sequence', '2,000 hits')
    """
    return f"{count:{form}} {noun}{'s' * (count != 1)}"


def in_figure(name: str) -> str:
    r"""Return a name for matplotlib, without formulas, of characters that SVG can have.

    >>> in_figure("a$b$"), in_figure("a\x1b[2J")
    ('a\\$b\\$', 'a\\x1b[2J')
    """
    return _NOT_IN_XML.sub(_escape, visible(name)).replace("$", r"\$")


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def package(name: str, method: str) -> Any:
    """Import a package for a method of a result.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        root = name.partition(".")[0]
        needed = {"skbio": "scikit-bio"}.get(root, root)
        raise ModuleNotFoundError(f"{method} needs {needed}: pip install {needed}") from None
