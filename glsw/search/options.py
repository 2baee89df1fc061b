"""The options of searches, for the types of functions that pass them on."""

from __future__ import annotations

from typing import TypedDict

from glsw.engines.base import Progress
from glsw.run.pool import AnyExecutor
from glsw.search.limits import Composition, Evalue, Order, Top
from glsw.sequences.query import Strand
from glsw.statistics import Method

INCLUSION, SUMS_INCLUSION = 1e-3, 5e-3
"""The E-value up to which the hits of a round make the next profile of an iterated search, of best
alignments and of sums."""


class SearchOptions(TypedDict, total=False):
    """The options of `Aligner.search`, see `glsw.search`."""

    top: Top
    min_score: float
    evalue: Evalue
    max_hsps: int | None
    strand: Strand | None
    genetic_code: int | None
    target_strand: Strand | None
    target_genetic_code: int | None
    statistics: Method
    order: Order
    composition: Composition
    progress: Progress | None
    executor: AnyExecutor | None
    skip: int


def inclusion_of(given: float | None, sums: bool) -> float:
    """Return the E-value of members that is asked for, or the usual one."""
    usual = SUMS_INCLUSION if sums else INCLUSION
    return usual if given is None else given
