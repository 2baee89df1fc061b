"""E-values of motifs: noise has few, planted responses are found, senseless scorings refused."""

from __future__ import annotations

import shlex
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glsw
from bench.generated import noise, planted
from glsw.cli import main
from glsw.device.device import Device
from glsw.scoring.scoring import Scoring
from glsw.wings.series import sax
from glsw.wings.series.motifs import RULES, Motifs, aligner_of, compare, scoring_of, trace
from glsw.wings.series.significance import Significance, fitted, phase_randomized
from glsw.wings.series.table import chance_text
from glsw.wings.series.words import words_of

RECORDING = Path(__file__).parents[3] / "demo" / "recording.csv"
SIGNIFICANT = 0.05


def found(series: Any, device: Device, **options: Any) -> Motifs:
    """Return the motifs of a recording of 10 samples a second, on the device."""
    options = {"of": 2, "rate": 10, "top": 3, "device": device.info.index} | options
    return glsw.motifs(series, **options)


@pytest.mark.parametrize("rule", RULES)
def test_noise_has_few_significant_motifs(device: Device, rule: Any) -> None:
    lowest = []
    with aligner_of(scoring_of(of=2, rule=rule), device=device.info.index) as aligner:
        for kind in ("white", "pink", "walk", "drift"):
            for seed in range(3):
                series = noise(kind, 6, 500, np.random.default_rng(seed))
                words = words_of(series, 120, of=2, rate=10)
                lowest.append(next(trace(compare(words, aligner, top=1), aligner)).pvalue)
    assert sum(each <= SIGNIFICANT for each in lowest) <= 2
    assert 0.15 < np.median(lowest) < 0.95


def test_planted_responses_are_significant(device: Device) -> None:
    hits = {6: 0, 0: 0}  # by cosines that are subtracted
    with aligner_of(scoring_of(of=2), device=device.info.index) as aligner:
        for seed, cosines in product(range(4), hits):
            random = np.random.default_rng(seed)
            series = noise("drift", 8, 1000, random)
            places = planted(series, 330, 3, random)
            words = words_of(series, of=2, rate=10, detrend=cosines)
            [motif] = trace(compare(words, aligner, top=1), aligner)
            begins = [places.get(int(name[2:]) - 1, 1000) / 10 for name in motif.channels]
            inside = (motif.seconds[:, 0] < np.add(begins, 33)) & (motif.seconds[:, 1] > begins)
            hits[cosines] += motif.pvalue <= SIGNIFICANT and bool(inside.all())
    assert hits[6] >= 3
    assert hits[0] < hits[6]


def test_three_channels(device: Device) -> None:
    random = np.random.default_rng(5)
    series = noise("white", 4, 600, random)
    options: dict[str, Any] = {"of": 3, "segments": 80, "surrogates": 40}
    [before, *_] = found(series, device, **options)
    places = planted(series, 330, 3, random)
    [after, *_] = found(series, device, **options)
    assert after.pvalue < SIGNIFICANT < before.pvalue
    assert after.channels == tuple(f"CH{k + 1}" for k in sorted(places))


def test_a_seed_gives_the_same_evalues(device: Device) -> None:
    series = noise("pink", 4, 200, np.random.default_rng(1))
    first, same, other = (found(series, device, seed=seed, surrogates=30) for seed in (7, 7, 8))
    assert [each.evalue for each in first] == [each.evalue for each in same]
    assert first[0].evalue != other[0].evalue
    assert [each.score for each in first] == [each.score for each in other]
    assert first[0].pvalue == pytest.approx(1 - np.exp(-first[0].evalue))
    nothing = found(series, device, surrogates=0)
    assert np.isnan([nothing[0].evalue, nothing[0].pvalue]).all()
    assert "p-value" in str(first)
    assert "E-values: from 30 pairs of surrogates (seed 7): mean " in str(first)
    assert "E-values:" not in str(nothing)


