"""Forward scores of profiles, and E-values of hits from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from test_profiles import mutated, some

import glsw
from glsw import Aligner, Database, Profile, Record, Scoring
from glsw.cli import main
from glsw.device.device import Device
from glsw.sequences.encoded import Sequences
from glsw.wings.profiles.background import Background
from glsw.wings.profiles.forward import ForwardScores, HitSums

PROTEIN = Scoring.blast().alphabet
MADE = Background(Scoring.blast())
LETTERS = "ARNDCQEGHILKMFPSTWYV"


def random_profile(seed: int, length: int) -> Profile:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-6, 9, (length, len(PROTEIN)))
    return Profile(scores, some(seed, length), Scoring.blast())


def codes(*letters: str) -> list[np.ndarray]:
    return [PROTEIN.encode(each) for each in letters]


def scores(made: ForwardScores, targets: list[np.ndarray]) -> np.ndarray:
    """Return the scores of the first profile with targets."""
    pairs = np.stack([np.zeros(len(targets), int), np.arange(len(targets))], axis=1)
    return made.scores(Sequences.of(targets), pairs)


def every_alignment(odds: np.ndarray, target: np.ndarray) -> Iterator[float]:
    """Yield the odds of all local alignments, one by one; gaps follow a pair and end with one."""
    rows, columns = len(odds), len(target)

    def on(i: int, j: int, product: float) -> Iterator[float]:
        product *= odds[i, target[j]]
        yield product
        for next_i in range(i + 1, rows):
            for next_j in range(j + 1, columns):
                gaps = [k for k in (next_i - i - 1, next_j - j - 1) if k]
                if len(gaps) < 2:  # none, or in one of both sequences
                    step = 0.04 * 0.6 ** (gaps[0] - 1) * 0.4 if gaps else 0.92
                    yield from on(next_i, next_j, product * step)

    for i in range(rows):
        for j in range(columns):
            yield from on(i, j, 1.0)


def test_a_sum_is_over_every_local_alignment() -> None:
    for seed, (m, n) in enumerate(((1, 1), (1, 5), (5, 1), (4, 6), (6, 6), (7, 4))):
        profile, (target,) = random_profile(seed, m), codes(some(90 + seed, n))
        odds = np.exp(MADE.lambda_ * profile.scores)
        expected = math.log(math.fsum(every_alignment(odds, target)))
        assert scores(ForwardScores([profile]), [target])[0] == pytest.approx(expected, rel=1e-12)


def table_of(profile: Profile, target: np.ndarray) -> float:
    """Return the sum's logarithm by the recurrence, cell by cell."""
    odds = np.exp(MADE.lambda_ * profile.scores)
    pair, insert, gap, ended = np.zeros((4, len(odds) + 1, len(target) + 1))
    for i in range(1, len(odds) + 1):
        for j, letter in enumerate(target.tolist(), start=1):
            pair[i, j] = odds[i - 1, letter] * (1 + ended[i - 1, j - 1])
            insert[i, j] = 0.016 * pair[i, j - 1] + 0.6 * insert[i, j - 1]
            gap[i, j] = 0.016 * pair[i - 1, j] + 0.6 * gap[i - 1, j]
            ended[i, j] = 0.92 * pair[i, j] + insert[i, j] + gap[i, j]
    return math.log(pair.sum())


def test_sums_of_any_batch_are_those_of_the_recurrence(device: Device) -> None:
    profile = Profile.from_sequence(some(1, 60))
    targets = codes(*(some(k, n) for k, n in enumerate((1, 3, 60, 61, 200, 59, 7, 120))), "XBZ*A")
    expected = [table_of(profile, each) for each in targets]
    for where in (None, device if device.info.compute else None):
        made = ForwardScores([profile], where)
        together = scores(made, targets)
        assert together == pytest.approx(expected, rel=1e-5 if where else 1e-12)
        assert together.tolist() == [float(scores(made, [each])[0]) for each in targets]
        assert scores(made, targets[::-1]).tolist() == together[::-1].tolist()
        assert scores(made, []).shape == (0,)
        assert scores(made, codes("")).tolist() == [-math.inf]


def test_sums_of_equal_long_sequences_are_finite() -> None:
    letters = some(5, 1500)
    (score,) = scores(ForwardScores([Profile.from_sequence(letters)]), codes(letters))
    assert 500 < score < 700


