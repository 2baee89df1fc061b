"""All that users can pass as sequences, walked once: text, files, arrays and objects.

docs/INPUTS.md has the rule. Nothing else looks at the types of these objects.
"""

from __future__ import annotations

import importlib
import os
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Int64
from glsw.scoring.positional import PositionalQuery
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.fasta import blocks, read, read_all
from glsw.sequences.file_names import check_no_file
from glsw.sequences.named import NamedSequences, codes_of
from glsw.sequences.nucleic import LETTERS_TO_TELL, Kind, kind_of
from glsw.sequences.records import EncodedRecord, Listed, ProfileRecord, Record, Records

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
Queries: TypeAlias = "Many | PositionalQuery | Sequence[PositionalQuery]"

_ASCII = 128  # characters
_TYPES_KEPT = 64  # of objects
_TYPES: Mapping[str, tuple[str, ...]] = {
    "Bio.Seq": ("Seq", "MutableSeq"),
    "Bio.SeqRecord": ("SeqRecord",),
    "biotite.sequence": ("Sequence",),
    "skbio.sequence": ("Sequence",),
}
NUMBERS = "a list is several sequences, a tuple or an array of numbers is one"
_EXPECTED = "expected letters, Seq, SeqRecord, Record, an array of codes or a path"


class Source:
    """Sequences as a user passes them, one or several.

    Parameters
    ----------
    given : str, Seq, SeqRecord, Record, ndarray, path, or iterable of those
        Also sequences of biotite and of scikit-bio, columns of pandas, Arrow's arrays, `Sequences`
        and a `Database`. A str is letters and a path object a file. Integers are codes. What can
        be read only once is read: an iterator becomes a list here, standard input or a pipe
        `Records` as soon as its letters are asked for.
    any_letters : bool
        As of `is_single`.

    Attributes
    ----------
    single : bool
        See `is_single`.
    listed : bool
        Whether it is a list of sequences, or `Records`.
    path : str or None
        Its file.

    Examples
    --------
    >>> from glsw.sequences.alphabet import DNA
    >>> source = Source(["GATT", b"AC"])
    >>> found = source.encoded(DNA, what="query")
    >>> found.sequences.residues.tolist(), found.name(1), found.record(0).letters, source.kind
    ([2, 0, 3, 3, 0, 1], 'query 2', 'GATT', Kind(nucleic=True, letters=6))
    """

    path: str | None = None
    single = True
    listed = False

    def __init__(self, given: Any, *, any_letters: bool = False) -> None:
        self.given = given
        if type(given) is not str:  # the most common
            self.given = list(given) if isinstance(given, Iterator) else given
            self.path = os.fspath(given) if isinstance(given, os.PathLike) else None
            self.single = is_single(given, any_letters=any_letters)
            self.listed = not self.single and isinstance(self.given, list | tuple | Records)

    @staticmethod
    def of(given: Any) -> Source:
        """Return a source, the same one if it is one."""
        return given if isinstance(given, Source) else Source(given)

    @property
    def profiles(self) -> list[PositionalQuery] | None:
        """The queries if they bring their own scores; TypeError if only some of them do."""
        several = self.listed and not isinstance(self.given, Records)
        given = self.given if several else [self.given]
        kinds = {*map(type, given)}
        own = [kind for kind in kinds if issubclass(kind, PositionalQuery)]
        if own and len(own) < len(kinds):
            raise TypeError("queries must be profiles or sequences, not both in one list")
        return [*given] if own else None

    @property
    def first(self) -> Any:
        """The first item of a list, or else what is given."""
        return self.given[0] if self.listed and len(self.given) else self.given

    @cached_property
    def database(self) -> Database | None:
        """The database that it is, or that its file is."""
        if isinstance(self.given, os.PathLike) and is_database(self.given):
            return Database.open(self.given)
        return self.given if isinstance(self.given, Database) else None

    @cached_property
    def kind(self) -> Kind:
        """Whether it is nucleic acid or protein, by its first letters, see `kind_of`.

        Codes tell nothing; of a database or a profile the alphabet tells.
        """
        path = self.given
        if type(path) is str:
            return kind_of((path,))
        if self.path is not None:
            twice = os.path.isfile(path) or os.path.isdir(path)  # a folder cannot be read at all
            if self.path == "-" or (os.path.exists(path) and not twice):
                self.given = read_all(path)
        known = self.database or self.given
        if isinstance(known, Database | PositionalQuery):
            return Kind(_nucleic(known.alphabet))
        try:
            return kind_of(map(_first_letters, self.items("")))
        except _KnownError as known:
            return Kind(known.args[0])
        except (OSError, TypeError, ValueError):  # that of whoever reads it
            return Kind()

    def items(self, what: str, expected: str = _EXPECTED) -> Iterable[Any]:
        """Return the sequences and paths that it consists of; TypeError if it is none."""
        alone = self.single or isinstance(self.given, os.PathLike)
        return [self.given] if alone else _several(self.given, what, expected)

    def sequences(self, what: str, expected: str = _EXPECTED) -> Iterator[tuple[str, Any]]:
        """Yield the name and the object of each sequence; of files those of their records."""
        for number, item in enumerate(self.items(what, expected), start=1):
            if isinstance(item, os.PathLike):
                yield from ((record.id, record) for record in read(item))
            else:
                yield what if self.single else f"{what} {number}", _of_python(item)

    def records(self, *, what: str, alphabet: Alphabet | None = None) -> Records:
        """Return the sequences as records; those of a list of text are made when asked for.

        Parameters
        ----------
        what : str
            Name of the sequences in errors, and id of those without, for example "query".
        alphabet : Alphabet, optional
            The letters of codes.

        Raises
        ------
        TypeError
            If the source, or one of its items, is no sequence.
        ValueError
            From `read`, if a str is the name of a file, or if an array has no alphabet or holds
            other numbers than codes.

        Examples
        --------
        >>> list(Source("MKV").records(what="query"))
        [Record(id='query', description='', letters='MKV')]
        >>> mixed = Source(["MKV", Record("x", "", "MK")])
        >>> [record.id for record in mixed.records(what="target")]
        ['target 1', 'x']
        """
        if isinstance(self.given, Records):
            return self.given
        column = self._arrow(what)
        return self._text(column, what, alphabet, sure=True) or self._walked(what, alphabet)

    def encoded(
        self,
        alphabet: Alphabet,
        *,
        what: str,
        unknown: str | None = None,
        substituted: Counter[str] | None = None,
    ) -> NamedSequences:
        """Return the codes of the sequences, with their names.

        Parameters
        ----------
        what : str
            As of `records`.
        unknown, substituted
            See `Alphabet.encode`.

        Raises
        ------
        TypeError, ValueError
            As `records`, and for letters or codes outside the alphabet; the sequence is named.
        """
        column = self._arrow(what)
        codes = self._codes(column, alphabet, what)
        if codes is not None:
            return NamedSequences(codes, alphabet, what=what)
        records = self.given if isinstance(self.given, Records) else None
        records = records or self._text(column, what, alphabet, sure=False)
        with suppress(TypeError):  # not all items are text as the first one is
            if records is not None:
                encoded = codes_of(records, alphabet, unknown, substituted)
                return NamedSequences(encoded, alphabet, records, what)
        records = self._walked(what, alphabet)
        encoded = codes_of(records, alphabet, unknown, substituted)
        return NamedSequences(encoded, alphabet, records, what)

    def _codes(
        self, column: Sequences | Records | None, alphabet: Alphabet, what: str
    ) -> Sequences | None:
        """Return the codes of a list of arrays, of Arrow, or of an array with rows of them.

        None of other sources, and if some are not codes of the alphabet, which `records` names.
        """
        source = self.given if column is None else column
        if isinstance(source, Sequences):
            return source.checked(alphabet, what)
        if isinstance(source, np.ndarray) and source.ndim == 2:
            codes, lengths = source.ravel(), [source.shape[1]] * len(source)
        elif isinstance(source, list | tuple) and {*map(type, source[:1])} == {np.ndarray}:
            if {(type(each), each.ndim, each.dtype.kind in "iu") for each in source} != _CODES:
                return None
            codes, lengths = np.concatenate(source), [*map(len, source)]
        else:
            return None
        if codes.dtype.kind not in "iu" or (codes.size and not 0 <= codes.min() <= codes.max()):
            return None
        if codes.max(initial=0) >= len(alphabet):
            return None
        return Sequences(codes.astype(alphabet.code_type, copy=False), offsets_of(lengths))

    def _text(
        self,
        column: Sequences | Records | None,
        what: str,
        alphabet: Alphabet | None,
        *,
        sure: bool,
    ) -> Records | None:
        """Return a list or column of text, all str or all bytes; None if it is of other objects.

        Unless it is to be ``sure``, only the first one is looked at, and a TypeError may follow
        when it is encoded: to look at a million objects takes as long as to join them. That is
        also sequences of Biopython without names.
        """
        source, read_text = self.given, partial(_text_record, what, alphabet)
        if isinstance(column, Records):
            letters = column.joined_letters()
            if letters.max(initial=0) < _ASCII:
                return Records(what, letters, column.offsets, read_text=read_text)
        if getattr(source, "ndim", None) == 1 and hasattr(source, "tolist") and not self.single:
            source = source.tolist()  # of NumPy or pandas
        if not isinstance(source, list | tuple) or not source:
            return None
        if not sure and type(source[0]) in (str, bytes) and len(source) > 1:
            return Listed(source, what, read_text)
        kinds = {*map(type, source)}
        if kinds in ({str}, {bytes}):
            return Listed([*source], what, read_text)  # the list may change afterwards
        if all(issubclass(kind, str) for kind in kinds):
            return Listed([*map(str, source)], what, read_text)
        if all(issubclass(kind, (bytes, bytearray, *sequence_types("Bio.Seq"))) for kind in kinds):
            with suppress(ValueError):  # UndefinedSequenceError
                return Listed([*map(bytes, source)], what, read_text)
        return None

    def _walked(self, what: str, alphabet: Alphabet | None) -> Records:
        """Return the sequences as records, made one by one."""
        if isinstance(self.given, os.PathLike):
            return read_all(self.given)
        records = list[Record]()
        for name, item in self.sequences(what):
            if not is_single(item):
                more = f"; {NUMBERS}" if isinstance(item, int | np.integer) else ""
                raise TypeError(f"{name}: {_EXPECTED}, got {_type(item)}{more}")
            records.append(_record(item, name, alphabet, alone=self.single))
        return Records.of(records)

    def one(self, *, what: str, alphabet: Alphabet) -> Record:
        """Return the one record of a single sequence or of a file."""
        source = self.given
        if not self.single and not isinstance(source, os.PathLike | Records):
            raise TypeError(f"{what} must be one sequence, not {type(source).__name__}")
        records = self.records(what=what, alphabet=alphabet)
        if len(records) != 1:
            named = os.fspath(source) if isinstance(source, os.PathLike) else what
            raise ValueError(f"{named}: one sequence expected, {len(records)} found")
        return records[0]

    def check_no_files(self, what: str, alphabet: Alphabet) -> None:
        """Raise FileNameError if text, alone or in a list, looks like the name of a file."""
        for each in self.given if self.listed else [self.given]:
            if isinstance(each, str):
                check_no_file(each, what, alphabet, alone=self.single)

    def _arrow(self, what: str) -> Sequences | Records | None:
        """Return strings, or lists of codes, of Arrow; their buffers are read in place.

        None of lists of other integers than uint8, and of columns of pandas with missing text.
        """
        array = self.given
        if getattr(getattr(array, "dtype", None), "storage", "") == "pyarrow":
            array = array.array.__arrow_array__()
            if not len(array) or array.null_count or "string" not in str(array.type):
                return None
        elif type(array).__module__.partition(".")[0] != "pyarrow":
            return None
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
                f"got {kind or _type(array)}"
            )
        _, starts, data = array.buffers()
        offsets = _arrow_offsets(array, starts, texts[str(kind)])
        letters = memoryview(b"" if data is None else data)[offsets[0] : offsets[-1]]
        return Records(what, np.frombuffer(letters, np.uint8), offsets - offsets[0])


