"""What recurrence.glsl and span.glsl take from a scoring: macros and uniforms."""

from __future__ import annotations

from typing import TypeAlias

from glsw.scoring.scoring import Scoring

Uniform: TypeAlias = int | tuple[int, ...]


def recurrence_of(scoring: Scoring) -> tuple[dict[str, int], dict[str, Uniform]]:
    """Return macros, and uniforms by name, of which a program has those that it needs.

    >>> defines, uniforms = recurrence_of(Scoring.match_mismatch(2, -1, 5, 1).semi_global())
    >>> defines, uniforms["gap_open"], uniforms["left_insertion"]
    ({'FROM_END_TO_END': 1}, 5, (0, 0))
    """
    defines: dict[str, int] = {}
    uniforms: dict[str, Uniform] = {"gap_open": scoring.gap_open}
    if scoring.linear:
        defines["LINEAR"] = 1
    else:
        uniforms["gap_extend"] = scoring.gap_extend
    if scoring.separate:
        defines["SEPARATE"] = 1
        uniforms["insertion_open"], uniforms["insertion_extend"] = scoring.insertion
    if scoring.ends:
        defines["FROM_END_TO_END"] = 1
        uniforms["origin_terms"] = scoring.origin_terms
        uniforms |= {name: tuple(cost) for name, cost in scoring.ends._asdict().items()}
    return defines, uniforms
