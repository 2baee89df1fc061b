"""The device itself: every rate is checked, a wrong shader has none; what limits an engine."""

import math
import time

import numpy as np
import pytest
from programs_of_bench import PERMUTATIONS

from bench import micro_kernels
from bench.roofline import TRAFFIC, EngineRun, bound
from bench.row import SHADERS
from bench.work import micro
from glsw.device import shader

HARDWARE = {"software": False, "subgroup_size": 32, "half": True}


def size_for(device):
    return micro.SOFTWARE if device.info.software else micro.HARDWARE


def only(name):
    """Return `cases` with one rate."""
    every = micro.Micro.cases

    def cases(self):
        return [case for case in every(self) if case.program == name]

    return cases


def test_the_permutations_of_every_program_are_listed():
    programs = SHADERS.rglob("*.[cf][or]*")
    assert {path.relative_to(SHADERS).as_posix() for path in programs} == {*PERMUTATIONS}


def test_every_rate_is_checked_and_positive(bench, device):
    status, file = bench("micro")
    assert status == 0
    rows = list(file.rows.values())
    assert len(rows) == 25
    for row in rows:
        assert row.get("skipped") or (row["judged"] > 0 and row["wrong"] == 0 and row["rate"] > 0)


def test_without_compute_shaders(run_under):
    code = (
        "import sys; from bench import run; from bench.work import micro;"
        "every = micro.Micro.cases;"
        "names = ('int32 add', 'fragment int32 add max', 'texture lookup', 'draw');"
        "micro.Micro.cases = lambda self: [c for c in every(self) if c.program in names];"
        "import tempfile, os; path = os.path.join(tempfile.mkdtemp(), 'x.ndjson');"
        "words = ['micro', '--size', 'tiny', '--budget', '1', '--passes', '1', '--output', path];"
        "sys.exit(run.main(words))"
    )
    lines = run_under("softpipe", code).splitlines()
    assert "no compute shaders" in next(line for line in lines if line.startswith("int32 add"))
    assert sum("op/s" in line or "byte/s" in line for line in lines) == 2


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("fragment int32 add max", "max(x - less, y)", "max(x - less, y - less)"),
        ("int32 add", "x + y", "x + y + number(1, 1)"),
        ("recurrence affine", "max(c.t, e)", "c.t"),
        ("recurrence3 linear", "max(two, one) - gap_cost()", "two - gap_cost()"),
        ("shared bandwidth", "found ^= ", "found += "),
        ("storage write", "4 * place(k) + shift", "4 * place(k)"),
        ("storage copy", "coming[k] + uint(shift)", "coming[k]"),
        ("storage read", "k < EACH; ++k) found", "k < EACH - 1; ++k) found"),
        ("texture lookup", "place >> 5", "place >> 6"),
        ("dispatch", "+= 1", "= 1"),
        ("draw", "r + number", "r - number"),
    ],
)
def test_a_wrong_shader_is_reported_and_never_timed(
    bench, device, monkeypatch, capsys, name, right, wrong
):
    if not device.info.compute and "fragment" not in name:
        pytest.skip("no compute shaders")
    assemble, changed = shader.assemble, []

    def broken(name, *words, **version):
        source, origins = assemble(name, *words, **version)
        changed.append(right in source)
        return source.replace(right, wrong), origins

    monkeypatch.setattr(shader, "assemble", broken)
    monkeypatch.setattr(device, "programs", {})
    monkeypatch.setattr(micro.Micro, "cases", only(name))
    status, file = bench("micro")
    assert any(changed)
    assert status == 1
    (row,) = file.rows.values()
    assert row["wrong"] > 0
    assert not {"wall", "clock", "rate"} & row.keys()
    printed = capsys.readouterr()
    assert "WRONG" in printed.out
    assert f"WRONG: micro, {name}" in printed.err


# loops


