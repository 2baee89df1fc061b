"""Forward scores: sums over all local alignments of a profile and a target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glsw.wings.profiles.letters import Letters
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
        made = Letters(profile.scoring)
        rows, letters = profile.scores.shape
        self.odds = np.zeros((rows, letters + 1))
        limits = math.log(_MIN_ODDS), math.log(_MAX_ODDS)
        self.odds[:, :letters] = np.exp(np.clip(made.lambda_ * profile.scores, *limits))
        shape = _RANDOM_TARGETS, _RANDOM_LENGTH
        raw = np.random.PCG64(_SEED).random_raw(shape)  # the same in all versions of NumPy
        chances = np.cumsum(made.frequencies) / made.frequencies.sum()
        samples = made.codes[np.searchsorted(chances, raw / 2.0**64, side="right")]
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
