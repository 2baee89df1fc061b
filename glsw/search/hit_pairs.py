"""The pairs of hits, contexts of queries and their targets, as batches to align."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.windows import WindowScores
from glsw.search.ranking import target_numbers
from glsw.search.selection import HitLists
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences, distinct, ranges

_Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HitPairs:
    """The hits of several queries, with what their alignment needs.

    Parameters
    ----------
    hit_lists : HitLists
    database : Database
    contexts : Sequences
        The codes of the contexts of all queries, one query after the other.
    first : ndarray of int64, shape (hits,)
        The number of the first context of the query of each hit.
    counts : ndarray of int64, shape (hits,)
        The contexts of the query of each hit.
    places : ndarray of int64, shape (hits,)
        The places of the targets among the sorted sequences of the database; of translated ones
        those of the frames with the best scores.
    """

    hit_lists: HitLists
    database: Database
    contexts: Sequences
    first: _Int64
    counts: _Int64
    places: _Int64

    @classmethod
    def of(cls, hit_lists: HitLists, database: Database) -> HitPairs:
        """Return the pairs of hits."""
        offsets = hit_lists.queries.offsets
        owners = np.repeat(np.arange(len(hit_lists)), np.diff(hit_lists.offsets))
        return cls(
            hit_lists,
            database,
            hit_lists.queries.sequences,
            offsets[owners],
            np.diff(offsets)[owners],
            database.rank[target_numbers(hit_lists.hits)],
        )

    @property
    def best(self) -> _Int64:
        """The number of the context with the best score of each hit, shape (hits,)."""
        return self.first + self.hit_lists.contexts

    def sizes(self, *, best_only: bool) -> tuple[_Int64, _Int64]:
        """Return the pairs of each hit in the first round, and their residues; shapes (hits,).

        A target that several hits share counts once, as it is uploaded once.
        """
        targets = self.database.lengths[self.places]
        if best_only:
            cut = self._cuts(self.best, self.places)
            if cut is not None:
                targets = np.where(cut[:, 1] > 0, cut[:, 1] - cut[:, 0], targets)
            return np.ones_like(targets), self.contexts.lengths[self.best] + targets
        offsets = self.contexts.offsets
        queries = offsets[self.first + self.counts] - offsets[self.first]
        again = np.ones(len(self.places), bool)
        again[np.unique(self.places, return_index=True)[1]] = False
        frames = len(self.database.frames)
        return frames * self.counts, frames * (queries + self.counts * np.where(again, 0, targets))

    def pairs(self, chosen: slice, *, best_only: bool) -> tuple[_Int64, _Int64, _Int64]:
        """Return the hit, the context and the place of each pair of the first round of some hits.

        Unless it is the best one only, each context meets each frame of the target.
        """
        hits, places = np.arange(len(self.places))[chosen], self.places[chosen]
        if best_only:
            return hits, self.best[chosen], places
        counts, frames = self.counts[chosen], len(self.database.frames)
        of_context = np.repeat(np.arange(len(hits)), counts)
        contexts = ranges(self.first[chosen], counts)
        if frames > 1:
            numbers = self.database.order[places] // frames * frames
            places = self.database.rank[numbers[:, np.newaxis] + np.arange(frames)]
            pair = np.repeat(of_context, frames)
            return hits[pair], np.repeat(contexts, frames), places[of_context].ravel()
        return hits[of_context], contexts, places[of_context]

    def whole(self, places: _Int64) -> Targets:
        """Return the targets at some places, each once."""
        places = distinct(places)
        if len(places) < len(self.database):
            return Targets(self.database.select(places.tolist()), places)
        return Targets(self.database.sequences, places)

    def batch(self, contexts: _Int64, places: _Int64, targets: Targets) -> Batch:
        """Return the pairs of contexts and whole targets."""
        return Batch.indexed(
            self.contexts,
            targets.sequences,
            contexts.astype(np.int32),
            np.searchsorted(targets.places, places).astype(np.int32),
        )

    def cut(self, contexts: _Int64, places: _Int64) -> tuple[Batch, _Int64] | None:
        """Return the pairs of contexts and the columns of targets that have the best alignments.

        None if the scan has found such columns of no target. The other array has the first column
        of each pair.
        """
        bounds = self._cuts(contexts, places)
        if bounds is None:
            return None
        cut = bounds[:, 1] > 0
        database = self.database
        whole, index = np.unique(places[~cut], return_inverse=True)
        pieces = zip(places[cut].tolist(), bounds[cut].tolist(), strict=True)
        targets = Sequences.of(
            [
                *map(database.codes, whole.tolist()),
                *(database.codes(k, slice(start, stop)) for k, (start, stop) in pieces),
            ]
        )
        of_pair = np.empty(len(places), np.int32)
        of_pair[~cut], of_pair[cut] = index, len(whole) + np.arange(int(cut.sum()))
        batch = Batch.indexed(self.contexts, targets, contexts.astype(np.int32), of_pair)
        return batch, bounds[:, 0]

    def known_windows(self, targets: Targets) -> dict[tuple[int, int], WindowScores]:
        """Return the scores of windows that the scan has kept, by context and target."""
        rank, places = self.database.rank, targets.places
        known = {}
        for context, scan in enumerate(each for scans in self.hit_lists.scans for each in scans):
            for number, windows in (scan.windows or {}).items():
                target = int(np.searchsorted(places, rank[number]))
                if target < len(places) and places[target] == rank[number]:
                    known[context, target] = windows
        return known

    def _cuts(self, contexts: _Int64, places: _Int64) -> _Int64 | None:
        """Return the columns of each pair that the scan has found, shape (pairs, 2), or (0, 0)."""
        known = [each.places for scans in self.hit_lists.scans for each in scans]
        if not any(known):
            return None
        numbers = self.database.order[places].tolist()
        found = zip(contexts.tolist(), numbers, strict=True)
        nothing = 0, 0
        return np.array(
            [(known[context] or {}).get(number, nothing) for context, number in found], np.int64
        ).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Targets:
    """Sequences, and their places in the database, which ascend."""

    sequences: Sequences
    places: _Int64
