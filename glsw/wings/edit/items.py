"""Sequences of anything as codes: text of any letters, arrays of numbers, lists of objects."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64
from glsw.cores import beside, in_threads
from glsw.inputs.source import letters_of_item
from glsw.sequences.alphabet import LARGEST, Alphabet, letters_of, translate
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.records import PIECE

Items: TypeAlias = "str | npt.NDArray[np.integer] | list[Hashable]"
"""A sequence as text, numbers, or objects that are equal or not."""

CODES = 256
"""The most codes: one more than an alphabet has letters."""

_MANY, _SAMPLE = 4, 2**9  # pieces that threads look up while others are joined; texts looked at
_SOME = 2**16  # bytes among which all different ones are, mostly
_TABLE = 2**21  # numbers that a table may have: all code points
_WILDCARD, _ONLY_IN_QUERY, _ONLY_IN_TARGET, _SHARED = range(4)


def items_of(sequence: Any, *, empty: bool = False) -> Items:
    """Return the items of a sequence.

    Parameters
    ----------
    sequence : str, bytes, Seq, MutableSeq, SeqRecord, array of integers, or iterable
        An array is any object with a buffer.
    empty : bool
        Whether the sequence may be empty.

    Raises
    ------
    TypeError
        If it is not iterable.
    ValueError
        If it is empty, or an array not of integers or not of one dimension.

    Examples
    --------
    >>> items_of(b"ACGT"), items_of(("Gly", "Ala")), items_of(np.array([7, 1])).tolist()
    ('ACGT', ['Gly', 'Ala'], [7, 1])
    """
    text = letters_of_item(sequence, "sequence", "Bio.Seq", "skbio.sequence")
    items: Items = _array(sequence) if text is None else text
    if not (len(items) or empty):
        raise ValueError("sequence has zero length")
    return items


def _array(sequence: Any) -> npt.NDArray[np.integer] | list[Hashable]:
    """Return the numbers of an array, or the objects of any other sequence."""
    try:
        view = memoryview(sequence)
    except TypeError:
        return list(sequence)
    if view.ndim != 1:
        raise ValueError(f"sequence has incorrect rank ({view.ndim} expected 1)")
    if view.format not in tuple("bBhHiIlLqQ"):
        raise ValueError(f"sequence has incorrect data type '{view.format}'")
    return np.asarray(view)


def code_alphabet(count: int) -> Alphabet:
    """Return an alphabet of letters known only by code, at most 255."""
    return Alphabet("code", tuple(f"{k:03d}" for k in range(count)))


def code_pairs(
    queries: Sequence[Items], targets: Sequence[Items], wildcard: str | None
) -> tuple[list[Codes], list[Codes], int]:
    """Return codes of pairs that are scored by match and mismatch, and how many codes there are.

    Equal items of a pair have equal codes; those of one sequence only share a code. Letters are
    equal to their numbers in arrays, and to themselves in lists. Code 0 is the wildcard's.

    Raises
    ------
    ValueError
        If a pair shares more items than there are codes.

    Examples
    --------
    >>> code_pairs(["αβγ?"], ["xγα"], "?")
    ([array([3, 1, 4, 0], dtype=uint8)], [array([2, 4, 3], dtype=uint8)], 5)
    """
    coded = [_pair(*pair, wildcard) for pair in zip(queries, targets, strict=True)]
    count = max([_SHARED, *(count for *_, count in coded)])
    return [query for query, *_ in coded], [target for _, target, _ in coded], count


def _pair(query: Items, target: Items, wildcard: str | None) -> tuple[Codes, Codes, int]:
    if isinstance(query, list) or isinstance(target, list):
        numbers: dict[Hashable, int] = {}
        a, b = (
            np.array([numbers.setdefault(item, len(numbers)) for item in _objects(side)])
            for side in (query, target)
        )
        unknown = None if wildcard is None else numbers.get(wildcard)
    else:
        a, b = points(query), points(target)
        unknown = None if wildcard is None else ord(wildcard)
    shared = np.intersect1d(a, b)
    if unknown is not None:
        shared = shared[shared != unknown]
    count = _SHARED + len(shared)
    if count > LARGEST:
        raise ValueError(
            f"{len(shared)} different letters are in both sequences: "
            f"at most {LARGEST - _SHARED} expected"
        )
    codes = []
    for side, alone in ((a, _ONLY_IN_QUERY), (b, _ONLY_IN_TARGET)):
        code = np.where(np.isin(side, shared), _SHARED + np.searchsorted(shared, side), alone)
        if unknown is not None:
            code[side == unknown] = _WILDCARD
        codes.append(code.astype(np.uint8))
    return codes[0], codes[1], count


def codes_together(sides: Sequence[Sequence[Items]]) -> tuple[list[Sequences], int]:
    """Return codes of the sequences of one or two sides, and how many codes there are.

    Equal items have equal codes, in all sequences. Of two sides, items of one only share a code.

    Raises
    ------
    ValueError
        If there are more different items than codes, 256.

    Examples
    --------
    >>> (queries, targets), count = codes_together([["αβγ", "γ"], ["xγα"]])
    >>> queries.residues.tolist(), queries.lengths.tolist(), targets.residues.tolist(), count
    ([0, 2, 1, 1], [3, 1], [3, 1, 0], 4)
    """
    offsets = [offsets_of(np.fromiter(map(len, side), np.int64, len(side))) for side in sides]
    texts, known = _texts(sides, offsets)
    if known:
        return list(map(Sequences, texts, offsets)), known
    joined: list[npt.NDArray[np.integer]] = [*texts]
    if not texts:
        joined = [each for each in map(_joined_points, sides) if each is not None]
    lists = len(joined) < len(sides)
    if lists or np.result_type(*joined).kind == "f":  # of numbers of 64 bits, some with a sign
        objects = _objects if lists else lambda each: points(each).tolist()
        flat = [list(chain.from_iterable(map(objects, side))) for side in sides]
        place = {item: k for k, item in enumerate(dict.fromkeys(chain(*flat)))}.__getitem__
        joined = [np.fromiter(map(place, items), np.int64, len(items)) for items in flat]
    joined = [_narrow(each) for each in joined]
    letters = [_different(each) for each in joined]
    shared = np.intersect1d(letters[0], letters[-1], assume_unique=True)
    count = len(shared)
    coded = []
    for bounds, numbers_of_side, own in zip(offsets, joined, letters, strict=True):
        alone = count
        codes_of_own = np.searchsorted(shared, own)
        strange = codes_of_own == len(shared)
        if len(shared):
            strange |= shared.take(codes_of_own, mode="clip") != own
        if strange.any():
            codes_of_own[strange] = alone
            count += 1
        if count > CODES:
            raise ValueError(f"{len(shared)} different letters: at most {CODES} expected")
        codes = _places(own, codes_of_own.astype(np.uint8), numbers_of_side)
        coded.append(Sequences(codes, bounds))
    return coded, count


def _texts(sides: Sequence[Sequence[Items]], offsets: list[Int64]) -> tuple[list[Codes], int]:
    """Return much ASCII text as different numbers for different letters; nothing of other sides.

    Also how many there are, if those of a sample are all, on each side; else 0. Threads look them
    up while this one joins the next texts.
    """
    some = [max(1, PIECE * (len(bounds) - 1) // max(1, int(bounds[-1]))) for bounds in offsets]
    if any(len(side) < _MANY * step for side, step in zip(sides, some, strict=True)):
        return [], 0
    texts: Any = sides  # or else a TypeError follows
    found = [np.empty(bounds[-1], np.uint8) for bounds in offsets]
    with suppress(TypeError, ValueError):
        samples = [
            _different(np.frombuffer("".join(side[:: 1 + len(side) // _SAMPLE]).encode(), np.uint8))
            for side in texts
        ]
        letters, alike = samples[0], np.array_equal(samples[0], samples[-1])
        table = np.empty(256, np.uint8)
        table[np.append(letters, np.setdiff1d(np.arange(256), letters))] = np.arange(256)

        def pieces() -> Iterator[tuple[memoryview, bytes, Codes]]:
            for side, step, bounds, codes in zip(texts, some, offsets, found, strict=True):
                for at in range(0, len(side), step):
                    part = bounds[at : at + step + 1]
                    text = "".join(side[at : at + step])
                    yield letters_of(text), table.tobytes(), codes[part[0] : part[-1]]

        def put(piece: tuple[memoryview, bytes, Codes]) -> int:
            translate(*piece)
            return int(piece[2].max(initial=0))

        known = max(beside(put, pieces())) < len(letters) and alike
        return found, len(letters) if known else 0
    return [], 0


def _joined_points(side: Sequence[Items]) -> npt.NDArray[np.integer] | None:
    """Return the numbers of all sequences of a side; None if some are lists."""
    try:
        text = "".join(side)  # type: ignore[arg-type]
        letters = letters_of(text) if text.isascii() else text.encode("latin-1")
        return np.frombuffer(letters, np.uint8)
    except UnicodeEncodeError:
        return points(text)
    except TypeError:  # not only text
        arrays = [points(each) for each in side if not isinstance(each, list)]
        return np.concatenate(arrays) if len(arrays) == len(side) else None


def _narrow(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return numbers as bytes if they are, else of 4 bytes at least."""
    if numbers.dtype == np.uint8 or not len(numbers):
        return numbers.astype(np.uint8, copy=False)
    if numbers.min() >= 0 and numbers.max() < CODES:
        return numbers.astype(np.uint8)
    return numbers.astype(np.int32) if numbers.itemsize < 4 else numbers


