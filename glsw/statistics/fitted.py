"""Statistics fitted to the scores of a search, for scorings without published constants.

W. R. Pearson 1998, "Empirical statistical estimates for sequence similarity searches", Journal of
Molecular Biology 276, and the program ssearch36: nearly all sequences of a database are unrelated
to the query, so their scores show the distribution of random scores. The mean grows with the
logarithm of the length of the sequence; around it scores have an extreme value distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.statistics.base import Floats, Statistics, in_bits
from glsw.statistics.ungapped_constants import background, ungapped_lambda
from glsw.words import numbered

MIN_SCORES = 60
"""Minimum number of scores for a fit."""

MIN_RANDOM_SCORES = 50
"""Minimum number of scores that are no outliers."""

EULER = 0.5772156649015329
SCALE = math.pi / math.sqrt(6)
"""lambda times the standard deviation of an extreme value distribution."""

_LENGTH_BINS_PER_E = 10  # per factor of e
_LENGTH_BINS = 181  # up to e**18 residues, 66 million
_SCORE_BINS = 1024
_MIN_BIN_NATS = 0.1  # width of a score bin, if units of the scoring are finer
_MIN_LENGTH = 10  # of fitted sequences
_TABULATED_LENGTHS = 2**16  # whose bins are looked up
_MAX_ROUNDS = 20
_OUTLIER_EVALUE = 0.1
_MIN_FILLED_BINS = 5  # of lengths, to fit a slope
_MAX_RELATIVE_DEVIATION = 2.5  # of scores, relative to alignments without gaps

Counts = npt.NDArray[np.int64]


class ScoreHistogram:
    """The number of sequences of a database by length and score, in bins of both.

    Histograms of parts of a database can be added, in any order, with the same result.

    Parameters
    ----------
    width : int
        Integer units of the scoring per bin.

    Examples
    --------
    >>> import pickle
    >>> whole, first, second = ScoreHistogram(1), ScoreHistogram(1), ScoreHistogram(1)
    >>> scores, lengths = np.array([31, 40, 28]), np.array([200, 350, 200])
    >>> whole.add(scores, lengths)
    >>> first.add(scores[:2], lengths[:2])
    >>> second.add(scores[2:], lengths[2:])
    >>> first + second == whole == pickle.loads(pickle.dumps(whole)), len(whole)
    (True, 3)
    """

    def __init__(self, width: int) -> None:
        if width < 1:
            raise ValueError(f"width {width}: at least 1 unit of score expected")
        self.width = width
        self.counts: Counts = np.zeros((_LENGTH_BINS, _SCORE_BINS), np.int64)

    @classmethod
    def of(cls, scoring: Scoring) -> ScoreHistogram:
        """Return an empty histogram for a scoring.

        A bin of scores is as wide as the step between possible scores, or wider if that is a small
        fraction of the standard deviation. The bins reach far beyond any random score.

        Raises
        ------
        ValueError
            If no local statistics exist.
        """
        codes, _ = background(scoring.alphabet)
        entries = scoring.matrix[np.ix_(codes, codes)].ravel().tolist()
        costs = [*scoring.insertion, *scoring.deletion]
        step = int(np.gcd.reduce([*entries, *costs]))
        return cls(step * max(1, int(_MIN_BIN_NATS / (ungapped_lambda(scoring) * step))))

    def add(self, scores: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64]) -> None:
        """Count sequences, given their best scores and their lengths, both of shape (N,)."""
        if scores.shape != lengths.shape or scores.ndim != 1:
            raise ValueError(f"{scores.shape} scores for {lengths.shape} lengths")
        cells = np.minimum(scores // self.width, _SCORE_BINS - 1)
        at = _bins_of(lengths).astype(np.int64) * _SCORE_BINS + cells
        self.counts += np.bincount(at, minlength=self.counts.size).reshape(self.counts.shape)

    def has_lengths(self, lengths: npt.NDArray[np.int64]) -> bool:
        """Return whether sequences of these lengths were counted."""
        wanted = np.bincount(_bins_of(lengths), minlength=_LENGTH_BINS)
        return np.array_equal(self.counts.sum(axis=1), wanted)

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        if self.width != other.width:
            raise ValueError(f"histograms of widths {self.width} and {other.width} cannot be added")
        total = ScoreHistogram(self.width)
        np.add(self.counts, other.counts, out=total.counts)
        return total

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreHistogram):
            return NotImplemented
        return self.width == other.width and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        filled = np.flatnonzero(self.counts).astype(np.int32)
        return {"width": self.width, "filled": filled, "numbers": self.counts.ravel()[filled]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.width = state["width"]
        self.counts = np.zeros((_LENGTH_BINS, _SCORE_BINS), np.int64)
        self.counts.ravel()[state["filled"]] = state["numbers"]


@dataclass(frozen=True)
class Fit:
    """The result of a fit: scores have the mean ``intercept + slope * ln(length)``.

    Parameters
    ----------
    slope, intercept, deviation : float
        In integer units; ``deviation`` is the standard deviation.
    used, outliers : int
        Number of scores fitted, and of those excluded because they are not random.
    """

    slope: float
    intercept: float
    deviation: float
    used: int
    outliers: int


def fit(histogram: ScoreHistogram, lambda_: float = 0.0) -> Fit:
    """Fit scores to an extreme value distribution whose mean is linear in ln(length).

    Least squares, repeated without outliers until there are no new ones. Outliers are scores that
    are expected less than 0.1 times among this number of sequences, or as far below the line.
    Sequences shorter than 10 residues or with score 0 are not used. If nearly all lengths are
    equal, the slope is the theoretical one, 1 / lambda.

    Scores are discrete: the probability of reaching S is that of a continuous variable whose mean
    is half a step higher and whose variance is lower by step^2 / 12.

    Parameters
    ----------
    histogram : ScoreHistogram
    lambda_ : float, optional
        lambda of ungapped alignments, per integer unit. If scores scatter far more than it allows,
        gaps are too cheap for local alignments.

    Raises
    ------
    ValueError
        If there are fewer than 60 scores, or fewer than 50 that look random; if all are equal; if
        gaps are too cheap.
    """
    first = int(np.searchsorted(_first_lengths(), _MIN_LENGTH))
    counts = histogram.counts[first:].astype(np.float64)
    counts[:, 0] = 0.0  # no score
    lengths = _log_lengths()[first:]
    values = np.arange(_SCORE_BINS, dtype=np.float64) + 0.5
    total = int(counts.sum())
    if total < MIN_SCORES:
        few = f"{numbered(total, 'score')}, too few to fit statistics to"
        raise ValueError(f"{few}: {MIN_SCORES} are needed")
    if counts[:, -1].sum() > 0.5 * total:
        raise ValueError(_TOO_CHEAP)
    counts[:, -1] = 0.0  # beyond the range
    highest = (math.log(total / _OUTLIER_EVALUE) - EULER) / SCALE
    kept = counts
    for _ in range(_MAX_ROUNDS):
        slope, intercept, deviation = _line(kept, lengths, values)
        z = (values - (intercept + slope * lengths)[:, np.newaxis]) / deviation
        before, kept = kept, np.where(np.abs(z) <= highest, counts, 0.0)
        used = int(kept.sum())
        if used < MIN_RANDOM_SCORES:
            raise ValueError(
                f"only {used} of {total} scores look random: {MIN_RANDOM_SCORES} are needed to fit "
                "statistics to"
            )
        if np.array_equal(before, kept):
            break
    unit = histogram.width
    if lambda_ * deviation * unit > _MAX_RELATIVE_DEVIATION * SCALE:
        raise ValueError(_TOO_CHEAP)
    return Fit(slope * unit, intercept * unit, deviation * unit, used, total - used)


@dataclass(frozen=True)
class Fitted(Statistics):
    """E-values from a fit: ``E = N (1 - exp(-exp(-pi / sqrt(6) z - gamma)))``.

    z is the number of standard deviations of a score above the mean for the length of its target,
    gamma is Euler's constant, and N the number of sequences; for nucleotides N is the residues of
    the database divided by those of the target, as in ssearch36. Bits satisfy
    ``E = N m n 2^-bits`` for small E, a query of m and a target of n residues.

    Parameters
    ----------
    fit : Fit
    query_length : int
        Length of the query whose scores were fitted.
    sequences, residues : int
        Size of the database.
    nucleotides : bool
        Whether N is that of nucleotides.
    scale : int
        `Scoring.scale`, for the name.
    """

    fit: Fit
    query_length: int
    sequences: int
    residues: int
    nucleotides: bool = False
    scale: int = 1

    @property
    def name(self) -> str:
        """The number of scores fitted, and the parameters of the fit."""
        found = self.fit
        slope, intercept, deviation = (
            number / self.scale for number in (found.slope, found.intercept, found.deviation)
        )
        return (
            f"fitted to {found.used:,} scores ({found.outliers:,} outliers left out): mean "
            f"{intercept:.3g} {'-' if slope < 0 else '+'} {abs(slope):.3g} ln(length), "
            f"standard deviation {deviation:.3g}"
        )

    def _nats(self, score: Floats, target_length: Floats) -> Floats:
        mean = self.fit.intercept + self.fit.slope * np.log(np.maximum(target_length, 1.0))
        nats: Floats = SCALE * (score - mean) / self.fit.deviation + EULER
        return nats

    def _bits(self, score: Floats, target_length: Floats) -> Floats:
        pairs = self.query_length * np.maximum(target_length, 1.0)
        return in_bits(self._nats(score, target_length) + np.log(pairs))

    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats:
        nats = np.maximum(self._nats(score, target_length) + 0 * query_length, -700.0)
        chance: Floats = -np.expm1(-np.exp(-nats))
        if self.nucleotides:
            return chance * self.residues / np.maximum(target_length, 1.0)
        return chance * self.sequences


_TOO_CHEAP = (
    "scores scatter too widely to fit statistics to: gaps cost so little that alignments are not "
    "local, or the sequences are all related"
)


def _line(kept: Floats, lengths: Floats, values: Floats) -> tuple[float, float, float]:
    """Return slope, intercept and standard deviation, in bins of scores."""
    by_length = kept.sum(axis=1)
    number = by_length.sum()
    sums = kept @ values
    mean_length = float(by_length @ lengths / number)
    mean = float(sums.sum() / number)
    offset = lengths - mean_length
    scatter = float(by_length @ offset**2)
    covariance = float(sums @ offset)
    squares = float((kept @ (values - mean) ** 2).sum())
    if np.count_nonzero(by_length) >= _MIN_FILLED_BINS:
        slope = covariance / scatter
        variance = (squares - slope * covariance) / number
    else:
        slope, variance = 0.0, squares / number
    variance -= 1 / 12
    if variance <= 1 / 12:
        raise ValueError("scores are too similar to fit statistics")
    deviation = math.sqrt(variance)
    if slope == 0.0:
        slope = deviation / SCALE
    return slope, mean - slope * mean_length, deviation


@cache
def _first_lengths() -> Counts:
    """Return the least length of each bin; bin 0 has lengths 0 and 1."""
    edges = np.ceil(np.exp((np.arange(_LENGTH_BINS) - 0.5) / _LENGTH_BINS_PER_E)).astype(np.int64)
    edges[0] = 0
    return edges


@cache
def _log_lengths() -> Floats:
    """Return the mean logarithm of the least and the largest length of each bin."""
    edges = np.append(_first_lengths(), round(math.exp((_LENGTH_BINS - 0.5) / _LENGTH_BINS_PER_E)))
    least, largest = np.maximum(edges[:-1], 1), np.maximum(edges[1:] - 1, 1)
    return np.asarray((np.log(least) + np.log(np.maximum(largest, least))) / 2, np.float64)


@cache
def _direct() -> npt.NDArray[np.uint8]:
    return _search(np.arange(_TABULATED_LENGTHS))


def _search(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    return (np.searchsorted(_first_lengths(), lengths, side="right") - 1).astype(np.uint8)


def _bins_of(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return the bin of each length."""
    bins = _direct()[np.minimum(lengths, _TABULATED_LENGTHS - 1)]
    if (long := lengths >= _TABULATED_LENGTHS).any():
        bins[long] = _search(lengths[long])
    return bins
