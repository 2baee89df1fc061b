"""Ends that rows of the tables give, whichever sequence has the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from smaller import smaller

from glsw import Scoring
from glsw.alignment import traceback as rows


@pytest.mark.parametrize("seed", range(40))
def test_the_end_does_not_depend_on_which_sequence_has_the_rows(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(seed)
    matrix = draw.integers(-3, 3, (4, 4)) if seed % 2 else 3 * np.eye(4) - 2
    scoring = Scoring.from_array(matrix, "ACGT", 3, 1)
    if seed % 3:
        scoring = replace(scoring, insertion_open=2, insertion_extend=1)
    ends = set()
    for length in (0, 1, 9, 30):
        query, target = (draw.integers(0, 2, each, np.uint8) for each in (40, length))
        for limit in (0, 2**29):
            smaller(monkeypatch, profile_bytes=limit)
            ends.add((length, rows.best_end(query, target, scoring)))
    assert len(ends) == 4


def test_the_shorter_sequence_has_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    step = rows.TableRow.next

    def counted(self: rows.TableRow) -> None:
        made.append(1)
        step(self)

    monkeypatch.setattr(rows.TableRow, "next", counted)
    query, target = np.zeros(5000, np.uint8), np.zeros(7, np.uint8)
    score, i, j = rows.best_end(query, target, Scoring.match_mismatch(1, -1, 1, 1))
    assert (score, i, j, len(made)) == (7, 5000, 7, 7)