_CODES = {(np.ndarray, 1, True)}


def _arrow_offsets(array: Any, buffer: Any, large: bool) -> Int64:
    if not len(array):
        return np.zeros(1, np.int64)
    every = np.frombuffer(buffer, np.int64 if large else np.int32)
    return every[array.offset : array.offset + len(array) + 1].astype(np.int64)


class _KnownError(Exception):
    """What a source is does not depend on its letters, or it has none."""


def _nucleic(alphabet: Alphabet) -> bool | None:
    return True if alphabet.nucleotides else False if alphabet.amino_acids else None


def _first_letters(item: Any) -> str | bytes:
    """Return the letters of an item of a source, at least the first ones of each sequence."""
    if type(item) is str:
        return item
    if isinstance(item, Database | ProfileRecord | PositionalQuery):
        raise _KnownError(_nucleic(item.alphabet))
    if isinstance(item, EncodedRecord):
        return item.part(0, LETTERS_TO_TELL)
    if isinstance(item, os.PathLike):
        parts, left = [], LETTERS_TO_TELL
        for part in blocks(item, whole=False) if os.path.isfile(item) else ():
            parts.append(part.joined_letters()[:left].tobytes())
            left -= len(parts[-1])
            if not left:
                break
        if not parts:
            raise _KnownError(None)
        return b"".join(parts)
    letters = letters_of_item(_of_python(item), "")
    if letters is None:
        raise _KnownError(None)
    return letters


