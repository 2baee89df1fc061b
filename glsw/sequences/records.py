"""Sequences from files, strings and Biopython's objects, all as records of letters."""

from __future__ import annotations

import gc
import os
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import Alphabet
from glsw.sequences.fasta import Block, blocks
from glsw.sequences.file_names import check_no_file
from glsw.sequences.titles import Titles

if TYPE_CHECKING:
    from Bio.Seq import MutableSeq, Seq
    from Bio.SeqRecord import SeqRecord

Codes: TypeAlias = npt.NDArray[np.uint8]

_SHOWN = 40  # letters in one line
_PIECE = 1 << 20  # letters that are encoded at once


@dataclass(frozen=True)
class Record:
    """A named sequence.

    Parameters
    ----------
    id : str
        The first word of its title.
    description : str
        The rest of its title, perhaps empty.
    letters : str
        The residues, without white space.
    quality : str, optional
        The quality of each letter as a character, as in FASTQ. Records are equal whatever it is.

    Examples
    --------
    >>> record = Record("P69905", "alpha globin", "MVLSPADK")
    >>> len(record)
    8
    """

    id: str
    description: str
    letters: str
    quality: str | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.letters)

    def __repr__(self) -> str:
        letters = self.letters
        shown = letters if len(letters) <= _SHOWN else f"{letters[:_SHOWN]}..."
        given = f"id={self.id!r}, description={self.description!r}, letters={shown!r}"
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        titles = self.id == other.id and self.description == other.description
        return titles and self.letters == other.letters


class EncodedRecord(Record):
    """A named sequence in the codes of an alphabet; its letters are decoded when asked for.

    Parameters
    ----------
    id, description : str
        As of a `Record`.
    codes : ndarray of uint8, shape (residues,)
    alphabet : Alphabet
        The letters of the codes.
    letters : str, optional
        The sequence as given, where lower case or unknown letters are to be shown.

    Examples
    --------
    >>> from glsw.sequences.alphabet import DNA
    >>> record = EncodedRecord("a", "", DNA.encode("GATTACA"), DNA)
    >>> record
    EncodedRecord(id='a', description='', letters='GATTACA')
    >>> record == Record("a", "", "GATTACA"), record.part(1, 4)
    (True, 'ATT')
    """

    codes: Codes
    alphabet: Alphabet

    def __init__(
        self,
        id: str,  # noqa: A002
        description: str,
        codes: Codes,
        alphabet: Alphabet,
        letters: str | None = None,
    ) -> None:
        self.__dict__.update(id=id, description=description, codes=codes, alphabet=alphabet)
        self.restore(letters)

    @classmethod
    def of(cls, record: Record, alphabet: Alphabet, unknown: str | None = None) -> EncodedRecord:
        """Encode a record, see `Alphabet.encode`; its letters are shown as they are."""
        codes = alphabet.encode(record.letters, name=record.id, unknown=unknown)
        return cls.shown(record.id, record.description, codes, alphabet, record.letters)

    @classmethod
    def shown(
        cls, name: str, description: str, codes: Codes, alphabet: Alphabet, letters: str | None
    ) -> EncodedRecord:
        """Return a record as results show it: of two tracks the first."""
        codes, some = alphabet.as_shown(codes, letters or "")
        return cls(name, description, codes, alphabet.shown, letters and some)

    def restore(self, letters: str | None) -> None:
        """Show these letters, if any, instead of those of the codes."""
        if letters is not None:
            self.__dict__["letters"] = letters

    @cached_property
    def letters(self) -> str:
        """The sequence as given, or else as the alphabet spells it."""
        return self.alphabet.decode(self.codes, name=self.id)

    def part(self, start: int, end: int) -> str:
        """Return the letters of the residues from ``start`` to ``end``, from 0, half-open."""
        if "letters" not in self.__dict__:
            return self.alphabet.decode(self.codes[start:end], name=self.id)
        return self.letters[start * self.alphabet.width : end * self.alphabet.width]

    def __len__(self) -> int:
        return len(self.codes) * self.alphabet.width


