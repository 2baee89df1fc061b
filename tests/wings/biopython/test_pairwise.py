"""Biopython's aligner on the engines: the same scores, and all of its alignments."""

import array
import copy
import pickle
import warnings
from itertools import islice, product

import Bio.Align
import numpy as np
import pytest
from Bio import BiopythonDeprecationWarning
from Bio.Align import substitution_matrices
from Bio.Align.substitution_matrices import Array
from Bio.Seq import MutableSeq, Seq, reverse_complement
from Bio.SeqRecord import SeqRecord

from glsw.engines.base import Engine
from glsw.engines.cpu_pairs import SinglePairs
from glsw.scoring.gaps import FREE, GapCost
from glsw.wings.biopython.pairwise import PairwiseAligner

ENGINES = ("reference", "auto", "diagonal", "fragment", "blocked")
NAMES = ("blastn", "megablast", "blastp")
MOST = 20_000  # alignments of Biopython's that are looked at
BLOSUM62 = substitution_matrices.load("BLOSUM62")
# Human haemoglobin, alpha and beta.
ALPHA = (
    "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHGKKVADALTNAVAHVDDMPNALSALSDLHAHKLRV"
    "DPVNFKLLSHCLLVTLAAHLPAEFTPAVHASLDKFLASVSTVLTSKYR"
)
BETA = (
    "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHC"
    "DKLHVDPENFRLLGNVLVCVLAHHFGKEFTPPVQAAYQKVVAGVANALAHKYH"
)
FREE_GAPS = {"gap_score": 0}
COSTLY = {"mismatch_score": -2, "gap_score": -2.5}
SPLICED = {"mode": "local", "mismatch_score": -10, "open_gap_score": -1, "extend_gap_score": 0}
FREE_ENDS = {"mismatch_score": -1, "internal_gap_score": -1, "end_gap_score": 0}
UNEQUAL_ENDS = FREE_ENDS | {"left_gap_score": -0.5, "right_gap_score": -0.2}
MATRIX = {"substitution_matrix": BLOSUM62}
NEEDLE = MATRIX | {"open_gap_score": -10, "extend_gap_score": -0.5}
WATER = MATRIX | {"mode": "local", "open_gap_score": -10, "extend_gap_score": -1}
CHROMOSOME, TRANSCRIPT = "AAAAAAAACCCCCCCAAAAAAAAAAAGGGGGGAAAAAAAA", "CCCCCCCGGGGGG"
# The examples of Biopython's tutorial, chapter "Pairwise sequence alignment": settings, target,
# query and strand, score.
TUTORIAL = [
    (FREE_GAPS, ("GAACT", "GAT"), 3.0),
    ({"gap_score": -1}, ("GAACTTT", "GATTT"), 3.0),
    (FREE_GAPS | {"mismatch_score": -10}, ("AAACAAA", "AAAGAAA"), 6.0),
    (SPLICED, (CHROMOSOME, TRANSCRIPT), 12.0),
    (SPLICED, (TRANSCRIPT, "CCCCGGGG"), 8.0),
    (SPLICED, ("AGAACTC", "GAACT"), 5.0),
    (FREE_GAPS | {"mode": "local"}, ("AGAACTC", "GAACT"), 5.0),
    (FREE_GAPS, ("ACGT", "ACAT"), 3.0),
    (COSTLY, ("ACGT", "ACAT"), 1.0),
    (COSTLY | {"wildcard": "?"}, ("ACGT", "AC?T"), 3.0),
    (COSTLY | MATRIX, ("ACDQ", "ACDQ"), 24.0),
    (COSTLY | MATRIX, ("ACDQ", "ACNQ"), 19.0),
    (COSTLY | MATRIX, ("ACDQ", "ACXQ"), 17.0),
    (FREE_GAPS, ("AAA", "AA"), 2.0),
    (FREE_ENDS, ("AAAACCC", "AACC"), 4.0),
    (FREE_ENDS, ("AAAACCC", "GGTT", "-"), 4.0),
    (FREE_ENDS, ("AAAACCC", "AACC", "-"), 0.0),
    (FREE_ENDS, ("AAAACCC", "GGTT"), 0.0),
    (UNEQUAL_ENDS, ("AAAACCC", "AACC"), 2.8),
    (UNEQUAL_ENDS, ("AAAACCC", "GGTT", "-"), 3.1),
    (FREE_GAPS, (ALPHA, BETA), 72.0),
    (NEEDLE, (ALPHA, BETA), 292.5),
    (WATER, ("LSPADKTNVKAA", "PEEKSAV"), 16.0),
]


def biopython(settings):
    """Return Biopython's own aligner; gaps of all kinds before those of one, as in `settings`."""
    return Bio.Align.PairwiseAligner(**settings)


