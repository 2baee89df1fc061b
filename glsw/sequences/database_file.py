r"""The format of an indexed database: its preface, its table of contents and its sections.

The file, format version 5; numbers in the byte order of the machine that wrote it:

======  ======  ==================================================================================
offset  bytes   preface
======  ======  ==================================================================================
0       8       magic: 89 47 4C 53 57 0D 0A 1A (``\x89GLSW\r\n\x1a``)
8       4       byte-order mark 0x01020304
12      4       format version
16      8       offset of the table of contents, which ends the file
24      8       bytes of the table of contents
32      4       CRC-32 of the table of contents
36      4       CRC-32 of the 36 bytes before
======  ======  ==================================================================================

The table of contents is JSON in UTF-8, an object of

- ``alphabet``: its ``name``, ``letters``, ``aliases`` and ``ambiguous`` letters, as in
  `glsw.Alphabet`; if lower-case letters were masked, they are aliases of the wildcard;
- ``sequences`` and ``residues``: how many there are;
- ``program`` and ``created``: what wrote the file and when;
- ``second_alphabet``, of two tracks only: spelled as ``alphabet``;
- ``sections``: for each by name its ``offset`` and its length in ``bytes``;
- ``checksums``: the ``offset``, the ``bytes`` and the ``crc32`` of numbers (uint32) that are the
  CRC-32 of each 65,536 bytes of each section, in the order of ``sections``; the last ones of a
  section may be fewer.

Sections start at multiples of 64 bytes. With N sequences they are

==============  ========  ============================================================  ========
section         number    what                                                          shape
==============  ========  ============================================================  ========
titles          bytes     id and description of each sequence, in the original order,   (any,)
                          UTF-8, nothing between them
title_offsets   int64     where each of these begins, and the end of the last           (2 N + 1,)
order           uint32    original numbers, from 0, of the sequences sorted by          (N,)
                          descending length, equal ones in the original order
rank            uint32    the inverse: where each sequence is among the sorted          (N,)
lengths         int64     the different lengths, descending, each followed by how       (any, 2)
                          many sequences have it
substituted_at  int64     where letters that count as others are among the residues     (K,)
substituted     uint8     these letters, ASCII in upper case, such as U that counts     (K,)
                          as C, see `glsw.Alphabet.substitutes`
residues        uint8     codes of the sorted sequences, nothing between them; with     (residues,)
                (uint16)  two tracks those of pairs, see `PairedAlphabet`
==============  ========  ============================================================  ========

Residues go to a device as they are. Threads read them slab by slab into memory that is mapped for
the device, and check them on their way.

What is read is compared with its checksums, so that a damaged file is an error and never a wrong
result:

- the preface and the table of contents when a file is opened;
- every block of 65,536 bytes when something in it is needed: residues when a part is searched,
  titles and ranks when a hit is shown, ``order`` and ``lengths`` at the first search. Nothing else
  is read. Of 32 blocks that are read together, the CRC-32 of all of them, which follows from those
  of each, is computed.

Codes outside the alphabet, and indices that make no sense, are errors too.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64, UInt8
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import offsets_of
from glsw.sequences.lines import naming
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.records import Titles
from glsw.sequences.sections import BLOCK, DatabaseError, OpenFile, Path, Section

MAGIC = b"\x89GLSW\r\n\x1a"
VERSION = 5
PREFACE = struct.Struct("=8sIIQQII")
ALIGNMENT = 64
_TYPES = {"order": np.uint32, "rank": np.uint32}  # of numbers; others are int64
SUBSTITUTED = ("substituted_at", "substituted")
_MARK = 0x01020304
_SPELLING = {"name", "letters", "aliases", "ambiguous"}  # of an alphabet
_MAX_CONTENTS = 1 << 20  # bytes


class DatabaseFile:
    """A file of this format, its preface and table of contents checked.

    Parameters
    ----------
    path : str or path

    Attributes
    ----------
    alphabet : Alphabet
    stamp : int
        A number that another database, most likely, does not have.
    count, residues : int
        How many sequences there are, and how many residues.

    Raises
    ------
    OSError
        If the file cannot be opened.
    DatabaseError
        As `Database.open`.
    """

    def __init__(self, path: Path) -> None:
        self._file = file = OpenFile(path)
        self.path = file.path
        offset, length, self.stamp = self._preface(
            bytes(file.read(0, min(PREFACE.size, file.size)))
        )
        contents = file.read(offset, length)
        if zlib.crc32(contents) != self.stamp:
            raise self.corrupt("table of contents")
        try:
            table = json.loads(contents)
            self.alphabet = _alphabet(table["alphabet"])
            if "second_alphabet" in table:
                second = _alphabet(table["second_alphabet"])
                self.alphabet = PairedAlphabet.of(self.alphabet, second)
            self._places = {name: _Place(**place) for name, place in table["sections"].items()}
            self._places["checksums"] = _Place(**table["checksums"])
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise self.corrupt("table of contents") from None
        self._gaps = self._between(offset)
        self._sections = self._checked_sections()
        self.count = self._counted()
        self._residues = self.section("residues")
        self._residues.limit(len(self.alphabet), self.alphabet.code_type)
        self.titles = FileTitles(self.section("titles"), self.section("title_offsets"))

    def section(self, name: str) -> Section:
        """Return a section."""
        try:
            return self._sections[name]
        except KeyError:
            raise self.corrupt(f"no {name}") from None

    def codes(self, start: int, stop: int) -> Codes:
        """Return codes of the sorted sequences."""
        kind = np.dtype(self.alphabet.code_type)
        found: Codes = self._residues.read(start * kind.itemsize, stop * kind.itemsize).view(kind)
        return found

    def fill(self, codes: Codes, start: int) -> None:
        """Fill an array with codes from ``start`` on, see `Section.fill`."""
        self._residues.fill(codes.view(np.uint8), start * codes.itemsize)

    def numbers(self, name: str, which: Int64 | None = None) -> npt.NDArray[Any]:
        """Return all numbers of a section, or some."""
        section, kind = self.section(name), np.dtype(_TYPES.get(name, np.int64))
        if which is None:
            return section.whole().view(kind)
        size = kind.itemsize
        each = (section.read(size * k, size * k + size).view(kind)[0] for k in which.tolist())
        return np.fromiter(each, kind, len(which))

    def offsets(self) -> Int64:
        """Return where each sorted sequence begins, and the end of the last."""
        runs = self.numbers("lengths")
        lengths, counts = runs.reshape(-1, 2).T
        largest = max(self.count, self.residues) + 1
        fits = (lengths >= 0).all() and (counts > 0).all() and (np.diff(lengths) < 0).all()
        if fits and (runs < largest).all() and counts.sum() == self.count:
            offsets = offsets_of(np.repeat(lengths, counts))
            if offsets[-1] == self.residues:
                return offsets
        raise self.corrupt("lengths")

    def substituted(self) -> Substituted:
        """Return the letters that count as others."""
        places, letters = SUBSTITUTED
        found = Substituted(self.numbers(places), self.section(letters).whole())
        if not found.fits(self.residues, self.alphabet):
            raise self.corrupt(letters)
        return found

    def verify(self) -> None:
        """Read the whole file and compare it with its checksums."""
        for section in self._sections.values():
            section.check()
        for start, stop in self._gaps:
            if any(self._file.read(start, stop - start)):
                raise self.corrupt("between sections")

    def read_ahead(self) -> None:
        """Have the system read the residues."""
        self._residues.read_ahead()

    def has_its_name(self) -> bool:
        """Return whether the path still leads to this file."""
        return self._file.has_its_name()

    def corrupt(self, what: str) -> DatabaseError:
        """Return the error of damage to this file."""
        return self._file.corrupt(what)

    def _preface(self, data: bytes) -> tuple[int, int, int]:
        """Return where the table of contents is, its length and its checksum."""
        size = self._file.size
        if not data.startswith(MAGIC):
            raise DatabaseError(f"{self.path}: not a glsw database")
        if len(data) < PREFACE.size:
            raise DatabaseError(f"{self.path}: truncated database, {size} bytes")
        _, mark, number, offset, length, stamp, checksum = PREFACE.unpack(data)
        if mark == int.from_bytes(_MARK.to_bytes(4, "little"), "big"):
            raise DatabaseError(
                f"{self.path}: database from a machine with the other byte order, index it again "
                "here"
            )
        if mark == _MARK and number != VERSION:
            raise DatabaseError(
                f"{self.path}: database of format {number}, this glsw reads format {VERSION}; "
                "rebuild it with glsw makedb"
            )
        if zlib.crc32(data[:-4]) != checksum or mark != _MARK:
            raise self.corrupt("preface")
        if size < offset + length:
            raise DatabaseError(
                f"{self.path}: truncated database, {size} of {offset + length} bytes"
            )
        if size > offset + length:
            raise self.corrupt(f"{size} bytes instead of {offset + length}")
        if offset < PREFACE.size or length > _MAX_CONTENTS:
            raise self.corrupt("table of contents")
        return offset, length, stamp

    def _between(self, end: int) -> list[tuple[int, int]]:
        """Return the bytes between sections, which must not overlap; ``end`` is behind them."""
        at, gaps = PREFACE.size, []
        for place in sorted(self._places.values(), key=lambda each: (each.offset, each.bytes)):
            if not at <= place.offset < at + ALIGNMENT:
                raise self.corrupt("table of contents")
            gaps.append((at, place.offset))
            at = place.offset + place.bytes
        if at != end:
            raise self.corrupt("table of contents")
        return gaps

    def _checked_sections(self) -> dict[str, Section]:
        of_all = self._places.pop("checksums")
        found, first = {}, 0
        numbers = self._file.read(of_all.offset, of_all.bytes)
        if len(numbers) % 4 or zlib.crc32(numbers) != of_all.crc32:
            raise self.corrupt("checksums")
        checksums = np.frombuffer(numbers, np.uint32)
        for name, place in self._places.items():
            stop = first + -(-place.bytes // BLOCK)
            of_blocks = checksums[first:stop]
            found[name] = Section(self._file, name, place.offset, place.bytes, of_blocks)
            first = stop
        if first != len(checksums):
            raise self.corrupt("checksums")
        return found

    def _counted(self) -> int:
        """Return how many sequences there are, if all sections are of this number."""
        sizes = {name: section.length for name, section in self._sections.items()}
        try:
            count, letters = sizes["order"] // 4, sizes["substituted"]
            fits = sizes["title_offsets"] == 8 * (2 * count + 1) and sizes["lengths"] % 16 == 0
            fits = fits and sizes["order"] == sizes["rank"] == 4 * count
            fits = fits and sizes["substituted_at"] == 8 * letters
            size = np.dtype(self.alphabet.code_type).itemsize
            self.residues, rest = divmod(sizes["residues"], size)
        except KeyError:
            fits, rest = False, 0
        if not fits or rest:
            raise self.corrupt("table of contents")
        return count


@dataclass(frozen=True)
class _Place:
    """Where a section is; of that of the checksums also its own."""

    offset: int
    bytes: int
    crc32: int = 0

    def __post_init__(self) -> None:
        for number, limit in ((self.offset, 2**63), (self.bytes, 2**63), (self.crc32, 2**32)):
            if type(number) is not int or not 0 <= number < limit:
                raise ValueError(f"a number from 0 to {limit - 1} expected, got {number!r}")


def _alphabet(spelled: Any) -> Alphabet:
    """Return an alphabet, or raise one of several errors if it makes no sense."""
    if set(spelled) - _SPELLING:
        raise ValueError("an alphabet has more than it should")
    name, letters, aliases = spelled["name"], spelled["letters"], spelled.get("aliases", {})
    ambiguous = spelled.get("ambiguous", "")
    texts = name, ambiguous, *letters, *aliases.keys(), *aliases.values()
    if not all(isinstance(text, str) and text.isprintable() for text in texts):
        raise TypeError("printable text expected")
    letters = letters if isinstance(letters, str) else tuple(letters)
    return Alphabet(name, letters, aliases, ambiguous)


class FileTitles:
    """Ids and descriptions by input position, read on access.

    Parameters
    ----------
    text, offsets : Section
        See `Titles`.
    """

    def __init__(self, text: Section, offsets: Section) -> None:
        self._text, self._offsets = text, offsets

    def __len__(self) -> int:
        return self._offsets.length // 16

    def __getitem__(self, k: int) -> tuple[str, str]:
        start, middle, end = self._offsets.numbers(2 * k, 2 * k + 3).tolist()
        if not 0 <= start <= middle <= end <= self._text.length:
            raise self._offsets.corrupt()
        title = self._text.read(start, end).tobytes()
        both = title[: middle - start], title[middle - start :]
        return both[0].decode("utf-8", "replace"), both[1].decode("utf-8", "replace")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.whole())

    def whole(self) -> Titles:
        """Return all titles."""
        offsets = self._offsets.whole().view(np.int64)
        if offsets[0] != 0 or offsets[-1] != self._text.length or (np.diff(offsets) < 0).any():
            raise self._offsets.corrupt()
        return Titles(self._text.whole(), offsets)


class Substituted:
    """Letters that count as others, see `Alphabet.substitutes`: where they are among the residues.

    Parameters
    ----------
    places : ndarray of int64, shape (K,)
        Ascending positions in the sorted residues.
    letters : ndarray of uint8, shape (K,)
        The letters there, ASCII.
    """

    def __init__(self, places: npt.ArrayLike = (), letters: UInt8 | None = None) -> None:
        self._places = np.asarray(places, np.int64)
        self._letters = np.empty(0, np.uint8) if letters is None else letters

    def counted(self) -> Counter[str]:
        """Return how often each letter occurs."""
        return Counter(self._letters.tobytes().decode("ascii", "replace"))

    def restored(self, codes: Codes, start: int, alphabet: Alphabet) -> str | None:
        """Return the letters of the residues from ``start`` on, None if all are as in the codes."""
        if not len(self._places):
            return None
        first, last = np.searchsorted(self._places, [start, start + len(codes)]).tolist()
        if first == last:
            return None
        text = bytearray(alphabet.decode(codes), "ascii")
        places = (self._places[first:last] - start).tolist()
        for at, letter in zip(places, self._letters[first:last].tolist(), strict=True):
            text[at] = letter
        return text.decode("ascii", "replace")

    def fits(self, residues: int, alphabet: Alphabet) -> bool:
        """Return whether so many residues may have such letters at these places."""
        places, letters = self._places, set(self._letters.tobytes())
        inside = not len(places) or bool(places[0] >= 0 and places[-1] < residues)
        known = letters <= set("".join(alphabet.substitutes).encode("ascii"))
        return inside and known and bool((np.diff(places) > 0).all())


def preface(offset: int, contents: bytes) -> bytes:
    """Return the preface of a file with this table of contents at this place."""
    checksum = zlib.crc32(contents)
    data = PREFACE.pack(MAGIC, _MARK, VERSION, offset, len(contents), checksum, 0)[:-4]
    return data + struct.pack("=I", zlib.crc32(data))


def masks(alphabet: Alphabet) -> bool:
    """Return whether lower-case letters are read as the wildcard.

    >>> from glsw.sequences.alphabet import PROTEIN
    >>> masks(PROTEIN), masks(PROTEIN.lower_case_masked())
    (False, True)
    """
    wildcard = alphabet.wildcard
    return wildcard is not None and all(
        alphabet.aliases.get(each.lower()) == wildcard
        for each in alphabet.letters
        if each.lower() not in alphabet.letters
    )


def is_database(path: Path) -> bool:
    """Return whether a path is a file that begins as those of `makedb` do.

    Only regular files are read, a pipe is not.
    """
    if not os.path.isfile(path):
        return False
    with naming(path), open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC
