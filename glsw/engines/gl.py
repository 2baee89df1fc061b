"""Base class of the compute-shader engines: pairs, scores and results in buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Masks
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32, Int64, Structured, UInt32
from glsw.device import shader
from glsw.device.device import Device, DeviceMemoryError
from glsw.device.info import COMPUTE
from glsw.engines.answers import check_range
from glsw.engines.base import ALL_MODES, Capabilities, Engine
from glsw.engines.throttle import Throttle
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.encoded import Sequences, offsets_of, ranges


class Binding(NamedTuple):
    """Where shaders find a buffer or texture; they get the number as the macro NAME_BINDING.

    Bindings of one engine may share a number if no program uses both: OpenGL promises only eight
    storage buffers.
    """

    name: str
    number: int


def numbered(*names: str) -> tuple[Binding, ...]:
    """Return bindings with the numbers 0, 1 and so on.

    >>> numbered("PAIRS", "PATHS")[1]
    Binding(name='PATHS', number=1)
    """
    return tuple(Binding(name, number) for number, name in enumerate(names))


def binding_macros(bindings: Iterable[Binding]) -> dict[str, int]:
    """Return the macros by which shaders know the numbers of bindings."""
    return {f"{name}_BINDING": number for name, number in bindings}


BINDINGS = numbered(
    "QUERIES", "TARGETS", "PAIRS", "ROW_ABOVE", "BEST", "DIRECTIONS", "TRACES", "PATHS"
)
QUERIES, TARGETS, PAIRS, ROW_ABOVE, BEST, DIRECTIONS, TRACES, PATHS = BINDINGS
SUBSTITUTION = Binding("SUBSTITUTION", 0)
"""The substitution matrix: a uniform block, or a texture unit."""
BY_POSITION = 4
"""The place of scores by position, see scoring.glsl."""
TEXELS_PER_LINE = 4096
LETTERS_IN_BLOCK = 62  # whose scores fit the 16 KiB that every uniform block may have
MAX_PAIRS_PER_DISPATCH = 65535
"""Work groups along an axis that OpenGL promises."""
MAX_ROUNDS = 60_000
"""Rounds of loops of an invocation on software renderers: llvmpipe ends all loops after 65535."""
ROWS = 8
"""Rows of an invocation: as many directions of 4 bits as a word holds."""
STEP = 2
"""Columns that an invocation computes between two barriers, see `columns_at_once`."""
_SOME_REGISTERS, _MANY_REGISTERS = 100, 200  # of STEP columns; with directions, end to end
_ORDER = "order of invocations"  # what a program remembers besides its uniforms
_NO_COLUMN = 2**31 - 1
_TRACERS = 32  # invocations in a work group of traceback.comp

PAIR = np.dtype(
    [
        ("query_length", np.int32),
        ("target_length", np.int32),
        ("query", np.uint32),
        ("target", np.uint32),
        ("row_above", np.uint32),
        ("directions", np.uint32),
        ("path", np.uint32),
        ("mask", np.uint32),
    ]
)
"""A pair as pair.glsl has it."""

Uniform: TypeAlias = int | tuple[int, ...]


def recurrence_of(scoring: Scoring) -> tuple[dict[str, int], dict[str, Uniform]]:
    """Return what recurrence.glsl and span.glsl take from a scoring: macros, uniforms by name.

    A program has those of them that it needs.

    >>> defines, uniforms = recurrence_of(Scoring.match_mismatch(2, -1, 5, 1).in_mode("semiglobal"))
    >>> defines, uniforms["gap_open"], uniforms["left_insertion"]
    ({'GLOBAL_MODE': 1}, 5, (0, 0))
    """
    defines: dict[str, int] = {"LINEAR": 1} if scoring.linear else {}
    uniforms: dict[str, Uniform] = {"gap_open": scoring.gap_open, "border_gap": -scoring.gap_open}
    if gaps := scoring.gaps:
        defines["POSITIONAL_GAPS"], uniforms = 1, {"border_gap": -gaps.most.open}
    else:
        uniforms["gap_extend"] = scoring.gap_extend
        uniforms["insertion_open"], uniforms["insertion_extend"] = scoring.insertion
    if scoring.separate:
        defines["SEPARATE"] = 1
    if scoring.end_gaps:
        defines["GLOBAL_MODE"] = 1
        uniforms["score_offset_terms"] = scoring.score_offset_terms
        uniforms |= {name: tuple(cost) for name, cost in scoring.end_gaps._asdict().items()}
    return defines, uniforms


def upload_scores(
    device: Device, matrix: Int32, padding: int
) -> tuple[int, moderngl.Buffer | moderngl.Texture]:
    """Put a matrix, shape (A, A), where scoring.glsl finds it; return which place that is, and it.

    A query letter A scores ``padding`` with every target letter.
    """
    letters = len(matrix)
    padded = np.full((letters, letters + 1), padding, np.int32)
    padded[:, :letters] = matrix.T
    if letters > LETTERS_IN_BLOCK:
        texture = device.ctx.texture((letters + 1, letters), 1, padded, dtype="i4")
        return 3, texture
    words = np.zeros(-(-padded.size // 4) * 4, np.int32)
    words[: padded.size] = padded.ravel()
    return 1 if device.info.software else 2, device.ctx.buffer(words.tobytes())


def upload_positions(device: Device, scoring: Scoring, padding: int) -> moderngl.Texture:
    """Put scores by position where scoring.glsl finds them; row -1 is of ``padding``.

    Gap costs by position are two columns more, in row -1 the largest of them, and one more has the
    sums of costs to extend up to the row, modulo 2**32: their differences are right.
    """
    table = np.pad(scoring.matrix, ((1, 0), (0, 0)), constant_values=padding)
    if gaps := scoring.gaps:
        columns = zip((*gaps.most, 0), (gaps.opens, gaps.extends, gaps.sums), strict=True)
        costs = [np.insert(each, 0, largest) for largest, each in columns]
        table = np.column_stack([table, *costs])
    rows = table.ravel()
    lines = np.zeros((-(-len(rows) // TEXELS_PER_LINE), TEXELS_PER_LINE), np.int32)
    lines.ravel()[: len(rows)] = rows
    return device.ctx.texture(lines.shape[::-1], 1, lines, dtype="i4")


def leans(scoring: Scoring) -> bool:
    """Tell whether sweeps for score and ends may take fewer operations, see leaning.glsl.

    Along the first row a gap must not cost more than inside: gaps of both sequences would not cost
    the same in the other order.
    """
    cheap = not scoring.end_gaps or scoring.end_gaps.cheap_at_left(*scoring.largest_costs)
    return cheap and not scoring.gaps and scoring.deletion.open > 0


def pair_records(batch: Batch) -> Structured:
    """Return the pairs as pair.glsl has them, shape (N,), with lengths and first residues."""
    records = np.zeros(len(batch), PAIR)
    records["query_length"], records["target_length"] = batch.query_lengths, batch.target_lengths
    records["query"] = batch.queries.offsets[batch.query_index]
    records["target"] = batch.targets.offsets[batch.target_index]
    return records


def mask_sizes(m: Int64, pairs: Int64, rows: int = ROWS) -> Int64:
    """Return the words of masks as upright.glsl has them, of m rows and with so many pairs each."""
    return 3 * -(-m // rows) + 4 + 2 * pairs


def mask_words(masks: Masks, first: int, rows: int = ROWS) -> tuple[Int64, Int32]:
    """Return masks as upright.glsl has them, for lanes of so many rows: where each begins, words.

    They lie in the words from `first` on.

    >>> from glsw.alignment.batch import Mask
    >>> masks = Masks.of([Mask.nothing(1), Mask.of([0, 2, 1], [7, 9, 5], 3)])
    >>> begin, words = mask_words(masks, 100, rows=2)
    >>> begin.tolist(), words[7:].reshape(-1, 2)[:5].tolist()
    ([100, 107], [[111, 117], [121, 123], [5, 1], [7, 0], [2147483647, 2147483647]])
    """
    begin = first + offsets_of(mask_sizes(masks.lengths, masks.counts, rows))
    words = np.full(begin[-1] - first, _NO_COLUMN, np.int32)
    lanes = -(-masks.lengths // rows) + 1  # one is of no rows
    number = offsets_of(lanes)
    which = np.repeat(np.arange(len(masks)), masks.counts)
    lane, row = np.divmod(masks.rows, rows)
    order = np.lexsort((masks.columns, lane + number[which]))
    # A word of all before, of the cells of a mask, for each cell and each lane before it.
    shift = begin[:-1] + lanes + 1 - 2 * masks.offsets[:-1]
    at = shift[which] + 2 * (np.arange(len(order)) + lane[order]) - first
    words[at], words[at + 1] = masks.columns[order], row[order]
    cells = offsets_of(np.bincount(lane + number[which], minlength=number[-1]))
    mask, part = np.repeat(np.arange(len(masks)), lanes + 1), ranges(0 * lanes, lanes + 1)
    parts = shift[mask] + 2 * (cells[number[mask] + part] + part)
    words[begin[mask] + part - first] = parts
    return begin[:-1], words


def best_cells(stored: Int32) -> BestCells:
    """Return the cells that best.glsl stored, shape (N, 3) or (N, 4): score, i + j, i from 0."""
    score, diagonal, i = stored[:, :3].T
    return BestCells.of(score, i + 1, diagonal - i + 1)


def new_buffer(device: Device, size: int) -> moderngl.Buffer:
    """Return a new storage buffer of this size in bytes, rounded up to a whole word."""
    limit = device.info.limits["max_storage_block"]
    if size > limit:
        raise DeviceMemoryError(
            f"a buffer of {size} bytes is needed, {device.info.name} binds {limit}"
        )
    with device.checked(f"allocating {size} bytes"):
        return device.ctx.buffer(reserve=max(16, -(-size // 4) * 4))


class Programs:
    """Storage buffers, by binding, and compiled compute shaders with the scoring of an engine."""

    bindings: ClassVar[tuple[Binding, ...]]  # the only table of the numbers of its buffers
    order_binding: ClassVar[Binding | None] = None
    """Where its programs with subgroups prove their order, see neighbours.glsl."""
    _defines: dict[str, int]
    _uniforms: dict[str, Uniform]
    _substitution: moderngl.Buffer | moderngl.Texture | None
    _memory: int  # of those that have the option

    def __init__(self, device: Device | None) -> None:
        assert device is not None
        self._device_of_buffers, self._opened = device, device.opened
        self._buffers: dict[Binding, moderngl.Buffer] = {}
        self._programs: dict[tuple[object, ...], moderngl.ComputeShader] = {}

    @property
    def device(self) -> Device:
        """The device; DeviceError if the context of the buffers is lost."""
        return self._device_of_buffers.since(self._opened)

    def reserve(self, binding: Binding, size: int = 0) -> moderngl.Buffer:
        """Return the buffer of a binding, bound, with room for ``size`` bytes."""
        buffer = self._buffers.get(binding)
        if buffer is None or buffer.size < size:
            if buffer is not None:
                del self._buffers[binding]
                buffer.release()
            self._buffers[binding] = buffer = new_buffer(self.device, size)
        buffer.bind_to_storage_buffer(binding.number)
        return buffer

    def room(self, binding: Binding) -> int:
        """Return the bytes of the buffer of a binding, 0 if there is none yet."""
        buffer = self._buffers.get(binding)
        return buffer.size if buffer else 0

    def upload(self, binding: Binding, data: npt.NDArray[Any]) -> None:
        """Write an array to the start of a buffer, and zeros up to a whole word.

        The device is waited for: NVIDIA's driver may write while a queued shader reads the buffer.
        """
        self.device.finish()
        content = np.ascontiguousarray(data)
        rest = bytes(-content.nbytes % 4)
        buffer = self.reserve(binding, content.nbytes + len(rest))
        if content.nbytes:
            buffer.write(content)
        if rest:
            buffer.write(rest, offset=content.nbytes)

    def zero(self, binding: Binding, size: int) -> None:
        """Reserve a buffer and set its first bytes to 0."""
        self.device.finish()
        buffer = self.reserve(binding, size)
        if size:
            buffer.clear(size=size)

    def download(self, binding: Binding, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Read the first values of a buffer."""
        found = np.empty(count, dtype)
        self.download_into(binding, found)
        return found

    def download_into(self, binding: Binding, array: npt.NDArray[Any]) -> None:
        """Fill a contiguous array from the start of a buffer."""
        if array.size:
            self.device.readback.read_into(self._buffers[binding], array)
        self.device.check("reading results")

    @property
    def _buffer_limit(self) -> int:
        """Bytes that a buffer may have."""
        return self.device.info.limits["max_storage_block"]

    @property
    def _room(self) -> int:
        """Bytes that a chunk may keep, all in one buffer if need be."""
        return min(self._memory, self._buffer_limit)

    def program(self, name: str, **defines: int | None) -> moderngl.ComputeShader:
        """Return a compiled shader with the scores set that its text declares.

        One with SUBGROUPS whose invocations do not fill them in order is compiled without them.
        """
        asked = name, *defines.items()
        if asked not in self._programs:
            macros = self._macros(defines)
            made = shader.compute(self.device, name, **macros)
            workgroup = macros.get("WORKGROUP")
            if workgroup and "proving" in made and not self._in_order(made, workgroup):
                made = self.program(name, **defines | {"SUBGROUPS": None})
            self._programs[asked] = made
        program = self._programs[asked]
        for uniform, value in self._uniforms.items():  # engines share programs
            if uniform in program:
                program[uniform] = value
        if isinstance(self._substitution, moderngl.Buffer):
            self._substitution.bind_to_uniform_block(SUBSTITUTION.number)
        elif self._substitution is not None:
            self._substitution.use(SUBSTITUTION.number)
        return program

    def begin(self, name: str, **defines: int | None) -> None:
        """Have the driver start compiling a program that will be needed, if it can."""
        shader.begin(self.device, name, **self._macros(defines))

    def _macros(self, defines: Mapping[str, int | None]) -> dict[str, int | None]:
        return {**self._defines, **binding_macros(self.bindings), **defines}

    def _in_order(self, program: moderngl.ComputeShader, workgroup: int) -> bool:
        """Have a program prove once that its invocations are in order, see neighbours.glsl."""
        device, binding = self.device, self.order_binding
        if _ORDER not in program.extra:
            assert binding is not None
            stored = device.ctx.buffer(bytes(16 * workgroup))
            stored.bind_to_storage_buffer(binding.number)
            program["proving"] = 1
            program.run(1)
            program["proving"] = 0
            device.ctx.memory_barrier()
            proved = device.readback.read(stored, stored.size).view(np.int32)
            stored.release()
            device.check("proving the order of invocations")
            if own := self._buffers.get(binding):
                own.bind_to_storage_buffer(binding.number)
            program.extra[_ORDER] = np.count_nonzero(proved) == workgroup == proved.sum()
        return bool(program.extra[_ORDER])

    @staticmethod
    def set(program: moderngl.ComputeShader, uniforms: Mapping[str, Uniform]) -> None:
        """Set uniforms that a program declares, but for those that the driver has dropped."""
        for name, value in uniforms.items():
            if name in program:
                program[name] = value
            elif name not in program.extra:
                raise KeyError(f"the program declares no uniform {name!r}")


