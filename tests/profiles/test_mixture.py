"""Profiles of a Dirichlet mixture, and E-values corrected for biased compositions."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from test_profiles import mutated, some

import glsw
from glsw import Profile, Record, Scoring
from glsw.cli import main
from glsw.profiles import mixture
from glsw.profiles.letters import Letters
from glsw.statistics.ungapped_constants import lambda_of

QUERY = some(1, 120)


def changed(seed: int, letters: str, share: float) -> str:
    """Return the letters with this share of them replaced."""
    rng = np.random.default_rng(seed)
    others = some(seed, len(letters))
    return "".join(b if rng.random() < share else a for a, b in zip(letters, others, strict=True))


ALIKE = [QUERY, *(changed(k, QUERY, 0.15) for k in range(2, 9))]
MADE = Letters(Scoring.blast())


def entropy_of(profile: Profile) -> float:
    """Return the mean relative entropy of positions in bits, of scores in whole units."""
    odds = np.exp(MADE.lambda_ * profile.scores[:, MADE.codes])
    found = odds * MADE.frequencies
    found /= found.sum(axis=1, keepdims=True)
    return float((found * np.log2(found / MADE.frequencies)).sum(axis=1).mean())


def test_a_posterior_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    counts = np.where(rng.random((5, 20)) < 0.3, rng.random((5, 20)) * 4, 0)
    parameters, shares = mixture._PARAMETERS, mixture._SHARES
    assert shares.sum() == pytest.approx(1, abs=1e-5)
    for column, found in zip(counts, mixture.posterior(counts, parameters), strict=True):
        chances, means = [], []
        for share, alpha in zip(shares, parameters, strict=True):
            # the chance of the counts is B(alpha + counts) / B(alpha), B being the beta function
            over = sum(math.lgamma(a + n) for a, n in zip(alpha, column, strict=True))
            under = sum(map(math.lgamma, alpha))
            total = math.lgamma(sum(alpha)) - math.lgamma(sum(alpha) + sum(column))
            chances.append(share * math.exp(over - under + total))
            means.append((alpha + column) / (alpha + column).sum())
        expected = np.average(means, axis=0, weights=chances)
        assert found == pytest.approx(expected, rel=1e-9)
        assert found.sum() == pytest.approx(1)


def test_one_sequence_has_the_scores_of_the_matrix() -> None:
    one = Profile.from_alignment([QUERY], model="mixture")
    exact = Profile.from_sequence(QUERY).scores
    assert np.array_equal(one.scores[:, MADE.codes], exact[:, MADE.codes])
    assert np.array_equal(one.scores, Profile.from_alignment([QUERY]).scores)
    same = Profile.from_alignment([QUERY, QUERY], model="mixture")
    assert np.array_equal(same.scores, one.scores)


def test_profiles_are_as_soft_as_asked_for_and_on_the_scale_of_the_matrix() -> None:
    soft = Profile.from_alignment(ALIKE, model="mixture")
    assert entropy_of(soft) == pytest.approx(0.59, abs=0.05)  # scores are whole numbers
    more = [QUERY, *(changed(k, QUERY, 0.1) for k in range(40, 80))]
    assert entropy_of(Profile.from_alignment(more, model="mixture")) == pytest.approx(
        0.59, abs=0.05
    )
    short = Profile.from_alignment([row[:50] for row in more], model="mixture")
    target = (45 - math.log2(50 * 51 / 2)) / 50  # bits per position, of 45 together
    assert entropy_of(short) == pytest.approx(target, abs=0.05)
    scores, at = np.unique(soft.scores[:, MADE.codes], return_inverse=True)
    chances = np.tile(MADE.frequencies / len(soft), len(soft))
    found = lambda_of(scores.astype(np.int64), np.bincount(at.ravel(), chances))
    assert found == pytest.approx(MADE.lambda_, rel=0.02)


def test_what_members_agree_on_counts_most() -> None:
    made = Profile.from_alignment(["ACDEFGHIKW" * 4, "ARNEQGLIMW" * 4], model="mixture")
    letters = "ARNDCQEGHILKMFPSTWYV"
    assert made.scores[0, letters.index("A")] > 1
    assert made.scores[9, letters.index("W")] > made.scores[1, letters.index("C")]
    assert made.scores[9, letters.index("W")] > 5


def test_wrong_models() -> None:
    with pytest.raises(ValueError, match="model 'hmm': 'blast' or 'mixture' expected"):
        Profile.from_alignment(ALIKE, model="hmm")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="model 'hmm': 'blast' or 'mixture' expected"):
        glsw.iterate(QUERY, ALIKE, model="hmm")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of amino acids, not of DNA"):
        Profile.from_alignment(["ACGTACGTGA", "ACGTTCGTGA"], Scoring.nucleotide(), model="mixture")
    with pytest.raises(ValueError, match="has a correction for compositions of its own"):
        glsw.iterate(QUERY, ALIKE, model="mixture", composition=1)


def database() -> list[Record]:
    """Return relatives of a query with a part full of cysteines, others full of them, and more."""
    found = [Record(f"g{k}", "", row) for k, row in enumerate(biased_rows())]
    found += [Record(f"c{k}", "", cysteines(k)) for k in range(4)]
    return found + [Record(f"r{k}", "", some(1000 + k, 150)) for k in range(100)]


def cysteines(k: int) -> str:
    """Return random letters, every third of which is a cysteine."""
    return "".join("C" if n % 3 == k % 3 else x for n, x in enumerate(some(500 + k, 90)))


def biased_rows() -> list[str]:
    query = some(7, 60) + cysteines(0)[:60]
    return [query, *(mutated(k, query, 0.45) for k in range(20, 25))]


def test_bias_takes_off_what_the_definition_says() -> None:
    plain, biased = (
        glsw.iterate(biased_rows()[0], database(), iterations=2, evalue=1e5, top=None, model=model)
        for model in ("blast", "mixture")
    )
    assert str(plain[0].result) == str(biased[0].result)
    last = biased[1]
    alone = glsw.search(last.profile, database(), top=None, evalue=1e5)
    before = {hit.target.id: hit for hit in alone}
    odds = np.exp(MADE.lambda_ * last.profile.scores[:, MADE.codes])
    letters = "ARNDCQEGHILKMFPSTWYV"
    much = 0
    for hit in last.result:
        other = before[hit.target.id]
        assert hit.score == other.score
        aligned = [
            (int(i), letters.index(hit.target.letters[j]))
            for (t0, t1), (q0, q1) in zip(*map(pairwise, hit.alignment.coordinates), strict=True)
            if t1 > t0 and q1 > q0
            for j, i in zip(range(t0, t1), range(q0, q1), strict=True)
        ]
        means = odds[[i for i, _ in aligned]].mean(axis=0)
        product = math.exp(sum(math.log(means[x]) for _, x in aligned))
        loss = max(0.0, math.log(255 / 256 + product / 256)) / MADE.lambda_
        statistics = last.result.statistics
        assert statistics is not None
        sizes = len(last.profile), len(hit.target.letters)
        expected = statistics.evalue(hit.score - loss, *sizes) if loss else other.evalue
        assert hit.evalue == pytest.approx(expected, rel=1e-6)
        assert hit.evalue >= other.evalue  # type: ignore[operator]
        assert hit.bits <= other.bits  # type: ignore[operator]
        much += hit.evalue > 2 * other.evalue  # type: ignore[operator]
    assert much
    assert {hit.target.id for hit in last.result} <= set(before)


def test_a_query_without_relatives_keeps_its_evalues() -> None:
    alone = [Record("g0", "", biased_rows()[0]), *database()[10:]]
    rounds = glsw.iterate(alone[0], alone, model="mixture", evalue=1e3, top=None, inclusion=1e-9)
    assert [each.members for each in rounds] == [("g0",), ("g0",)]
    assert str(rounds[1].result) == str(rounds[0].result)


def test_order_by_evalue_is_that_of_the_corrected_ones() -> None:
    rounds = glsw.iterate(
        *(biased_rows()[0], database()), model="mixture", evalue=1e3, top=None, order="evalue"
    )
    found = [hit.evalue for hit in rounds[-1].result]
    assert found == sorted(found)  # type: ignore[type-var]
    assert [hit.rank for hit in rounds[-1].result] == list(range(1, len(found) + 1))
    few = glsw.iterate(
        *(biased_rows()[0], database()), model="mixture", evalue=1e-9, top=3, order="evalue"
    )
    assert [each.members for each in few] == [each.members for each in rounds]
    assert [hit.evalue for hit in few[-1].result] == [x for x in found if x <= 1e-9][:3]  # type: ignore[operator]


def test_the_option_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = database()
    (tmp_path / "db").write_text("".join(f">{each.id}\n{each.letters}\n" for each in records))
    (tmp_path / "q").write_text(f">q\n{records[0].letters}\n")
    words = ["search", str(tmp_path / "q"), str(tmp_path / "db"), "--profile-model", "mixture"]
    assert main([*words, "--iterations", "2", "--profiles", str(tmp_path / "made")]) == 0
    capsys.readouterr()
    written = Profile.read(tmp_path / "made" / "1_q_round1.profile")
    rounds = glsw.iterate(records[0].letters, tmp_path / "db", iterations=2, model="mixture")
    assert np.array_equal(written.scores, rounds[0].built.scores)
    assert main(words) == 2
    assert "--profile-model is for --iterations" in capsys.readouterr().err
