"""Drivers with faults: the self-test of a device finds them, and another engine computes.

Each fault is made by changing the texts of programs or calls of GL, see `driver_faults`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import moderngl
import numpy as np
import pytest
from damaged_reads import DAMAGE, Reads, reading
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
from smaller import smaller
from subtests import with_subtests

import glsw
from glsw import engines
from glsw.device.current import DeviceError, DeviceMemoryError
from glsw.device.device import Device
from glsw.device.shader import ComputeProgram
from glsw.device.transfer import Fence
from glsw.engines import spec, speeds
from glsw.engines.cpu import Cpu
from glsw.engines.gl import Programs
from glsw.engines.lanes.engine import Lanes
from glsw.engines.lanes.geometry import BY_MEDIUMP, INT32, MEDIUMP, LaneSizes
from glsw.engines.scan import Scan
from glsw.engines.tiles import ScanTile
from glsw.run import self_test
from glsw.sequences.encoded import Sequences
from glsw.trust import proofs
from glsw.trust.check import tests_of
from glsw.trust.proofs import UNSTEADY, Proofs, UnprovedError
from glsw.trust.provable import Provable, Trial
from glsw.trust.verdicts import Verdicts, this_machine

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
            checks = "nonce" in getattr(self, "extra", ())  # those of reads would find it at once
            if not checks and any(each is self and what == other for each, other in seen):
                return self.reserve(what) if owner is Programs else None
            seen.append((self, what))
            return real(self, what, *arguments)

        return [patch.object(owner, name, method)]

    return patches


def lost(*_: object, **__: object) -> None:
    raise moderngl.Error("no dispatch")


_ENDLESS = lambda: [  # noqa: E731
    patch.object(Fence, "_passes", lambda *_: False),
    patch.object(proofs, "PATIENCE", 0.01),
]
_NO_SUBGROUPS = "the variant with no subgroups"
_ONE_LANE = "the variant with a lane for each target"
_SMALL_GROUPS = "the variant with small work groups"
_ALL_LANES, _ALL_DIAGONAL = "lanes lanes", "diagonal diagonal"
_ALL_ON_HARDWARE = "diagonal diagonal diagonal"
_ALL_OF_SCAN, _BOTH_OF_BLOCKED = "scan scan", "blocked blocked"
_ALL_OF_SUBTABLE = "subtable subtable subtable"
_ALL_OF_FRAGMENT = "fragment fragment fragment"
_EVERY = f"{_ALL_LANES} {_ALL_OF_SCAN} {_BOTH_OF_BLOCKED} {_ALL_OF_FRAGMENT} {_ALL_DIAGONAL}"
_HANDED = "    for (int c = 0; c < STEP; ++c) handed[place + c * WORKGROUP] = mine[c];\n"
_TAKEN = """    for (int c = 0; c < STEP; ++c)
        if (lane_in_chain() > 0) above[c] = handed[place - 1 + c * WORKGROUP];
