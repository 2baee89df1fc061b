"""Faults: score maps prove themselves before they are shown; what a device returns is checked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from driver_faults import QUERIES, TARGETS, Fault, believing, driver, refused, replaced
from garbage import judge, on_linux
from subtests import with_subtests

import glsw
from glsw.device.current import DeviceError
from glsw.device.device import Device
from glsw.scoring.scoring import Scoring
from glsw.trust.check import tests_of
from glsw.wings.dotplot.score_map import VALUES, ScoreMap, Value

SHADER = "dotplot/score_map.comp"
MAPS = {
    "a maximum": ("end", replaced("f = max(f - gap_extend, opened);", "f = opened;")),
    "a join": ("through", replaced("atomicMax(", "max(", SHADER)),
    "no program": ("through", refused(lambda name, macros: name == SHADER)),
}


@pytest.mark.parametrize("name", MAPS)
def test_score_maps_prove_themselves(device, tmp_path, name):
    value, edit = MAPS[name]
    query, target = QUERIES[0], max(TARGETS, key=len)

    def mapped() -> Any:
        return glsw.dotplot(query, target, value=value, side=4, cap=None, device=device).maps["+"]

    with driver(device, Fault(""), tmp_path / "a"):
        expected = mapped()
    with driver(device, Fault("", edit), tmp_path / "devices"):
        for _ in range(2):  # the second time it is known
            with pytest.raises(DeviceError) as raised:
                mapped()
            line = str(raised.value)
            assert line.startswith(f"{device.info.name}: engine 'score_map': ")
            assert "nothing else computes score maps" in line
            assert "\n" not in line
        wrong = {row.verdict for row in tests_of(ScoreMap, device)} - {"right"}
        assert len({each.split(": ")[0] for each in wrong}) == 1
        with believing(), suppress(DeviceError, glsw.ShaderError):
            assert not np.array_equal(mapped(), expected)


@on_linux
@with_subtests("value", VALUES)
@with_subtests("memory", [2**31, 2**11])
def test_maps_of_a_device_that_returns_garbage(value: Value, memory: int, device: Device) -> None:
    engine = ScoreMap(Scoring.match_mismatch(5, -4, 7, 2), device, memory=memory)
    tile = engine.tile(8)
    query = np.arange(6 * tile.side, dtype=np.uint8) % 3

    def task() -> None:
        found = engine.tiles(query, query[: 4 * tile.side], tile, value=value)
        assert found.shape == (6, 4)
        assert (found >= 0).all()
        assert (found <= 5 * len(query)).all()

    judge(task, device)
