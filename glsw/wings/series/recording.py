"""Recordings: series of several channels over one time axis, and how channels are chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw import caller
from glsw.wings.series.sax import Missing
from glsw.words import Range, numbered, package

RATES = Range(0, above=True)
"""Samples per second that there can be."""
_MAX_LISTED = 3
"""Names, or ranges of samples, that an error lists before it counts the others."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Series of several channels that were recorded together.

    Parameters
    ----------
    name : str
        Name of the file.
    channels : tuple of str
        Names of the channels, all different.
    values : ndarray of float64, shape (channels, samples)
        In the unit of the table, or in that of MNE, V, mol/L or T; nan if a sample is missing.
    times : ndarray of float64, shape (samples,)
        Time of each sample in s: as in the table, or since the first sample if it has the time of
        day, or if MNE read the file. Times do not decrease.
    kind : str
        The measured quantity, if it is known; with MNE the types of the channels.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    >>> recording = Recording("tapping", ("left", "right"), values, np.arange(4) / 2)
    >>> recording, recording.period
    (<Recording tapping: 2 channels, 4 samples, 0 to 1.5 s>, 0.5)
    >>> recording.select("r*", start=0.5).values.tolist()
    [[1.0, 0.0, 1.0]]
    """

    name: str
    channels: tuple[str, ...]
    values: npt.NDArray[np.float64]
    times: npt.NDArray[np.float64]
    kind: str = ""

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
            raise ValueError(f"{self.name}: {numbered(shape[1], 'sample')}, at least 2 expected")
        if not np.isfinite(self.times).all() or (np.diff(self.times) < 0).any():
            raise ValueError(f"{self.name}: times must be finite and not decrease")
        if not self.times[-1] > self.times[0]:
            raise ValueError(f"{self.name}: all samples have the time {self.times[0]:g} s")

    def __repr__(self) -> str:
        size = f"{numbered(len(self.channels), 'channel')}, {len(self.times)} samples"
        return f"<Recording {self.name}: {size}, {self.times[0]:g} to {self.times[-1]:g} s>"

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        rate: float | None = None,
        names: Sequence[str] | None = None,
    ) -> Recording:
        """Return the recording that an object of another package or a file holds.

        Parameters
        ----------
        data : Recording, path, MNE Raw, DataFrame or array
            A path is read by `glsw.wings.series.readers.read`. Of an object of MNE, such as
            :class:`mne.io.Raw`, the data channels that are not marked as bad; samples annotated as
            bad are nan. Of a :class:`pandas.DataFrame`, or a table with a method ``to_pandas`` as
            :class:`pyarrow.Table`, each column is a channel; its times are a column called time,
            t or seconds, or else its index, if that has dates, time differences, or such a name.
            Of an array, shape (channels, samples), each row, or the only one.
        rate : float, optional
            Samples per second, for data without times.
        names : sequence of str, optional
            Names of the channels of an array; by default CH1, CH2 and so on.

        Returns
        -------
        Recording

        Raises
        ------
        TypeError
            If ``data`` is something else.
        ValueError
            If there are neither times nor a ``rate``, or both; if the numbers of channels and
            ``names`` differ; as for `Recording`.

        Examples
        --------
        >>> recording = Recording.of(np.array([[1, 2, 3], [3, 1, 2]]), rate=10)
        >>> recording.channels, recording.times.tolist()
        (('CH1', 'CH2'), [0.0, 0.1, 0.2])
        """
        if isinstance(data, str | os.PathLike):
            from glsw.wings.series.readers import read

            return read(data, rate=rate)
        kind = type(data).__name__
        if isinstance(data, Recording) or hasattr(data, "ch_names"):
            if rate is not None:
                raise ValueError(f"{kind}: it has times: omit rate")
            return data if isinstance(data, Recording) else of_mne(data, Path(kind))
        if hasattr(data, "to_pandas"):
            data = data.to_pandas()
        if hasattr(data, "columns") and hasattr(data, "index"):
            return _of_frame(data, kind, rate)
        if not isinstance(data, np.ndarray):
            raise TypeError(
                "a Recording, an MNE Raw, a pandas DataFrame, a NumPy array or the path of a file "
                f"expected, got {kind}"
            )
        values = np.atleast_2d(data)
        if values.ndim > 2:
            raise ValueError(f"an array of shape (channels, samples) expected, got {data.shape}")
        if names is None:
            if len(values) > values.shape[1]:
                caller.warn(
                    f"{len(values)} channels of {numbered(values.shape[1], 'sample')}: an array "
                    "has the shape (channels, samples); transpose it if the rows are samples",
                    RuntimeWarning,
                )
            names = [f"CH{k}" for k in range(1, len(values) + 1)]
        if len(names) != len(values):
            raise ValueError(f"{len(names)} names of {len(values)} channels")
        return cls(
            "array", tuple(names), _numbers(values), regular_times(kind, values.shape[1], rate)
        )

    def to_dataframe(self) -> Any:
        """Return a :class:`pandas.DataFrame` with a column per channel; its index is the time in s.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        pandas = package("pandas", "to_dataframe")
        index = pandas.Index(self.times, name="time")
        return pandas.DataFrame(self.values.T, index, columns=list(self.channels))

    @classmethod
    def from_file(
        cls,
        path: Path,
        channels: tuple[str, ...],
        values: npt.NDArray[np.float64],
        times: npt.NDArray[np.float64],
        kind: str,
    ) -> Recording:
        """Return the recording of a file; errors begin with the path."""
        return replace(cls(str(path), channels, values, times, kind), name=path.name)

    @property
    def period(self) -> float:
        """The median time between two samples, in s."""
        steps = np.diff(self.times)
        return float(np.median(steps[steps > 0]))

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Start times of the samples and the end of the last one, in s, shape (samples + 1,)."""
        return np.append(self.times, self.times[-1] + self.period)

    @property
    def gap(self) -> tuple[float, float] | None:
        """The longest time without samples, (start, end) in s; None if less than two periods."""
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
        """Return a recording of some channels, of a part of the time, or of both.

        Parameters
        ----------
        channels : str, or sequence of str or int, optional
            Names, numbers counted from 1, ranges of both with a hyphen, and patterns with ``*``
            and ``?``; in a str, separated by commas. Case does not matter. The channels keep the
            order given, each once. All channels by default.
        start, end : float, optional
            In s: samples from ``start`` on, before ``end``.

        Raises
        ------
        ValueError
            If a name, number, range or pattern matches no channel, or fewer than two samples
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
        """Reject missing samples, or leave out the channels without any samples.

        Parameters
        ----------
        missing : {"error", "skip"}
            With "skip" single missing samples stay nan; `glsw.wings.series.sax` skips them.

        Returns
        -------
        Recording
        tuple of str
            The channels that were left out.

        Raises
        ------
        ValueError
            If samples are missing, naming samples and channels, unless ``missing`` is "skip";
            if no channel is left.
        """
        if missing not in ("error", "skip"):
            raise ValueError(f'missing must be "error" or "skip", got {missing!r}')
        holes = np.isnan(self.values)
        if missing == "error" and holes.any():
            raise ValueError(f'{self.name}: {self._described(holes)}; missing="skip" goes on')
        empty = holes.all(axis=1)
        if empty.all():
            raise ValueError(f"{self.name}: all samples of all channels are nan")
        names = np.array(self.channels, object)
        left = replace(self, channels=tuple(names[~empty]), values=self.values[~empty])
        return left, tuple(names[empty])

    def _described(self, holes: npt.NDArray[np.bool_]) -> str:
        """Describe the missing samples; channels with the same ones stand together."""
        missing: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(holes.any(axis=1)).tolist():
            missing.setdefault(holes[k].tobytes(), []).append(k)
        parts = []
        for channels in missing.values():
            count = len(channels)
            names = listed([self.channels[k] for k in channels])
            of = f"channel {names}" if count == 1 else f"{count} channels ({names})"
            parts.append(f"{_ranges(holes[channels[0]])} of {of}")
        more = len(parts) - _MAX_LISTED
        rest = f"; {more} more" if more > 0 else ""
        return f"nan in {'; '.join(parts[:_MAX_LISTED])}{rest}"

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
        """Return the channel of a name or, counted from 1, of a number; None if there is none."""
        names = [name.lower() for name in self.channels]
        if text in self.channels:
            return self.channels.index(text)
        if names.count(text.lower()) == 1:
            return names.index(text.lower())
        if text.isascii() and text.isdecimal() and 1 <= int(text) <= len(names):
            return int(text) - 1
        return None


