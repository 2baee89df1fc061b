"""Motifs: similar segments across the channels of a recording.

Each channel becomes a SAX word (see `words`). All triples or all pairs of words are aligned
locally, and the best alignments are traced back to intervals of time. Sudo et al. (2012, section 6)
propose this for recordings of cerebral blood flow; they leave the traceback open. Their letters are
``detrend=0, breakpoints="gaussian", surrogates=0``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import comb, expm1, nan
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner, Scores
from glsw.alignment.batch import Batch
from glsw.engines.base import Progress
from glsw.pairs.align_pairs import aligned
from glsw.run.pool import Devices
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.wings.series import sax
from glsw.wings.series.mindist import mindist_scoring
from glsw.wings.series.recording import Recording
from glsw.wings.series.significance import (
    SURROGATES,
    Significance,
    check_scoring,
    fitted,
    surrogates_of,
)
from glsw.wings.series.words import DETREND, LETTERS, Words, words_of
from glsw.wings.three.aligner import Aligner3
from glsw.wings.three.scoring import Scoring3
from glsw.words import numbered, package, suggesting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.figure import Figure

Rule = Literal["identity", "mindist"]
MATCH: Mapping[Rule, float] = {"identity": 1, "mindist": 0.35}
"""Score of equal letters by default; with more, MINDIST aligns random series from end to end."""
RULES: tuple[Rule, ...] = tuple(MATCH)
_MAX_SCORED_TOGETHER = 2**18  # triples or pairs
_MAX_TRACED_TOGETHER = 8
_Index = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The best local scores of all triples, or all pairs, of words.

    Parameters
    ----------
    words : Words
    scoring : Scoring3 or Scoring
        The scoring of triples or of pairs.
    similarity : ndarray of float64, shape (channels, channels)
        For every two channels, the score of the pair, or of the best triple with both; nan on the
        diagonal.
    best : ndarray of int32, shape (N, 3) or (N, 2)
        Channels of the best triples or pairs, the best first; equal scores in the order of the
        channels.
    scores : ndarray of int32, shape (N,)
        Their scores in units of the matrix; float64 if the matrix or the gap costs have decimals.
    significance : Significance or None
        E-values of scores; None without surrogates.
    count, cells : int
        Number of triples or pairs, and of cells of all tables, surrogates included.
    seconds : float
        Wall time.
    """

    words: Words
    scoring: Scoring3 | Scoring
    similarity: npt.NDArray[np.float64]
    best: _Index
    scores: Scores
    significance: Significance | None
    count: int
    cells: int
    seconds: float

    @property
    def of(self) -> int:
        """The number of channels per comparison, 3 or 2."""
        return 3 if isinstance(self.scoring, Scoring3) else 2


@dataclass(frozen=True, eq=False)
class Motif:
    """Similar segments of two or three channels, one interval of time per channel.

    Parameters
    ----------
    rank : int
        From 1.
    score : int or float
    evalue : float
        The number of motifs with at least this score that are expected by chance among all triples
        or pairs; nan without surrogates.
    channels : tuple of str
    letters : ndarray of int64, shape (channels, 2)
        First letter and end of each segment in its word, from 0, half-open.
    seconds : ndarray of float64, shape (channels, 2)
        Start and end of each segment, in s.
    rows : tuple of str
        The aligned letters of the segments, with ``-`` for gaps.
    equal : int
        The number of columns in which all letters are equal.
    """

    rank: int
    score: int | float
    evalue: float
    channels: tuple[str, ...]
    letters: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    rows: tuple[str, ...]
    equal: int

    @property
    def pvalue(self) -> float:
        """The probability of one or more such motifs by chance; nan without surrogates."""
        return -expm1(-self.evalue)

    @property
    def columns(self) -> int:
        """The length of the alignment in letters, gaps included."""
        return len(self.rows[0])


