import math
import pickle
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bench import generated
from glsw import TwoTrackScoring, interleaved, search
from glsw.alignment.batch import Batch
from glsw.engines import Cpu
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences
from glsw.statistics import (
    METHODS,
    Fitted,
    KarlinAltschul,
    ScoreHistogram,
    Unavailable,
    fit,
    for_search,
    histogram_for,
    published,
    ungapped,
    ungapped_constants,
)
from glsw.statistics.karlin_altschul import length_adjustment, search_space
from glsw.statistics.published_constants import blosum80, nucleotide_rows, protein_rows

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)
UNPUBLISHED = Scoring.blast("BLOSUM62", 7, 3)
ECOLI = 4403, 1354446
PRINTED = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data/blast_constants.tsv").read_text().splitlines()
    if not line.startswith(("#", "program"))
]


def ncbi(name, gapopen, gapextend):
    """A matrix as blastp has it."""
    if name != "BLOSUM80":
        return Scoring.blast(name, gapopen, gapextend)
    matrix = np.zeros((20, 20), int)
    for k, row in enumerate(blosum80()):
        matrix[k, : k + 1] = matrix[: k + 1, k] = row
    return Scoring.from_array(matrix, "ARNDCQEGHILKMFPSTWYV", gapopen + gapextend, gapextend)


def blastn(match, mismatch, gapopen, gapextend):
    if gapopen == gapextend == 0:
        gapextend = match / 2 - mismatch
    return Scoring.match_mismatch(match, mismatch, gapopen + gapextend, gapextend)


def scoring_of(program, scores, gapopen, gapextend):
    if program == "blastp":
        return ncbi(scores, int(gapopen), int(gapextend))
    return blastn(*map(int, scores.split("/")), int(gapopen), int(gapextend))


@pytest.mark.parametrize("line", PRINTED, ids=lambda line: " ".join(line[:4]))
def test_constants_are_those_that_blast_prints(line):
    program, scores, gapopen, gapextend, *printed, length, space = line
    constants = published(scoring_of(program, scores, gapopen, gapextend))
    found = [constants.lambda_, constants.k, constants.h]
    if program == "blastp":
        found += [constants.alpha, constants.spread.variance, constants.spread.covariance]
    for number, text in zip(found, printed, strict=False):
        # Without gaps BLAST stops the series for K early: its third digit may differ.
        accuracy = 0.006 if "without" in constants.name else 1e-9
        assert float(f"{number:.3g}") == pytest.approx(float(text), rel=accuracy)
    query, size = (218, ECOLI) if program == "blastp" else (3000, (9, 508194))
    assert length_adjustment(constants, query, *size) == int(length)
    assert search_space(constants, query, *size) == int(space)


def test_every_row_is_recorded():
    recorded = {tuple(line[:4]) for line in PRINTED}
    rows = {
        ("blastp", name, str(row[0]), str(row[1]))
        for name, rows in protein_rows().items()
        for row in rows[1:]
    } | {
        ("blastn", f"{match}/{mismatch}", str(row[0]), str(row[1]))
        for (match, mismatch), found in nucleotide_rows().items()
        for row in found.rows
    }
    assert rows <= recorded
    assert len(rows) == 88 + 60


@pytest.mark.parametrize("name", protein_rows())
def test_without_gaps_the_constants_are_computed(name):
    lambda_, k, h = ungapped(ncbi(name, 40, 10))
    row = protein_rows()[name][0]
    assert lambda_ == pytest.approx(row[2], abs=1e-4)
    assert k == pytest.approx(row[3], rel=5e-3)
    assert h == pytest.approx(row[4], rel=5e-4)


def test_ungapped_by_hand():
    # 1/4 for +1, 3/4 for -1: exp(lambda) solves x/4 + 3/(4x) = 1, so 3. The walk returns to 0 or
    # more like a gambler: K = (p - q)^2 / q for steps of one.
    found = ungapped(Scoring.match_mismatch(1, -1, 2, 1))
    assert found.lambda_ == pytest.approx(math.log(3))
    assert found.k == pytest.approx(1 / 3)
    assert found.h == pytest.approx(math.log(3) / 2)
    double = ungapped(Scoring.match_mismatch(2, -2, 4, 2))
    assert double == pytest.approx((math.log(3) / 2, 1 / 3, math.log(3) / 2))


