"""Tells nucleic acids from proteins, and chooses the scoring accordingly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from glsw import caller
from glsw.inputs.source import Source
from glsw.scoring.positional import PositionalQuery
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.nucleic import (
    COMMON,
    FEWEST_LETTERS,
    PERCENT_COMMON,
    Kind,
    Verdict,
    judge,
    kind_of,
    warn,
)
from glsw.sequences.records import Records
from glsw.words import numbered, visible

_RECORDS_TO_TELL = 100_001
_LETTERS_OF_RECORD = 30


def chosen(
    options: Mapping[str, Any],
    made: Callable[[Scoring], Any] = lambda scoring: scoring,
    *,
    translated: Sequence[str] = (),
    offers: Mapping[str, str] = MappingProxyType({}),
    one_strand: bool = False,
    **sides: Any,
) -> tuple[Any, list[Any]]:
    """Return options with a default scoring for the sequences, if none is given.

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
        Also the sides, each a `Source` or None.

    Raises
    ------
    ValueError
        If some are nucleic acid and others proteins.

    Warns
    -----
    KindWarning
        If they are scored as nucleic acid, or some have too few letters to tell.
    """
    sources = {name: Source.of(side) for name, side in sides.items()}
    found = [None if source.given is None else source for source in sources.values()]
    if options.get("scoring") is not None:
        return options, found
    kinds, verdict = _judged(sources, translated, offers)
    if any(isinstance(source.first, PositionalQuery) for source in found if source):
        return options, found
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
    return {**options, "scoring": made(usual(verdict.nucleic))}, found


@cache
def usual(nucleic: bool | None) -> Scoring:
    """Return the scoring of nucleic acid, or of proteins, that is used if none is given."""
    return Scoring.nucleotide() if nucleic else Scoring.blast()


def checked(
    scoring: str | None,
    aligner: str,
    sources: Mapping[str, Source],
    translated: Sequence[str] = (),
) -> None:
    """Check the sides of an aligner of proteins, by their names.

    Parameters
    ----------
    scoring : str, optional
        The name of its scoring, if that was given: then there is only a warning, and only if some
        are proteins.
    aligner : str
        What makes it, with a place for a scoring of two sequences.
    sources, translated
        As of `chosen`.

    Raises
    ------
    ValueError
        If some or all are nucleic acid; all of fewer than ten letters are only warned of.
    """
    if scoring is not None:
        if mixed := judge(_kinds(sources, translated)).mixed:
            warn(
                f"{_look(mixed[:1])} nucleic acid, but {scoring} scores proteins: "
                "glsw.Scoring.nucleotide() scores nucleic acid"
            )
        return
    kinds, verdict = _judged(sources, translated)
    if verdict.nucleic:
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


def warn_of_nucleic(records: Records, what: str) -> None:
    """Warn if some records among others are nucleic acid, which are scored as proteins.

    Of the first 100,000 records, those of at least 30 letters are looked at: where the first 30 are
    like nucleic acid, all letters tell, see `glsw.sequences.nucleic.kind_of`.
    """
    letters, offsets = records.joined_letters(), records.offsets[:_RECORDS_TO_TELL]
    starts = offsets[:-1][np.diff(offsets) >= _LETTERS_OF_RECORD]
    is_other = np.ones(256, np.uint8)
    is_other[list(COMMON)] = 0
    others, most = (
        np.zeros(len(starts), np.uint8),
        (100 - PERCENT_COMMON) * _LETTERS_OF_RECORD // 100,
    )
    for k in range(_LETTERS_OF_RECORD):  # most records leave after a few letters
        others += is_other[letters[starts + k]]
        few = others <= most
        starts, others = starts[few], others[few]
    rows = np.searchsorted(offsets, starts, side="right").tolist()
    texts = (letters[offsets[k - 1] : offsets[k]].tobytes() for k in rows)
    found = [k - 1 for k, text in zip(rows, texts, strict=True) if kind_of([text]).nucleic]
    if not 0 < len(found) < len(records):
        return
    first = f"{what} {visible(records.titles[found[0]][0])}"
    names = first if len(found) == 1 else f"{first} and {numbered(len(found) - 1, 'other')}"
    verb, be = ("looks", "is") if len(found) == 1 else ("look", "are")
    caller.warn(f"{names} {verb} like nucleic acid, but {be} scored as protein", RuntimeWarning)


def _kinds(sources: Mapping[str, Source], translated: Sequence[str]) -> dict[str, Kind]:
    """Return what sides are."""
    return {
        name: Kind(False) if name in translated else source.kind
        for name, source in sources.items()
        if name in translated or source.given is not None
    }


def _judged(
    sources: Mapping[str, Source],
    translated: Sequence[str],
    offers: Mapping[str, str] = MappingProxyType({}),
) -> tuple[dict[str, Kind], Verdict]:
    """Return how sides are scored; ValueError if some are nucleic acid and others proteins."""
    kinds = _kinds(sources, translated)
    verdict = judge(kinds)
    if verdict.mixed:
        for name, source in sources.items():
            source.check_no_files(name, PROTEIN)
        nucleic, protein = (_named(name, sources[name]) for name in verdict.mixed)
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
    return kinds, verdict


def _look(names: Iterable[str]) -> str:
    """Return the beginning of a message: what looks like something."""
    *others, last = names
    verb = "look" if last.endswith("s") else "looks"
    return f"{', '.join(others)} and {last} look like" if others else f"{last} {verb} like"


def _named(name: str, source: Source) -> str:
    """Return the name of a side in messages, with that of its file."""
    return f"{name} {source.path}" if source.path else name
