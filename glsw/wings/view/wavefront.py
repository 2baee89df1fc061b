"""The wavefront of Liu et al. 2006 (section 3), step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from glsw.engines.reference import fill
from glsw.scoring.scoring import Scoring
from glsw.wings.view.viewport import Part

MAX_RESIDUES = 256
"""Of each sequence, so that a step can be seen."""


@dataclass(frozen=True, eq=False)
class Wavefront:
    """The table of a small part, computed one anti-diagonal per pass.

    Three buffers have an anti-diagonal each and change roles cyclically: pass k writes diagonal k
    and reads k - 1 (E, F) and k - 2 (H of the aligned pair).

    Parameters
    ----------
    part : Part
    h : ndarray of int64, shape (m, n)
    k : int
        The last pass, from 0 on.
    """

    part: Part
    h: npt.NDArray[np.int64]
    k: int = 0

    @classmethod
    def of(
        cls,
        part: Part,
        query: npt.NDArray[np.uint8],
        target: npt.NDArray[np.uint8],
        scoring: Scoring,
    ) -> Wavefront:
        """Return the wavefront of the sequences of a part, before its second pass.

        >>> scoring = Scoring.match_mismatch(1, -1, 1, 1)
        >>> encode = scoring.alphabet.encode
        >>> wave = Wavefront.of(Part(0, 2, 0, 3), encode("AC"), encode("ACC"), scoring)
        >>> wave.passes, wave.h.tolist(), wave.stepped(2).diagonal(2)
        (4, [[1, 0, 0], [0, 2, 1]], [(0, 2), (1, 1)])
        >>> wave.best, wave.stepped(2).best, wave.stepped(2).roles
        (1, 2, {2: 'C', 1: 'B', 0: 'A'})
        """
        return cls(part, fill(query, target, scoring)[0][1:, 1:])

    @property
    def passes(self) -> int:
        """The number of anti-diagonals, m + n - 1."""
        return sum(self.h.shape) - 1

    @property
    def best(self) -> int:
        """The best H so far."""
        rows, columns = np.indices(self.h.shape)
        return int(self.h[rows + columns <= self.k].max(initial=0))

    @property
    def roles(self) -> dict[int, str]:
        """The buffer of each of the last three anti-diagonals."""
        return {d: "ABC"[d % 3] for d in (self.k, self.k - 1, self.k - 2) if d >= 0}

    def stepped(self, steps: int) -> Wavefront:
        """Return the wavefront some passes later, or earlier."""
        return replace(self, k=min(max(0, self.k + steps), self.passes - 1))

    def diagonal(self, k: int) -> list[tuple[int, int]]:
        """Return the cells of an anti-diagonal, rows and columns from 0 on."""
        m, n = self.h.shape
        return [(i, k - i) for i in range(max(0, k - n + 1), min(m, k + 1))]
