"""Results as one page for a browser, a section per query; nothing of it comes from elsewhere.

Names are text, whatever is in them: they are escaped, control characters are shown as numbers, text
that runs from right to left stays in its place, and a content security policy allows no script but
that of the page. What is written depends on the results alone, not on devices or times.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from glsw.alignment.hits import Hit, Hsp, SearchResult
from glsw.alignment.text import frames_of
from glsw.output.blast import bits_text, evalue_text, is_nucleic
from glsw.output.format import Format, in_a_line, program
from glsw.output.html.links import check_link, link_to
from glsw.output.html.overview import overview
from glsw.output.html.text import element, escaped, name_of
from glsw.output.pairwise import hsp_lines

_HERE = Path(__file__).parent
_LIST = (
    '<nav id="queries" hidden><div class="tools"><input type="search" placeholder="filter queries"'
    ' aria-label="filter queries"></div><div class="wide"><table><thead><tr><th class="name">query'
    "<th>letters<th>hits<th>best E-value or score</tr></thead><tbody></tbody></table></div></nav>"
)
_TOOLS = (
    '<div class="tools" hidden><button data-open="yes">open all alignments</button>'
    '<button data-open="no">fold all</button></div>\n'
)


def page_format(link: str = "") -> Format:
    """Return the format, perhaps with targets as links.

    Parameters
    ----------
    link : str
        An address with ``{accession}`` or ``{id}``, see `glsw.output.html.links`.

    Raises
    ------
    ValueError
        If it is no such address.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner, Record
    >>> target = Record("sp|P00000|<b>", "", "PAWHE")
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", [target])
    >>> stream = io.StringIO()
    >>> page_format("https://example.org/{accession}").write(result, stream)
    >>> "https://example.org/P00000" in stream.getvalue(), "<b>" in stream.getvalue()
    (True, False)
    """
    if link:
        check_link(link)

    def writer(done: int = 0) -> Sections:
        return Sections(link, done)

    def write(result: SearchResult, stream: TextIO) -> None:
        writer()(result, stream)

    return Format(write, header, footer, writer, lists_targets=False)


def header(_: Iterable[tuple[str, int]], command: str) -> str:
    """Return the page up to the first query."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    name, version = program()
    shown = element("pre", in_a_line(command), 'class="command"') + "\n" if command else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<title>glsw: search results</title>\n'
        f"<style>{style}</style>\n<script>{script}</script>\n</head>\n<body>\n<header>\n"
        f'<h1>Search results</h1>\n<p class="facts">{name} {version} '
        f'<span id="totals"></span></p>\n{shown}{_LIST}\n</header>\n<main>\n'
    )


def footer(results: int) -> str:
    """Return the end of the page."""
    word = "query" if results == 1 else "queries"
    return (
        f"</main>\n<footer>{program()[0]} processed {results} {word}.</footer>\n</body>\n</html>\n"
    )


class Sections:
    """Writes a section per query.

    Parameters
    ----------
    link : str
        As of `page_format`.
    done : int
        Sections that are there already, so that the names of anchors go on.
    """

    def __init__(self, link: str = "", done: int = 0) -> None:
        self._link, self._done = link, done

    def __call__(self, result: SearchResult, stream: TextIO) -> None:
        """Write the section of one result."""
        self._done += 1
        stream.write("".join(_section(result, f"q{self._done}", self._link)))


def _section(result: SearchResult, anchor: str, link: str) -> Iterator[str]:
    query, hits = result.query, list(result)
    best = hits[0] if hits else None
    shown = "" if best is None else best.score if best.evalue is None else f"{best.evalue:.3g}"
    yield (
        f'<section class="query" id="{anchor}" data-length="{len(query)}" data-hits="{len(hits)}"'
        f' data-best="{shown}">\n<h2>{name_of(query)}'
        f"{element('small', in_a_line(query.description)) if query.description else ''}</h2>\n"
    )
    facts = [
        f"{len(query):,} letters",
        f"{len(hits):,} hit{'s' * (len(hits) != 1)} in {result.sequences:,} sequences of "
        f"{result.residues:,} residues",
    ]
    if result.unlisted:
        facts.append(result.unlisted)
    if result.statistics:
        facts.append(f"E-values: {result.statistics.name}")
    yield element("p", " · ".join(facts), 'class="facts"') + "\n"
    if not hits:
        yield '<p class="none">No hits found.</p>\n</section>\n'
        return
    yield overview(query, hits, anchor)
    yield from _table(hits, len(query), anchor, link)
    yield _TOOLS
    for hit in hits:
        yield _alignments(hit, anchor)
    yield "</section>\n"


