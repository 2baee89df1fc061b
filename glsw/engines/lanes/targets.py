"""The targets of engine ``lanes``: sorted by length, and packed into words on the device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.engines.gl import Binding, ComputeEngine, numbered
from glsw.engines.lanes.buffers import Bindable, Buffers
from glsw.engines.lanes.geometry import Geometry, Limits
from glsw.frozen import dataclass
from glsw.sequences.encoded import Sequences, offsets_of

BINDINGS = numbered(
    "QUERY_PROFILE", "COLUMNS", "SLOTS", "BORDERS", "SCORES", "GROUPS", "LETTERS", "TARGETS"
)
QUERY_PROFILE, COLUMNS, SLOTS, BORDERS, SCORES, GROUPS, LETTERS, TARGETS = BINDINGS
"""Storage buffers; the query profile may be a uniform block instead."""
OF_PAIRS = OWN_QUERIES, QUERY_WORDS = (
    Binding("OWN_QUERIES", LETTERS.number),  # which `lanes` itself does not read
    Binding("QUERY_WORDS", TARGETS.number),
)
"""Of pairs that each have their own query."""
OF_PROFILES = (
    Binding("ROW_LETTERS", LETTERS.number),
    Binding("TABLE", TARGETS.number),
    Binding("HEADS", GROUPS.number),
)
"""Of query profiles that the device makes."""
_MOST_USUAL = 2**13, 4  # residues, or of the mean, so that few work groups end much later
_MORE_IN_FLIGHT = 2**15, 2048  # the same where few are long: these of so many residues or more

_USUAL_CHAINS_PER_WORKGROUP = 64
_BYTES_PER_STEP = 2**25  # of an upload: some hundredths of a second


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets that lanes can take, the longest first.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Their numbers. Scores come in the order of these.
    first, lengths : ndarray of int64, shape (N,)
        Where its letters begin, and how many they are.
    """

    order: npt.NDArray[np.intp]
    first: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @cached_property
    def positions(self) -> npt.NDArray[np.intp] | slice:
        """Where the scores of a row belong, as a slice if that is one."""
        first, last = int(self.order.min()), int(self.order.max())
        whole = last - first + 1 == len(self.order)
        return slice(first, last + 1) if whole else np.sort(self.order)

    @cached_property
    def places(self) -> npt.NDArray[np.uint32]:
        """Where the score of each target is in a row."""
        if isinstance(self.positions, slice):
            places = self.order - self.positions.start
        else:
            places = np.searchsorted(self.positions, self.order)
        return np.asarray(places, np.uint32)

    @cached_property
    def residues_from(self) -> npt.NDArray[np.int64]:
        """Residues of each and those behind it, and 0 behind all, shape (N + 1,)."""
        return offsets_of(self.lengths[::-1])[::-1]

    def only(self, chosen: npt.NDArray[np.intp] | slice) -> Targets:
        """Return these of them."""
        return Targets(self.order[chosen], self.first[chosen], self.lengths[chosen])