"""
_NO_BARRIER_IN_CHAIN = replaced(f"{_HANDED}    barrier();\n{_TAKEN}", f"{_TAKEN}{_HANDED}")
_NO_BARRIER_IN_SWEEP = replaced(
    "place_on(k - 1, t - 1)", "place_on(k - 1 - int(t % 16 == 0), t - 1)"
)
_NO_LONG_GAPS_IN_LANES = replaced("f = max(f - cost.extend, opened);", "f = opened;")
_NO_LONG_GAPS = every(
    _NO_LONG_GAPS_IN_LANES,
    replaced("f = max(f - gap_extend, opened);", "f = opened;"),
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
        "searches", _NO_BARRIER_IN_CHAIN, "lanes", "lanes", _ONE_LANE, True
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
        *("scan", "scan", _SMALL_GROUPS, True),
    ),
    "no barrier in subtable": Fault(
        "align3",
        replaced("j_between(J - 1, now - 1, x)", "j_between(J - 1, now - 1 - int(J % 4 == 3), x)"),
        *("auto", _ALL_OF_SUBTABLE, "engine 'reference'"),
    ),
    "no barrier where the best cell is found": Fault(
        "score",
        replaced("of_each[t + half_size]);\n        barrier();", "of_each[t + half_size]);"),
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
        *("lanes", "lanes", _ONE_LANE, True),
    ),
    "textures with the large tile only": Fault(
        "score",
        replaced(
            "int(texel[k / 2] << (16 - 16 * (k % 2))) >> 16",
            "max(int(texel[k / 2] << (16 - 16 * (k % 2))) >> 16, k % 2 == 0 ? -32768 : -2)",
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
            "query_scores(row, y + letters[c], ", "query_scores(row, max(1, y + letters[c]), "
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
    "masks": Fault(
        "alignments",
        replaced("? NEVER : s;", "? s : s;"),
        *("diagonal", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"),
    ),
    "ends of edit distances": Fault(
        "edit_distance, infix",
        replaced("distance.now < distance.least", "distance.now <= distance.least"),
        blamed="bit_parallel bit_parallel",
    ),
    "masks of three sequences": Fault(
        "alignments3",
        replaced("1u << (number & 31);", "0u;", "traceback3"),
        *("auto", _ALL_OF_SUBTABLE, "engine 'reference'"),
    ),
    "sides of three sequences": Fault(
        "align3",
        replaced(
            "joined(k_side(here[(y + 1) * ACROSS + SIDE])", "joined(k_side(here[y * ACROSS + SIDE])"
        ),
        *("auto", _ALL_OF_SUBTABLE, "engine 'reference'"),
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
        replaced("row_above[below_first + uint(j + c)] = hf[c];", "{}"),
        *("diagonal", _ALL_DIAGONAL),
    ),
    "last rows of strips of lanes are not written": Fault(
        "search",
        replaced("BORDER_WORDS + k)] = uvec4", "BORDER_WORDS + k)] = 0u * uvec4"),
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
        *("lanes", f"{_ALL_LANES} {_ALL_ON_HARDWARE} {_BOTH_OF_BLOCKED}"),
        hardware=True,
        patches=lambda: [patch.dict(Lanes.__init__.__kwdefaults__, limits=LaneSizes(work=1))],
    ),
    "a pair that passes is not listed": Fault(
        "neighbors",
        replaced("if (at < room) passing", "if (at < room && at != 3u) passing"),
        *("lanes", _ALL_LANES),
    ),
    **{
        f"buffers {what}: {engine}": Fault(
            *("score twice", None, engine, f"{engine} {engine}"), patches=once(Programs, method)
        )
        for what, method in [("keep what they had", "upload"), ("are cleared only once", "zero")]
        for engine in ("diagonal", "blocked", "scan")
    },
    "uniforms keep what they had": Fault(
        "score",
        None,
        *("blocked", f"{_BOTH_OF_BLOCKED} {_ALL_LANES}"),
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
        *("lanes", "lanes", "the variant with no subgroups, no 16-bit floats", True),
        half=True,
    ),
    "no program compiles": Fault("search", refused(lambda *_: True), "auto", _EVERY),
    "no program of alignments compiles": Fault(
        "align", refused(lambda *_: True), "auto", f"{_ALL_DIAGONAL} {_BOTH_OF_BLOCKED}"
    ),
    "dispatches fail": Fault(
        "score of one pair",
        blamed=f"{_ALL_OF_SCAN} {_BOTH_OF_BLOCKED} {_ALL_ON_HARDWARE} {_ALL_LANES}",
        patches=lambda: [patch.object(moderngl.ComputeShader, "run", lost)],
        hardware=True,
    ),
    "a dispatch does not end": Fault(
        *("search", None, "auto", "lanes", "engine 'cpu'"),
        patches=_ENDLESS,
        harmless=True,
    ),
}
# Of calls of wings that are open.
FAULTS = {name: fault for name, fault in FAULTS.items() if fault.call in CALLS}


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
        if name.startswith("no barrier") and lines[-1]["wrong"] == UNSTEADY:  # results of a race
            assert lines[0]["engine"] == fault.blamed.split()[0]
            assert lines[-1]["instead"] == "engine 'cpu'"
            return
        assert [line["engine"] for line in lines] == fault.blamed.split(), said
        assert lines[-1]["instead"] == fault.instead
        kept = Verdicts(device.info, folder).known
        wrong = {key.split(":")[0]: verdict for key, verdict in kept.items() if verdict != "right"}
        assert set(wrong) == set(fault.blamed.split())
        if fault.harmless:  # it counts when it has happened twice
            assert all(verdict.startswith("begun by process") for verdict in wrong.values())
            return
        assert {line["wrong"] for line in lines} >= set(wrong.values())
        with believing():
            try:
                without = called(fault, device)[0]
            except (DeviceError, glsw.ShaderError):
                return
            assert without != right(fault.call), "there is no fault"


SILENT = {
    "searches": ("lanes", "backwards", (32, 32)),
    "score": ("scan", "neighbours exchanged", (32, 32)),
    "score_pairs": ("lanes", "in order", (4, 32)),
}


@pytest.mark.parametrize("call", SILENT)
def test_programs_that_see_their_order_do_without_subgroups(device, tmp_path, call):
    engine, order, subgroups = SILENT[call]
    fault = Fault(call, None, engine, hardware=True, subgroups=subgroups, order=order)
    with driver(device, fault, tmp_path / "devices"):
        assert called(fault, device) == (right(call), [])


RIGHT = Fault("score of one pair", engine="diagonal")
NARROW = FAULTS["shuffles of uint are wrong"]


def no_trial(*_: object) -> str:
    raise AssertionError("it is proved already")


@pytest.mark.parametrize("fault", [RIGHT, NARROW], ids=["right", "wrong"])
def test_nothing_is_proved_twice_in_a_process_nor_in_the_next(device, tmp_path, fault):
    folder, tried = tmp_path / "devices", []
    real = Proofs.tried
    with (
        patch.object(Proofs, "tried", lambda *asked: tried.append(1) or real(*asked)),
        driver(device, fault, folder),
    ):
        first = called(fault, device)
        assert tried
        with patch.object(Proofs, "tried", no_trial):
            assert called(fault, device) == first
    with patch.object(Proofs, "tried", no_trial), driver(device, fault, folder):
        assert called(fault, device) == first


def test_each_version_of_the_driver_and_of_glsw_has_its_own_file(device, tmp_path, monkeypatch):
    folder = tmp_path / "devices"
    Verdicts(device.info, folder).put("diagonal: score", "right")
    assert Verdicts(device.info, folder).get("diagonal: score") == "right"
    newer = replace(device.info, version_string="4.5 (Core Profile) Mesa 99.1")
    assert Verdicts(newer, folder).get("diagonal: score") is None
    monkeypatch.setattr(glsw, "__version__", "99.1")
    assert Verdicts(device.info, folder).get("diagonal: score") is None
    Verdicts(device.info, folder).put("diagonal: score", "wrong results")
    assert len(list(folder.glob("*.txt"))) == 2


_WRONG = (
    *("begun by process 12x", "begun by process 0 on ", f"begun by process {'1' * 31} on "),
    *("begun again by process 9 on \u202e", "good", "fails: \u202e", "fails: \x1b[2J", "7", "10"),
    *("fails: " + "x" * 9999, "right\t", "right\r", "right right", "\ufffd"),
)
_RATES = ("-1", "NaN", "1e999", "true", "fast", "", "right", f"1{'0' * 400}")


@with_subtests(
    "content",
    [
        *("", "[]", "{", "\0" * 9, "[" * 99999, "1" * 9999, "diagonal: score", "\t\t\t"),
        *(f"diagonal: score\t{verdict}\n" for verdict in _WRONG),
        *(f"cpu\t{rate} cells per second\n" for rate in _RATES),
    ],
)
def test_a_damaged_file_is_ignored(device, tmp_path, content):
    folder = tmp_path / "devices"
    Verdicts(device.info, folder).begin("diagonal: score")
    (file,) = folder.glob("*.txt")
    file.write_text(content)
    known = Verdicts(device.info, folder)
    assert known.get("diagonal: score") is None
    assert known.speeds == {}
    known.put("diagonal: score", "right")
    assert Verdicts(device.info, folder).get("diagonal: score") == "right"


def test_any_damage_to_a_file_leaves_verdicts_or_none(device, tmp_path):
    """2,000 files that were cut, or changed in a few bytes."""
    known = Verdicts(device.info, tmp_path / "devices")
    begun = f"by process 7 on {this_machine()}"
    said = ["right", "wrong results", "did not end", "fails: no", f"begun {begun}"]
    said += [f"begun again {begun}", "fails: it resets the device"]
    for number, verdict in enumerate(said):
        known.put(f"diagonal: {number}", verdict)
    known.put_speed("lanes", 1.5e12)
    (file,) = (tmp_path / "devices").glob("*.txt")
    content, rng = file.read_bytes(), np.random.default_rng(4)
    for _ in range(2000):
        damaged = bytearray(
            content[: rng.integers(len(content) + 1)] if rng.random() < 0.2 else content
        )
        for at in rng.integers(0, len(damaged) + 1, rng.integers(1, 4)).tolist():
            byte = bytes([rng.choice([*range(256), *b"0123456789e.-\n\n\t\t"])])
            damaged[at : at + rng.integers(0, 2)] = byte
        file.write_bytes(damaged)
        known = Verdicts(device.info, tmp_path / "devices")
        for name, verdict in known.known.items():
            assert (known.get(name) or "").isprintable()
            whole = "right", "wrong results", "did not end", ""
            begins = verdict.startswith(("fails: ", "begun "))
            assert verdict in whole or begins or re.fullmatch(r"\d+ cells per second", verdict)
        assert all(0 < rate < np.inf for rate in known.speeds.values())


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_is_no_plain_file_is_not_opened(device, tmp_path, kind):
    folder = tmp_path / "devices"
    Verdicts(device.info, folder).put("diagonal: score", "right")
    (path,) = folder.glob("*.txt")
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other").write_text("diagonal: score\tright\n")
        path.symlink_to(tmp_path / "other")
    else:
        path.mkdir()
    known = Verdicts(device.info, folder)
    assert known.get("diagonal: score") is None
    known.put("diagonal: score", "wrong results")
    assert known.get("diagonal: score") == "wrong results"
    assert kind != "link" or "wrong" not in (tmp_path / "other").read_text()


def test_a_folder_that_cannot_be_written_is_no_error(device, tmp_path):
    (tmp_path / "file").touch()
    with driver(device, NARROW, tmp_path / "file" / "devices"):
        found, said = called(NARROW, device)
        assert (found, len(said)) == (right(NARROW.call), 1)
        with patch.object(Proofs, "tried", no_trial):
            assert called(NARROW, device)[0] == found


def test_a_program_that_has_ended_a_process_is_not_tried_again(device, tmp_path):
    """As a driver does that crashes: there is nothing but what was noted before."""
    folder = tmp_path / "devices"
    with driver(device, RIGHT, folder):
        called(RIGHT, device)
        kept = device.proofs.verdicts.known
    usual = next(key for key in kept if key.endswith("usual"))
    with process("--version", tmp_path) as ended:
        ended.communicate()
    begun = f"by process {ended.pid} on {this_machine()}"
    Verdicts(device.info, folder).put(usual, f"begun {begun}")
    assert Verdicts(device.info, folder).get(usual) is None  # the process may have been killed
    assert Verdicts(device.info, folder).begin(usual)
    Verdicts(device.info, folder).put(usual, f"begun again {begun}")
    with driver(device, RIGHT, folder):
        found, (line, *_) = called(RIGHT, device)
    assert found == right(RIGHT.call)
    said = LINE.fullmatch(line)
    assert (said["engine"], said["wrong"]) == ("diagonal", "did not end")
    assert said["instead"] == "the variant with single invocations"


def test_a_program_that_another_process_is_trying_is_tried(device, tmp_path):
    with process("search", tmp_path, code="import time; time.sleep(600)") as running:
        verdicts = Verdicts(device.info, tmp_path / "devices")
        verdicts.put("diagonal: score", f"begun by process {running.pid} on {this_machine()}")
        assert verdicts.get("diagonal: score") is None
        running.kill()


def test_a_trial_that_is_interrupted_leaves_no_verdict(device, tmp_path, monkeypatch):
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    folder = tmp_path / "devices"
    monkeypatch.setattr(Provable, "holds", interrupted)
    with driver(device, RIGHT, folder):
        with pytest.raises(KeyboardInterrupt):
            called(RIGHT, device)
        assert device.patience is None
        assert {*Verdicts(device.info, folder).known.values()} == {""}
        monkeypatch.undo()
        assert called(RIGHT, device) == (right(RIGHT.call), [])
        assert {*Verdicts(device.info, folder).known.values()} == {"right"}


@pytest.mark.parametrize("error", [DeviceMemoryError("no memory"), moderngl.Error("incomplete")])
def test_a_trial_that_lacks_memory_leaves_no_verdict(device, tmp_path, monkeypatch, error):
    buffer = moderngl.Context.buffer

    def full(*_: object, **__: object) -> moderngl.Buffer:
        monkeypatch.setattr(moderngl.Context, "buffer", buffer)
        raise DeviceMemoryError("no memory")

    def lacking(*_: object) -> bool:
        if type(error) is moderngl.Error:
            monkeypatch.setattr(moderngl.Context, "buffer", full)
        raise error

    monkeypatch.setattr(Provable, "holds", lacking)
    with driver(device, RIGHT, tmp_path):
        assert called(RIGHT, device) == (right(RIGHT.call), [])
        assert {*device.proofs.verdicts.known.values()} == {""}


@pytest.fixture
def files(tmp_path):
    for name, words in (("queries", QUERIES[:2]), ("targets", TARGETS)):
        lines = [f">{name}{k}\n{word}\n" for k, word in enumerate(words)]
        (tmp_path / f"{name}.fa").write_text("".join(lines))
    return tmp_path


def test_two_processes_at_once(device, files):
    """Both prove the same, and what they know is whole."""
    words = "search queries.fa targets.fa --engine diagonal --device 0 --output "
    env = {"XDG_CACHE_HOME": str(files / "cache")}
    both = [process(f"{words}{k}.tsv", files, env=env) for k in range(2)]
    ends = [(each.communicate()[1], each.returncode) for each in both]
    assert all(status == 0 and b"engine 'diagonal'" not in err for err, status in ends), ends
    assert (files / "0.tsv").read_text() == (files / "1.tsv").read_text()
    kept = Verdicts(device.info, files / "cache" / "glsw" / "devices").known
    assert set(kept.values()) == {"right"}


_NOTES = """
from pathlib import Path
from glsw.device.device import devices
from glsw.trust.verdicts import Verdicts
verdicts = Verdicts(devices()[0], Path("devices"))
for k in range(60):
    verdicts.begin(f"{NAME}{k}")
    verdicts.put(f"{NAME}{k}", "right")
