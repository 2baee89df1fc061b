"""Many sequences as one array of codes and their offsets."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from glsw.arrays import Codes, Int64, Intp, UInt8
from glsw.cores import in_threads
from glsw.sequences.tiles import cut

if TYPE_CHECKING:
    from glsw.sequences.alphabet import Alphabet

_MAX_MEAN_GATHERED = 2**6
"""Mean residues of sequences that are copied residue by residue, not one sequence at a time."""
_SHORT = 2**8  # mean residues of ranges that are copied all at once to places apart
_CACHED = 2**14  # numbers that fit a cache
_TOGETHER = 2**20  # letters that a thread puts into words at once
_SHORT_NUMBERS = 2**16 - 1
_FEW_ALIKE = 4  # sequences of one length that are copied one by one
_SOON = 2**16  # residues among which most codes occur


@dataclass(frozen=True, eq=False)
class Sequences:
    """Encoded sequences, one after the other in one array.

    Parameters
    ----------
    residues : ndarray of uint8, shape (total,)
        The codes of all sequences; of uint16 for positions of profiles and for two tracks.
    offsets : ndarray of int64, shape (count + 1,)
        Sequence ``k`` is ``residues[offsets[k]:offsets[k + 1]]``.

    Examples
    --------
    >>> import numpy as np
    >>> sequences = Sequences.of([np.array([0, 1, 2], np.uint8), np.array([3], np.uint8)])
    >>> len(sequences), sequences.lengths.tolist(), sequences[1].tolist()
    (2, [3, 1], [3])
    """

    residues: Codes
    offsets: Int64
    origin: tuple[Sequences, int] | None = field(default=None, init=False, repr=False)
    """Of a `part`: what it is a part of, and the number of its first sequence there."""
    first = 0  # the place of the first residue in its file

    def __reduce__(self) -> tuple[Any, ...]:
        return Sequences, (self.residues, self.offsets)  # a part without the whole

    def __post_init__(self) -> None:
        _check_array("residues", self.residues, np.uint8, np.uint16)
        _check_array("offsets", self.offsets, np.int64)
        bounds = self.offsets
        if not len(bounds) or bounds[0] != 0 or bounds[-1] != len(self.residues):
            raise ValueError(f"offsets must go from 0 to the {len(self.residues)} residues")
        if len(bounds) > 2 and (bounds[1:] < bounds[:-1]).any():
            raise ValueError("offsets must not decrease")

    @staticmethod
    def of(arrays: Iterable[Codes]) -> Sequences:
        """Return copies of these arrays of codes, each of shape (length,)."""
        parts = list(arrays)
        for k, part in enumerate(parts):
            _check_array(f"sequence {k + 1}", part, np.uint8, np.uint16)
        offsets = offsets_of([len(part) for part in parts])
        residues = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint8)
        return Sequences(residues, offsets)

    @staticmethod
    def one(codes: Codes) -> Sequences:
        """Return one sequence, not copied."""
        return Sequences(codes, np.array([0, len(codes)], np.int64))

    @property
    def size(self) -> int:
        """Residues of all sequences."""
        return int(self.offsets[-1])

    @property
    def code_type(self) -> np.dtype[Any]:
        """The type of the residues."""
        return self.residues.dtype

    def fill(self, found: Codes, start: int) -> None:
        """Fill an array with residues from ``start`` on."""
        np.copyto(found, self.residues[start : start + len(found)])

    @cached_property
    def lengths(self) -> Int64:
        """Residues in each sequence, shape (count,)."""
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        """Residues in the longest sequence; 0 if there are none."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def code_bound(self) -> int:
        """An upper bound of the codes: the largest one, for a part perhaps that of the whole."""
        return int(self.residues.max(initial=0))

    def codes_in_use(self, least: int = 0) -> list[int]:
        """Return the codes from ``least`` on that occur, ascending; most of them do so soon."""
        residues = self.residues
        found = np.bincount(residues[:_SOON], minlength=self.code_bound + 1) > 0
        for code in np.flatnonzero(~found).tolist():
            found[code] = code >= least and any(
                (residues[start : start + _SOON] == code).any()
                for start in range(_SOON, len(residues), _SOON)
            )
        return [code for code in np.flatnonzero(found).tolist() if code >= least]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> Codes:
        k = operator.index(k)
        if k == 0 and len(self.offsets) == 2:  # quicker
            return self.residues
        if not -len(self) <= k < len(self):
            raise IndexError(f"sequence {k} of {len(self)}")
        k %= len(self)
        return self.residues[self.offsets[k] : self.offsets[k + 1]]

    def __iter__(self) -> Iterator[Codes]:
        return (self[k] for k in range(len(self)))

    def checked(self, alphabet: Alphabet, what: str) -> Sequences:
        """Return self; ValueError for a code outside the alphabet, of sequences named ``what``."""
        _check_array(what, self.residues, alphabet.code_type)
        if self.code_bound >= len(alphabet) and int(self.residues.max(initial=0)) >= len(alphabet):
            at = int((self.residues >= len(alphabet)).argmax())
            number = int(np.searchsorted(self.offsets, at, "right"))
            raise ValueError(
                f"{what} {number}: code {self.residues[at]} at position "
                f"{at - int(self.offsets[number - 1]) + 1} is not in the {alphabet.name} "
                f"alphabet (0 to {len(alphabet) - 1})"
            )
        return self

    def part(self, part: slice) -> Sequences:
        """Return the sequences of a slice of step 1, residues not copied; itself if that is all."""
        whole = part.indices(len(self)) == (0, len(self), 1)
        if whole:
            return self
        made = part_of(self.residues, self.offsets, part)
        object.__setattr__(made, "origin", (self, part.indices(len(self))[0]))
        if "code_bound" in self.__dict__:
            object.__setattr__(made, "code_bound", self.code_bound)
        return made

    def parts(self, residues: int) -> Iterator[slice]:
        """Yield slices for `part`, all sequences in turn, of at most this number of residues.

        A longer sequence is a part of its own.

        Examples
        --------
        >>> import numpy as np
        >>> sequences = Sequences.of([np.zeros(length, np.uint8) for length in (12, 9, 6, 3, 0)])
        >>> [(part.start, part.stop) for part in sequences.parts(10)]
        [(0, 1), (1, 2), (2, 5)]
        """
        if residues < 1:
            raise ValueError(f"a part has at least 1 residue, got {residues}")
        return cut([self.offsets], [residues])

    def select(self, order: npt.ArrayLike) -> Sequences:
        """Return copies of these sequences, in this order."""
        chosen = np.asarray(order, np.intp)
        lengths, starts = self.lengths[chosen], self.offsets[chosen]
        offsets = offsets_of(lengths)
        if offsets[-1] <= _MAX_MEAN_GATHERED * len(chosen):
            return Sequences(self.residues[ranges(starts, lengths)], offsets)
        view = np.ascontiguousarray(self.residues).data
        bounds = zip(starts.tolist(), lengths.tolist(), strict=True)
        joined = bytearray().join([view[start : start + length] for start, length in bounds])
        return Sequences(np.frombuffer(joined, self.residues.dtype), offsets)

    @staticmethod
    def concatenated(parts: Sequence[Sequences]) -> Sequences:
        """Return the sequences of all parts, at least one."""
        residues = np.concatenate([part.residues for part in parts])
        return Sequences(residues, joined_offsets([part.offsets for part in parts]))


