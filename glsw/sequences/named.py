"""Named codes: sequences of any kind that a user may pass, as records and encoded.

Text, files, arrays of NumPy and of Arrow, and Biopython's objects; docs/INPUTS.md has the rule.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64, UInt8
from glsw.cores import beside, in_threads
from glsw.sequences.alphabet import Alphabet, letters_of, single_bytes
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.fasta import read, read_all
from glsw.sequences.records import PIECE, EncodedRecord, Record, Records, Titles

if TYPE_CHECKING:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

_Text: TypeAlias = "str | bytes | bytearray | Seq | MutableSeq | SeqRecord | Record"
Single: TypeAlias = "_Text | npt.NDArray[Any] | tuple[int, ...]"
"""A sequence that is not in a file."""
One: TypeAlias = "Single | os.PathLike[str]"
"""A sequence, or the path of a file, which may have one."""
Many: TypeAlias = "One | Iterable[One]"
"""One sequence or several; also `Sequences`, a `Database`, and arrays of Arrow."""

_LIKE_A_FILE = re.compile(
    r"/|\.(fasta|fastq|fas?|fq|fna|faa|ffn|frn|fsa|a2m|a3m|txt|gz|bgz|bz2|xz|zip|zst|glsw)$",
    re.IGNORECASE,
)
_LONGEST = 4096  # characters of a path
_ASCII = 128  # characters
_TYPES_KEPT = 64  # of objects
_MANY = 4  # pieces, which threads encode while this one joins others
_SAMPLE, _ABOUT = 2**12, 1.05  # texts that tell the letters of all, and by how much they may err


@dataclass(frozen=True, eq=False)
class NamedSequences:
    """What is compared: codes, and what their user calls them.

    Parameters
    ----------
    sequences : Sequences
    alphabet : Alphabet
        That of the codes, perhaps with masks.
    records : Records, optional
        None if only codes were given.
    what : str
        The name of sequences without records, with their number.
    """

    sequences: Sequences
    alphabet: Alphabet
    records: Records | None = None
    what: str = "sequence"

    def __len__(self) -> int:
        return len(self.sequences)

    def name(self, k: int) -> str:
        """Return the id of a sequence."""
        return f"{self.what} {k + 1}" if self.records is None else self.records[k].id

    @cached_property
    def compared(self) -> Codes:
        """The residues with which letters are compared, see `Alphabet.compared`."""
        residues = self.sequences.residues
        if self.records is None or not self.alphabet.merges:
            return residues
        return self.alphabet.compared(residues, self.records.letters.tobytes())

    @property
    def letters(self) -> Sequences:
        """The sequences with which letters are compared."""
        return Sequences(self.compared, self.sequences.offsets)

    def record(self, k: int) -> EncodedRecord:
        """Return a sequence as alignments show it."""
        codes = self.sequences[k]
        if self.records is None:
            return EncodedRecord.shown(self.name(k), "", codes, self.alphabet, None)
        given = self.records[k]
        title = given.id, given.description
        return EncodedRecord.shown(*title, codes, self.alphabet, given.letters)


def collect(
    source: Many,
    alphabet: Alphabet,
    *,
    what: str,
    unknown: str | None = None,
    substituted: Counter[str] | None = None,
) -> NamedSequences:
    """Encode sequences, all letters together.

    Parameters
    ----------
    source : path, Sequences, array, or list of sequences
        Text as a list of str, bytes or ``Seq``, a column of pandas, an array of dtype ``S`` or
        ``U``, or Arrow's strings; codes as `Sequences`, an array of shape (N, length), or Arrow's
        lists of uint8. Other lists as for `as_records`.
    alphabet : Alphabet
    what : str
        Name of the sequences in errors, for example "query".
    unknown : str, optional
        See `Alphabet.encode`.
    substituted : Counter, optional
        Counts letters that count as others.

    Raises
    ------
    TypeError
        For other sources.
    ValueError
        For letters or codes outside the alphabet; the sequence is named.

    Examples
    --------
    >>> from glsw.sequences.alphabet import DNA
    >>> found = collect(["GATT", b"AC"], DNA, what="query")
    >>> found.sequences.residues.tolist(), found.name(1), found.record(0).letters
    ([2, 0, 3, 3, 0, 1], 'query 2', 'GATT')
    """
    given = records_or_codes(source, alphabet, what=what)
    if isinstance(given, Sequences):
        return NamedSequences(given.checked(alphabet, what), alphabet, what=what)
    try:
        codes = codes_of(given, alphabet, unknown, substituted)
    except NotTextError:
        given = as_records(source, what=what, alphabet=alphabet)
        codes = codes_of(given, alphabet, unknown, substituted)
    return NamedSequences(codes, alphabet, given, what)


def records_or_codes(source: Many, alphabet: Alphabet, *, what: str) -> Records | Sequences:
    """Return the letters of sequences, named, or their codes if these are given, see `collect`."""
    if isinstance(source, Sequences):
        return source
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype == np.uint8:
        every = np.arange(len(source) + 1, dtype=np.int64) * source.shape[1]
        return Sequences(np.ascontiguousarray(source).ravel(), every)
    found: Records | Sequences | None = None
    if type(source).__module__.partition(".")[0] == "pyarrow":
        found = _of_arrow(source, what)
    elif not is_single(source):
        found = None if alphabet.width > 1 else _of_texts(source, what, alphabet)
        found = _of_codes(source, alphabet) if found is None else found
    return as_records(source, what=what, alphabet=alphabet) if found is None else found


def _of_codes(source: Any, alphabet: Alphabet) -> Sequences | None:
    """Return the codes of a list of arrays, or of an array with a sequence in each row.

    None of other sources, and if some are not codes of the alphabet, which `as_records` names.
    """
    if isinstance(source, np.ndarray) and source.ndim == 2:
        codes, lengths = source.ravel(), [source.shape[1]] * len(source)
    elif isinstance(source, list | tuple) and {*map(type, source)} == {np.ndarray}:
        if {(each.ndim, each.dtype.kind in "iu") for each in source} != {(1, True)}:
            return None
        codes, lengths = np.concatenate(source), [*map(len, source)]
    else:
        return None
    if codes.dtype.kind not in "iu" or (codes.size and not 0 <= codes.min() <= codes.max()):
        return None
    if codes.max(initial=0) >= len(alphabet):
        return None
    return Sequences(codes.astype(alphabet.code_type, copy=False), offsets_of(lengths))


def texts_or_records(source: Many, alphabet: Alphabet, *, what: str) -> Records:
    """Return sequences as `as_records` does; records of a list of text are made when asked for."""
    if alphabet.width == 1 and not is_single(source):
        given = [*source] if isinstance(source, list) else source  # which may change afterwards
        with suppress(NotTextError):
            texts = _of_texts(given, what, alphabet)
            if isinstance(texts, _Texts):
                _alike(texts._texts)
            if texts is not None:
                return texts
    return as_records(source, what=what, alphabet=alphabet)


def codes_of(
    records: Records,
    alphabet: Alphabet,
    unknown: str | None,
    substituted: Counter[str] | None = None,
) -> Sequences:
    """Return the codes of all records; ``substituted`` counts letters that count as others.

    All letters are encoded at once, or else, for the name in an error, record by record.
    """
    width, rest = alphabet.width, 0
    if width > 1:
        rest = PIECE % width or int((np.diff(records.offsets) % width).max(initial=0))
    if not rest:
        found: Counter[str] = Counter()
        arrays, highest = list[Codes](), 0

        def encode(piece: tuple[bytes | memoryview, Codes]) -> tuple[Counter[str], int]:
            return _put(*piece, alphabet, unknown)

        with suppress(ValueError):
            if records.like_files(alphabet, unknown):
                raise ValueError
            pieces = _with_room(records, alphabet, arrays)
            for counted, code in in_threads(encode, pieces, _MANY, records.size // PIECE):
                found, highest = found + counted, max(highest, code)
            if substituted is not None:
                substituted.update(found)
            none = np.empty(0, alphabet.code_type)
            codes = arrays[0] if len(arrays) == 1 else np.concatenate([none, *arrays])
            made = Sequences(codes, offsets_of(np.diff(records.offsets) // width))
            made.__dict__["code_bound"] = highest  # while it is in the cache of the processor
            return made
    encoded = [
        alphabet.encode(each.letters, name=each.id, unknown=unknown, substituted=substituted)
        for each in records
    ]
    return Sequences.of(encoded)


def _put(
    letters: bytes | memoryview, codes: Codes, alphabet: Alphabet, unknown: str | None = None
) -> tuple[Counter[str], int]:
    """Put the codes of letters into an array; return what counts as others, and the highest."""
    substituted, highest = Counter[str](), alphabet._put(letters, codes)
    if highest < 0:
        codes[:] = alphabet.encode(bytes(letters), unknown=unknown, substituted=substituted)
        highest = int(codes.max(initial=0))
    return substituted, highest


def _with_room(
    records: Records, alphabet: Alphabet, arrays: list[Codes]
) -> Iterator[tuple[bytes | memoryview, Codes]]:
    """Yield pieces of letters and room for their codes, in turn in ``arrays``, mostly in one."""
    room, used, left = np.empty(0, alphabet.code_type), 0, records.size // alphabet.width
    for text in records.pieces():
        size = len(text) // alphabet.width
        if not arrays or used + size > len(room):
            room, used = np.empty(max(size, left), alphabet.code_type), 0
            arrays.append(room)
        part = room[used : used + size]
        used, left = used + size, left - size
        arrays[-1] = room[:used]
        yield text, part


def codes_of_lists(
    lists: Iterable[tuple[Sequence[Any], Sequence[Any]]], alphabet: Alphabet, room: int
) -> Iterator[tuple[list[Sequences], Counter[str]]]:
    """Yield the codes of lists of text in pairs, and what counts as others.

    Lists that follow one another are encoded as one: as many as have up to ``room`` letters a side.
    Threads encode while this one joins the next lists. TypeError for a list that has other objects,
    or text of both kinds, ValueError for letters outside the alphabet: `codes_of` names them.
    """

    def texts() -> Iterator[tuple[int, bytes | memoryview, Int64, Codes]]:
        number, rooms, ends = 0, list[Codes](), list[int]()
        for sides in lists:
            letters = [
                b"".join(_alike(some)) if type(some[0]) is bytes else letters_of("".join(some))
                for some in sides
            ]
            ends = [end + len(text) for end, text in zip(ends, letters, strict=False)]
            if not ends or max(ends) > room:
                ends, number = [*map(len, letters)], number + 1
                rooms = [np.empty(max(end, room), alphabet.code_type) for end in ends]
            for some, text, codes, end in zip(sides, letters, rooms, ends, strict=True):
                yield number, text, np.fromiter(map(len, some), np.int64, len(some)), codes[:end]

    def encode(text: tuple[int, bytes | memoryview, Int64, Codes]) -> tuple[Any, ...]:
        number, letters, lengths, codes = text
        return number, lengths, codes, *_put(letters, codes[len(codes) - len(letters) :], alphabet)

    for _, alike in groupby(beside(encode, texts()), itemgetter(0)):
        _, lengths, codes, substituted, highest = zip(*alike, strict=True)
        found = list[Sequences]()
        for side in (0, 1):
            found.append(Sequences(codes[side - 2], offsets_of(np.concatenate(lengths[side::2]))))
            found[side].__dict__["code_bound"] = max(highest[side::2])
        yield found, sum(substituted, Counter[str]())


class _Nameless(Records):
    """Letters of sequences without names, which get their number when they are asked for."""

    def __init__(self, letters: bytes | memoryview, offsets: Int64, what: str) -> None:
        self._what = what
        without = Titles(np.empty(0, np.uint8), np.zeros(1, np.int64))
        super().__init__(without, np.frombuffer(letters, np.uint8), offsets)

    @cached_property
    def titles(self) -> Titles:
        """The same name for all, with their numbers."""
        names = [f"{self._what} {k + 1}" for k in range(len(self))]
        bounds = np.repeat(offsets_of([*map(len, names)]), 2)
        return Titles(np.frombuffer("".join(names).encode("utf-8"), np.uint8), bounds[1:])

    def _title(self, k: int) -> tuple[str, str]:
        return f"{self._what} {k + 1}", ""


class NotTextError(TypeError):
    """Some items of a long list are not text as the first one is."""


class _Texts(_Nameless):
    """A list of text, whose letters are joined when they are asked for.

    To read a million objects from memory once takes as long as to join them, so `pieces` copies the
    list, takes the lengths and looks whether all are text on its way.
    """

    def __init__(self, texts: Sequence[Any], what: str, alphabet: Alphabet) -> None:
        super().__init__(b"", np.zeros(1, np.int64), what)
        self._parts, self._count, self._alphabet = [texts], len(texts), alphabet

    @property
    def _texts(self) -> Sequence[Any]:
        if len(self._parts) > 1:
            self._parts = [tuple(chain.from_iterable(self._parts))]
        return self._parts[0]

    @cached_property
    def offsets(self) -> Int64:
        """Where the letters of each text begin, and the end of the last."""
        return offsets_of([*map(len, _alike(self._texts))])

    @property
    def letters(self) -> UInt8:
        """The letters of all, made anew."""
        return np.frombuffer(b"".join(map(single_bytes, _alike(self._texts))), np.uint8)

    @cached_property
    def size(self) -> int:
        """About how many letters there are, rather too many."""
        some = _alike(self._texts[:: 1 + len(self) // _SAMPLE])
        return math.ceil(_ABOUT * sum(map(len, some)) / len(some) * len(self))

    def __len__(self) -> int:
        return self._count

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield pieces of the letters, see `Records.pieces`; ValueError if some are not ASCII."""
        texts, parts, lengths = self._texts, [], []
        some, kind = max(1, PIECE * len(self) // max(1, self.size)), type(texts[0])
        for at in range(0, len(self), some):
            part = texts[at : at + some]
            if {*map(type, part)} != {kind}:
                raise NotTextError
            parts.append(part)
            lengths.append(np.fromiter(map(len, part), np.int64, len(part)))
            yield b"".join(part) if kind is bytes else letters_of("".join(part))
        self._parts, self.offsets = parts, offsets_of(np.concatenate(lengths))

    def like_files(self, alphabet: Alphabet, unknown: str | None) -> bool:
        """Tell whether some may name files, and have no letters that are an error anyway."""
        if are_errors(alphabet, unknown) or isinstance(self._texts[0], bytes):
            return False
        return any(like_a_file(each) for each in _alike(self._texts) if "." in each or "/" in each)

    def __iter__(self) -> Iterator[Record]:
        _alike(self._texts)
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return Records.of([self[number] for number in range(len(self))[k]])
        return _record(self._texts[k], self._title(range(len(self))[k])[0], self._alphabet)


def _alike(texts: Sequence[Any]) -> Sequence[Any]:
    """Return items that are all of one type; NotTextError if they are not."""
    if len({*map(type, texts)}) > 1:
        raise NotTextError
    return texts


def are_errors(alphabet: Alphabet, unknown: str | None) -> bool:
    """Tell whether letters that all names of files have are an error."""
    letters = "".join((*alphabet.letters, *alphabet.aliases))
    return unknown is None and "." not in letters and "/" not in letters


class _Column(_Nameless):
    """A column of text whose letters lie in memory of Arrow; objects are made if asked for."""

    def __init__(self, source: Any, arrow: Records, what: str, alphabet: Alphabet) -> None:
        super().__init__(arrow.letters.data, arrow.offsets, what)
        self._source, self._alphabet = source, alphabet

    @cached_property
    def _texts(self) -> _Texts:
        return _Texts(self._source.tolist(), self._what, self._alphabet)

    def like_files(self, alphabet: Alphabet, unknown: str | None) -> bool:
        """Tell whether some may name files, see `_Texts.like_files`."""
        return not are_errors(alphabet, unknown) and self._texts.like_files(alphabet, unknown)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._texts)

    def __getitem__(self, k: Any) -> Any:
        return self._texts[k]