def _of_python(item: Any) -> Any:
    """Return an item of Arrow as an object of Python, other items as they are."""
    if not hasattr(item, "as_py"):
        return item
    letters = item.as_py()
    return np.array(letters, np.int64) if isinstance(letters, list) else letters


def letters_of_item(item: Any, name: str, *modules: str) -> str | None:
    """Return the letters of a sequence; None if it is something else, such as codes.

    Parameters
    ----------
    item : object
    name : str
        Its name in errors.
    *modules : str
        Those whose types are text, see `sequence_types`; all unless given.
    """
    if isinstance(item, str):
        return str(item)
    if isinstance(item, bytes | bytearray):
        return item.decode("latin-1")
    if isinstance(item, Record):
        return item.letters
    types = sequence_types(*modules)
    if isinstance(item, sequence_types("Bio.SeqRecord")):
        item = item.seq
        if not isinstance(item, types):
            raise TypeError(f"{name}: expected a Seq, got {type(item).__name__}")
    if not isinstance(item, types):
        return None
    try:
        return str(item)
    except ValueError:  # UndefinedSequenceError
        raise ValueError(f"{name}: its letters are undefined, only its length is known") from None


def _text_record(what: str, alphabet: Alphabet | None, k: int, text: str | bytes) -> Record:
    """Return text of a list as a record."""
    return _record(text, f"{what} {k + 1}", alphabet)


