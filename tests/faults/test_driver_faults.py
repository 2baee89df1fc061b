"""Drivers with faults: a device proves itself, and what it computes wrong is computed otherwise.

Each fault is made by changing the texts of programs or calls of GL, see `driver_faults`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import moderngl
import numpy as np
import pytest
from driver_faults import (
    CALLS,
    LINE,
    QUERIES,
    TARGETS,
    Edit,
    Fault,
    Macros,
    believing,
    called,
    driver,
    every,
    refused,
    replaced,
)
from program import process

import glsw
from glsw.device.current import DeviceError, DeviceMemoryError
from glsw.device.device import Device
from glsw.device.fence import Fence
from glsw.device.shader import ComputeProgram
from glsw.device.verdicts import Verdicts
from glsw.engines import ENGINES, device_test, proof, spec
from glsw.engines.cpu import Cpu
from glsw.engines.gl import Storage
from glsw.engines.lanes import geometries
from glsw.engines.lanes.engine import Lanes
from glsw.engines.proof import Proofs
from glsw.engines.scan import Scan

WHOLE = (32, 32)


def own_value(*kinds: str) -> Edit:
    """Return an edit: shuffles of values of these types return the own value."""

    def edit(name: str, macros: Macros, source: str) -> str:
        for kind in kinds:
            call = rf"({kind} subgroupShuffle(?:Up|Xor)\({kind} x, uint \w+\)) {{.*?}}"
            source = re.sub(call, r"\1 { return x; }", source)
        return source

    return edit


def unseen(edit: Edit = lambda name, macros, source: source) -> Edit:
    """Return an edit after which programs say that their invocations are in order."""

    def changed(name: str, macros: Macros, source: str) -> str:
        said = source.replace("int in_order() {", "int in_order() { return 1;")
        return edit(name, macros, said)

    return changed


def without_atomic_max(name: str, macros: Macros, source: str) -> str:
    """Remove each statement that is an atomicMax."""
    inside = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
    return re.sub(rf"atomicMax\({inside}\);", ";", source)


def once(owner: type, name: str) -> Callable[[], list[Any]]:
    """Return patches: a method does its work only once for each thing that it is given."""

    def patches() -> list[Any]:
        real, seen = getattr(owner, name), []

        def method(self: Any, what: Any, *arguments: Any) -> Any:
            if any(each is self and what == other for each, other in seen):
                return self.reserve(what) if owner is Storage else None
            seen.append((self, what))
            return real(self, what, *arguments)

        return [patch.object(owner, name, method)]

    return patches


def lost(*_: object, **__: object) -> None:
    raise moderngl.Error("no dispatch")


_ENDLESS = lambda: [  # noqa: E731
    patch.object(Fence, "_passes", lambda *_: False),
    patch.object(proof, "PATIENCE", 0.05),
]
_NO_SUBGROUPS = "the variant with no subgroups"
_ONE_LANE = "the variant with a lane for each target"
_SMALL_GROUPS = "the variant with small work groups"
_ALL_LANES, _ALL_DIAGONAL = "lanes lanes lanes lanes", "diagonal diagonal diagonal"
_ALL_OF_SCAN, _BOTH_OF_BLOCKED = "scan scan scan", "blocked blocked"
_ALL_OF_FRAGMENT = "fragment fragment fragment"
_EVERY = f"{_ALL_LANES} {_ALL_DIAGONAL} {_BOTH_OF_BLOCKED} {_ALL_OF_SCAN} {_ALL_OF_FRAGMENT}"
_HANDED = "    for (int c = 0; c < STEP; ++c) handed[place + c * WORKGROUP] = mine[c];\n"
_TAKEN = """    for (int c = 0; c < STEP; ++c)
        if (lane_in_chain() > 0) above[c] = handed[place - 1 + c * WORKGROUP];
