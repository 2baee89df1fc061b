"""Gap costs by position: scores and paths on every engine by the definition, files, refusals."""

from __future__ import annotations

import csv
import dataclasses
import json
import pickle
from pathlib import Path
from types import SimpleNamespace

import cases
import naive
import numpy as np
import pytest
from test_profiles import HMM, PSSM, drawn, some

import glsw
import glsw.device.shader
from glsw import Aligner, Profile, Scoring
from glsw.alignment.batch import Batch
from glsw.alignment.paths import Runs
from glsw.cli import main
from glsw.engines import ENGINES
from glsw.engines.reference import Reference
from glsw.engines.windows import longest_spans
from glsw.scoring.gaps import EndGaps, GapCost, PositionalGaps
from glsw.scoring.positional import PositionalScoring
from glsw.search.fingerprint import fingerprint
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.sequences.encoded import Sequences
from glsw.sequences.lines import sealed, unsealed
from glsw.wings.composition.own_matrices import own_scores
from glsw.wings.profiles.iteration import Found, Members

BLOSUM62 = Scoring.blast()
ABLE = [name for name, kind in ENGINES.items() if kind.capabilities.positional_gaps]
LOCAL = [name for name in ABLE if name == "lanes" or len(ENGINES[name].capabilities.modes) == 1]
"""Those that take them for local alignments only."""


class FixedCosts(Reference):
    """An engine that does not take them, as others may not."""

    name = "fixed"
    capabilities = dataclasses.replace(Reference.capabilities, positional_gaps=False)


def test_engines_of_any_scoring_take_them() -> None:
    assert {*ENGINES} - {*ABLE} <= {"bit_parallel"}


def gapped(seed: int, m: int, base: Profile | None = None) -> Profile:
    """Return a profile with gap costs of its own: a third of the positions has cheap gaps."""
    random = np.random.default_rng(seed)
    extends = random.integers(0, 4, m)
    opens = extends + np.where(random.random(m) < 0.3, random.integers(0, 3, m), 11)
    return dataclasses.replace(base or drawn(seed, m), gap_open=opens, gap_extend=extends)


def costs_of(profile: Profile) -> tuple[list[int], list[int]]:
    assert profile.gap_open is not None
    assert profile.gap_extend is not None
    return profile.gap_open.tolist(), profile.gap_extend.tolist()


def best_score(profile: Profile, target: np.ndarray) -> int:
    """Return the best local score by the definition: gaps of all lengths, one by one."""
    opens, extends = costs_of(profile)
    m, n = len(profile), len(target)
    h = np.zeros((m + 1, n + 1), np.int64)
    for i in range(1, m + 1):
        left_out = np.empty(i, np.int64)  # by the position before the gap
        cost = 0
        for k in range(i, 0, -1):
            left_out[k - 1] = opens[k - 1] + cost
            cost += extends[k - 1]
        for j in range(1, n + 1):
            inserted = opens[i - 1] + extends[i - 1] * np.arange(j)[::-1]
            h[i, j] = max(
                0,
                h[i - 1, j - 1] + profile.scores[i - 1, target[j - 1]],
                (h[i, :j] - inserted).max(),
                (h[:i, j] - left_out).max(),
            )
    return int(h.max())


def path_score(profile: Profile, coordinates: np.ndarray, target: np.ndarray) -> int:
    """Return the score of the columns of an alignment."""
    opens, extends = costs_of(profile)
    total = 0
    for (t, q), (t_end, q_end) in zip(coordinates.T[:-1], coordinates.T[1:], strict=True):
        if t < t_end and q < q_end:
            total += int(profile.scores[np.arange(q, q_end), target[t:t_end]].sum())
        elif q < q_end:
            total -= opens[q] + sum(extends[q + 1 : q_end])
        else:
            total -= opens[q - 1] + extends[q - 1] * int(t_end - t - 1)
    return total


