"""Queries that bring their own scores, by the core alone: a wing may register any such class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from glsw import Aligner, Record, Scoring
from glsw.inputs.source import Source
from glsw.scoring.positional import PositionalQuery, PositionalScoring
from glsw.sequences.records import ProfileRecord
from glsw.sequences.seg import Masked

BLOSUM62 = Scoring.blast()


class Doubled(PositionalQuery):
    """A sequence whose scores count twice."""

    def __init__(self, letters: str) -> None:
        self.scoring, self.letters = BLOSUM62, letters

    @classmethod
    def by_position(
        cls,
        queries: Sequence[Any],
        lower_case_mask: bool = False,
        mask_low_complexity: bool = False,
        seg: Masked = "no",
    ) -> tuple[PositionalScoring, list[ProfileRecord]]:
        codes = [BLOSUM62.alphabet.encode(each.letters) for each in queries]
        ends = np.cumsum([len(each) for each in codes])
        records = [
            ProfileRecord.at(
                Record("doubled", "", query.letters),
                BLOSUM62.alphabet,
                {1: np.arange(end - len(own), end).astype(np.uint16)},
            )
            for query, own, end in zip(queries, codes, ends.tolist(), strict=True)
        ]
        matrix = 2 * BLOSUM62.matrix[np.concatenate(codes)]
        return PositionalScoring.of(matrix, BLOSUM62), records


def test_an_aligner_takes_any_query_with_scores_by_position() -> None:
    aligner = Aligner(engine="reference")
    queries = [Doubled("MKVLA"), Doubled("HEAE")]
    assert aligner.score(queries[0], "MKVLA") == 2 * aligner.score("MKVLA", "MKVLA")
    assert aligner.score_matrix(queries, ["MKVLA", "HEAE"]).tolist() == [[44, 8], [8, 44]]
    results = aligner.search(queries, ["MKVLA", "HEAE"])
    assert [[hit.score for hit in each] for each in results] == [[44, 8], [44, 8]]


def test_queries_with_scores_by_position_are_told_from_sequences() -> None:
    query = Doubled("MKVLA")
    assert Source(query).profiles == Source((query,)).profiles == [query]
    assert Source("MKVLA").profiles is Source(["MKVLA"]).profiles is None
    with pytest.raises(TypeError, match="profiles or sequences, not both"):
        _ = Source([query, "MKVLA"]).profiles
