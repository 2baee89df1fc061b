"""Results: alignments, and the hits of a search."""

from glsw.results.alignment import Alignment
from glsw.results.columns import COLUMNS
from glsw.results.hits import Hit, Hits, Hsp, SearchResult
from glsw.results.hsp_table import HspTable
from glsw.results.pair_alignments import PairAlignments

__all__ = [
    "COLUMNS",
    "Alignment",
    "Hit",
    "Hits",
    "Hsp",
    "HspTable",
    "PairAlignments",
    "SearchResult",
]
