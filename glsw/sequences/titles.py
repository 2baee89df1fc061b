"""Ids and descriptions of many sequences in one array of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""The white space of ASCII, as of `str.split`."""
_IS_WHITE = bytes(character in WHITE for character in range(256))


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

    def __init__(self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.text, self.offsets = text, offsets

    @staticmethod
    def of(lines: bytes, sizes: npt.NDArray[np.int64], before: int) -> Titles:
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

    def fits(self, count: int) -> bool:
        """Return whether these are the titles of ``count`` sequences."""
        return len(self.offsets) == 2 * count + 1 and self.offsets[-1] == len(self.text)


def offsets_of(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where each of several things of these lengths begins, and the end of the last.

    >>> offsets_of(np.array([3, 2])).tolist()
    [0, 3, 5]
    """
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def joined_offsets(parts: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return the offsets of several arrays one after the other.

    >>> joined_offsets([np.array([0, 3, 5]), np.array([0, 4])]).tolist()
    [0, 3, 5, 9]
    """
    return offsets_of(np.concatenate([np.diff(part) for part in parts]))


def _split(lines: bytes, before: int) -> Titles:
    """Return the titles of lines one by one."""
    parts: list[bytes] = []
    for number, line in enumerate(lines.split(b"\n")[:-1], start=before + 1):
        words = line.decode("utf-8", "replace").split(None, 1) or [f"record {number}"]
        description = words[1].rstrip() if len(words) > 1 else ""
        parts += words[0].encode("utf-8"), description.encode("utf-8")
    lengths = np.array([len(part) for part in parts], np.int64)
    return Titles(np.frombuffer(b"".join(parts), np.uint8), offsets_of(lengths))