def of_mne(data: Any, path: Path) -> Recording:
    """Return the recording of an object of MNE; errors begin with the path."""
    import mne

    with mne.use_log_level("WARNING"):
        good = data.copy().pick("data", exclude="bads")
        options = {"reject_by_annotation": "NaN"} if isinstance(good, mne.io.BaseRaw) else {}
        values = good.get_data(**options)
    if values.ndim != 2:
        raise TypeError(f"{path}: series over one time axis expected, such as those of a Raw")
    kinds = ", ".join(dict.fromkeys(good.get_channel_types()))
    names = tuple(good.ch_names)
    return Recording.from_file(path, names, _numbers(values), _numbers(good.times), kinds)


def _of_frame(data: Any, kind: str, rate: float | None) -> Recording:
    from glsw.wings.series.readers import time_column

    names, index = [str(name) for name in data.columns], data.index
    at, times = time_column(names), None
    if at is not None:
        times = data.iloc[:, at].to_numpy()
        data, names = data.drop(columns=data.columns[at]), names[:at] + names[at + 1 :]
    elif index.dtype.kind in "mM" or time_column([str(index.name)]) is not None:
        times = index.to_numpy()
    if times is None:
        times = regular_times(kind, len(index), rate)
    elif rate is not None:
        raise ValueError(f"{kind}: it has times: omit rate")
    elif times.dtype.kind in "mM":
        times = (times - times[0]) / np.timedelta64(1, "s")
    return Recording(kind, tuple(names), _numbers(data.to_numpy().T), _numbers(times))


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(values, np.float64)


