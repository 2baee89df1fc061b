"""Edit distances of anything: the functions `edit_distance` and `edit_distance_matrix`."""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import edlib
import numpy as np
import pandas as pd
import pytest

import glsw
from glsw.device.device import DeviceError
from glsw.engines import spec

ENGINES = ("auto", "bit_parallel", "host")


@pytest.fixture(params=ENGINES)
def options(request, device):
    """Each engine, those on a device with the device."""
    return {"engine": request.param} | ({} if request.param == "host" else {"device": device})


def test_one_pair_many_and_pairs(options):
    assert glsw.edit_distance("kitten", "sitting", **options) == 3
    assert isinstance(glsw.edit_distance("", "", **options), int)
    many = glsw.edit_distance("ACGT", ["ACT", "AGGT", ""], **options)
    assert (many.tolist(), many.dtype) == ([1, 1, 4], np.int32)
    assert glsw.edit_distance(["ACGT", "A"], ["", "TTA"], **options).tolist() == [4, 2]
    assert glsw.edit_distance([], [], **options).shape == (0,)


def test_infix_and_ends(options):
    text = "TTTACTTTTTACGTTT"
    found = glsw.edit_distance("ACGT", text, mode="infix", ends=True, **options)
    assert found == (0, 14)
    found = glsw.edit_distance("AAT", ["CAATAAT", "", "CC"], mode="infix", ends=True, **options)
    assert (found.distance.tolist(), found.target_end.tolist()) == ([0, 3, 3], [4, 0, 0])
    found = glsw.edit_distance("", [text, ""], mode="infix", ends=True, **options)
    assert np.array(found).tolist() == [[0, 0], [0, 0]]
    assert glsw.edit_distance("AC", "ACC", ends=True, **options) == (1, 3)


def test_any_letters(options):
    assert glsw.edit_distance("αβγ𝄞", "βγ𝄞x", **options) == 2
    assert glsw.edit_distance(b"abc", "abC", **options) == 1
    numbers = np.array([10**6, -3, 7])
    assert glsw.edit_distance(numbers, [numbers[1:], numbers[::-1]], **options).tolist() == [1, 2]
    words = [("the", "old", "man"), ("the", "man"), np.array([7])]
    assert glsw.edit_distance(words[:2], words[1:], **options).tolist() == [1, 2]
    record = glsw.Record("name", "", "ACGT")
    assert glsw.edit_distance(record, [record, "ACG"], **options).tolist() == [0, 1]


def test_files(options, tmp_path):
    path = tmp_path / "some.fasta"
    path.write_text(">a\nACGT\n>b\nACCT\n")
    assert glsw.edit_distance("ACGT", path, **options).tolist() == [0, 1]


@pytest.mark.parametrize("share", [0, 0.4])
def test_prefix_distances_and_ends_are_those_of_edlib(options, share):
    rng = np.random.default_rng(3)
    queries, targets = (
        ["".join(rng.choice([*letters], n)) for n in rng.integers(1, most, 40)]
        for letters, most in (("abc", 70), ("abcd", 200))
    )
    targets = [
        query[k % 4 :] + target if rng.random() < share else target
        for k, (query, target) in enumerate(zip(queries, targets, strict=True))
    ]

    def theirs(query, target):
        found = edlib.align(query, target, mode="SHW")
        return found["editDistance"], found["locations"][0][1] + 1

    pairs = glsw.edit_distance(queries, targets, mode="prefix", ends=True, **options)
    expected = np.array([theirs(*pair) for pair in zip(queries, targets, strict=True)])
    assert np.stack(pairs, axis=1).tolist() == expected.tolist()
    matrix = glsw.edit_distance_matrix(queries[:9], targets, mode="prefix", ends=True, **options)
    expected = np.array([[theirs(query, target) for target in targets] for query in queries[:9]])
    assert np.stack(matrix, axis=2).tolist() == expected.tolist()
    one = glsw.edit_distance(queries[3], targets, mode="prefix", **options)
    assert one.tolist() == expected[3, :, 0].tolist()


def test_prefix_of_nothing(options):
    found = glsw.edit_distance(["", "AC", ""], ["AC", "", ""], mode="prefix", ends=True, **options)
    assert np.array(found).tolist() == [[0, 2, 0], [0, 0, 0]]
    assert glsw.edit_distance("AC", "ACG", mode="prefix", ends=True, **options) == (0, 2)
    assert glsw.edit_distance_matrix([], ["AC"], mode="prefix", **options).shape == (0, 1)
    square = glsw.edit_distance_matrix(["AC", "ACGT"], mode="prefix", **options)
    assert square.tolist() == [[0, 0], [2, 0]]
    every = np.arange(256)
    with pytest.raises(ValueError, match="256 different letters: at most 255 in mode 'prefix'"):
        glsw.edit_distance(every, every, mode="prefix", **options)


def test_all_bytes_are_letters():
    every, rng = bytes(range(256)), np.random.default_rng(5)
    texts = [every + rng.bytes(40), rng.bytes(200), every[::-1]]
    expected = [[edlib.align(a, b)["editDistance"] for b in texts] for a in texts]
    for engine in ("auto", "host"):
        assert glsw.edit_distance_matrix(texts, engine=engine).tolist() == expected
        assert glsw.edit_distance(every[9:99], every, mode="infix", ends=True) == (0, 99)
    with pytest.raises(ValueError, match="alphabet has 256 letters: 1 to 255 are possible"):
        glsw.edit_distance(every, every, engine="bit_parallel")