def best_of_all(profile: Profile, target: np.ndarray, free: tuple[str, ...] = ()) -> int:
    """Return the best score from end to end: of every alignment, one by one, for tiny ones.

    Ends of the ``free`` sequences, query or target, cost nothing.
    """
    opens, extends = costs_of(profile)
    m, n = len(profile), len(target)

    def gap(i: int, j: int, i_end: int, j_end: int) -> int:
        if i_end > i:
            at_end, side = j in (0, n), "query"
            cost = opens[i] + sum(extends[i + 1 : i_end])
        else:
            at_end, side = i in (0, m), "target"
            cost = opens[max(i - 1, 0)] + extends[max(i - 1, 0)] * (j_end - j - 1)
        return 0 if at_end and side in free else cost

    def best(i: int, j: int, last: str) -> int:
        found = [0] if (i, j) == (m, n) else []
        if i < m and j < n:
            found.append(int(profile.scores[i, target[j]]) + best(i + 1, j + 1, ""))
        if last != "up":
            found += [best(k, j, "up") - gap(i, j, k, j) for k in range(i + 1, m + 1)]
        if last != "left":
            found += [best(i, k, "left") - gap(i, j, i, k) for k in range(j + 1, n + 1)]
        return max(found, default=-(10**9))

    return best(0, 0, "")


@pytest.mark.parametrize("engine", [name for name in ABLE if name not in LOCAL])
def test_from_end_to_end_by_the_definition(engine: str) -> None:
    profiles = [gapped(seed, m) for seed, m in enumerate((1, 4, 5, 3))]
    targets = [some(seed, n) for seed, n in enumerate((1, 4, 3, 6))]
    codes = [PROTEIN.encode(each).astype(np.intp) for each in targets]
    modes = {
        (): BLOSUM62.in_mode("global"),
        ("query", "target"): BLOSUM62.in_mode("semiglobal"),
        ("target",): BLOSUM62.in_mode("semiglobal", free="target"),
        ("query",): BLOSUM62.in_mode("semiglobal", free="query"),
    }
    for free, scoring in modes.items():
        expected = [[best_of_all(each, target, free) for target in codes] for each in profiles]
        with Aligner(scoring, engine=engine) as aligner:
            assert aligner.score_matrix(profiles, targets).tolist() == expected
            for profile, target, score in zip(profiles, targets, np.diag(expected), strict=True):
                assert aligner.score(profile, target) == score
                found = aligner.align(profile, target)
                assert found.score == aligner.ends(profile, [target]).score[0] == score
                by_position = Profile.by_position([profile])[0].with_ends_of(scoring)
                pair = np.arange(len(profile)), PROTEIN.encode(target)
                assert naive.path_score(*pair, by_position, found.coordinates) == score
            results = aligner.search(profiles, targets, top=None, min_score=1)
            assert [sorted(hit.score for hit in each) for each in results] == [
                sorted(score for score in row if score > 0) for row in expected
            ]
    with Aligner(mode="global", engine=engine) as aligner:
        assert aligner.score(profiles, targets).tolist() == [
            best_of_all(each, target) for each, target in zip(profiles, codes, strict=True)
        ]


@pytest.fixture(scope="module")
def by_definition() -> SimpleNamespace:
    """Profiles, targets, and their scores."""
    profiles = [gapped(seed, m) for seed, m in enumerate((1, 7, 33, 70))]
    targets = [some(seed, n) for seed, n in enumerate((1, 2, 30, 65, 9))]
    codes = [PROTEIN.encode(each).astype(np.intp) for each in targets]
    scores = [[best_score(each, target) for target in codes] for each in profiles]
    return SimpleNamespace(profiles=profiles, targets=targets, codes=codes, scores=scores)


