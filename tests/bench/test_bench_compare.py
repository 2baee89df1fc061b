import copy
import json
import sys
from pathlib import Path

import pytest

import glsw.device.shader
from bench import compare, lin2015, schema
from bench.compare import FLOOR, Times, judge
from bench.report.documents import document

EVERY = sorted((Path(__file__).parents[2] / "bench" / "results").glob("*.json"))
RESULTS = [path for path in EVERY if not path.stem.startswith(("calibration", "significance"))]
"""Those with times."""


def single(benchmark, software=True):
    """Return the committed document of a benchmark."""
    for path in RESULTS:
        made = json.loads(path.read_text())
        if made["benchmark"] == benchmark and made["device"]["software"] == software:
            return made
    raise LookupError(benchmark)


def times(median, spread=0.02, repeats=20):
    return {
        "median": median,
        "minimum": median * (1 - spread / 2),
        "maximum": median * (1 + spread),
        "spread": spread,
        "repeats": repeats,
    }


def lin(seconds, *, wrong=(), peer=0.001):
    """Return a document of lin2015 with these seconds by method."""
    made = single("lin2015")
    right = {"judge": "reference", "pairs": 1, "wrong": 0, "first": None}
    bad = {**right, "wrong": 1, "first": "pair 0: [7], expected [8]"}
    common = {"check": right, "cells": 10**6, "device": None, "gcups": 1.0}
    engines = {
        name: common | {"wall": times(each), "estimate": None} for name, each in seconds.items()
    }
    for name in wrong:
        engines[name] |= {"check": bad, "wall": None, "gcups": None}
    plain = common | {"wall": times(peer), "function": "sw", "version": "1", "scaled": False}
    plain["seconds"] = peer
    made["results"] = [{"length": 1000, "engines": engines, "cpu": {"plain": plain}}]
    return made


def compared(old, new):
    return compare.compare(document(old, "old.json"), document(new, "new.json"))


@pytest.fixture
def run(tmp_path, capsys):
    """Compare two documents on the command line: exit status, stdout, stderr."""

    def run(old, new, *options):
        paths = [tmp_path / "old.json", tmp_path / "new.json"]
        for path, made in zip(paths, (old, new), strict=True):
            path.write_text(json.dumps(made))
        status = compare.main([*map(str, paths), *options])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_same_document_has_no_marks(path, capsys):
    assert compare.main([str(path), str(path), "--all"]) == 0
    out = capsys.readouterr().out
    for line in out.splitlines():
        assert not line.startswith("WRONG")
        assert " slower " not in line.replace("; 0 slower, 0 faster", "")


def test_slower_is_marked_and_told_by_status(run):
    old = lin({"fused": 0.1, "blocked": 0.2, "diagonal": 0.3})
    new = lin({"fused": 0.13, "blocked": 0.201, "diagonal": 0.2})
    status, out, _ = run(old, new)
    assert status == 1
    lines = out.splitlines()
    assert lines[4].split() == (
        ["1.300", "100", "130", "4.6%", "slower", *["lin2015", "/", "length", "1000", "/", "fused"]]
    )
    assert "faster lin2015 / length 1000 / diagonal" in lines[5]
    assert "blocked" not in out
    assert "1 slower, 1 faster" in out
    assert "1.000 on average of 1: other programs" in out


def test_faster_alone_is_no_failure(run):
    status, out, _ = run(lin({"fused": 0.2}), lin({"fused": 0.1}))
    assert status == 0
    assert "faster" in out


def test_all_shows_what_is_the_same_and_sorts_by_ratio(run):
    old, new = lin({"a": 1.0, "b": 1.0, "c": 1.0}), lin({"a": 1.0, "b": 1.05, "c": 0.97})
    status, out, _ = run(old, new, "--all")
    assert status == 0
    ratios = [float(line.split()[0]) for line in out.splitlines()[4:8]]
    assert ratios == [1.05, 1.0, 1.0, 0.97]


def test_floor_can_be_chosen(run):
    old, new = lin({"fused": 0.1}), lin({"fused": 0.13})
    assert run(old, new, "--floor", "40")[0] == 0
    assert run(old, new, "--floor", "20")[0] == 1
    with pytest.raises(SystemExit, match="2"):
        run(old, new, "--floor", "x")


