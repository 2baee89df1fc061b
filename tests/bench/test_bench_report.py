import copy
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bench import aymone2022, lin2015, liu2006, report, scan2014, search_tables, sudo2012_runs
from bench.report.documents import Collection, DocumentError, document, load
from bench.rows import measurements, state

pytest.importorskip("matplotlib", minversion="3.7")

from bench.report import whole as whole_report
from bench.report.blocks import number
from bench.report.whole import sections, write

EVERY = sorted((Path(__file__).parents[2] / "bench" / "results").glob("*.json"))
RESULTS = [path for path in EVERY if not path.stem.startswith(("calibration", "significance"))]
"""Those with times."""
"""All that is committed; single documents of a benchmark are taken from it."""
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """What a page holds; complains about elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.identifiers, self.sources = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.identifiers.append(attributes["id"])
        for name, value in attrs:
            if name in ("href", "xlink:href"):
                self.links.append(value)
            elif name in ("src", "srcset", "data", "poster") or name.startswith("on"):
                self.sources.append((name, value))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def single(benchmark):
    """Return the document of a benchmark on a software renderer."""
    for path in RESULTS:
        made = json.loads(path.read_text())
        if made["benchmark"] == benchmark and made["device"]["software"]:
            return made
    raise LookupError(benchmark)


def micro(device="llvmpipe (LLVM 15.0.6, 256 bits)"):
    """Return a document of micro on the device of the software results."""
    made = single("lin2015")
    check = {"judge": "NumPy", "pairs": 64, "wrong": 0, "first": None}
    rates = {
        "recurrence linear": ("cell/s", 5e9),
        "recurrence affine": ("cell/s", 3e9),
        "storage read": ("byte/s", 3e9),
        "shared bandwidth": ("byte/s", 4e9),
        "dispatch": ("s", 2e-5),
    }
    made |= {"benchmark": "micro", "settings": {}}
    made["device"]["renderer"] = device
    made["results"] = [
        {"name": name, "unit": unit, "value": value, "spread": 0.01, "repeats": 9, "check": check}
        | {"left_out": None, "what": f"what {name} is"}
        for name, (unit, value) in rates.items()
    ]
    made["results"].append(
        {"name": "half add max", "unit": "op/s", "value": None, "spread": None, "repeats": 0}
        | {"check": {**check, "pairs": 0}, "left_out": "no 16-bit floats", "what": "pairs"}
    )
    return made


def engines():
    """Return a document of engines: one that was right, one wrong, one refused, one of others."""
    made = micro()
    check = {"judge": "parasail", "pairs": 1, "wrong": 0, "first": None}
    wall = {"median": 0.02, "minimum": 0.019, "maximum": 0.03, "spread": 0.1, "repeats": 5}
    result = {"workload": "long", "task": "ends", "scoring": "DNA 5/-4, gaps 11, 1", "count": 1}
    result |= {"lengths": [1000, 1000], "engine": "wavefront", "peer": False, "cores": None}
    result |= {"refused": None, "check": check, "cells": 10**6, "wall": wall, "device": None}
    result |= {"gcups": 0.05, "memory": 2**20}
    energy = {"joules_per_run": 0.5, "watts": 25.0, "idle_watts": 9.0, "tool": "powercap"}
    result["energy"] = energy | {"picojoules_per_cell": 5e5, "seconds": 2.0}
    nothing = {"wall": None, "gcups": None, "memory": None, "energy": None}
    wrong = {**check, "wrong": 1, "first": "pair 0: [1], expected [2]"}
    made |= {"benchmark": "engines"}
    made["results"] = [
        result,
        result | nothing | {"engine": "blocked", "check": wrong},
        result | nothing | {"engine": "plane", "check": None, "refused": "needs OpenGL 4.3"},
        result | {"engine": "parasail simd", "peer": True, "cores": 1, "energy": None},
    ]
    return made


def collection(*made):
    return Collection(document(each, f"{k}.json") for k, each in enumerate(made))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The report of all committed results: its files, sections, Markdown and page."""
    folder = tmp_path_factory.mktemp("report")
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            whole_report, "sections", lambda files: kept.append(sections(files)) or kept[0]
        )
        assert report.main([*map(str, RESULTS), "--output", str(folder)]) == 0
    (found,) = kept
    text, page = ((folder / name).read_text() for name in ("report.md", "report.html"))
    return folder, {section.name: section for section in found}, text, page


