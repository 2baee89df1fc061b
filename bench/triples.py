"""What the benchmark of three sequences needs: words of a recording, proteins, and judges.

>>> scoring = Scoring3.identity()
>>> words = [scoring.alphabet.encode(word) for word in ("TACG", "ACG", "AG")]
>>> path_score(scoring, words, np.array([4, 3, 2], np.int32), np.array([7, 3, 7], np.uint8))
1
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
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

_CODE_RATES = {"linear": 2e8, "affine": 0.8e8}
_REFERENCE_RATES = {"linear": 2e7, "affine": 0.8e7}
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

    Attributes
    ----------
    refused : str or None
        Why there is no C code.
    check : Check or None
        How the C code did on small triples, judged by the reference; None without it.
    """

    def __init__(self, device: Device | None, data: Data, seconds: float) -> None:
        self.device, self.seconds = device, seconds
        self.refused = cpu3.refused()
        self.check = None if self.refused else check_of_code(data.scorings)
        if self.check and not self.check.passed:
            self.refused = f"the C code is wrong: {self.check.first}"

    def cells(self, work: Work, engine: str) -> tuple[str, npt.NDArray[np.intp], Cells]:
        """Return who judges an engine, which triples, and their best cells, shape (N, 4)."""
        kind = "linear" if work.scoring.linear else "affine"
        rate = _CODE_RATES[kind] * min(cores(), len(work.triples))
        chosen = self._portion(work.triples, 0 if self.refused else rate)
        if len(chosen):
            part = work.triples.select(chosen)
            return cpu3.NAME, chosen, cpu3.best_on_all_cores(work.scoring, part)
        chosen = self._portion(work.triples, _REFERENCE_RATES[kind])
        judge: Engine3 = Reference3(work.scoring)
        if not len(chosen):
            chosen, judge = np.arange(len(work.triples)), self._other(engine, work.scoring)
        return judge.label, chosen, cells_of(judge.ends(work.triples.select(chosen)))

    def planes(self, work: Work, engine: str) -> tuple[str, Cells]:
        """Return who judges an engine's table, and the checksum of each plane of it."""
        if not self.refused:
            return cpu3.NAME, checksums(cpu3.table(work.scoring, work.triples))
        judge: Engine3 = Reference3(work.scoring)
        if work.triples.cells > self.seconds * _REFERENCE_RATES["linear"]:
            judge = self._other(engine, work.scoring)
        return judge.label, checksums(table_of(judge, work.triples))

    def _portion(self, triples: Batch, rate: float) -> npt.NDArray[np.intp]:
        """Return evenly spaced triples that can be judged at this rate, none if one is too long."""
        count = int(len(triples) * min(1.0, self.seconds * rate / max(1, triples.cells)))
        return np.unique(np.linspace(0, len(triples) - 1, count).round()).astype(np.intp)

    def _other(self, engine: str, scoring: Scoring3) -> Engine3:
        return engine_on("subtable" if engine == "plane" else "plane", scoring, self.device)


def check_of_code(scorings: Mapping[str, Scoring3]) -> Check:
    """Compare the C code with the reference: small triples of few letters, and of all of them."""
    random = np.random.default_rng(3)
    found, expected = [], []
    for scoring in scorings.values():
        most = min(20, len(scoring.alphabet))
        triples = Batch.of(
            [
                random.integers(0, (2, most)[t % 2], length, np.uint8)
                for length in random.integers(0, 16, 3)
            ]
            for t in range(TRIED)
        )
        found.append(cpu3.best(scoring, triples))
        expected.append(cells_of(Reference3(scoring).ends(triples)))
    return compare(np.concatenate(found), np.concatenate(expected), Reference3.name)


class Work:
    """Triples to align, their scoring, and what is known to be right about them."""

    def __init__(self, scoring: Scoring3, triples: Batch, judges: Judges) -> None:
        self.scoring, self.triples, self.judges = scoring, triples, judges
        self._cells: dict[bool, tuple[str, npt.NDArray[np.intp], Cells]] = {}
        self._planes: dict[bool, tuple[str, Cells]] = {}

    def check(self, engine: str, task: Task, outcome: Any) -> Check:
        """Judge what an engine found: `Ends`, `Paths`, or checksums of the planes of a table."""
        if task == "table":
            other = engine == "plane"
            if other not in self._planes:
                self._planes[other] = self.judges.planes(self, engine)
            judge, expected = self._planes[other]
            return compare(outcome, expected, judge)
        judge, chosen, cells = self._expected(engine)
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
        judge, chosen, cells = self._expected(engine)
        some = scores.reshape(-1, len(self.triples))[:, chosen]
        return compare(some.ravel(), np.tile(cells[:, 0], len(some)), judge)

    def _expected(self, engine: str) -> tuple[str, npt.NDArray[np.intp], Cells]:
        other = engine == "plane"
        if other not in self._cells:
            self._cells[other] = self.judges.cells(self, engine)
        return self._cells[other]


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
    """Return what an alignment scores, column by column; -1 if it is none."""
    at = [int(last) - int((moves >> s & 1).sum()) for s, last in enumerate(end)]
    if min(at) < 0 or any(e > len(word) for e, word in zip(end, words, strict=True)):
        return -1
    gaps = scoring.pairs
    score = before = 0
    for move in moves.tolist():
        there = [bool(move >> s & 1) for s in range(3)]
        x, y, z = (int(word[p]) if t else -1 for word, p, t in zip(words, at, there, strict=True))
        if not 1 <= move <= 7:
            return -1
        if scoring.scheme == "identity":
            kinds = gaps.match_and_mismatch
            assert kinds is not None
            match, mismatch, matching = kinds
            if move == 7:
                score += match if x == y == z < matching else mismatch
            else:
                score -= gaps.gap_extend if move == before else gaps.gap_open
        else:
            for p, q in combinations(range(3), 2):
                if there[p] and there[q]:
                    score += int(gaps.matrix[(x, y, z)[p], (x, y, z)[q]])
                elif there[p] or there[q]:
                    goes_on = [bool(before >> s & 1) for s in (p, q)] == [there[p], there[q]]
                    score -= gaps.gap_extend if goes_on else gaps.gap_open
        at = [p + t for p, t in zip(at, there, strict=True)]
        before = move
    return score


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
