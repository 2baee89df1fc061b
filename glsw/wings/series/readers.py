"""Readers of recordings: `read` takes CSV tables, exports of a Hitachi ETG-4000, and SNIRF.

Missing samples are nan, here and in the files; a CSV cell that is empty or NA is missing too.
"""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from glsw.sequences.lines import naming
from glsw.wings.series import snirf
from glsw.wings.series.recording import Recording, excerpt
from glsw.words import is_number

TIME_UNITS = snirf.TIME_UNITS
"""Units that the times of a SNIRF file may have."""
_HDF5 = b"\x89HDF\r\n\x1a\n"
_TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
_MISSING_CELLS = frozenset(("", "na", "n/a", "nan"))
_TIME_COLUMNS = frozenset(
    ("time", "times", "t", "seconds", "time s", "time sec", "time seconds", "t s")
)
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)", re.ASCII)
_SECONDS_PER_DAY = 24 * 60 * 60
_TIME_DECIMALS = 6  # of seconds between times of day
_Row = tuple[int, list[str]]


def read(
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    block: int | None = None,
    time_unit: str | None = None,
) -> Recording:
    """Read a recording from a file.

    Parameters
    ----------
    path : str or path
        HDF5, recognised by its first bytes, is read as SNIRF. Files named ``.csv``, ``.tsv`` or
        ``.txt`` are tables with a header line. Lines that begin with ``#`` are ignored. A table
        with a line that begins with ``Probe`` is an export of a Hitachi ETG-4000: the lines above
        that line are its header, and its columns called CH are channels. In every other table all
        columns are channels, except one called time, t or seconds.
    rate : float, optional
        Samples per second, for a table without times.
    block : int, optional
        The time series of a SNIRF file that has several, counted from 1; the first by default.
    time_unit : {"s", "ms", "us"}, optional
        Time unit of a SNIRF file, whatever unit it names. A file with an unknown unit is read in
        seconds, with a note, if its samples are then 2 ms to 2 s apart.

    Returns
    -------
    Recording

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the format is unknown, the file is damaged or has no time series; if cells of a table
        are missing or are not numbers, or times decrease; if h5py is not installed. The message
        is one line that begins with the path, of tables with the number of the line.
    """
    source = Path(path)
    with naming(source), source.open("rb") as stream:
        start = stream.read(len(_HDF5))
    if rate is not None and not 0 < rate < np.inf:
        raise ValueError(f"rate must be a positive number of samples per second, got {rate}")
    if start == _HDF5 or source.suffix.lower() == ".snirf":
        if start != _HDF5:
            raise ValueError(f"{path}: a .snirf file is HDF5, this is not")
        if rate is not None:
            raise ValueError(f"{path}: a .snirf file has times: omit rate")
        return snirf.read(source, block, time_unit)
    if source.suffix.lower() not in _TABLE_SUFFIXES:
        kinds = ", ".join(_TABLE_SUFFIXES)
        raise ValueError(f"{path}: neither HDF5, as .snirf files are, nor named {kinds}")
    if time_unit is not None:
        raise ValueError(f"{path}: only .snirf files have a unit of times")
    if block is not None:
        raise ValueError(f"{path}: only .snirf files have several time series")
    return _read_table(source, rate)


class _Columns(NamedTuple):
    """Names of the columns, and which of them are channels and time."""

    header: tuple[str, ...]
    channels: tuple[int, ...]
    time: int | None
    kind: str = ""


def _read_table(path: Path, rate: float | None) -> Recording:
    period = None if rate is None else 1 / rate
    values, times = array("d"), array("d")
    with naming(path), path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = _rows(path, stream)
        columns, stated = _read_header(path, rows)
        if columns.time is not None and rate is not None:
            raise ValueError(f"{path}: column {columns.header[columns.time]!r} has times, no rate")
        period = period or stated
        if columns.time is None and period is None:
            raise ValueError(
                f"{path}: no column is called time; rate=HZ gives the samples per second"
            )
        clock = _Clock()
        for number, row in rows:
            where = f"{path}:{number}"
            cells = _cells(where, row, len(columns.header))
            for k in columns.channels:
                values.append(_value(where, columns.header[k], cells[k]))
            if columns.time is not None:
                times.append(clock.read(where, columns.header[columns.time], cells[columns.time]))
    names = tuple(columns.header[k] for k in columns.channels)
    table = np.frombuffer(values).reshape(-1, len(names)).T if values else np.empty((len(names), 0))
    if period is not None and columns.time is None:
        seconds = np.arange(table.shape[1], dtype=np.float64) * period
    else:
        seconds = np.array(times)
        if clock.of_day and len(seconds):
            seconds = (seconds - seconds[0]).round(_TIME_DECIMALS)
    return Recording.from_file(path, names, np.ascontiguousarray(table), seconds, columns.kind)


