"""Arbitrary pairs in engine ``lanes``: each target has its own query, and there are no profiles.

Instead, shared memory has the scores of the letters that occur: with floats of each letter with
each two that may follow one another in a query; where there is no room for these, scores are
integers. `glsw.engines.lanes.pair_plan` lays out the pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.answers import check_highest, highest
from glsw.engines.base import ignore
from glsw.engines.gl import Binding
from glsw.engines.lanes.buffers import Bindable, Section
from glsw.engines.lanes.geometry import INT32, LIMIT
from glsw.engines.lanes.jobs import WorkGroups
from glsw.engines.lanes.pair_plan import Share, shares_of
from glsw.engines.lanes.targets import (
    COLUMNS,
    GROUPS,
    OWN_QUERIES,
    QUERY_PROFILE,
    QUERY_WORDS,
    SCORES,
    SLOTS,
)
from glsw.sequences.encoded import Sequences

if TYPE_CHECKING:
    import moderngl

    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MIN_PAIRS_PER_QUERY = 256  # from which on each query is computed with all of its targets
_SLOT_BYTES = 8


def computes_own_queries(pairs: int, queries: int) -> bool:
    """Tell whether hardware computes pairs of so many queries together, without profiles."""
    return queries > 1 and pairs < _MIN_PAIRS_PER_QUERY * queries


def scores_of_pairs(
    engine: Lanes, batch: Batch, number: int, progress: Progress
) -> npt.NDArray[np.int32]:
    """Return the best local score of each pair, shape (N,), see `OwnQueries`."""
    return OwnQueries(engine, batch, shares_of(engine, batch, number), progress).begun().scores()


def scores_of_each(
    engine: Lanes, batches: Iterable[Batch], progress: Progress
) -> Iterator[npt.NDArray[np.int32]]:
    """Yield the scores of batches; one is uploaded while the device computes the one before."""
    current: OwnQueries | None = None
    for batch in batches:
        shares = engine.prepared.pop(batch, None)
        if shares is None:
            shares = shares_of(engine, batch, engine.geometries.number)
        following = OwnQueries(engine, batch, shares, progress, current)
        if current is not None:
            yield current.scores()
        current = following.begun()
    if current is not None:
        yield current.scores()


@dataclass(frozen=True, eq=False)
class PairJob(WorkGroups):
    """Pairs of one kind, with what they need at its bindings; buffers are shared by many of them.

    Parameters
    ----------
    bound : list of (Binding, Buffer or Section)
    """

    bound: list[tuple[Binding, Bindable]]

    def bind(self) -> None:
        """Bind all that it needs."""
        for binding, buffer in self.bound:
            buffer.bind_to_storage_buffer(binding.number)


class OwnQueries:
    """Pairs that are computed together, with buffers of their own on the device.

    Parameters
    ----------
    engine : Lanes
    batch : Batch
        Of pairs whose targets lanes can take.
    shares : list of Share
        What `shares_of` returns for them. Pairs whose scores floats do not hold are computed again
        in int32.
    progress : callable
        As in `Engine.best`.
    before : OwnQueries, optional
        Pairs that are being computed: letters of the same sequences are not uploaded again.
    """

    def __init__(
        self,
        engine: Lanes,
        batch: Batch,
        shares: list[Share],
        progress: Progress,
        before: OwnQueries | None = None,
    ) -> None:
        self._engine, self._batch, self._shares = engine, batch, shares
        self._progress = progress
        self._slices: Iterator[None] = iter(())
        self._letters = {
            sequences: (before and before._handed_on(sequences))
            or engine.buffer_of(sequences.residues, pooled=True)
            for sequences in dict.fromkeys(batch.sequences)
        }
        self._own_letters = list(self._letters.values())
        self._used: list[moderngl.Buffer] = []
        self._scores: list[tuple[moderngl.Buffer, int]] = []
        self._jobs = [job for share in shares for job in self._jobs_of(share)]

    def _handed_on(self, sequences: Sequences) -> moderngl.Buffer | None:
        """Return the buffer of the letters of sequences, which others give back to the pool."""
        letters = self._letters.get(sequences)
        self._own_letters = [each for each in self._own_letters if each is not letters]
        return letters

    def begun(self) -> OwnQueries:
        """Queue the first slice of time, and return this."""
        self._slices = self._engine.slices_of(self._jobs, self._progress)
        next(self._slices, None)
        return self

    def scores(self) -> npt.NDArray[np.int32]:
        """Return the best local score of each pair, shape (N,), when the device has done all."""
        engine = self._engine
        for _ in self._slices:
            pass
        places = np.zeros(len(self._batch) + 1, np.int32)
        contents = engine.reading_of(self._scores, self._used)()
        for share, content in zip(self._shares, contents, strict=True):
            places[share.order] = content.view(np.int32)
        found = places[:-1]  # behind it are scores of places without a pair
        engine.pool.give(self._own_letters)
        floats = any(share.parts[0].kind.geometry.number != INT32 for share in self._shares)
        most = highest(found)
        if floats and most >= LIMIT:
            high = np.flatnonzero(found >= LIMIT)
            again = self._batch.select(high).compact()
            found[high] = scores_of_pairs(engine, again, INT32, ignore)
            most = highest(found)
        check_highest(engine, most, *self._batch.extent[1].tolist())
        return found

    def _jobs_of(self, share: Share) -> Iterator[PairJob]:
        """Upload a share, have its letters packed, and make room for scores."""
        engine = self._engine
        engine.prove(part.kind.geometry for part in share.parts)
        content = engine.buffer_of(share.content, pooled=True)
        sections = [Section(content, *bounds) for bounds in share.bounds]
        table, query_slots, target_slots, query_places, target_places, *borders = sections
        geometry = share.parts[0].kind.geometry
        table.bind_to_storage_buffer(QUERY_PROFILE.number)
        sides = (query_slots, query_places), (target_slots, target_places)
        words = [engine.buffer(4 * count, pooled=True) for count in share.words]
        for sequences, side, packed in zip(self._batch.sequences, sides, words, strict=True):
            engine.pack_letters(geometry, share.slots, *side, self._letters[sequences], packed)
        size = 4 * geometry.results
        scores = Section(engine.buffer(size * share.slots, pooled=True), 0, size * share.slots)
        self._scores.append((scores.buffer, scores.size))
        self._used += [content, *words, scores.buffer]
        for part, border in zip(share.parts, borders, strict=True):
            (geometry, strips, _), columns = part.kind, part.border_columns
            places = _SLOT_BYTES * part.first, _SLOT_BYTES * part.slots
            yield PairJob(
                geometry=geometry,
                groups=1,
                strips=strips,
                border_columns=columns,
                cells=columns * geometry.targets * strips * geometry.strip,
                useful=part.useful,
                bound=[
                    (QUERY_PROFILE, table),
                    (OWN_QUERIES, query_slots.part(*places)),
                    (QUERY_WORDS, words[0]),
                    (SLOTS, target_slots.part(*places)),
                    (COLUMNS, words[1]),
                    (GROUPS, border),
                    (SCORES, scores.part(size * part.first, size * part.slots)),
                ],
            )
