"""The members of a profile in an iteration: the parts of sequences that were aligned with it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from glsw.wings.profiles.alignment import (
    GAP,
    OUTSIDE,
    letter_numbers,
    position_gaps,
    position_scores,
)
from glsw.wings.profiles.gaps import Gaps
from glsw.wings.profiles.letters import Letters
from glsw.wings.profiles.profile import Profile

INCLUSION, SUMS_INCLUSION = 1e-3, 5e-3
"""The E-value up to which hits become members, of best alignments and of sums."""
_Int64 = npt.NDArray[np.int64]


def inclusion_of(given: float | None, sums: bool) -> float:
    """Return the E-value of members that is asked for, or the usual one."""
    usual = SUMS_INCLUSION if sums else INCLUSION
    return usual if given is None else given


class Members:
    """Remembers which part of each sequence was aligned when it was first a member.

    A local alignment may run on from a homologous domain into what is not, and in the next round
    the profile has that in it. Therefore a later alignment of a member counts as far as it is
    within the part of the sequence that was aligned when it became one, as in PSI-Search (Li et al.
    2012, "PSI-Search: iterative HOE-reduced profile SSEARCH searching", Bioinformatics 28:1650;
    Gonzalez and Pearson 2010, "Homologous over-extension", Nucleic Acids Research 38:2177). And the
    fewer members reach a column, the more its scores are those of the query's letter: see
    `glsw.wings.profiles.alignment.position_scores`.

    Parameters
    ----------
    query : Profile
        Its letters are the first row of every profile.
    gaps : {"fixed", "positional"}
        As for `Profile.from_alignment`.
    """

    def __init__(self, query: Profile, gaps: Gaps = "fixed") -> None:
        self._query, self._gaps = query, gaps
        self._made = Letters(query.scoring)
        self._parts: dict[int, tuple[int, int]] = {}

    def profile(
        self, members: Iterable[tuple[int, _Int64, npt.NDArray[np.uint8]]]
    ) -> Profile | None:
        """Return the profile of the query and these members, None if there are none.

        Parameters
        ----------
        members : iterable of (int, ndarray of int64, ndarray of uint8)
            The number of a sequence, the coordinates of its alignment with the query, shape (2, K),
            see `glsw.Alignment`, and the codes of the whole sequence. The best come first.
        """
        alphabet, letters = self._query.scoring.alphabet, self._query.letters
        own = letter_numbers(alphabet.encode(letters, unknown=alphabet.wildcard), self._made)
        rows, insertions = [own], [np.zeros(len(own), bool)]
        for number, coordinates, codes in members:
            bounds = int(coordinates[0, 0]), int(coordinates[0, -1])
            start, stop = self._parts.setdefault(number, bounds)
            at, residues = aligned(coordinates)
            if not len(at):
                continue
            row = np.full(len(own), OUTSIDE, np.int8)
            row[at[0] : at[-1] + 1] = GAP
            row[at] = letter_numbers(codes[residues], self._made)
            within = (residues >= start) & (residues < stop)
            if not within.any():
                continue
            row[: at[within][0]] = row[at[within][-1] + 1 :] = OUTSIDE
            rows.append(row)
            inserted = np.zeros(len(own), bool)
            inserted[at[:-1]] = np.diff(residues) > 1
            insertions.append(inserted & (row != OUTSIDE))
        if len(rows) == 1:
            return None
        scores = position_scores(np.stack(rows), self._made, letters, of_members=True)
        query = self._query
        complete = self._made.complete(scores, letters)
        made = Profile(complete, letters, query.scoring, query.id, query.description)
        if self._gaps == "fixed":
            return made
        return made.with_gaps(position_gaps(np.stack(rows), np.stack(insertions), self._made))


def aligned(coordinates: _Int64) -> tuple[_Int64, _Int64]:
    """Return the residues of query and target that are aligned with each other.

    >>> at, residues = aligned(np.array([[1, 3, 3, 5], [3, 5, 6, 8]]))
    >>> at.tolist(), residues.tolist()
    ([3, 4, 6, 7], [1, 2, 3, 4])
    """
    steps = np.diff(coordinates)
    lengths = steps[0] * ((steps[0] > 0) & (steps[1] > 0))
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    target, query = (np.repeat(first[:-1], lengths) + inside for first in coordinates)
    return query, target
