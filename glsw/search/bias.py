"""E-values of hits of profiles, less what the composition of their aligned part explains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glsw.profiles.letters import Letters
from glsw.profiles.members import aligned
from glsw.profiles.profile import Profile
from glsw.results import Hits, SearchResult
from glsw.sequences.database import Database

_PRIOR = 1 / 256
"""How probable a part of biased composition is beforehand, as in HMMER3."""


def corrected(result: SearchResult, profile: Profile, database: Database) -> SearchResult:
    """Return a result with bit scores and E-values corrected for biased compositions.

    A part of a target may score high because of its composition alone, such as many cysteines with
    a profile of proteins that have many. The second null model of HMMER says so: the aligned part
    has the mean frequencies of the aligned positions in any order. Of a residue x its odds are
    the mean of exp(lambda s(x)) over these positions, and r is their product over the aligned
    residues. Both null models together, the second with a probability of 1/256, take
    ln(255/256 + r / 256) / lambda off a score, if that is more than 0 (Eddy 2011, PLoS Comput.
    Biol. 7:e1002195, and HMMER's guide). Bits and E-values are those of the score that is left;
    alignments, their scores and the order of hits stay. So does everything if the profile has the
    scores of its own letters in the matrix: it is a sequence then.

    Parameters
    ----------
    result : SearchResult
        Of a search with ``profile``, with E-values.
    profile : Profile
    database : Database
        That was searched.
    """
    listed, statistics = result.listed, result.statistics
    if not len(listed) or statistics is None or not statistics.available:
        return result
    table, made, scoring = listed.table, Letters(profile.scoring), profile.scoring
    own = scoring.alphabet.encode(profile.letters, unknown=scoring.alphabet.wildcard)
    if np.array_equal(profile.scores[:, made.codes], scoring.matrix[np.ix_(own, made.codes)]):
        return result
    bits, evalues = table.bits.copy(), table.evalues.copy()
    of_code = np.full(len(scoring.alphabet), -1)
    of_code[made.codes] = np.arange(len(made.codes))
    odds = np.exp(made.lambda_ * profile.scores[:, made.codes])
    for row in range(listed.rows.start, listed.rows.stop):
        codes = database.codes(int(database.rank[int(table.target[row])]))
        at, residues = aligned(table.runs.coordinates(row))
        loss = _loss(odds[at], of_code[codes[residues]]) / made.lambda_
        if loss > 0:
            score = float(table.units[row]) - loss
            bits[row] = statistics.bits(score, len(codes))
            evalues[row] = statistics.evalue(score, len(profile), len(codes))
    changed = replace(table, bits=bits, evalues=evalues)
    return replace(result, hits=Hits(listed.bounds, changed))


def _loss(odds: npt.NDArray[np.float64], letters: npt.NDArray[np.int64]) -> float:
    """Return the correction of a score in nats, given the odds of positions, shape (K, L).

    >>> odds = np.array([[4.0, 0.1], [4.0, 0.1], [4.0, 0.1]])
    >>> round(_loss(odds, np.array([0, 0, 0])), 3), _loss(odds, np.array([0, 1, 1]))
    (0.22, 0.0)
    """
    known = letters[letters >= 0]
    biased = float(np.log(odds.mean(axis=0))[known].sum()) if len(known) else 0.0
    return max(0.0, float(np.logaddexp(np.log1p(-_PRIOR), np.log(_PRIOR) + biased)))