def _table(hits: list[Hit], length: int, anchor: str, link: str) -> Iterator[str]:
    """Yield the list of hits; columns of the class ``more`` are left out on narrow screens."""
    bits, evalues = (any(getattr(hit, key) is not None for hit in hits) for key in _KNOWN)
    stranded = is_nucleic(hits[0].alignment.scoring.alphabet)
    framed = any(frames_of(hsp) for hit in hits for hsp in hit.hsps)
    heads = [
        ("#", ""),
        ("target", "name"),
        ("score", "more" if bits else ""),
        *[("bits", "")] * bits,
        *[("E-value", "")] * evalues,
        ("identity", ""),
        ("coverage", "more"),
        ("query range", "more"),
        ("target range", "more"),
        *[("frame" if framed else "strand", "more")] * (stranded or framed),
        ("length", "more"),
        ("HSPs", "more"),
    ]
    yield '<div class="wide"><table>\n<thead><tr>'
    yield "".join(f'<th scope="col"{_class(kind)}>{head}' for head, kind in heads)
    yield "</tr></thead>\n<tbody>\n"
    for hit in hits:
        hsp, found = hit.hsps[0], hit.alignment
        (first, last), (start, end) = hsp.query_place, hsp.target_place
        place = min(first, last)
        covered = 100 * _covered(hit) / max(1, length)
        cells: list[tuple[object, object]] = [
            (f'<a href="#{anchor}h{hit.rank}">{hit.rank}</a>', hit.rank),
            (_target(hit, link), None),
            (hit.score, hit.score),
        ]
        if bits:
            cells.append(("" if hit.bits is None else bits_text(hit.bits), hit.bits))
        if evalues:
            cells.append(("" if hit.evalue is None else evalue_text(hit.evalue), hit.evalue))
        cells += [
            (f"{100 * found.identity:.1f} %", found.identity),
            (f"{covered:.0f} %", covered),
            (f"{first}–{last}", place),
            (f"{start}–{end}", min(start, end)),
        ]
        if stranded or framed:
            cells.append((_direction(hsp), None))
        cells += [(hsp.of_target.length,) * 2, (len(hit.hsps),) * 2]
        yield "<tr>"
        for (text, value), (_, kind) in zip(cells, heads, strict=True):
            sorted_by = "" if value is None else f' data-v="{value}"'
            yield f"<td{_class(kind)}{sorted_by}>{text}"
        yield "</tr>\n"
    yield "</tbody></table></div>\n"


_KNOWN = "bits", "evalue"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _target(hit: Hit, link: str) -> str:
    name = name_of(hit.target)
    if link:
        address = escaped(link_to(link, hit.target.id))
        name = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{name}</a>'
    text = in_a_line(hit.target.description)
    return f"{name} {element('small', text)}" if text else name


def _covered(hit: Hit) -> int:
    """Return how many letters of the query lie in at least one alignment."""
    covered = reached = 0
    for first, last in sorted((min(hsp.query_place), max(hsp.query_place)) for hsp in hit.hsps):
        covered += max(0, last - max(first - 1, reached))
        reached = max(reached, last)
    return covered


def _direction(hsp: Hsp) -> str:
    return frames_of(hsp) or ("plus" if hsp.context.strand > 0 else "minus")


def _alignments(hit: Hit, anchor: str) -> str:
    """Return the alignments of a hit, folded."""
    found = hit.alignment
    score = f"score {hit.score}" if hit.bits is None else f"{bits_text(hit.bits)} bits"
    evalue = "" if hit.evalue is None else f", E {evalue_text(hit.evalue)}"
    several = f", {len(hit.hsps)} alignments" if len(hit.hsps) > 1 else ""
    facts = f"{score}{evalue}, {100 * found.identity:.1f} % identical{several}"
    lines = [line for hsp in hit.hsps for line in hsp_lines(hsp)]
    rows = element("pre", "\n".join(lines), 'class="alignment" tabindex="0"')
    return (
        f'<details id="{anchor}h{hit.rank}"><summary>{hit.rank}. {name_of(hit.target)} '
        f"<small>{facts}</small></summary>\n"
        f"{rows}</details>\n"
    )


def _digest(text: str) -> str:
    """Return what a content security policy knows a text by."""
    import hashlib

    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
