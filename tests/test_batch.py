import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from smaller import smaller

from glsw.alignment.batch import Batch
from glsw.sequences.encoded import Sequences

codes = st.integers(0, 8).flatmap(lambda n: arrays(np.uint8, n))


def sequence(*numbers):
    return np.array(numbers, dtype=np.uint8)


@given(st.lists(codes))
def test_sequences_are_what_went_in(parts):
    sequences = Sequences.of(parts)
    assert len(sequences) == len(parts)
    assert sequences.residues.dtype == np.uint8
    assert sequences.offsets.dtype == sequences.lengths.dtype == np.int64
    assert sequences.lengths.tolist() == [len(part) for part in parts]
    assert all(np.array_equal(a, b) for a, b in zip(sequences, parts, strict=True))


def test_a_sequence_is_a_view():
    sequences = Sequences.of([sequence(1, 2), sequence(3)])
    assert np.shares_memory(sequences[0], sequences.residues)


def test_sequences_count_from_the_end_too():
    sequences = Sequences.of([sequence(1, 2), sequence(3)])
    assert sequences[-1].tolist() == [3]
    assert sequences[np.int32(0)].tolist() == [1, 2]
    for k in (2, -3):
        with pytest.raises(IndexError, match=f"sequence {k} of 2"):
            sequences[k]


@pytest.mark.parametrize("offsets", [[], [0], [1, 3], [0, 2], [0, 3, 2, 3]])
def test_offsets_must_fit(offsets):
    with pytest.raises(ValueError, match="offsets"):
        Sequences(sequence(1, 2, 3), np.array(offsets, dtype=np.int64))


@pytest.mark.parametrize("part", [[1, 2], "AC", np.array([1, 2]), np.array([0.5])])
def test_only_codes_are_sequences(part):
    with pytest.raises(TypeError, match="sequence 2 must be an array of uint8"):
        Sequences.of([sequence(1), part])


def test_a_table_is_no_sequence():
    with pytest.raises(ValueError, match="one dimension"):
        Sequences.of([np.zeros((2, 2), np.uint8)])


def test_pairwise():
    batch = Batch.pairwise([sequence(1), sequence(2, 2)], Sequences.of([sequence(3), sequence()]))
    assert len(batch) == 2
    assert [[a.tolist(), b.tolist()] for a, b in map(batch.pair, range(2))] == [
        [[1], [3]],
        [[2, 2], []],
    ]
    assert batch.query_lengths.tolist() == [1, 2]
    assert batch.target_lengths.tolist() == [1, 0]
    assert batch.cells == 1
    assert batch.query_index.dtype == batch.target_index.dtype == np.int32


def test_pairwise_needs_as_many_of_both():
    with pytest.raises(ValueError, match="1 queries and 2 targets do not pair up"):
        Batch.pairwise([sequence(1)], [sequence(1), sequence(2)])


def test_one_to_many():
    batch = Batch.one_to_many(sequence(1, 2), [sequence(3), sequence(4, 4, 4)])
    assert len(batch.queries) == 1
    assert batch.query_index.tolist() == [0, 0]
    assert batch.cells == 8
    assert batch.pair(1)[0].tolist() == [1, 2]


def test_one_to_many_takes_one():
    queries = Sequences.of([sequence(1), sequence(2)])
    with pytest.raises(ValueError, match="one query is needed, got 2"):
        Batch.one_to_many(queries, [sequence(1)])


def test_a_batch_may_be_empty():
    batch = Batch.one_to_many(sequence(1), [])
    assert len(batch) == batch.cells == 0
    assert len(batch.select([])) == 0


def test_cells_are_counted_in_64_bits():
    long = np.zeros(70_000, np.uint8)
    assert Batch.pairwise([long], [long]).cells == 4_900_000_000


