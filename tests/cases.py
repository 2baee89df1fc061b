"""Cases for every engine: scorings and pairs of sequences, the same in every process.

A new engine is judged as soon as it is in ``ENGINES``; if small sequences do not cross its tiles
and chunks by themselves, `OPTIONS` says how to make them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pickle
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from weakref import WeakKeyDictionary

import numpy as np
from wing import of_wing, wing

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends, Runs
from glsw.alignment.traceback import trace
from glsw.device import shader
from glsw.device.device import Device
from glsw.engines import ENGINES, engine_of
from glsw.engines.lanes.rows import only
from glsw.engines.reference import Reference, alike, rows
from glsw.engines.tiles import ScanTile
from glsw.scoring.gaps import EndGaps, GapCost, PositionalGaps
from glsw.scoring.positional import PositionalScoring
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences
from glsw.wings import registered

# Options of engines, each tried on every case: by the second ones, short sequences cross tiles.
OPTIONS = {
    "fragment": ({}, {"tile": 4}, {"tile": 1}),
    "diagonal": ({}, {"workgroup": 2}),
    "blocked": (
        {},
        {"workgroup": 2, "columns": 16},
        {"workgroup": 2, "columns": 8, "rows": 4, "prune": True},
    ),
    "scan": (
        {},
        {"workgroup": 4, "columns": 2, "rows": 3},
        {"form": "blocks", "workgroup": 4},
        {"form": "single-stage", "workgroup": 4},
    ),
    "wavefront": ({}, {"workgroup": 4}),
    "lanes": (
        {},
        {"rows": 8, "workgroup": 4},
        {"number": "f32", "rows": 8, "workgroup": 4, "query_profile": "shared"},
        {"rows": 8, "chain": 4, "workgroup": 8, "query_profile": "storage"},
    ),
    "bit_parallel": ({}, {"words": 1, "columns": 32, "workgroup": 4}, {"words": 2, "memory": 999}),
}
# Engines of any scoring, and those of edit distances only.
OF_EDITS = [*registered("ENGINES")]
GENERAL = [name for name in ENGINES if name not in OF_EDITS]
# The same for engines that trace back; little memory keeps rows (and columns) for a second pass.
PATH_OPTIONS = {
    "diagonal": (
        {},
        {"workgroup": 1, "spacing": 1},
        {"workgroup": 2, "spacing": 2},
        {"workgroup": 1, "memory": 2000},
    ),
    "blocked": (
        {},
        {"workgroup": 1, "columns": 4, "memory": 3000},
        {"workgroup": 2, "columns": 6, "memory": 1000, "prune": False},
        {"workgroup": 1, "columns": 8, "rows": 4, "memory": 5000},
        {"workgroup": 1, "columns": 8, "memory": 20_000, "ahead": 30},
    ),
    "scan": (
        {},
        {"workgroup": 4, "columns": 3, "rows": 8, "memory": 3000},
        {"form": "blocks", "workgroup": 2, "columns": 4, "rows": 5, "memory": 1000},
    ),
}
# Options that make many chunks of few pairs.
CHUNKED = {
    "fragment": {"texels": 128},
    **{name: {"memory": 4096} for name, kind in ENGINES.items() if kind.capabilities.memory},
}
# One below, at and one above the edges of tiles of 4 and 8 cells.
EDGES = (0, 1, 3, 4, 5, 7, 8, 9, 16, 17)
AB = custom("AB")
BUILT = WeakKeyDictionary()
"""Engines and their configurations, for what a failure says."""


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """Pairs and how to score them."""

    name: str
    scoring: Scoring
    batch: Batch
    whole: Case | None = None
    numbers: np.ndarray | None = None

    @cached_property
    def expected(self):
        if self.whole:
            found = self.whole.expected
            return Ends(found.score[self.numbers], found.end[self.numbers])
        return Reference(self.scoring).ends(self.batch)

    @cached_property
    def possible(self):
        """All ends (query_end, target_end) of best alignments, a set for each pair."""
        if self.whole:
            return [self.whole.possible[p] for p in self.numbers]
        found, local = [None] * len(self.batch), self.scoring.local
        for chosen, queries, targets in alike(self.batch):
            every = rows(queries, targets, self.scoring)
            tables = np.stack([row.aligned if local else row.h for row in every], axis=1)
            for p, table in zip(chosen.tolist(), tables, strict=True):
                query, target = self.batch.pair(p)
                table = table[: len(query) + 1, : len(target) + 1]
                found[p] = self._possible_in(table, query)
        return found

    def _possible_in(self, table, query):
        m, n = np.array(table.shape) - 1
        i, j = np.indices(table.shape)
        ends = self.scoring.ends_of(query)
        if ends is None:
            inside = table > 0
        else:
            inside = (i == m) | (j == n) if min(m, n) else (i + j == 0) | (i + j == m + n)
            table = table if m else ends.above(j)  # its group may have other queries
            table = table + ends.behind(m - i, n - j)  # one gap is not cut in two
        if not inside.any():
            return {(0, 0)}
        best = inside & (table == table[inside].max())
        return set(map(tuple, np.argwhere(best).tolist()))

    def alignment(self, p, end):
        """Return the coordinates of the alignment of pair p that ends there, traced on the host."""
        if self.whole:
            return self.whole.alignment(int(self.numbers[p]), end)
        if (p, end) not in self._alignments:
            self._alignments[p, end] = traced(*self.batch.pair(p), self.scoring, *end)[0]
        return self._alignments[p, end]

    @cached_property
    def _alignments(self):
        return {}

    def part(self, indices):
        """Return some of the pairs; what is expected of them is computed for all, once."""
        numbers = np.arange(len(self.batch))[indices]
        return Case(self.name, self.scoring, self.batch.select(indices), self, numbers)

    def describe(self, p):
        query, target = self.batch.pair(p)
        decode = self.scoring.alphabet.decode
        query = query.tolist() if self.scoring.wide_queries else decode(query)
        target = decode(target)
        return f"{self.name}, pair {p} of {len(self.batch)}, query {query!r}, target {target!r}"


def by_reference(scoring, asked):
    """Return what the reference answers: ends of a batch, scores of a tile; of the same work once.

    Tests with several options of an engine share it.
    """
    key = hashlib.sha256(pickle.dumps((scoring, asked))).digest()
    if key not in _ANSWERS:
        engine = Reference(scoring)
        tile = isinstance(asked, ScanTile)
        _ANSWERS[key] = next(engine.answers([asked])) if tile else engine.ends(asked)
    return _ANSWERS[key]


_ANSWERS = {}


def configurations(names=GENERAL):
    """Return (name, options) of every engine to be judged."""
    return [
        (name, options)
        for name in names
        if name != Reference.name
        for options in OPTIONS.get(name, ({},))
    ]


def path_configurations(most=None):
    """Return (name, options) of every engine that traces back on the device, so many of each."""
    return [
        (name, options)
        for name, engine in ENGINES.items()
        if "alignment" in engine.capabilities.tasks and engine.capabilities.requires
        for options in PATH_OPTIONS.get(name, ({},))[:most]
    ]


def label(value):
    """Return the name of a configuration or case for pytest."""
    if isinstance(value, Case):
        return value.name.replace(" ", "-")
    name, options = value
    return "-".join([name, *(f"{key}{option}" for key, option in options.items())])


def takes(configuration, scoring):
    """Tell whether an engine aligns by such a scoring, and not only locally or with one cost."""
    return ENGINES[configuration[0]].capabilities.takes(scoring)


def able(device, requires):
    """Skip, or in continuous integration fail, where the device lacks what an engine needs.

    ``requires`` is a version of OpenGL, or the name of an engine; with None any device is able.
    """
    import pytest  # programs without it judge by these cases too

    if isinstance(requires, str):
        requires = ENGINES[requires].capabilities.requires
    if requires and not device.info.offers(requires):
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"OpenGL {requires} is needed, here is {device.info.version}")


def build(configuration, scoring, device):
    name, options = configuration
    made = engine_of(ENGINES[name], scoring, device, **options)
    BUILT[made] = label(configuration)
    return made


@contextmanager
def told(engine, case):
    """Let a failure name the scoring, its costs, engine, options, device and programs."""
    programs, made = {}, (shader.compute, shader.render)

    def watching(of):
        def compiled(device, *names, **macros):
            defined = {key: value for key, value in macros.items() if value is not None}
            known = {key: value for key, value in defined.items() if not key.endswith("_BINDING")}
            programs.setdefault(names[-1], []).append(known)
            return of(device, *names, **macros)

        return compiled

    shader.compute, shader.render = map(watching, made)
    try:
        yield
    except Exception as error:
        scoring = case.scoring
        ends = f", ends {scoring.end_gaps}" if scoring.end_gaps else ""
        insertion, deletion = scoring.largest_costs
        where = f" on {engine.device.info.name}" if engine.capabilities.requires else ""
        raise AssertionError(
            f"{error}\nscoring {scoring.name}, insertion {insertion}, deletion {deletion}{ends}\n"
            f"engine {BUILT.get(engine, engine.name)}{where}\nprograms {programs}"
        ) from error
    finally:
        shader.compute, shader.render = made


def lanes_options(rng):
    """Return some geometry for engine `lanes`, as random as its options allow."""
    workgroup, chain = (2 ** rng.integers(0, (9, 7))).tolist()
    options = {
        "chain": min(chain, workgroup),
        "rows": int(rng.choice([8, 8, 12, 16, 20])),
        "number": str(rng.choice(["int32", "f32"])),
        "memory": int(2 ** rng.integers(12, 31)),
    }
    options = {key: value for key, value in options.items() if rng.random() < 0.5}
    return {"workgroup": workgroup, **options}


def standing_in(device, **traits):
    """Return a device as one that has other traits, by default as hardware; all else they share."""
    info = dataclasses.replace(device.info, **{"software": False} | traits)
    kind = type("StandIn", (Device,), {"info": property(lambda device: info)})
    made = object.__new__(kind)
    made.__dict__ = device.__dict__
    return made


def limited(device, **limits):
    """Return a device as one with other limits of OpenGL."""
    return standing_in(
        device, software=device.info.software, limits={**device.info.limits, **limits}
    )


def groups_in(rows):
    """Return a table of each group of queries of engine `lanes`."""
    return [only(rows, [k]) for k in range(rows["group"][-1] + 1)]


def hinting(kind, **hints):
    """Return a property `hints` for a kind of engine, with others than its own."""
    own = kind.hints.fget
    return property(lambda engine: dataclasses.replace(own(engine), **hints))


def judge(engine, case):
    """Compare scores and ends, by the tie rules that the engine knows, with the reference."""
    expected = case.expected
    with told(engine, case):
        _same(case, "score", engine.scores(case.batch), expected.score)
        found = engine.ends(case.batch)
        for field in ("score", "query_end", "target_end"):
            _same(case, field, getattr(found, field), getattr(expected, field))
        if "any" in tie_rules(engine):
            _judge_any(case, engine.ends(case.batch, ties="any"))


def tie_rules(engine):
    """Return the tie rules by which an engine may find other ends."""
    return ("conventional", "any") if engine.name in ("cpu", "auto") else ("conventional",)


def _judge_any(case, found):
    _same(case, "score", found.score, case.expected.score)
    ends = zip(found.query_end.tolist(), found.target_end.tolist(), strict=True)
    for p, (end, possible) in enumerate(zip(ends, case.possible, strict=True)):
        assert end in possible, f"end {end} is none of {possible}: {case.describe(p)}"


def traced(query, target, scoring, *end, **options):
    """Return the coordinates of the host's alignment that ends there, and its score."""
    runs, score = trace(query, target, scoring, *end, **options)
    return runs.coordinates(), score


