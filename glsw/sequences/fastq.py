"""Records of FASTQ: those of four lines are read at once, others by Biopython."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

_LINES_PER_READ = 1 << 14


def records(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    r"""Yield titles, letters and qualities of records, as Biopython's `FastqGeneralIterator`.

    From the first record that has not four lines, Biopython reads: its readers take 0.1 s to
    import.

    Parameters
    ----------
    lines : iterable of str
        With line feeds at their ends.

    Raises
    ------
    ValueError
        If they are not FASTQ.

    Examples
    --------
    >>> list(records(["@a b\n", "ACGT\n", "+\n", "IIII\n", "@c\n", "AC\n", "GT\n", "+\n", "IIII"]))
    [('a b', 'ACGT', 'IIII'), ('c', 'ACGT', 'IIII')]
    """
    rest = iter(lines)
    before: list[str] = []  # a record that ends if the next line is a title
    while some := list(islice(rest, _LINES_PER_READ)):
        at = 0
        while at + 4 <= len(some) and _has_four_lines(*(record := some[at : at + 4])):
            if before:
                yield _parts(before)
            before = record
            at += 4
        if at < len(some):
            from Bio.SeqIO.QualityIO import FastqGeneralIterator

            text: Any = _Text(chain(before, some[at:], rest))
            yield from FastqGeneralIterator(text)
            return
    if before:
        yield _parts(before)


def _parts(record: list[str]) -> tuple[str, str, str]:
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


class _Text:
    """Lines as what Biopython reads of a file."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def read(self, size: int) -> str:
        return ""

    def readline(self) -> str:
        return next(self._lines, "")
