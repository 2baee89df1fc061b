"""Results as one self-contained HTML page, with a section per query.

Names are text, whatever is in them: they are escaped, control characters are shown as numbers, text
that runs from right to left stays in its place, and a content security policy allows no script but
that of the page. What is written depends on the results alone, not on devices or times.

The page is ``page.html``, a text with holes, in parts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from glsw.alignment.hits import Hit, Hsp, SearchResult, notes
from glsw.alignment.text import frames_text
from glsw.output.blast import bits_text, is_nucleic
from glsw.output.format import Format, program
from glsw.output.pairwise import hsp_lines
from glsw.sequences.records import Record
from glsw.words import in_a_line, numbered, visible

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_HOLES = re.compile(r"\{(.*?)\}")  # of a link

_COLUMNS = {
    "#": "",
    "target": "name",
    "score": "more",
    "bits": "",
    "E-value": "",
    "identity": "",
    "coverage": "more",
    "query range": "more",
    "target range": "more",
    "frame": "more",
    "strand": "more",
    "length": "more",
    "HSPs": "more",
}
"""The columns of the list of hits and their classes; ``more`` is left out on narrow screens."""

# The picture of where hits lie on a query: a line of bars each, coloured by score.
_PICTURED = 200  # hits
_BITS = 40, 50, 80, 200
_SHARES = 0.2, 0.4, 0.6, 0.8  # of the best score, where bits are not known
_WIDTH, _LINE, _BAR = 1000, 10, 7
_TICKS = 4

_evalue = "{:.2g}".format  # as in `SearchResult.table`, never cut off


def page_format(link: str = "") -> Format:
    """Return the format, perhaps with targets as links.

    Parameters
    ----------
    link : str
        An address with ``{accession}``, the accession in an id of UniProt or NCBI, or ``{id}``;
        ``{start}`` and ``{end}`` are the first and last letter of the best alignment, from 1.

    Raises
    ------
    ValueError
        If ``link`` is not such an address.

    Examples
    --------
    >>> import io
    >>> from glsw import Aligner, Record
    >>> target = Record("sp|P00000|<b>", "", "PAWHE")
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", [target], composition=0)
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
    name, version = program()
    style, script = _text_of("page.css"), _text_of("page.js")
    return _filled(
        "begin",
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        program=name,
        version=version,
        command=_element("pre", in_a_line(command), 'class="command"') + "\n" if command else "",
    )


def footer(results: int) -> str:
    """Return the end of the page."""
    queries = "query" if results == 1 else "queries"
    return _filled("end", program=program()[0], results=results, queries=queries)


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
        stream.write(_section(result, f"q{self._done}", self._link))


def _section(result: SearchResult, anchor: str, link: str) -> str:
    query, hits = result.query, list(result)
    facts = [
        numbered(len(query), "letter", ","),
        f"{numbered(len(hits), 'hit', ',')} in {numbered(result.sequences, 'sequence', ',')} of "
        f"{numbered(result.residues, 'residue', ',')}",
        *notes(result),
    ]
    best = hits[0] if hits else None
    return _filled(
        "query",
        anchor=anchor,
        length=len(query),
        hits=len(hits),
        best="" if best is None else best.score if best.evalue is None else _evalue(best.evalue),
        name=_name_of(query),
        description=_small(query.description),
        facts=_escaped(" · ".join(facts)),
        found=_hits(hits, anchor, link) if hits else _filled("none"),
    )


def _hits(hits: Sequence[Hit], anchor: str, link: str) -> str:
    """Return the picture of hits, their list, and their alignments, folded."""
    length = max(1, hits[0].hsps[0].context.length)
    pictured = hits[:_PICTURED]
    in_bits = all(hit.bits is not None for hit in pictured)
    limits = _BITS if in_bits else [share * hits[0].score for share in _SHARES]
    kinds = _columns(hits)
    cells = [_cells(hit, length, anchor, link) for hit in hits]
    ticks = min(_TICKS, length)  # fewer of a short query
    return _filled(
        "hits",
        axis=_joined(
            f"<span>{max(1, round(tick * length / ticks))}</span>" for tick in range(ticks + 1)
        ),
        height=_LINE * len(pictured),
        bars=_joined(
            _filled(
                "bars of a hit",
                anchor=anchor,
                rank=hit.rank,
                title=_element("title", ", ".join([in_a_line(hit.target.id), *_scores(hit)])),
                bars=_joined(_bars(hit, number * _LINE, length, limits, in_bits=in_bits)),
            )
            for number, hit in enumerate(pictured)
        ),
        cut=f", the best {_PICTURED} of {len(hits):,}" if len(hits) > _PICTURED else "",
        legend=_legend(in_bits=in_bits),
        heads=_joined(f'<th scope="col"{kind}>{head}' for head, kind in kinds.items()),
        rows=_joined(
            f"<tr>{_joined(f'<td{kind}{row[head]}' for head, kind in kinds.items())}</tr>\n"
            for row in cells
        ),
        alignments=_joined(_alignments(hit, anchor) for hit in hits),
    )


