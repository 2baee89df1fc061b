r"""Sequences indexed once and searched often: encoded, sorted by length, mapped from one file.

The file, format version 2, numbers in the byte order of the machine that wrote it:

======  ======  ==================================================================================
offset  bytes   preface
======  ======  ==================================================================================
0       8       magic: 89 47 4C 53 57 0D 0A 1A (``\x89GLSW\r\n\x1a``)
8       4       byte-order mark 0x01020304
12      4       format version
16      8       offset of the table of contents, which ends the file
24      8       bytes of the table of contents
32      4       CRC-32 of the table of contents
36      4       CRC-32 of the 36 bytes before
======  ======  ==================================================================================

The table of contents is JSON in UTF-8, an object of

- ``alphabet``: its ``name``, ``letters``, ``aliases`` and ``ambiguous`` letters, as in
  `glsw.Alphabet`; if lower-case letters were masked, they are aliases of the wildcard;
- ``sequences`` and ``residues``: how many there are;
- ``program`` and ``created``: what wrote the file and when;
- ``sections``: for each by name its ``offset``, its length in ``bytes``, and its ``crc32``.

Sections start at multiples of 64 bytes. With N sequences they are

==============  ========  ============================================================  ========
section         number    what                                                          shape
==============  ========  ============================================================  ========
titles          bytes     id and description of each sequence, in the original order,   (any,)
                          UTF-8, nothing between them
title_offsets   int64     where each of these begins, and the end of the last           (2 N + 1,)
order           int64     original numbers, from 0, of the sequences sorted by          (N,)
                          descending length, equal ones in the original order
rank            int64     the inverse: where each sequence is among the sorted          (N,)
offsets         int64     where each sorted sequence begins, and the end of the last    (N + 1,)
substituted_at  int64     where letters that count as others are among the residues     (K,)
substituted     uint8     these letters, ASCII in upper case, such as U that counts     (K,)
                          as C, see `glsw.Alphabet.substitutes`
residues        uint8     codes of the sorted sequences, nothing between them           (residues,)
==============  ========  ============================================================  ========

Version 1 has no sections ``substituted_at`` and ``substituted``; :meth:`Database.open` reads both.

A file is written under another name and takes its own when it is complete and on the disk.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import PROTEIN, Alphabet
from glsw.sequences.database_file import (
    _NUMBERS,
    _PATHS,
    _appearing,
    _check_out,
    _File,
    _gathered,
    _letters,
    _masks,
    _Path,
    _sorted,
    _Substituted,
    _write,
)
from glsw.sequences.encoded import Sequences, part_of
from glsw.sequences.fasta import blocks
from glsw.sequences.records import EncodedRecord, Record, Records, codes_of
from glsw.sequences.titles import Titles, offsets_of


class Database:
    """Encoded sequences sorted by descending length, in memory or mapped from a file.

    Made by :func:`makedb` and :meth:`open`, or by :meth:`of`. Sequences have two numbers: the
    original one, by which records are asked for, and the place among the sorted, by which codes
    are. A database of a file is pickled as the path of the file, which other processes map again.

    Attributes
    ----------
    alphabet : Alphabet
        The letters of the codes.
    order : ndarray of int64, shape (N,)
        Original numbers of the sorted sequences; equal lengths keep the original order.
    rank : ndarray of int64, shape (N,)
        Places among the sorted of the original sequences.
    substituted : Counter of str
        How often letters occur that count as others, see `Alphabet.substitutes`.

    Examples
    --------
    >>> database = Database.of([Record("a", "", "MKV"), Record("b", "long", "MKVLA")], PROTEIN)
    >>> database
    <Database of 2 sequences, 8 residues, protein alphabet>
    >>> database[0]
    EncodedRecord(id='a', description='', letters='MKV')
    >>> database.order.tolist(), database.sequences.lengths.tolist()
    ([1, 0], [5, 3])
    """

    def __init__(
        self,
        alphabet: Alphabet,
        codes: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int64],
        order: npt.NDArray[np.int64],
        rank: npt.NDArray[np.int64],
        titles: Titles | tuple[Record, ...] | Records,
        file: _File | None = None,
    ) -> None:
        self.alphabet, self.order, self.rank = alphabet, order, rank
        self._codes, self._offsets, self._titles, self._file = codes, offsets, titles, file
        self._unknown: str | None = None
        self._exceptions = file.substituted() if file else _Substituted()
        self.substituted = self._exceptions.counted()

    @classmethod
    def open(cls, path: _Path) -> Database:
        """Map a file that :func:`makedb` wrote, read-only.

        The time does not depend on the size: residues and titles, and an index of more than
        64 MiB, are compared with their checksums only by :meth:`verify`.

        Raises
        ------
        OSError
            If the file cannot be opened.
        ValueError
            If it is no database, is truncated or corrupt, or was written on a machine of the
            other byte order or by a newer version; one line naming the path.
        """
        file = _File(path)
        sections = {name: file.section(name, np.int64) for name in _NUMBERS}
        codes = file.section("residues", np.uint8)
        titles = Titles(file.section("titles", np.uint8), sections.pop("title_offsets"))
        database = cls(file.alphabet, codes, titles=titles, file=file, **sections)
        database._check_shapes()
        return database

    @classmethod
    def of(
        cls, records: Iterable[Record] | Records, alphabet: Alphabet, unknown: str | None = None
    ) -> Database:
        """Return a database in memory, which gives its records back as they are.

        Raises
        ------
        ValueError
            As `Alphabet.encode`, naming the record.
        """
        if not isinstance(records, Records):
            records = tuple(records)
        codes, lengths, found = codes_of(records, alphabet, unknown)
        order, rank = _sorted(lengths)
        offsets = offsets_of(lengths[order])
        residues, at = np.empty_like(codes), 0
        for part in _gathered(codes.data, lengths, order):
            residues[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        database = cls(alphabet, residues, offsets, order, rank, records)
        database._unknown, database.substituted = unknown, found
        return database

    @property
    def path(self) -> str | None:
        """The file, an absolute path, or None."""
        return self._file.path if self._file else None

    @property
    def residues(self) -> int:
        """How many there are in all."""
        return len(self._codes)

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, number: int) -> EncodedRecord:
        """Return a record by its original number; letters are decoded when asked for."""
        k, count = operator.index(number), len(self.order)
        if not -count <= k < count:
            raise IndexError(f"sequence {k} of {count}")
        k %= count
        letters = None
        if not isinstance(self._titles, Titles):
            record = self._titles[k]
            if unmasked := self.alphabet.unmasked:
                return EncodedRecord.of(record, unmasked, self._unknown)
            name, description, letters = record.id, record.description, record.letters
        else:
            name, description = self._titles[k]
        place = int(self.rank[k])
        if not 0 <= place < count or self.order[place] != k:
            raise self._corrupt("order or rank")
        start, end = self._offsets[place : place + 2].tolist()
        codes = self._codes[start:end]
        if len(codes) and codes.max() >= len(self.alphabet):
            raise self._corrupt("residues")
        if letters is None:
            letters = self._exceptions.restored(codes, start, self.alphabet)
        return EncodedRecord(name, description, codes, self.alphabet, letters)

    def names_and_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the letters of each record, in the original order; no residues are read.

        >>> records = Record("a", "", "MKV"), Record("b", "", "MKVLA")
        >>> list(Database.of(records, PROTEIN).names_and_lengths())
        [('a', 3), ('b', 5)]
        """
        lengths = self.sequences.lengths[self.rank] * self.alphabet.width
        titles = self._titles.titles if isinstance(self._titles, Records) else self._titles
        if isinstance(titles, Titles):
            ids = (name for name, _ in titles)
        else:
            ids = (record.id for record in titles)
        yield from zip(ids, lengths.tolist(), strict=True)

    def __iter__(self) -> Iterator[EncodedRecord]:
        """Yield the records in the original order."""
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        where = f" {self.path}" if self.path else ""
        return (
            f"<Database{where} of {len(self)} sequences, {self.residues} residues, "
            f"{self.alphabet.name} alphabet>"
        )

    @cached_property
    def sequences(self) -> Sequences:
        """All sequences, sorted by descending length; takes a look at each offset."""
        return self.part(slice(None))

    def part(self, part: slice) -> Sequences:
        """Return a slice of the sorted sequences, residues not copied, other offsets not read."""
        try:
            return part_of(self._codes, self._offsets, part)
        except ValueError:
            if part.step not in (None, 1):
                raise
            raise self._corrupt("offsets") from None

    def check(self, alphabet: Alphabet) -> None:
        """Raise ValueError unless codes mean the same letters in ``alphabet``.

        If it is one that masks lower-case letters, that of the database has to be one too.
        """
        if self.alphabet.letters != alphabet.letters:
            raise ValueError(
                f"{self.path or 'the database'}: its alphabet is {_letters(self.alphabet)}, "
                f"that of the scoring is {_letters(alphabet)}"
            )
        if _masks(alphabet) and not _masks(self.alphabet):
            raise ValueError(f"{self.path or 'the database'}: lower case is not masked")

    def verify(self) -> None:
        """Read the whole file and raise ValueError unless each section has its checksum."""
        if self._file:
            self._file.verify(self._file.sections)

    def _check_shapes(self) -> None:
        count, titles = len(self), self._titles
        fits = (
            len(self.rank) == count
            and len(self._offsets) == count + 1
            and self._offsets[0] == 0
            and self._offsets[-1] == self.residues
            and (not isinstance(titles, Titles) or titles.fits(count))
            and self._exceptions.fits(self.residues)
        )
        if not fits:
            raise self._corrupt("table of contents")

    def _corrupt(self, what: str) -> ValueError:
        return ValueError(f"{self.path or 'database'}: corrupt database ({what})")

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        if self._file:
            return _reopen, (self._file.path, self._file.stamp)
        return super().__reduce_ex__(protocol)


