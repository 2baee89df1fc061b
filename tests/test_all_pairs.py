"""Score matrices: every sequence against every sequence."""

from dataclasses import replace

import numpy as np
import pytest
from cases import GENERAL, OF_EDITS, standing_in, unit_costs
from smaller import smaller

import glsw
from glsw.engines import ENGINES, Lanes, Reference, engine_of
from glsw.engines.base import ignore
from glsw.engines.lanes.geometry import LaneSizes
from glsw.pairs.all_pairs import score_matrix
from glsw.run.pool import Runner
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast()
UNEVEN = Scoring.from_array([[2, -1], [-3, 4]], "ab", 3, 1)


def sequences(lengths, letters=20, seed=3):
    random = np.random.default_rng(seed)
    return Sequences.of(random.integers(0, letters, n, dtype=np.uint8) for n in lengths)


LENGTHS = (31, 0, 7, 60, 7, 1, 44, 12, 59, 3, 28, 33, 2, 16, 16, 25, 50, 9)


@pytest.mark.parametrize("name", sorted({*GENERAL} - {"reference"}))
def test_engines_agree(device, name):
    engine = engine_of(ENGINES[name], BLOSUM62, device)
    queries, targets = sequences(LENGTHS), sequences(LENGTHS[::2], seed=4)
    expected = score_matrix(Runner(Reference(BLOSUM62)), queries, targets)
    np.testing.assert_array_equal(score_matrix(Runner(engine), queries, targets), expected)
    own = score_matrix(Runner(Reference(BLOSUM62)), queries, queries)
    np.testing.assert_array_equal(score_matrix(Runner(engine), queries), own)


def test_a_symmetric_matrix_is_computed_once():
    class Counting(Reference):
        pairs = 0

        def best(self, asked, progress):
            self.pairs += len(asked.batch)
            return super().best(asked, progress)

    half, whole = Counting(BLOSUM62), Counting(UNEVEN)
    found = score_matrix(Runner(half), sequences(LENGTHS))
    assert (found == found.T).all()
    assert half.pairs < 0.65 * len(LENGTHS) ** 2
    found = score_matrix(Runner(whole), sequences(LENGTHS, letters=2))
    assert whole.pairs == np.count_nonzero(LENGTHS) * len(LENGTHS)  # none of the empty query
    assert (found != found.T).any()


def test_separate_costs_and_ends_decide_about_symmetry():
    assert BLOSUM62.symmetric
    assert BLOSUM62.in_mode("global").symmetric
    assert BLOSUM62.in_mode("semiglobal").symmetric
    assert not BLOSUM62.in_mode("semiglobal", free="target").symmetric
    assert not UNEVEN.symmetric


def test_scores_that_floats_do_not_hold(device):
    """They are repeated: a few by a work group each, many together, and large ones alone."""
    own = sequences([60] * 20 + [50] * 3)
    own = own.select([0] * 20 + [20, 21, 22])
    expected = score_matrix(Runner(Reference(BLOSUM62)), own, own)
    for engine in (
        Lanes(BLOSUM62, device, number="f32", limits=LaneSizes(floats=40)),
        engine_of(Lanes, BLOSUM62, device, number="f32", limits=LaneSizes(floats=40)),
        engine_of(
            Lanes, BLOSUM62, device, number="f32", limits=LaneSizes(floats=40, large_pair=1000)
        ),
    ):
        np.testing.assert_array_equal(score_matrix(Runner(engine), own), expected)


def test_queries_that_overlap(device):
    """On hardware several groups of queries are computed at once."""
    queries, targets = sequences(LENGTHS), sequences(LENGTHS[::2], seed=4)
    expected = score_matrix(Runner(Reference(BLOSUM62)), queries, targets)
    for number in ("int32", "f32"):
        engine = Lanes(BLOSUM62, standing_in(device), number=number)
        np.testing.assert_array_equal(score_matrix(Runner(engine), queries, targets), expected)


