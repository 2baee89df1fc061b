"""Recordings of many channels: tables as CSV, what a Hitachi ETG-4000 writes, and SNIRF.

``.snirf`` files are HDF5 and are read with h5py along the specification (SNIRF 1.1, and the
``measurementLists`` of 1.2): the dedicated reader, ``snirf`` 0.8, stops with an IndexError at the
specification's own example without data, does not know ``measurementLists``, and needs h5py too.

Missing samples are nan, here and in the files; a CSV cell that is empty or NA is missing too.

References
----------
Shared Near Infrared Spectroscopy Format Specification, https://github.com/fNIRS/snirf
"""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.series.sax import Missing

if TYPE_CHECKING:
    import h5py

_HDF5 = b"\x89HDF\r\n\x1a\n"
_TABLES = (".csv", ".tsv", ".txt")
_MISSING = frozenset(("", "na", "n/a", "nan"))
_TIMES = frozenset(("time", "times", "t", "seconds", "time s", "time sec", "time seconds", "t s"))
_CLOCK = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)", re.ASCII)
_DAY = 24 * 60 * 60
_DECIMALS = 6  # of seconds between times of day
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "μs": 1e-6, "µs": 1e-6}
_SHOWN = 3
"""Names, or ranges of samples, that an error lists before it counts the others."""

_DEFLATED = 1032
"""How many times its compressed size a dataset has at most."""

# Of SNIRF's data types, its appendix: what is none of these is said with its number.
_AMPLITUDE, _PROCESSED = 1, 99999
_TYPES = {51: "fluorescence", 101: "AC", 102: "phase", 201: "gated", 301: "moment", 401: "g2"}
_OF_A_WAVELENGTH = ("dOD", "dMean", "dVar", "dSkew", "mua", "musp")