def _different(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return the different numbers, sorted; of bytes almost all as soon as some are known."""
    if numbers.dtype == np.uint8:
        known = b""
        for at in range(0, len(numbers), _SOME):
            known += bytes(set(numbers[at : at + _SOME].tobytes().translate(None, known)))
        return np.sort(np.frombuffer(known, np.uint8))
    least, most = numbers.min(), numbers.max()
    if int(most) - int(least) >= _TABLE:
        return np.unique(numbers)
    there = np.zeros(int(most - least) + 1, bool)
    there[numbers - least] = True
    found: npt.NDArray[np.integer] = np.flatnonzero(there).astype(numbers.dtype) + least
    return found


def _places(
    letters: npt.NDArray[np.integer],
    codes: Codes,
    numbers: npt.NDArray[np.integer],
) -> Codes:
    """Return the codes of numbers, given those of the different ones, which are sorted."""
    if numbers.dtype == np.uint8:
        every, found = np.zeros(256, np.uint8), np.empty(len(numbers), np.uint8)
        every[letters] = codes
        table = every.tobytes()

        def put(part: slice) -> None:
            translate(numbers[part].data, table, found[part])

        in_threads(put, [slice(at, at + PIECE) for at in range(0, len(numbers), PIECE)])
        return found
    if int(letters[-1]) - int(letters[0]) >= _TABLE:
        return codes[np.searchsorted(letters, numbers)]
    every = np.zeros(int(letters[-1] - letters[0]) + 1, np.uint8)
    every[letters - letters[0]] = codes
    return np.asarray(every[numbers - letters[0]])


def points(items: str | npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return the code points of text; of an array its numbers."""
    if isinstance(items, str):
        return np.frombuffer(items.encode("utf-32-le", "surrogatepass"), "<u4")
    return items


def _objects(items: Items) -> Iterable[Hashable]:
    return items.tolist() if isinstance(items, np.ndarray) else items


def codes_in(items: Items, letters: str | tuple[Hashable, ...] | None, count: int) -> Codes:
    """Return the places of items among the letters of a matrix.

    Parameters
    ----------
    items : str, ndarray or list
        Numbers of an array are code points of text if the letters are, else places.
    letters : str or tuple, optional
        Without it code points are places.
    count : int
        The rows of the matrix, at most 255.

    Raises
    ------
    ValueError
        If an item is not among the letters.

    Examples
    --------
    >>> codes_in(["Ala", "Gly"], ("Gly", "Ala"), 2).tolist()
    [1, 0]
    """
    if not isinstance(items, list) and not isinstance(letters, tuple):
        return _codes_of_points(points(items), letters, count)
    if isinstance(items, np.ndarray):
        return _codes_of_points(items, None, count)
    if letters is None:
        raise ValueError("substitution_matrix has no letters: arrays of its places expected")
    places = {letter: k for k, letter in enumerate(letters)}
    if strange := next((item for item in items if item not in places), None):
        raise _unknown(strange, letters)
    return np.array([places[item] for item in items], np.uint8)


def _codes_of_points(numbers: npt.NDArray[np.integer], letters: str | None, count: int) -> Codes:
    if letters is None:
        if (outside := (numbers < 0) | (numbers >= count)).any():
            at = int(outside.argmax())
            number = int(numbers[at])
            wrong = f"out of bound ({number}, should be < {count})"
            raise ValueError(
                f"sequence item {at} is {wrong if number >= 0 else f'negative ({number})'}"
            )
        return numbers.astype(np.uint8)
    known = points(letters)
    order = known.argsort()
    places = order[np.searchsorted(known, numbers, sorter=order).clip(max=len(known) - 1)]
    if (strange := known[places] != numbers).any():
        number = int(numbers[strange.argmax()])
        raise _unknown(chr(number) if 0 <= number <= sys.maxunicode else number, letters)
    codes: Codes = places.astype(np.uint8)
    return codes


def _unknown(letter: Hashable, letters: str | tuple[Hashable, ...]) -> ValueError:
    known = letters if isinstance(letters, str) else " ".join(map(str, letters))
    return ValueError(f"letter {letter!r} is not in substitution_matrix ({known})")
