"""Statistics of local alignment scores: bits and E-values.

`for_search` selects NCBI's published Karlin-Altschul constants if they exist for matrix and gap
costs (`published`), otherwise a fit to the score distribution of the search (`fit`), or none, with
the reason.
"""

from __future__ import annotations

from typing import Literal, get_args

from glsw.scoring.scoring import Scoring
from glsw.statistics.base import Statistics, Unavailable
from glsw.statistics.fitted import Fit, Fitted, ScoreHistogram, fit
from glsw.statistics.karlin_altschul import KarlinAltschul
from glsw.statistics.published_constants import Constants, costs_published_for, published
from glsw.statistics.ungapped_constants import Ungapped, check, ungapped, ungapped_lambda

__all__ = [
    "METHODS",
    "Constants",
    "Fit",
    "Fitted",
    "KarlinAltschul",
    "Method",
    "ScoreHistogram",
    "Statistics",
    "Unavailable",
    "Ungapped",
    "fit",
    "for_search",
    "histogram_for",
    "published",
    "ungapped",
]

Method = Literal["auto", "karlin-altschul", "fit", "none"]

METHODS: tuple[Method, ...] = get_args(Method)


def histogram_for(scoring: Scoring, method: Method = "auto") -> ScoreHistogram | None:
    """Return an empty histogram if the method needs the scores of a search, else None.

    Raises
    ------
    ValueError
        If the method is unknown, or "fit" and no local statistics exist.

    Examples
    --------
    >>> histogram_for(Scoring.blast("BLOSUM62")) is None
    True
    >>> histogram_for(Scoring.blast("BLOSUM62", 5, 3)).width
    1
    """
    _check_method(method)
    scoring = scoring.letters
    if method == "fit":
        return ScoreHistogram.of(scoring)
    if method == "auto" and _reason(scoring) is None and published(scoring) is None:
        return ScoreHistogram.of(scoring)
    return None


def for_search(
    scoring: Scoring,
    query_length: int,
    database_sequences: int,
    database_residues: int,
    histogram: ScoreHistogram | None = None,
    method: Method = "auto",
) -> Statistics:
    """Return the statistics of the scores of one query against one database.

    Parameters
    ----------
    scoring : Scoring
        Of a profile, the statistics are those of the matrix under it, as in PSI-BLAST: its scores
        are expected in that matrix' units.
    query_length : int
        Residues of the query; of a translated query, of the longest frame.
    database_sequences, database_residues : int
        Size of the database.
    histogram : ScoreHistogram, optional
        The best scores of all sequences, or of an unbiased sample, for a fit.
    method : {"auto", "karlin-altschul", "fit", "none"}
        ``auto`` uses published constants if they exist for the scoring, else a fit if there are
        enough scores, else returns `Unavailable` with the reason.

    Raises
    ------
    ValueError
        If the method is unknown or, unless it is ``auto``, not possible.

    Examples
    --------
    >>> print(for_search(Scoring.blast("BLOSUM62"), 218, 4403, 1354446).name)
    Karlin-Altschul, NCBI's BLOSUM62 11/1: lambda 0.267, K 0.041, H 0.14
    >>> print(for_search(Scoring.match_mismatch(3, -1, 5, 2), 218, 4403, 1354446).name)
    none: no local statistics exist: the expected score of two random residues is +0 (must be \
negative)
    """
    _check_method(method)
    scoring = scoring.letters
    if method == "none":
        return Unavailable("not asked for")
    try:
        check(scoring)
        constants = published(scoring) if method != "fit" else None
        if constants:
            return KarlinAltschul(constants, database_sequences, database_residues)
        if method == "karlin-altschul":
            raise ValueError(_unpublished(scoring))
        scores = ScoreHistogram.of(scoring) if histogram is None else histogram
        found = fit(scores, ungapped_lambda(scoring))
    except ValueError as error:
        if method != "auto":
            raise
        return Unavailable(str(error))
    return Fitted(
        found,
        query_length,
        database_sequences,
        database_residues,
        nucleotides=scoring.alphabet.nucleotides,
        scale=scoring.scale,
    )


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise ValueError(f"unknown statistics {method!r}; there are {', '.join(METHODS)}")


def _reason(scoring: Scoring) -> str | None:
    """Return why no statistics exist, None if they do."""
    try:
        check(scoring)
    except ValueError as error:
        return str(error)
    return None


def _unpublished(scoring: Scoring) -> str:
    known = costs_published_for(scoring)
    if known is None:
        return f"no Karlin-Altschul constants are published for {scoring.name}"
    name, costs = known
    opening = (scoring.gap_open - scoring.gap_extend) / scoring.scale
    extension = scoring.gap_extend / scoring.scale
    return (
        f"no Karlin-Altschul constants are published for {name} with gapopen {opening:g} and "
        f"gapextend {extension:g}; there are {', '.join(costs)}"
    )