def test_ungapped_example_of_the_source():
    # The comment at Blast_KarlinBlkUngappedCalc: scores -2, 0, 3 with probabilities .7, .1, .2.
    found = ungapped_constants._constants(np.array([-2, 0, 3]), np.array([0.7, 0.1, 0.2]))
    assert f"{found.lambda_:.3f} {found.k:.3f}" == "0.330 0.154"


EVALUES = [
    # score, query, target, bits, E as blastp -comp_based_stats 0 -seg no prints them in XML
    (BLOSUM62, 70, 218, 201, 31.5722, 0.0267488),
    (BLOSUM62, 48, 218, 311, 23.0978, 18.9034),
    (BLOSUM62, 43, 218, 875, 21.1718, 88.1378),
    (BLOSUM62, 55, 144, 294, 25.7942, 1.25347),
    (BLOSUM62, 50, 1000, 897, 23.8682, 76.2434),
    (BLOSUM62, 56, 5478, 1653, 26.1794, 91.5825),
    (Scoring.blast("PAM30", 9, 1), 52, 218, 349, 25.2403, 6.42795),
    (Scoring.blast("PAM30", 9, 1), 42, 218, 55, 20.9988, 97.905),
    (Scoring.blast("BLOSUM50", 13, 2), 79, 141, 180, 26.8333, 0.350279),
    (Scoring.blast("BLOSUM50", 13, 2), 54, 141, 315, 19.8723, 99.2764),
    # and blastn -dust no
    (blastn(2, -3, 5, 2), 600, 300, 16571, 542.297, 8.04242e-156),
    (blastn(2, -3, 5, 2), 29, 300, 16299, 27.4352, 1.46441),
    (blastn(1, -3, 2, 2), 12, 500, 48502, 24.2325, 12.5012),
    (blastn(1, -3, 2, 2), 17, 300, 29760, 34.1149, 0.00781029),
    (blastn(1, -1, 5, 3), 17, 1000, 171823, 28.5293, 1.26904),
]


@pytest.mark.parametrize(
    ("scoring", "score", "query", "target", "bits", "evalue"),
    EVALUES,
    ids=[f"{case[0].name} {case[1]}" for case in EVALUES],
)
def test_evalues_are_those_of_blast(scoring, score, query, target, bits, evalue):
    size = ECOLI if scoring.alphabet == PROTEIN else (9, 508194)
    found = for_search(scoring, query, *size)
    assert found.bits(score, target) == pytest.approx(bits, rel=1e-5)
    assert found.evalue(score, query, target) == pytest.approx(evalue, rel=1e-5)