@pytest.mark.parametrize("engine", ABLE)
def test_scores_and_paths_by_the_definition(engine: str, by_definition: SimpleNamespace) -> None:
    profiles, targets = by_definition.profiles, by_definition.targets
    codes, expected = by_definition.codes, by_definition.scores
    with Aligner(engine=engine) as aligner:
        assert aligner.score_matrix(profiles, targets).tolist() == expected
        results = aligner.search(profiles, targets, top=None, evalue=None)
        for result, profile, row in zip(results, profiles, expected, strict=True):
            found = {int(hit.target.id.split()[-1]) - 1: hit for hit in result}
            assert {k: hit.score for k, hit in found.items()} == {
                k: score for k, score in enumerate(row) if score > 0
            }
            for k, hit in found.items():
                assert path_score(profile, hit.alignment.coordinates, codes[k]) == hit.score
        several = list(aligner.alignments(profiles[2], targets[3], max_alignments=4))
        assert len(several) == 4
        for each in several:
            assert path_score(profiles[2], each.coordinates, codes[3]) == each.score


@pytest.mark.parametrize("name", ["profiles 12 1", "profiles, global"])
@pytest.mark.parametrize("engine", [name for name in ABLE if name != "cpu"])
def test_constant_costs_by_position_are_fixed_costs(engine: str, name: str, device) -> None:
    case = (cases.CASES | cases.END_CASES)[name].part(slice(0, None, 3))
    if engine in LOCAL and not case.scoring.local:
        return
    count = len(case.scoring.matrix)
    gaps = PositionalGaps(*(np.full(count, cost) for cost in case.scoring.deletion))
    scoring = dataclasses.replace(case.scoring, gaps=gaps)
    assert scoring.gaps is not None
    made = cases.build((engine, {}), scoring, device)
    cases.judge(made, dataclasses.replace(case, whole=None, scoring=case.scoring))


def test_constant_costs_are_the_fast_path(monkeypatch) -> None:
    profile = drawn(1, 20)
    same = dataclasses.replace(profile, gap_open=np.full(20, 12), gap_extend=np.full(20, 1))
    other = dataclasses.replace(profile, gap_open=np.full(20, 5), gap_extend=np.full(20, 2))
    at_5_2 = dataclasses.replace(profile, scoring=Scoring.blast("BLOSUM62", 3, 2))
    targets = [some(k, 40) for k in range(9)]
    seen: list[set[str]] = []
    compute = glsw.device.shader.compute

    def watched(device, name, **defines):
        seen.append(set(defines))
        return compute(device, name, **defines)

    monkeypatch.setattr(glsw.device.shader, "compute", watched)
    for engine in ("lanes", "diagonal", "blocked"):
        for left, right in ((profile, same), (at_5_2, other)):
            scores = [glsw.score(each, targets, engine=engine).tolist() for each in (left, right)]
            assert scores[0] == scores[1]
    assert seen
    assert not any("POSITIONAL_GAPS" in each for each in seen)
    glsw.score(gapped(1, 20), targets, engine="diagonal")
    assert any("POSITIONAL_GAPS" in each for each in seen)
    # E-values are those of the scoring of letters.
    found = [glsw.search(each, targets, top=None).hits for each in (at_5_2, other)]
    assert [hit.score for hit in found[0]] == [hit.score for hit in found[1]]
    assert found[0][0].evalue != found[1][0].evalue


def test_one_list_may_have_profiles_with_and_without() -> None:
    profiles = [drawn(3, 30), gapped(4, 25)]
    targets = [some(k, 50) for k in range(5)]
    together = glsw.score_matrix(profiles, targets)
    for profile, row in zip(profiles, together, strict=True):
        assert glsw.score(profile, targets).tolist() == row.tolist()


def test_both_strands_keep_the_costs_of_positions() -> None:
    random = np.random.default_rng(5)
    query = DNA.decode(random.integers(0, 4, 40))
    profile = gapped(2, 40, Profile.from_sequence(query, Scoring.nucleotide()))
    scoring, records = Profile.by_position([profile])
    assert scoring.gaps is not None
    minus = records[0].positions[-1]
    assert scoring.gaps.opens[minus].tolist() == costs_of(profile)[0][::-1]
    assert scoring.gaps.extends[records[0].positions[1]].tolist() == costs_of(profile)[1]
    assert glsw.search(profile, [query[:18] + query[22:]]).hits


