"""The proof of score maps on a device, see `glsw.engines.proof`: a map of small work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glsw.device.device import Device, DeviceError
from glsw.engines.proof import Proofs, UnprovedError, family_of, proofs_of, work_for
from glsw.engines.reference import fill
from glsw.engines.score_map import UNCAPPED, VALUES, MapTile, ScoreMap, Value
from glsw.scoring.scoring import Scoring

if TYPE_CHECKING:
    from glsw.engines.device_check import Tested

_LONGEST = 200  # residues of the work
_SIDES = 8, 64  # of tiles, where a device is tested
_NARROW = 2**15 - 1  # the highest cap with which borders have 16 bits


def prove_map(engine: ScoreMap, tile: MapTile, value: Value, cap: int) -> None:
    """Have a score map prove its programs for a tile; DeviceError if they are wrong."""
    narrow, device = engine.is_narrow(cap), engine.device
    bits = 16 if narrow else 32
    form = f"{tile.side} of {tile.lanes} x {tile.rows} x {tile.columns}"
    family = f"{value}, tiles {form}, {bits} bits, {family_of(engine.scoring)}"

    def trial() -> bool:
        fresh = ScoreMap(engine.scoring, device)
        return holds(fresh, tile, value, _NARROW if narrow else UNCAPPED)

    try:
        proofs_of(device).require(engine.name, family, trial)
    except UnprovedError as fault:
        raise DeviceError(
            f"{device.info.name}: {fault}; nothing else computes score maps (please report what "
            "`glsw devices --test` prints)"
        ) from None


def tested_maps(device: Device) -> Iterator[Tested]:
    """Yield the tests of score maps, see `glsw.engines.device_check`."""
    from glsw.engines.device_check import Tested

    scoring = Scoring.nucleotide()
    proofs = Proofs(device)
    for value, side in product(VALUES, _SIDES):
        start = time.perf_counter()
        with device:
            engine = ScoreMap(scoring, device)
            trial = partial(holds, engine, engine.tile(side), value, _NARROW)
            verdict = proofs.tried(trial)
        work = f"DNA, tiles of {side}: {value}"
        yield Tested(engine.name, "usual", work, verdict, time.perf_counter() - start)


def holds(engine: ScoreMap, tile: MapTile, value: Value, cap: int) -> bool:
    """Compute a map of related residues around the corner of four tiles, twice."""
    scoring, side = engine.scoring, tile.side
    length = min(_LONGEST, cap // max(1, scoring.maximum) - 1)  # no score reaches the cap
    some = [query[:length].astype(np.uint8) for query in work_for(scoring).queries]
    before = -(length // 2) % side  # less than a tile
    places = (before + np.arange(-1, length)) // side  # of what is behind each residue
    whole = (int(places[-1]) + 1) * side
    first = int(before == 0)
    for query, target in (some[::-1], some):  # others first: a device may go on with those
        rows, columns = (_padded(each, before, whole, engine.padding) for each in (query, target))
        found = engine.tiles(rows, columns, tile, value=value, cap=cap)
        expected = np.zeros_like(found)
        cells = _of_cells(query, target, scoring, value)[first:, first:]
        tiles = tuple(np.ix_(places[first:], places[first:]))
        np.maximum.at(expected, tiles, cells.astype(np.int32))
        if not np.array_equal(found, expected):
            return False
    return True


def _padded(
    codes: npt.NDArray[np.uint8], before: int, whole: int, padding: int
) -> npt.NDArray[np.uint8]:
    padded = np.full(whole, padding, np.uint8)
    padded[before : before + len(codes)] = codes
    return padded


def _of_cells(
    query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], scoring: Scoring, value: Value
) -> npt.NDArray[np.int64]:
    """Return what the best alignment scores that ends in each cell, or goes through it.

    Shape (m + 1, n + 1): cell (i, j) is behind i residues of the query and j of the target.
    """
    h, e, f = fill(query, target, scoring)
    if value == "through":
        behind = fill(query[::-1], target[::-1], scoring)
        h_behind, e_behind, f_behind = (each[::-1, ::-1] for each in behind)
        deletion, insertion = scoring.deletion, scoring.insertion
        in_deletion = e + e_behind + deletion.open - deletion.extend
        in_insertion = f + f_behind + insertion.open - insertion.extend
        h = np.maximum(h + h_behind, np.maximum(in_deletion, in_insertion))
    return h
