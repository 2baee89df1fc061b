"""Time series as letters: SAX, the symbolic aggregate approximation.

A series is z-normalised, cut into segments of equal length that are replaced by their means
(PAA, the piecewise aggregate approximation), and each mean becomes the letter of the interval
that it falls into; the intervals are equally likely under the standard normal distribution.

All functions take one series of shape (samples,), or several series of equal length as an array of
shape (channels, samples), which are treated one by one. Numbers may be integers or floats, in any
unit; the arithmetic uses 64-bit floats.

Missing samples are nan. With ``missing="error"`` nan is an error. With ``missing="skip"`` the mean,
the standard deviation and the means of segments are those of the samples present, and only a
segment without samples is an error. Infinite samples are always an error.

References
----------
Lin, Keogh, Lonardi, Chiu (2003): A symbolic representation of time series, with implications
for streaming algorithms. DMKD '03, doi:10.1145/882082.882086. Sections refer to this paper.
"""

from __future__ import annotations

import math
import string
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import Alphabet, custom
from glsw.words import Range

Missing = Literal["error", "skip"]
Breakpoints = Literal["rank", "gaussian"]
BREAKPOINTS: tuple[Breakpoints, ...] = ("rank", "gaussian")

_MAX_CONSTANT_DEVIATION = 1e-12  # relative to the largest magnitude, left by rounding
_BREAKPOINT_TOLERANCE = 1e-9  # in standard deviations
LETTERS = Range(2, len(string.ascii_lowercase), whole=True)
"""The sizes of an alphabet."""


class SeriesError(ValueError):
    """A series cannot become a word; the reason, and the number of its channel, 1 if it is alone.

    Parameters
    ----------
    channel : int
        From 0.
    shape : tuple of int
        That of the array.
    reason : str
        What follows the name of the series.
    """

    def __init__(self, channel: int, shape: tuple[int, ...], reason: str) -> None:
        self.channel, self.reason = channel, reason
        name = "series" if len(shape) == 1 else f"channel {channel + 1}"
        super().__init__(f"{name}{reason}")


def alphabet(letters: int) -> Alphabet:
    """Return the alphabet of the first ``letters`` letters from a; a is the lowest interval.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` is not a whole number from 2 to 26.

    Examples
    --------
    >>> alphabet(4).letters
    'abcd'
    """
    return custom(string.ascii_lowercase[: _letters(letters)], "SAX")


def breakpoints(letters: int) -> npt.NDArray[np.float64]:
    """Return the borders of intervals that are equally likely under N(0, 1).

    Parameters
    ----------
    letters : int
        Number of intervals, 2 to 26.

    Returns
    -------
    ndarray of float64, shape (letters - 1,)
        In ascending order, in standard deviations from the mean (section 3.2): below entry k
        lies (k + 1) / letters of the distribution.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` is not a whole number from 2 to 26.

    Examples
    --------
    >>> breakpoints(4).round(2).tolist()
    [-0.67, 0.0, 0.67]
    """
    count = _letters(letters)
    return np.array([NormalDist().inv_cdf(k / count) for k in range(1, count)])


def znormalize(
    series: npt.ArrayLike, *, threshold: float | None = None, missing: Missing = "error"
) -> npt.NDArray[np.float64]:
    """Shift and scale each series to mean 0 and standard deviation 1.

    The standard deviation is that of a population: the mean square is over n, not n - 1.

    Parameters
    ----------
    series : array_like, shape (samples,) or (channels, samples)
        Integers or floats, in any unit.
    threshold : float, optional
        A series with a standard deviation of at most this, in the unit of the series, is
        constant: it becomes 0 throughout, which is the middle letter of every alphabet (the upper
        one of two). By default 1e-12 times the largest magnitude of the series, to allow for
        rounding. A series of one sample is always constant.
    missing : {"error", "skip"}
        Whether nan is an error, or stays nan and is ignored by mean and deviation.

    Returns
    -------
    ndarray of float64, shape of ``series``
        In standard deviations from the mean.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers.
    ValueError
        If it has no samples, or not one or two dimensions; if a sample is infinite, or nan without
        ``missing="skip"`` (the message names channel and sample, counted from 1); if all samples
        of a series are nan; if ``threshold`` is negative.

    Examples
    --------
    >>> znormalize([1, 2, 3, 2]).round(3).tolist()
    [-1.414, 0.0, 1.414, 0.0]
    >>> znormalize([[5, 5], [1, 7]]).tolist()
    [[0.0, 0.0], [-1.0, 1.0]]
    """
    channels, shape = _channels(series, missing)
    limit = None if threshold is None else _threshold(threshold)
    there = ~np.isnan(channels)
    for k in np.flatnonzero(~there.any(axis=1)).tolist():
        raise SeriesError(k, shape, " is nan throughout")
    magnitude = np.max(np.abs(channels), axis=1, keepdims=True, where=there, initial=0)
    exponent = np.frexp(magnitude)[1]
    normal = np.ldexp(channels, -exponent)  # exact; squares stay in the range of floats
    for _ in range(2):  # the second time removes the rounding error of the mean
        normal -= normal.mean(axis=1, keepdims=True, where=there)
    spread = normal.std(axis=1, keepdims=True, where=there)
    if limit is None:
        constant = spread <= _MAX_CONSTANT_DEVIATION * np.ldexp(magnitude, -exponent)
    else:
        constant = np.ldexp(spread, exponent) <= limit
    normal = np.where(constant & there, 0.0, normal / np.where(constant, 1.0, spread))
    return normal.reshape(shape)


