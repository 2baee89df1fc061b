"""Sparse matrices of all pairs: they equal what is selected from all scores."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from cases import GENERAL, able
from smaller import smaller

import glsw
from glsw import Aligner, Scoring
from glsw.engines import ENGINES
from glsw.pairs import all_pairs
from glsw.pairs.distances import DISTANCES
from glsw.statistics import for_search

DNA = Scoring.match_mismatch(2, -1, 1, 1)
UNEVEN = Scoring.from_array([[2, -1], [-3, 4]], "ab", 3, 1)
CUTOFFS = {"score": 25, "self": 30, "identity": 0.7, "evalue": 0.5}


def words(lengths, letters="ARNDCQEGHILKMFPSTWYV", seed=3):
    """Random words, every third of them a changed copy of the one before."""
    random = np.random.default_rng(seed)
    made = ["".join(random.choice(list(letters), n)) for n in lengths]
    for k in range(1, len(made), 3):
        made[k] = made[k - 1][: len(made[k])].replace("A", "G") + made[k][len(made[k - 1]) :]
    return made


LENGTHS = (31, 28, 7, 40, 44, 1, 7, 12, 39, 3, 28, 33, 0, 16, 16, 25, 30, 9)
WORDS = words(LENGTHS)
OTHERS = [*WORDS[::4], *words(LENGTHS[::2], seed=4)]


@cache
def own_score(word, **options):
    return glsw.score(word, word, **{"engine": "cpu"} | options)


@cache
def identity(query, target, **options):
    return glsw.align(query, target, **{"engine": "cpu"} | options).identity


def brute_force(rows, columns, distance, cutoff, least=None, **options):
    """The values of all pairs as a dense array, NaN where a pair does not pass."""
    scores = glsw.score_matrix(rows, columns, **{"engine": "cpu"} | options)
    values = scores.astype(float)
    enough = np.full(scores.shape, True)
    if distance == "self":
        own = [[own_score(word, **options) for word in side] for side in (rows, columns)]
        values = np.minimum(np.array(own[0])[:, None], np.array(own[1])) - scores
    elif distance == "identity":
        local = options.get("mode", "local") == "local"
        enough = scores >= (1 if local else -(2**40))
        for i, j in np.argwhere(enough):
            pair = (rows[i], columns[j]) if rows is not columns or i <= j else (rows[j], columns[i])
            values[i, j] = identity(*pair, **options)
    elif distance == "evalue":
        m, n = (np.array(list(map(len, side))) for side in (rows, columns))
        statistics = for_search(Scoring.blast(), int(m.max()), len(n), int(n.sum()))
        enough = scores > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            values = statistics.evalue(scores, m[:, None], n)
    good = values <= cutoff if distance in ("self", "evalue") else values >= cutoff
    if least is not None:
        enough &= scores >= least
    return np.where(good & enough, values, np.nan)


def dense(found):
    assert found.has_sorted_indices
    made = np.full(found.shape, np.nan)
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    made[rows, found.indices] = found.data
    return made


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("columns", [None, OTHERS])
def test_as_brute_force(distance, columns, monkeypatch):
    smaller(monkeypatch, scores=40)
    monkeypatch.setattr(all_pairs, "MAX_TARGETS", 11)
    smaller(monkeypatch, pairs_aligned=7)
    cutoff = CUTOFFS[distance]
    found = glsw.neighbors(WORDS, columns, cutoff=cutoff, distance=distance, engine="reference")
    expected = brute_force(WORDS, WORDS if columns is None else columns, distance, cutoff)
    assert 10 < np.isfinite(expected).sum() < expected.size * 0.7
    np.testing.assert_allclose(dense(found), expected, rtol=1e-12)
    assert found.dtype == (np.int32 if distance in ("score", "self") else np.float64)


@pytest.mark.parametrize("name", sorted({*GENERAL} - {"reference"}))
def test_engines_agree(device, name):
    able(device, name)
    chosen = None if ENGINES[name].capabilities.requires is None else device
    with Aligner(engine=name, device=chosen) as aligner:
        for columns in (None, OTHERS):
            found = aligner.neighbors(WORDS, columns, cutoff=30, distance="self")
            expected = brute_force(WORDS, WORDS if columns is None else columns, "self", 30)
            np.testing.assert_array_equal(dense(found), expected)


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
@pytest.mark.parametrize(("distance", "cutoff"), [("self", 45), ("identity", 0.3), ("score", 9)])
def test_other_modes(mode, distance, cutoff):
    given = WORDS[:12]
    found = glsw.neighbors(given, cutoff=cutoff, distance=distance, mode=mode, engine="reference")
    expected = brute_force(given, given, distance, cutoff, mode=mode)
    np.testing.assert_allclose(dense(found), expected)
    assert 12 < found.nnz < 144


BLOSUM, SEPARATE = Scoring.named("BLOSUM62", 11, 11), {"insertion_open": 5, "insertion_extend": 2}


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    ("scoring", "distance", "cutoff", "letters", "share"),
    [
        (BLOSUM, "self", 10, "ACDEFG", 0.4),
        (BLOSUM, "self", 25, "ACDEFGX", 0.7),  # X with X scores less than with others
        (BLOSUM, "score", 30, "ACDEFGX", 0.75),
        (Scoring.named("BLOSUM62", 9, 2), "self", 14, "ACDEFG", 0.8),
        (Scoring.named("BLOSUM62", 12, 0), "self", 11, "ACDEFG", 0.4),
        (replace(Scoring.named("BLOSUM62", 9, 3), **SEPARATE), "self", 6, "ACDEFG", 0.4),
    ],
)
def test_global_pairs_of_lengths_that_differ_too_much_are_not_computed(
    scoring, distance, cutoff, letters, share, columns, monkeypatch
):
    smaller(monkeypatch, queries_as_long=(2, 5))
    computed, reference = [], ENGINES["reference"]
    best = reference.best
    monkeypatch.setattr(
        reference, "best", lambda s, a, told: computed.append(a.batch.cells) or best(s, a, told)
    )
    random = np.random.default_rng(5)
    given = words(random.integers(0, 14, 40), letters, 1)
    given += [given[k][:-1] for k in range(0, 40, 4)]
    others = [*words(random.integers(0, 14, 20), letters, 2), *given[::3]] if columns else given
    options, told = {"scoring": scoring, "mode": "global", "engine": "reference"}, []
    which = {"cutoff": cutoff, "distance": distance, "progress": told.append}
    found = glsw.neighbors(given, others if columns else None, **which, **options)
    own = sum(len(word) ** 2 for word in given)
    cells = sum(map(len, given)) * sum(map(len, others))
    if not columns and scoring.symmetric:
        cells = (cells + own) // 2
    assert sum(told) == cells
    assert sum(computed) < share * cells + 2 * own  # with scores of each with itself
    expected = brute_force(given, others, distance, cutoff, **options)
    np.testing.assert_array_equal(dense(found), expected)
    assert 10 < found.nnz < 0.5 * expected.size


@pytest.mark.parametrize("mode", ["local", "global"])
def test_pairs_that_score_more_than_one_of_them_with_itself(mode):
    """A letter scores more with another one than with itself: there are negative distances."""
    given, scoring = ["aaaa", "bbb", "abab", "aa"], Scoring.from_array([[1, 2], [2, 1]], "ab", 2, 1)
    for cutoff in (-2, -1, 0):
        options = {"mode": mode, "engine": "reference", "scoring": scoring}
        found = dense(glsw.neighbors(given, cutoff=cutoff, distance="self", **options))
        np.testing.assert_array_equal(found, brute_force(given, given, "self", cutoff, **options))
        assert np.nanmin(found) <= -2


def test_a_scoring_that_is_not_symmetric():
    given = words((9, 8, 7, 12), "ab")
    options = {"scoring": UNEVEN, "engine": "reference"}
    found = glsw.neighbors(given, cutoff=8, **options)
    scores = glsw.score_matrix(given, given, **options)
    np.testing.assert_array_equal(dense(found), np.where(scores >= 8, scores, np.nan))
    assert (scores != scores.T).any()


def test_each_pair_is_computed_once(monkeypatch):
    pairs = []
    reference = ENGINES["reference"]
    best = reference.best
    monkeypatch.setattr(
        reference, "best", lambda s, a, told: pairs.append(len(a.batch)) or best(s, a, told)
    )
    glsw.neighbors(WORDS, cutoff=30, engine="reference")
    assert sum(pairs) < 0.65 * len(WORDS) ** 2


@pytest.mark.parametrize("distance", ["score", "self"])
@pytest.mark.parametrize("k", [1, 3])
def test_the_best_of_each_row(distance, k, monkeypatch):
    """Of equal ones those with the lowest columns; the diagonal is not counted."""
    smaller(monkeypatch, pending=20, scores=40)
    given = [*WORDS, WORDS[0], WORDS[3]]
    every = brute_force(given, given, distance, CUTOFFS[distance])
    expected = np.full_like(every, np.nan)
    for i, row in enumerate(every):
        keys = row if distance == "self" else -row
        others = [j for j in np.argsort(keys, kind="stable") if j != i and np.isfinite(row[j])][:k]
        for j in (i, *others):
            expected[i, j] = row[j]
    found = glsw.neighbors(given, cutoff=CUTOFFS[distance], distance=distance, k=k, engine="cpu")
    np.testing.assert_array_equal(dense(found), expected)


def test_the_least_score():
    options = {"distance": "identity", "cutoff": 0.4}
    found = glsw.neighbors(WORDS, min_score=20, engine="reference", **options)
    np.testing.assert_allclose(dense(found), brute_force(WORDS, WORDS, "identity", 0.4, 20))
    fewer = glsw.neighbors(WORDS, min_score=60, engine="reference", **options)
    assert 0 < fewer.nnz < found.nnz


@pytest.mark.filterwarnings("ignore:.* scored as")
def test_identities_compare_letters_as_written(monkeypatch):
    """U is scored as C, O and J as X, but U opposite C is no identity, as in alignments."""
    rows, columns = ["WUKWOLWJW", "HEAGAWGHEE", "WCKWC"], ["WCKWuLWJW", "WUKWU", "WOKWX", "WUKWU"]
    smaller(monkeypatch, pairs_aligned=2)
    identities = partial(glsw.neighbors, cutoff=0.01, distance="identity", engine="cpu")
    with ThreadPoolExecutor(2) as executor:
        for given in ([rows, columns], [columns], [rows]):
            expected = [[identity(a, b) for b in given[-1]] for a in given[0]]
            for pool in (None, executor):
                with pytest.warns(RuntimeWarning, match="scored as"):
                    found = identities(*given, executor=pool)
                np.testing.assert_array_equal(found.toarray(), expected)
    assert identity("WUKWOLWJW", "WUKWU") == 1
    assert identity("WUKWOLWJW", "WCKWuLWJW") == 7 / 9


def test_decimals():
    gonnet = Scoring.named("GONNET1992", 10, 0.5)
    pair = ["HEAGAWGHEE", "PAWHEAE"]
    (score,) = glsw.score([pair[0]], [pair[1]], scoring=gonnet, engine="reference")
    options = {"scoring": gonnet, "engine": "reference"}
    assert glsw.neighbors(*([x] for x in pair), cutoff=score, **options).data == [score]
    assert glsw.neighbors(*([x] for x in pair), cutoff=score + 0.1, **options).nnz == 0
    own = min(glsw.score(word, word, **options) for word in pair)
    found = glsw.neighbors(pair, cutoff=own - score, distance="self", **options)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found[[0], [1]], own - score)


def test_as_scirpy_stores_it():
    """Distances plus 1: explicit zeros stay until then."""
    found = glsw.neighbors(["CASSF", "CASSF"], cutoff=10, distance="self", engine="reference")
    assert found.nnz == 4
    found.data += 1
    assert found.toarray().tolist() == [[1, 1], [1, 1]]


def test_an_executor_and_progress():
    cells = []
    expected = glsw.neighbors(WORDS, cutoff=0.4, distance="identity", engine="reference")
    with ThreadPoolExecutor(2) as executor:
        found = glsw.neighbors(
            WORDS,
            cutoff=0.4,
            distance="identity",
            engine="reference",
            executor=executor,
            progress=cells.append,
        )
    np.testing.assert_array_equal(dense(found), dense(expected))
    once = sum(m * n for i, m in enumerate(LENGTHS) for n in LENGTHS[i:])
    assert sum(cells) == once
    alone = []
    glsw.neighbors(WORDS, cutoff=40, engine="reference", progress=alone.append)
    assert sum(alone) == once
    serial = []
    glsw.neighbors(WORDS, OTHERS, cutoff=40, engine="reference", progress=serial.append)
    assert sum(serial) == sum(LENGTHS) * sum(map(len, OTHERS))


def test_nothing():
    for given, other, shape in (([], None, (0, 0)), ([], ["WHE"], (0, 1)), (["WHE"], [], (1, 0))):
        for distance in DISTANCES:
            options = {"cutoff": CUTOFFS[distance], "distance": distance, "engine": "reference"}
            assert glsw.neighbors(given, other, **options).shape == shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "far"}, r"distance 'far': 'score', 'self', 'identity', 'evalue' expected"),
        ({"k": 0}, "k 0: a whole number of 1 or more, or None for all, expected"),
        ({"cutoff": float("nan")}, "cutoff nan: a finite number expected"),
        ({"distance": "evalue", "cutoff": 0}, "cutoff 0: a number above 0 expected"),
        ({"distance": "identity"}, "cutoff 5: a number from 0 to 1 expected"),
        ({"distance": "evalue", "mode": "global"}, "E-values exist for local alignments only"),
        (
            {"distance": "evalue", "scoring": Scoring.named("PAM30", 9, 9)},
            "^no E-values: no Karlin-Altschul constants are published for PAM30 with gapopen 0 "
            "and gapextend 9; there are 15/3, .*, 8/1$",
        ),
        (
            {"distance": "evalue", "scoring": Scoring.from_array(np.ones((3, 3)), "WHE", 2, 1)},
            "^no E-values: no local statistics exist: the expected score of two random residues",
        ),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        glsw.neighbors(["WHE"], **{"cutoff": 5, "engine": "reference"} | options)


def test_a_cutoff_is_a_number():
    for options in ({"cutoff": "5"}, {"cutoff": None}, {"cutoff": 5, "min_score": "5"}):
        with pytest.raises(
            TypeError, match=r"^(cutoff|min_score) must be a number, not (str|None)"
        ):
            glsw.neighbors(["WHE"], engine="reference", **options)


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ModuleNotFoundError, match=r"need scipy: pip install 'glsw\[sparse\]'"):
        glsw.neighbors(["WHE"], cutoff=1, engine="reference")


@pytest.mark.slow
def test_3000_short_proteins():
    random = np.random.default_rng(17)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    given = ["".join(random.choice(letters, n)) for n in random.integers(10, 60, 3000)]
    scores = glsw.score_matrix(given, given, engine="cpu")
    own = scores.diagonal()
    for distance, cutoff, values, good in (
        ("score", 35, scores, scores >= 35),
        ("self", 40, d := np.minimum(own[:, None], own) - scores, d <= 40),
    ):
        found = glsw.neighbors(given, cutoff=cutoff, distance=distance, engine="cpu")
        np.testing.assert_array_equal(dense(found), np.where(good, values, np.nan))
        assert len(given) < found.nnz < scores.size / 10


@pytest.mark.parametrize("distance", ["score", "self", "identity"])
def test_reciprocal_best_hits(distance, monkeypatch):
    """The best of each row and of each column, ties by number, also if others are dropped."""
    smaller(monkeypatch, pending=5, scores=40)
    options = {"cutoff": CUTOFFS[distance], "distance": distance}
    others = [OTHERS[0], *OTHERS]
    every = brute_force(WORDS, others, **options)
    keys = np.where(np.isfinite(every), every if distance == "self" else -every, np.inf)
    found = glsw.reciprocal_best_hits(WORDS, others, engine="reference", **options)
    assert list(zip(*(each.tolist() for each in found), strict=True)) == [
        (i, j, every[i, j])
        for i, j in enumerate(keys.argmin(axis=1).tolist())
        if np.isfinite(keys[i, j]) and keys[:, j].argmin() == i
    ]
    assert len(found.a) > 1


@pytest.mark.parametrize(("distance", "cutoff"), [("score", 50), ("self", 40), ("evalue", 1e-3)])
def test_clusters(distance, cutoff):
    given = [word for word in [*WORDS, WORDS[0], WORDS[3]] if len(word) > 8]
    options = {"cutoff": cutoff, "distance": distance, "engine": "reference"}
    near = np.isfinite(dense(glsw.neighbors(given, **options)))
    near |= near.T | np.eye(len(given), dtype=bool)
    for _ in given:
        near = near @ near
    expected = np.unique(near.argmax(axis=1), return_inverse=True)[1]
    found = glsw.clusters(given, **options)
    np.testing.assert_array_equal(found, expected)
    assert 4 < found.max() + 1 < len(given) - 2