"""
_NO_BARRIER_IN_CHAIN = replaced(f"{_HANDED}    barrier();\n{_TAKEN}", f"{_TAKEN}{_HANDED}")
_NO_BARRIER_IN_SWEEP = replaced(
    "below_place(k - 1, t - 1)", "below_place(k - 1 - int(t % 16 == 0), t - 1)"
)
_NO_LONG_GAPS_IN_LANES = replaced("f = max(f - cost.extend, opened);", "f = opened;")
_NO_LONG_GAPS = every(
    _NO_LONG_GAPS_IN_LANES,
    replaced("return max(h - gap_open, gap - gap_extend);", "return h - gap_open;"),
)

FAULTS = {
    # subgroups, emulated
    "subgroups are narrower than the device says": Fault(
        "searches", unseen(), "lanes", "lanes", _NO_SUBGROUPS, True, (4, 32)
    ),
    "invocations are in another order": Fault(
        "searches", unseen(), "lanes", "lanes", _NO_SUBGROUPS, True, WHOLE, "backwards"
    ),
    "shuffles return the own value": Fault(
        *("searches", unseen(own_value("int", "uint", "uvec2")), "lanes", "lanes"),
        *(_NO_SUBGROUPS, True, WHOLE),
    ),
    "shuffles of uint are wrong": Fault(
        "searches", own_value("uint", "uvec2"), "lanes", "lanes", _NO_SUBGROUPS, True, WHOLE
    ),
    "shuffles of int are wrong": Fault(
        "score", unseen(own_value("int")), "scan", "scan", _NO_SUBGROUPS, True, WHOLE
    ),
    "columns of a scan are in another order": Fault(
        "score", unseen(), "scan", "scan", _NO_SUBGROUPS, True, WHOLE, "backwards"
    ),
    # barriers
    "no barrier in chains of lanes": Fault(
        "searches", _NO_BARRIER_IN_CHAIN, "lanes", "lanes lanes lanes", _ONE_LANE, True
    ),
    "no barrier in diagonal": Fault(
        "score", _NO_BARRIER_IN_SWEEP, "diagonal", "diagonal", _SMALL_GROUPS, True
    ),
    "no barrier in blocked": Fault(
        "score", _NO_BARRIER_IN_SWEEP, "blocked", "blocked", "the variant with small tiles", True
    ),
    "no barrier in scan": Fault(
        "score",
        replaced("lasts[turn][t].y = e;\n        barrier();", "lasts[turn][t].y = e;"),
        *("scan", "scan scan", _SMALL_GROUPS, True),
    ),
    "no barrier in subtable": Fault(
        "align3",
        replaced("j_between(J - 1, now - 1, x)", "j_between(J - 1, now - 1 - int(J % 4 == 3), x)"),
        *("auto", "subtable", "engine 'reference'"),
    ),
    "no barrier where the best cell is found": Fault(
        "score",
        replaced("candidates[t + half_size]);\n        barrier();", "candidates[t + half_size]);"),
        *("diagonal", "diagonal", _SMALL_GROUPS, True),
    ),
    # wrong code
    "a maximum of lanes": Fault("search", _NO_LONG_GAPS_IN_LANES, "auto", _ALL_LANES),
    "a maximum of every engine": Fault("search", _NO_LONG_GAPS, "auto", _EVERY),
    "a maximum of alignments": Fault(
        "align_pairs", _NO_LONG_GAPS, "auto", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"
    ),
    "a tie": Fault(
        "align_pairs",
        replaced("a.d != b.d ? a.d > b.d", "a.d != b.d ? a.d < b.d"),
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
    ),
    "results of long chains only": Fault(
        "searches",
        replaced("for (int k = 1; k < CHAIN; ++k)", "for (int k = 1; k < min(CHAIN, 4); ++k)"),
        *("lanes", "lanes lanes lanes", _ONE_LANE, True),
    ),
    "textures with the large tile only": Fault(
        "score",
        replaced(
            "values[k + 1] = int(texel[k / 2]) >> 16;",
            "values[k + 1] = max(int(texel[k / 2]) >> 16, -2);",
            "fragment.frag",
            lambda macros: macros["TILE"] == 8,
        ),
        *("fragment", "fragment", "the variant with smaller tiles"),
    ),
    "a look-up in a texture of scores": Fault(
        "search by a profile",
        replaced("int at = row + target;", "int at = row + (target ^ 1);"),
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED} {_ALL_OF_SCAN}"),
    ),
    "a look-up of one letter of one query": Fault(
        "score",
        replaced(
            "pair.query * PROFILE_LETTERS + letter),",
            "max(1, pair.query * PROFILE_LETTERS + letter)),",
        ),
        *("fragment", _ALL_OF_FRAGMENT),
    ),
    "letters of own queries": Fault(
        "score_pairs",
        replaced("rows[place] = letter * (", "rows[place] = max(letter, 2u) * ("),
        *("lanes", _ALL_LANES),
        hardware=True,
    ),
    "carries of bit_parallel": Fault(
        "edit_distance",
        replaced("uvec2 moved = rows << 1 | before >> 31;", "uvec2 moved = rows << 1;"),
        blamed="bit_parallel bit_parallel",
    ),
    "sides of three sequences": Fault(
        "align3",
        replaced(
            "joined(k_side(here[(y + 1) * ACROSS + SIDE])", "joined(k_side(here[y * ACROSS + SIDE])"
        ),
        *("auto", "subtable", "engine 'reference'"),
    ),
    # memory
    "paths are not written": Fault(
        "align_pairs",
        replaced(
            "paths[pair.path + trace.runs++] = run << 2 | move;\n            run",
            "trace.runs++;\n            run",
        ),
        *("diagonal", _ALL_DIAGONAL),
    ),
    "a few directions are not written": Fault(
        "align_pairs",
        replaced("if (inside) directions[at]", "if (inside && at % 41u != 5u) directions[at]"),
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
    ),
    "last rows of strips are not written": Fault(
        "align_pairs",
        replaced("row_above[below_first + uint(j)] = hf;", ""),
        *("diagonal", _ALL_DIAGONAL),
    ),
    "last rows of strips of lanes are not written": Fault(
        "search",
        replaced("borders[first + uint(step * chains * BORDER_WORDS + k)] = word;", ""),
        *("lanes", _ALL_LANES),
    ),
    "scores are not written": Fault(
        "search",
        replaced("best_scores[place] = max", "if (k > 0) best_scores[place] = max"),
        *("lanes", _ALL_LANES),
    ),
    "atomicMax does nothing": Fault(
        "searches",
        without_atomic_max,
        *("lanes", f"{_ALL_LANES} {_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
        hardware=True,
        patches=lambda: [patch.object(geometries, "_WORK", 1)],
    ),
    "a pair that passes is not listed": Fault(
        "neighbors",
        replaced("if (at < room) passing", "if (at < room && at != 3u) passing"),
        *("lanes", _ALL_LANES),
    ),
    "buffers keep what they had": Fault(
        "score twice",
        None,
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
        patches=once(Storage, "upload"),
    ),
    "buffers are cleared only once": Fault(
        "score twice",
        None,
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
        patches=once(Storage, "zero"),
    ),
    "uniforms keep what they had": Fault(
        "score",
        None,
        *("blocked", f"{_BOTH_OF_BLOCKED} {_ALL_DIAGONAL}"),
        patches=once(ComputeProgram, "__setitem__"),
    ),
    # programs that do not compile or do not end, and dispatches that fail
    "no program with subgroups compiles": Fault(
        "searches",
        refused(lambda name, macros: bool(macros.get("SUBGROUPS"))),
        *("lanes", "lanes", _NO_SUBGROUPS, True, WHOLE),
    ),
    "no program with 16-bit floats compiles": Fault(
        "searches",
        refused(lambda name, macros: macros.get("NUMBER") == 1),
        *("lanes", "lanes lanes", "the variant with no subgroups, no 16-bit floats", True),
        half=True,
    ),
    "no program compiles": Fault("search", refused(lambda *_: True), "auto", _EVERY),
    "no program of alignments compiles": Fault(
        "align", refused(lambda *_: True), "auto", f"{_BOTH_OF_BLOCKED} {_ALL_DIAGONAL}"
    ),
    "dispatches fail": Fault(
        "score of one pair",
        blamed=f"{_ALL_OF_SCAN} {_BOTH_OF_BLOCKED} {_ALL_DIAGONAL} {_ALL_LANES}",
        patches=lambda: [patch.object(moderngl.ComputeShader, "run", lost)],
        hardware=True,
    ),
    "a dispatch does not end": Fault(
        "search", None, "auto", "lanes", patches=_ENDLESS, harmless=True
    ),
}


@cache
def right(call: str) -> Any:
    return called(Fault(call), None)[0]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_and_results_are_right(device, tmp_path, name):
    fault, folder = FAULTS[name], tmp_path / "devices"
    with driver(device, fault, folder):
        found, said = called(fault, device)
        assert found == right(fault.call)
        lines = [LINE.fullmatch(line) for line in said]
        assert all(lines), said
        assert {line["device"] for line in lines} == {device.info.name}
        assert [line["engine"] for line in lines] == fault.blamed.split(), said
        assert lines[-1]["instead"] == fault.instead
        (file,) = folder.iterdir()
        kept = json.loads(file.read_text())["verdicts"]
        wrong = {key.split(":")[0]: verdict for key, verdict in kept.items() if verdict != "right"}
        assert set(wrong) == set(fault.blamed.split())
        assert {line["wrong"] for line in lines} >= set(wrong.values())
        if fault.harmless:
            return
        with believing(device):
            try:
                without = called(fault, device)[0]
            except (DeviceError, glsw.ShaderError):
                return
            assert without != right(fault.call), "there is no fault"