def with_path(mask, coordinates):
    """Return a mask with the pairs of an alignment."""
    return mask.with_runs(Runs.of_coordinates([coordinates]))


def traced_with_any_memory(case, p):
    """Return the host's alignment of a pair; little memory gives the same."""
    query, target = case.batch.pair(p)
    end = int(case.expected.query_end[p]), int(case.expected.target_end[p])
    coordinates, score = traced(query, target, case.scoring, *end)
    for memory in (0, 50, 500):
        divided, same = traced(query, target, case.scoring, *end, memory=memory)
        assert (divided.tolist(), same) == (coordinates.tolist(), score), case.describe(p)
    return coordinates


def judge_paths(engine, case):
    """Compare alignments traced back on the device with those of the host."""
    with told(engine, case):
        _judge_paths(engine, case)


def _judge_paths(engine, case):
    paths = engine.paths(case.batch)
    found, expected = paths.ends, case.expected
    for field in ("score", "query_end", "target_end"):
        _same(case, field, getattr(found, field), getattr(expected, field))
    assert len(paths.offsets) == len(case.batch) + 1
    ends = zip(found.query_end.tolist(), found.target_end.tolist(), strict=True)
    for p, end in enumerate(ends):
        alignment = paths.coordinates(p).tolist()
        host = case.alignment(p, end).tolist()
        assert alignment == host, f"{alignment} is not {host}: {case.describe(p)}"


