"""What the tests of the benchmarks share."""

from __future__ import annotations

import pytest

from bench import measure, pairs, triples


@pytest.fixture
def few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three repeats however long the budget is, and little work for the reference.

    A test whose budget is generous then takes as long as its work, on a busy machine as well.
    """
    monkeypatch.setattr(measure, "MOST", measure.FEWEST)
    monkeypatch.setattr(measure, "LEAST", 0.0)
    monkeypatch.setattr(pairs, "BY_REFERENCE", 1e5)
    monkeypatch.setattr(triples, "TRIED", 4)
