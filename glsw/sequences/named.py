"""Encoded sequences with their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from glsw.arrays import Codes
from glsw.cores import in_threads
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.file_names import are_errors, like_a_file
from glsw.sequences.records import PIECE, EncodedRecord, Records

_MANY = 4  # pieces, which threads encode while this one joins others


@dataclass(frozen=True, eq=False)
class NamedSequences:
    """Encoded sequences with their ids.

    Parameters
    ----------
    sequences : Sequences
    alphabet : Alphabet
        That of the codes, perhaps with masks.
    records : Records, optional
        None if only codes were given.
    what : str
        The name of sequences without records, with their number.
    """

    sequences: Sequences
    alphabet: Alphabet
    records: Records | None = None
    what: str = "sequence"

    def __len__(self) -> int:
        return len(self.sequences)

    def name(self, k: int) -> str:
        """Return the id of a sequence."""
        return f"{self.what} {k + 1}" if self.records is None else self.records[k].id

    @cached_property
    def compared(self) -> Codes:
        """The residues with which letters are compared, see `Alphabet.compared`."""
        residues = self.sequences.residues
        if self.records is None or not self.alphabet.merges:
            return residues
        return self.alphabet.compared(residues, self.records.joined_letters().tobytes())

    @property
    def letters(self) -> Sequences:
        """The sequences with which letters are compared."""
        return Sequences(self.compared, self.sequences.offsets)

    def record(self, k: int) -> EncodedRecord:
        """Return a sequence as alignments show it."""
        codes = self.sequences[k]
        if self.records is None:
            return EncodedRecord.shown(self.name(k), "", codes, self.alphabet, None)
        given = self.records[k]
        title = given.id, given.description
        return EncodedRecord.shown(*title, codes, self.alphabet, given.letters)


def codes_of(
    records: Records,
    alphabet: Alphabet,
    unknown: str | None,
    substituted: Counter[str] | None = None,
) -> Sequences:
    """Return the codes of all records; ``substituted`` counts letters that count as others.

    All letters are encoded at once, or else, for the name in an error, record by record.
    """
    width, rest = alphabet.width, 0
    if width > 1:
        rest = PIECE % width or int((np.diff(records.offsets) % width).max(initial=0))
    if not rest and (len(records) > 1 or records.size > PIECE):
        found: Counter[str] = Counter()
        arrays, highest = list[Codes](), 0

        def encode(piece: tuple[bytes | memoryview, Codes]) -> tuple[Counter[str], int]:
            return put(*piece, alphabet, unknown)

        with suppress(ValueError):
            if records.read_text and not are_errors(alphabet, unknown) and _files_in(records):
                raise ValueError
            pieces = _with_room(records, alphabet, arrays)
            for counted, code in in_threads(encode, pieces, _MANY, records.size // PIECE):
                found, highest = found + counted, max(highest, code)
            if substituted is not None:
                substituted.update(found)
            none = np.empty(0, alphabet.code_type)
            codes = arrays[0] if len(arrays) == 1 else np.concatenate([none, *arrays])
            made = Sequences(codes, offsets_of(np.diff(records.offsets) // width))
            made.__dict__["code_bound"] = highest  # while it is in the cache of the processor
            return made
    encoded = [
        alphabet.encode(each.letters, name=each.id, unknown=unknown, substituted=substituted)
        for each in records
    ]
    return Sequences.of(encoded)


def _files_in(records: Records) -> bool:
    """Tell whether some text rather names a file."""
    texts: Sequence[Any] = records.texts()
    texts = texts if len(texts) and isinstance(texts[0], str) else ()
    return any(like_a_file(each) for each in texts if "." in each or "/" in each)


def put(
    letters: bytes | memoryview, codes: Codes, alphabet: Alphabet, unknown: str | None = None
) -> tuple[Counter[str], int]:
    """Put the codes of letters into an array; return what counts as others, and the highest."""
    substituted, highest = Counter[str](), alphabet._put(letters, codes)
    if highest < 0:
        codes[:] = alphabet.encode(bytes(letters), unknown=unknown, substituted=substituted)
        highest = int(codes.max(initial=0))
    return substituted, highest


def _with_room(
    records: Records, alphabet: Alphabet, arrays: list[Codes]
) -> Iterator[tuple[bytes | memoryview, Codes]]:
    """Yield pieces of letters and room for their codes, in turn in ``arrays``, mostly in one."""
    room, used, left = np.empty(0, alphabet.code_type), 0, records.size // alphabet.width
    for text in records.pieces():
        size = len(text) // alphabet.width
        if not arrays or used + size > len(room):
            room, used = np.empty(max(size, left), alphabet.code_type), 0
            arrays.append(room)
        part = room[used : used + size]
        used, left = used + size, left - size
        arrays[-1] = room[:used]
        yield text, part
