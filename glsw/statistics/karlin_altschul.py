"""Bits and E-values from published constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from glsw.statistics.base import Floats, Statistics, in_bits
from glsw.statistics.finite_size import expected_starts, search_space
from glsw.statistics.published_constants import Constants


@dataclass(frozen=True)
class KarlinAltschul(Statistics):
    """E-values as BLAST computes them.

    ``E = K * space * exp(-lambda S)`` and ``bits = (lambda S - ln K) / ln 2``. For proteins the
    space is that of blastp without composition-based statistics: n / n_t times the expected number
    of start positions (`glsw.statistics.finite_size.expected_starts`), where n is the number of
    residues in the database and n_t the length of the target. For nucleotides it is that of blastn
    (`glsw.statistics.finite_size.search_space`).

    Parameters
    ----------
    constants : Constants
    sequences, residues : int
        Size of the database.

    Examples
    --------
    >>> from glsw.scoring.scoring import Scoring
    >>> from glsw.statistics.published_constants import published
    >>> statistics = KarlinAltschul(published(Scoring.blast("BLOSUM62")), 4403, 1354446)
    >>> print(statistics.name)
    Karlin-Altschul, NCBI's BLOSUM62 11/1: lambda 0.267, K 0.041, H 0.14
    >>> round(statistics.bits(70, 201), 1), round(statistics.evalue(70, 218, 201), 3)
    (31.6, 0.027)
    >>> statistics.cutoff(0.027, 218, 201)
    70
    """

    constants: Constants
    sequences: int
    residues: int

    @property
    def name(self) -> str:
        """Matrix, gap costs in BLAST's convention, and constants."""
        return f"Karlin-Altschul, NCBI's {self.constants}"

    @property
    def grows_with_query(self) -> bool:
        """Whether no E-value is lower for a longer query: for proteins, by the start positions."""
        return self.constants.spread is not None

    def search_space(self, query_length: int) -> int:
        """Return the effective search space, as BLAST prints it."""
        return search_space(self.constants, query_length, self.sequences, self.residues)

    def _bits(self, score: Floats, target_length: Floats) -> Floats:
        nats = self.constants.lambda_ * score / self.constants.unit - math.log(self.constants.k)
        return in_bits(np.broadcast_to(nats, np.broadcast_shapes(nats.shape, target_length.shape)))

    def _evalue(self, score: Floats, query_length: Floats, target_length: Floats) -> Floats:
        constants = self.constants
        units = score / constants.unit
        if constants.even:
            units = 2 * np.floor(units / 2)
        if constants.spread:
            starts = expected_starts(
                units, constants, constants.spread, query_length, target_length
            )
            space = starts * self.residues / target_length
        else:
            space = self._spaces(query_length) + 0 * target_length
        found: Floats = constants.k * space * np.exp(-constants.lambda_ * units)
        return found

    def _spaces(self, query_length: Floats) -> Floats:
        lengths, at = np.unique(query_length, return_inverse=True)
        spaces = np.array([self.search_space(int(length)) for length in lengths], np.float64)
        found: Floats = spaces[at].reshape(query_length.shape)
        return found
