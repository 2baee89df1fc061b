"""The fuzzer: some seeds, those that failed once, and that it notices what is wrong."""

from __future__ import annotations

from pathlib import Path

import fuzz
import fuzz_engines
import fuzz_inputs
import numpy as np
import pytest
from cases import standing_in

from glsw.device.device import Device
from glsw.engines.reference import Reference

FEW = range(1, 9)


@pytest.mark.parametrize("seed", [*FEW, *fuzz.kept_seeds("engines")])
def test_engines(seed: int, device: Device) -> None:
    assert fuzz.try_engines(device, 0.1, seed).total() > 0


def test_engines_of_a_device_without_compute_shaders(device: Device) -> None:
    able = standing_in(device, software=device.info.software, version=(4, 1), compute=False)
    for seed in (1, 11, 21):  # two of them once asked for paths, which the host traces there
        assert fuzz.try_engines(able, 0.1, seed).total() > 0


@pytest.mark.parametrize("seeds", [range(k, k + 25) for k in range(0, 100, 25)])
def test_inputs(seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = fuzz.small_database(tmp_path)
    for seed in (*seeds, *fuzz.kept_seeds("inputs")):
        assert fuzz.try_inputs(tmp_path, database, seed).total() == 1


@pytest.mark.parametrize("seed", FEW)
def test_parasail_and_the_reference_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scoring = fuzz_engines.expressible(rng)
    queries, targets, index = fuzz_engines.related_pairs(rng, len(scoring.alphabet), 12, 0, 40)
    batch = fuzz_engines.batch_of(queries, targets, index)
    chosen = fuzz_engines.Scenario(seed, "pairs", scoring, queries, targets, batch, bulk=False)
    expected = Reference(scoring).scores(batch)
    assert fuzz_engines.expected_scores(chosen).tolist() == expected.tolist()


def test_a_wrong_score_is_noticed(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    right = fuzz_engines.expected_scores

    def wrong(chosen: fuzz_engines.Scenario) -> np.ndarray:
        scores = right(chosen).copy()
        scores[-1] += 1
        return scores

    monkeypatch.setattr(fuzz_engines, "expected_scores", wrong)
    with pytest.raises(AssertionError, match=r"^seed 3, .*: score -?\d+ is not -?\d+, pair \d+"):
        fuzz.try_engines(device, 0.1, 3)


@pytest.mark.parametrize(
    ("status", "err"), [(1, "glsw: no"), (2, ""), (0, "Traceback (most recent"), (2, "glsw: a\nb")]
)
def test_a_wrong_end_is_noticed(
    status: int, err: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_inputs, "_called", lambda words: (status, "", err))
    with pytest.raises(AssertionError, match=r"^seed 1: glsw .*: status"):
        fuzz_inputs.run(1, tmp_path, b"")
