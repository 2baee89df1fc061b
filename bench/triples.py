"""What the benchmark of three sequences needs: words of a recording, proteins, and judges.

>>> scoring = Scoring3.identity()
>>> words = [scoring.alphabet.encode(word) for word in ("TACG", "ACG", "AG")]
>>> path_score(scoring, words, np.array([4, 3, 2], np.int32), np.array([7, 3, 7], np.uint8))
1
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import cpu3, generated
from bench.machine import cores
from bench.measure import Check, both, compare
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines.three import ENGINES3, Engine3, Reference3, Subtable, engine3_of
from glsw.engines.three.tiles import TileShape
from glsw.paths import Ends
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences
from glsw.series import readers, sax

Task: TypeAlias = Literal["table", "ends", "paths"]
Cells: TypeAlias = npt.NDArray[np.signedinteger]

RATES = {True: 2e7, False: 0.8e7}
"""Cells per second of the reference, with linear gaps or not; a core of the C code has 10 times."""
TRIED = 60
"""Small triples of each scoring on which the C code is judged."""


class Data:
    """Words of a recording and proteins: the sequences of triples, and their scorings by name.

    Without the path of a recording one is generated; words have this number of letters.
    """

    def __init__(self, path: Path | None, letters: int) -> None:
        words, self.letters = sax.alphabet(letters), letters
        self.scorings = {
            "identity": Scoring3.identity(1, -1, 1, alphabet=words),
            "identity, affine": Scoring3.identity(1, -1, 2, 1, alphabet=words),
            "sum of pairs": Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 8, 8)),
            "sum of pairs, affine": Scoring3.sum_of_pairs(Scoring.blast("BLOSUM62", 11, 1)),
        }
        self.values = recording() if path is None else readers.read(path).values

    def triple(self, name: str, lengths: Sequence[int]) -> Batch:
        """Return one triple of these lengths for a scoring.

        The first samples of three channels, a letter each as in the paper; or three relatives.
        """
        if self.scorings[name].alphabet is PROTEIN:
            protein = generated.proteins([max(lengths)])[0]
            parts = Sequences.of([protein[:length] for length in lengths])
            return Batch.of([list(generated.relatives(parts, 20))])
        values = self.values
        if values.shape[1] < max(lengths) or len(values) < 3:
            values = recording(samples=max(lengths))
        words = [
            sax.sax_codes(values[channel, :length], length, self.letters)
            for channel, length in enumerate(lengths)
        ]
        return Batch.of([words])

    def triples(self, name: str, length: int) -> Batch:
        """Return all triples of the channels, as words of this length."""
        channels = len(self.values)
        if self.scorings[name].alphabet is PROTEIN:
            protein = generated.proteins([length])[0]
            parts = generated.relatives(Sequences.of([protein] * channels), 20)
            return Batch.combinations(parts, 3)
        words = sax.sax_codes(self.values, length, self.letters)
        return Batch.combinations(Sequences.of(list(words)), 3)


def recording(channels: int = 24, samples: int = 4096, seed: int = 2012) -> npt.NDArray[np.float64]:
    """Return what looks like the blood flow of a brain, shape (channels, samples).

    10 samples per second: a smooth random walk of all channels and one of each, waves of about
    0.1 Hz, and noise.

    Examples
    --------
    >>> values = recording(channels=3, samples=100)
    >>> values.shape, bool(np.isfinite(values).all())
    ((3, 100), True)
    """
    random = np.random.default_rng(seed)
    width = 20  # two seconds
    steps = random.standard_normal((channels + 1, samples + width - 1))
    smooth = np.stack([np.convolve(each, np.full(width, 1 / width), "valid") for each in steps])
    walks = smooth.cumsum(axis=1)
    seconds = np.arange(samples) / 10
    phases = random.uniform(0, 2 * np.pi, (channels, 1))
    waves = np.sin(2 * np.pi * random.uniform(0.08, 0.12, (channels, 1)) * seconds + phases)
    values: npt.NDArray[np.float64] = (
        walks[0] + walks[1:] + waves + 0.1 * random.standard_normal((channels, samples))
    )
    return values


# judges


class Judges:
    """Who says what is right: the C code, the reference, or another engine.

    ``refused`` is why there is no C code; ``check`` how it did on small triples, judged by the
    reference.
    """

    def __init__(self, device: Device | None, data: Data, seconds: float) -> None:
        self.device, self.seconds = device, seconds
        self.refused = cpu3.refused()
        self.check = None if self.refused else check_of_code(list(data.scorings.values()))
        if self.check and not self.check.passed:
            self.refused = f"the C code is wrong: {self.check.first}"

    def cells(self, scoring: Scoring3, triples: Batch, engine: str) -> tuple[str, Any, Cells]:
        """Return who judges an engine, which triples, and their best cells, shape (N, 4)."""
        rate, some = RATES[scoring.linear], min(cores(), len(triples))
        if not self.refused:
            chosen = self._portion(triples, 10 * some * rate)
            if chosen:
                return cpu3.NAME, chosen, cpu3.best(scoring, triples.select(chosen), threads=some)
        chosen, judge = self._portion(triples, rate), engine_on("reference", scoring, None)
        if not chosen:
            chosen, judge = list(range(len(triples))), self._other(engine, scoring)
        return judge.label, chosen, cells_of(judge.ends(triples.select(chosen)))

    def planes(self, scoring: Scoring3, triples: Batch, engine: str) -> tuple[str, Cells]:
        """Return who judges an engine's table, and the checksum of each plane of it."""
        if not self.refused:
            return cpu3.NAME, checksums(cpu3.table(scoring, triples))
        judge = engine_on("reference", scoring, None)
        if triples.cells > self.seconds * RATES[True]:
            judge = self._other(engine, scoring)
        return judge.label, checksums(table_of(judge, triples))

    def _portion(self, triples: Batch, rate: float) -> list[int]:
        """Return evenly spaced triples that can be judged at this rate, none if one is too long."""
        count = int(len(triples) * min(1.0, self.seconds * rate / max(1, triples.cells)))
        return sorted({round(t) for t in np.linspace(0, len(triples) - 1, count)})

    def _other(self, engine: str, scoring: Scoring3) -> Engine3:
        return engine_on("subtable" if engine == "plane" else "plane", scoring, self.device)