def _record(item: Any, name: str, alphabet: Alphabet | None, *, alone: bool = False) -> Record:
    """Return one sequence as a record."""
    if isinstance(item, Record):
        return item
    if isinstance(item, str):
        check_no_file(item, name, alphabet, alone=alone)
        return Record(name, "", str(item))
    title, quality = "", None
    about = getattr(item, "metadata", {})  # of scikit-bio
    if isinstance(item, sequence_types("Bio.SeqRecord")):
        nameless = item.id in (None, "", "<unknown id>")
        name = name if nameless else str(item.id)
        title = "" if item.description == "<unknown description>" else item.description or ""
        first, _, rest = title.partition(" ")
        title = rest.strip() if first == item.id else title
        phred = item.letter_annotations.get("phred_quality")
        if phred is not None:
            quality = "".join(chr(33 + min(max(int(q), 0), 93)) for q in phred)
    elif isinstance(about, Mapping):
        name, title = about.get("id") or name, about.get("description") or ""
    letters = letters_of_item(item, name)
    if letters is None:
        if alphabet is None:
            raise ValueError(f"{name}: an array of codes needs an alphabet")
        letters = alphabet.decode(np.asarray(item), name=name)
    return Record(name, title, letters, quality)


def _several(source: object, what: str, expected: str) -> Iterable[Any]:
    """Return a source of several sequences, in an order; TypeError if it is none."""
    if hasattr(source, "columns"):  # of pandas and others, whose items are names of columns
        expected = "a column expected, such as table['name']"
    elif isinstance(source, set | frozenset):
        expected = "a list expected, as a set has no order"
    elif isinstance(source, Iterable) and not (
        isinstance(source, Mapping) or getattr(source, "ndim", 1) == 0
    ):
        return source
    raise TypeError(f"{what}: {expected}, got {_type(source)}")


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
    return issubclass(kind, sequence_types())


def _is_sequence(item: object) -> bool:
    """Return whether an item is rather a sequence than a letter; words are letters."""
    if isinstance(item, str | bytes):
        return False
    return isinstance(item, Iterable | os.PathLike) or is_single(item)


def sequence_types(*modules: str) -> tuple[Any, ...]:
    """Return the types of sequences of other packages, of these modules or of all that are known.

    Nothing has such a type until its module is imported, which this does not do.
    """
    return tuple(
        getattr(sys.modules[module], name)
        for module in modules or _TYPES
        for name in _TYPES[module]
        if hasattr(sys.modules.get(module), name)
    )


def _type(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return type(value).__name__
