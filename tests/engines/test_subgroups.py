"""Subgroups of any width and order: programs that cannot rely on them do without."""

from pathlib import Path

import cases
import pytest
import subgroups
from cases import CASES, judge

from glsw.engines.lanes.engine import Lanes
from glsw.engines.scan import Scan

# What a device says of its subgroups, and what its compiler made of them.
LAYOUTS = {
    "8": (8, None, "in order"),
    "16": (16, None, "in order"),
    "32": (32, None, "in order"),
    "64": (64, None, "in order"),
    "8 of 32": (8, 32, "in order"),
    "16 of 32": (16, 32, "in order"),
    "4 of 64": (4, 64, "in order"),
    "strided": (8, None, "strided"),
    "exchanged": (32, None, "neighbours exchanged"),
    "backwards": (16, 32, "backwards"),
    "every other one": (8, None, "every other one first"),
}
NAMES = "BLOSUM62 12 1", "limit 900 1", "two letters 0 0"
LANES = (
    {"rows": 8, "chain": 8, "workgroup": 64},
    {"rows": 8, "chain": 4, "workgroup": 32, "number": "f32"},
    {"rows": 16, "chain": 32, "workgroup": 64, "query_profile": "storage"},
)


def lanes(scoring, device, options):
    """Return an engine that works as on hardware, on a device as it is now."""
    options = {"number": "int32"} | options
    return cases.engine_of(Lanes, scoring, cases.standing_in(device), **options)


def judge_lanes(device, layout, name):
    """Judge lanes by every other pair of a case, where subgroups are like this."""
    width, size, order = LAYOUTS[layout]
    case = CASES[name].part(slice(0, None, 2))
    for options in LANES:
        with subgroups.emulating(device, width, size=size, order=order):
            judge(lanes(case.scoring, device, options), case)


def judge_scan(device, layout, name):
    """Judge scan likewise."""
    width, size, order = LAYOUTS[layout]
    case = CASES[name].part(slice(0, None, 2))
    with subgroups.emulating(device, width, size=size, order=order):
        judge(Scan(case.scoring, device, columns=2, rows=5), case)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_lanes(device, layout, name):
    judge_lanes(device, layout, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*NAMES, "BLOSUM62 0 0", "millions"])
def test_scan(device, layout, name):
    judge_scan(device, layout, name)


def test_on_zink(run_under):
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    code = f"""
import sys
sys.path[:0] = {folders}
from glsw.device.device import open_device
import test_subgroups as tests
device = open_device(quiet=True)
for layout in tests.LAYOUTS:
    tests.judge_lanes(device, layout, tests.NAMES[0])
    tests.judge_scan(device, layout, tests.NAMES[0])
print(device.info.name)
"""
    assert "zink" in run_under("zink", code)


def test_only_programs_in_order_hand_on_by_shuffles(device, loaded):
    """The chains of a program that fills narrower subgroups than it says still lie in one."""
    case = CASES[NAMES[0]].part(slice(0, None, 2))
    for layout, (width, size, order) in LAYOUTS.items():
        with subgroups.emulating(device, width, size=size, order=order):
            router = lanes(case.scoring, device, {"rows": 8, "chain": 8, "workgroup": 64})
            loaded.clear()
            router.scores(case.batch)
            asked = (macros for _, macros in loaded if macros.get("SUBGROUPS"))
            kept = router.engine(Lanes).program("lanes.comp", **next(asked))
            assert ("proving" in kept) == (order == "in order" and width >= 8), layout