class Kernels(Programs):
    """Base of what computes alignments of two sequences on OpenGL 4.3, in an engine or a wing.

    Parameters
    ----------
    scoring : Scoring
    device : Device
    workgroup : int, optional
        Invocations in a work group; by default what suits the device.
    """

    bindings = (*BINDINGS, SUBSTITUTION)
    scoring: Scoring

    def __init__(
        self, scoring: Scoring, device: Device | None, *, workgroup: int | None = None
    ) -> None:
        Programs.__init__(self, device)
        self.scoring = scoring
        self._workgroup = workgroup
        self._throttle = Throttle(self.device, first=1)
        self._uploaded: dict[Binding, Sequences] = {}
        self._substitution: moderngl.Buffer | moderngl.Texture | None = None
        letters = len(scoring.alphabet)
        self._defines: dict[str, int] = {"LETTERS": letters, "ROWS": ROWS, "STEP": STEP}
        if isinstance(scoring, TwoTrackScoring):
            self._defines["TWO_TRACKS"] = len(scoring.weighted)
        defines, self._uniforms = recurrence_of(scoring)
        self._defines |= defines
        if scoring.match_and_mismatch and self.device.info.software:
            self._defines |= {"SCORES": 0, "AMBIGUOUS": scoring.match_and_mismatch[2]}
            self._uniforms["match"], self._uniforms["mismatch"] = scoring.match_and_mismatch[:2]
        else:
            self._defines["SCORES"] = self._upload_scores()

    def columns_at_once(self, *, directions: bool = False) -> int:
        """Return the columns that an invocation computes between two barriers.

        With two of them programs would need more registers than some devices have.
        """
        many = directions or "GLOBAL_MODE" in self._defines
        few = self.device.info.registers < (_MANY_REGISTERS if many else _SOME_REGISTERS)
        return 1 if few else STEP

    def _macros(self, defines: Mapping[str, int | None]) -> dict[str, int | None]:
        macros = super()._macros(defines)
        if "STEP" in self._defines and "STEP" not in defines:
            macros["STEP"] = self.columns_at_once(directions=bool(defines.get("DIRECTIONS")))
        return macros

    def _upload_scores(self) -> int:
        """Put the matrix where scoring.glsl finds it; return which place that is."""
        if self.scoring.wide_queries:
            self._substitution = upload_positions(self.device, self.scoring, -(2**31))
            return BY_POSITION
        place, self._substitution = upload_scores(self.device, self.scoring.matrix, -(2**31))
        return place

    def upload_sequences(self, batch: Batch) -> None:
        """Put the residues of queries and targets into their buffers, once."""
        for binding, sequences in ((QUERIES, batch.queries), (TARGETS, batch.targets)):
            if self._uploaded.get(binding) is not sequences:
                self.upload(binding, sequences.residues)
                self._uploaded[binding] = sequences
            else:
                self.reserve(binding)


