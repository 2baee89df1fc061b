"""Self-test of pairwise engines: pairs of awkward lengths, and the expected results.

One residue, lengths beside the edges of tiles and strips, long gaps, ends of equal scores. Scores,
ends and alignments are those of `reference`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch, Mask
from glsw.alignment.paths import Ends, Runs
from glsw.alignment.traceback import trace
from glsw.arrays import Codes, Int64, Intp
from glsw.engines.base import Engine, ignore
from glsw.engines.reference import Reference
from glsw.engines.sizes import LARGEST, SMALLEST, Size
from glsw.engines.tiles import ScanTile
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.alphabet import DNA
from glsw.sequences.encoded import Sequences

_LONGEST = 540  # residues of sequences, of which parts are used
_PLAIN = ((0, 1), (4, 2), (0, 3), (20, 7), (50, 8), (0, 9), (95, 15), (118, 17))
"""Short targets: where they begin in the first query, and how far they go."""
_WITH_GAPS = ((0, 64, -13), (3, 52, 12), (40, 65, -13), (195, 62, -13), (224, 50, 12))
"""The same with a long gap each: residues that are gone, or more than before."""
_GAPS = ((25, -13), (65, 12), (150, -13), (200, 12), (300, -13), (420, 12))
"""The same of the long target."""
_FLANK = 25  # residues on both sides of a gap that do not change: it is worth it
_REPEATED = 12  # residues, in pairs with several ends of the same score
_SHORT, _WIDE = 280, 1100  # of one more pair of the largest size: its target has several tiles
_FEW = 300  # rows from which there are only two pairs, which take the reference long enough
_MASKED = 2  # pairs of which the second alignment is computed too
_SEED = 2006
_kept = lru_cache(maxsize=16)  # results of a function: an engine needs six of a scoring


class Work(NamedTuple):
    """Work of a scoring: two related queries, and what is compared with them."""

    queries: list[npt.NDArray[Any]]
    same: npt.NDArray[Any]  # a target: the first query
    long: npt.NDArray[Any]  # what it is after mutations
    targets: list[npt.NDArray[Any]]  # short ones, mutated parts of the first query


@_kept
def work_for(scoring: Scoring, letters: int | None = None) -> Work:
    """Return the work for a scoring, of all letters or the first ones; always the same."""
    rng = np.random.default_rng(_SEED)
    count = min(letters or 2**16, scoring.matrix.shape[1])
    of_positions = scoring.wide_queries and not isinstance(scoring, TwoTrackScoring)
    usual = _usual_letters(scoring, count)
    rare = rng.random(_LONGEST) < 0.05
    first = np.where(rare, rng.integers(0, count, _LONGEST), rng.choice(usual, _LONGEST))
    changed = np.where(rng.random(_LONGEST) < 0.4, rng.choice(usual, _LONGEST), first)
    kind: Any = np.uint16 if scoring.wide_queries else np.uint8
    queries = [each.astype(kind) for each in (first, changed)]
    if of_positions:  # a letter of a query is a position
        positions = len(scoring.matrix)
        best = scoring.matrix.argmax(axis=1)
        queries = [(np.arange(_LONGEST) + start) % positions for start in (0, 3)]
        first, queries = best[queries[0]], [each.astype(kind) for each in queries]
    kind = np.uint8 if of_positions else kind

    def mutated(start: int, length: int, *gaps: tuple[int, int]) -> npt.NDArray[Any]:
        target, elsewhere = first[start : start + length].copy(), rng.random(length) < 0.2
        for at, _ in gaps:
            elsewhere[at - _FLANK : at + _FLANK + 13] = False
        target[elsewhere] = rng.integers(0, count, int(elsewhere.sum()))
        for at, more in reversed(gaps):
            if more < 0:
                target = np.delete(target, slice(at, at - more))
            else:
                target = np.insert(target, at, rng.integers(0, count, more))
        return target.astype(kind)

    short = [mutated(*place) for place in _PLAIN]
    short += [mutated(start, length, (_FLANK, more)) for start, length, more in _WITH_GAPS]
    return Work(queries, first.astype(kind), mutated(0, _LONGEST, *_GAPS), short)


@lru_cache(maxsize=8)
def scoring_of_trials(scoring: Scoring) -> Scoring:
    """Return a scoring like one, by which the work for it can be computed: perhaps itself.

    Where the positions of a query must follow each other, there are as many as queries are long.
    """
    if scoring.gaps is None or scoring.local:
        return scoring
    positions = np.arange(_LONGEST + 3) % len(scoring.matrix)
    return replace(  # type: ignore[call-arg]
        scoring, matrix=scoring.matrix[positions], gaps=scoring.gaps.at(positions)
    )


def _usual_letters(scoring: Scoring, count: int) -> Intp:
    """Return letters that score best with themselves: of some alphabets few do."""
    square = scoring.matrix[:count, :count]
    if scoring.wide_queries or len(square) < count:
        return np.arange(count)
    others = np.where(np.eye(count, dtype=bool), -(2**31), square)
    found = np.flatnonzero(square.diagonal() > others.max(axis=1))
    return found if len(found) else np.arange(count)


def awkward(scoring: Scoring, size: Size = SMALLEST, *, backwards: bool = False) -> Batch:
    """Return pairs of a size with awkward lengths; of the smallest one also tiny ones.

    Perhaps in the other order, and their letters too: scores may be the same, not where they are.
    """
    work = work_for(scoring)
    m, n = size.lengths
    lengths = [(m, n), (m, n // 2 + 5)]
    if m <= _FEW:
        lengths += [(m - 1, n // 2 + 9), (m // 2 + 9, n)]
    if size == SMALLEST:
        lengths += [(33, 31), (7, 65), (64, 8), (1, 1), (2, 0), (0, 4)]
    pairs = []
    for p, (rows_, columns) in enumerate(lengths):
        # Every other alignment ends where the longer sequence does, the rest where the shorter one.
        i, j = (max(0, columns - rows_), max(0, rows_ - columns)) if p % 2 else (p, 2 * p)
        pairs.append((work.queries[p // 2 % 2][i : i + rows_], work.long[j : j + columns]))
    repeated, follow = list(_repeated(work, m, n)), scoring.gaps and not scoring.local
    if follow:  # the positions of a query
        repeated = [(work.queries[0][: len(query)], target) for query, target in repeated]
    pairs += repeated
    if size == LARGEST:
        pairs.append((work.queries[0][:_SHORT], np.resize(work.long[::-1], _WIDE)[::-1]))
    orders = (1, 1)
    if backwards:
        pairs, orders = pairs[::-1], (1 if follow else -1, -1)
    both = (Sequences.of([pair[side][:: orders[side]] for pair in pairs]) for side in (0, 1))
    return Batch.pairwise(*both)


def _repeated(work: Work, m: int, n: int) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Yield pairs of m and n residues at most whose best score several ends have."""
    (a, c, _), (b, d, _) = (
        np.split(letters, (_REPEATED, length - _REPEATED))
        for letters, length in ((work.queries[0], m), (work.same, n))
    )
    yield np.concatenate([a, c[_REPEATED:], a]), b
    # A shorter query would need programs of another size.
    yield np.concatenate([a, c[::-1]]), np.concatenate([b, d[_REPEATED:], b])
    yield (
        np.concatenate([a[::-1], c[_REPEATED:], a]),
        np.concatenate([b, d[: _REPEATED - 1 : -1], b[::-1]]),
    )


