"""Position-specific scores from a multiple alignment, as in PSI-BLAST."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw.scoring.gaps import PositionalGaps
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import offsets_of, ranges
from glsw.wings.profiles.background import Background, Gaps, gaps_from_frequencies

GAP, OUTSIDE, UNKNOWN = -1, -2, -3
"""In place of a letter: a gap; before the first or behind the last residue; an ambiguous letter."""
_GAPS = "-.~ "
_MOST_IDENTICAL = 0.94

# Altschul et al. 2009, with the numbers of NCBI's psiblast (C++ toolkit 2.12, public domain).
_PSEUDOCOUNTS, _ENTROPY_FACTOR, _ENTROPY_POWER, _BACKGROUND = 500.0, 0.0457, 0.8, 5.5
_LEAST_ENTROPY = 0.03  # below it, pseudocounts alone would be left
_STEPS, _MOST_FACTOR = 30, 2.0
_STEPS_TO_SET_ASIDE = 3, 5, 8, 12
_LEAST_OCCUPANCY = 0.5
_COLUMNS_PER_SAMPLE = 5
_ROWS_TO_ENOUGH = 80  # of the members of a profile, see `position_scores`

_Int8 = npt.NDArray[np.int8]
_Int64 = npt.NDArray[np.int64]
_Float = npt.NDArray[np.float64]


def rows_of(alignment: Any) -> list[tuple[str, str]]:
    """Return the names and the gapped letters of the rows of an alignment.

    Parameters
    ----------
    alignment : Bio.Align.MultipleSeqAlignment, Bio.Align.Alignment, or iterable of str

    Raises
    ------
    TypeError
        For other objects.
    ValueError
        If there are no rows, or their lengths differ.
    """
    if hasattr(alignment, "coordinates"):
        names = [getattr(each, "id", None) for each in alignment.sequences]
        found = [(name or f"row {k + 1}", alignment[k]) for k, name in enumerate(names)]
    elif isinstance(alignment, str | bytes) or not isinstance(alignment, Iterable):
        kind = type(alignment).__name__
        raise TypeError(f"an alignment of Biopython, or rows of letters and gaps expected: {kind}")
    else:
        given = enumerate(alignment, start=1)
        found = [
            (f"row {k}", each) if isinstance(each, str) else (str(each.id), str(each.seq))
            for k, each in given
        ]
    lengths = {len(letters) for _, letters in found}
    if not lengths:
        raise ValueError("an alignment must have rows")
    if len(lengths) != 1:
        raise ValueError(
            f"the rows of an alignment must have the same length, not {sorted(lengths)[:5]}"
        )
    return found


def scores_of_alignment(
    rows: list[tuple[str, str]], query: int | None, scoring: Scoring, gaps: Gaps = "fixed"
) -> tuple[npt.NDArray[np.int32], str, PositionalGaps | None]:
    """Return the scores of an alignment, shape (m, A), the m letters of its query, and gap costs.

    Positions are the columns where row ``query`` has residues; with None those where at least half
    of the rows have some, and the letters are the most frequent ones there.
    """
    background = Background(scoring)
    letters = [row for _, row in rows]
    if query is not None and not -len(rows) <= query < len(rows):
        raise ValueError(f"query {query}: the alignment has {len(rows)} rows")
    codes = np.stack([codes_of(row, name, background) for name, row in rows])
    if query is None:
        kept = np.flatnonzero(((codes >= 0) | (codes == UNKNOWN)).mean(axis=0) >= _LEAST_OCCUPANCY)
        counts = np.stack([(codes[:, kept] == k).sum(axis=0) for k in range(len(background.codes))])
        own = "".join(
            str(scoring.alphabet.letters[background.codes[k]]) for k in counts.argmax(axis=0)
        )
    else:
        first = codes[query]
        kept = np.flatnonzero((first >= 0) | (first == UNKNOWN))
        own = "".join(letters[query][k] for k in kept.tolist())
        order = [query % len(rows), *(k for k in range(len(rows)) if k != query % len(rows))]
        codes = codes[order]
    if not len(kept):
        raise ValueError("the alignment has no column with enough residues")
    costs = None
    if gaps == "positional":
        residues = (codes >= 0) | (codes == UNKNOWN)
        behind = np.searchsorted(kept, np.arange(codes.shape[1])) - 1  # the position before
        inserted = np.zeros((len(codes), len(kept)), bool)
        between = np.setdiff1d(np.arange(codes.shape[1]), kept)
        for column in between[(behind[between] >= 0) & (behind[between] < len(kept) - 1)].tolist():
            inserted[:, behind[column]] |= residues[:, column]
        costs = position_gaps(codes[:, kept], inserted, background)
    scores = position_scores([codes[:, kept]], background, [own])
    return background.complete(scores, own), own, costs


def position_scores(
    alignments: Sequence[_Int8],
    background: Background,
    letters: Sequence[str],
    *,
    of_members: bool = False,
) -> npt.NDArray[np.int32]:
    """Return the scores of unambiguous letters at each position of alignments, shape (M, L).

    Rows identical to the query, or at least 94 % identical to another one before, are dropped, as
    psiblast does. The others have position-based weights
    (Henikoff and Henikoff 1994, "Position-based sequence weights", J. Mol. Biol. 243:574), which
    give observed frequencies f in each column. Pseudocounts g follow from f and the matrix, and
    (alpha f + beta g) / (alpha + beta) is the estimate Q of the frequencies; the score is ln(Q / P)
    / lambda. Weights of a column are those of the rows that reach it, over the columns that all of
    these reach (Altschul et al. 1997, "Gapped BLAST and PSI-BLAST", Nucleic Acids Res. 25:3389;
    94 % as in Schaffer et al. 2001, Nucleic Acids Res. 29:2994). alpha + 1 is the number of
    independent rows: so many random letters have as many different ones as the mean column of that
    half which has most. beta depends on the entropy of the column, see `_pseudocounts` (Altschul et
    al. 2009, "PSI-BLAST pseudocounts and the minimum description length principle", Nucleic Acids
    Res. 37:815). At last scores are rescaled so that their lambda without gaps is that of the
    matrix.

    Parameters
    ----------
    alignments : sequence of ndarray of int8, each of shape (N, m)
        Numbers of unambiguous letters, or `GAP`, `OUTSIDE`, `UNKNOWN`; the query first. The
        positions that are returned are those of one alignment after the other.
    background : Background
    letters : sequence of str
        Those of each query, whose scores are taken where a column has no unambiguous letter.
    of_members : bool
        Whether the query's letter counts more in a column that few of the N rows reach. Enough are
        a part e = 1/2 + N / 80 of them, from 40 on all; if a part r < e reaches it, the query's
        letter has 1 - r / e of the observed frequencies. What few of many members have is no
        property of the family: they may be aligned too far.
    """
    scoring = background.scoring
    alphabet = scoring.alphabet
    own = alphabet.encode("".join(letters), unknown=alphabet.wildcard)
    scores: npt.NDArray[np.int32] = scoring.matrix[np.ix_(own, background.codes)]
    places = offsets_of([codes.shape[1] for codes in alignments])
    kept = [codes[different_rows(codes)] for codes in alignments]
    some = np.array([n for n, rows in enumerate(kept) if len(rows) > 1], np.int64)
    if not len(some):  # nothing was observed
        return scores
    kept = [kept[n] for n in some.tolist()]
    sizes = np.diff(places)[some]
    position = ranges(places[some], sizes)
    columns = map(np.concatenate, zip(*(_observed(rows, background) for rows in kept), strict=True))
    observed, alpha, reached = columns
    total = observed.sum(axis=1)
    rows = np.flatnonzero(total > 0)
    observed, alpha, reached = observed[rows] / total[rows, np.newaxis], alpha[rows], reached[rows]
    if of_members:
        query = np.concatenate([rows[0] for rows in kept])[rows]
        few = np.flatnonzero((query >= 0) & (reached[:, 0] < 1))
        observed[few] *= reached[few]
        observed[few, query[few]] += 1 - reached[few, 0]
    expected = observed @ background.likely  # g / P
    beta = _pseudocounts(observed, alpha, background)
    ratios = (alpha * observed / background.frequencies + beta * expected) / (alpha + beta)
    units = scores[position].astype(np.float64)
    units[rows] = background.in_units(ratios)
    scores[position] = _rescaled(units, sizes, background)
    return scores


def _observed(kept: _Int8, background: Background) -> tuple[_Float, _Float, _Float]:
    """Return the weights of letters in each column, shape (m, L), and two of shape (m, 1).

    These are alpha, and the part of the rows that reach the column to what is enough.
    """
    enough = min(1.0, 0.5 + len(kept) / _ROWS_TO_ENOUGH)
    observed = np.zeros((kept.shape[1], len(background.codes)))
    alpha, reached = np.zeros((2, kept.shape[1], 1))
    for columns, reach, weights, of_block in _blocks(kept, background):
        some = kept[reach][:, columns]
        known = some >= 0
        at = (some + observed.shape[1] * np.arange(len(columns)))[known]
        each = np.broadcast_to(weights[:, np.newaxis], some.shape)[known]
        counts = np.bincount(at, each, len(columns) * observed.shape[1])
        observed[columns] = counts.reshape(len(columns), -1)
        alpha[columns], reached[columns] = of_block, float(reach.mean()) / enough
    return observed, alpha, reached


def position_gaps(
    codes: _Int8, inserted: npt.NDArray[np.bool_], background: Background
) -> PositionalGaps | None:
    """Return gap costs by position from how often an alignment opens gaps there.

    None without a second row. A row opens a gap at a position if it has a gap there and none at the
    position before, or letters of its own behind it. Rows and their weights are those of
    `position_scores`; see `glsw.wings.profiles.background.gaps_from_frequencies`.

    Parameters
    ----------
    codes : ndarray of int8, shape (N, m)
        As for `position_scores`.
    inserted : ndarray of bool, shape (N, m)
        Whether a row has letters behind a position that are at none.
    background : Background
    """
    some = different_rows(codes)
    kept = codes[some]
    if len(kept) == 1:
        return None
    opened = inserted[some]
    opened[:, 1:] |= (kept[:, 1:] == GAP) & (kept[:, :-1] != GAP)
    frequencies, rows = np.zeros((2, kept.shape[1]))
    for columns, reach, weights, alpha in _blocks(kept, background):
        frequencies[columns], rows[columns] = weights @ opened[reach][:, columns], alpha
    return gaps_from_frequencies(frequencies, rows, background)


def _blocks(
    kept: _Int8, background: Background
) -> Iterator[tuple[_Int64, npt.NDArray[np.bool_], _Float, float]]:
    """Yield columns that the same rows reach, these rows, their weights, and alpha.

    alpha + 1 is the number of independent rows.
    """
    distinct = background.distinct
    inside = kept != OUTSIDE
    first = np.flatnonzero((inside[:, 1:] != inside[:, :-1]).any(axis=0)) + 1
    blocks: dict[bytes, list[npt.NDArray[np.intp]]] = {}
    for columns in np.split(np.arange(kept.shape[1]), first):
        blocks.setdefault(inside[:, columns[0]].tobytes(), []).append(columns)
    for parts in blocks.values():
        columns = np.concatenate(parts)
        reach = inside[:, columns[0]]
        weights, different = weights_of(kept[reach][:, inside[reach].all(axis=0)])
        independent = np.interp(different, distinct, np.arange(len(distinct)))
        yield columns, reach, weights, max(0.0, min(float(independent), len(weights)) - 1)


def letter_numbers(codes: npt.NDArray[np.uint8], background: Background) -> _Int8:
    """Return the numbers of letters among the unambiguous ones, or `UNKNOWN`."""
    table = np.full(len(background.scoring.alphabet), UNKNOWN, np.int8)
    table[background.codes] = np.arange(len(background.codes))
    return table[codes]


def codes_of(row: str, name: str, background: Background) -> _Int8:
    """Return the numbers of the letters of a row."""
    alphabet = background.scoring.alphabet
    gaps = np.array([letter in _GAPS for letter in row], bool)
    found = np.full(len(row), GAP, np.int8)
    residues = "".join(letter for letter in row if letter not in _GAPS)
    codes = alphabet.encode(residues, name=name, unknown=alphabet.wildcard)
    found[~gaps] = letter_numbers(codes, background)
    some = np.flatnonzero(~gaps)
    if not len(some):
        return np.full(len(row), OUTSIDE, np.int8)
    found[: some[0]] = found[some[-1] + 1 :] = OUTSIDE
    return found


def different_rows(codes: _Int8) -> npt.NDArray[np.intp]:
    """Return the numbers of the rows that are kept, the query, the first one, always.

    As in psiblast, a row is dropped that is nowhere unlike the query, or at least 94 % identical to
    one kept before that is not the query: of the columns that one of both reaches, but not of those
    where one has an ambiguous letter. Gaps of both in a column are equal letters.

    Most pairs of rows differ too often in a few columns already; others are compared as a whole.
    """
    reached, clear = codes != OUTSIDE, codes != UNKNOWN
    unlike = ((codes != codes[0]) & reached & clear & clear[0]).any(axis=1)
    unlike &= (codes >= 0).any(axis=1)
    if not unlike.any():
        return np.zeros(1, np.intp)
    few = np.ascontiguousarray(codes[:, ::_COLUMNS_PER_SAMPLE])
    known, samples = few != UNKNOWN, np.empty_like(few)
    least = _MOST_IDENTICAL
    most = (1 - least) / least * reached.sum(axis=1) + 1e-6  # of differences
    kept = np.zeros(len(codes), np.intp)
    count = 1
    known_of_kept = np.empty_like(known)
    samples[0], known_of_kept[0] = few[0], known[0]
    for k in np.flatnonzero(unlike).tolist():
        differ = (samples[1:count] != few[k]) & known_of_kept[1:count] & known[k]
        near = kept[1:count][np.add.reduce(differ, axis=1, dtype=np.int16) <= most[k]]
        compared = (reached[near] | reached[k]) & clear[near] & clear[k]
        same = ((codes[near] == codes[k]) & compared).sum(axis=1)
        if not (same >= least * np.maximum(1, compared.sum(axis=1))).any():
            samples[count], known_of_kept[count], kept[count] = few[k], known[k], k
            count += 1
    return kept[:count]


def weights_of(block: _Int8) -> tuple[_Float, float]:
    """Return position-based weights of the rows of a block, and how many letters it has.

    These are the different ones in the mean column of that half which has most, without gaps.

    >>> block = np.array([[0, 1], [0, 2], [0, 2]], np.int8)
    >>> weights, different = weights_of(block)
    >>> weights.round(3).tolist(), different
    ([0.417, 0.292, 0.292], 2.0)
    """
    columns = block.shape[1]
    shifted = block.astype(np.intp) - UNKNOWN
    size = int(shifted.max(initial=0)) + 1
    at = shifted + size * np.arange(columns)
    counts = np.bincount(at.ravel(), minlength=size * columns)
    there = counts.reshape(columns, size) > 0
    weights = (1 / (counts[at] * there.sum(axis=1))).sum(axis=1)
    letters = np.sort(there[:, -UNKNOWN:].sum(axis=1))
    return weights / weights.sum(), float(letters[columns // 2 :].mean())


def _pseudocounts(observed: _Float, alpha: _Float, background: Background) -> _Float:
    """Return the number of pseudocounts of columns: many if one is hardly unlike random letters.

    ``observed`` are the frequencies of their letters, shape (m, L), in ``alpha`` independent rows,
    shape (m, 1), which is also the shape of what is returned.
    """
    random = background.frequencies
    mixed = (alpha * observed + _BACKGROUND * random) / (alpha + _BACKGROUND)
    entropy = (mixed * np.log(mixed / random)).sum(axis=1, keepdims=True)
    part = _ENTROPY_FACTOR / np.maximum(_LEAST_ENTROPY, entropy) ** _ENTROPY_POWER
    found: _Float = _PSEUDOCOUNTS * part / (1 - part)
    return found


def _rescaled(units: _Float, sizes: _Int64, background: Background) -> npt.NDArray[np.int32]:
    """Return scores as integers whose lambda without gaps is that of the matrix.

    ``units`` are those of several profiles, one after the other, of so many positions each. Their
    factors are found together, each by halving an interval. Now and then what is the same integer
    at both of its ends is set aside, so that few scores are left for most steps.
    """
    low, high = np.full((2, len(sizes)), [[1 / _MOST_FACTOR], [_MOST_FACTOR]])
    profile = np.repeat(np.arange(len(sizes)), units.shape[1] * sizes)
    chance = (background.frequencies / np.repeat(sizes, sizes)[:, np.newaxis]).ravel()
    unit, least = units.ravel(), math.floor(_MOST_FACTOR * min(0.0, units.min()))
    scores = np.arange(least, math.ceil(_MOST_FACTOR * max(0.0, units.max())) + 1)
    place = profile * float(len(scores)) - least  # of a score of 0
    aside, plain = np.zeros((len(sizes), len(scores))), np.zeros(len(sizes), bool)

    def chances(at: _Float, chance: _Float) -> npt.NDArray[Any]:
        return np.bincount(at.astype(np.intp), chance, aside.size).reshape(aside.shape)

    for step in range(_STEPS):
        if step in _STEPS_TO_SET_ASIDE:
            first, last = (place + np.rint(end[profile] * unit) for end in (low, high))
            same = first == last
            aside += chances(first[same], chance[same])
            profile, chance, unit, place = (each[~same] for each in (profile, chance, unit, place))
        middle = (low + high) / 2
        probabilities = aside + chances(place + np.rint(middle[profile] * unit), chance)
        # No statistics exist without a positive score, or unless the mean is below 0.
        plain |= (probabilities[:, scores > 0] == 0).all(axis=1) | (probabilities @ scores >= 0)
        # Lambda solves sum p(s) exp(lambda s) = 1, and below it the sum is less.
        more = probabilities @ np.expm1(background.lambda_ * scores) < 0
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    factor = np.where(plain, 1, (low + high) / 2)
    return np.rint(np.repeat(factor, sizes)[:, np.newaxis] * units).astype(np.int32)