@dataclass(frozen=True, eq=False)
class SortedTargets:
    """The targets of a search, in shares that each have chains of one kind.

    Parameters
    ----------
    sequences : Sequences
    shares : list of (Targets, bool)
        Targets, and whether they are long: those need more lanes each.
    beyond : ndarray of int
        Those that are too long for lanes.
    """

    sequences: Sequences
    shares: list[tuple[Targets, bool]]
    beyond: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls,
        sequences: Sequences,
        *,
        long_apart: bool,
        queries: int = 1,
        longest: tuple[int, int] = (2**62, 2**62),
        limits: Limits = Limits(),  # noqa: B008
    ) -> SortedTargets:
        """Sort by descending length, and perhaps set apart the long ones, which would end last.

        With many ``queries`` in one dispatch there are no targets to wait for. ``longest`` are the
        most residues that lanes take at all, and without setting them apart.
        """
        lengths, first = sequences.lengths, sequences.offsets[:-1]
        if (lengths[1:] <= lengths[:-1]).all():  # as a database has them
            ascending = lengths[::-1]
            long = len(lengths) - int(np.searchsorted(ascending, longest[0], "right"))
            some = slice(long, len(lengths) - int(np.searchsorted(ascending, 0, "right")))
            targets = Targets(np.arange(some.start, some.stop), first[some], lengths[some])
        else:
            order = np.argsort(-lengths, kind="stable")
            order = order[(lengths[order] > 0) & (lengths[order] <= longest[0])]
            targets = Targets(order, first[order], lengths[order])
        long = 0
        if long_apart:
            residues, (most, of_mean) = int(targets.lengths.sum()), _MOST_USUAL
            total, (more, least) = residues * queries, _MORE_IN_FLIGHT
            most = max(most, of_mean * residues // max(1, len(targets.lengths)))
            usual = min(total // limits.in_flight, max(least, total // more), most, longest[1])
            usual = max(limits.long_target, usual)
            long = int(np.searchsorted(-targets.lengths, -usual))
        parts = (targets.only(slice(long)), True), (targets.only(slice(long, None)), False)
        shares = [(part, is_long) for part, is_long in parts if len(part.order)]
        return cls(sequences, shares, np.flatnonzero(lengths > longest[0]))

    def first_needed(self, rows: npt.NDArray[np.void]) -> npt.NDArray[np.intp]:
        """Return the place of the first target, of all shares, that each group of a table needs.

        The queries are the targets. With a target before its own place a query need not be
        compared, because that one is compared with it.
        """
        place = np.zeros(len(self.sequences), np.intp)  # 0 of those that are in no share
        order = np.concatenate([share.order for share, _ in self.shares] or [place[:0]])
        place[order] = np.arange(len(order))
        begins = np.flatnonzero(np.diff(rows["group"], prepend=-1))
        return np.minimum.reduceat(place[rows["query"]], begins)


@dataclass(frozen=True, eq=False)
class PackedTargets:
    """Targets as lanes read them, in words of a few columns.

    Parameters
    ----------
    slots, words : moderngl.Buffer
        Where the words of each lane begin, and the words.
    columns : ndarray of int64
        Columns of each lane.
    row_size : int
        Scores of a query: of each target, and one more for lanes without any.
    """

    slots: moderngl.Buffer
    words: moderngl.Buffer
    columns: npt.NDArray[np.int64]
    row_size: int

    @property
    def buffers(self) -> tuple[moderngl.Buffer, ...]:
        """Its buffers on the device."""
        return self.slots, self.words

    def border_columns(self, geometry: Geometry) -> npt.NDArray[np.int64]:
        """Return the places of borders before each work group, and behind the last one."""
        return offsets_of(self.columns[:: geometry.chains] * geometry.chains)

    def release(self) -> None:
        """Free its buffers."""
        self.slots.release()
        self.words.release()


class TargetStore:
    """Targets on the device: residues, and words of columns made of them, once per geometry.

    Parameters
    ----------
    engine : ComputeEngine
        Has the programs.
    pool : Buffers
    tracks : int
        Letters of a residue.
    limits : Limits
    """

    def __init__(self, engine: ComputeEngine, pool: Buffers, tracks: int, limits: Limits) -> None:
        self._engine, self._pool, self._tracks, self._limits = engine, pool, tracks, limits
        self._letters: dict[Sequences, moderngl.Buffer] = {}  # and of those that follow, perhaps
        self.present: SortedTargets | None = None
        self._sorted_by: tuple[int, tuple[int, int]] | None = None
        self._packed: dict[tuple[Targets, int, int, int], PackedTargets] = {}
        self._before: list[PackedTargets] = []  # of the targets before

    @property
    def buffers(self) -> list[moderngl.Buffer]:
        """What it has on the device."""
        kept = *self._packed.values(), *self._before
        return [*self._letters.values()] + [buffer for each in kept for buffer in each.buffers]

    def sorted(
        self,
        sequences: Sequences,
        *,
        long_apart: bool,
        queries: int = 1,
        longest: tuple[int, int],
    ) -> SortedTargets:
        """Return targets by descending length, uploaded; the last ones if they are the same.

        Jobs with those before can be finished until `forget_before`, or until others come.
        """
        self._upload(sequences)
        last, by = self.present, (queries, longest)
        if last is None or last.sequences is not sequences or self._sorted_by != by:
            self.forget_before()
            self._before, self._packed = [*self._packed.values()], {}
            last = SortedTargets.of(
                sequences,
                long_apart=long_apart,
                queries=queries,
                longest=longest,
                limits=self._limits,
            )
            self.present, self._sorted_by = last, by
        return last

    def _upload(self, sequences: Sequences) -> None:
        """Have the residues on the device, and no others."""
        for other in {*self._letters} - {sequences}:
            self._letters.pop(other).release()
        if sequences not in self._letters:
            self._letters[sequences] = self._pool.filled(sequences.residues, pooled=False)

    def forget_before(self) -> None:
        """Release the packed targets before the present ones: no job uses them any more."""
        for packed in self._before:
            packed.release()
        self._before.clear()

    def prefetch(self, sequences: Sequences) -> Iterator[None]:
        """Upload residues beside those that targets may just be packed from, in some steps."""
        content = np.ascontiguousarray(sequences.residues)
        buffer = self._pool.make(-(-content.nbytes // 4) * 4)
        for start in range(0, content.nbytes, _BYTES_PER_STEP):
            # Not by `Device.write`, whose copies would wait for the slices before them.
            buffer.write(content[start : start + _BYTES_PER_STEP], offset=start)
            yield
        self._letters[sequences] = buffer

    def pack(self, targets: Targets, geometry: Geometry) -> PackedTargets:
        """Have the residues in words of columns, unless they are there from the last query."""
        chains = max(_USUAL_CHAINS_PER_WORKGROUP, geometry.chains)
        key = targets, geometry.targets, geometry.step, chains
        if key not in self._packed:
            self._packed[key] = self._made(targets, geometry, chains)
        return self._packed[key]

    def _made(self, targets: Targets, geometry: Geometry, chains: int) -> PackedTargets:
        assert self.present
        count = len(targets.order)
        lanes = -(-count // (geometry.targets * chains)) * chains
        places = np.zeros((lanes * geometry.targets, 2), np.uint32)
        places[:count, 0], places[:count, 1] = targets.first, targets.lengths
        scores = np.full(len(places), count, np.uint32)
        scores[:count] = targets.places
        slots = slots_of(places[:, 1], geometry.targets, geometry.step, 6)
        slots[:, 4:] = scores.reshape(-1, geometry.targets)
        made = PackedTargets(
            self._pool.filled(slots, pooled=False),
            self._pool.make(4 * self._tracks * (int(slots[-1, :2].sum()) + 1)),
            slots[:, 1].astype(np.int64) * geometry.step,
            count + 1,
        )
        stored, letters = self._pool.filled(places), self._letters[self.present.sequences]
        self.pack_letters(geometry, lanes, made.slots, stored, letters, made.words)
        self._pool.give_when_read([stored])
        return made

    def pack_letters(
        self,
        geometry: Geometry,
        slots: int,
        columns: Bindable,
        places: Bindable,
        letters: Bindable,
        words: Bindable,
        *,
        from_end: bool = False,
    ) -> None:
        """Have the letters of sequences, which stand at these places, in words of columns.

        Letters of none stand behind them, or ``from_end`` before.
        """
        given = (SLOTS, columns), (TARGETS, places), (LETTERS, letters), (COLUMNS, words)
        for binding, buffer in given:
            buffer.bind_to_storage_buffer(binding.number)
        program = self._engine.program("lanes_columns.comp", **columns_macros(geometry))
        program["from_end"] = from_end
        for start in range(0, slots, self._limits.groups):
            program["first_slot"] = start
            program.run(min(self._limits.groups, slots - start))
        self._engine.device.check("packing targets")


def columns_macros(geometry: Geometry) -> dict[str, int | None]:
    """Return the macros of lanes_columns.comp."""
    return geometry.defines | {"WORKGROUP": 32, "GLOBAL_MODE": None}


def slots_of(
    lengths: npt.NDArray[np.uint32], targets: int, step: int, width: int = 4
) -> npt.NDArray[np.uint32]:
    """Return the slots as columns.glsl has them, shape (slots, width), one word behind each.

    These are the first word, the words, and the letters of up to two sequences; what is behind
    these is the caller's.
    """
    longest = lengths if targets == 1 else np.maximum(lengths[::2], lengths[1::2])
    slots = np.empty((len(longest), width), np.uint32)
    slots[:, 2:4] = lengths.reshape(-1, targets)
    slots[:, 1] = words = (longest + np.uint32(step - 1)) // np.uint32(step)
    slots[0, 0] = 0
    np.cumsum(words[:-1] + np.uint32(1), out=slots[1:, 0])
    return slots
