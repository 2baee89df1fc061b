"""Writes an indexed database atomically."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw import cores
from glsw.arrays import Codes, Int64, UInt8
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.database_file import (
    ALIGNMENT,
    PREFACE,
    SUBSTITUTED,
    is_database,
    preface,
)
from glsw.sequences.encoded import (
    Sequences,
    gathered,
    offsets_of,
    order_by_length,
    runs_of,
)
from glsw.sequences.named import codes_of
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.records import Records
from glsw.sequences.sections import BlockChecksums, read_at
from glsw.sequences.tiles import cut

_RUN = 2**26  # bytes of residues that are sorted together
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
    section("title_offsets", spool.title_offsets())
    section("residues", spool.sorted())
    order = np.concatenate([np.empty(0, np.uint32), *spool.order])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    section("order", [order])
    section("rank", [rank])
    section("lengths", [spool.lengths])
    for name, array in zip(SUBSTITUTED, spool.substituted(rank), strict=True):
        section(name, [array])
    checksums = np.array(of_blocks, np.uint32)
    section("checksums", [checksums])
    of_checksums = sections.pop("checksums") | {"crc32": zlib.crc32(checksums.data)}
    table = {
        "alphabet": _spelled(alphabet.shown),
        "sequences": len(order),
        "residues": int(spool.lengths.prod(axis=1).sum()),
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


class _Run(NamedTuple):
    """Sequences of some records in a file, sorted by length."""

    start: int  # where their residues begin in the file
    numbers: npt.NDArray[np.uint32]  # among all records
    lengths: Int64  # see `runs_of`

    def alike(self, longest: int, shortest: int) -> tuple[Int64, slice, slice]:
        """Return lengths of sequences within bounds, their places, and those of their residues."""
        first, last = np.searchsorted(-self.lengths[:, 0], [-longest, -shortest + 1]).tolist()
        lengths, counts = self.lengths[first:last].T
        each, residues = offsets_of(self.lengths[:, 1]), offsets_of(self.lengths.prod(axis=1))
        places = slice(int(each[first]), int(each[last]))
        bounds = slice(int(residues[first]), int(residues[last]))
        return np.repeat(lengths, counts), places, bounds


class _Spool:
    """The residues of records in a file, in runs that are sorted, and what else is known of them.

    Parameters
    ----------
    file : binary file
        Gets the residues.
    alphabet, unknown
        As of `makedb`.

    Attributes
    ----------
    order : list of ndarray of uint32
        The numbers of the sequences that have been `sorted`.
    """

    def __init__(self, file: IO[bytes], alphabet: Alphabet, unknown: str | None) -> None:
        self._file, self._alphabet, self._unknown = file, alphabet, unknown
        self._lock = threading.Lock()
        self._kind = np.dtype(alphabet.code_type)
        self._sizes: list[npt.NDArray[Any]] = []  # of titles
        self._waiting: list[Sequences] = []
        self._runs: list[_Run] = []
        self._count = self._residues = 0
        self._rare: list[tuple[int, int, str]] = []
        self.order: list[npt.NDArray[np.uint32]] = []

    def titles(self, parts: Iterable[Records]) -> Iterator[UInt8]:
        """Yield the text of the titles while the rest of the records goes where it belongs."""
        for records, codes, rare in cores.beside(self._encoded, parts):
            self._rare += [(self._count + number, at, letter) for number, at, letter in rare]
            if sum(each.size for each in self._waiting) + codes.size > _RUN // self._kind.itemsize:
                self._sort()
            self._waiting.append(codes)
            self._count += len(codes)
            sizes = np.diff(records.titles.offsets)
            self._sizes.append(sizes.astype(np.min_scalar_type(sizes.max(initial=0))))
            yield records.titles.text
        self._sort()
        self._file.flush()

    def _encoded(self, records: Records) -> tuple[Records, Sequences, list[tuple[int, int, str]]]:
        """Return codes, and where letters count as others: number of the sequence, place there."""
        found, rare = Counter[str](), []
        codes = codes_of(records, self._alphabet, self._unknown, found)
        if found:
            letters = self._alphabet.substituted(records.joined_letters().tobytes())
            for at, letter in letters:
                number = int(np.searchsorted(codes.offsets, at, "right")) - 1
                rare.append((number, at - int(codes.offsets[number]), letter))
        return records, codes, rare

    def _sort(self) -> None:
        """Write the sequences that wait."""
        if not self._waiting:
            return
        codes = Sequences.concatenated(self._waiting)
        self._waiting.clear()
        order = order_by_length(codes.lengths)
        lengths = codes.lengths[order]
        room = np.empty_like(codes.residues)
        gathered(codes.residues, codes.offsets[order], lengths, room)
        self._file.write(room.data)
        numbers = (order + (self._count - len(order))).astype(np.uint32)
        self._runs.append(_Run(self._residues, numbers, runs_of(lengths)))
        self._residues += len(room)

    def title_offsets(self) -> Iterator[Int64]:
        """Yield the offsets of all titles, many at a time."""
        before = np.zeros(1, np.int64)
        yield before
        for sizes in self._sizes:
            offsets = before[-1] + np.cumsum(sizes, dtype=np.int64)
            yield offsets
            before = offsets if len(offsets) else before

    @cached_property
    def lengths(self) -> Int64:
        """The different lengths, and how many sequences have each, see `runs_of`."""
        every = np.concatenate([np.empty((0, 2), np.int64), *(run.lengths for run in self._runs)])
        every = every[order_by_length(every[:, 0])]
        found = runs_of(every[:, 0])
        first = offsets_of(found[:, 1])
        found[:, 1] = np.diff(offsets_of(every[:, 1])[first])
        return found

    def sorted(self) -> Iterator[Codes]:
        """Yield the residues of all sequences by length, those of many lengths at a time."""
        lengths = self.lengths[:, 0]
        for some in cut([offsets_of(self.lengths.prod(axis=1))], [_RUN // self._kind.itemsize]):
            bounds = int(lengths[some.start]), int(lengths[some.stop - 1])
            found = [(run, *run.alike(*bounds)) for run in self._runs]
            found = [each for each in found if len(each[1])]
            numbers = np.concatenate([run.numbers[places] for run, _, places, _ in found])
            if len(found) == 1 or bounds[0] == bounds[1]:
                for run, _, _, residues in found:
                    yield self._read(run, residues)
            else:
                each = np.concatenate([own for _, own, _, _ in found])
                parts = cores.in_threads(lambda one: self._read(one[0], one[3]), found)
                codes = np.concatenate(parts)
                parts.clear()
                order = order_by_length(each)
                room = np.empty_like(codes)
                gathered(codes, offsets_of(each)[order], each[order], room)
                numbers = numbers[order]
                yield room
            self.order.append(numbers)

    def _read(self, run: _Run, residues: slice) -> Codes:
        size = self._kind.itemsize
        codes = np.empty(residues.stop - residues.start, self._kind)
        view, at = codes.view(np.uint8).data, (run.start + residues.start) * size
        while len(view):
            if not (count := read_at(self._file, self._lock, view, at)):
                raise OSError(errno.EIO, "the file of residues ends too early", self._file.name)
            view, at = view[count:], at + count
        return codes

    def substituted(self, rank: npt.NDArray[np.uint32]) -> tuple[Int64, bytes]:
        """Return letters that count as others, and where they are among the sorted residues."""
        if not self._rare:
            return np.empty(0, np.int64), b""
        numbers, inside, letters = zip(*self._rare, strict=True)
        offsets = offsets_of(np.repeat(*self.lengths.T))
        places = offsets[rank[np.array(numbers)]] + np.array(inside)
        order = np.argsort(places)
        return places[order], "".join(letters[k] for k in order.tolist()).encode("ascii")


def _program_version() -> str:
    from glsw._version import __version__

    return __version__