@pytest.fixture(params=ENGINES)
def make(request, device):
    """``make(settings)``: the aligner under test, on each engine."""
    return lambda settings: on(request.param, device, settings)


def on(engine, device, settings):
    """Return an aligner on one engine; `reference` needs no device.

    Its first alignments are those of the engine.
    """
    device = None if engine == "reference" else device
    return PairwiseAligner(engine=engine, device=device, order="conventional", **settings)


def reference(aligner=None, *, order="conventional", **settings):
    return PairwiseAligner(aligner, engine="reference", order=order, **settings)


def check_alignment(found, theirs):
    """One of theirs, or where these are too many, of the same score."""
    mine = found.coordinates.tolist()
    if any(mine == each.coordinates.tolist() for each in islice(theirs, MOST)):
        return
    try:
        many = len(theirs) > MOST
    except OverflowError:
        many = True
    assert many, f"none of Biopython's:\n{found}"


def check_all(aligner, own, *sides):
    """Biopython's number, alignments and order; and ours first, then the others in this order."""
    theirs = own.align(*sides)
    mine = PairwiseAligner(aligner, engine="reference").align(*sides)
    assert len(mine) == len(theirs) == len(aligner.align(*sides))
    assert mine.score == pytest.approx(theirs.score, abs=1e-6)
    expected = [each.coordinates.tolist() for each in islice(theirs, MOST)]
    assert [each.coordinates.tolist() for each in islice(mine, MOST)] == expected
    if expected and len(mine) <= MOST:
        first, *others = [each.coordinates.tolist() for each in aligner.align(*sides)]
        assert others == [each for each in expected if each != first]
        assert len(others) == len(expected) - 1
        assert [str(each) for each in mine] == [str(each) for each in own.align(*sides)]


# The tutorial.


@pytest.mark.parametrize(("settings", "sides", "score"), TUTORIAL)
def test_tutorial(make, settings, sides, score):
    aligner, own = make(settings), biopython(settings)
    assert aligner.score(*sides) == pytest.approx(score, abs=1e-9)
    assert aligner.score(*sides) == pytest.approx(own.score(*sides))
    alignments = aligner.align(*sides)
    assert alignments.score == aligner.score(*sides)
    alignment = alignments[0]
    assert alignment.score == alignments.score
    assert (alignment.target, alignment.query) == sides[:2]
    check_alignment(alignment, own.align(*sides))
    if sides[0] != ALPHA:
        check_all(aligner, own, *sides)


