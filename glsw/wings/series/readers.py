"""Readers of recordings: tables are read here, all other files by MNE.

Missing samples are nan, here and in the files; a cell that is empty or NA is missing too.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import warnings
from array import array
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from glsw import caller
from glsw.sequences.lines import naming
from glsw.wings.series.recording import Recording, excerpt, of_mne, regular_times
from glsw.words import in_a_line, is_number

_TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
_MISSING_CELLS = frozenset(("", "na", "n/a", "nan"))
_TIME_COLUMN = re.compile(r"times|seconds|t|t s|time|time (s|sec|seconds)")
_PROBE = re.compile(r"Probe\d+(?:\((.+)\))?")  # the first column of Hitachi, and the quantity
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)", re.ASCII)
_DAY = 24 * 60 * 60
_TIME_DECIMALS = 6  # of seconds between times of day


def read(path: str | os.PathLike[str], *, rate: float | None = None) -> Recording:
    """Read a recording from a file.

    Parameters
    ----------
    path : str or path
        Files named ``.csv``, ``.tsv`` or ``.txt`` are tables with a header line. Lines that begin
        with ``#`` are ignored. All columns are channels, except one called time, t or seconds.
        Exports of a Hitachi ETG-4000 are tables whose header line begins with ``Probe`` and a
        number: lines above it are ignored, and the columns called CH are channels. Every other
        file is read by :func:`mne.io.read_raw`: its data channels that are not marked as bad.
    rate : float, optional
        Samples per second, for a table without times.

    Returns
    -------
    Recording

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If cells of a table are missing or are not numbers, or times decrease; if MNE is not
        installed or cannot read the file. The message is one line that begins with the path, of
        tables with the number of the line.

    Warns
    -----
    RuntimeWarning
        For each warning of MNE.
    """
    source = Path(path)
    if source.suffix.lower() in _TABLE_SUFFIXES:
        return _read_table(source, rate)
    if not (source.is_dir() and source.suffix):  # formats of MNE may be folders
        with naming(source), source.open("rb") as stream:
            stream.read(1)
    if rate is not None:
        raise ValueError(f"{path}: only tables need a rate")
    return _read_with_mne(source)


def _read_with_mne(path: Path) -> Recording:
    with warnings.catch_warnings(record=True) as said, redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RuntimeWarning)
        try:
            import mne

            with mne.use_log_level("WARNING"):
                raw = mne.io.read_raw(path, preload=True)
        except ModuleNotFoundError as error:
            kinds = ", ".join(_TABLE_SUFFIXES)
            needs = f"{path}: not named {kinds}, so it needs {error.name}"
            raise ValueError(f"{needs}: pip install 'glsw[series]'") from None
        except Exception as error:  # a damaged file may raise any
            reason = in_a_line(error) or type(error).__name__
            raise ValueError(f"{path}: MNE cannot read it: {reason}") from None
    for text in dict.fromkeys(in_a_line(each.message) for each in said):
        caller.warn(f"{path.name}: {text}", RuntimeWarning)
    return of_mne(raw, path)


def _read_table(path: Path, rate: float | None) -> Recording:
    values, times, of_day = array("d"), array("d"), False
    with naming(path), path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        separator = next((max(",;\t", key=line.count) for line in stream if _counts(line)), None)
        if separator is None:
            raise ValueError(f"{path}: the file is empty")
        stream.seek(0)
        rows = _rows(path, stream, separator)
        where, header = _header(path, rows)
        of_hitachi = _PROBE.fullmatch(header[0])
        time = time_column(header)
        if time is not None and rate is not None:
            raise ValueError(f"{path}: column {header[time]!r} has times, no rate")
        channels = [k for k in range(len(header)) if k != time]
        if of_hitachi:
            channels = [k for k in channels if header[k].upper().startswith("CH")]
        if not channels:
            raise ValueError(f"{where}: no column of a channel beside {header[0]!r}")
        for where, row in rows:
            if len(row) < len(header) or any(row[len(header) :]):
                expected = f"{len(header)} cells expected, one per column"
                raise ValueError(f"{where}: {expected}, got {len(row)}")
            values.extend(_value(where, header[k], row[k]) for k in channels)
            if time is not None:
                times.append(_time(where, header[time], row[time], times[-1] if times else None))
                of_day = ":" in row[time]
    table = np.array(values).reshape(-1, len(channels)).T
    seconds = regular_times(f"{path}", table.shape[1], rate) if time is None else np.array(times)
    if of_day:
        seconds = (seconds - seconds[0]).round(_TIME_DECIMALS)
    names = tuple(header[k] for k in channels)
    kind = (of_hitachi and of_hitachi[1]) or ""
    return Recording.from_file(path, names, np.ascontiguousarray(table), seconds, kind)


def _counts(line: str) -> bool:
    """Tell whether a line of a table has contents."""
    return not (line.startswith("#") or line.isspace())


def _rows(path: Path, stream: Iterator[str], separator: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the cells of each row that is not blank."""
    lines = (line if _counts(line) else "\n" for line in stream)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield f"{path}:{reader.line_num}", [cell.strip() for cell in row]
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from None


def _header(path: Path, rows: Iterator[tuple[str, list[str]]]) -> tuple[str, list[str]]:
    """Return the place and the names of the columns."""
    where, names = next(rows)
    if names[0] in ("Header", "File Version"):
        rest = (row for row in rows if _PROBE.fullmatch(row[1][0]))
        where, names = next(rest, ("", []))
        if not names:
            raise ValueError(f"{path}: no line begins with Probe1 below the header of Hitachi")
    while not names[-1]:
        names.pop()
    if all(is_number(name) for name in names):
        raise ValueError(f"{where}: a header line with names of columns expected, got numbers")
    for k, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {k + 1} has no name")
    return where, names


def time_column(names: Sequence[str]) -> int | None:
    """Return the number of the first column whose name says that it has times, if there is one.

    >>> time_column(["CH1", "Time (s)", "t"]), time_column(["CH1"])
    (1, None)
    """
    plain = (" ".join(re.findall(r"[a-z]+", name.lower())) for name in names)
    return next((k for k, name in enumerate(plain) if _TIME_COLUMN.fullmatch(name)), None)


def _value(where: str, column: str, text: str) -> float:
    if text.lower() in _MISSING_CELLS:
        return np.nan
    if not is_number(text):
        raise ValueError(f"{where}: column {column!r}: {excerpt(text)} is not a number")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(f"{where}: column {column!r}: {value} is not finite")
    return value


def _time(where: str, column: str, text: str, last: float | None) -> float:
    """Return a time in s that is not before the last one: a number, or a time of day."""
    if found := _TIME_OF_DAY.fullmatch(text):
        hours, minutes, seconds = map(float, found.groups())
        time = (hours * 60 + minutes) * 60 + seconds
        if last is not None:  # the nearest one of any day
            time = last + (time - last + _DAY / 2) % _DAY - _DAY / 2
    else:
        time = _value(where, column, text)
    if not time >= (-np.inf if last is None else last):
        before = "the first" if last is None else f"after {last:.15g} s"
        raise ValueError(f"{where}: column {column!r}: {excerpt(text)} as a time {before}")
    return time
