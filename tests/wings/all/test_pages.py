"""Pages and measures that are made of the code, with all wings."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping

import pytest
from program import ROOT
from test_package import load

from glsw.cli import main
from glsw.device.device import Device
from glsw.output import ALIGNMENT_FORMATS, FORMATS, Format


def test_the_page_of_columns_is_that_of_the_code() -> None:
    assert load("columns").main(["--check"]) == 0, "run python docs/columns.py"


def unnamed(text: str, formats: Mapping[str, Format]) -> set[str]:
    """Return the formats that a text does not name; one with comments goes with that without."""
    words = set(re.findall(r"[a-z0-9-]+", text.lower()))
    return {name for name in formats if not {name, name.removesuffix("-comments")} & words}


def test_lists_of_formats_have_all_of_them() -> None:
    """A paragraph that lacks one or two of them lacks none."""
    pages = set()
    for page in (ROOT / "docs").glob("*.md"):
        for paragraph in page.read_text(encoding="utf-8").split("\n\n"):
            left = unnamed(paragraph, FORMATS)
            if len(left) < 3:
                assert not left, f"{page.name}: {paragraph}"
                pages.add(page.stem)
    assert pages >= {"EXAMPLES", "OUTPUT", "PROTEINS", "TUTORIAL"}


@pytest.mark.parametrize(
    ("command", "formats"), [("search", FORMATS), ("align", ALIGNMENT_FORMATS)]
)
def test_the_help_names_all_formats(
    command: str, formats: Mapping[str, Format], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert not unnamed(text[text.index("--format NAME") :], formats)


def test_measures_of_the_house(device: Device) -> None:
    if not device.info.compute:
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
