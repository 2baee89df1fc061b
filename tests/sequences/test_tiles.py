"""Rectangles of pairs, and the one way to cut: every thing once, in order, within its bounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, strategies as st

from glsw.sequences.encoded import offsets_of
from glsw.sequences.tiles import Tile, cut, even

SIZES = st.lists(st.integers(0, 50), max_size=30)


@given(SIZES, st.integers(0, 120), st.integers(1, 9), st.tuples(st.integers(0, 30), st.none()))
def test_cut_takes_as_many_as_fit(
    sizes: list[int], bound: int, most: int, ends: tuple[int, None]
) -> None:
    offsets = [offsets_of(sizes), np.arange(len(sizes) + 1)]
    found = list(cut(offsets, [bound, most], slice(*ends)))
    assert [k for part in found for k in range(part.start, part.stop)] == [
        *range(min(ends[0], len(sizes)), len(sizes))
    ]
    for part in found:
        assert len(sizes[part]) == 1 or (sum(sizes[part]) <= bound and len(sizes[part]) <= most)
        if part.stop < len(sizes):
            more = sizes[part.start : part.stop + 1]
            assert sum(more) > bound or len(more) > most


@given(SIZES, st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_even_bounds_are_nearest(sizes: list[int], shares: list[int]) -> None:
    offsets = offsets_of(sizes)
    bounds = even(offsets, shares)
    assert (bounds[0], bounds[-1], len(bounds)) == (0, len(sizes), len(shares) + 1)
    assert all(first <= second for first, second in pairwise(bounds))
    for bound, share in zip(bounds[1:-1], np.cumsum(shares).tolist(), strict=False):
        wanted = int(offsets[-1]) * share // sum(shares)
        assert abs(offsets[bound] - wanted) == np.abs(offsets - wanted).min()


def test_tiles_cut_by_queries() -> None:
    tile = Tile(slice(1, 6), slice(0, 2))
    assert list(tile.cut(2)) == [Tile(slice(k, min(k + 2, 6)), slice(0, 2)) for k in (1, 3, 5)]
    assert tile.shape == (5, 2)
    assert tile.cells(np.arange(7), np.array([0, 10, 30])) == 150