def offsets_of(lengths: npt.ArrayLike) -> Int64:
    """Return where sequences of these lengths begin, one after the other, and where all end.

    >>> offsets_of([3, 0, 2]).tolist()
    [0, 3, 3, 5]
    """
    counts = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def joined_offsets(parts: Iterable[Int64]) -> Int64:
    """Return the offsets of several arrays one after the other.

    >>> joined_offsets([np.array([0, 3, 5]), np.array([0, 4])]).tolist()
    [0, 3, 5, 9]
    """
    return offsets_of(np.concatenate([np.diff(part) for part in parts]))


def order_by_length(lengths: Int64) -> Intp:
    """Return the order by descending length; equal ones keep theirs.

    >>> order_by_length(np.array([3, 5, 3])).tolist()
    [1, 0, 2]
    """
    shorter = lengths.max(initial=0) - lengths
    if shorter.max(initial=0) <= _SHORT_NUMBERS:
        shorter = shorter.astype(np.uint16)  # which NumPy sorts without comparing
    return np.argsort(shorter, kind="stable")


def sorted_by_length(lengths: Int64) -> tuple[Int64, Int64]:
    """Return the order by descending length, and the place of each sequence in it."""
    order = order_by_length(lengths).astype(np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return order, rank


def runs_of(lengths: Int64) -> Int64:
    """Return sorted lengths and how many sequences have each, shape (different ones, 2).

    >>> runs_of(np.array([5, 3, 3])).tolist()
    [[5, 1], [3, 2]]
    """
    first = np.flatnonzero(np.diff(lengths, prepend=-1))
    return np.stack([lengths[first], np.diff(first, append=len(lengths))], axis=1)


def gathered(residues: Codes, starts: Int64, lengths: Int64, found: Codes) -> None:
    """Copy sequences sorted by length from where they start, one after the other, by threads.

    >>> residues, found = np.arange(9, dtype=np.uint8), np.zeros(6, np.uint8)
    >>> gathered(residues, np.array([5, 1, 0]), np.array([2, 2, 2]), found)
    >>> found.tolist()
    [5, 6, 1, 2, 0, 1]
    """
    size = residues.itemsize
    source, room = residues.view(np.uint8), found.view(np.uint8)
    offsets = offsets_of(lengths)

    def gather(part: slice) -> None:
        """Copy sequences of one length as numbers of so many bytes, without Python's lock."""
        at = size * int(offsets[part.start])
        some, every = starts[part] * size, runs_of(lengths[part])
        for (length, _), begins in zip(
            every.tolist(), np.split(some, np.cumsum(every[:-1, 1])), strict=True
        ):
            wide = length * size
            stop = at + len(begins) * wide
            if len(begins) < _FEW_ALIKE:
                for begin in begins.tolist():
                    room[at : at + wide] = source[begin : begin + wide]
                    at += wide
            elif wide:
                kind = np.dtype((np.void, wide))
                numbers = np.ndarray(len(source) - wide + 1, kind, source, strides=(1,))
                room[at:stop].view(kind)[:] = numbers[begins]
            at = stop

    in_threads(gather, [*cut([offsets], [_TOGETHER])])


def part_of(residues: Codes, offsets: Int64, part: slice) -> Sequences:
    """Return `Sequences.part` of sequences of which no other offsets are looked at."""
    bounds = bounds_of(offsets, part)
    return Sequences(residues[bounds[0] : bounds[-1]], bounds - bounds[0])


def bounds_of(offsets: Int64, part: slice) -> Int64:
    """Return the offsets of a slice of sequences, of step 1, and the end of the last."""
    start, stop, step = part.indices(len(offsets) - 1)
    if step != 1:
        raise ValueError(f"sequences of a part follow one another, got a step of {step}")
    return offsets[start : max(start, stop) + 1]


def padded(sequences: Sequences, which: npt.ArrayLike, width: int, fill: int) -> Codes:
    """Return the sequences ``which`` as the rows of one array, shape (len(which), width).

    ``fill`` stands behind the end of each; none may be longer than ``width``.
    """
    chosen = np.asarray(which, dtype=np.intp)
    lengths = sequences.lengths[chosen]
    rows = np.full((len(chosen), width), fill, dtype=sequences.residues.dtype)
    inside = np.arange(width) < lengths[:, None]
    rows[inside] = sequences.residues[ranges(sequences.offsets[chosen], lengths)]
    return rows


def ranges(starts: npt.ArrayLike, counts: npt.ArrayLike) -> Int64:
    """Return the whole numbers of many ranges, one range after the other.

    >>> ranges([5, 0], [3, 2]).tolist()
    [5, 6, 7, 0, 1]
    """
    first, lengths = np.asarray(starts, np.int64), np.asarray(counts, np.int64)
    shifts = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
    return shifts + np.arange(len(shifts))


def copy_ranges(residues: Codes, first: Int64, lengths: Int64, found: Codes, at: Int64) -> None:
    """Copy ranges of residues to other places, which ascend; short or equal ones all at once.

    >>> residues, found = np.arange(9, dtype=np.uint8), np.zeros(6, np.uint8)
    >>> copy_ranges(residues, *np.array([[5, 0], [3, 2]]), found, np.array([0, 4]))
    >>> found.tolist()
    [5, 6, 7, 0, 0, 1]
    """
    if not len(lengths):
        return
    steps = [np.diff(each) for each in (first, at)]
    if all((each == each[:1]).all() for each in (lengths, *steps)):
        source, rows = (
            as_strided(
                array[begin[0] :],
                (len(begin), lengths[0]),
                (array.itemsize * step[:1].sum(), array.itemsize),
            )
            for array, begin, step in zip((residues, found), (first, at), steps, strict=True)
        )
        rows[:] = source
    elif lengths.sum() <= _SHORT * len(lengths):
        some = lengths > 0
        room = found[at[0] : at[-1] + lengths[-1]]
        bounds = np.zeros(len(room) + 1, np.int8)
        bounds[at[some] - at[0]] = 1
        bounds[(at + lengths)[some] - at[0]] -= 1
        inside = np.cumsum(bounds[:-1], dtype=np.int8).view(bool)
        one = (first[1:] == (first + lengths)[:-1]).all()  # range after the other
        run = slice(first[0], first[0] + lengths.sum())
        room[inside] = residues[run] if one else residues[ranges(first, lengths)]
    else:
        for where, begin, length in zip(at.tolist(), first.tolist(), lengths.tolist(), strict=True):
            found[where : where + length] = residues[begin : begin + length]


def distinct(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the different numbers, ascending; np.unique would import masked arrays, 10 ms.

    >>> distinct(np.array([3, 1, 3, 2])).tolist()
    [1, 2, 3]
    """
    ordered = numbers.ravel()
    if not (ordered[1:] >= ordered[:-1]).all():
        ordered = np.sort(ordered)
    found: npt.NDArray[Any] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


def run_or_all(numbers: npt.NDArray[Any]) -> slice | npt.NDArray[Any]:
    """Return numbers for indexing, as a slice if each is the one before plus 1.

    >>> run_or_all(np.array([3, 4, 5])), run_or_all(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    if not len(numbers) or int(numbers[-1]) - int(numbers[0]) != len(numbers) - 1:
        return numbers
    for start in range(0, len(numbers) - 1, _CACHED):
        some = numbers[start : start + _CACHED + 1]
        if (some[1:] - some[:-1] != 1).any():
            return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


def _check_array(name: str, array: object, *dtypes: type[np.generic]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype not in dtypes:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be an array of {np.dtype(dtypes[0])}, got {kind}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")


def first_words(targets: Sequences) -> Int64:
    """Return where each target begins, in words of four letters."""
    words = -(-targets.lengths // 4)
    first: Int64 = np.cumsum(words) - words
    return first


def in_whole_words(targets: Sequences, padding: int = 0) -> UInt8:
    """Return the letters of targets, each of which begins a word of four; ``padding`` fills it up.

    >>> in_whole_words(Sequences.of([np.array([7], np.uint8), np.array([8, 9], np.uint8)])).tolist()
    [7, 0, 0, 0, 8, 9, 0, 0]
    """
    if not (targets.lengths % 4).any():
        return targets.residues
    letters = np.full(4 * int((-(-targets.lengths // 4)).sum()), padding, np.uint8)
    lengths, at = targets.lengths, 4 * first_words(targets)

    def put(part: slice) -> None:
        copy_ranges(targets.residues, targets.offsets[:-1][part], lengths[part], letters, at[part])

    step = max(1, _TOGETHER * len(targets) // len(letters))
    in_threads(put, [slice(first, first + step) for first in range(0, len(targets), step)])
    return letters
