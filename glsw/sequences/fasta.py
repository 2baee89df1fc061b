"""Reads sequence files: FASTA and FASTQ, plain or gzip.

A file is cut into records in large blocks of bytes, by arrays of positions. Text and codes are made
from them only when they are asked for.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from glsw.arrays import Int64, UInt8
from glsw.caller import warn
from glsw.cores import beside
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.lines import naming
from glsw.sequences.records import WHITE, Record, Records, Titles
from glsw.words import numbered, visible

_BLOCK = 1 << 20  # bytes of FASTA that are cut into records at once
_FEW = 4  # such blocks, which this thread cuts
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_OTHERS = {
    b"\x89GLSW": "a database of makedb",
    b"BZh": "compressed by bzip2: decompress it first",
    b"\xfd7zXZ": "compressed by xz: decompress it first",
    b"(\xb5/\xfd": "compressed by zstd: decompress it first",
    b"PK\x03\x04": "a zip archive: extract it first",
    b"\xff\xfe": "UTF-16: save it as UTF-8",
    b"\xfe\xff": "UTF-16: save it as UTF-8",
}
"""How files begin that are mistaken for FASTA, and what they are."""
_FASTQ_RECORDS = 1 << 12  # cut at once
_FASTQ_LINES = 1 << 14
_LINE_FEED, _ASCII = 10, 128


class EmptyFileError(ValueError):
    """A sequence file contains no record."""


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

    Warns
    -----
    RuntimeWarning
        After the last record, if some have no letters.

    Notes
    -----
    A record without a name gets the id ``record N``, counted from 1. The file is read in blocks, on
    demand: an error further on may be raised after the first records.

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
        yield from block


def read_all(path: str | os.PathLike[str]) -> Records:
    """Return the records of a file; parameters and errors as `read`."""
    return Records.joined(list(blocks(path)))


def blocks(
    path: str | os.PathLike[str],
    *,
    progress: Callable[[int], object] | None = None,
    whole: bool = True,
) -> Iterator[Records]:
    r"""Yield the records of a FASTA or FASTQ file, plain or gzip, many at a time.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard input.
    progress : callable, optional
        Called with the number of bytes just read from the file, before decompression.
    whole : bool
        Whether all of a FASTA record is in one block, however long; for a look at its first
        letters it may be in several, each of which begins a record.

    Raises
    ------
    OSError
        If the file cannot be opened or read.
    ValueError
        As `glsw.read`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.fasta")
    ...     _ = path.write_text(">a first one\nACGT\nAC\n>\nTT\n")
    ...     for block in blocks(path):
    ...         print(list(block.titles), block.joined_letters().tobytes(), block.offsets)
    [('a', 'first one')] b'ACGTAC' [0 6]
    [('record 2', '')] b'TT' [0 2]
    """
    path = os.fspath(path)
    if not isinstance(path, str):
        raise TypeError(f"a path must be str, got {type(path).__name__}")
    file = "standard input" if path == "-" else path
    with contextlib.ExitStack() as stack:
        stack.enter_context(naming(file))
        source = _standard_input() if path == "-" else stack.enter_context(open(path, "rb"))
        stream: io.BufferedReader = io.BufferedReader(_Counted(source, progress), 1 << 17)
        try:
            empty = not stream.peek(1)
            if stream.peek(2).startswith(_GZIP):
                stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), 1 << 17)
            number, without, first = 0, 0, ""
            for parts, qualities in _cut_all(_texts(stream, file, empty, whole)):
                titles = parts.titles.numbered(number)
                count, stranger = len(parts.offsets) - 1, parts.stranger
                if stranger:
                    stranger = f"{visible(titles[count][0])}: {stranger}"
                block = Records(titles.first(count), parts.letters, parts.offsets)
                if qualities is not None:
                    qualities_of = _qualities(qualities, block, stranger, file)
                    block = Records(block.titles, parts.letters, parts.offsets, qualities_of)
                yield block
                number += len(block.titles)
                if stranger:
                    raise ValueError(f"{file}: {stranger} is not a letter")
                some = np.flatnonzero(np.diff(block.offsets) == 0)
                if whole and len(some):
                    without += len(some)
                    first = first or block.titles[int(some[0])][0]
            if without:
                name = visible(first)
                named = f", the first is {name}" if without > 1 else f": {name}"
                sequences = numbered(without, "sequence")
                warn(f"{file}: {sequences} without letters{named}", RuntimeWarning)
        except EOFError:
            raise ValueError(f"{file}: truncated gzip file") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{file}: corrupt gzip file ({error})") from None


class _Parts(NamedTuple):
    """The records of a text, up to one with a character that is no letter, and its place."""

    titles: Titles  # of that record and others too
    letters: UInt8
    offsets: Int64
    stranger: str = ""


class _Counted(io.RawIOBase):
    """The bytes of a stream, which stays open; each read reports its number of bytes."""

    def __init__(self, stream: io.BufferedReader, progress: Callable[[int], object] | None) -> None:
        self._stream, self._progress = stream, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._stream.readinto1(buffer)
        if self._progress:
            self._progress(count)
        return count


def _standard_input() -> io.BufferedReader:
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    stream = sys.stdin.buffer
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[arg-type]


def _texts(
    stream: io.BufferedReader, file: str, empty: bool, whole: bool = True
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield records of a stream as FASTA, many at a time, lines ended by a line feed.

    Of FASTQ the qualities of all letters follow.
    """
    if stream.peek(3).startswith(_BYTE_ORDER_MARK):
        stream.read(3)
    while blank := len(ahead := stream.peek(1)) - len(ahead.lstrip()):
        stream.read(blank)
    start = stream.peek(20)[:20]
    if start.startswith(b">"):
        fasta = _fasta(stream) if whole else _fasta_in_parts(stream)
        yield from ((text, None) for text in fasta)
    elif start.startswith(b"@"):
        yield from _fastq(stream, file)
    elif start:
        for magic, other in _OTHERS.items():
            if start.startswith(magic):
                raise ValueError(f"{file}: not FASTA or FASTQ, but {other}")
        begin = start.splitlines()[0].decode("latin-1")
        raise ValueError(f"{file}: not FASTA or FASTQ, it begins with {begin!a}")
    else:
        reason = "empty file" if empty else "no sequences, only blank lines"
        raise EmptyFileError(f"{file}: {reason}")