class Motifs(Sequence[Motif]):
    """The motifs of a recording, the best first: a sequence of `Motif`, made by `motifs`.

    Parameters
    ----------
    comparison : Comparison
    motifs : sequence of Motif
    """

    def __init__(self, comparison: Comparison, motifs: Sequence[Motif]) -> None:
        self.comparison, self._motifs = comparison, tuple(motifs)

    @overload
    def __getitem__(self, k: int) -> Motif: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Motif, ...]: ...
    def __getitem__(self, k: int | slice) -> Motif | tuple[Motif, ...]:
        return self._motifs[k]

    def __len__(self) -> int:
        return len(self._motifs)

    def __repr__(self) -> str:
        return f"<{numbered(len(self), 'motif')} of {self.comparison.words.recording.name}>"

    def __str__(self) -> str:
        from glsw.wings.series.table import MOTIF_FORMATS

        header, line = MOTIF_FORMATS["table"]
        lines = (line(self.comparison, motif) for motif in self)
        return (header(self.comparison) + "".join(lines)).rstrip("\n")

    def to_dataframe(self) -> Any:
        """Return a :class:`pandas.DataFrame` with a row per segment, so 3 or 2 per motif.

        Columns: rank, score, evalue, pvalue, columns, equal (of the motif), channel, start, end
        (in s), row.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        about = "rank", "score", "evalue", "pvalue", "columns", "equal"
        rows = [
            (*(getattr(motif, name) for name in about), channel, *seconds, row)
            for motif in self
            for channel, seconds, row in zip(
                motif.channels, motif.seconds.tolist(), motif.rows, strict=True
            )
        ]
        return package("pandas", "to_dataframe").DataFrame(
            rows, columns=[*about, "channel", "start", "end", "row"]
        )

    def plot(self) -> Figure:
        """Return a figure of the best motif and a map of the similarity of all channels.

        Raises
        ------
        ModuleNotFoundError
            If Matplotlib is not installed.
        """
        package("matplotlib", "plot")
        from glsw.wings.series.figure import draw

        figure: Figure = draw(self.comparison, self[0] if self else None)
        return figure


ENGINES_USED = {2: "auto", 3: "subtable"}
"""The engines of pairs and of triples by default."""


@suggesting
def motifs(
    data: Any,
    *,
    rate: float | None = None,
    channels: str | Sequence[str | int] | None = None,
    start: float | None = None,
    end: float | None = None,
    missing: sax.Missing = "error",
    of: int = 3,
    segments: int | None = None,
    letters: int | None = None,
    detrend: int = DETREND,
    breakpoints: sax.Breakpoints = "rank",
    rule: Rule = "identity",
    match: float | None = None,
    mismatch: float = -1,
    gap_open: float = 1,
    gap_extend: float = 1,
    top: int | None = 10,
    min_score: float = 1,
    surrogates: int = SURROGATES,
    seed: int = 0,
    engine: str | None = None,
    device: Devices = None,
    memory: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Motifs:
    """Find similar segments in several channels of a recording, at different times.

    Parameters
    ----------
    data : Recording, MNE Raw, array, DataFrame or path
        What `Recording.of` takes.
    rate : float, optional
        Samples per second, for data without times.
    channels : str, or sequence of str or int, optional
        Names, numbers from 1 and patterns, see `Recording.select`; all by default.
    start, end : float, optional
        In s: samples from ``start`` on, before ``end``.
    missing : {"error", "skip"}
        Whether missing samples (nan) are an error, or omitted from segment means.
    of : {3, 2}
        Compare all triples of channels, or all pairs.
    segments : int, optional
        Letters per word; by default 200 for triples and 300 for pairs, or the number of samples if
        lower.
    letters : int, optional
        Size of the alphabet, 2 to 26; by default 8 for triples and 12 for pairs.
    detrend, breakpoints
        How a channel becomes a word, see `glsw.wings.series.words.words_of`.
    rule : {"identity", "mindist"}
        "identity": letters are equal or not; "mindist": they score by distance, see `scoring_of`.
    match, mismatch : float
        Scores of equal letters (by default 1, with "mindist" 0.35) and of different ones; "mindist"
        uses distances, not ``mismatch``.
    gap_open, gap_extend : float
        Costs of the first and of each further letter of a gap.
    top : int or None
        Maximum number of motifs, None for all.
    min_score : float
        Minimum score of a motif.
    surrogates, seed : int
        See `compare`.
    engine : str, optional
        A name in `glsw.wings.three.engines.ENGINES3` for triples (default "subtable"), in
        `glsw.engines.ENGINES` for pairs (default "auto").
    device, memory
        As for `glsw.Aligner`; pairs use one device.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    executor : concurrent.futures.Executor, optional
        Scores parts of the triples. Not supported for pairs.

    Returns
    -------
    Motifs
        A sequence of `Motif`, with ``to_dataframe()`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        As for `Recording.of`, `glsw.wings.series.words.words_of`, `scoring_of` and `compare`.

    Examples
    --------
    >>> import glsw
    >>> rise, other = [0, 1, 3, 6, 8, 9], [5, 5, 5, 5]
    >>> data = np.array([rise + other, other + rise, [9, 5] + rise + [9, 5], [1, 9] * 5])
    >>> options = dict(letters=6, detrend=0, breakpoints="gaussian", engine="reference")
    >>> found = glsw.motifs(data, rate=2, top=1, **options)
    >>> found[0].channels, found[0].score, found[0].seconds.tolist()
    (('CH1', 'CH2', 'CH3'), 5, [[0.0, 3.0], [2.0, 5.0], [1.0, 4.5]])
    >>> 0.001 < found[0].pvalue < 0.1
    True
    """
    scoring = scoring_of(
        letters,
        of=of,
        rule=rule,
        match=match,
        mismatch=mismatch,
        gap_open=gap_open,
        gap_extend=gap_extend,
    )
    recording = Recording.of(data, rate=rate).select(channels, start=start, end=end)
    words = words_of(
        recording,
        segments,
        letters,
        of=of,
        detrend=detrend,
        breakpoints=breakpoints,
        missing=missing,
    )
    with aligner_of(scoring, engine, device, memory) as aligner:
        found = compare(
            words,
            aligner,
            top=top,
            min_score=min_score,
            surrogates=surrogates,
            seed=seed,
            progress=progress,
            executor=executor,
        )
        return Motifs(found, list(trace(found, aligner)))


def aligner_of(
    scoring: Scoring3 | Scoring,
    engine: str | None = None,
    device: Devices = None,
    memory: int | None = None,
) -> AbstractContextManager[Aligner3 | Aligner]:
    """Return the aligner of triples or of pairs, depending on the scoring, for a ``with`` block.

    Raises
    ------
    ValueError
        If pairs are to be compared on several devices.
    """
    three = isinstance(scoring, Scoring3)
    if not three and (isinstance(device, list) or device == "all"):
        raise ValueError("pairs are compared on one device, triples on several")
    options: dict[str, Any] = {
        "engine": engine or ENGINES_USED[3 if three else 2],
        "device": device,
        "memory": memory,
    }
    if isinstance(scoring, Scoring3):
        return Aligner3(scoring, **options)
    return Aligner(scoring, **options)


def scoring_of(
    letters: int | None = None,
    *,
    of: int = 3,
    rule: Rule = "identity",
    match: float | None = None,
    mismatch: float = -1,
    gap_open: float = 1,
    gap_extend: float = 1,
) -> Scoring3 | Scoring:
    """Return the scoring of triples or pairs of words.

    Parameters
    ----------
    letters : int, optional
        Size of the alphabet of the words; by default 8 for triples and 12 for pairs.
    of : {3, 2}
        Number of words per alignment.
    rule : {"identity", "mindist"}
        "identity": a column scores ``match`` if all its letters are equal, else ``mismatch``
        (Sudo et al. 2012, equations 1 and 2; the default scores are theirs). "mindist": a pair of
        letters scores by distance, see `mindist_scoring`, and three letters
        as the sum of their pairs.
    match, mismatch : float
        Scores of equal letters (by default 1, with "mindist" 0.35) and of different ones; "mindist"
        uses distances, not ``mismatch``.
    gap_open, gap_extend : float
        Costs of the first and of each further position of a gap.

    Examples
    --------
    >>> scoring_of(4, of=2).name
    'match 1 mismatch -1'
    >>> scoring_of(4, rule="mindist").name
    'sum-of-pairs MINDIST of 4 letters, match 0.35'
    """
    if of not in (2, 3):
        raise ValueError(f"of must be 3 or 2 channels, got {of}")
    if rule not in RULES:
        raise ValueError(f"rule must be {' or '.join(map(repr, RULES))}, got {rule!r}")
    letters = LETTERS[of] if letters is None else letters
    match = MATCH[rule] if match is None else match
    if rule == "mindist":
        pairs = mindist_scoring(letters, match, gap_open, gap_extend)
        return Scoring3.sum_of_pairs(pairs) if of == 3 else pairs
    alphabet = sax.alphabet(letters)
    if of == 2:
        return Scoring.match_mismatch(match, mismatch, gap_open, gap_extend, alphabet=alphabet)
    return Scoring3.identity(match, mismatch, gap_open, gap_extend, alphabet=alphabet)


def cells_of(words: Words, of: int, surrogates: int = 0) -> int:
    """Return the number of cells of the tables of all triples or pairs of words, and of surrogates.

    Raises
    ------
    ValueError
        If there are fewer words than ``of``.
    """
    if len(words) < of:
        raise ValueError(
            f"{words.recording.name}: {numbered(len(words), 'channel')} to compare, "
            f"at least {of} expected"
        )
    segments: int = words.codes.shape[1]
    cells: int = (comb(len(words), of) + surrogates) * segments**of
    return cells


def compare(
    words: Words,
    aligner: Aligner3 | Aligner,
    *,
    top: int | None = 10,
    min_score: float = 1,
    surrogates: int = SURROGATES,
    seed: int = 0,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Comparison:
    """Score all triples of words, or all pairs with an `Aligner`, and select the best.

    Parameters
    ----------
    words : Words
    aligner : Aligner3 or Aligner
        With a scoring from `scoring_of`.
    top : int or None
        Maximum number selected, None for all.
    min_score : float
        Least score of those selected; a score of 0 never counts.
    surrogates : int
        Triples or pairs of surrogates that are scored for E-values, at least 20; 0 for none, and no
        E-values.
    seed : int
        Seed of the surrogates: the same one gives the same E-values.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    executor : concurrent.futures.Executor, optional
        Scores parts of the triples, as in `Aligner3.scores`; not for pairs.

    Raises
    ------
    ValueError
        If there are fewer words than one comparison needs, or the alphabet of the aligner is not
        that of the words; with surrogates, if the expected score of random letters is not negative.

    Examples
    --------
    >>> from glsw.wings.series.recording import Recording
    >>> from glsw.wings.series.words import words_of
    >>> rise, other = [0, 1, 3, 6, 8, 9], [5, 5, 5, 5]
    >>> values = np.array([rise + other, other + rise, [9, 5] + rise + [9, 5], [1, 9] * 5], float)
    >>> recording = Recording("r", ("a", "b", "c", "d"), values, np.arange(10) / 2)
    >>> words = words_of(recording, letters=6, detrend=0, breakpoints="gaussian")
    >>> aligner = Aligner3(scoring_of(6), engine="reference")
    >>> comparison = compare(words, aligner, top=1)
    >>> comparison.count, comparison.best.tolist(), comparison.scores.tolist()
    (4, [[0, 1, 2]], [5])
    >>> [motif] = trace(comparison, aligner)
    >>> motif.channels, motif.rows
    (('a', 'b', 'c'), ('aab-eff', 'aab-eff', 'aabdeff'))
    >>> motif.seconds.tolist()
    [[0.0, 3.0], [2.0, 5.0], [1.0, 4.5]]
    """
    letters = aligner.scoring.alphabet.letters
    if letters != sax.alphabet(words.letters).letters:
        raise ValueError(f"words of {words.letters} letters, an aligner for the alphabet {letters}")
    of = 3 if isinstance(aligner, Aligner3) else 2
    if executor is not None and of == 2:
        raise ValueError("pairs are compared in this process; an executor is for triples")
    channels, cells = len(words), cells_of(words, of, surrogates)
    count, significance = comb(channels, of), None
    start = time.perf_counter()
    if surrogates:
        check_scoring(aligner.scoring, words)
        codes, chosen = surrogates_of(words, of, surrogates, seed)
        found = _scores(aligner, Sequences.of(list(codes)), chosen, progress, executor)
        significance = fitted(found, aligner.scoring, seed, count)
    similarity = np.full((channels, channels), -np.inf)
    best, scores = np.empty((0, of), np.int32), np.empty(0, np.int32)
    rest = combinations(range(channels), of)
    while (chosen := _next(rest, of)).size:
        found = _scores(aligner, words.sequences, chosen, progress, executor)
        for a, b in combinations(range(of), 2):
            np.maximum.at(similarity, (chosen[:, a], chosen[:, b]), found)
        enough = (found > 0) & (found >= min_score)
        best, scores = np.concatenate([best, chosen[enough]]), np.append(scores, found[enough])
        order = np.argsort(-scores, kind="stable")[:top]
        best, scores = best[order], scores[order]
    similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, np.nan)
    return Comparison(
        words,
        aligner.scoring,
        similarity,
        best,
        scores,
        significance,
        count,
        cells,
        time.perf_counter() - start,
    )


def trace(comparison: Comparison, aligner: Aligner3 | Aligner) -> Iterator[Motif]:
    """Align the best triples or pairs of a comparison and yield their motifs.

    Parameters
    ----------
    comparison : Comparison
    aligner : Aligner3 or Aligner
        The one of the comparison.
    """
    words = comparison.words
    edges, significance = words.edges, comparison.significance
    letters = np.frombuffer(f"{sax.alphabet(words.letters).letters}-".encode(), np.uint8)
    for begin in range(0, len(comparison.best), _MAX_TRACED_TOGETHER):
        chosen = comparison.best[begin : begin + _MAX_TRACED_TOGETHER]
        for k, at in enumerate(_coordinates(aligner, words.sequences, chosen)):
            ends = at[:, [0, -1]]
            rows = _rows(words.codes[chosen[k]], at, words.letters)
            score = comparison.scores[begin + k].item()
            yield Motif(
                begin + k + 1,
                score,
                significance.evalue(score) if significance else nan,
                tuple(words.recording.channels[c] for c in chosen[k].tolist()),
                ends,
                edges[ends],
                tuple(letters[row].tobytes().decode() for row in rows),
                int((rows == rows[0]).all(axis=0).sum()),
            )


def _next(rest: Iterator[tuple[int, ...]], of: int) -> _Index:
    """Return the next combinations, shape (N, of); none at the end."""
    flat = chain.from_iterable(islice(rest, _MAX_SCORED_TOGETHER))
    return np.fromiter(flat, np.int32).reshape(-1, of)


def _scores(
    aligner: Aligner3 | Aligner,
    sequences: Sequences,
    chosen: _Index,
    progress: Progress | None,
    executor: Executor | None,
) -> Scores:
    batch = Batch((sequences,) * chosen.shape[1], chosen)
    if isinstance(aligner, Aligner3):
        return aligner.scores(batch, progress=progress, executor=executor)
    return aligner.scoring.in_matrix_units(aligner.engine.scores(batch, progress=progress))


def _coordinates(
    aligner: Aligner3 | Aligner, sequences: Sequences, chosen: _Index
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the borders of runs of equal columns in the best alignments, shape (of, K)."""
    batch = Batch((sequences,) * chosen.shape[1], chosen)
    if isinstance(aligner, Aligner3):
        paths = aligner.paths(batch)
        yield from map(paths.coordinates, range(len(chosen)))
        return
    _, runs = aligned(aligner.engine, batch, aligner.ties)
    for p in range(len(runs)):
        yield runs.coordinates(p)[::-1]  # the query, which is the first channel, comes second there


def _rows(
    codes: npt.NDArray[np.uint8], at: npt.NDArray[np.int64], gap: int
) -> npt.NDArray[np.uint8]:
    """Return the codes of words in an alignment, shape (of, columns), with another for gaps."""
    columns = np.diff(at, axis=1).max(axis=0)
    rows = np.full((len(codes), columns.sum()), gap, np.uint8)
    for row, word, places in zip(rows, codes, at, strict=True):
        there = np.repeat(np.diff(places) > 0, columns)
        row[there] = word[places[0] : places[-1]]
    return rows
