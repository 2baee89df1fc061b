"""Stretches that channels of a recording have in common.

Each channel becomes a SAX word (`glsw.series.sax`), all triples or all pairs of words are aligned
locally, and the best of them are traced back to where in time the similar stretches lie. This is
what Sudo et al. (2012) propose for recordings of cerebral blood flow, section 6, with the
traceback that they leave open.

A letter says more the more letters there are. In random words of 128 letters the best pair of
stretches scores 19 with 4 letters to choose from, for gaps bridge what differs, but 5 with 8, and
the best three 6 and 3 (means, scoring "identity"). Series with the spectrum of a recording but
random phases, which is smooth, score 31 and 18 with 4 letters, 15 and 10 with 8. Hence 8.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from glsw.align import Aligner
from glsw.align3 import Aligner3
from glsw.batch import Batch
from glsw.engines.base import Progress
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.search.align_pairs import traced
from glsw.sequences.encoded import Sequences
from glsw.series import sax
from glsw.series.recording import Recording

Rule = Literal["identity", "mindist"]
RULES: tuple[Rule, ...] = ("identity", "mindist")
SEGMENTS, LETTERS = 128, 8
"""Letters of a word, and letters to choose from, unless given."""

_COMPARED = 2**18  # combinations that are scored together
_TRACED = 8  # combinations that are traced back together
_Codes = npt.NDArray[np.uint8]
_Index = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Words:
    """A recording as words.

    Parameters
    ----------
    recording : Recording
        The channels that have words.
    codes : ndarray of uint8, shape (channels, segments)
        Codes of ``glsw.series.sax.alphabet(letters)``.
    letters : int
        Size of the alphabet.
    left_out : mapping of str to str
        Channels of the recording that have no words, and why.
    """

    recording: Recording
    codes: _Codes
    letters: int
    left_out: Mapping[str, str]

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Where letters begin and, the last entry, end, in s, shape (segments + 1,)."""
        samples, segments = len(self.recording.times), self.codes.shape[1]
        borders = np.arange(segments + 1) * (samples / segments)
        edges: npt.NDArray[np.float64] = np.interp(
            borders, np.arange(samples + 1), self.recording.edges
        )
        return edges

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Comparison:
    """All triples, or all pairs, of words by their best local scores.

    Parameters
    ----------
    words : Words
    scoring : Scoring3 or Scoring
        Of triples or of pairs.
    similarity : ndarray of float64, shape (channels, channels)
        Of pairs the score, of triples that of the best triple that has both channels; nan on the
        diagonal.
    best : ndarray of int32, shape (N, 3) or (N, 2)
        Channels of the best triples or pairs, the best first; equal scores in the order of the
        channels.
    scores : ndarray of int32, shape (N,)
        Their scores, in integer units of the scoring.
    count, cells : int
        Triples or pairs that were compared, and cells of their tables.
    seconds : float
        What that took.
    """

    words: Words
    scoring: Scoring3 | Scoring
    similarity: npt.NDArray[np.float64]
    best: _Index
    scores: npt.NDArray[np.int32]
    count: int
    cells: int
    seconds: float

    @property
    def of(self) -> int:
        """How many channels are compared at a time."""
        return 3 if isinstance(self.scoring, Scoring3) else 2


@dataclass(frozen=True, eq=False)
class Motif:
    """Similar stretches of two or three channels.

    Parameters
    ----------
    rank : int
        From 1.
    score : int or float
    channels : tuple of str
    letters : ndarray of int64, shape (channels, 2)
        Where in its word each stretch begins and ends, from 0, half-open.
    seconds : ndarray of float64, shape (channels, 2)
        Where in time that is.
    rows : tuple of str
        The letters of the stretches, one under the other, with ``-`` for gaps.
    """

    rank: int
    score: int | float
    channels: tuple[str, ...]
    letters: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    rows: tuple[str, ...]

    @property
    def columns(self) -> int:
        """The length of the alignment, gaps included, in letters."""
        return len(self.rows[0])

    @property
    def equal(self) -> int:
        """Columns in which all letters are the same."""
        return sum(len(set(column)) == 1 for column in zip(*self.rows, strict=True))