@pytest.mark.skipif(not shutil.which("blastp"), reason="no blastp here: recorded numbers only")
def test_evalues_of_the_blastp_at_hand(tmp_path):
    database = generated.proteins([300] * 40 + [90] * 40)
    relatives = generated.relatives(database, 20)
    for name, sequences in (("db", database), ("query", relatives)):
        with (tmp_path / f"{name}.fa").open("w") as stream:
            for k, codes in enumerate(sequences):
                stream.write(f">{k}\n{PROTEIN.decode(codes)}\n")
    files = [tmp_path / "query.fa", tmp_path / "db.fa"]
    index = ["makeblastdb", "-in", files[1], "-dbtype", "prot", "-out", tmp_path / "db"]
    subprocess.run(index, check=True, capture_output=True)
    columns = "6 score qlen slen bitscore evalue"
    options = ["-comp_based_stats", "0", "-seg", "no", "-evalue", "50", "-outfmt", columns]
    done = subprocess.run(
        ["blastp", "-query", files[0], "-db", tmp_path / "db", *options],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
    scores, queries, targets, bits, evalues = rows.T
    found = for_search(BLOSUM62, 300, len(database), int(database.lengths.sum()))
    random = evalues >= 0.01  # printed with two digits or more
    assert random.sum() > 50
    expected = found.evalue(scores, queries, targets)
    np.testing.assert_allclose(expected[random], evalues[random], rtol=0.06)
    np.testing.assert_allclose(found.bits(scores, targets), bits, rtol=0.01, atol=0.06)


@pytest.mark.parametrize(
    "scoring",
    [
        BLOSUM62,
        Scoring.from_array(BLOSUM62.matrix * 3, PROTEIN.letters, 36, 3),
        Scoring.from_array(BLOSUM62.matrix[:20, :20], PROTEIN.letters[:20], 12, 1, name="mine"),
        Scoring.from_array(BLOSUM62.matrix / 10, PROTEIN.letters, 1.2, 0.1),
    ],
    ids=["named", "three times", "20 letters", "tenths"],
)
def test_a_matrix_is_known_by_its_values(scoring):
    unit = int(scoring.matrix[0, 0]) // 4
    found, plain = (for_search(each, 100, *ECOLI) for each in (scoring, BLOSUM62))
    assert found.name == plain.name
    assert found.evalue(60 * unit, 100, 250) == pytest.approx(plain.evalue(60, 100, 250))
    assert found.bits(60 * unit, 250) == pytest.approx(plain.bits(60, 250))
    assert found.cutoff(0.1, 100, 250) in range(
        plain.cutoff(0.1, 100, 250) * unit - unit + 1, plain.cutoff(0.1, 100, 250) * unit + 1
    )


def test_the_name_of_a_matrix_says_nothing():
    other = BLOSUM62.matrix.copy()
    other[0, 0] = 5
    changed = Scoring(other, PROTEIN, 12, 1, "BLOSUM62")
    assert published(changed) is None
    # Biopython's BLOSUM80 is in thirds of a bit, NCBI's in halves.
    assert published(Scoring.blast("BLOSUM80", 10, 1)) is None
    assert "BLOSUM80 10/1" in str(published(ncbi("BLOSUM80", 10, 1)))


def test_nucleotides_are_recognised():
    scoring = blastn(2, -3, 5, 2)
    iupac = scoring.matrix.copy()
    iupac[DNA.letters.index("N"), :] = -1
    for same in (
        Scoring(iupac, DNA, 7, 2, "with N"),
        Scoring(scoring.matrix[:4, :4], custom("ACGU"), 7, 2, "RNA"),
        blastn(4, -6, 10, 4),
    ):
        assert str(published(same)) == str(published(scoring))
    assert published(Scoring.named("NUC.4.4", 16, 6)).lambda_ == 0.163
    assert published(blastn(1, -3, 0, 0)).lambda_ == 1.374  # as megablast
    assert published(blastn(1, -7, 2, 2)) is None
    assert published(Scoring.match_mismatch(2, -3, 7, 2, alphabet=custom("ACGTE"))) is None


def test_multiples_round_as_the_scores_themselves():
    once, twice = (for_search(blastn(2 * k, -3 * k, 5 * k, 2 * k), 500, 9, 10**6) for k in (1, 2))
    assert once.evalue(41, 500, 1000) == once.evalue(40, 500, 1000) < once.evalue(39, 500, 1000)
    assert twice.evalue(82, 500, 1000) == pytest.approx(once.evalue(41, 500, 1000))


@pytest.mark.parametrize(("query", "size"), [(11, (10, 300)), (5, (1, 5)), (3000, (2, 10))])
def test_length_adjustment_of_the_tiny(query, size):
    length = length_adjustment(published(BLOSUM62), query, *size)
    assert 0 <= length < query
    assert search_space(published(BLOSUM62), query, *size) >= 1


SOME = {
    "proteins": for_search(BLOSUM62, 200, *ECOLI),
    "PAM30": for_search(Scoring.blast("PAM30", 9, 1), 200, *ECOLI),
    "BLOSUM62 9/1": for_search(Scoring.blast("BLOSUM62", 9, 1), 200, *ECOLI),
    "nucleotides": for_search(blastn(5, -4, 10, 6), 200, *ECOLI),
    "even": for_search(blastn(2, -3, 5, 2), 200, *ECOLI),
}


def fitted(sequences=2000, seed=3):
    """A fit to random numbers that have the distribution: lambda 0.28, slope 3.6."""
    random = np.random.default_rng(seed)
    lengths = generated.swissprot_lengths(sequences, seed)
    mean = 10 + np.log(lengths) / 0.28
    scores = np.floor(random.gumbel(mean - 0.5772 / 0.28, 1 / 0.28)).clip(0).astype(np.int32)
    histogram = ScoreHistogram(1)
    histogram.add(scores, lengths)
    return Fitted(fit(histogram), 200, *ECOLI), scores, lengths


SOME["fitted"] = fitted()[0]


@pytest.mark.parametrize("name", SOME)
def test_more_score_is_more_significant(name):
    statistics = SOME[name]
    scores = np.arange(1, 4000)
    for query in (20, 200, 5000):
        for target in (1, 30, 300, 40_000):
            evalues = statistics.evalue(scores, query, target)
            bits = statistics.bits(scores, target)
            assert np.isfinite(evalues).all()
            assert (evalues >= 0).all()
            assert (np.diff(evalues) <= 0).all()
            assert (np.diff(bits) > 0).all()


@pytest.mark.parametrize("name", SOME)
def test_one_number_as_many(name):
    statistics = SOME[name]
    scores, lengths = np.array([40, 80, 2**31 - 1], np.int32), np.array([100, 200, 300])
    evalues = statistics.evalue(scores, 200, lengths)
    bits = statistics.bits(scores, lengths)
    for k, (score, length) in enumerate(zip(scores.tolist(), lengths.tolist(), strict=True)):
        assert statistics.evalue(score, 200, length) == pytest.approx(evalues[k], rel=1e-12)
        assert statistics.bits(score, length) == pytest.approx(bits[k], rel=1e-12)
        assert type(statistics.evalue(score, 200, length)) is float
    assert evalues[-1] == 0.0
    assert statistics.evalue(scores[:0], 200, lengths[:0]).shape == (0,)
    assert statistics.bits(scores[:0], lengths[:0]).shape == (0,)
    assert len(set(statistics.evalue(np.full(3, 50), 200, np.full(3, 70)).tolist())) == 1
    assert pickle.loads(pickle.dumps(statistics)) == statistics


@pytest.mark.parametrize("name", SOME)
@given(
    evalue=st.floats(1e-250, 1e6),
    query=st.integers(1, 40_000),
    target=st.integers(1, 40_000),
)
def test_the_cutoff_is_the_least_score(name, evalue, query, target):
    statistics = SOME[name]
    least = statistics.cutoff(evalue, query, target)
    assert least >= 1
    assert statistics.evalue(least, query, target) <= evalue
    assert least == 1 or statistics.evalue(least - 1, query, target) > evalue
    both = statistics.cutoff(evalue, query, np.array([target, 100]))
    assert both.tolist() == [least, statistics.cutoff(evalue, query, 100)]


def test_the_cutoff_needs_an_evalue():
    with pytest.raises(ValueError, match="an E-value must be more than 0, got 0"):
        SOME["proteins"].cutoff(0, 100, 100)


def test_bits_and_evalues_of_a_fit_agree():
    statistics = SOME["fitted"]
    bits, evalue = statistics.bits(150, 320), statistics.evalue(150, 200, 320)
    assert evalue == pytest.approx(4403 * 200 * 320 * 2**-bits, rel=1e-6)


def test_a_fit_finds_the_distribution():
    statistics, scores, lengths = fitted(20_000)
    found = statistics.fit
    assert found.slope == pytest.approx(1 / 0.28, rel=0.03)
    assert found.intercept == pytest.approx(10, abs=0.7)
    assert found.deviation == pytest.approx(1.2825 / 0.28, rel=0.03)
    assert found.used + found.outliers == ((lengths >= 10) & (scores > 0)).sum()
    assert re.fullmatch(
        r"fitted to 19,\d{3} scores \(\d outliers left out\): mean [\d.]+ \+ 3\.\d+ ln\(length\), "
        r"standard deviation 4\.\d+",
        statistics.name,
    )


def test_outliers_do_not_matter():
    _, scores, lengths = fitted()
    plain, mixed = ScoreHistogram(1), ScoreHistogram(1)
    plain.add(scores, lengths)
    mixed.add(scores, lengths)
    mixed.add(np.linspace(150, 20_000, 100).astype(np.int32), np.full(100, 300))
    without, found = fit(plain), fit(mixed)
    assert found.outliers == without.outliers + 100
    assert (found.slope, found.deviation) == (without.slope, without.deviation)


def test_equal_lengths_take_the_slope_of_the_theory():
    random = np.random.default_rng(5)
    histogram = ScoreHistogram(1)
    scores = np.floor(random.gumbel(30, 4, 500)).astype(np.int32)
    histogram.add(scores, np.full(500, 120))
    found = fit(histogram)
    assert found.slope == pytest.approx(4, rel=0.1)
    assert found.intercept + found.slope * math.log(120) == pytest.approx(30 + 0.577 * 4, abs=0.6)


def searched(targets, related, *, slope=4.0, seed=0):
    """Scores and lengths of targets, of which the last ones are related to the query."""
    random = np.random.default_rng([targets, related, seed])
    lengths = generated.swissprot_lengths(targets, seed).clip(25)
    scores = random.gumbel(10 + slope * np.log(lengths), slope)
    scores[targets - related :] = slope * random.uniform(25, 400, related)
    return scores.astype(np.int32), lengths


@pytest.mark.parametrize("slope", [4.0, 18.0], ids=["one track", "two tracks"])
def test_relatives_do_not_hide_each_other(slope, subtests):
    sets = (60, 3), (70, 3), (70, 5), (100, 5), (100, 8), (200, 3), (200, 8), (200, 10)
    for targets, related in (*sets, (300, 10), (1000, 20), (60, 20), (300, 120), (400, 200)):
        for seed in range(4):
            with subtests.test(targets=targets, related=related, seed=seed):
                scores, lengths = searched(targets, related, slope=slope, seed=seed)
                histogram = ScoreHistogram(1)
                histogram.add(scores, lengths)
                found = fit(histogram)
                assert related <= found.outliers <= related + 3
                assert found.slope == pytest.approx(slope, rel=0.6)
                assert found.deviation == pytest.approx(slope * math.pi / 6**0.5, rel=0.4)


@pytest.mark.parametrize("tracks", [1, 2])
def test_a_search_of_few_targets_finds_relatives(tracks):
    random = np.random.default_rng(tracks)
    query, *others = generated.proteins([160, *random.integers(60, 400, 95)], seed=tracks)
    related = list(generated.relatives(Sequences.of([query] * 5), 20))
    targets = [PROTEIN.decode(each) for each in [*others, *related]]
    scoring, query = Scoring.blast("BLOSUM62", 5, 3), PROTEIN.decode(query)
    if tracks == 2:  # states that last for 4 positions on average
        states = Scoring.from_array([[3, -3, -3], [-3, 3, -3], [-3, -3, 4]], "HEC", 1, 1)
        scoring = TwoTrackScoring.of(Scoring.blast("BLOSUM62", 16, 2), states)

        def with_states(letters):
            changes = np.cumsum(random.random(len(letters)) < 0.25)
            return interleaved(
                letters, "".join("HEC"[k] for k in random.integers(0, 3, 999)[changes])
            )

        query, *targets = map(with_states, [query, *targets])
    (result,) = search([query], targets, scoring=scoring, engine="cpu")
    assert isinstance(result.statistics, Fitted)
    assert all(hit.evalue < 1e-5 for hit in result.hits[:5])
    assert all(hit.evalue > 1e-3 for hit in result.hits[5:])
    assert {hit.target.id for hit in result.hits[:5]} == {f"target {k}" for k in range(96, 101)}


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2**31)), max_size=60),
    st.lists(st.integers(0, 60), max_size=4),
    st.integers(1, 7),
)
def test_histograms_add_up_in_any_parts(pairs, cuts, width):
    scores = np.array([score for score, _ in pairs], np.int32)
    lengths = np.array([length for _, length in pairs], np.int64)
    whole = ScoreHistogram(width)
    whole.add(scores, lengths)
    parts = []
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(pairs)], strict=True):
        part = ScoreHistogram(width)
        part.add(scores[first:last], lengths[first:last])
        parts.append(pickle.loads(pickle.dumps(part)))
    total = ScoreHistogram(width)
    for part in reversed(parts):
        total = part + total
    assert total == whole
    assert len(total) == len(pairs)


