"""Triples of sequences, and the columns of their alignments."""

import numpy as np
import pytest
from Bio.Align import Alignment
from hypothesis import given, strategies as st

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Ends, Paths
from glsw.sequences.encoded import Sequences


def words(*lengths):
    return [np.full(n, k, np.uint8) for k, n in enumerate(lengths)]


def paths(*alignments):
    """Return `Paths` of (end, columns)."""
    ends = np.array([end for end, _ in alignments], np.int32).reshape(-1, 3)
    score = np.ones(len(alignments), np.int32)
    return Paths.of_moves(Ends(score, ends), [np.array(moves, np.uint8) for _, moves in alignments])


def test_of():
    triples = Batch.of([words(1, 2, 3), words(4, 0, 6)])
    assert len(triples) == 2
    assert triples.lengths.tolist() == [[1, 2, 3], [4, 0, 6]]
    assert triples.cells == 6
    assert [word.tolist() for word in triples[0]] == [[0], [1, 1], [2, 2, 2]]
    assert [len(word) for word in triples[1]] == [4, 0, 6]
    assert triples.index.dtype == np.int32


def test_of_takes_what_can_be_gone_through_once():
    triples = Batch.of(iter([iter(words(1, 2, 3))]))
    assert triples.lengths.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(("count", "found"), [(0, 0), (2, 2), (4, 4)])
def test_of_wants_three(count, found):
    with pytest.raises(ValueError, match=f"tuple 2 has {found} sequences, 3 needed"):
        Batch.of([words(1, 2, 3), words(*range(count))], 3)


def test_nothing():
    for triples in (Batch.of([], 3), Batch.combinations(words(3, 4), 3)):
        assert len(triples) == triples.cells == 0
        assert triples.index.shape == triples.lengths.shape == (0, 3)
        assert triples.index.dtype == np.int32


def test_all_of():
    triples = Batch.combinations(Sequences.of(words(*range(1, 6))), 3)
    assert len(triples) == 10
    assert triples.index[0].tolist() == [0, 1, 2]
    assert triples.index[-1].tolist() == [2, 3, 4]
    assert triples.index.tolist() == sorted(triples.index.tolist())
    assert (np.diff(triples.index) > 0).all()
    assert triples.lengths.tolist() == (triples.index + 1).tolist()
    # Every sequence is there once.
    assert [len(each) for each in triples.sequences] == [5, 5, 5]
    assert triples.pool[0] is triples.sequences[0]


def test_cells_beyond_32_bits():
    sequences = Sequences.of(words(2000, 2000, 2000))
    assert Batch.combinations(sequences, 3).cells == 8 * 10**9


def test_select():
    triples = Batch.combinations(Sequences.of(words(*range(1, 6))), 3)
    chosen = triples.select(np.array([3, 3, 0]))
    assert chosen.index.tolist() == triples.index[[3, 3, 0]].tolist()
    assert chosen.sequences is triples.sequences
    assert triples.select(slice(2, 4)).index.tolist() == triples.index[2:4].tolist()
    assert len(triples.select(np.array([], int))) == 0


@given(
    st.lists(st.tuples(*[st.integers(0, 40)] * 3), max_size=60),
    st.integers(1, 20),
)
def test_parts_are_of_about_equal_cells(lengths, count):
    triples = Batch.of([[np.zeros(n, np.uint8) for n in each] for each in lengths], 3)
    shares = triples.parts(count)
    if not lengths:
        assert shares == []
        return
    assert [share.start for share in shares] == [0, *(share.stop for share in shares[:-1])]
    assert shares[-1].stop == len(triples)
    assert all(share.stop > share.start for share in shares)
    assert len(shares) <= count
    largest = max(i * j * k for i, j, k in lengths)
    for share in shares:
        assert triples.select(share).cells <= triples.cells / count + largest + 1


@pytest.mark.parametrize(
    "index", [np.zeros((2, 2), np.int32), np.zeros(3, np.int32), np.zeros((1, 1, 3), np.int32)]
)
def test_index_is_of_three_each(index):
    with pytest.raises(ValueError, match=r"index must have the shape \(N, 3\), got \("):
        Batch((Sequences.of(words(1, 2, 3)),) * 3, index)


@pytest.mark.parametrize("index", [np.zeros((2, 3), np.int64), np.zeros((2, 3)), [[0, 0, 0]]])
def test_index_is_of_int32(index):
    with pytest.raises(TypeError, match="index must be an array of int32, got"):
        Batch((Sequences.of(words(1, 2, 3)),) * 3, index)


@pytest.mark.parametrize("wrong", [-1, 3])
def test_index_is_of_sequences_that_are_there(wrong):
    with pytest.raises(ValueError, match=r"column 2 of index has .*, there are 3 sequences"):
        Batch((Sequences.of(words(1, 2, 3)),) * 3, np.array([[0, 1, wrong]], np.int32))


def test_only_pairs_have_masks():
    triples = Batch.of([words(1, 2, 3)])
    with pytest.raises(ValueError, match="only pairs may have masks"):
        triples.masked([Mask.nothing(1)])


def test_coordinates():
    found = paths(
        ((4, 5, 6), [7, 7, 5, 5, 7, 2]),
        ((0, 0, 0), []),
        ((3, 0, 0), [1]),
        ((3, 2, 1), [3, 3, 5]),
        ((9, 9, 9), [7, 4, 2, 1, 7]),
    )
    assert found.coordinates(0).tolist() == [
        *([-1, 1, 3, 4, 4],),
        *([1, 3, 3, 4, 5],),
        *([1, 3, 5, 6, 6],),
    ]
    assert found.coordinates(1).tolist() == [[0], [0], [0]]
    assert found.coordinates(2).tolist() == [[2, 3], [0, 0], [0, 0]]
    assert found.coordinates(3).tolist() == [[0, 2, 3], [0, 2, 2], [0, 0, 1]]
    assert found.coordinates(4).tolist() == [
        *([6, 7, 7, 7, 8, 9],),
        *([6, 7, 7, 8, 8, 9],),
        *([6, 7, 8, 8, 8, 9],),
    ]
    assert found.coordinates(0).dtype == np.int64


@given(st.lists(st.integers(1, 7), max_size=30), st.tuples(*[st.integers(0, 5)] * 3))
def test_coordinates_are_the_columns(moves, start):
    steps = np.array([[move >> s & 1 for move in moves] for s in range(3)]).reshape(3, -1)
    end = steps.sum(axis=1) + start
    found = paths((end, moves)).coordinates(0)
    assert found[:, 0].tolist() == list(start)
    assert found[:, -1].tolist() == end.tolist()
    runs = np.diff(found)
    kinds = (runs > 0).T @ [1, 2, 4]
    again = np.repeat(kinds, runs.max(axis=0, initial=0))
    assert again.tolist() == moves
    assert paths((end, moves)).moves(0).tolist() == moves
    # Runs are as long as they can be.
    assert (np.diff(kinds) != 0).all()
    if moves:
        letters = ["A" * n for n in end]
        assert Alignment(letters, found).shape == (3, len(moves))