@pytest.mark.parametrize("order", ["table", "alike", "pairwise", "random", "falling"])
def test_sizes_of_many_pairs_are_those_of_their_lengths(order, monkeypatch):
    smaller(monkeypatch, batch=64)
    random = np.random.default_rng(1)
    sides = [
        Sequences.of([np.zeros(k, np.uint8) for k in random.integers(0, 90, count)])
        for count in (600, 700)
    ]
    index = np.indices((11, 60)).reshape(2, -1).T + np.array([4, 9])
    if order == "alike":  # as a table, but for one pair
        index[300] += 1
    elif order == "pairwise":
        index = np.arange(500)[:, None] + np.array([7, 0])
    elif order != "table":
        index = random.integers(0, (12, 700), (660, 2)) if order == "random" else index[::-1]
    batch = Batch((sides[0], sides[1]), index.astype(np.int32))
    assert batch.table == ((slice(4, 15), slice(9, 69)) if order == "table" else None)
    extent, cells, distinct, usual = batch.extent, batch.cells, batch.distinct, batch.usual
    assert "lengths" not in vars(batch)
    lengths = batch.lengths
    assert extent.tolist() == [lengths.min(axis=0).tolist(), lengths.max(axis=0).tolist()]
    assert cells == int(lengths.prod(axis=1).sum())
    assert distinct == tuple(len(set(column)) for column in index.T.tolist())
    few = batch.select([3, 1, 3])
    assert few.distinct == tuple(len({*index[[3, 1], c].tolist()}) for c in (0, 1))
    assert usual[0] * usual[1] == pytest.approx(cells / len(batch), rel=0.5)


@given(st.lists(codes, min_size=1), st.data())
def test_select_keeps_pairs(parts, data):
    batch = Batch.one_to_many(sequence(7), parts)
    chosen = data.draw(st.lists(st.integers(0, len(parts) - 1)))
    selected = batch.select(chosen)
    assert len(selected) == len(chosen)
    assert selected.targets is batch.targets
    for p, original in enumerate(chosen):
        assert np.array_equal(selected.pair(p)[1], parts[original])


def test_select_by_mask_and_slice():
    batch = Batch.one_to_many(sequence(7), [sequence(k) for k in range(5)])
    assert batch.select(batch.target_index > 2).target_index.tolist() == [3, 4]
    assert batch.select(slice(1, 3)).target_index.tolist() == [1, 2]
    assert batch.select(np.argsort(-batch.target_index)).target_index.tolist() == [4, 3, 2, 1, 0]


def test_indices_must_be_of_sequences():
    one = Sequences.of([sequence(1)])
    zero, beyond = np.zeros(1, np.int32), np.ones(1, np.int32)
    with pytest.raises(ValueError, match="target_index has 1 to 1, there are 1 sequences"):
        Batch.indexed(one, one, zero, beyond)
    with pytest.raises(ValueError, match="query_index has -1"):
        Batch.indexed(one, one, zero - 1, zero)
    with pytest.raises(ValueError, match="query_index has 2 pairs, target_index 1"):
        Batch.indexed(one, one, np.zeros(2, np.int32), zero)
    with pytest.raises(TypeError, match="index must be an array of int32, got int64"):
        Batch.indexed(one, one, zero.astype(np.int64), zero)


def test_of_pairs():
    batch = Batch.of([(sequence(1), sequence(2, 3)), (sequence(), sequence(4))])
    assert batch.k == 2
    assert batch.lengths.tolist() == [[1, 2], [0, 1]]
    assert batch.pair(0)[1].tolist() == [2, 3]
    with pytest.raises(ValueError, match="an empty batch needs the number of sequences, k"):
        Batch.of([])
    with pytest.raises(ValueError, match="tuple 1 has 4 sequences, 2 or 3 needed"):
        Batch.of([[sequence(1)] * 4])


def test_combinations_of_two():
    batch = Batch.combinations([sequence(k) for k in range(3)], 2)
    assert batch.index.tolist() == [[0, 1], [0, 2], [1, 2]]


@given(st.lists(codes, min_size=1), st.lists(codes, min_size=1), st.data())
def test_pool_and_compact_keep_pairs(queries, targets, data):
    index = st.tuples(st.integers(0, len(queries) - 1), st.integers(0, len(targets) - 1))
    chosen = np.array(data.draw(st.lists(index)), np.int32).reshape(-1, 2)
    batch = Batch((Sequences.of(queries), Sequences.of(targets)), chosen)
    pool, pooled = batch.pool
    compact = batch.compact()
    assert len(compact.queries) == len(set(chosen[:, 0].tolist()))
    assert len(compact.targets) == len(set(chosen[:, 1].tolist()))
    for p in range(len(batch)):
        pair = [each.tolist() for each in batch[p]]
        assert [pool[r].tolist() for r in pooled[p]] == pair
        assert [each.tolist() for each in compact[p]] == pair


def test_compact_keeps_one_object_for_all():
    batch = Batch.combinations([sequence(k) for k in range(5)], 3).select([9])
    compact = batch.compact()
    assert len(compact.sequences[0]) == 3
    assert compact.sequences[0] is compact.sequences[1] is compact.sequences[2]
