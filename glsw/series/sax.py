"""Time series as letters: SAX, the symbolic aggregate approximation.

A series is z-normalised, cut into segments of equal length that are replaced by their means
(PAA, the piecewise aggregate approximation), and each mean becomes the letter of the interval
that it falls into; the intervals are equally likely under the standard normal distribution.

Everything here takes one series of shape (samples,) or several of one length, an array of shape
(channels, samples); the channels are treated one by one. Numbers may be integers or floats, in
any unit; the arithmetic is that of 64-bit floats.

What is missing is nan. With ``missing="error"`` nan is refused; with ``missing="skip"`` mean,
standard deviation and the means of segments are taken over the samples that are there, and
only a segment without any is refused. Infinite samples are always refused.

References
----------
Lin, Keogh, Lonardi, Chiu (2003): A symbolic representation of time series, with implications
for streaming algorithms. DMKD '03, doi:10.1145/882082.882086. Sections are those of it.
"""

from __future__ import annotations

import math
import string
from dataclasses import replace
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import Alphabet, custom

Missing = Literal["error", "skip"]

_CONSTANT = 1e-12  # of the largest magnitude: what rounding leaves of a constant
_ROUNDING = 1e-9  # in standard deviations: of a mean that lies on a breakpoint
_FEWEST, _MOST = 2, len(string.ascii_lowercase)
_DECIMALS = 4  # that a scoring can have


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
        constant: it becomes all 0, which every alphabet gives its middle letter (the upper one
        of two). Without it, 1e-12 times the largest magnitude of the series: a constant but
        for rounding. A series of one sample is always constant.
    missing : {"error", "skip"}
        Whether nan is refused, or stays nan and counts neither for mean nor deviation.

    Returns
    -------
    ndarray of float64, shape of ``series``
        In standard deviations from the mean.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers.
    ValueError
        If it has no samples, or other than one or two dimensions; if a sample is infinite, or
        nan without ``missing="skip"``, naming channel and sample counted from 1; if a series is
        nothing but nan; if ``threshold`` is negative.

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
        raise ValueError(f"{_name(k, shape)} has no samples but nan")
    magnitude = np.max(np.abs(channels), axis=1, keepdims=True, where=there, initial=0)
    exponent = np.frexp(magnitude)[1]
    normal = np.ldexp(channels, -exponent)  # exact; no square leaves the range of a float
    for _ in range(2):  # the second time takes away what rounding left of the mean
        normal -= normal.mean(axis=1, keepdims=True, where=there)
    spread = normal.std(axis=1, keepdims=True, where=there)
    if limit is None:
        constant = spread <= _CONSTANT * np.ldexp(magnitude, -exponent)
    else:
        constant = np.ldexp(spread, exponent) <= limit
    normal = np.where(constant & there, 0.0, normal / np.where(constant, 1.0, spread))
    return normal.reshape(shape)


def paa(
    series: npt.ArrayLike, segments: int, *, missing: Missing = "error"
) -> npt.NDArray[np.float64]:
    """Cut each series into segments of equal length and return their means (section 3.1).

    A segment is ``samples / segments`` samples long. Where that is not a whole number, a sample
    on a border counts for both segments, in each with the part of it that lies there.

    Parameters
    ----------
    series : array_like, shape (samples,) or (channels, samples)
        Integers or floats, in any unit.
    segments : int
        From 1 to the number of samples.
    missing : {"error", "skip"}
        Whether nan is refused, or left out of the mean of its segment.

    Returns
    -------
    ndarray of float64, shape (segments,) or (channels, segments)
        In the unit of ``series``.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers, or ``segments`` is not a whole number.
    ValueError
        As for :func:`znormalize`; if ``segments`` is less than 1 or more than the samples; if
        nothing is there of a segment, naming channel and samples.

    Examples
    --------
    >>> paa([1, 3, 5, 7], 2).tolist()
    [2.0, 6.0]
    >>> paa([3, 6, 9], 2).tolist()  # (3 + 6/2) / 1.5 and (6/2 + 9) / 1.5
    [4.0, 8.0]
    """
    channels, shape = _channels(series, missing)
    samples = shape[-1]
    count = _whole("segments", segments)
    if not 1 <= count <= samples:
        raise ValueError(
            f"a series of {samples} samples has 1 to {samples} segments, not {segments}"
        )
    # Lengths in parts of a sample, so that borders of samples and segments are whole numbers.
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
        raise ValueError(
            f"{_name(channel, shape)}: samples {low} to {high}, those of segment {k + 1}, "
            "are all nan"
        )
    return (total / length).reshape((*shape[:-1], count))