def cells_of(section):
    return {text for table in section.tables() for row in table.rows for text in row}


def test_has_every_section_and_figure(whole):
    folder, named, text, page = whole
    papers = {"liu2006", "aymone2022", "lin2015", "scan2014", "sudo2012", "search"}
    assert papers | {"devices", "engines", "others"} <= named.keys()
    for name in papers:
        assert named[name].pictures(), name
    for section in named.values():
        assert f'<section id="{section.name}">' in page
        assert f'href="#{section.name}"' in page
        for picture in section.pictures():
            assert (folder / "figures" / f"{picture.name}.svg").is_file()
            assert f"(figures/{picture.name}.svg)" in text


def test_paper_numbers_stand_beside_with_their_source(whole):
    _, named, _, page = whole
    cells = cells_of(named["liu2006"])
    for row in liu2006.PAPER:
        assert {number(row.osearch), number(row.ssearch)} <= cells
        assert {number(rate) for rate in row.mcups.values()} <= cells
    cells = cells_of(named["aymone2022"])
    for row in aymone2022.PAPER:
        assert {number(row.seconds * 1e3), number(row.gcups)} <= cells
    cells = cells_of(named["lin2015"])
    for most in lin2015.PAPER.values():
        assert {number(ratio) for ratio in most.values()} <= cells
    for low, high in scan2014.PAPER.values():
        assert f"{low:g} to {high:g}" in cells_of(named["scan2014"])
    cells = cells_of(named["sudo2012"])
    assert {f"{ratio:.2f}" for ratio in sudo2012_runs.PAPER["at_most"].values()} <= cells
    assert "0.004 to 0.172" in cells
    for rate in search_tables.CUDASW.values():
        assert number(rate) in page
    for source in ("Table 1", "figure 8", "figure 9", "section 7.2", "section 6", "figure 13"):
        assert source in page


def test_numbers_are_those_of_the_files(whole):
    _, named, _, _ = whole
    cells = cells_of(named["lin2015"])
    newest = {}
    for part in Collection(map(load, RESULTS)).parts("lin2015"):
        for key, found in measurements(part):
            newest[part.document.identity, key] = found
    for each in newest.values():
        if each["wall"] and not each["peer"]:
            assert {number(each["wall"]["median"]), number(each["gcups"])} <= cells
    assert len(newest) > 30
    assert "-¹" in cells  # too long on llvmpipe


def test_every_table_and_figure_names_its_files(whole):
    _, named, _, _ = whole
    known = {path.name for path in RESULTS}
    for section in named.values():
        for block in [*section.tables(), *section.pictures()]:
            assert set(block.files) <= known
            told = " ".join(block.notes) if hasattr(block, "notes") else ""
            own = "onstants of bench/" in told or "From all files" in told
            assert block.files or own or block.caption == "Files", block


def test_page_is_whole_and_needs_nothing_from_elsewhere(whole):
    _, named, _, page = whole
    found = Page(page)
    assert '<html lang="en">' in page
    assert 'name="viewport"' in page
    assert found.sources == []
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    assert len(found.identifiers) == len(set(found.identifiers))
    assert all(link.startswith("#") for link in found.links)
    assert {link[1:] for link in found.links} <= set(found.identifiers)
    assert not re.search(r"@import|url\((?!#)", page)
    assert found.tags.count("svg") == sum(len(each.pictures()) for each in named.values())


