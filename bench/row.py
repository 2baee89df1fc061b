"""A measurement is a row; a file is a header and rows, one JSON object per line."""

from __future__ import annotations

import getpass
import hashlib
import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator

from bench import data, without_comments
from glsw.device import shader

SCHEMA = 4
LICENCE = "CC0-1.0"
KEY = (
    *("workload", "program", "task", "scoring", "number", "sizes", "count", "options", "cores"),
    *("device", "driver", "cpu"),
)
"""Fields that say which measurement a row is; the others say what came out."""
Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[object, ...]
TIMES = (None, "cell/s", "op/s", "byte/s", "s")
"""Units of what a shader decides."""
SHADERS = Path(__file__).with_name("shaders")
"""Folder of the shaders of `micro`; they include files of glsw as well."""
_HOME = r"(/home/|/Users/|[A-Z]:\\+Users\\+|/root(?=/|$))[\w.-]*"
_COMMON = {"root", "user", "admin", "ubuntu", "runner", "localhost"}


def key(row: Row) -> Key:
    """Return which measurement a row is."""
    return tuple(tuple(v) if isinstance(v := row.get(name), list) else v for name in KEY)


def name_of(row: Row) -> str:
    """Return a short name of a row, the same in every file that has the measurement."""
    return hashlib.sha256(json.dumps(key(row)).encode()).hexdigest()[:8]


def state(row: Row) -> str:
    """Return ``timed``, ``right`` (judged, not timed), ``wrong`` or ``not run``."""
    if row.get("skipped"):
        return "not run"
    if row.get("wrong") or row.get("judged") == 0:
        return "wrong"
    return "timed" if row.get("wall") or row.get("rate") is not None else "right"


def rate_of(row: Row, *, clock: bool = False) -> float | None:
    """Return cells per second by wall time, or by the device's clock where it has one."""
    seconds = (clock and row.get("clock")) or row.get("wall")
    if row.get("cells") and seconds:
        return float(row["cells"] / seconds)
    return row.get("rate")


def seconds_of(row: Row) -> float | None:
    """Return the wall seconds of the whole work, also where a part of it was timed."""
    return row["wall"] / (row.get("part") or 1.0) if row.get("wall") else None


@cache
def digest(name: str) -> str:
    """Return a hash of a shader as it is now, with its includes and without comments.

    ``*`` is all shaders of glsw; a shader that is not there has none.
    """
    root = shader.root()
    files = [path for path in root.rglob("*.*") if name == "*" and path.suffix != ".glsl"]
    files.sort(key=lambda path: path.name)
    names = [path.relative_to(root).as_posix() for path in files] or [name]
    try:
        source = "\n".join(shader.assemble(each, folder=SHADERS)[0] for each in names)
    except shader.ShaderError:
        return ""
    return hashlib.sha256(without_comments(source).encode()).hexdigest()[:8]


def older(row: Row) -> bool:
    """Tell whether a shader has changed since it was timed, or may have: the row does not say."""
    if not row["ours"] or state(row) != "timed" or row.get("unit") not in TIMES:
        return False
    if (told := row.get("shaders")) is not None:
        return any(digest(name) != text for name, text in told.items())
    return bool(row.get("driver")) and row["program"] != "cpu"


@dataclass
class File:
    """A header, and the last row of each key, in the order of the file."""

    path: Path
    header: dict[str, Any]
    rows: dict[Key, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> File:
        """Read a file; raise ValueError with the line that is not as schema.json says."""
        values = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                check(value := json.loads(line), "row" if number > 1 else "header")
            except ValueError as error:
                what = f"line {number}" if number > 1 else "not a file of bench run: line 1"
                raise ValueError(f"{path.name}, {what}: {error}") from None
            values.append(value)
        if not values:
            raise ValueError(f"{path.name}: no header")
        return cls(path, values[0], {key(row): row for row in values[1:]})

    def keep(self, row: dict[str, Any]) -> None:
        """Append a row to the file: what was kept before stays, whatever happens."""
        row = tidy(row)
        check(row, "row")
        self.rows[key(row)] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(row))

    def write(self) -> None:
        """Write the whole file anew, its folder too."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(self.path.name + ".part")
        lines = self.header, *self.rows.values()
        draft.write_text("".join(map(_line, lines)), encoding="utf-8")
        draft.replace(self.path)


def tidy(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without empty fields, its seconds with six digits, its texts impersonal."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, float):
            value = float(f"{value:.6g}")
        if value not in (None, "", []):
            found[name] = impersonal(value) if isinstance(value, str) else value
    return found


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


@cache
def _validator(kind: str) -> Any:
    return Draft202012Validator(data("schema.json")["$defs"][kind])


def check(value: Any, kind: str) -> None:
    """Raise ValueError if a header or row is not as schema.json says, or has something personal."""
    for error in _validator(kind).iter_errors(value):
        raise ValueError("".join(f"{name}: " for name in error.path) + error.message)
    if found := _personal().search(json.dumps(value)):
        raise ValueError(f"{found[0]!r} is personal")


def impersonal(text: str) -> str:
    """Return a text without home directories and names of this user and machine."""
    return _personal().sub("~", text)


@cache
def _personal() -> re.Pattern[str]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    host, home = socket.gethostname(), str(Path.home())
    parts = [_HOME] + [re.escape(home) + r"(?![\w.-])"] * (len(home) > 1)
    # A short name may be any word.
    names = {user, host, host.partition(".")[0]} - _COMMON
    parts += [rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in sorted(names) if len(name) > 3]
    return re.compile("|".join(parts))
