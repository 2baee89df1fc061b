"""Tables of high-scoring pairs: their arrays say what each alignment says by itself."""

from __future__ import annotations

import pickle
from dataclasses import fields
from itertools import chain, groupby
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from smaller import smaller

from glsw import Alignment, Hit, Hsp, Record, Scoring, SearchResult
from glsw.alignment import hits as hits_module, operations
from glsw.alignment.columns import columns_of
from glsw.alignment.hits import Hits
from glsw.alignment.paths import DIAGONAL, LEFT, UP, Ends, Paths, Runs
from glsw.alignment.table import HitTable
from glsw.output.cigar import compared
from glsw.output.format import of_rows
from glsw.sequences.query import Context
from glsw.sequences.records import EncodedRecord

SCORINGS = {
    "protein": (Scoring.blast(), "ARNDCQEGWvwX*"),
    "DNA": (Scoring.nucleotide(), "ACGTUNacgtu"),
    "codons": (Scoring.named("SCHNEIDER", 10, 5), ["ATG", "ATA", "gcc", "GCT", "TGG"]),
}
MOVES = st.lists(st.tuples(st.sampled_from([LEFT, UP, DIAGONAL]), st.integers(1, 9)), max_size=9)


@st.composite
def hsps(draw: st.DrawFn, name: str) -> Hsp:
    """Return an alignment along any path, of random letters."""
    scoring, letters = SCORINGS[name]
    moves = draw(MOVES)
    steps = np.array([[n * (move & 1), n * (move >> 1)] for move, n in moves]).reshape(-1, 2)
    start = np.array([draw(st.integers(0, 5)) for _ in "tq"])
    at = np.cumsum([start, *steps], axis=0)
    records = []
    for side, end in (("t", at[-1, 0]), ("q", at[-1, 1])):
        size = int(end) + draw(st.integers(0, 3))
        text = "".join(draw(st.lists(st.sampled_from(letters), min_size=size, max_size=size)))
        records.append(EncodedRecord.of(Record(side, f"{side} {size}", text), scoring.alphabet))
    target, query = records
    known = draw(st.sampled_from([(None, None), (40.5, 1e-9)]))
    strand = draw(st.sampled_from([1, -1])) if name == "DNA" else 1
    context = Context(len(query.codes), strand)
    found = Alignment(draw(st.integers(1, 99)), query, target, Runs.of_coordinates([at.T]), scoring)
    return Hsp(found, context, *known)


def operations_by_letter(found: Alignment) -> tuple[list[str], str]:
    """Return the kind of each column, and the letters of the target in those that have one."""
    query, _, target = (row.upper() for row in found.rows())
    kinds = []
    width = found.scoring.alphabet.width
    encode = found.scoring.alphabet.encode
    for q, t in zip(query, target, strict=True):
        if "-" in (q, t):
            kinds.append("D" if q == "-" else "I")
        else:
            same = q == t if width > 1 else encode(q) == encode(t)
            kinds.append("=" if same else "X")
    return kinds, target


def md_by_letter(found: Alignment) -> str:
    kinds, target = operations_by_letter(found)
    text, equal = "", 0
    for (kind, letter), previous in zip(
        zip(kinds, target, strict=True), ["", *kinds][:-1] or [], strict=False
    ):
        if kind == "=":
            equal += 1
        elif kind == "X":
            text, equal = f"{text}{equal}{letter}", 0
        elif kind == "D":
            text, equal = f"{text}{letter if previous == 'D' else f'{equal}^{letter}'}", 0
    return f"{text}{equal}"


@pytest.mark.parametrize("chunk", [1, 20, 2**20])
@pytest.mark.parametrize("name", SCORINGS)
@settings(max_examples=60)
@given(data=st.data())
def test_statistics_are_those_of_each_alignment(name: str, chunk: int, data: st.DataObject) -> None:
    each = data.draw(st.lists(hsps(name), min_size=1, max_size=5))
    hits = tuple(Hit(k, hsp.alignment.target, (hsp,)) for k, hsp in enumerate(each, start=1))
    result = SearchResult(Record("given", "", ""), hits, 1, 1.0, "reference", "CPU", 1, 1)
    with pytest.MonkeyPatch.context() as patch:
        smaller(patch, columns=chunk, columns_of_block=chunk)
        table = result.listed.table
        found = [hsp.alignment for hsp in each]
        rows = [one.rows() for one in found]
        assert table.identities.tolist() == [one.identities for one in found]
        assert table.positives.tolist() == [one.positives for one in found]
        assert table.gaps.tolist() == [one.gaps for one in found]
        assert table.columns.tolist() == [one.columns for one in found]
        assert table.cigars() == [one.cigar for one in found]
        for over in get_args(operations.Over):
            assert table.identity_over(over).tolist() == [one.identity_over(over) for one in found]
        assert table.coverage("both").tolist() == [one.coverage("both") for one in found]
        assert table.gap_opens.tolist() == [
            sum(gap for row in (q, t) for gap, _ in groupby(row, "-".__eq__)) for q, _, t in rows
        ]
        for side, places in (("query_place", table.query_places),):
            assert np.transpose(places).tolist() == [list(getattr(hsp, side)) for hsp in each]
        assert np.transpose(table.target_places).tolist() == [
            list(hsp.target_place) for hsp in each
        ]
        written = compared(table)
        copies = [table.alignment(row) for row in range(len(each))]
        for copy, one in [*zip(copies, found, strict=True)][::-1]:
            for some in (copy, pickle.loads(pickle.dumps(copy))):
                assert (some.rows(), some.cigar, str(some)) == (one.rows(), one.cigar, str(one))
                assert some.coverage("both") == one.coverage("both")
            assert "_row" not in copy.__getstate__()
    kinds = [operations_by_letter(one)[0] for one in found]
    assert written.equal == [one.count("=") for one in kinds]
    assert written.columns == [len(one) for one in kinds]
    assert written.cigars == [
        "".join(f"{len(list(run))}{kind}" for kind, run in groupby(one)) for one in kinds
    ]
    shown = str.maketrans({"*": "X"} if name == "protein" else {"*": "N", "U": "T"})
    assert written.mismatches == [md_by_letter(one).translate(shown) for one in found]
    for copy, one in zip(copies, found, strict=True):
        assert (copy.units, copy.query_start, copy.target_end) == (
            one.units,
            one.query_start,
            one.target_end,
        )