LOOPS = {
    "add": lambda size, k: micro_kernels.chains(16, k * size.rounds, "add"),
    "max": lambda size, k: micro_kernels.chains(16, k * size.rounds, "max"),
    "add max": lambda size, k: micro_kernels.chains(16, k * size.rounds, "add max"),
    "cells": lambda size, k: micro_kernels.recurrence(k * size.turns, False, "cells", 8, 2),
    "rows": lambda size, k: micro_kernels.recurrence(k * size.turns, True, "rows", 16, 2),
    "cells3": lambda size, k: micro_kernels.recurrence3(k * size.turns, True, 4),
}


@pytest.mark.parametrize("name", LOOPS)
def test_twice_the_work_takes_about_twice_the_time(device, name):
    if not device.info.compute:
        pytest.skip("no compute shaders")
    size = size_for(device)
    groups = 2048 if device.info.software else 16384
    once, twice = (micro.computed(device, LOOPS[name](size, k), size) for k in (1, 2))
    assert twice.work == 2 * once.work
    runs = {"once": (once, groups), "rounds": (twice, groups), "groups": (once, 2 * groups)}
    seconds = dict.fromkeys(runs, math.inf)

    def growth(key):
        return seconds[key] / seconds["once"]

    # By turns, as other programs may run at the same time: the shortest of many times counts.
    for turn in range(200):
        for key, (loop, count) in runs.items():
            start = time.process_time()
            with device.timer() as timer:
                found = loop.run(count)
            spent = time.process_time() - start if device.info.software else timer.seconds
            assert loop.check(count, found).passed
            seconds[key] = min(seconds[key], spent)
        if turn >= 2 and all(1.3 < growth(key) < 3.5 for key in ("rounds", "groups")):
            break
    else:
        raise AssertionError(seconds)


@pytest.mark.parametrize("linear", [True, False])
def test_scores_of_the_recurrence_stay_exact_in_half(linear):
    loops = [loop for _, _, _, *loops in micro.Micro.rates.values() for loop in loops]
    shapes = [loop[3:] for loop in loops if linear in loop and {"half", "float"} & {*loop[:3]}]
    assert len(shapes) == 3
    for size in (micro.HARDWARE, micro.SOFTWARE):
        for rows, step in shapes:
            _, best = micro_kernels.tables(rows, step, size.turns, linear, 2)
            assert 0 < best < 2048


def test_recurrence_is_that_of_a_table():
    """Without rows above, the first ``step`` columns are those of a local alignment."""
    rows, opened, extended = 8, micro_kernels.OPEN, micro_kernels.EXTEND
    scores = micro_kernels.made_up(np.arange(micro_kernels.SEEDS), rows)
    best = 0
    for seed in range(micro_kernels.SEEDS):
        h, e = np.zeros((rows + 1, 3), int), np.full((rows + 1, 3), -opened)
        f = np.full((rows + 1, 3), -opened)
        for j in (1, 2):
            for i in range(1, rows + 1):
                s = scores[seed, (i - 1 + 5 * (j - 1)) % rows]
                e[i, j] = max(h[i, j - 1] - opened, e[i, j - 1] - extended)
                f[i, j] = max(h[i - 1, j] - opened, f[i - 1, j] - extended)
                h[i, j] = max(0, h[i - 1, j - 1] + s, e[i, j], f[i, j])
        best = max(best, int(h.max()))
    assert micro_kernels.tables(rows, 2, 1, False, 1)[1] == best


# ceilings


