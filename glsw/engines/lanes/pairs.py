"""Arbitrary pairs in engine ``lanes``: each target has its own query, and there are no profiles.

Instead, shared memory has the scores of the letters that occur: with floats of each letter with
each two that may follow one another in a query; where there is no room for these, scores are
integers. Pairs are grouped by the rows and strips of their queries, and sorted by the lengths of
their targets, so that the lanes of a work group have equal work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.engines.base import ignore
from glsw.engines.lanes.geometry import INT32, LIMIT, Geometry
from glsw.engines.lanes.jobs import Job
from glsw.engines.lanes.query_profile import PADDING
from glsw.engines.lanes.targets import QUERY_PROFILE, PackedTargets, Targets
from glsw.sequences.encoded import Sequences, run_or_all

if TYPE_CHECKING:
    import moderngl

    from glsw.engines.base import Progress
    from glsw.engines.lanes.engine import Lanes

_MIN_PAIRS_PER_QUERY = 256  # from which on each query is computed with all of its targets
_USUAL_LETTERS = 20
_CODES = 256
_SHORT_KEYS = 2**15


def computes_own_queries(pairs: int, queries: int) -> bool:
    """Tell whether hardware computes pairs of so many queries together, without profiles."""
    return queries > 1 and pairs < _MIN_PAIRS_PER_QUERY * queries


def scores_of_pairs(
    engine: Lanes, batch: Batch, number: int, progress: Progress
) -> npt.NDArray[np.int32]:
    """Return the best local score of each pair, shape (N,), see `OwnQueries`."""
    return OwnQueries(engine, batch, number, progress).begun().scores()


def scores_of_each(
    engine: Lanes, batches: Iterable[Batch], progress: Progress
) -> Iterator[npt.NDArray[np.int32]]:
    """Yield the scores of batches; one is uploaded while the device computes the one before."""
    current: OwnQueries | None = None
    for batch in batches:
        prepared = OwnQueries(engine, batch, engine.geometries.number, progress, current)
        if current is not None:
            yield current.scores()
        current = prepared.begun()
    if current is not None:
        yield current.scores()


class OwnQueries:
    """Pairs that are computed together, with buffers of their own on the device.

    Parameters
    ----------
    engine : Lanes
    batch : Batch
        Of pairs whose targets lanes can take.
    number : int
        Type of the scores: pairs that it does not hold are computed again in int32.
    progress : callable
        As in `Engine.best`.
    before : OwnQueries, optional
        Pairs that are being computed: letters of the same sequences are not uploaded again.
    """

    def __init__(
        self,
        engine: Lanes,
        batch: Batch,
        number: int,
        progress: Progress,
        before: OwnQueries | None = None,
    ) -> None:
        self._engine, self._batch, self._progress = engine, batch, progress
        self._slices: Iterator[None] = iter(())
        codes = _used_codes(batch)
        self._letters = {
            sequences: (before and before._handed_on(sequences))
            or engine.buffer_of(sequences.residues, pooled=True)
            for sequences in dict.fromkeys(batch.sequences)
        }
        self._others = list(self._letters.values())
        tables: dict[int, moderngl.Buffer] = {}
        self._jobs = []
        for geometry, strips, pairs in _kinds(engine, batch, number, len(codes)):
            if geometry.number not in tables:
                words = _letter_scores(engine, codes, geometry)
                tables[geometry.number] = engine.buffer_of(words, pooled=True)
            self._jobs.append(self._job(pairs, geometry, strips, tables[geometry.number]))
        self._others += tables.values()

    def _handed_on(self, sequences: Sequences) -> moderngl.Buffer | None:
        """Return the buffer of the letters of sequences, which others give back to the pool."""
        letters = self._letters.get(sequences)
        self._others = [each for each in self._others if each is not letters]
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
        found = np.zeros(len(self._batch), np.int32)
        for job, scores in zip(self._jobs, engine.scores_of(self._jobs), strict=True):
            found[job.targets.positions] = scores[0]
        engine.pool.give(self._others)
        floats = any(job.geometry.number != INT32 for job in self._jobs)
        if floats and found.max(initial=0) >= LIMIT:
            high = np.flatnonzero(found >= LIMIT)
            again = self._batch.select(high).compact()
            found[high] = scores_of_pairs(engine, again, INT32, ignore)
        return found

    def _job(
        self,
        pairs: npt.NDArray[np.intp],
        geometry: Geometry,
        strips: int,
        table: moderngl.Buffer,
    ) -> Job:
        """Pack the targets of pairs, tell the device their queries, and make room for scores."""
        engine, batch = self._engine, self._batch
        whole = len(pairs) == len(batch) and isinstance(run_or_all(pairs), slice)
        numbers = batch.runs if whole else [column[pairs] for column in batch.index.T]
        queries, targets = (
            Targets(pairs, each.offsets[:-1][number], each.lengths[number])
            for each, number in zip((batch.queries, batch.targets), numbers, strict=True)
        )
        table.bind_to_storage_buffer(QUERY_PROFILE.number)
        own = self._packed(queries, geometry, self._letters[batch.queries])
        packed = self._packed(targets, geometry, self._letters[batch.targets])
        border_columns = packed.border_columns(geometry)
        return Job(
            queries=1,
            groups=1,
            targets=targets,
            geometry=geometry,
            packed=packed,
            strips=strips,
            strip_size=0,
            border_columns=border_columns,
            cells=border_columns * geometry.targets * strips * geometry.strip,
            useful=int(queries.lengths @ targets.lengths),
            profile=table,
            borders=engine.buffer_of(border_columns.astype(np.uint32), pooled=True),
            scores=engine.buffer(4 * packed.results(geometry), pooled=True),
            own_queries=own,
        )

    def _packed(self, side: Targets, geometry: Geometry, letters: moderngl.Buffer) -> PackedTargets:
        """Pack the queries or the targets of pairs; others of the pool have their places."""
        packed, places = self._engine.packed(side, geometry, letters, pooled=True)
        self._others.append(places)
        return packed


def _used_codes(batch: Batch) -> list[int]:
    """Return the codes of letters that may occur, ascending: all of the usual ones."""
    used: set[int] = set()
    for sequences in {batch.queries, batch.targets}:
        used |= set(range(min(sequences.code_bound + 1, _USUAL_LETTERS)))
        used |= set(sequences.codes_in_use(_USUAL_LETTERS))
    return sorted(used)


def _letter_scores(engine: Lanes, codes: list[int], geometry: Geometry) -> npt.NDArray[np.uint32]:
    """Return the letters and their scores as pair_letters.glsl has them, shape (words,)."""
    numbers = np.zeros(_CODES, np.uint8)
    numbers[codes] = np.arange(1, len(codes) + 1)
    side = len(codes) + 1
    matrix = np.full((side, side), PADDING, np.int32)  # by letter of the target, of the query
    matrix[1:, 1:] = engine.scoring.matrix[np.ix_(codes, codes)].T
    words = matrix.view(np.uint32)
    if geometry.number != INT32:
        halves = (np.clip(matrix, -LIMIT, LIMIT) / LIMIT).astype(np.float16).view(np.uint16)
        words = halves.astype(np.uint32)
        words = words[:, :, None] | words[:, None, :] << np.uint32(16)  # the first in the low half
    return np.concatenate([numbers.view(np.uint32), words.ravel()])


def _kinds(
    engine: Lanes, batch: Batch, number: int, letters: int
) -> list[tuple[Geometry, int, npt.NDArray[np.intp]]]:
    """Return the pairs with letters by geometry and strips, the longest targets first."""
    m, n = batch.query_lengths, batch.target_lengths
    if (batch.extent[0] == batch.extent[1]).all():
        if not batch.extent.all():
            return []
        geometry = engine.geometries.of_pairs(int(m[0]), number, letters)
        return [(geometry, geometry.strips(int(m[0])), np.arange(len(m)))]
    kinds: dict[tuple[Geometry, int], int] = {}
    kind_of = np.full(int(m.max(initial=0)) + 1, -1)
    for length in np.flatnonzero(np.bincount(m[n > 0], minlength=1)).tolist():
        if length:
            geometry = engine.geometries.of_pairs(length, number, letters)
            kind_of[length] = kinds.setdefault((geometry, geometry.strips(length)), len(kinds))
    kind = np.where(n > 0, kind_of[m], -1)
    longest = int(n.max(initial=0)) + 1
    keys = kind * longest + (longest - 1 - n)
    if longest * len(kinds) < _SHORT_KEYS:  # sorted by digits
        order = np.argsort((keys + longest).astype(np.uint16), kind="stable")
    else:
        order = np.argsort(keys)
    bounds = np.searchsorted(kind[order], np.arange(len(kinds) + 1))
    return [
        (geometry, strips, order[bounds[k] : bounds[k + 1]])
        for (geometry, strips), k in kinds.items()
    ]
