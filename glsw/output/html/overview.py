"""A picture of where hits lie on a query: a line of bars each, coloured by score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from glsw.alignment.hits import Hit, Hsp
from glsw.output.blast import bits_text, evalue_text
from glsw.output.format import in_a_line
from glsw.output.html.text import element
from glsw.sequences.records import Record

_SHOWN = 200  # hits
_BITS = 40, 50, 80, 200
_SHARES = 0.2, 0.4, 0.6, 0.8  # of the best score, where bits are not known
_WIDTH, _LINE, _BAR = 1000, 10, 7
_TICKS = 4


def overview(query: Record, hits: Sequence[Hit], anchor: str) -> str:
    """Return the picture; a bar leads to the alignments of its hit."""
    length = max(1, len(query))
    shown = hits[:_SHOWN]
    in_bits = all(hit.bits is not None for hit in shown)
    limits = _BITS if in_bits else [share * shown[0].score for share in _SHARES]
    height = _LINE * len(shown)
    more = f", the best {_SHOWN} of {len(hits):,}" if len(hits) > _SHOWN else ""
    lines = [
        f'<figure>\n<div class="axis">{_axis(length)}</div>\n<svg class="bars" role="img" '
        f'viewBox="0 0 {_WIDTH} {height}" height="{height}" preserveAspectRatio="none" '
        f'aria-label="Where the hits lie on the query">\n'
    ]
    for number, hit in enumerate(shown):
        lines.append(_hit(hit, number * _LINE, length, limits, in_bits, f"{anchor}h{hit.rank}"))
    lines.append(f'</svg>\n<figcaption class="legend"><span>hits along the query{more};</span>')
    lines.append(_legend("bits" if in_bits else "of the best score", in_bits))
    lines.append("</figcaption>\n</figure>\n")
    return "".join(lines)


def _axis(length: int) -> str:
    """Return the numbers of letters at equal distances, fewer of a short query."""
    ticks = min(_TICKS, length)
    return "".join(
        f"<span>{max(1, round(tick * length / ticks))}</span>" for tick in range(ticks + 1)
    )


def _hit(
    hit: Hit, top: int, length: int, limits: Sequence[float], in_bits: bool, anchor: str
) -> str:
    title = [in_a_line(hit.target.id), f"score {hit.score}"]
    if hit.bits is not None:
        title.append(f"{bits_text(hit.bits)} bits")
    if hit.evalue is not None:
        title.append(f"E {evalue_text(hit.evalue)}")
    bars, spans = [], [_span(hsp, length) for hsp in hit.hsps]
    if len(spans) > 1:
        left, right = min(x for x, _ in spans), max(x + width for x, width in spans)
        middle = top + _LINE / 2
        bars.append(f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>')
    for hsp, (x, width) in reversed([*zip(hit.hsps, spans, strict=True)]):
        value = hsp.bits if in_bits and hsp.bits is not None else hsp.score
        level = sum(value >= limit for limit in limits)
        bars.append(
            f'<rect class="b{level}" x="{x:.1f}" y="{top + (_LINE - _BAR) / 2}" '
            f'width="{width:.1f}" height="{_BAR}"/>'
        )
    tip = element("title", ", ".join(title))
    return f'<a href="#{anchor}">{tip}{"".join(bars)}</a>\n'


def _span(hsp: Hsp, length: int) -> tuple[float, float]:
    """Return where a bar begins, and how long it is."""
    first, last = min(hsp.query_place), max(hsp.query_place)
    x = _WIDTH * (first - 1) / length
    return x, max(2.0, _WIDTH * last / length - x)


def _legend(unit: str, in_bits: bool) -> str:
    limits = [f"{each}" if in_bits else f"{each:.0%}" for each in (_BITS if in_bits else _SHARES)]
    texts = [f"below {limits[0]}"]
    texts += [f"{low} to {high}" for low, high in pairwise(limits)]
    texts.append(f"{limits[-1]} {unit} and more")
    return "".join(
        f'<span><i class="b{level}"></i>{text}</span>' for level, text in enumerate(texts)
    )
