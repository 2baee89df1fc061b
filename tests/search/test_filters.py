"""The filter after alignment: hits, ranks and counts are those of a whole list filtered by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from subtests import with_subtests
from wing import of_wing

from glsw import Aligner, Record, SearchResult
from glsw.alignment.hits import Hsp

LETTERS = np.array(list("ARNDCQEGHILKMFPSTWYV"))


def some(seed: int, length: int = 80) -> str:
    return "".join(np.random.default_rng(seed).choice(LETTERS, length))


def mutated(letters: str, seed: int, part: float) -> str:
    random = np.random.default_rng(seed)
    return "".join(random.choice(LETTERS) if random.random() < part else each for each in letters)


QUERIES = [Record("one", "", some(1)), Record("other", "", some(2))]
TARGETS = [
    Record(
        f"t{k}",
        "",
        mutated(QUERIES[k % 2].letters[: 80 - k], k, 0.05 * (k % 13))
        + some(100 + k, 30)
        + mutated(QUERIES[k % 2].letters, 50 + k, 0.3),
    )
    for k in range(40)
]
LIMITS = {"min_identity": 0.7}, {"min_coverage": 0.6}, {"min_identity": 0.5, "min_coverage": 0.9}


def rows(results: Iterable[SearchResult]) -> list[tuple[Any, ...]]:
    return [
        (each.more, [(hit.rank, hit.target.id, list(map(shown, hit.hsps))) for hit in each])
        for each in results
    ]


def shown(hsp: Hsp) -> tuple[Any, ...]:
    return hsp.score, hsp.bits, hsp.alignment.cigar, hsp.query_place


def within(hsp: Hsp, query: Record, min_identity: float = 0, min_coverage: float = 0) -> bool:
    first, last = sorted(hsp.query_place)
    covered = (last - first + 1) / len(query)
    return hsp.alignment.identity >= min_identity and covered >= min_coverage


@pytest.mark.parametrize(
    "options",
    [
        {"composition": 0},
        {"composition": 0, "max_hsps": 3, "order": "evalue"},
        *of_wing("composition", [{"composition": 2, "max_hsps": 2}]),
    ],
)
@with_subtests("limits, top", [(each, top) for each in LIMITS for top in (None, 3)])
def test_a_filter_is_that_of_a_list(
    options: dict[str, Any], limits: dict[str, float], top: int | None
) -> None:
    with Aligner(engine="cpu") as aligner:
        every = list(aligner.search(QUERIES, TARGETS, top=None, evalue=10, **options))
        found = aligner.search(QUERIES, TARGETS, top=top, evalue=10, **limits, **options)
        for one, result in zip(rows(found), every, strict=True):
            query = result.query
            kept = [hit for hit in result if within(hit.hsps[0], query, **limits)]
            assert 0 < len(kept) < len(result)
            listed = [
                (k, hit.target.id, [shown(x) for x in hit.hsps if within(x, query, **limits)])
                for k, hit in enumerate(kept[:top], start=1)
            ]
            assert one == (len(kept) - len(listed), listed)


def test_without_evalues_the_best_that_pass_are_listed() -> None:
    limits = {"top": 3, "evalue": None, "composition": 0}
    with Aligner(engine="cpu") as aligner:
        every = list(aligner.search(QUERIES, TARGETS, **{**limits, "top": None}))
        found = list(aligner.search(QUERIES, TARGETS, min_identity=0.9, **limits))
    for result, whole in zip(found, every, strict=True):
        passing = [hit.target.id for hit in whole if hit.alignment.identity >= 0.9]
        assert [hit.target.id for hit in result] == passing[:3]
        assert result.more == len(passing[3:])
        assert "E-value" not in result.unlisted


def test_skipped_queries_change_nothing() -> None:
    options: dict[str, Any] = {"top": 4, "min_identity": 0.6, "max_hsps": 2}
    with Aligner(engine="cpu") as aligner:
        wanted = rows(aligner.search(QUERIES, TARGETS, **options))
        assert rows(aligner.search(QUERIES, TARGETS, skip=1, **options)) == wanted[1:]


@pytest.mark.parametrize("name", ["min_identity", "min_coverage"])
def test_fractions_only(name: str) -> None:
    with Aligner(engine="reference") as aligner:
        for wrong in (-0.1, 70, float("nan")):
            with pytest.raises(ValueError, match=f"{name} .*: a number from 0 to 1 expected"):
                aligner.search("MKV", TARGETS, **{name: wrong})
        with pytest.raises(TypeError, match=name):
            aligner.search("MKV", TARGETS, **{name: "0.7"})