def _rows(path: Path, stream: Iterator[str]) -> Iterator[_Row]:
    """Yield the line number and the cells of each row that is not blank."""
    lines = ("\n" if text.startswith("#") else text for text in stream)
    begin = []
    for text in lines:
        begin.append(text)
        if not text.isspace():
            break
    else:
        raise ValueError(f"{path}: the file is empty")
    first = begin[-1]
    comma = "," in first or first.startswith("Header")
    separator = "," if comma else max(";\t", key=first.count)
    reader = csv.reader(chain(begin, lines), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from None


def _read_header(path: Path, rows: Iterator[_Row]) -> tuple[_Columns, float | None]:
    """Return the columns, and the sampling period in s if a Hitachi header has it."""
    number, names = next(rows)
    if not _is_hitachi(names):
        return _plain_columns(f"{path}:{number}", _trimmed(names)), None
    period = None
    while not names[0].startswith("Probe"):
        if names[0].startswith("Sampling Period") and len(names) > 1:
            period = _value(f"{path}:{number}", names[0], names[1])
        number, names = next(rows, (0, []))
        if not names:
            raise ValueError(f"{path}: no line begins with Probe after the Hitachi header")
    names = _trimmed(names)
    channels = tuple(k for k, name in enumerate(names) if name.upper().startswith("CH"))
    if not channels:
        raise ValueError(f"{path}:{number}: no column is named CH..., as channels are")
    kind = re.search(r"\((.+)\)", names[0])
    time = names.index("Time") if "Time" in names else None
    return _Columns(tuple(names), channels, time, kind[1] if kind else ""), period


def _is_hitachi(first: list[str]) -> bool:
    return first[0].startswith("Probe") or first[0] in ("Header", "File Version")


def _plain_columns(where: str, names: list[str]) -> _Columns:
    if all(is_number(name) for name in names):
        raise ValueError(f"{where}: a header line with names of columns expected, got numbers")
    for k, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {k + 1} has no name")
        if name in names[:k]:
            raise ValueError(f"{where}: two columns are called {name!r}")
    time = time_column(names)
    channels = tuple(k for k in range(len(names)) if k != time)
    if not channels:
        raise ValueError(f"{where}: no column but {names[0]!r}")
    return _Columns(tuple(names), channels, time)


def time_column(names: Sequence[str]) -> int | None:
    """Return the number of the first column whose name says that it has times, if there is one.

    >>> time_column(["CH1", "Time (s)", "t"]), time_column(["CH1"])
    (1, None)
    """
    plain = (" ".join(re.findall(r"[a-z]+", name.lower())) for name in names)
    return next((k for k, name in enumerate(plain) if name in _TIME_COLUMNS), None)


def _trimmed(cells: list[str]) -> list[str]:
    """Return cells without the empty ones at the end.

    >>> _trimmed(["time", "", "CH1", "", ""])
    ['time', '', 'CH1']
    """
    end = len(cells)
    while end > 1 and not cells[end - 1]:
        end -= 1
    return cells[:end]


def _cells(where: str, row: list[str], count: int) -> list[str]:
    if len(row) < count or any(row[count:]):
        raise ValueError(f"{where}: {count} cells expected, one per column, got {len(row)}")
    return row


def _value(where: str, column: str, text: str) -> float:
    if text.lower() in _MISSING_CELLS:
        return np.nan
    if not is_number(text):
        raise ValueError(f"{where}: column {column!r}: {excerpt(text)} is not a number")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(f"{where}: column {column!r}: {value} is not finite")
    return value


class _Clock:
    """Reads increasing times in s: numbers, or times of day, also past midnight."""

    def __init__(self) -> None:
        self.of_day = False
        self._last = -np.inf
        self._days = 0

    def read(self, where: str, column: str, text: str) -> float:
        found = _TIME_OF_DAY.fullmatch(text)
        if found:
            hours, minutes, seconds = map(float, found.groups())
            time = (hours * 60 + minutes) * 60 + seconds + self._days * _SECONDS_PER_DAY
            if time < self._last - _SECONDS_PER_DAY / 2:
                self._days += 1
                time += _SECONDS_PER_DAY
            self.of_day = True
        else:
            time = _value(where, column, text)
        if not time >= self._last:
            before = f"after {self._last:.15g} s" if self._last > -np.inf else "the first"
            raise ValueError(f"{where}: column {column!r}: {excerpt(text)} as a time {before}")
        self._last = time
        return time