def test_wrong_ones_are_named(run):
    right, wrong = lin({"fused": 0.1, "blocked": 0.1}), lin({"blocked": 0.1}, wrong=())
    wrong["results"][0]["engines"]["fused"] = lin({"fused": 0.1}, wrong=["fused"])["results"][0][
        "engines"
    ]["fused"]
    status, out, _ = run(right, wrong)
    assert status == 1
    assert "\nWRONG: lin2015 / length 1000 / fused: 1 of 1, reference: pair 0: [7]" in out
    status, out, _ = run(wrong, right)
    assert status == 0
    assert "was WRONG: lin2015 / length 1000 / fused" in out


def test_noise_of_both_runs_is_taken_off():
    quiet, loud = Times(1.0, 0.99, 0.02, 20), Times(1.3, 1.1, 0.35, 20)
    assert judge(quiet, Times(1.3, 1.1, 0.02, 20), 0.1) == "slower"
    assert judge(quiet, loud, 0.1) == "same"
    # Of few repeats the whole range counts.
    told = {"wall": times(1.0, 0.02, 3) | {"maximum": 1.5}}
    assert compare.times(told, "wall").noise == pytest.approx(1.5 - 0.99)
    assert compare.times({"wall": times(1.0, 0.02, 10)}, "wall").noise == pytest.approx(0.02)


def test_a_single_time_has_to_differ_more():
    once = Times(1.0, 1.0, 0.0, 1)
    assert judge(once, Times(1.2, 1.2, 0.0, 1), 0.1) == "same"
    assert judge(once, Times(1.5, 1.5, 0.0, 1), 0.1) == "slower"
    assert judge(Times(1.5, 1.5, 0.0, 1), once, 0.1) == "faster"


def test_hardware_has_a_lower_floor_and_the_device_clock():
    made = single("aymone2022", software=False)
    new = copy.deepcopy(made)
    result = new["results"][0]
    for name in ("median", "minimum", "maximum"):
        result["device"][name] *= 1.25
        result["wall"][name] *= 0.5
    result["device"]["spread"] = made["results"][0]["device"]["spread"] = 0.01
    (delta,) = compared(made, new).marked
    assert (delta.clock, delta.verdict) == ("device", "slower")
    assert delta.ratio == pytest.approx(1.25)
    assert FLOOR["hardware"] < FLOOR["software"]


def test_peers_are_beside_and_never_marked():
    found = compared(lin({"fused": 0.1}, peer=0.01), lin({"fused": 0.1}, peer=0.05))
    assert found.marked == []
    assert not found.failed
    assert [delta.verdict for delta in found.deltas] == ["beside", "same"]


def test_counts_what_cannot_be_compared(run):
    old, new = lin({"a": 0.1, "b": 0.1, "c": 0.1, "e": 0.1}), lin({"b": 0.1, "c": 0.1, "d": 0.1})
    new["results"][0]["engines"]["b"]["cells"] = 7
    nothing = {"check": None, "cells": 1, "wall": None, "device": None, "gcups": None}
    new["results"][0]["engines"]["e"] = nothing | {"estimate": 9.0}
    status, out, _ = run(old, new)
    assert status == 0
    assert "only in old.json: 1\n" in out
    assert "only in new.json: 1\n" in out
    assert "of other sizes: 1\n" in out
    assert "not timed in one of them: 1\n" in out


def test_rates_of_micro_are_compared_as_times():
    made = single("lin2015") | {"benchmark": "micro", "settings": {}}
    check = {"judge": "NumPy", "pairs": 64, "wrong": 0, "first": None}
    rate = {"name": "int32 add", "unit": "op/s", "value": 4e10, "spread": 0.01, "repeats": 9}
    cost = {"name": "dispatch", "unit": "s", "value": 2e-5, "spread": 0.01, "repeats": 9}
    made["results"] = [each | {"check": check, "left_out": None} for each in (rate, cost)]
    new = copy.deepcopy(made)
    new["results"][0]["value"] = 2e10
    new["results"][1]["value"] = 1e-5
    marked = {delta.key: (delta.verdict, delta.ratio) for delta in compared(made, new).marked}
    assert marked == {
        "micro / int32 add": ("slower", pytest.approx(2)),
        "micro / dispatch": ("faster", pytest.approx(0.5)),
    }


