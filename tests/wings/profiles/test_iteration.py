"""Iterated searches: rounds, members, the guard against over-extension, and the command line."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_profiles import mutated, some

import glsw
from glsw import Profile, Record
from glsw.alignment.paths import Runs
from glsw.cli import main
from glsw.sequences.alphabet import PROTEIN
from glsw.statistics.ungapped_constants import background
from glsw.wings.profiles import iteration
from glsw.wings.profiles.iteration import Found, Members, Round, rounds, together, with_work_of

QUERY = Record("q", "made up", some(1, 120))


@cache
def family(strangers: int = 150) -> tuple[Record, ...]:
    """Return relatives of the query, those of these, and so on, among random proteins."""
    found, parents = [], [QUERY.letters]
    for generation in range(1, 5):
        parents = [mutated(10 * generation + k, parents[k % len(parents)], 0.42) for k in range(6)]
        for k, letters in enumerate(parents):
            flanks = some(100 * generation + k, 40), some(200 * generation + k, 30)
            found.append(Record(f"g{generation}.{k}", "", flanks[0] + letters + flanks[1]))
    found += [Record(f"r{k}", "", some(1000 + k, 150)) for k in range(strangers)]
    return tuple(found)


@pytest.fixture(scope="module")
def found() -> list[Round]:
    return glsw.iterate(QUERY, family(), iterations=6, top=None)


def test_rounds_find_more_until_nothing_is_new(found: list[Round]) -> None:
    assert [each.number for each in found] == list(range(1, len(found) + 1))
    assert 3 <= len(found) <= 6
    assert found[-1].converged
    assert not any(each.converged for each in found[:-1])
    assert len(found[-1].members) > 1.5 * len(found[0].members)
    assert all(name.startswith("g") for name in found[-1].members)
    seen: set[str] = set()
    for each in found:
        assert set(each.new) == set(each.members) - seen
        seen |= set(each.members)
        significant = [hit.target.id for hit in each.result if hit.evalue <= 1e-3]  # type: ignore[operator]
        assert tuple(significant) == each.members
        assert all(hit.evalue <= 10 for hit in each.result)  # type: ignore[operator]


def test_a_round_is_the_search_with_its_profile(found: list[Round]) -> None:
    first = glsw.search(QUERY, family(), top=None, evalue=10, composition=0)
    assert str(first) == str(found[0].result)
    assert np.array_equal(found[0].profile.scores, Profile.from_sequence(QUERY).scores)
    for before, each in itertools.pairwise(found):
        assert each.profile is before.built
        alone = glsw.search(each.profile, family(), top=None, evalue=10)
        assert str(alone) == str(each.result)


@pytest.mark.parametrize("engine", ["lanes", "diagonal", "cpu"])
def test_engines_do_not_matter(found: list[Round], engine: str) -> None:
    if engine == "cpu":
        pytest.importorskip("pyopal")
    again = glsw.iterate(QUERY, family(), iterations=3, top=None, engine=engine)
    for one, other in zip(found[:3], again, strict=True):
        assert str(one.result) == str(other.result)
        assert one.built.to_text() == other.built.to_text()


def test_limits_do_not_change_the_members(found: list[Round]) -> None:
    few = glsw.iterate(QUERY, family(), iterations=6, top=2, evalue=1e-20)
    assert [each.members for each in few] == [each.members for each in found]
    for one, other in zip(few, found, strict=True):
        expected = [hit.target.id for hit in other.result if hit.evalue <= 1e-20]  # type: ignore[operator]
        assert [hit.target.id for hit in one.result] == expected[:2]
        assert (one.result.evalue, one.result.more) == (1e-20, len(expected[2:]))
    assert expected[2:]
    assert few[0].result.unlisted.endswith(" with E-values of at most 1e-20 are not listed")
    by_evalue = glsw.iterate(QUERY, family(), iterations=2, order="evalue", top=None)
    assert {*by_evalue[-1].members} == {*found[1].members}


def test_only_what_was_first_aligned_counts() -> None:
    query = Profile.from_sequence(some(3, 60))
    target = PROTEIN.encode(some(4, 10) + mutated(5, query.letters, 0.2) + some(6, 30))
    short = np.array([[20, 50], [10, 40]])
    long = np.array([[5, 35, 37, 60], [0, 30, 30, 53]])

    def found(coordinates: np.ndarray) -> dict[int, Found]:
        return {0: Found([7], ("",), Runs.of_coordinates([coordinates]), [target])}

    members = Members([query])
    members.profiles(found(short))
    again = members.profiles(found(long))[0]
    # residues 20 to 49 of the target, which the longer alignment has in two parts
    cut = np.array([[20, 35, 37, 50], [15, 30, 30, 43]])
    expected = Members([query]).profiles(found(cut))[0]
    assert again.to_text() == expected.to_text()
    whole = Members([query]).profiles(found(long))[0]
    assert whole.to_text() != again.to_text()
    assert not members.profiles(found(np.array([[60, 70], [0, 10]])))


CODES, FREQUENCIES = background(PROTEIN)
LETTERS = np.array(list(PROTEIN.decode(CODES)))
JOINT = FREQUENCIES * np.exp(0.3176 * glsw.Scoring.blast().matrix[np.ix_(CODES, CODES)])
EXCHANGES = JOINT / JOINT.sum(axis=1, keepdims=True)


def with_a_foreign_domain(seed: int) -> tuple[Record, list[Record]]:
    """Return a domain with an unrelated tail, and proteins of three kinds.

    Members, m0 and so on, have a relative of the domain, and behind it a domain that the query
    lacks; f0 and so on have this foreign domain only, the others are random.
    """
    random = np.random.default_rng([seed, 2026])

    def drawn(length: int) -> np.ndarray:
        return random.choice(20, length, p=FREQUENCIES)

    def relative(kinds: np.ndarray, share: float) -> np.ndarray:
        made: list[int] = []
        for kind in kinds.tolist():
            chance = random.random()
            if chance < 0.005:
                continue
            if chance < 0.01:
                made += drawn(int(random.integers(1, 4))).tolist()
            changed = random.random() < share
            made.append(int(random.choice(20, p=EXCHANGES[kind])) if changed else kind)
        return np.array(made)

    domain, tail, foreign = drawn(100), drawn(60), drawn(150)
    query, found = np.concatenate([domain, tail]), []
    for k in range(30):
        own = relative(domain, random.uniform(0.5, 1.0))
        found.append((f"m{k}", np.concatenate([own, relative(foreign, 0.5)])))
    for k in range(6):
        ends = [drawn(int(random.integers(0, 40))) for _ in range(2)]
        found.append((f"f{k}", np.concatenate([ends[0], relative(foreign, 0.5), ends[1]])))
    found += [(f"r{k}", drawn(int(random.integers(100, 300)))) for k in range(40)]
    records = [Record(name, "", "".join(LETTERS[kinds])) for name, kinds in found]
    return Record("q", "", "".join(LETTERS[query])), records


@pytest.mark.parametrize("sums", [False, True])
def test_a_domain_that_the_query_lacks_does_not_get_into_the_profile(sums: bool) -> None:
    """Of 72 proteins with it 14 had small E-values when few members decided, with sums 22."""
    kinds: dict[str, int] = dict.fromkeys("mfr", 0)
    for seed in (0, 2, 4, 6) if sums else range(12):
        query, database = with_a_foreign_domain(seed)
        last = glsw.iterate(query, database, iterations=5, top=None, sums=sums)[-1]
        for hit in last.result:
            kinds[hit.target.id[0]] += hit.evalue is not None and hit.evalue <= 1e-3
    assert kinds["m"] >= 0.97 * 30 * (4 if sums else 12)
    assert kinds["f"] == kinds["r"] == 0


def test_masked_residues_of_targets_are_no_letters_of_profiles() -> None:
    targets = [QUERY.letters, mutated(3, QUERY.letters, 0.3)]
    lower = [letters[:60] + letters[60:80].lower() + letters[80:] for letters in targets]
    of_masked = glsw.iterate(QUERY, lower, iterations=1, lower_case_mask=True)
    of_wildcards = glsw.iterate(
        QUERY, [letters[:60] + "X" * 20 + letters[80:] for letters in targets], iterations=1
    )
    assert of_masked[0].built.to_text() == of_wildcards[0].built.to_text()


def test_nothing_significant_ends_it() -> None:
    (only,) = glsw.iterate(some(5000, 50), [some(k, 90) for k in range(80)], iterations=3)
    assert only.converged
    assert only.members == ()
    assert np.array_equal(only.built.scores, only.profile.scores)


def test_a_profile_as_query(found: list[Round]) -> None:
    profile = found[0].built
    again = glsw.iterate(profile, family(), iterations=2, top=None)
    assert str(again[0].result) == str(found[1].result)
    assert np.array_equal(again[0].profile.scores, profile.scores)


def test_errors() -> None:
    for options, message in (
        ({"iterations": 0}, "iterations 0: a whole number of 1 or more"),
        ({"inclusion": 0.0}, "a number above 0, at most 1e.06"),
        ({"mode": "global"}, "local alignments"),
        ({"genetic_code": 1}, "neither translation nor skip"),
        ({"target_genetic_code": 1}, "neither translation nor skip"),
        ({"statistics": "none"}, "statistics are 'none'"),
        ({"scoring": glsw.Scoring.nucleotide()}, "strand plus or minus expected"),
    ):
        with pytest.raises(ValueError, match=message):
            glsw.iterate("ACGT", ["ACGT"], **options)  # type: ignore[arg-type]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text(f">q made up\n{QUERY.letters}\n>none\n{some(5000, 40)}\n")
    records = "".join(f">{each.id}\n{each.letters}\n" for each in family())
    (tmp_path / "db").write_text(records)
    words = ["search", f"{tmp_path}/q", f"{tmp_path}/db", "--iterations", "3", "--format", "tsv"]
    assert main([*words, "--profiles", f"{tmp_path}/made", "--top", "0"]) == 0
    printed = capsys.readouterr()
    expected = glsw.iterate(QUERY, Path(tmp_path, "db"), iterations=3, top=None)
    counts = ", ".join(str(len(each.members)) for each in expected)
    ends = "nothing new for 1, the last round allowed for 1"
    assert f"glsw: 2 queries: members by round: {counts}; {ends}\n" in printed.err
    names = [line.split("\t")[3] for line in printed.out.splitlines() if line.startswith("q\t")]
    assert names == [hit.target.id for hit in expected[-1].result]
    profile = Profile.read(tmp_path / "made" / "1_q_round2.profile")
    assert profile.to_text() == expected[1].built.to_text()
    summary = ["--summary", f"{tmp_path}/run.json"]
    assert main([*words, "--output", f"{tmp_path}/out", "--top", "0", *summary]) == 0
    assert (tmp_path / "out").read_text() == printed.out
    cells = [number * sum(len(each.letters) for each in family()) for number in (3 * 120, 40)]
    assert f"glsw: {sum(cells)} cells in " in capsys.readouterr().err
    run = json.loads((tmp_path / "run.json").read_text())
    assert [each["cells"] for each in run["queries"]] == cells
    assert run["totals"]["cells"] == sum(cells)
    (tmp_path / "one").write_text(f">none\n{some(5000, 40)}\n")
    assert main(["search", f"{tmp_path}/one", *words[2:]]) == 0
    assert "query none: members by round: 0; nothing new" in capsys.readouterr().err
    translated = "--translated", "--translated-target"
    for wrong in ("--shard 1/2", *translated, "--iterations 0", "--mode global"):
        assert main([*words, *wrong.split()]) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("glsw: ")
    assert main([*words[:3], "--inclusion", "1"]) == 2
    assert "--inclusion requires --iterations" in capsys.readouterr().err


@pytest.mark.parametrize("sums", [False, True])
def test_queries_of_one_search_have_the_rounds_that_they_have_alone(sums: bool) -> None:
    """Some end before others; one has no relatives, one is masked as a whole."""
    others = Record("none", "", some(5000, 40)), Record("late", "", family(30)[-1].letters)
    queries = [QUERY, others[0], Record("masked", "", "mkvlaw" * 4), others[1]]
    aligner = glsw.Aligner(engine="cpu", lower_case_mask=True)
    database = aligner.database(family(30))
    with pytest.warns(RuntimeWarning, match="query masked: .*it has no hits"):
        found = list(rounds(aligner, queries, database, 4, 1e-3, sums=sums))
    assert found[0].keys() == {0, 1, 2, 3}
    assert found[-1].keys() < {0, 3}.union(found[0])
    assert found[0][2].converged
    assert not len(found[0][2].result)
    for k in (0, 1, 3):
        alone = [each[0] for each in rounds(aligner, [queries[k]], database, 4, 1e-3, sums=sums)]
        of_all = [each[k] for each in found if k in each]
        assert len(of_all) == len(alone)
        for one, other in zip(of_all, alone, strict=True):
            assert (one.members, one.new) == (other.members, other.new)
            assert list(one.result.rows()) == list(other.result.rows())
            assert one.built.to_text() == other.built.to_text()


@pytest.mark.parametrize(
    "options", [{}, {"max_hsps": 3}, {"evalue": 1e-9, "top": 2}, {"sums": True}, {"composition": 2}]
)
def test_last_rounds_are_the_same_if_others_align_their_members_alone(
    options: dict[str, Any],
) -> None:
    """One query ends in the first round, one has its own profile again, others go on."""
    alone = Record("alone", "", some(7000, 80))
    queries = [QUERY, Record("none", "", some(5000, 40)), alone, family(30)[-1]]
    aligner = glsw.Aligner(engine="cpu")
    database = aligner.database([alone, *family(30)])
    limits: Any = queries, database, 4, 1e-3
    options = {"evalue": 1e3, "top": None, **options}
    every = list(rounds(aligner, *limits, **options))
    few = list(rounds(aligner, *limits, every_hit=False, every_profile=False, **options))
    assert [made.keys() for made in few] == [made.keys() for made in every]
    assert {len([made for made in every if k in made]) for k in range(4)} >= {1, 2, 4}
    spared = 0
    for k in range(4):
        of_all, of_few = ([made[k] for made in found if k in made] for found in (every, few))
        for one, other in itertools.zip_longest(of_all[:-1], of_few[:-1]):
            assert (one.members, one.new) == (other.members, other.new)
            assert one.built.to_text() == other.built.to_text()
            spared += len(one.result) - len(other.result)
        assert of_few[-1].members == of_all[-1].members
        assert of_few[-1].built is of_few[-1].profile
        assert list(of_few[-1].result.rows()) == list(of_all[-1].result.rows())
        assert of_few[-1].result.more == of_all[-1].result.more
    assert (spared > 100) == ("composition" not in options and options["top"] is None)


def test_parts_of_the_queries_give_the_same_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q").write_text(f">q\n{QUERY.letters}\n>masked\nmkvlaw\n>none\n{some(5000, 40)}\n")
    (tmp_path / "db").write_text("".join(f">{each.id}\n{each.letters}\n" for each in family()))
    words = ["search", f"{tmp_path}/q", f"{tmp_path}/db", "--iterations", "2", "--engine", "cpu"]
    words += ["--lower-case-mask", "--format", "blast-tab-comments", "--profiles"]
    found = []
    for bounds in ({}, {"MAX_POSITIONS": 1}, {"MAX_POSITIONS": 1, "_MAX_TOGETHER": 1}):
        for name, most in bounds.items():
            monkeypatch.setattr(iteration, name, most)
        assert main([*words, f"{tmp_path}/{len(bounds)}"]) == 0
        printed = capsys.readouterr()
        said = [line for line in printed.err.splitlines() if " cells in " not in line]
        made = {each.name: each.read_text() for each in (tmp_path / str(len(bounds))).glob("[13]*")}
        found.append((printed.out, made, sorted(said)))
    assert found[0] == found[1] == found[2]
    assert "query masked" in "".join(found[0][2])


def test_queries_whose_results_wait_for_one_another_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths = 160_000, 80_000, 22_145, 262_144, 300_000, 5
    queries = [Record("", "", length * "A") for length in lengths]
    parts = [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 5), slice(5, 6)]
    aligner = glsw.Aligner(engine="cpu")
    small = aligner.database(["MKV"])
    assert list(together(aligner, queries, small)) == parts
    of_dna = glsw.Aligner(glsw.Scoring.nucleotide(), engine="cpu")
    some = [queries[1], *queries[-1:] * 30_000]
    assert list(together(of_dna, some, small)) == [slice(0, 10_215), slice(10_215, 30_001)]
    monkeypatch.setattr(iteration, "_MAX_CELLS", 2**20)
    large = aligner.database(["MKV" * 1000])
    assert list(together(aligner, queries[-1:] * 13_000, large)) == [
        *(slice(start, min(start + 6553, 13_000)) for start in range(0, 13_000, 6553))
    ]


def test_a_round_with_the_profile_of_the_one_before_is_not_computed() -> None:
    alone = Record("alone", "", some(7000, 80))
    targets = [alone, *family()]
    one, two = glsw.iterate(alone, targets, iterations=3)
    assert (two.number, two.members, two.new, two.result.cells) == (2, ("alone",), (), 0)
    assert two.profile is two.built is one.built
    found = glsw.search(one.built, targets)
    assert list(two.result.rows()) == list(one.result.rows()) == list(found.rows())
    composed = glsw.iterate(alone, targets, iterations=3, composition=2)
    found = glsw.search(one.built, targets, composition=2)
    assert list(composed[1].result.rows()) == list(found.rows())
    assert composed[1].result.cells == composed[0].result.cells


def test_engines_of_all_rounds_are_named() -> None:
    """A first round on the processor, and others on a device, as `auto` may choose."""
    first, *_ = glsw.iterate(QUERY, family(), iterations=1)
    results = [replace(first.result, engine=name, memory=k) for k, name in enumerate("ab", 1)]
    both = with_work_of(results[1], results[0])
    assert (both.engine, both.device, both.memory) == ("a and b", first.result.device, 2)
    assert both.cells == 2 * first.result.cells
    assert both.seconds == 2 * first.result.seconds
