"""How engine ``lanes`` lays out a query: what a chain of lanes computes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glsw.device.device import DeviceInfo
from glsw.frozen import dataclass
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring

INT32, F16, F32 = range(3)
"""Number types, as number.glsl has them."""
COMPARE, BLOCK, SHARED, STORAGE, OF_PAIRS = range(5)
"""Kinds of memory of the query profile, as query_profile.glsl has them."""
LIMIT = 2048
"""Scores from which floats may be wrong: they are stored as multiples of 1 / LIMIT."""
TOO_HIGH = 2**30
"""From end to end, the score of pairs for which floats may be wrong, see end_to_end.glsl."""
HEAD = 4
"""Words of 4 bytes that tell of a strip in the query profile."""
LANE_INFO = 4
"""Words of 4 bytes that a lane of a strip has in the query profile, from end to end twice."""
COST_LETTERS = 4
"""Letters of a profile in whose place the gap costs of rows are, see recurrence_column.glsl."""


_ENDLESS = 2**62
USUAL_SHARE = 4
"""Usual chains may compute pairs of one in so many of the most cells."""


@dataclass(frozen=True)
class Limits:
    """Sizes by which engine ``lanes`` cuts work, and at which it changes what it does.

    Parameters
    ----------
    floats : int
        Local scores from which those of floats are computed again.
    longest, longest_elsewhere : int
        Residues of a target, in local alignments on hardware with subgroups and otherwise; llvmpipe
        ends all loops of an invocation after 65535 rounds.
    cells, cells_elsewhere : int
        Of a pair that a chain computes alone, on hardware with 16-bit floats and otherwise: some
        tenths of a second, as drivers end a dispatch after 2 s. Usual chains take a quarter.
    large_pair, few_pairs : int
        Cells of a pair, and pairs per query, that are left to `Engine.rest`.
    waste : float
        Of the cells of pairs, so that they are of fewer and larger kinds.
    long_target, in_flight : int
        Residues of a target that is set apart, at least, and targets that keep a large device busy
        until one as long as all of them ends.
    long_chains : tuple of int
        Lanes of the chains of such targets.
    targets_at_once : int
        See `ScanHints`.
    first_cells : int
        Of the first queries of a scan, so that the device has work soon.
    first_slice : int
        Cells of the first slice of time on hardware.
    small_part : int
        Residues of a part that may lie on the device beside another one.
    short : int
        Residues of sequences, on average, whose scores take longer to be mirrored than to be
        computed.
    window, work : int
        Queries that are looked at for a group, and groups times targets that a large device has at
        once.
    full : float
        Of the rows of a group, from which on it takes no more queries.
    profile : int
        Bytes of profiles from which they are made on the device: to make one there takes a
        dispatch.
    groups : int
        Work groups of a dispatch along an axis, which OpenGL promises.
    borders : int
        Bytes of rows between strips, which the driver clears in 0.07 s.
    first_use : int
        Bytes of a buffer that the device itself copies.
    free : int
        Bytes of buffers that are kept for their next use.
    block : int
        Bytes of scores that a thread puts in place at a time.
    passing, passing_groups, passing_lanes : int
        Pairs that may pass before their buffer grows, which are always read, so many that this
        waits for nothing else; the work groups per query and their lanes that list them.
    """

    floats: int = LIMIT
    longest: int = 2**18
    longest_elsewhere: int = 2**15
    cells: int = 2**30
    cells_elsewhere: int = 2**28
    large_pair: int = 2**22
    few_pairs: int = 16
    waste: float = 1 / 32
    long_target: int = 512
    in_flight: int = 2**13
    long_chains: tuple[int, ...] = (32, 64, 128, 256)
    targets_at_once: int = 2**16
    first_cells: int = 2**40
    first_slice: int = 2**32
    small_part: int = 2**25
    short: int = 64
    window: int = 2**9
    work: int = 2**17
    full: float = 0.97
    profile: int = 2**22
    groups: int = 65535
    borders: int = 2**30
    first_use: int = 2**20
    free: int = 2**31
    block: int = 2**23
    passing: int = 2**17
    passing_groups: int = 1024
    passing_lanes: int = 256

    def used(self, scoring: Scoring, info: DeviceInfo) -> Limits:
        """Return those that hold for a scoring and a device."""
        longest, cells = self.longest, self.cells
        if info.software or not info.subgroup_size or not scoring.local:
            longest = min(longest, self.longest_elsewhere)
        if not info.half:
            cells = min(cells, self.cells_elsewhere)
        return replace(self, longest=longest, cells=_ENDLESS if info.software else cells)

    def fits(self, m: npt.NDArray[np.int64], n: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which pairs of these lengths a usual chain can compute alone."""
        return (n <= self.longest) & (m * n <= self.cells // USUAL_SHARE)


@dataclass(frozen=True)
class Geometry:
    """What a chain of lanes computes at once.

    Parameters
    ----------
    number : int
        Type of the scores: `INT32`, `F16` or `F32`.
    rows : int
        Rows of the query in a lane, a multiple of 4.
    chain : int
        Lanes of a chain, one below the other: a power of two.
    workgroup : int
        Lanes of a work group.
    profile_memory : int
        Where the profile lies: `COMPARE`, `BLOCK`, `SHARED` or `STORAGE`; `OF_PAIRS` if there is
        none, because each target has its own query.
    queries : int
        Queries at once; two of them share a pair of floats.
    at_once : bool
        All strips in one dispatch, not each in its own.
    subgroups : bool
        Chains hand on their last row by subgroup operations.
    step : int
        Columns that a lane computes between two meetings with its neighbours.
    letters : int
        Of pairs that each have their own query: how many different ones occur.
    joined : bool
        Some queries may follow others in a stream.
    end_to_end : bool
        Scores are global or semi-global: lanes have to know which rows they have, of which queries.
    """

    number: int
    rows: int
    chain: int
    workgroup: int
    profile_memory: int
    queries: int = 1
    at_once: bool = False
    subgroups: bool = False
    step: int = 2
    letters: int = 0
    joined: bool = False
    end_to_end: bool = False

    @property
    def strip(self) -> int:
        """Rows of a chain."""
        return self.rows * self.chain

    @property
    def results(self) -> int:
        """Scores of a lane: targets times queries."""
        return 1 if self.number == INT32 else 2

    @property
    def targets(self) -> int:
        """Targets of a lane."""
        return self.results // self.queries

    @property
    def chains(self) -> int:
        """Chains of a work group."""
        return self.workgroup // self.chain

    @property
    def group(self) -> int:
        """Targets of a work group."""
        return self.chains * self.targets

    @property
    def border(self) -> int:
        """Bytes of H and F of a column below a strip."""
        return 8

    @property
    def handed(self) -> int:
        """Bytes of shared memory for what lanes hand on; shuffles may turn out to be unusable."""
        return 2 * self.step * self.border * self.workgroup if self.chain > 1 else 0

    @property
    def halves(self) -> bool:
        """Whether a word of 4 bytes has the scores of two rows."""
        return self.number != INT32 and self.queries == 1

    @property
    def parts(self) -> int:
        """Words of 16 bytes in which a lane has its scores with a letter, the last perhaps half."""
        return -(-self.rows // self.part_rows)

    @property
    def part_rows(self) -> int:
        """Rows that have their scores in a word of 16 bytes."""
        return 8 if self.halves else 4

    @property
    def stride(self) -> int:
        """Words of 16 bytes from letter to letter.

        Shared memory serves 8 lanes at once, which have different letters: no two of them should
        meet in one of its 8 banks of 16 bytes.
        """
        words = self.parts * self.chain
        apart = self.profile_memory != SHARED or self.chain >= 8 or words % (2 * self.chain)
        return words if apart else words + self.chain

    @property
    def head(self) -> int:
        """Words of 4 bytes before the scores of a strip in the query profile."""
        return HEAD + LANE_INFO * self.chain * (self.joined + self.end_to_end)

    def size(self, letters: int) -> int:
        """Return the bytes of the profile of a strip for an alphabet of so many letters."""
        if self.profile_memory == COMPARE:
            return 4 * self.head + 4 * self.rows
        return 4 * self.head + 16 * (letters + 1) * self.stride

    @property
    def scores_of_letter(self) -> int:
        """Words with the scores of a letter of the target, of pairs that each have their own query.

        With floats a letter has a score with each two letters of the query.
        """
        side = self.letters + 1
        return side if self.number == INT32 else side**2

    def strips(self, m: int) -> int:
        """Return the strips of a query of m letters."""
        return -(-m // self.strip)

    @property
    def defines(self) -> dict[str, int | None]:
        """Return the macros of lanes.comp."""
        return {
            "NUMBER": self.number,
            "ROWS": self.rows,
            "CHAIN": self.chain,
            "STRIDE": self.stride,
            "WORKGROUP": self.workgroup,
            "STEP": self.step,
            "QUERY_PROFILE": self.profile_memory,
            "TWO_QUERIES": 1 if self.queries == 2 else None,
            "JOINED": 1 if self.joined else None,
            "SUBGROUPS": 1 if self.subgroups and self.chain > 1 else None,
        } | self._of_pairs

    @property
    def _of_pairs(self) -> dict[str, int | None]:
        if self.profile_memory != OF_PAIRS:
            return {}
        return {"OWN_QUERIES": 1, "LETTERS": self.letters}


def profile_letters(scoring: Scoring) -> int:
    """Return the letters of a query profile: of two tracks those of the one and of the other.

    Gap costs by position take the place of `COST_LETTERS` letters more, and from end to end H left
    of the rows that of another.
    """
    if isinstance(scoring, TwoTrackScoring):
        return len(scoring.first.matrix) + len(scoring.weighted)
    return len(scoring.alphabet) + (COST_LETTERS + (not scoring.local) if scoring.gaps else 0)


ROW_CHOICES = (8, 12, 16, 20, 24, 28, 32)  # with more, compilers do not unroll the loops
CHAIN_CHOICES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_MOST_CELLS = {255: 64, 128: 40, 63: 16}  # rows times columns of a step, by registers: no spills
_ROWS_OF_PAIRS = 8, 12, 16, 20  # with more, registers do not suffice for letters and scores
_MOST_ROWS_END_TO_END = {1: 16, 2: 20}  # of floats, by queries at once: else loops stay loops
_NUMBERS = {"int32": INT32, "f16": F16, "f32": F32}
_PROFILE_MEMORIES = {"block": BLOCK, "shared": SHARED, "storage": STORAGE}
_USUAL_OVERHEAD = 3  # cost of a column besides its rows, in rows of a lane
_END_TO_END_OVERHEAD = 9  # the same of pairs of floats
_OVERHEAD = {(F16, 1): 7, (F16, 2): 10}  # the same by number type and queries at once
_WORKGROUP_OF_PAIRS = 256
_WORKGROUP_OF_LANES = 64  # that are no chains: their queries are short
_MIN_ROWS_OF_FLOATS = 32  # of a query of a pair: the scores of two letters take long to load
_USUAL_CHAIN = 8
_TWO_QUERY_COST = 0.71  # of a row of two queries, compared with two targets of one query
_LONG_QUERY = 2**14  # for which the usual geometry of streams is the best
_LONG_STEP = 2**8  # rows, so that few geometries are made for long targets


class Geometries:
    """Chooses the geometry for queries of a length; asked-for values override the choice.

    Parameters
    ----------
    scoring : Scoring
    info : DeviceInfo
    number : str
        ``"auto"`` or the name of the type that scores are computed in first.
    rows, chain, workgroup : int, optional
        As in `Geometry`.
    query_profile : str, optional
        Name of the memory of the query profile.
    subgroups : bool
        Whether lanes may hand on by shuffles.
    limits : Limits

    Raises
    ------
    ValueError
        For a value that does not exist, or not on this device.
    """

    def __init__(
        self,
        scoring: Scoring,
        info: DeviceInfo,
        number: str,
        *,
        rows: int | None = None,
        chain: int | None = None,
        workgroup: int | None = None,
        query_profile: str | None = None,
        subgroups: bool = True,
        limits: Limits = Limits(),  # noqa: B008
    ) -> None:
        self.limits = limits
        if number == "auto":
            number = "f16" if info.half else "int32"
        if number not in _NUMBERS:
            raise ValueError(f"number {number!r}: auto, {', '.join(_NUMBERS)} expected")
        if number == "f16" and not info.half:
            raise ValueError(f"number 'f16': {info.name} has no 16-bit floats")
        if query_profile is not None and query_profile not in _PROFILE_MEMORIES:
            known = ", ".join(_PROFILE_MEMORIES)
            raise ValueError(f"query_profile {query_profile!r}: {known} expected")
        if rows is not None and rows not in ROW_CHOICES:
            raise ValueError(f"rows {rows}: {', '.join(map(str, ROW_CHOICES))} expected")
        if chain is not None and chain not in CHAIN_CHOICES:
            raise ValueError(f"chain {chain}: a power of two up to {CHAIN_CHOICES[-1]} expected")
        if workgroup is not None and workgroup not in (*CHAIN_CHOICES, 512, 1024):
            raise ValueError(f"workgroup {workgroup}: a power of two up to 1024 expected")
        if workgroup and chain and workgroup < chain:
            raise ValueError(f"workgroup {workgroup}: at least the chain of {chain} lanes expected")
        self._letters = profile_letters(scoring)
        if isinstance(scoring, TwoTrackScoring) and abs(scoring.by_track).max() > LIMIT:
            number = "int32"  # a sum of clipped scores would be wrong
        if scoring.gaps:
            number = "int32"  # floats exchange gaps of different rows, see recurrence_column.glsl
        self._end_to_end = not scoring.local
        if self._end_to_end and not _floats_hold(scoring):
            number = "int32"
        self._info = info
        self._subgroup_size = info.subgroup_size if subgroups else 0
        self.number, self.chain = _NUMBERS[number], chain
        self._rows, self._workgroup = rows, workgroup
        two = scoring.match_and_mismatch
        on_software = COMPARE if two and two[1] < 0 and scoring.local else BLOCK
        asked = _PROFILE_MEMORIES[query_profile] if query_profile else None
        self.profile_memory = asked or (on_software if info.software else SHARED)
        self._chosen: dict[tuple[int, int, bool, bool], Geometry] = {}
        self._of_pairs: dict[tuple[int, int, int], Geometry] = {}

    def __str__(self) -> str:
        number = next(name for name, value in _NUMBERS.items() if value == self.number)
        chain = "any chains" if self.chain is None else f"chains of {self.chain}"
        return f"{number}, {chain}, subgroups of {self._subgroup_size}"

    @property
    def pairs_queries(self) -> bool:
        """Whether queries of similar length can share lanes."""
        return self.number != INT32 and self.profile_memory != COMPARE

    @property
    def own_queries(self) -> bool:
        """Whether the scores of all letters fit shared memory, as `of_pairs` wants it."""
        return 4 * (self._letters + 1) ** 2 <= self._info.limits["max_shared_memory"] // 2

    def of(self, m: int, queries: int = 1, long: bool = False, *, joins: bool = False) -> Geometry:
        """Return the geometry for most targets or the long ones, and a group of queries.

        Its longest stream has m letters. ``joins`` tells whether a stream has several queries.
        """
        if joins:  # one for most groups, whose number is that of work groups along y
            m = -(-m // _LONG_STEP) * _LONG_STEP if long else _LONG_QUERY
        key = m, queries, long, joins
        if key not in self._chosen:
            self._chosen[key] = min(self._options(*key[1:]), key=lambda each: _cost(each, m))
        return self._chosen[key]

    def of_pairs(self, m: int, number: int, letters: int) -> Geometry:
        """Return the geometry for pairs that each have their own query, of m letters.

        ``letters`` is how many different ones occur. Scores are integers if those of two letters
        do not fit shared memory, or take longer to load than the query to compute.
        """
        key = m, number, letters
        if key not in self._of_pairs:
            options = self._options_of_pairs(m, number, letters)
            self._of_pairs[key] = min(options, key=lambda each: _cost(each, m))
        return self._of_pairs[key]

    def _options_of_pairs(self, m: int, number: int, letters: int) -> Iterator[Geometry]:
        info = self._info
        longest = min(_USUAL_CHAIN, self._workgroup or _USUAL_CHAIN)
        chains = [chain for chain in CHAIN_CHOICES if chain <= longest]
        most = _MOST_CELLS[info.registers] * 4 // 5  # letters take registers too
        if self._end_to_end and number != INT32:
            most = min(most, 2 * _MOST_ROWS_END_TO_END[1])
        choices = [rows for rows in _ROWS_OF_PAIRS if 2 * rows <= most] or _ROWS_OF_PAIRS[:1]
        for chain in [self.chain] if self.chain else chains:
            for rows in [self._rows] if self._rows else choices:
                made = Geometry(
                    number,
                    rows,
                    chain,
                    self._workgroup or max(_WORKGROUP_OF_PAIRS, chain),
                    OF_PAIRS,
                    at_once=True,
                    subgroups=self._subgroup_size >= chain,
                    letters=letters,
                    end_to_end=self._end_to_end,
                )
                room = info.limits["max_shared_memory"]
                room -= 0 if made.subgroups else made.handed
                fits = 4 * (letters + 1) * made.scores_of_letter <= room
                yield made if fits and m > _MIN_ROWS_OF_FLOATS else replace(made, number=INT32)

    @property
    def of_streams(self) -> Geometry:
        """How streams of several queries are computed, if it can be at once."""
        return self.of(_LONG_QUERY, 2 if self.pairs_queries else 1, joins=True)

    def streams_pay_off(self, letters: Sequence[int]) -> bool:
        """Tell whether the streams of a group, of so many letters each, are about equally long."""
        return len(letters) == 1 or max(letters) * 2 * _TWO_QUERY_COST < sum(letters)

    def pays_off(self, m: int, less: int) -> bool:
        """Tell whether queries of these lengths, the second perhaps shorter, share lanes."""
        if not self.pairs_queries:
            return False
        alone = (self._rows_of_strips(m, 1) + self._rows_of_strips(less, 1)) / 2
        return self._rows_of_strips(m, 2) * _TWO_QUERY_COST < alone

    def _rows_of_strips(self, m: int, queries: int) -> int:
        """Return the rows of all strips with the overhead of their columns."""
        geometry = self.of(m, queries)
        return rows_of_strips(geometry, geometry.strips(m))

    def _options(self, queries: int, long: bool, joined: bool) -> list[Geometry]:
        single = self.number == F16 and queries == 1
        if long:  # as many lanes per pair as have work
            options = [(8, chain, max(64, chain)) for chain in self.limits.long_chains]
        elif self._info.software:
            options = [(32, 1, 16)]
        else:
            most = _MOST_CELLS[self._info.registers]
            shuffles = self._subgroup_size >= _USUAL_CHAIN
            workgroup = 256 if shuffles and not single else 128
            highest = 32 if single else 24
            if self._end_to_end and self.number != INT32:
                highest = _MOST_ROWS_END_TO_END[queries]
            options = [
                (rows, chain, workgroup if chain > 1 else _WORKGROUP_OF_LANES)
                for rows in range(8, highest + 4, 4)
                for chain in CHAIN_CHOICES
                if chain <= _USUAL_CHAIN and 2 * rows <= most
            ]
        return [self._made(*each, queries, joined) for each in options]

    def _made(self, rows: int, chain: int, workgroup: int, queries: int, joined: bool) -> Geometry:
        """Return a geometry with the values asked for; the profile lies where there is room."""
        info, number = self._info, self.number
        chain = self.chain or min(chain, self._workgroup or chain)
        rows = self._rows or rows
        compare = self.profile_memory == COMPARE and chain == 1 and queries == 1
        memory = BLOCK if self.profile_memory == COMPARE and not compare else self.profile_memory
        made = Geometry(
            number,
            rows,
            chain,
            self._workgroup or max(workgroup, chain),
            memory,
            queries,
            at_once=not info.software,
            subgroups=self._subgroup_size >= chain,
            joined=joined or self._end_to_end,
            end_to_end=self._end_to_end,
        )
        longer = number == INT32 or (queries == 2 and self._subgroup_size < _USUAL_CHAIN)
        if longer and not info.software and 4 * rows <= _MOST_CELLS[info.registers]:
            made = replace(made, step=4)
        limit = info.limits["max_uniform_block_size" if memory == BLOCK else "max_shared_memory"]
        room = limit if memory == BLOCK else limit - made.handed
        if memory in (BLOCK, SHARED) and made.size(self._letters) > room:
            made = replace(made, profile_memory=STORAGE)
        at_once = made.at_once and made.profile_memory in (SHARED, STORAGE)
        return replace(made, at_once=at_once, joined=(joined and at_once) or self._end_to_end)


def _floats_hold(scoring: Scoring) -> bool:
    """Tell whether floats can hold global scores of short sequences, see end_to_end.glsl."""
    assert scoring.end_gaps
    left = scoring.end_gaps.left_insertion.open + scoring.end_gaps.left_deletion.open
    most = max(left + 4 * scoring.gap_open, scoring.maximum + 2 * scoring.gap_extend)
    return scoring.gap_open > 0 and most <= LIMIT // 4  # a row that does not fall stays at LIMIT


def _cost(geometry: Geometry, m: int) -> tuple[bool, int, int, int]:
    """Return what to minimise; short chains are for one strip, else borders cost too much."""
    strips = geometry.strips(m)
    rows = rows_of_strips(geometry, strips)
    borders = geometry.chain < _USUAL_CHAIN and strips > 1
    return borders, rows, geometry.chain, -geometry.rows


def rows_of_strips(geometry: Geometry, strips: int) -> int:
    """Return the rows of all lanes of all strips with the overhead of their columns.

    The lanes of longer chains than usual would wait otherwise, so that they do not count.
    """
    lanes = strips * min(geometry.chain, _USUAL_CHAIN)
    overhead = _OVERHEAD.get((geometry.number, geometry.queries), _USUAL_OVERHEAD)
    if geometry.profile_memory == OF_PAIRS:
        floats = geometry.end_to_end and geometry.number != INT32
        overhead = _END_TO_END_OVERHEAD if floats else _USUAL_OVERHEAD
    return lanes * (geometry.rows + overhead)