class ProfileRecord(EncodedRecord):
    """The letters of a profile, and its positions in the scoring of a search.

    Parameters
    ----------
    positions : dict of int to ndarray of uint16, shape (m,)
        By strand, 1 and perhaps -1, the rows of the matrix of a `PositionalScoring`.
    others
        As of `EncodedRecord`.
    """

    positions: Mapping[int, npt.NDArray[np.uint16]]

    @classmethod
    def at(
        cls,
        record: Record,
        alphabet: Alphabet,
        positions: Mapping[int, npt.NDArray[np.uint16]],
    ) -> ProfileRecord:
        """Return the record of a profile with these positions; its letters may be any."""
        codes = alphabet.encode(record.letters, unknown=alphabet.wildcard)
        made = cls(record.id, record.description, codes, alphabet, record.letters)
        made.__dict__["positions"] = positions
        return made


class Records:
    """The records of a file in arrays; each is made when it is asked for.

    Parameters
    ----------
    block : Block
        Their titles and letters.
    """

    def __init__(self, block: Block) -> None:
        self.titles: Titles = block.titles
        self.letters, self.offsets, self.qualities = block.letters, block.offsets, block.qualities

    def __len__(self) -> int:
        return len(self.titles)

    @overload
    def __getitem__(self, k: int) -> Record: ...

    @overload
    def __getitem__(self, k: slice) -> Records: ...

    def __getitem__(self, k: int | slice) -> Record | Records:
        """Return a record, or the records of a slice of step 1."""
        if isinstance(k, slice):
            return Records(Block(self.titles, self.letters, self.offsets, self.qualities).part(k))
        k = range(len(self))[k]
        start, end = self.offsets[k : k + 2].tolist()
        both = (self.letters, self.qualities) if self.qualities is not None else (self.letters,)
        return Record(
            *self.titles[k], *(each[start:end].tobytes().decode("ascii") for each in both)
        )

    def __iter__(self) -> Iterator[Record]:
        text, bounds = self.letters.tobytes().decode("ascii"), self.offsets.tolist()
        places = zip(self.titles, bounds, bounds[1:], strict=False)
        if self.qualities is None:
            for (name, description), start, end in places:
                yield Record(name, description, text[start:end])
            return
        qualities = self.qualities.tobytes().decode("ascii")
        for (name, description), start, end in places:
            yield Record(name, description, text[start:end], qualities[start:end])

    def pieces(self) -> Iterator[bytes]:
        """Yield all letters in turn, many at a time."""
        for at in range(0, len(self.letters), _PIECE):
            yield self.letters[at : at + _PIECE].tobytes()

    def names_and_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the number of letters of each record."""
        for (name, _), length in zip(self.titles, np.diff(self.offsets).tolist(), strict=True):
            yield name, length


Single: TypeAlias = (
    "str | bytes | bytearray | Seq | MutableSeq | SeqRecord | Record | npt.NDArray[Any]"
    " | tuple[int, ...]"
)
Source: TypeAlias = "Single | os.PathLike[str] | Iterable[Single | os.PathLike[str]]"


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    r"""Yield the records of a FASTA or FASTQ file, plain or gzip (told by its content).

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard input.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is empty, neither FASTA nor FASTQ, truncated or corrupt; one line naming the path.

    Notes
    -----
    A record without a name gets the id ``record N``, counted from 1. The file is read in blocks
    while its records are asked for: an error further on may come after the first records.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.fasta")
    ...     _ = path.write_text(">a first one\nACGT\nAC\n>\nTT\n")
    ...     for record in read(path):
    ...         print(record)
    Record(id='a', description='first one', letters='ACGTAC')
    Record(id='record 2', description='', letters='TT')
    """
    for block in blocks(path):
        yield from Records(block)


def read_all(path: str | os.PathLike[str]) -> Records:
    """Return the records of a file; parameters and errors as `read`."""
    return Records(Block.joined(list(blocks(path))))


def codes_of(
    records: Sequence[Record] | Records, alphabet: Alphabet, unknown: str | None
) -> tuple[Codes, npt.NDArray[np.int64], Counter[str]]:
    """Return the codes of all records in one array, their lengths, and letters counted as others.

    All letters are encoded at once, or else, for the name in an error, record by record.
    """
    found: Counter[str] = Counter()
    if _PIECE % alphabet.width == 0:
        pieces: Iterable[str | bytes]
        if isinstance(records, Records):
            pieces, lengths = records.pieces(), np.diff(records.offsets)
        else:
            letters = [each.letters for each in records]
            pieces = ["".join(letters)]
            lengths = np.array([len(each) for each in letters], np.int64)
        lengths, rests = np.divmod(lengths, alphabet.width)
        codes = np.empty(lengths.sum(), alphabet.code_type)
        at = 0
        with suppress(ValueError):
            for piece in () if rests.any() else pieces:
                part = alphabet.encode(piece, unknown=unknown, substituted=found)
                codes[at : at + len(part)] = part
                at += len(part)
            if not rests.any():
                return codes, lengths, found
    found.clear()
    encoded = [
        alphabet.encode(each.letters, name=each.id, unknown=unknown, substituted=found)
        for each in records
    ]
    lengths = np.array([len(each) for each in encoded], np.int64)
    return np.concatenate([np.empty(0, alphabet.code_type), *encoded]), lengths, found


def as_records(source: Source, *, what: str, alphabet: Alphabet | None = None) -> list[Record]:
    """Return the sequences in ``source`` as records.

    Parameters
    ----------
    source : str, Seq, SeqRecord, Record, ndarray, path, or iterable of those
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
        From :func:`read`, if a str is the name of a file, or if an array has no alphabet or holds
        other numbers than codes.

    Examples
    --------
    >>> as_records("MKV", what="query")
    [Record(id='query', description='', letters='MKV')]
    >>> [record.id for record in as_records(["MKV", Record("x", "", "MK")], what="target")]
    ['target 1', 'x']
    """
    if is_single(source):
        return [_record(source, what, alphabet, alone=True)]
    if isinstance(source, os.PathLike):
        with _no_collection():
            return list(read(source))
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(f"{what}: {_EXPECTED}, got {_kind(source)}")
    if isinstance(source, np.ndarray) and source.ndim == 0:
        raise TypeError(f"{what}: {_EXPECTED}, got {_kind(source)}")
    records: list[Record] = []
    for number, item in enumerate(source, start=1):
        name = f"{what} {number}"
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
    return records


@contextmanager
def _no_collection() -> Iterator[None]:
    """Suspend the collection of garbage, which takes long while many objects are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def is_single(source: object, *, any_letters: bool = False) -> bool:
    """Return whether ``source`` is one sequence, not several or a file.

    One sequence is text (str, bytes, bytearray), a `Seq`, `MutableSeq`, `SeqRecord` or `Record`, an
    array of integers of one dimension, or a tuple of numbers; all else that can be iterated over is
    several, a list always, and a tuple of sequences too. ``docs/INPUTS.md`` is the page of this
    rule.

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
    return isinstance(source, (*_seq_types(), *_seq_record_type()))


def _is_sequence(item: object) -> bool:
    """Return whether an item is rather a sequence than a letter; words are letters."""
    if isinstance(item, str | bytes):
        return False
    return isinstance(item, Iterable | os.PathLike) or is_single(item)


def _seq_types() -> tuple[type[Seq], ...]:
    """Return the types of Biopython's sequences, which nothing has until Bio.Seq is imported."""
    module = sys.modules.get("Bio.Seq")
    return (module.Seq, module.MutableSeq) if module else ()


def _seq_record_type() -> tuple[type[SeqRecord], ...]:
    module = sys.modules.get("Bio.SeqRecord")
    return (module.SeqRecord,) if module else ()


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
    return Record(name, "", _letters(item, name))


def _letters(seq: object, name: str) -> str:
    if not isinstance(seq, _seq_types()):
        raise TypeError(f"{name}: expected a Seq, got {type(seq).__name__}")
    try:
        return str(seq)
    except ValueError:  # UndefinedSequenceError
        raise ValueError(f"{name}: its letters are undefined, only its length is known") from None
