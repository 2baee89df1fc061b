"""Random pairs, scorings and options for every engine, judged by parasail and the reference.

A scenario is made from a seed alone, so that a failure can be repeated anywhere.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import cases
import numpy as np
import numpy.typing as npt
import parasail

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends
from glsw.alignment.traceback import trace
from glsw.device.device import Device
from glsw.engines import Engine
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.scoring.gaps import MODES, EndGaps, GapCost, PositionalGaps
from glsw.scoring.matrices import MAX_UNITS
from glsw.scoring.positional import MAX_POSITIONS, PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences

MATRICES = ("BLOSUM45", "BLOSUM62", "BLOSUM80", "PAM30", "PAM250", "GONNET1992", "RAO")
MAX_REFERENCE_CELLS = 300_000  # that the reference computes in about a second
MAX_ROWS = 3000  # of all pairs, that the reference visits one by one
_MAX_CELLS = {"wavefront": 300_000, "scan": 5_000_000, "blocked": 20_000_000}  # of slower ones
_ALPHABETS = DNA, PROTEIN, custom("ACGT"), custom("AB"), custom("ABCDEFGHIJKLMNOPQRSTU")
_Configurations = tuple[tuple[str, dict[str, object]], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Scenario:
    """Pairs that engines are judged by.

    Parameters
    ----------
    seed : int
    name : str
    scoring : Scoring
    queries, targets : Sequences
    batch : Batch
        Pairs of these.
    bulk : bool
        Every query meets every target, for scores alone.
    configurations : tuple of (str, dict)
        Engines and options to judge, by their scores alone; if there are none, any engines.
    """

    seed: int
    name: str
    scoring: Scoring
    queries: Sequences
    targets: Sequences
    batch: Batch
    bulk: bool
    configurations: _Configurations = ()


def scenario(seed: int, scale: float = 1) -> Scenario:
    """Return the scenario of a seed; ``scale`` multiplies the number of pairs of large ones."""
    rng = np.random.default_rng(seed)
    names = [name for name in _SHAPES if cases.OF_EDITS or name not in _EDITS]
    name = names[rng.integers(len(names))]
    bulk = name.startswith("all")
    if name in _EDITS:
        alphabet = _ALPHABETS[rng.integers(len(_ALPHABETS))]
        scoring = cases.unit_costs(alphabet, infix=bool(rng.random() < 0.5))
    elif name == _OWN_QUERIES:
        scoring = expressible(rng).in_mode(MODES[seed % 3])
    else:
        scoring = expressible(rng) if bulk or name in _LONG else _scoring(rng)
    queries, targets, pairs = _SHAPES[name](rng, len(scoring.alphabet), scale)
    if name in _PAIRS and seed % 3 == 0:
        queries, scoring = _by_position(rng, queries, scoring)
    batch = batch_of(queries, targets, pairs)
    configurations: _Configurations = ()
    if name in _EDITS:
        configurations = *(("bit_parallel", _of_words(rng)) for _ in range(2)), ("auto", {})
    elif name == _OWN_QUERIES:
        configurations = tuple(("lanes", cases.lanes_options(rng)) for _ in range(3))
    return Scenario(seed, name, scoring, queries, targets, batch, bulk, configurations)


def _by_position(
    rng: np.random.Generator, queries: Sequences, scoring: Scoring
) -> tuple[Sequences, Scoring]:
    """Return queries as profiles with gap costs by position, if there may be such."""
    letters = queries.residues
    if scoring.separate or not 0 < len(letters) <= MAX_POSITIONS:
        return queries, scoring
    rows = scoring.matrix[letters] + rng.integers(-2, 3, (len(letters), len(scoring.alphabet)))
    extends = rng.integers(0, 4, len(letters))
    opens = extends + rng.integers(0, 2, len(letters)) * rng.integers(0, 20, len(letters))
    if rng.random() < 0.2:
        extends = opens
    made = PositionalScoring.of(
        rows.clip(-MAX_UNITS, MAX_UNITS),
        dataclasses.replace(scoring, end_gaps=None),
        PositionalGaps(opens, extends),
    )
    if scoring.end_gaps:
        free = ("both", "query", "target")[rng.integers(3)]
        made = (
            made.in_mode("semiglobal", free=free) if rng.random() < 0.7 else made.in_mode("global")
        )
    return Sequences(np.arange(len(letters), dtype=np.uint16), queries.offsets), made


def _of_words(rng: np.random.Generator) -> dict[str, object]:
    """Return some options of engine `bit_parallel`."""
    options = {
        "words": int(rng.integers(1, 17)),
        "columns": 32 * int(rng.integers(1, 40)),
        "workgroup": 2 ** int(rng.integers(0, 8)),
        "memory": 2 ** int(rng.integers(12, 29)),
    }
    return {key: value for key, value in options.items() if rng.random() < 0.6}


def batch_of(queries: Sequences, targets: Sequences, pairs: npt.ArrayLike) -> Batch:
    """Return pairs given by the numbers of their query and target."""
    return Batch.indexed(queries, targets, *np.asarray(pairs, np.int32).reshape(-1, 2).T)


def judge(chosen: Scenario, device: Device, most: int) -> Iterator[tuple[str, int]]:
    """Judge some engines, at most so many; yield the name and the scores compared of each.

    Raises
    ------
    AssertionError
        If an engine finds anything else than expected.
    """
    rng = np.random.default_rng(chosen.seed + 2**40)
    expected = expected_scores(chosen)
    few = chosen.batch.cells <= MAX_REFERENCE_CELLS and not chosen.bulk
    few = few and int(chosen.batch.query_lengths.sum()) <= MAX_ROWS
    configurations = [(each, False) for each in chosen.configurations or cases.configurations()]
    if not chosen.configurations and device.info.compute:  # else the host traces back
        configurations += [(each, True) for each in cases.path_configurations()]
    if few and chosen.configurations:
        _same(chosen, "reference", Reference(chosen.scoring).scores(chosen.batch), expected)
    judged, ends = 0, None
    device_cells = 2**26 if device.info.software else 2**40
    for k in rng.permutation(len(configurations)).tolist():
        configuration, paths = configurations[k]
        required = cases.ENGINES[configuration[0]].capabilities.requires
        if not cases.takes(configuration, chosen.scoring) or (paths and not few):
            continue
        if required is not None and not device.info.offers(required):
            continue
        cells = 0 if chosen.configurations else chosen.batch.cells
        if cells > _MAX_CELLS.get(configuration[0], device_cells):
            continue
        own_queries = chosen.name == _OWN_QUERIES
        where = cases.standing_in(device) if own_queries else device
        if own_queries and configuration[0] == "lanes":
            configuration = "lanes", configuration[1] | {"own_queries": True}
        engine = cases.build(configuration, chosen.scoring, where)
        try:
            engine.check(chosen.batch)
        except ValueError:
            continue  # too long for this engine, as it says itself
        label = cases.label(configuration)
        if chosen.bulk:
            found = np.concatenate(
                list(engine.answers([ScanTile(chosen.queries, chosen.targets)])), axis=None
            )
        else:
            found = engine.scores(chosen.batch)
        _same(chosen, label, found, expected)
        if few and not chosen.configurations:
            case = cases.Case(chosen.name, chosen.scoring, chosen.batch)
            cases.judge(engine, case)
            if paths:
                cases.judge_paths(engine, case)
        elif not (chosen.bulk or chosen.configurations) and "ends" in engine.capabilities.tasks:
            ends = _judge_ends(chosen, label, engine, expected, ends)
        yield label, len(expected)
        judged += 1
        if judged == most:
            return


def expected_scores(chosen: Scenario) -> np.ndarray:
    """Return the scores of all pairs by parasail if it takes the scoring, or by the reference."""
    if not _in_parasail(chosen.scoring):
        return Reference(chosen.scoring).scores(chosen.batch)
    matrix = _parasail_matrix(chosen.scoring)
    scoring = chosen.scoring
    mode = _mode_of(scoring)
    # "striped" is wrong now and then where opening a gap costs no more than extending it
    function = getattr(parasail, f"{mode}_scan_profile_32")
    gap = chosen.scoring.gap_open, chosen.scoring.gap_extend
    found = np.zeros(len(chosen.batch), np.int32)
    text = [_text(each) for each in chosen.targets]

    def compute(q: int) -> None:
        chosen_pairs = np.flatnonzero(chosen.batch.query_index == q)
        query, indices = chosen.queries[q], chosen.batch.target_index[chosen_pairs].tolist()
        if not len(query):
            found[chosen_pairs] = Reference(chosen.scoring).scores(
                chosen.batch.select(chosen_pairs)
            )
            return
        profile = parasail.profile_create_32(_text(query), matrix)
        for p, t in zip(chosen_pairs.tolist(), indices, strict=True):
            found[p] = function(profile, text[t], *gap).score if text[t] else _of_gaps(p)
            if mode == "sg":  # which leaves out an alignment of nothing but gaps
                found[p] = max(0, found[p])

    def _of_gaps(p: int) -> int:
        return int(Reference(chosen.scoring).scores(chosen.batch.select([p]))[0])

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(compute, np.unique(chosen.batch.query_index).tolist()))
    return found


def _judge_ends(
    chosen: Scenario, label: str, engine: Engine, expected: np.ndarray, before: Ends | None
) -> Ends:
    """Check that ends are those of another engine, and that a few lead to alignments."""
    ends = engine.ends(chosen.batch)
    _same(chosen, f"{label}, ends", ends.score, expected)
    if before:
        _same(chosen, f"{label}, query ends", ends.query_end, before.query_end)
        _same(chosen, f"{label}, target ends", ends.target_end, before.target_end)
        return before
    costs = chosen.batch.query_lengths * chosen.batch.target_lengths
    for p in np.argsort(costs)[:2].tolist():
        end = int(ends.query_end[p]), int(ends.target_end[p])
        _, score = trace(*chosen.batch.pair(p), chosen.scoring, *end)
        assert score == expected[p], f"seed {chosen.seed}: {label}: no alignment ends at {end}"
    return ends


def _same(chosen: Scenario, label: str, found: np.ndarray, expected: np.ndarray) -> None:
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        p = int(wrong[0])
        raise AssertionError(
            f"seed {chosen.seed}, {chosen.name}: {label}: score {found[p]} is not {expected[p]}, "
            f"pair {p}, lengths {chosen.batch.query_lengths[p]} and "
            f"{chosen.batch.target_lengths[p]}; {len(wrong)} of {len(found)} are wrong"
        )


# parasail


def _in_parasail(scoring: Scoring) -> bool:
    few = len(scoring.alphabet) <= 26
    return few and scoring.in_mode("local").symmetric and _mode_of(scoring) != ""


def _mode_of(scoring: Scoring) -> str:
    """Return what parasail calls the mode of a scoring, "" if it has no such mode."""
    modes = {
        "sw": scoring.in_mode("local"),
        "nw": scoring.in_mode("global"),
        "sg": scoring.in_mode("semiglobal"),
        "sg_dx": scoring.in_mode("semiglobal", free="target"),
    }
    return next((k for k, each in modes.items() if each.end_gaps == scoring.end_gaps), "")


def _parasail_matrix(scoring: Scoring):
    size = len(scoring.alphabet)
    made = parasail.matrix_create(_text(np.arange(size)), 1, -1)
    for i in range(size):
        for j in range(size):
            made[i, j] = int(scoring.matrix[i, j])
    return made


def _text(codes: np.ndarray) -> str:
    return (codes + ord("A")).astype(np.uint8).tobytes().decode("ascii")


# scorings


def _gaps(rng: np.random.Generator, most: int = 20) -> tuple[int, int]:
    opening = int(rng.integers(0, most + 1))
    extension = opening if rng.random() < 0.25 else int(rng.integers(0, min(opening, 4) + 1))
    return opening, extension


def expressible(rng: np.random.Generator) -> Scoring:
    """Return a scoring that parasail takes too."""
    kind = rng.integers(3)
    if kind == 0:
        made = Scoring.named(str(rng.choice(MATRICES[:5])), *_gaps(rng))
    elif kind == 1:
        match, mismatch = int(rng.integers(1, 9)), -int(rng.integers(0, 9))
        made = Scoring.match_mismatch(match, mismatch, *_gaps(rng))
    else:
        half = rng.integers(-8, 9, (4, 4))
        made = cases.array(half + half.T, "ABCD", *_gaps(rng))
    share = rng.random()
    if share < 0.8:
        return made
    return made.in_mode("global" if share < 0.9 else "semiglobal")


def _scoring(rng: np.random.Generator) -> Scoring:
    kind = rng.integers(5)
    if kind < 2:
        made = expressible(rng)
    elif kind == 2:
        made = Scoring.named(str(rng.choice(MATRICES)), *_gaps(rng, 40))
    elif kind == 3:
        made = cases.array(rng.integers(-9, 10, (4, 4)), "ABCD", *_gaps(rng))
    else:
        high = int(rng.choice([40, 1024, 32767, 10**6]))
        made = cases.array(rng.integers(-high, high + 1, (4, 4)), "ABCD", *_gaps(rng, high))
    if rng.random() < 0.2:
        insertion = _gaps(rng)
        if made.linear:
            insertion = insertion[0], insertion[0]
        other = {"insertion_open": insertion[0], "insertion_extend": insertion[1]}
        made = dataclasses.replace(made, end_gaps=None, **other)
    if rng.random() < 0.4:
        return made
    free = ("both", "query", "target")[rng.integers(3)]
    if rng.random() < 0.7:
        mode = ("global", "semiglobal")[rng.integers(2)]
        return made.in_mode(mode) if mode == "global" else made.in_mode(mode, free=free)
    inside = [made.insertion, made.deletion]
    ends = [GapCost(*_gaps(rng)) for _ in range(4)]
    if made.linear:
        ends = [GapCost(each.open, each.open) for each in ends]
    for side, cost in enumerate(inside, start=2):  # behind, gaps cost no more than inside
        ends[side] = GapCost(min(ends[side].open, cost.open), min(ends[side].extend, cost.extend))
    return dataclasses.replace(made, end_gaps=EndGaps(*ends))


# sequences


def _some(rng: np.random.Generator, letters: int, length: int) -> np.ndarray:
    kind = rng.random()
    if kind < 0.1:  # low complexity
        return np.resize(rng.integers(0, letters, rng.integers(1, 5)), length).astype(np.uint8)
    if kind < 0.2:
        return rng.integers(0, min(2, letters), length).astype(np.uint8)
    return rng.integers(0, letters, length).astype(np.uint8)


def _lengths(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    return np.exp(rng.uniform(np.log(low + 1), np.log(high + 2), count)).astype(int).tolist()


def related_pairs(rng, letters, count, low, high):
    """Return related and unrelated pairs."""
    queries, targets = [], []
    for m, n in zip(_lengths(rng, count, low, high), _lengths(rng, count, low, high), strict=True):
        query = _some(rng, letters, max(0, m - 1))
        kind = rng.random()
        if kind < 0.3:
            target = cases.mutated(rng, letters, query)
        elif kind < 0.5:
            piece = query[len(query) // 3 : len(query) // 3 * 2]
            target = np.concatenate([_some(rng, letters, n // 2), piece, _some(rng, letters, n)])
        else:
            target = _some(rng, letters, max(0, n - 1))
        queries.append(query)
        targets.append(target.astype(np.uint8))
    index = [(k, k) for k in range(count)]
    return Sequences.of(queries), Sequences.of(targets), index


def _crossed(rng, letters, m, n):
    """Return lists of queries and targets of such lengths, of which some are relatives."""
    queries = [_some(rng, letters, each) for each in m]
    targets = [_some(rng, letters, each) for each in n]
    for _ in range(len(targets) // 8):
        t, q = rng.integers(len(targets)), rng.integers(len(queries))
        relative = cases.mutated(rng, letters, queries[q])
        target = targets[t]
        if len(relative) < len(target):
            at = rng.integers(len(target) - len(relative))
            target[at : at + len(relative)] = relative
    index = [(q, t) for q in range(len(queries)) for t in range(len(targets))]
    return Sequences.of(queries), Sequences.of(targets), index


def _all_short(rng, letters, scale):
    n = _lengths(rng, int(400 * scale), 0, 60)
    return _crossed(rng, letters, _lengths(rng, int(12 * scale**0.5), 0, 60), n)


def _all_proteins(rng, letters, scale):
    n = _lengths(rng, int(120 * scale), 30, 900)
    return _crossed(rng, letters, _lengths(rng, int(6 * scale**0.5), 30, 900), n)


def _reads_and_genome(rng, letters, scale):
    count = int(4 * scale**0.5)
    return _crossed(rng, letters, _lengths(rng, count, 15, 150), [int(40_000 * scale), 700])


def _all_distances(rng, letters, scale):
    m = _lengths(rng, int(8 * scale**0.5) + 1, 0, 2500)
    return _crossed(rng, letters, m, _lengths(rng, int(50 * scale), 0, 2500))


def _some_of(rng, crossed, count):
    """Return what `_crossed` returns, with some of its pairs, in any order and repeated."""
    queries, targets, _ = crossed
    index = rng.integers(0, (len(queries), len(targets)), (count, 2))
    return queries, targets, index


def _distances(rng, letters, scale):
    lengths = (_lengths(rng, 30, 0, int(rng.choice([40, 300, 2500]))) for _ in range(2))
    return _some_of(rng, _crossed(rng, letters, *lengths), int(60 * scale))


def _own_queries(rng, letters, scale):
    # With more, llvmpipe ends the loops of a lane alone, which of hardware is asked to do all.
    longest = int(rng.choice([40, 120, 480]))
    m = _lengths(rng, int(60 * scale**0.5) + 2, 0, longest)
    crossed = _crossed(rng, letters, m, _lengths(rng, int(50 * scale**0.5) + 8, 0, longest))
    return _some_of(rng, crossed, int(200 * scale))


_Maker = Callable[..., tuple[Sequences, Sequences, npt.ArrayLike]]
_SHAPES: dict[str, _Maker] = {
    "short pairs": lambda rng, letters, _: related_pairs(rng, letters, 60, 0, 24),
    "pairs": lambda rng, letters, _: related_pairs(rng, letters, 20, 0, 120),
    "long pairs": lambda rng, letters, scale: related_pairs(
        rng, letters, 3, 300, int(1500 * scale**0.5)
    ),
    "very unequal": lambda rng, letters, scale: _crossed(
        rng, letters, [3, 17], [int(20_000 * scale), 5]
    ),
    "all short": _all_short,
    "all proteins": _all_proteins,
    "all reads and a genome": _reads_and_genome,
    "all edit distances": _all_distances,
    "edit distances": _distances,
    "pairs with their own queries": _own_queries,
}
_PAIRS = ("short pairs", "pairs")
_LONG = ("long pairs", "very unequal")
_EDITS = ("all edit distances", "edit distances")
_OWN_QUERIES = "pairs with their own queries"