def judge_device(device, names, once=()):
    """Judge the engines that run on a device by the cases named; return the engines' names.

    The cases named in ``once`` are for the first options of each engine only, but for `auto`,
    whose engines are judged themselves.
    """
    judged, judged_by = set(), {(judge, "auto"), (judge_paths, "auto")}
    everything = [(judge, each) for each in configurations()]
    everything += [(judge, each) for each in configurations(OF_EDITS)]
    if device.info.compute:
        everything += [(judge_paths, each) for each in path_configurations(2)]
    for turn, (judgement, configuration) in enumerate(everything):
        requires = ENGINES[configuration[0]].capabilities.requires
        if requires is None or not device.info.offers(requires):
            continue
        first = (judgement, configuration[0]) not in judged_by
        judged_by.add((judgement, configuration[0]))
        chosen = (*names, *once) if first else names
        for name in EDIT_CASES if configuration[0] in OF_EDITS else chosen:
            case = quick(configuration, (CASES | END_CASES | EDIT_CASES)[name])
            if name in CASES:  # a third of the pairs, in turn
                case = case.part(slice(turn % 3, None, 3))
            if not takes(configuration, case.scoring):
                continue
            judgement(build(configuration, case.scoring, device), case)
        judged.add(configuration[0])
    return judged


def cases_of(configuration):
    """Return the cases of an engine with such options.

    The first options have all cases. The others have the core, and half of the cases with
    alphabets of two sizes: each size is a program to compile. The few have all pairs, and so has
    the core with the first options; else it is a third of them, in turn.
    """
    name, options = configuration
    at = OPTIONS.get(name, ({},)).index(options)
    whole = FEW if at else CORE
    chosen = [
        case if case.name in whole else case.part(slice((number + at) % 3, None, 3))
        for number, case in enumerate(CASES.values())
        if not at
        or case.name in (*CORE, "two tracks 12 1")
        or (number % 2 == at % 2 and len(case.scoring.alphabet) in (2, len(PROTEIN)))
    ]
    return [
        case if case.name in (*FEW, "255 letters") else quick(configuration, case)
        for case in chosen
    ]


