"""E-values of hits from Forward scores, corrected for biased compositions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glsw.alignment.hits import Hits, SearchResult
from glsw.sequences.database import Database
from glsw.wings.profiles.forward import ForwardScores
from glsw.wings.profiles.forward_statistics import ForwardStatistics
from glsw.wings.profiles.letters import Letters
from glsw.wings.profiles.members import aligned
from glsw.wings.profiles.profile import Profile

MAX_CANDIDATE_EVALUE = 100.0
"""Forward scores are computed for targets whose best alignment has at most this E-value."""
_BIAS_PRIOR = 1 / 256
"""Prior probability of a biased composition, as in HMMER3."""
_MAX_NATS_TO_SUM = 200.0
"""A best alignment of more nats stands for the sum."""


def with_forward_scores(result: SearchResult, profile: Profile, database: Database) -> SearchResult:
    """Return a result with bit scores and E-values of Forward scores.

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
    result : SearchResult
        Of a search with ``profile``, with E-values.
    profile : Profile
        Of amino acids.
    database : Database
        That was searched.

    Raises
    ------
    ValueError
        If the letters are no amino acids.
    """
    listed, sums, made = result.listed, ForwardScores(profile), Letters(profile.scoring)
    statistics = ForwardStatistics(sums.k, len(database))
    if not len(listed):
        return replace(result, statistics=statistics)
    table, first = listed.table, np.array(listed.bounds[:-1], np.int64)
    targets = [database.codes(int(database.rank[each])) for each in table.target[first].tolist()]
    scores = (made.lambda_ * table.units[first]).astype(np.float64)
    some = np.flatnonzero(scores < _MAX_NATS_TO_SUM)
    scores[some] = sums.scores([targets[k] for k in some.tolist()])
    of_code = np.full(len(profile.scoring.alphabet), -1)
    of_code[made.codes] = np.arange(len(made.codes))
    odds = sums.odds[:, made.codes]
    for k, row in enumerate(first.tolist()):
        at, residues = aligned(table.runs.coordinates(row))
        scores[k] -= _bias_correction(odds[at], of_code[targets[k][residues]])
    lengths = np.array([len(each) for each in targets])
    bits, evalues = table.bits.copy(), table.evalues.copy()
    bits[first] = statistics.bits(scores, lengths)
    evalues[first] = statistics.evalue(scores, len(profile), lengths)
    changed = replace(table, bits=bits, evalues=evalues)
    return replace(result, hits=Hits(listed.bounds, changed), statistics=statistics)


def _bias_correction(odds: npt.NDArray[np.float64], letters: npt.NDArray[np.int64]) -> float:
    """Return how much a score is reduced, in nats, given the odds of positions, shape (K, L).

    >>> odds = np.array([[4.0, 0.1], [4.0, 0.1], [4.0, 0.1]])
    >>> [round(_bias_correction(odds, np.array(each)), 3) for each in ([0, 0, 0], [0, 1, 1])]
    [0.22, 0.0]
    """
    known = letters[letters >= 0]
    biased = float(np.log(odds.mean(axis=0))[known].sum()) if len(known) else 0.0
    return max(0.0, float(np.logaddexp(np.log1p(-_BIAS_PRIOR), np.log(_BIAS_PRIOR) + biased)))