@pytest.mark.parametrize("mode", ["global", "infix"])
def test_matrix(options, mode):
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice([*"abcde"], n)) for n in rng.integers(0, 90, 30)]
    expected = np.array(
        [
            [
                edlib.align(a, b, mode="NW" if mode == "global" else "HW")["editDistance"]
                for b in texts
            ]
            for a in texts
        ]
    )
    found = glsw.edit_distance_matrix(texts, mode=mode, **options)
    assert np.array_equal(found, expected)
    found = glsw.edit_distance_matrix(texts[:7], texts, mode=mode, ends=True, **options)
    assert np.array_equal(found.distance, expected[:7])
    assert found.target_end.shape == (7, 30)
    assert glsw.edit_distance_matrix([], texts, **options).shape == (0, 30)


def test_letters_of_one_side_need_few_codes(options):
    everything = "".join(map(chr, range(97, 997)))
    assert glsw.edit_distance("abcd", everything, mode="infix", **options) == 0
    with pytest.raises(ValueError, match="900 different letters: at most 256 expected"):
        glsw.edit_distance_matrix([everything, everything[1:]], **options)


def test_errors(options):
    with pytest.raises(
        ValueError, match=r"^2 queries and 3 targets: one of either, or equal numbers, expected$"
    ):
        glsw.edit_distance(["A", "C"], ["A", "C", "G"], **options)
    with pytest.raises(ValueError, match=r"^mode 'local': 'global', 'infix', 'prefix' expected$"):
        glsw.edit_distance("A", "C", mode="local", **options)
    with pytest.raises(TypeError, match=r"^targets: a sequence or several expected, got int$"):
        glsw.edit_distance("A", 5, **options)
    with pytest.raises(TypeError, match=r"^targets: a column expected, .*, got DataFrame$"):
        glsw.edit_distance("A", pd.DataFrame({"a": ["A"]}), **options)
    with pytest.raises(
        TypeError, match=r"^targets: a list expected, as a set has no order, got set"
    ):
        glsw.edit_distance("A", {"A", "C"}, **options)
    with pytest.raises(TypeError, match=r"^queries: sequence 2 is of type int$"):
        glsw.edit_distance(["A", 5], ["A", "C"], **options)
    with pytest.raises(ValueError, match=r"^engine 'best': 'auto', 'bit_parallel', 'host' expect"):
        glsw.edit_distance("A", "C", engine="best")


def test_without_compute_shaders_the_host_computes(monkeypatch):
    def refuse(*arguments, **options):
        raise DeviceError("no OpenGL")

    monkeypatch.setattr(spec, "device_for", refuse)
    with pytest.warns(RuntimeWarning, match="^edit distances are computed in Python: no OpenGL$"):
        assert glsw.edit_distance(["ACGT", "A"], ["AGT", "A"]).tolist() == [1, 0]
    for options in ({"engine": "bit_parallel"}, {"device": 0}):
        with pytest.raises(DeviceError, match="no OpenGL"):
            glsw.edit_distance("ACGT", "AGT", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert glsw.edit_distance("ACGT", "AGT", engine="host") == 1
        for mode, distance in (("global", 1997), ("infix", 1), ("prefix", 1)):
            assert glsw.edit_distance("CGTA", "CGA" + 1997 * "A", mode=mode) == distance


@pytest.mark.parametrize("mode", ["global", "infix"])
@pytest.mark.parametrize("by", ["devices", "executor", "one of a list"])
def test_several_devices_and_executors(device, mode, by):
    """Processes of several devices, those of an executor, and a list of one device."""
    rng, done = np.random.default_rng(2), []
    left, right = (
        ["".join(rng.choice([*"abc"], n)) for n in rng.integers(0, 60, count)] for count in (40, 40)
    )
    options = {"mode": mode, "ends": True}
    pairs: Any = glsw.edit_distance(left, right, engine="host", **options)
    each: Any = glsw.edit_distance_matrix(left[:9], right, engine="host", **options)
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        options |= {
            "devices": {"device": [0, 0]},
            "executor": {"executor": processes},
            "one of a list": {"device": [0]},
        }[by]
        found: Any = glsw.edit_distance(left, right, progress=done.append, **options)
        assert sum(done) == sum(len(a) * len(b) for a, b in zip(left, right, strict=True))
        found_each: Any = glsw.edit_distance_matrix(
            left[:9], right, progress=done.append, **options
        )
        assert glsw.edit_distance_matrix([], right, **options).distance.shape == (0, 40)
        one = glsw.edit_distance("abc", "abb", **(options | {"ends": False}))
    for expected, result in ((pairs, found), (each, found_each)):
        np.testing.assert_array_equal(result.distance, expected.distance)
        np.testing.assert_array_equal(result.target_end, expected.target_end)
    assert one == 1


def test_an_executor_has_no_host_and_no_other_devices():
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(ValueError, match="engine 'host' does not support executors"):
            glsw.edit_distance("A", "C", engine="host", executor=threads)
        with pytest.raises(ValueError, match="cannot be combined"):
            glsw.edit_distance_matrix(["A"], device=[0, 0], executor=threads)
    with pytest.raises(TypeError, match="executor must be an Executor"):
        glsw.edit_distance("A", "C", executor=1)
