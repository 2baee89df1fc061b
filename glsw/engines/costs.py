"""Cost model of the engines: estimates in seconds, by which ``auto`` chooses.

An estimate is a sum of terms, each a quantity of the work times a coefficient that was fitted to
measurements (``tests/data/engine_seconds.ndjson``). Other devices are faster or slower; what counts
is which engine is the fastest, and that changes little.

============ ======================================================================================
engine       terms besides a constant
============ ======================================================================================
diagonal     pairs, residues, steps of the longest pair in each chunk, steps of all work groups
blocked      pairs at once, one lot after the other: lots, rows and columns of each; pairs, rows
             and columns of all, of alignments those whose directions do not fit at once; cells
scan         pairs, residues, dispatches, steps of a dispatch, cells of blocks: scores and ends
lanes        letters of a query, of all queries, targets, pairs, scores, residues, columns of a
             target, cells of strips: of a table of all queries and targets, or of one for each
             query; of pairs with own queries: pairs, residues, cells of the longest pair, of all:
             scores
windows      groups of pairs, residues, cells of strips; then ends by ``diagonal``
cpu          queries, pairs, residues, cells of full lanes: scores, where there is no GPU; of
             single pairs, which share no query: pairs, cells; ends and alignments likewise
fragment     pairs, residues, anti-diagonals, cells: scores and ends, on software renderers
============ ======================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import mul
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from glsw.alignment.batch import Batch

_DIAGONAL_ROWS = ((128, 16), (256, 32))
_LARGEST_WORKGROUP, _SOFTWARE_WORKGROUP = 64, 8
_ROWS_OF_LANE = 8
_STRIP, _SOFTWARE_STRIP = 192, 32  # rows of a strip of lanes
_CPU_LANES, _CPU_ROWS = 32, 100  # of a column: what it costs beside its rows, in rows
_CHUNK_BYTES = 2**30  # of directions, 4 bits a cell
_MOST_TOGETHER, _ROWS_TOGETHER, _CELLS_TOGETHER = 2**10, 2**18, 2**36  # of pairs in `blocked`
_CELLS_OF_DIRECTIONS = 2**28  # of those aligned in one go
_WINDOW_SPANS = 6  # columns that are left for ends and paths, in lengths of the query


SINGLE_PAIRS = "cpu, single pairs"
TABLES = "cpu, tables"
"""Keys of `COEFFICIENTS` for engine ``cpu`` with pairs that share no query, and with tables for
ends and alignments."""
WHOLE_TABLE, EACH_QUERY, OWN_QUERIES = "lanes", "lanes, each query", "lanes, own queries"
"""How ``lanes`` computes pairs: all queries with all targets, a query with its targets at a time,
or every pair with a query of its own. Each has its price."""

Kind = Literal["hardware", "software"]
"""Devices that differ in which engine is the fastest."""


class Shape(NamedTuple):
    """Work for an engine: pairs of similar size."""

    m: float  # mean letters of queries
    n: float  # and of targets
    pairs: int
    queries: int  # different ones
    targets: int

    @classmethod
    def of(cls, batch: Batch) -> Shape:
        """Return that of pairs, with as many cells as they have, see `Batch.usual`."""
        return cls(*batch.usual, len(batch), *batch.distinct)

    @property
    def residues(self) -> float:
        """Letters that are uploaded."""
        return self.m * self.queries + self.n * self.targets


def terms(engine: str, shape: Shape, software: bool = False) -> tuple[float, ...]:
    """Return the quantities of work in the estimate of an engine, a key of `COEFFICIENTS`."""
    m, n, pairs = shape.m, shape.n, shape.pairs
    match engine.removesuffix(" alignment"):
        case "diagonal":
            group = _SOFTWARE_WORKGROUP if software else _LARGEST_WORKGROUP
            for rows, smaller in () if software else _DIAGONAL_ROWS[::-1]:
                group = smaller if m <= rows else group
            steps = (n + 2 * group) * _times(m, _ROWS_OF_LANE * group)
            bytes_kept = m * n / 2 * pairs * engine.endswith("alignment")
            chunks = max(1, bytes_kept / _CHUNK_BYTES)
            return 1, pairs, shape.residues, steps * chunks, steps * group * pairs
        case "blocked":
            aligns = engine.endswith(" alignment")
            most = max(1, min(pairs, _MOST_TOGETHER, _ROWS_TOGETHER / max(1, m)))
            if aligns:
                most = max(1, min(most, _CELLS_TOGETHER / max(1, m * n)))
            lots, residues = -(-pairs // most), pairs * (m + n)
            crosses = not aligns or most * m * n > _CELLS_OF_DIRECTIONS
            strip = _ROWS_OF_LANE * (8 if software else 32)
            cells = _times(m, strip) * strip * n * pairs
            return lots, lots * (m + n), pairs, residues * crosses, cells
        case "scan":
            width = 8 if software else 32
            most, several, alone = (32, 256, 512) if software else (16, 64, 512)
            columns = min(most, max(4, 1 << (int(_times(n, width)) - 1).bit_length()))
            blocks = _times(n, width * columns)
            rows = several if blocks > 1 else alone
            dispatches = _times(m, rows) + blocks - 1
            steps = min(m, rows) * dispatches * columns
            return 1, pairs, shape.residues, dispatches, steps, m * blocks * columns * pairs
        case "lanes":
            strip = _SOFTWARE_STRIP if software else _STRIP
            strips, scores = _times(m, strip), shape.queries * shape.targets
            cells = max(strip / 3, strips * strip) * n * scores
            letters = m * shape.queries
            sides = m, letters, shape.targets, pairs, scores, shape.residues
            return 1, *sides, strips * n, cells
        case "lanes, own queries":
            return 1, pairs, shape.residues, m * n, m * n * pairs
        case "cpu, single pairs" | "cpu, tables":
            return pairs, m * n * pairs
        case "cpu":
            cells = (m + _CPU_ROWS) * n * max(pairs, _CPU_LANES * shape.queries)
            return 1, shape.queries, pairs, shape.residues, cells
        case "windows":
            groups = min(shape.queries, shape.targets)
            return 1, groups, shape.residues, max(_STRIP, m) * n * pairs
        case "fragment":
            return 1, pairs, shape.residues, m + n, m * n * pairs
    raise KeyError(engine)


def seconds(engine: str, shape: Shape, device: Kind, *, slower: float = 1.0) -> float:
    """Return the estimate for an engine on a kind of device, by names of `COEFFICIENTS`.

    The last term, the cells, costs ``slower`` times as much.
    """
    if engine == EACH_QUERY:
        targets = shape.pairs // shape.queries
        one = Shape(shape.m, shape.n, targets, 1, targets)
        return shape.queries * seconds(WHOLE_TABLE, one, device, slower=slower)
    own = device == "hardware" and engine.startswith("cpu")  # the processor is not the device
    known = COEFFICIENTS["software" if own else device]
    factors = known.get(engine) or known[engine.removesuffix(" alignment")]
    *others, cells = map(mul, factors, terms(engine, shape, device != "hardware"))
    total: float = sum(others) + slower * cells
    if engine.startswith("windows"):
        task = " alignment" if engine.endswith(" alignment") else ""
        crop = shape._replace(n=_WINDOW_SPANS * shape.m, targets=shape.pairs)
        total += seconds("diagonal" + task, crop, device) if task else 0
    return total


def way_of_lanes(shape: Shape, *, own_queries: bool, rate: float | None = None) -> str:
    """Return how ``lanes`` computes pairs on hardware: the key of what costs least.

    With ``own_queries`` it can compute pairs that each have their own query. ``rate`` are the cells
    per second of the device; by default those to which the factors were fitted.
    """
    ways = [WHOLE_TABLE, EACH_QUERY, OWN_QUERIES][: 3 if own_queries and shape.queries > 1 else 2]
    slower = 1 / (rate * COEFFICIENTS["hardware"][WHOLE_TABLE][-1]) if rate else 1.0
    return min(ways, key=lambda way: seconds(way, shape, "hardware", slower=slower))


def _times(length: float, step: int) -> float:
    return float(-(-length // step))


COEFFICIENTS: Mapping[Kind, Mapping[str, tuple[float, ...]]] = {
    "hardware": {
        "diagonal": (0.000928, 2.57e-07, 4.09e-10, 1.45e-07, 4.02e-12),
        "blocked": (0.000707, 1.18e-07, 1.35e-05, 2.56e-09, 2.13e-12),
        "scan": (0.000506, 1.44e-07, 6.21e-10, 1.13e-05, 3.69e-08, 7.22e-11),
        "diagonal alignment": (0.0012, 4.15e-07, 3.97e-11, 8.17e-07, 3.15e-11),
        "fragment": (0.00245, 6.14e-07, 6.84e-09, 2.71e-06, 1.72e-11),
        "lanes": (0.002, 1.6e-07, 1e-07, 5e-08, 3e-08, 2e-09, 5.63e-10, 3e-08, 2.59e-13),
        "lanes, own queries": (0.0012, 1.18e-07, 7.91e-11, 2.96e-09, 4.2e-13),
        "blocked alignment": (0.0012, 3e-07, 0.0001, 2.2e-07, 2e-11),
        "windows": (0, 0.00174, 8.06e-10, 2.03e-12),
    },
    "software": {
        "cpu, single pairs": (1.5e-05, 4.5e-10),
        "cpu, tables": (7e-05, 1.2e-09),
        "cpu": (0.00117, 0.000114, 2.96e-06, 9.65e-09, 1.03e-10),
        "windows": (0, 0.0025, 4.13e-08, 1.5e-10),
        "scan": (0.00175, 6.02e-06, 4.24e-08, 2.24e-05, 1.33e-08, 2.94e-08),
        "diagonal": (0.00107, 3.51e-06, 3e-09, 5.26e-08, 4.06e-08),
        "fragment": (0.00115, 7.58e-06, 7.93e-08, 7.26e-06, 3.02e-09),
        "lanes": (0.0026, 2.16e-06, 0, 1.87e-06, 0, 0, 9e-09, 2.21e-07, 7.66e-10),
        "blocked": (0.00102, 1.17e-07, 5.09e-05, 1.36e-08, 3.4e-09),
        "diagonal alignment": (0.00107, 7.17e-06, 1.23e-07, 6.66e-07, 5.7e-08),
        "blocked alignment": (0.0008, 2.48e-06, 0.000318, 0, 7.25e-09),
    },
}
"""The factor of each of the `terms`, in seconds."""