@dataclass(frozen=True, eq=False)
class Recording:
    """Series that were recorded together.

    Parameters
    ----------
    name : str
        Of the file.
    channels : tuple of str
        Names, no two of them equal.
    values : ndarray of float64, shape (channels, samples)
        In the unit of the file; nan where a sample is missing.
    times : ndarray of float64, shape (samples,)
        When the samples were taken, in s: as in the file, or since the first sample where the
        file has the time of day. They do not decrease.
    kind : str
        What was measured, as far as the file says it.
    note : str
        What a reader of results should know, such as that the file holds other series too.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    >>> recording = Recording("tapping", ("left", "right"), values, np.arange(4) / 2)
    >>> recording.period
    0.5
    >>> recording.select("r*", start=0.5).values.tolist()
    [[1.0, 0.0, 1.0]]
    """

    name: str
    channels: tuple[str, ...]
    values: npt.NDArray[np.float64]
    times: npt.NDArray[np.float64]
    kind: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        shape = len(self.channels), len(self.times)
        if self.values.shape != shape:
            raise ValueError(
                f"{self.name}: values of {shape[0]} channels and {shape[1]} samples must have "
                f"shape {shape}, not {self.values.shape}"
            )
        if len(set(self.channels)) < shape[0]:
            twice = next(name for name in self.channels if self.channels.count(name) > 1)
            raise ValueError(f"{self.name}: two channels are called {twice!r}")
        if shape[1] < 2:
            raise ValueError(f"{self.name}: {shape[1]} samples are too few, at least 2 expected")
        if not np.isfinite(self.times).all() or (np.diff(self.times) < 0).any():
            raise ValueError(f"{self.name}: times must be finite and not decrease")
        if not self.times[-1] > self.times[0]:
            raise ValueError(f"{self.name}: all samples have the time {self.times[0]:g} s")

    @property
    def period(self) -> float:
        """The usual time between two samples, in s: the median."""
        steps = np.diff(self.times)
        return float(np.median(steps[steps > 0]))

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Where samples begin and, the last entry, end, in s, shape (samples + 1,)."""
        return np.append(self.times, self.times[-1] + self.period)

    @property
    def gap(self) -> tuple[float, float] | None:
        """The longest time without samples, from and to in s, if it is two periods or more."""
        steps = np.diff(self.times)
        k = int(np.argmax(steps))
        if steps[k] < 2 * self.period:
            return None
        return float(self.times[k]), float(self.times[k + 1])

    def select(
        self,
        channels: str | Sequence[str | int] | None = None,
        *,
        start: float | None = None,
        end: float | None = None,
    ) -> Recording:
        """Return some channels, or a part of the time, or both.

        Parameters
        ----------
        channels : str, or sequence of str or int, optional
            Names, numbers counted from 1, ranges of both with a hyphen, and patterns with ``*``
            and ``?``; a str has commas between them. Upper and lower case are one. Channels come
            in the order in which they are asked for, each once; without it all of them.
        start, end : float, optional
            In s, of the times of the recording: samples from ``start`` to before ``end``.

        Raises
        ------
        ValueError
            If a name, number, range or pattern is that of no channel, or fewer than two samples
            are left.

        Examples
        --------
        >>> names = "S1_D1 HbO", "S1_D1 HbR", "S2_D1 HbO"
        >>> recording = Recording("r", names, np.zeros((3, 4)), np.arange(4.0))
        >>> recording.select("*hbo").channels
        ('S1_D1 HbO', 'S2_D1 HbO')
        >>> recording.select("3,1-2").channels
        ('S2_D1 HbO', 'S1_D1 HbO', 'S1_D1 HbR')
        """
        chosen = range(len(self.channels)) if channels is None else self._numbers(channels)
        low = -np.inf if start is None else start
        high = np.inf if end is None else end
        inside = (self.times >= low) & (self.times < high)
        if inside.sum() < 2:
            span = f"{self.times[0]:g} to {self.times[-1]:g} s"
            raise ValueError(
                f"{self.name}: {inside.sum()} samples from {low:g} to {high:g} s, at least 2 "
                f"expected; the recording is from {span}"
            )
        return replace(
            self,
            channels=tuple(self.channels[k] for k in chosen),
            values=self.values[list(chosen)][:, inside],
            times=self.times[inside],
        )

    def without_missing(self, missing: Missing = "error") -> tuple[Recording, tuple[str, ...]]:
        """Refuse missing samples, or leave out the channels that have no others.

        Parameters
        ----------
        missing : {"error", "skip"}
            With "skip" single samples stay missing, for `glsw.series.sax` to skip.

        Returns
        -------
        Recording
        tuple of str
            The channels that were left out.

        Raises
        ------
        ValueError
            If samples are missing, saying which of which channels, unless ``missing`` is "skip";
            then if no channel is left.
        """
        if missing not in ("error", "skip"):
            raise ValueError(f'missing must be "error" or "skip", got {missing!r}')
        holes = np.isnan(self.values)
        if missing == "error" and holes.any():
            raise ValueError(f"{self.name}: {self._described(holes)}; --missing skip goes on")
        empty = holes.all(axis=1)
        if empty.all():
            raise ValueError(f"{self.name}: no channel has samples but nan")
        names = np.array(self.channels, object)
        left = replace(self, channels=tuple(names[~empty]), values=self.values[~empty])
        return left, tuple(names[empty])

    def _described(self, holes: npt.NDArray[np.bool_]) -> str:
        """Say which samples are missing; channels that lack the same ones go together."""
        lacking: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(holes.any(axis=1)).tolist():
            lacking.setdefault(holes[k].tobytes(), []).append(k)
        parts = []
        for channels in lacking.values():
            count = len(channels)
            names = listed([self.channels[k] for k in channels])
            of = f"channel {names}" if count == 1 else f"{count} channels ({names})"
            parts.append(f"{_ranges(holes[channels[0]])} of {of}")
        more = len(parts) - _SHOWN
        rest = f"; {more} times more" if more > 0 else ""
        return f"nan in {'; '.join(parts[:_SHOWN])}{rest}"

    def _numbers(self, channels: str | Sequence[str | int]) -> list[int]:
        parts = channels.split(",") if isinstance(channels, str) else channels
        chosen = dict.fromkeys(k for part in parts for k in self._matching(str(part).strip()))
        if not chosen:
            raise ValueError(f"{self.name}: no channels chosen")
        return list(chosen)

    def _matching(self, text: str) -> Sequence[int]:
        one = self._number(text)
        if one is not None:
            return [one]
        for split in re.finditer("-", text):
            first = self._number(text[: split.start()].strip())
            last = self._number(text[split.end() :].strip())
            if first is not None and last is not None:
                return range(first, last + 1) if first <= last else range(first, last - 1, -1)
        pattern = text.lower()
        matching = [k for k, name in enumerate(self.channels) if fnmatchcase(name.lower(), pattern)]
        if not matching:
            known = listed(self.channels, 8)
            count = len(self.channels)
            raise ValueError(f"{self.name}: no channel {text!r}; its {count} channels: {known}")
        return matching

    def _number(self, text: str) -> int | None:
        """Return which channel has a name, or else a number counted from 1."""
        names = [name.lower() for name in self.channels]
        if text in self.channels:
            return self.channels.index(text)
        if names.count(text.lower()) == 1:
            return names.index(text.lower())
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= len(names):
            return int(text) - 1
        return None


def read(
    path: str | os.PathLike[str], *, rate: float | None = None, block: int | None = None
) -> Recording:
    """Read a recording.

    Parameters
    ----------
    path : str or path
        HDF5, as its first bytes tell, is read as SNIRF; other files by their names, ``.csv``,
        ``.tsv`` or ``.txt``, as a table of columns with names above. Lines that begin with ``#``
        are left out. A table in which a line begins with ``Probe`` is an export of a Hitachi
        ETG-4000: the lines above that line are its header, and of its columns those called CH
        are channels. In every other table all columns are channels, but for one that is called
        time or t or seconds.
    rate : float, optional
        Samples in a second, for a table without times.
    block : int, optional
        Which time series of a SNIRF file, counted from 1, if it has several; the first unless
        given.

    Returns
    -------
    Recording

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        One line that begins with the path: if the file is of no known kind, damaged, or without
        time series; with the number of the line if cells of a table are missing or are not
        numbers, or times go back. If h5py is missing, saying how to install it.
    """
    source = Path(path)
    with source.open("rb") as stream:
        start = stream.read(len(_HDF5))
    if rate is not None and not 0 < rate < np.inf:
        raise ValueError(f"rate must be a positive number of samples a second, got {rate}")
    if start == _HDF5 or source.suffix.lower() == ".snirf":
        if start != _HDF5:
            raise ValueError(f"{path}: a .snirf file is HDF5, this is not")
        if rate is not None:
            raise ValueError(f"{path}: a .snirf file has times, no rate is needed")
        return _snirf(source, block)
    if source.suffix.lower() not in _TABLES:
        kinds = ", ".join(_TABLES)
        raise ValueError(f"{path}: neither HDF5, as .snirf files are, nor named {kinds}")
    if block is not None:
        raise ValueError(f"{path}: only .snirf files have several time series")
    return _table(source, rate)


def listed(names: Sequence[str], most: int = _SHOWN) -> str:
    """Return names with commas between them, and how many more there are.

    >>> listed(["CH1", "CH2", "CH3", "CH4", "CH5"])
    'CH1, CH2, CH3 and 2 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _ranges(flags: npt.NDArray[np.bool_]) -> str:
    """Return which samples are set, counted from 1, the last included.

    >>> _ranges(np.array([0, 1, 1, 1, 0, 1], bool))
    'samples 2-4, 6'
    """
    if flags.all():
        return f"all {len(flags)} samples"
    borders = np.flatnonzero(np.diff(flags, prepend=False, append=False)).reshape(-1, 2)
    runs = [str(end) if end - start == 1 else f"{start + 1}-{end}" for start, end in borders]
    return ("sample " if flags.sum() == 1 else "samples ") + listed(runs)


