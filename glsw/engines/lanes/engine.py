"""Engine ``lanes``: many targets at once, in registers; the scores of database searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain as joined
from typing import Literal

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device, DeviceError
from glsw.engines.base import Progress, Ties, ignore
from glsw.engines.blocked import Blocked
from glsw.engines.diagonal import Diagonal
from glsw.engines.gl import ComputeEngine
from glsw.engines.lanes.query_profile import (
    BLOCK,
    COMPARE,
    F16,
    F32,
    INT32,
    LIMIT,
    SHARED,
    STORAGE,
    Geometry,
    query_profile,
)
from glsw.engines.lanes.targets import (
    BORDERS,
    LETTERS,
    TARGETS,
    Dealt,
    Job,
    SortedTargets,
    Targets,
    apart,
    merged,
    zigzag,
)
from glsw.engines.throttle import Throttle
from glsw.paths import Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

_NUMBERS = {"int32": INT32, "f16": F16, "f32": F32}
_PROFILE_MEMORIES = {"block": BLOCK, "shared": SHARED, "storage": STORAGE}
_MOST_GROUPS = 65535  # in a dispatch
_MOST_CHAINS = 64  # in a work group
_PORTION, _SOFTWARE_PORTION = 2**28, 2**22  # cells of which slices of time are made
_BORDERS = 2**29  # bytes of borders of a slice of time
_OVERHEAD = {1: 3, 2: 10}  # rows that a column costs beside its rows, by queries at once
_TWO_QUERIES = 0.87  # time of a column of two queries, two targets of one taking 1
_ROWS = (8, 16, 24, 32)  # with more, loops are not unrolled
_CHAINS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_LONG_CHAINS = (32, 64, 128, 256)
_LARGE, _FEW = 2**22, 16  # cells of pairs, and how many of them, that go one by one
_ROUND = 2**35  # cells of queries whose work overlaps
_MOST_GROUPS_OF_QUERIES = 64
_COPIES = 8  # bytes for each residue of a part: letters twice, columns of several kinds

_Query = npt.NDArray[np.uint8]
_Scores = npt.NDArray[np.int32]


class Lanes(ComputeEngine):
    """Give each target, or two of them, a lane or a chain of a few lanes.

    A lane keeps some rows of the query in registers and takes one column after the other; where
    there are subgroups, a chain of lanes has a taller strip of rows. The last row of a strip is
    kept for the next one. Scores of letters come from a profile of the query. Targets are sorted
    by length, and the longest get longer chains; those beyond 2**15 letters go to `Blocked`.

    Two targets, or in `scan` two queries, share a lane as a pair of 16-bit floats where the device
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
    query_profile : {"block", "shared", "storage"}, optional
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
        query_profile: Literal["block", "shared", "storage"] | None = None,
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
        if query_profile is not None and query_profile not in _PROFILE_MEMORIES:
            raise ValueError(
                f"query_profile {query_profile!r}: {', '.join(_PROFILE_MEMORIES)} expected"
            )
        if rows is not None and rows not in _ROWS:
            raise ValueError(f"rows {rows}: {', '.join(map(str, _ROWS))} expected")
        if chain is not None and chain not in _CHAINS:
            raise ValueError(f"chain {chain}: a power of two up to {_CHAINS[-1]} expected")
        if workgroup is not None and workgroup not in (*_CHAINS, 512, 1024):
            raise ValueError(f"workgroup {workgroup}: a power of two up to 1024 expected")
        self._number = _NUMBERS[number]
        self._rows, self._chain, self._memory = rows, chain, memory
        self._profile_memory = self._profile_memory_for(query_profile)
        self._throttle = Throttle(self.device, first=16)
        self._spare: tuple[Sequences, moderngl.Buffer] | None = None
        self._sorted_targets: SortedTargets | None = None
        self._dealt: dict[tuple[Targets, int, int, int], Dealt] = {}
        self._meanwhile: Callable[[], None] | None = None
        self._geometries: dict[tuple[int, int, int, bool], Geometry] = {}

    @cached_property
    def _diagonal(self) -> Diagonal:
        return Diagonal(self.scoring, self.device, memory=min(self._memory, 2**30))

    @cached_property
    def _blocked(self) -> Blocked:
        return Blocked(self.scoring, self.device, memory=min(self._memory, 2**30))

    def _profile_memory_for(self, asked: str | None) -> int:
        """Return the kind of memory that was asked for, or the fastest one of the device."""
        if asked is not None:
            return _PROFILE_MEMORIES[asked]
        if not self.device.info.software:
            return SHARED
        two = self.scoring.match_and_mismatch
        return COMPARE if two and two[1] < 0 else BLOCK

    @property
    def queries_at_once(self) -> int:
        """Queries that `scan` wants to see together, to pair those of similar length."""
        return 1 if self._number == INT32 or self._profile_memory == COMPARE else 8

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
            targets = self._targets_of(batch.targets, batch.target_index[chosen])
            ((scores,),) = self._scores([[batch.queries[q]]], targets, progress)
            found[chosen, 0] = scores
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
            everything = Batch.indexed(queries, part, *np.zeros((2, 0), np.int32))
            self.check(everything)
            if len(queries) and len(part):
                self.scoring.check(int(queries.lengths.max()), int(part.lengths.max()))
            following.clear()
            self._meanwhile = prefetch
            targets = self._targets_of(part, np.arange(len(part), dtype=np.int32))
            found = np.zeros((len(queries), len(part)), np.int32)
            for groups in self._rounds(queries, len(part.residues)):
                chosen = [[queries[q] for q in together] for together in groups]
                scores = self._scores(chosen, targets, progress or ignore)
                for together, each in zip(groups, scores, strict=True):
                    found[together] = each
            self._do_meanwhile()  # unless something was computed
            yield found
            part = following[0] if following else None

    def _rounds(self, queries: Sequences, residues: int) -> Iterator[list[list[int]]]:
        """Yield groups of queries, see `_together`, that between them keep the device busy."""
        groups: list[list[int]] = []
        cells = 0
        for together in self._together(queries):
            groups.append(together)
            cells += residues * sum(int(queries.lengths[q]) for q in together)
            if cells >= _ROUND or len(groups) == _MOST_GROUPS_OF_QUERIES or self._on_software:
                yield groups
                groups, cells = [], 0
        if groups:
            yield groups

    @property
    def _on_software(self) -> bool:
        return self.device.info.software

    def _together(self, queries: Sequences) -> Iterator[list[int]]:
        """Yield the numbers of queries to compute at once: two where that is faster."""
        order = np.argsort(-queries.lengths, kind="stable").tolist()
        while order:
            first = order.pop(0)
            if order and self.queries_at_once > 1 and queries.lengths[order[0]]:
                alone = sum(self._cost(int(queries.lengths[q]), 1) for q in (first, order[0])) / 2
                if self._cost(int(queries.lengths[first]), 2) * _TWO_QUERIES < alone:
                    yield [first, order.pop(0)]
                    continue
            yield [first]

    def _cost(self, m: int, queries: int) -> int:
        """Return the rows of all strips, and what each costs beside."""
        geometry = self._geometry(m, self._number, queries)
        return geometry.strips(m) * (geometry.rows + _OVERHEAD[1])

    def _targets_of(self, sequences: Sequences, which: npt.NDArray[np.int32]) -> SortedTargets:
        """Return targets by descending length, uploaded; the last ones if they are the same."""
        self._upload_letters(sequences)
        last = self._sorted_targets
        if last is None or last.sequences is not sequences or not np.array_equal(last.which, which):
            self._forget()
            apart = self.device.info.subgroup_size > 0 and not self._chain
            self._sorted_targets = last = SortedTargets.of(sequences, which, long_apart=apart)
        return last

    def _scores(
        self, groups: Sequence[Sequence[_Query]], targets: SortedTargets, progress: Progress
    ) -> list[_Scores]:
        """Return for each group its scores with the targets, shape (queries, targets).

        What is computed for one group overlaps with the next, so that small databases fill a
        large device.
        """
        found = [np.zeros((len(queries), len(targets.which)), np.int32) for queries in groups]
        jobs: list[Job] = []
        owners: list[_Scores] = []
        for queries, scores in zip(groups, found, strict=True):
            longest = max(map(len, queries))
            for share, long in targets.shares if longest else ():
                geometry = self._geometry(longest, self._number, len(queries), long)
                jobs.append(self._job(queries, share, geometry))
                owners.append(scores)
        for job, scores, part in zip(jobs, owners, self._run(jobs, progress), strict=True):
            scores[:, job.targets.positions] = part
        every = [
            (query, scores[q])
            for each, scores in zip(groups, found, strict=True)
            for q, query in enumerate(each)
            if len(query)
        ]
        if self._number != INT32:
            self._repeat(every, targets)
        for query, row in every:
            self._one_by_one(query, targets, targets.beyond, row, progress)
        return found

    def _repeat(self, rows: Sequence[tuple[_Query, _Scores]], targets: SortedTargets) -> None:
        """Compute scores again that are too high for floats, and put them in place."""
        jobs, owners = [], []
        few: list[tuple[int, npt.NDArray[np.intp]]] = []
        for number, (query, scores) in enumerate(rows):
            for share, long in targets.shares:
                high = np.flatnonzero(scores[share.positions] >= LIMIT)
                # A long pair alone would keep a lane busy for long, and the rest of the device.
                large = high[: int((len(query) * share.lengths[high] >= _LARGE).sum())]
                if len(large) <= _FEW:
                    self._one_by_one(query, targets, share.order[large], scores, ignore)
                    high = high[len(large) :]
                if len(high) <= _FEW:
                    few.append((number, share.order[high]))
                else:
                    geometry = self._geometry(len(query), INT32, 1, long)
                    jobs.append(self._job([query], share.only(high), geometry))
                    owners.append(scores)
        for job, scores, found in zip(jobs, owners, self._run(jobs, ignore), strict=True):
            scores[job.targets.positions] = found[0]
            for key in [key for key, dealt in self._dealt.items() if dealt is job.dealt]:
                self._dealt.pop(key).release()
        self._in_groups([query for query, _ in rows], few, rows, targets)

    def _in_groups(
        self,
        queries: list[_Query],
        few: list[tuple[int, npt.NDArray[np.intp]]],
        rows: Sequence[tuple[_Query, _Scores]],
        targets: SortedTargets,
    ) -> None:
        """Compute the scores of a few pairs with a work group each, and put them in place."""
        numbers = np.repeat([number for number, _ in few], [len(each) for _, each in few])
        places = np.concatenate([np.empty(0, np.intp), *(each for _, each in few)])
        if not len(places):
            return
        batch = Batch.indexed(
            Sequences.of(queries),
            Sequences.of([targets.sequences[int(k)] for k in targets.which[places]]),
            numbers.astype(np.int32),
            np.arange(len(places), dtype=np.int32),
        )
        found = self._diagonal.best(batch, False, ignore)[:, 0]
        for number, place, score in zip(numbers, places, found, strict=True):
            rows[number][1][place] = score

    def _one_by_one(
        self,
        query: _Query,
        targets: SortedTargets,
        which: npt.NDArray[np.intp],
        scores: npt.NDArray[np.int32],
        progress: Progress,
    ) -> None:
        """Compute the scores of a few pairs with all of the device, and put them in place."""
        for k in which:
            pair = Batch.one_to_many(query, [targets.sequences[targets.which[k]]])
            scores[k] = self._blocked.best(pair, False, progress)[0, 0]

    def _geometry(self, m: int, number: int, queries: int = 1, long: bool = False) -> Geometry:
        """Return what suits queries of m letters, and most targets or those that are long."""
        key = m, number, queries, long
        if key not in self._geometries:
            self._geometries[key] = self._chosen(*key)
        return self._geometries[key]

    def _chosen(self, m: int, number: int, queries: int, long: bool) -> Geometry:
        info = self.device.info
        single = number == F16 and queries == 1
        if long:  # as many lanes at one pair as have work
            options = [(8, chain, max(64, chain)) for chain in _LONG_CHAINS]
        elif info.software:
            options = [(32, 1, 16)]
        else:
            chain = 8 if info.subgroup_size >= 8 else 1
            workgroup = 64 if chain == 1 else 128 if single else 256
            options = [(rows, chain, workgroup) for rows in range(8, 40 if single else 32, 8)]
        made = [self._made(*each, number, queries) for each in options]
        overhead = _OVERHEAD[queries]
        return min(
            made, key=lambda each: (each.strips(m) * (each.rows + overhead), each.chain, -each.rows)
        )

    def _made(self, rows: int, chain: int, workgroup: int, number: int, queries: int) -> Geometry:
        """Return a geometry, with what was asked for, and the profile where there is room."""
        info = self.device.info
        chain = self._chain or chain
        rows = self._rows or rows
        compare = self._profile_memory == COMPARE and chain == 1 and queries == 1
        memory = BLOCK if self._profile_memory == COMPARE and not compare else self._profile_memory
        made = Geometry(
            number,
            rows,
            chain,
            self._workgroup or max(workgroup, chain),
            memory,
            queries,
            at_once=not info.software,
            subgroups=info.subgroup_size >= chain,
            step=4 if number == INT32 and rows < 24 and not info.software else 2,
        )
        limit = info.limits["max_uniform_block_size" if memory == BLOCK else "max_shared_memory"]
        room = limit if made.subgroups or chain == 1 else limit - 4 * made.border * made.workgroup
        if memory in (BLOCK, SHARED) and made.size(len(self.scoring.alphabet)) > room:
            made = replace(made, profile_memory=STORAGE)
        return replace(made, at_once=made.at_once and made.profile_memory in (SHARED, STORAGE))

    def _job(self, queries: Sequence[_Query], share: Targets, geometry: Geometry) -> Job:
        """Put everything where the shader finds it."""
        dealt = self._deal(share, geometry)
        words = query_profile(queries, self.scoring, geometry)
        border_columns = np.zeros(len(dealt.columns) // geometry.chains + 1, np.int64)
        np.cumsum(dealt.columns[:: geometry.chains] * geometry.chains, out=border_columns[1:])
        letters = sum(map(len, queries))
        return Job(
            queries=len(queries),
            targets=share,
            geometry=geometry,
            dealt=dealt,
            strips=len(words),
            strip_size=4 * words.shape[1],
            border_columns=border_columns,
            cells=border_columns * geometry.targets * letters,
            useful=int(share.lengths.sum()) * letters,
            profile=self._buffer_of(words if geometry.at_once else apart(words)),
            groups=self._buffer_of(border_columns.astype(np.uint32)),
            scores=self._buffer(4 * len(dealt.columns) * geometry.results),
        )

    def _run(self, jobs: Sequence[Job], progress: Progress) -> list[_Scores]:
        """Return the scores of each job, shape (queries, targets); of floats, perhaps too high.

        What is queued overlaps: a slice of time starts when the one before it runs out.
        """
        if not jobs:
            return []
        self.device.ctx.memory_barrier()
        for job, groups, border in self._dispatches(jobs):
            program = self.program("lanes.comp", **(job.geometry.defines | _NO_SCORES))
            job.bind()
            self.reserve(BORDERS, 0)
            program["first_group"] = groups.start
            program["first_border"] = (int(job.border_columns[groups.start]) - border) % 2**32
            for strip in range(1 if job.geometry.at_once else job.strips):
                job.bind_strip(strip)
                program.run(len(groups))
                if not job.geometry.at_once:
                    self.device.ctx.memory_barrier()
            progress(job.useful_before(groups.stop) - job.useful_before(groups.start))
        self.device.ctx.memory_barrier()
        self.device.check("computing lanes")
        owned = [each.buffers for each in jobs] + [each.buffers for each in self._dealt.values()]
        used = sum(buffer.size for buffer in joined(self._buffers.values(), *owned))
        self.memory_used = max(self.memory_used, used)
        found = [job.download() for job in jobs]
        self.device.check("reading scores")
        for job in jobs:
            for each in job.buffers:
                each.release()
        return found

    def _dispatches(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, range, int]]:
        """Yield work groups of the jobs for a dispatch each, and the first place of their borders.

        The borders of a slice of time are in one half of their buffer, of the next in the other.
        """
        portion = _SOFTWARE_PORTION if self.device.info.software else _PORTION
        units = [(job, groups) for job in jobs for groups in job.units(portion)]
        every = sum(job.border_bytes(0, len(job.border_columns) - 1) for job in jobs)
        bound = self.device.info.limits["max_storage_block"] // 2
        half = min(every, self._memory // _COPIES, _BORDERS, bound) // 16 * 16
        self.reserve(BORDERS, 2 * half)
        room = np.zeros(len(units) + 1, np.int64)
        np.cumsum([job.border_bytes(each.start, each.stop) for job, each in units], out=room[1:])
        for number, part in enumerate(self._throttle.overlapping(room, half)):
            first = filled = number % 2 * half
            for job, groups in merged(units[part.start : part.stop]):
                start = groups.start
                while start < groups.stop:
                    end = min(groups.stop, start + _MOST_GROUPS)
                    end = min(end, job.fitting(start, first + half - filled))
                    if end <= start:  # wait until there is room again, for one group at least
                        self.device.ctx.finish()
                        end = max(start + 1, min(groups.stop, job.fitting(start, half)))
                        half = max(half, job.border_bytes(start, end))
                        self.reserve(BORDERS, 2 * half)
                        filled = first = number % 2 * half
                        end = min(end, start + _MOST_GROUPS)
                    yield job, range(start, end), filled // job.geometry.border
                    filled += job.border_bytes(start, end)
                    start = end
            self._do_meanwhile()

    def _do_meanwhile(self) -> None:
        """Do once what should be done while the device is busy."""
        work, self._meanwhile = self._meanwhile, None
        if work is not None:
            work()

    def _upload_letters(self, sequences: Sequences) -> None:
        """Put residues into their buffer, unless they are there or have been prefetched."""
        if self._uploaded.get(LETTERS) is sequences:
            return
        if self._spare and self._spare[0] is sequences:
            old, self._buffers[LETTERS] = self._buffers.get(LETTERS), self._spare[1]
            if old:
                old.release()
        else:
            self.upload(LETTERS, sequences.residues)
        self._spare = None
        self._uploaded[LETTERS] = sequences

    def _forget(self) -> None:
        """Release what was dealt out."""
        for dealt in self._dealt.values():
            dealt.release()
        self._dealt.clear()

    def _prefetch(self, sequences: Sequences) -> None:
        """Begin to upload residues beside those that are being computed."""
        buffer = self._buffer(-(-len(sequences.residues) // 4) * 4)
        if len(sequences.residues):
            buffer.write(np.ascontiguousarray(sequences.residues))
        self._spare = sequences, buffer

    def _deal(self, targets: Targets, geometry: Geometry) -> Dealt:
        """Have the letters where lanes read them, unless they are there from the last query."""
        # llvmpipe gives each thread half of the work groups: the longest next to the shortest.
        alternating = geometry.group if self.device.info.software else 0
        key = targets, geometry.targets, geometry.step, alternating
        if key not in self._dealt:
            count = len(targets.order)
            chains = max(_MOST_CHAINS, self._workgroup or 0)
            lanes = -(-count // (geometry.targets * chains)) * chains
            order = np.arange(lanes * geometry.targets)
            if alternating:
                order = zigzag(order, alternating)
            places = np.zeros((len(order), 2), np.uint32)
            places[order < count, 0] = targets.first[order[order < count]]
            places[order < count, 1] = targets.lengths[order[order < count]]
            words = -(-places[:: geometry.targets, 1].astype(np.int64) // geometry.step)
            first = np.cumsum(words + 1) - (words + 1)
            self._dealt[key] = dealt = Dealt(
                self._buffer_of(np.stack([first, words], axis=1).astype(np.uint32)),
                self._buffer(4 * int((words + 1).sum())),
                words * geometry.step,
                order if alternating else None,
            )
            dealt.bind()
            self.upload(TARGETS, places)
            self.reserve(LETTERS, 0)
            defines = geometry.defines | {"WORKGROUP": 32} | _NO_SCORES | _NO_ROWS
            program = self.program("lanes_columns.comp", **defines)
            for start in range(0, lanes, _MOST_GROUPS):
                program["first_slot"] = start
                program.run(min(_MOST_GROUPS, lanes - start))
            self.device.check("dealing out letters")
        return self._dealt[key]

    def _buffer_of(self, content: npt.NDArray[np.uint32]) -> moderngl.Buffer:
        """Return a new buffer with this content."""
        buffer = self._buffer(content.nbytes)
        if content.size:
            buffer.write(np.ascontiguousarray(content))
        return buffer

    def _buffer(self, size: int) -> moderngl.Buffer:
        """Return a new buffer."""
        if size > self.device.info.limits["max_storage_block"]:
            raise DeviceError(f"{self.device.info.name} binds no buffer of {size} bytes")
        buffer = self.device.ctx.buffer(reserve=max(16, size))
        self.device.check(f"allocating {size} bytes")
        return buffer


_NO_SCORES = dict.fromkeys(("SCORES", "AMBIGUOUS"))
"""Macros of scoring.glsl, which has no part in this."""
_NO_ROWS = dict.fromkeys(
    ("ROWS", "CHAIN", "STRIDE", "LINEAR", "LETTERS", "QUERY_PROFILE", "SUBGROUPS"),
)
"""Macros that lanes_columns.comp does not look at."""