def scoring_of(
    letters: int = LETTERS,
    *,
    of: int = 3,
    rule: Rule = "identity",
    match: float = 1,
    mismatch: float = -1,
    gap_open: float = 1,
    gap_extend: float = 1,
) -> Scoring3 | Scoring:
    """Return the scoring of triples or pairs of words.

    Parameters
    ----------
    letters : int
        Size of the alphabet of the words.
    of : {3, 2}
        How many words are aligned.
    rule : {"identity", "mindist"}
        "identity": all letters of a column are equal or they are not (Sudo et al. 2012,
        equations 1 and 2); its default scores are theirs. "mindist": each pair of letters scores
        by their distance, see `glsw.series.sax.mindist_scoring`, and three letters as three
        pairs do.
    match, mismatch : float
        Scores of equal and of different letters; "mindist" has distances instead of ``mismatch``.
    gap_open, gap_extend : float
        Costs of the first and of each further position of a gap.

    Examples
    --------
    >>> scoring_of(4, of=2).name
    'match 1 mismatch -1'
    >>> scoring_of(4, rule="mindist").name
    'sum-of-pairs MINDIST of 4 letters, match 1'
    """
    if of not in (2, 3):
        raise ValueError(f"of must be 3 or 2 channels, got {of}")
    if rule not in RULES:
        raise ValueError(f"rule must be {' or '.join(map(repr, RULES))}, got {rule!r}")
    if rule == "mindist":
        pairs = sax.mindist_scoring(letters, match, gap_open, gap_extend)
        return Scoring3.sum_of_pairs(pairs) if of == 3 else pairs
    alphabet = sax.alphabet(letters)
    if of == 2:
        return Scoring.match_mismatch(match, mismatch, gap_open, gap_extend, alphabet=alphabet)
    return Scoring3.identity(match, mismatch, gap_open, gap_extend, alphabet=alphabet)


def words_of(
    recording: Recording,
    segments: int | None = None,
    letters: int = LETTERS,
    *,
    missing: sax.Missing = "error",
) -> Words:
    """Return the words of the channels of a recording.

    Channels without any samples, if ``missing`` is "skip", and constant ones, all of which would
    have the same word, are left out.

    Parameters
    ----------
    recording : Recording
    segments : int, optional
        Letters of a word; 128, or the number of samples if that is less, unless given.
    letters : int
        Size of the alphabet, 2 to 26.
    missing : {"error", "skip"}
        Whether missing samples are refused or skipped.

    Raises
    ------
    ValueError
        If samples are missing, saying which; if nothing is there of a segment, or a sample is
        infinite, naming the channel; if no channel is left; as `glsw.series.sax.sax`.

    Examples
    --------
    >>> values = np.array([[0.0, 0, 1, 1, 5, 5], [7, 7, 7, 7, 7, 7]])
    >>> words = words_of(Recording("r", ("a", "b"), values, np.arange(6.0)), 3, 4)
    >>> words.codes.tolist(), words.left_out, words.edges.tolist()
    ([[0, 1, 3]], {'b': 'constant'}, [0.0, 2.0, 4.0, 6.0])
    """
    whole, empty = recording.without_missing(missing)
    count = min(SEGMENTS, len(recording.times)) if segments is None else segments
    left_out = dict.fromkeys(empty, "no samples but nan")
    kept, codes = [], []
    for k, (name, series) in enumerate(zip(whole.channels, whole.values, strict=True)):
        try:
            word = sax.sax_codes(series, count, letters, missing=missing)
        except ValueError as error:
            text = str(error)
            if text.startswith("series"):
                text = f"channel {name}{text.removeprefix('series')}"
            raise ValueError(f"{recording.name}: {text}") from None
        if not np.nanmax(np.abs(sax.znormalize(series, missing=missing))):
            left_out[name] = "constant"
        else:
            kept.append(k)
            codes.append(word)
    if not kept:
        raise ValueError(f"{recording.name}: all channels are constant")
    whole = replace(
        whole, channels=tuple(whole.channels[k] for k in kept), values=whole.values[kept]
    )
    return Words(whole, np.array(codes), letters, left_out)


def cells_of(words: Words, of: int) -> int:
    """Return how many cells the tables of all triples or pairs of words have.

    Raises
    ------
    ValueError
        If there are fewer words than ``of``.
    """
    if len(words) < of:
        raise ValueError(
            f"{words.recording.name}: {len(words)} channels to compare, at least {of} expected"
        )
    segments: int = words.codes.shape[1]
    cells: int = comb(len(words), of) * segments**of
    return cells


