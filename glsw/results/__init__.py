"""Results: alignments, and the hits of a search."""

from glsw.results.alignment import Alignment
from glsw.results.hits import COLUMNS, Hit, Hsp, SearchResult

__all__ = ["COLUMNS", "Alignment", "Hit", "Hsp", "SearchResult"]