def sax_codes(
    series: npt.ArrayLike,
    segments: int,
    letters: int,
    *,
    threshold: float | None = None,
    missing: Missing = "error",
) -> npt.NDArray[np.uint8]:
    """Return the SAX word of each series as codes of :func:`alphabet`.

    Parameters
    ----------
    series, segments, letters, threshold, missing
        As for :func:`sax`.

    Returns
    -------
    ndarray of uint8, shape (segments,) or (channels, segments)
        Code k, letter k of the alphabet, says that the mean of the z-normalised segment is at
        least breakpoint k - 1 and less than breakpoint k (section 3.2). A mean up to 1e-9 below
        a breakpoint counts as on it, lest rounding choose the letter.

    Raises
    ------
    TypeError, ValueError
        As for :func:`sax`.

    Examples
    --------
    >>> sax_codes([[0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7]], 3, 4)
    array([[0, 1, 3],
           [2, 2, 2]], dtype=uint8)
    """
    borders = breakpoints(letters)
    normal = znormalize(series, threshold=threshold, missing=missing)
    means = paa(normal, segments, missing=missing)
    return np.searchsorted(borders - _ROUNDING, means, side="right").astype(np.uint8)


def sax(
    series: npt.ArrayLike,
    segments: int,
    letters: int,
    *,
    threshold: float | None = None,
    missing: Missing = "error",
) -> str | list[str]:
    """Return the SAX word of a series, or the list of the words of several.

    Parameters
    ----------
    series : array_like, shape (samples,) or (channels, samples)
        Integers or floats, in any unit.
    segments : int
        Letters in a word, from 1 to the number of samples.
    letters : int
        Size of the alphabet, 2 to 26.
    threshold : float, optional
        Up to this standard deviation, in the unit of the series, a series is constant, and its
        word is the middle letter throughout: see :func:`znormalize`.
    missing : {"error", "skip"}
        Whether nan is refused or left out.

    Returns
    -------
    str, or list of str
        One word for an array of one dimension, a list of as many words as channels for two.

    Raises
    ------
    TypeError
        If ``series`` does not hold numbers, or a count is not a whole number.
    ValueError
        If ``segments`` or ``letters`` is out of range; if ``series`` has no samples, or other
        than one or two dimensions; if a sample is infinite, or nan without ``missing="skip"``,
        naming channel and sample counted from 1; if nothing is there of a segment.

    Examples
    --------
    >>> sax([2, 3, 5, 8, 8, 7, 3, 1], segments=4, letters=3)
    'acca'
    >>> sax([[0, 1, 2, 3], [9, 6, 3, 0]], segments=2, letters=4)
    ['ad', 'da']
    >>> sax([1, float("nan"), 2, 3], 2, 4)
    Traceback (most recent call last):
        ...
    ValueError: series: sample 2 is nan; missing="skip" leaves nan out
    >>> sax([1, float("nan"), 2, 3], 2, 4, missing="skip")
    'ac'
    """
    codes = sax_codes(series, segments, letters, threshold=threshold, missing=missing)
    decode = alphabet(letters).decode
    return decode(codes) if codes.ndim == 1 else [decode(word) for word in codes]


def distances(letters: int) -> npt.NDArray[np.float64]:
    """Return the least distance of two z-normalised means, given their letters (section 3.3).

    Parameters
    ----------
    letters : int
        Size of the alphabet, 2 to 26.

    Returns
    -------
    ndarray of float64, shape (letters, letters)
        In standard deviations; 0 for equal and for neighbouring letters.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` is not a whole number from 2 to 26.

    Examples
    --------
    >>> distances(4).round(2).tolist()[0]
    [0.0, 0.0, 0.67, 1.35]
    """
    borders = breakpoints(letters)
    lower = np.append(borders, np.inf)  # of the interval above, by the lower letter
    upper = np.insert(borders, 0, -np.inf)
    gap = np.maximum(upper[:, None] - lower, 0)
    cells: npt.NDArray[np.float64] = np.maximum(gap, gap.T)
    return cells


