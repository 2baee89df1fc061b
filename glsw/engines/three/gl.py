"""Base of the engines of three sequences on a device: residues, scores and programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt

from glsw.batch import Batch
from glsw.device.device import Device, DeviceError
from glsw.device.info import COMPUTE
from glsw.engines.base import Capabilities
from glsw.engines.gl import (
    MAX_PAIRS_PER_DISPATCH,
    SUBSTITUTION,
    Binding,
    Programs,
    numbered,
    upload_scores,
)
from glsw.engines.recurrence import Uniform
from glsw.engines.three.base import Engine3
from glsw.engines.throttle import Throttle
from glsw.paths import BestCells
from glsw.scoring.three import Scoring3
from glsw.sequences.encoded import Sequences

# Storage buffers. What no two programs need at once shares a binding; DIRECTIONS also has tables.
BINDINGS = numbered("LETTERS", "TRIPLES", "SIDES", "BEST", "DIRECTIONS", "KEPT", "MASKS", "TICKETS")
LETTERS, TRIPLES, SIDES, BEST, DIRECTIONS, KEPT, MASKS, TICKETS = (
    BINDINGS  # or the table in place of DIRECTIONS
)
TRACES, PATHS = Binding("TRACES", SIDES.number), Binding("PATHS", BEST.number)
_NO_SCORE = 2**31 - 1
"""That of a tile which has waited in vain for others, see tile3_results.glsl."""
_NEVER = -(2**29)
"""A score that no alignment survives, even three times."""

TRIPLE = np.dtype(
    [
        ("lengths", np.int32, 3),
        ("first", np.uint32, 3),
        ("best", np.uint32),
        ("i_sides", np.uint32),
        ("j_sides", np.uint32),
        ("k_sides", np.uint32),
        ("kept", np.uint32),
        ("directions", np.uint32),
        ("mask", np.uint32),
        ("path", np.uint32),
    ]
)
"""A triple as triples.glsl has it."""


def letter_count(scoring: Scoring3) -> int:
    """Return the number of letters in the shaders; the last one aligns with none.

    Rounded up, so that fewer programs are compiled.
    """
    return 256 if scoring.scheme == "identity" else -(-(len(scoring.alphabet) + 1) // 8) * 8


class Compute3(Programs, Engine3):
    """Base of the engines of three sequences that need OpenGL 4.3.

    Where two letters against a gap can gain, and in global and semi-global alignment, the cells
    with an index 0 are computed too: every sequence then begins with a letter that aligns with
    none, see `DeviceTriples`.
    """

    capabilities = Capabilities(requires=COMPUTE, tasks=("score", "ends", "alignment"), memory=True)
    bindings = (*BINDINGS, TRACES, PATHS, SUBSTITUTION)

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        Engine3.__init__(self, scoring, device)
        Programs.__init__(self, self.device)
        self._throttle = Throttle(self.device)
        self._uploaded: DeviceTriples | None = None
        self._last: tuple[Batch, DeviceTriples] | None = None
        self._substitution: moderngl.Buffer | moderngl.Texture | None = None
        pairs, costs, letters = scoring.pairs, scoring.costs, len(scoring.alphabet)
        places = letter_count(scoring)
        self._defines: dict[str, int] = {"LETTERS": places}
        self._uniforms: dict[str, Uniform] = dict(costs._asdict())
        if scoring.linear:
            self._defines["LINEAR"] = 1
        if not scoring.local:
            self._defines["WHOLE"] = scoring.whole
        if scoring.gap_gap:
            self._defines["GAP_GAP"] = 1
            self._uniforms["gap_gap"] = scoring.gap_gap
        if scoring.scheme == "identity":
            assert pairs.match_and_mismatch is not None
            match, mismatch = scoring.match_and_mismatch
            matching = pairs.match_and_mismatch[2]
            self._defines["IDENTITY"] = 1
            self._uniforms |= {"match": match, "mismatch": mismatch, "matching": matching}
        else:
            matrix = np.full((places, places), _NEVER, np.int32)
            matrix[:letters, :letters] = pairs.matrix
            self._defines["SCORES"], self._substitution = upload_scores(self.device, matrix, _NEVER)

    def device_triples(self, triples: Batch) -> DeviceTriples:
        """Return triples as the device gets them, the last ones again if they are the same."""
        if self._last is None or self._last[0] is not triples:
            self._last = triples, self._prepared(triples)
        return self._last[1]

    def _prepared(self, triples: Batch) -> DeviceTriples:
        borders = self.scoring.pairs_gain or not self.scoring.local
        data = DeviceTriples.of(triples, self._defines["LETTERS"] - 1 if borders else None)
        if self.scoring.local or not len(triples):
            return data
        return replace(data, origin=self.scoring.score_offset(data.lengths.max(axis=0)))

    def triples_program(self, name: str, data: DeviceTriples, **defines: int | None) -> Any:
        """Return a compiled shader for these triples, see `Programs.program`."""
        program = self.program(name, **defines)
        if not self.scoring.local:
            self.set(program, {"origin": data.origin})
        return program

    def upload_triples(self, data: DeviceTriples) -> None:
        """Put the residues into their buffer, once."""
        if self._uploaded is data:
            self.reserve(LETTERS, 0)
        else:
            self._uploaded = None
            self.upload(LETTERS, data.sequences.residues)
            self._uploaded = data

    def barrier(self) -> None:
        """Let the next dispatch see what the last ones wrote."""
        self.device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)


@dataclass(frozen=True, eq=False)
class DeviceTriples:
    """Triples as the device gets them.

    A letter that aligns with none may stand before each sequence.

    Parameters
    ----------
    sequences : Sequences
        With these letters, the cells 0 of the device are those with an index 0 of the table.
    index : ndarray of int32, shape (N, 3)
        As `Batch.pool`.
    before : int
        Letters before each sequence, 0 or 1.
    origin : int
        `Scoring3.score_offset`, by which H is higher.
    """

    sequences: Sequences
    index: npt.NDArray[np.int32]
    before: int
    origin: int = 0

    @staticmethod
    def of(triples: Batch, nothing: int | None) -> DeviceTriples:
        """Put the letter ``nothing``, if there is such, before every sequence."""
        sequences, index = triples.pool
        if nothing is not None:
            starts, count = sequences.offsets[:-1], np.arange(len(sequences) + 1)
            residues = np.insert(sequences.residues, starts, np.uint8(nothing))
            sequences = Sequences(residues, sequences.offsets + count)
        return DeviceTriples(sequences, index, int(nothing is not None))

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Letters of the three, shape (N, 3)."""
        return self.sequences.lengths[self.index]

    def ordered(self) -> npt.NDArray[np.intp]:
        """Return the numbers of triples without an empty sequence, the largest tables first."""
        cells = self.lengths.prod(axis=1)
        order = np.argsort(-cells, kind="stable")
        return order[: int((cells > 0).sum())]

    def records(self, chosen: npt.NDArray[np.intp]) -> npt.NDArray[np.void]:
        """Return some triples as triples.glsl has them, without their places in buffers."""
        records = np.zeros(len(chosen), TRIPLE)
        records["lengths"] = self.lengths[chosen]
        records["first"] = self.sequences.offsets[self.index[chosen]]
        return records

    def best(
        self,
        chosen: npt.NDArray[np.intp],
        cells: npt.NDArray[np.int32],
        counts: npt.NDArray[np.int64],
    ) -> BestCells:
        """Return the best of the cells of each triple.

        ``cells`` are as in best3.glsl, ``counts[t]`` of them of triple ``chosen[t]``.
        """
        starts = np.cumsum(counts) - counts
        highest = np.repeat(np.maximum.reduceat(cells[:, 0], starts), counts)
        if highest.max() == _NO_SCORE:
            raise DeviceError("tiles of three sequences waited in vain for one another")
        kept = cells[:, 0] == highest
        owner = np.repeat(np.arange(len(chosen)), counts)[kept]
        score, d, i, j = cells[kept].T
        order = np.lexsort((j, i, d, owner))
        first = order[np.searchsorted(owner, np.arange(len(chosen)))]
        found = np.stack([i, j, d - i - j], axis=1)[first] + (1 - self.before)
        return BestCells(score[first] - self.origin, found.astype(np.int32))


def cut_by_memory(
    order: npt.NDArray[np.intp], each: npt.NDArray[np.int64], room: int
) -> Iterator[npt.NDArray[np.intp]]:
    """Cut triples into chunks that need at most ``room``, or are one triple.

    ``each`` has the bytes of every triple, by its number.
    """
    start = 0
    while start < len(order):
        total = np.cumsum(each[order[start : start + MAX_PAIRS_PER_DISPATCH]])
        stop = start + max(1, int(np.searchsorted(total, room, "right")))
        yield order[start:stop]
        start = stop
