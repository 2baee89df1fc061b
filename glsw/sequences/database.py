"""Sequences indexed once and searched often: encoded, sorted by length, in one file.

`database_file` has the format of the file. It is written under another name and takes its own when
it is complete and on the disk.
"""

from __future__ import annotations

import operator
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.arrays import Codes, Int64
from glsw.sequences import database_writer as writer
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet
from glsw.sequences.database_file import VERSION, DatabaseFile, Substituted, masks
from glsw.sequences.encoded import (
    Sequences,
    bounds_of,
    gathered,
    offsets_of,
    part_of,
    sorted_by_length,
)
from glsw.sequences.fasta import blocks
from glsw.sequences.lines import located, naming
from glsw.sequences.named import codes_of
from glsw.sequences.nucleic import LETTERS_TO_TELL, Kind, judge, kind_of, warn
from glsw.sequences.paired_alphabet import STRUCTURE, PairedAlphabet, second_alphabet
from glsw.sequences.query import Context, InContext
from glsw.sequences.records import EncodedRecord, Record, Records
from glsw.sequences.sections import BLOCK, DatabaseError, Path
from glsw.sequences.seg import Seg, check_seg
from glsw.sequences.stored import StoredSequences
from glsw.sequences.tiles import cut
from glsw.sequences.tracks import paired_blocks
from glsw.words import suggesting

_ALL = slice(None)
Numbers: TypeAlias = npt.NDArray[np.integer[Any]]
_MANY = 64  # if one in so many is wanted, all are read
_ROOM_OF_SHOWN, _LETTERS_OF_SHOWN = 2**24, 2**10  # letters of those kept; each takes more memory