def mindist(first: str | bytes, second: str | bytes, samples: int, letters: int) -> float:
    """Return MINDIST of two words of one length (section 3.3).

    It is never more than the Euclidean distance of the two z-normalised series.

    Parameters
    ----------
    first, second : str or bytes
        SAX words over the same alphabet.
    samples : int
        Length of the series that the words stand for, at least that of the words.
    letters : int
        Size of the alphabet, 2 to 26.

    Returns
    -------
    float
        In standard deviations.

    Raises
    ------
    TypeError
        If a word is not letters, or a count is not a whole number.
    ValueError
        If the words differ in length or are empty, if they are longer than ``samples``, or if
        they have letters outside the alphabet.

    Examples
    --------
    >>> round(mindist("abdc", "bbcd", samples=16, letters=4), 6)
    0.0
    >>> round(mindist("ad", "da", samples=8, letters=4), 4)  # 2 * hypot(1.349, 1.349)
    3.8155
    """
    codes = alphabet(letters)
    a, b = codes.encode(first, name="first word"), codes.encode(second, name="second word")
    if len(a) != len(b) or not len(a):
        raise ValueError(f"words must have one length, at least 1, got {len(a)} and {len(b)}")
    length = _whole("samples", samples)
    if length < len(a):
        raise ValueError(f"a word of {len(a)} letters needs as many samples, got {samples}")
    cells = distances(letters)[a, b]
    return float(np.sqrt(length / len(a) * np.dot(cells, cells)))


def mindist_scoring(
    letters: int,
    match: float = 1,
    gap_open: float = 1,
    gap_extend: float = 1,
    *,
    decimals: int = 2,
) -> Scoring:
    """Return a scoring that takes from unlike letters their distance.

    Equal letters score ``match``, neighbours 0, all others minus :func:`distances`, rounded to
    ``decimals`` and held in integer units of a power of ten, ``scale``.

    Letters of random series are equally likely, so that the mean of the matrix is the score to
    expect from a pair of them. Local alignment tells stretches apart only if that is negative:
    with ``match`` 1 from 4 letters on; more letters bear a higher ``match``.

    Parameters
    ----------
    letters : int
        Size of the alphabet, 2 to 26.
    match : float
        Score of equal letters, in standard deviations, more than 0.
    gap_open, gap_extend : float
        Costs of the first and of each further position of a gap, in standard deviations.
    decimals : int
        Of the distances, 0 to 4.

    Returns
    -------
    Scoring
        Over ``alphabet(letters)``.

    Raises
    ------
    TypeError, ValueError
        If ``letters`` or ``decimals`` is out of range or not a whole number; if ``match`` is not
        a positive number; if it or a gap cost is absurd or has more than four decimals.

    Examples
    --------
    >>> scoring = mindist_scoring(4)
    >>> scoring.scale, scoring.gap_open
    (100, 100)
    >>> scoring.matrix[0].tolist()
    [100, 0, -67, -135]
    """
    cells = distances(letters)
    digits = _whole("decimals", decimals)
    if not 0 <= digits <= _DECIMALS:
        raise ValueError(f"decimals must be from 0 to {_DECIMALS}, got {decimals}")
    # Equal letters and nothing else: this also checks match and the gap costs.
    identity = Scoring.match_mismatch(match, 0, gap_open, gap_extend, alphabet=alphabet(letters))
    matrix = identity.matrix / identity.scale - cells.round(digits)
    name = f"MINDIST of {letters} letters, match {match}"
    scoring = Scoring.from_array(
        matrix.round(_DECIMALS), identity.alphabet.letters, gap_open, gap_extend, name=name
    )
    return replace(scoring, alphabet=identity.alphabet)


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
        raise ValueError(f"{_name(channel, array.shape)}: sample {sample + 1} is {value}{hint}")
    return channels, array.shape


def _name(channel: int, shape: tuple[int, ...]) -> str:
    """Return what errors call a channel, counted from 1."""
    return "series" if len(shape) == 1 else f"channel {channel + 1}"


def _threshold(threshold: float) -> float:
    if isinstance(threshold, bool) or not isinstance(
        threshold, int | float | np.integer | np.floating
    ):
        raise TypeError(f"threshold must be a number, got {type(threshold).__name__}")
    if not threshold >= 0:
        raise ValueError(f"threshold must not be negative, got {threshold}")
    return float(threshold)


def _letters(letters: int) -> int:
    count = _whole("letters", letters)
    if not _FEWEST <= count <= _MOST:
        raise ValueError(f"letters must be from {_FEWEST} to {_MOST}, got {letters}")
    return count


def _whole(word: str, value: int) -> int:
    """Return a whole number as int."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{word} must be a whole number, got {type(value).__name__}")
    return int(value)