def test_it_takes_the_place_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs replace the name in Bio.Align, and some give the sequences by name."""
    theirs = Bio.Align.PairwiseAligner(mode="local", open_gap_score=-2, extend_gap_score=-1)
    monkeypatch.setattr(Bio.Align, "PairwiseAligner", PairwiseAligner)
    aligner = Bio.Align.PairwiseAligner(theirs)
    assert type(aligner) is PairwiseAligner
    assert aligner.score(seqA="GAACT", seqB="GAT") == theirs.score(seqA="GAACT", seqB="GAT")
    (found,) = aligner.align(seqB="GAT", seqA="GAACT")
    assert str(found) == str(theirs.align("GAACT", "GAT")[0])
    assert pickle.loads(pickle.dumps(aligner)).score("GAACT", "GAT") == found.score


def test_tutorial_alignment_of_one_in_astronomically_many():
    alignments = reference(**FREE_GAPS).align(ALPHA, BETA)
    own = biopython(FREE_GAPS).align(ALPHA, BETA)
    message = "number of optimal alignments is larger than 9223372036854775807"
    for each in (alignments, own):
        with pytest.raises(OverflowError, match=message):
            len(each)
        assert "(>9223372036854775807 alignments; score=72)" in repr(each)
    alignment = alignments[0]
    counts = alignment.counts()
    assert counts.identities == 72
    assert str(alignment[0]).replace("-", "") == ALPHA
    assert str(alignment[1]).replace("-", "") == BETA


def test_tutorial_maps_alignments():
    aligner = reference(**SPLICED)
    first, second = (
        aligner.align(CHROMOSOME, TRANSCRIPT)[0],
        aligner.align(TRANSCRIPT, "CCCCGGGG")[0],
    )
    assert first.map(second).coordinates.tolist() == [[11, 15, 26, 30], [0, 4, 4, 8]]
    assert format(first, "psl").split("\t")[:1] == ["13"]


def test_tutorial_matrix_of_logarithms():
    """Of log odds that have any number of decimals, rounded ones are taken."""
    counts = Array("DEHKR", dims=2)
    counts[:] = [
        [2360, 270, 15, 1, 48],
        [241, 3305, 15, 45, 2],
        [0, 18, 1235, 8, 0],
        [0, 9, 24, 3218, 130],
        [2, 2, 17, 103, 2079],
    ]
    observed = counts / counts.sum()
    observed = (observed + observed.transpose()) / 2
    background = observed.sum(0)
    matrix = np.log2(observed / background[:, None].dot(background[None, :]))
    aligner = reference(gap_score=-3, substitution_matrix=matrix)
    with pytest.raises(ValueError, match=r"more than 4 decimals, round it"):
        aligner.score("DEHEK", "DHHKK")
    matrix[:] = np.round(matrix, 4)
    aligner.substitution_matrix = matrix
    assert round(aligner.score("DEHEK", "DHHKK"), 2) == -2.18
    assert aligner.align("DEHEK", "DHHKK")[0].coordinates.tolist() == [[0, 5], [0, 5]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["local", "global"])
def test_settings_by_name(make, name, mode):
    target, query = (ALPHA, BETA) if name == "blastp" else ("ACGTTGCAACGGN" * 3, "ACGTGCNACGCR" * 2)
    own = Bio.Align.PairwiseAligner(name, mode=mode)
    aligner = make({"scoring": name, "mode": mode})
    assert str(aligner).splitlines()[2:] == str(own).splitlines()[2:]
    assert aligner.score(target, query) == own.score(target, query)
    check_alignment(aligner.align(target, query)[0], own.align(target, query))


def test_scores_of_places():
    """Each of the twelve gap scores counts where the tutorial's table says."""
    target, query = "ACCGGGATTAGCCTCA", "GTTACCCCGCCATAA"
    aligned = ["ACCGGGAATAGC--CTC-A---", "---GT---TA-CCCCGCCATAA"]
    rng = np.random.default_rng(4)
    for _ in range(10):
        settings = {"match_score": 6, "mismatch_score": -1}
        for kind in ("insertion", "deletion"):
            inside = rng.integers(1, 9, 2)
            settings[f"open_internal_{kind}_score"] = -int(inside.max())
            settings[f"extend_internal_{kind}_score"] = -int(inside.min())
            for place in ("left", "right"):
                settings[f"open_{place}_{kind}_score"] = -int(rng.integers(0, inside.max() + 1))
                settings[f"extend_{place}_{kind}_score"] = -int(rng.integers(0, inside.min() + 1))
        target, query = (row.replace("-", "") for row in aligned)
        own, aligner = biopython(settings), reference(**settings)
        assert aligner.score(target, query) == own.score(target, query)
        check_all(aligner, own, target, query)
        counts = aligner.align(target, query)[0].counts(own)
        assert counts.score == aligner.score(target, query)


# Anything else.


def random_letters(rng, letters, most):
    return "".join(rng.choice(list(letters), rng.integers(1, most + 1)))


def random_settings(rng):
    """Return scores by match and mismatch or matrix, and gap scores of every kind and place."""
    unit = int(rng.choice([1, 2, 10]))
    settings = {"mode": str(rng.choice(["local", "global"]))}
    if rng.random() < 0.3:
        settings["substitution_matrix"] = substitution_matrices.load(
            str(rng.choice(["BLOSUM62", "PAM250"]))
        )
        letters = "ARNDCQEG"
    else:
        settings["match_score"] = int(rng.integers(0, 6))
        settings["mismatch_score"] = settings["match_score"] - int(rng.integers(1, 6))
        letters = "ACGT" if rng.random() < 0.7 else "ACGN?"
        settings["wildcard"] = str(rng.choice(["N", "?"])) if rng.random() < 0.5 else None
    for kind in ("insertion", "deletion"):
        extend = int(rng.integers(0, 3 * unit + 1))
        opening = extend + int(rng.choice([0, rng.integers(0, 6 * unit + 1)]))
        costs = {"internal": (opening, extend)}
        for place in ("left", "right"):
            costs[place] = (
                int(rng.choice([0, opening, rng.integers(0, opening + 1)])),
                int(rng.choice([0, extend, rng.integers(0, extend + 1)])),
            )
        for place, (first, further) in costs.items():
            settings[f"open_{place}_{kind}_score"] = -first / unit
            settings[f"extend_{place}_{kind}_score"] = -further / unit
    return settings, letters


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("engine", ["reference", "auto", "diagonal"])
def test_any_settings(device, engine, seed):
    rng = np.random.default_rng([seed, len(engine)])
    for _ in range(12):
        settings, letters = random_settings(rng)
        strand = str(rng.choice(["+", "-"])) if letters == "ACGT" else "+"
        target, query = (random_letters(rng, letters, 9) for _ in range(2))
        own, aligner = biopython(settings), on(engine, device, settings)
        score = aligner.score(target, query, strand)
        assert score == pytest.approx(own.score(target, query, strand), abs=1e-6), settings
        theirs, alignments = own.align(target, query, strand), aligner.align(target, query, strand)
        if score == 0 and settings["mode"] == "local":
            assert len(alignments) == len(theirs) == 0
        else:
            check_alignment(alignments[0], theirs)


