"""Whether sequences are nucleic acid or proteins, and the scoring that follows from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from glsw import caller
from glsw.scoring.positional import PositionalQuery
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN, Alphabet
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.fasta import blocks, read_all
from glsw.sequences.named import check_no_file, is_single, sequence_types
from glsw.sequences.nucleic import (
    COMMON,
    FEWEST_LETTERS,
    LETTERS_TO_TELL,
    PERCENT_COMMON,
    Kind,
    Verdict,
    judge,
    kind_of,
    warn,
)
from glsw.sequences.records import EncodedRecord, ProfileRecord, Record, Records
from glsw.words import numbered, visible

_RECORDS_TO_TELL = 100_001
_LETTERS_OF_RECORD = 30


def seen(source: Any) -> tuple[Kind, Any]:
    """Return whether a source is nucleic acid or protein, and what to read instead of it.

    The first letters tell, see `glsw.sequences.nucleic.kind_of`; of a database or a profile its
    alphabet. Codes tell nothing. What can be read only once is read: an iterator becomes a list,
    and standard input, or a pipe, `Records`.

    Examples
    --------
    >>> seen(["ACGT", b"GATTACA"])[0], seen(iter(["MKV", "HEAG"]))
    (Kind(nucleic=True, letters=11), (Kind(nucleic=False, letters=7), ['MKV', 'HEAG']))
    >>> seen((0, 1, 2))[0]
    Kind(nucleic=None, letters=None)
    """
    if type(source) is str:
        return kind_of((source,)), source
    if isinstance(source, Iterator):
        source = list(source)
    elif isinstance(source, os.PathLike):
        if os.fspath(source) == "-" or (os.path.exists(source) and not _again(source)):
            source = read_all(source)
        elif is_database(source):
            return _kind_of_alphabet(Database.open(source).alphabet), source
    try:
        return kind_of(_texts(source)), source
    except _KnownError as known:
        return known.kind, source


class _KnownError(Exception):
    """What a source is does not depend on its letters, or it has none."""

    def __init__(self, alphabet: Alphabet | None = None) -> None:
        self.kind = _kind_of_alphabet(alphabet) if alphabet else Kind()


def _again(path: os.PathLike[str]) -> bool:
    """Return whether a file can be read twice, or is a folder, which cannot be read at all."""
    return os.path.isfile(path) or os.path.isdir(path)


def _kind_of_alphabet(alphabet: Alphabet) -> Kind:
    return Kind(True if alphabet.nucleotides else False if alphabet.amino_acids else None)


def _texts(source: Any) -> Iterator[str | bytes | bytearray]:
    """Yield the letters of a source, at least the first ones of each sequence."""
    if isinstance(source, str | bytes | bytearray):
        yield source
    elif isinstance(source, Database | ProfileRecord | PositionalQuery):
        raise _KnownError(source.alphabet)
    elif isinstance(source, EncodedRecord):
        yield source.part(0, LETTERS_TO_TELL)
    elif isinstance(source, Record):
        yield source.letters
    elif isinstance(source, os.PathLike):
        if not os.path.isfile(source):
            raise _KnownError
        try:
            for part in blocks(source, whole=False):
                yield part.letters[:LETTERS_TO_TELL].tobytes()
        except (OSError, ValueError):  # that of whoever reads it
            raise _KnownError from None
    elif hasattr(source, "as_py"):  # of Arrow
        yield from _texts(source.as_py())
    elif is_single(source):  # codes, or an object of another package
        letters = getattr(source, "seq", source)
        if not isinstance(letters, sequence_types()):
            raise _KnownError
        try:
            yield str(letters)
        except ValueError:  # its letters are undefined
            raise _KnownError from None
    elif (
        isinstance(source, Mapping)
        or not isinstance(source, Iterable)
        or getattr(source, "ndim", 1) == 0
    ):
        raise _KnownError
    else:
        for each in source:
            yield from (each,) if type(each) is str else _texts(each)


def chosen(
    options: Mapping[str, Any],
    made: Callable[[Scoring], Any] = lambda scoring: scoring,
    *,
    translated: Sequence[str] = (),
    offers: Mapping[str, str] = MappingProxyType({}),
    one_strand: bool = False,
    **sides: Any,
) -> tuple[Any, list[Any]]:
    """Return options with a scoring for sequences that are compared, if none is given.

    Parameters
    ----------
    options : mapping
        Those of an aligner.
    made : callable
        Makes its scoring of that of two sequences.
    translated : sequence of str
        The names of sides that are translated to proteins.
    offers : mapping of str to str
        By the name of a side, what else can be done if it is nucleic acid and the other is not.
    one_strand : bool
        Whether sequences are compared as they are given, which the warning says.
    **sides : sequence, path or list of sequences
        By their names in messages. Those that are None are not there.

    Returns
    -------
    tuple of dict and list
        Also the sides, to read instead of the given ones, see `seen`.

    Raises
    ------
    ValueError
        If some are nucleic acid and others proteins.

    Warns
    -----
    KindWarning
        If they are scored as nucleic acid, or some have too few letters to tell.
    """
    if options.get("scoring") is not None:
        return options, list(sides.values())
    kinds, sources = _kinds(sides, translated)
    verdict = _verdict(kinds, sides, translated, offers)
    if any(isinstance(each, PositionalQuery) for source in sources for each in _flat(source)[:1]):
        return options, sources
    for name in verdict.short:
        warn(
            f"{name} has fewer than {FEWEST_LETTERS} letters, too few to tell nucleic acid from "
            "protein, so it is scored as protein like the other: pass a scoring to silence this"
        )
    if verdict.nucleic:
        warn(
            f"{_look(kinds)} nucleic acid, so the scoring is glsw.Scoring.nucleotide(), as on the "
            "command line: pass it to silence this, or glsw.Scoring.blast() for proteins"
            + ("; only the given strands are compared, glsw.search uses both" if one_strand else "")
        )
    return {**options, "scoring": made(usual(verdict.nucleic))}, sources


@cache
def usual(nucleic: bool | None) -> Scoring:
    """Return the scoring of nucleic acid, or of proteins, that is used if none is given."""
    return Scoring.nucleotide() if nucleic else Scoring.blast()


def checked(
    scoring: str | None, aligner: str, *, translated: Sequence[str] = (), **sides: Any
) -> list[Any]:
    """Return the sides of an aligner of proteins, see `seen`, unless they are nucleic acid.

    Parameters
    ----------
    scoring : str, optional
        The name of its scoring, if that was given: then there is only a warning, and only if some
        are proteins.
    aligner : str
        What makes it, with a place for a scoring of two sequences.
    translated, **sides
        As of `chosen`.

    Raises
    ------
    ValueError
        If some or all are nucleic acid; all of fewer than ten letters are only warned of.
    """
    kinds, sources = _kinds(sides, translated)
    if scoring is not None:
        if mixed := judge(kinds).mixed:
            warn(
                f"{_look(mixed[:1])} nucleic acid, but {scoring} scores proteins: "
                "glsw.Scoring.nucleotide() scores nucleic acid"
            )
    elif _verdict(kinds, sides, translated).nucleic:
        if any(kind.sure for kind in kinds.values()):
            raise ValueError(
                f"{_look(kinds)} nucleic acid, but an aligner without a scoring is for proteins: "
                f"{aligner.format('glsw.Scoring.nucleotide()')} scores nucleic acid, "
                f"{aligner.format('glsw.Scoring.blast()')} takes them for proteins"
            )
        warn(
            f"{_look(kinds)} nucleic acid, but an aligner without a scoring is for proteins: give "
            "a scoring to say what they are"
        )
    return sources


def warn_of_nucleic(records: Records, what: str) -> None:
    """Warn if some records among others are nucleic acid, which are scored as proteins.

    Of the first 100,000 records, those of at least 30 letters are looked at: where the first 30 are
    like nucleic acid, all letters tell, see `glsw.sequences.nucleic.kind_of`.
    """
    offsets = records.offsets[:_RECORDS_TO_TELL]
    starts = offsets[:-1][np.diff(offsets) >= _LETTERS_OF_RECORD]
    is_other = np.ones(256, np.uint8)
    is_other[list(COMMON)] = 0
    others, most = (
        np.zeros(len(starts), np.uint8),
        (100 - PERCENT_COMMON) * _LETTERS_OF_RECORD // 100,
    )
    for k in range(_LETTERS_OF_RECORD):  # most records leave after a few letters
        others += is_other[records.letters[starts + k]]
        few = others <= most
        starts, others = starts[few], others[few]
    rows = np.searchsorted(offsets, starts, side="right").tolist()
    texts = (records.letters[offsets[k - 1] : offsets[k]].tobytes() for k in rows)
    found = [k - 1 for k, text in zip(rows, texts, strict=True) if kind_of([text]).nucleic]
    if not 0 < len(found) < len(records):
        return
    first = f"{what} {visible(records.titles[found[0]][0])}"
    names = first if len(found) == 1 else f"{first} and {numbered(len(found) - 1, 'other')}"
    verb, be = ("looks", "is") if len(found) == 1 else ("look", "are")
    caller.warn(f"{names} {verb} like nucleic acid, but {be} scored as protein", RuntimeWarning)


def _kinds(
    sides: Mapping[str, Any], translated: Sequence[str]
) -> tuple[dict[str, Kind], list[Any]]:
    """Return what sides are, and what to read instead of them."""
    kinds, sources = {}, []
    for name, source in sides.items():
        if name in translated:
            kinds[name], instead = Kind(False), source
        elif source is None:
            instead = None
        else:
            kinds[name], instead = seen(source)
        sources.append(instead)
    return kinds, sources


def _verdict(
    kinds: Mapping[str, Kind],
    sides: Mapping[str, Any],
    translated: Sequence[str],
    offers: Mapping[str, str] = MappingProxyType({}),
) -> Verdict:
    """Return how sides are scored; ValueError if some are nucleic acid and others proteins."""
    verdict = judge(kinds)
    if verdict.mixed:
        for name, source in sides.items():
            _check_no_file(name, source)
        nucleic, protein = (_named(name, sides[name]) for name in verdict.mixed)
        offer = offers.get(verdict.mixed[0])
        if verdict.mixed[1] in translated:
            what = "to search proteins" if verdict.mixed[1] == "query" else "for proteins"
            raise ValueError(
                f"{nucleic} looks like nucleic acid, but {protein} is translated {what}"
                f"{': ' + offer + ' too' if offer else ''}"
            )
        raise ValueError(
            f"{nucleic} looks like nucleic acid, but {protein} like protein: "
            f"{offer + ', ' if offer else ''}scoring=glsw.Scoring.blast() takes both for proteins"
        )
    return verdict


def _look(names: Iterable[str]) -> str:
    """Return the beginning of a message: what looks like something."""
    *others, last = names
    verb = "look" if last.endswith("s") else "looks"
    return f"{', '.join(others)} and {last} look like" if others else f"{last} {verb} like"


def _named(name: str, source: Any) -> str:
    """Return the name of a side in messages, with that of its file."""
    return f"{name} {os.fspath(source)}" if isinstance(source, os.PathLike) else name


def _flat(source: Any) -> Sequence[Any]:
    """Return the items of a list or tuple, or else the one that it is."""
    return source if isinstance(source, list | tuple) else [source]


def _check_no_file(name: str, source: Any) -> None:
    """Raise FileNameError if text is rather the name of a file."""
    for each in _flat(source):
        if isinstance(each, str):
            check_no_file(each, name, PROTEIN, alone=isinstance(source, str))
