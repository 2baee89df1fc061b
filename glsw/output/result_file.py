"""Result files that are written atomically; a run that was interrupted can be resumed.

Results are written to ``FILE.part``, which takes the name ``FILE`` when it is complete. Until then
an old ``FILE`` remains as it is. Beside it ``FILE.part.journal`` says how far whole results reach:
a line of JSON with the fingerprint of the run, and further lines of three numbers, the results so
far, their bytes and the CRC-32 of these bytes. Each line ends with its own CRC-32. Both are only
appended to, the results first, so that after a kill at any moment the last line that fits the
results tells where to go on. Of names that would be too long the last letters are a digest, always
the same one.
"""

from __future__ import annotations

import io
import json
import os
import stat
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

from glsw.output.part_file import PartFile, check_regular, open_regular
from glsw.search.fingerprint import Fingerprint, differences, json_object
from glsw.sequences.database_writer import beside
from glsw.sequences.lines import checksum

_BUFFER = 1 << 18
_SECONDS_BETWEEN_SYNCS = 10.0  # a disk may take 0.1 s for one
_SECONDS_BETWEEN_MARKS = 1.0


class Point(NamedTuple):
    """A place in a file of results where a whole result ends."""

    results: int = 0
    size: int = 0
    crc: int = 0


class OtherRunError(ValueError):
    """The results left by an earlier run have another fingerprint."""


def is_replaced(path: Path) -> bool:
    """Return whether a file of results is written beside this path, and replaces it.

    It is written in place if it is no regular file (a pipe, a device, also by the names
    ``/dev/stdout`` and ``/dev/fd/3``), belongs to another user, or its folder takes no new file.
    """
    if Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",)):
        return False
    path = Path(os.path.realpath(path))
    if not os.access(path.parent, os.W_OK):
        return False
    try:
        status = path.stat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_uid == getattr(os, "geteuid", int)()


