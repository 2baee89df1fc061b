"""What recurrence.glsl and span.glsl take from a scoring: macros and uniforms."""

from __future__ import annotations

from typing import TypeAlias

from glsw.scoring.scoring import Scoring

Uniform: TypeAlias = int | tuple[int, ...]


def recurrence_of(scoring: Scoring) -> tuple[dict[str, int], dict[str, Uniform]]:
    """Return macros, and uniforms by name, of which a program has those that it needs.

    >>> defines, uniforms = recurrence_of(Scoring.match_mismatch(2, -1, 5, 1).in_mode("semiglobal"))
    >>> defines, uniforms["gap_open"], uniforms["left_insertion"]
    ({'GLOBAL_MODE': 1}, 5, (0, 0))
    """
    defines: dict[str, int] = {"LINEAR": 1} if scoring.linear else {}
    uniforms: dict[str, Uniform] = {"gap_open": scoring.gap_open, "border_gap": -scoring.gap_open}
    if gaps := scoring.gaps:
        defines["POSITIONAL_GAPS"], uniforms = 1, {"border_gap": -gaps.most.open}
    else:
        uniforms["gap_extend"] = scoring.gap_extend
        uniforms["insertion_open"], uniforms["insertion_extend"] = scoring.insertion
    if scoring.separate:
        defines["SEPARATE"] = 1
    if scoring.end_gaps:
        defines["GLOBAL_MODE"] = 1
        uniforms["score_offset_terms"] = scoring.score_offset_terms
        uniforms |= {name: tuple(cost) for name, cost in scoring.end_gaps._asdict().items()}
    return defines, uniforms