def odd_settings(rng):
    """Return settings that no engine has: any costs to open and extend, to the right and inside."""
    settings, letters = random_settings(rng)
    least = 0 if settings["mode"] == "local" else -1
    for name in [name for name in settings if name.startswith(("open", "extend"))]:
        settings[name] = -int(rng.integers(least, 4))
    return settings, letters


def linear_settings(rng):
    """Return settings of Biopython's algorithms for linear gaps, many of them without costs."""
    settings, letters = random_settings(rng)
    settings["mismatch_score"] = settings.get("match_score", 1) - int(rng.integers(1, 3))
    settings.pop("substitution_matrix", None)
    inside = int(rng.integers(0, 3))
    for kind in ("insertion", "deletion"):
        for place in ("internal", "left", "right"):
            cost = int(rng.choice([0, inside]))
            settings[f"{place}_{kind}_score"] = -(inside if place == "internal" else cost)
            for word in ("open", "extend"):
                settings.pop(f"{word}_{place}_{kind}_score")
    return settings, "AC" if "wildcard" not in settings else letters


@pytest.mark.parametrize("make_settings", [random_settings, odd_settings, linear_settings])
@pytest.mark.parametrize("seed", range(4))
def test_all_alignments(make_settings, seed):
    rng = np.random.default_rng([seed, 17])
    for _ in range(25):
        settings, letters = make_settings(rng)
        strand = str(rng.choice(["+", "-"])) if set(letters) <= set("ACGT") else "+"
        target, query = (random_letters(rng, letters, 8) for _ in range(2))
        check_all(reference(**settings), biopython(settings), target, query, strand)


@pytest.mark.parametrize("make_settings", [random_settings, linear_settings])
@pytest.mark.parametrize("by", ["rows", "parasail"])
@pytest.mark.parametrize("seed", range(3))
def test_first_alignment(monkeypatch, make_settings, by, seed):
    """That of Biopython, from tables of either kind, of long pairs with many equally good ones."""
    rng, tables = np.random.default_rng([seed, 18]), []
    made = SinglePairs.table
    monkeypatch.setattr(SinglePairs, "table", lambda *pair: tables.append(by) or made(*pair))
    if by == "rows":
        monkeypatch.setattr("glsw.engines.cpu_pairs.is_installed", lambda: False)
    for _ in range(12):
        settings, letters = make_settings(rng)
        free = int(rng.integers(2))
        if by == "parasail":  # one cost for all gaps, but those at the ends may be free
            for words in ("open_internal", "extend_internal", "internal"):
                inside = settings.get(f"{words}_deletion_score")
                for place, kind in product(
                    ("left", "internal", "right"), ("insertion", "deletion")
                ):
                    if inside is not None:
                        name = f"{words}_{kind}_score".replace("internal", place)
                        settings[name] = inside * (place == "internal" or free)
        target, query = (random_letters(rng, letters, 200) for _ in range(2))
        strand = str(rng.choice(["+", "-"])) if set(letters) <= set("ACGT") else "+"
        own = biopython(settings).align(target, query, strand)
        aligner = PairwiseAligner(engine="reference", **settings)
        found = aligner.align(target, query, strand)
        assert found.score == pytest.approx(own.score, abs=1e-6)
        first = [[each.coordinates.tolist() for each in islice(every, 1)] for every in (found, own)]
        assert first[0] == first[1], settings
    assert bool(tables) == (by == "parasail")


@pytest.mark.parametrize("ends", [{}, {"end_gap_score": 0}])
def test_one_small_pair_takes_no_engine(monkeypatch, device, ends):
    settings = {"mismatch_score": -1, "gap_score": -2} | ends
    aligner, own = PairwiseAligner(device=device, **settings), biopython(settings)
    monkeypatch.setattr(Engine, "scores", lambda *_: pytest.fail("asked an engine"))
    for pair in (("GAACT", "GAT"), ("AAAC", "GGG"), (ALPHA, BETA)):
        assert aligner.score(*pair) == aligner.align(*pair).score == own.score(*pair)
        assert str(aligner.align(*pair)[0]) == str(own.align(*pair)[0])


