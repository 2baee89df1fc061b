"""Many sequences at once, as codes: from text, files, and arrays of NumPy or Arrow."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.file_names import like_a_file
from glsw.sequences.records import (
    EncodedRecord,
    Record,
    Records,
    Source,
    as_records,
    codes_of,
    is_single,
    read_all,
)

ManySequences: TypeAlias = "Source | Sequences | Any"
"""One sequence or many; `Sequences` are codes; the others are arrays of Arrow."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Encoded sequences, and their names.

    Parameters
    ----------
    sequences : Sequences
    records : sequence of Record, optional
        Those that have names.
    texts : sequence of str or bytes, optional
        The letters of those that have none, as given.
    what : str
        Name of the others, with their number.
    alphabet : Alphabet
    """

    sequences: Sequences
    records: Sequence[Record] | Records | None
    texts: Sequence[str | bytes] | None
    what: str
    alphabet: Alphabet

    def __len__(self) -> int:
        return len(self.sequences)

    def name(self, k: int) -> str:
        """Return the id of a sequence."""
        return f"{self.what} {k + 1}" if self.records is None else self.records[k].id

    def record(self, k: int) -> EncodedRecord:
        """Return a sequence as alignments show it."""
        codes = self.sequences[k]
        if self.records is not None:
            given = self.records[k]
            title = given.id, given.description
            return EncodedRecord.shown(*title, codes, self.alphabet, given.letters)
        text = None if self.texts is None else self.texts[k]
        text = text.decode("ascii") if isinstance(text, bytes) else text
        return EncodedRecord.shown(self.name(k), "", codes, self.alphabet, text)


def collect(
    source: ManySequences,
    alphabet: Alphabet,
    *,
    what: str,
    unknown: str | None = None,
    substituted: Counter[str] | None = None,
) -> Collection:
    """Encode sequences, all letters together where they are text.

    Parameters
    ----------
    source : path, Sequences, array, or list of sequences
        Text as a list of str or bytes, an array of dtype ``S`` or ``U``, or Arrow's strings;
        codes as `Sequences`, an array of shape (N, length), or Arrow's lists of uint8. Other lists
        as for `glsw.sequences.records.as_records`.
    alphabet : Alphabet
    what : str
        Name of the sequences in errors, for example "query".
    unknown : str, optional
        See `Alphabet.encode`.
    substituted : Counter, optional
        Counts letters that count as others.

    Raises
    ------
    TypeError
        For other sources.
    ValueError
        For letters or codes outside the alphabet; the sequence is named.

    Examples
    --------
    >>> from glsw.sequences.alphabet import DNA
    >>> found = collect(["GATT", b"AC"], DNA, what="query")
    >>> found.sequences.residues.tolist(), found.name(1), found.record(0).letters
    ([2, 0, 3, 3, 0, 1], 'query 2', 'GATT')
    """
    if isinstance(source, Sequences):
        return Collection(source.checked(alphabet, what), None, None, what, alphabet)
    if type(source).__module__.partition(".")[0] == "pyarrow":
        source = _of_arrow(source, what)
        if isinstance(source, Sequences):
            return Collection(source.checked(alphabet, what), None, None, what, alphabet)
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype == np.uint8:
        every = np.arange(len(source) + 1, dtype=np.int64) * source.shape[1]
        codes = Sequences(np.ascontiguousarray(source).ravel(), every)
        return Collection(codes.checked(alphabet, what), None, None, what, alphabet)
    records: Sequence[Record] | Records | None = None
    if isinstance(source, _Text):
        text: _Text | None = source
    elif isinstance(source, Records):
        records, text = source, None
    elif isinstance(source, os.PathLike):
        records, text = read_all(source), None
    else:
        text = None if alphabet.width > 1 or is_single(source) else _of_texts(source)
    if text is not None:
        try:
            codes = text.encoded(alphabet, unknown, substituted)
            return Collection(codes, None, text.strings, what, alphabet)
        except ValueError:  # named below
            source = list(text.strings)
    if records is None:
        given: Any = source
        records = as_records(given, what=what, alphabet=alphabet)
    residues, lengths, found = codes_of(records, alphabet, unknown)
    if substituted is not None:
        substituted.update(found)
    return Collection(Sequences(residues, offsets_of(lengths)), records, None, what, alphabet)


@dataclass(frozen=True, eq=False)
class _Text:
    """Letters of many sequences, one after the other, and where each begins."""

    letters: bytes
    offsets: npt.NDArray[np.int64]
    strings: Sequence[str | bytes]

    def encoded(
        self, alphabet: Alphabet, unknown: str | None, substituted: Counter[str] | None
    ) -> Sequences:
        codes = alphabet.encode(self.letters, unknown=unknown, substituted=substituted)
        return Sequences(codes, self.offsets)


class _Slices(Sequence[bytes]):
    """Letters of many sequences, each cut out when it is asked for."""

    def __init__(self, letters: bytes, offsets: npt.NDArray[np.int64]) -> None:
        self._letters, self._offsets = letters, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, k: Any) -> Any:
        start, stop = self._offsets[k : k + 2].tolist()
        return self._letters[start:stop]


def _of_texts(source: Any) -> _Text | None:
    """Return the letters of a list of text; None if it is of other objects, files or not ASCII."""
    if isinstance(source, np.ndarray):
        if source.ndim != 1 or source.dtype.kind not in "SU":
            return None
        source = source.tolist()
    if not isinstance(source, list | tuple):
        return None
    kinds = set(map(type, source))
    if kinds == {str}:
        try:
            letters = "".join(source).encode("ascii")
        except UnicodeEncodeError:
            return None
        if (b"." in letters or b"/" in letters) and any(map(like_a_file, source)):
            return None
    elif kinds == {bytes}:
        letters = b"".join(source)
    else:
        return None
    lengths = np.fromiter(map(len, source), np.int64, len(source))
    return _Text(letters, offsets_of(lengths), tuple(source))


def _of_arrow(array: Any, what: str) -> Sequences | _Text:
    """Return strings, or lists of codes, of Arrow; their buffers are read in place."""
    pa = importlib.import_module("pyarrow")
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # of older versions
            array = pa.concat_arrays(array.chunks)
    if isinstance(array, pa.Array) and array.null_count:
        raise ValueError(f"{what}: {array.null_count} of {len(array)} sequences are null")
    kind: Any = getattr(array, "type", None)
    listed = kind is not None and (pa.types.is_list(kind) or pa.types.is_large_list(kind))
    if listed and kind.value_type == pa.uint8():
        large = pa.types.is_large_list(kind)
        offsets = _arrow_offsets(array, array.buffers()[1], large)
        values = array.values.to_numpy(zero_copy_only=True)
        return Sequences(values[offsets[0] : offsets[-1]], offsets - offsets[0])
    texts = {"string": False, "binary": False, "large_string": True, "large_binary": True}
    if str(kind) not in texts:
        raise TypeError(
            f"{what}: an Arrow array of strings, or of lists of uint8, expected, got {kind}"
        )
    _, starts, data = array.buffers()
    offsets = _arrow_offsets(array, starts, texts[str(kind)])
    letters = memoryview(data)[offsets[0] : offsets[-1]].tobytes() if data is not None else b""
    offsets -= offsets[0]
    return _Text(letters, offsets, _Slices(letters, offsets))


def _arrow_offsets(array: Any, buffer: Any, large: bool) -> npt.NDArray[np.int64]:
    if not len(array):
        return np.zeros(1, np.int64)
    every = np.frombuffer(buffer, np.int64 if large else np.int32)
    return every[array.offset : array.offset + len(array) + 1].astype(np.int64)