def _fasta(stream: io.BufferedReader) -> Iterator[bytes]:
    parts: list[bytes] = []
    while text := stream.read(_BLOCK):
        # Blank lines mean nothing, so that all ends of lines can become the same.
        text = (text + stream.readline()).replace(b"\r", b"\n")
        last = text.rfind(b"\n>") + 1
        if parts and (last or text.startswith(b">")):
            yield b"".join([*parts, text[:last]])
            parts = [text[last:]]
        elif last:
            yield text[:last]
            parts = [text[last:]]
        else:
            parts.append(text)
    yield b"".join([*parts, b"\n"])


def _fasta_in_parts(stream: io.BufferedReader) -> Iterator[bytes]:
    rest = b""
    while text := stream.read(_BLOCK):
        text = (rest + text).replace(b"\r", b"\n")
        end = text.rfind(b"\n") + 1 or len(text)
        part, rest = text[:end], text[end:]
        yield b"".join([b"" if part.startswith(b">") else b">\n", part, b"\n"])
    if rest:
        yield b">\n" + rest + b"\n"


def _fastq(stream: io.BufferedReader, file: str) -> Iterator[tuple[bytes, bytes]]:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace")
    found = fastq_records(text)
    reason = None
    try:
        while reason is None:
            lines: list[str] = []
            qualities: list[str] = []
            try:
                for title, letters, quality in islice(found, _FASTQ_RECORDS):
                    lines += ">", title, "\n ", letters, "\n"  # no line of letters begins with >
                    qualities.append(quality)
            except ValueError as error:
                reason = " ".join(str(error).split()).rstrip(".")
            if lines:
                joined = "".join(qualities)
                if not joined.isascii():
                    joined = "".join(each if each.isascii() else " " for each in joined)
                yield "".join(lines).encode("utf-8"), joined.encode("ascii")
            elif reason is None:
                return
    finally:
        text.detach()
    raise ValueError(f"{file}: truncated or malformed FASTQ: {reason}")


def _qualities(given: bytes, block: Records, stranger: str, file: str) -> UInt8:
    """Return the qualities of a block, which ends early if there is a ``stranger``."""
    if len(given) != block.size and not stranger:
        raise ValueError(f"{file}: malformed FASTQ: white space between letters")
    return np.frombuffer(given, np.uint8)[: block.size]


