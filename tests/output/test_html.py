"""``--format html``: one file that needs nothing else, in which names are text."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import refused

import glsw
from glsw import Aligner, Record, SearchResult
from glsw.output import FORMATS, format_of, write
from glsw.output.html import footer, header
from glsw.sequences.nucleic import reversed_strand

HOSTILE = [
    'sp|P1|"><script>alert(1)</script>',
    "<img src=x onerror=alert(1)>",
    "'onmouseover='alert(1)",
    "javascript:alert(1)",
    "ctl\x01\x1b[2J\x7f\x9b",
    "evil\u202egnp.exe",
    "&amp;</details></section></pre>",
    "nul\x00\ud800",
]
SHOWN = {
    "ctl\x01\x1b[2J\x7f\x9b": "ctl\\x01\\x1b[2J\\x7f\\x9b",
    "evil\u202egnp.exe": "evil\\u202egnp.exe",
    "nul\x00\ud800": "nul\\x00\\ud800",
}
SEARCH = "search queries.fasta db.fasta --engine reference --format html"
LINK = "--link 'https://example.org/{accession}?all={id}'"
VOID = {"meta", "input"}
IMPLIED = {"td", "th"}


class Page(HTMLParser):
    """The elements of a page; tags that are not closed in order fail."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag in IMPLIED and self._open[-1] in IMPLIED:
            self._open.pop()
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in IMPLIED and self._open[-1] in IMPLIED:
            self._open.pop()
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def of(self, tag: str) -> list[str]:
        return [text for inside, text in self.texts if inside == tag]


def page(results: Iterator[SearchResult] | SearchResult, form: str = "html") -> tuple[str, Page]:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", newline="")
    glsw.write(results, stream, form)
    stream.seek(0)
    text = stream.read()
    return text, Page(text)


def hostile(**options: object) -> Iterator[SearchResult]:
    records = [Record(name, f"of {name}", "MKVLAWGCQR" + "W" * k) for k, name in enumerate(HOSTILE)]
    return Aligner(engine="reference").search(records, records, **options)