def _of_texts(source: Any, what: str, alphabet: Alphabet) -> _Texts | _Column | None:
    """Return a list or column of text, all as str or all as bytes; None if it is of other objects.

    In a long list only the first one is looked at: `NotTextError` may follow when it is encoded.

    That is also sequences of Biopython without names.
    """
    if getattr(source, "ndim", None) == 1:  # of NumPy or pandas
        if getattr(source.dtype, "storage", "") == "pyarrow":
            array = source.array.__arrow_array__()
            if len(array) and not array.null_count and "string" in str(array.type):
                found = _of_arrow(array, what)
                assert isinstance(found, Records)
                if found.letters.max(initial=0) < _ASCII:
                    return _Column(source, found, what, alphabet)
        source = source.tolist()
    if not isinstance(source, list | tuple) or not source:
        return None
    if type(source[0]) in (str, bytes) and len(source) > _SAMPLE:
        return _Texts(source, what, alphabet)
    kinds = set(map(type, source))
    if kinds in ({str}, {bytes}):
        return _Texts(source, what, alphabet)
    if all(issubclass(kind, str) for kind in kinds):
        return _Texts([*map(str, source)], what, alphabet)
    if all(issubclass(kind, (bytes, bytearray, *sequence_types("Bio.Seq"))) for kind in kinds):
        with suppress(ValueError):  # UndefinedSequenceError
            return _Texts([*map(bytes, source)], what, alphabet)
    return None


