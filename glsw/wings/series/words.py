"""The channels of a recording as words.

By default a channel is detrended, and its letters are equally frequent. With the breakpoints of SAX
("gaussian"), noise is all middle letters, as the mean of a segment varies less than its samples.

The default alphabet has 8 letters because chance similarity decreases with its size. The best pair
of random words of 128 letters scores 19 with an alphabet of 4, where gaps bridge the differences,
but 5 with 8; the best triple scores 6 and 3 (means, scoring "identity"). Smooth series, with the
spectrum of a recording and random phases, score 31 and 18 with 4 letters, 15 and 10 with 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.sequences.encoded import Sequences
from glsw.wings.series import sax
from glsw.wings.series.recording import Recording

SEGMENTS = {3: 200, 2: 300}
"""Letters of a word by default, for triples and for pairs, or the number of samples if less."""
LETTERS = {3: 8, 2: 12}
"""Size of the alphabet by default, for triples and for pairs."""
DETREND = 6
"""Cosines that are subtracted from each channel by default."""
_MIN_DEVIATION = 1e-6  # of a detrended channel, relative to the channel


@dataclass(frozen=True, eq=False)
class Words:
    """A recording as SAX words, one per channel.

    Parameters
    ----------
    recording : Recording
        The channels that have words.
    normal : ndarray of float64, shape (channels, samples)
        Their detrended series with mean 0 and standard deviation 1.
    means : ndarray of float64, shape (channels, segments)
        The means of its segments.
    codes : ndarray of uint8, shape (channels, segments)
        Codes of ``glsw.wings.series.sax.alphabet(letters)``.
    letters : int
        Size of the alphabet.
    breakpoints : {"rank", "gaussian"}
        How means became letters.
    left_out : mapping of str to str
        Channels without a word, and the reason.
    """

    recording: Recording
    normal: npt.NDArray[np.float64]
    means: npt.NDArray[np.float64]
    codes: npt.NDArray[np.uint8]
    letters: int
    breakpoints: sax.Breakpoints
    left_out: Mapping[str, str]

    @cached_property
    def sequences(self) -> Sequences:
        """The words as sequences of codes."""
        return Sequences.of(list(self.codes))

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Start times of the letters and the end of the last one, in s, shape (segments + 1,)."""
        samples, segments = len(self.recording.times), self.codes.shape[1]
        borders = np.arange(segments + 1) * (samples / segments)
        edges: npt.NDArray[np.float64] = np.interp(
            borders, np.arange(samples + 1), self.recording.edges
        )
        return edges

    def __len__(self) -> int:
        return len(self.codes)


def words_of(
    data: Any,
    segments: int | None = None,
    letters: int | None = None,
    *,
    of: int = 3,
    detrend: int = DETREND,
    breakpoints: sax.Breakpoints = "rank",
    missing: sax.Missing = "error",
    rate: float | None = None,
) -> Words:
    """Return the words of the channels of a recording.

    Constant channels, which would all have the same word, are left out; so are channels without any
    samples if ``missing`` is "skip".

    Parameters
    ----------
    data : Recording, MNE Raw, array, DataFrame or path
        What `Recording.of` takes.
    segments : int, optional
        Letters of a word; by default 200 for triples and 300 for pairs, or the number of samples if
        that is less.
    letters : int, optional
        Size of the alphabet, 2 to 26; by default 8 for triples and 12 for pairs.
    of : {3, 2}
        Whether the defaults are those for triples or for pairs.
    detrend : int
        Number of cosines subtracted from each channel, see `glsw.wings.series.sax.detrend`.
    breakpoints : {"rank", "gaussian"}
        "rank": the letters of a channel are equally frequent; "gaussian": its means are cut at
        the quantiles of a normal distribution, as in SAX.
    missing : {"error", "skip"}
        Whether missing samples are rejected or skipped.
    rate : float, optional
        Samples per second, for data without times.

    Raises
    ------
    ValueError
        If samples are missing, a segment has no samples, or a sample is infinite; if no channel is
        left; as `glsw.wings.series.sax.sax`. The message names channels and samples.

    Examples
    --------
    >>> values = np.array([[0.0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7]])
    >>> words = words_of(Recording("r", ("a", "b"), values, np.arange(6.0)), 3, 4, detrend=0)
    >>> words.codes.tolist(), words.left_out, words.edges.tolist()
    ([[0, 2, 3]], {'b': 'constant'}, [0.0, 2.0, 4.0, 6.0])
    """
    recording = Recording.of(data, rate=rate)
    whole, empty = recording.without_missing(missing)
    count = min(SEGMENTS[of], len(recording.times)) if segments is None else segments
    letters = LETTERS[of] if letters is None else letters
    left_out = dict.fromkeys(empty, "all nan")
    kept, normal, means = [], [], []
    for k, (name, series) in enumerate(zip(whole.channels, whole.values, strict=True)):
        try:
            sax.breakpoints(letters)
            each = sax.znormalize(series[None], missing=missing)
            rest = sax.detrend(each, detrend)
            each = sax.znormalize(rest, threshold=_MIN_DEVIATION, missing=missing)[0]
            mean = sax.paa(each, count, missing=missing)
        except ValueError as error:
            text = f"channel {name}{error.reason}" if isinstance(error, sax.SeriesError) else error
            fitting = _fitting_segments(whole.values)
            advice = f"; segments={fitting} fits" if 1 <= fitting < count else ""
            raise ValueError(f"{recording.name}: {text}{advice}") from None
        if not np.nanmax(np.abs(each)):
            left_out[name] = "constant"
        else:
            kept.append(k)
            normal.append(each)
            means.append(mean)
    if not kept:
        where = f" without their first {detrend} cosines" if detrend else ""
        raise ValueError(f"{recording.name}: all channels are constant{where}")
    whole = replace(
        whole, channels=tuple(whole.channels[k] for k in kept), values=whole.values[kept]
    )
    codes = sax.codes_of(np.array(means), letters, breakpoints)
    return Words(whole, np.array(normal), np.array(means), codes, letters, breakpoints, left_out)


def _fitting_segments(values: npt.NDArray[np.float64]) -> int:
    """Return a number of segments of which none lies in missing samples.

    >>> _fitting_segments(np.array([[1, np.nan, np.nan, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]]))
    3
    """
    channels, samples = values.shape
    edge = np.zeros((channels, 1), bool)
    missing = np.concatenate([edge, np.isnan(values), edge], axis=1)
    borders = np.flatnonzero(np.diff(missing.ravel())).reshape(-1, 2)
    longest = int(np.diff(borders).max(initial=0))
    return int((samples - 1) // longest if longest else samples)