def _bars(
    hit: Hit, top: int, length: int, limits: Sequence[float], *, in_bits: bool
) -> Iterator[str]:
    """Yield a bar for each alignment of a hit, the best on top, and a line that joins them."""
    spans = []
    for first, last in map(_place, hit.hsps):
        left = _WIDTH * (first - 1) / length
        spans.append((left, max(2.0, _WIDTH * last / length - left)))
    if len(spans) > 1:
        left, right = min(x for x, _ in spans), max(x + width for x, width in spans)
        middle = top + _LINE / 2
        yield f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>'
    for hsp, (left, width) in reversed([*zip(hit.hsps, spans, strict=True)]):
        value = hsp.bits if in_bits and hsp.bits is not None else hsp.score
        yield (
            f'<rect class="b{sum(value >= limit for limit in limits)}" x="{left:.1f}" '
            f'y="{top + (_LINE - _BAR) / 2}" width="{width:.1f}" height="{_BAR}"/>'
        )


def _legend(*, in_bits: bool) -> str:
    limits = list(map(str, _BITS)) if in_bits else [f"{share:.0%}" for share in _SHARES]
    texts = [
        f"below {limits[0]}",
        *(f"{low} to {high}" for low, high in pairwise(limits)),
        f"{limits[-1]} {'bits' if in_bits else 'of the best score'} and more",
    ]
    return _joined(f'<span><i class="b{k}"></i>{text}</span>' for k, text in enumerate(texts))


def _columns(hits: Sequence[Hit]) -> dict[str, str]:
    """Return the columns of which something is known, and their attributes."""
    framed = any(hsp.context.frame or hsp.of_target.frame for hit in hits for hsp in hit.hsps)
    known = {
        "bits": any(hit.bits is not None for hit in hits),
        "E-value": any(hit.evalue is not None for hit in hits),
        "frame": framed,
        "strand": not framed and is_nucleic(hits[0].alignment.scoring.alphabet),
    }
    kinds = {head: kind for head, kind in _COLUMNS.items() if known.get(head, True)}
    if "bits" not in kinds:
        kinds["score"] = ""
    return {head: f' class="{kind}"' if kind else "" for head, kind in kinds.items()}


def _cells(hit: Hit, length: int, anchor: str, link: str) -> dict[str, str]:
    """Return the ends of cells by column: the number that a cell is sorted by, and its text."""
    hsp, identity = hit.hsps[0], hit.alignment.identity
    (first, last), (start, end) = hsp.query_place, hsp.target_place
    name, description = _name_of(hit.target), _small(hit.target.description)
    if link:
        address = _escaped(link_to(link, hit.target.id, *sorted((start, end))))
        name = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{name}</a>'
    frames = frames_text(hsp.context.frame, hsp.of_target.frame)
    direction = frames or ("plus" if hsp.context.strand > 0 else "minus")
    covered = 100 * _covered(hit) / length
    cells: dict[str, tuple[float | None, object]] = {
        "#": (hit.rank, f'<a href="#{anchor}h{hit.rank}">{hit.rank}</a>'),
        "target": (None, f"{name} {description}" if description else name),
        "score": (hit.score, hit.score),
        "bits": (hit.bits, "" if hit.bits is None else bits_text(hit.bits)),
        "E-value": (hit.evalue, "" if hit.evalue is None else _evalue(hit.evalue)),
        "identity": (identity, f"{100 * identity:.1f} %"),
        "coverage": (covered, f"{covered:.0f} %"),
        "query range": (min(first, last), f"{first}–{last}"),
        "target range": (min(start, end), f"{start}–{end}"),
        "frame": (None, direction),
        "strand": (None, direction),
        "length": (hsp.of_target.length,) * 2,
        "HSPs": (len(hit.hsps),) * 2,
    }
    return {
        head: f">{text}" if number is None else f' data-v="{number}">{text}'
        for head, (number, text) in cells.items()
    }


def _covered(hit: Hit) -> int:
    """Return how many letters of the query lie in at least one alignment."""
    covered = reached = 0
    for first, last in sorted(map(_place, hit.hsps)):
        covered += max(0, last - max(first - 1, reached))
        reached = max(reached, last)
    return covered