def regular_times(kind: str, samples: int, rate: float | None) -> npt.NDArray[np.float64]:
    """Return the times of samples in s by their number per second."""
    if rate is None:
        raise ValueError(f"{kind}: no times; rate=HZ gives the samples per second")
    RATES.check("rate", rate)
    return np.arange(samples) / rate


def listed(names: Sequence[str], most: int = _MAX_LISTED) -> str:
    """Return the first names separated by commas, and the number of others.

    >>> listed(["CH1", "CH2", "CH3", "CH4", "CH5"])
    'CH1, CH2, CH3 and 2 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _ranges(flags: npt.NDArray[np.bool_]) -> str:
    """Return the ranges of samples that are set, counted from 1, the last included.

    >>> _ranges(np.array([0, 1, 1, 1, 0, 1], bool))
    'samples 2-4, 6'
    """
    if flags.all():
        return f"all {len(flags)} samples"
    borders = np.flatnonzero(np.diff(flags, prepend=False, append=False)).reshape(-1, 2)
    runs = [str(end) if end - start == 1 else f"{start + 1}-{end}" for start, end in borders]
    return ("sample " if flags.sum() == 1 else "samples ") + listed(runs)


def excerpt(text: str) -> str:
    """Return the beginning of a text in quotes, for errors.

    >>> excerpt("a" * 99)
    "'aaaaaaaaaaaaaaaaaaaa...'"
    """
    return repr(text if len(text) <= 20 else f"{text[:20]}...")
