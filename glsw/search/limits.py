"""The limits of a search: which hits, and which of their alignments, a result lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from glsw import caller
from glsw.options import (
    COUNT,
    EVALUES,
    ORDERS,
    Evalue,
    HitOptions,
    Order,
    complete,
    marked,
    ranges_of,
)
from glsw.scoring.scoring import Scoring
from glsw.search.ranking import Ranking
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import Record
from glsw.statistics import Method, for_search, histogram_for
from glsw.statistics.least_scores import least_scores
from glsw.words import visible

if TYPE_CHECKING:
    from typing_extensions import Unpack

ONE_ALIGNMENT = "as an alignment without free ends contains all of both sequences"
"""Why there are no further alignments in some modes."""
DEFAULT_EVALUE = 10.0
"""The largest E-value of hits unless one is given, where there are E-values."""
SIGNIFICANT = 1e-3
"""The largest E-value of further alignments of which results say that they are not listed."""
DEFAULT_TOP = 500
"""The most hits unless their number or an E-value is given."""


class Limits(NamedTuple):
    """The hits and alignments that a result lists, see also `HitOptions`.

    Parameters
    ----------
    ranking : Ranking
        Maximum number of hits to align, and the least score of hits and of their further
        alignments.
    top : int or None
        Maximum number of hits that are listed; that to align is none if alignments are filtered.
    filters : bool
        Whether they are: by their identity or coverage.
    evalue : float, optional
        Largest E-value of hits and of their further alignments.
    assumed : bool
        Whether nobody asked for it: queries without statistics have hits of any score then.
    endless : bool
        Whether nothing but E-values ends the alignments of a hit.
    strict : bool
        Whether a query without the required statistics is an error; otherwise it is a warning.
    """

    ranking: Ranking
    evalue: float | None = None
    assumed: bool = False
    max_hsps: int | None = 1
    per_part: bool = False
    statistics: Method = "auto"
    order: Order = "score"
    min_identity: float = 0
    min_coverage: float = 0
    top: int | None = None
    filters: bool = False
    endless: bool = False
    strict: bool = True

    @property
    def by_part(self) -> bool:
        """Whether alignments are counted by part: several, if anything tells them from chance."""
        ends = self.evalue is not None or self.ranking.min_score > 1
        return self.per_part and ends and self.max_hsps not in (1, None)

    @property
    def needs_statistics(self) -> bool:
        """Whether E-values decide which hits there are."""
        return self.evalue is not None or self.order == "evalue"

    @property
    def requires_statistics(self) -> bool:
        """Whether a query without statistics has no hits."""
        return self.needs_statistics and (self.order == "evalue" or not self.assumed)

    def looks_further(self, scoring: Scoring) -> bool:
        """Tell whether hits that have their maximum number of alignments are looked at again."""
        letters = scoring.alphabet.nucleotides and not scoring.wide_queries
        return letters and scoring.local and not self.by_part and self.max_hsps is not None

    def scan_ranking(self, scoring: Scoring, queries: Sequences, database: Database) -> Ranking:
        """Return the ranking of a scan that keeps all hits within the limits.

        With an E-value the scan keeps all targets that can have it, by score if statistics are
        known beforehand; the best of those with the E-value are selected later. If E-values sort
        hits, it keeps all: a lower score may have a lower E-value.
        """
        keeps = self.max_hsps != 1 or self.looks_further(scoring)
        ranking = self.ranking._replace(keeps_windows=keeps)
        if ranking.top is not None:  # of frames: the best one of each target is among them
            ranking = ranking._replace(top=ranking.top * len(database.frames))
        if not self.needs_statistics:
            return ranking
        ranking = ranking._replace(top=None)
        if self.evalue is None or ranking.bin_width is not None or not len(queries):
            return ranking
        longest = queries.longest
        statistics = for_search(scoring, longest, *database.size, method=self.statistics)
        targets = database.lengths[::-1]  # ascending
        floors = least_scores(statistics, self.evalue, queries.lengths, targets, scoring)
        return ranking._replace(floors=floors, keeps_few=self.evalue <= DEFAULT_EVALUE)

    def missing_statistics(self, query: Record, reason: str) -> None:
        """Raise ValueError if the query is the only one, else warn."""
        if self.strict:
            raise ValueError(f"query {visible(query.id)}: {reason}")
        consequence = "; it has no hits" if self.requires_statistics else ""
        caller.warn(f"query {visible(query.id)}: {reason}{consequence}", RuntimeWarning)


def limits_for(scoring: Scoring, **options: Unpack[HitOptions]) -> Limits:
    """Return the limits of a search, given numbers in units of the matrix.

    Raises
    ------
    TypeError, ValueError
        If a limit is invalid or cannot apply: an E-value without statistics for the scoring, all
        alignments of a hit if neither an E-value nor a score ends them.
    """
    settings = complete("limits_for", HitOptions, options)
    assumed = settings["evalue"] == "auto"
    if settings["top"] == "auto":
        settings["top"] = DEFAULT_TOP if assumed else None
    for name, within in ranges_of(HitOptions).items():
        within.check(name, settings[name])
    settings |= {name: settings[name] and int(settings[name]) for name in marked(HitOptions, COUNT)}
    min_score, evalue = settings["min_score"], evalue_of(settings["evalue"])
    filters = bool(settings["min_identity"] or settings["min_coverage"])
    top = None if filters else settings["top"]
    ranking = Ranking(top, max(1, float(min_score) * scoring.scale))
    named = {name: settings[name] for name in Limits._fields if name in settings}
    limits = Limits(ranking, **{**named, "evalue": evalue, "assumed": assumed, "filters": filters})
    order, statistics = limits.order, limits.statistics
    if order not in ORDERS:
        raise ValueError(f"order {order!r}: {' or '.join(ORDERS)} expected")
    wanted = None if evalue is None or assumed else f"evalue {evalue:g}"
    if order == "evalue":
        wanted = wanted or "order 'evalue'"
    counted = histogram_for(scoring, statistics)
    if not scoring.local:
        if limits.max_hsps != 1 and not scoring.several:
            raise ValueError(f"max_hsps {limits.max_hsps}: 1 expected, {ONE_ALIGNMENT}")
        if wanted or statistics not in ("auto", "none"):
            raise ValueError("E-values exist for local alignments only")
        if min_score < 0:
            raise ValueError(f"min_score {min_score}: a search lists positive scores only")
    if wanted:
        if statistics == "none":
            raise ValueError(f"{wanted}: statistics are 'none'")
        histogram_for(scoring, "fit")  # an error if there are none
    if statistics == "karlin-altschul":
        for_search(scoring, 1, 1, 1, method=statistics)
    none = counted is None and not for_search(scoring, 1, 1, 1, method=statistics).available
    if assumed and none:
        evalue = None
    endless = limits.max_hsps is None and not min_score > 1
    if endless and evalue is None:
        raise ValueError(
            "max_hsps None: min_score expected, nothing else ends the alignments of a hit "
            "without E-values"
            if none
            else "max_hsps None: evalue or min_score expected, nothing else ends the alignments of "
            "a hit"
        )
    width = None if counted is None else counted.width
    ranking = ranking._replace(bin_width=width)
    return limits._replace(ranking=ranking, evalue=evalue, endless=endless)


def evalue_of(given: Evalue) -> float | None:
    """Return the largest E-value of hits, None if it is any.

    Raises
    ------
    TypeError, ValueError
        If it is none.

    >>> evalue_of("auto"), evalue_of(1e-3), evalue_of(math.inf)
    (10.0, 0.001, None)
    """
    if given == "auto":
        return DEFAULT_EVALUE
    if given is None or given == math.inf:
        return None
    EVALUES.check("evalue", given)
    return float(given)