class Database:
    """Encoded sequences sorted by descending length, in memory or mapped from a file.

    Created by `makedb` and `open`, or by `of`. Records are addressed by input order, codes by rank
    in length order. A database from a file is pickled as the path of the file, which other
    processes map again.

    Attributes
    ----------
    alphabet : Alphabet
        The letters of the codes.
    order : ndarray of integers, shape (N,)
        Input positions of the sorted sequences; equal lengths keep the input order.
    rank : ndarray of integers, shape (N,)
        Ranks in length order of the sequences in input order.
    substituted : Counter of str
        Counts of letters replaced by others, see `Alphabet.substitutes`.

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
        count: int,
        residues: int,
        records: Records | None,
        file: DatabaseFile | None = None,
    ) -> None:
        self.alphabet, self.residues = alphabet, residues
        self._count, self._records, self._file = count, records, file
        self._shown, self._room = dict[int, InContext](), _ROOM_OF_SHOWN
        self._exceptions = file.substituted() if file else Substituted()
        self.substituted = self._exceptions.counted()

    @classmethod
    def open(cls, path: Path) -> Database:
        """Open a file that `makedb` wrote.

        This takes the same time for any size: data are read, and compared with their checksums,
        when they are needed, see `database_file`. The file may be deleted or replaced meanwhile.

        Raises
        ------
        OSError
            If the file cannot be opened.
        DatabaseError
            If it is not a database, is truncated or corrupt, or was written on a machine with
            the other byte order or by another version; one line naming the path. It is a
            ValueError. Reading further parts of the file may raise it too.
        """
        file = DatabaseFile(path)
        return cls(file.alphabet, file.count, file.residues, None, file)

    @classmethod
    def of(
        cls, records: Iterable[Record], alphabet: Alphabet, unknown: str | None = None
    ) -> Database:
        """Return a database in memory, which returns its records unchanged.

        Raises
        ------
        ValueError
            As `Alphabet.encode`, naming the record.
        """
        records, found = Records.of(records), Counter[str]()
        encoded = codes_of(records, alphabet, unknown, found)
        codes, lengths = encoded.residues, encoded.lengths
        order, rank = sorted_by_length(lengths)
        offsets = offsets_of(lengths[order])
        residues = np.empty_like(codes)
        gathered(codes, encoded.offsets[order], lengths[order], residues)
        database = cls(alphabet, len(order), len(codes), records)
        database.__dict__.update(order=order, rank=rank, offsets=offsets)
        database.__dict__.update(sequences=Sequences(residues, offsets))
        database.substituted = found
        return database

    @property
    def size(self) -> tuple[int, int]:
        """The number of sequences, and of residues, that E-values are computed with."""
        return len(self), self.residues

    @property
    def given(self) -> Database:
        """The database as passed by the user: itself, unless it is translated."""
        return self

    @property
    def frames(self) -> tuple[int, ...]:
        """The reading frames of each sequence that is given: 0, not translated.

        Sequence ``number`` is one of ``given[number // len(frames)]``.
        """
        return (0,)

    def shown(self, number: int) -> InContext:
        """Return a sequence by its input position, as results show it; many are kept."""
        kept, found = self._shown, self._shown.get(number)
        if found is None:
            record = self[number]
            found = InContext(record, Context(len(record.codes)), record)
            self._room -= len(record.codes) + _LETTERS_OF_SHOWN
            if self._room < 0:
                kept, self._room = {}, _ROOM_OF_SHOWN
                self._shown = kept
            kept[number] = found
        return found

    def read_ahead(self) -> None:
        """Begin to read, in a thread, what a search needs; what is wrong is an error only then.

        That is lengths and numbers of the sequences; the system reads residues.
        """

        def read(file: DatabaseFile) -> None:
            with suppress(OSError, ValueError, MemoryError):  # also of a file closed at the end
                file.read_ahead()
                for name in "offsets", "order":
                    getattr(self, name)

        if self._file:
            threading.Thread(target=read, args=[self._file], name="glsw-read", daemon=True).start()

    @property
    def path(self) -> str | None:
        """The file, an absolute path, or None."""
        return self._file.path if self._file else None

    @property
    def stamp(self) -> int | None:
        """Checksum of the file's table of contents, which covers all sections, or None."""
        return self._file.stamp if self._file else None

    @property
    def records(self) -> Records | None:
        """The records as they were given, or None if there is a file."""
        return self._records

    @property
    def version(self) -> int | None:
        """The format of the file, or None."""
        return VERSION if self._file else None

    @property
    def reopens(self) -> bool:
        """Whether there is a file, and its path still leads to it."""
        return self._file is not None and self._file.has_its_name()

    @cached_property
    def order(self) -> Numbers:
        """Input positions of the sorted sequences; equal lengths keep the input order."""
        assert self._file
        order = self._file.numbers("order")
        if len(order) and order.max() >= len(order):
            raise self._file.corrupt("order")
        return order

    @cached_property
    def rank(self) -> Numbers:
        """Ranks in length order of the sequences in input order."""
        assert self._file
        return self._checked(self._file.numbers("rank"), np.arange(self._count))

    def places(self, numbers: Int64) -> Int64:
        """Return ranks of sequences by their input positions; only few of them are read."""
        if self._file is None or "rank" in self.__dict__ or numbers.size * _MANY > self._count:
            return self.rank[numbers].astype(np.int64)
        few = numbers.ravel()
        found = self._checked(self._file.numbers("rank", few), few)
        return found.astype(np.int64).reshape(numbers.shape)

    def _checked(self, ranks: Numbers, numbers: Int64) -> Numbers:
        assert self._file
        if len(ranks) and ranks.max() >= self._count:
            raise self._file.corrupt("rank")
        if not np.array_equal(self.order[ranks], numbers):
            raise self._file.corrupt("order or rank")
        return ranks

    @cached_property
    def offsets(self) -> Int64:
        """Where each sorted sequence begins, and the end of the last; shape (N + 1,)."""
        assert self._file
        return self._file.offsets()

    @property
    def lengths(self) -> Int64:
        """Lengths of the sorted sequences in residues, shape (N,), descending."""
        return np.diff(self.offsets)

    def lengths_at(self, places: Int64) -> Int64:
        """Return the lengths of some sorted sequences."""
        lengths: Int64 = self.offsets[places + 1] - self.offsets[places]
        return lengths

    @cached_property
    def sequences(self) -> Sequences:
        """All sequences, sorted by descending length."""
        assert self._file
        return StoredSequences(self._file, self.offsets)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> EncodedRecord:
        """Return a record by its original number; letters are decoded when asked for."""
        k = operator.index(number)
        if not -self._count <= k < self._count:
            raise IndexError(f"sequence {k} of {self._count}")
        k, letters = k % self._count, None
        if self._file:
            name, description = self._file.titles[k]
        else:
            assert self._records is not None
            record = self._records[k]
            name, description, letters = record.id, record.description, record.letters
        place = int(self.places(np.array([k]))[0])
        made = EncodedRecord.shown(name, description, self.codes(place), self.alphabet, letters)
        if letters is None:
            start = int(self.offsets[place])
            made.restore(self._exceptions.restored(made.codes, start, made.alphabet))
        return made

    def codes(self, place: int, columns: slice = _ALL) -> Codes:
        """Return the codes of a sequence by its rank in length order."""
        first, end = self.offsets[place : place + 2].tolist()
        start, stop, _ = columns.indices(end - first)
        if self._file is None:
            return self.sequences.residues[first + start : first + stop]
        found = self._file.codes(first + start, first + stop)
        return found.copy() if len(found) < BLOCK else found  # not what was read around a few

    def names_and_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield the id and the length of each record, in input order; no residues are read.

        >>> records = Record("a", "", "MKV"), Record("b", "", "MKVLA")
        >>> list(Database.of(records, PROTEIN).names_and_lengths())
        [('a', 3), ('b', 5)]
        """
        lengths = self.lengths[self.rank] * self.alphabet.shown.width
        named: Any = self._file.titles if self._file else self._records
        names = named if self._file else named.names_and_lengths()
        for (name, _), length in zip(names, lengths.tolist(), strict=True):
            yield name, length

    def __iter__(self) -> Iterator[EncodedRecord]:
        """Yield the records in the original order."""
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        where = f" {self.path}" if self.path else ""
        return (
            f"<Database{where} of {len(self)} sequences, {self.residues} residues, "
            f"{self.alphabet.name} alphabet>"
        )

    def part(self, part: slice) -> Sequences:
        """Return a slice of the sorted sequences; those of a file are read when they are needed."""
        if self._file is None or "residues" in self.sequences.__dict__:
            return part_of(self.sequences.residues, self.offsets, part)
        return StoredSequences(self._file, bounds_of(self.offsets, part))

    def parts(self, residues: int, within: slice = _ALL) -> Iterator[slice]:
        """Yield slices for `part` that are ``within`` a slice, see `Sequences.parts`."""
        return cut([self.offsets], [residues], within)

    def select(self, places: Iterable[int]) -> Sequences:
        """Return copies of some sequences by their ranks in length order."""
        return self.sequences.select([*places])

    def check(self, alphabet: Alphabet) -> None:
        """Raise ValueError unless codes mean the same letters in ``alphabet``.

        If it masks lower-case letters, the alphabet of the database has to do so too.
        """
        if self.alphabet.letters != alphabet.letters:
            raise ValueError(
                f"{self.path or 'the database'}: its alphabet is {_listed(self.alphabet)}, "
                f"that of the scoring is {_listed(alphabet)}"
            )
        if masks(alphabet) and not masks(self.alphabet):
            raise ValueError(
                f"{self.path or 'the database'}: lower case is not masked: index it with "
                "--lower-case-mask, in Python lower_case_mask=True"
            )

    def verify(self) -> None:
        """Read the whole file and raise DatabaseError if anything in it is damaged."""
        if self._file:
            self._file.verify()
            assert (len(self.offsets), len(self.rank)) == (self._count + 1, self._count)
            self._file.titles.whole()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not the sequences that were shown."""
        return {**self.__dict__, "_shown": {}, "_room": _ROOM_OF_SHOWN}

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        if self._file:
            return _reopen, (self._file.path, self._file.stamp)
        return super().__reduce_ex__(protocol)


@suggesting
def makedb(
    sources: Path | Iterable[Path],
    out: Path,
    *,
    alphabet: Alphabet | None = None,
    unknown: str | None = None,
    lower_case_mask: bool = False,
    seg: bool = False,
    second_track: Path | None = None,
    second_letters: str = STRUCTURE,
    force: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Database:
    """Index sequence files as a database file, and return the database, mapped from this file.

    Parameters
    ----------
    sources : path, or iterable of paths
        FASTA or FASTQ, plain or gzip; ``"-"`` is standard input.
    out : path
        The file to write. It appears when it is complete; until then, and after an error,
        a database of this name stays as it was.
    alphabet : Alphabet, optional
        The alphabet of the scoring that searches will use. By default `DNA` if the first letters of
        each file look like nucleic acid, otherwise `PROTEIN`, see
        `glsw.sequences.nucleic.kind_of`.
    unknown : str, optional
        Replacement for letters outside the alphabet, which are otherwise an error.
    lower_case_mask : bool
        Whether lower-case letters are stored as the wildcard, X or N.
    seg : bool
        Whether low-complexity segments of proteins are, see `glsw.sequences.seg`.
    second_track : path, optional
        A file with the second letters: records with the same names and lengths, in the order of the
        only source.
    second_letters : str
        The letters of their matrix, in any order; 3Di and X by default.
    force : bool
        Whether ``out`` may overwrite a file that is not a database.
    progress : callable, optional
        Called with the number of bytes just read from the sources.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    ValueError
        As for `glsw.read` and `Alphabet.encode`; if ``out`` must not be overwritten; if letters are
        to be masked and the alphabet has no X or N, as with two tracks; if the tracks differ in
        names or lengths; without an alphabet, if some files are nucleic acid and others proteins.

    Warns
    -----
    KindWarning
        If the letters were taken as DNA.
    RuntimeWarning
        Once, if letters count as others, see `Alphabet.substitutes`: how many of each. The
        database returns them unchanged, in upper case.

    Notes
    -----
    Needs disk space for the residues twice in the folder of ``out``, and 20 bytes of memory per
    sequence besides 0.5 GB at most. A killed process (SIGKILL) may leave a ``.part`` file there,
    which is not a database.
    """
    files = [sources] if isinstance(sources, (str, os.PathLike)) else sources
    inputs = paths = [os.fspath(path) for path in files]
    read, out, width = blocks, os.fspath(out), 1
    if second_track is not None:
        if len(paths) != 1:
            raise ValueError(f"a second track is of one source, not of {len(paths)}")
        inputs = [*paths, os.fspath(second_track)]
        read, width = partial(paired_blocks, second=inputs[1]), 2

    def checked(alphabet: Alphabet) -> Alphabet:
        """Return the alphabet of both tracks, or with masks."""
        if second_track is not None:
            alphabet = PairedAlphabet.of(alphabet, second_alphabet(second_letters))
        check_seg(alphabet, seg)
        if lower_case_mask or seg:
            alphabet = alphabet.lower_case_masked()
        alphabet.encode("", unknown=unknown)
        return alphabet

    if alphabet is not None:
        alphabet = checked(alphabet)
    writer.check_sources(inputs)
    writer.check_out(out, inputs, force)
    parts: Iterator[Iterator[Records]] = (read(path, progress=progress) for path in paths)
    if alphabet is None:
        alphabet, parts = _alphabet_of(parts, paths, width)
        alphabet = checked(alphabet)
    out = os.path.realpath(out)
    records = (block for each in parts for block in each)
    if seg:
        records = (Seg().lowered(each, keep_lower=lower_case_mask) for each in records)
    with (
        located([FilePath(path) for path in paths]),
        naming(out),
        writer.spool_of(out) as spool,
        writer.appearing(out) as file,
    ):
        writer.write(file, records, alphabet, unknown, spool)
    database = Database.open(out)
    alphabet.warn_of_substitutes(database.substituted)
    return database


def _listed(alphabet: Alphabet) -> str:
    if isinstance(alphabet, PairedAlphabet):
        return f"{_listed(alphabet.first)} and {_listed(alphabet.second)}"
    letters = alphabet.letters
    shown = letters if isinstance(letters, str) else f"{letters[0]} ... {letters[-1]}"
    return f"{alphabet.name} ({shown})"


def _reopen(path: str, stamp: int) -> Database:
    database = Database.open(path)
    if database._file is None or database._file.stamp != stamp:
        raise DatabaseError(f"{path}: the database has changed since it was opened")
    return database


def _alphabet_of(
    files: Iterator[Iterator[Records]], paths: list[str], width: int
) -> tuple[Alphabet, Iterator[Iterator[Records]]]:
    """Return DNA if the letters of the first file are nucleic acid, else PROTEIN; and all files.

    The others are looked at when they are read: they have to be alike.
    """
    kind, first = _ahead(next(files), width)

    def alike() -> Iterator[Iterator[Records]]:
        yield first
        for path, each in zip(paths[1:], files, strict=True):
            other, blocks = _ahead(each, width)
            if mixed := judge({paths[0]: kind, path: other}).mixed:
                raise ValueError(
                    f"{mixed[0]} looks like nucleic acid, but {mixed[1]} like protein: give the "
                    "alphabet, or make two databases"
                )
            yield blocks

    if kind.nucleic:
        warn(
            f"{paths[0]} looks like nucleic acid, so the database has the alphabet glsw.DNA: pass "
            "it to silence this, or glsw.PROTEIN for proteins"
        )
    return DNA if kind.nucleic else PROTEIN, alike()


def _ahead(blocks: Iterator[Records], width: int) -> tuple[Kind, Iterator[Records]]:
    """Return what the first letters of a file are, and all its blocks."""
    read: list[Records] = []
    while sum(each.size for each in read) < width * LETTERS_TO_TELL:
        if (block := next(blocks, None)) is None:
            break
        read.append(block)

    def every() -> Iterator[Records]:
        while read:  # the memory of what is written is free
            yield read.pop(0)
        yield from blocks

    return kind_of(
        each.joined_letters()[: width * LETTERS_TO_TELL : width].tobytes() for each in read
    ), every()
