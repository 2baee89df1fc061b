"""The workload ``sensitivity``: relatives before the first error, and errors per query."""

from __future__ import annotations

import pytest

from bench.work.sensitivity import Counts, _best, counted

CLASSES = {
    **{"q": "a.1.1.1", "near": "a.1.1.1", "nearer": "a.1.1.1"},
    **{"far": "a.1.1.2", "fold": "a.1.2.1", "other": "b.1.1.1", "alone": "c.1.1.1"},
}


@pytest.mark.parametrize(
    ("order", "family", "superfamily", "pairs"),
    [
        ("near nearer far other", 1.0, 1.0, 1.0),
        ("near other nearer far", 0.5, 0.0, 1 / 3),
        ("fold near q far nearer", 1.0, 1.0, 1.0),  # neither right nor wrong
        ("other near nearer far", 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
    ],
)
def test_relatives_before_the_first_error(
    order: str, family: float, superfamily: float, pairs: float
) -> None:
    hits = {"q": [(name, 0.1 * k) for k, name in enumerate(order.split())]}
    assert counted(hits, CLASSES) == pytest.approx((family, superfamily, pairs))


def test_a_query_without_relatives_counts_for_errors_only() -> None:
    hits = {"q": [("near", 1e-9)], "alone": [("other", 1e-5)]}
    assert counted(hits, CLASSES) == pytest.approx(Counts(0.5, 0.0, 1 / 3))


def test_errors_of_equal_evalues_count_together() -> None:
    hits = {"q": [("near", 1e-9), ("nearer", 0.5), ("other", 0.5)]}
    assert counted(hits, CLASSES).pairs == pytest.approx(1 / 3)


def test_each_target_counts_once() -> None:
    lines = ["a\tb\t0.5", "a\tc\t0.1", "a\tb\t0.01", "Search has converged!", ""]
    assert _best(lines) == {"a": [("b", 0.01), ("c", 0.1)]}
