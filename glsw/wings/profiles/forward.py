"""Forward scores, sums over all local alignments of a profile and a target, and their E-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import Hits, SearchResult
from glsw.alignment.paths import DIAGONAL
from glsw.cores import cores
from glsw.sequences.database import Database
from glsw.sequences.encoded import offsets_of
from glsw.statistics.base import Floats, Statistics, Unavailable, in_bits
from glsw.wings.profiles.background import Background
from glsw.wings.profiles.profile import Profile

_Float = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.uint8]

_GAP_OPEN_PROBABILITY, _GAP_EXTEND_PROBABILITY = 0.04, 0.6
"""Chosen on a third of the queries of docs/SENSITIVITY.md."""
_RANDOM_TARGETS, _RANDOM_LENGTH, _TAIL_TARGETS, _SEED = 256, 100, 10, 0
_MAX_CELLS_PER_DIAGONAL = 2**14  # of a batch: they fit a processor's cache
_MAX_POSITIONS_PER_BATCH = 2**20  # limits the memory
_MAX_LENGTH_RATIO = 1.6  # of the targets of a batch
_MIN_ODDS, _MAX_ODDS = 1e-250, 1e250  # keep sums and their logarithms finite
MAX_CANDIDATE_EVALUE = 100.0
"""Forward scores are computed for targets whose best alignment has at most this E-value."""
_BIAS_PRIOR = 1 / 256
"""Prior probability of a biased composition, as in HMMER3."""
_MAX_NATS_TO_SUM = 200.0
"""A best alignment of more nats stands for the sum."""


class ForwardScores:
    """Computes the Forward scores of one profile.

    The odds of an alignment are the product of exp(lambda s) over its pairs of letters, with scores
    s, and of the probabilities of its steps. After a pair a gap in the target has the probability
    0.04, a gap in the profile likewise, another pair 0.92; a gap goes on with 0.6. The score is the
    natural logarithm of the sum of the odds of all local alignments. As steps are probabilities,
    random targets reach a score S about K m n exp(-S) times, for any profile (Yu and Hwa 2001,
    "Statistical significance of probabilistic sequence alignment and related local hidden Markov
    models", J. Comput. Biol. 8:249; Eddy 2008, "A probabilistic model of local sequence alignment",
    PLoS Comput. Biol. 4:e1000069). K is found for each profile, as in HMMER3, from the best 4 % of
    random targets: 256 of 100 letters.

    Parameters
    ----------
    profile : Profile
        Of amino acids, its scores with the lambda of its scoring.

    Attributes
    ----------
    k : float
        K of this profile.
    odds : ndarray of float64, shape (m, A + 1)
        exp(lambda s) of each position with each letter of the alphabet, and 0 past a target's end.

    Raises
    ------
    ValueError
        If the letters are no amino acids, or no local statistics exist for the scoring.
    """

    def __init__(self, profile: Profile) -> None:
        alphabet = profile.scoring.alphabet
        if not alphabet.amino_acids:
            raise ValueError(f"Forward scores are for amino acids, not for {alphabet.name}")
        background = Background(profile.scoring)
        rows, letters = profile.scores.shape
        self.odds = np.zeros((rows, letters + 1))
        limits = math.log(_MIN_ODDS), math.log(_MAX_ODDS)
        self.odds[:, :letters] = np.exp(np.clip(background.lambda_ * profile.scores, *limits))
        shape = _RANDOM_TARGETS, _RANDOM_LENGTH
        raw = np.random.PCG64(_SEED).random_raw(shape)  # the same in all versions of NumPy
        chances = np.cumsum(background.frequencies) / background.frequencies.sum()
        samples = background.codes[np.searchsorted(chances, raw / 2.0**64, side="right")]
        found = np.sort(self.scores(list(samples)))[-_TAIL_TARGETS]
        self.k = _TAIL_TARGETS / _RANDOM_TARGETS * math.exp(found) / (rows * _RANDOM_LENGTH)

    def scores(self, targets: Sequence[_Codes]) -> _Float:
        """Return the scores of targets in nats, shape (N,); -inf for targets without letters.

        Parameters
        ----------
        targets : sequence of ndarray of uint8
            Their codes in the alphabet of the scoring.
        """
        found = np.full(len(targets), -np.inf)
        lengths = np.array([len(each) for each in targets], np.int64)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        start, size = 0, len(self.odds)
        while start < len(order):
            shortest = int(lengths[order[start]])
            most = min(
                _MAX_CELLS_PER_DIAGONAL // min(shortest, size), _MAX_POSITIONS_PER_BATCH // size
            )
            some = order[start : start + max(1, most)]
            some = some[lengths[some] <= _MAX_LENGTH_RATIO * shortest]
            start += len(some)
            # Codes backwards, so that those of an anti-diagonal are in the order of positions.
            codes = np.full((int(lengths[some[-1]]), len(some)), self.odds.shape[1] - 1, np.intp)
            for k, number in enumerate(some.tolist()):
                codes[-lengths[number] :, k] = targets[number][::-1]
            with np.errstate(divide="ignore", over="ignore"):
                found[some] = np.log(self._of_batch(codes))
        return found

    def _of_batch(self, codes: npt.NDArray[np.intp]) -> _Float:
        """Return the sums of targets, shape (B,), whose codes are reversed in columns.

        Arrays hold one anti-diagonal: sums of alignments that end with a pair, with a target letter
        in a gap, or with a position in a gap. Position i has index i + 1.
        """
        size, (length, batch) = len(self.odds), codes.shape
        odds, rows = self.odds.ravel(), self.odds.shape[1] * np.arange(size)[:, np.newaxis]
        pairs, pairs_before, inserts, gaps, ended, ended_before, some, total = np.zeros(
            (8, size + 1, batch)
        )
        numbers = np.empty((size, batch), np.intp)
        for diagonal in range(size + length - 1):
            low, high = max(0, diagonal - length + 1), min(size, diagonal + 1)
            here, above, at = slice(low + 1, high + 1), slice(low, high), length - 1 - diagonal
            new, emitted, spare = pairs[here], numbers[: high - low], some[: high - low]
            np.add(rows[above], codes[at + low : at + high], out=emitted)
            odds.take(emitted, out=new, mode="clip")
            new *= np.add(ended_before[above], 1, out=spare)
            np.minimum(new, _MAX_ODDS, out=new)
            total[here] += new
            # Of gaps the sums are kept without the factor of their first position.
            inserts[here] *= _GAP_EXTEND_PROBABILITY
            inserts[here] += pairs_before[here]
            np.multiply(gaps[above], _GAP_EXTEND_PROBABILITY, out=spare)
            np.add(spare, pairs_before[above], out=gaps[here])
            np.add(inserts[here], gaps[here], out=spare)
            spare *= _GAP_OPEN_PROBABILITY * (1 - _GAP_EXTEND_PROBABILITY)
            np.multiply(new, 1 - 2 * _GAP_OPEN_PROBABILITY, out=ended_before[here])
            ended_before[here] += spare
            ended, ended_before = ended_before, ended
            pairs, pairs_before = pairs_before, pairs
        return np.array([math.fsum(column) for column in total.T.tolist()])  # in any batch alike


@dataclass(frozen=True)
class ForwardStatistics(Statistics):
    """E-values of Forward scores, in nats: their lambda is 1 for every profile.

    ``E = K m n N exp(-S)`` and ``bits = (S - ln K) / ln 2``, for m positions and n residues of a
    target. N is the number of sequences in the database: as in HMMER and ssearch36, a long target
    needs a higher score than a short one.

    Parameters
    ----------
    k : float
        Of the profile, see `glsw.wings.profiles.forward.ForwardScores`.
    sequences : int
        Size of the database.

    Examples
    --------
    >>> statistics = ForwardStatistics(0.05, 1000)
    >>> print(statistics.name)
    Forward scores: lambda 1, K 0.05
    >>> round(statistics.bits(25.0, 300), 1), f"{statistics.evalue(25.0, 100, 300):.1e}"
    (40.4, '2.1e-05')
    """

    k: float
    sequences: int

    @property
    def name(self) -> str:
        """Lambda and K."""
        return f"Forward scores: lambda 1, K {self.k:.3g}"

    def _bits(self, score: Floats, target_length: Floats) -> Floats:
        nats = score - math.log(self.k)
        return in_bits(np.broadcast_to(nats, np.broadcast_shapes(nats.shape, target_length.shape)))

    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats:
        space = self.k * query_length * target_length * self.sequences
        found: Floats = space * np.exp(-score)
        return found


def with_forward_scores(
    results: Sequence[SearchResult], profiles: Sequence[Profile], database: Database
) -> list[SearchResult]:
    """Return results with bit scores and E-values of Forward scores.

    A distant relative often has many alignments that are nearly as good as the best one, an
    unrelated sequence has few: see `ForwardScores`. If the best alignment has 200
    nats, it stands for the sum.

    A target may score high because of its composition alone, such as many cysteines with a profile
    of proteins that have many. HMMER's second null model describes this: the aligned residues have
    the mean frequencies of the aligned positions, in any order. The odds of a residue x are the
    mean of exp(lambda s(x)) over the positions of the best alignment; r is the product of the odds
    of its residues. ln(255/256 + r / 256), if positive, is subtracted from the score (Eddy 2011,
    PLoS Comput. Biol. 7:e1002195, and HMMER's guide).

    Alignments, their scores and the order of hits stay the same. So do bits and E-values of further
    alignments of a target.

    Parameters
    ----------
    results : sequence of SearchResult
        Of a search with each of ``profiles``, with E-values.
    profiles : sequence of Profile
        Of amino acids.
    database : Database
        That was searched.

    Raises
    ------
    ValueError
        If the letters are no amino acids.
    """
    from concurrent.futures import ThreadPoolExecutor  # only for sums

    targets = [_targets(result, database) for result in results]
    each = partial(_with_forward_scores, sequences=len(database))
    with ThreadPoolExecutor(cores(), "glsw-forward") as threads:
        return list(threads.map(each, results, profiles, targets))


def _targets(result: SearchResult, database: Database) -> list[_Codes]:
    """Return the codes of the target of each hit."""
    listed = result.listed
    if not len(listed):
        return []
    numbers = listed.table.target[np.array(listed.bounds[:-1], np.int64)]
    return [database.codes(place) for place in database.rank[numbers].tolist()]


def _with_forward_scores(
    result: SearchResult, profile: Profile, targets: Sequence[_Codes], sequences: int
) -> SearchResult:
    """Return the result of one query, see `with_forward_scores`."""
    if isinstance(result.statistics, Unavailable):
        return result
    listed, sums, background = result.listed, ForwardScores(profile), Background(profile.scoring)
    statistics = ForwardStatistics(sums.k, sequences)
    if not len(listed):
        return replace(result, statistics=statistics)
    table = listed.table.select(listed.rows)  # not those of other queries
    bounds = np.array(listed.bounds, np.int64) - listed.bounds[0]
    first = bounds[:-1]
    scores = (background.lambda_ * table.units[first]).astype(np.float64)
    some = np.flatnonzero(scores < _MAX_NATS_TO_SUM)
    scores[some] = sums.scores([targets[k] for k in some.tolist()])
    of_code = np.full(len(profile.scoring.alphabet), -1)
    of_code[background.codes] = np.arange(len(background.codes))
    odds, runs = sums.odds[:, background.codes], table.runs[first]
    at, residues = runs.pairs()
    pairs = offsets_of(runs.total((runs.moves == DIAGONAL) * runs.lengths)).tolist()
    for k, (start, stop) in enumerate(pairwise(pairs)):
        letters = of_code[targets[k][residues[start:stop]]]
        scores[k] -= _bias_correction(odds[at[start:stop]], letters)
    lengths = np.array([len(each) for each in targets])
    bits, evalues = table.bits.copy(), table.evalues.copy()
    bits[first] = statistics.bits(scores, lengths)
    evalues[first] = statistics.evalue(scores, len(profile), lengths)
    changed = replace(table, bits=bits, evalues=evalues)
    return replace(result, hits=Hits(bounds.tolist(), changed), statistics=statistics)


def _bias_correction(odds: npt.NDArray[np.float64], letters: npt.NDArray[np.int64]) -> float:
    """Return how much a score is reduced, in nats, given the odds of positions, shape (K, L).

    >>> odds = np.array([[4.0, 0.1], [4.0, 0.1], [4.0, 0.1]])
    >>> [round(_bias_correction(odds, np.array(each)), 3) for each in ([0, 0, 0], [0, 1, 1])]
    [0.22, 0.0]
    """
    known = letters[letters >= 0]
    biased = float(np.log(odds.mean(axis=0))[known].sum()) if len(known) else 0.0
    return max(0.0, float(np.logaddexp(np.log1p(-_BIAS_PRIOR), np.log(_BIAS_PRIOR) + biased)))
