"""Progress bars of dot plots whose maps are computed in parts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from glsw.wings.dotplot.score_map import Bands, ScoreMap


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = random.Random(3)
    for name in "ab":
        (tmp_path / f"{name}.fasta").write_text(f">{name}\n{''.join(rng.choices('ACGT', k=180))}\n")
    return tmp_path


@pytest.mark.parametrize("words", ["", "--max-alignments 0 --value end"])
def test_maps_computed_in_parts(
    bar: Callable[..., tuple[float, float]], monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(ScoreMap, "bands", lambda *_: Bands(2, 4))
    done, total = bar(f"dotplot a.fasta b.fasta --side 8 --output out.npz {words}")
    assert done == total