def _of_arrow(array: Any, what: str) -> Sequences | Records | None:
    """Return strings, or lists of codes, of Arrow; their buffers are read in place.

    None of lists of other integers than uint8.
    """
    pa = importlib.import_module("pyarrow")
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # of older versions
            array = pa.concat_arrays(array.chunks)
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if isinstance(array, pa.Array) and str(array.type).endswith("_view"):
        array = array.cast(f"large_{str(array.type).removesuffix('_view')}")
    if isinstance(array, pa.Array) and array.null_count:
        raise ValueError(f"{what}: {array.null_count} of {len(array)} sequences are null")
    kind: Any = getattr(array, "type", None)
    listed = kind is not None and (pa.types.is_list(kind) or pa.types.is_large_list(kind))
    if listed and kind.value_type == pa.uint8():
        large = pa.types.is_large_list(kind)
        offsets = _arrow_offsets(array, array.buffers()[1], large)
        values = array.values.to_numpy(zero_copy_only=True)
        return Sequences(values[offsets[0] : offsets[-1]], offsets - offsets[0])
    if listed and pa.types.is_integer(kind.value_type):
        return None
    texts = {"string": False, "binary": False, "large_string": True, "large_binary": True}
    if str(kind) not in texts:
        raise TypeError(
            f"{what}: an Arrow array of strings, or of lists of uint8, expected, "
            f"got {kind or _kind(array)}"
        )
    _, starts, data = array.buffers()
    offsets = _arrow_offsets(array, starts, texts[str(kind)])
    letters = memoryview(b"" if data is None else data)[offsets[0] : offsets[-1]]
    return _Nameless(letters, offsets - offsets[0], what)