class ComputeEngine(Kernels, Engine):
    """Base of the engines that need OpenGL 4.3; parameters as of `Kernels`."""

    capabilities = Capabilities(
        requires=COMPUTE,
        tasks=("score", "ends", "alignment"),
        modes=ALL_MODES,
        masks=True,
        separate_gaps=True,
        positional_gaps=True,
        memory=True,
    )

    def __init__(
        self, scoring: Scoring, device: Device | None = None, *, workgroup: int | None = None
    ) -> None:
        Engine.__init__(self, scoring, device)
        Kernels.__init__(self, scoring, device, workgroup=workgroup)

    def share_buffers(self, other: ComputeEngine) -> None:
        """Use the buffers of another engine too: only one of both computes at a time."""
        self._buffers, self._uploaded = other._buffers, other._uploaded

    def trace_back(
        self,
        count: int,
        blocks: int,
        spacing: int,
        loops: int,
        again: Callable[[], None] | None,
        **defines: int,
    ) -> None:
        """Trace back from the best cells of pairs; see traceback.comp.

        There are ``blocks`` of strips, ``spacing`` in each, whose directions are there at a time;
        ``again`` computes those of the block that each path is in. Software renderers, which end
        long loops, get so many ``loops``, a dispatch each, for a block.
        """
        for block in range(blocks + 1):
            if block and again:
                again()
            self.reserve(PATHS)
            for k in range(loops if block and self.device.info.software else 1):
                # TURN, as AGAIN, is no uniform: zink 22.3 keeps the old value of one that decides
                # a branch by itself.
                turn = min(k, 1) + 1 if block else 0
                program = self.program("traceback.comp", ENDS=1, TURN=turn, **defines)
                program["pair_count"] = count
                if block:
                    program["spacing"] = spacing
                program.run(-(-count // _TRACERS))
                self.device.ctx.memory_barrier()
        self.device.check("tracing back")

    def download_paths(self, batch: Batch, cells: BestCells, places: UInt32, size: int) -> Paths:
        """Return the paths of pairs that `trace_back` has traced from their best cells.

        ``places`` says where each begins in a buffer of ``size`` runs, in ascending order.
        """
        counts = self.download(TRACES, (np.uint32, 4), len(places))[:, 3].astype(np.int64)
        room = np.diff(places.astype(np.int64), append=size)
        check_range(self, "runs of a path:", counts, 0, room)
        runs = self.download(PATHS, np.uint32, size)[ranges(places, counts)]
        ends = self.ends_of(batch, cells)
        # Only from end to end can there be a path of gaps alone, which the device does not know.
        some = np.minimum(ends.query_end, ends.target_end) > 0
        paths = Paths.empty(ends, counts * some)
        paths.runs[:] = runs[np.repeat(some, counts)]
        return paths
