"""Columns, keys and tags: all are described, and a name means the same in Python and in files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from Bio.Seq import reverse_complement, translate
from program import rows

import glsw
from glsw import Aligner, Record, Scoring, SearchResult
from glsw.alignment.columns import COLUMNS
from glsw.output import FORMATS, jsonl, paf, sam

GENE = "TTCTGCTTCATGCCACGCCGGAAACTT"
PROTEIN = translate(reverse_complement(GENE))
SEARCHES: dict[str, tuple[Scoring, str, list[Record], dict[str, Any]]] = {
    "proteins": (Scoring.blast(), PROTEIN, [Record("t", "of a kind", f"WW{PROTEIN}")], {}),
    "more hits": (Scoring.blast(), PROTEIN, [Record(k, "", PROTEIN) for k in "ab"], {"top": 1}),
    "frames": (Scoring.blast(), f"A{GENE}", [Record("t", "", PROTEIN)], {"genetic_code": 1}),
    "frames of the target": (
        Scoring.blast(),
        PROTEIN,
        [Record("t", "", f"A{GENE}C")],
        {"target_genetic_code": 1},
    ),
    "minus": (Scoring.nucleotide(), GENE, [Record("t", "", reverse_complement(GENE))], {}),
    "plus": (Scoring.nucleotide(), f"CC{GENE}", [Record("t", "", f"A{GENE}")], {}),
    "no statistics": (Scoring.blast(), PROTEIN, [Record("t", "", PROTEIN)], {"statistics": "none"}),
}


PLACES: dict[str, tuple[Scoring, str, list[Record], dict[str, Any]]] = {
    "twice": (Scoring.nucleotide(), GENE, [Record("t", "", f"{GENE}{GENE}")], {}),
    "parts": (
        Scoring.nucleotide(),
        f"{GENE}{GENE[::-1]}",
        [Record("t", "", f"{GENE[::-1]}{GENE}")],
        {"max_hsps": 2, "per_part": True},
    ),
}


def results(searches: dict[str, Any] = SEARCHES) -> Iterator[SearchResult]:
    for scoring, query, targets, options in searches.values():
        yield Aligner(scoring, engine="reference").search(query, targets, **options)


def written(name: str, result: SearchResult) -> str:
    stream = io.StringIO()
    stream.write(FORMATS[name].header if isinstance(FORMATS[name].header, str) else "")
    FORMATS[name].write(result, stream)
    return stream.getvalue()


@pytest.mark.parametrize(("name", "tags"), [("sam", sam.TAGS), ("paf", paf.TAGS)])
def test_all_tags_are_described(name: str, tags: dict[str, str]) -> None:
    found = set()
    for result in results(SEARCHES | PLACES):
        stream = io.StringIO()
        glsw.write(result, stream, r"sam @RG\tID:a" if name == "sam" else name)
        for line in stream.getvalue().splitlines():
            if line[0] == "@":
                continue
            fields = line.split("\t")[11 if name == "sam" else len(paf.COLUMNS) :]
            found |= {field[:4] for field in fields}
    assert found == {*tags}


def test_all_keys_are_described() -> None:
    for result in results():
        shown = json.loads(written("jsonl", result))
        keys = [*shown]
        for hit in shown["hits"][:1]:
            keys += [f"hits[].{key}" for key in hit]
            keys += [f"hits[].hsps[].{key}" for key in hit["hsps"][0]]
            assert {*shown["query"]} == {*hit["target"]} == {"id", "description", "length"}
        assert sorted(keys) == sorted(jsonl.KEYS)


def test_one_name_has_one_meaning() -> None:
    """`query_start` counted from 1 here and from 0 there, `identity` was 76.0 and 0.76."""
    for (_, query, targets, _), result in zip(SEARCHES.values(), results(), strict=True):
        (row,) = result.rows()
        (hsp,) = result[0].hsps
        (line,) = rows(written("tsv", result))
        ((shown,),) = (hit["hsps"] for hit in json.loads(written("jsonl", result))["hits"])
        assert tuple(line) == COLUMNS
        for name in ("query_start", "query_end", "target_start", "target_end", "identities"):
            assert int(line[name]) == shown[name] == row[name]
        assert row["identity"] == shown["identity"] == hsp.alignment.identity == 1
        assert line["identity"] == "1.0000"
        part = query[row["query_start"] : row["query_end"]]
        if row["strand"] == "-":
            part = reverse_complement(part)
        other = targets[0].letters[row["target_start"] : row["target_end"]]
        if row["target_frame"] < 0:
            other = reverse_complement(other)
        part = translate(part) if row["frame"] else part
        assert part == (translate(other) if row["target_frame"] else other)
        assert sorted(hsp.query_place) == [row["query_start"] + 1, row["query_end"]]
        assert sorted(hsp.target_place) == [row["target_start"] + 1, row["target_end"]]


def test_frames_of_pandas_agree() -> None:
    pandas = pytest.importorskip("pandas")
    query, target = "MKVLAWHEAGPQ", "WWMKILAWHEAG"
    pairs = glsw.align_pairs([query], [target], engine="reference").to_dataframe()
    result = glsw.search(query, [target], engine="reference")
    searched, alignment = result.to_dataframe(), result[0].alignment
    for name in ("query_start", "query_end", "target_start", "target_end", "identities", "columns"):
        assert pairs[name][0] == searched[name][0] == getattr(alignment, name)
    assert searched["identity"][0] == alignment.identity < 1
    read = pandas.read_csv(io.StringIO(written("tsv", result)), sep="\t")
    numbers = ["query_start", "query_end", "target_start", "target_end", "query_length"]
    pandas.testing.assert_frame_equal(read[numbers], searched[numbers])
    assert read["identity"][0] == pytest.approx(searched["identity"][0], abs=5e-5)
