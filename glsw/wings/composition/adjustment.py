"""Matrices adjusted to the compositions of two proteins, as in blastp.

Mode 1, composition-based statistics, scales a matrix so that lambda is the standard one for the
two compositions (A. A. Schaffer et al. 2001, "Improving the accuracy of PSI-BLAST protein database
searches with composition-based statistics and other refinements", Nucleic Acids Research 29). It
scales a profile so that lambda is the standard one for its positions and the target's composition.
Mode 2, conditional compositional score matrix adjustment, gives most pairs a matrix of their own
(Y.-K. Yu and S. F. Altschul 2005, "The construction of amino acid substitution matrices for the
comparison of proteins with non-standard compositions", Bioinformatics 21), and scales the matrix of
the others (S. F. Altschul et al. 2005, "Protein database searches using compositionally adjusted
substitution matrices", FEBS Journal 272). Numbers that the papers leave open are those of NCBI's
blastp (C++ toolkit 2.12, public domain).
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.options import COMPOSITIONS, Composition
from glsw.scoring.positional import PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, offsets_of, ranges
from glsw.statistics.base import Statistics
from glsw.statistics.published_constants import joint_frequencies, published
from glsw.statistics.ungapped_constants import AMINO_ACIDS, codes_of, ungapped_lambda
from glsw.wings.composition.target_frequencies import target_frequencies

SCALE = 32
"""Units of adjusted scores per unit of the matrix."""

_RELATIVE_ENTROPY = 0.44  # nats, about that of BLOSUM62
_PSEUDOCOUNTS = 20
_LEAST_RATIO = 0.5  # of lambda to the standard one
_LARGEST_X = -1.0  # score of X, in scaled units
_BORDER, _BESIDE_STOP = 200, 20  # residues around alignments of translated sequences
_STOP, _TWO_STOPS = 0.25, 1.333  # frequency ratios of * with a letter and with *

# Altschul et al. 2005: a matrix is only scaled, not adjusted, if compositions differ so much ...
_MAX_DISTANCE, _MAX_LENGTH_RATIO, _MAX_ANGLE = 0.16, 3.0, 70.0
# ... unless two letters are so frequent in a sequence that is longer than this.
_HIGH_PAIR, _HIGH_PAIR_LENGTH = 0.4, 50

_Floats = npt.NDArray[np.float64]
_Int64 = npt.NDArray[np.int64]


class Compositions(NamedTuple):
    """The amino acids of sequences.

    Parameters
    ----------
    counts : ndarray of float64, shape (N, 20)
        How often each amino acid occurs, in the order of `AMINO_ACIDS`.
    lengths : ndarray of int64, shape (N,)
        All residues, those that are no amino acids too.
    """

    counts: _Floats
    lengths: _Int64

    @classmethod
    def of(cls, sequences: Sequences, scoring: Scoring) -> Compositions:
        """Count the amino acids of sequences in the codes of a scoring."""
        kinds = np.full(256, len(AMINO_ACIDS), np.int64)
        kinds[codes_of(scoring.alphabet, AMINO_ACIDS)] = np.arange(len(AMINO_ACIDS))
        owner = np.repeat(np.arange(len(sequences)), sequences.lengths)
        width = len(AMINO_ACIDS) + 1
        found = np.bincount(
            owner * width + kinds[sequences.residues], minlength=len(sequences) * width
        )
        counts = found.reshape(len(sequences), width)[:, :-1].astype(np.float64)
        return cls(counts, sequences.lengths)

    @classmethod
    def around(
        cls, sequences: Sequences, which: _Int64, start: _Int64, end: _Int64, scoring: Scoring
    ) -> Compositions:
        """Count the amino acids around alignments of translated sequences, as BLAST does.

        Up to 200 residues on either side count, but none beyond the nearest stop codon that is not
        within masked letters, nor the 20 next to it unless they are aligned.

        Parameters
        ----------
        sequences : Sequences
        which, start, end : ndarray of int64, shape (N,)
            The sequence of each alignment, and its aligned part, counted from 0.
        scoring : Scoring
            Of the codes.
        """
        first, stop = sequences.offsets[which], sequences.offsets[which + 1]
        start, end = first + start, first + end
        first, stop = np.maximum(first, start - _BORDER), np.minimum(stop, end + _BORDER)
        stops = _stops(sequences, scoring)
        bounds = np.concatenate([[-1], stops, [len(sequences.residues)]])
        before = bounds[np.searchsorted(stops, start)]
        after = bounds[np.searchsorted(stops, end) + 1]
        left = np.where(before < first, first, np.minimum(start, before + 1 + _BESIDE_STOP))
        right = np.where(after < stop, np.maximum(end, after - _BESIDE_STOP), stop)
        parts = Sequences(sequences.residues[ranges(left, right - left)], offsets_of(right - left))
        return cls.of(parts, scoring)._replace(lengths=stop - first)

    @property
    def residues(self) -> _Floats:
        """Amino acids of each sequence, shape (N,)."""
        found: _Floats = self.counts.sum(axis=1)
        return found

    @property
    def frequencies(self) -> _Floats:
        """The fraction of each amino acid, shape (N, 20); 0 if there are none."""
        found: _Floats = self.counts / np.maximum(1, self.residues)[:, np.newaxis]
        return found

    def with_pseudocounts(self, background: _Floats) -> _Floats:
        """Return frequencies with 20 letters of the background added, shape (N, 20)."""
        counts = self.counts + _PSEUDOCOUNTS * background
        found: _Floats = counts / counts.sum(axis=1, keepdims=True)
        return found

    def part(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Compositions:
        """Return some of them."""
        return Compositions(self.counts[chosen], self.lengths[chosen])


def _stops(sequences: Sequences, scoring: Scoring) -> _Int64:
    """Return where stop codons are, but for those that have X on both sides."""
    codes, offsets = sequences.residues, sequences.offsets
    wildcard, stop = codes_of(scoring.alphabet, "X*")
    stops, others = np.flatnonzero(codes == stop), np.flatnonzero(codes != stop)
    at, owner = np.searchsorted(others, stops), np.searchsorted(offsets, stops, "right") - 1
    before, after = np.concatenate([[-1], others, [len(codes)]])[[at, at + 1]]
    within = (before >= offsets[owner]) & (after < offsets[owner + 1])
    masked = within.copy()
    masked[within] = (codes[before[within]] == wildcard) & (codes[after[within]] == wildcard)
    found: _Int64 = stops[~masked]
    return found


class Rescaled(Statistics):
    """E-values of scores in units of 1/32, and bits of these rounded to units, as in blastp."""

    def __init__(self, statistics: Statistics, composition: Composition) -> None:
        self._statistics, self._composition = statistics, composition

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def name(self) -> str:
        """Those of the matrix as it is, and the mode by which scores are adjusted."""
        return f"{self._statistics.name}; scores adjusted for composition ({self._composition})"

    def _bits(self, score: _Floats, target_length: _Floats) -> _Floats:
        return self._statistics._bits(rounded(score / SCALE).astype(np.float64), target_length)

    def _evalue(self, score: _Floats, query_length: _Floats, target_length: _Floats) -> _Floats:
        return self._statistics._evalue(score / SCALE, query_length, target_length)


def check_composition(scoring: Scoring, composition: Composition) -> None:
    """Raise ValueError if there is no such mode, or none for a scoring."""
    if composition not in COMPOSITIONS:
        raise ValueError(f"composition {composition!r}: 'auto', 0, 1 or 2 expected")
    letters = scoring.letters if isinstance(scoring, PositionalScoring) else scoring
    if composition and _matrix(letters) is None:
        raise ValueError(
            f"composition {composition}: a protein matrix and gap costs with published constants "
            f"for local alignment expected, not {letters.name}"
        )


def adjusted_matrices(
    scoring: Scoring, queries: Compositions, targets: Compositions, composition: Composition
) -> npt.NDArray[np.int16]:
    """Return the matrix of each pair of a query and a target, in units of 1/32.

    Parameters
    ----------
    scoring : Scoring
        See `check_composition`.
    queries, targets : Compositions
        Of N pairs; there is at least one amino acid in each sequence.
    composition : {1, 2}

    Returns
    -------
    ndarray of int16, shape (N, A, A)
        Rows are of the query's letter.

    Examples
    --------
    >>> scoring = Scoring.blast()
    >>> encode = scoring.alphabet.encode
    >>> sequences = Sequences.of([encode(AMINO_ACIDS * 3), encode("MKKLLKKAEEKKLLKEKAWKKRKE" * 4)])
    >>> each = Compositions.of(sequences, scoring)
    >>> pair = each.part(np.array([0])), each.part(np.array([1]))
    >>> lysines = [adjusted_matrices(scoring, *pair, mode)[0, 11, 11].item() for mode in (1, 2)]
    >>> lysines, SCALE * int(scoring.matrix[11, 11])
    ([153, 81], 160)
    """
    count = len(targets.lengths)
    found = np.empty((count, *scoring.matrix.shape), np.int16)
    adjusted = np.zeros(count, bool)
    if composition == 2:
        background = _joint(scoring).sum(axis=1)
        adjusted = _is_adjusted(queries, targets, background)
        rows, columns = (
            each.part(adjusted).with_pseudocounts(background) for each in (queries, targets)
        )
        joint, ratios, converged = target_frequencies(
            _joint(scoring), rows, columns, _RELATIVE_ENTROPY
        )
        scores = _log_ratios(joint, ratios, rows, columns)
        scores *= _rate(scoring)
        found[adjusted] = _in_alphabet(scoring, scores, rows, columns)
        adjusted[adjusted] = converged
    rest = np.flatnonzero(~adjusted)
    if len(rest):
        p, q = (each.part(rest).frequencies for each in (queries, targets))
        standard = _standard(scoring) * _rate(scoring)
        units = rounded(standard[0, :20, :20])
        weights = p[:, :, np.newaxis] * q[:, np.newaxis, :]
        ratios = _lambdas(units.ravel(), weights.reshape(len(p), -1)) * _rate(scoring)
        scores = standard * np.clip(ratios, _LEAST_RATIO, 1)[:, np.newaxis, np.newaxis]
        found[rest] = _in_alphabet(scoring, scores, p, q)
    return found


def profile_rates(
    scoring: Scoring, scores: npt.NDArray[np.int32], targets: Compositions
) -> _Floats:
    """Return by what to multiply the scores of a profile for each target, at most 1: shape (N,).

    It is the lambda of the profile's positions, each as frequent, and the target's composition,
    compared with that of the matrix.

    Parameters
    ----------
    scoring : Scoring
        That of letters, see `check_composition`.
    scores : ndarray of int32, shape (m, A)
    targets : Compositions
        Of N targets; there is at least one amino acid in each.
    """
    if not len(targets.lengths):
        return np.empty(0)
    known = scores[:, codes_of(scoring.alphabet, AMINO_ACIDS)]
    values, at = np.unique(known, return_inverse=True)
    columns = np.arange(len(AMINO_ACIDS)) * len(values)
    counts = np.bincount((at.reshape(known.shape) + columns).ravel(), minlength=20 * len(values))
    weights = targets.frequencies @ (counts.reshape(len(AMINO_ACIDS), -1) / len(known))
    found: _Floats = _lambdas(values, weights) / ungapped_lambda(scoring)
    return np.clip(found, _LEAST_RATIO, 1)


def scaled_profiles(
    scoring: Scoring, scores: npt.NDArray[np.int32], rates: _Floats, frequencies: _Floats
) -> npt.NDArray[np.int32]:
    """Return the scores of a profile for each target, shape (N, m, A), in units of 1/32.

    Letters that are neither amino acids, B, Z nor X keep their scores.

    Parameters
    ----------
    scoring, scores
        As of `profile_rates`.
    rates : ndarray of float64, shape (N,)
    frequencies : ndarray of float64, shape (N, 20)
        Of the amino acids of the targets: X has the score that is expected of them.
    """
    alphabet = scoring.alphabet
    made = np.repeat(SCALE * scores[np.newaxis].astype(np.int32), len(rates), axis=0)
    letters = AMINO_ACIDS + "".join(letter for letter in "BZ" if letter in alphabet.letters)
    codes = codes_of(alphabet, letters)
    scaled = SCALE * rates[:, np.newaxis, np.newaxis] * scores[:, codes]
    made[:, :, codes] = rounded(scaled)
    expected = np.einsum("nij,nj->ni", scaled[:, :, : len(AMINO_ACIDS)], frequencies)
    (wildcard,) = codes_of(alphabet, "X")
    made[:, :, wildcard] = rounded(np.minimum(expected, _LARGEST_X))
    return made


def _matrix(scoring: Scoring) -> str | None:
    """Return the name of the matrix if scores can be adjusted."""
    alphabet = scoring.alphabet
    if scoring.wide_queries or not (scoring.local and alphabet.amino_acids and alphabet.wildcard):
        return None
    constants = published(scoring)
    return constants.name.split()[0] if constants and constants.unit == 1 else None


@lru_cache(8)
def _joint(scoring: Scoring) -> _Floats:
    return joint_frequencies(_matrix(scoring) or "")


@lru_cache(8)
def _rate(scoring: Scoring) -> float:
    """Return units of adjusted scores per nat."""
    return SCALE / ungapped_lambda(scoring)


def _is_adjusted(
    queries: Compositions, targets: Compositions, background: _Floats
) -> npt.NDArray[np.bool_]:
    """Return which pairs have their matrix adjusted, not scaled: shape (N,)."""
    p, q = queries.frequencies, targets.frequencies
    of_query, of_target = _distances(p, background), _distances(q, background)
    between = _distances(p, q)
    cosine = of_query**2 + of_target**2 - between**2
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = cosine / (2 * of_query * of_target)
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    lengths = queries.lengths, targets.lengths
    ratio = np.maximum(*lengths) / np.minimum(*lengths)
    differ = (between > _MAX_DISTANCE) & (ratio > _MAX_LENGTH_RATIO) & (angle > _MAX_ANGLE)
    high: npt.NDArray[np.bool_] = ~differ
    for frequencies, length in zip((p, q), lengths, strict=True):
        both = np.sort(frequencies, axis=1)[:, -2:].sum(axis=1)
        high |= (both > _HIGH_PAIR) & (length > _HIGH_PAIR_LENGTH)
    return high


def _distances(p: _Floats, q: _Floats) -> _Floats:
    """Return the root of the Jensen-Shannon divergence, shape (N,)."""
    middle = (p + q) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = [np.where(each > 0, each * np.log(each / middle), 0) for each in (p, q)]
    found: _Floats = np.sqrt(np.maximum(0, (terms[0] + terms[1]).sum(axis=1) / 2))
    return found


@cache
def _ambiguous() -> _Floats:
    """Return which amino acids B and Z are, shape (2, 20)."""
    made = np.zeros((2, len(AMINO_ACIDS)))
    for row, letters in zip(made, ("DN", "EQ"), strict=True):
        row[[AMINO_ACIDS.index(letter) for letter in letters]] = 1
    return made


@lru_cache(8)
def _standard(scoring: Scoring) -> _Floats:
    """Return `_log_ratios` of the matrix as it is, shape (1, 24, 24)."""
    joint = _joint(scoring)[np.newaxis]
    background = joint.sum(axis=2)
    ratios = np.log(joint / (background[:, :, np.newaxis] * background[:, np.newaxis]))
    return _log_ratios(joint, ratios, background, background)


def _log_ratios(joint: _Floats, ratios: _Floats, rows: _Floats, columns: _Floats) -> _Floats:
    """Return ``ln(x / (r c))`` of the letters ARNDCQEGHILKMFPSTWYV, B, Z and two more.

    Those of amino acids are given; there is room for the last two, shape (N, 24, 24).
    """
    both = _ambiguous()
    found = np.zeros((len(joint), 24, 24))
    found[:, :20, :20] = ratios
    r, c, x = rows @ both.T, columns @ both.T, both @ joint
    found[:, 20:22, :20] = np.log(x / (r[:, :, np.newaxis] * columns[:, np.newaxis]))
    found[:, :20, 20:22] = np.log(joint @ both.T / (rows[:, :, np.newaxis] * c[:, np.newaxis]))
    found[:, 20:22, 20:22] = np.log(x @ both.T / (r[:, :, np.newaxis] * c[:, np.newaxis]))
    return found


def _lambdas(units: npt.NDArray[np.integer], weights: _Floats) -> _Floats:
    """Return the positive solutions of ``sum w exp(lambda s) = 1``; 0 if there is none.

    ``units`` has the scores s, shape (S,), ``weights`` their probabilities w, shape (N, S).
    """
    solvable = (weights @ units < 0) & (np.max(np.where(weights > 0, units, -1), axis=1) > 0)
    weights = weights[solvable]
    best = np.where(weights > 0, units, -1)
    at = best.argmax(axis=1)
    k = np.arange(len(weights))
    # At this rate the highest score alone makes the sum 1; Newton's method comes down from there.
    rates = -np.log(weights[k, at]) / best[k, at]
    for _ in range(100):
        terms = weights * np.exp(rates[:, np.newaxis] * units)
        steps = (terms.sum(axis=1) - 1) / np.sum(terms * units, axis=1)
        rates -= steps
        if (np.abs(steps) <= 1e-13 * rates).all():
            break
    found = np.zeros(len(solvable))
    found[solvable] = rates
    return found


def _in_alphabet(
    scoring: Scoring, scores: _Floats, rows: _Floats, columns: _Floats
) -> npt.NDArray[np.int16]:
    """Return matrices for all letters of an alphabet, given scores but for X and *."""
    known, places = _places(scoring)
    stop, two_stops = (math.log(each) * _rate(scoring) for each in (_STOP, _TWO_STOPS))
    by_row = np.matmul(scores[:, :22, :20], columns[:, :, np.newaxis])[:, :, 0]
    by_column = np.matmul(rows[:, np.newaxis], scores[:, :20, :22])[:, 0]
    scores[:, :22, 22] = np.minimum(by_row, _LARGEST_X)
    scores[:, 22, :22] = np.minimum(by_column, _LARGEST_X)
    scores[:, 22, 22] = np.minimum(np.sum(by_row[:, :20] * rows, axis=1), _LARGEST_X)
    scores[:, 23] = scores[:, :, 23] = stop
    scores[:, 23, 23] = two_stops
    made = rounded(scores).astype(np.int16).reshape(len(scores), scores.shape[1] ** 2)
    found = np.take(made, places, axis=1)
    found[:, ~known] = SCALE * scoring.matrix[~known]
    return found


@lru_cache(8)
def _places(scoring: Scoring) -> tuple[npt.NDArray[np.bool_], _Int64]:
    """Return which pairs of letters `_log_ratios` has, and where in it, shapes (A, A)."""
    letters = AMINO_ACIDS + "BZX*"
    at = np.array([letters.find(each) for each in scoring.alphabet.letters])
    known = (at[:, np.newaxis] >= 0) & (at >= 0)
    return known, np.where(known, len(letters) * at[:, np.newaxis] + at, 0)


def rounded(scores: _Floats) -> _Int64:
    """Return the nearest whole numbers, halves away from 0."""
    found = np.copysign(0.5, scores)
    found += scores
    return np.trunc(found, out=found).astype(np.int64)