def test_host_computes_what_no_engine_has():
    settings = {"open_gap_score": -0.2, "extend_gap_score": -0.5}
    aligner, own = reference(**settings), biopython(settings)
    rng = np.random.default_rng(5)
    targets, queries = ([random_letters(rng, "ACGT", 90) for _ in range(6)] for _ in range(2))
    expected = [own.score(*pair) for pair in zip(targets, queries, strict=True)]
    assert aligner.score_many(targets, queries) == pytest.approx(expected)
    found = aligner.align_many(targets, queries)
    for pair, each in zip(zip(targets, queries, strict=True), found, strict=True):
        check_alignment(each[0], own.align(*pair))
    with pytest.raises(ValueError, match=r"^gap_open 0\.2 must not be less than gap_extend 0\.5"):
        aligner.scoring_for()


def test_tables_have_a_limit(monkeypatch):
    monkeypatch.setattr("glsw.wings.biopython.pairwise.MAX_CELLS", 24)
    for order in ("biopython", "conventional"):
        aligner = reference(order=order)
        assert len(aligner.align("GAACT", "GAT")) == 2
        (only,) = alignments = aligner.align("GAACT", "GAAT")
        assert len(alignments) == 1
        assert only.coordinates.tolist() == [[0, 3, 4, 5], [0, 3, 3, 4]]


