"""Forward sums: of a device beside those of the host, in any shape, range and order."""

import math
import re
import tracemalloc
import warnings

import numpy as np
import pytest
from driver_faults import Fault, driver, refused, replaced
from garbage import judge, on_linux

from glsw.device.device import Device
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.trust.check import tests_of
from glsw.trust.proofs import DeviceFaultWarning
from glsw.wings.profiles import forward_sums
from glsw.wings.profiles.forward_sums import ForwardSums, log_sums

SCORES = np.exp(0.3176 * Scoring.blast().matrix)
LENGTHS = (1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 60, 128, 250, 257, 300)
SHAPES = (1, 16, 8), (1, 4, 64), (2, 8, 8), (8, 4, 32), (16, 16, 64), (32, 8, 32)
"""Lanes of a chain, rows of each, lanes of a work group."""


@pytest.fixture(autouse=True)
def with_compute_shaders(device: Device) -> None:
    if not device.info.compute:
        pytest.skip("forward sums are for compute shaders")


def codes(rng: np.random.Generator, length: int) -> np.ndarray:
    return rng.integers(0, 20, length).astype(np.uint8)


def mutated(rng: np.random.Generator, letters: np.ndarray, share: float) -> np.ndarray:
    """Return letters of which a share is others, some are gone, and some are more."""
    changed = np.where(rng.random(len(letters)) < share, codes(rng, len(letters)), letters)
    return np.insert(np.delete(changed, slice(20, 27)), 40 % max(1, len(changed)), codes(rng, 5))


def each_with_each(profiles: int, targets: int) -> np.ndarray:
    return np.indices((profiles, targets)).reshape(2, -1).T.astype(np.int64)


