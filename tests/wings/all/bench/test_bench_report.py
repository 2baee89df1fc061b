"""Comparison, pages, tables of the READMEs, and other programs."""

import re
import stat
import sys
from dataclasses import replace

import numpy as np
import pytest

from bench import __main__, check, compare, programs, readme, report, rivals
from bench.readme import RESULTS
from bench.row import File
from bench.work.search_base import BLOSUM
from glsw.alignment.batch import Batch
from glsw.engines import Reference
from glsw.sequences.encoded import Sequences

FILES = [RESULTS / f"{name}.ndjson" for name in ("h100", "llvmpipe")]


def times(median, noise=0.01, repeats=10):
    return compare.Times(median, median * (1 - noise), median * noise, repeats)


def slower(tmp_path, factor, wanted, path=FILES[0]):
    """Return a file, by default of an H100, and one in which some rows take longer."""
    old = File.read(path)
    new = File(tmp_path / "new.ndjson", old.header, {})
    for name, row in old.rows.items():
        row = dict(row)
        if wanted(row):
            for field in ("wall", "wall_min", "wall_max", "clock", "clock_min", "clock_max"):
                if field in row:
                    row[field] *= factor
            if "rate" in row:
                row["rate"] *= factor if row.get("unit") == "s" else 1 / factor
        new.rows[name] = row
    return old, new


def test_a_file_equals_itself(tmp_path):
    old, new = slower(tmp_path, 1.0, lambda row: False)
    found = compare.compare(old, new)
    assert len(found.deltas) > 300
    assert not found.failed
    assert not [each for each in found.deltas if each.verdict not in ("", "other")]


def test_what_is_slower_is_marked(tmp_path):
    chosen = ("subtable", "lanes f16")
    old, new = slower(tmp_path, 2.0, lambda row: row["program"] in chosen)
    found = compare.compare(old, new)
    marked = {each.row["program"] for each in found.deltas if each.verdict == "slower"}
    assert marked == set(chosen)
    assert found.failed


def test_the_launch_latency_is_named_not_marked(tmp_path):
    def launched(row):
        return row["program"] in ("wavefront", "scan blocks", "dispatch")

    old, new = slower(tmp_path, 4.0, launched, FILES[1])
    verdicts = {each.row["program"]: each.verdict for each in compare.compare(old, new).deltas}
    assert verdicts["dispatch"] == "host"
    long = [each for each in compare.compare(old, new).deltas if each.row["workload"] == "long"]
    waves = [each.verdict for each in long if each.row["program"] == "wavefront"]
    assert waves == ["host: launch latency"]
    old, new = slower(tmp_path, 4.0, lambda row: row["program"] == "wavefront", FILES[1])
    long = [each for each in compare.compare(old, new).deltas if each.row["workload"] == "long"]
    assert [e.verdict for e in long if e.row["program"] == "wavefront"] == ["slower"]


def test_compare_prints(tmp_path, capsys):
    old, new = slower(tmp_path, 2.0, lambda row: row["program"] == "subtable")
    new.write()
    assert __main__.main(["compare", str(old.path), str(new.path)]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"2\.000 .* slower  +\S+, subtable", printed)
    assert __main__.main(["compare", str(old.path), str(old.path)]) == 0
    assert __main__.main(["compare", str(old.path), str(FILES[1])]) == 2
    assert "is of" in capsys.readouterr().err