def test_a_pickled_histogram_is_small():
    _, scores, lengths = fitted(20_000)
    histogram = ScoreHistogram(1)
    histogram.add(scores, lengths)
    assert len(pickle.dumps(histogram)) < 50_000


def test_histograms_differ_by_width():
    assert ScoreHistogram(1) != ScoreHistogram(2)
    assert ScoreHistogram(1) != 1
    with pytest.raises(ValueError, match="histograms of widths 1 and 2 cannot be added"):
        ScoreHistogram(1) + ScoreHistogram(2)
    with pytest.raises(ValueError, match="width 0: at least 1 unit of score expected"):
        ScoreHistogram(0)
    with pytest.raises(ValueError, match=r"\(2,\) scores for \(3,\) lengths"):
        ScoreHistogram(1).add(np.zeros(2, np.int32), np.zeros(3, np.int64))
    assert ScoreHistogram.of(UNPUBLISHED).width == 1
    assert ScoreHistogram.of(Scoring.match_mismatch(4, -6, 8, 2)).width == 2
    assert ScoreHistogram.of(Scoring.named("GONNET1992", 10, 0.5)).width == 4


def test_cells_of_several_units_give_the_same_fit():
    _, scores, lengths = fitted(20_000)
    fine, coarse = ScoreHistogram(10), ScoreHistogram(20)
    for histogram in (fine, coarse):
        histogram.add(scores * 10, lengths)
    one, other = fit(fine), fit(coarse)
    assert one.deviation == pytest.approx(other.deviation, rel=0.01)
    # A step of 10 units is 10 times a step of 1: half a step more of the mean.
    single = fitted(20_000)[0].fit
    assert one.slope == pytest.approx(10 * single.slope)
    assert one.deviation == pytest.approx(10 * single.deviation)