@pytest.mark.parametrize("mode", ["local", "global"])
@pytest.mark.parametrize("ends", [{}, {"end_gap_score": 0}])
def test_long_sequences_on_every_engine(make, mode, ends):
    rng = np.random.default_rng(6)
    settings = {"mode": mode, "match_score": 2, "mismatch_score": -3, "insertion_score": -4}
    settings |= {"open_deletion_score": -5, "extend_deletion_score": -2} | ends
    targets = [random_letters(rng, "ACGT", 200) for _ in range(20)]
    queries = [each[len(each) // 3 :] + random_letters(rng, "ACGT", 40) for each in targets]
    aligner, own = make(settings), biopython(settings)
    expected = [own.score(*pair) for pair in zip(targets, queries, strict=True)]
    scores = aligner.score_many(targets, queries)
    assert (scores.dtype, scores.tolist()) == (np.float64, expected)
    found = list(aligner.align_many(targets, queries))
    for each, other in zip(found, reference(**settings).align_many(targets, queries), strict=True):
        assert each.score == other.score
        assert each[0].coordinates.tolist() == other[0].coordinates.tolist()


# Sequences.


@pytest.mark.parametrize("mode", ["local", "global"])
@pytest.mark.parametrize("strand", ["+", "-"])
@pytest.mark.parametrize(
    "kind", [str, Seq, MutableSeq, lambda text: SeqRecord(Seq(text), id="a"), str.encode]
)
def test_kinds_of_sequences(kind, strand, mode):
    target, query = "GGAACTTCA", "GAACTCA"
    if strand == "-":
        query = reverse_complement(query)
    settings = {"mode": mode, "mismatch_score": -1, "gap_score": -1}
    own, aligner = biopython(settings), reference(**settings)
    sides = kind(target), kind(query), strand
    assert aligner.score(*sides) == own.score(target, query, strand)
    alignment = aligner.align(*sides)[0]
    check_alignment(alignment, own.align(target, query, strand))
    assert alignment.target is sides[0]
    assert alignment.query is sides[1]
    if kind is not str.encode or strand == "+":  # which Biopython does not turn round
        assert str(alignment) in [str(each) for each in own.align(*sides)]


def test_letters():
    """Case counts, and every printable letter is one."""
    aligner, own = reference(mismatch_score=-1), biopython({"mismatch_score": -1})
    for target, query in (
        ("ACgt", "ACGT"),
        ("acgt", "acgt"),
        ("hello, world!".replace(" ", ""), "~"),
    ):
        assert aligner.score(target, query) == own.score(target, query)
    for target, query in (("ACGU", "ACGU"), ("ACGN", "ACGN"), ("ACG*", "XXG*")):
        assert aligner.score(target, query) == own.score(target, query)
    rna = "ACGUUGCA", "UGCA"
    for strand in "+-":
        assert aligner.score(*rna, strand) == own.score(*rna, strand)


@pytest.mark.parametrize("wildcard", [None, "N", "?", "A", "z", "é"])
def test_wildcards(wildcard):
    settings = {"match_score": 3, "mismatch_score": -2, "gap_score": -4, "wildcard": wildcard}
    aligner, own = reference(**settings), biopython(settings)
    for target, query in (("ACGT", "ACGT"), ("ACNT", "NCNA"), ("AC?T", "?CTN"), ("zZ", "ZZ")):
        assert aligner.score(target, query) == own.score(target, query)


def test_asymmetric_matrix():
    matrix = Array("AB", dims=2, data=np.array([[5.0, -1.0], [2.0, 3.0]]))
    settings = {"substitution_matrix": matrix, "gap_score": -1}
    own, aligner = biopython(settings), reference(**settings)
    for target, query in (("A", "B"), ("B", "A"), ("AABBA", "BABAB")):
        assert aligner.score(target, query) == own.score(target, query)
    assert aligner.score("A", "B") != aligner.score("B", "A")


# Many pairs.


def test_many():
    aligner = reference(mode="local", mismatch_score=-1)
    targets = ["ACGT", "CC", "GGGG"]
    assert aligner.score_many(targets, ["ACG", "A", "GG"]).tolist() == [3, 0, 2]
    assert aligner.score_many(targets, "AC").tolist() == [2, 1, 0]
    assert aligner.score_many(Seq("ACGT"), ["ACG", "TT"]).tolist() == [3, 1]
    assert aligner.score_many("ACGT", "CG").tolist() == [2]
    assert aligner.score_many(iter(targets), iter(targets)).tolist() == [4, 2, 4]
    assert aligner.score_many(targets, "GT", strand="-").tolist() == [2, 1, 0]
    assert aligner.score_many([], []).shape == aligner.score_many([], "ACGT").shape == (0,)
    alignments = list(aligner.align_many(iter(targets), "AC"))
    assert [len(each) for each in alignments] == [1, 2, 0]
    assert [each.score for each in alignments] == [2, 1, 0]
    assert alignments[0][0].coordinates.tolist() == [[0, 2], [0, 2]]
    assert list(aligner.align_many([], [])) == []


def test_numbers_that_differ():
    with pytest.raises(ValueError, match="2 targets and 3 queries: equal numbers expected"):
        reference().score_many(["A", "C"], ["A", "C", "G"])
    with pytest.raises(ValueError, match="1 targets and 0 queries"):
        next(reference().align_many(["A"], []))


def test_alignments_are_those_of_biopython():
    alignments = reference().align("GAACT", "GAT")
    assert isinstance(alignments, Bio.Align.PairwiseAlignments)
    assert len(alignments) == 2
    assert repr(alignments).startswith("<PairwiseAlignments object (2 alignments; score=1) at 0x")
    first, second = alignments
    assert alignments[0] == alignments[-2] == first
    assert alignments[1] == alignments[-1] == second
    assert next(iter(alignments)) == first
    assert [str(each) for each in sorted([second, first])] == [str(first), str(second)]
    for wrong, error in ((2, IndexError), (slice(1), TypeError)):
        with pytest.raises(error):
            alignments[wrong]
    nothing = reference(mode="local").align("A", "C")
    assert (len(nothing), nothing.score, list(nothing)) == (0, 0.0, [])


# Attributes.


def state(aligner):
    kept = aligner.__getstate__()
    kept["substitution_matrix"] = np.array(kept.get("substitution_matrix")).tolist()
    return kept


SETTINGS = [
    {},
    NEEDLE,
    SPLICED,
    UNEQUAL_ENDS | {"wildcard": "N", "epsilon": 1e-4},
    {"open_left_insertion_score": -3, "extend_right_deletion_score": -0.5},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_attributes_are_those_of_an_aligner(settings):
    own = biopython(settings)
    assert state(reference(own)) == state(own)
    assert str(reference(own)).splitlines()[2:] == str(own).splitlines()[2:]
    assert reference(own).algorithm == own.algorithm
    own.mode = "local"
    own.match_score = 7
    assert state(reference(own)) == state(own)
    assert state(reference(reference(own))) == state(own)
    assert reference(own, mode="global").mode == "global"


def test_of_its_class():
    aligner = reference()
    assert isinstance(aligner, Bio.Align.PairwiseAligner)
    assert state(aligner) == state(Bio.Align.PairwiseAligner())
    with pytest.raises(AttributeError, match="no attribute 'gap'"):
        aligner.gap = 1
    with pytest.raises(AttributeError, match="no attribute 'gap'"):
        PairwiseAligner(gap=1)
    with pytest.warns(BiopythonDeprecationWarning):
        aligner.target_end_gap_score = -0.5
    assert aligner.open_left_insertion_score == aligner.extend_right_insertion_score == -0.5


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)
def test_copies(settings, copied):
    aligner = reference(**settings)
    target, query = ("ACDQ", "AWDQ")
    before = aligner.score(target, query)
    other = copied(aligner)
    assert state(other) == state(aligner)
    assert type(other) is type(aligner)
    assert isinstance(other, PairwiseAligner)
    assert other.score(target, query) == before
    other.match_score = 100
    assert aligner.score(target, query) == before


def test_changes_take_effect():
    aligner = reference()
    assert aligner.score("ACGT", "AGGT") == 3
    aligner.mismatch_score = -1
    assert aligner.score("ACGT", "AGGT") == 2
    aligner.mode = "local"
    aligner.mismatch_score = -5
    assert aligner.score("ACGT", "AGGT") == 2
    aligner.match_score = 1.5
    assert aligner.score("ACGT", "AGGT") == 3
    aligner.wildcard = "C"
    assert aligner.score("ACGT", "AGGT") == 4.5
    matrix = Array("ACGT", dims=2, data=np.eye(4))
    aligner.substitution_matrix = matrix
    assert aligner.score("ACGT", "AGGT") == 3
    matrix["A", "A"] = 5  # Biopython keeps the array, not a copy
    assert aligner.score("ACGT", "AGGT") == biopython({"substitution_matrix": matrix}).score(
        "ACGT", "AGGT"
    )
    aligner.match_score = 1
    assert aligner.substitution_matrix is None
    assert aligner.score("ACGT", "AGGT") == 3


def test_scoring():
    scoring = reference(open_gap_score=-2.5, extend_gap_score=-1, end_gap_score=0).scoring_for()
    assert (scoring.scale, scoring.gap_open, scoring.gap_extend) == (10, 25, 10)
    assert scoring.end_gaps == (FREE,) * 4
    aligner = reference(insertion_score=-3, left_deletion_score=-0.5)
    (left, *_, right), other = (
        aligner.scoring_for().end_gaps,
        aligner.scoring_for(strand="-").end_gaps,
    )
    assert aligner.scoring_for().insertion == (30, 30)
    assert aligner.scoring_for().deletion == (10, 10)
    assert (left, right) == (GapCost(30, 30), GapCost(10, 10))
    assert aligner.scoring_for().end_gaps.left_deletion == other.right_deletion == (5, 5)
    aligner.mode = "local"
    assert aligner.scoring_for().local


# What is refused.

SHORTER = Array("AC", dims=2, data=np.eye(2))
LONG = Array(("AAA", "AAC"), dims=2, data=np.eye(2))


def scaled(value):
    return Array("AC", dims=2, data=np.eye(2) * value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "fogsaa"}, "mode 'fogsaa': 'local' or 'global' expected"),
        (
            {"mode": "local", "deletion_score": 1},
            "internal deletion score 1: at most 0 expected in mode 'local'",
        ),
        ({"gap_score": -2e6}, "scores of letters and gaps: -2000000 is beyond 1000000"),
        (
            {"gap_score": -200, "match_score": 0.0001},
            "-200 is beyond 100, the limit of numbers with 4 decimals",
        ),
        ({"match_score": 1 / 3}, "0.333333333333333 has more than 4 decimals"),
        ({"gap_score": -1e-5}, "-1e-05 has more than 4 decimals"),
        ({"match_score": float("nan")}, "finite numbers expected, got nan"),
        ({"mismatch_score": float("-inf")}, "finite numbers expected, got -inf"),
        ({"match_score": 10**7}, "scores of letters and gaps: 10000000 is beyond 1000000"),
        ({"insertion_score": lambda i, n: -n}, "gap scores given by functions: numbers expected"),
        ({"substitution_matrix": SHORTER}, r"letter 'G' is not in substitution_matrix \(AC\)"),
        ({"substitution_matrix": LONG}, r"letter 'A' is not in substitution_matrix \(AAA AAC\)"),
        ({"substitution_matrix": np.eye(60)}, r"item 0 is out of bound \(65, should be < 60\)"),
        ({"order": "any"}, "order 'any': 'biopython' or 'conventional' expected"),
        ({"engine": "best"}, "unknown engine 'best'"),
        ({"engine": "scan"}, "engine 'scan' supports local alignment only"),
    ],
)
def test_settings_that_are_refused(device, settings, message):
    options = {"engine": "reference", "device": device if "engine" in settings else None}
    for method in ("score", "align"):
        with pytest.raises(ValueError, match=message):
            getattr(PairwiseAligner(**options | settings), method)("ACG", "AG")


