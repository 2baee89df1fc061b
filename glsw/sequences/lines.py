"""Used by readers of all kinds of files: errors that name file and line; checksums of text."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain

from glsw.words import numbered

_GZIP = b"\x1f\x8b"


class UnknownLetterError(ValueError):
    """A sequence has a letter outside the alphabet, and ``unknown`` is not given.

    Parameters
    ----------
    message : str
    advice : str
        The scoring that takes the letters of the sequence, if there is one.

    Attributes
    ----------
    place : tuple of (str, str, int), optional
        Name of the sequence, letter, and position from 1, to find its line in a file.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message, advice)
        self.place: tuple[str, str, int] | None = None

    def __str__(self) -> str:
        return "; ".join(filter(None, self.args))


def checksum(text: str) -> str:
    r"""Return the CRC-32 of a text as eight digits.

    >>> checksum("a line\n")
    '17fb2f0a'
    """
    return f"{zlib.crc32(text.encode('utf-8')):08x}"


def sealed(lines: str) -> str:
    r"""Return lines with one behind them: how many they are, and their checksum.

    >>> sealed("a line\n")
    'a line\nend of 1 line, CRC-32 17fb2f0a\n'
    """
    return f"{lines}end of {numbered(lines.count(chr(10)), 'line')}, CRC-32 {checksum(lines)}\n"


def unsealed(text: str) -> str:
    """Return the lines that `sealed` got.

    Raises
    ------
    ValueError
        If the text is not complete, or not as it was written.
    """
    lines = text[: text.rfind("\n", 0, -1) + 1]
    if sealed(lines) != text:
        raise ValueError("damaged, cut off or edited: its last line does not fit the others")
    return lines


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to errors of the system that name no file, as those of reading and writing."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextmanager
def located(*sources: object) -> Iterator[None]:
    """Add file and line to the error of a letter, if one of the sources is its file.

    Parameters
    ----------
    *sources : path, list of paths, or any other object
        A str is no path.
    """
    try:
        yield
    except UnknownLetterError as error:
        if error.place is not None:
            listed = (each if isinstance(each, list | tuple) else [each] for each in sources)
            for path in chain.from_iterable(listed):
                if isinstance(path, os.PathLike) and (line := line_of(path, *error.place)):
                    message, *advice = error.args
                    raise UnknownLetterError(f"{path}:{line}: {message}", *advice) from None
        raise


def line_of(path: str | os.PathLike[str], name: str, letter: str, position: int) -> int | None:
    """Return the number of the line, from 1, of a letter of a record; None if it is not there.

    Parameters
    ----------
    path : path
        A regular file, FASTA or FASTQ of four lines per record, plain or gzip.
    name : str
        The id of the record.
    letter : str
    position : int
        From 1.
    """
    import gzip

    if not os.path.isfile(path):
        return None
    with suppress(OSError, EOFError, zlib.error), open(path, "rb") as file:
        packed = file.read(2) == _GZIP
        file.seek(0)
        stream = gzip.GzipFile(fileobj=file) if packed else file
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
        return _line_of(lines, name, letter, position)
    return None


def _line_of(lines: Iterable[str], name: str, letter: str, position: int) -> int | None:
    mark, record, inside, seen = "", 0, False, 0
    for number, line in enumerate(lines, start=1):
        if not mark and line.strip():
            mark, first = line[0], number
            if mark not in ">@":
                return None
        if not mark:
            continue
        of_four = (number - first) % 4 if mark == "@" else -1
        if of_four == 0 or (of_four < 0 and line.startswith(mark)):
            record += 1
            inside, seen = (line[1:].split() or [f"record {record}"])[0] == name, 0
        elif inside and of_four < 2:
            letters = "".join(line.split())
            if letters[position - 1 - seen : position - seen] == letter[0] and position > seen:
                return number
            seen += len(letters)
    return None
