"""Formats of motifs: a table for people, TSV for programs. Positions are times in s."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isnan, log10
from typing import NamedTuple

from glsw.output.blast import evalue_text
from glsw.wings.series.motifs import Comparison, Motif
from glsw.wings.series.significance import pairs_of
from glsw.words import in_a_line, numbered, visible

_WORDS = {2: "pair", 3: "triple"}

DESCRIPTIONS = {
    "rank": "rank of the motif, 1 for the best",
    "score": "score of the alignment",
    "evalue": "number of motifs with at least this score that are expected by chance in the whole "
    "recording; empty without surrogates",
    "pvalue": "probability of at least one such motif by chance; empty without surrogates",
    "columns": "columns of the alignment, gaps included",
    "equal": "columns with equal letters",
}
"""What the first columns of the format "tsv" say."""
SEGMENT = {
    "channel": "name of the channel",
    "start": "start of the segment in s",
    "end": "end of the segment in s, exclusive",
    "first_letter": "first aligned letter of the channel's word, counted from 1",
    "last_letter": "last aligned letter, inclusive",
    "row": "aligned letters, `-` for a gap",
}
"""What the columns about each segment say; their names end with the number of the segment."""


class MotifFormat(NamedTuple):
    """A format of motifs.

    Parameters
    ----------
    header : callable
        ``header(comparison)`` returns the text above all motifs.
    line : callable
        ``line(comparison, motif)`` returns the text of one motif.
    """

    header: Callable[[Comparison], str]
    line: Callable[[Comparison, Motif], str]


def decimals(comparison: Comparison) -> int:
    """Return the decimals of times that distinguish neighbouring letters."""
    return max(1, ceil(-log10(_length(comparison)) - 1e-6) + 1)


def score_text(comparison: Comparison, score: float) -> str:
    """Return a score with the decimals of its scoring."""
    return f"{score:.{round(log10(pairs_of(comparison.scoring).scale))}f}"


def chance_text(chance: float) -> str:
    """Return an E-value or p-value with about two digits.

    >>> [chance_text(each) for each in (1.234, 0.01234, 1.23e-7, float("nan"))]
    ['1.2', '0.012', '1.2e-07', '-']
    """
    return "-" if isnan(chance) else evalue_text(chance, digits=1)


def _table_header(comparison: Comparison) -> str:
    words = comparison.words
    recording = words.recording
    kind = f" ({recording.kind})" if recording.kind else ""
    start, end = recording.edges[[0, -1]]
    segments = words.codes.shape[1]
    digits = decimals(comparison)
    best = len(comparison.best)
    shown = "none scores enough" if not best else f"the best {best}" if best > 1 else "the best"
    lines = [
        f"{recording.name}: {len(words)} channels{kind}, {start:.{digits}f} to {end:.{digits}f} s",
        f"words of {segments} letters, each one of {words.letters} and {_length(comparison):.3g} s",
        f"{numbered(comparison.count, _WORDS[comparison.of])} by {_rule(comparison)}: {shown}",
    ]
    chance = comparison.significance
    if chance:
        lines.append(
            f"E-values: from {chance.surrogates} {_WORDS[comparison.of]}s of surrogates (seed "
            f"{chance.seed}): mean {chance.mean:.3g}, standard deviation {chance.deviation:.3g}"
        )
    if best:
        numbers = _cells(comparison, "rank", "score", "E-value", "p-value", "columns", "equal")
        lines.append(f"{numbers}  similar stretches in s")
    return visible("\n".join([*lines, ""]))


def _table_line(comparison: Comparison, motif: Motif) -> str:
    recording = comparison.words.recording
    channels = recording.channels
    digits = decimals(comparison)
    name = max(len(channels[k]) for k in comparison.best.ravel())
    time = len(f"{recording.edges[-1]:.{digits}f}")
    segments = (
        f"{channel:<{name}} {start:>{time}.{digits}f} - {end:<{time}.{digits}f}"
        for channel, (start, end) in zip(motif.channels, motif.seconds.tolist(), strict=True)
    )
    numbers = _cells(
        comparison,
        motif.rank,
        score_text(comparison, motif.score),
        *map(chance_text, (motif.evalue, motif.pvalue)),
        motif.columns,
        motif.equal,
    )
    return visible("  ".join([numbers, *segments]).rstrip()) + "\n"


def _cells(comparison: Comparison, *values: object) -> str:
    """Return the numbers of a line, aligned with those of all lines."""
    highest = comparison.scores[0].item()
    score = len(score_text(comparison, highest))
    widths = (max(4, len(str(len(comparison.best)))), max(5, score), 7, 7, 7, 5)
    return "  ".join(f"{value!s:>{width}}" for value, width in zip(values, widths, strict=True))


def _rule(comparison: Comparison) -> str:
    pairs = pairs_of(comparison.scoring)
    opens, extends = map(pairs.display, (pairs.gap_open, pairs.gap_extend))
    gaps = f"gap {opens:g}" if pairs.linear else f"gaps {opens:g} and {extends:g}"
    return f"{comparison.scoring.name}, {gaps}"


def _length(comparison: Comparison) -> float:
    """Return the median length of a letter in s."""
    words = comparison.words
    seconds = words.recording.period * len(words.recording.times)
    return seconds / len(words.codes[0])


def _tsv_header(comparison: Comparison) -> str:
    columns = [f"{name}_{k + 1}" for k in range(comparison.of) for name in SEGMENT]
    return "\t".join([*DESCRIPTIONS, *columns]) + "\n"


def _tsv_line(comparison: Comparison, motif: Motif) -> str:
    digits = decimals(comparison) + 2
    values: list[object] = [
        motif.rank,
        score_text(comparison, motif.score),
        *("" if isnan(each) else f"{each:.4g}" for each in (motif.evalue, motif.pvalue)),
        motif.columns,
        motif.equal,
    ]
    for channel, (start, end), (first, last), row in zip(
        motif.channels, motif.seconds.tolist(), motif.letters.tolist(), motif.rows, strict=True
    ):
        values += [channel, f"{start:.{digits}f}", f"{end:.{digits}f}", first + 1, last, row]
    return "\t".join(map(in_a_line, values)) + "\n"


MOTIF_FORMATS = {
    "table": MotifFormat(_table_header, _table_line),
    "tsv": MotifFormat(_tsv_header, _tsv_line),
}
"""A table below a description of the comparison, and one line of columns per motif."""