def test_every_output_has_the_pvalue(
    device: Device, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = f"motifs {RECORDING} --of 2 --segments 60 --top 2 --device {device.info.index}"
    motifs = found(RECORDING, device, rate=None, segments=60, top=2)
    assert main(words.split()) == 0
    assert capsys.readouterr().out == f"{motifs}\n"
    assert main([*words.split(), "--format", "tsv"]) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    row = dict(zip(header.split("\t"), first.split("\t"), strict=True))
    for name in ("evalue", "pvalue"):
        assert float(row[name]) == pytest.approx(getattr(motifs[0], name), rel=1e-3)
    frame = motifs.to_dataframe()
    assert frame["pvalue"].tolist() == [each.pvalue for each in motifs for _ in range(2)]
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    assert f"p = {chance_text(motifs[0].pvalue)}, " in motifs.plot().axes[0].get_title()


@pytest.mark.parametrize(
    "words",
    [
        "--of 2 --letters 2",
        "--of 2 --letters 8 --mismatch -0.1",
        "--of 2 --scoring mindist --letters 4 --match 3",
        "--of 3 --letters 2 --mismatch 0",
        "--of 3 --scoring mindist --letters 8 --match 9",
        "--of 2 --breakpoints gaussian --detrend 0 --letters 3 --match 2",
    ],
)
def test_scorings_that_reward_random_letters_are_refused(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    line = shlex.split(f"motifs {RECORDING} --engine reference --segments 20 {words}")
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "on average (must be negative): use more letters" in err
    assert main([*line, "--surrogates", "0", "--channels", "1-3"]) == 0


@pytest.mark.parametrize("of", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_the_default_scorings_are_not_refused(of: int, rule: Any) -> None:
    series = noise("walk", 3, 60, np.random.default_rng(1))
    options: dict[str, Any] = {"of": of, "rule": rule, "rate": 1, "segments": 12}
    result = glsw.motifs(series, engine="reference", surrogates=20, **options)
    assert result.comparison.significance is not None


def test_surrogates_have_the_spectrum_of_the_series() -> None:
    series = noise("pink", 3, 300, np.random.default_rng(2))
    random = np.random.default_rng(3)
    many = np.array([phase_randomized(series, random) for _ in range(300)])
    mirrored = np.concatenate([series, series[:, ::-1]], axis=1)
    mirrored -= mirrored.mean(axis=1, keepdims=True)
    for lag in (0, 1, 5, 20):
        found = (many[..., lag:] * many[..., : 300 - lag]).mean(axis=(0, 2))
        expected = (mirrored * np.roll(mirrored, lag, axis=1)).mean(axis=1)
        np.testing.assert_allclose(found, expected, atol=0.15 * series.var())
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(many[0], series, strict=True)]
    assert np.abs(correlations).max() < 0.5


def test_the_fit_is_that_of_a_gumbel_distribution() -> None:
    drawn = np.random.default_rng(1).gumbel(30, 4, 100_000)
    scoring = scoring_of(of=2)
    assert isinstance(scoring, Scoring)
    chance = fitted(np.rint(drawn).astype(np.int32), scoring, 0, count=10)
    assert chance.step == 1
    for score in (40, 50, 60):
        assert chance.evalue(score) == pytest.approx(10 * (drawn >= score - 0.5).mean(), rel=0.2)
    equal = fitted(np.full(20, 3), scoring, 0, count=1)
    assert isinstance(equal, Significance)
    assert equal.evalue(5) < 1e-3 < 0.4 < equal.evalue(3)


def test_letters_by_rank_are_equally_frequent_and_slow_changes_are_taken_out() -> None:
    time = np.arange(240.0)
    series = np.sin(time) + 5 * np.cos(np.pi * (time + 0.5) / 240) + 3
    words = words_of(series[None], 120, 8, rate=1)
    assert np.bincount(words.codes[0], minlength=8).tolist() == [15] * 8
    assert np.corrcoef(words.normal[0], np.sin(time))[0, 1] > 0.999
    assert sax.codes_of(np.array([[1.0, 1, 1, 2]]), 2, "rank").tolist() == [[0, 0, 0, 1]]
    with pytest.raises(ValueError, match="breakpoints must be 'rank' or 'gaussian', got 'x'"):
        words_of(series[None], rate=1, breakpoints="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="detrend -1: a whole number of 0 or more expected"):
        words_of(series[None], rate=1, detrend=-1)
    with pytest.raises(ValueError, match="all channels are constant without their first 6 cosines"):
        words_of(series[None, :6], rate=1)
    with pytest.raises(ValueError, match="surrogates 19: a whole number of 20 or more, or 0"):
        glsw.motifs(series.reshape(3, 80), rate=1, surrogates=19, engine="reference", segments=9)