def test_functions_of_an_aligner():
    own = Bio.Align.PairwiseAligner(deletion_score=lambda i, n: -n)
    with pytest.raises(ValueError, match=r"^gap scores given by functions: numbers expected$"):
        PairwiseAligner(own)


@pytest.mark.parametrize("pair", [("", "A"), ("A", Seq("")), (b"", "A"), ("A", [])])
def test_empty_sequences(pair):
    with pytest.raises(ValueError, match=r"^sequence has zero length$"):
        reference().score(*pair)
    with pytest.raises(ValueError, match=r"^sequence has zero length$"):
        reference().align(*pair)


@pytest.mark.parametrize("letter", ["a", "?", "J", " ", "é"])
def test_letters_outside_the_matrix(letter):
    aligner = reference(**MATRIX, wildcard="?")
    with pytest.raises(ValueError, match=f"^letter '[{letter}]' is not in substitution_matrix "):
        aligner.score("AC", "A" + letter)
    with pytest.raises(ValueError, match="not in the alphabet"):
        biopython(MATRIX | {"wildcard": "?"}).score("AC", "A" + letter)


AMINO = Array(("Gly", "Ala", "Thr"), dims=2, data=np.array([[5.0, 1, -1], [1, 4, 0], [-1, 0, 6]]))
BASES = Array("ACé", dims=2, data=np.diag([2.0, 3, 4]) - 1)