@settings(max_examples=100)
@given(st.lists(st.tuples(MOVES, st.integers(0, 9), st.integers(0, 9)), max_size=6))
def test_runs_are_the_paths(paths: list[tuple[list[tuple[int, int]], int, int]]) -> None:
    ends = np.array(
        [
            [q + sum(n for move, n in moves if move & 2), t + sum(n for m, n in moves if m & 1)]
            for moves, q, t in paths
        ],
        np.int32,
    ).reshape(-1, 2)
    runs = [
        np.array([n << 2 | move for move, n in moves[::-1]], np.uint32) for moves, _, _ in paths
    ]
    given_paths = Paths.of(Ends(np.ones(len(paths), np.int32), ends), runs)
    forwards = given_paths.forwards()
    expected = [given_paths.coordinates(p).tolist() for p in range(len(paths))]
    assert [forwards.coordinates(p).tolist() for p in range(len(paths))] == expected
    assert forwards.end.tolist() == ends.tolist()
    again = Runs.of_coordinates([forwards.coordinates(p) for p in range(len(paths))])
    for name in ("start", "moves", "lengths", "offsets"):
        assert getattr(again, name).tolist() == getattr(forwards, name).tolist()
    parts = [forwards[k : k + 2] for k in range(0, len(paths), 2)]
    joined = Runs.concatenated([Runs.of_coordinates([]), *parts])
    assert [joined.coordinates(p).tolist() for p in range(len(paths))] == expected
    backwards = forwards[np.arange(len(paths))[::-1]]
    assert [backwards.coordinates(p).tolist() for p in range(len(paths))] == expected[::-1]


def test_hits_become_objects_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from glsw import Aligner

    made, hsp = list[int](), hits_module.table_hsp
    monkeypatch.setattr(hits_module, "table_hsp", lambda *row: made.append(row[1]) or hsp(*row))
    result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHEAE", "HEAGAWGHEE"])
    assert (len(result), made) == (2, [])
    assert result[1] is result[1]
    assert made == [1]
    assert [hit.rank for hit in result.hits[:5]] == [1, 2]
    assert result[-1] is result[1]
    with pytest.raises(IndexError, match="hit 2 of 2"):
        result[2]


def test_tables_are_selected_joined_and_pickled() -> None:
    from glsw import Aligner

    aligner = Aligner(engine="reference")
    pair = ["HEAGAWGHEE", "PAWHEAE"]
    results = list(aligner.search(pair, pair[::-1], max_hsps=2, composition=0))
    table = results[0].listed.table
    rows = list(range(len(table)))
    assert results[1].listed.table is table
    called = []

    def number(some: HitTable) -> list[int]:
        called.append(some)
        return rows

    found = [of_rows(result, number) for result in results]
    assert ([*chain.from_iterable(found)], called) == (rows, [table])
    again = pickle.loads(pickle.dumps(table))
    assert not again.__dict__.keys() - {each.name for each in fields(table)}
    joined = HitTable.concatenated([table.select(slice(k, k + 1)) for k in rows])
    backwards = table.select(np.array(rows[::-1]))
    for some, order in ((again, rows), (joined, rows), (backwards, rows[::-1])):
        assert columns_of(some) == [[column[k] for k in order] for column in columns_of(table)]
        assert some.beyond is not None
    listed = [result.listed for result in results]
    turned, last = Hits.selected(listed, [np.array([1, 0]), np.array([len(listed[1]) - 1])])
    assert [hit.target.id for hit in turned] == ["target 1", "target 2"]
    assert [hit.rank for hit in turned] == [1, 2]
    assert turned.table.hidden is None
    assert turned.table is last.table
    assert [(hit.rank, str(hit.hsps)) for hit in last] == [(1, str(listed[1][-1].hsps))]
    unaligned = HitTable.of_scores(
        table.scoring, table.queries, table.targets, table.query, table.target, table.units
    )
    assert (unaligned.columns.tolist(), len(unaligned)) == ([0] * len(rows), len(rows))
