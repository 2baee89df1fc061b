"""Engine ``bit_parallel``: edit distances, 32 rows of a column in a word (Myers 1999)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import moderngl
import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells
from glsw.arrays import Int32, Int64, Intp, Structured
from glsw.device.device import Device
from glsw.device.info import COMPUTE
from glsw.engines.answers import check_range, highest
from glsw.engines.awkward import awkward
from glsw.engines.base import Capabilities, Pairs, Progress, ScanHints, ignore
from glsw.engines.chunks import Layout
from glsw.engines.gl import MAX_PAIRS_PER_DISPATCH, ComputeEngine, numbered
from glsw.engines.throttle import Throttle
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.sequences.encoded import Sequences, first_words, in_whole_words, run_or_all
from glsw.trust.provable import USUAL, Variant
from glsw.wings.edit.bit_integers import edit_distances
from glsw.wings.edit.bit_planes import (
    BITS,
    SlotTile,
    Strips,
    Windows,
    bit_planes,
    cut_windows,
    slots_of,
)
from glsw.wings.edit.unit_costs import has_unit_costs, is_infix, unit_costs

BINDINGS = numbered("QUERIES", "ROWS", "TARGETS", "SLOTS", "DIFFERENCES", "WORDS", "DISTANCES")
QUERIES, ROWS, TARGETS, SLOTS, DIFFERENCES, WORDS, DISTANCES = BINDINGS
_MAX_WORDS = 16  # of a strip: with more, compilers do not unroll the loops
_REGISTERS = 80  # of differences and planes in a lane
_SECONDS_PER_DISPATCH = 0.03
_SIMILAR = 64  # letters of targets whose order makes no difference to lanes
_COLUMNS, _SOFTWARE_COLUMNS = 2**15, 2**11  # of a dispatch
_MAX_PAIRS_PER_TILE = 2**22
_FEW_PAIRS = 256  # which leave most lanes of hardware idle


@dataclass(frozen=True)
class BitSizes:
    """Sizes by which work is cut; the defaults are for hardware."""

    lanes: int = 2**15  # pairs that fill the device
    cells: int = 2**32  # of a dispatch, at least
    large: int = 2**31  # cells of a pair, of a few, that another engine scores
    window: int = 2**11  # letters of a window of a target, at least
    lengths: int = 16  # the same in lengths of the longest query


SOFTWARE = BitSizes(lanes=64, cells=2**26, large=2**62)
"""For software renderers."""


class EditCapabilities(Capabilities):
    """Of an engine that computes edit distances only."""

    def lacking(self, scoring: Scoring) -> str:
        """Return what the engine does not do of a scoring, as the rest of a sentence, or ""."""
        if has_unit_costs(scoring):
            return super().lacking(scoring)
        return (
            "computes edit distances only: match 0, mismatch -1, gaps at a cost of 1, global "
            "or semi-global with free ends of the target"
        )


class Distances(NamedTuple):
    """Edit distances of N pairs, and where the alignments end: arrays of int32, or numbers."""

    distance: Any
    target_end: Any
    """Target letters before the end: all in global alignment, else the fewest that have this
    distance."""


class BitParallel(ComputeEngine):
    """Edit distances: global, or of whole queries with any part of their targets ("infix").

    A lane computes a pair, column by column. A word contains the differences of 32 rows of a column
    (Myers 1999); the last row of a word passes its horizontal difference on to the next word (Hyyrö
    2003, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances"). The rows
    that match a letter are computed from bit planes of the query's letters, not read from a table:
    so each lane may have its own query, and arbitrary pairs are as fast as all against all. Scores
    only: ends and alignments are computed by other engines.

    Parameters
    ----------
    scoring : Scoring
        A scoring of `glsw.wings.edit.unit_costs.unit_costs`.
    workgroup : int, optional
        Invocations of a work group.
    words : int, optional
        Maximum words of a strip, up to 16.
    columns : int, optional
        Columns of a dispatch, a multiple of 32.
    memory : int
        Bytes of device memory for the pairs that are computed together, sequences not counted.
    limits : BitSizes, optional
        By default those of the kind of device.
    """

    name = "bit_parallel"
    variants = (USUAL, Variant("small work groups", {"words": 1, "columns": 32, "workgroup": 4}))
    capabilities = EditCapabilities(
        requires=COMPUTE,
        tasks=("score",),
        modes=("global", "semiglobal"),
        memory=True,
        workloads=(),
    )
    bindings = BINDINGS

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        words: int | None = None,
        columns: int | None = None,
        memory: int = 2**28,
        limits: BitSizes | None = None,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._defines, self._uniforms = {}, {}
        if words is not None and not 1 <= words <= _MAX_WORDS:
            raise ValueError(f"words {words}: 1 to {_MAX_WORDS} expected")
        if columns is not None and (columns < BITS or columns % BITS):
            raise ValueError(f"columns {columns}: a multiple of {BITS} expected")
        software = self.device.info.software
        self._group = workgroup or (8 if software else 64)
        self._limits = limits or (SOFTWARE if software else BitSizes())
        self._columns = columns or (_SOFTWARE_COLUMNS if software else _COLUMNS)
        self._cells = self._limits.cells
        self._memory = memory
        self._throttle = Throttle(self.device, first=4)
        self._matching = (scoring.match_and_mismatch or (0, 0, 0))[2]
        self._planes = max(1, (len(scoring.alphabet) - 1).bit_length())
        self._words = words or max(1, min(_MAX_WORDS, _REGISTERS // (self._planes + 2)))
        self._infix = is_infix(scoring)

    def _upload_scores(self) -> int:
        """Upload nothing: letters are equal or not."""
        return 0

    @property
    def hints(self) -> ScanHints:
        """What suits scans."""
        return ScanHints(cells_at_once=1024 * self._limits.cells)

    def best(self, asked: Pairs, progress: Progress) -> BestCells:
        """Return the scores of the pairs, see `Engine.best`."""
        batch = asked.batch
        m, n = batch.query_lengths, batch.target_lengths
        offset = self.scoring.score_offset(m, n)
        left = np.zeros(len(batch), bool)
        if self.rest is not None and len(batch) <= _FEW_PAIRS:
            left = m * n >= self._limits.large
        score = np.zeros(len(batch), np.int64)
        if left.any() and self.rest is not None:
            score[left] = self.rest(batch.select(np.flatnonzero(left)), progress) + offset[left]
        chosen = np.flatnonzero(~left)
        found = self.distances(batch.select(chosen), progress=progress)
        score[chosen] = offset[chosen] - found.distance
        return BestCells.of(score, m, n)

    @classmethod
    def trial_scorings(cls) -> dict[str, Scoring]:
        """Return the scoring that it takes, see `Engine.trial_scorings`."""
        return {"edit distance": unit_costs(DNA)}

    def checks(self, kind: Any) -> Iterator[tuple[Any, Any]]:
        """Yield distances of pairs and ends too, see `Engine.checks`.

        To the host a letter that matches none, such as N, is one that the other side lacks.
        """
        yield from super().checks(kind)
        batch = awkward(self.scoring, kind[1])
        match, nothing = self._matching, np.array([254, 255], np.uint8)
        pairs = (
            (np.where(q < match, q, nothing[0]), np.where(t < match, t, nothing[1]))
            for q, t in map(batch.pair, range(len(batch)))
        )
        yield np.stack(self.distances(batch), axis=1), edit_distances(pairs, self._infix)

    def distances(self, batch: Batch, *, progress: Progress | None = None) -> Distances:
        """Return the edit distances of pairs, and the first places where the alignments end.

        Parameters and errors as `Engine.scores`.
        """
        self.check(batch)
        m, n = batch.query_lengths, batch.target_lengths
        found = self._without_letters(m[None], n[None])
        words = first_words(batch.targets)
        for pairs, cut in self._groups(np.where(n > 0, m, 0), 1):
            longest = self._infix and int(m[pairs].max())
            windows = self._windows(pairs, n[pairs], longest)
            if cut.strips > 1:
                windows = windows.part(np.argsort(-cut.strips_of(m[windows.owner]), kind="stable"))
            in_windows = bool(windows.start.any())
            while len(windows.columns):
                part = windows.part(slice(self._slots(cut, windows.columns)))
                windows = windows.part(slice(len(part.columns), None))
                numbers, own = np.unique(batch.query_index[part.owner], return_inverse=True)
                first = words[batch.target_index[part.owner]]
                tile = SlotTile(cut, numbers, slots_of(part, first, own), 1, part.fresh)
                longest = self._compute(tile, batch.queries, batch.targets, progress or ignore)
                self._collect(tile, longest, found, np.zeros(1, np.intp), part, in_windows)
        return Distances(*(each[0] for each in found))

    def distances_of_each(
        self, queries: Sequences, targets: Sequences, *, progress: Progress | None = None
    ) -> Distances:
        """Return the edit distances of each query with each target, arrays of shape (M, N).

        Parameters and errors as `Engine.scores`.
        """
        self.device.activate()
        m, n = queries.lengths, targets.lengths
        self.scoring.check(int(m.max(initial=0)), int(n.max(initial=0)))
        found = self._without_letters(m[:, None], n[None])
        words, letters = first_words(targets), np.flatnonzero(n)
        for rows, cut in self._groups(m, len(letters)):
            longest = self._infix and int(m[rows].max())
            windows = self._windows(letters, n[letters], longest)
            in_windows = bool(windows.start.any())
            while len(windows.columns):
                part = windows.part(slice(self._slots(cut, windows.columns)))
                windows = windows.part(slice(len(part.columns), None))
                slots = slots_of(part, words[part.owner], 0)
                at_once = self._rows(cut, slots)
                for first in range(0, len(rows), at_once):
                    some = rows[first : first + at_once]
                    tile = SlotTile(cut, some, slots, len(some), part.fresh)
                    longest = self._compute(tile, queries, targets, progress or ignore)
                    self._collect(tile, longest, found, some, part, in_windows)
        return found

    def table(self, tile: ScanTile, progress: Progress) -> Int32:
        """Return the scores of a tile, see `Engine.table`."""
        found = self.distances_of_each(tile.queries, tile.targets, progress=progress)
        scores: Int32 = np.negative(found.distance, out=tile.room())
        return scores

    def _without_letters(self, m: Int64, n: Int64) -> Distances:
        """Return arrays with the distances of pairs in which a sequence is empty."""
        shape = np.broadcast_shapes(m.shape, n.shape)
        distance = np.zeros(shape, np.int32)
        if self._infix:
            distance[...] = m
            return Distances(distance, np.zeros(shape, np.int32))
        if not (m.all() and n.all()):
            distance[...] = np.maximum(m, n)
        return Distances(distance, np.broadcast_to(n.astype(np.int32), shape))

    def _groups(self, m: Int64, lanes: int) -> Iterator[tuple[Intp, Strips]]:
        """Yield queries of these lengths that are cut alike, and into how much at most.

        Queries that have too few pairs to fill the device, ``lanes`` of each, share the widest
        strips, those with the most strips first.
        """
        words = -(-m // BITS)
        strips = np.maximum(1, -(-words // self._words))
        cuts = strips * (_MAX_WORDS + 1) + -(-words // strips)
        cuts[m == 0] = -1
        values, counts = np.unique(cuts[m > 0], return_counts=True)
        few = counts * lanes < self._limits.lanes
        for number in values[~few].tolist():
            yield np.flatnonzero(cuts == number), Strips(*divmod(number, _MAX_WORDS + 1))
        others = np.flatnonzero(np.isin(cuts, values[few]))
        if len(others):
            most = int(words[others].max())
            width = min(self._words, most)
            yield (
                others[np.argsort(-words[others], kind="stable")],
                Strips(-(-most // width), width),
            )

    def _windows(self, targets: Intp, lengths: Int64, longest: int) -> Windows:
        """Return windows of targets for queries of so many letters at most, 0 for whole ones."""
        least = max(self._limits.window, self._limits.lengths * -(-longest // 4) * 4)
        return cut_windows(targets, lengths, longest, least, min(_SIMILAR, self._columns))

    def _layout(self, cut: Strips, longest: int, pairs: int = 1) -> Layout:
        """Return what so many pairs have, whose targets have at most so many letters."""
        units = {
            "differences": pairs * -(-longest // BITS) * (cut.strips > 1),
            "words": pairs * cut.words * (longest > self._columns),
            "distances": pairs * (3 if self._infix else 1),
        }
        return Layout(units, {"differences": 8, "words": 8, "distances": 4})

    def _most(self, cut: Strips, longest: int, pairs: int = 1) -> int:
        """Return how many queries, each with so many pairs, are a tile at most."""
        planes = 4 * cut.strips * cut.words * (self._planes + 1)
        fitting = self._layout(cut, longest, pairs).fitting(self._memory, self._buffer_limit)
        return max(1, min(fitting, _MAX_PAIRS_PER_TILE // pairs, self._buffer_limit // planes))

    def _slots(self, cut: Strips, lengths: Int64) -> int:
        """Return how many of the targets of these lengths are a tile."""
        most = min(self._most(cut, int(lengths.max())), MAX_PAIRS_PER_DISPATCH * self._group)
        cells = np.cumsum(np.minimum(lengths[:most], self._columns)) * (BITS * cut.words)
        return max(1, int(np.searchsorted(cells, self._cells, "right")))

    def _rows(self, cut: Strips, slots: Structured) -> int:
        """Return how many queries are a tile with these slots."""
        most = self._most(cut, int(slots["columns"].max()), len(slots))
        return min(most, MAX_PAIRS_PER_DISPATCH)

    def _compute(
        self, tile: SlotTile, queries: Sequences, targets: Sequences, progress: Progress
    ) -> int:
        """Upload a tile and compute it; return the length of its longest query."""
        columns, lengths = tile.slots["columns"].astype(np.int64), queries.lengths[tile.queries]
        longest, pairs = int(columns.max()), tile.rows * len(columns)
        own = tile.rows == 1  # each slot may have a query of its own
        strips = tile.cut.strips_of(lengths[tile.slots["query"]] if own else lengths)
        cut = Strips(int(strips[0]), tile.cut.words)
        planes = bit_planes(queries, tile.queries, cut, self._planes, self._matching)
        if self._uploaded.get(TARGETS) is not targets:
            self.upload(TARGETS, in_whole_words(targets))
            self._uploaded[TARGETS] = targets
        self.upload(QUERIES, planes)
        self.upload(ROWS, lengths.astype(np.int32))
        self.upload(SLOTS, tile.slots)
        layout = self._layout(cut, longest, pairs)
        self.reserve(TARGETS)
        self.reserve(DIFFERENCES, layout.size("differences"))
        self.reserve(WORDS, layout.size("words"))
        self.reserve(DISTANCES, layout.size("distances"))
        self.memory_used = max(self.memory_used, layout.bytes)
        program = self.program(
            "edit/bit_parallel.comp",
            WORKGROUP=self._group,
            WORDS=cut.words,
            PLANES=planes.shape[2],
            INFIX=1 if self._infix else None,
        )
        given = {"slot_count": len(columns), "pair_count": pairs, "strips": cut.strips}
        self.set(program, given)
        program["columns"] = self._columns
        parts = -(-longest // self._columns)
        at_once = int(np.minimum(columns, self._columns).sum()) * BITS * cut.words
        rows = max(1, min(tile.rows, self._cells // at_once))
        turns = -(-tile.rows // rows)

        def step(k: int) -> None:
            strip, part, turn = k // (parts * turns), k // turns % parts, k % turns
            first = part * self._columns
            program["strip"], program["first_column"] = strip, first
            program["first_row"] = turn * rows
            begun = int(np.searchsorted(-strips, strip - cut.strips, "right"))
            if own:
                program.run(-(-begun // self._group))
            elif begun > turn * rows:
                slots = int(np.searchsorted(-columns, -first))
                program.run(-(-slots // self._group), min(rows, begun - turn * rows))
            if turn == turns - 1:  # the next strip or part takes what these have left
                self.device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)

        if own:
            cells = int(lengths[tile.slots["query"]] @ tile.fresh)
        else:
            cells = int(lengths.sum()) * int(tile.fresh.sum())
        began = time.perf_counter()
        self._throttle.run(cut.strips * parts * turns, step, cells=cells, progress=progress)
        self.device.ctx.memory_barrier()
        self.device.check(f"computing with engine {self.name!r}")
        rate = cells / max(time.perf_counter() - began, 1e-6)
        self._cells = max(self._limits.cells, int(rate * _SECONDS_PER_DISPATCH))
        return int(lengths.max())

    def _collect(
        self,
        tile: SlotTile,
        longest: int,
        found: Distances,
        rows: Intp,
        windows: Windows,
        in_windows: bool,
    ) -> None:
        """Put the results of a tile into rows and columns of the distances found.

        ``longest`` is the length of its longest query.
        """
        shape = tile.rows, len(tile.slots)
        pairs, owner = shape[0] * shape[1], windows.owner
        columns, lines = run_or_all(owner), run_or_all(rows)
        place: Any = lines, columns
        most = max(longest, int(tile.slots["columns"].max()))
        if not (isinstance(columns, slice) or isinstance(lines, slice)):
            place = np.ix_(rows, owner)
        if not self._infix:
            slices = isinstance(columns, slice) and isinstance(lines, slice)
            direct = slices and found.distance[place].flags.c_contiguous
            some = found.distance[place] if direct else np.empty(shape, np.int32)
            self.download_into(DISTANCES, some)
            check_range(self, "a distance of", highest(some), 0, most)
            if not direct:
                found.distance[place] = some
            return
        results = self.download(DISTANCES, (np.int32, 3), pairs).reshape(*shape, 3)
        check_range(self, "a distance of", results[..., 1], 0, longest)
        check_range(self, "an end at", results[..., 2], 0, tile.slots["columns"])
        if not in_windows:
            found.distance[place], found.target_end[place] = results[..., 1], results[..., 2]
            return
        # Of all windows of a target the smallest distance, and the first end that has it.
        owners, own = np.unique(owner, return_inverse=True)
        place = np.ix_(rows, owners)
        best = found.distance[place].astype(np.int64) << 32 | found.target_end[place]
        ends = results[..., 2] + windows.start
        index = np.arange(len(rows))[:, None] * len(owners) + own
        np.minimum.at(best.reshape(-1), index, results[..., 1].astype(np.int64) << 32 | ends)
        found.distance[place], found.target_end[place] = best >> 32, best & 2**32 - 1
