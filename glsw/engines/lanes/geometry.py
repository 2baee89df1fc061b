"""How engine ``lanes`` lays out a query: what a chain of lanes computes at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from glsw.arrays import Bool, Int64
from glsw.device.device import DeviceInfo
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring

INT32, F16, F32, MEDIUMP = range(4)
"""Number types, as number.glsl has them; the last one is a form of the one before."""
BY_MEDIUMP = "lanes mediump"
"""Name of the speed of `MEDIUMP`, which is kept where that is the fastest type."""
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
BORDER = 8
"""Bytes of H and F of a column below a strip."""
COST_LETTERS = 4
"""Letters of a profile in whose place the gap costs of rows are, see recurrence_column.glsl."""


_ENDLESS = 2**62
USUAL_SHARE = 4
"""Usual chains may compute pairs of one in so many of the most cells."""


@dataclass(frozen=True)
class LaneSizes:
    """Sizes by which engine ``lanes`` cuts work, and at which it changes what it does."""

    floats: int = LIMIT  # local scores from which those of floats are computed again
    # Residues of a target, in local alignments on hardware with subgroups, and otherwise; llvmpipe
    # ends all loops of an invocation after 65535 rounds.
    longest: int = 2**18
    longest_elsewhere: int = 2**15
    # Cells of a pair that a chain computes alone, on hardware with 16-bit floats and otherwise:
    # some tenths of a second, as drivers end a dispatch after 2 s. Usual chains take a quarter.
    cells: int = 2**30
    cells_elsewhere: int = 2**28
    large_pair: int = 2**22  # cells of a pair that is left to `Engine.rest`
    few_pairs: int = 16  # pairs per query that are left to it
    waste: float = 1 / 32  # of the cells of pairs, so that they are of fewer and larger kinds
    long_target: int = 512  # residues of a target that is set apart, at least
    # Targets that keep a large device busy until one as long as all of them ends.
    in_flight: int = 2**13
    long_chains: tuple[int, ...] = (32, 64, 128, 256)  # lanes of the chains of long targets
    targets_at_once: int = 2**16  # see `ScanHints`
    first_cells: int = 2**40  # of the first queries of a scan, so that the device has work soon
    first_slice: int = 2**30  # cells of the first slice of time on hardware, at most
    small_part: int = 2**25  # residues of a part that may lie on the device beside another one
    short: int = 64  # mean residues of sequences whose scores take longer to mirror than to compute
    window: int = 2**9  # queries that are looked at for a group
    work: int = 2**17  # groups times targets that a large device has at once
    groups: int = 65535  # work groups of a dispatch along an axis, which OpenGL promises
    borders: int = 2**30  # bytes of rows between strips, which the driver clears in 0.07 s
    first_use: int = 2**20  # bytes of a buffer that the device itself copies
    block: int = 2**23  # bytes of scores that a thread puts in place at a time
    # Pairs that may pass before their buffer grows, which are always read, so many that this waits
    # for nothing else; the work groups per query and their lanes that list them.
    passing: int = 2**17
    passing_groups: int = 1024
    passing_lanes: int = 256

    def used(self, scoring: Scoring, info: DeviceInfo) -> LaneSizes:
        """Return those that hold for a scoring and a device."""
        longest, cells = self.longest, self.cells
        if info.software or not info.subgroup_size or not scoring.local:
            longest = min(longest, self.longest_elsewhere)
        if not info.half:
            cells = min(cells, self.cells_elsewhere)
        return replace(self, longest=longest, cells=_ENDLESS if info.software else cells)

    def fits(self, m: Int64, n: Int64) -> Bool:
        """Tell which pairs of these lengths a usual chain can compute alone."""
        return (n <= self.longest) & (m * n <= self.cells // USUAL_SHARE)


@dataclass(frozen=True)
class Geometry:
    """What a chain of lanes computes at once."""

    number: int  # type of the scores, such as `INT32`
    rows: int  # of the query in a lane, a multiple of 4
    chain: int  # lanes of a chain, one below the other: a power of two
    workgroup: int  # lanes of a work group
    profile_memory: int
    """Where the profile lies: `COMPARE`, `BLOCK`, `SHARED` or `STORAGE`; `OF_PAIRS` if there is
    none, because each target has its own query."""
    queries: int = 1  # at once; two of them share a pair of floats
    at_once: bool = False  # all strips in one dispatch, not each in its own
    subgroups: bool = False  # chains hand on their last row by subgroup operations
    step: int = 2  # columns that a lane computes between two meetings with its neighbours
    letters: int = 0  # of pairs that each have their own query: how many different ones occur
    joined: bool = False  # some queries may follow others in a stream
    end_to_end: bool = False
    """Scores are global or semi-global: lanes have to know which rows of queries they have."""

    @property
    def strip(self) -> int:
        """Rows of a chain."""
        return self.rows * self.chain

    @property
    def targets(self) -> int:
        """Targets of a lane."""
        return 1 if self.number == INT32 else 2 // self.queries

    @property
    def chains(self) -> int:
        """Chains of a work group."""
        return self.workgroup // self.chain

    @property
    def group(self) -> int:
        """Targets of a work group."""
        return self.chains * self.targets

    @property
    def handed(self) -> int:
        """Bytes of shared memory for what lanes hand on; shuffles may turn out to be unusable."""
        return 2 * self.step * BORDER * self.workgroup if self.chain > 1 else 0

    @property
    def parts(self) -> int:
        """Words of 16 bytes in which a lane has its scores with a letter, the last perhaps half."""
        return -(-self.rows // self.part_rows)

    @property
    def part_rows(self) -> int:
        """Rows that have their scores in a word of 16 bytes: with two targets, two in 4 bytes."""
        return 4 * self.targets

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

    def strips(self, m: int) -> int:
        """Return the strips of a query of m letters."""
        return -(-m // self.strip)

    @property
    def defines(self) -> dict[str, int | None]:
        """Return the macros of lanes.comp."""
        return {
            "NUMBER": min(self.number, F32),
            "MEDIUMP": 1 if self.number == MEDIUMP else None,
            "ROWS": self.rows,
            "CHAIN": self.chain,
            "STRIDE": self.stride,
            "WORKGROUP": self.workgroup,
            "STEP": self.step,
            "QUERY_PROFILE": self.profile_memory,
            "TWO_QUERIES": 1 if self.queries == 2 else None,
            "JOINED": 1 if self.joined else None,
            "SUBGROUPS": 1 if self.subgroups and self.chain > 1 else None,
        } | ({"OWN_QUERIES": 1, "LETTERS": self.letters} if self.letters else {})


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
_MOST_END_TO_END = 32  # on Intel: the borders of the table take registers too
_CELLS_OF_COSTS = 8  # so many fewer if gap costs depend on the row, where registers are few
_MOST_ROWS = {True: 32, False: 24}  # by whether two targets of one query share lanes
_MOST_ROWS_OF_PAIRS = 20  # with more, registers do not suffice for letters and scores
_MOST_ROWS_END_TO_END = {1: 16, 2: 20}  # of floats, by queries at once: else loops stay loops
_NUMBERS = {"int32": INT32, "f16": F16, "f32": F32, "mediump": MEDIUMP}
_PROFILE_MEMORIES = {"block": BLOCK, "shared": SHARED, "storage": STORAGE}
_USUAL_OVERHEAD = 3  # cost of a column besides its rows, in rows of a lane
_END_TO_END_OVERHEAD = 9  # the same of pairs of floats
_OVERHEAD = {(F16, 1): 7, (F16, 2): 10}  # the same by number type and queries at once
_WORKGROUP_OF_PAIRS = 256
_WORKGROUP_OF_LANES = 64  # that are no chains: their queries are short
_MIN_ROWS_OF_FLOATS = 32  # of a query of a pair: the scores of two letters take long to load
_USUAL_CHAIN = 8
TWO_QUERY_COST = 0.71  # of a row of two queries, compared with two targets of one query
_LONG_QUERY = 2**14  # for which the usual geometry of streams is the best
_LONG_STEP = 2**8  # rows, so that few geometries are made for long targets


class Geometries:
    """Chooses the geometry for queries of a length; asked-for values override the choice.

    ``number`` is that of scores that are computed first. Other parameters are as of `Lanes`.

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
        rows: int | None = None,
        chain: int | None = None,
        workgroup: int | None = None,
        query_profile: str | None = None,
        subgroups: bool = True,
        *,
        limits: LaneSizes = LaneSizes(),
    ) -> None:
        for name, value, choices in (
            ("number", number, ("auto", *_NUMBERS)),
            ("rows", rows, ROW_CHOICES),
            ("chain", chain, CHAIN_CHOICES),
            ("workgroup", workgroup, (*CHAIN_CHOICES, 512, 1024)),
            ("query_profile", query_profile, (*_PROFILE_MEMORIES,)),
        ):
            if value is not None and value not in choices:
                raise ValueError(f"{name} {value!r}: {', '.join(map(str, choices))} expected")
        if number == "f16" and not info.half:
            raise ValueError(f"number 'f16': {info.name} has no 16-bit floats")
        if workgroup and chain and workgroup < chain:
            raise ValueError(f"workgroup {workgroup}: at least the chain of {chain} lanes expected")
        if number == "auto":
            number = "f16" if info.half else "int32"
        self._letters, self._end_to_end = profile_letters(scoring), not scoring.local
        self._positional = scoring.gaps is not None
        if isinstance(scoring, TwoTrackScoring) and abs(scoring.by_track).max() > LIMIT:
            number = "int32"  # a sum of clipped scores would be wrong
        if scoring.gaps or (self._end_to_end and not _floats_hold(scoring)):
            number = "int32"  # floats exchange gaps of different rows, see recurrence_column.glsl
        self.limits, self._info = limits, info
        self._subgroup_size = info.subgroup_size if subgroups else 0
        self.number, self.chain = _NUMBERS[number], chain
        self._rows, self._workgroup = rows, workgroup
        two = scoring.match_and_mismatch
        on_software = COMPARE if two and two[1] < 0 and scoring.local else BLOCK
        asked = _PROFILE_MEMORIES[query_profile] if query_profile else None
        self.profile_memory = asked or (on_software if info.software else SHARED)
        self._cheapest, self._possible = cache(self._chosen), cache(self._options)

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
        return self._cheapest(m, self.number, queries, long, joins, 0)

    def of_pairs(self, m: int, number: int, letters: int) -> Geometry:
        """Return the geometry for pairs that each have their own query, of m letters.

        ``letters`` is how many different ones occur. Scores are integers if those of two letters
        do not fit shared memory, or take longer to load than the query to compute.
        """
        return self._cheapest(m, number, 1, False, False, letters)

    @property
    def of_streams(self) -> Geometry:
        """How streams of several queries are computed, if it can be at once."""
        return self.of(_LONG_QUERY, 2 if self.pairs_queries else 1, joins=True)

    def pays_off(self, m: int, less: int) -> bool:
        """Tell whether queries of these lengths, the second perhaps shorter, share lanes."""
        if not self.pairs_queries:
            return False
        together, *alone = (
            rows_of_strips(made := self.of(n, queries), made.strips(n))
            for n, queries in ((m, 2), (m, 1), (less, 1))
        )
        return together * TWO_QUERY_COST < sum(alone) / 2

    def _chosen(self, m: int, *kind: int) -> Geometry:
        options = self._possible(*kind)
        if options[0].letters:
            options = [self._of_pairs(each, m) for each in options]
        return min(options, key=lambda each: _cost(each, m))

    def _options(
        self, number: int, queries: int, long: bool, joins: bool, letters: int
    ) -> list[Geometry]:
        """Return the geometries among which the length of the queries decides."""
        info, most = self._info, self._most_cells(bool(letters))
        single, shuffles = number == F16 and queries == 1, self._subgroup_size >= _USUAL_CHAIN
        if long:  # as many lanes per pair as have work
            shapes = [(8, chain, max(64, chain)) for chain in self.limits.long_chains]
        elif info.software:
            shapes = [(32, 1, 16)]
        else:
            workgroup, alone = 256 if shuffles and not single else 128, _WORKGROUP_OF_LANES
            highest = _MOST_ROWS[single]
            if letters:
                workgroup = alone = _WORKGROUP_OF_PAIRS
                highest = _MOST_ROWS_OF_PAIRS
            if self._end_to_end and number != INT32:
                highest = min(highest, _MOST_ROWS_END_TO_END[queries])
            shapes = [
                (rows, chain, workgroup if chain > 1 else alone)
                for rows in ROW_CHOICES
                for chain in CHAIN_CHOICES
                if chain <= _USUAL_CHAIN and (rows == 8 or (rows <= highest and 2 * rows <= most))
            ]
        made = []
        for rows, chain, workgroup in shapes:
            chain = self.chain or min(chain, self._workgroup or chain)
            each = Geometry(
                number,
                self._rows or rows,
                chain,
                self._workgroup or max(workgroup, chain),
                OF_PAIRS if letters else self.profile_memory,
                queries,
                at_once=not info.software,
                subgroups=self._subgroup_size >= chain,
                letters=letters,
                end_to_end=self._end_to_end,
            )
            made.append(each if letters else self._with_profile(each, joins))
        return made

    def _most_cells(self, of_pairs: bool = False) -> int:
        """Return the rows times columns of a step for which registers suffice."""
        most = _MOST_CELLS[self._info.registers]
        if of_pairs:
            most = most * 4 // 5  # letters take registers too
        if self._end_to_end and self._info.vendor.startswith("Intel"):
            most = min(most, _MOST_END_TO_END)
        if self._positional and most < max(_MOST_CELLS.values()):
            most -= _CELLS_OF_COSTS
        return most

    def _of_pairs(self, made: Geometry, m: int) -> Geometry:
        """Return it with integers if floats do not fit or pay off."""
        room = self._info.limits["max_shared_memory"] - (0 if made.subgroups else made.handed)
        fits = 4 * (made.letters + 1) ** (2 if made.number == INT32 else 3) <= room
        return made if fits and m > _MIN_ROWS_OF_FLOATS else replace(made, number=INT32)

    def _with_profile(self, made: Geometry, joins: bool) -> Geometry:
        """Return it with its columns, and the profile where there is room."""
        info, memory = self._info, made.profile_memory
        if memory == COMPARE and (made.chain > 1 or made.queries == 2):
            memory = BLOCK
        longer = made.number == INT32 or (made.queries == 2 and self._subgroup_size < _USUAL_CHAIN)
        if longer and not info.software and 4 * made.rows <= self._most_cells():
            made = replace(made, step=4)
        made = replace(made, profile_memory=memory, joined=joins or self._end_to_end)
        limit = info.limits["max_uniform_block_size" if memory == BLOCK else "max_shared_memory"]
        room = limit if memory == BLOCK else limit - made.handed
        if memory in (BLOCK, SHARED) and made.size(self._letters) > room:
            made = replace(made, profile_memory=STORAGE)
        at_once = made.at_once and made.profile_memory in (SHARED, STORAGE)
        return replace(made, at_once=at_once, joined=(joins and at_once) or self._end_to_end)


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