def quick(configuration, case):
    """Return a case without the longer pairs if these make an engine compile for long."""
    if configuration != ("scan", {}):
        return case
    # Each doubling of the targets' lengths has its program, the longest ones of many columns.
    return case.part(np.flatnonzero(case.batch.target_lengths <= 32))


def _same(case, what, found, expected):
    assert found.dtype == np.int32
    assert found.shape == expected.shape
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        p = wrong[0]
        raise AssertionError(
            f"{what} {found[p]} is not {expected[p]}: {case.describe(p)}; {len(wrong)} are wrong"
        )


# pairs


def codes(*letters):
    return np.array(letters, np.uint8)


def mutated(rng, letters, sequence):
    """Return a relative of a sequence: letters changed, put in and taken out."""
    kept = sequence[rng.random(len(sequence)) > 0.1]
    at = np.sort(rng.integers(0, len(kept) + 1, rng.integers(0, 6)))
    changed = np.insert(kept, at, rng.integers(0, letters, len(at)))
    where = rng.random(len(changed)) < 0.2
    changed[where] = rng.integers(0, letters, where.sum())
    return changed.astype(np.uint8)


def pairs(scoring, seed):
    """Return pairs of codes that every scoring is tried on."""
    rng = np.random.default_rng(seed)
    letters = len(scoring.alphabet)

    def some(length, of=letters):
        return rng.integers(0, of, length).astype(np.uint8)

    found = [(some(m), some(n)) for m, n in product(EDGES, EDGES)]
    # Relatives of unequal lengths, a piece of the query alone and inside a longer target.
    for m in rng.integers(10, 50, 12):
        query = some(m)
        found.append((query, mutated(rng, letters, query)))
        found.append((query, np.concatenate([some(9), query[m // 3 : m // 2], some(30)])))
    found += [(some(2), some(150)), (some(150), some(2)), (some(5), some(90)), (some(90), some(5))]
    # All letters equal, no letters alike, and ties: few letters, repeats.
    a = int(scoring.matrix.diagonal().argmax())
    unlike = np.unravel_index(int(scoring.matrix.argmin()), scoring.matrix.shape)
    for m, n in ((8, 8), (9, 7), (33, 20), (1, 40)):
        found.append((np.full(m, a, np.uint8), np.full(n, a, np.uint8)))
        found.append((np.full(m, unlike[0], np.uint8), np.full(n, unlike[1], np.uint8)))
    for m, n in ((12, 12), (9, 26), (31, 17)):
        found.append((some(m, min(2, letters)), some(n, min(2, letters))))
        unit = some(3)
        found.append((np.resize(unit, m), np.resize(unit, n)))
    # A long gap in the target and in the query.
    left, right = some(20), some(20)
    for inserted in (3, 30, 90):
        longer = np.concatenate([left, some(inserted), right])
        found += [(np.append(left, right), longer), (longer, np.append(left, right))]
    return found


def beyond_16_bits():
    """Return pairs whose scores, with `LIMIT` below, are at and around 2**15 and 2**16."""
    a, b, c = codes(0), codes(1), codes(2)
    alike = [(31, 1, 0), (32, 0, 0), (32, 0, 1), (31, 1, 1), (63, 1, 0), (64, 0, 0), (96, 0, 3)]
    equal = [np.repeat(codes(0, 1, 2), numbers) for numbers in alike]
    found = [(x, x) for x in equal]
    found += [(x, np.concatenate([x[:20], c, x[20:]])) for x in equal]
    found += [(x, np.concatenate([x[:10], b, x[11:], np.tile(b, 50)])) for x in equal]
    # The best cell is in the first tile of many.
    found.append((np.append(np.tile(a, 40), np.tile(c, 40)), np.append(np.tile(a, 40), [2, 1] * 9)))
    return [(x.astype(np.uint8), y.astype(np.uint8)) for x, y in found]


# scorings


def array(matrix, letters, *gaps):
    return Scoring.from_array(np.array(matrix), letters, *gaps)


def scorings():
    """Return scorings by name."""
    rng = np.random.default_rng(62)
    asymmetric = rng.integers(-6, 7, (24, 24))
    triples = tuple(f"{k:03}" for k in range(255))
    largest = rng.integers(-9, 10, (255, 255))
    limit = [[1024, -1, -1024], [-1, 1023, -1024], [-1024, -1024, 1]]
    found = {
        "BLOSUM62 12 1": Scoring.named("BLOSUM62", 12, 1),
        "BLOSUM62 8 8": Scoring.named("BLOSUM62", 8, 8),
        "BLOSUM62 4 0": Scoring.named("BLOSUM62", 4, 0),
        "BLOSUM62 0 0": Scoring.named("BLOSUM62", 0, 0),
        "BLOSUM62 32767 0": Scoring.named("BLOSUM62", 32767, 0),
        "BLOSUM62 32768 1": Scoring.named("BLOSUM62", 32768, 1),
        "DNA 10 1": Scoring.match_mismatch(5, -4, 10, 1),
        "DNA 4 4": Scoring.match_mismatch(5, -4, 4, 4),
        "DNA 2 0": Scoring.match_mismatch(5, -4, 2, 0),
        "one letter 7 2": array([[5]], "A", 7, 2),
        "one letter 1 1": array([[5]], "A", 1, 1),
        "one letter of no worth": array([[0]], "A", 1, 1),
        "nothing positive": array([[-1, 0], [-3, -2]], "AB", 2, 1),
        "asymmetric 7 2": array(asymmetric, PROTEIN.letters, 7, 2),
        "asymmetric 3 3": array(asymmetric, PROTEIN.letters, 3, 3),
        "all positive 9 3": Scoring.named("RAO", 9, 3),
        "all positive 3 3": Scoring.named("RAO", 3, 3),
        "codons": Scoring.named("SCHNEIDER", 20.5, 3),
        "255 letters": array(largest, triples, 6, 2),
        "limit 900 1": array(limit, "ABC", 900, 1),
        "limit 900 900": array(limit, "ABC", 900, 900),
        "limit 32767 32767": array(limit, "ABC", 32767, 32767),
        "largest of 16 bits": array([[32767, -32767], [-32767, 1]], "AB", 32767, 1),
        "lowest beyond 16 bits": array([[32767, -32768], [-32768, 1]], "AB", 9, 1),
        "highest beyond 16 bits": array([[32768, -5], [-7, 40000]], "AB", 9, 9),
        "millions": Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**5),
    }
    for name, gaps in (("1 1", (1, 1)), ("2 1", (2, 1)), ("1 0", (1, 0)), ("0 0", (0, 0))):
        found[f"two letters {name}"] = Scoring.match_mismatch(1, -1, *gaps, alphabet=AB)
        found[f"mismatch 0, {name}"] = Scoring.match_mismatch(1, 0, *gaps, alphabet=AB)
    return found


def _case(name, scoring, seed):
    chosen = pairs(scoring, seed)
    if name.startswith("limit"):
        chosen += beyond_16_bits()
    return Case(name, scoring, Batch.pairwise(*zip(*chosen, strict=True)))


def _profiles(name, underlying, seed, gaps=None):
    """Return a case of profiles: each query has rows of scores of its own, or those of letters.

    ``gaps(rng, count)`` returns the gap costs of so many positions.
    """
    rng = np.random.default_rng(seed)
    chosen = pairs(underlying, seed)
    queries, rows, first = [], [], 0
    for query, _ in chosen:
        changed = rng.integers(-3, 4, (len(query), len(underlying.alphabet)))
        rows.append(underlying.matrix[query] + changed * rng.integers(0, 2))
        queries.append(np.arange(first, first + len(query), dtype=np.uint16))
        first += len(query)
    costs = gaps and PositionalGaps(*gaps(rng, first))
    scoring = PositionalScoring.of(np.concatenate(rows), underlying, costs)
    return Case(name, scoring, Batch.pairwise(queries, [target for _, target in chosen]))


def _two_tracks(name, underlying, seed):
    """Return a case of two tracks: pairs with second letters by a matrix of their own."""
    rng = np.random.default_rng(seed)
    matrix = np.array([[4, -2, -1], [-3, 6, -2], [0, -1, 3]])
    second = array(matrix, "xyz", 1, 1)
    scoring = TwoTrackScoring.of(dataclasses.replace(underlying, end_gaps=None), second, 1.5)
    scoring = dataclasses.replace(scoring, end_gaps=underlying.end_gaps)
    chosen = [
        [scoring.alphabet.paired(each, rng.integers(0, 3, len(each), np.uint8)) for each in pair]
        for pair in pairs(underlying, seed)
    ]
    return Case(name, scoring, Batch.pairwise(*zip(*chosen, strict=True)))


CASES = {
    name: _case(name, scoring, seed) for seed, (name, scoring) in enumerate(scorings().items())
}
CASES |= {
    name: _profiles(name, CASES[like].scoring, 7)
    for name, like in (("profiles 12 1", "BLOSUM62 12 1"), ("profiles 3 3", "asymmetric 3 3"))
}
CASES |= {
    name: _two_tracks(name, CASES[like].scoring, 9)
    for name, like in (
        ("two tracks 12 1", "BLOSUM62 12 1"),
        ("two tracks 3 3", "asymmetric 3 3"),
        ("two tracks, largest of 16 bits", "largest of 16 bits"),
    )
}


def end_scorings():
    """Return scorings by name: from end to end, or with insertions at a cost of their own."""
    # All over four letters, which is one program for all.
    asymmetric = np.random.default_rng(4).integers(-6, 7, (4, 4))
    worthless = np.full((4, 4), -9)
    worthless[0, 3] = -8
    limit = np.full((4, 4), -1024)
    limit[:3, :3] = [[1024, -1, -1024], [-1, 1023, -1024], [-1024, -1024, 1]]
    plain, linear = array(asymmetric, "ABCD", 7, 2), array(asymmetric, "ABCD", 3, 3)
    other = dataclasses.replace(plain, insertion_open=4, insertion_extend=3)
    one = dataclasses.replace(linear, insertion_open=1, insertion_extend=1)
    cost, free = GapCost, GapCost(0, 0)
    found = {
        "global": plain.in_mode("global"),
        "global, linear": linear.in_mode("global"),
        "semi-global": plain.in_mode("semiglobal"),
        "semi-global, linear": linear.in_mode("semiglobal"),
        "free ends of the query": plain.in_mode("semiglobal", free="query"),
        "free ends of the target": linear.in_mode("semiglobal", free="target"),
        "free right ends": dataclasses.replace(
            plain, end_gaps=EndGaps(cost(9, 9), cost(5, 1), free, free)
        ),
        "ends of their own": dataclasses.replace(
            plain, end_gaps=EndGaps(cost(20, 0), cost(2, 3), cost(1, 2), cost(7, 1))
        ),
        "ends of their own, linear": dataclasses.replace(
            linear, end_gaps=EndGaps(cost(1, 1), cost(4, 4), cost(2, 2), cost(3, 1))
        ),
        "insertions": other,
        "insertions, linear": one,
        "insertions, global": other.in_mode("global"),
        "insertions, global, linear": one.in_mode("global"),
        "insertions, ends of their own": dataclasses.replace(
            other, end_gaps=EndGaps(cost(3, 1), cost(0, 2), cost(4, 0), cost(1, 1))
        ),
        "match and mismatch, global": Scoring.match_mismatch(5, -4, 10, 1).in_mode("global"),
        "gaps cost nothing": array(asymmetric, "ABCD", 0, 0).in_mode("global"),
        "gaps alone": array(worthless, "ABCD", 1, 1).in_mode("global"),
        "limit, semi-global": array(limit, "ABCD", 900, 1).in_mode("semiglobal"),
        "limit, global, linear": array(limit, "ABCD", 900, 900).in_mode("global"),
        "costs of 16 bits": array(limit, "ABCD", 32767, 1).in_mode("semiglobal"),
        "costs beyond 16 bits": array(limit, "ABCD", 32768, 0).in_mode("global"),
        "millions, global": array(asymmetric * 10**5, "ABCD", 10**6, 10**6).in_mode("global"),
    }
    return found


END_CASES = {
    name: _case(name, scoring, seed).part(slice(seed % 3, None, 3))
    for seed, (name, scoring) in enumerate(end_scorings().items())
}
END_CASES |= {
    f"profiles, {name}": _profiles(f"profiles, {name}", END_CASES[name].scoring, 8)
    for name in ("global", "semi-global, linear", "insertions, ends of their own")
}


def _any_gaps(rng, count):
    """Return costs to open and to extend a gap: cheap and dear ones side by side."""
    extends = rng.integers(0, 4, count)
    return extends + rng.integers(0, 2, count) * rng.integers(0, 20, count), extends


def _linear_gaps(rng, count):
    costs = rng.integers(0, 9, count)
    return costs, costs


def _wide_gaps(rng, count):
    """Return costs of which some open far above what they extend for."""
    return rng.choice([2, 300, 40_000], count), rng.choice([0, 1, 2], count)


GAP_CASES = {
    f"profiles, {name} by position": _profiles(f"profiles, {name} by position", under, 8, gaps)
    for name, under, gaps in (
        ("gaps", CASES["BLOSUM62 4 0"].scoring, _any_gaps),
        ("linear gaps", CASES["asymmetric 3 3"].scoring, _linear_gaps),
        ("wide gaps", CASES["BLOSUM62 12 1"].scoring, _wide_gaps),
    )
}
END_CASES |= {
    (full := f"profiles, gaps by position, {name}"): _profiles(
        full, END_CASES[name].scoring, 11, gaps
    )
    for name, gaps in (
        ("global", _any_gaps),
        ("global, linear", _linear_gaps),
        ("semi-global", _any_gaps),
        ("free ends of the query", _wide_gaps),
        ("free ends of the target", _any_gaps),
    )
}
END_CASES |= {
    f"two tracks, {name}": _two_tracks(f"two tracks, {name}", END_CASES[name].scoring, 10)
    for name in ("global, linear", "insertions, ends of their own")
}


def unit_costs(*words, **options):
    """Return the scoring of edit distances, of which a wing has the engine."""
    return wing("edit.unit_costs").unit_costs(*words, **options)


EDIT_LETTERS = {"edit distance": DNA, "edit distance, infix": AB, "edit distance of 24": PROTEIN}
EDIT_CASES = {
    name: _case(name, unit_costs(alphabet, infix="infix" in name), seed)
    for seed, (name, alphabet) in enumerate(of_wing("edit", EDIT_LETTERS).items())
}
# For other implementations of OpenGL: every kind of program. For the slowest: one or two.
CORE = (
    *("BLOSUM62 12 1", "BLOSUM62 8 8", "asymmetric 7 2", "two letters 0 0", "255 letters"),
    *("limit 900 1", "limit 900 900", "largest of 16 bits", "highest beyond 16 bits"),
)
FEW = ("BLOSUM62 12 1", "limit 900 900")
COMPUTE = 4, 3
"""The first version of OpenGL that has compute shaders, by which `auto` aligns too."""
END_FEW = ("insertions, ends of their own", "free ends of the target")


def shared(seed, *, queries=30, targets=40, count=150, alphabet=DNA):
    """Return a batch of pairs that share their sequences, in no order."""
    rng = np.random.default_rng(seed)
    both = [
        Sequences.of(
            rng.integers(0, len(alphabet), length).astype(np.uint8)
            for length in rng.integers(0, 30, number)
        )
        for number in (queries, targets)
    ]
    index = [rng.integers(0, number, count).astype(np.int32) for number in (queries, targets)]
    return Batch.indexed(*both, *index)


def long_pairs_by_blocked(engine, shape, device):
    """Stand in for `glsw.engines.costs.seconds`: small pairs are for `diagonal`, and apart."""
    wanted = "blocked" if shape.m * shape.n >= 300 else "diagonal"
    return shape.pairs**2 + 2**60 * (engine.removesuffix(" alignment") != wanted)
