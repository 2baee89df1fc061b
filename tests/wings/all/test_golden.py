"""What the command line and the library print is what ``golden.txt`` lists, see ``golden.py``."""

from __future__ import annotations

import golden
import pytest


def test_golden_files_are_the_same(tmp_path):
    for needed in ("pandas", "parasail", "pyopal"):
        pytest.importorskip(needed, reason="golden files are written with all extras")
    found = golden.write_files(tmp_path / "golden")
    assert golden.differences(found) == []