def test_bounds_take_the_least_costs() -> None:
    scoring, _ = Profile.by_position([gapped(4, 30)])
    assert scoring.gaps is not None
    assert scoring.deletion == scoring.gaps.least
    query = Sequences.of([np.arange(30, dtype=np.uint16)])
    assert longest_spans(scoring, query)[0] >= 2**62  # some position extends for nothing
    dear = dataclasses.replace(drawn(4, 30), gap_open=np.arange(9, 39))
    assert longest_spans(Profile.by_position([dear])[0], query)[0] < 2**32


def test_files_fingerprints_and_pickles(tmp_path: Path) -> None:
    profile = gapped(1, 9)
    profile.write(tmp_path / "p")
    again = Profile.read(tmp_path / "p")
    assert again.to_text() == profile.to_text()
    assert costs_of(again) == costs_of(profile)
    text = (tmp_path / "p").read_text()
    lines = unsealed(text)
    for changed, message in (
        (lines.replace("open extend", "open close"), "gap costs of other positions"),
        (lines.rsplit("\n", 2)[0] + "\n", "gap costs of other positions"),
        (lines.replace("\ngaps\n", "\n"), "invalid literal"),
    ):
        (tmp_path / "q").write_text(sealed(changed))
        with pytest.raises(ValueError, match=message):
            Profile.read(tmp_path / "q")
    copied = pickle.loads(pickle.dumps(profile))
    assert costs_of(copied) == costs_of(profile)
    scoring, fixed = (Profile.by_position([each])[0] for each in (profile, drawn(1, 9)))
    assert pickle.loads(pickle.dumps(scoring)).gaps.opens.tolist() == costs_of(profile)[0]
    one, other = (fingerprint([], [], each) for each in (scoring, fixed))
    assert one["scoring"] != other["scoring"]


def test_the_command_line_and_iteration(tmp_path: Path, capsys) -> None:
    query = some(1, 60)
    gapped(3, 60, Profile.from_sequence(query)).write(tmp_path / "p")
    (tmp_path / "db").write_text(f">t1\n{query[:20]}{query[26:]}\n>t2\n{some(8, 90)}\n")
    words = ["search", "--profile", str(tmp_path / "p"), str(tmp_path / "db"), "--format", "tsv"]
    assert main([*words, "--summary", str(tmp_path / "run.json")]) == 0
    assert "\tt1\t" in capsys.readouterr().out
    scoring = json.loads((tmp_path / "run.json").read_text())["scoring"]
    assert (scoring["gap_open"], scoring["gap_extend"]) == (12, 1)
    assert scoring["gaps_by_position"] is True
    targets = (tmp_path / "db").read_text().split()[1::2]
    for mode in ("global", "semiglobal"):
        assert main([*words, "--mode", mode]) == 0
        rows = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter="\t"))
        scores = Aligner(mode=mode, engine="reference").score(Profile.read(tmp_path / "p"), targets)
        assert {int(row["target"][1:]): float(row["score"]) for row in rows} == {
            k + 1: score for k, score in enumerate(scores.tolist()) if score > 0
        }
        assert rows[0]["target"] == "t1"
    assert main([*words, "--composition", "1"]) == 0
    assert "\tt1\t" in capsys.readouterr().out
    first, *_ = glsw.iterate(Profile.read(tmp_path / "p"), [query, some(8, 90)])
    assert costs_of(first.profile) == costs_of(Profile.read(tmp_path / "p"))


def test_own_scores_by_the_definition() -> None:
    profile = gapped(6, 25)
    targets = [PROTEIN.encode(some(k, n)) for k, n in enumerate((30, 3, 18))]
    opens, extends = (np.array(each, np.int32) for each in costs_of(profile))
    found = own_scores(
        np.arange(25, dtype=np.uint8),
        Sequences.of(targets),
        np.stack([profile.scores] * 3),
        PositionalGaps(opens, extends),
    )
    assert found.tolist() == [best_score(profile, each.astype(np.intp)) for each in targets]