@cache
def trial_scorings() -> dict[str, Scoring]:
    """Return scorings whose programs differ, by what they are for."""
    protein = Scoring.blast()
    dna = Scoring.match_mismatch(2, -3, 5, 5, alphabet=DNA)
    return {
        "protein": protein,
        "DNA, linear gaps": dna,
        "protein, global": protein.in_mode("global"),
        "DNA, linear gaps, global": dna.in_mode("global"),
    }


def checks(engine: Engine, task: str, size: Size) -> Iterator[tuple[Any, Any]]:
    """Yield what an engine computes of awkward pairs, and what the reference does.

    It computes others first: a device may go on with what it had. Alignments that an engine leaves
    to the host are right.
    """
    scoring, asked = engine.scoring, (engine.scoring, size, task == "masked")
    batch, ends, before = _batch(*asked), _ends(*asked), awkward(scoring, size, backwards=True)
    if task == "scan":
        tile = ScanTile(*batch.sequences)
        yield next(engine.answers([tile])), Reference(scoring).table(tile, ignore)
    if task == "score":
        engine.scores(before)
        yield engine.scores(batch), ends.score
    if task == "ends":
        engine.ends(before)
    if task in ("ends", "masked"):
        yield from alike(engine.ends(batch), ends)
    if task == "alignment":
        engine.paths(before)
    if task in ("alignment", "masked") and (paths := engine.paths(batch)) is not None:
        yield paths.ends.end, ends.end
        yield from ((paths.coordinates(p), each) for p, each in enumerate(_traced(*asked)))


def alike(found: Ends, right: Ends) -> Iterator[tuple[Any, Any]]:
    """Yield the scores and the ends that were found, and the right ones."""
    yield found.score, right.score
    yield found.end, right.end


def each_with_each(queries: Sequence[Codes], targets: Sequence[Codes]) -> Batch:
    """Return the pairs of each query with each target, those of a query one behind another."""
    pairs = np.indices((len(queries), len(targets))).reshape(2, -1).T.astype(np.int32)
    return Batch((Sequences.of(queries), Sequences.of(targets)), pairs)


@_kept
def _batch(scoring: Scoring, size: Size, masked: bool = False) -> Batch:
    """Return awkward pairs, or if masked some of them whose best alignments are forbidden."""
    batch = awkward(scoring, size)
    if not masked:
        return batch
    some = batch.select(np.arange(_MASKED))
    pairs = zip(some.query_lengths.tolist(), _traced(scoring, size), strict=False)
    return some.masked(Mask.nothing(m).with_runs(Runs.of_coordinates([path])) for m, path in pairs)


@_kept
def _ends(scoring: Scoring, size: Size, masked: bool = False) -> Ends:
    """Return their ends by the reference."""
    return Reference(scoring).ends(_batch(scoring, size, masked))


@_kept
def _traced(scoring: Scoring, size: Size, masked: bool = False) -> list[Int64]:
    """Return their alignments by the host, as coordinates."""
    batch, ends = _batch(scoring, size, masked), _ends(scoring, size, masked).end.tolist()
    found = (trace(*batch.pair(p), scoring, *end, mask=batch.mask(p)) for p, end in enumerate(ends))
    return [each[0].coordinates() for each in found]
