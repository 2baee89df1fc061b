"""Hits of many queries aligned together: in the columns that the scan has found, and in groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from smaller import smaller

from glsw import Aligner, Record, Scoring, SearchResult
from glsw.engines.base import ScanHints
from glsw.search import search as flow, select
from glsw.search.ranking import Found, target_numbers
from glsw.search.scan import ScanResult

DNA = Scoring.nucleotide()


def dna(count: int, length: int, seed: int) -> list[Record]:
    random = np.random.default_rng(seed)
    return [
        Record(f"r{seed}.{k}", "", "".join(random.choice(list("ACGT"), length)))
        for k in range(count)
    ]


TARGETS = [*dna(3, 400, 1), *dna(2, 30, 2)]
QUERIES = [
    Record("a", "", TARGETS[0].letters[50:90] + "AC" + TARGETS[0].letters[90:110]),
    *dna(1, 40, 3),
    Record("b", "", TARGETS[2].letters[300:340].lower()),
]


def rows(results: Iterator[SearchResult]) -> list[list[dict[str, object]]]:
    return [list(each.rows()) for each in results]


@pytest.mark.parametrize("all_places", [True, False])
@pytest.mark.parametrize("max_hsps", [1, 3])
def test_first_alignments_in_the_columns_that_the_scan_has_found(
    max_hsps: int, all_places: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = Aligner(DNA, engine="reference")
    options = {"max_hsps": max_hsps, "min_score": 12}
    expected = rows(aligner.search(QUERIES, TARGETS, **options))
    scan = flow.scan_database

    def placed(run, queries, database, *rest) -> Iterator[ScanResult]:
        for codes, found in zip(queries, scan(run, queries, database, *rest), strict=True):
            key = found.found.key
            columns = np.zeros((len(key), 2), np.int64)
            for k, number in enumerate(target_numbers(key).tolist()):
                if all_places or number % 2 == 0:
                    target = database[number].letters
                    best = aligner.align(DNA.alphabet.decode(codes), target)
                    columns[k] = best.target_start, best.target_end
            yield found._replace(found=Found(key, columns))

    lengths: list[list[int]] = []
    together = select.aligned

    def watched(engine, batch, *rest):
        lengths.append(batch.target_lengths.tolist())
        return together(engine, batch, *rest)

    monkeypatch.setattr(flow, "scan_database", placed)
    monkeypatch.setattr(select, "aligned", watched)
    assert rows(aligner.search(QUERIES, TARGETS, **options)) == expected
    first = [
        length for k in ([0] if max_hsps > 1 else range(len(lengths))) for length in lengths[k]
    ]
    assert (400 in first) != all_places
    assert min(first) < 30
    if max_hsps > 1:
        assert max(max(each) for each in lengths[1:]) == 400


def test_targets_of_many_queries_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    together = select.aligned

    def watched(engine, batch, *rest):
        seen.append((len(batch), len(batch.targets), batch.targets))
        return together(engine, batch, *rest)

    monkeypatch.setattr(select, "aligned", watched)
    aligner = Aligner(DNA, engine="reference")
    found = rows(aligner.search(QUERIES * 4, TARGETS[:1], max_hsps=4, strand="plus"))
    assert (sum(map(len, found)) > 12, {count for _, count, _ in seen}) == (True, {1})
    assert len({id(targets) for *_, targets in seen}) == 1
    assert seen[0][0] == 12


def test_a_reader_may_stop_and_an_error_comes_after_the_results_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aligner = Aligner(DNA, engine="reference")
    monkeypatch.setattr(type(aligner.engine), "hints", ScanHints(cells_at_once=1))
    smaller(monkeypatch, seconds_together=-1)
    answers, scanned = type(aligner.engine).answers, []

    def failing(self, tiles, *, progress=None):
        for tile in tiles:
            scanned.append(len(tile.queries))
            if len(scanned) == 3:
                raise ValueError("the third")
            yield from answers(self, [tile], progress=progress)

    monkeypatch.setattr(type(aligner.engine), "answers", failing)
    results = aligner.search(QUERIES, TARGETS, strand="plus")
    assert next(results).query is QUERIES[0]
    assert scanned == [1]
    results.close()  # type: ignore[attr-defined]
    assert list(results) == []
    scanned.clear()
    results = aligner.search(QUERIES, TARGETS, strand="plus")
    assert [next(results).query.id for _ in range(2)] == ["a", "r3.0"]
    with pytest.raises(ValueError, match="the third"):
        next(results)


def test_masked_queries_and_queries_of_several_contexts_stay_in_order() -> None:
    aligner = Aligner(DNA, engine="reference", lower_case_mask=True)
    queries = [QUERIES[2], QUERIES[0], QUERIES[2], QUERIES[1], QUERIES[2]]
    with pytest.warns(RuntimeWarning, match="all 40 residues are masked"):
        found = list(aligner.search(queries, TARGETS))
    assert [each.query for each in found] == queries
    assert [len(each) > 0 for each in found] == [False, True, False, True, False]