def test_composition_with_gap_costs() -> None:
    query = some(1, 80)
    base = Profile.from_sequence(query)
    targets = [query[:30] + query[36:], query, some(5, 70) + query[20:70]]
    plain = glsw.search(base, targets, composition=1, evalue=10)
    same = glsw.search(_with(base, 12, 1), targets, composition=1, evalue=10)
    assert str(plain) == str(same)
    made = glsw.search(gapped(3, 80, base), targets, composition=1, evalue=10)
    assert {hit.target.id for hit in made} == {hit.target.id for hit in plain}
    assert all(
        hit.score >= 0.9 * {each.target.id: each.score for each in plain}[hit.target.id]
        for hit in made
    )


def _with(profile: Profile, opening: int, extension: int) -> Profile:
    costs = (np.full(len(profile), cost) for cost in (opening, extension))
    return Profile(profile.scores, profile.letters, profile.scoring, "profile", "", *costs)


def test_refusals_are_one_line() -> None:
    profile = gapped(1, 12)
    with pytest.raises(ValueError, match="engine 'fixed' does not support gap costs by position"):
        FixedCosts(Profile.by_position([profile])[0])
    assert not FixedCosts.capabilities.takes(Profile.by_position([profile])[0])
    with pytest.raises(ValueError, match="bit_parallel"):
        glsw.score(profile, ["MKV"], engine="bit_parallel")
    ends = dataclasses.replace(BLOSUM62.in_mode("global"), end_gaps=EndGaps(*4 * [GapCost(3, 1)]))
    with pytest.raises(ValueError, match="end gaps are free or cost as much as other gaps"):
        glsw.score(profile, ["MKV"], scoring=ends)
    scoring, _ = Profile.by_position([profile])
    wrong = Batch.pairwise([np.array([3, 4, 3], np.uint16)], [np.array([1, 2], np.uint8)])
    with pytest.raises(ValueError, match="positions that follow each other"):
        Reference(scoring.in_mode("global")).scores(wrong)
    assert Reference(scoring).scores(wrong).shape == (1,)
    with pytest.raises(ValueError, match=r"gap_open has shape \(3,\), not \(12,\)"):
        dataclasses.replace(profile, gap_open=np.ones(3, int))
    with pytest.raises(ValueError, match=r"gap_open 0 of position \d+ must not be less than its"):
        dataclasses.replace(profile, gap_open=np.zeros(12, int))
    with pytest.raises(TypeError, match="gap_open by position must be integers, got float64"):
        dataclasses.replace(profile, gap_open=np.ones(12), gap_extend=None)
    with pytest.raises(ValueError, match="must be between 0 and"):
        dataclasses.replace(profile, gap_extend=np.full(12, -1))
    separate = dataclasses.replace(BLOSUM62, insertion_open=5, insertion_extend=1)
    with pytest.raises(ValueError, match="apply to insertions and deletions alike"):
        dataclasses.replace(profile, scoring=separate)
    with pytest.raises(ValueError, match="gap costs of 12 positions, scores of 3"):
        PositionalScoring.of(profile.scores[:3], BLOSUM62, profile.costs)


# made


def test_costs_of_an_alignment() -> None:
    query = some(1, 40)
    rows = [query]
    for k in range(6):
        row = "".join(some(50 * k + i, 1) if i % 3 == 0 else query[i] for i in range(40))
        rows.append(f"{row[:20]}---{row[23:]}" if k < 4 else row)
    fixed = Profile.from_alignment(rows)
    made = Profile.from_alignment(rows, gaps="positional")
    assert np.array_equal(made.scores, fixed.scores)
    assert fixed.gap_open is None
    opens, extends = costs_of(made)
    assert set(extends) == {1}
    assert opens[20] < 7  # where four of seven rows open a gap
    assert min(opens[:20] + opens[21:]) == max(opens[:20] + opens[21:]) > 12
    # insertions behind position 10
    wide = [f"{row[:11]}{'WW' if k in (3, 4) else '--'}{row[11:]}" for k, row in enumerate(rows)]
    also = costs_of(Profile.from_alignment(wide, gaps="positional"))[0]
    assert also[10] < 12
    assert also[:10] + also[11:] == opens[:10] + opens[11:]
    assert Profile.from_alignment([query, query], gaps="positional").gap_open is None
    with pytest.raises(ValueError, match="gaps 'none': 'fixed' or 'positional' expected"):
        Profile.from_alignment(rows, gaps="none")  # type: ignore[arg-type]