class ResultFile:
    """A file of results: a context whose end gives it its name, unless it ends with an error.

    Parameters
    ----------
    path : path
        The file. If it is a symbolic link, what that leads to is replaced. The new file has the
        permissions of the old one; hard links keep the old contents.
    fingerprint : callable, optional
        Returns the `Fingerprint` of the run; without it no run can go on with what is left. It is
        called once, when the first journal is due or in `resume`.
    patience : float
        Seconds from the opening on before there is a journal: 100 times what ``fingerprint`` takes.

    Attributes
    ----------
    stream : TextIO
        To write to, UTF-8, in a ``with`` block.
    part : Path
        The file as long as it is not complete.
    resumable : bool
        Whether a run can go on with what is left.
    left : bool
        Whether the block ended early, so that this file remains.

    Raises
    ------
    OSError
        If the file cannot be opened or written; it names the file.
    ValueError
        If another process writes this file now.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "hits.tsv")
    ...     with ResultFile(path) as file:
    ...         _ = file.stream.write("a hit")
    ...         print(sorted(each.name for each in Path(folder).iterdir()))
    ...     print(sorted(each.name for each in Path(folder).iterdir()), path.read_text())
    ['hits.tsv.part']
    ['hits.tsv'] a hit
    """

    stream: TextIO

    def __init__(
        self,
        path: str | os.PathLike[str],
        fingerprint: Callable[[], Fingerprint] | None = None,
        patience: float = 0.0,
    ) -> None:
        self._path = Path(os.path.realpath(path) if os.path.islink(path) else path)
        self.part = Path(beside(self._path, ".part"))
        self._journal_path = Path(beside(self._path, ".part.journal"))
        self._fingerprint, self._patience = fingerprint, patience
        self.resumable = fingerprint is not None
        self._made: Fingerprint | None = None
        self._journal: io.FileIO | None = None
        self._point = Point()
        self.left = False

    def resume(self) -> int:
        """Go on with what an earlier run left; return its whole results, 0 if nothing fits.

        Raises
        ------
        OtherRunError
            If it was a run of another fingerprint; it says what differs.
        """
        assert self._fingerprint
        try:
            with open(self._journal_path, "rb", opener=open_regular) as journal:
                first, *lines = map(_whole, journal.read().decode("ascii").split("\n")[:-1])
            left = json_object(first.encode("ascii"))
            points = [Point(*map(int, line.split())) for line in lines]
            with open(self.part, "rb", opener=open_regular) as part:
                point = _last_whole(part, points)
        except (FileNotFoundError, ValueError, TypeError):
            return 0
        self._made = self._fingerprint()
        if differing := differences(left, self._made):
            raise OtherRunError(f"{self.part} is of another run: {differing}")
        self._point = point
        return point.results

    def check(self) -> None:
        """Raise OSError if a link or a pipe is in the place of a file that is to be written."""
        check_regular(self.part)
        check_regular(self._journal_path)

    def __enter__(self) -> ResultFile:
        self.check()
        self._raw = PartFile(self.part, self._point.size, self._point.crc)
        try:
            with suppress(OSError):
                self._raw.adopt(self._path.stat().st_mode)
            self._begun = self._marked = self._synced = time.monotonic()
            if not self._point.results:
                self._journal_path.unlink(missing_ok=True)
            self.stream = io.TextIOWrapper(
                io.BufferedWriter(self._raw, _BUFFER), "utf-8", "backslashreplace"
            )
        except BaseException:
            self._raw.close()
            raise
        return self

    def is_due(self) -> bool:
        """Return whether `mark` was not called for a while."""
        return time.monotonic() - self._marked >= _SECONDS_BETWEEN_MARKS

    def mark(self, results: int) -> None:
        """Flush what was written: this many whole results, counted from the first run."""
        self.stream.flush()
        now = self._marked = time.monotonic()
        if self._fingerprint is None or now - self._begun < self._patience:
            return
        if self._journal is None:
            self._journal = self._opened_journal(self._made or self._fingerprint())
        if now - self._synced >= _SECONDS_BETWEEN_SYNCS:
            os.fsync(self._raw.fileno())
            self._synced = now
        point = results, self._raw.size, self._raw.crc
        self._journal.write(_line(" ".join(map(str, point))).encode("ascii"))

    def _opened_journal(self, fingerprint: Fingerprint) -> io.FileIO:
        """Return a journal, as far as the results reach that were there when this run began."""
        lines = [
            json.dumps(dict(fingerprint)),
            *[" ".join(map(str, self._point))][: self._point.results],
        ]
        new = Path(beside(self._path, ".part.journal.new"))
        new.unlink(missing_ok=True)
        with new.open("x", encoding="ascii") as file:
            file.writelines(map(_line, lines))
        new.replace(self._journal_path)
        return io.FileIO(self._journal_path, "a", opener=open_regular)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            self.left = True
            self.stream.flush()
            if error is None:
                if time.monotonic() - self._begun >= _SECONDS_BETWEEN_SYNCS:
                    os.fsync(self._raw.fileno())
                self.left = False
        except OSError:
            if error is None:
                raise
        finally:
            if self.left and not self._journal:
                self._raw.drop_if_empty()
            with suppress(OSError):
                self.stream.close()
            self._raw.close()
            if self._journal:
                self._journal.close()
        if error is None:
            self.part.replace(self._path)
            self._journal_path.unlink(missing_ok=True)


def _line(text: str) -> str:
    """Return a line of a journal."""
    return f"{text} {checksum(text)}\n"


def _whole(line: str) -> str:
    """Return the text of a line without its end; ValueError if it is damaged."""
    text = line.rpartition(" ")[0]
    if _line(text) != f"{line}\n":
        raise ValueError("a damaged line")
    return text


def _last_whole(part: io.BufferedReader, points: list[Point]) -> Point:
    """Return the last of the points up to which the contents of a file are as they were."""
    last, size, crc = Point(), 0, 0
    for point in points:
        while size < point.size and (data := part.read(min(_BUFFER, point.size - size))):
            size, crc = size + len(data), zlib.crc32(data, crc)
        if (size, crc) != (point.size, point.crc) or point.results < last.results:
            break
        last = point
    return last
