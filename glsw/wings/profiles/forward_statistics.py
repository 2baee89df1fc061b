"""Bits and E-values of Forward scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from glsw.statistics.base import Floats, Statistics, in_bits


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
