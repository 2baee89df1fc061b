"""Forward scores, sums over all local alignments of a profile and a target, and their E-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import Hits, SearchResult, by_table
from glsw.alignment.paths import DIAGONAL, Runs
from glsw.device.device import Device
from glsw.engines.base import Engine
from glsw.search.select import Selection
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.tiles import cut
from glsw.statistics.base import Floats, Statistics, in_bits
from glsw.wings.profiles.background import Background
from glsw.wings.profiles.forward_sums import log_sums
from glsw.wings.profiles.profile import Profile

_Float = npt.NDArray[np.float64]
_Int64 = npt.NDArray[np.int64]

_RANDOM_TARGETS, _RANDOM_LENGTH, _TAIL_TARGETS, _SEED = 256, 100, 10, 0
_MIN_ODDS, _MAX_ODDS = 1e-250, 1e250  # keep sums and their logarithms finite
MAX_CANDIDATE_EVALUE = 100.0
"""Forward scores are computed for targets whose best alignment has at most this E-value."""
_BIAS_PRIOR = 1 / 256
"""Prior probability of a biased composition, as in HMMER3."""
_MAX_NATS_TO_SUM = 200.0
"""A best alignment of more nats stands for the sum."""
_MAX_ODDS_AT_ONCE = 2**18  # of aligned positions: limits the memory


class ForwardScores:
    """Computes the Forward scores of profiles of one scoring.

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
    profiles : sequence of Profile
        At least one, of amino acids, with scores of the lambda of their scoring.
    device : Device, optional
        What computes the sums, see `glsw.wings.profiles.forward_sums.log_sums`.

    Attributes
    ----------
    background : Background
        Of the scoring.
    odds : list of ndarray of float64, shape (m, A)
        Of each profile exp(lambda s) of each position with each letter of the alphabet.
    k : ndarray of float64
        K of each profile.

    Raises
    ------
    ValueError
        If the letters are no amino acids, or no local statistics exist for the scoring.
    """

    def __init__(self, profiles: Sequence[Profile], device: Device | None = None) -> None:
        self.background = background = Background(profiles[0].scoring)
        alphabet = background.scoring.alphabet
        if not alphabet.amino_acids:
            raise ValueError(f"Forward scores are for amino acids, not for {alphabet.name}")
        self._device = device
        limits = math.log(_MIN_ODDS), math.log(_MAX_ODDS)
        self.odds = [
            np.exp(np.clip(background.lambda_ * each.scores, *limits)) for each in profiles
        ]
        shape = _RANDOM_TARGETS, _RANDOM_LENGTH
        raw = np.random.PCG64(_SEED).random_raw(shape)  # the same in all versions of NumPy
        chances = np.cumsum(background.frequencies) / background.frequencies.sum()
        codes = background.codes[np.searchsorted(chances, raw / 2.0**64, side="right")]
        samples = Sequences.of(list(codes.astype(np.uint8)))
        pairs = np.indices((len(profiles), len(samples))).reshape(2, -1).T
        found = np.sort(self.scores(samples, pairs).reshape(len(profiles), -1))
        sizes = np.array([len(each) for each in profiles]) * _RANDOM_LENGTH
        self.k = _TAIL_TARGETS / _RANDOM_TARGETS * np.exp(found[:, -_TAIL_TARGETS]) / sizes

    def scores(self, targets: Sequences, pairs: _Int64) -> _Float:
        """Return the scores of pairs in nats, shape (N,); -inf for targets without letters.

        Parameters
        ----------
        targets : Sequences
            Their codes in the alphabet of the scoring.
        pairs : ndarray of int64, shape (N, 2)
            Numbers of a profile and a target.
        """
        return log_sums(self.odds, targets, pairs, self._device)

    def losses(self, runs: Runs, targets: Sequences, pairs: _Int64) -> _Float:
        """Return how much the score of each pair is reduced in nats, shape (N,).

        ``runs`` are the columns of their best alignments; the others as for `scores`.
        """
        codes, found = self.background.codes, np.zeros(len(runs))
        of_code = np.full(self.odds[0].shape[1], -1)
        of_code[codes] = np.arange(len(codes))
        odds = np.concatenate(self.odds)[:, codes]
        first = offsets_of([len(each) for each in self.odds])[pairs[:, 0]]
        pairs_of_each = runs.total((runs.moves == DIAGONAL) * runs.lengths)
        for part in cut([offsets_of(pairs_of_each)], [_MAX_ODDS_AT_ONCE // len(codes)]):
            at, residues = runs[part].pairs()
            counts = pairs_of_each[part]
            at += np.repeat(first[part], counts)
            residues += np.repeat(targets.offsets[pairs[part, 1]], counts)
            letters = of_code[targets.residues[residues]]
            found[part] = _bias_corrections(odds.take(at, axis=0), letters, counts)
        return found


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


class HitSums:
    """Bits and E-values of the hits of a search with profiles by their Forward scores.

    A distant relative often has many alignments that are nearly as good as the best one, an
    unrelated sequence has few: see `ForwardScores`. If the best alignment has 200
    nats, it stands for the sum.

    A target may score high because of its composition alone, such as many cysteines with a profile
    of proteins that have many. HMMER's second null model describes this: the aligned residues have
    the mean frequencies of the aligned positions, in any order. The odds of a residue x are the
    mean of exp(lambda s(x)) over the positions of the best alignment; r is the product of the odds
    of its residues. ln(255/256 + r / 256), if positive, is subtracted from the score (Eddy 2011,
    PLoS Comput. Biol. 7:e1002195, and HMMER's guide).

    Parameters
    ----------
    hits : Selection
        Of a search with each of ``profiles``, with E-values; not aligned.
    profiles : sequence of Profile
        Of amino acids.
    database : Database
        That was searched.
    engine : Engine
        If it is on a device with compute shaders, that computes the sums.

    Attributes
    ----------
    evalues : ndarray of float64, shape (hits,)
        Before anything is subtracted from the scores: they do not exceed those of `results`.

    Raises
    ------
    ValueError
        If the letters are no amino acids.
    """

    def __init__(
        self, hits: Selection, profiles: Sequence[Profile], database: Database, engine: Engine
    ) -> None:
        self._offsets, self._sizes = hits.offsets, [len(each) for each in profiles]
        known = np.array([each.available for each in hits.statistics], bool)
        some, self._statistics = np.flatnonzero(known), list(hits.statistics)
        self.evalues = np.empty(0)
        if not len(some):
            return
        self._made = made = ForwardScores([profiles[k] for k in some.tolist()], _device_of(engine))
        for k, of_sums in zip(some.tolist(), made.k.tolist(), strict=True):
            self._statistics[k] = ForwardStatistics(of_sums, len(database))
        self._sequences = len(database)
        self._keys = hits.owners * len(database) + hits.table.target
        self._rows = np.argsort(self._keys)
        used, which = np.unique(hits.table.target, return_inverse=True)
        self._targets = targets = database.select(database.places(used).tolist())
        profile = (np.cumsum(known) - 1)[hits.owners]
        self._pairs = pairs = np.stack([profile, which], axis=1)
        self._nats = nats = made.background.lambda_ * hits.table.units.astype(np.float64)
        few = np.flatnonzero(nats < _MAX_NATS_TO_SUM)
        nats[few] = made.scores(targets, pairs[few])
        _, self.evalues = self._significance(nats, np.arange(len(nats)))

    def results(self, found: Sequence[SearchResult]) -> list[SearchResult]:
        """Return results with bit scores and E-values of Forward scores.

        Alignments, their scores and the order of hits stay the same. So do bits and E-values of
        further alignments of a target.

        Parameters
        ----------
        found : sequence of SearchResult
            Of all queries, with the alignments of some hits, in any order.

        Raises
        ------
        KeyError
            If a hit is none of the search.
        """
        changed = [
            replace(each, statistics=statistics)
            for each, statistics in zip(found, self._statistics, strict=True)
        ]
        for table, group in by_table(found):
            first = np.concatenate([np.array(found[k].listed.bounds[:-1]) for k in group])
            query = np.repeat(group, [len(found[k]) for k in group])
            some = self._rows_of(query * self._sequences + table.target[first])
            ascending = np.argsort(some)
            first, some = first[ascending], some[ascending]
            losses = self._made.losses(table.runs[first], self._targets, self._pairs[some])
            bits, evalues = table.bits.copy(), table.evalues.copy()
            bits[first], evalues[first] = self._significance(self._nats[some] - losses, some)
            with_sums = replace(table, bits=bits, evalues=evalues)
            for k in group:
                changed[k] = replace(changed[k], hits=Hits(found[k].listed.bounds, with_sums))
        return changed

    def _rows_of(self, keys: _Int64) -> _Int64:
        """Return the hits of a query and a target each, see ``_keys``."""
        at = np.searchsorted(self._keys, keys, sorter=self._rows)
        found: _Int64 = self._rows[np.minimum(at, len(self._rows) - 1)]
        if not np.array_equal(self._keys[found], keys):
            raise KeyError("sums of other hits")
        return found

    def _significance(self, nats: _Float, rows: _Int64) -> tuple[_Float, _Float]:
        """Return the bits and E-values of scores of some hits, whose numbers ascend."""
        bits, evalues = np.empty((2, len(nats)))
        lengths = self._targets.lengths[self._pairs[rows, 1]]
        bounds = pairwise(np.searchsorted(rows, self._offsets).tolist())
        for (start, stop), size, known in zip(bounds, self._sizes, self._statistics, strict=True):
            if start < stop:
                part = nats[start:stop], lengths[start:stop]
                bits[start:stop] = known.bits(*part)
                evalues[start:stop] = known.evalue(part[0], size, part[1])
        return bits, evalues


def _device_of(engine: Engine) -> Device | None:
    """Return the device of an engine if it has compute shaders."""
    if engine.capabilities.requires and engine.device.info.compute:
        return engine.device
    return None


def _bias_corrections(odds: _Float, letters: _Int64, counts: _Int64) -> _Float:
    """Return how much scores are reduced, in nats, shape (N,).

    Given the odds of aligned positions, shape (K, L), and their letters, of which each hit has so
    many, at least one.

    >>> odds = np.array([[4.0, 0.1]] * 6)
    >>> _bias_corrections(odds, np.array([0, 0, 0, 0, 1, 1]), np.array([3, 3])).round(3).tolist()
    [0.22, 0.0]
    """
    hit = np.repeat(np.arange(len(counts)), counts)
    means = np.add.reduceat(odds, offsets_of(counts)[:-1]) / counts[:, np.newaxis]
    known = letters >= 0
    logs = np.log(means)[hit[known], letters[known]]
    biased = np.bincount(hit[known], logs, minlength=len(counts))
    found: _Float = np.logaddexp(np.log1p(-_BIAS_PRIOR), np.log(_BIAS_PRIOR) + biased)
    return np.maximum(0.0, found)
