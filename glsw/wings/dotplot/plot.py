"""The verb `dotplot`, and the `DotPlot` that it returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.engines.base import Progress, ignore
from glsw.inputs.kinds import chosen
from glsw.inputs.source import Many
from glsw.options import AlignerOptions, listing
from glsw.scoring.scoring import Scoring
from glsw.sequences.database_writer import beside
from glsw.sequences.query import Strand
from glsw.wings.dotplot.axis import Axis, segments_of
from glsw.wings.dotplot.lines import Line, best_lines
from glsw.wings.dotplot.mapper import Cap, Mapper, Maps, Settings
from glsw.wings.dotplot.score_map import UNCAPPED, Value
from glsw.words import POSITIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

SUFFIXES = (".png", ".svg", ".pdf", ".html", ".npz")
TILES = 600
"""Tiles along the longer side, about, unless a number is asked for."""
ARRAYS = {
    "plus": "scores of the plus strand, int32, (tiles of the queries, tiles of the targets), "
    "in integer units; with `--strand minus` missing",
    "minus": "the same of the minus strand of the targets, if searched",
    "query_names": "names of the queries, along the rows",
    "query_ranges": "the residues of each query that are shown, int64, (queries, 2), half-open",
    "target_names": "names of the targets, along the columns",
    "target_ranges": "the same as `query_ranges`, (targets, 2)",
    "side": "residues along the side of a tile",
    "cap": "the upper limit of scores, in integer units",
}
"""The arrays of a file ``.npz``."""


class TileScores(NamedTuple):
    """The residues and scores of a tile.

    Parameters
    ----------
    query, target : str
        Names.
    query_range, target_range : (int, int)
        The residues of the tile, half-open, on the plus strand.
    plus, minus : int, float or None
        Scores of both strands in units of the matrix; None if not computed.
    """

    query: str
    target: str
    query_range: tuple[int, int]
    target_range: tuple[int, int]
    plus: int | float | None
    minus: int | float | None


@dataclass(frozen=True, eq=False, repr=False)
class DotPlot:
    """The best local score through each tile of a table; ``docs/DOTPLOT.md`` defines it.

    Parameters
    ----------
    query, target : Axis
        The sequences along the rows and the columns, and the side of a tile.
    maps : dict
        The scores by strand of the target, "+" and "-": arrays of int32, shape (tiles of the
        queries, tiles of the targets), in integer units.
    value : {"through", "end"}
    cap : int
        Upper limit of scores, in integer units.
    scoring : Scoring
    lines : tuple of Line
        The alignments drawn over the map, best first.
    """

    query: Axis
    target: Axis
    maps: Maps
    value: Value
    cap: int
    scoring: Scoring
    lines: tuple[Line, ...] = ()

    def __repr__(self) -> str:
        strands = " and ".join(self.maps)
        return (
            f"<DotPlot of {self.query.tiles} x {self.target.tiles} tiles of {self.side} residues, "
            f"strand {strands}, alignments: {len(self.lines)}>"
        )

    def _repr_png_(self) -> bytes | None:
        """Return a picture for notebooks, None without matplotlib."""
        from glsw.wings.dotplot.figure import png

        return png(self)

    @property
    def plus(self) -> npt.NDArray[np.int32]:
        """The map of the plus strand; KeyError if it was not computed."""
        return self.maps["+"]

    @property
    def minus(self) -> npt.NDArray[np.int32]:
        """The map of the minus strand; KeyError if it was not computed."""
        return self.maps["-"]

    @property
    def side(self) -> int:
        """Side of a tile in residues."""
        return self.query.side

    @property
    def capped(self) -> bool:
        """Whether scores have an upper limit."""
        return self.cap < UNCAPPED

    def at(self, row: int, column: int) -> TileScores:
        """Return the residues and the scores of a tile."""
        names, ranges = [], []
        for axis, tile in ((self.query, row), (self.target, column)):
            segment, start = axis.place(tile)
            here = axis.segments[segment]
            names.append(here.name)
            ranges.append((start, min(start + axis.side, here.end)))
        plus, minus = (
            self.scoring.display(int(self.maps[sign][row, column])) if sign in self.maps else None
            for sign in ("+", "-")
        )
        return TileScores(names[0], names[1], ranges[0], ranges[1], plus, minus)

    def figure(self) -> Figure:
        """Return a matplotlib figure; needs matplotlib, the extra ``glsw[plot]``."""
        from glsw.wings.dotplot.figure import draw

        return draw(self)

    def html(self) -> str:
        """Return a self-contained page: the map to zoom into, with residues and scores."""
        from glsw.wings.dotplot.page import page

        return page(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a picture (png, svg, pdf), a page (html), or the arrays (npz).

        Raises
        ------
        ValueError
            For another suffix, and for pictures where matplotlib is not installed.
        """
        import secrets

        check_path(path)
        path = Path(path)
        # The file appears, or replaces the old one, when all is written.
        ending = f".{secrets.token_hex(4)}.part{path.suffix}"
        part = Path(beside(path.with_suffix(""), ending))
        try:
            self._write(part)
            part.replace(path)
        except OSError as error:
            error.filename = str(path)
            raise
        finally:
            part.unlink(missing_ok=True)

    def _write(self, path: Path) -> None:
        suffix = path.suffix.lower()
        if suffix == ".html":
            path.write_text(self.html(), encoding="utf-8", errors="backslashreplace")
        elif suffix == ".npz":
            with path.open("wb") as stream:
                np.savez_compressed(stream, **self._arrays())
        else:
            from glsw.wings.dotplot.figure import save

            save(self, path)

    def _arrays(self) -> dict[str, Any]:
        """Return the arrays of a file: the maps, and the segments of both axes."""
        arrays: dict[str, Any] = {
            {"+": "plus", "-": "minus"}[sign]: tiles for sign, tiles in self.maps.items()
        }
        for name, axis in (("query", self.query), ("target", self.target)):
            arrays[f"{name}_names"] = np.array([each.name for each in axis.segments], np.str_)
            ranges = [(each.start, each.end) for each in axis.segments]
            arrays[f"{name}_ranges"] = np.array(ranges, np.int64).reshape(-1, 2)
        return arrays | {"side": np.array(self.side), "cap": np.array(self.cap)}


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if `DotPlot.write` could not write such a file."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: a dot plot must be named {', '.join(SUFFIXES)}")
    if suffix not in (".html", ".npz"):
        from glsw.wings.dotplot.figure import check

        check(path)