def _arrow_offsets(array: Any, buffer: Any, large: bool) -> Int64:
    if not len(array):
        return np.zeros(1, np.int64)
    every = np.frombuffer(buffer, np.int64 if large else np.int32)
    return every[array.offset : array.offset + len(array) + 1].astype(np.int64)


def several(source: object, what: str, expected: str) -> Iterable[Any]:
    """Return a source of several sequences, in an order; TypeError if it is none."""
    if hasattr(source, "columns"):  # of pandas and others, whose items are names of columns
        expected = "a column expected, such as table['name']"
    elif isinstance(source, set | frozenset):
        expected = "a list expected, as a set has no order"
    elif isinstance(source, Iterable) and not (
        isinstance(source, Mapping) or getattr(source, "ndim", 1) == 0
    ):
        return source
    raise TypeError(f"{what}: {expected}, got {_kind(source)}")


def as_records(source: Many, *, what: str, alphabet: Alphabet | None = None) -> Records:
    """Return the sequences in ``source`` as records.

    Parameters
    ----------
    source : str, Seq, SeqRecord, Record, ndarray, path, or iterable of those
        Also sequences of biotite and of scikit-bio; these have an id in their metadata.
        See `is_single` for what is one sequence. A str is letters and a path object a file; see
        `check_no_file` for a str that was meant as a file. Integers are codes.
    what : str
        Name of the sequences in error messages, and id of those without, for example "query".
    alphabet : Alphabet, optional
        The letters of codes.

    Raises
    ------
    TypeError
        If ``source``, or one of its items, is of another kind.
    ValueError
        From `read`, if a str is the name of a file, or if an array has no alphabet or holds
        other numbers than codes.

    Examples
    --------
    >>> list(as_records("MKV", what="query"))
    [Record(id='query', description='', letters='MKV')]
    >>> [record.id for record in as_records(["MKV", Record("x", "", "MK")], what="target")]
    ['target 1', 'x']
    """
    if is_single(source):
        return Records.of([_record(source, what, alphabet, alone=True)])
    if isinstance(source, os.PathLike):
        return read_all(source)
    if isinstance(source, Records):
        return source
    records: list[Record] = []
    for number, item in enumerate(several(source, what, _EXPECTED), start=1):
        name = f"{what} {number}"
        if isinstance(item, Record):
            records.append(item)
            continue
        if hasattr(item, "as_py"):  # of Arrow
            letters = item.as_py()
            item = np.array(letters, np.int64) if isinstance(letters, list) else letters
        if is_single(item):
            records.append(_record(item, name, alphabet))
        elif isinstance(item, os.PathLike):
            records.extend(read(item))
        elif isinstance(item, int | np.integer):
            raise TypeError(f"{name}: {_EXPECTED}, got {_kind(item)}; {NUMBERS}")
        else:
            raise TypeError(f"{name}: {_EXPECTED}, got {_kind(item)}")
    return Records.of(records)