def makedb(
    sources: _Path | Iterable[_Path],
    out: _Path,
    *,
    alphabet: Alphabet = PROTEIN,
    unknown: str | None = None,
    lower_case_mask: bool = False,
    force: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Database:
    """Index sequence files in a file that :meth:`Database.open` maps, and return it mapped.

    Parameters
    ----------
    sources : path, or iterable of paths
        FASTA or FASTQ, plain or gzip; ``"-"`` is standard input.
    out : path
        The file to write. It appears when it is complete; until then, and after an error,
        a database of this name stays as it was.
    alphabet : Alphabet
        The letters: those of the scoring that will be used, in the same order.
    unknown : str, optional
        The letter that all others become; without it they are an error.
    lower_case_mask : bool
        Whether lower-case letters become the wildcard, X or N, for good.
    force : bool
        Whether ``out`` may overwrite a file that is no database.
    progress : callable, optional
        Called with the number of bytes just read from the sources.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    ValueError
        As `glsw.read` and `Alphabet.encode`; if ``out`` must not be overwritten; if letters are to
        be masked and the alphabet has no X or N.

    Warns
    -----
    RuntimeWarning
        Once, if letters count as others, see `Alphabet.substitutes`: how many of each. The
        database gives them back as they are, in upper case.

    Notes
    -----
    Takes room for the residues twice in the folder of ``out``, and about 50 bytes of memory a
    sequence. The ``.part`` file that a killed process leaves there is no database.
    """
    import tempfile

    if lower_case_mask:
        alphabet = alphabet.lower_case_masked()
    paths = [os.fspath(p) for p in ([sources] if isinstance(sources, _PATHS) else sources)]
    out = os.fspath(out)
    alphabet.encode("", unknown=unknown)
    _check_sources(paths)
    _check_out(out, paths, force)
    out = os.path.realpath(out)
    records = (Records(each) for path in paths for each in blocks(path, progress=progress))
    with (
        tempfile.TemporaryFile(dir=os.path.dirname(out)) as spool,
        _appearing(out) as file,
    ):
        _write(file, records, alphabet, unknown, spool)
    database = Database.open(out)
    alphabet.warn_of_substitutes(database.substituted, stacklevel=3)
    return database


def _reopen(path: str, stamp: int) -> Database:
    database = Database.open(path)
    if database._file is None or database._file.stamp != stamp:
        raise ValueError(f"{path}: the database has changed since it was opened")
    return database


# writing


def _check_sources(paths: list[str]) -> None:
    if not paths:
        raise ValueError("there is no file to index")
    if paths.count("-") > 1:
        raise ValueError("standard input ('-') can be read only once")
    for path in paths:
        if path != "-":
            os.stat(path)  # an OSError now, not after the files before it
