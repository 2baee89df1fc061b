"""Profiles as queries: the scoring by position that engines get, and the positions of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glsw.scoring.positional import PositionalGaps, PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.nucleic import complement_of
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import ProfileRecord, Record
from glsw.sequences.seg import Masked
from glsw.wings.profiles.profile import Profile


def profiles_in(queries: object) -> list[Profile] | None:
    """Return the profiles that queries are, None if they are sequences.

    Raises
    ------
    TypeError
        If some of them are profiles and others are not.
    """
    if isinstance(queries, Profile):
        return [queries]
    if not isinstance(queries, list | tuple):
        return None
    some: list[Profile] = [each for each in queries if isinstance(each, Profile)]
    if some and len(some) < len(queries):
        raise TypeError("queries must be profiles or sequences, not both in one list")
    return some or None


def by_position(
    profiles: Sequence[Profile],
    lower_case_mask: bool = False,
    mask_low_complexity: bool = False,
    seg: Masked = "no",
) -> tuple[PositionalScoring, list[ProfileRecord]]:
    """Return the scoring of the positions of all profiles, and their records.

    Profiles of DNA have positions for both strands. A position has the same gap costs in both: in
    the minus strand letters of the target behind it stand before it as the profile is written.

    Parameters
    ----------
    profiles : sequence of Profile
        At least one.
    lower_case_mask, mask_low_complexity, seg
        Which letters of profiles are masked, as for `glsw.Aligner`.

    Raises
    ------
    ValueError
        If profiles have different matrices or gap costs; for more than
        `glsw.scoring.positional.MAX_POSITIONS` positions.
    """
    scoring = profiles[0].scoring
    if not all(_same(scoring, each.scoring) for each in profiles):
        raise ValueError(
            "profiles of one search have the same matrix and gap costs; search others separately"
        )
    alphabet = scoring.alphabet
    preparation = QueryPreparation(
        *(alphabet, "plus", None, lower_case_mask, mask_low_complexity),
        seg=seg in ("query", "both"),
    )
    rows, records, first = [], [], 0
    some = any(each.gap_open is not None for each in profiles)
    gaps: list[PositionalGaps] = []
    for profile in profiles:
        shown = profile
        if preparation.masks:
            shown = profile.masked(preparation.soft_masked(profile.letters))
        strands = {1: shown.scores}
        if alphabet.nucleotides:
            turned = alphabet.encode(complement_of(alphabet.decode(range(len(alphabet)))))
            strands[-1] = shown.scores[::-1][:, turned]
        positions = {}
        for sign, scores in strands.items():
            rows.append(scores)
            if some:
                gaps.append(shown.costs if sign > 0 else shown.costs.turned())
            positions[sign] = np.arange(first, first + len(scores)).astype(np.uint16)
            first += len(scores)
        record = Record(profile.id, profile.description, shown.letters)
        records.append(ProfileRecord.at(record, alphabet, positions))
    joined = PositionalGaps.joined(gaps) if some else None
    return PositionalScoring.of(np.concatenate(rows), scoring, joined), records


def _same(scoring: Scoring, other: Scoring) -> bool:
    def settings(each: Scoring) -> tuple[Any, ...]:
        return each.alphabet, each.insertion, each.deletion, each.scale

    alike = settings(scoring) == settings(other)
    return alike and np.array_equal(scoring.matrix, other.matrix)
