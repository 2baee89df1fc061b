"""Profiles scaled for the compositions of targets: `composition` of searches and of rounds."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_iteration import QUERY, family
from test_profiles import BLOSUM62, best_score, mutated, some

import glsw
from glsw import Aligner, Profile, Record
from glsw.cli import main
from glsw.device.device import Device
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.seg import Seg
from glsw.statistics import for_search
from glsw.statistics.ungapped_constants import AMINO_ACIDS, ungapped_lambda
from glsw.wings.composition import own_matrices

CODES = PROTEIN.encode(AMINO_ACIDS).astype(np.intp)
X = int(PROTEIN.encode("X")[0])
STANDARD = ungapped_lambda(BLOSUM62)


def targets() -> list[Record]:
    """Return relatives of the query, some full of cysteines or lysines, among random proteins."""
    found = [*family()[:24], *(Record(f"r{k}", "", some(3000 + k, 90)) for k in range(12))]
    for k, letter in enumerate("CCKKS"):
        letters = mutated(50 + k, QUERY.letters, 0.35)
        biased = "".join(
            letter if random < 0.25 else each
            for each, random in zip(letters, np.random.default_rng(k).random(200), strict=False)
        )
        found.append(Record(f"{letter}{k}", "", biased))
    return found


def profile() -> Profile:
    return glsw.iterate(QUERY, family(), iterations=2)[-1].built


def scaled(scores: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return scores of positions in units of 1/32 for a target, as published, by bisection."""
    counts = np.array([(target == code).sum() for code in CODES])
    frequencies = counts / counts.sum()
    informative = scores[(scores != BLOSUM62.matrix[X]).any(axis=1)]

    def excess(rate: float) -> float:
        return float(np.mean(np.exp(rate * informative[:, CODES]) @ frequencies)) - 1

    low, high = 1e-3, 3.0
    while high - low > 1e-14:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    ratio = min(1.0, max(0.5, low / STANDARD))
    found = 32 * scores.astype(float)
    known = np.append(CODES, PROTEIN.encode("BZ"))
    exact = found[:, CODES] * ratio
    found[:, known] = np.sign(scores[:, known]) * np.floor(
        np.abs(32 * ratio * scores[:, known]) + 0.5
    )
    found[:, X] = np.floor(np.minimum(-1, exact @ frequencies) + 0.5)
    return found.astype(np.int64)


def expected(made: Profile, records: list[Record]) -> dict[str, tuple[int, float]]:
    """Return units of 1/32 and E-values of the targets with an E-value up to 10."""
    residues = sum(len(each.letters) for each in records)
    statistics = for_search(BLOSUM62, len(made), len(records), residues)
    found = {}
    for record in records:
        codes = PROTEIN.encode(record.letters).copy()
        ascii_ = np.frombuffer(record.letters.encode(), np.uint8)
        starts, ends = Seg(10, 1.8, 2.1).segments(ascii_, np.array([0, len(codes)]))
        for start, end in zip(starts, ends, strict=True):
            codes[start:end] = X
        units = best_score(scaled(made.scores, codes), codes, 32 * 12, 32)
        evalue = statistics.evalue(units / 32, len(made), len(codes))
        if evalue <= 10:
            found[record.id] = math.floor(units / 32 + 0.5), float(evalue)
    return found


def test_scores_are_those_of_the_scaled_profile() -> None:
    made, records = profile(), targets()
    wanted = expected(made, records)
    found = glsw.search(made, records, composition=1, top=None)
    assert {hit.target.id: hit.score for hit in found} == {k: v[0] for k, v in wanted.items()}
    for hit in found:
        assert hit.evalue == pytest.approx(wanted[hit.target.id][1], rel=1e-9)
        assert hit.hsps[0].score == hit.score
    plain = {hit.target.id: hit.score for hit in glsw.search(made, records, top=None, evalue=10)}
    assert sum(plain[name] != score for name, (score, _) in wanted.items() if name in plain) > 5
    assert str(glsw.search(made, records, composition=2, top=None)) == str(found)