def check_of_code(scorings: Sequence[Scoring3]) -> Check:
    """Compare the C code with the reference: small triples of few letters, and of all of them."""
    random = np.random.default_rng(3)
    checks = []
    for scoring in scorings:
        letters = 2, min(20, len(scoring.alphabet))
        triples = Batch.of(
            [random.integers(0, letters[t % 2], n, np.uint8) for n in random.integers(0, 16, 3)]
            for t in range(TRIED)
        )
        found, expected = cpu3.best(scoring, triples), Reference3(scoring).ends(triples)
        checks.append(compare(found, cells_of(expected), Reference3.name))
    return reduce(both, checks)


class Work:
    """Triples to align, their scoring, and what is known to be right about them.

    The engine `plane` may have another judge than the others: see `Judges`.
    """

    def __init__(self, scoring: Scoring3, triples: Batch, judges: Judges) -> None:
        self.scoring, self.triples, self.judges = scoring, triples, judges
        self._known: dict[tuple[bool, bool], Any] = {}

    def check(self, engine: str, task: Task, outcome: Any) -> Check:
        """Judge what an engine found: `Ends`, `Paths`, or checksums of the planes of a table."""
        if task == "table":
            judge, expected = self._right(engine, table=True)
            return compare(outcome, expected, judge)
        judge, chosen, cells = self._right(engine)
        ends = outcome.ends if task == "paths" else outcome
        check = compare(cells_of(ends)[chosen], cells, judge)
        if task == "paths":
            scores = [
                path_score(self.scoring, self.triples[t], ends.end[t], outcome.moves(t))
                for t in range(len(ends))
            ]
            check = both(check, compare(scores, ends.score, "scores of the alignments"))
        return check

    def check_scores(self, engine: str, scores: Cells) -> Check:
        """Judge the scores of the triples, several times over."""
        judge, chosen, cells = self._right(engine)
        some = scores.reshape(-1, len(self.triples))[:, chosen]
        return compare(some.ravel(), np.tile(cells[:, 0], len(some)), judge)

    def _right(self, engine: str, *, table: bool = False) -> Any:
        name = engine == "plane", table
        if name not in self._known:
            judged = self.judges.planes if table else self.judges.cells
            self._known[name] = judged(self.scoring, self.triples, engine)
        return self._known[name]


def cells_of(ends: Ends) -> npt.NDArray[np.int32]:
    """Return score and end of each triple, shape (N, 4)."""
    return np.concatenate([ends.score[:, None], ends.end], axis=1)


def checksums(table: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the CRC-32 of each plane of a table, shape (l,), so that no second one is kept."""
    planes = (zlib.crc32(plane.tobytes()) for plane in table)
    return np.fromiter(planes, np.int64, len(table))


def path_score(
    scoring: Scoring3,
    words: Sequence[npt.NDArray[np.uint8]],
    end: npt.NDArray[np.int32],
    moves: npt.NDArray[np.uint8],
) -> int:
    """Return what an alignment scores, letter by letter and gap by gap; -1 if it is none."""
    there = (moves[:, None] >> np.arange(3) & 1).astype(bool)
    at = end - there[::-1].cumsum(axis=0)[::-1]  # of each column, the letters before it
    if (at < 0).any() or (end > [*map(len, words)]).any() or not ((moves > 0) & (moves < 8)).all():
        return -1
    pairs = scoring.pairs
    letters = np.stack([np.append(word, 0)[i] for word, i in zip(words, at.T, strict=True)], axis=1)
    before = np.vstack([np.zeros((1, 3), bool), there[:-1]])
    if scoring.scheme == "identity":
        assert pairs.match_and_mismatch is not None
        match, mismatch, matching = pairs.match_and_mismatch
        same = (letters == letters[:, :1]).all(axis=1) & (letters[:, 0] < matching)
        aligned, goes_on = there.all(axis=1), (there == before).all(axis=1)
        costs = np.where(goes_on, pairs.gap_extend, pairs.gap_open)
        return int(np.where(aligned, np.where(same, match, mismatch), -costs).sum())
    score = 0
    for two in map(list, combinations(range(3), 2)):
        aligned, gap = there[:, two].all(axis=1), there[:, two[0]] != there[:, two[1]]
        goes_on = (there[:, two] == before[:, two]).all(axis=1)
        score += pairs.matrix[tuple(letters[aligned][:, two].T)].sum(dtype=np.int64)
        score -= np.where(goes_on, pairs.gap_extend, pairs.gap_open)[gap].sum()
    return int(score)


GPUI = "gpui"


class Gpui(Subtable):
    """The engine `subtable` with the sub-tables of Sudo et al. 2012."""

    name = GPUI

    def __init__(self, scoring: Scoring3, device: Device | None = None) -> None:
        super().__init__(scoring, device, shape=TileShape(4, 8, 8, deep=4))


def kind_of(name: str) -> type[Engine3]:
    return Gpui if name == GPUI else ENGINES3[name]


def engine_on(name: str, scoring: Scoring3, device: Device | None) -> Engine3:
    return engine3_of(kind_of(name), scoring, device)


def table_of(engine: Engine3, triples: Batch) -> npt.NDArray[np.int32]:
    (table,) = engine.tables(triples)
    return table