def histogram_of(count, scores=None):
    lengths = generated.swissprot_lengths(count, 1).clip(20)
    histogram = ScoreHistogram(1)
    random = np.random.default_rng(count)
    drawn = random.gumbel(17 + 4 * np.log(lengths), 4) if scores is None else scores
    histogram.add(np.asarray(drawn, np.int32), lengths)
    return histogram


def of_lengths(mean, relatives=0):
    """A histogram of 300 scores with a mean that depends on the length."""
    random = np.random.default_rng(4)
    lengths = generated.swissprot_lengths(300, 1).clip(20)
    scores = random.gumbel(mean(lengths), 4)
    scores[:relatives] = random.uniform(100, 900, relatives)
    histogram = ScoreHistogram(1)
    histogram.add(scores.clip(1).astype(np.int32), lengths)
    return histogram


@pytest.mark.parametrize(
    ("histogram", "message"),
    [
        (histogram_of(59), "59 scores, too few to fit statistics to: 60 are needed"),
        (histogram_of(1), "1 score, too few to fit statistics to: 60 are needed"),
        (ScoreHistogram(1), "0 scores, too few to fit statistics to: 60 are needed"),
        (histogram_of(100, np.full(100, 33)), "scores are too similar to fit statistics"),
        (histogram_of(100, np.zeros(100)), "0 scores, too few to fit statistics to: 60 are nee"),
        (histogram_of(100, np.full(100, 10**6)), "scores scatter too widely to fit statistics to"),
        (histogram_of(99, np.arange(99) * 9), "scores scatter too widely to fit statistics to"),
        (of_lengths(lambda n: 90 - 9 * np.log(n)), "scores do not grow with the length of targets"),
        (of_lengths(lambda n: n / 4), "scores grow too fast with the length of targets to fit"),
        (of_lengths(lambda n: 12 * np.log(n / 60)), "short targets score too low to fit stat"),
        (of_lengths(lambda n: 9 * np.log(n), relatives=240), "scores scatter too widely to fit"),
    ],
    ids=[
        *("59", "one", "none", "alike", "zero", "beyond", "wide"),
        *("falling", "not local", "negative", "relatives"),
    ],
)
def test_what_cannot_be_fitted(histogram, message):
    with pytest.raises(ValueError, match=message):
        for_search(UNPUBLISHED, 100, 100, 10**5, histogram, method="fit")
    found = for_search(UNPUBLISHED, 100, 100, 10**5, histogram)
    assert isinstance(found, Unavailable)
    assert not found.available
    assert found.name.startswith(f"none: {message}")
    with pytest.raises(ValueError, match=f"there are no statistics: {message}"):
        found.bits(40, 100)