def test_ceilings_by_hand():
    # 10 strips of 128 x 8 rows; 4096 columns are 2048 steps, and 127 more: 17 tiles of 128 steps
    m, n = 10 * 1024, 4096
    need = TRAFFIC["blocked"](EngineRun("blocked", (m, n), 1, linear=False, subgroup=32))
    assert need.dispatches == 17 + 2 * 9
    assert need.compute == "recurrence affine"
    assert need.shared == 2.5 + 4
    rates = {
        "recurrence affine": 2e12,
        "shared bandwidth": 3.25e13,
        "dispatch": 1e-5,
    }
    row = {
        "program": "blocked",
        "ours": True,
        "scoring": "DNA 5/-4, gaps 11, 1",
        "sizes": [m, n],
        "count": 1,
        "cells": m * n,
        "task": "ends",
        "clock": 1e-3,
        "wall": 2e-3,
    }
    limit = bound(row, rates, HARDWARE)
    resources = [each.resource for each in limit.ceilings]
    assert resources == ["dispatches", "compute", "shared memory"]
    assert limit.lowest.cells_per_second == pytest.approx(m * n / 35e-5)
    assert limit.reached == pytest.approx(m * n / 1e-3)
    assert limit.share == pytest.approx(0.35)
    assert limit.ceilings[2].cells_per_second == pytest.approx(3.25e13 / 6.5)
    assert "35 dispatches of 10 us" in limit.lowest.reason


@pytest.mark.parametrize(
    ("engine", "run", "expected"),
    [
        # 4 strips of 128 rows of a query of 512, or 8 of 64
        ("diagonal", EngineRun("", (512, 512), 100), {"dispatches": 1, "shared": 6.5}),
        (
            "diagonal",
            EngineRun("", (512, 512), 100, software=True),
            {"dispatches": 8 * 4, "shared": 2.5},
        ),
        ("wavefront", EngineRun("", (100, 200), 1), {"dispatches": 299}),
        ("scan blocks", EngineRun("", (100, 200), 1), {"dispatches": 200, "shared": 0}),
        # 8 doublings reach 199 columns
        ("scan single-stage", EngineRun("", (100, 200), 1, best=5), {"dispatches": 900}),
        # 32 lanes of 16 columns: 8 blocks; 4096 rows are 64 strips
        ("scan fused", EngineRun("", (4096, 4096), 1, subgroup=32), {"dispatches": 64 + 8 - 1}),
        # tiles of 8 x 8: 64 x 64
        ("fragment", EngineRun("", (512, 512), 100), {"draws": 95}),
        (
            "lanes int32",
            EngineRun("", (375, 300.0), 1, linear=False, subgroup=32),
            {"shared": 4, "dispatches": 1},
        ),
        (
            "lanes f16",
            EngineRun("", (375, 300.0), 1, subgroup=32),
            {"shared": 2, "compute": "recurrence half linear"},
        ),
        (
            "lanes int32",
            EngineRun("", (64, 300.0), 1, software=True),
            {"shared": 0, "dispatches": 2},
        ),
        (
            "subtable",
            EngineRun("", (512, 512, 512), 1),
            {"dispatches": 1, "shared": 2.5},
        ),
        (
            "plane",
            EngineRun("", (10, 20, 30), 1),
            {"dispatches": 58, "compute": "recurrence3 linear"},
        ),
    ],
)
def test_what_engines_need(engine, run, expected):
    need = TRAFFIC[engine](run)
    found = {key: getattr(need, key) for key in expected}
    assert found == pytest.approx(expected) if "compute" not in expected else found == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"program": "cpu"},
        {"program": "pyopal", "ours": False},
        {"program": "auto", "note": "auto: lanes, diagonal"},
        {"program": "blocked", "sizes": [2**19, 2**19]},
        {"program": "plane", "scoring": "unheard of"},
        {"task": "paths"},
    ],
)
def test_no_ceilings(changes):
    row = {
        "program": "diagonal",
        "ours": True,
        "scoring": "DNA 1/-1, gaps 2, 2",
        "sizes": [10, 10],
        "count": 1,
        "cells": 100,
        "task": "ends",
    }
    rates = {"recurrence linear": 1e9}
    assert bound(row, rates, HARDWARE).share is None
    assert bound(row | changes, rates, HARDWARE) is None
    assert bound(row, rates, None) is None
    assert bound(row, {}, HARDWARE) is None
