"""The reader of sequence files: FASTA and FASTQ, plain or gzip, to titles and letters or codes.

FASTA is cut into records in large blocks of bytes; letters are translated to codes, or decoded to
text, only when they are asked for.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from glsw.sequences.alphabet import Alphabet

_BLOCK = 1 << 22  # bytes of FASTA that are cut into records at once
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "  # what str.split() drops, of ASCII
_STRANGER = 255


class RawRecord(NamedTuple):
    """A record of a file, its letters as bytes with the white space between them.

    Parameters
    ----------
    id, description : str
        The first word of the title and the rest.
    lines : list of bytes
        One after the other they are the letters.
    file : str
        Name of the file in error messages.
    """

    id: str
    description: str
    lines: list[bytes]
    file: str

    def letters(self) -> str:
        """Return the letters as text; ValueError for one that is not ASCII."""
        text = b"".join(self.lines)
        if text.isascii():
            return text.translate(None, _WHITE).decode("ascii")
        letters = "".join(text.decode("utf-8", "replace").split())
        if not letters.isascii():
            at = next(k for k, letter in enumerate(letters) if not letter.isascii())
            place = f"{letters[at]!a} at position {at + 1}"
            raise ValueError(f"{self.file}: {self.id}: {place} is not a letter")
        return letters


class Entry(NamedTuple):
    """A named sequence in codes.

    Parameters
    ----------
    id, description : str
    codes : bytes
    substituted : list of (int, str)
        Positions and letters that count as others, see `Alphabet.substituted`.
    """

    id: str
    description: str
    codes: bytes
    substituted: list[tuple[int, str]]


def raw_records(
    path: str | os.PathLike[str], *, progress: Callable[[int], object] | None = None
) -> Iterator[RawRecord]:
    """Yield the records of a file; parameters and errors as `encoded`."""
    path = os.fspath(path)
    if not isinstance(path, str):
        raise TypeError(f"a path must be str, got {type(path).__name__}")
    file = "standard input" if path == "-" else path
    with contextlib.ExitStack() as stack:
        source = _standard_input() if path == "-" else stack.enter_context(open(path, "rb"))
        stream: io.BufferedReader = io.BufferedReader(_Counted(source, progress), 1 << 17)
        try:
            empty = not stream.peek(1)
            if stream.peek(2).startswith(_GZIP):
                stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), 1 << 17)
            titled = _titled(stream, file, empty)
            for number, (title, lines) in enumerate(titled, start=1):
                words = title.split(None, 1) or [f"record {number}"]
                description = words[1].rstrip() if len(words) > 1 else ""
                yield RawRecord(words[0], description, lines, file)
        except EOFError:
            raise ValueError(f"{file}: truncated gzip file") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{file}: corrupt gzip file ({error})") from None


def encoded(
    path: str | os.PathLike[str],
    alphabet: Alphabet,
    *,
    unknown: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Entry]:
    r"""Yield the sequences of a FASTA or FASTQ file, plain or gzip, in the codes of an alphabet.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` is standard input.
    alphabet : Alphabet
        The letters allowed.
    unknown : str, optional
        The letter that all others become; without it they are an error.
    progress : callable, optional
        Called with the number of bytes just read from the file, before decompression.

    Raises
    ------
    OSError
        If the file cannot be opened or read.
    ValueError
        As `glsw.read` and `Alphabet.encode`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from glsw.sequences.alphabet import DNA
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.fasta")
    ...     _ = path.write_text(">a first one\nACGT\nAC\n>\nTT\n")
    ...     for entry in encoded(path, DNA):
    ...         print(entry)
    Entry(id='a', description='first one', codes=b'\x00\x01\x02\x03\x00\x01', substituted=[])
    Entry(id='record 2', description='', codes=b'\x03\x03', substituted=[])
    """
    alphabet.encode("", unknown=unknown)
    table = bytes(_code(alphabet, bytes([character])) for character in range(256))
    for record in raw_records(path, progress=progress):
        codes = b"".join([line.translate(table, _WHITE) for line in record.lines])
        substituted: list[tuple[int, str]] = []
        if _STRANGER in codes:
            letters = record.letters()
            codes = alphabet.encode(letters, name=record.id, unknown=unknown).tobytes()
            substituted = alphabet.substituted(letters)
        yield Entry(record.id, record.description, codes, substituted)


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


def _titled(stream: io.BufferedReader, file: str, empty: bool) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the title and the lines, in one part or several, of each record of a stream."""
    if stream.peek(3).startswith(_BYTE_ORDER_MARK):
        stream.read(3)
    while stream.peek(1)[:1].isspace():
        stream.read(1)
    start = stream.peek(20)[:20]
    if start.startswith(b">"):
        yield from _fasta(stream)
    elif start.startswith(b"@"):
        for text, letters in _fastq(stream, file):
            yield text, [letters.encode("utf-8")]
    elif start:
        begin = start.splitlines()[0].decode("latin-1")
        raise ValueError(f"{file}: not FASTA or FASTQ, it begins with {begin!a}")
    else:
        raise ValueError(f"{file}: {'empty file' if empty else 'no sequences, only blank lines'}")


def _fasta(stream: io.BufferedReader) -> Iterator[tuple[str, list[bytes]]]:
    stream.read(1)  # the first ">"
    before = b""
    parts: list[bytes] = []

    def titled() -> tuple[str, list[bytes]]:
        title, _, parts[0] = parts[0].partition(b"\n")
        return title.decode("utf-8", "replace"), parts

    while block := stream.read(_BLOCK):
        block += stream.readline()
        # Blank lines mean nothing, so that all ends of lines can become the same.
        first, *others = (before + block.replace(b"\r", b"\n")).split(b"\n>")
        before = b"\n"
        parts.append(first)
        for other in others:
            yield titled()
            parts = [other]
    parts = parts or [b""]
    yield titled()


def _fastq(stream: io.BufferedReader, file: str) -> Iterator[tuple[str, str]]:
    from Bio.SeqIO.QualityIO import FastqGeneralIterator

    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace")
    try:
        for title, letters, _ in FastqGeneralIterator(text):
            yield title, letters
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{file}: truncated or malformed FASTQ: {reason}") from None
    finally:
        text.detach()


def _code(alphabet: Alphabet, character: bytes) -> int:
    if alphabet.substituted(character):
        return _STRANGER
    try:
        return int(alphabet.encode(character)[0])
    except ValueError:
        return _STRANGER