def is_single(source: object, *, any_letters: bool = False) -> bool:
    """Return whether ``source`` is one sequence, not several or a file.

    One sequence is text (str, bytes, bytearray), a `Record`, a sequence of Biopython, biotite or
    scikit-bio, an array of integers of one dimension, or a tuple of numbers; all else that can be
    iterated over is several, a list always, and a tuple of sequences too. ``docs/INPUTS.md`` is the
    page of this rule.

    Parameters
    ----------
    source : object
    any_letters : bool
        Whether letters are any objects, as in edit distances: then a tuple of words or of other
        objects that are no sequences is one sequence.

    Examples
    --------
    >>> is_single("ACGT"), is_single(["ACGT"]), is_single(("ACGT", "AC")), is_single((1, 2, 3))
    (True, False, False, True)
    >>> is_single(("the", "cat"), any_letters=True), is_single(["the", "cat"], any_letters=True)
    (True, False)
    """
    if isinstance(source, str | bytes | bytearray | Record):
        return True
    if isinstance(source, np.ndarray):
        return source.ndim == 1 and source.dtype.kind in "iu"
    if isinstance(source, tuple):
        letters: tuple[type, ...] = (int, np.integer)
        if not any_letters:
            return bool(source) and all(isinstance(each, letters) for each in source)
        return not any(_is_sequence(each) for each in source)
    if isinstance(source, array | memoryview):
        return is_single(np.asarray(source))
    kind: Any = type(source)
    return _is_sequence_type(kind)