def test_members_give_the_costs_of_their_alignment() -> None:
    query = Profile.from_sequence(some(1, 30))
    far = "".join(some(60 + k, 1) for k in range(30))
    target = PROTEIN.encode(far[:8] + "WW" + far[8:20] + far[24:])
    coordinates = np.array([[0, 8, 10, 22, 22, 28], [0, 8, 8, 20, 24, 30]])
    found = Found([1], ("",), Runs.of_coordinates([coordinates]), [target])
    members = Members([query], "positional").profiles({0: found})[0]
    rows = [
        query.letters[:8] + "--" + query.letters[8:],
        far[:8] + "WW" + far[8:20] + "----" + far[24:],
    ]
    expected = Profile.from_alignment(rows, gaps="positional")
    assert np.array_equal(members.scores, expected.scores)
    assert costs_of(members) == costs_of(expected)
    opens, _ = costs_of(members)
    assert [k for k in range(30) if opens[k] < 12] == [7, 20]


def test_costs_of_a_hmm(tmp_path: Path) -> None:
    made = Profile.read(HMM, gaps="positional")
    assert np.array_equal(made.scores, Profile.read(HMM).scores)
    opens, extends = costs_of(made)
    # node 6: m->i 4.63300, i->i 0.77255; of node 5 m->d 1.35403, d->d 0.95510
    chances = [np.exp([-4.63300, -1.35403]).mean(), np.exp([-0.77255, -0.95510]).mean()]
    assert [opens[5], extends[5]] == [round(-np.log(each) / 0.3176) for each in chances]
    assert opens[5] < 8 < opens[2]
    broken = HMM.read_text().replace("0.01083  4.92694", "0.01083  ", 2)
    (tmp_path / "broken").write_text(broken)
    with pytest.raises(ValueError, match=r"broken:\d+: 7 transitions expected"):
        Profile.read(tmp_path / "broken", gaps="positional")


def test_the_option_of_the_command(tmp_path: Path, capsys) -> None:
    query = some(1, 90)
    changed = [
        "".join(some(k + i, 1) if i % 2 == k % 2 else query[i] for i in range(90)) for k in (5, 8)
    ]
    family = [query, *(f"{each[:40]}{each[46:]}" for each in changed)]
    database = "".join(f">t{k}\n{each}\n" for k, each in enumerate(family))
    (tmp_path / "db").write_text(database)
    (tmp_path / "q").write_text(f">q\n{query}\n")
    words = ["search", str(tmp_path / "q"), str(tmp_path / "db"), "--iterations", "2"]
    words += ["--positional-gaps", "--format", "tsv"]
    assert main([*words, "--profiles", str(tmp_path / "made")]) == 0
    assert "\tt1\t" in capsys.readouterr().out
    written = Profile.read(tmp_path / "made" / "1_q_round1.profile")
    rounds = glsw.iterate(query, tmp_path / "db", iterations=2, gaps="positional", top=None)
    assert costs_of(written) == costs_of(rounds[0].built)
    assert min(costs_of(rounds[1].profile)[0][38:43]) < 12
    model = ["search", "--profile", str(HMM), str(tmp_path / "db"), "--positional-gaps"]
    assert main(model) == 0
    capsys.readouterr()
    assert main([*model[:2], str(PSSM), *model[3:]]) == 2
    assert "files of PSI-BLAST have no gap costs by position" in capsys.readouterr().err
    assert main([*words[:3], "--positional-gaps"]) == 2
    assert "--positional-gaps is for --iterations and --profile" in capsys.readouterr().err