@pytest.mark.parametrize("form", ["html", "html https://example.org/{accession}/{id}"])
def test_names_are_text(form: str) -> None:
    text, found = page(hostile(), form)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("script") == tags.count("style") == 1
    assert "img" not in tags
    names = {name for _, attributes in found.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in ("src", "style")]
    links = [attributes["href"] or "" for tag, attributes in found.elements if tag == "a"]
    outside = [link for link in links if not link.startswith("#q")]
    assert len(outside) == (len(HOSTILE) ** 2 if "{" in form else 0)
    for link in outside:
        assert re.fullmatch(r"https://example\.org/[\w%.~-]+/[\w%.~-]+", link, re.ASCII)
    shown = set(found.of("bdi"))
    assert shown == {SHOWN.get(name, name) for name in HOSTILE}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_nothing_comes_from_elsewhere() -> None:
    text, found = page(hostile())
    assert not re.search(r"url\(|@import|https?:|//(?!\s)\w", re.sub(r"<bdi>.*?</bdi>", "", text))
    (policy,) = (
        attributes["content"] or ""
        for tag, attributes in found.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        digest = hashlib.sha256("".join(found.of(tag)).encode()).digest()
        assert f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_small_evalues_are_cut_off_by_formats_of_blast_alone() -> None:
    """BLAST prints 0.0 below 1e-180; every other format has the number."""
    protein = "MKVLAWGCQRHEDNFPSTYI" * 20
    (result,) = Aligner(engine="reference").search([protein], [protein[:-60]], composition=0)
    assert result[0].evalue == pytest.approx(1.944e-287, rel=1e-3)
    for form in FORMATS:
        text = io.StringIO()
        write([result], text, form)
        cut = re.search(r"(Expect = |\s)0\.0(,|\s)", text.getvalue())
        number = re.search(r"\b(2|1\.9\d*)e-287\b", text.getvalue())
        blast = form in ("pairwise", "blast-tab", "blast-tab-comments")
        assert (bool(cut), bool(number)) == (blast, not blast), form


def test_table_has_what_the_result_has() -> None:
    (result,) = Aligner(engine="reference").search(
        [Record("q", "a query", "HEAGAWGHEEMKVLAWHEAGAWGHEE")],
        [Record("a", "", "PAWHEAE"), Record("b", "", "HEAGAWGHEE"), Record("c", "", "MKVLAWPAWHE")],
        max_hsps=3,
    )
    text, found = page(result)
    rows = re.findall(r"<tr>(.*?)</tr>", text.partition("<tbody>\n")[2])
    assert len(rows) == len(result)
    for row, hit in zip(rows, result, strict=True):
        values = [float(value) for value in re.findall(r'data-v="([^"]*)"', row)]
        known = [hit.rank, hit.score, hit.bits, hit.evalue, hit.alignment.identity]
        assert values[:5] == pytest.approx(known)
        letters = {k for hsp in hit.hsps for k in range(hsp.query_place[0], hsp.query_place[1] + 1)}
        assert values[5] == pytest.approx(100 * len(letters) / len(result.query))
        assert values[-1] == len(hit.hsps)
    bars = [float(attributes["width"] or 0) for tag, attributes in found.elements if tag == "rect"]
    spans = [
        last - first + 1
        for hit in result
        for first, last in (each.query_place for each in hit.hsps)
    ]
    assert sorted(bars) == pytest.approx(sorted(1000 * span / 26 for span in spans), abs=0.1)
    anchors = {attributes["id"] for _, attributes in found.elements if "id" in attributes}
    links = {attributes["href"] for tag, attributes in found.elements if tag == "a"}
    assert {(link or "").removeprefix("#") for link in links} <= anchors


def test_alignments_are_those_of_pairwise() -> None:
    (result,) = Aligner(engine="reference").search(["HEAGAWGHEE"], ["PAWHEAE"])
    stream = io.StringIO()
    FORMATS["pairwise"].write(result, stream)
    _, found = page(result)
    (shown,) = found.of("pre")
    assert shown.strip() in stream.getvalue()


def test_many_hits_and_none() -> None:
    targets = [Record(f"t{k}", "", "HEAGAWGHEE") for k in range(230)]
    aligner = Aligner(engine="reference")
    results = aligner.search(["HEAGAWGHEE", "DD"], targets, top=None, min_score=50, composition=0)
    text, found = page(results)
    assert "the best 200 of 230" in text
    assert sum(tag == "rect" for tag, _ in found.elements) == 200
    assert found.of("p").count("No hits found.") == 1


@pytest.mark.parametrize("genetic_code", [None, 1])
def test_strands_and_frames(genetic_code: int | None) -> None:
    dna = "ATGAAAGTTCTGGCTTGGGGTTGTCAACGT"
    if genetic_code:
        aligner, targets = Aligner(engine="reference"), ["MKVLAWGCQR"]
    else:
        aligner = Aligner(glsw.Scoring.nucleotide(), engine="reference")
        targets = [reversed_strand(dna, False)]
    (result,) = aligner.search([dna], targets, genetic_code=genetic_code)
    text, _ = page(result)
    assert (">frame<" if genetic_code else ">strand<") in text
    assert ('<td class="more">+1' if genetic_code else '<td class="more">minus') in text
    assert 'x="0.0"' in text


def test_codons_cover_as_many_codons() -> None:
    aligner = Aligner(glsw.Scoring.named("SCHNEIDER", 10, 5), engine="reference")
    (result,) = aligner.search(["ATGGCCTGG" * 4], ["ATGGCCTGG" * 4])
    text, found = page(result)
    assert ">100 %<" in text
    assert [each["width"] for tag, each in found.elements if tag == "rect"] == ["1000.0"]


def test_a_query_is_written_before_the_next_is_computed() -> None:
    stream = io.StringIO()

    def results() -> Iterator[SearchResult]:
        for number, result in enumerate(Aligner(engine="reference").search(["MKV"] * 3, ["MKV"])):
            assert stream.getvalue().count("</section>") == number
            yield result

    glsw.write(results(), stream, "html")
    ids = re.findall(r'<section class="query" id="(q\d)"', stream.getvalue())
    assert ids == ["q1", "q2", "q3"]
    assert stream.getvalue().startswith(header((), ""))
    assert stream.getvalue().endswith(footer(3))


# The command.


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    (tmp_path / "queries.fasta").write_text(">q1 <i>\nHEAGAWGHEE\n>q2\nPPPPP\n")
    (tmp_path / "db.fasta").write_text(">sp|P1|A\nPAWHEAE\n>b\nPPPP\n>c\nHEAE\n")
    return tmp_path


def test_link(run: Callable[..., SimpleNamespace], files: Path) -> None:
    done = run(f"{SEARCH} {LINK}")
    assert "https://example.org/P1?all=sp%7CP1%7CA" in done.out
    assert run(f"{SEARCH} --output page.html {LINK}").status == 0
    written = (files / "page.html").read_text()
    assert written.partition("<main>")[2] == done.out.partition("<main>")[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--link ftp://a.b/{id}", "link 'ftp://a.b/{id}': http:// or https:// expected"),
        ("--link 'javascript:alert(1)//{id}'", "http:// or https:// expected"),
        ("--link https://a.b/", "{accession} or {id} expected"),
        ("--link https://a.b/{name}", "{accession} or {id} expected"),
        ("--link https://{id}/", "http:// or https:// expected"),
        ("--format tsv --link https://a.b/{id}", "--link is for --format html, not tsv"),
    ],
)
def test_refused(
    run: Callable[..., SimpleNamespace], files: Path, words: str, message: str
) -> None:
    refused(run, f"{SEARCH} {words}", message, files)


@pytest.mark.parametrize("query", ["ACGGATTTCAGA", "TCTGAAATCCGT"])
def test_link_to_the_place_of_an_alignment(query: str) -> None:
    target = Record("chr 1", "", "TTTTT" + "ACGGATTTCAGA" + "GGGG")
    options = {"scoring": glsw.Scoring.nucleotide(), "engine": "reference", "strand": "both"}
    (result,) = glsw.search([query], [target], **options)
    _, found = page(result, "html http://localhost:60151/goto?locus={id}:{start}-{end}")
    links = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert "http://localhost:60151/goto?locus=chr%201:6-17" in links


def test_link_in_the_name_of_the_format() -> None:
    assert format_of("html https://a.b/{id}").name == "html https://a.b/{id}"
    with pytest.raises(ValueError, match=r"link 'a b'"):
        format_of("html a b")