@lru_cache(_TYPES_KEPT)
def _is_sequence_type(kind: type) -> bool:
    """Return whether an object of a type is a sequence of another package."""
    return issubclass(kind, (*sequence_types(), *_seq_record_type()))


def _is_sequence(item: object) -> bool:
    """Return whether an item is rather a sequence than a letter; words are letters."""
    if isinstance(item, str | bytes):
        return False
    return isinstance(item, Iterable | os.PathLike) or is_single(item)


def sequence_types(*modules: str) -> tuple[type, ...]:
    """Return the types of sequences of other packages, of these modules or of all that are known.

    Nothing has such a type until its module is imported, which this does not do.
    """
    return tuple(
        getattr(sys.modules[module], name)
        for module in modules or _TYPES
        for name in _TYPES[module]
        if hasattr(sys.modules.get(module), name)
    )


def _seq_record_type() -> tuple[type[SeqRecord], ...]:
    module = sys.modules.get("Bio.SeqRecord")
    return (module.SeqRecord,) if module else ()


_TYPES: Mapping[str, tuple[str, ...]] = {
    "Bio.Seq": ("Seq", "MutableSeq"),
    "biotite.sequence": ("Sequence",),
    "skbio.sequence": ("Sequence",),
}
NUMBERS = "a list is several sequences, a tuple or an array of numbers is one"
_EXPECTED = "expected letters, Seq, SeqRecord, Record, an array of codes or a path"


