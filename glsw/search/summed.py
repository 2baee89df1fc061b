"""E-values of hits from the sums over their alignments, less what compositions explain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glsw.profiles.letters import Letters
from glsw.profiles.members import aligned
from glsw.profiles.profile import Profile
from glsw.profiles.sums import Sums
from glsw.results import Hits, SearchResult
from glsw.sequences.database import Database
from glsw.statistics.summed import Summed

CANDIDATES = 100.0
"""E-value of the best alignment within which sums are computed."""
_PRIOR = 1 / 256
"""How probable a part of biased composition is beforehand, as in HMMER3."""
_CERTAIN = 200.0
"""Nats of a best alignment that is as good as the sum."""


def summed(result: SearchResult, profile: Profile, database: Database) -> SearchResult:
    """Return a result with bit scores and E-values of the sums over all alignments of each hit.

    A distant relative often has many alignments that are nearly as good as the best one, an
    unrelated sequence has few: see `glsw.profiles.sums.Sums`. Where the best alignment alone has
    200 nats, it stands for the sum.

    A part of a target may score high because of its composition alone, such as many cysteines with
    a profile of proteins that have many. The second null model of HMMER says so: the aligned part
    has the mean frequencies of the aligned positions in any order. Of a residue x its odds are
    the mean of exp(lambda s(x)) over these positions, and r is their product over the residues of
    the best alignment. Both null models together, the second with a probability of 1/256, take
    ln(255/256 + r / 256) off, if that is more than 0 (Eddy 2011, PLoS Comput. Biol. 7:e1002195, and
    HMMER's guide).

    Alignments, their scores and the order of hits stay, and so do bits and E-values of further
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
    listed, sums, made = result.listed, Sums(profile), Letters(profile.scoring)
    statistics = Summed(sums.k, len(database))
    if not len(listed):
        return replace(result, statistics=statistics)
    table, first = listed.table, np.array(listed.bounds[:-1], np.int64)
    targets = [database.codes(int(database.rank[each])) for each in table.target[first].tolist()]
    scores = (made.lambda_ * table.units[first]).astype(np.float64)
    some = np.flatnonzero(scores < _CERTAIN)
    scores[some] = sums.scores([targets[k] for k in some.tolist()])
    of_code = np.full(len(profile.scoring.alphabet), -1)
    of_code[made.codes] = np.arange(len(made.codes))
    odds = np.exp(made.lambda_ * profile.scores[:, made.codes])
    for k, row in enumerate(first.tolist()):
        at, residues = aligned(table.runs.coordinates(row))
        scores[k] -= _loss(odds[at], of_code[targets[k][residues]])
    lengths = np.array([len(each) for each in targets])
    bits, evalues = table.bits.copy(), table.evalues.copy()
    bits[first] = statistics.bits(scores, lengths)
    evalues[first] = statistics.evalue(scores, len(profile), lengths)
    changed = replace(table, bits=bits, evalues=evalues)
    return replace(result, hits=Hits(listed.bounds, changed), statistics=statistics)


def _loss(odds: npt.NDArray[np.float64], letters: npt.NDArray[np.int64]) -> float:
    """Return the correction of a score in nats, given the odds of positions, shape (K, L).

    >>> odds = np.array([[4.0, 0.1], [4.0, 0.1], [4.0, 0.1]])
    >>> round(_loss(odds, np.array([0, 0, 0])), 3), _loss(odds, np.array([0, 1, 1]))
    (0.22, 0.0)
    """
    known = letters[letters >= 0]
    biased = float(np.log(odds.mean(axis=0))[known].sum()) if len(known) else 0.0
    return max(0.0, float(np.logaddexp(np.log1p(-_PRIOR), np.log(_PRIOR) + biased)))
