"""Writes an indexed database atomically."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import stat
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np

from glsw.arrays import Int64, UInt8
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.database_file import (
    ALIGNMENT,
    PREFACE,
    SUBSTITUTED,
    is_database,
    preface,
)
from glsw.sequences.encoded import gathered, joined_offsets, offsets_of, sorted_by_length
from glsw.sequences.named import codes_of
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.records import Records
from glsw.sequences.sections import BlockChecksums

_LONGEST_NAME = 255  # bytes, on Linux, macOS and Windows


class NoDatabaseError(ValueError):
    """A file that is not a database would be overwritten, and ``force`` is not given."""


def check_sources(paths: list[str]) -> None:
    """Raise an error unless the sources of a database are there."""
    if not paths:
        raise ValueError("there is no file to index")
    if paths.count("-") > 1:
        raise ValueError("standard input ('-') can be read only once")
    for path in paths:
        if path != "-":
            os.stat(path)  # an OSError now, not after the files before it


def check_out(out: str, sources: list[str], force: bool) -> None:
    """Raise ValueError if a database must not be written there."""
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
        if same_file(out, source):
            raise ValueError(f"{out}: it is an input, and would be overwritten")
    if not force and not is_database(out):
        raise NoDatabaseError(f"{out}: it exists, but is not a database")


def same_file(path: str, other: str) -> bool:
    """Return whether a regular file is that of another path, or standard input ('-')."""
    try:
        status = os.stat(path)
        found = os.fstat(0) if other == "-" else os.stat(other)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and os.path.samestat(status, found)


def beside(path: str | os.PathLike[str], ending: str) -> str:
    """Return a path for a file that becomes another one: its name, and an ending.

    Where that is longer than systems allow, a digest stands for the last letters.

    >>> beside("run/hits.tsv", ".part")
    'run/hits.tsv.part'
    >>> beside("run/" + "x" * 255, ".part")[-30:]
    'xxxxxxxx-d22609da3ae3956c.part'
    """
    folder, name = os.path.split(os.fspath(path))
    whole = os.fsencode(name)
    if len(whole) + len(ending) > _LONGEST_NAME:
        from hashlib import sha256  # loads OpenSSL

        digest = f"-{sha256(whole).hexdigest()[:16]}"
        kept = whole[: _LONGEST_NAME - len(ending) - len(digest)]
        name = kept.decode("utf-8", "ignore") + digest
    return os.path.join(folder, name + ending)


def spool_of(path: str) -> IO[bytes]:
    """Return a temporary file in the folder of another one, which errors name."""
    import tempfile

    try:
        return tempfile.TemporaryFile(dir=os.path.dirname(path))
    except OSError as error:
        error.filename = path
        raise


@contextlib.contextmanager
def appearing(path: str) -> Iterator[IO[bytes]]:
    """Give a file that takes its name when it is complete and on the disk, or vanishes."""
    import secrets

    part = beside(path, f".{secrets.token_hex(4)}.part")
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


def write(
    file: IO[bytes],
    parts: Iterable[Records],
    alphabet: Alphabet,
    unknown: str | None,
    residues: IO[bytes],
) -> None:
    """Write a database, by way of a file of the residues in their original order."""
    file.write(bytes(PREFACE.size))
    sections: dict[str, dict[str, int]] = {}
    of_blocks: list[int] = []

    def section(name: str, pieces: Iterable[Any]) -> None:
        file.write(bytes(-file.tell() % ALIGNMENT))
        start, checksums = file.tell(), BlockChecksums()
        for piece in pieces:
            file.write(piece)
            checksums.add(piece)
        sections[name] = {"offset": start, "bytes": file.tell() - start}
        of_blocks.extend(checksums.values)

    spool = _Spool(residues, alphabet, unknown)
    section("titles", spool.titles(parts))
    section("title_offsets", [spool.title_offsets])
    lengths = spool.lengths
    order, rank = sorted_by_length(lengths)
    section("order", [order.astype(np.uint32)])
    section("rank", [rank.astype(np.uint32)])
    ordered = lengths[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    runs = np.stack([ordered[first], np.diff(first, append=len(order))], axis=1)
    section("lengths", [runs.ravel()])
    offsets = offsets_of(lengths[order])
    for name, array in zip(SUBSTITUTED, spool.substituted(offsets, rank), strict=True):
        section(name, [array])
    if lengths.any():
        mapped = mmap.mmap(residues.fileno(), 0, access=mmap.ACCESS_READ)
        size = np.dtype(alphabet.code_type).itemsize
        section("residues", gathered(mapped, size * lengths, order))
        mapped.close()  # not after an error: its traceback holds the generator, with a view
    else:
        section("residues", [])
    checksums = np.array(of_blocks, np.uint32)
    section("checksums", [checksums])
    of_checksums = sections.pop("checksums") | {"crc32": zlib.crc32(checksums.data)}
    table = {
        "alphabet": _spelled(alphabet.shown),
        "sequences": len(lengths),
        "residues": int(lengths.sum()),
        "program": f"glsw {_program_version()}",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "sections": sections,
        "checksums": of_checksums,
    }
    if isinstance(alphabet, PairedAlphabet):
        table["second_alphabet"] = _spelled(alphabet.second)
    contents = json.dumps(table).encode("utf-8")
    start = file.tell()
    file.write(contents)
    file.seek(0)
    file.write(preface(start, contents))


def _spelled(alphabet: Alphabet) -> dict[str, Any]:
    return {
        "name": alphabet.name,
        "letters": alphabet.letters,
        "aliases": dict(alphabet.aliases),
        "ambiguous": alphabet.ambiguous,
    }


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
        self._lengths: list[Int64] = []
        self._title_offsets: list[Int64] = []
        self._places: list[int] = []
        self._letters: list[str] = []

    def titles(self, parts: Iterable[Records]) -> Iterator[UInt8]:
        """Yield the text of the titles while the rest of the records goes where it belongs."""
        total = 0
        for records in parts:
            found = Counter[str]()
            codes = codes_of(records, self._alphabet, self._unknown, found)
            self._file.write(codes.residues.data)
            if found:
                for at, letter in self._alphabet.substituted(records.joined_letters().tobytes()):
                    self._places.append(total + at)
                    self._letters.append(letter)
            total += len(codes.residues)
            self._lengths.append(codes.lengths)
            self._title_offsets.append(records.titles.offsets)
            yield records.titles.text
        self._file.flush()

    @property
    def title_offsets(self) -> Int64:
        return joined_offsets(self._title_offsets)

    @property
    def lengths(self) -> Int64:
        return np.concatenate(self._lengths)

    def substituted(self, offsets: Int64, rank: Int64) -> tuple[Int64, bytes]:
        """Return letters that count as others, and where they are among the sorted residues."""
        places, starts = np.array(self._places, np.int64), offsets_of(self.lengths)
        owners = np.searchsorted(starts, places, "right") - 1
        places += offsets[rank[owners]] - starts[owners]
        order = np.argsort(places)
        return places[order], "".join(self._letters[k] for k in order.tolist()).encode("ascii")


def _program_version() -> str:
    from glsw._version import __version__

    return __version__