def paa(
    series: npt.ArrayLike, segments: int, *, missing: Missing = "error"
) -> npt.NDArray[np.float64]:
    """Return the means of segments of equal length of each series (section 3.1).

    A segment is ``samples / segments`` samples long. If that is not a whole number, a sample on a
    border counts in both segments, weighted by its part in each.

    Parameters
    ----------
    series : array_like, shape (samples,) or (channels, samples)
        Integers or floats, in any unit.
    segments : int
        From 1 to the number of samples.
    missing : {"error", "skip"}
        Whether nan is an error, or ignored by the mean of its segment.

    Returns
    -------
    ndarray of float64, shape (segments,) or (channels, segments)
        In the unit of ``series``.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers, or ``segments`` is not a whole number.
    ValueError
        As for `znormalize`; if ``segments`` is less than 1 or more than the samples; if all
        samples of a segment are nan (the message names channel and samples).

    Examples
    --------
    >>> paa([1, 3, 5, 7], 2).tolist()
    [2.0, 6.0]
    >>> paa([3, 6, 9], 2).tolist()  # (3 + 6/2) / 1.5 and (6/2 + 9) / 1.5
    [4.0, 8.0]
    """
    channels, shape = _channels(series, missing)
    samples = shape[-1]
    count = whole_number("segments", segments)
    if not 1 <= count <= samples:
        raise ValueError(
            f"a series of {samples} samples has 1 to {samples} segments, not {segments}"
        )
    # In fractions of a sample the borders of samples and of segments are whole numbers.
    common = math.gcd(samples, count)
    sample, segment = count // common, samples // common
    end = samples * sample
    starts = np.union1d(np.arange(0, end, sample), np.arange(0, end, segment))
    parts = np.diff(starts, append=end)
    there = ~np.isnan(channels)
    filled = np.where(there, channels, 0.0)
    first = np.searchsorted(starts, np.arange(0, end, segment))
    total = np.add.reduceat(filled[:, starts // sample] * parts, first, axis=1)
    length = np.add.reduceat(there[:, starts // sample] * parts, first, axis=1)
    for channel, k in np.argwhere(length == 0).tolist():
        low, high = k * segment // sample + 1, -(-(k + 1) * segment // sample)
        reason = f": samples {low} to {high}, those of segment {k + 1}, are all nan"
        raise SeriesError(channel, shape, reason)
    return (total / length).reshape((*shape[:-1], count))


def sax_codes(
    series: npt.ArrayLike,
    segments: int,
    letters: int,
    *,
    threshold: float | None = None,
    missing: Missing = "error",
) -> npt.NDArray[np.uint8]:
    """Return the SAX word of each series as codes of `alphabet`.

    Parameters
    ----------
    series, segments, letters, threshold, missing
        As for `sax`.

    Returns
    -------
    ndarray of uint8, shape (segments,) or (channels, segments)
        Code k means that the mean of the z-normalised segment is at least breakpoint k - 1 and less
        than breakpoint k (section 3.2). A mean up to 1e-9 below a breakpoint counts as on it, so
        that rounding does not decide.

    Raises
    ------
    TypeError, ValueError
        As for `sax`.

    Examples
    --------
    >>> sax_codes([[0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7]], 3, 4)
    array([[0, 1, 3],
           [2, 2, 2]], dtype=uint8)
    """
    breakpoints(letters)  # errors of letters come first
    normal = znormalize(series, threshold=threshold, missing=missing)
    return codes_of(paa(normal, segments, missing=missing), letters)


def detrend(series: npt.NDArray[np.float64], cosines: int) -> npt.NDArray[np.float64]:
    """Return z-normalised series without their slow changes: a high-pass filter.

    Subtracts the least-squares fit of a constant and the first ``cosines`` cosines of the discrete
    cosine transform, whose periods are 2, 1, 2/3, ... times the length of the series.

    Parameters
    ----------
    series : ndarray of float64, shape (channels, samples)
        Missing samples are nan, and stay so.
    cosines : int
        0 returns the series unchanged.

    Raises
    ------
    TypeError, ValueError
        If ``cosines`` is not a whole number of at least 0.

    Examples
    --------
    >>> time = np.arange(50.0)
    >>> wave = np.sin(time)
    >>> bool(abs(detrend(np.array([wave + time / 10]), 6)[0] - wave).mean() < 0.1)
    True
    """
    Range(0, whole=True).check("detrend", cosines)
    if not cosines:
        return series
    samples = series.shape[1]
    waves = np.cos(np.pi * np.outer((np.arange(samples) + 0.5) / samples, np.arange(cosines + 1)))
    rest = series.copy()
    for each in rest:
        there = ~np.isnan(each)
        each[there] -= waves[there] @ np.linalg.lstsq(waves[there], each[there], rcond=None)[0]
    return rest


def codes_of(
    means: npt.NDArray[np.float64], letters: int, by: Breakpoints = "gaussian"
) -> npt.NDArray[np.uint8]:
    """Return the codes of means of z-normalised segments, see `sax_codes`.

    With "rank" a code is the rank of a mean in its series, scaled to ``letters`` equally frequent
    letters. Equal means have the same letter.

    Examples
    --------
    >>> codes_of(np.array([[0.1, 0.3, 0.2, 0.1]]), 2, "rank")
    array([[0, 1, 1, 0]], dtype=uint8)
    """
    if by not in BREAKPOINTS:
        raise ValueError(f"breakpoints must be 'rank' or 'gaussian', got {by!r}")
    borders = breakpoints(letters) - _BREAKPOINT_TOLERANCE
    if by == "gaussian":
        return np.searchsorted(borders, means, side="right").astype(np.uint8)
    codes = np.empty(means.shape, np.uint8)
    for code, each in zip(codes, np.round(means / _BREAKPOINT_TOLERANCE), strict=True):
        ordered = np.sort(each)
        twice = np.searchsorted(ordered, each) + np.searchsorted(ordered, each, side="right")
        code[:] = twice * letters // (2 * len(each))  # the middle of the ranks of equal means
    return codes


def sax(
    series: npt.ArrayLike,
    segments: int,
    letters: int,
    *,
    threshold: float | None = None,
    missing: Missing = "error",
) -> str | list[str]:
    """Return the SAX word of a series, or the list of words of several series.

    Parameters
    ----------
    series : array_like, shape (samples,) or (channels, samples)
        Integers or floats, in any unit.
    segments : int
        Letters per word, from 1 to the number of samples.
    letters : int
        Size of the alphabet, 2 to 26.
    threshold : float, optional
        Standard deviation, in the unit of the series, up to which a series is constant and its
        word is the middle letter throughout: see `znormalize`.
    missing : {"error", "skip"}
        Whether nan is an error or ignored.

    Returns
    -------
    str, or list of str
        One word for an array of one dimension, a list of one word per channel for two.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers, or a count is not a whole number.
    ValueError
        If ``segments`` or ``letters`` is out of range; if ``series`` has no samples, or not one or
        two dimensions; if a sample is infinite, or nan without ``missing="skip"`` (the message
        names channel and sample, counted from 1); if all samples of a segment are nan.

    Examples
    --------
    >>> sax([2, 3, 5, 8, 8, 7, 3, 1], segments=4, letters=3)
    'acca'
    >>> sax([[0, 1, 2, 3], [9, 6, 3, 0]], segments=2, letters=4)
    ['ad', 'da']
    >>> sax([1, float("nan"), 2, 3], 2, 4)
    Traceback (most recent call last):
        ...
    glsw.wings.series.sax.SeriesError: series: sample 2 is nan; missing="skip" leaves nan out
    >>> sax([1, float("nan"), 2, 3], 2, 4, missing="skip")
    'ac'
    """
    codes = sax_codes(series, segments, letters, threshold=threshold, missing=missing)
    decode = alphabet(letters).decode
    return decode(codes) if codes.ndim == 1 else [decode(word) for word in codes]


def _channels(
    series: npt.ArrayLike, missing: Missing
) -> tuple[npt.NDArray[np.float64], tuple[int, ...]]:
    """Return checked samples of shape (channels, samples), and the shape they had."""
    if missing not in ("error", "skip"):
        raise ValueError(f'missing must be "error" or "skip", got {missing!r}')
    try:
        array = np.asarray(series)
    except ValueError:
        raise ValueError("channels must have as many samples each") from None
    if array.size and array.dtype.kind not in "iuf":
        raise TypeError(f"series must hold integers or floats, got {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"series must have shape (samples,) or (channels, samples), got {array.shape}"
        )
    if not array.shape[-1]:
        raise ValueError(f"series has no samples: shape {array.shape}")
    channels = np.atleast_2d(array.astype(np.float64))
    refused = np.isinf(channels) if missing == "skip" else ~np.isfinite(channels)
    for channel, sample in np.argwhere(refused).tolist():
        value = channels[channel, sample]
        hint = '; missing="skip" leaves nan out' if np.isnan(value) else ""
        raise SeriesError(channel, array.shape, f": sample {sample + 1} is {value}{hint}")
    return channels, array.shape


def _threshold(threshold: float) -> float:
    if isinstance(threshold, bool) or not isinstance(
        threshold, int | float | np.integer | np.floating
    ):
        raise TypeError(f"threshold must be a number, got {type(threshold).__name__}")
    if not threshold >= 0:
        raise ValueError(f"threshold must not be negative, got {threshold}")
    return float(threshold)


def _letters(letters: int) -> int:
    LETTERS.check("letters", letters)
    return int(letters)


def whole_number(name: str, value: int) -> int:
    """Return a whole number as int; TypeError if it is none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {type(value).__name__}")
    return int(value)
