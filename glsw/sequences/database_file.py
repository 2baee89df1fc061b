"""The format of an indexed database: reading its parts and writing it at once or not at all."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import Alphabet
from glsw.sequences.records import Codes, Records, codes_of
from glsw.sequences.titles import joined_offsets, offsets_of

_Path: TypeAlias = str | os.PathLike[str]

_MAGIC = b"\x89GLSW\r\n\x1a"
_MARK = 0x01020304
_VERSION = 2
_PREFACE = struct.Struct("=8sIIQQII")
_ALIGNMENT = 64
_NUMBERS = ("title_offsets", "order", "rank", "offsets")
_SUBSTITUTED = ("substituted_at", "substituted")  # not in files of version 1
_CHECKED_AT_ONCE = 1 << 26  # bytes of these sections that are checked whenever a file is opened
_PIECE = 1 << 24


_PATHS = (str, os.PathLike)


# reading


class NoDatabaseError(ValueError):
    """A file that is no database would be overwritten, and ``force`` is not given."""


class _File:
    """A file of this format, its preface and table of contents checked, and mapped."""

    def __init__(self, path: _Path) -> None:
        self.path = os.path.abspath(path)
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            offset, length, self.stamp = self._preface(file.read(_PREFACE.size), size)
            file.seek(offset)
            contents = file.read(length)
            if zlib.crc32(contents) != self.stamp:
                raise self._corrupt("table of contents")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            table = json.loads(contents)
            spelled = table["alphabet"]
            letters = spelled["letters"]
            spelled["letters"] = letters if isinstance(letters, str) else tuple(letters)
            self.alphabet = Alphabet(**spelled)
            self.sections = {
                name: (int(each["offset"]), int(each["bytes"]), int(each["crc32"]))
                for name, each in table["sections"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise self._corrupt("table of contents") from None
        at_once = _NUMBERS if self.version == 1 else (*_NUMBERS, *_SUBSTITUTED)
        if sum(self._section(name)[1] for name in at_once) <= _CHECKED_AT_ONCE:
            self.verify(at_once)

    def section(self, name: str, kind: type[Any]) -> npt.NDArray[Any]:
        """Return a section as an array that is no copy."""
        start, length, _ = self._section(name)
        try:
            return np.frombuffer(memoryview(self._map)[start : start + length], dtype=kind)
        except ValueError:
            raise self._corrupt(name) from None

    def substituted(self) -> _Substituted:
        """Return the letters that count as others, none in a file of version 1."""
        if self.version == 1:
            return _Substituted()
        places, letters = _SUBSTITUTED
        return _Substituted(self.section(places, np.int64), self.section(letters, np.uint8))

    def verify(self, names: Iterable[str]) -> None:
        """Compare sections with their checksums."""
        for name in names:
            start, length, expected = self._section(name)
            checksum = 0
            for at in range(start, start + length, _PIECE):
                checksum = zlib.crc32(self._map[at : min(at + _PIECE, start + length)], checksum)
            if checksum != expected:
                raise self._corrupt(name)

    def _section(self, name: str) -> tuple[int, int, int]:
        if name not in self.sections:
            raise self._corrupt(f"no {name}")
        return self.sections[name]

    def _preface(self, preface: bytes, size: int) -> tuple[int, int, int]:
        """Return where the table of contents is, its length and its checksum."""
        if not preface.startswith(_MAGIC):
            raise ValueError(f"{self.path}: not a glsw database")
        if len(preface) < _PREFACE.size:
            raise ValueError(f"{self.path}: truncated database, {size} bytes")
        _, mark, number, offset, length, stamp, checksum = _PREFACE.unpack(preface)
        if mark == int.from_bytes(_MARK.to_bytes(4, "little"), "big"):
            raise ValueError(
                f"{self.path}: database of a machine of the other byte order, index it anew here"
            )
        if mark == _MARK and number > _VERSION:
            raise ValueError(
                f"{self.path}: database of format {number}, this glsw reads formats up to "
                f"{_VERSION}"
            )
        if zlib.crc32(preface[:-4]) != checksum or mark != _MARK or not number:
            raise self._corrupt("preface")
        if size < offset + length:
            raise ValueError(f"{self.path}: truncated database, {size} of {offset + length} bytes")
        if size > offset + length:
            raise self._corrupt(f"{size} bytes instead of {offset + length}")
        self.version = number
        return offset, length, stamp

    def _corrupt(self, what: str) -> ValueError:
        return ValueError(f"{self.path}: corrupt database ({what})")


class _Substituted:
    """Letters that count as others, see `Alphabet.substitutes`: where they are among the residues.

    Parameters
    ----------
    places : ndarray of int64, shape (K,)
        Ascending positions in the sorted residues.
    letters : ndarray of uint8, shape (K,)
        The letters there, ASCII.
    """

    def __init__(
        self, places: npt.ArrayLike = (), letters: npt.NDArray[np.uint8] | None = None
    ) -> None:
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

    def fits(self, residues: int) -> bool:
        places = self._places
        inside = not len(places) or (places[0] >= 0 and places[-1] < residues)
        return len(places) == len(self._letters) and inside


def _masks(alphabet: Alphabet) -> bool:
    """Return whether lower-case letters are read as the wildcard.

    >>> from glsw.sequences.alphabet import PROTEIN
    >>> _masks(PROTEIN), _masks(PROTEIN.lower_case_masked())
    (False, True)
    """
    wildcard = alphabet.wildcard
    return wildcard is not None and all(
        alphabet.aliases.get(each.lower()) == wildcard
        for each in alphabet.letters
        if each.lower() not in alphabet.letters
    )


def _letters(alphabet: Alphabet) -> str:
    letters = alphabet.letters
    shown = letters if isinstance(letters, str) else f"{letters[0]} ... {letters[-1]}"
    return f"{alphabet.name} ({shown})"


def _check_out(out: str, sources: list[str], force: bool) -> None:
    folder = os.path.dirname(out) or "."
    if out == "-":
        raise ValueError("a database cannot go to standard output, it needs the name of a file")
    if not os.path.isdir(folder):
        raise ValueError(f"{out}: there is no folder {folder}")
    if not os.path.exists(out):
        return
    if not os.path.isfile(out):
        raise ValueError(f"{out}: it is a folder or device, not a file to overwrite")
    for source in sources:
        if source != "-" and os.path.samefile(source, out):
            raise ValueError(f"{out}: it is an input, and would be overwritten")
    if not force and not is_database(out):
        raise NoDatabaseError(f"{out}: it exists and is no database")


@contextlib.contextmanager
def _appearing(path: str) -> Iterator[IO[bytes]]:
    """Give a file that takes its name when it is complete and on the disk, or vanishes."""
    import secrets

    part = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    with contextlib.suppress(OSError):  # there are systems where folders cannot be opened
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write(
    file: IO[bytes],
    parts: Iterable[Records],
    alphabet: Alphabet,
    unknown: str | None,
    residues: IO[bytes],
) -> None:
    """Write a database, by way of a file of the residues in their original order."""
    file.write(bytes(_PREFACE.size))
    sections: dict[str, dict[str, int]] = {}

    def section(name: str, pieces: Iterable[Any]) -> None:
        file.write(bytes(-file.tell() % _ALIGNMENT))
        start, checksum = file.tell(), 0
        for piece in pieces:
            file.write(piece)
            checksum = zlib.crc32(piece, checksum)
        sections[name] = {"offset": start, "bytes": file.tell() - start, "crc32": checksum}

    spool = _Spool(residues, alphabet, unknown)
    section("titles", spool.titles(parts))
    section("title_offsets", [spool.title_offsets])
    lengths = spool.lengths
    order, rank = _sorted(lengths)
    section("order", [order])
    section("rank", [rank])
    offsets = offsets_of(lengths[order])
    section("offsets", [offsets])
    for name, array in zip(_SUBSTITUTED, spool.substituted(offsets, rank), strict=True):
        section(name, [array])
    if lengths.any():
        with mmap.mmap(residues.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            section("residues", _gathered(mapped, lengths, order))
    else:
        section("residues", [])
    table = {
        "alphabet": {
            "name": alphabet.name,
            "letters": alphabet.letters,
            "aliases": dict(alphabet.aliases),
            "ambiguous": alphabet.ambiguous,
        },
        "sequences": len(lengths),
        "residues": int(lengths.sum()),
        "program": f"glsw {_program_version()}",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "sections": sections,
    }
    contents = json.dumps(table).encode("utf-8")
    start = file.tell()
    file.write(contents)
    file.seek(0)
    checksum = zlib.crc32(contents)
    preface = _PREFACE.pack(_MAGIC, _MARK, _VERSION, start, len(contents), checksum, 0)[:-4]
    file.write(preface + struct.pack("=I", zlib.crc32(preface)))


class _Spool:
    """The residues of records in a file, and what else is known of them in arrays.

    Parameters
    ----------
    file : binary file
        Gets the residues in the original order.
    alphabet, unknown
        As of `makedb`.
    """

    def __init__(self, file: IO[bytes], alphabet: Alphabet, unknown: str | None) -> None:
        self._file, self._alphabet, self._unknown = file, alphabet, unknown
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._title_offsets: list[npt.NDArray[np.int64]] = []
        self._places: list[int] = []
        self._letters: list[str] = []

    def titles(self, parts: Iterable[Records]) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield the text of the titles while the rest of the records goes where it belongs."""
        total = 0
        for records in parts:
            codes, lengths, found = codes_of(records, self._alphabet, self._unknown)
            self._file.write(codes.data)
            if found:
                for at, letter in self._alphabet.substituted(records.letters.tobytes()):
                    self._places.append(total + at)
                    self._letters.append(letter)
            total += len(codes)
            self._lengths.append(lengths)
            self._title_offsets.append(records.titles.offsets)
            yield records.titles.text
        self._file.flush()

    @property
    def title_offsets(self) -> npt.NDArray[np.int64]:
        return joined_offsets(self._title_offsets)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.concatenate(self._lengths)

    def substituted(
        self, offsets: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], bytes]:
        """Return letters that count as others, and where they are among the sorted residues."""
        places, starts = np.array(self._places, np.int64), offsets_of(self.lengths)
        owners = np.searchsorted(starts, places, "right") - 1
        places += offsets[rank[owners]] - starts[owners]
        order = np.argsort(places)
        return places[order], "".join(self._letters[k] for k in order.tolist()).encode("ascii")


def _sorted(
    lengths: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the order by descending length, and the place of each sequence in it."""
    order = np.argsort(-lengths, kind="stable").astype(np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return order, rank


def _gathered(
    residues: memoryview | mmap.mmap, lengths: npt.NDArray[np.int64], order: npt.NDArray[np.int64]
) -> Iterator[bytes]:
    """Yield the residues in that order, many sequences at a time."""
    ends = np.cumsum(lengths)
    starts = ends - lengths
    with memoryview(residues) as view:
        for at in range(0, len(order), 1 << 12):
            some = order[at : at + (1 << 12)]
            bounds = zip(starts[some].tolist(), ends[some].tolist(), strict=True)
            yield b"".join([view[start:end] for start, end in bounds])


def _program_version() -> str:
    from glsw import __version__

    return __version__


def is_database(path: _Path) -> bool:
    """Return whether a path is a file that begins as those of :func:`makedb` do.

    Only regular files are read, a pipe is not.
    """
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
