"""Writers: what they write, read back."""

from __future__ import annotations

import csv
import io
import os

import numpy as np
import pytest

from glsw import Aligner, Record, Scoring, SearchResult
from glsw.output import ALIGNMENT_FORMATS, FORMATS, pairwise, table, tsv

QUERY = Record("q1", "a query", "HEAGAWGHEE")
DATABASE = [
    Record("far", "", "PPPPPP"),
    Record("near", "with\ta tab  and " + "a long description " * 9, "PAWHEAE"),
    Record("sp|P00000|" + "VERY_LONG_IDENTIFIER_" * 6, "described", "xxHEAGAWGHEExx"),
]


def searched(query: Record = QUERY, scoring: Scoring | None = None) -> SearchResult:
    return Aligner(scoring, engine="reference").search(query, DATABASE)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(name: str, result: SearchResult) -> str:
    stream = io.StringIO()
    stream.write(FORMATS[name].header)
    FORMATS[name].write(result, stream)
    return stream.getvalue()


def tsv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_tsv_reads_back() -> None:
    result = searched()
    rows = tsv_rows(written("tsv", result))
    assert len(rows) == len(result) == 2
    for row, hit in zip(rows, result, strict=True):
        found = hit.alignment
        assert tuple(row) == tsv.COLUMNS
        assert None not in row.values()
        assert row["query"] == "q1"
        assert row["target"] == hit.target.id
        assert int(row["rank"]) == hit.rank
        assert int(row["score"]) == hit.score
        assert float(row["identity"]) == pytest.approx(100 * found.identity, abs=0.005)
        assert int(row["identities"]) == found.identities
        assert (int(row["gaps"]), int(row["columns"])) == (found.gaps, found.columns)
        for side, record in (("query", QUERY), ("target", hit.target)):
            start, end = int(row[f"{side}_start"]), int(row[f"{side}_end"])
            assert int(row[f"{side}_length"]) == len(record)
            shown = found.rows()[0 if side == "query" else 2]
            assert record.letters[start - 1 : end] == shown.replace("-", "")
        assert row["cigar"] == found.cigar
        assert row["description"].split() == hit.target.description.split()


def test_tsv_of_no_hits_is_its_header() -> None:
    assert written("tsv", searched(Record("none", "", "CCC"))) == tsv.HEADER


def test_table_reads_back() -> None:
    result = searched()
    title, heads, *lines = written("table", result).splitlines()
    assert title == "query q1 (10 letters): 2 hits in 3 sequences of 27 residues"
    assert heads.split() == ["rank", "score", "identity", "query", "target", "length", "name"]
    assert lines.pop() == ""
    for line, hit in zip(lines, result, strict=True):
        rank, score, identity, query, target, length, name = line.split()[:7]
        found = hit.alignment
        assert (int(rank), int(score)) == (hit.rank, hit.score)
        assert float(identity.rstrip("%")) == pytest.approx(100 * found.identity, abs=0.05)
        assert query == f"{found.query_start + 1}-{found.query_end}"
        assert target == f"{found.target_start + 1}-{found.target_end}"
        assert int(length) == len(hit.target)
        assert name == hit.target.id


def test_table_columns_stand_under_their_titles() -> None:
    _, heads, first, second, _ = written("table", searched()).splitlines()
    for word in ("rank", "score", "identity", "query", "target", "length"):
        end = heads.index(word) + len(word)
        assert all(line[end - 1] != " " and line[end] == " " for line in (first, second))


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_table_cuts_descriptions_but_not_ids(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "shutil.get_terminal_size", lambda fallback: os.terminal_size((columns, 24))
    )
    stream = Terminal()
    table.write(searched(), stream)
    lines = stream.getvalue().splitlines()
    long_id, long_description = lines[2:4]
    if columns < 160:
        assert long_id.endswith(DATABASE[2].id)
    assert columns - 20 < len(long_description) <= columns
    assert long_description.endswith("...")


def test_table_is_100_wide_where_there_is_no_terminal() -> None:
    line = written("table", searched()).splitlines()[3]
    assert 80 < len(line) <= table.WIDTH == 100


def test_table_of_no_hits() -> None:
    text = written("table", searched(Record("none", "", "CCC")))
    assert text == "query none (3 letters): 0 hits in 3 sequences of 27 residues\n\n"


def test_pairwise_is_the_list_and_then_the_alignments() -> None:
    result = searched()
    text = written("pairwise", result)
    ranked = written("table", result)
    assert text.startswith(ranked)
    assert text[len(ranked) :] == "".join(f"{hit.alignment}\n\n" for hit in result)


def test_alignment_reads_back() -> None:
    stream = io.StringIO()
    ALIGNMENT_FORMATS["pairwise"].write(searched(), stream)
    block = stream.getvalue().split("query  q1")[1].splitlines()
    query, between, target = block[4:7]
    assert query.split() == ["query", "1", "HEAGAWGHEE", "10"]
    assert target.split() == ["target", "3", "HEAGAWGHEE", "12"]
    assert between.split() == ["|" * 10]


def test_pairwise_of_no_hits() -> None:
    result = searched(Record("none", "", "CCC"))
    assert written("pairwise", result) == written("table", result)
    stream = io.StringIO()
    pairwise.write(result, stream)
    assert stream.getvalue() == "query none: no alignment\n\n"


@pytest.mark.parametrize("name", FORMATS)
def test_decimal_scores_are_shown_in_units_of_the_matrix(name: str) -> None:
    scoring = Scoring.from_array(np.eye(26) * 2.3 - 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3, 0.5)
    result = searched(scoring=scoring)
    assert result[0].score == 13
    assert "13.0" in written(name, result).replace("\t", " ").split("\n")[1 + (name != "tsv")]


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_is_written_in_whole_lines(name: str) -> None:
    assert written(name, searched()).endswith("\n")


def test_codons_are_counted_not_characters() -> None:
    scoring = Scoring.named("SCHNEIDER", 10, 5)
    aligner = Aligner(scoring, engine="reference")
    result = aligner.search(Record("q", "", "ATGGCC"), [Record("t", "", "AAAATGGCC")])
    (row,) = tsv_rows(written("tsv", result))
    assert [row[name] for name in ("query_start", "query_end", "query_length")] == ["1", "2", "2"]
    assert [row[name] for name in ("target_start", "target_end", "target_length")] == [
        "2",
        "3",
        "3",
    ]
    assert written("table", result).splitlines()[2].split()[3:6] == ["1-2", "2-3", "3"]