def compare(
    words: Words,
    aligner: Aligner3 | Aligner,
    *,
    top: int | None = 10,
    min_score: float = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Score all triples of words, or with an `Aligner` all pairs, and choose the best.

    Parameters
    ----------
    words : Words
    aligner : Aligner3 or Aligner
        With a scoring from `scoring_of`.
    top : int or None
        How many are chosen at most, None for all.
    min_score : float
        The least score of those that are chosen; a score of 0 never is enough.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.

    Raises
    ------
    ValueError
        If there are fewer words than are compared at a time, or the aligner is for letters that
        are not those of the words.

    Examples
    --------
    >>> rise, other = [0, 1, 3, 6, 8, 9], [5, 5, 5, 5]
    >>> values = np.array([rise + other, other + rise, [9, 5] + rise + [9, 5], [1, 9] * 5], float)
    >>> recording = Recording("r", ("a", "b", "c", "d"), values, np.arange(10) / 2)
    >>> words = words_of(recording, letters=6)
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
        raise ValueError(f"words of {words.letters} letters, an aligner for letters {letters}")
    of = 3 if isinstance(aligner, Aligner3) else 2
    channels, cells = len(words), cells_of(words, of)
    start = time.perf_counter()
    shown = aligner.scoring if isinstance(aligner.scoring, Scoring) else aligner.scoring.pairs
    sequences = Sequences.of(list(words.codes))
    similarity = np.full((channels, channels), -np.inf)
    best, scores = np.empty((0, of), np.int32), np.empty(0, np.int32)
    rest = combinations(range(channels), of)
    while (chosen := _next(rest, of)).size:
        found = _scores(aligner, sequences, chosen, progress)
        for a, b in combinations(range(of), 2):
            np.maximum.at(similarity, (chosen[:, a], chosen[:, b]), found)
        enough = (found > 0) & (found >= min_score * shown.scale)
        best, scores = np.concatenate([best, chosen[enough]]), np.append(scores, found[enough])
        order = np.argsort(-scores, kind="stable")[:top]
        best, scores = best[order], scores[order]
    similarity = np.maximum(similarity, similarity.T) / shown.scale
    np.fill_diagonal(similarity, np.nan)
    return Comparison(
        words,
        aligner.scoring,
        similarity,
        best,
        scores,
        comb(channels, of),
        cells,
        time.perf_counter() - start,
    )


def trace(comparison: Comparison, aligner: Aligner3 | Aligner) -> Iterator[Motif]:
    """Align the best triples or pairs of a comparison, and yield what they have in common.

    Parameters
    ----------
    comparison : Comparison
    aligner : Aligner3 or Aligner
        The one that compared.
    """
    words = comparison.words
    sequences = Sequences.of(list(words.codes))
    alphabet, edges = sax.alphabet(words.letters), words.edges
    for begin in range(0, len(comparison.best), _TRACED):
        chosen = comparison.best[begin : begin + _TRACED]
        for k, at in enumerate(_coordinates(aligner, sequences, chosen)):
            channels = chosen[k].tolist()
            ends = at[:, [0, -1]]
            yield Motif(
                begin + k + 1,
                comparison.scoring.display(int(comparison.scores[begin + k])),
                tuple(words.recording.channels[c] for c in channels),
                ends,
                edges[ends],
                tuple(
                    _row(alphabet.decode(words.codes[c]), one, at)
                    for c, one in zip(channels, at, strict=True)
                ),
            )


def _next(rest: Iterator[tuple[int, ...]], of: int) -> _Index:
    """Return the next combinations, shape (N, of); none at the end."""
    flat = chain.from_iterable(islice(rest, _COMPARED))
    return np.fromiter(flat, np.int32).reshape(-1, of)


def _scores(
    aligner: Aligner3 | Aligner, sequences: Sequences, chosen: _Index, progress: Progress | None
) -> npt.NDArray[np.int32]:
    if isinstance(aligner, Aligner3):
        return aligner.scores(Batch((sequences,) * 3, chosen), progress=progress)
    return aligner.engine.scores(_batch(sequences, chosen), progress=progress)


def _coordinates(
    aligner: Aligner3 | Aligner, sequences: Sequences, chosen: _Index
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield where runs of equal columns of the best alignments begin and end, shape (of, K)."""
    if isinstance(aligner, Aligner3):
        paths = aligner.paths(Batch((sequences,) * 3, chosen))
        yield from map(paths.coordinates, range(len(chosen)))
        return
    for _, coordinates in traced(aligner.engine, _batch(sequences, chosen), aligner.ties):
        yield coordinates[::-1]  # the query, which is the first channel, comes second there


def _batch(sequences: Sequences, chosen: _Index) -> Batch:
    return Batch((sequences,) * 2, chosen)


def _row(word: str, at: Sequence[int], all_at: npt.NDArray[np.int64]) -> str:
    """Return a word's part of an alignment, ``-`` where it has no letter in a run of columns."""
    columns = np.diff(all_at, axis=1).max(axis=0).tolist()
    return "".join(
        word[start:end] if end > start else "-" * count
        for start, end, count in zip(at[:-1], at[1:], columns, strict=True)
    )
