"""The significance of motifs: E-values and p-values from surrogates of the channels.

A surrogate has the power spectrum of its channel, hence its smoothness, and random phases, hence no
segment in common with another. The scores of surrogates are those to expect by chance; they follow
a Gumbel distribution, which is fitted to their mean and variance and gives the E-value of any
score.

References
----------
Theiler, Eubank, Longtin, Galdrikian, Farmer (1992): Testing for nonlinearity in time series: the
method of surrogate data. Physica D 58, doi:10.1016/0167-2789(92)90102-S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.aligner import Scores
from glsw.scoring.scoring import Scoring
from glsw.statistics.fitted import EULER, SCALE
from glsw.wings.series import sax
from glsw.wings.series.words import Words
from glsw.wings.three.scoring import Scoring3
from glsw.words import Range

SURROGATES = 200
"""Pairs or triples of surrogates that are scored by default."""
COUNTS = Range(20, whole=True, also="0")
"""The numbers of surrogate pairs or triples that there can be."""
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Significance:
    """The scores to expect by chance in a comparison of words.

    Parameters
    ----------
    surrogates, seed : int
        Number of pairs or triples of surrogates, and the seed of their phases.
    mean, deviation : float
        Of their scores, in units of the matrix.
    step : float
        The difference between possible scores.
    count : int
        The number of pairs or triples of the comparison.
    """

    surrogates: int
    seed: int
    mean: float
    deviation: float
    step: float
    count: int

    def evalue(self, score: float) -> float:
        """Return the expected number of chance motifs with at least this score.

        Examples
        --------
        >>> found = Significance(400, 0, mean=8.0, deviation=2.0, step=1.0, count=45)
        >>> [round(found.evalue(score), 3) for score in (0, 16, 24)]
        [45.0, 0.205, 0.001]
        """
        spread = SCALE / self.deviation
        exponent = EULER + spread * (score - self.step / 2 - self.mean)
        return float(-self.count * np.expm1(-np.exp(-exponent)))


def fitted(scores: Scores, scoring: Scoring3 | Scoring, seed: int, count: int) -> Significance:
    """Return the significance by the scores of surrogates.

    The variance is at least that of rounding to whole steps.
    """
    pairs = pairs_of(scoring)
    entries = np.append(pairs.matrix, [pairs.gap_open, pairs.gap_extend])
    step = float(np.gcd.reduce(entries.astype(np.int64))) / pairs.scale
    deviation = max(float(scores.std()), step / 12**0.5)
    return Significance(len(scores), seed, float(scores.mean()), deviation, step, count)


def surrogates_of(
    words: Words, of: int, count: int, seed: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return words of surrogates, and ``count`` pairs or triples of them.

    No surrogate is in two pairs or triples.

    Returns
    -------
    codes : ndarray of uint8, shape (surrogates, segments)
    index : ndarray of int32, shape (count, of)

    Raises
    ------
    TypeError, ValueError
        If ``count`` is not a whole number of at least 20.
    """
    COUNTS.check("surrogates", count)
    random = np.random.default_rng(seed)
    channels = len(words)
    together = channels // of * of
    codes, index = [], []
    for first in range(0, -(-count * of // together) * channels, channels):
        means = phase_randomized(words.means, random)
        codes.append(sax.codes_of(means, words.letters, words.breakpoints))
        index.append(first + random.permutation(channels)[:together].reshape(-1, of))
    return np.concatenate(codes), np.concatenate(index)[:count].astype(np.int32)


def phase_randomized(series: _Floats, random: np.random.Generator) -> _Floats:
    """Return a surrogate of each series, with its power spectrum and random phases.

    A series is mirrored at its end first, so that it begins and ends with the same value:
    otherwise the jump from its end to its beginning would be a part of the spectrum.

    Parameters
    ----------
    series : ndarray of float64, shape (channels, samples)
    random : numpy.random.Generator

    Examples
    --------
    >>> waves = np.sin(np.outer([1, 2], np.arange(200.0)))
    >>> phase_randomized(waves, np.random.default_rng(1)).std(axis=1).round(1).tolist()
    [0.8, 0.7]
    """
    samples = series.shape[1]
    spectrum = np.fft.rfft(np.concatenate([series, series[:, ::-1]], axis=1))
    spectrum *= np.exp(2j * np.pi * random.random(spectrum.shape))
    spectrum[:, 0] = 0  # the mean
    surrogates: _Floats = np.fft.irfft(spectrum, 2 * samples)[:, :samples]
    return surrogates


def check_scoring(scoring: Scoring3 | Scoring, words: Words) -> None:
    """Raise ValueError if a column of random letters of these words scores 0 or more on average.

    Chance alignments then grow with the words, and no score is significant.
    """
    pairs = pairs_of(scoring)
    frequencies = np.bincount(words.codes.ravel(), minlength=words.letters) / words.codes.size
    if isinstance(scoring, Scoring3) and scoring.scheme == "identity":
        match, mismatch = scoring.match_and_mismatch
        expected = mismatch + (match - mismatch) * float((frequencies**3).sum())
    else:
        expected = float(frequencies @ pairs.matrix @ frequencies)
        expected *= 3 if isinstance(scoring, Scoring3) else 1
    if expected > -1e-9 * pairs.scale:
        raise ValueError(
            f"{scoring.name}: random letters score {max(0.0, expected) / pairs.scale:+.3g} on "
            "average (must be negative): use more letters, a lower match or mismatch, or no "
            "surrogates"
        )


def pairs_of(scoring: Scoring3 | Scoring) -> Scoring:
    """Return the scoring of pairs of letters."""
    return scoring.pairs if isinstance(scoring, Scoring3) else scoring