def beside(
    device: Device, odds: list[np.ndarray], targets: list[np.ndarray], **shape: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the device finds of each with each, NaN included, and what the host does."""
    sequences, pairs = Sequences.of(targets), each_with_each(len(odds), len(targets))
    with device:
        found = ForwardSums(device, **shape).log_sums(odds, sequences, pairs)
    return found, log_sums(odds, sequences, pairs)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_device_finds_the_sums_of_the_host(shape, device):
    rng = np.random.default_rng(sum(shape))
    queries = [codes(rng, n) for n in LENGTHS]
    targets = [codes(rng, n) for n in (0, *LENGTHS, 700)]
    targets += [mutated(rng, query, 0.3) for query in queries]
    chain, rows, workgroup = shape
    odds = [SCORES[query] for query in queries]
    found, expected = beside(device, odds, targets, chain=chain, rows=rows, workgroup=workgroup)
    assert np.isneginf(found[np.isneginf(expected)]).all()
    some = np.isfinite(expected)
    np.testing.assert_allclose(found[some], expected[some], rtol=0, atol=2e-5)


def test_sums_of_long_sequences(device):
    rng = np.random.default_rng(5)
    query = codes(rng, 2000)
    related = mutated(rng, query, 0.8)
    odds = [SCORES[query], SCORES[query[:900]]]
    found, expected = beside(device, odds, [codes(rng, 2000), related, query[1000:1200]])
    assert expected.max() > 30
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("chain", [1, 16])
def test_parts_in_another_order_each_have_sums_that_no_float_holds(chain, device):
    rng = np.random.default_rng(6)
    a, between = codes(rng, 150), codes(rng, 200)
    b = rng.permutation(a)
    odds = [SCORES[np.concatenate([a, b])]]
    targets = [np.concatenate([b, between, a]), np.concatenate([a, between, b]), a, b]
    found, expected = beside(device, odds, targets, chain=chain)
    assert expected.min() > 200  # a float has less than e^89
    assert expected[0] > expected[2:].max() + 0.05  # of both
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_odds_by_position(device):
    rng = np.random.default_rng(7)
    odds = [np.exp(rng.normal(-0.5, 2, (n, 24))) for n in (40, 300)]
    odds += [np.full((90, 24), 2.0**16), np.full((90, 24), 0.0)]
    odds[1][:, 3] = 0
    targets = [codes(rng, n) for n in (1, 30, 31, 400)]
    found, expected = beside(device, odds, targets)
    some = np.isfinite(found)
    assert some.reshape(4, 4)[:2].all()
    assert some.reshape(4, 4)[2].tolist() == [True, True, True, False]  # e^575 and more
    assert not some.reshape(4, 4)[3].any()
    np.testing.assert_allclose(found[some], expected[some], rtol=1e-5, atol=1e-4)


def test_what_the_device_cannot_hold_is_computed_by_the_host(device, monkeypatch):
    rng = np.random.default_rng(8)
    query = codes(rng, 150)
    odds = [SCORES[query], np.full((5, 24), 1e200), np.full((5, 24), 1e-200), SCORES[:9]]
    odds[3] = np.where(odds[3] == odds[3].max(), 2.0**17, odds[3])
    monkeypatch.setattr(forward_sums.gl, "MAX_ROUNDS", 101)
    targets = Sequences.of([codes(rng, n) for n in (7, 399, 500)])
    pairs = each_with_each(len(odds), len(targets))
    expected = log_sums(odds, targets, pairs)
    assert np.isfinite(expected).all()
    alone = ForwardSums(device).log_sums(odds, targets, pairs)
    assert np.flatnonzero(~np.isnan(alone)).tolist() == [0, 1]
    found = log_sums(odds, targets, pairs, device)
    np.testing.assert_allclose(found[:2], expected[:2], rtol=0, atol=1e-5)
    assert found[2:].tolist() == expected[2:].tolist()


def test_pairs_in_any_order_and_in_little_memory_have_the_same_sums(device):
    rng = np.random.default_rng(9)
    odds = [SCORES[codes(rng, n)] for n in (200, 20, 90, 20)]
    targets = Sequences.of([codes(rng, n) for n in rng.integers(1, 300, 30)])
    pairs = rng.permutation(each_with_each(len(odds), len(targets)))[:70]
    with device:
        made = ForwardSums(device, chain=2, rows=4)
        expected = made.log_sums(odds, targets, pairs)
        assert made.log_sums(odds, targets, pairs[::-1]).tolist() == expected[::-1].tolist()
        for one in (0, 69):
            (alone,) = made.log_sums(odds, targets, pairs[one : one + 1])
            assert alone == expected[one]
        limits = forward_sums.SumSizes(letters=1000, borders=150, pairs=11, groups=2)
        with_less = ForwardSums(device, chain=2, rows=4, workgroup=4, limits=limits)
        assert with_less.log_sums(odds, targets, pairs).tolist() == expected.tolist()
        assert made.log_sums(odds, targets, pairs[:0]).shape == (0,)


def test_many_short_targets_of_a_long_profile_take_little_memory():
    rng = np.random.default_rng(10)
    odds, targets = SCORES[codes(rng, 2000)], [codes(rng, 3) for _ in range(100)]
    expected = forward_sums.log_sums_on_host(odds, targets).tolist()
    tracemalloc.start()
    try:
        assert forward_sums.log_sums_on_host(odds, targets, 2**14).tolist() == expected
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_sums_of_the_host_end_at_a_limit():
    query = codes(np.random.default_rng(11), 800)
    some = [query[:300], query]
    together = forward_sums.log_sums_on_host(SCORES[query], some)
    assert 200 < together[0] < math.log(1e250) < together[1] < 600
    alone = [forward_sums.log_sums_on_host(SCORES[query], [each])[0] for each in some]
    assert together.tolist() == alone


SHADER = "profiles/forward.comp"
FAULTS = {
    "a gap": replaced("gap = EXTEND * gap + pairs_here;", "gap = pairs_here;", SHADER),
    "a scale": replaced("scale = needed;", "", SHADER),
    "a border": replaced("if (has_below && there)", "if (false)", SHADER),
    "no program": refused(lambda name, macros: name == SHADER),
}


@pytest.mark.parametrize("hardware", [False, True])
@pytest.mark.parametrize("name", FAULTS)
def test_sums_prove_themselves(name, hardware, device, tmp_path):
    rng = np.random.default_rng(12)
    odds = [SCORES[codes(rng, n)] for n in (300, 40)]
    targets = Sequences.of([codes(rng, n) for n in (50, 90)])
    pairs = each_with_each(2, 2)
    expected = log_sums(odds, targets, pairs).tolist()
    with driver(device, Fault("", FAULTS[name], hardware=hardware), tmp_path / "devices"):
        for _ in range(2):  # the second time it is known
            with pytest.warns(DeviceFaultWarning) as caught:
                assert log_sums(odds, targets, pairs, device).tolist() == expected
            (line,) = [str(each.message) for each in caught]
            said = "wrong results|fails: [^\n]+"
            assert re.fullmatch(
                rf"{re.escape(device.info.name)}: engine 'forward': ({said}); the host is used "
                r"instead \(please report what `glsw devices --test` prints\)",
                line,
            )
        assert {row.verdict for row in tests_of(ForwardSums, device)} != {"right"}
    with driver(device, Fault("", hardware=hardware), tmp_path / "right"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = log_sums(odds, targets, pairs, device)
        assert found.tolist() != expected  # it was the device
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        assert {row.verdict for row in tests_of(ForwardSums, device)} == {"right"}


@on_linux
def test_sums_of_a_device_that_returns_garbage(device: Device) -> None:
    rng = np.random.default_rng(4)
    odds = [np.exp(rng.normal(size=(n, 5))) for n in (9, 40)]
    targets = Sequences.of([rng.integers(0, 5, n).astype(np.uint8) for n in (0, 3, 50)])
    pairs = np.indices((2, 3)).reshape(2, -1).T

    def task() -> None:
        found = ForwardSums(device).log_sums(odds, targets, pairs)
        assert np.isneginf(found[pairs[:, 1] == 0]).all()
        assert not np.isinf(found[pairs[:, 1] > 0]).any()  # NaN: the host computes them

    judge(task, device)
