"""Progress bars of the shards of a search, and of their merge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glsw.engines import Reference
from glsw.engines.base import ScanHints
from glsw.output.part_file import PartFile
from glsw.wings.shards import verbs as shards

SEARCH = "search queries.fasta db.fasta --engine reference"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    for name, sequences in {
        "queries": ("HEAGAWGHEE", "MKVLAW", "PAWHEAEPPP", "HEAG"),
        "db": ("PPPPPP", "PAWHE", "MKVLAWHEAG", "HEAGAWGHEEMKVLAW"),
    }.items():
        text = "".join(f">s{k}\n{each}\n" for k, each in enumerate(sequences))
        (tmp_path / f"{name}.fasta").write_text(text)
    return tmp_path


def test_shards(bar: Callable[..., tuple[float, float]], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = 0.0
    for k in (1, 2, 3):
        done, total = bar(f"{SEARCH} --shard {k}/3 --output run")
        assert done == total > 0
        whole += done
    assert whole == 30 * 37
    done, total = bar(f"{SEARCH} --shard 2/3 --output run")  # it is complete
    assert done == total == 0
    done, total = bar("merge run")
    assert done == total == 4


def test_a_shard_that_goes_on_has_the_cells_of_the_rest(
    bar: Callable[..., tuple[float, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = PartFile.write_all, []

    def interrupted(self: PartFile, data: bytes) -> None:
        write(self, data)
        written.append(data)
        if len(written) == 3:
            raise KeyboardInterrupt

    words = f"{SEARCH} --shard 1/1 --output run"
    with monkeypatch.context() as patch:
        patch.setattr(Reference, "hints", ScanHints(cells_at_once=1))
        patch.setattr(shards, "_SECONDS_BETWEEN_BLOCKS", 0)
        patch.setattr(PartFile, "write_all", interrupted)
        bar(words, status=130)
    done, total = bar(f"{words} --resume")
    assert 0 < done == total < 30 * 37
