"""Drivers with faults: score maps prove themselves before they are shown."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from driver_faults import QUERIES, TARGETS, Fault, believing, driver, refused, replaced

import glsw
from glsw.device.current import DeviceError
from glsw.engines import score_map

MAPS = {
    "a maximum": ("end", replaced("f = max(f - gap_extend, opened);", "f = opened;")),
    "a join": ("through", replaced("atomicMax(", "max(", "score_map.comp")),
    "no program": ("through", refused(lambda name, macros: name == "score_map.comp")),
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
        wrong = {row.verdict for row in score_map.tested(device)} - {"right"}
        assert len({each.split(": ")[0] for each in wrong}) == 1
        with believing(device), suppress(DeviceError, glsw.ShaderError):
            assert not np.array_equal(mapped(), expected)