@pytest.mark.parametrize("score", [-30_000, 30_000])
def test_sums_of_extreme_scores_are_finite(score: int) -> None:
    profile = Profile(np.full((70, len(PROTEIN)), score), some(1, 70), Scoring.blast())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = ForwardScores([profile])
        assert 0 < made.k[0] < math.inf
        assert np.isfinite(scores(made, codes(some(2, 50), some(3, 400)))).all()


def test_chance_reaches_evalues_as_often_as_they_say() -> None:
    targets = codes(*(some(10_000 + k, 180) for k in range(400)))
    found = expected = 0.0
    for seed in range(12):
        profile = Profile.from_sequence(some(seed, 150))
        if seed % 2:
            rng = np.random.default_rng(seed)
            others = [some(100 * seed + k, 150) for k in range(1, 6)]
            rows = [
                "".join(map(rng.choice, zip(profile.letters, each, strict=True))) for each in others
            ]
            profile = Profile.from_alignment([profile.letters, *rows])
        made = ForwardScores([profile])
        evalues = made.k * 150 * 180 * 400 * np.exp(-scores(made, targets))
        found, expected = found + float((evalues <= 5).sum()), expected + 5
    assert expected / 2 < found < expected * 2


def database() -> list[Record]:
    """Return relatives of a query with a part full of cysteines, others full of them, and more."""
    found = [Record(f"g{k}", "", row) for k, row in enumerate(biased_rows())]
    found += [Record(f"c{k}", "", cysteines(k)) for k in range(4)]
    return found + [Record(f"r{k}", "", some(1000 + k, 150)) for k in range(100)]


def cysteines(k: int) -> str:
    """Return random letters, every third of which is a cysteine."""
    return "".join("C" if n % 3 == k % 3 else x for n, x in enumerate(some(500 + k, 90)))


@cache
def biased_rows() -> list[str]:
    query = some(7, 60) + cysteines(0)[:60]
    return [query, *(mutated(k, query, 0.45) for k in range(20, 25))]


def test_evalues_are_those_of_the_sum_less_what_compositions_explain() -> None:
    rounds = glsw.iterate(
        *(biased_rows()[0], database()), iterations=2, evalue=1e4, top=None, sums=True
    )
    much = 0
    for each in rounds:
        plain = {
            hit.target.id: hit
            for hit in glsw.search(each.profile, database(), top=None, evalue=1e4)
        }
        made = ForwardScores([each.profile])
        (k,) = made.k
        odds = np.exp(MADE.lambda_ * each.profile.scores[:, MADE.codes])
        for hit in each.result:
            assert hit.score == plain[hit.target.id].score
            pairs = [
                (int(i), LETTERS.index(hit.target.letters[j]))
                for (t0, t1), (q0, q1) in zip(
                    *map(pairwise, hit.alignment.coordinates), strict=True
                )
                if t1 > t0 and q1 > q0
                for j, i in zip(range(t0, t1), range(q0, q1), strict=True)
            ]
            means = odds[[i for i, _ in pairs]].mean(axis=0)
            product = math.exp(sum(math.log(means[x]) for _, x in pairs))
            loss = max(0.0, math.log(255 / 256 + product / 256))
            best = MADE.lambda_ * hit.score
            sum_of_all = float(scores(made, codes(hit.target.letters))[0])
            nats = (best if best >= 200 else sum_of_all) - loss
            cells = len(each.profile) * len(hit.target.letters)
            expected = k * cells * len(database()) * math.exp(-nats)
            assert hit.evalue == pytest.approx(expected, rel=1e-4)  # of a device perhaps
            assert hit.bits == pytest.approx((nats - math.log(k)) / math.log(2))
            much += loss > 2
        assert each.result.statistics is not None
        assert each.result.statistics.name == f"Forward scores: lambda 1, K {k:.3g}"
    assert much