def _place(hsp: Hsp) -> tuple[int, int]:
    """Return the first and the last letter on the query, on the plus strand."""
    return min(hsp.query_place), max(hsp.query_place)


def _alignments(hit: Hit, anchor: str) -> str:
    """Return the alignments of a hit, folded."""
    facts = _scores(hit)[hit.bits is not None :]
    facts.append(f"{100 * hit.alignment.identity:.1f} % identical")
    if len(hit.hsps) > 1:
        facts.append(f"{len(hit.hsps)} alignments")
    lines = "\n".join(line for hsp in hit.hsps for line in hsp_lines(hsp, _evalue))
    return _filled(
        "alignments of a hit",
        anchor=anchor,
        rank=hit.rank,
        name=_name_of(hit.target),
        facts=", ".join(facts),
        lines=_element("pre", lines, 'class="alignment" tabindex="0"'),
    )


def _scores(hit: Hit) -> list[str]:
    """Return the score of a hit, its bits and its E-value, where they are known."""
    return [
        f"score {hit.score}",
        *([] if hit.bits is None else [f"{bits_text(hit.bits)} bits"]),
        *([] if hit.evalue is None else [f"E {_evalue(hit.evalue)}"]),
    ]


# Links


def check_link(pattern: str) -> None:
    """Raise ValueError unless a pattern is an address with ``{accession}`` or ``{id}``.

    >>> check_link("ftp://example.org/{id}")
    Traceback (most recent call last):
        ...
    ValueError: link 'ftp://example.org/{id}': http:// or https:// expected at its beginning
    """
    if not re.match(r"https?://[^/\s{}]+/", pattern):
        raise ValueError(f"link {pattern!r}: http:// or https:// expected at its beginning")
    holes = {*_HOLES.findall(pattern)}
    if not holes & {"accession", "id"} or holes - {"accession", "id", "start", "end"}:
        raise ValueError(f"link {pattern!r}: {{accession}} or {{id}} expected in it")


def link_to(pattern: str, name: str, start: int, end: int) -> str:
    """Return the address of a target, or of a part of it.

    >>> link_to("https://www.uniprot.org/uniprotkb/{accession}", "sp|P69905|HBA_HUMAN", 1, 9)
    'https://www.uniprot.org/uniprotkb/P69905'
    >>> link_to("https://example.org/?q={id}:{start}-{end}", 'a"&b', 5, 90)
    'https://example.org/?q=a%22%26b:5-90'
    """
    from urllib.parse import quote

    values = {"id": name, "accession": accession(name), "start": f"{start}", "end": f"{end}"}
    return _HOLES.sub(
        lambda found: quote(values[found[1]].encode("utf-8", "replace"), safe=""), pattern
    )


def accession(name: str) -> str:
    """Return the accession in an id of UniProt or NCBI, or the whole id.

    >>> [accession(name) for name in ("sp|P69905|HBA_HUMAN", "gi|129295|ref|NP_1.2|", "chr1")]
    ['P69905', 'NP_1.2', 'chr1']
    """
    parts = name.split("|")
    if parts[0] == "gi" and len(parts) > 3:
        parts = parts[2:]
    return parts[1] if len(parts) > 1 and parts[1] else name


# Text


@cache
def _parts() -> dict[str, str]:
    """Return the parts of the page by name."""
    first, *others = _text_of("page.html").split("<!-- part: ")
    return {"begin": first, **dict(part.split(" -->\n") for part in others)}


def _filled(part: str, **values: object) -> str:
    return _parts()[part].format(**values)


def _text_of(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy knows a text by."""
    import hashlib

    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _escaped(text: str) -> str:
    r"""Return a text that is nothing but text in a page, also as the value of an attribute.

    >>> _escaped('<b onclick="x">\x1b')
    '&lt;b onclick=&quot;x&quot;&gt;\\x1b'
    >>> _escaped("evil\u202egnp.exe")
    'evil\\u202egnp.exe'
    """
    return visible(text).translate(_ENTITIES)


def _element(tag: str, text: str, attributes: str = "") -> str:
    """Return an element with a text.

    >>> _element("b", "1 < 2", 'class="x"')
    '<b class="x">1 &lt; 2</b>'
    """
    return f"<{tag}{' ' * bool(attributes)}{attributes}>{_escaped(text)}</{tag}>"


def _name_of(record: Record) -> str:
    """Return the id of a record; letters that run from right to left do not turn what follows."""
    return _element("bdi", in_a_line(record.id) or "(no name)")


def _small(text: str) -> str:
    return _element("small", shown) if (shown := in_a_line(text)) else ""


_joined = "".join
