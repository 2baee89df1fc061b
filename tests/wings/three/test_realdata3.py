"""Real proteins, three by three, by the judgement of another implementation.

The first three sequences of each of 51 families of BAliBASE.
"""

import json
from functools import cache

import naive3
import numpy as np
import pytest
from cases import able
from cases3 import build

from glsw.alignment.batch import Batch
from glsw.scoring.scoring import Scoring
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.engines.reference import Reference3
from glsw.wings.three.scoring import Scoring3

pytestmark = pytest.mark.realdata

# As glsw counts: 12, 1 is "11/1" in the words of BLAST.
GAPS = [(8, 8), (12, 1)]
NAMES = sorted(set(ENGINES3) - {Reference3.name})


@pytest.fixture(scope="module")
def families(data):
    cases = json.loads((data / "three" / "balibase3_first3.json").read_text())["cases"]
    triples = Batch.of(
        [scoring(*GAPS[0]).alphabet.encode(letters) for letters in case["seqs"]] for case in cases
    )
    assert len(triples) == 51
    assert triples.cells == 704_131_708
    return triples


@cache
def scoring(*gaps):
    return Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", *gaps))


@pytest.fixture(scope="module")
def expected(families):
    """``expected(gaps, chosen)``: scores and ends by `naive3.best_of_pencils`, each once."""

    @cache
    def best(t, gaps):
        return naive3.best_of_pencils(families[t], scoring(*gaps))

    return lambda gaps, chosen: [best(int(t), gaps) for t in chosen]


@pytest.fixture(params=NAMES)
def make(request, device):
    """``make(gaps)``: the engine under test."""
    able(device, ENGINES3[request.param].capabilities.requires)
    return lambda gaps: build((request.param, {}), scoring(*gaps), device)


def smallest(families, count):
    return np.argsort(families.lengths.prod(axis=1), kind="stable")[:count]


def pairs_of(ends):
    return list(zip(ends.score.tolist(), map(tuple, ends.end.tolist()), strict=True))


@pytest.mark.parametrize("gaps", GAPS)
def test_reference(families, expected, gaps):
    chosen = smallest(families, 10)
    found = Reference3(scoring(*gaps)).ends(families.select(chosen))
    assert pairs_of(found) == expected(gaps, chosen)


# `plane` takes minutes on a software renderer: a dispatch for each diagonal plane of each family.
@pytest.mark.parametrize(
    "make",
    [name if name != "plane" else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
    indirect=True,
)
@pytest.mark.parametrize("gaps", [GAPS[0], pytest.param(GAPS[1], marks=pytest.mark.slow)])
def test_all_families(make, families, expected, gaps):
    found = make(gaps).ends(families)
    assert pairs_of(found) == expected(gaps, range(len(families)))


@pytest.mark.parametrize("gaps", GAPS)
def test_alignments_of_small_families(make, families, expected, gaps):
    chosen = smallest(families, 15)
    triples, engine = families.select(chosen), make(gaps)
    paths = engine.paths(triples)
    assert pairs_of(paths.ends) == expected(gaps, chosen)
    reference = Reference3(scoring(*gaps)).paths(triples)
    for t in range(len(paths)):
        moves = paths.moves(t)
        score, end = int(paths.ends.score[t]), paths.ends.end[t].tolist()
        assert naive3.alignment_score(triples[t], end, moves, scoring(*gaps)) == score
        assert moves.tolist() == reference.moves(t).tolist()