@pytest.mark.parametrize("number", ["int32", "f32"])
@pytest.mark.parametrize("options", [{"workgroup": 1}, {"workgroup": 4, "chain": 2, "rows": 8}])
@pytest.mark.parametrize("case", ["", "long", "high", "tiles"])
def test_work_groups_of_targets_before_a_query_are_left_out(
    device, monkeypatch, number, options, case
):
    """On hardware: the pairs of longer targets are computed with these as queries."""
    limits = LaneSizes(short=0, floats=40 if case == "high" else 2048)
    if case == "long":
        limits = replace(limits, long_target=30, in_flight=2**10, longest=55)
    if case == "tiles":
        smaller(monkeypatch, scores=90)
    hardware = standing_in(device, subgroup_size=32 if case == "long" else 0)
    options = options | {"number": number, "subgroups": False, "limits": limits}
    engine = engine_of(Lanes, BLOSUM62, hardware, **options)
    lanes = engine.engine(Lanes)  # type: ignore[attr-defined]
    assert lanes.hints.halves
    own, reported, computed = sequences(LENGTHS), [], []
    expected = score_matrix(Runner(Reference(BLOSUM62)), own, own)
    slices_of = lanes.queue.slices_of

    def watched(jobs, progress):
        if progress is ignore:  # what is repeated
            return slices_of(jobs, progress)
        return slices_of(jobs, lambda cells: (computed.append(cells), progress(cells)))

    monkeypatch.setattr(lanes.queue, "slices_of", watched)
    out = expected.astype(np.int64) if case == "tiles" else None
    found = score_matrix(Runner(engine, progress=reported.append), own, out=out)
    np.testing.assert_array_equal(found, expected)
    residues = int(own.lengths.sum())
    assert sum(reported) == (residues**2 + int((own.lengths**2).sum())) / 2
    beyond = residues * int(own.lengths[own.lengths > 55].sum()) if case == "long" else 0
    assert residues**2 / 2 <= sum(computed) + beyond < 0.87 * residues**2
    assert not Lanes(UNEVEN, device).hints.halves


def test_in_units_of_the_matrix_and_from_files(tmp_path):
    path = tmp_path / "three.fasta"
    path.write_text(">a\nHEAGAWGHEE\n>b\nPAWHEAE\n>c\nHEAE\n")
    gonnet = Scoring.named("GONNET1992", 10, 0.5)
    found = glsw.score_matrix(path, ["WHE"], scoring=gonnet, engine="reference")
    assert found.shape == (3, 1)
    assert found.dtype == float
    assert found[1, 0] == glsw.score("PAWHEAE", "WHE", scoring=gonnet, engine="reference")
    assert glsw.score_matrix([], engine="reference").shape == (0, 0)
    assert glsw.score_matrix([], ["WHE"], engine="reference").shape == (0, 1)


def test_letters_outside_the_alphabet():
    with pytest.raises(ValueError, match="letter '-' at position 2"):
        glsw.score_matrix(["A-"], engine="reference")


@pytest.mark.parametrize("most", [40, 2**25])
@pytest.mark.parametrize("engine", ["auto", *OF_EDITS, "cpu", "diagonal", "lanes"])
def test_into_a_part_of_an_array(device, engine, most, monkeypatch):
    smaller(monkeypatch, scores=most)
    scoring = unit_costs(DNA) if engine in OF_EDITS else BLOSUM62
    own, others = (sequences(LENGTHS[:n], 4, seed=n) for n in (9, 7))
    for targets in None, others:
        whole = np.full((2 * len(own), 12), 777, np.int32)
        part = whole[1::2, 2 : 11 if targets is None else 9]
        run = Runner(engine_of(ENGINES[engine], scoring, device))
        assert score_matrix(run, own, targets, out=part) is part
        expected = score_matrix(Runner(Reference(scoring)), own, targets)
        np.testing.assert_array_equal(part, expected)
        part[:] = 777
        assert (whole == 777).all()


def test_into_an_array(tmp_path, monkeypatch):
    smaller(monkeypatch, scores=40)
    words = ["HEAGAWGHEE", "PAWHEAE", "HEAE", "", "GAW"]
    expected = glsw.score_matrix(words, engine="reference")
    mapped = np.memmap(tmp_path / "scores", np.int32, "w+", shape=(5, 5))
    assert glsw.score_matrix(words, out=mapped, engine="reference") is mapped
    np.testing.assert_array_equal(mapped, expected)
    wide = np.zeros((5, 5))
    gonnet = Scoring.named("GONNET1992", 10, 0.5)
    glsw.score_matrix(words, out=wide, scoring=gonnet, engine="reference")
    np.testing.assert_array_equal(wide, glsw.score_matrix(words, words, scoring=gonnet))
    with pytest.raises(ValueError, match=r"out has the shape \(5, 4\), \(5, 5\) expected"):
        glsw.score_matrix(words, out=wide[:, 1:], engine="reference")
    for kind, scoring in ((np.int16, BLOSUM62), (np.int64, gonnet), (np.float16, gonnet)):
        with pytest.raises(ValueError, match=f"out has numbers of {np.dtype(kind)}"):
            glsw.score_matrix(
                words, out=np.zeros((5, 5), kind), scoring=scoring, engine="reference"
            )


def test_on_several_devices(device):
    words = ["HEAGAWGHEE", "PAWHEAE", "HEAE", "", "GAW"]
    with glsw.Aligner(engine="diagonal", device=[0, 0]) as aligner:
        expected = glsw.score_matrix(words, engine="reference")
        np.testing.assert_array_equal(aligner.score_matrix(words), expected)
        found = aligner.neighbors(words, cutoff=17)
        np.testing.assert_array_equal(found.toarray(), np.where(expected >= 17, expected, 0))
