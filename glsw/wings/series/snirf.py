"""SNIRF files: recordings of near-infrared spectroscopy in HDF5.

They are read with h5py, following the specification (SNIRF 1.1, and the ``measurementLists`` of
1.2). The dedicated reader, ``snirf`` 0.8, stops with an IndexError at the specification's own
example without data, does not know ``measurementLists``, and needs h5py too.

References
----------
Shared Near Infrared Spectroscopy Format Specification, https://github.com/fNIRS/snirf
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.wings.series.recording import Recording, excerpt, listed

if TYPE_CHECKING:
    import h5py

_SECONDS_PER_UNIT = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "μs": 1e-6, "µs": 1e-6}
TIME_UNITS = "s", "ms", "us"
_NO_UNITS = ("unknown", "unspecified", "none", "n/a", "na")
_PLAUSIBLE_PERIODS = 0.002, 2.0
"""Seconds between samples, at least and less than; samples of 500 Hz are 2 ms apart."""

_MAX_COMPRESSION = 1032
"""Of DEFLATE: a dataset is at most that many times as large as its file."""

# Data types of SNIRF's appendix; any other is shown by its number.
_AMPLITUDE, _PROCESSED = 1, 99999
_TYPES = {51: "fluorescence", 101: "AC", 102: "phase", 201: "gated", 301: "moment", 401: "g2"}
_OF_A_WAVELENGTH = ("dOD", "dMean", "dVar", "dSkew", "mua", "musp")


def read(path: Path, block: int | None = None, time_unit: str | None = None) -> Recording:
    """Read a SNIRF file, see `glsw.wings.series.readers.read`."""
    if time_unit not in (None, *TIME_UNITS):
        known = ", ".join(TIME_UNITS)
        raise ValueError(f"{path}: time_unit must be one of {known}, got {time_unit!r}")
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{path}: .snirf files need h5py: pip install 'glsw[series]'") from None
    try:
        with h5py.File(path, "r") as file:
            return _time_series(path, file, block, time_unit)
    except (OSError, RuntimeError, KeyError, TypeError, AttributeError, ValueError) as error:
        if str(error).startswith(f"{path}:"):
            raise
        raise ValueError(f"{path}: damaged, or not SNIRF: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return the message of HDF5 in one line."""
    return " ".join(str(error).strip("'\"").split()) or type(error).__name__


def _time_series(
    path: Path, file: h5py.File, block: int | None, time_unit: str | None
) -> Recording:
    blocks = [
        (f"{outer}/{inner}", file[outer], file[outer][inner])
        for outer in _indexed(file, "nirs")
        for inner in _indexed(file[outer], "data")
    ]
    if not blocks:
        raise ValueError(f"{path}: not SNIRF: it has no group nirs with a group data")
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
    times, note = _times(where, nirs, data, len(values), time_unit)
    names = _channel_names(where, nirs, data, values.shape[1])
    if "dataOffset" in data:
        offsets = _array(data["dataOffset"]).ravel()
        if len(offsets) == values.shape[1]:
            values += offsets
    kinds = dict.fromkeys(each.partition(" ")[2].partition(" (")[0] for each in names)
    if len(full) > 1 and block is None:
        first = f"{name} is the first of {len(full)} time series; block=N chooses another"
        note = "; ".join(filter(None, [first, note]))
    return Recording.from_file(
        path, names, np.ascontiguousarray(values.T), times, ", ".join(filter(None, kinds)), note
    )


def _indexed(group: Any, name: str) -> list[str]:
    """Return the names of the members of an indexed group, sorted by number."""
    members = group.keys() if hasattr(group, "keys") else ()
    found = [(re.fullmatch(rf"{name}(\d*)", key, re.ASCII), key) for key in members]
    return [key for _, key in sorted((int(m[1] or 0), key) for m, key in found if m)]


def _times(
    where: str, nirs: Any, data: Any, samples: int, given: str | None
) -> tuple[npt.NDArray[np.float64], str]:
    """Return the times in s, one per sample or computed from the first and the spacing; a note."""
    if "time" not in data:
        raise ValueError(f"{where}/time is absent")
    times = _array(data["time"]).ravel().astype(np.float64)
    if len(times) == 2 != samples:
        times = times[0] + times[1] * np.arange(samples)
    if len(times) != samples:
        raise ValueError(f"{where}/time: {len(times)} times for {samples} samples")
    tags = nirs.get("metaDataTags", {})
    unit = given or (_text(tags["TimeUnit"]) if "TimeUnit" in tags else "")
    if unit.casefold() in _NO_UNITS:
        period = float(np.median(np.diff(times))) if samples > 1 else 0.0
        least, most = _PLAUSIBLE_PERIODS
        if least <= period < most:
            return times, f"TimeUnit is {excerpt(unit)}, taken for s; time_unit=ms says otherwise"
        raise ValueError(
            f"{where}: TimeUnit is {excerpt(unit)}, and samples {period:g} apart are not "
            "plausible in s; time_unit=ms or time_unit=us says what they are"
        )
    if unit not in _SECONDS_PER_UNIT:
        known = ", ".join(filter(None, _SECONDS_PER_UNIT))
        raise ValueError(
            f"{where}: TimeUnit {excerpt(unit)} is unknown; there are {known}; time_unit=s says "
            "what it is"
        )
    return times * _SECONDS_PER_UNIT[unit], ""


def _channel_names(where: str, nirs: Any, data: Any, count: int) -> tuple[str, ...]:
    """Return names made of source, detector, and wavelength or computed quantity."""
    probe = nirs.get("probe", {})
    sources, detectors = (_labels(probe, f"{side}Labels") for side in ("source", "detector"))
    wavelengths = _array(probe["wavelengths"]).ravel() if "wavelengths" in probe else np.empty(0)
    together = data.get("measurementLists")
    each = _indexed(data, "measurementList")
    stated = len(each) if together is None else np.size(together["sourceIndex"])
    if stated != count:
        raise ValueError(f"{where}: measurementList describes {stated} channels of {count}")

    def field(k: int, name: str) -> Any:
        """Return a field of channel k, None if it is absent or empty."""
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
    """Return labels by number, from 1; of several wavelengths the label of the first one."""
    if name not in probe:
        return {}
    labels = _array(probe[name])
    labels = labels[:, 0] if labels.ndim == 2 else labels.ravel()
    return {k: text for k, label in enumerate(labels, start=1) if (text := _text(label))}


def _array(value: Any) -> npt.NDArray[Any]:
    """Return a dataset as an array; ValueError if its size is more than the file can hold."""
    if hasattr(value, "file") and value.nbytes > _MAX_COMPRESSION * value.file.id.get_filesize():
        raise ValueError(f"{value.name} has {value.size} elements, more than the file holds")
    return np.asarray(value)


def _text(value: Any) -> str:
    """Return the text of a string, of an array of one, or of an array of characters."""
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
