"""The verbs score3, align3 and alignments3, without an aligner to keep; and `Aligner3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypedDict, overload

from glsw.aligner3 import Aligner3
from glsw.engines.base import Progress
from glsw.inputs import OneSequence
from glsw.kinds import chosen
from glsw.pair_collections import Scores
from glsw.scoring.gaps import Mode
from glsw.scoring.three import Scoring3
from glsw.search.pool import Devices

if TYPE_CHECKING:
    import Bio.Align
    from typing_extensions import Unpack

__all__ = ["Aligner3", "align3", "alignments3", "score3"]


class Aligner3Options(TypedDict, total=False):
    """The options of `Aligner3`, which describes them."""

    scoring: Scoring3 | None
    mode: Mode | None
    engine: str
    device: Devices
    unknown: str | None
    memory: int | None
    polling: bool | None


@overload
def score3(
    a: OneSequence,
    b: OneSequence,
    c: OneSequence,
    *,
    table: Literal[False] = False,
    **options: Unpack[Aligner3Options],
) -> int | float: ...
@overload
def score3(
    a: OneSequence,
    b: OneSequence,
    c: OneSequence,
    *,
    table: Literal[True],
    **options: Unpack[Aligner3Options],
) -> tuple[int | float, Scores]: ...
def score3(
    a: OneSequence,
    b: OneSequence,
    c: OneSequence,
    *,
    table: bool = False,
    **options: Unpack[Aligner3Options],
) -> int | float | tuple[int | float, Scores]:
    """Return the best score: `Aligner3.score` of an `Aligner3` with these options.

    Examples
    --------
    >>> from glsw.align3 import score3
    >>> score3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", engine="reference")
    65
    >>> score, table = score3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", table=True, engine="reference")
    >>> table.shape, int(table[9, 5, 5])
    ((10, 7, 6), 65)

    Least costs are highest scores: here of DNA, transitions 2, transversions 5, gaps 5.

    >>> from glsw import Scoring
    >>> matrix = [[0, -5, -2, -5], [-5, 0, -5, -2], [-2, -5, 0, -5], [-5, -2, -5, 0]]
    >>> costs = Scoring3.sum_of_pairs(Scoring.from_array(matrix, "ACGT", 5, 5))
    >>> -score3("ACGT", "AGT", "ACT", scoring=costs, mode="global", engine="reference")
    20
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.score(a, b, c, table=True) if table else aligner.score(a, b, c)


def align3(
    a: OneSequence, b: OneSequence, c: OneSequence, **options: Unpack[Aligner3Options]
) -> Bio.Align.Alignment:
    """Return the best alignment: `Aligner3.align` of an `Aligner3` with these options.

    Examples
    --------
    >>> from glsw import align3
    >>> alignment = align3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", engine="reference")
    >>> list(alignment)
    ['GAWGHEE', 'PAW-HEA', 'GAW-HEE']
    >>> for row in align3("HEAGAWGHEE", "PAWHEAE", "GAWHEE", mode="global", engine="reference"):
    ...     print(row)
    HEAGAWGHE-E
    ---PAW-HEAE
    ---GAW-HE-E
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.align(a, b, c)


def alignments3(
    a: OneSequence,
    b: OneSequence,
    c: OneSequence,
    *,
    max_alignments: int | None = None,
    min_score: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[Aligner3Options],
) -> Iterator[Bio.Align.Alignment]:
    """Return alignments without a column in one place: `Aligner3.alignments` with these options.

    Examples
    --------
    >>> from glsw.align3 import alignments3
    >>> words = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"
    >>> for found in alignments3(*words, max_alignments=3, engine="reference"):
    ...     print(found.score, *found)
    65 GAWGHEE PAW-HEA GAW-HEE
    41 HEA HEA HEE
    34 GHEE AWHE AWHE
    """
    given, (a, b, c) = chosen(options, Scoring3.sum_of_pairs, a=a, b=b, c=c)
    with Aligner3(**given) as aligner:
        return aligner.alignments(
            a, b, c, max_alignments=max_alignments, min_score=min_score, progress=progress
        )
