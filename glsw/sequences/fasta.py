"""Sequence files straight to codes: FASTA in blocks of bytes, the rest record by record.

The records, and the errors, are those of `glsw.read` and `Alphabet.encode`. Where the
start of a file shows FASTA and letters are one character wide, records are cut out of large blocks
and translated as bytes, without a str of each line; all else goes through the common reader.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from glsw.sequences.alphabet import Alphabet
from glsw.sequences.records import _GZIP, _records, _skip_blank, _standard_input

_BLOCK = 1 << 22
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "  # what str.split() drops, of ASCII
_STRANGER = 255


class Entry(NamedTuple):
    """A named sequence in codes."""

    id: str
    description: str
    codes: bytes


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
        Called with the number of bytes just read from the file, as they lie there.

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
    Entry(id='a', description='first one', codes=b'\x00\x01\x02\x03\x00\x01')
    Entry(id='record 2', description='', codes=b'\x03\x03')
    """
    path = os.fspath(path)
    if not isinstance(path, str):
        raise TypeError(f"a path must be str, got {type(path).__name__}")
    alphabet.encode("", unknown=unknown)
    shown = "standard input" if path == "-" else path
    with contextlib.ExitStack() as stack:
        source = _standard_input() if path == "-" else stack.enter_context(open(path, "rb"))
        counted = _Counted(source, progress or _silent)
        stream: io.BufferedReader = io.BufferedReader(counted, 1 << 17)
        fast = alphabet.width == 1 and _beginning(stream).startswith(b">")
        road = _blockwise if fast else _one_by_one
        try:
            yield from road(stream, shown, alphabet, unknown)
        except EOFError:
            raise ValueError(f"{shown}: truncated gzip file") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{shown}: corrupt gzip file ({error})") from None


class _Counted(io.RawIOBase):
    """The bytes of a stream, which stays open, and a call for each lot of them."""

    def __init__(self, stream: io.BufferedReader, progress: Callable[[int], object]) -> None:
        self._stream, self._progress = stream, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._stream.readinto1(buffer)
        self._progress(count)
        return count


def _silent(_: int) -> None:
    pass


def _beginning(stream: io.BufferedReader) -> bytes:
    """Return text from the start of a stream without reading on, perhaps less than there is."""
    head = stream.peek()
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 1 << 12)
        except zlib.error:
            return b""
    return head.removeprefix(_BYTE_ORDER_MARK).lstrip()


def _one_by_one(
    stream: io.BufferedReader, shown: str, alphabet: Alphabet, unknown: str | None
) -> Iterator[Entry]:
    for record in _records(stream, shown):
        codes = alphabet.encode(record.letters, name=record.id, unknown=unknown)
        yield Entry(record.id, record.description, codes.tobytes())


def _blockwise(
    stream: io.BufferedReader, shown: str, alphabet: Alphabet, unknown: str | None
) -> Iterator[Entry]:
    if stream.peek(2).startswith(_GZIP):
        stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), 1 << 17)
    _skip_blank(stream)
    table = bytes(_code(alphabet, bytes([character])) for character in range(256))
    for number, (title, lines) in enumerate(_split(stream), start=1):
        first, description = [*title.decode("utf-8", "replace").split(None, 1), "", ""][:2]
        name = first or f"record {number}"
        codes = b"".join([part.translate(table, _WHITE) for part in lines])
        if _STRANGER in codes:
            letters = _letters(b"".join(lines), name, shown)
            codes = alphabet.encode(letters, name=name, unknown=unknown).tobytes()
        yield Entry(name, description.rstrip(), codes)


def _split(stream: io.BufferedReader) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield the title and the lines, in one part or several, of each record of FASTA."""
    stream.read(1)  # the first ">"
    before = b""
    parts: list[bytes] = []
    while block := stream.read(_BLOCK):
        block += stream.readline()
        # Blank lines mean nothing, so that all ends of lines can become the same.
        first, *others = (before + block.replace(b"\r", b"\n")).split(b"\n>")
        before = b"\n"
        parts.append(first)
        for other in others:
            yield _titled(parts)
            parts = [other]
    yield _titled(parts or [b""])


def _titled(parts: list[bytes]) -> tuple[bytes, list[bytes]]:
    title, _, parts[0] = parts[0].partition(b"\n")
    return title, parts


def _letters(lines: bytes, name: str, shown: str) -> str:
    """Return letters as the common reader does, where bytes alone do not tell what they are."""
    letters = "".join(lines.decode("utf-8", "replace").split())
    if not letters.isascii():
        at = next(k for k, letter in enumerate(letters) if not letter.isascii())
        raise ValueError(f"{shown}: {name}: {letters[at]!a} at position {at + 1} is not a letter")
    return letters


def _code(alphabet: Alphabet, character: bytes) -> int:
    try:
        return int(alphabet.encode(character)[0])
    except ValueError:
        return _STRANGER
