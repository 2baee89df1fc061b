"""README.md: its tables are those that bench/results make. tests/test_docs.py runs its examples."""

import re
from pathlib import Path

import pytest

from bench import readme

README = Path(readme.ROOT, "README.md")


def test_tables_are_those_of_the_results():
    assert readme.main(["--check"]) == 0


def test_a_table_that_has_drifted_is_found(tmp_path, monkeypatch, capsys):
    text = README.read_text(encoding="utf-8")
    drifted = re.sub(r"(\| `diagonal`, 1000 DNA pairs.*?\| )\d+", r"\g<1>999", text)
    assert drifted != text
    path = tmp_path / "README.md"
    path.write_text(drifted, encoding="utf-8")
    monkeypatch.setattr(readme, "ROOT", tmp_path)
    assert readme.main(["--check"]) == 1
    assert "make readme-tables" in capsys.readouterr().err
    assert readme.main([]) == 0
    assert path.read_text(encoding="utf-8") == text


def test_marks_are_needed(tmp_path, monkeypatch, capsys):
    (tmp_path / "README.md").write_text("nothing\n")
    monkeypatch.setattr(readme, "ROOT", tmp_path)
    assert readme.main([]) == 2
    assert "once each" in capsys.readouterr().err


def test_every_number_has_a_result(monkeypatch):
    """A changed result changes the table."""
    found = readme.load("aymone2022-h100.json")
    row = readme.one(
        "aymone2022-h100.json",
        workload="DNA 1/-1, linear gaps 2",
        task="paths",
        ties="conventional",
    )
    assert row in found["results"]
    before = readme.made()
    monkeypatch.setitem(row, "gcups", 123.4)
    assert "123 (wall)" in readme.made()
    assert "123 (wall)" not in before


@pytest.mark.parametrize("file", readme.DEVICES.values())
def test_devices_have_their_files(file):
    assert (readme.RESULTS / file).is_file()


def test_what_is_said_of_significance():
    text = README.read_text(encoding="utf-8")
    found = readme.load("significance-cpu.json")["results"]
    for tool, said in (("blastp", "{} hits up to E 1000"), ("blastn", "{} hits")):
        mine = [result for result in found if result["tool"] == tool]
        hits = sum(result["hits"] for result in mine)
        assert f"| {tool}, {len(mine)} " in text
        assert said.format(f"{hits:,}") in text
        assert sum(result["same_digits"] for result in mine) == hits
    orders = [result["order"] for result in found if result["tool"] == "blastp"]
    turned, neighbours = (sum(each[key] for each in orders) for key in ("turned", "neighbours"))
    assert f"Of BLAST's {neighbours:,} pairs of neighbours, {turned:,} are" in text
    (other,) = (result for result in found if result["tool"] == "ssearch36")
    ratio, bits = other["evalue_ratio"], other["bits_difference"]
    assert f"our fit, {other['hits']} hits" in text
    assert f"{ratio['minimum']:.2f} to {ratio['maximum']:.2f} times" in text
    assert f"median {ratio['median']:.2f}" in text
    assert f"{bits['median']:.1%} (median), at most {bits['maximum']:.1%}" in text.replace(
        " %", "%"
    )


def test_lines_are_short():
    text = README.read_text(encoding="utf-8")
    made = text[text.index(readme.BEGIN) : text.index(readme.END)]
    long = [line for line in text.replace(made, "").splitlines() if len(line) > 100]
    assert long == []
