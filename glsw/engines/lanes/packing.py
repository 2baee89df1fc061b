"""The targets of engine ``lanes`` on the device: residues, and words of columns made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.device.device import Device, DeviceMemoryError
from glsw.engines.gl import ComputeEngine
from glsw.engines.lanes.buffers import Bindable, Buffers
from glsw.engines.lanes.geometries import Geometries
from glsw.engines.lanes.geometry import Geometry, profile_letters
from glsw.engines.lanes.slices import Dispatch
from glsw.engines.lanes.streams import nested
from glsw.engines.lanes.targets import (
    BORDERS,
    COLUMNS,
    LETTERS,
    MAX_GROUPS_PER_DISPATCH,
    SLOTS,
    TARGETS,
    PackedTargets,
    SortedTargets,
    Targets,
    slots_of,
    zigzag,
)
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences

_USUAL_CHAINS_PER_WORKGROUP = 64
_BYTES_PER_STEP = 2**25  # of an upload: some hundredths of a second
_MAX_BORDER_BYTES = 2**30  # which the driver clears in 0.07 s
_USUAL_LENGTH = 2**9  # of targets
_FIRST_USE = 2**20  # bytes that the device itself copies
_NOTHING = object()


class PackingEngine(ComputeEngine):
    """Base of `Lanes`: uploads targets, packs them once per geometry, and queues work groups."""

    geometries: Geometries

    def __init__(
        self,
        scoring: Scoring,
        device: Device | None = None,
        *,
        workgroup: int | None = None,
        memory: int,
    ) -> None:
        super().__init__(scoring, device, workgroup=workgroup)
        self._memory = memory
        self._spare: tuple[Sequences, moderngl.Buffer] | None = None
        self._sorted_targets: SortedTargets | None = None
        self.packed_targets: dict[tuple[Targets, int, int, int, int], PackedTargets] = {}
        self._packed_before: list[PackedTargets] = []  # of the targets before
        self.tracks = 1
        if isinstance(scoring, TwoTrackScoring):
            self.tracks = 2
            self._defines["FIRST_LETTERS"] = len(scoring.first.matrix)
        self._defines["LETTERS"] = profile_letters(scoring)
        self.packings = 0  # how often targets were packed anew
        self.large_profile: int | None = None  # bytes from which it is made on the device
        self.pool = Buffers(self.device)
        self.meanwhile: Iterator[None] = iter(())

    @property
    def on_software(self) -> bool:
        """Whether the renderer runs on the CPU."""
        return self.device.info.software

    @property
    def border_room(self) -> int:
        """Bytes of rows between strips that the device has at most, of all slices."""
        bound = self.device.info.limits["max_storage_block"]
        return min(self._memory // 2, _MAX_BORDER_BYTES, bound)

    def get_ready(self, queries: Sequences, residues: int) -> None:
        """Load the first program of a scan of so many residues, and make room for its borders."""
        self.device.activate()
        size, together = 0, self.geometries.together(queries.lengths, residues // _USUAL_LENGTH)
        groups = nested(queries.lengths.tolist(), together)
        for _, geometry in self.geometries.stacks(groups[:1], False):
            self.prove([geometry])
            self.program("lanes.comp", **geometry.defines)
        for numbers, geometry in self.geometries.stacks(groups, False):
            several = sum(geometry.strips_of(groups[k]) > 1 for k in numbers)
            size += residues * geometry.border * several
        size = min(size, self.border_room)
        if size >= _FIRST_USE:  # the driver clears a buffer when it is first used
            self.device.write(self.reserve(BORDERS, size), np.zeros(_FIRST_USE, np.uint8))

    def prove(self, geometries: Iterable[Geometry]) -> None:
        """Have the programs of geometries proved."""
        raise NotImplementedError

    def do_meanwhile(self) -> bool:
        """Do a step of what should be done while the device is busy; False if there is none."""
        return next(self.meanwhile, _NOTHING) is None

    def targets_of(
        self, sequences: Sequences, which: npt.NDArray[np.int32], queries: int = 1
    ) -> SortedTargets:
        """Return targets by descending length, uploaded; the last ones if they are the same.

        Jobs with those before can be finished until `forget_before`, or until others come.
        """
        self.upload_letters(sequences)
        last = self._sorted_targets
        apart = not self.on_software and not self.geometries.chain
        same = last is not None and last.sequences is sequences and last.queries == queries
        if last is None or not same or not np.array_equal(last.which, which):
            self._forget()
            last = SortedTargets.of(sequences, which, long_apart=apart, queries=queries)
            self._sorted_targets = last
        return last

    def upload_letters(self, sequences: Sequences) -> None:
        """Put residues into their buffer, unless they are there or have been prefetched."""
        if self._uploaded.get(LETTERS) is sequences:
            return
        if self._spare and self._spare[0] is sequences:
            old, self._buffers[LETTERS] = self._buffers.get(LETTERS), self._spare[1]
            if old:
                old.release()
        else:
            self._upload_beside(sequences)
        self._spare = None
        self._uploaded[LETTERS] = sequences

    def _upload_beside(self, sequences: Sequences) -> None:
        """Upload residues while the device computes: targets may just be packed from others."""
        if old := self._buffers.pop(LETTERS, None):
            old.release()
        content = np.ascontiguousarray(sequences.residues)
        buffer = self.reserve(LETTERS, content.nbytes)
        if content.nbytes:
            self.device.write(buffer, content)

    def forget(self, packed: PackedTargets) -> None:
        """Release packed targets that are not used again."""
        for key in [key for key, each in self.packed_targets.items() if each is packed]:
            self.packed_targets.pop(key).release()

    def _forget(self) -> None:
        """Use the packed targets no more for new jobs."""
        self.packings += 1
        self.forget_before()
        self._packed_before = list(self.packed_targets.values())
        self.packed_targets.clear()

    def forget_before(self) -> None:
        """Release the packed targets before the present ones: no job uses them any more."""
        for packed in self._packed_before:
            packed.release()
        self._packed_before.clear()

    def prefetch(self, sequences: Sequences) -> Iterator[None]:
        """Upload residues beside those that are being computed, in some steps."""
        content = np.ascontiguousarray(sequences.residues)
        buffer = self.buffer(-(-content.nbytes // 4) * 4)
        for start in range(0, content.nbytes, _BYTES_PER_STEP):
            # Not by `Device.write`, whose copies would wait for the slices before them.
            buffer.write(content[start : start + _BYTES_PER_STEP], offset=start)
            yield
        self._spare = sequences, buffer

    def pack(self, targets: Targets, geometry: Geometry) -> PackedTargets:
        """Have the residues in words of columns, unless they are there from the last query.

        All that a geometry needs is proved before.
        """
        self.prove([geometry])
        # llvmpipe gives each thread half of the work groups: the longest next to the shortest.
        alternating = geometry.group if self.on_software else 0
        chains = max(_USUAL_CHAINS_PER_WORKGROUP, geometry.chains, self._workgroup or 0)
        key = targets, geometry.targets, geometry.step, alternating, chains
        if key not in self.packed_targets:
            self.packed_targets[key] = self._packed(targets, geometry, alternating, chains)
        return self.packed_targets[key]

    def _packed(
        self, targets: Targets, geometry: Geometry, alternating: int, chains: int
    ) -> PackedTargets:
        count = len(targets.order)
        lanes = -(-count // (geometry.targets * chains)) * chains
        places = np.zeros((lanes * geometry.targets, 2), np.uint32)
        places[:count, 0], places[:count, 1] = targets.first, targets.lengths
        order = None
        if alternating:  # the longest next to the shortest
            order = zigzag(np.arange(len(places)), alternating)
            places = places[order]
        slots = slots_of(places[:, 1], geometry.targets, geometry.step)
        made = PackedTargets(
            self.buffer_of(slots),
            self.buffer(4 * self.tracks * (int(slots[-1].sum()) + 1)),
            slots[:, 1].astype(np.int64) * geometry.step,
            order,
        )
        stored = self.buffer_of(places, pooled=True)
        letters = self.reserve(LETTERS, 0)
        self.pack_letters(geometry, lanes, made.slots, stored, letters, made.words)
        self.pool.give_when_read([stored])
        return made

    def pack_letters(
        self,
        geometry: Geometry,
        slots: int,
        columns: Bindable,
        places: Bindable,
        letters: Bindable,
        words: Bindable,
    ) -> None:
        """Have the letters of sequences, which stand at these places, in words of columns."""
        given = (SLOTS, columns), (TARGETS, places), (LETTERS, letters), (COLUMNS, words)
        for binding, buffer in given:
            buffer.bind_to_storage_buffer(binding.number)
        defines = geometry.defines | {"WORKGROUP": 32}
        program = self.program("lanes_columns.comp", **defines)
        for start in range(0, slots, MAX_GROUPS_PER_DISPATCH):
            program["first_slot"] = start
            program.run(min(MAX_GROUPS_PER_DISPATCH, slots - start))
        self.device.check("packing targets")

    def queue(self, some: Dispatch) -> None:
        """Queue a dispatch, or one for each strip."""
        job, groups, first = some.job, some.groups, some.groups.start
        at_once, border = job.geometry.at_once, some.start // job.geometry.border
        program = self.program("lanes.comp", **job.geometry.defines)
        job.bind()
        self.reserve(BORDERS, 0)
        program["strip_count"] = job.strips if at_once else 1
        program["border_stride"] = int(job.border_columns[groups.stop] - job.border_columns[first])
        program["first_group"] = first
        program["first_border"] = (int(job.border_columns[first]) - border) % 2**32
        for strip in range(1 if at_once else job.strips):
            job.bind_strip(strip)
            program.run(len(groups), job.groups)
            if not at_once:
                self.device.ctx.memory_barrier()

    def reading_of(
        self, wanted: Sequence[tuple[moderngl.Buffer, int]], used: Sequence[moderngl.Buffer]
    ) -> Callable[[], list[npt.NDArray[np.uint8]]]:
        """Begin to read the first bytes of buffers; ``used`` ones go to the pool after that.

        Return what gives the bytes.
        """
        self.device.ctx.memory_barrier()
        self.device.check("computing lanes")
        self.count_memory(used)
        read = self.pool.behind()
        contents = self.device.readback.begin(wanted)

        def taken() -> list[npt.NDArray[np.uint8]]:
            found = contents()
            self.device.check("reading scores")
            self.pool.give([*read, *used])
            return found

        return taken

    def count_memory(self, buffers: Iterable[moderngl.Buffer]) -> None:
        """Note what the device holds at present: these buffers and the engine's own."""
        kept = *self.packed_targets.values(), *self._packed_before
        packed = [each.buffers for each in kept]
        used = sum(buffer.size for buffer in chain(self._buffers.values(), *packed, buffers))
        self.memory_used = max(self.memory_used, used)

    def buffer_of(
        self, content: npt.NDArray[np.unsignedinteger], *, pooled: bool = False
    ) -> moderngl.Buffer:
        """Return a buffer with this content, see `buffer`."""
        buffer = self.buffer(content.nbytes, pooled=pooled)
        if content.size:
            self.device.write(buffer, np.ascontiguousarray(content))
        return buffer

    def buffer(self, size: int, *, pooled: bool = False) -> moderngl.Buffer:
        """Return a new buffer, or a pooled one, which may be larger and goes back to the pool."""
        limit = self.device.info.limits["max_storage_block"]
        if size > limit:
            raise DeviceMemoryError(
                f"a buffer of {size} bytes is needed, {self.device.info.name} binds {limit}"
            )
        size = max(16, size)
        if pooled:
            return self.pool.take(size)
        with self.device.checked(f"allocating {size} bytes"):
            return self.device.ctx.buffer(reserve=size)
