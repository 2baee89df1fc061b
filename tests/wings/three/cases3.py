"""Cases for every engine of three sequences: scorings and triples, the same in every process.

A new engine is judged as soon as it is in ``ENGINES3``; if small sequences do not cross its tiles
and chunks by themselves, `OPTIONS` says how to make them.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import cases
import numpy as np
from cases import AB, array, mutated

from glsw.alignment.batch import Batch
from glsw.alignment.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences
from glsw.wings.three.engines import ENGINES3, engine3_of
from glsw.wings.three.engines.reference import Reference3, fill, trace
from glsw.wings.three.engines.tiles import TileShape
from glsw.wings.three.scoring import Scoring3

# Options of engines, each tried on every case: by the second ones, short sequences cross tiles.
OPTIONS: dict[str, tuple[dict[str, object], ...]] = {
    "auto": (),  # see test_auto
    "plane": ({},),
    "subtable": (
        {"shape": TileShape(2, 2, 2, 1), "depth": 4, "packed": False, "spacing": 8},
        {},
    ),
}
# Options that make many chunks of few triples.
CHUNKED = {"plane": {"memory": 2**20}, "subtable": {"memory": 2**20}}
# At and around the edges of sub-tables of 4 cells, of tiles of 8, 16, 32 and 64.
EDGES = (1, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 34)
SIX = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """Triples and how to score them."""

    name: str
    scoring: Scoring3
    triples: Batch

    @cached_property
    def _expected(self):
        """H of each triple, without what is before the letters, and the paths."""
        tables, found = [], []
        for t in range(len(self.triples)):
            words = self.triples[t]
            whole = fill(*words, self.scoring)
            tables.append(whole.h[1:, 1:, 1:] - self.scoring.score_offset(self.triples.lengths[t]))
            found.append(trace(*words, self.scoring, whole))
        score, end, moves = zip(*found, strict=True)
        ends = Ends(np.array(score, np.int32), np.array(end, np.int32))
        return tables, Paths.of_moves(ends, moves)

    @property
    def tables(self):
        return self._expected[0]

    @property
    def paths(self):
        return self._expected[1]

    @property
    def ends(self):
        return self.paths.ends

    def part(self, indices):
        return Case(self.name, self.scoring, self.triples.select(indices))

    def describe(self, t):
        decode = self.scoring.alphabet.decode
        words = ", ".join(repr(decode(word)) for word in self.triples[t])
        return f"{self.name}, triple {t} of {len(self.triples)}, {words}"


def configurations():
    """Return (name, options) of every engine to be judged."""
    return [
        (name, options)
        for name in ENGINES3
        if name != Reference3.name
        for options in OPTIONS.get(name, ({},))
    ]


def label(value):
    """Return the name of a configuration or case for pytest."""
    if isinstance(value, Case):
        return value.name.replace(" ", "-")
    return cases.label(value)


def build(configuration, scoring, device, **more):
    """Return an engine; the device may be None if the engine needs none."""
    name, options = configuration
    if name == Reference3.name:
        return Reference3(scoring)
    return engine3_of(ENGINES3[name], scoring, device, **(options | more))


def judge(engine, case):
    """Compare scores, ends, tables and paths with the reference."""
    same(case, "score", engine.scores(case.triples), case.ends.score)
    judge_ends(case, engine.ends(case.triples))
    judge_tables(case, engine.tables(case.triples))
    judge_paths(case, engine.paths(case.triples))


def judge_ends(case, found):
    same(case, "score", found.score, case.ends.score)
    same(case, "end", found.end, case.ends.end)


def judge_tables(case, tables):
    for t, (found, expected) in enumerate(zip(tables, case.tables, strict=True)):
        assert found.dtype == np.int32
        assert found.shape == expected.shape, case.describe(t)
        wrong = np.argwhere(found != expected)
        if len(wrong):
            i, j, k = wrong[np.argmin(wrong.sum(axis=1))].tolist()
            raise AssertionError(
                f"H({i + 1}, {j + 1}, {k + 1}) = {found[i, j, k]} is not {expected[i, j, k]}: "
                f"{case.describe(t)}; {len(wrong)} of {found.size} are wrong"
            )


def judge_paths(case, paths):
    judge_ends(case, paths.ends)
    assert len(paths) == len(case.triples)
    for t in range(len(paths)):
        found, expected = paths.moves(t), case.paths.moves(t)
        assert found.dtype == np.uint8
        assert found.tolist() == expected.tolist(), case.describe(t)


def judge_in_turn(configuration, device):
    """Judge engines that share programs, each with triples of other and of the same lengths.

    In turn, so that what an engine keeps of the last calls is of other triples, or of as many other
    letters.
    """
    rng = np.random.default_rng(23)

    def words(*lengths):
        return [rng.integers(0, 3, n).astype(np.uint8) for n in lengths]

    pool = Sequences.of(words(*[7] * 9))
    batches = [
        *(Batch.of([words(9, 21, 5)]) for _ in range(3)),
        *(Batch((pool,) * 3, np.array([each], np.int32)) for each in ((0, 1, 2), (5, 4, 8))),
        *(Batch.of([words(*each)]) for each in ((21, 9, 5), (21, 9, 33), (4, 0, 6), (1, 1, 1))),
        Batch.of([words(*lengths) for lengths in ((6, 7, 8), (0, 3, 2), (17, 4, 9), (6, 7, 8))]),
        Batch.of([words(6, 7, 8) for _ in range(4)]),
        Batch.of([words(3, 3, 3) for _ in range(20)]),
    ]
    gains = Scoring3.sum_of_pairs(Scoring.match_mismatch(5, -4, 4, 4))
    scorings = (
        *(Scoring3.identity(), Scoring3.identity(4, -2, 3), Scoring3.identity(3, -1, 2, 1)),
        *(gains, gains.in_mode("global"), Scoring3.identity().in_mode("semiglobal")),
    )
    kinds = [(each, build(configuration, each, device)) for each in scorings]
    known = {}
    for turn in rng.permutation(len(batches) * len(kinds) * 2).tolist():
        at, kind = turn % len(batches), turn // len(batches) % len(kinds)
        scoring, engine = kinds[kind]
        case = known.setdefault((at, kind), Case(f"turn {turn}", scoring, batches[at]))
        judge_ends(case, engine.ends(case.triples))
        if turn % 5 == 0:
            judge_paths(case, engine.paths(case.triples))
        if turn % 7 == 0:
            judge_tables(case, _interrupted(engine, engine.tables(case.triples), batches[0]))


def _interrupted(engine, found, others):
    """Yield what is found; the engine computes other triples in between."""
    for each in found:
        yield each
        engine.ends(others)


def judge_device(device, names):
    """Judge the engines that run on a device by the cases named; return the engines' names.

    Further options of an engine are judged by the first case only.
    """
    judged = set()
    for configuration in configurations():
        requires = ENGINES3[configuration[0]].capabilities.requires
        if requires is None or not device.info.offers(requires):
            continue
        for name in names[:1] if configuration[0] in judged else names:
            case = CASES[name].part(slice(None, None, 4))
            try:
                judge(build(configuration, case.scoring, device), case)
            except Exception as error:
                raise AssertionError(f"{label(configuration)} on {device.info.name}") from error
        judged.add(configuration[0])
    return judged


def same(case, what, found, expected):
    assert found.dtype == np.int32
    assert found.shape == expected.shape
    wrong = np.unique(np.argwhere(found != expected)[:, 0])
    if len(wrong):
        t = wrong[0]
        raise AssertionError(
            f"{what} {found[t]} is not {expected[t]}: {case.describe(t)}; {len(wrong)} are wrong"
        )


# triples


def mostly(rng, letters, length):
    """Return letters of which nine in ten are among the first four."""
    rare = rng.random(length) < 0.1
    return np.where(
        rare, rng.integers(0, letters, length), rng.integers(0, min(4, letters), length)
    )


def triples(scoring, seed):
    """Return triples of codes that every scoring is tried on."""
    rng = np.random.default_rng(seed)
    letters = len(scoring.alphabet)

    def some(length, of=letters):
        return rng.integers(0, of, length).astype(np.uint8)

    def few(length):
        return mostly(rng, letters, length).astype(np.uint8)

    def related(length):
        ancestor = some(length)
        return tuple(mutated(rng, letters, ancestor) for _ in range(3))

    empty = some(0)
    found = [(few(n), few(n), few(n)) for n in EDGES]
    found += [tuple(some(int(n)) for n in rng.choice(EDGES, 3)) for _ in range(6)]
    found += [related(n) for n in (6, 14, 20, 27, 33)]
    # Unequal lengths, each of the sequences in turn the longest and the shortest.
    found += [tuple(few((2, 9, 65)[s]) for s in order) for order in SIX]
    found += [(few(34), few(1), few(1)), (few(1), few(65), few(3)), (few(5), few(4), few(33))]
    # Nothing in one, in two and in all.
    found += [(empty, few(9), few(17)), (few(9), empty, few(17)), (few(17), few(9), empty)]
    found += [(few(5), empty, empty), (empty, few(5), empty), (empty, empty, few(5))]
    found += [(empty, empty, empty)]
    # The same three times; two the same; no letters alike; ties: few letters, and repeats.
    best, (x, y) = int(scoring.pairs.matrix.diagonal().argmax()), _unlike(scoring)
    word, alike = few(13), np.full(9, best, np.uint8)
    found += [(word, word, word), (word, word, few(20)), (few(11), word, word)]
    found += [(alike, alike, alike), (alike, alike[:5], alike[:7])]
    found += [tuple(np.full(n, code, np.uint8) for n, code in ((7, x), (9, y), (6, x)))]
    found += [tuple(some(n, min(2, letters)) for n in (12, 10, 14))]
    found += [tuple(np.resize(some(3, min(3, letters)), n) for n in (9, 13, 11))]
    # Long gaps: in one sequence, and in two.
    left, right, inserted = some(9), some(9), some(30)
    short, long = np.concatenate([left, right]), np.concatenate([left, inserted, right])
    found += [(short, long, long), (long, short, short), (long, long, short), (short, short, long)]
    return found


def _unlike(scoring):
    """Return the letters of the lowest score."""
    return np.unravel_index(int(scoring.pairs.matrix.argmin()), scoring.pairs.matrix.shape)


# scorings

_OF_4 = [[1, 0, -0.67, -1.35], [0, 1, 0, -0.67], [-0.67, 0, 1, 0], [-1.35, -0.67, 0, 1]]
_OF_6 = [
    [1.2, 0, -0.54, -0.97, -1.4, -1.93],
    [0, 1.2, 0, -0.43, -0.86, -1.4],
    [-0.54, 0, 1.2, 0, -0.43, -0.97],
    [-0.97, -0.43, 0, 1.2, 0, -0.54],
    [-1.4, -0.86, -0.43, 0, 1.2, 0],
    [-1.93, -1.4, -0.97, -0.54, 0, 1.2],
]
DECIMALS = Scoring.from_array(_OF_4, "abcd", 1, 1)


def scorings():
    """Return scorings by name."""
    rng = np.random.default_rng(62)
    asymmetric = rng.integers(-6, 7, (24, 24))
    words = tuple(f"{k:03}" for k in range(255))
    identity, pairs = Scoring3.identity, Scoring3.sum_of_pairs
    found = {
        "identity 1 1": identity(),
        "identity 3 1": identity(5, -4, 3, 1),
        "identity 0 0": identity(2, -1, 0),
        "identity 2 0": identity(3, -2, 2, 0),
        "identity with decimals": identity(1.5, -0.25, 0.5, 0.5),
        "identity, large numbers": identity(10**5, -(10**6), 10**6, 10**5),
        "identity of one letter": identity(1, -1, 1, alphabet=custom("A")),
        "identity of proteins": identity(3, -1, 2, 1, alphabet=PROTEIN),
        "identity by a matrix": Scoring3(
            "identity", array([[4, -3, -3], [-3, 4, -3], [-3, -3, -3]], "ABN", 4, 2)
        ),
        "BLOSUM62 12 1": pairs(),
        "BLOSUM62 8 8": pairs(Scoring.named("BLOSUM62", 8, 8)),
        "BLOSUM62 4 0": pairs(Scoring.named("BLOSUM62", 4, 0)),
        "BLOSUM62 0 0": pairs(Scoring.named("BLOSUM62", 0, 0)),
        "BLOSUM62 32768 1": pairs(Scoring.named("BLOSUM62", 32768, 1)),
        "BLOSUM62 12 6": pairs(Scoring.named("BLOSUM62", 12, 6)),
        "DNA 10 3": pairs(Scoring.match_mismatch(5, -4, 10, 3)),
        "DNA 10 1": pairs(Scoring.match_mismatch(5, -4, 10, 1)),
        "DNA 4 4": pairs(Scoring.match_mismatch(5, -4, 4, 4)),
        "pairs gain 4 2": pairs(Scoring.named("BLOSUM62", 4, 2)),
        "pairs gain 3 3": pairs(Scoring.named("BLOSUM62", 3, 3)),
        "pairs gain, DNA 2 0": pairs(Scoring.match_mismatch(5, -4, 2, 0)),
        "asymmetric 7 2": pairs(array(asymmetric, PROTEIN.letters, 7, 2)),
        "asymmetric 2 1": pairs(array(asymmetric, PROTEIN.letters, 2, 1)),
        "asymmetric 3 3": pairs(array(asymmetric, PROTEIN.letters, 3, 3)),
        "all positive 9 3": pairs(Scoring.named("RAO", 9, 3)),
        "nothing positive": pairs(array([[-1, 0], [-3, -2]], "AB", 2, 1)),
        "255 letters": pairs(array(rng.integers(-9, 10, (255, 255)), words, 6, 2)),
        "beyond 16 bits 9 9": pairs(array([[32768, -5], [-7, 40000]], "AB", 9, 9)),
        "beyond 16 bits 9 1": pairs(array([[32767, -32768], [-32768, 1]], "AB", 9, 1)),
        "decimals of 4 letters": pairs(DECIMALS),
        "decimals of 6 letters": pairs(Scoring.from_array(_OF_6, "abcdef", 0.8, 0.3)),
    }
    for name, gaps in (("1 1", (1, 1)), ("2 1", (2, 1)), ("1 0", (1, 0)), ("0 0", (0, 0))):
        found[f"identity of two letters {name}"] = identity(1, -1, *gaps, alphabet=AB)
        found[f"two letters {name}"] = pairs(Scoring.match_mismatch(1, -1, *gaps, alphabet=AB))
        found[f"mismatch 0, {name}"] = pairs(Scoring.match_mismatch(1, 0, *gaps, alphabet=AB))
    found["gap gap 8 8 5"] = pairs(Scoring.named("BLOSUM62", 8, 8), 5)
    found["gap gap 12 1 3"] = pairs(Scoring.named("BLOSUM62", 12, 1), 3)
    return found


def _case(name, scoring, seed):
    chosen = Batch.of(triples(scoring, seed))
    longest = next(n for n in range(99, 0, -1) if _possible(scoring, n))
    assert longest > 34
    return Case(name, scoring, chosen.select(chosen.lengths.max(axis=1) <= longest))


def _possible(scoring, length):
    """Return whether three sequences of such a length have a score that engines can keep."""
    try:
        scoring.check(np.array([[length] * 3]))
    except ValueError:
        return False
    return True


# Every kind of program.
CORE = (
    *("identity 1 1", "identity 3 1", "BLOSUM62 12 1", "BLOSUM62 12 6", "BLOSUM62 8 8"),
    *("pairs gain 3 3", "asymmetric 2 1", "255 letters", "beyond 16 bits 9 1", "two letters 2 1"),
)
# A third of the triples with these, an eighth with each of the others: tables take their time.
CASES = {
    name: _case(name, scoring, seed).part(
        slice(seed % 3, None, 3) if name in CORE else slice(seed % 8, None, 8)
    )
    for seed, (name, scoring) in enumerate(scorings().items())
}
# The same in other modes.
_WHOLE = {
    "global": ("identity 1 1", "identity 3 1", "BLOSUM62 12 1", "gap gap 8 8 5", "255 letters"),
    "semiglobal": ("identity 3 1", "gap gap 12 1 3", "pairs gain 3 3", "beyond 16 bits 9 1"),
}
WHOLE_CASES = {
    f"{mode} {name}": _case(f"{mode} {name}", scorings()[name].in_mode(mode), seed).part(
        slice(seed % 3, None, 3)
    )
    for mode, names in _WHOLE.items()
    for seed, name in enumerate(names)
}
FEW = ("identity 1 1", "BLOSUM62 12 1")


def shared(seed, *, sequences=12, count=60, alphabet=DNA, longest=24):
    """Return triples that share their sequences, in no order, also one sequence twice or thrice."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, sequences)
    words = [rng.integers(0, len(alphabet), n).astype(np.uint8) for n in lengths]
    index = rng.integers(0, sequences, (count, 3)).astype(np.int32)
    return Batch((Sequences.of(words),) * 3, index)