def test_sums_belong_to_their_hits_in_any_order() -> None:
    """As a filter after the alignment would leave them."""
    profile = Profile.from_sequence(biased_rows()[0])
    targets = Database.of(database(), PROTEIN)
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare([profile], targets, top=None, evalue=1e4)
        with search.pool.running(None, None, aligner.ties) as run:
            hits = search.selected(search.queries, list(search.scans(run)))
            sums = HitSums(hits, [profile], targets, aligner.engine)
            (whole,) = sums.results([*chain.from_iterable(search.aligned(hits))])
            kept = hits.select(np.arange(len(hits.table))[1::3])
            (part,) = sums.results([*chain.from_iterable(search.aligned(kept))])
        wanted = {hit.target.id: hit.evalue for hit in whole}
        assert 3 < len(part) < len(wanted)
        assert {hit.target.id: hit.evalue for hit in part}.items() <= wanted.items()
        others = HitSums(kept, [profile], targets, aligner.engine)
        with pytest.raises(KeyError, match="sums of other hits"):
            others.results([whole])


def test_sums_follow_a_filter() -> None:
    query, targets, options = biased_rows()[0], database(), {"evalue": 1e4, "top": None}
    (every,) = glsw.iterate(query, targets, iterations=1, sums=True, **options)
    (few,) = glsw.iterate(query, targets, iterations=1, sums=True, min_identity=0.4, **options)
    expected = [
        (hit.target.id, hit.evalue) for hit in every.result if hit.alignment.identity >= 0.4
    ]
    assert [(hit.target.id, hit.evalue) for hit in few.result] == expected
    assert 0 < len(expected) < len(every.result)


def test_members_and_order_are_those_of_the_sums() -> None:
    query, targets = biased_rows()[0], database()
    for inclusion in (None, 1e-9):
        rounds = glsw.iterate(query, targets, evalue=1e4, top=None, sums=True, inclusion=inclusion)
        for each in rounds:
            evalues = {hit.target.id: hit.evalue for hit in each.result}
            assert list(evalues.values()) == sorted(evalues.values())  # type: ignore[type-var]
            assert [hit.rank for hit in each.result] == list(range(1, len(evalues) + 1))
            limit = inclusion or 0.005
            assert set(each.members) == {x for x, e in evalues.items() if e <= limit}  # type: ignore[operator]
    few = glsw.iterate(query, targets, evalue=1e-9, top=3, sums=True, inclusion=1e-9)
    assert [each.members for each in few] == [each.members for each in rounds]
    best = [x for x, e in evalues.items() if e <= 1e-9]  # type: ignore[operator]
    assert [hit.target.id for hit in few[-1].result] == best[:3]


def test_a_best_alignment_of_200_nats_stands_for_the_sum() -> None:
    letters = some(3, 300)
    (only,) = glsw.iterate(letters, [letters, some(4, 300)], iterations=1, sums=True)
    score = MADE.lambda_ * only.result[0].score
    assert score > 200
    (k,) = ForwardScores([only.profile]).k
    bits = only.result[0].bits
    assert bits is not None
    assert 0 <= (score - math.log(k)) / math.log(2) - bits < 0.5  # of the composition


def test_what_sums_are_not_for() -> None:
    with pytest.raises(ValueError, match="Forward scores are for amino acids, not for DNA"):
        glsw.iterate(
            "ACGTACGTTA", ["ACGTACGTTA"], scoring=Scoring.nucleotide(), strand="plus", sums=True
        )
    with pytest.raises(ValueError, match="needs E-values: statistics are 'none'"):
        glsw.iterate(biased_rows()[0], database(), statistics="none")
    with pytest.raises(
        ValueError, match="sums correct for composition themselves: omit composition"
    ):
        glsw.iterate(biased_rows()[0], database(), sums=True, composition=1)


def test_the_option_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = database()
    (tmp_path / "db").write_text("".join(f">{each.id}\n{each.letters}\n" for each in records))
    (tmp_path / "q").write_text(f">q\n{records[0].letters}\n")
    words = ["search", str(tmp_path / "q"), str(tmp_path / "db"), "--sums", "--format", "tsv"]
    assert main([*words, "--iterations", "2"]) == 0
    printed = capsys.readouterr().out
    *_, last = glsw.iterate(records[0].letters, tmp_path / "db", iterations=2, sums=True)
    lines = [line.split("\t") for line in printed.splitlines() if not line.startswith("#")]
    names = [hit.target.id for hit in last.result]
    assert [name for line in lines for name in line if name in names] == names
    assert main(words) == 2
    assert "--sums requires --iterations" in capsys.readouterr().err
