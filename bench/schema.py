"""Whether documents are as schema.json says, and have nothing personal in them.

    python -m bench validate bench/results/*.json

Exit status 1 if one is not, with a line about it; 2 if one cannot be read.
"""

from __future__ import annotations

import getpass
import json
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from bench import options

_Place: TypeAlias = tuple[str | int, ...]

SCHEMA = Path(__file__).with_name("schema.json")

_HOME = re.compile(r"(/home/|/Users/|[A-Z]:\\+Users\\+|/root(?=/|$))[\w.-]*")
_COMMON = {"root", "user", "admin", "ubuntu", "runner", "localhost"}
_SHOWN = 60  # letters of a value in a message


def main(argv: Sequence[str] | None = None) -> int:
    """Validate files; return 0, 1 if one is not valid, 2 if one cannot be read."""
    parser = options.Parser(
        prog="python -m bench validate", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    status = 0
    for path in parser.parse_args(argv).files:
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 2
            continue
        try:
            validate(document)
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = status or 1
        else:
            print(f"{path}: {document['benchmark']}, schema {document['schema']}, valid")
    return status


def validate(document: Any) -> None:
    """Raise ValueError where a document is not as the schema says, or has something personal.

    As `check_form`; what is personal depends on the machine that looks.
    """
    check_form(document)
    for where, text in _strings(document, ()):
        if found := personal(text):
            raise ValueError(f"{_where(where)}: {found!r} is personal")


def check_form(document: Any) -> None:
    """Raise ValueError where a document is not as the schema says.

    The message is one line: where, as in ``results[2].wall.median``, and what is wrong.

    Raises
    ------
    ModuleNotFoundError
        The package jsonschema is not installed.
    """
    errors = sorted(
        _validator().iter_errors(document), key=lambda error: list(map(str, error.path))
    )
    if errors:
        error = min(errors, key=lambda error: not error.path)
        raise ValueError(f"{_where(error.absolute_path)}: {_what(error)}")


def personal(text: str) -> str | None:
    """Return what is personal in a text: a home directory, or the name of this user or machine.

    >>> personal("cannot read /home/ada/query.fasta"), personal("/usr/share/query.fasta")
    ('/home/ada', None)
    """
    match = _pattern().search(text)
    return match[0] if match else None


def impersonal(text: str) -> str:
    """Return a text with what is personal left out.

    >>> impersonal("cannot read /home/ada/query.fasta")
    'cannot read ~/query.fasta'
    """
    return _pattern().sub("~", text)


@cache
def _pattern() -> re.Pattern[str]:
    """Return what is personal on this machine."""
    names = {_user(), socket.gethostname(), socket.gethostname().partition(".")[0]} - _COMMON
    home = str(Path.home())
    parts = [_HOME.pattern]
    if len(home) > 1:
        parts.append(re.escape(home) + r"(?![\w.-])")
    # A short name may be any word.
    parts += [rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in sorted(names) if len(name) > 3]
    return re.compile("|".join(parts))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # of the extra bench

    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _where(path: Any) -> str:
    """Return a place in a document.

    >>> _where(["results", 2, "wall"]), _where([])
    ('results[2].wall', 'the document')
    """
    text = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    return text.removeprefix(".") or "the document"


def _what(error: Any) -> str:
    """Return in words why a value is not valid."""
    value, wanted = error.instance, error.validator_value
    shown = json.dumps(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    if error.validator == "required":
        return ", ".join(repr(name) for name in wanted if name not in value) + " is missing"
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        return ", ".join(repr(name) for name in value if name not in known) + " is not known"
    if error.validator == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        return f"{shown} is not of type {' or '.join(kinds)}"
    if error.validator in ("enum", "const"):
        allowed = wanted if error.validator == "enum" else [wanted]
        return f"{shown} is not {' or '.join(json.dumps(each) for each in allowed)}"
    if error.validator == "pattern":
        return f"{shown} is not like {wanted}"
    if error.validator in ("minimum", "exclusiveMinimum"):
        return f"{shown} is too small"
    return f"{shown} is not as {error.validator} says"


def _strings(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield all texts of a document and their places, names of fields included."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield (*path, key), key
            yield from _strings(each, (*path, key))
    elif isinstance(value, list):
        for k, each in enumerate(value):
            yield from _strings(each, (*path, k))


if __name__ == "__main__":
    sys.exit(main())
