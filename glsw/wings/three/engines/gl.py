"""Base class of the engines for three sequences on a device: residues, scores and programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import moderngl
import numpy as np

from glsw.alignment.batch import Batch
from glsw.alignment.paths import BestCells, Paths
from glsw.arrays import Int32, Int64, Intp, Structured, UInt8
from glsw.device.device import Device, DeviceError
from glsw.device.info import COMPUTE
from glsw.engines.answers import check_range, check_starts, highest, impossible
from glsw.engines.base import Capabilities
from glsw.engines.gl import SUBSTITUTION, Binding, Programs, Uniform, numbered, upload_scores
from glsw.engines.throttle import Throttle
from glsw.wings.three.engines.base import Engine3
from glsw.wings.three.scoring import Scoring3

# Storage buffers. What no two programs need at once shares a binding; DIRECTIONS also has tables.
BINDINGS = numbered("LETTERS", "TRIPLES", "SIDES", "BEST", "DIRECTIONS", "KEPT", "MASKS", "TICKETS")
LETTERS, TRIPLES, SIDES, BEST, DIRECTIONS, KEPT, MASKS, TICKETS = BINDINGS
TRACES, PATHS = Binding("TRACES", SIDES.number), Binding("PATHS", BEST.number)
_NO_SCORE = 2**31 - 1
"""That of a tile which has waited in vain for another one, see subtable_waiting.comp."""
_LAST, _LOW = 2**63 - 1, 2**32 - 1
_NEVER = -(2**29)
"""A score that no alignment survives, even three times."""

_PLACES = "best", "i_sides", "j_sides", "k_sides", "kept", "directions", "mask", "path"
TRIPLE = np.dtype(
    [("lengths", np.int32, 3), ("first", np.uint32, 3), *((name, np.uint32) for name in _PLACES)]
)
"""A triple as triples.glsl has it."""


class WaitedInVainError(DeviceError):
    """A tile has waited too long for the sides of another one, so that its results are wrong."""


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
        Programs.__init__(self, device)
        self._throttle = Throttle(self.device)
        self._uploaded: UInt8 | None = None
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
            borders = self.scoring.pairs_gain or not self.scoring.local
            data = DeviceTriples.of(triples, self._defines["LETTERS"] - 1 if borders else None)
            if len(triples) and not self.scoring.local:
                origin = self.scoring.score_offset(data.extents.lengths.max(axis=0))
                data = data._replace(extents=replace(data.extents, origin=origin))
            self._last = triples, data
        return self._last[1]

    def upload_residues(self, residues: UInt8) -> None:
        """Put the residues into their buffer, once."""
        if self._uploaded is residues:
            self.reserve(LETTERS)
        else:
            self._uploaded = None
            self.upload(LETTERS, residues)
            self._uploaded = residues

    def check_cells(self, extents: Extents, chosen: Intp, best: BestCells) -> BestCells:
        """Return the best cells of some triples; raise `DeviceError` if these have none such."""
        lengths = extents.lengths[chosen] - extents.before
        most = self.scoring.bounds(lengths)
        check_range(self, "a score of", best.score, -extents.origin, most)
        some = (best.score > 0) | (not self.scoring.local)
        check_range(self, "a best cell at", best.cell[some], 1 - extents.before, lengths[some])
        return best

    def check_table(self, extents: Extents, t: int, table: Int32) -> None:
        """Raise `DeviceError` if a triple cannot have such values of H, as the device has them."""
        most = int(self.scoring.bounds(extents.lengths[[t]])[0]) + extents.origin
        check_range(self, "a table with", highest(table), 0, most)

    def check_traces(self, before: Structured, traces: Structured, room: Int64) -> Structured:
        """Return traces that have gone on; raise `DeviceError` for steps that are not back.

        ``room`` says how many runs each path may have.
        """
        check_range(self, "a path at", traces["at"], 0, before["at"])
        check_range(self, "the column of a path", traces["column"], -6, 0)
        check_range(self, "runs of a path:", traces["runs"], 0, room)
        still = (traces["at"] == before["at"]).all(axis=1)
        if (still & (traces["over"] == 0)).any():
            raise impossible(self, "a path that goes nowhere")
        return traces

    def checked(self, paths: Paths, known: set[bytes] | None = None) -> Paths:
        """Return paths; raise `DeviceError` if alignments cannot have them.

        Where ends of earlier alignments are ``known``, the path has another one, which is added.
        """
        scoring, end = self.scoring, paths.ends.end
        if known is not None:
            if end.tobytes() in known:
                raise impossible(self, f"two alignments that end at {end[0].tolist()}")
            known.add(end.tobytes())
        if len(paths.runs) and (int(paths.runs.min()) < 8 or not (paths.runs & 7).all()):
            raise impossible(self, "a path with a column of no residues")
        some, wanted = np.diff(paths.offsets) > 0, paths.ends.score > 0
        start = end - paths.residues
        check_starts(self, start, some, wanted, 0 if scoring.local else scoring.whole)
        return paths

    def barrier(self) -> None:
        """Let the next dispatch see what the last ones wrote."""
        self.device.ctx.memory_barrier(moderngl.SHADER_STORAGE_BARRIER_BIT)


@dataclass(frozen=True, eq=False)
class Extents:
    """What triples are like without their letters, as the device gets them.

    A letter that aligns with none may stand before each sequence: the cells 0 of the device are
    then those with an index 0 of the table.
    """

    lengths: Int64  # letters of the three, with that one, shape (N, 3)
    first: Int64  # where they begin among all residues, shape (N, 3)
    before: int  # letters before each sequence, 0 or 1
    origin: int = 0  # `Scoring3.score_offset`, by which H is higher

    @cached_property
    def key(self) -> bytes:
        """The same for triples that are alike but for their letters, in one engine."""
        return self.lengths.tobytes() + self.first.tobytes()

    def ordered(self) -> Intp:
        """Return the numbers of triples without an empty sequence, the largest tables first."""
        cells = self.lengths.prod(axis=1)
        order = np.argsort(-cells, kind="stable")
        return order[: int((cells > 0).sum())]

    def records(self, chosen: Intp) -> Structured:
        """Return some triples as triples.glsl has them, without their places in buffers."""
        records = np.zeros(len(chosen), TRIPLE)
        records["lengths"] = self.lengths[chosen]
        records["first"] = self.first[chosen]
        return records

    def best(self, cells: Int32, counts: Int64) -> BestCells:
        """Return the best of the cells of each triple.

        ``cells`` are as in cube.glsl, ``counts[t]`` of them of triple t.
        """
        starts = counts.cumsum() - counts
        score, d, i, j = cells.T.astype(np.int64)
        upper = (score << 32) - d
        highest = np.maximum.reduceat(upper, starts)
        kept = upper == highest.repeat(counts)
        lowest = np.minimum.reduceat(np.where(kept, (i << 32) + j, _LAST), starts)
        score, d, i, j = -(-highest >> 32), -highest & _LOW, lowest >> 32, lowest & _LOW
        if score.max() == _NO_SCORE:
            raise WaitedInVainError("tiles of three sequences waited in vain for one another")
        cell = np.array([i, j, d - i - j]).T + (1 - self.before)
        return BestCells((score - self.origin).astype(np.int32), cell.astype(np.int32))


class DeviceTriples(NamedTuple):
    """Triples as the device gets them: all residues, uint8, and where they are."""

    residues: UInt8
    extents: Extents

    @staticmethod
    def of(triples: Batch, nothing: int | None) -> DeviceTriples:
        """Put the letter ``nothing``, if there is such, before every sequence."""
        sequences, index = triples.pool
        residues, first = sequences.residues, sequences.offsets[index]
        if nothing is None:
            return DeviceTriples(residues, Extents(triples.lengths, first, 0))
        residues = np.insert(residues, sequences.offsets[:-1], np.uint8(nothing))
        return DeviceTriples(residues, Extents(triples.lengths + 1, first + index, 1))
