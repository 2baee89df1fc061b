"""Engine ``lanes``: many subjects at once, in registers; the scores of database searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch, Sequences
from glsw.device import Device, DeviceError
from glsw.engines.base import Progress, Ties, ignore
from glsw.engines.blocked import Blocked
from glsw.engines.compute import ComputeEngine
from glsw.engines.diagonal import Diagonal
from glsw.engines.profile import (
    BLOCK,
    COMPARE,
    F16,
    F32,
    INT32,
    LIMIT,
    SHARED,
    STORAGE,
    Geometry,
    profile,
)
from glsw.result import Paths
from glsw.scoring import Scoring

_PROFILE, _COLUMNS, _SLOTS, _BORDERS, _SCORES, _GROUPS, _LETTERS, _SUBJECTS = range(8)
"""Storage buffers; the profile may be a uniform block instead."""
_NUMBERS = {"int32": INT32, "f16": F16, "f32": F32}
_PLACES = {"block": BLOCK, "shared": SHARED, "storage": STORAGE}
_MOST_GROUPS = 65535  # in a dispatch
_MOST_CHAINS = 64  # in a work group
_UNIT, _SOFTWARE_UNIT = 2**28, 2**22  # cells of which slices of time are made
_ALIGNED = 64  # words of 4 bytes between bound parts of a buffer
_LONGEST = 2**15
"""Columns that a lane goes along: llvmpipe ends all loops of an invocation after 65535 rounds."""
_IN_FLIGHT = 2**15  # subjects that a large device computes at once
_OVERHEAD = 3  # rows that a column costs beside its rows
_LANES_FOR_TWO = 0.87  # time of a column of two queries, two subjects of one taking 1
_COPIES = 6  # bytes that the buffers take for each residue: letters twice, columns, and spare

_Query = npt.NDArray[np.uint8]
_Scores = npt.NDArray[np.int32]


class Lanes(ComputeEngine):
    """Give each subject, or two of them, a lane or a chain of a few lanes.

    A lane keeps some rows of the query in registers and takes one column after the other; where
    there are subgroups, a chain of lanes has a taller strip of rows. The last row of a strip is
    kept for the next one. Scores of letters come from a profile of the query. Subjects are sorted
    by length, and the longest get longer chains; those beyond 2**15 letters go to `Blocked`.

    Two subjects, or in `scan` two queries, share a lane as a pair of 16-bit floats where the device
    computes with these. They are exact below 2048; a pair of sequences whose score reaches that is
    computed again with 32-bit integers.

    Only scores are computed this way: ends and alignments, which are asked of few pairs, come
    from `Diagonal`.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group.
    number : {"auto", "int32", "f16", "f32"}
        What to compute with; ``"f32"``, pairs of 32-bit floats, serves to test ``"f16"`` where
        that does not exist.
    rows, chain : int, optional
        Rows of a lane, a multiple of 8 up to 32, and lanes of a chain, a power of two; by default
        what wastes least.
    profile : {"block", "shared", "storage"}, optional
        Where the query profile lies: a uniform block, shared memory, a buffer.
    memory : int
        Bytes of device memory for parts of a database and for what is kept between strips.
    """

    name = "lanes"
    masks = True

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        number: Literal["auto", "int32", "f16", "f32"] = "auto",
        rows: int | None = None,
        chain: int | None = None,
        profile: Literal["block", "shared", "storage"] | None = None,
        memory: int = 2**32,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        info = self.device.info
        if number == "auto":
            number = "f16" if info.half else "int32"
        if number not in _NUMBERS:
            raise ValueError(f"number {number!r}: auto, {', '.join(_NUMBERS)} expected")
        if number == "f16" and not info.half:
            raise ValueError(f"number 'f16': {info.name} has no 16-bit floats")
        if profile is not None and profile not in _PLACES:
            raise ValueError(f"profile {profile!r}: {', '.join(_PLACES)} expected")
        self._number = _NUMBERS[number]
        self._rows, self._chain, self._memory = rows, chain, memory
        self._place = _PLACES[profile] if profile else self._best_place()
        self._spare: tuple[Sequences, moderngl.Buffer] | None = None
        self._sorted: _Sorted | None = None
        self._dealt: dict[tuple[_Subjects, int], _Dealt] = {}
        self._meanwhile: Callable[[], None] | None = None

    @cached_property
    def _diagonal(self) -> Diagonal:
        return Diagonal(self.scoring, self.device, memory=min(self._memory, 2**30))

    @cached_property
    def _blocked(self) -> Blocked:
        return Blocked(self.scoring, self.device, memory=min(self._memory, 2**30))

    def _best_place(self) -> int:
        if not self.device.info.software:
            return SHARED
        two = self.scoring.match_and_mismatch
        return COMPARE if two and two[1] < 0 else BLOCK

    @property
    def queries_at_once(self) -> int:
        """Queries that `scan` wants to see together, to pair those of similar length."""
        return 1 if self._number == INT32 or self._place == COMPARE else 8

    @property
    def part(self) -> int:
        """Residues that a part of a database may have, so that two and their columns fit."""
        return min(self._memory // _COPIES, self.device.info.limits["max_storage_block"] // 4)

    def best(
        self, batch: Batch, ends: bool, progress: Progress, *, ties: Ties = "conventional"
    ) -> npt.NDArray[np.int32]:
        """Return the best cell of each pair, see `Engine.best`."""
        if ends or batch.masks is not None:
            return self._diagonal.best(batch, ends, progress, ties=ties)
        found = np.zeros((len(batch), 3), np.int32)
        for q in (
            np.unique(batch.query_index) if len(batch.queries) > 1 else range(min(1, len(batch)))
        ):
            chosen = np.flatnonzero(batch.query_index == q)
            subjects = self._subjects_of(batch.targets, batch.target_index[chosen])
            found[chosen, 0] = self._scores([batch.queries[q]], subjects, progress)[0]
        return found

    def paths(
        self, batch: Batch, *, ties: Ties = "conventional", progress: Progress | None = None
    ) -> Paths:
        """Return the best local alignment of each pair, from `Diagonal`."""
        return self._diagonal.paths(batch, ties=ties, progress=progress)

    def scan(
        self,
        queries: Sequences,
        parts: Iterable[Sequences],
        *,
        progress: Progress | None = None,
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the best local score of each query with each target, see `Engine.scan`.

        A part is uploaded while the one before it is being computed.
        """
        rest = iter(parts)
        part = next(rest, None)
        following: list[Sequences] = []

        def prefetch() -> None:
            following.extend(each for each in [next(rest, None)] if each is not None)
            for each in following:
                self._prefetch(each)

        while part is not None:
            everything = Batch(queries, part, *np.zeros((2, 0), np.int32))
            self.check(everything)
            if len(queries) and len(part):
                self.scoring.check(int(queries.lengths.max()), int(part.lengths.max()))
            following.clear()
            self._meanwhile = prefetch
            subjects = self._subjects_of(part, np.arange(len(part), dtype=np.int32))
            found = np.zeros((len(queries), len(part)), np.int32)
            for together in self._together(queries):
                found[together] = self._scores(
                    [queries[q] for q in together], subjects, progress or ignore
                )
            self._do_meanwhile()  # unless something was computed
            yield found
            part = following[0] if following else None

    def _together(self, queries: Sequences) -> Iterator[list[int]]:
        """Yield the numbers of queries to compute at once: two where that is faster."""
        order = np.argsort(-queries.lengths, kind="stable").tolist()
        while order:
            first = order.pop(0)
            if order and self.queries_at_once > 1 and queries.lengths[order[0]]:
                alone = sum(self._cost(int(queries.lengths[q]), 1) for q in (first, order[0])) / 2
                if self._cost(int(queries.lengths[first]), 2) * _LANES_FOR_TWO < alone:
                    yield [first, order.pop(0)]
                    continue
            yield [first]

    def _cost(self, m: int, queries: int) -> int:
        """Return the rows of all strips, and what each costs beside."""
        geometry = self._geometry(m, self._number, queries)
        return geometry.strips(m) * (geometry.rows + _OVERHEAD)

    def _subjects_of(self, targets: Sequences, which: npt.NDArray[np.int32]) -> _Sorted:
        """Return subjects by descending length, uploaded; the last ones if they are the same."""
        self._upload_letters(targets)
        last = self._sorted
        if last is None or last.targets is not targets or not np.array_equal(last.which, which):
            long = self.device.info.subgroup_size and not self._chain
            chain = min(32, self.device.info.subgroup_size) if long else None
            self._forget()
            self._sorted = last = _Sorted.of(targets, which, chain)
        return last

    def _scores(self, queries: Sequence[_Query], subjects: _Sorted, progress: Progress) -> _Scores:
        """Return the score of each query with each subject, shape (queries, subjects)."""
        scores = np.zeros((len(queries), len(subjects.which)), np.int32)
        longest = max(map(len, queries))
        if longest == 0:
            return scores
        for share, chain in subjects.shares:
            geometry = self._geometry(longest, self._number, len(queries), chain)
            found = self._run(queries, share, geometry, progress)
            if geometry.number != INT32:
                for q, query in enumerate(queries):
                    if len(high := np.flatnonzero(found[q] >= LIMIT)):
                        exact = self._geometry(len(query), INT32, 1, chain)
                        again = share.only(high)
                        found[q, high] = self._run([query], again, exact, ignore)[0]
                        self._dealt.pop((again, 1)).release()
            scores[:, share.order] = found
        for k in subjects.beyond:
            target = subjects.targets[subjects.which[k]]
            for q, query in enumerate(queries):
                pair = Batch.one_to_many(query, [target])
                scores[q, k] = self._blocked.best(pair, False, progress)[0, 0]
        return scores

    def _geometry(
        self, m: int, number: int, queries: int = 1, chain: int | None = None
    ) -> Geometry:
        """Return what suits queries of m letters."""
        info = self.device.info
        place = self._place if number == self._number or self._place != COMPARE else BLOCK
        if info.software:
            chain = self._chain or 1
            options = [(self._rows or 32, chain, self._workgroup or max(16, chain))]
        else:
            chain = self._chain or chain or (8 if info.subgroup_size >= 8 else 1)
            workgroup = 64 if chain == 1 else 128 if number == F16 and queries == 1 else 256
            tallest = 32 if number == F16 and queries == 1 else 24
            options = [
                (self._rows or rows, chains, self._workgroup or max(workgroup, chains))
                for chains in {chain, max(1, chain // 2)}
                for rows in range(8, tallest + 1, 8)
            ]
        made = [
            Geometry(
                number,
                rows,
                chain,
                workgroup,
                place,
                queries,
                at_once=not info.software and place in (SHARED, STORAGE),
                subgroups=info.subgroup_size >= chain,
            )
            for rows, chain, workgroup in options
        ]
        letters = len(self.scoring.alphabet)
        limit = info.limits["max_uniform_block_size" if place == BLOCK else "max_shared_memory"]
        fitting = [each for each in made if each.size(letters) <= limit]
        if place in (BLOCK, SHARED) and not fitting:
            fitting = [replace(each, place=STORAGE) for each in made]
        return min(
            fitting or made,
            key=lambda each: (each.strips(m) * (each.rows + _OVERHEAD), -each.chain, each.rows),
        )

    def _run(
        self,
        queries: Sequence[_Query],
        subjects: _Subjects,
        geometry: Geometry,
        progress: Progress,
    ) -> _Scores:
        """Return the score of each query with each subject; those of floats may be too high."""
        words = profile(queries, self.scoring, geometry)
        dealt = self._deal(subjects, geometry)
        columns = dealt.columns
        bind = self._upload_profile(words, geometry)
        program = self.program("lanes.comp", **(geometry.defines | _NO_SCORES))
        groups = len(columns) // geometry.chains
        places = np.zeros(groups + 1, np.int64)
        np.cumsum(columns[:: geometry.chains] * geometry.chains, out=places[1:])
        cells = places * geometry.subjects * sum(map(len, queries))
        self.upload(_GROUPS, places.astype(np.uint32))
        self.reserve(_SCORES, 4 * len(columns) * geometry.results)
        self.reserve(_BORDERS, 0)
        dealt.bind()
        total = int(subjects.lengths.sum()) * sum(map(len, queries))
        reported = 0
        for part in self._dispatches(cells, places, geometry, len(words)):
            program["first_group"] = part.start
            program["first_border"] = int(places[part.start])
            for strip in range(1 if geometry.at_once else len(words)):
                bind(strip)
                program.run(len(part))
                self.device.ctx.memory_barrier()
            done = int(total * cells[part.stop] // cells[-1])
            progress(done - reported)
            reported = done
        self.device.check("computing lanes")
        found = self.download(_SCORES, np.int32, len(subjects.order) * geometry.queries)
        kept = [each for dealt in self._dealt.values() for each in (dealt.slots, dealt.words)]
        self.memory_used = sum(buffer.size for buffer in (*self._buffers.values(), *kept))
        return found.reshape(-1, geometry.queries).T.copy()

    def _dispatches(
        self,
        cells: npt.NDArray[np.int64],
        places: npt.NDArray[np.int64],
        geometry: Geometry,
        strips: int,
    ) -> Iterator[range]:
        """Cut work groups into dispatches that fit the memory, queued in slices of time.

        ``cells[k]`` and ``places[k]`` are the cells, and the places of borders, before group k.
        """
        unit = _SOFTWARE_UNIT if self.device.info.software else _UNIT
        ends = np.searchsorted(cells, np.arange(unit, cells[-1] + unit, unit))
        ends = np.unique(np.minimum(ends, len(cells) - 1))
        room = min(self._memory // _COPIES, 2**28) // geometry.border
        start = 0
        for part in self._pace.slices(len(ends)):
            stop = int(ends[part.stop - 1])
            while start < stop:
                end = min(stop, start + _MOST_GROUPS)
                if strips > 1:
                    fits = int(np.searchsorted(places, places[start] + room, "right")) - 1
                    end = max(start + 1, min(end, fits))
                    self.reserve(_BORDERS, int(places[end] - places[start]) * geometry.border)
                yield range(start, end)
                start = end
            self._do_meanwhile()

    def _do_meanwhile(self) -> None:
        """Do once what should be done while the device is busy."""
        work, self._meanwhile = self._meanwhile, None
        if work is not None:
            work()

    def _upload_letters(self, targets: Sequences) -> None:
        """Put residues into their buffer, unless they are there or have been prefetched."""
        if self._uploaded.get(_LETTERS) is targets:
            return
        if self._spare and self._spare[0] is targets:
            old, self._buffers[_LETTERS] = self._buffers.get(_LETTERS), self._spare[1]
            if old:
                old.release()
        else:
            self.upload(_LETTERS, targets.residues)
        self._spare = None
        self._uploaded[_LETTERS] = targets

    def _forget(self) -> None:
        """Release what was dealt out."""
        for dealt in self._dealt.values():
            dealt.release()
        self._dealt.clear()

    def _prefetch(self, targets: Sequences) -> None:
        """Begin to upload residues beside those that are being computed."""
        size = len(targets.residues)
        buffer = self._buffer(-(-size // 4) * 4)
        if size:
            buffer.write(np.ascontiguousarray(targets.residues))
        self._spare = targets, buffer

    def _deal(self, subjects: _Subjects, geometry: Geometry) -> _Dealt:
        """Have the letters where lanes read them, unless they are there from the last query."""
        key = subjects, geometry.subjects
        if key not in self._dealt:
            lanes = -(-len(subjects.order) // geometry.subjects)
            places = np.zeros(
                (-(-lanes // _MOST_CHAINS) * _MOST_CHAINS * geometry.subjects, 2), np.uint32
            )
            places[: len(subjects.order), 0] = subjects.first
            places[: len(subjects.order), 1] = subjects.lengths
            words = -(-places[:: geometry.subjects, 1].astype(np.int64) // geometry.step)
            first = np.cumsum(words + 1) - (words + 1)
            self.upload(_SUBJECTS, places)
            slots = self._buffer(8 * len(words), np.stack([first, words], axis=1).astype(np.uint32))
            columns = self._buffer(4 * int((words + 1).sum()))
            self._dealt[key] = dealt = _Dealt(slots, columns, words * geometry.step)
            dealt.bind()
            self.reserve(_LETTERS, 0)
            defines = geometry.defines | {"WORKGROUP": 32} | _NO_SCORES | _NO_ROWS
            program = self.program("lanes_columns.comp", **defines)
            for start in range(0, len(words), _MOST_GROUPS):
                program["first_slot"] = start
                program.run(min(_MOST_GROUPS, len(words) - start))
            self.device.ctx.memory_barrier()
        return self._dealt[key]

    def _buffer(self, size: int, content: npt.NDArray[np.uint32] | None = None) -> moderngl.Buffer:
        """Return a new buffer."""
        if size > self.device.info.limits["max_storage_block"]:
            raise DeviceError(f"{self.device.info.name} binds no buffer of {size} bytes")
        buffer = self.device.ctx.buffer(reserve=max(16, size))
        self.device.check(f"allocating {size} bytes")
        if content is not None and size:
            buffer.write(content)
        return buffer

    def _upload_profile(
        self, words: npt.NDArray[np.uint32], geometry: Geometry
    ) -> Callable[[int], None]:
        """Put the profile in its place; return what binds a strip of it."""
        if geometry.at_once:
            self.upload(_PROFILE, words)
            return ignore
        step = -(-words.shape[1] // _ALIGNED) * _ALIGNED
        strips = np.zeros((len(words), step), np.uint32)
        strips[:, : words.shape[1]] = words
        self.upload(_PROFILE, strips)
        buffer = self._buffers[_PROFILE]
        in_block = geometry.place in (COMPARE, BLOCK)
        bind = buffer.bind_to_uniform_block if in_block else buffer.bind_to_storage_buffer
        return lambda strip: bind(0, 4 * strip * step, 4 * words.shape[1])


_NO_SCORES = dict.fromkeys(("SCORES", "AMBIGUOUS"))
"""Macros of scoring.glsl, which has no part in this."""
_NO_ROWS = dict.fromkeys(
    ("ROWS", "CHAIN", "STRIDE", "LINEAR", "LETTERS", "PROFILE", "SUBGROUPS"),
)
"""Macros that lanes_columns.comp does not look at."""


@dataclass(frozen=True, eq=False)
class _Dealt:
    """Subjects as lanes read them, and the columns of each chain."""

    slots: moderngl.Buffer
    words: moderngl.Buffer
    columns: npt.NDArray[np.int64]

    def bind(self) -> None:
        """Bind the buffers."""
        self.slots.bind_to_storage_buffer(_SLOTS)
        self.words.bind_to_storage_buffer(_COLUMNS)

    def release(self) -> None:
        """Free the buffers."""
        self.slots.release()
        self.words.release()


@dataclass(frozen=True, eq=False)
class _Subjects:
    """Subjects that lanes can take, the longest first.

    ``order`` says where each stands among those asked for, ``first`` where its letters begin.
    """

    order: npt.NDArray[np.intp]
    first: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    def only(self, chosen: npt.NDArray[np.intp] | slice) -> _Subjects:
        """Return these of them."""
        return _Subjects(self.order[chosen], self.first[chosen], self.lengths[chosen])


@dataclass(frozen=True, eq=False)
class _Sorted:
    """The subjects of a search, in shares that each have chains of one length.

    Parameters
    ----------
    targets : Sequences
    which : ndarray of int32, shape (count,)
        All that were asked for.
    shares : list of (_Subjects, int or None)
        Subjects, and the lanes of their chains if not the usual.
    beyond : ndarray of int
        Where in ``which`` those stand that are too long for lanes.
    """

    targets: Sequences
    which: npt.NDArray[np.int32]
    shares: list[tuple[_Subjects, int | None]]
    beyond: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls, targets: Sequences, which: npt.NDArray[np.int32], long_chain: int | None
    ) -> _Sorted:
        """Sort by descending length; the longest, which would end last, get ``long_chain``."""
        every = targets.lengths[which]
        order = np.argsort(-every, kind="stable")
        order = order[(every[order] > 0) & (every[order] <= _LONGEST)]
        subjects = _Subjects(order, targets.offsets[which[order]], every[order])
        long = 0
        if long_chain:
            usual = max(512, int(subjects.lengths.sum()) // _IN_FLIGHT)
            long = int(np.searchsorted(-subjects.lengths, -usual))
        parts = ((subjects.only(slice(long)), long_chain), (subjects.only(slice(long, None)), None))
        shares = [(part, chain) for part, chain in parts if len(part.order)]
        return cls(targets, which, shares, np.flatnonzero(every > _LONGEST))
