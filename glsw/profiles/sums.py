"""Sums over all local alignments of a profile with targets: Forward scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glsw.profiles.letters import Letters
from glsw.profiles.profile import Profile

_Float = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.uint8]

_GAP, _FURTHER = 0.04, 0.6
"""After a pair of letters, the probability of a gap in one of both sequences, each; in a gap, that
it goes on. Chosen on a third of the queries of docs/SENSITIVITY.md."""
_SAMPLES, _LENGTH, _TAIL, _SEED = 256, 100, 10, 0
_CELLS = 2**14  # of an anti-diagonal of all targets of a batch: a processor's cache has room
_POSITIONS = 2**20  # of all targets of a batch together, which bounds the memory
_ALIKE = 1.6  # of lengths in a batch
_LEAST, _MOST = 1e-250, 1e250  # of odds, so that sums and their logarithms are finite


class Sums:
    """Sums over all local alignments of a profile.

    The odds of an alignment are the product of exp(lambda s) over its pairs of letters, whose
    scores are s, and of the probabilities of its steps: after a pair 0.04 for a gap in the target,
    the same for one in the profile, and the rest for another pair; in a gap 0.6 that it goes on.
    As steps are probabilities, the sums of random targets exceed x in proportion to 1 / x,
    whatever the profile is: only the factor k has to be found (Yu and Hwa 2001, "Statistical
    significance of probabilistic sequence alignment and related local hidden Markov models", J.
    Comput. Biol. 8:249; Eddy 2008, "A probabilistic model of local sequence alignment", PLoS
    Comput. Biol. 4:e1000069). It is such that a score ln(sum) is reached K m n exp(-score) times by
    chance, and found, as in HMMER3, from the best 4 % of random targets: 256 of 100 letters.

    Parameters
    ----------
    profile : Profile
        Of amino acids, its scores with the lambda of its scoring.

    Attributes
    ----------
    k : float

    Raises
    ------
    ValueError
        If the letters are no amino acids, or no local statistics exist for the scoring.
    """

    def __init__(self, profile: Profile) -> None:
        alphabet = profile.scoring.alphabet
        if not alphabet.amino_acids:
            raise ValueError(f"sums over alignments are of amino acids, not of {alphabet.name}")
        made = Letters(profile.scoring)
        rows, letters = profile.scores.shape
        self._odds = np.zeros((rows, letters + 1))  # none past the end of a target
        limits = math.log(_LEAST), math.log(_MOST)
        self._odds[:, :letters] = np.exp(np.clip(made.lambda_ * profile.scores, *limits))
        raw = np.random.PCG64(_SEED).random_raw((_SAMPLES, _LENGTH))  # same in every version
        chances = np.cumsum(made.frequencies) / made.frequencies.sum()
        samples = made.codes[np.searchsorted(chances, raw / 2.0**64, side="right")]
        found = np.sort(self.scores(list(samples)))[-_TAIL]
        self.k = _TAIL / _SAMPLES * math.exp(found) / (rows * _LENGTH)

    def scores(self, targets: Sequence[_Codes]) -> _Float:
        """Return the natural logarithms of the sums of targets, shape (N,).

        Parameters
        ----------
        targets : sequence of ndarray of int
            Their codes in the alphabet of the scoring.
        """
        found = np.full(len(targets), -np.inf)
        lengths = np.array([len(each) for each in targets], np.int64)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        start, size = 0, len(self._odds)
        while start < len(order):
            shortest = int(lengths[order[start]])
            most = min(_CELLS // min(shortest, size), _POSITIONS // size)
            some = order[start : start + max(1, most)]
            some = some[lengths[some] <= _ALIKE * shortest]
            start += len(some)
            # Codes backwards, so that those of an anti-diagonal are in the order of positions.
            codes = np.full((int(lengths[some[-1]]), len(some)), self._odds.shape[1] - 1, np.intp)
            for k, number in enumerate(some.tolist()):
                codes[-lengths[number] :, k] = targets[number][::-1]
            with np.errstate(divide="ignore", over="ignore"):
                found[some] = np.log(self._of_batch(codes))
        return found

    def _of_batch(self, codes: npt.NDArray[np.intp]) -> _Float:
        """Return the sums of targets whose codes are backwards in columns, shape (B,).

        Sums of alignments that end with a pair of letters, with a letter of the target, or with a
        position left out, are those of an anti-diagonal, at index i + 1 of position i.
        """
        size, (length, batch) = len(self._odds), codes.shape
        odds, rows = self._odds.ravel(), self._odds.shape[1] * np.arange(size)[:, np.newaxis]
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
            np.minimum(new, _MOST, out=new)
            total[here] += new
            # Of gaps the sums are kept without the factor of their first position.
            inserts[here] *= _FURTHER
            inserts[here] += pairs_before[here]
            np.multiply(gaps[above], _FURTHER, out=spare)
            np.add(spare, pairs_before[above], out=gaps[here])
            np.add(inserts[here], gaps[here], out=spare)
            spare *= _GAP * (1 - _FURTHER)
            np.multiply(new, 1 - 2 * _GAP, out=ended_before[here])
            ended_before[here] += spare
            ended, ended_before = ended_before, ended
            pairs, pairs_before = pairs_before, pairs
        return np.array([math.fsum(column) for column in total.T.tolist()])  # in any batch alike
