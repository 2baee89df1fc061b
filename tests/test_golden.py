"""The golden files of ``golden.py`` are those of ``golden.txt``."""

from __future__ import annotations

import golden


def test_golden_files_are_the_same(tmp_path):
    found = golden.write_files(tmp_path / "golden")
    assert golden.differences(found) == []
