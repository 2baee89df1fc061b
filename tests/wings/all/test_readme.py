"""README.md and its tables, and what pages say of bench/results. test_docs.py runs examples."""

import re
from pathlib import Path

import pytest

from bench import readme
from bench.compare import matches

README = Path(readme.ROOT, "README.md")
STATISTICS = Path(readme.ROOT, "docs", "STATISTICS.md")


def test_it_is_read_in_minutes():
    assert len(README.read_text(encoding="utf-8").split()) <= 1000


def test_tables_are_those_of_the_results():
    assert readme.main(["--check"]) == 0


def test_a_changed_result_changes_the_table(monkeypatch):
    fields = {"workload": "three-large", "sizes": [512] * 3, "task": "ends", "program": "subtable"}
    rows = [row for row in readme.load("h100") if matches(row, fields)]
    before = readme.made()["docs/SPEED.md"]
    for row in rows:
        monkeypatch.setitem(row, "wall", row["cells"] / 123.4e9)
    assert "| 123 (" in readme.made()["docs/SPEED.md"]
    assert "| 123 (" not in before


def test_the_last_version_is_read_in_a_minute():
    changes = Path(readme.ROOT, "CHANGELOG.md").read_text(encoding="utf-8")
    _, newest, *_ = re.split(r"^## ", changes, flags=re.MULTILINE)
    assert len(newest.splitlines()) <= 60


def test_the_first_page_shows_rivals():
    text = readme.made()["README.md"]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len(cells) == 5
    assert all(all(row) for row in cells)


@pytest.mark.parametrize("old", [True, False])
def test_old_rows_are_marked(monkeypatch, old):
    monkeypatch.setattr(readme, "older", lambda row: old and row["ours"])
    made = readme.made()
    for name in ("README.md", "docs/SPEED.md", "bench/README.md"):
        assert (readme.MARK in made[name], readme.LEGEND[readme.MARK] in made[name]) == (old, old)
    lines = [line for line in made["docs/SPEED.md"].splitlines() if line.startswith("| glsw")]
    cells = [cell for line in lines for cell in line.split("|")[2:] if cell.strip()]
    assert cells
    assert {readme.MARK in cell for cell in cells} == {old}


def test_what_is_said_of_significance():
    text = STATISTICS.read_text(encoding="utf-8")
    found = [row for row in readme.load("cpu") if row["workload"] == "significance"]
    notes = {row["options"]: [] for row in found}
    for row in found:
        notes[row["options"]].append(row)
    for tool, said in (("blastp", "{} hits up to E 1000"), ("blastn", "{} hits")):
        mine = notes[f"beside {tool}"]
        hits = sum(row["judged"] for row in mine)
        assert f"| {tool}, {len(mine)} " in text
        assert said.format(f"{hits:,}") in text
        assert sum(number(row, r"same digits (\d+)") for row in mine) == hits
    mine = notes["beside blastp"]
    turned, neighbours = (
        int(sum(number(row, pattern) for row in mine))
        for pattern in (r"(\d+) of \d+ neighbours", r"of (\d+) neighbours")
    )
    assert f"Of {neighbours:,} adjacent pairs of BLAST hits, {turned:,} are" in text
    (other,) = notes["beside ssearch36"]
    low, high = number(other, r"ratio ([\d.]+)"), number(other, r"ratio [\d.]+ to ([\d.]+)")
    assert f"our fit, {other['judged']} hits" in text
    assert f"{low:.2f} to {high:.2f} times" in text
    assert f"median {other['rate']:.2f}" in text


def number(row, pattern):
    return float(re.search(pattern, row["note"])[1])


def test_lines_are_short():
    text = README.read_text(encoding="utf-8")
    made = text[text.index(readme.BEGIN) : text.index(readme.END)]
    long = [line for line in text.replace(made, "").splitlines() if len(line) > 100]
    assert long == []