# tables


class _Columns(NamedTuple):
    """Where in a row channels and time stand."""

    header: tuple[str, ...]
    channels: tuple[int, ...]
    time: int | None
    kind: str = ""


def _table(path: Path, rate: float | None) -> Recording:
    period = None if rate is None else 1 / rate
    values, times = array("d"), array("d")
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        rows = _rows(path, stream)
        columns, stated = _header(path, rows)
        if columns.time is not None and rate is not None:
            raise ValueError(f"{path}: column {columns.header[columns.time]!r} has times, no rate")
        period = period or stated
        if columns.time is None and period is None:
            raise ValueError(
                f"{path}: no column is called time; --rate says how many samples a second has"
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
            seconds = (seconds - seconds[0]).round(_DECIMALS)
    return _checked(path, names, np.ascontiguousarray(table), seconds, columns.kind)


def _rows(path: Path, stream: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the cells of each row that is not blank."""
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


def _header(path: Path, rows: Iterator[tuple[int, list[str]]]) -> tuple[_Columns, float | None]:
    """Find the names of the columns; also return the sampling period of a Hitachi header."""
    number, names = next(rows)
    if not _is_hitachi(names):
        return _plain(f"{path}:{number}", _trimmed(names)), None
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
        raise ValueError(f"{path}:{number}: no column is called CH, those of channels are")
    kind = re.search(r"\((.+)\)", names[0])
    time = names.index("Time") if "Time" in names else None
    return _Columns(tuple(names), channels, time, kind[1] if kind else ""), period


def _is_hitachi(first: list[str]) -> bool:
    return first[0].startswith("Probe") or first[0] in ("Header", "File Version")


def _plain(where: str, names: list[str]) -> _Columns:
    if all(_is_number(name) for name in names):
        raise ValueError(f"{where}: numbers, where the names of the columns should be")
    for k, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {k + 1} has no name")
        if name in names[:k]:
            raise ValueError(f"{where}: two columns are called {name!r}")
    plain = [" ".join(re.findall(r"[a-z]+", name.lower())) for name in names]
    times = [k for k, name in enumerate(plain) if name in _TIMES]
    time = times[0] if times else None
    channels = tuple(k for k in range(len(names)) if k != time)
    if not channels:
        raise ValueError(f"{where}: no column but {names[0]!r}")
    return _Columns(tuple(names), channels, time)


def _trimmed(cells: list[str]) -> list[str]:
    """Return cells without empty ones at the end.

    >>> _trimmed(["time", "", "CH1", "", ""])
    ['time', '', 'CH1']
    """
    end = len(cells)
    while end > 1 and not cells[end - 1]:
        end -= 1
    return cells[:end]


def _cells(where: str, row: list[str], count: int) -> list[str]:
    if len(row) < count or any(row[count:]):
        raise ValueError(f"{where}: {len(row)} cells, as many as the {count} columns expected")
    return row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(where: str, column: str, text: str) -> float:
    if text.lower() in _MISSING:
        return np.nan
    if not _is_number(text):
        raise ValueError(f"{where}: column {column!r}: {_short(text)} is not a number")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(f"{where}: column {column!r}: {value} is not finite")
    return value


def _short(text: str) -> str:
    """Return what an error says of a cell, however long it is.

    >>> _short("a" * 99)
    "'aaaaaaaaaaaaaaaaaaaa...'"
    """
    return repr(text if len(text) <= 20 else f"{text[:20]}...")


class _Clock:
    """Reads times in s that go on: numbers, or the time of day, also past midnight."""

    def __init__(self) -> None:
        self.of_day = False
        self._last = -np.inf
        self._days = 0

    def read(self, where: str, column: str, text: str) -> float:
        found = _CLOCK.fullmatch(text)
        if found:
            hours, minutes, seconds = map(float, found.groups())
            time = (hours * 60 + minutes) * 60 + seconds + self._days * _DAY
            if time < self._last - _DAY / 2:
                self._days += 1
                time += _DAY
            self.of_day = True
        else:
            time = _value(where, column, text)
        if not time >= self._last:
            before = f"after {self._last:.15g} s" if self._last > -np.inf else "the first"
            raise ValueError(f"{where}: column {column!r}: {_short(text)} as a time {before}")
        self._last = time
        return time


def _checked(
    path: Path,
    names: tuple[str, ...],
    values: npt.NDArray[np.float64],
    times: npt.NDArray[np.float64],
    kind: str,
    note: str = "",
) -> Recording:
    """Return a recording; what is wrong with it begins with the path."""
    return replace(Recording(str(path), names, values, times, kind, note), name=path.name)


# SNIRF


def _snirf(path: Path, block: int | None) -> Recording:
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{path}: .snirf files need h5py: pip install glsw[series]") from None
    try:
        with h5py.File(path, "r") as file:
            return _time_series(path, file, block)
    except (OSError, RuntimeError, KeyError, TypeError, AttributeError, ValueError) as error:
        if str(error).startswith(f"{path}:"):
            raise
        raise ValueError(f"{path}: damaged, or no SNIRF: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return HDF5's words in one line."""
    return " ".join(str(error).strip("'\"").split()) or type(error).__name__


def _time_series(path: Path, file: h5py.File, block: int | None) -> Recording:
    blocks = [
        (f"{outer}/{inner}", file[outer], file[outer][inner])
        for outer in _indexed(file, "nirs")
        for inner in _indexed(file[outer], "data")
    ]
    if not blocks:
        raise ValueError(f"{path}: no SNIRF: it has no group nirs with a group data")
    full = [each for each in blocks if np.size(each[2].get("dataTimeSeries", ()))]
    if not full:
        raise ValueError(
            f"{path}: no time series: {blocks[0][0]}/dataTimeSeries is empty or absent"
        )
    if block is not None and not 1 <= block <= len(full):
        known = listed([name for name, _, _ in full])
        raise ValueError(f"{path}: no time series {block}, it has {len(full)}: {known}")
    name, nirs, data = full[(block or 1) - 1]
    where = f"{path}: {name}"
    values = _array(data["dataTimeSeries"])
    if values.dtype.kind not in "iuf" or values.ndim > 2:
        raise ValueError(f"{where}/dataTimeSeries: numbers of shape (samples, channels) expected")
    values = values.astype(np.float64).reshape(len(values), -1)
    times = _times(where, nirs, data, len(values))
    names = _channel_names(where, nirs, data, values.shape[1])
    if "dataOffset" in data:
        offsets = _array(data["dataOffset"]).ravel()
        if len(offsets) == values.shape[1]:
            values += offsets
    kinds = dict.fromkeys(each.partition(" ")[2].partition(" (")[0] for each in names)
    note = ""
    if len(full) > 1 and block is None:
        note = f"{name} is the first of {len(full)} time series; --block chooses another"
    return _checked(
        path, names, np.ascontiguousarray(values.T), times, ", ".join(filter(None, kinds)), note
    )


def _indexed(group: Any, name: str) -> list[str]:
    """Return the members of an indexed group in the order of their numbers."""
    members = group.keys() if hasattr(group, "keys") else ()
    found = [(re.fullmatch(rf"{name}(\d*)", key, re.ASCII), key) for key in members]
    return [key for _, key in sorted((int(m[1] or 0), key) for m, key in found if m)]


def _times(where: str, nirs: Any, data: Any, samples: int) -> npt.NDArray[np.float64]:
    """Return the times in s: one a sample, or made of the first one and the spacing."""
    if "time" not in data:
        raise ValueError(f"{where}/time is absent")
    times = _array(data["time"]).ravel().astype(np.float64)
    if len(times) == 2 != samples:
        times = times[0] + times[1] * np.arange(samples)
    if len(times) != samples:
        raise ValueError(f"{where}/time: {len(times)} times for {samples} samples")
    tags = nirs.get("metaDataTags", {})
    unit = _text(tags["TimeUnit"]) if "TimeUnit" in tags else ""
    if unit not in _SECONDS:
        known = ", ".join(filter(None, _SECONDS))
        raise ValueError(f"{where}: TimeUnit {_short(unit)} is none of {known}")
    return times * _SECONDS[unit]


def _channel_names(where: str, nirs: Any, data: Any, count: int) -> tuple[str, ...]:
    """Name each column after its source and detector, and wavelength or what was computed."""
    probe = nirs.get("probe", {})
    sources, detectors = (_labels(probe, f"{side}Labels") for side in ("source", "detector"))
    wavelengths = _array(probe["wavelengths"]).ravel() if "wavelengths" in probe else np.empty(0)
    together = data.get("measurementLists")
    each = _indexed(data, "measurementList")
    stated = len(each) if together is None else np.size(together["sourceIndex"])
    if stated != count:
        raise ValueError(f"{where}: measurementList describes {stated} channels of {count}")

    def field(k: int, name: str) -> Any:
        """Return a field of a channel, None if it is absent or empty."""
        if together is None:
            group = data[each[k]]
            value = group.get(name)
            return value if value is None or np.size(value) else None
        return _array(together[name]).ravel()[k] if name in together else None

    def whole(k: int, name: str) -> int:
        value = field(k, name)
        return 0 if value is None else int(_array(value).ravel()[0])

    names: dict[str, None] = {}
    for k in range(count):
        source, detector = whole(k, "sourceIndex"), whole(k, "detectorIndex")
        kind, index = whole(k, "dataType"), whole(k, "wavelengthIndex")
        label = field(k, "dataTypeLabel")
        label = "" if label is None or kind == _AMPLITUDE else _text(label)
        if not label and kind not in (0, _AMPLITUDE):
            label = "processed" if kind == _PROCESSED else _TYPES.get(kind, f"type {kind}")
        words = [f"{sources.get(source, f'S{source}')}_{detectors.get(detector, f'D{detector}')}"]
        optical = kind != _PROCESSED or label.endswith(_OF_A_WAVELENGTH)
        if optical and 1 <= index <= len(wavelengths):
            words.append(f"{wavelengths[index - 1]:g} nm")
        name = unique = " ".join(filter(None, [*words, label]))
        again = 1
        while unique in names:
            again += 1
            unique = f"{name} ({again})"
        names[unique] = None
    return tuple(names)


def _labels(probe: Any, name: str) -> dict[int, str]:
    """Return labels by number, from 1; those of several wavelengths are the first one's."""
    if name not in probe:
        return {}
    labels = _array(probe[name])
    labels = labels[:, 0] if labels.ndim == 2 else labels.ravel()
    return {k: text for k, label in enumerate(labels, start=1) if (text := _text(label))}


def _array(value: Any) -> npt.NDArray[Any]:
    """Return a dataset, or what was read of one; damage may give it an absurd size."""
    if hasattr(value, "file") and value.nbytes > _DEFLATED * value.file.id.get_filesize():
        raise ValueError(f"{value.name} has {value.size} elements, more than the file holds")
    return np.asarray(value)


def _text(value: Any) -> str:
    """Return a string, whether it is one, an array of one, or an array of characters."""
    items = _array(value).ravel().tolist()
    parts = (
        item.decode(errors="replace")
        if isinstance(item, bytes)
        else chr(item)
        if isinstance(item, int)
        else str(item)
        for item in items
    )
    return "".join(parts).strip("\0 ")