def test_figures_are_svg_with_a_title_and_plain_text(whole):
    folder, named, _, _ = whole
    for section in named.values():
        for picture in section.pictures():
            root = ElementTree.fromstring(picture.svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert root.get("viewBox")
            assert root.get("width") is None
            assert root[0].text == picture.title
            assert root[1].text == picture.text
            ElementTree.parse(folder / "figures" / f"{picture.name}.svg")


def test_same_files_make_the_same_report(tmp_path):
    texts = []
    for _ in range(2):
        paths = write(collection(single("scan2014")), tmp_path)
        texts.append([path.read_text() for path in paths])
    assert texts[0] == texts[1]


def test_one_colour_a_device(whole):
    _, named, _, _ = whole
    assert len(Collection(map(load, RESULTS)).devices) >= 3
    for name in ("liu2006", "scan2014", "search"):
        for picture in named[name].pictures():
            assert "#0072b2" in picture.svg  # the first device's


def test_hostile_names_stay_text(tmp_path, monkeypatch):
    def check_form(_):
        raise ModuleNotFoundError("jsonschema")  # which does not let all of them pass

    monkeypatch.setattr("bench.report.documents.check_form", check_form)
    made = single("scan2014")
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> $x^2$ | [a](b) _c_"
    made["device"] |= {"renderer": evil, "driver": evil, "vendor": evil}
    made["cpu"]["model"] = made["commit"] = evil
    path = tmp_path / "<b>&.json"
    path.write_text(json.dumps(made))
    assert report.main([str(path), "--output", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert Page(page).sources == []
    text = (tmp_path / "report.md").read_text()
    assert "<script" not in text
    assert "<img" not in text
    for figure in (tmp_path / "figures").glob("*.svg"):
        ElementTree.parse(figure)


def test_wrong_results_are_told_and_have_no_number(tmp_path):
    made = single("lin2015")
    bad = made["results"][0]["engines"]["fused"]
    gone = number(bad["wall"]["median"])
    bad |= {"wall": None, "gcups": None}
    bad["check"] |= {"wrong": 1, "first": "pair 0: [7, 1, 1], expected [8, 1, 1]"}
    found = {section.name: section for section in sections(collection(made))}
    assert any(text.startswith("WRONG") for text in cells_of(found["lin2015"]))
    assert gone not in cells_of(found["lin2015"])
    (wrong,) = (t for t in found["devices"].tables() if t.caption.startswith("WRONG"))
    assert wrong.rows[0][0] == "lin2015 / length 200 / fused"
    assert "[7, 1, 1]" in wrong.rows[0][3]
    write(collection(made), tmp_path)
    assert 'class="wrong">WRONG' in (tmp_path / "report.html").read_text()
    assert "**WRONG" in (tmp_path / "report.md").read_text()


def test_engines_rates_ceilings_and_energy(tmp_path):
    files = collection(micro(), engines())
    found = {section.name: section for section in sections(files)}
    rows = {row[0]: row[1:] for row in found["engines"].tables()[0].rows}
    assert rows["wavefront"] == ["0.05"]
    assert rows["blocked"][0].startswith("WRONG")
    assert rows["plane"][0].startswith("-")
    assert any("needs OpenGL 4.3" in note for note in found["engines"].tables()[0].notes)
    assert rows["parasail simd, one core"] == ["0.05"]
    rates = {row[0]: row[1] for row in found["micro"].tables()[0].rows}
    assert rates["dispatch"] == "20 µs ± 1 %"
    assert rates["storage read"] == "3 Gbyte/s ± 1 %"
    assert rates["half add max"].startswith("-")
    (row,) = (each for each in found["ceilings"].tables()[0].rows if len(each) > 1)
    assert row[0] == "wavefront: long"
    assert row[1] == "0.05"
    assert "dispatches" in row[4]
    assert [picture.name for picture in found["ceilings"].pictures()] == ["roofline-1"]
    assert cells_of(found["energy"]) >= {"500,000¹", "25 (idle 9)"}
    write(files, tmp_path)
    Page((tmp_path / "report.html").read_text())


def test_without_micro_there_are_no_ceilings():
    found = {section.name for section in sections(collection(engines()))}
    assert "engines" in found
    assert "ceilings" not in found


def test_suite_is_read_like_its_steps():
    lin = single("lin2015")
    suite = copy.deepcopy(lin) | {"schema": 2, "benchmark": "suite"}
    settings = {"suite": "quick", "names": [], "engines": None, "budget": 300, "devices": []}
    suite["settings"] = settings
    suite["results"] = [
        {"step": f"lin2015 {result['length']}", "benchmark": "lin2015", "arguments": []}
        | {"seconds": 1.0, "status": 0, "message": None, "left_out": None}
        | {"settings": lin["settings"], "results": [result]}
        for result in lin["results"]
    ]
    suite["results"].append(
        {"step": "search", "benchmark": "search", "arguments": [], "seconds": 0.0, "status": 2}
        | {"message": "no such file", "left_out": None, "settings": {}, "results": []}
    )
    one, other = (
        {section.name: section for section in sections(collection(each))} for each in (lin, suite)
    )
    rows = [[table.rows for table in each["lin2015"].tables()] for each in (one, other)]
    assert rows[0] == rows[1]
    assert ["search", "llvmpipe", "no such file", "0.json"] in [
        row for table in other["devices"].tables() for row in table.rows
    ]


def test_newest_result_counts_and_devices_have_own_names():
    old = single("lin2015")
    new = copy.deepcopy(old) | {"date": "2030-01-01T00:00:00+00:00"}
    new["results"][0]["engines"]["fused"]["wall"]["median"] = 0.123456
    files = collection(new, old)
    assert files.devices == ["llvmpipe"]
    found = {section.name: section for section in sections(files)}
    assert "0.123" in cells_of(found["lin2015"])
    new["cpu"]["model"] = "Another processor"
    assert collection(old, new).devices == ["llvmpipe", "llvmpipe, Another processor"]


def test_two_commits_of_a_device_are_compared():
    old = single("lin2015")
    new = copy.deepcopy(old) | {"commit": "f" * 40, "date": "2030-01-01T00:00:00+00:00"}
    for name in ("median", "minimum", "maximum"):
        new["results"][0]["engines"]["fused"]["wall"][name] *= 3
    found = {section.name: section for section in sections(collection(new, old))}
    summary, marked = found["changes"].tables()
    assert summary.caption.endswith("to ffffffffff")
    assert summary.rows[0][3:] == ["1", "0"]
    assert marked.rows == [
        ["lin2015 / length 200 / fused", "slower", "3.000", "1.7 %", "wall"]
    ] or (marked.rows[0][:3] == ["lin2015 / length 200 / fused", "slower", "3.000"])


def test_every_measurement_has_a_name_of_its_own():
    for path in RESULTS:
        for part in load(path).parts:
            found = list(measurements(part))
            assert len(dict(found)) == len(found) > 0, path
            assert {state(each) for _, each in found} <= {"timed", "checked", "not run"}


def test_unknown_benchmarks_are_shown_by_name():
    made = micro() | {"benchmark": "another"}
    check = {"judge": "reference", "pairs": 1, "wrong": 0, "first": None}
    made["results"] = [
        {"kind": "x", "size": 5, "ways": [{"way": "up", "cells": 9, "check": check, "wall": None}]}
    ]
    (part,) = document(made, "a.json").parts
    assert [key for key, _ in measurements(part)] == ["another / x / size 5 / ways / up"]
    assert "others" in {section.name for section in sections(collection(made))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("{", "not JSON"),
        ("[]", "not a document"),
        ('{"schema": 1}', "date"),
        ('{"schema": 99, "benchmark": "x", "results": []}', "missing"),
    ],
)
def test_bad_files_give_one_line(text, message, tmp_path, capsys):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DocumentError):
        load(path)
    assert report.main([str(path), "--output", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_says_that_matplotlib_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    assert report.main([str(RESULTS[0])]) == 2
    assert capsys.readouterr().err == ("bench.report: matplotlib is missing; install glsw[bench]\n")


def test_compare_needs_no_matplotlib(monkeypatch):
    from bench import compare

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = str(RESULTS[0])
    assert compare.main([path, path]) == 0
