"""Score maps of sequences: their tiles, both strands, many records in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.device.device import Device, open_device
from glsw.device.info import COMPUTE
from glsw.engines.base import Progress
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import check_one_track
from glsw.sequences.alphabet import Alphabet
from glsw.sequences.named import NamedSequences
from glsw.sequences.nucleic import complement_of
from glsw.sequences.query import Strand
from glsw.wings.dotplot.axis import Axis
from glsw.wings.dotplot.score_map import UNCAPPED, VALUES, MapTile, ScoreMap, Value
from glsw.words import ParameterError

Sign: TypeAlias = Literal["+", "-"]
Cap: TypeAlias = "float | Literal['auto'] | None"
Maps: TypeAlias = "dict[Sign, npt.NDArray[np.int32]]"
"""The map of each strand of the targets, shape (tiles of the queries, tiles of the targets)."""
Partial: TypeAlias = Callable[[Sign, npt.NDArray[np.int32]], None]

_CAP_IN_MATCHES = 40
_CAP_IN_BEST_SCORES = 6


class Settings(NamedTuple):
    """What a score map shows; see `glsw.dotplot`.

    Parameters
    ----------
    value : {"through", "end"}
    cap : float, "auto" or None
    strand : {"plus", "minus", "both"}, optional
    """

    value: Value = "through"
    cap: Cap = "auto"
    strand: Strand | None = None


class Mapper:
    """Computes score maps of segments of sequences.

    Parameters
    ----------
    aligner : Aligner
        Its scoring and its device are used.
    queries, targets : NamedSequences
    settings : Settings
    memory : int, optional
        Bytes of device memory, see `ScoreMap`.
    """

    def __init__(
        self,
        aligner: Aligner,
        queries: NamedSequences,
        targets: NamedSequences,
        settings: Settings,
        memory: int | None = None,
    ) -> None:
        self.queries, self.targets, self.settings = queries, targets, settings
        self.scoring: Scoring = aligner.scoring
        check_one_track(self.scoring, "a dot plot")
        if settings.value not in VALUES:
            raise ValueError(f"value {settings.value!r}: {' or '.join(map(repr, VALUES))} expected")
        self.signs = _signs(self.scoring.alphabet, settings.strand)
        _check_cap(settings.cap)
        self.device = _device_of(aligner)
        with self.device:
            options = {} if memory is None else {"memory": memory}
            self.engine = ScoreMap(self.scoring, self.device, **options)

    def cap(self, side: int) -> int:
        """Return the cap for tiles of a side, in integer units."""
        given, scoring = self.settings.cap, self.scoring
        if given is None:
            return UNCAPPED
        if given != "auto":
            return min(UNCAPPED, max(1, round(given * scoring.scale)))
        enough = _CAP_IN_MATCHES if scoring.alphabet.nucleotides else _CAP_IN_BEST_SCORES
        return max(enough * scoring.maximum, self._extension * side // 2, 1)

    def tile(self, side: int) -> MapTile:
        """Return the tile of about that side."""
        return self.engine.tile(max(1, side))

    def work(self, rows: Axis, columns: Axis, tile: MapTile) -> int:
        """Return the number of cells that `maps` computes; errors as there."""
        cap = self.cap(tile.side)
        between = self._between(rows, columns, cap)
        m, n = rows.length(between), columns.length(between)
        return len(self.signs) * self.engine.work(m, n, tile, self.settings.value, cap)

    def maps(
        self,
        rows: Axis,
        columns: Axis,
        tile: MapTile,
        *,
        progress: Progress | None = None,
        partial: Partial | None = None,
    ) -> Maps:
        """Return the maps of the segments of two axes.

        Parameters
        ----------
        rows, columns : Axis
            Of the queries and of the targets.
        tile : MapTile
        progress : callable, optional
            Called now and then with the cells finished since the last call.
        partial : callable, optional
            Called likewise, with the strand and the scores so far.
        """
        cap, padding = self.cap(tile.side), self.engine.padding
        between = self._between(rows, columns, cap)
        query, kept_rows = rows.codes(self.queries, padding, between)
        target, kept_columns = columns.codes(self.targets, padding, between)
        kept = np.ix_(kept_rows, kept_columns)
        found: Maps = {}
        for sign in self.signs:
            codes = target if sign == "+" else complement(target, self.scoring.alphabet)[::-1]

            def finish(tiles: npt.NDArray[np.int32], sign: Sign = sign) -> npt.NDArray[np.int32]:
                return tiles[kept] if sign == "+" else tiles[:, ::-1][kept]

            def report(cells: int, sign: Sign = sign) -> None:
                if progress:
                    progress(cells)
                if partial:
                    partial(sign, finish(self.engine.current(), sign))

            with self.device:
                self.engine.prove([(tile, self.settings.value, self.engine.is_narrow(cap))])
                tiles = self.engine.tiles(
                    query, codes, tile, value=self.settings.value, cap=cap, progress=report
                )
            found[sign] = finish(tiles)
        return found

    @property
    def _extension(self) -> int:
        return min(self.scoring.deletion.extend, self.scoring.insertion.extend)

    def _between(self, rows: Axis, columns: Axis, cap: int) -> int:
        """Return how much padding no gap gets over that joins paths of `cap`; 0 for one pair."""
        if max(len(rows.segments), len(columns.segments)) <= 1:
            return 0
        if cap >= UNCAPPED:
            raise ValueError("several sequences in one map need a cap, which keeps them apart")
        if self._extension == 0:
            raise ValueError("several sequences in one map need gap costs above 0")
        return 2 * -(-cap // self._extension) + 2


def _device_of(aligner: Aligner) -> Device:
    """Return the device of an aligner, or the first one if its engine needs none."""
    if aligner.engine.capabilities.requires:
        device = aligner.engine.device
        if device.info.compute:
            return device
    return open_device(require=COMPUTE, quiet=True)


def _signs(alphabet: Alphabet, strand: Strand | None) -> tuple[Sign, ...]:
    if strand not in (None, "plus", "minus", "both"):
        raise ParameterError("strand", f"{strand!r}: 'plus', 'minus' or 'both' expected")
    if not alphabet.nucleotides:
        if strand in ("minus", "both"):
            raise ParameterError("strand", f"{strand!r}: only nucleic acid has a minus strand")
        return ("+",)
    return {"plus": ("+",), "minus": ("-",)}.get(strand or "both", ("+", "-"))  # type: ignore[return-value]


def _check_cap(cap: Cap) -> None:
    if cap is not None and cap != "auto" and not (isinstance(cap, int | float) and cap > 0):
        raise ParameterError("cap", f"{cap!r}: a score above 0, 'auto' or None expected")


def complement(codes: npt.NDArray[np.uint8], alphabet: Alphabet) -> npt.NDArray[np.uint8]:
    """Return the codes of the complement; padding stays.

    >>> from glsw.sequences.alphabet import DNA
    >>> DNA.decode(complement(DNA.encode("ACGTN"), DNA))
    'TGCAN'
    """
    letters = "".join(alphabet.letters)
    table = np.arange(256, dtype=np.uint8)
    table[: len(letters)] = alphabet.encode(complement_of(letters))
    return table[codes]