"""


def test_what_several_processes_note_at_once_is_all_kept(device, tmp_path):
    started = [process("--version", tmp_path, code=f"NAME = {name!r}\n{_NOTES}") for name in "abc"]
    ends = [(*each.communicate(), each.returncode) for each in started]
    assert [status for *_, status in ends] == [0, 0, 0], ends
    kept = Verdicts(device.info, tmp_path / "devices").known
    assert kept == {f"{name}{k}": "right" for name in "abc" for k in range(60)}


def test_the_command_line_says_it_in_a_line(device, run, files):
    words = "search queries.fa targets.fa --output"
    assert run(f"{words} expected.tsv --engine reference").status == 0
    with driver(device, NARROW, files / "devices"):
        done = run(f"{words} found.tsv --engine lanes --device 0")
    assert done.status == 0
    lines = [line for line in done.err.splitlines() if not re.search(r"\d+ cells in", line)]
    assert len(lines) == 1, done.err
    assert LINE.fullmatch(re.sub("^glsw: (warning: )?", "", lines[0])), lines
    assert (files / "found.tsv").read_text() == (files / "expected.tsv").read_text()


@pytest.mark.parametrize("file", ["a.comp", "lib/b.glsl", "wing/c.comp"])
def test_verdicts_are_of_the_shaders_of_today(device, file, tmp_path, monkeypatch):
    shaders = tmp_path / "shaders"
    (shaders / file).parent.mkdir(parents=True)
    (shaders / "older.comp").touch()
    (shaders / file).touch()
    monkeypatch.setattr(glsw.device.shader, "root", lambda: shaders)
    Verdicts(device.info, tmp_path / "devices").put("scan: score", "right")
    assert Verdicts(device.info, tmp_path / "devices").get("scan: score") == "right"
    os.utime(shaders / file, (2**32, 2**32))
    assert Verdicts(device.info, tmp_path / "devices").get("scan: score") is None


class OfWing(Provable):
    """What a wing registers."""

    name, device = "of_wing", None

    @classmethod
    def trials(cls) -> list[Trial]:
        return [Trial("protein: nothing", (), "nothing")]

    def __init__(self, _: Device) -> None: ...

    def family(self, kind: str) -> str:
        return kind

    def checks(self, kind: str) -> Iterator[tuple[str, str]]:
        yield kind, "nothing"


@pytest.fixture
def quick_test(monkeypatch):
    """``glsw devices --test`` of two engines, with short measurements, without processes."""
    smaller(monkeypatch, speed_seconds=1e-9, speed_targets=20)
    monkeypatch.setattr(Scan, "trial_scorings", lambda: {"protein": glsw.Scoring.blast()})
    assert engines.ENGINES  # those that are registered are read once
    monkeypatch.setattr(engines, "ENGINES", {"scan": Scan})
    monkeypatch.setattr(engines, "registered", lambda _: {"of_wing": f"{__name__}.OfWing"})
    monkeypatch.setattr(self_test, "spawned", in_a_thread)


def in_a_thread(_, index):
    mine, its = multiprocessing.Pipe()
    Thread(target=self_test.serve, args=(its, index), daemon=True).start()
    return SimpleNamespace(kill=mine.close, join=lambda: None), mine


class Crashes(OfWing):
    """What a driver does not survive in one of its tests."""

    name = "crashes"

    @classmethod
    def trials(cls) -> list[Trial]:
        return [Trial(work, (), work) for work in ("before", "then", "behind")]

    def checks(self, kind: str) -> Iterator[tuple[str, str]]:
        if kind == "then":
            os.kill(os.getpid(), signal.SIGSEGV)
        yield kind, kind


def of_two_wings(_):
    return [OfWing, Crashes]


def answer_and_crash(pipe, index):
    """Carry out tests in a process of which the driver crashes in one."""
    self_test.provable = of_two_wings
    self_test.answer(pipe, index)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_driver_that_crashes_is_told_and_the_other_tests_go_on(
    device, run, files, monkeypatch, form
):
    spawned = self_test.spawned
    monkeypatch.setattr(self_test, "provable", of_two_wings)
    monkeypatch.setattr(self_test, "spawned", lambda _, n: spawned(answer_and_crash, n))
    monkeypatch.setattr(self_test.SelfTest, "speeds", lambda _: {"lanes": 2e9})
    done = run(f"devices --test --device {device.info.index} --format {form}")
    assert done.status == 2
    assert done.err == "glsw: 1 tests failed: please report this table\n"
    crashed = "the driver crashed (SIGSEGV)"
    if form == "json":
        tests = [(row["work"], row["verdict"]) for row in json.loads(done.out)[0]["tests"]]
        told = [("before", "right"), ("then", crashed), ("behind", "right")]
        assert tests == [("protein: nothing", "right"), *told]
    else:
        assert re.findall(r"^crashes +usual +then +[\d.]+  (.*)$", done.out, re.M) == [crashed]
        assert "1 of 4 tests failed; lanes 2 GCUPS\n" in done.out


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ("text", RIGHT),
        ("json", NARROW),
        *((form, FAULTS["no barrier in scan"]) for form in ("text", "json")),
    ],
)
def test_devices_are_tested_by_the_command_line(device, run, files, quick_test, form, fault):
    fault = replace(fault, subgroups=None)
    wrong = fault is not RIGHT and fault.edit is FAULTS["no barrier in scan"].edit
    with driver(device, fault, files / "devices"):
        done = run(f"devices --test --device {device.info.index} --format {form}")
        rates = device.proofs.verdicts.speeds
        tests = [row for kind in (Scan, OfWing) for row in tests_of(kind, device)]
    assert tests[-1].engine == "of_wing"
    assert done.status == 2 * wrong
    failed = sum(row.verdict != "right" for row in tests)
    assert wrong == bool(failed)
    said = f"glsw: {failed} tests failed: please report this table\n"
    assert done.err == (said if wrong else "")
    assert set(rates) == {"lanes", "cpu"}
    assert all(rate > 0 for rate in rates.values())
    if form == "json":
        (report,) = json.loads(done.out)
        assert report["device"]["name"] == device.info.name
        verdicts = [each["verdict"] for each in report["tests"]]
        assert report["cells_per_second"] == rates
    else:
        rows = re.findall(
            r"^(?:scan|of_wing) +(.{31}) protein: \w+ +[\d.]+ +(.*)$", done.out, re.MULTILINE
        )
        verdicts = [verdict for _, verdict in rows]
        assert "GCUPS" in done.out
    assert verdicts == [row.verdict for row in tests]


@pytest.mark.parametrize("slower", [False, True])
def test_auto_uses_cpu_beside_hardware_that_is_measured_to_be_slower(
    device, tmp_path, monkeypatch, slower
):
    monkeypatch.setattr(spec, "open_device", lambda *_, **__: device)
    fault = Fault("search", hardware=True)
    with driver(device, fault, tmp_path / "devices"):
        for engine, rate in (("lanes", 1e9), ("cpu", 2e9 if slower else 5e8)):
            device.proofs.verdicts.put_speed(engine, rate)
        aligner = glsw.Aligner()
        scanner = getattr(aligner.engine, "scanner", None)
        assert isinstance(scanner, Cpu if slower else Lanes)
        found = aligner.search(QUERIES[0], TARGETS, top=None, composition=0)
        assert [(hit.target.id, hit.score) for hit in found] == right("search")


def _ten_bits(name: str, macros: dict[str, Any], source: str) -> str:
    """Have `mediump` floats of a bit less than 16-bit ones."""
    whole, less = "unpackHalf2x16(x)", "unpackHalf2x16((x) & 0xFFFEFFFEu)"
    return source.replace(whole, less) if macros.get("MEDIUMP") else source


@pytest.mark.parametrize(
    ("edit", "rate", "chosen"), [(None, 2e9, True), (None, 5e8, False), (_ten_bits, 2e9, False)]
)
def test_mediump_is_chosen_where_it_is_right_and_faster(
    device, tmp_path, monkeypatch, edit, rate, chosen
):
    scoring = glsw.Scoring.blast()
    some = Sequences.of([scoring.alphabet.encode(QUERIES[4])])

    def speed(engine, quick):
        if engine.options.get("number") != "mediump":
            return 1e9
        list(engine.answers([ScanTile(some, some)]))
        return rate

    monkeypatch.setattr(speeds, "_speed", speed)
    with driver(device, Fault("search", edit, hardware=True, version=(4, 5)), tmp_path / "devices"):
        assert speeds.measured(device, quick=True)["lanes"] == (rate if chosen else 1e9)
        assert (BY_MEDIUMP in device.proofs.verdicts.speeds) == chosen
        assert (Lanes(scoring, device).geometries.number == MEDIUMP) == chosen
        assert Lanes(scoring, device, number="int32").geometries.number == INT32
        if chosen:  # until a program is wrong
            engine = Lanes.proving(scoring.in_mode("global"), device)
            with (
                patch.object(Lanes, "holds", lambda *_: False),
                pytest.raises(UnprovedError),
            ):
                list(engine.answers([ScanTile(some, some)]))
            assert Lanes(scoring, device).geometries.number == INT32


@pytest.mark.parametrize("call", ["search", "align_pairs"])
def test_a_device_that_lies_once_is_not_used_again(device, tmp_path, call):
    fault = Fault(call, hardware=True)
    with driver(device, fault, tmp_path / "devices"):
        reads = Reads()
        with reading(reads):
            assert called(fault, device) == (right(call), [])
        assert reads.count
        with reading(Reads(DAMAGE["rotated"], 1)):
            found, said = called(fault, device)
        assert found == right(call)
        wrong = "its results did not arrive as it had stored them; engine 'cpu' is used instead"
        assert [wrong in line for line in said] == [True]
        with reading(reads := Reads()):
            assert called(fault, device)[0] == right(call)
        assert not reads.count


@pytest.mark.parametrize("times", [1, 2])
def test_a_self_test_that_fails_otherwise_each_time_ends_the_use_of_a_device(
    device, tmp_path, times
):
    """A fault that repeats is a compiler's, see `FAULTS`: its engines are replaced one by one."""
    fault, failures = Fault("score of one pair", hardware=True), []
    holds = Provable.holds

    def now_and_then(self: Provable, kind: Any) -> bool:
        right = holds(self, kind)
        if len(failures) < times:
            failures.append(1)
            device.readback.digest += len(failures)
            return False
        return right

    with driver(device, fault, tmp_path), patch.object(Provable, "holds", now_and_then):
        found, said = called(fault, device)
        assert found == right(fault.call)
        assert len(said) == 1
        assert "wrong results that do not repeat; engine 'cpu' is used instead" in said[0]
        assert device.trouble
        assert "wrong results" not in str(device.proofs.verdicts.known)