@listing(AlignerOptions, Aligner)
def dotplot(
    query: Many,
    target: Many | None = None,
    *,
    tiles: int = TILES,
    side: int | None = None,
    value: Value = "through",
    cap: Cap = "auto",
    strand: Strand | None = None,
    max_alignments: int = 0,
    progress: Progress | None = None,
    **options: Unpack[AlignerOptions],
) -> DotPlot:
    """Return the best local score through each tile of the table of two sequences, exactly.

    Parameters
    ----------
    query, target : sequence, path or list of sequences
        Several sequences are drawn one after the other. Without a target, the query is compared
        with itself.
    tiles : int
        Approximate number of tiles along the longer side.
    side : int, optional
        Approximate side of a tile in residues, instead of ``tiles``.
    value : {"through", "end"}
        "through": the best score of a local alignment that passes through the tile. "end": of one
        that ends there, which takes half the time.
    cap : float, "auto" or None
        Upper limit of scores, in units of the matrix; an alignment that loses as much on its way
        counts as two. "auto" means 40 nucleotide matches or 6 times the best score of the matrix,
        or the cost of a gap of half a tile if that is more. None for no limit.
    strand : {"plus", "minus", "both"}, optional
        Strands of the target; by default both for DNA or RNA.
    max_alignments : int
        Number of best alignments, of both strands together, to draw over the map.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.

    Returns
    -------
    DotPlot

    Raises
    ------
    ValueError
        If the scoring is not local, or for several sequences without a cap.
    DeviceError
        If no device has OpenGL 4.3.

    Examples
    --------
    >>> import glsw
    >>> plot = glsw.dotplot("ACGTTGCA", side=4, cap=None, scoring=glsw.Scoring.nucleotide())
    >>> plot.plus
    array([[16,  2],
           [ 2, 16]], dtype=int32)
    >>> plot.at(0, 1).target_range, plot.at(0, 1).minus
    ((4, 8), 2)
    """
    settings = Settings(value, cap, strand)
    given, (query, target) = chosen(options, query=query, target=target)
    with Aligner(**given) as aligner:
        prepared = prepare(aligner, query, target, settings, tiles, side, options.get("memory"))
        return prepared.compute(max_alignments, progress)


class Prepared(NamedTuple):
    """A dot plot that is not computed yet.

    Parameters
    ----------
    aligner : Aligner
    mapper : Mapper
    query, target : Axis
    cells : int
        The cells of the maps, without those of alignments.
    """

    aligner: Aligner
    mapper: Mapper
    query: Axis
    target: Axis
    cells: int

    def compute(
        self,
        max_alignments: int = 0,
        progress: Progress | None = None,
        expect: Progress = ignore,
    ) -> DotPlot:
        """Return the dot plot; ``progress`` and ``expect`` are those of `best_lines`."""
        mapper, axes = self.mapper, (self.query, self.target)
        collections = mapper.queries, mapper.targets
        tile = mapper.tile(self.query.side)
        maps = mapper.maps(*axes, tile, progress=progress)
        lines: tuple[Line, ...] = ()
        if max_alignments:
            lines = best_lines(
                self.aligner, *collections, axes, maps, max_alignments, progress, expect
            )
        cap = mapper.cap(tile.side)
        return DotPlot(*axes, maps, mapper.settings.value, cap, mapper.scoring, lines)


def prepare(
    aligner: Aligner,
    query: Many,
    target: Many | None,
    settings: Settings,
    tiles: int = TILES,
    side: int | None = None,
    memory: int | None = None,
) -> Prepared:
    """Return a dot plot to compute; parameters and errors as of `dotplot`."""
    for name, number in (("tiles", tiles), ("side", side)):
        if number is not None:
            POSITIVE.check(name, number)
    queries, targets = aligner._inputs.collections(query, target)
    mapper = Mapper(aligner, queries, targets, settings, memory)
    longer = max(int(each.sequences.offsets[-1]) for each in (queries, targets))
    tile = mapper.tile(-(-longer // tiles) if side is None else side)
    axes = Axis(segments_of(queries), tile.side), Axis(segments_of(targets), tile.side)
    return Prepared(aligner, mapper, *axes, mapper.work(*axes, tile))