# pages


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert report.main([*map(str, FILES), "--output", str(folder)]) == 0
    names = {"index.html", *(path.name for path in FILES)}
    assert {path.name for path in folder.iterdir()} == names
    return (folder / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert report.main(["--site", "--output", str(folder)]) == 0
    return folder


def test_the_site_is_one_page_with_its_files(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    there = set(re.findall(r'id="([^"]+)"', text))
    rows = [row for path in check.results() for row in File.read(path).rows.values()]
    assert sum(name.startswith("d") for name in there) == len(rows)
    links = {link.partition("#") for link in re.findall(r'href="([^"]+)"', text)}
    assert {place for page, _, place in links if not page} <= there
    files = {page for page, _, _ in links if page}
    assert files == {path.name for path in site.iterdir()} - {"index.html"}
    for words in ("pJ per cell", "does not hold</span>", "bench check", "CUDASW"):
        assert words in text
    assert not re.search(r'src="|https?://', text)


def test_a_page_beside_a_file_that_it_shows(tmp_path, capsys):
    """As `make bench` has it; the other file is copied there; no two may have one name."""
    here = tmp_path / "this-device.ndjson"
    here.write_bytes(FILES[0].read_bytes())
    files, to = [str(here), str(FILES[1])], ["--output", str(tmp_path)]
    assert __main__.main(["report", *files, *to]) == 0
    names = {"index.html", here.name, FILES[1].name}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert here.read_bytes() == FILES[0].read_bytes()
    assert __main__.main(["report", *files, str(tmp_path / FILES[1].name), *to]) == 2
    assert f"several files are named {FILES[1].name}: rename" in capsys.readouterr().err


def checked(tmp_path, **fields):
    """Check the rows of llvmpipe with one of them changed; return the status."""
    file = File.read(FILES[1])
    name, row = next((name, row) for name, row in file.rows.items() if row["program"] == "diagonal")
    new = File(tmp_path / "new.ndjson", file.header, file.rows | {name: row | fields})
    new.write()
    return __main__.main(["check", str(new.path)])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dirty": True}, "differed from their commit"),
        ({"commit": None}, "of no commit"),
        ({"judged": None}, "nobody judged"),
        ({"device": "another"}, "is of another"),
        ({"wall_max": 1e-9}, "is not between its limits"),
        ({"clock": 1e9, "clock_min": 1e9, "clock_max": 1e9}, "ran longer than the call"),
        ({"rate": 1.0}, "times its cells over its seconds"),
        ({"cells": 1}, "of the same work"),
        ({"wall": 1e-6, "wall_min": 1e-6, "wall_max": 1e-6, "clock": None}, "of what is possible"),
    ],
)
def test_what_is_not_published(tmp_path, capsys, fields, words):
    assert checked(tmp_path, **fields) == 1
    assert words in capsys.readouterr().err