def test_sixty_scores_are_enough():
    assert for_search(UNPUBLISHED, 100, 100, 10**5, histogram_of(60)).available


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (Scoring.match_mismatch(5, -1, 8, 2), r"two random residues is \+0.5 \(must be negative\)"),
        (Scoring.match_mismatch(0.5, -0.1, 3, 1), r"two random residues is \+0.05 \(must be neg"),
        (Scoring.named("BENNER22", 10, 1).in_mode("global"), "the alignments are not local"),
        (
            Scoring.from_array([[0, -1], [-1, 0]], "ab", 2, 1),
            "no two residues have a positive score",
        ),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_scorings_without_statistics(scoring, message, method):
    message = f"no local statistics exist: .*{message}"
    if method == "none":
        assert for_search(scoring, 100, *ECOLI, method=method).name == "none: not asked for"
    elif method == "auto":
        assert histogram_for(scoring) is None
        assert re.match(f"none: {message}", for_search(scoring, 100, *ECOLI).name)
    else:
        with pytest.raises(ValueError, match=message):
            for_search(scoring, 100, *ECOLI, method=method)


def test_the_method_is_chosen():
    histogram = histogram_of(200)
    for method, scoring, kind in (
        ("auto", BLOSUM62, KarlinAltschul),
        ("auto", UNPUBLISHED, Fitted),
        ("fit", BLOSUM62, Fitted),
        ("karlin-altschul", BLOSUM62, KarlinAltschul),
        ("none", BLOSUM62, Unavailable),
    ):
        assert type(for_search(scoring, 100, *ECOLI, histogram, method)) is kind
        assert (histogram_for(scoring, method) is not None) == (kind is Fitted)
    with pytest.raises(ValueError, match="unknown statistics 'guess'; there are auto, karlin-"):
        for_search(BLOSUM62, 100, *ECOLI, method="guess")


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (
            Scoring.blast("BLOSUM62", 5, 3),
            "no Karlin-Altschul constants are published for BLOSUM62 with gapopen 5 and gapextend "
            "3; there are 11/2, 10/2, 9/2, 8/2, 7/2, 6/2, 13/1, 12/1, 11/1, 10/1, 9/1",
        ),
        (
            Scoring.match_mismatch(5, -4, 9, 3),
            "no Karlin-Altschul constants are published for 5/-4 with gapopen 6 and gapextend 3; "
            "there are 10/6, 8/6",
        ),
        (
            Scoring.named("GONNET1992", 10, 1),
            "no Karlin-Altschul constants are published for GONNET1992",
        ),
    ],
)
def test_what_is_published_is_named(scoring, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        for_search(scoring, 100, *ECOLI, method="karlin-altschul")


def robinson(lengths, seed):
    """Random proteins of the composition that the published constants are for."""
    frequencies = np.array(list(ungapped_constants.ROBINSON.values()))
    letters = PROTEIN.encode("".join(ungapped_constants.ROBINSON))
    random = np.random.default_rng(seed)
    drawn = random.choice(letters, int(np.sum(lengths)), p=frequencies / frequencies.sum())
    return Sequences(drawn, np.concatenate([[0], np.cumsum(lengths)]))


@pytest.mark.parametrize(
    "scoring", [BLOSUM62, Scoring.blast("PAM70", 10, 1)], ids=["BLOSUM62", "PAM70"]
)
@pytest.mark.parametrize(
    ("method", "length", "queries", "sequences"),
    # The finite-size correction is right for long proteins: see docs/STATISTICS.md.
    [("karlin-altschul", 1000, 40, 500), ("fit", None, 40, 2000)],
    ids=["published", "fit"],
)
def test_false_hits_are_as_many_as_expected(scoring, method, length, queries, sequences):
    # How many are expected with an E-value of at most 10 is less than 10, because scores are
    # whole numbers: it is the sum over sequences of the chance to reach its cut-off.
    def sizes(count, seed):
        return np.full(count, length) if length else generated.swissprot_lengths(count, seed)

    database = robinson(sizes(sequences, 1), 1)
    lengths, at, counts = np.unique(database.lengths, return_inverse=True, return_counts=True)
    size = len(database), int(database.lengths.sum())
    engine = Cpu(scoring)
    observed, expected = 0, 0.0
    for query in robinson(sizes(queries, 2), 2):
        scores = engine.scores(Batch.one_to_many(query, database))
        histogram = ScoreHistogram.of(scoring)
        histogram.add(scores, database.lengths)
        statistics = for_search(scoring, len(query), *size, histogram, method)
        cutoff = statistics.cutoff(10, len(query), lengths)
        evalues = statistics.evalue(cutoff, len(query), lengths)
        share = 1 / size[0] if method == "fit" else lengths / size[1]
        observed += int((scores >= cutoff[at]).sum())
        expected += float((evalues * share) @ counts)
    assert 300 < expected < 420
    assert abs(observed - expected) < 2.6 * math.sqrt(expected)
