"""Words that sequences have in common, by which engine ``cpu`` chooses pairs for parasail."""

import numpy as np
import pytest

from glsw.engines import cpu_lanes
from glsw.engines.cpu import Cpu
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.cpu_words import Words
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

DNA = Scoring.match_mismatch(2, -3, 7, 2)


def random_sequences(letters, lengths, seed=1):
    rng = np.random.default_rng(seed)
    return Sequences.of([rng.integers(0, letters, n).astype(np.uint8) for n in lengths])


@pytest.fixture
def in_lanes(monkeypatch):
    """The scores that Opal finds."""
    seen: list[int] = []
    begin = cpu_lanes.LaneJobs.begin

    def watched(self, pool, threads):
        jobs = begin(self, pool, threads)
        seen.extend(score for job in jobs for score in job.result()[1].score.tolist())
        return jobs

    monkeypatch.setattr(cpu_lanes.LaneJobs, "begin", watched)
    return seen


@pytest.mark.parametrize("repeated", [0, CpuSizes().few_targets])
def test_pairs_that_would_be_repeated_are_scored_alone(repeated, in_lanes):
    targets = random_sequences(4, [300] * 40)
    parts = [targets[3][10:130].copy(), targets[9][50:170].copy(), targets[9][250:290].copy()]
    parts[1][::20] = 14  # N
    queries = Sequences.of([*parts, *random_sequences(4, [120, 50], seed=2)])
    found = Cpu(DNA, threads=2, limits=CpuSizes(few_targets=repeated)).answers(
        [ScanTile(queries, targets)]
    )
    expected = Reference(DNA).answers([ScanTile(queries, targets)])
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert sum(score > 127 for score in in_lanes) == (0 if repeated else 2)
    assert len(in_lanes) == 5 * 40 - (3 if repeated else 0)


@pytest.mark.parametrize("letters", [1, 2, 4, 20, 26])
def test_words_of_alphabets(letters):
    targets = random_sequences(letters, [400, 0, 400, 3])
    queries = Sequences.of([targets[2][:200], targets[1], targets[3]])
    alike = Words(targets).alike(queries)
    assert alike.shape == (3, 4)
    assert alike[0].tolist() == [letters == 1, False, True, False]
    assert not alike[1:].any()
    assert not Words(targets).alike(random_sequences(letters + 3, [0, 2, 0])).any()


def test_nothing_is_alike_among_few_letters():
    """A rare letter is in no word; without targets there are no words."""
    targets = Sequences.of([np.append(np.tile([0, 1], 300), 7).astype(np.uint8)])
    words = Words(targets)
    assert not words.alike(Sequences.of([np.full(90, 7, np.uint8)])).any()
    assert words.alike(Sequences.of([targets[0]])).all()
    none = Sequences.of([])
    assert Words(none).alike(targets).shape == (1, 0)
    assert words.alike(none).shape == (0, 1)