def test_other_devices_are_refused(run):
    status, out, err = run(single("lin2015"), single("lin2015", software=False))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "llvmpipe" in err
    assert "one device is expected" in err


def test_software_on_another_processor_is_refused(run):
    new = lin({"fused": 0.1})
    new["cpu"] = {"model": "Another", "cores": 64}
    status, _, err = run(lin({"fused": 0.1}), new)
    assert status == 2
    assert "on Another, 64 cores" in err


def test_nothing_in_common_is_told(run):
    status, _, err = run(single("lin2015"), single("sudo2012"))
    assert status == 2
    assert "nothing in common" in err


def test_bad_files_give_one_line(tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert compare.main([str(path), str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_the_schema_rejects_is_one_line(run, monkeypatch):
    pytest.importorskip("jsonschema")
    bad = lin({"fused": 0.1})
    bad["results"][0]["engines"]["fused"]["wall"]["median"] = "fast"
    status, out, err = run(bad, lin({"fused": 0.1}))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "old.json: not a document of bench: results[0].engines.fused.wall" in err
    unknown = lin({"fused": 0.1}) | {"more": 1}
    assert "'more' is not known" in run(unknown, unknown)[2]
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    schema._validator.cache_clear()
    assert run(unknown, unknown)[0] == 0


PLACE = "    best = best_of_group(best);"
ROUND = "drawn ^= drawn << 13; drawn ^= drawn >> 17; drawn ^= drawn << 5; "
DELAY = (
    "    uint drawn = uint(t) + 1u; "
    # llvmpipe ends the loops of a shader after 65,535 turns in all.
    "for (int turn = 0; turn < 40 * end; turn++) { " + 24 * ROUND + "} "
    "if (drawn == 7u && next_strip < 0) best_cells[p] = ivec4(drawn); "
)
"""What is put before it: work whose result the compiler cannot know to be of no use."""


@pytest.fixture
def diagonal_and_fused(device, tmp_path):
    """``diagonal_and_fused(name)``: a document of two engines, measured now."""
    if not device.info.compute or not device.info.software:
        pytest.skip("timed on software renderers with compute shaders")

    def measured(name):
        path = tmp_path / name
        words = ["--lengths", "700", "--methods", "diagonal,fused", "--budget", "10"]
        options = ["--device", str(device.info.index), "--output", str(path)]
        assert lin2015.main([*words, *options]) == 0
        return document(json.loads(path.read_text()), name)

    return measured


def verdicts(old, new):
    found = compare.compare(old, new)
    return found, {delta.key.rpartition(" / ")[2]: delta for delta in found.ours}


@pytest.mark.usefixtures("one_repeat")
def test_a_slowed_shader_is_marked(device, diagonal_and_fused, monkeypatch):
    assemble = glsw.device.shader.assemble

    def slowed(name, *words):
        source, origins = assemble(name, *words)
        if name == "diagonal.comp":
            assert PLACE in source
            source = source.replace(PLACE, DELAY + PLACE)
        return source, origins

    # A busy machine may slow down the first run by as much: then both are measured again.
    for _ in range(20):
        before = diagonal_and_fused("before.json")
        with monkeypatch.context() as patch:
            patch.setattr(glsw.device.shader, "assemble", slowed)
            patch.setattr(device, "programs", {})
            after = diagonal_and_fused("after.json")
        found, named = verdicts(before, after)
        if named["diagonal"].verdict == "slower":
            break
    assert named["diagonal"].verdict == "slower", named
    assert named["diagonal"].ratio > 2
    assert found.failed
    for same in (before, after):
        found, named = verdicts(same, same)
        assert set(named) == {"diagonal", "fused"}
        assert not found.failed
        assert not found.marked


@pytest.mark.slow  # for a machine with nothing else to do
def test_an_unchanged_shader_is_not_marked(diagonal_and_fused):
    for _ in range(3):
        found, named = verdicts(diagonal_and_fused("before.json"), diagonal_and_fused("again.json"))
        if not found.failed:
            break
    assert all(delta.verdict != "slower" for delta in named.values()), named
