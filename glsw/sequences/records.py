"""Sequence records: names and letters, singly or many in arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64, UInt8
from glsw.sequences.alphabet import Alphabet, letters_of, single_bytes
from glsw.sequences.encoded import joined_offsets, offsets_of

WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""The white space of ASCII, as of `str.split`."""
PIECE = 1 << 21
"""Letters that a thread encodes at once."""
_LONG = 2 * PIECE  # letters of a text that threads share
_IS_WHITE = bytes(character in WHITE for character in range(256))
_SHOWN = 40  # letters in one line
_TOGETHER = 1 << 12  # records that are made of the same text
_SAMPLE, _ABOUT = 2**12, 1.05  # texts that tell the letters of all, and by how much they may err


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
        The quality of each letter as a character, as in FASTQ. Ignored when records are compared.

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
    """A named sequence in the codes of an alphabet; its letters are decoded on access.

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
    def of(
        cls,
        record: Record,
        alphabet: Alphabet,
        unknown: str | None = None,
        codes: Codes | None = None,
    ) -> EncodedRecord:
        """Encode a record, see `Alphabet.encode`, unless its codes are known.

        Its letters are shown as they are.
        """
        if codes is None:
            codes = alphabet.encode(record.letters, name=record.id, unknown=unknown)
        return cls.shown(record.id, record.description, codes, alphabet, record.letters)

    @classmethod
    def shown(
        cls, name: str, description: str, codes: Codes, alphabet: Alphabet, letters: str | None
    ) -> EncodedRecord:
        """Return a record as results show it: unmasked, of two tracks the first."""
        codes, some = alphabet.as_shown(codes, letters or "")
        alphabet = (alphabet.unmasked or alphabet).shown
        return cls(name, description, codes, alphabet, letters and some)

    def restore(self, letters: str | None) -> None:
        """Show these letters, if any, instead of those of the codes."""
        if letters is not None:
            self.__dict__["letters"] = letters

    @cached_property
    def letters(self) -> str:
        """The sequence as given, or else as the alphabet spells it."""
        return self.alphabet.decode(self.codes, name=self.id)

    @cached_property
    def compared(self) -> Codes:
        """The codes with which letters are compared, see `Alphabet.compared`."""
        return self.alphabet.compared(self.codes, self.__dict__.get("letters", ""))

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


class Titles:
    r"""Ids and descriptions by the number of the sequence.

    Parameters
    ----------
    text : ndarray of uint8
        Id and description of each sequence in turn, UTF-8, nothing between them.
    offsets : ndarray of int64, shape (2 * sequences + 1,)
        Where each of these begins, and the end of the last.

    Examples
    --------
    >>> titles = Titles.of(b"a first one\n\n", np.array([12, 1]), before=0)
    >>> list(titles), titles.text.tobytes(), titles.offsets.tolist()
    ([('a', 'first one'), ('record 2', '')], b'afirst onerecord 2', [0, 1, 10, 18, 18])
    """

    lines: bytes = b""
    """As of `of`, if some have no name but their number."""

    def __init__(self, text: UInt8, offsets: Int64) -> None:
        self.text, self.offsets = text, offsets

    @staticmethod
    def of(lines: bytes, sizes: Int64, before: int) -> Titles:
        """Return the titles of FASTA: the id is the first word, without one the record's number.

        Parameters
        ----------
        lines : bytes
            The titles, a line feed after each.
        sizes : ndarray of int64, shape (sequences,)
            Bytes of each, its line feed included.
        before : int
            Records before these, to number them.
        """
        white = lines.translate(_IS_WHITE)
        is_white = np.frombuffer(white, np.bool_)
        places = np.flatnonzero(is_white)
        ends = np.cumsum(sizes) - 1
        starts = ends - sizes + 1
        middles = places[np.searchsorted(places, starts)]
        # Elsewhere white space is at the start or end, twice between words, or not of ASCII.
        plain = (middles > starts) & ~is_white[ends - 1]
        plain &= (middles == ends) | ~is_white[np.minimum(middles + 1, ends)]
        if not plain.all() or not lines.isascii():
            return _split(lines, before)
        text = np.frombuffer(lines, np.uint8).copy()
        text[middles] = text[ends]
        bounds = np.stack([middles - starts, np.maximum(ends - middles - 1, 0)], axis=1)
        kept = text.tobytes().replace(b"\n", b"")
        return Titles(np.frombuffer(kept, np.uint8), offsets_of(bounds.ravel()))

    def numbered(self, before: int) -> Titles:
        """Return them behind so many other records."""
        return _split(self.lines, before) if self.lines and before else self

    @staticmethod
    def joined(parts: Sequence[Titles]) -> Titles:
        """Return the titles of several parts."""
        text = np.concatenate([part.text for part in parts])
        return Titles(text, joined_offsets([part.offsets for part in parts]))

    def first(self, count: int) -> Titles:
        """Return the first titles."""
        return self.part(0, count)

    def part(self, start: int, stop: int) -> Titles:
        """Return the titles of sequences ``start`` to ``stop``, half-open."""
        offsets = self.offsets[2 * start : 2 * stop + 1]
        return Titles(self.text[offsets[0] : offsets[-1]], offsets - offsets[0])

    def __len__(self) -> int:
        return len(self.offsets) // 2

    def __getitem__(self, k: int) -> tuple[str, str]:
        start, middle, end = self.offsets[2 * k : 2 * k + 3].tolist()
        title = self.text[start:end].tobytes()
        name, description = title[: middle - start], title[middle - start :]
        return name.decode("utf-8", "replace"), description.decode("utf-8", "replace")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        text, bounds = self.text.tobytes(), self.offsets.tolist()
        for start, middle, end in zip(bounds[:-1:2], bounds[1::2], bounds[2::2], strict=True):
            name, description = text[start:middle], text[middle:end]
            yield name.decode("utf-8", "replace"), description.decode("utf-8", "replace")


def _split(lines: bytes, before: int) -> Titles:
    """Return the titles of lines one by one."""
    parts: list[bytes] = []
    unnamed = False
    for number, line in enumerate(lines.split(b"\n")[:-1], start=before + 1):
        words = line.decode("utf-8", "replace").split(None, 1)
        if not words:
            words, unnamed = [f"record {number}"], True
        description = words[1].rstrip() if len(words) > 1 else ""
        parts += words[0].encode("utf-8"), description.encode("utf-8")
    lengths = np.array([len(part) for part in parts], np.int64)
    titles = Titles(np.frombuffer(b"".join(parts), np.uint8), offsets_of(lengths))
    titles.lines = lines if unnamed else b""
    return titles


class Records(Sequence[Record]):
    """Names and letters of many sequences in arrays; records are created on access.

    Parameters
    ----------
    titles : Titles or str
        Or the name of sequences without titles, which gets their number.
    letters : ndarray of uint8
        The letters of all records, one byte each, without white space; 0 for one that is not ASCII.
    offsets : ndarray of int64, shape (records + 1,)
        Where the letters of each record begin, and the end of the last.
    qualities : ndarray of uint8, optional
        Of FASTQ, the character of each letter; a space for one that is not ASCII.
    read_text : callable, optional
        Makes records without titles of their number, from 0, and text, and raises errors.

    Examples
    --------
    >>> records = Records.of([Record("a", "", "MKV"), Record("b", "", "MKVLA")])
    >>> len(records), records[1].id, records.offsets.tolist(), records.joined_letters().tobytes()
    (2, 'b', [0, 3, 8], b'MKVMKVLA')
    """

    offsets: Int64
    qualities: UInt8 | None

    def __init__(
        self,
        titles: Titles | str,
        letters: UInt8,
        offsets: Int64,
        qualities: UInt8 | None = None,
        read_text: Callable[[int, str], Record] | None = None,
    ) -> None:
        self.__dict__.update(offsets=offsets, qualities=qualities)
        self._letters, self._titles, self.read_text = letters, titles, read_text

    @cached_property
    def titles(self) -> Titles:
        """Ids and descriptions."""
        if isinstance(self._titles, Titles):
            return self._titles
        names = [f"{self._titles} {k + 1}".encode() for k in range(len(self))]
        bounds = np.repeat(offsets_of([*map(len, names)]), 2)
        return Titles(np.frombuffer(b"".join(names), np.uint8), bounds[1:])

    def _made(self, k: int, letters: str, quality: str | None = None) -> Record:
        if isinstance(self._titles, Titles):
            return Record(*self._titles[k], letters, quality)
        if self.read_text:
            return self.read_text(k, letters)
        return Record(f"{self._titles} {k + 1}", "", letters)

    @staticmethod
    def of(records: Iterable[Record]) -> Records:
        """Return records that are objects, as they are; their arrays are made when asked for."""
        return records if isinstance(records, Records) else Listed([*records])

    @staticmethod
    def joined(parts: Sequence[Records]) -> Records:
        """Return the records of several parts."""
        known = [each.qualities for each in parts if each.qualities is not None]
        return Records(
            Titles.joined([each.titles for each in parts]),
            np.concatenate([each.joined_letters() for each in parts]),
            joined_offsets([each.offsets for each in parts]),
            np.concatenate(known) if len(known) == len(parts) else None,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<{len(self)} records>"

    @overload
    def __getitem__(self, k: int) -> Record: ...

    @overload
    def __getitem__(self, k: slice) -> Records: ...

    def __getitem__(self, k: int | slice) -> Record | Records:
        """Return a record, or the records of a slice of step 1."""
        if isinstance(k, slice):
            return self._part(*k.indices(len(self)))
        k = range(len(self))[k]
        start, end = self.offsets[k : k + 2].tolist()
        both = [each for each in (self._letters, self.qualities) if each is not None]
        return self._made(k, *(each[start:end].tobytes().decode("latin-1") for each in both))

    def _part(self, start: int, stop: int, step: int) -> Records:
        if step != 1:
            raise ValueError(f"records of a part follow one another, got a step of {step}")
        stop = max(start, stop)
        first, end = self.offsets[[start, stop]].tolist()
        qualities = None if self.qualities is None else self.qualities[first:end]
        offsets = self.offsets[start : stop + 1] - first
        return Records(self.titles.part(start, stop), self._letters[first:end], offsets, qualities)

    def __iter__(self) -> Iterator[Record]:
        if not isinstance(self._titles, Titles):
            yield from (self[k] for k in range(len(self)))
            return
        for at in range(0, len(self), _TOGETHER):
            some = self[at : at + _TOGETHER] if len(self) > _TOGETHER else self
            bounds = some.offsets.tolist()
            both = [
                each.tobytes().decode("latin-1")
                for each in (some._letters, some.qualities)
                if each is not None
            ]
            for title, start, end in zip(some.titles, bounds, bounds[1:], strict=False):
                yield Record(*title, *[each[start:end] for each in both])

    def joined_letters(self) -> UInt8:
        """Return the letters of all records in one array, those of a list made anew."""
        return self._letters

    @property
    def size(self) -> int:
        """About how many letters `pieces` yields."""
        return int(self.offsets[-1])

    def texts(self) -> Sequence[str | bytes]:
        """Return the letters of each record."""
        return [each.letters for each in self]

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield all letters in turn, many at a time."""
        letters = self._letters
        for at in range(0, len(letters), PIECE):
            yield letters[at : at + PIECE].data

    def names_and_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the number of letters of each record."""
        for (name, _), length in zip(self.titles, np.diff(self.offsets).tolist(), strict=True):
            yield name, length


class Listed(Records):
    """Records that are objects, or text without titles; arrays are created on access.

    Parameters
    ----------
    items : sequence of Record, of str or of bytes
    what, read_text
        Of text, as of `Records`: the name of all, and what makes records.
    """

    def __init__(
        self,
        items: Sequence[Any],
        what: str = "",
        read_text: Callable[[int, str], Record] | None = None,
    ) -> None:
        self._parts, self._count = [items], len(items)
        self._titles, self.read_text = what, read_text

    @property
    def _items(self) -> Sequence[Any]:
        if len(self._parts) > 1:
            self._parts = [tuple(chain.from_iterable(self._parts))]
        return self._parts[0]

    def texts(self) -> Sequence[Any]:
        """Return the letters of each record; TypeError if some are of another type."""
        if self.read_text is None:
            return [each.letters for each in self._items]
        if len({*map(type, self._items)}) > 1:
            raise TypeError("text of several types")
        return self._items

    @cached_property
    def titles(self) -> Titles:
        """Ids and descriptions."""
        if self.read_text:
            return super().titles
        parts = [
            part.encode("utf-8", "backslashreplace")
            for each in self._items
            for part in (each.id, each.description)
        ]
        return Titles(np.frombuffer(b"".join(parts), np.uint8), offsets_of([*map(len, parts)]))

    def joined_letters(self) -> UInt8:
        """Return the letters of all records in one array, made anew."""
        return np.frombuffer(b"".join(map(single_bytes, self.texts())), np.uint8)

    @cached_property
    def offsets(self) -> Int64:  # type: ignore[override]
        """Where the letters of each record begin, and the end of the last."""
        return offsets_of([*map(len, self._items)])

    @property
    def qualities(self) -> UInt8 | None:  # type: ignore[override]
        """The quality of each letter, if all records have qualities."""
        known: list[Any] = [getattr(each, "quality", None) for each in self._items]
        if not known or None in known:
            return None
        return np.frombuffer("".join(known).encode("ascii", "replace"), np.uint8)

    @cached_property
    def size(self) -> int:
        """About how many letters there are, rather too many."""
        some = self._items[:: 1 + len(self) // _SAMPLE]
        return math.ceil(_ABOUT * sum(map(len, some)) / max(1, len(some)) * len(self))

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield pieces of the letters; ValueError if some are not ASCII, TypeError if no text.

        To read a million objects from memory once takes as long as to join them, so this copies
        the list, and takes the lengths, on its way.
        """
        given = self._items if self.read_text else self.texts()
        kind, some = type(given[0]) if len(given) else str, PIECE * len(given) // max(1, self.size)
        parts, lengths = list[Sequence[Any]](), [np.empty(0, np.int64)]
        for at in range(0, len(given), max(1, some)):
            part = given[at : at + max(1, some)]
            lengths.append(np.fromiter(map(len, part), np.int64, len(part)))
            if kind is bytes and {*map(type, part)} != {bytes}:  # others can be joined, too
                raise TypeError("text of several types")
            text = b"".join(part) if kind is bytes else letters_of("".join(part))
            yield from (text[start : start + _LONG] for start in range(0, len(text), _LONG))
            parts.append(part)
        if self.read_text:
            self._parts = parts or [()]
        self.__dict__["offsets"] = offsets_of(np.concatenate(lengths))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return Listed([self[number] for number in range(len(self))[k]])
        item = self._items[k]
        return self._made(range(len(self))[k], item) if self.read_text else item

    def __iter__(self) -> Iterator[Record]:
        if self.read_text is None:
            return iter(self._items)
        return map(self._made, range(len(self)), self.texts())

    def names_and_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the number of letters of each record."""
        return ((each.id, len(each)) for each in self)
