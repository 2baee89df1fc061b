"""The file of a shard: the hits of queries in one part of a database.

A file is a sequence of blocks. Each begins with the CRC-32 and the number of the bytes that follow.
The first block is JSON: the fingerprint of the search, and which shard this is. The next ones have
the hits of contexts, the first context first, as numbers of 64 bits. The last one is JSON again:
what found the hits, and how long it took. While a shard is computed its file has another name, and
whole blocks are appended, so that another process can go on after the last one.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.output.part_file import check_regular
from glsw.search.fingerprint import json_object
from glsw.search.ranking import Found, Ranking, scores_of, target_numbers
from glsw.search.scan import ScanResult
from glsw.sequences.database import Database

_HEAD = struct.Struct("<4sIQ")
_MARKS = _FIRST, _HITS, _LAST = b"glsh", b"hits", b"done"
_NUMBERS = "<i8"
_SUMMARY = {"seconds": float, "engine": str, "device": str, "memory": int}


class ShardError(ValueError):
    """A file of a shard is damaged, missing, or of another search."""


class Block(NamedTuple):
    """A block of a file, and where the next one begins."""

    mark: bytes
    data: bytes
    end: int


def blocks(path: Path, start: int = 0) -> Iterator[Block]:
    """Yield the blocks of a file from a byte on; nothing is open meanwhile.

    Raises
    ------
    ShardError
        If a block is damaged or cut off.
    OSError
        If it is no file to read.
    """
    check_regular(path, links=True)
    at, mark = start, b""
    while mark != _LAST:
        with path.open("rb") as file:
            file.seek(at)
            head = file.read(_HEAD.size)
            if not head:
                return
            if len(head) < _HEAD.size:
                raise _damaged(path, at)
            mark, crc, size = _HEAD.unpack(head)
            left = os.fstat(file.fileno()).st_size - file.tell()
            if mark not in _MARKS or size > left:
                raise _damaged(path, at)
            data = file.read(size)
            if len(data) != size or zlib.crc32(data) != crc or (mark == _LAST and size != left):
                raise _damaged(path, at)
        at += _HEAD.size + size
        yield Block(mark, data, at)


def _damaged(path: Path, at: int) -> ShardError:
    return ShardError(f"{path}: damaged at byte {at}")


def packed(mark: bytes, data: bytes) -> bytes:
    """Return the bytes of a block."""
    return _HEAD.pack(mark, zlib.crc32(data), len(data)) + data


def first_block(header: Mapping[str, Any]) -> bytes:
    """Return the block with which a file begins."""
    return packed(_FIRST, json.dumps(header).encode("ascii"))


def last_block(summary: Mapping[str, Any]) -> bytes:
    """Return the block with which a complete file ends."""
    return packed(_LAST, json.dumps(summary).encode("ascii"))


def hits_block(found: Sequence[ScanResult]) -> bytes:
    """Return the block of some contexts.

    After the number of contexts, three numbers each say how many numbers follow for it: the hits,
    the cells of the histogram that are not 0 with their counts, and the columns, two of each hit or
    none.
    """
    sizes, numbers = [len(found)], []
    for each in found:
        counts = np.empty(0, np.int64) if each.histogram is None else each.histogram.counts.ravel()
        filled = np.flatnonzero(counts)
        columns = np.empty(0, np.int64) if each.found.columns is None else each.found.columns
        parts = [each.found.key, np.concatenate([filled, counts[filled]]), columns.ravel()]
        sizes += [len(part) for part in parts]
        numbers += parts
    every = np.concatenate([np.array(sizes, np.int64), *numbers])
    return packed(_HITS, every.astype(_NUMBERS).tobytes())


def results_of(
    data: bytes, ranking: Ranking, database: Database, targets: slice
) -> Iterator[ScanResult]:
    """Yield the results of the contexts of a block that `hits_block` made.

    ValueError or IndexError if they cannot be those of these sorted sequences of the database.
    """
    numbers = np.frombuffer(data, _NUMBERS).astype(np.int64)
    count = int(numbers[0])
    sizes = numbers[1 : 1 + 3 * count].tolist()
    bounds = list(accumulate(sizes, initial=1 + 3 * count))
    _check(len(sizes) == 3 * count and min(sizes, default=0) >= 0 and bounds[-1] == len(numbers))
    parts = iter([numbers[start:stop] for start, stop in pairwise(bounds)])
    for hits, cells, columns in zip(parts, parts, parts, strict=True):
        _check((hits >= 0).all() and (np.diff(hits) > 0).all())
        _check_targets(found := target_numbers(hits), database, targets)
        _check((scores_of(hits) >= max(1, ranking.min_score)).all())
        _check(ranking.top is None or len(hits) <= ranking.top)
        if (histogram := ranking.histogram()) is not None:
            filled, counts = np.split(cells, 2)
            _check((filled >= 0).all() and (np.diff(filled) > 0).all() and (counts > 0).all())
            histogram.counts.ravel()[filled] = counts
            _check(histogram.has_lengths(database.lengths[targets]))
        else:
            _check(not len(cells))
        known = columns.reshape(-1, 2) if len(columns) else None
        if known is not None:
            starts, stops = known.T
            _check(len(known) == len(hits) and (starts >= 0).all())
            _check(((starts < stops) | ~known.any(axis=1)).all())
            _check((stops <= database.lengths_at(database.places(found))).all())
        yield ScanResult(Found(hits, known), histogram=histogram)


def _check_targets(numbers: npt.NDArray[np.int64], database: Database, targets: slice) -> None:
    """Check that these are different sequences, all of a part of the database."""
    _check((numbers >= 0).all() and (numbers < len(database)).all())
    places = np.sort(database.places(numbers))
    _check((places >= targets.start).all() and (places < targets.stop).all())
    _check((np.diff(places) > 0).all())


def _check(fits: bool | np.bool_) -> None:
    if not fits:
        raise ValueError("no results of this part of the database")


class ShardFile:
    """The file of a shard, complete or not.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    header : dict
        The first block; empty if there is none.
    summary : dict or None
        The last block of a complete file.
    contexts : int
        The contexts whose hits are there.
    size : int
        The bytes up to the end of the last whole block with hits.
    damage : ShardError or None
        Why the rest cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.summary: dict[str, Any] | None = None
        self.contexts = self.size = 0
        self.damage: ShardError | None = None
        try:
            for mark, data, end in blocks(path):
                if (mark == _FIRST) != (self.size == 0):
                    raise _damaged(path, self.size)
                if mark == _FIRST:
                    self.header = _object(path, data, self.size)
                elif mark == _HITS:
                    self.contexts += int.from_bytes(data[:8], "little")
                else:
                    self.summary = _object(path, data, self.size)
                    if not _is_summary(self.summary):
                        raise _damaged(path, self.size)
                    break
                self.size = end
        except ShardError as error:
            self.damage = error
        if not self.summary and not self.damage:
            self.damage = ShardError(f"{path}: it ends at byte {self.size}")
        if self.summary and not self._has_its_contexts():
            self.damage = ShardError(f"{path}: hits of {self.contexts} contexts")

    def _has_its_contexts(self) -> bool:
        """Whether there are hits of as many contexts as the header says."""
        match self.header.get("contexts"):
            case [int(first), int(stop)]:
                return self.contexts == stop - first
        return False

    def results(self, ranking: Ranking, database: Database, targets: slice) -> Iterator[ScanResult]:
        """Yield the results of the contexts, whose blocks are read one by one.

        ShardError if they cannot be those of these sorted sequences of the database.
        """
        at = 0
        for mark, data, end in blocks(self.path):
            if mark == _HITS:
                try:
                    yield from results_of(data, ranking, database, targets)
                except (ValueError, IndexError):
                    raise _damaged(self.path, at) from None
            at = end


def _is_summary(found: Mapping[str, Any]) -> bool:
    """Whether a last block says what `last_block` does, by numbers that are possible."""
    if {name: type(value) for name, value in found.items()} != _SUMMARY:
        return False
    return bool(0 <= found["seconds"] < np.inf and 0 <= found["memory"] < 2**63)


def _object(path: Path, data: bytes, at: int) -> dict[str, Any]:
    try:
        return json_object(data)
    except ValueError:
        raise _damaged(path, at) from None
