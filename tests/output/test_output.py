"""Writers: what they write, read back."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from glsw import Aligner, Hit, Hsp, Record, Scoring, SearchResult
from glsw.alignment.columns import COLUMNS
from glsw.alignment.listing import WIDTH
from glsw.output import ALIGNMENT_FORMATS, FORMATS, names_and_lengths, pairwise, tsv, write
from glsw.sequences.query import Context

QUERY = Record("q1", "a query", "HEAGAWGHEE")
DATABASE = [
    Record("far", "", "PPPPPP"),
    Record("near", "with\ta tab  and " + "a long description " * 9, "PAWHEAE"),
    Record("sp|P00000|" + "VERY_LONG_IDENTIFIER_" * 6, "described", "xxHEAGAWGHEExx"),
]


def searched(
    query: Record = QUERY, scoring: Scoring | None = None, database: list[Record] = DATABASE
) -> SearchResult:
    """Return the hits of a search, without statistics."""
    aligner = Aligner(scoring, engine="reference")
    width = aligner.scoring.alphabet.width
    found = sorted((aligner.align(query, each) for each in database), key=lambda a: -a.score)
    hits = tuple(
        Hit(rank, each.target, (Hsp(each, Context(len(query) // width)),))
        for rank, each in enumerate((each for each in found if each.score > 0), start=1)
    )
    residues = sum(map(len, database))
    return SearchResult(query, hits, 1, 1.0, "reference", "CPU", len(database), residues)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(name: str, result: SearchResult) -> str:
    stream = io.StringIO()
    form = FORMATS[name]
    header = form.header
    if not isinstance(header, str):
        header = header(names_and_lengths(DATABASE), "glsw")
    stream.write(header)
    form.write(result, stream)
    return stream.getvalue()


def tsv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_tsv_reads_back() -> None:
    result = searched()
    rows = tsv_rows(written("tsv", result))
    assert len(rows) == len(result) == 2
    for row, hit in zip(rows, result, strict=True):
        found = hit.alignment
        assert tuple(row) == COLUMNS
        assert None not in row.values()
        assert (row["query"], row["hsp"], row["strand"], row["frame"]) == ("q1", "1", "+", "0")
        assert (row["bits"], row["evalue"]) == ("", "")
        assert row["target"] == hit.target.id
        assert int(row["rank"]) == hit.rank
        assert int(row["score"]) == hit.score
        assert float(row["identity"]) == pytest.approx(found.identity, abs=5e-5)
        assert int(row["identities"]) == found.identities
        assert int(row["positives"]) == found.positives
        assert (int(row["gaps"]), int(row["columns"])) == (found.gaps, found.columns)
        for side, record in (("query", QUERY), ("target", hit.target)):
            start, end = int(row[f"{side}_start"]), int(row[f"{side}_end"])
            assert int(row[f"{side}_length"]) == len(record)
            shown = found.rows()[0 if side == "query" else 2]
            assert record.letters[start:end] == shown.replace("-", "")
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
    pairwise.write_list(searched(), stream)
    lines = stream.getvalue().splitlines()
    long_id, long_description = lines[2:4]
    if columns < 160:
        assert long_id.endswith(DATABASE[2].id)
    assert columns - 20 < len(long_description) <= columns
    assert long_description.endswith("...")


def test_table_is_100_wide_where_there_is_no_terminal() -> None:
    line = written("table", searched()).splitlines()[3]
    assert 80 < len(line) <= WIDTH == 100


def test_table_of_no_hits() -> None:
    text = written("table", searched(Record("none", "", "CCC")))
    assert text == "query none (3 letters): 0 hits in 3 sequences of 27 residues\n\n"


def test_table_says_what_is_known() -> None:
    (first, second), plain = searched().hits, searched()
    pairs = (
        Hsp(first.alignment, Context(10), 40.123, 2.34e-20),
        Hsp(second.alignment, Context(10, -1), 9.5, 1.5),
    )
    result = replace(
        plain,
        hits=(Hit(1, first.target, pairs),),
        statistics=SimpleNamespace(name="fitted"),  # type: ignore[arg-type]
    )
    _, heads, best, other, source, _ = written("table", result).splitlines()
    assert heads.split()[:7] == ["rank", "score", "bits", "E-value", "identity", "strand", "query"]
    assert best.split()[:7] == ["1", "62", "40.1", "2.3e-20", "100.0%", "plus", "1-10"]
    assert other.split() == ["17", "9.5", "1.5", "50.0%", "minus", "6-1", "2-7"]
    assert source == "E-values: fitted"
    rows = tsv_rows(written("tsv", result))
    assert [row["evalue"] for row in rows] == ["2.34e-20", "1.5"]
    assert [(row["rank"], row["hsp"], row["strand"]) for row in rows] == [
        ("1", "1", "+"),
        ("1", "2", "-"),
    ]
    assert (rows[1]["query_start"], rows[1]["query_end"]) == ("0", "6")


def test_table_names_the_frame() -> None:
    hsp = Hsp(searched()[0].alignment, Context(32, -1, -2), 40.0, 0.0)
    result = replace(searched(), hits=(Hit(1, DATABASE[2], (hsp,)),))
    _, heads, line, _ = written("table", result).splitlines()
    assert heads.split()[3:7] == ["E-value", "identity", "frame", "query"]
    assert line.split()[3:7] == ["0", "100.0%", "-2", "31-2"]


def test_alignment_reads_back() -> None:
    stream = io.StringIO()
    ALIGNMENT_FORMATS["pairwise"].write(searched(), stream)
    block = stream.getvalue().split("query  q1")[1].splitlines()
    query, between, target = block[4:7]
    assert query.split() == ["query", "1", "HEAGAWGHEE", "10"]
    assert target.split() == ["target", "3", "HEAGAWGHEE", "12"]
    assert between.split() == ["|" * 10]


def test_no_alignment_of_a_pair() -> None:
    stream = io.StringIO()
    pairwise.write_alignments(searched(Record("none", "", "CCC")), stream)
    assert stream.getvalue() == "query none: no alignment\n\n"


@pytest.mark.parametrize("name", [*FORMATS, "align"])
def test_decimal_scores_are_shown_in_units_of_the_matrix(name: str) -> None:
    scoring = Scoring.from_array(np.eye(26) * 2.3 - 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 3, 0.5)
    result = searched(scoring=scoring)
    assert result[0].score == 13
    if name == "align":
        stream = io.StringIO()
        ALIGNMENT_FORMATS["pairwise"].write(result, stream)
        assert "score 13.0," in stream.getvalue()
    elif name in ("sam", "paf"):
        assert "\tAS:i:130\t" in written(name, result)
    elif not name.startswith("blast"):
        assert "13.0" in written(name, result)


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_is_written_in_whole_lines(name: str) -> None:
    assert written(name, searched()).endswith("\n")


def test_codons_are_counted_not_characters() -> None:
    scoring = Scoring.named("SCHNEIDER", 10, 5)
    aligner = Aligner(scoring, engine="reference")
    result = aligner.search(Record("q", "", "ATGGCC"), [Record("t", "", "AAAATGGCC")])
    (row,) = tsv_rows(written("tsv", result))
    assert [row[name] for name in ("query_start", "query_end", "query_length")] == ["0", "2", "2"]
    assert [row[name] for name in ("target_start", "target_end", "target_length")] == [
        "1",
        "3",
        "3",
    ]
    assert written("table", result).splitlines()[2].split()[3:6] == ["1-2", "2-3", "3"]


def test_only_results_are_written() -> None:
    aligner, stream = Aligner(engine="reference"), io.StringIO()
    alignment = aligner.align("HEAGAWGHEE", "PAWHEAE")
    pairs = aligner.align_pairs(["HEAG"], ["HEAG"])
    for given in (alignment, [alignment], pairs):
        for form in ("sam", "tsv"):
            with pytest.raises(TypeError, match=r"^results of a search expected, got "):
                write(given, stream, form)  # type: ignore[arg-type]
