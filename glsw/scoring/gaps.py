"""What gaps cost, inside an alignment and at the ends of the sequences.

An *insertion* is a run of query letters opposite a gap in the target, a *deletion* one of target
letters opposite a gap in the query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class GapCost(NamedTuple):
    """What a gap of k positions costs: ``open + (k - 1) * extend``, and nothing for k = 0."""

    open: int
    extend: int

    def of(self, positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the cost of gaps of so many positions.

        >>> GapCost(12, 1).of([0, 1, 5]).tolist()
        [0, 12, 16]
        """
        k = np.asarray(positions, np.int64)
        return np.where(k > 0, self.open + (k - 1) * self.extend, 0)


FREE = GapCost(0, 0)


class EndGaps(NamedTuple):
    """What gaps before the first and behind the last letter of a sequence cost.

    With these an alignment takes both sequences from end to end: global, or semi-global where
    some of them are free.

    Parameters
    ----------
    left_insertion, left_deletion : GapCost
        Of query letters before the first target letter, and of target letters before the first
        query letter.
    right_insertion, right_deletion : GapCost
        Of query letters behind the last target letter, and of target letters behind the last query
        letter.
    """

    left_insertion: GapCost = FREE
    left_deletion: GapCost = FREE
    right_insertion: GapCost = FREE
    right_deletion: GapCost = FREE

    def turned(self) -> EndGaps:
        """Return the costs when query and target change places."""
        return EndGaps(
            self.left_deletion, self.left_insertion, self.right_deletion, self.right_insertion
        )

    def left(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return H in column 0, of rows that many query letters down."""
        return -self.left_insertion.of(rows)

    def above(self, columns: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return H in row 0, of columns that many target letters on."""
        return -self.left_deletion.of(columns)

    def behind(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return what is added where so many rows and columns are left; one of both is 0."""
        return -(self.right_insertion.of(rows) + self.right_deletion.of(columns))
