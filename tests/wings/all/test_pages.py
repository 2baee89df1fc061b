"""Pages and measures that are made of the code, with all wings."""

from __future__ import annotations

import subprocess
import sys

import pytest
from program import ROOT
from test_package import load

from glsw.device.device import Device


def test_the_page_of_columns_is_that_of_the_code() -> None:
    assert load("columns").main(["--check"]) == 0, "run python docs/columns.py"


def test_measures_of_the_house(device: Device) -> None:
    if device.info.version < (4, 3):
        pytest.skip("engine 'lanes' needs compute shaders")
    words = [sys.executable, ROOT / "docs" / "house.py", ROOT]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    head, rule, *lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    assert (head, rule) == (["measure", ROOT.name], ["---", "---:"])
    rows = {name: [float(number) for number in numbers.split("; ")] for name, numbers in lines}
    calls = [numbers for name, numbers in rows.items() if ": before an engine; all; calls" in name]
    assert len(calls) == 9
    assert all(0 < before < every <= number for before, every, number in calls)
    assert rows["code lines"] == [
        sum(rows[f"- {part}"][0] for part in ("core", "wings", "engines", "device", "trust"))
    ]
    wings = [numbers[0] for name, numbers in rows.items() if name.startswith("- wing ")]
    assert sum(wings) == rows["- wings"][0], "docs/house.py does not know a wing"
    assert rows["modules in the largest circle of imports"][0] <= 7, "may only become smaller"
    assert all(all(numbers) for name, numbers in rows.items() if "wing" not in name)
