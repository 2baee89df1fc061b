"""Engine ``lanes``: many targets at once, in registers; the scores of database searches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property, partial
from itertools import chain, groupby, product, tee
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.arrays import Bool, Int32, Intp
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines.awkward import each_with_each, scoring_of_trials, work_for
from glsw.engines.base import (
    ALL_MODES,
    Capabilities,
    ComingScan,
    Pairs,
    ProgramOf,
    Progress,
    Proportion,
    Question,
    ScanHints,
    ignore,
)
from glsw.engines.costs import EACH_QUERY, OWN_QUERIES, WHOLE_TABLE, Shape, way_of_lanes
from glsw.engines.gl import SUBSTITUTION, ComputeEngine
from glsw.engines.lanes.geometry import (
    BORDER,
    BY_MEDIUMP,
    INT32,
    LIMIT,
    MEDIUMP,
    TOO_HIGH,
    Geometries,
    Geometry,
    LaneSizes,
    profile_letters,
)
from glsw.engines.lanes.jobs import Job, Queue
from glsw.engines.lanes.own_queries import Share, scores_of_each, shares_of
from glsw.engines.lanes.pipeline import Matrices
from glsw.engines.lanes.rows import (
    ROW,
    Placed,
    Rows,
    only,
    profile_macros,
    query_profiles,
    stacks,
    together,
)
from glsw.engines.lanes.selecting import Selecting
from glsw.engines.lanes.targets import (
    BINDINGS,
    BORDERS,
    COLUMNS,
    GROUPS,
    SCORES,
    SLOTS,
    Buffers,
    Targets,
    TargetStore,
    columns_macros,
)
from glsw.engines.reference import Reference
from glsw.engines.sizes import Size, family_of
from glsw.engines.tiles import NEVER, BoundedTile, ScanTile
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences, offsets_of, run_or_all
from glsw.trust.proofs import Proofs, UnprovedError
from glsw.trust.provable import USUAL, Variant

ReadT = TypeVar("ReadT")
_CELLS_AT_ONCE, _SOFTWARE_CELLS_AT_ONCE = 2**40, 2**31  # of queries whose work overlaps
_USUAL_LENGTH = 2**9  # of targets
_PAIRS_AT_ONCE = 2**14  # whose places in a table fit a cache
_ROWS, _LONGEST = 200, 300  # rows of the longest query of most geometries that are tried, of all
_MORE, _LEAST_ROWS = 5, 70  # rows of a second strip at least, and of all: there are long gaps
_JOINED = 9, 7  # rows of the other queries of streams
_USUAL_QUERIES, _STREAMED = (60, 300, 3000), 2000  # rows that are tested; from these on joined
_MEMORY = 2**26  # of an engine that tries geometries
_PLAIN = {"subgroups": False, "number": "int32"}
_BYTES_PER_RESIDUE = 8  # of a part: residues twice, columns of several kinds


class Lanes(ComputeEngine):
    """Compute each target, or two of them, in a lane or a chain of a few lanes.

    A lane keeps some rows of the query in registers and computes one column after the other; with
    subgroups, a chain of lanes computes a taller strip of rows. The last row of a strip is stored
    for the next one. Scores of letters are read from a profile of the query. Targets are sorted by
    length, and the longest get longer chains.

    Two targets, or in `scan` two queries, share a lane as a pair of 16-bit floats if the device
    supports these. They are exact below 2048; pairs that reach this score are recomputed in int32,
    as are global and semi-global pairs with a value outside a range of 4096, see end_to_end.glsl.
    Scores only. A few large or overflowing pairs would keep a lane busy while the rest of the
    device waits: `rest`, set by the router, computes these. Without it, lanes recompute all of
    them, and targets of more than `LaneSizes.longest` residues are rejected.

    Parameters
    ----------
    workgroup : int, optional
        Invocations of a work group.
    number : {"auto", "int32", "f16", "f32", "mediump"}
        Type of the scores. ``"mediump"`` is for devices without ``"f16"`` whose compiler uses 16
        bits for such floats of OpenGL ES: ``"auto"`` selects it where it was measured to be faster
        than ``"int32"``. ``"f32"``, pairs of 32-bit floats, is for tests.
    rows, chain : int, optional
        Rows per lane, a multiple of 4 from 8 to 32, and lanes per chain, a power of two; by default
        those with the fewest idle cells.
    query_profile : {"block", "shared", "storage"}, optional
        Memory of the query profile: a uniform block, shared memory, a buffer.
    subgroups : bool
        Whether lanes may pass values on by shuffles, if a program proves their order; otherwise in
        shared memory.
    own_queries : bool, optional
        Whether pairs of several queries are computed together, without profiles; by default where
        that costs less than tiles. Not on software renderers, which need a dispatch per strip.
    memory : int
        Bytes of device memory for parts of a database and for rows between strips.
    limits : LaneSizes
    """

    name = "lanes"
    variants = (
        USUAL,
        Variant("no subgroups", {"subgroups": False}, lambda info: info.subgroup_size > 0),
        Variant("no subgroups, no 16-bit floats", _PLAIN, lambda info: info.half),
        Variant("a lane for each target", _PLAIN | {"chain": 1, "workgroup": 32}),
    )
    capabilities = Capabilities(
        requires=COMPUTE,
        tasks=("score",),
        modes=ALL_MODES,
        simple_ends=True,
        positional_gaps=True,
        memory=True,
        workloads=("search",),
    )
    order_binding = SCORES
    bindings = (*BINDINGS, SUBSTITUTION)

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        number: Literal["auto", "int32", "f16", "f32", "mediump"] = "auto",
        rows: int | None = None,
        chain: int | None = None,
        query_profile: Literal["block", "shared", "storage"] | None = None,
        subgroups: bool = True,
        own_queries: bool | None = None,
        memory: int = 2**32,
        limits: LaneSizes = LaneSizes(),  # noqa: B008
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        limits = limits.used(scoring, self.device.info)
        self._memory, self.limits = memory, limits
        self.tracks = 1
        if number == "auto" and BY_MEDIUMP in Proofs.of(self.device).verdicts.speeds:
            number = "mediump"
        if isinstance(scoring, TwoTrackScoring):
            self.tracks = 2
            self._defines["FIRST_LETTERS"] = len(scoring.first.matrix)
        self._defines["LETTERS"] = profile_letters(scoring)
        if ends := scoring.end_gaps:
            insertion, _ = scoring.largest_costs
            self._uniforms["ends_in_any_row"] = int(ends.right_insertion != insertion)
        asked = rows, chain, workgroup, query_profile, subgroups
        self.geometries = Geometries(scoring, self.device.info, number, *asked, limits=limits)
        can = not self.on_software and self.geometries.own_queries and not scoring.wide_queries
        self._own_queries = own_queries if can else False
        self.pool, self.queue = Buffers(self.device), Queue(self, memory)
        self.targets = TargetStore(self)
        self.prepared: WeakKeyDictionary[Batch, list[Share]] = WeakKeyDictionary()

    @property
    def on_software(self) -> bool:
        """Whether the renderer runs on the CPU."""
        return self.device.info.software

    @property
    def wrong_from(self) -> int:
        """Scores from which those of floats may be wrong; of integers more than 32 bits hold."""
        if self.geometries.number == INT32:
            return 2**32
        return self.limits.floats if self.scoring.local else TOO_HIGH

    @property
    def hints(self) -> ScanHints:
        """Hints for scans: parts of a database of which two fit, with their columns.

        On a software renderer `diagonal` is faster than `lanes` with windows of a long target.
        """
        block = self.device.info.limits["max_storage_block"] // 4
        part = min(self._memory // _BYTES_PER_RESIDUE, block) // self.tracks
        if self.on_software:
            return ScanHints(part, _SOFTWARE_CELLS_AT_ONCE)
        return ScanHints(
            part,
            _CELLS_AT_ONCE,
            self.queue.rate,
            halves=self.scoring.symmetric,
            targets_at_once=self.limits.targets_at_once,
            cells_of_pair=self.limits.cells,
        )

    def check_lengths(self, m: int, n: int, masks: Masks | None = None) -> None:
        """Raise ValueError as of `Engine.check_lengths`, and for targets too long for lanes."""
        super().check_lengths(m, n)
        if self.rest is None and n > (most := self.limits.longest):
            raise ValueError(f"target of {n} residues: engine 'lanes' takes at most {most}")

    def best(self, asked: Pairs, progress: Progress) -> Int32:
        """Return the best score of each pair, see `Engine.best`."""
        batch = asked.batch
        way = self.way(batch)
        if way == WHOLE_TABLE:
            return self._of_table(batch, progress)
        found = np.zeros(len(batch), np.int32)
        if way == OWN_QUERIES:
            short = self.limits.fits(batch.query_lengths, batch.target_lengths)
            short |= self.rest is None
            some = batch if short.all() else batch.select(np.flatnonzero(short))
            (found[short],) = scores_of_each(self, [some], progress)
            query, target = batch.index[~short].T
            found[~short] = self.exact(batch, query, target, progress)
            return found
        ahead, tiles = tee(_tiles_of(batch))
        scanned = self.answers((tile for _, tile in ahead), progress=progress)
        for (pairs, _), scores in zip(tiles, scanned, strict=True):
            found[pairs] = scores
        return found

    def answers(
        self, questions: Iterable[Question], *, progress: Progress | None = None
    ) -> Iterator[Any]:
        """Yield the answer to each question, see `Engine.answers`; what passes stays there."""
        report = progress or ignore
        every: Iterable[Any] = questions
        for way, some in groupby(every, self._checked_way):
            if way is BoundedTile:
                self.prove([BoundedTile])
                yield from (found for (found,) in Selecting(self, some, report).run())
            elif way is ScanTile:
                yield from Matrices(self, some, report).run()
            elif way == OWN_QUERIES:
                yield from scores_of_each(self, (asked.batch for asked in some), report)
            else:
                yield from super().answers(some, progress=progress)

    def prepare(self, batch: Batch) -> None:
        """Lay out pairs that are computed together, see `Engine.prepare`."""
        if self._together(batch):
            self.prepared[batch] = shares_of(self, batch, self.geometries.number)

    def _checked_way(self, asked: Question) -> str | type[ScanTile]:
        """Return the type of a tile, or whether pairs have own queries, and check them."""
        if isinstance(asked, ScanTile):
            return type(asked)
        self.check(asked.batch)
        return OWN_QUERIES if self._together(asked.batch) else EACH_QUERY

    def _together(self, batch: Batch) -> bool:
        """Tell whether all pairs of a batch are computed at once, each with its own query."""
        return self.way(batch) == OWN_QUERIES and bool(self.limits.fits(*batch.extent[1]))

    def is_table(self, batch: Batch) -> bool:
        """Tell whether all queries are computed with all targets, see `Engine.is_table`."""
        return self.way(batch) == WHOLE_TABLE

    def way(self, batch: Batch) -> str:
        """Return how pairs are computed, as `way_of_lanes`."""
        if self.on_software or not len(batch):
            return EACH_QUERY
        if self._own_queries and batch.distinct[0] > 1:
            return OWN_QUERIES
        own = self._own_queries is None
        return way_of_lanes(Shape.of(batch), own_queries=own, rate=self.queue.full_rate)

    def programs(self, coming: ComingScan) -> Iterator[ProgramOf]:
        """Yield the programs that are not proved yet, see `Engine.programs`."""
        rows = self._rows_of(coming)
        for long in (False, True):
            for _, geometry in stacks(self.geometries, rows, long):
                if self.proves and self.verdict(geometry) is None:
                    yield from _programs_of(geometry)

    def _rows_of(self, coming: ComingScan) -> Rows:
        lengths = coming.lengths[: coming.first]
        return together(self.geometries, lengths, coming.residues // _USUAL_LENGTH)

    def get_ready(self, coming: ComingScan) -> None:
        """Load the first programs of a scan, and make room for its borders."""
        self.device.activate()
        size, rows = 0, self._rows_of(coming)
        for numbers, geometry in stacks(self.geometries, rows):
            if 0 in numbers:
                self.prove([geometry])
                for name, macros in _programs_of(geometry):
                    self.program(name, **macros)
            several = int((Placed(only(rows, numbers), geometry).strips > 1).sum())
            size += coming.residues * BORDER * several
        size = min(size, self.queue.border_room(size))
        if size >= self.limits.first_use:  # the driver clears a buffer when it is first used
            first = np.zeros(self.limits.first_use, np.uint8)
            self.device.write(self.reserve(BORDERS, size), first)

    def exact(
        self,
        pairs: ScanTile | Batch,
        query: npt.NDArray[np.integer],
        target: npt.NDArray[np.integer],
        progress: Progress = ignore,
    ) -> Int32:
        """Return the scores of pairs that lanes did not compute, or not exactly.

        `rest` computes long targets, and large pairs and any if they are few: such would keep some
        lanes busy while the device waits. Others are computed as integers.
        """
        if not len(query):
            return np.empty(0, np.int32)
        index = query.astype(np.int32), target.astype(np.int32)
        batch = Batch.indexed(pairs.queries, pairs.targets, *index).compact()
        found, left = np.empty(len(batch), np.int32), np.zeros(len(batch), np.bool_)
        if self.rest is not None:
            few = self.limits.few_pairs * batch.distinct[0]
            large = batch.query_lengths * batch.target_lengths >= self.limits.large_pair
            left = ~self.limits.fits(batch.query_lengths, batch.target_lengths)
            for some in (large, ~large):
                left |= some & (np.count_nonzero(some) <= few)
            if left.any():
                found[left] = self.rest(batch.select(np.flatnonzero(left)), progress)
        if not left.all():
            others = batch.select(np.flatnonzero(~left))
            found[~left] = self._integers.scores(others, progress=progress)
        return found

    def _of_table(self, batch: Batch, progress: Progress) -> Int32:
        """Return the scores of pairs out of those of all their queries with all their targets."""
        sides, used = batch.sequences, batch.used
        if sides[0] is sides[1]:
            # Each pair of a table of sequences with themselves is computed in one order only.
            either = np.logical_or(*used)
            if np.count_nonzero(either) ** 2 <= 2 * np.prod(batch.distinct):
                longest = int(sides[0].lengths[either].max())
                with suppress(ValueError):  # of pairs that are not asked for
                    self.check_lengths(longest, longest)
                    used = either, either
        queries = _those(sides[0], used[0])
        targets = queries if used[0] is used[1] else _those(sides[1], used[1])
        report = progress
        if progress is not ignore:
            report = proportion = Proportion(progress)
            proportion.expect(len(queries.residues) * len(targets.residues), batch.cells)
        (scores,) = self.answers([ScanTile(queries, targets)], progress=report)
        found: Int32 = scores.reshape(-1)
        if batch.table and len(found) == len(batch):
            return found
        rows, columns = ((np.cumsum(each) - 1) for each in used)
        rows *= len(targets)
        found = np.empty(len(batch), np.int32)
        for start in range(0, len(batch), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            places = rows[batch.query_index[some]]
            places += columns[batch.target_index[some]]
            scores.take(places, out=found[some], mode="clip")
        return found

    @cached_property
    def _integers(self) -> Lanes:
        """An engine as this one that computes with integers, and has other targets."""
        made = copy(self)
        made.geometries, made.rest = copy(self.geometries), None
        made.geometries.number = INT32
        made.targets = TargetStore(made)
        return made

    def job(
        self, queries: Sequences, rows: Rows, share: Targets, geometry: Geometry, first: Intp
    ) -> Job:
        """Upload the query profiles, and make room for the scores.

        ``first`` is the first target that each group needs, perhaps of a work group after those
        that it does not need.
        """
        packed = self.targets.pack(share, geometry)
        border_columns = offsets_of(packed.columns[:: geometry.chains] * geometry.chains)
        first = first // geometry.group
        placed = Placed(rows, geometry)
        profiles = query_profiles(self, queries, placed, first)
        letters = np.bincount(rows["group"], rows["length"]).astype(np.int64)
        columns = np.diff(border_columns)
        met = np.cumsum(np.bincount(first, letters, len(columns)).astype(np.int64))
        borders = self.pool.filled(border_columns.astype(np.uint32))
        scores = self.pool.take(4 * share.row_size * len(rows))
        bound = (SLOTS, packed.slots), (COLUMNS, packed.words), (GROUPS, borders), (SCORES, scores)
        return Job(
            rows=rows,
            groups=len(letters),
            targets=share,
            geometry=geometry,
            strips=int(placed.strips.max()),
            border_columns=border_columns,
            cells=offsets_of(columns * geometry.targets * met),
            useful=int(letters @ share.residues_from[first * geometry.group]),
            bound=bound,
            profiles=profiles,
            row_size=share.row_size,
            scores=scores,
            buffers=(profiles[0].buffer, borders, scores),
        )

    # What it proves: geometries when they are first used, and once that it selects what passes.

    def kinds(
        self, task: str, pairs: Batch | tuple[Sequences, Sequences]
    ) -> Iterator[tuple[str, Size]]:
        """Yield nothing: only later it is known which geometries suit the pairs."""
        return iter(())

    def every(self, task: str) -> Iterable[Hashable]:
        """Return also geometries of usual lengths, for one query, two, or streams."""
        made = self.geometries
        geometries = {
            made.of(m, queries, long, joins=joins)
            for m, queries, long, joins in product(
                _USUAL_QUERIES, range(1, 2 + made.pairs_queries), (False, True), (False, True)
            )
            if not joins or (m > _STREAMED and not self.on_software)
        }
        return [*super().every(task), BoundedTile, *geometries]

    def family(self, kind: Any) -> str:
        """Return what distinguishes programs: macros, and features of the scoring."""
        if kind is BoundedTile:
            return f"passing, {self.geometries}, {family_of(self.scoring)}"
        if not isinstance(kind, Geometry):
            return super().family(kind)
        macros = self._defines | kind.defines
        words = " ".join(f"{key}={value}" for key, value in macros.items() if value is not None)
        return f"{words}, {family_of(self.scoring)}"

    def prove(self, kinds: Iterable[Hashable]) -> None:
        """Prove kinds of programs; where those of `MEDIUMP` are wrong, it is not chosen again."""
        try:
            super().prove(kinds)
        except UnprovedError:
            if self.geometries.number == MEDIUMP:
                Proofs.of(self.device).verdicts.forget(BY_MEDIUMP)
            raise

    def fresh(self) -> Lanes:
        """Return one like it with little memory, and without limits: it tries any geometry."""
        options = {key: value for key, value in self.options.items() if key != "limits"}
        return Lanes(scoring_of_trials(self.scoring), self.device, **options | {"memory": _MEMORY})

    def checks(self, kind: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the scores of a geometry, or the pairs that pass, see `Provable.checks`."""
        if kind is BoundedTile:
            return self._passing()
        if not isinstance(kind, Geometry):
            return super().checks(kind)
        return self._own_scores(kind) if kind.letters else self._table_scores(kind)

    def _table_scores(self, geometry: Geometry) -> Iterator[tuple[Any, Any]]:
        """Yield the scores of queries with targets."""
        longest = min(max(geometry.strip + _MORE, _LEAST_ROWS), _LONGEST)
        work = work_for(self.scoring)
        # Prefixes of the queries of the work: the length, which one, and the stream of each.
        every = [(longest - 2 * k, k, k) for k in range(geometry.queries)]
        if geometry.joined:
            every = [more for m, q, k in every for more in ((m, q, k), (_JOINED[k], 1 - k, k))]
        rows = np.array([(number, m, 0, k) for number, (m, _, k) in enumerate(every)], ROW)
        (share, _), *_ = self.targets.sorted(Sequences.of(work.targets), longest).shares
        # Other queries come first: a device may go on with those.
        prefixes = [[work.queries[(q + k) % 2][:m] for m, q, _ in every] for k in (1, 0)]
        best = Reference(self.scoring).scores(each_with_each([*chain(*prefixes)], work.targets))
        every_score = best.reshape(2, len(every), -1)[..., share.positions].astype(np.int64)
        for some, right in zip(prefixes, every_score, strict=True):
            job = self.job(Sequences.of(some), rows, share, geometry, np.zeros(1, np.intp))
            for _ in self.queue.slices_of([job], ignore):
                pass
            (found,) = self.reading([job])()
            if geometry.end_to_end:  # floats may be wrong where they are `TOO_HIGH`
                yield found[found < TOO_HIGH], right[found < TOO_HIGH]
            else:  # and otherwise from `LIMIT` on
                most = NEVER if geometry.number == INT32 else LIMIT
                yield np.minimum(found, most), np.minimum(right, most)

    def _own_scores(self, geometry: Geometry) -> Iterator[tuple[Any, Any]]:
        """Yield the scores of pairs that each have their own query."""
        longest = min(max(geometry.strip + _MORE, _LEAST_ROWS), _ROWS)
        work = work_for(self.scoring, geometry.letters)
        lengths = [1, 7, longest // 2, longest - 1, longest]
        queries = [work.queries[q][:m] for q in (0, 1) for m in lengths]
        batch = each_with_each(queries, work.targets)
        self.prepared[batch] = shares_of(self, batch, geometry.number, geometry)
        (found,) = scores_of_each(self, [batch], ignore)
        yield found, Reference(self.scoring).scores(batch)

    def _passing(self) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs that pass, by their scores."""
        work = work_for(self.scoring)
        queries = Sequences.of([query[:_LEAST_ROWS] for query in work.queries])
        targets = Sequences.of(work.targets)
        scores = Reference(self.scoring).table(ScanTile(queries, targets), ignore)
        middle = np.median(scores, axis=1).astype(np.int32)
        for more in (0, 1):  # once with the bounds of one query exchanged with those of the other
            bounds = np.roll(middle, more), np.full(len(targets), int(scores.max()), np.int32)
            tile = BoundedTile(queries, targets, *bounds)
            (found,) = self.answers([tile])
            yield from zip(found, tile.answer(scores), strict=True)

    def reading(self, jobs: Sequence[Job]) -> Callable[[], list[Int32]]:
        """Begin to read the scores of each job, shape (queries, targets); return what gives them.

        Those of floats are perhaps too high.
        """
        if not jobs:
            return list
        wanted = [(job.scores, job.score_bytes) for job in jobs]
        begin = partial(self.device.readback.begin, wanted)
        contents = self.reading_of(begin, [each for job in jobs for each in job.buffers])
        return lambda: [job.scores_of(each) for job, each in zip(jobs, contents(), strict=True)]

    def reading_of(
        self, begin: Callable[[], Callable[[], ReadT]], used: Sequence[moderngl.Buffer]
    ) -> Callable[[], ReadT]:
        """Begin to read what has been computed; return what gives it.

        ``begin`` does this, and ``used`` buffers go to the pool after that.
        """
        self.device.ctx.memory_barrier()
        self.device.check("computing lanes")
        held = chain(self._buffers.values(), self.targets.buffers, used)
        self.memory_used = max(self.memory_used, sum(buffer.size for buffer in held))
        contents, read = begin(), self.pool.behind()

        def taken() -> ReadT:
            found = contents()
            self.device.check("reading scores")
            self.pool.give([*read, *used])
            return found

        return taken


def _programs_of(geometry: Geometry) -> tuple[ProgramOf, ...]:
    """Return the programs that compute with a geometry."""
    return (
        ("lanes.comp", geometry.defines),
        ("lanes_columns.comp", columns_macros(geometry)),
        ("lanes_profile.comp", profile_macros(geometry)),
    )


def _those(sequences: Sequences, used: Bool) -> Sequences:
    """Return the sequences that are used, these themselves if all are."""
    chosen = run_or_all(np.flatnonzero(used))
    return sequences.part(chosen) if isinstance(chosen, slice) else sequences.select(chosen)


def _tiles_of(batch: Batch) -> Iterator[tuple[Intp, ScanTile]]:
    """Yield tiles of queries with the same targets, and the pair of each of their scores."""
    of_query = np.split(
        np.argsort(batch.query_index, kind="stable"),
        np.cumsum(np.bincount(batch.query_index, minlength=1))[:-1],
    )
    index = batch.target_index
    for _, alike in groupby(filter(len, of_query), key=lambda pairs: index[pairs].tobytes()):
        pairs = np.stack([*alike])
        queries, which = batch.query_index[pairs[:, 0]], index[pairs[0]]
        whole = np.array_equal(which, np.arange(len(batch.targets)))
        targets = batch.targets if whole else batch.targets.select(which)
        yield pairs, ScanTile(batch.queries.select(queries), targets)
