"""What the tests of the benchmarks share."""

from __future__ import annotations

import pytest

from bench import measure, pairs, triples


@pytest.fixture
def one_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """One repeat however long the budget is, and little work for the reference.

    A test whose budget is generous then takes as long as its work, on a busy machine as well.
    """
    monkeypatch.setattr(measure, "MOST", 1)
    monkeypatch.setattr(pairs, "BY_REFERENCE", 1e5)
    monkeypatch.setattr(triples, "TRIED", 4)