def _cut_all(
    texts: Iterator[tuple[bytes, bytes | None]],
) -> Iterator[tuple[_Parts, bytes | None]]:
    """Yield the records of texts, and their qualities; threads cut many texts."""

    def cut(text: tuple[bytes, bytes | None]) -> tuple[_Parts, bytes | None]:
        return _cut(text[0]), text[1]

    yield from map(cut, islice(texts, _FEW))
    yield from beside(cut, texts)


def _cut(text: bytes) -> _Parts:
    """Cut a text, which ends with a line feed, into records, mostly without Python's lock."""
    data = np.frombuffer(text, np.uint8).copy()
    line_ends = np.flatnonzero(data == _LINE_FEED)
    titled = np.append(0, np.flatnonzero(data[line_ends[:-1] + 1] == ord(">")) + 1)
    starts = np.append(0, line_ends[titled[1:] - 1] + 1)  # of titles, from ">"
    middles = line_ends[titled] + 1
    ends = np.append(starts[1:], len(text))
    places = ranges(starts + 1, middles - starts - 1)
    titles = Titles.of(data[places].tobytes(), middles - starts - 1, 0)
    data[starts] = data[places] = _LINE_FEED
    letters = data[data != _LINE_FEED]
    lengths = ends - middles - np.diff(titled, append=len(line_ends)) + 1
    if letters.min(initial=255) > max(WHITE) and letters.max(initial=0) < _ASCII:
        return _Parts(titles, letters, offsets_of(lengths))
    parts = [text[a:b] for a, b in zip(middles.tolist(), ends.tolist(), strict=True)]
    stranger = _without_foreign_space(parts)
    parts = [part.translate(None, WHITE) for part in parts]
    letters = np.frombuffer(b"".join(parts), np.uint8)
    return _Parts(titles, letters, offsets_of([*map(len, parts)]), stranger)


def _without_foreign_space(parts: list[bytes]) -> str:
    """Remove white space outside ASCII, and all records from the first of other such characters.

    Return the character and its position, or "".
    """
    for k, part in enumerate(parts):
        if part.isascii():
            continue
        letters = "".join(part.decode("utf-8", "replace").split())
        if not letters.isascii():
            at = next(at for at, letter in enumerate(letters) if not letter.isascii())
            del parts[k:]
            return f"{letters[at]!a} at position {at + 1}"
        parts[k] = letters.encode("ascii")
    return ""


def fastq_records(
    lines: Iterable[str], together: int = _FASTQ_LINES
) -> Iterator[tuple[str, str, str]]:
    r"""Yield titles, letters and qualities of records, as Biopython's `FastqGeneralIterator`.

    From the first record that has not four lines, Biopython reads: its readers take 0.1 s to
    import.

    Parameters
    ----------
    lines : iterable of str
        With line feeds at their ends.
    together : int
        Lines that are read at once.

    Raises
    ------
    ValueError
        If they are not FASTQ.

    Examples
    --------
    >>> lines = "@a b|ACGT|+|IIII|@c|AC|GT|+|IIII".replace("|", "\n|").split("|")
    >>> list(fastq_records(lines))
    [('a b', 'ACGT', 'IIII'), ('c', 'ACGT', 'IIII')]
    """
    rest = iter(lines)
    before: list[str] = []  # a record that ends if the next line is a title
    while some := list(islice(rest, together)):
        at = 0
        while at + 4 <= len(some) and _has_four_lines(*(record := some[at : at + 4])):
            if before:
                yield _fastq_parts(before)
            before = record
            at += 4
        if at < len(some):
            from Bio.SeqIO.QualityIO import FastqGeneralIterator

            text: Any = _Lines(chain(before, some[at:], rest))
            yield from FastqGeneralIterator(text)
            return
    if before:
        yield _fastq_parts(before)


def _fastq_parts(record: list[str]) -> tuple[str, str, str]:
    return record[0][1:].rstrip(), record[1].rstrip(), record[3].rstrip()


def _has_four_lines(title: str, letters: str, middle: str, quality: str) -> bool:
    sequence = letters.rstrip()
    return (
        title[0] == "@"
        and letters[0] != "+"
        and middle[0] == "+"
        and middle[1:].rstrip() in ("", title[1:].rstrip())
        and len(sequence) == len(quality.rstrip())
        and " " not in sequence
        and "\t" not in sequence
    )


class _Lines:
    """Lines as what Biopython reads of a file."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def read(self, size: int) -> str:
        return ""

    def readline(self) -> str:
        return next(self._lines, "")
