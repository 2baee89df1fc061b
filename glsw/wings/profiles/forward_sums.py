"""Forward sums, over all local alignments of profiles and targets: on a device, and on the host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Float64, Int64, Intp, UInt32
from glsw.caller import stage
from glsw.cores import cores
from glsw.device.device import Device
from glsw.engines import gl
from glsw.engines.awkward import work_for
from glsw.engines.gl import Binding, Programs
from glsw.engines.throttle import Throttle
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences, in_whole_words, offsets_of, ranges
from glsw.sequences.tiles import cut
from glsw.trust.proofs import UnprovedError, warn_of
from glsw.trust.provable import Provable, Trial

_GAP_OPEN_PROBABILITY, _GAP_EXTEND_PROBABILITY = 0.04, 0.6
"""Chosen on a third of the queries of docs/SENSITIVITY.md; forward.comp has them too."""
_MAX_ODDS = 1e250  # keeps sums and their logarithms finite
_MAX_CELLS_PER_DIAGONAL = 2**14  # of a batch: they fit a processor's cache
_MAX_POSITIONS_PER_BATCH = 2**20
_MAX_LENGTH_RATIO = 1.6  # of the targets of a batch

_STEP = 4  # columns, whose letters are a word
_MAX_DEVICE_ODDS = 2.0**16  # with which numbers stay in range for a step
_LEAST_DEVICE_SUM = -64 * math.log(2)  # floats of less may have been 0
_FEW_REGISTERS = 100
_TOLERANCE = 1e-3  # nats, of a proof
_LAMBDA, _PROVED = 0.3, 330  # of a proof: scale of scores; positions, whose sum is near 2^500


@dataclass(frozen=True)
class SumSizes:
    """Sizes by which a device's work is cut."""

    letters: int = 2**26  # of targets in a buffer
    borders: int = 2**20  # words of the rows between strips that are kept at once
    pairs: int = 2**20  # at once
    groups: int = gl.MAX_PAIRS_PER_DISPATCH  # work groups of a dispatch, which OpenGL promises


def log_sums(
    odds: Sequence[Float64], targets: Sequences, pairs: Int64, device: Device | None = None
) -> Float64:
    """Return the logarithm of the sum of the odds of all local alignments of each pair.

    The odds of an alignment are the product of ``odds`` over its pairs of letters, and of the
    probabilities of its steps, see `glsw.wings.profiles.forward.ForwardScores`.

    Parameters
    ----------
    odds : sequence of ndarray of float64, shape (m, A)
        Of each profile: of each position with each letter.
    targets : Sequences
        Codes below A.
    pairs : ndarray of int64, shape (N, 2)
        Numbers of a profile and a target.
    device : Device, optional
        With compute shaders, which computes the sums in 32-bit floats, to 1e-4 nats or better for
        up to 2,000 letters. The host computes in 64-bit floats: without a device; if the device
        does not prove itself, with a warning; and pairs with odds or sums that are out of range.

    Returns
    -------
    ndarray of float64, shape (N,)
        In nats; -inf for targets without letters.
    """
    found = np.full(len(pairs), np.nan)
    if device is not None and len(pairs):
        with device:
            sums = ForwardSums(device)
            try:
                sums.prove([odds[0].shape[1]])
                found = sums.log_sums(odds, targets, pairs)
            except UnprovedError as fault:
                warn_of(device, fault, "the host")
    rest = np.flatnonzero(np.isnan(found))
    some = [rest[pairs[rest, 0] == k] for k in range(len(odds))] if len(rest) else []
    work = [(odds[k], [targets[n] for n in pairs[each, 1].tolist()]) for k, each in enumerate(some)]
    for each, logs in zip(some, _by_threads(work), strict=True):
        found[each] = logs
    return found


def _by_threads(work: Sequence[tuple[Float64, list[Codes]]]) -> list[Float64]:
    if len(work) < 2:
        return [log_sums_on_host(*each) for each in work]
    from concurrent.futures import ThreadPoolExecutor  # only for several profiles

    found = list[Float64]()
    with (
        stage("sums", len(work)) as done,
        ThreadPoolExecutor(cores(), "glsw-forward") as threads,
    ):
        for sums in threads.map(log_sums_on_host, *zip(*work, strict=True)):
            found.append(sums)
            done(1)
    return found


