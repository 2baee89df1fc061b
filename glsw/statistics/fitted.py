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

MIN_RANDOM_SCORES = 25
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
_LOW_QUANTILES = 0.1, 0.4  # of scores; up to half of them may be of related sequences
_QUANTILE_ROUNDS = 4
_MOST_NATS = 20  # of the second of them: ln(K m n)
_FIRST_LIMIT = 1.9  # standard deviations above the mean, which 5 % of random scores exceed
_PRIOR_SCATTER = 4 * SCALE**2  # of ln(length); gives slopes a standard error of half of 1 / lambda
_LITTLE = 1e-9
_MAX_RELATIVE_DEVIATION = 10.0  # relative to alignments without gaps; up to 5.5 in sound fits
_MAX_RELATIVE_SLOPE = 3.0  # relative to 1 / lambda; up to 2.1 in sound fits, 3.9 if gaps are free

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

    The first line is that of two low quantiles, which related sequences hardly change: up to half
    of the scores may be theirs. Least squares follow, without outliers, until there are no new
    ones. Outliers are scores that are expected less than 0.1 times among this number of sequences,
    or as far below the line. Sequences shorter than 10 residues or with score 0 are not used. If
    there are few scores or if lengths are similar, the slope approaches the theoretical one,
    1 / lambda.

    Scores are discrete: the probability of reaching S is that of a continuous variable whose mean
    is half a step higher and whose variance is lower by step^2 / 12.

    Parameters
    ----------
    histogram : ScoreHistogram
    lambda_ : float, optional
        lambda of ungapped alignments, per integer unit. If scores scatter far more than it allows,
        most sequences are related, or gaps are too cheap for local alignments.

    Raises
    ------
    ValueError
        If there are fewer than 60 scores, or fewer than 25 that look random; if all are equal; if
        they scatter too widely, or their mean is impossible: negative, or not growing with length,
        or growing far faster than in theory.
    """
    counts = histogram.counts.copy()
    counts[: np.searchsorted(_first_lengths(), _MIN_LENGTH)] = 0
    counts[:, 0] = 0  # no score
    cells = np.nonzero(counts)
    numbers, x, y = counts[cells], _log_lengths()[cells[0]], np.asarray(cells[1] + 0.5, np.float64)
    inside = cells[1] < _SCORE_BINS - 1
    total = int(numbers.sum())
    if total < MIN_SCORES:
        few = f"{numbered(total, 'score')}, too few to fit statistics to"
        raise ValueError(f"{few}: {MIN_SCORES} are needed")
    if numbers[inside].sum() < 0.5 * total:
        raise ValueError(_TOO_CHEAP)
    highest = (math.log(total / _OUTLIER_EVALUE) - EULER) / SCALE
    slope, intercept, deviation = _of_quantiles(numbers, x, y)
    limit, kept = _FIRST_LIMIT, np.zeros_like(inside)
    for _ in range(_MAX_ROUNDS):
        z = (y - (intercept + slope * x)) / deviation
        before, kept = kept, inside & (np.abs(z) <= limit)
        used = int(numbers[kept].sum())
        if used < MIN_RANDOM_SCORES:
            few = (
                f"only {used} of {total} scores look random: {MIN_RANDOM_SCORES} are needed to fit"
            )
            raise ValueError(f"{few} statistics to{_REMEDY}")
        if limit == highest and np.array_equal(before, kept):
            break
        slope, intercept, deviation = _line(numbers[kept], x[kept], y[kept])
        limit = highest
    unit = histogram.width
    if lambda_ * deviation * unit > _MAX_RELATIVE_DEVIATION * SCALE:
        raise ValueError(_TOO_CHEAP)
    if not 0 < slope * SCALE < _MAX_RELATIVE_SLOPE * deviation:
        what = "do not grow" if slope <= 0 else "grow too fast"
        raise ValueError(f"scores {what} with the length of targets to fit statistics to{_REMEDY}")
    if intercept + slope * x[kept].min() + deviation < 0:
        raise ValueError(f"short targets score too low to fit statistics to{_REMEDY}")
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


_REMEDY = "; increase gap costs, or search more sequences that are unrelated to the query"
_TOO_CHEAP = f"scores scatter too widely to fit statistics to{_REMEDY}"


def _of_quantiles(numbers: Counts, x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return slope, intercept and standard deviation, in bins of scores, by two low quantiles.

    Related sequences score high and hardly change these. The quantile p of an extreme value
    distribution with mode u and scale b is ``u - b ln(-ln p)``; the mode grows by b ln(length), so
    that b is the slope, too, with which the quantiles are taken again.
    """
    low, high = (-math.log(-math.log(part)) for part in _LOW_QUANTILES)
    slope = scale = least = 0.0
    for _ in range(_QUANTILE_ROUNDS):
        slope = scale
        rest = y - slope * x
        order = np.argsort(rest, kind="stable")
        reached = np.cumsum(numbers[order]) - numbers[order] / 2
        first, second = np.interp(_LOW_QUANTILES, reached / numbers.sum(), rest[order]).tolist()
        least = least or second / _MOST_NATS
        scale = max((second - first) / (high - low), least)
    return slope, first + scale * (EULER - low), scale * SCALE


def _line(numbers: Counts, x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return slope, intercept and standard deviation, in bins of scores, by least squares.

    The slope of few scores, or of similar lengths, is drawn towards that of the theory, 1 / lambda,
    as if it were known to be within half of it.
    """
    number = numbers.sum()
    mean_x, mean_y = float(numbers @ x / number), float(numbers @ y / number)
    x, y = x - mean_x, y - mean_y
    squares, products, scatter = (float(numbers @ each) for each in (y**2, x * y, x**2))
    slope = products / max(scatter, _LITTLE)
    theory = math.sqrt(max(squares - slope * products, 0.0) / number) / SCALE
    slope = (products + _PRIOR_SCATTER * theory) / (scatter + _PRIOR_SCATTER)
    variance = (squares - slope * (2 * products - slope * scatter)) / number - 1 / 12
    if variance <= 1 / 12:
        raise ValueError("scores are too similar to fit statistics")
    return slope, mean_y - slope * mean_x, math.sqrt(variance)


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
