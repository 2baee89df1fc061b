"""Device memory of engine ``lanes``: its buffers, and the targets in them.

These are sorted by length, and packed into words. Buffers are used by one job after the other:
drivers make large ones slowly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.arrays import Int64, Intp, Structured, UInt8, UInt32
from glsw.device.device import Device, DeviceMemoryError
from glsw.engines.gl import Binding, new_buffer, numbered
from glsw.engines.lanes.geometry import USUAL_SHARE, Geometry, LaneSizes
from glsw.sequences.encoded import Sequences, offsets_of

if TYPE_CHECKING:
    from glsw.engines.lanes.engine import Lanes

_NUMBERED = numbered(
    "QUERY_PROFILE", "COLUMNS", "SLOTS", "BORDERS", "SCORES", "GROUPS", "LETTERS", "TARGETS"
)
QUERY_PROFILE, COLUMNS, SLOTS, BORDERS, SCORES, GROUPS, LETTERS, TARGETS = _NUMBERED
"""Storage buffers; the query profile may be a uniform block instead."""
OF_PAIRS = OWN_QUERIES, QUERY_WORDS = (
    Binding("OWN_QUERIES", LETTERS.number),  # which `lanes` itself does not read
    Binding("QUERY_WORDS", TARGETS.number),
)
"""Of pairs that each have their own query."""
OF_PROFILES = (
    Binding("ROW_CODES", LETTERS.number),
    Binding("TABLE", TARGETS.number),
    Binding("AROUND", GROUPS.number),
)
"""Of query profiles that the device makes."""
OF_PASSING = QUERY_BOUNDS, TARGET_BOUNDS, PASSING = (
    Binding("QUERY_BOUNDS", COLUMNS.number),  # which `compact` does not read
    Binding("TARGET_BOUNDS", SLOTS.number),
    Binding("PASSING", BORDERS.number),
)
"""Of pairs that pass."""
BINDINGS = (*_NUMBERED, *OF_PAIRS, *OF_PROFILES, *OF_PASSING)
_MOST_USUAL = 2**13, 4  # residues, or of the mean, so that few work groups end much later
_MORE_IN_FLIGHT = 2**15, 2048  # the same where few are long: these of so many residues or more

_USUAL_CHAINS_PER_WORKGROUP = 64
_LEAST_BYTES = 2**10  # of a buffer


class Section(NamedTuple):
    """Some bytes of a buffer, bound as if they were one; ``start`` is a multiple of 256."""

    buffer: moderngl.Buffer
    start: int
    size: int

    def bind_to_storage_buffer(self, number: int) -> None:
        """Bind these bytes."""
        self.buffer.bind_to_storage_buffer(number, self.start, self.size)

    def bind_to_uniform_block(self, number: int) -> None:
        """Bind these bytes as a uniform block."""
        self.buffer.bind_to_uniform_block(number, self.start, self.size)

    def part(self, start: int, size: int) -> Section:
        """Return some bytes of these."""
        return Section(self.buffer, self.start + start, size)


Bindable: TypeAlias = moderngl.Buffer | Section


class Buffers:
    """Buffers of a device that have been used, and can be used again.

    ``most`` is how many bytes of them are kept for their next use.
    """

    def __init__(self, device: Device, most: int = 2**31) -> None:
        self._device, self._most = device, most
        self._free: list[moderngl.Buffer] = []  # the longest unused first
        self._queued: list[moderngl.Buffer] = []  # that queued work reads

    def filled(
        self, content: npt.NDArray[np.unsignedinteger], *, pooled: bool = True
    ) -> moderngl.Buffer:
        """Return a buffer with this content: a new one, unless it is to go back to the pool."""
        buffer = (self.take if pooled else self.make)(content.nbytes)
        if content.size:
            self._device.write(buffer, np.ascontiguousarray(content))
        return buffer

    def take(self, size: int) -> moderngl.Buffer:
        """Return a buffer of ``size`` bytes or up to a quarter more, with any content."""
        step = max(_LEAST_BYTES, 1 << max(0, size.bit_length() - 3))
        most = self._device.info.limits["max_storage_block"] // 4 * 4
        size = max(16, size, min(-(-size // step) * step, most))
        for k, buffer in enumerate(self._free):
            if buffer.size == size:
                return self._free.pop(k)
        return self.make(size)

    def make(self, size: int) -> moderngl.Buffer:
        """Return a new buffer of ``size`` bytes; free ones are released if memory is short."""
        try:
            return new_buffer(self._device, size)
        except DeviceMemoryError:
            self.release_down_to(0)
            return new_buffer(self._device, size)

    def give(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Take buffers back that nobody uses any more; the longest unused are released."""
        self._free += buffers
        self.release_down_to(self._most)

    def give_when_read(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Keep buffers that only queued work still reads, for `behind`.

        To write to them at once is not safe: NVIDIA's driver may do so while a shader reads them.
        """
        self._queued.extend(buffers)

    def behind(self) -> list[moderngl.Buffer]:
        """Return those kept, to `give` them when all that is queued by now has ended."""
        queued, self._queued = self._queued, []
        return queued

    def release_down_to(self, most: int) -> None:
        """Release the longest unused ones until the others take so many bytes at most."""
        total = sum(buffer.size for buffer in self._free)
        while total > most:
            total -= self._free[0].size
            self._free.pop(0).release()


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets that lanes can take, the longest first."""

    order: Intp  # their numbers; scores come in the order of these
    first: Int64  # where the letters of each begin
    lengths: Int64

    @property
    def row_size(self) -> int:
        """Scores of a query: of each target, and one more for lanes without any."""
        return len(self.order) + 1

    @cached_property
    def positions(self) -> Intp | slice:
        """Where the scores of a row belong, as a slice if that is one."""
        first, last = int(self.order.min()), int(self.order.max())
        whole = last - first + 1 == len(self.order)
        return slice(first, last + 1) if whole else np.sort(self.order)

    @cached_property
    def places(self) -> UInt32:
        """Where the score of each target is in a row."""
        where = self.positions
        if isinstance(where, slice):
            return np.asarray(self.order - where.start, np.uint32)
        return np.asarray(np.searchsorted(where, self.order), np.uint32)

    @cached_property
    def residues_from(self) -> Int64:
        """Residues of each and those behind it, and 0 behind all, shape (N + 1,)."""
        return offsets_of(self.lengths[::-1])[::-1]

    def only(self, chosen: Intp | slice) -> Targets:
        """Return these of them."""
        return Targets(self.order[chosen], self.first[chosen], self.lengths[chosen])


@dataclass(frozen=True, eq=False)
class SortedTargets:
    """The targets of a search, in shares that each have chains of one kind."""

    sequences: Sequences
    shares: list[tuple[Targets, bool]]  # and whether they are long: those need more lanes each
    beyond: Intp  # those that are too long for lanes

    @classmethod
    def of(
        cls,
        sequences: Sequences,
        long_apart: bool,
        queries: int = 1,
        longest: tuple[int, int] = (2**62, 2**62),
        limits: LaneSizes = LaneSizes(),  # noqa: B008
    ) -> SortedTargets:
        """Sort by descending length, and perhaps set apart the long ones, which would end last.

        With many ``queries`` in one dispatch there are no targets to wait for. ``longest`` are the
        most residues that lanes take at all, and without setting them apart.
        """
        lengths, first = sequences.lengths, sequences.offsets[:-1]
        targets = Targets(np.arange(len(lengths)), first, lengths)
        if (lengths[1:] > lengths[:-1]).any():  # not as a database has them
            targets = targets.only(np.argsort(-lengths, kind="stable"))
        ascending = -targets.lengths
        fitting = slice(*np.searchsorted(ascending, (-longest[0], 0)).tolist())
        targets, ascending = targets.only(fitting), ascending[fitting]
        long = 0
        if long_apart:
            residues, (most, of_mean) = int(targets.lengths.sum()), _MOST_USUAL
            total, (more, least) = residues * queries, _MORE_IN_FLIGHT
            most = max(most, of_mean * residues // max(1, len(targets.lengths)))
            usual = min(total // limits.in_flight, max(least, total // more), most, longest[1])
            usual = max(limits.long_target, usual)
            long = int(np.searchsorted(ascending, -usual))
        parts = (targets.only(slice(long)), True), (targets.only(slice(long, None)), False)
        shares = [(part, is_long) for part, is_long in parts if len(part.order)]
        return cls(sequences, shares, np.flatnonzero(lengths > longest[0]))

    def first_needed(self, rows: Structured) -> Intp:
        """Return the place of the first target, of all shares, that each group of a table needs.

        The queries are the targets. With a target before its own place a query need not be
        compared, because that one is compared with it.
        """
        place = np.zeros(len(self.sequences), np.intp)  # 0 of those that are in no share
        order = np.concatenate([share.order for share, _ in self.shares] or [place[:0]])
        place[order] = np.arange(len(order))
        begins = np.flatnonzero(np.diff(rows["group"], prepend=-1))
        return np.minimum.reduceat(place[rows["query"]], begins)


class PackedTargets(NamedTuple):
    """Targets as lanes read them, in words of a few columns."""

    slots: moderngl.Buffer  # where the words of each lane begin
    words: moderngl.Buffer
    columns: Int64  # of each lane
    most_columns: int


class TargetStore:
    """Targets on the device: residues, and words of columns made of them, once per geometry."""

    def __init__(self, engine: Lanes) -> None:
        self._engine = engine
        self._letters: dict[Sequences, moderngl.Buffer] = {}  # and of those that follow, perhaps
        self.present: SortedTargets | None = None
        self._asked: tuple[object, ...] = ()
        self._packed: dict[tuple[Targets, int, int, int], PackedTargets] = {}
        self._lent: moderngl.Buffer | None = None

    @property
    def buffers(self) -> list[moderngl.Buffer]:
        """What it has on the device."""
        packed = (each for kept in self._packed.values() for each in (kept.slots, kept.words))
        return [*self._letters.values(), *packed]

    def sorted(self, sequences: Sequences, m: int, queries: int = 1) -> SortedTargets:
        """Return targets for queries of up to m letters; the last ones if these serve.

        Packed ones before are freed with the last job that reads them, residues of others at once.
        """
        for other in {*self._letters} - {sequences}:
            self._engine.pool.give_when_read([self._letters.pop(other)])
        engine, limits = self._engine, self._engine.limits
        most, longest = limits.cells // max(1, m), sequences.longest
        at_all = min(limits.longest, most if engine.rest is not None else longest)
        bounds = min(at_all, longest), min(most // USUAL_SHARE, longest)
        long_apart = not engine.on_software and not engine.geometries.chain
        asked = sequences, long_apart, queries, bounds
        if self.present is None or asked != self._asked:
            self._packed.clear()
            self.present = SortedTargets.of(*asked, limits=limits)
            self._asked = asked
        return self.present

    @contextmanager
    def borrowing(self, lent: moderngl.Buffer | None) -> Iterator[None]:
        """Upload residues to memory that is lent meanwhile, if they fit.

        A large buffer takes time when it is first used, and when the process ends.
        """
        self._lent = lent
        try:
            yield
        finally:
            self._lent = None
            kept = self._letters.items()
            self._letters = {each: buffer for each, buffer in kept if buffer is not lent}

    def _uploaded(self, sequences: Sequences) -> moderngl.Buffer:
        """Return the buffer with the residues, which are uploaded when they are first packed."""
        if sequences not in self._letters:
            lent, size = self._lent, sequences.size * sequences.code_type.itemsize
            buffer = lent if lent and size <= lent.size else self._engine.pool.take(size)
            for _ in self._uploads(sequences, buffer):
                pass
            self._letters[sequences] = buffer
        return self._letters[sequences]

    def prefetch(self, sequences: Sequences) -> Iterator[None]:
        """Upload residues beside those that targets may just be packed from, in some steps."""
        try:
            buffer = self._engine.pool.take(sequences.size * sequences.code_type.itemsize)
        except DeviceMemoryError:  # there is room for them when the others are gone
            return
        yield from self._uploads(sequences, buffer)
        self._letters[sequences] = buffer

    def _uploads(self, sequences: Sequences, buffer: moderngl.Buffer) -> Iterator[None]:
        """Write residues to a buffer in some steps: those of a file straight from there."""
        kind = sequences.code_type

        def fill(found: UInt8, start: int) -> None:
            sequences.fill(found.view(kind), start // kind.itemsize)

        first = sequences.first * kind.itemsize
        return self._engine.device.uploads(buffer, sequences.size * kind.itemsize, fill, first)

    def pack(self, targets: Targets, geometry: Geometry) -> PackedTargets:
        """Have the residues in words of columns, unless they are there from the last query.

        All that the geometry needs is proved before.
        """
        self._engine.prove([geometry])
        chains = max(_USUAL_CHAINS_PER_WORKGROUP, geometry.chains)
        key = targets, geometry.targets, geometry.step, chains
        if key not in self._packed:
            self._packed[key] = self._made(targets, geometry, chains)
        return self._packed[key]

    def _made(self, targets: Targets, geometry: Geometry, chains: int) -> PackedTargets:
        assert self.present
        engine, count = self._engine, len(targets.order)
        lanes = -(-count // (geometry.targets * chains)) * chains
        places = np.zeros((lanes * geometry.targets, 2), np.uint32)
        places[:count, 0], places[:count, 1] = targets.first, targets.lengths
        scores = np.full(len(places), count, np.uint32)
        scores[:count] = targets.places
        slots = slots_of(places[:, 1], geometry.targets, geometry.step)
        slots[:, 4:] = scores.reshape(-1, geometry.targets)
        pool, words = engine.pool, int(slots[-1, :2].sum()) + 1
        letters = self._uploaded(self.present.sequences)
        columns = slots[:, 1].astype(np.int64) * geometry.step
        stored = pool.filled(slots, pooled=False), pool.make(4 * engine.tracks * words)
        made = PackedTargets(*stored, columns, int(columns.max()))
        read = pool.filled(places)
        self.pack_letters(geometry, lanes, made.slots, read, letters, made.words)
        pool.give_when_read([read])
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
        for start in range(0, slots, self._engine.limits.groups):
            program["first_slot"] = start
            program.run(min(self._engine.limits.groups, slots - start))
        self._engine.device.check("packing targets")


def columns_macros(geometry: Geometry) -> dict[str, int | None]:
    """Return the macros of lanes_columns.comp."""
    return geometry.defines | {"WORKGROUP": 32, "GLOBAL_MODE": None}


def slots_of(lengths: UInt32, targets: int, step: int, out: UInt32 | None = None) -> UInt32:
    """Return the slots as columns.glsl has them, shape (slots, 6), one word behind each.

    These are the first word, the words, and the letters of up to two sequences; what is behind
    these is the caller's. With ``out``, shape (slots, 4 or more), they are put there.
    """
    one, other = lengths[::targets], lengths[targets - 1 :: targets]
    longest = np.maximum(one, other)
    slots = np.empty((len(longest), 6), np.uint32) if out is None else out
    slots[:, 2], slots[:, 3] = one, other
    slots[:, 1] = words = (longest + np.uint32(step - 1)) // np.uint32(step)
    slots[0, 0] = 0
    np.cumsum(words[:-1] + np.uint32(1), out=slots[1:, 0])
    return slots