def log_sums_on_host(
    odds: Float64, targets: Sequence[Codes], positions: int = _MAX_POSITIONS_PER_BATCH
) -> Float64:
    """Return the same of one profile and each of some targets, in 64-bit floats.

    ``positions`` of the profile, times targets, are computed together, which limits the memory.
    """
    found = np.full(len(targets), -np.inf)
    lengths = np.array([len(each) for each in targets], np.int64)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    start, size = 0, len(odds)
    table = np.column_stack([odds, np.zeros(size)])  # of past a target's end
    with stage("sums", len(order)) as done:
        while start < len(order):
            shortest = int(lengths[order[start]])
            most = min(_MAX_CELLS_PER_DIAGONAL // min(shortest, size), positions // size)
            some = order[start : start + max(1, most)]
            some = some[lengths[some] <= _MAX_LENGTH_RATIO * shortest]
            start += len(some)
            # Codes backwards, so that those of an anti-diagonal are in the order of positions.
            codes = np.full((int(lengths[some[-1]]), len(some)), odds.shape[1], np.intp)
            for k, number in enumerate(some.tolist()):
                codes[-lengths[number] :, k] = targets[number][::-1]
            with np.errstate(all="ignore"):
                sums = _of_batch(table, codes)
                if not (sums < _MAX_ODDS).all():
                    sums = _of_batch(table, codes, _MAX_ODDS)
                found[some] = np.log(sums)
            done(len(some))
    return found


def _of_batch(table: Float64, codes: Intp, most: float | None = None) -> Float64:
    """Return the sums of targets, shape (B,), whose codes are reversed in columns.

    Arrays hold one anti-diagonal: sums of alignments that end with a pair, with a target letter
    in a gap, or with a position in a gap. Position i has index i + 1. Sums that end with a pair are
    at most ``most``.
    """
    size, (length, batch) = len(table), codes.shape
    odds, rows = table.ravel(), table.shape[1] * np.arange(size)[:, np.newaxis]
    pairs, pairs_before, inserts, gaps, ended, ended_before, some, total = np.zeros(
        (8, size + 1, batch)
    )
    numbers = np.empty((size, batch), np.intp)
    for diagonal in range(size + length - 1):
        low, high = max(0, diagonal - length + 1), min(size, diagonal + 1)
        here, above, at = slice(low + 1, high + 1), slice(low, high), length - 1 - diagonal
        new, emitted, spare = pairs[here], numbers[: high - low], some[: high - low]
        np.add(rows[above], codes[at + low : at + high], out=emitted)
        odds.take(emitted, out=new, mode="clip")
        new *= np.add(ended_before[above], 1, out=spare)
        if most is not None:
            np.minimum(new, most, out=new)
        total[here] += new
        # Of gaps the sums are kept without the factor of their first position.
        inserts[here] *= _GAP_EXTEND_PROBABILITY
        inserts[here] += pairs_before[here]
        np.multiply(gaps[above], _GAP_EXTEND_PROBABILITY, out=spare)
        np.add(spare, pairs_before[above], out=gaps[here])
        np.add(inserts[here], gaps[here], out=spare)
        spare *= _GAP_OPEN_PROBABILITY * (1 - _GAP_EXTEND_PROBABILITY)
        np.multiply(new, 1 - 2 * _GAP_OPEN_PROBABILITY, out=ended_before[here])
        ended_before[here] += spare
        ended, ended_before = ended_before, ended
        pairs, pairs_before = pairs_before, pairs
    return np.array([math.fsum(column) for column in total.T.tolist()])  # in any batch alike


class ForwardSums(Programs, Provable):
    """Computes forward sums on a device, see forward.comp.

    Parameters
    ----------
    device : Device
        With compute shaders.
    chain, rows, workgroup : int, optional
        Lanes of a chain, positions of a lane, a multiple of 4, and lanes of a work group; by
        default what suits the device.
    limits : SumSizes
    """

    name = "forward"
    proves = True
    bindings: ClassVar[tuple[Binding, ...]] = gl.BINDINGS

    def __init__(
        self,
        device: Device,
        *,
        chain: int | None = None,
        rows: int | None = None,
        workgroup: int | None = None,
        limits: SumSizes = SumSizes(),
    ) -> None:
        super().__init__(device)
        self._limits = limits
        self._defines, self._uniforms, self._substitution = {"STEP": _STEP}, {}, None
        self._throttle = Throttle(device)
        self.chain = chain or (1 if device.info.software else 16)
        self.rows = rows or (8 if device.info.registers < _FEW_REGISTERS else 16)
        self._workgroup = max(self.chain, workgroup or (8 if device.info.software else 32))

    def log_sums(self, odds: Sequence[Float64], targets: Sequences, pairs: Int64) -> Float64:
        """Return the same as `log_sums` of this module, NaN for pairs that are out of range."""
        found = np.full(len(pairs), np.nan)
        for part in targets.parts(self._limits.letters):
            chosen = np.flatnonzero((pairs[:, 1] >= part.start) & (pairs[:, 1] < part.stop))
            some = pairs[chosen] - [0, part.start]
            found[chosen] = self._of_part(odds, targets.part(part), some)
        return found

    def _of_part(self, odds: Sequence[Float64], targets: Sequences, pairs: Int64) -> Float64:
        """Return the same for targets that fit a buffer."""
        found = np.full(len(pairs), np.nan)
        blocks = np.array([-(-len(each) // self.rows) for each in odds], np.int64)
        able = np.array([each.max(initial=0) <= _MAX_DEVICE_ODDS for each in odds], bool)
        words = -(-targets.lengths // _STEP)
        profile, target = pairs.T
        found[words[target] == 0] = -np.inf
        some = np.flatnonzero(able[profile] & (words[target] > 0) & (words[target] < gl.MAX_ROUNDS))
        if not len(some):
            return found
        profile, target = profile[some], target[some]
        self.upload(gl.QUERIES, self._blocks(odds, blocks))
        self.upload(gl.TARGETS, in_whole_words(targets, odds[0].shape[1]))
        strips = -(-blocks[profile] // self.chain)
        records = np.zeros((len(some), 5), np.uint32)
        records[:, 0] = 1 + offsets_of(blocks)[profile]
        records[:, 1] = blocks[profile]
        records[:, 2] = offsets_of(words)[target]
        records[:, 3] = words[target]
        room = np.where(strips > 1, words[target], 0)
        order = np.lexsort((-words[target], -strips))
        program = self.program(
            "profiles/forward.comp",
            WORKGROUP=self._workgroup,
            CHAIN=self.chain,
            ROWS=self.rows,
            LETTERS=odds[0].shape[1],
        )
        sums = np.zeros((len(some), 2))
        most = [self._limits.borders, self._limits.pairs]
        with stage("sums", len(some)) as done:
            for part in cut([offsets_of(room[order]), np.arange(len(some) + 1)], most):
                chosen = order[part]
                borders = offsets_of(room[chosen])
                records[chosen, 4] = borders[:-1]
                self._compute(program, records[chosen], strips[chosen], int(borders[-1]))
                sums[chosen] = self.download(gl.BEST, (np.float32, 2), len(chosen))
                done(len(chosen))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(sums[:, 0]) + math.log(2) * sums[:, 1]
        within = (logs > _LEAST_DEVICE_SUM) & (logs < math.log(_MAX_ODDS))
        found[some] = np.where(within, logs, np.nan)
        return found

    def _blocks(self, odds: Sequence[Float64], blocks: Int64) -> npt.NDArray[np.float32]:
        """Return the odds of all profiles, shape (blocks, letters, rows); those of one more are 0.

        Odds of one more letter, with which targets are filled up, are 0 too.
        """
        letters, rows = odds[0].shape[1], self.rows
        table = np.zeros(((1 + int(blocks.sum())) * rows, letters + 1), np.float32)
        places = ranges(rows * (1 + offsets_of(blocks)[:-1]), [len(each) for each in odds])
        table[places, :letters] = np.minimum(np.concatenate(odds), _MAX_DEVICE_ODDS)
        return table.reshape(-1, rows, letters + 1).transpose(0, 2, 1)

    def _compute(
        self,
        program: moderngl.ComputeShader,
        records: UInt32,
        strips: Int64,
        words: int,
    ) -> None:
        """Compute pairs, those of the most strips first, strip by strip."""
        chains = self._workgroup // self.chain
        groups = -(-len(records) // chains)
        self.upload(gl.PAIRS, np.pad(records, ((0, groups * chains - len(records)), (0, 0))))
        self.reserve(gl.ROW_ABOVE, 4 * (2 * _STEP + 1) * words)
        self.reserve(gl.BEST, 8 * groups * chains)
        self.reserve(gl.QUERIES)
        self.reserve(gl.TARGETS)
        for strip in range(int(strips[0])):
            program["strip"] = strip
            there = int(np.count_nonzero(strips > strip))
            self._throttle.run_slices(-(-there // chains), partial(self._queue, program))

    def _queue(self, program: moderngl.ComputeShader, part: range) -> None:
        """Have some work groups compute."""
        for start in range(part.start, part.stop, self._limits.groups):
            program["first_group"] = start
            program.run(min(self._limits.groups, part.stop - start))
        self.device.ctx.memory_barrier()

    # What it proves: numbers of letters.

    @classmethod
    def trials(cls) -> list[Trial]:
        """Return the number of letters of proteins, see `Provable.trials`."""
        return [Trial("protein: sums", (), len(PROTEIN))]

    def family(self, kind: int) -> str:
        """Return what distinguishes programs: positions computed at once, and letters."""
        return f"{self.chain} x {self.rows} positions, {kind} letters"

    def checks(self, kind: int) -> Iterator[tuple[Any, Any]]:
        """Yield whether sums of awkward pairs, computed twice, are those of the host."""
        scoring = Scoring.blast()
        work, known = work_for(scoring), min(kind, len(scoring.alphabet))
        scores = np.exp(_LAMBDA * scoring.matrix[:, :known])
        odds = [np.full((m, kind), 0.5) for m in (_PROVED, _PROVED // 3, 1)]
        for k, each in enumerate(odds):
            each[:, :known] = scores[work.queries[k % 2][: len(each)]]
        some = [work.same[:_PROVED], work.long[:_PROVED], work.same[:0], *work.targets]
        targets = Sequences.of([each % known for each in some])
        pairs = np.indices((len(odds), len(targets))).reshape(2, -1).T.astype(np.int64)
        expected = log_sums(odds, targets, pairs)
        self.log_sums(odds[::-1], targets, pairs)
        found = self.log_sums(odds, targets, pairs)
        yield np.allclose(found, expected, rtol=0, atol=_TOLERANCE), True
