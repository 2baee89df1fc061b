"""The choice of the engine `auto`: by the pairs, the kind of the device and what engines can do."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import standing_in

from glsw.alignment.batch import Batch, Masks
from glsw.engines import Auto, Blocked, Diagonal, Lanes
from glsw.engines.base import Pairs, ScanHints
from glsw.engines.choice import Choice
from glsw.engines.cpu import Cpu
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.reference import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

BLOSUM62 = Scoring.blast("BLOSUM62", 11, 1)


@pytest.mark.parametrize("device", ["hardware", "software"])
def test_every_pair_is_in_one_group_of_similar_size(device):
    words = [np.zeros(n, np.uint8) for n in [*range(1, 200, 7), 3000, 9000]]
    asked = Pairs(Batch.combinations(Sequences.of(words), 2), "ends")
    keys = {name: name for name in ("diagonal", "blocked", "scan")}

    def chosen(**given):
        found = Choice(device, lambda asked, windows: keys, **given).of(asked)
        every = np.arange(len(asked.batch))
        numbers = np.sort(np.concatenate([every[pairs] for _, pairs in found]))
        assert numbers.tolist() == every.tolist()
        return {name for name, _ in found}

    best = chosen()
    assert len(best) > 1
    assert chosen(fits=lambda name, asked: name == "scan") == {"scan"}
    assert chosen(fits=lambda name, asked: False) == best  # each says what it lacks
    keys = {"fragment": "fragment"}
    assert chosen() == {"fragment"}


def test_auto_has_small_pairs_join_larger_ones(device, monkeypatch):
    router = Auto(BLOSUM62, standing_in(device))

    def engine(kind):
        hints = ScanHints(targets_at_once=2**16)
        way = kind(BLOSUM62, standing_in(device)).way if kind is Lanes else None
        return SimpleNamespace(name=kind.name, hints=hints, fits=lambda asked: True, way=way)

    monkeypatch.setattr(router, "engine", engine)

    def chosen(batch, ends=False):
        choices = router.choices(Pairs(batch, "ends" if ends else "score"))
        every = np.arange(len(batch))
        pairs = np.sort(np.concatenate([every[pairs] for _, pairs in choices]))
        assert pairs.tolist() == list(range(len(batch)))
        return {name for name, _ in choices}

    rng = np.random.default_rng(9)
    sides = [
        Sequences.of([np.zeros(n, np.uint8) for n in rng.integers(10, 500, 20_000)]) for _ in "qt"
    ]
    many = Batch.pairwise(*sides)
    assert chosen(many) == {"lanes"}
    assert "lanes" not in chosen(many, ends=True)
    assert chosen(many.select(np.flatnonzero(many.lengths.max(axis=1) < 20))) == {"scan"}
    sizes = {}
    for longest in (600, 9000):  # a few pairs, which others join or not
        few = Sequences.of([np.zeros(longest, np.uint8)] * 3)
        sides = [Sequences.concatenated([side, few]) for side in many.sequences]
        sizes[longest] = chosen(Batch.pairwise(*sides))
    assert sizes[600] == {"lanes"}
    assert len(sizes[9000]) > 1
    one = Batch.one_to_many(np.zeros(200, np.uint8), many.targets)  # with a query profile
    assert chosen(one) == {"lanes"}
    assert router.choices(Pairs(many.select(slice(0)))) == []


@pytest.mark.parametrize(
    ("pairs", "length", "chosen"),
    [(1000, 1000, Diagonal), (100, 3000, Diagonal), (1, 30_000, Blocked)],
)
def test_pairs_that_would_be_traced_back_one_by_one_are_not_blocked(device, pairs, length, chosen):
    """On an H100 ``blocked`` aligned 1,000 of about 1,000 in 0.67 s, ``diagonal`` in 0.008 s."""
    word = np.zeros(length, np.uint8)
    batch = Batch.pairwise([word] * pairs, [word] * pairs)
    [(name, _)] = Auto(Scoring.blast(), standing_in(device)).choices(Pairs(batch, "alignment"))
    assert name == chosen.name


@pytest.mark.parametrize("task", ["score", "ends", "alignment"])
def test_masked_pairs_with_long_targets_are_computed_in_windows(device, task):
    """On an H200 ``diagonal`` took 13 s for the scores of 200 masked pairs of a genome."""
    genome, genes = np.zeros(4_000_000, np.uint8), [np.zeros(1000, np.uint8)] * 200
    index = np.arange(200, dtype=np.int32)
    batch = Batch.indexed(Sequences.of(genes), Sequences.of([genome]), index, 0 * index)
    masks = Masks.of_pairs(np.arange(200), *np.ones((2, 200), np.int64), batch.query_lengths)
    router = Auto(Scoring.nucleotide(), standing_in(device))
    [(name, _)] = router.choices(Pairs(batch.masked(masks), task))
    assert name == "windows"


def test_an_engine_that_refuses_is_not_chosen(device, monkeypatch):
    monkeypatch.setattr(Diagonal, "fits", lambda *_: False)
    scoring = Scoring.match_mismatch(2, -3, 7, 2)
    random = np.random.default_rng(1)
    codes = [random.integers(0, 4, n).astype(np.uint8) for n in (50, 60, 70)]
    batch = Batch.combinations(Sequences.of(codes), 2)
    auto = Auto(scoring, device)
    paths = auto.paths(batch)
    assert paths is not None
    assert paths.ends.score.tolist() == Reference(scoring).scores(batch).tolist()
    assert auto.label == f"auto: {Blocked.name}"


def test_large_pairs_are_cropped_to_their_alignments(device):
    """The processor finds these parts; one that is large too is left to the device."""
    rng = np.random.default_rng(68)

    def words(*lengths):
        return [rng.integers(0, 20, n).astype(np.uint8) for n in lengths]

    shared, long = words(30, 130)
    (head, tail), other = words(90, 70), words(200)
    repeated, alanine = np.tile(long[:8], 20), np.zeros(100, np.uint8)
    tryptophan = BLOSUM62.alphabet.encode("W" * 100)
    queries = [*words(210), np.r_[head, shared], long, repeated, alanine, np.r_[long, head]]
    targets = [*other, np.r_[shared, tail], np.r_[long[:60], long[64:]], repeated[3:], tryptophan]
    batch = Batch.pairwise(queries, [*targets, np.r_[tail, long]])
    limits, done = CpuSizes(table=4000), 0

    def progress(cells):
        nonlocal done
        done += cells

    kinds = {"scanner": Cpu, "with_host": True, "limits": limits}
    router = Auto(BLOSUM62, device, **kinds)
    found = router.paths(batch, progress=progress)
    expected = Cpu(BLOSUM62).paths(batch)
    assert found.ends.score.tolist() == expected.ends.score.tolist()
    assert found.ends.end.tolist() == expected.ends.end.tolist()
    for p in range(len(batch)):
        assert found.moves(p).tolist() == expected.moves(p).tolist(), p
    assert done == batch.cells
    crops, _ = Cpu(BLOSUM62, limits=limits).crops(batch)
    cropped = (crops.lengths < batch.lengths).any(axis=1)
    assert cropped.tolist() == [True, True, False, False, True, False]
    assert "diagonal" in router.label or "blocked" in router.label
    few = Auto(BLOSUM62, device, **kinds)
    few.paths(batch.select(np.array([0, 1, 4])))
    assert few.label == "auto: cpu"