def test_our_rows_pass_the_check(capsys):
    assert __main__.main(["check", *map(str, check.results())]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(check.results())


def test_every_link_has_its_row(page):
    there = set(re.findall(r'id="(d\d+-[0-9a-f]+)"', page))
    assert len(there) == sum(len(File.read(path).rows) for path in FILES)
    assert set(re.findall(r'href="#(d[^"]+)"', page)) <= there
    assert "#d" in page.partition("Five papers")[2].partition("<h2>")[0]


def test_the_page_needs_nothing_else(page):
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert "<script>" in page
    assert page.index('class="picture"') < page.index("<h2>")


def test_the_picture_has_every_device(page):
    picture = page.partition('class="picture"')[2].partition("</figure>")[0]
    for words in ("glsw on H100", "glsw on llvmpipe", "parasail", "Search a protein database"):
        assert words in picture


def test_devices_of_one_name_are_told_apart(tmp_path):
    files = [File.read(RESULTS / f"{name}.ndjson") for name in ("h200", "h200", "zink")]
    files[1] = replace(files[1], path=tmp_path / "2xh200.ndjson", rows={})
    names = [column.name for column in report.columns_of(files)]
    assert names == ["H200 (h200)", "H200 (2xh200)", "zink on lavapipe"]
    tables = report.by_workload(report.columns_of(files))
    heads = {name: str(made.head) for name, _, made in tables}
    assert "zink" in heads["pairs"]
    assert "2xh200" not in heads["pairs"], "it has no such row"


def test_the_papers_are_decided(page):
    for words in ("holds</span>", "does not hold</span>", "holds in part</span>"):
        assert words in page


# the READMEs


def test_drifted_tables_are_found(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "bench").mkdir()
    for name in readme.made():
        text = (readme.ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(readme, "ROOT", tmp_path)
    assert __main__.main(["readme", "--check"]) == 0
    page = tmp_path / "docs" / "SPEED.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(" GCUPS by wall time", " GCUPS"))
    assert __main__.main(["readme", "--check"]) == 1
    assert "make readme-tables" in capsys.readouterr().err
    assert __main__.main(["readme"]) == 0
    assert page.read_text(encoding="utf-8") == text
    (tmp_path / "README.md").write_text("nothing\n")
    assert __main__.main(["readme"]) == 2


# other programs

# It is started many times for the same files: it keeps its table, and then imports nothing large.
ALIGN = """\
import pathlib, sys
words = sys.argv[1:]
assert "--gop" not in words, words
names = words[words.index("--query") + 1], "db.fa"
texts = [pathlib.Path(name).read_text() for name in names]
kept = pathlib.Path({folder!r}) / ("kept." + "-".join(str(len(text)) for text in texts))
if not kept.exists() or not kept.read_text().startswith("".join(texts)):
    sys.path.insert(0, {root!r})
    from bench.work.search_base import WITH_CUDASW4
    from glsw.alignment.batch import Batch
    from glsw.engines import Reference
    from glsw.sequences.fasta import read
    queries, targets = (list(read(name)) for name in names)
    encode = WITH_CUDASW4.alphabet.encode
    codes = [encode(each.letters) for each in targets]
    table = ["header\\n"]
    for q, query in enumerate(queries):
        batch = Batch.one_to_many(encode(query.letters), codes)
        scores = sorted(Reference(WITH_CUDASW4).scores(batch))
        for k, score in enumerate(scores[::-1][:10]):
            score += {off} - (q == 0 and len(queries) > 1)  # as it does of a million targets
            table.append("\\t".join(map(str, [q, 1, "q", k, score, 1, "t", 0])) + "\\n")
    kept.write_text("".join([*texts, *table]))
pathlib.Path("out").write_text(kept.read_text().removeprefix("".join(texts)))
for q in range(texts[0].count(">")):
    print(f"Processing query {{q}} ... Done. Scan time: 0.00{{q + 1}} s, 1 GCUPS")
"""


@pytest.fixture
def cudasw4(tmp_path):
    """Return a folder of programs that print what CUDASW++4.0 prints."""

    def cudasw4(off=0):
        script = tmp_path / "align.py"
        words = {"root": str(readme.ROOT), "folder": str(tmp_path), "off": off}
        script.write_text(ALIGN.format(**words))
        for name, body in (("align", f'exec "{sys.executable}" "{script}" "$@"'), ("makedb", ":")):
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(path.stat().st_mode | stat.S_IEXEC)
        return tmp_path

    return cudasw4


@pytest.mark.parametrize("off", [0, 1])
def test_cudasw4_stands_in_the_same_run(bench, cudasw4, off):
    status, file = bench(
        *("search", "--engines", "diagonal"), *("--competitor", f"cudasw4={cudasw4(off)}")
    )
    rows = {row["program"]: row for row in file.rows.values()}
    assert status == off
    for kind in ("dpx", "half2"):
        found = rows[f"CUDASW++4.0 {kind}"]
        assert (found["ours"], found["wrong"] > 0) == (False, bool(off))
        assert found.get("wall") == (None if off else 0.002)  # of the second scan
    assert {row["scoring"] for row in rows.values()} == {"BLOSUM62, gaps 11, 1"}


def test_programs_are_found_or_told(tmp_path):
    found = rivals.find({})
    assert "CUDASW++4.0" not in found
    assert "CUDASW++4.0" in rivals.NAMES
    there = re.escape(str(tmp_path / "ssearch36"))
    with pytest.raises(ValueError, match=f"^ssearch36: there is no file {there}$"):
        rivals.find({"ssearch36": str(tmp_path / "ssearch36")})


@pytest.mark.parametrize("cores", [1, 2])
def test_other_programs_give_the_same_scores(cores):
    random = np.random.default_rng(1)
    queries = Sequences.of([random.integers(0, 20, 50, np.uint8)])
    targets = Sequences.of([random.integers(0, 20, n, np.uint8) for n in (40, 3, 120, 60)])
    batch = Batch.one_to_many(queries[0], targets)
    expected = Reference(BLOSUM).scores(batch)
    for program, _ in rivals.searching(rivals.find({}), BLOSUM, cores, slow=True):
        assert program.scores_of(batch).tolist() == program.listed(expected).tolist(), program.name
    pairs = Batch.pairwise(targets, Sequences.of([each[::-1].copy() for each in targets]))
    expected = Reference(BLOSUM).scores(pairs)
    for program, _ in rivals.aligning(rivals.find({}), BLOSUM, cores):
        assert program.scores_of(pairs).tolist() == expected.tolist(), program.name


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_parasail_judges_alignments_that_are_not_local(mode):
    pytest.importorskip("parasail")
    scoring = BLOSUM.in_mode(mode)
    sides = ["MKVLAWHEAGAWGHEE", "WWWW", "MKV"], ["PAWHEAE", "PPPP", "MKVLAWHEAGAWGHEE"]
    batch = Batch.pairwise(*([scoring.alphabet.encode(x) for x in side] for side in sides))
    name, scores = programs.judge(scoring, batch)
    assert name == "parasail"
    assert scores.tolist() == Reference(scoring).scores(batch).tolist()
