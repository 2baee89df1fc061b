"""The targets of engine ``lanes``, by length, and what it does with one or two queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.engines.lanes.query_profile import BLOCK, COMPARE, Geometry
from glsw.sequences.encoded import Sequences

QUERY_PROFILE, COLUMNS, SLOTS, BORDERS, SCORES, GROUPS, LETTERS, TARGETS = range(8)
"""Storage buffers; the profile may be a uniform block instead."""
LONGEST = 2**15
"""Columns that a lane goes along: llvmpipe ends all loops of an invocation after 65535 rounds."""
_ALIGNED = 64  # words of 4 bytes between parts of a buffer that are bound alone
_IN_FLIGHT = 2**15  # targets that a large device computes at once
_SHORT = 512  # columns from which a target may count as long


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets that lanes can take, the longest first.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Where each stands among those that were asked for.
    first, lengths : ndarray of int64, shape (N,)
        Where its letters begin, and how many they are.
    """

    order: npt.NDArray[np.intp]
    first: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @cached_property
    def positions(self) -> npt.NDArray[np.intp] | slice:
        """The order, as a slice if it is one."""
        order = self.order
        ascending = len(order) > 0 and bool((np.diff(order) == 1).all())
        return slice(int(order[0]), int(order[-1]) + 1) if ascending else order

    def only(self, chosen: npt.NDArray[np.intp] | slice) -> Targets:
        """Return these of them."""
        return Targets(self.order[chosen], self.first[chosen], self.lengths[chosen])


@dataclass(frozen=True, eq=False)
class SortedTargets:
    """The targets of a search, in shares that each have chains of one kind.

    Parameters
    ----------
    sequences : Sequences
    which : ndarray of int32, shape (count,)
        All that were asked for.
    shares : list of (Targets, bool)
        Targets, and whether they are long: those need more lanes each.
    beyond : ndarray of int
        Where in ``which`` those stand that are too long for lanes.
    """

    sequences: Sequences
    which: npt.NDArray[np.int32]
    shares: list[tuple[Targets, bool]]
    beyond: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls, sequences: Sequences, which: npt.NDArray[np.int32], *, long_apart: bool
    ) -> SortedTargets:
        """Sort by descending length, and perhaps set apart the long ones, which would end last."""
        every = sequences.lengths[which]
        order = np.argsort(-every, kind="stable")
        order = order[(every[order] > 0) & (every[order] <= LONGEST)]
        targets = Targets(order, sequences.offsets[which[order]], every[order])
        long = 0
        if long_apart:
            usual = max(_SHORT, int(targets.lengths.sum()) // _IN_FLIGHT)
            long = int(np.searchsorted(-targets.lengths, -usual))
        parts = (targets.only(slice(long)), True), (targets.only(slice(long, None)), False)
        shares = [(part, is_long) for part, is_long in parts if len(part.order)]
        return cls(sequences, which, shares, np.flatnonzero(every > LONGEST))


@dataclass(frozen=True, eq=False)
class Dealt:
    """Targets as lanes read them, the columns of each chain, and which target is where.

    Without ``order`` they are as they come.
    """

    slots: moderngl.Buffer
    words: moderngl.Buffer
    columns: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64] | None

    @property
    def buffers(self) -> tuple[moderngl.Buffer, ...]:
        """What it takes on the device."""
        return self.slots, self.words

    def bind(self) -> None:
        """Bind its buffers."""
        self.slots.bind_to_storage_buffer(SLOTS)
        self.words.bind_to_storage_buffer(COLUMNS)

    def release(self) -> None:
        """Free its buffers."""
        self.slots.release()
        self.words.release()


