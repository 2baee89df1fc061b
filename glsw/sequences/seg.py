"""SEG: low-complexity segments of proteins (Wootton and Federhen 1993).

J. C. Wootton and S. Federhen 1993, "Statistics of local complexity in amino acid sequences and
sequence databases", Computers & Chemistry 17; the form is that of blastp and segmasker.

A window is a trigger if its entropy is at most ``locut``. Around it all windows of at most
``hicut`` make a raw segment. Of the parts of that, at most 50 letters shorter, the one whose
composition has the least probability is the segment. If the trigger is left of it, the letters
there are searched again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np

from glsw.arrays import Float64, Int32, Int64, UInt8
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.records import Record, Records
from glsw.sequences.tiles import cut

_BYTES = bytes(range(256))
_AMINO_ACIDS = b"ACDEFGHIKLMNPQRSTVWY"
_KINDS = np.full(256, len(_AMINO_ACIDS), np.uint8)
for _amino_acid in (_AMINO_ACIDS, _AMINO_ACIDS.lower()):
    _KINDS[np.frombuffer(_amino_acid, np.uint8)] = np.arange(len(_AMINO_ACIDS))
_UPPER, _LOWER = (np.frombuffer(made, np.uint8) for made in (_BYTES.upper(), _BYTES.lower()))
_MAX_TRIM = 50  # letters that the segment may be shorter than the raw segment
_MAX_OTHER_LETTERS = 2  # in a window, else it belongs to no segment
_DECIMALS = 6  # of ln n! in NCBI's table, which decide between parts that are equally probable
_MAX_PARTS_TOGETHER = 2**16


Masked = Literal["no", "query", "target", "both"]
"""Which sequences have their segments of low complexity masked."""

MASKED: tuple[Masked, ...] = get_args(Masked)


class Seg(NamedTuple):
    """The parameters of SEG.

    Parameters
    ----------
    window : int
        Letters of a window.
    locut, hicut : float
        Bits of entropy per letter of windows that begin and that extend a segment.
    """

    window: int = 12
    locut: float = 2.2
    hicut: float = 2.5

    def segments(self, letters: UInt8, offsets: Int64) -> tuple[Int64, Int64]:
        """Return where segments of low complexity begin and end among the letters of sequences.

        Parameters
        ----------
        letters : ndarray of uint8, shape (letters,)
            ASCII, of all sequences. All but the 20 amino acids count as letters of no kind.
        offsets : ndarray of int64, shape (sequences + 1,)
            Where each sequence begins, and the end of the last.

        Returns
        -------
        begin, end : ndarray of int64, shape (segments,)
            Half-open, ascending and without overlaps, counted from 0 in ``letters``.

        Examples
        --------
        >>> text = b"MKTAYIAKQRQISFVKSHFSRQ" + b"PAPAPAPPAPAAPAP" + b"LEERLGLIEVQAPILSRVGDGTQDNL"
        >>> begin, end = Seg().segments(np.frombuffer(text, np.uint8), np.array([0, len(text)]))
        >>> begin.tolist(), end.tolist()
        ([22], [37])
        """
        kinds = _KINDS[letters]
        entropy = _entropies(kinds, offsets, self.window)
        found = np.concatenate(
            [np.empty((0, 2), np.int64), *_Search(self, kinds, entropy).found(offsets)]
        )
        begin, end = found[np.lexsort(found.T[::-1])].T
        reached = np.maximum.accumulate(end)
        first = np.ones(len(begin), bool)
        first[1:] = begin[1:] >= reached[:-1]
        last = np.append(first[1:], True)[: len(begin)]
        return begin[first], reached[last]

    def lowered(self, records: Iterable[Record], *, keep_lower: bool = False) -> Records:
        """Return records with segments of low complexity in lower case, all else in upper case.

        With ``keep_lower`` what is in lower case stays so.

        >>> letters = "MKTAYIAKQRQISfvkshFSRQPAPAPAPPAPAAPAPLEERLGLIEVQAPIL"
        >>> Seg().lowered([Record("a", "", letters)])[0].letters
        'MKTAYIAKQRQISFVKSHFSRQpapapappapaapapLEERLGLIEVQAPIL'
        """
        given = Records.of(records)
        letters = self._lowered(given.joined_letters(), given.offsets, keep_lower)
        made = Records(given.titles, letters, given.offsets, given.qualities)
        if letters.all():
            return made
        each = zip(given, made, strict=True)  # what is not ASCII is an error, which encoding raises
        return Records.of(new if old.letters.isascii() else old for old, new in each)

    def _lowered(self, letters: UInt8, offsets: Int64, keep_lower: bool) -> UInt8:
        begin, end = self.segments(letters, offsets)
        text = letters.copy() if keep_lower else _UPPER[letters]
        at = ranges(begin, end - begin)
        text[at] = _LOWER[text[at]]
        return text


def check_seg(alphabet: Alphabet, wanted: object = True) -> None:
    """Raise ValueError if SEG is requested for an alphabet other than proteins."""
    if wanted and not alphabet.amino_acids:
        raise ValueError(f"SEG is for proteins, not for the {alphabet.name} alphabet")


def _entropies(kinds: UInt8, offsets: Int64, window: int) -> Float64:
    """Return the entropy of the window that begins at each letter, infinite if there is none.

    Windows with more than a few letters that are no amino acids have none.
    """
    count = len(kinds) - window + 1
    entropy = np.full(len(kinds), np.inf)
    if count <= 0:
        return entropy
    numbers = np.arange(window + 1, dtype=np.float64)
    terms = np.append(0.0, numbers[1:] * np.log2(numbers[1:]))
    more = np.append(0.0, np.diff(terms))  # of the n-th letter of a kind
    known = kinds < len(_AMINO_ACIDS)
    total = np.cumsum(np.append(0, known))
    total = total[window:] - total[:-window]
    number, sums = known.astype(np.min_scalar_type(window)), np.zeros(count)
    for before in range(1, window):  # what number a letter is among those of its kind
        number[before:] += known[before:] & (kinds[before:] == kinds[:-before])
        sums += more[number[before : before + count]]
    usable = total >= max(1, window - _MAX_OTHER_LETTERS)
    usable &= np.repeat(offsets[1:], np.diff(offsets))[:count] >= np.arange(window, len(kinds) + 1)
    size = total[usable]
    entropy[:count][usable] = np.log2(size) - sums[usable] / size
    return entropy


class _Search:
    """The search for segments in all sequences together, round by round."""

    def __init__(self, seg: Seg, kinds: UInt8, entropy: Float64) -> None:
        self._window, self._kinds = seg.window, kinds
        self._triggers = np.append(np.flatnonzero(entropy <= seg.locut), len(kinds))
        above = np.append(entropy > seg.hicut, True)
        self._barriers = np.flatnonzero(above)

    def found(self, offsets: Int64) -> Iterator[Int64]:
        """Yield the segments of each round, shape (segments, 2); they may overlap."""
        begin, end = offsets[:-1], offsets[1:]
        lowest = begin  # the first window that a raw segment may have
        while True:
            trigger = self._triggers[np.searchsorted(self._triggers, lowest)]
            last = end - self._window
            some = trigger <= last
            if not some.any():
                return
            begin, end, lowest, trigger, last = (
                each[some] for each in (begin, end, lowest, trigger, last)
            )
            barrier = np.searchsorted(self._barriers, trigger)
            before = np.where(barrier > 0, self._barriers[barrier - 1] + 1, 0)
            first = np.maximum(before, lowest)
            stop = np.minimum(self._barriers[barrier] - 1, last) + self._window
            found = self._trim(first, stop)
            yield found.T
            # Letters between the trigger and a segment right of it, and all behind the segment.
            left = trigger + self._window <= found[0]
            lowest = np.append(first[left], np.minimum(stop - self._window, found[1] - 1) + 1)
            begin = np.append(first[left], begin)
            end = np.append(found[0][left], end)

    def _trim(self, begins: Int64, ends: Int64) -> Int64:
        """Return the least probable part of each raw segment: of several the longest, leftmost.

        Shape (2, segments).
        """
        lengths = ends - begins
        shorter = np.minimum(lengths - 1, _MAX_TRIM)  # numbers of lengths of parts
        counts = shorter * (shorter + 1) // 2
        best = np.empty((2, len(begins)), np.int64)
        for some in cut([offsets_of(counts)], [_MAX_PARTS_TOGETHER]):
            best[:, some] = self._trim_some(begins[some], ends[some], shorter[some])
        return best

    def _trim_some(self, begins: Int64, ends: Int64, shorter: Int64) -> Int64:
        best = np.stack([begins, ends])
        most = int(shorter.max(initial=0))
        if not most:
            return best
        less = np.repeat(np.arange(most), np.arange(1, most + 1))  # letters less, of each part
        left = ranges(np.zeros(most, np.int64), np.arange(1, most + 1))  # of these at the left
        counts = shorter * (shorter + 1) // 2
        owner = np.repeat(np.arange(len(begins)), counts)
        part = ranges(np.zeros(len(begins), np.int64), counts)
        begin = begins[owner] + left[part]
        end = ends[owner] - (less - left)[part]
        values = _log_probabilities(
            self._compositions(begin, end, begins, ends, owner), end - begin
        )
        starts = np.flatnonzero(part == 0)
        least = np.minimum.reduceat(values, starts)
        at = np.flatnonzero(values == np.repeat(least, counts[counts > 0]))
        first = at[np.searchsorted(at, starts)]
        better = first[least < 1]
        best[:, owner[better]] = begin[better], end[better]
        return best

    def _compositions(
        self, begin: Int64, end: Int64, begins: Int64, ends: Int64, owner: Int64
    ) -> Int32:
        """Return the letters of each kind of parts of raw segments, shape (20, parts)."""
        lengths = ends - begins
        letters = self._kinds[ranges(begins, lengths)]
        shifts = np.cumsum(lengths) - lengths
        shift = (shifts - begins)[owner]
        start, stop = begin + shift, end + shift
        found = np.empty((len(_AMINO_ACIDS), len(begin)), np.int32)
        for kind in range(len(_AMINO_ACIDS)):
            before = np.cumsum(np.append(0, letters == kind), dtype=np.int32)
            found[kind] = before[stop] - before[start]
        return found


def _log_probabilities(counts: Int32, lengths: Int64) -> Float64:
    """Return ln(P) of compositions: how many sequences have these counts in any order of kinds.

    The number of ways to give the counts to 20 kinds, times the arrangements of the letters,
    divided by 20 to the length.
    """
    kinds = len(counts)
    counts = -np.sort(-counts, axis=0)
    most = max(kinds, int(lengths.max(initial=0)))
    factorials = np.round([math.lgamma(n + 1) for n in range(most + 1)], _DECIMALS)
    ways, arrangements = np.full(len(lengths), factorials[kinds]), factorials[lengths]
    equal, present = np.ones(len(lengths), np.int64), np.count_nonzero(counts, axis=0)
    for k in range(int(present.max(initial=0))):
        arrangements = arrangements - factorials[counts[k]]
        ends = counts[k] != counts[k + 1] if k + 1 < kinds else counts[k] > 0
        ways = ways - np.where(ends, factorials[equal], 0.0)
        equal = np.where(ends, 1, equal + 1)
    ways = ways - factorials[kinds - present]
    ways[counts[0] == 0] = factorials[kinds]
    values: Float64 = ways + arrangements - lengths * math.log(kinds)
    return values