def integers(*numbers):
    return np.array(numbers, np.int32)


@pytest.mark.parametrize(
    ("settings", "target", "query"),
    [
        ({}, "βαγγβα", "ABCαβγ"),
        ({"wildcard": "?"}, "学中文?法", "学?文法中"),
        ({"mode": "local", "gap_score": -1}, "z" * 3 + "ℵℷℶℸ", "ℵℷℸℶ"),
        ({}, ["Gly", "Ala", "Thr"], ["Gly", "Ala", "Ala", "Cys", "Thr"]),
        ({}, (1.5, None, "A"), ["A", 1.5, None]),
        ({}, "GAG", integers(71, 65, 71)),
        ({}, array.array("i", [7, 1, 2**30]), integers(2**30, 7, 1)),
        ({"wildcard": "c"}, integers(1, 99, 6), integers(1, 8, 99)),
        ({"substitution_matrix": AMINO}, ["Gly", "Thr"], ["Gly", "Ala", "Thr"]),
        ({"substitution_matrix": AMINO}, integers(0, 2), integers(0, 1, 2)),
        ({"substitution_matrix": BASES}, "AéC", "ACéé"),
        ({"substitution_matrix": np.array(AMINO)}, integers(0, 2), integers(0, 1, 2)),
        ({"substitution_matrix": np.eye(100)}, "ABC", "AC"),
    ],
)
def test_items_of_every_kind(settings, target, query):
    check_all(reference(**settings), biopython(settings), target, query)


def test_items_that_differ_from_biopython():
    """There letters and items of a list are different numbers, an array has 32 bits, -1 is the
    wildcard, and with a matrix the numbers of an array are overwritten.
    """
    aligner, numbers = reference(substitution_matrix=BASES), integers(65, 233)
    assert aligner.score(numbers, "AéC") == aligner.score("Aé", "AéC") == 3
    assert numbers.tolist() == [65, 233]
    assert reference().score(integers(-1, 2), integers(-1, 2)) == 2
    assert reference().score("GAG", ["G", "A", "G"]) == 3
    assert reference().score(["G", 65], np.array([65])) == 0
    assert reference().score(np.array([7, 2**40]), np.array([2**40])) == 0
    assert reference().score_many([["Gly"], ["Ala", "Thr"]], [["Gly"], ("Ala",)]).tolist() == [1, 0]
    assert reference().score_many(np.array([7, 8, 9]), [integers(8), "\x07"]).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("sequence", "error", "message"),
    [
        (3, TypeError, "'int' object is not iterable"),
        (None, TypeError, "'NoneType' object is not iterable"),
        (np.array([1.0]), ValueError, "sequence has incorrect data type 'd'"),
        (integers([1], [2]), ValueError, r"sequence has incorrect rank \(2 expected 1\)"),
        ([["A"]], TypeError, "unhashable type: 'list'"),
    ],
)
def test_what_is_no_sequence(sequence, error, message):
    for method in (reference().score, reference().align):
        with pytest.raises(error, match=f"^{message}$"):
            method("A", sequence)
        with pytest.raises(error, match=f"^{message}$"):
            method(sequence, "A")


def test_items_that_are_refused():
    many = integers(*range(300))
    with pytest.raises(ValueError, match=r"^300 different letters are in both sequences: at most "):
        reference().score(many, many)
    assert reference().score(many[:252], many[:252]) == 252
    for query in ("αβ", ["A"], integers(65)):
        with pytest.raises(ValueError, match=r"^strand '-': text of nucleotides expected"):
            reference().score("A", query, "-")
    aligner = reference(substitution_matrix=np.array(AMINO))
    with pytest.raises(ValueError, match=r"^substitution_matrix has no letters: arrays of its "):
        aligner.score(["Gly"], ["Gly"])
    with pytest.raises(ValueError, match=r"^sequence item 1 is negative \(-6\)$"):
        aligner.score(integers(0, -6), integers(0))


def test_other_arguments():
    with pytest.raises(ValueError, match=r"^strand 'plus': '\+' or '-' expected$"):
        reference().score("A", "A", "plus")
    with pytest.raises(
        TypeError, match=r"^scoring must be a Bio\.Align\.PairwiseAligner or the name"
    ):
        PairwiseAligner(3)
    with pytest.raises(ValueError, match="tblastn"):
        PairwiseAligner("tblastn")


def test_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reference(**NEEDLE).align(ALPHA, BETA)