@dataclass(frozen=True, eq=False)
class Job:
    """One or two queries against targets with chains of one length.

    Parameters
    ----------
    queries : int
    targets : Targets
    geometry : Geometry
    dealt : Dealt
    strips : int
    strip_size : int
        Bytes of the profile of a strip.
    border_columns, cells : ndarray of int64, shape (groups + 1,)
        Places of borders, and cells with their padding, before each work group.
    useful : int
        Cells without padding.
    profile, groups, scores : moderngl.Buffer
    """

    queries: int
    targets: Targets
    geometry: Geometry
    dealt: Dealt
    strips: int
    strip_size: int
    border_columns: npt.NDArray[np.int64]
    cells: npt.NDArray[np.int64]
    useful: int
    profile: moderngl.Buffer
    groups: moderngl.Buffer
    scores: moderngl.Buffer

    @property
    def buffers(self) -> tuple[moderngl.Buffer, ...]:
        """What it takes on the device beside its targets."""
        return self.profile, self.groups, self.scores

    def bind(self) -> None:
        """Bind its buffers, but for the profile."""
        self.dealt.bind()
        self.groups.bind_to_storage_buffer(GROUPS)
        self.scores.bind_to_storage_buffer(SCORES)

    def bind_strip(self, strip: int) -> None:
        """Bind the profile of a strip, or of all of them."""
        if self.geometry.at_once:
            self.profile.bind_to_storage_buffer(QUERY_PROFILE)
            return
        in_block = self.geometry.profile_memory in (COMPARE, BLOCK)
        buffer = self.profile
        bind = buffer.bind_to_uniform_block if in_block else buffer.bind_to_storage_buffer
        step = -(-self.strip_size // (4 * _ALIGNED)) * 4 * _ALIGNED
        bind(QUERY_PROFILE, strip * step, self.strip_size)

    def units(self, cells: int) -> Iterator[range]:
        """Yield the work groups in portions of about so many cells."""
        ends = np.searchsorted(self.cells, np.arange(cells, self.cells[-1] + cells, cells))
        start = 0
        for end in np.unique(np.minimum(ends, len(self.cells) - 1)).tolist():
            yield range(start, end)
            start = end

    def border_bytes(self, start: int, stop: int) -> int:
        """Return the bytes of borders of these work groups."""
        if self.strips == 1:
            return 0
        return int(self.border_columns[stop] - self.border_columns[start]) * self.geometry.border

    def fitting(self, start: int, room: int) -> int:
        """Return the work group behind those from ``start`` on whose borders fit the room."""
        if self.strips == 1:
            return len(self.border_columns) - 1
        most = self.border_columns[start] + room // self.geometry.border
        return int(np.searchsorted(self.border_columns, most, "right")) - 1

    def useful_before(self, group: int) -> int:
        """Return the cells without padding before a work group."""
        return self.useful * int(self.cells[group]) // int(self.cells[-1])

    def download(self) -> npt.NDArray[np.int32]:
        """Return the scores, shape (queries, targets)."""
        count, order = len(self.targets.order), self.dealt.order
        stored = count if order is None else len(order)
        found = np.frombuffer(self.scores.read(4 * stored * self.queries), np.int32)
        found = found.reshape(-1, self.queries).T
        if order is None:
            return found
        scores = np.empty((self.queries, count), np.int32)
        scores[:, order[order < count]] = found[:, order < count]
        return scores


def zigzag(order: npt.NDArray[np.int64], group: int) -> npt.NDArray[np.int64]:
    """Return the same in groups: the first, the last, the second, the last but one, and so on.

    >>> zigzag(np.arange(10), 2).tolist()
    [0, 1, 8, 9, 2, 3, 6, 7, 4, 5]
    """
    groups = order.reshape(-1, group)
    mixed = np.empty_like(groups)
    half = -(-len(groups) // 2)
    mixed[::2], mixed[1::2] = groups[:half], groups[half:][::-1]
    return mixed.ravel()


def apart(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the profiles of strips, shape (strips, words), so that each can be bound alone."""
    strips = np.zeros((len(words), -(-words.shape[1] // _ALIGNED) * _ALIGNED), np.uint32)
    strips[:, : words.shape[1]] = words
    return strips


def merged(units: Sequence[tuple[Job, range]]) -> Iterator[tuple[Job, range]]:
    """Yield each job once with the work groups of all its portions, which follow one another."""
    for job, several in groupby(units, key=itemgetter(0)):
        ranges = [each for _, each in several]
        yield job, range(ranges[0].start, ranges[-1].stop)