def _kind(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return type(value).__name__


def _record(item: object, name: str, alphabet: Alphabet | None, *, alone: bool = False) -> Record:
    """Return one sequence as a record."""
    if isinstance(item, Record):
        return item
    if isinstance(item, str):
        check_no_file(item, name, alphabet, alone=alone)
        return Record(name, "", str(item))
    if isinstance(item, bytes | bytearray):
        return Record(name, "", item.decode("latin-1"))
    if isinstance(item, np.ndarray | tuple | array | memoryview):
        if alphabet is None:
            raise ValueError(f"{name}: an array of codes needs an alphabet")
        return Record(name, "", alphabet.decode(np.asarray(item), name=name))
    if isinstance(item, _seq_record_type()):
        nameless = item.id in (None, "", "<unknown id>")
        name = name if nameless else str(item.id)
        title = "" if item.description == "<unknown description>" else item.description or ""
        first, _, rest = title.partition(" ")
        phred = item.letter_annotations.get("phred_quality")
        quality = (
            None if phred is None else "".join(chr(33 + min(max(int(q), 0), 93)) for q in phred)
        )
        title = rest.strip() if first == item.id else title
        return Record(name, title, _letters(item.seq, name), quality)
    about = getattr(item, "metadata", {})  # of scikit-bio
    name, title = about.get("id") or name, about.get("description") or ""
    return Record(name, title, _letters(item, name))


def _letters(seq: object, name: str) -> str:
    kind: Any = type(seq)
    if not _is_sequence_type(kind) or isinstance(seq, _seq_record_type()):
        raise TypeError(f"{name}: expected a Seq, got {type(seq).__name__}")
    try:
        return str(seq)
    except ValueError:  # UndefinedSequenceError
        raise ValueError(f"{name}: its letters are undefined, only its length is known") from None


class FileNameError(ValueError):
    """A sequence is rather the name of a file."""


def like_a_file(text: str) -> bool:
    """Return whether text has a folder, or ends like the name of a file of sequences.

    >>> like_a_file("reads.fq.gz"), like_a_file("data/reads"), like_a_file("MKV.")
    (True, True, False)
    """
    return len(text) <= _LONGEST and _LIKE_A_FILE.search(text) is not None


def check_no_file(text: str, name: str, alphabet: Alphabet | None, *, alone: bool) -> None:
    """Raise FileNameError if text is the name of a file, or looks more like one than a sequence.

    Parameters
    ----------
    text : str
        Letters in upper case are always a sequence.
    name : str
        Name of the sequence in the error.
    alphabet : Alphabet, optional
        Its letters; without it all characters are letters, and the file must exist.
    alone : bool
        Whether it is not in a list: only then letters that are also a file's name are an error.
    """
    if len(text) > _LONGEST or (text.isalpha() and (text.isupper() or not alone)):
        return
    like, path = like_a_file(text), f'Path("{text}")'
    if alphabet is None:
        if like and os.path.isfile(text):
            raise FileNameError(f"{name}: {text!r} is the name of a file: {path} reads it")
        return
    try:
        alphabet.encode(text)
    except ValueError:
        if like or os.path.isfile(text):
            raise FileNameError(
                f"{name}: {text!r} is not a sequence; {path} reads the file of that name"
            ) from None
        return
    if alone and os.path.isfile(text):
        raise FileNameError(
            f"{name}: {text!r} is the name of a file and a sequence: {path} reads the file, "
            f"b{text!r} is the sequence"
        )