def test_a_profile_of_one_sequence_is_scaled_as_its_matrix() -> None:
    """The frequencies of its positions are its composition; masked ones and X do not count."""
    letters = QUERY.letters[:50] + "X" * 8 + QUERY.letters[58:]
    wanted = expected(Profile.from_sequence(Record("q", "", letters)), targets())
    lower = QUERY.letters[:50] + QUERY.letters[50:58].lower() + QUERY.letters[58:]
    for given, masked in ((letters, False), (lower, True)):
        made = Profile.from_sequence(Record("q", "", given))
        found = glsw.search(made, targets(), composition=1, top=None, lower_case_mask=masked)
        assert {hit.target.id: hit.score for hit in found} == {k: v[0] for k, v in wanted.items()}


def test_near_the_scores_of_the_sequence() -> None:
    """Matrices of sequences are computed from frequencies, profiles from rounded scores."""
    of_sequence = glsw.search(QUERY, targets(), composition=1, top=None, evalue=1e-3)
    of_profile = glsw.search(
        Profile.from_sequence(QUERY), targets(), composition=1, top=None, evalue=1e-3
    )
    names = [hit.target.id for hit in of_sequence]
    assert len(names) > 5
    assert {hit.target.id for hit in of_profile} == set(names)
    scores = {hit.target.id: hit.score for hit in of_profile}
    for hit in of_sequence:
        assert scores[hit.target.id] == pytest.approx(hit.score, rel=0.06)


@pytest.mark.parametrize("engine", ["diagonal", "cpu"])
def test_host_and_device(device: Device, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    made, records = profile(), targets()
    both = [made, Profile.from_sequence(Record("other", "", records[2].letters))]
    options: Any = {"composition": 1, "top": None, "max_hsps": 2, "order": "evalue"}

    def found(aligner: Aligner) -> list[tuple[Any, ...]]:
        return [
            (hit.target.id, hsp.score, hsp.evalue, hsp.alignment.coordinates.tolist())
            for result in aligner.search(both, records, **options)
            for hit in result
            for hsp in hit.hsps
        ]

    alone = [glsw.search(each, records, **options) for each in both]
    host = found(Aligner(engine="lanes", device=device))
    assert [row[0] for row in host] == [
        hit.target.id for result in alone for hit in result for _ in hit.hsps
    ]
    monkeypatch.setattr(own_matrices, "_MAX_SCORES_TOGETHER", 24 * 120 * 3)
    if engine == "diagonal":
        monkeypatch.setattr(own_matrices, "on_device", lambda engine: True)
        monkeypatch.setattr(own_matrices, "MAX_POSITIONS", 120 * 4)  # pairs of several groups
    assert found(Aligner(engine=engine, device=device if engine == "diagonal" else None)) == host
    assert len(host) > 20


def test_later_rounds() -> None:
    rounds = glsw.iterate(QUERY, targets(), iterations=3, composition=2, top=None)
    first = glsw.search(QUERY, targets(), top=None, evalue=10, composition=2)
    assert str(rounds[0].result) == str(first)
    assert len(rounds) > 1
    for before, each in itertools.pairwise(rounds):
        alone = glsw.search(before.built, targets(), top=None, evalue=10, composition=1)
        assert str(each.result) == str(alone)


def test_nothing_informative() -> None:
    masked = Profile.from_sequence(Record("q", "", "X" * 30))
    assert len(glsw.search(masked, targets(), composition=1)) == 0
    assert len(glsw.search(profile(), ["X" * 40], composition=1)) == 0
    other = Profile.from_sequence(QUERY, glsw.Scoring.named("BLOSUM100", 12, 1))
    with pytest.raises(ValueError, match=r"^composition 1: a protein matrix .*not BLOSUM100$"):
        glsw.search(other, targets(), composition=1)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = profile()
    made.write(tmp_path / "made.profile")
    (tmp_path / "db").write_text("".join(f">{each.id}\n{each.letters}\n" for each in targets()))
    words = ["search", "--profile", f"{tmp_path}/made.profile", f"{tmp_path}/db"]
    outputs = []
    for mode in "012":
        assert main([*words, "--composition", mode, "--format", "tsv", "--top", "0"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] != outputs[1] == outputs[2]
    found = glsw.search(made, targets(), composition=1, top=None)
    names = [line.split("\t")[3] for line in outputs[1].splitlines()[1:]]
    assert names == [hit.target.id for hit in found]
