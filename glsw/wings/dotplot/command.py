"""The command ``glsw dotplot``: pictures of the best local score through each tile of a table."""

from __future__ import annotations

import argparse
import time
import warnings

from glsw.aligner import Aligner
from glsw.cli.command import Command, Group, argument, group, option
from glsw.cli.inputs import FILES, check_standard_input
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import Masks, Running
from glsw.cli.outputs import check_output
from glsw.cli.pairs import aligner_for
from glsw.cli.scoring import Costs, scoring_for
from glsw.cli.words import number
from glsw.device.device import SoftwareRendererWarning, without_gpu
from glsw.scoring.scoring import Scoring
from glsw.sequences.fasta import read_all
from glsw.sequences.query import Strand
from glsw.sequences.records import Records
from glsw.wings.dotplot.mapper import Cap, Settings
from glsw.wings.dotplot.plot import SUFFIXES, TILES, DotPlot, Prepared, check_path, prepare
from glsw.wings.dotplot.score_map import VALUES, Value
from glsw.words import POSITIVE


def _cap(text: str) -> Cap:
    if text in ("auto", "none"):
        return "auto" if text == "auto" else None
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text}: a score above 0, auto or none expected")
    return value


class _Costs(Costs):
    about = "Gap costs follow BLAST's convention: the first residue costs gapopen + gapextend."


class _Running(Running):
    engine: str | None = option("NAME: engine for the alignments that are drawn (auto)", "auto")


class Map(Group, title="map"):
    """What a map shows."""

    value: Value = option(
        "show the best score of a local alignment that passes through a tile, or that ends "
        f"there, which takes half the time ({VALUES[0]})",
        VALUES[0],
    )
    cap: Cap = option(
        "S: upper limit of scores, none for no limit (auto: 40 nucleotide matches or 6 times the "
        "best score of the matrix, or the cost of a gap of half a tile if that is more)",
        "auto",
        type=_cap,
    )
    strand: Strand | None = option("strands of the target (both for DNA or RNA)")
    tiles: int = TILES
    side: int | None = None


class _Tiles(Map):
    tiles: int = option(
        f"N: approximate number of tiles along the longer side ({TILES})",
        TILES,
        within=POSITIVE,
    )
    side: int | None = option(
        "N: approximate side of a tile in residues, instead of --tiles", within=POSITIVE
    )


class _Output(Group, title="output"):
    output: list[str] = argument(
        "FILE: a picture (png, svg, pdf), a page to zoom into (html), or arrays (npz): "
        f"{', '.join(SUFFIXES)}; may be repeated",
        flag="--output",
        action="append",
        required=True,
    )
    max_alignments: int = option(
        "K: draw the K best alignments over the map, 0 for none; each takes about as long as the "
        "map (1)",
        1,
    )


class Plot(Command):
    """A command that draws the table of the sequences of one or two files."""

    query: str = argument(f"QUERY: sequences of the rows: {FILES}")
    target: str | None = argument("TARGET: sequences of the columns (the query itself)", nargs="?")
    scoring: Costs = group(_Costs)
    masks: Masks = group(Masks)
    running: Running = group(_Running)
    map: Map = group(Map)

    @property
    def paths(self) -> list[str]:
        """The files of sequences."""
        return [self.query, *filter(None, [self.target])]

    def read_inputs(self) -> tuple[Scoring, Records, Records | None, str]:
        """Return the scoring, the queries, the targets if they are others, and a note."""
        _ = self.scoring.given  # raises errors of options
        check_standard_input(*self.paths)
        sides = [read_all(path) for path in self.paths]
        scoring, note = scoring_for(self.scoring, *zip(self.paths, sides, strict=True))
        for path, records in zip(self.paths, sides, strict=True):
            if not records.size:
                raise ValueError(f"{path}: it has no residues")
        return scoring, sides[0], sides[1] if self.target else None, note

    def aligner(self, scoring: Scoring) -> Aligner:
        """Return the aligner; maps are computed on its device, not by engine ``cpu``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftwareRendererWarning)
            aligner = aligner_for(self, scoring)
        for info in aligner.devices:
            if info.software:
                say(without_gpu(info))
        return aligner

    def prepared(self, aligner: Aligner, queries: Records, targets: Records | None) -> Prepared:
        """Return the dot plot, to compute."""
        shown = self.map
        settings = Settings(shown.value, shown.cap, shown.strand)
        sizes = shown.tiles, shown.side, self.running.memory
        return prepare(aligner, queries, targets, settings, *sizes)


class Dotplot(Plot):
    """Draw a dot plot into files."""

    examples = (
        "glsw dotplot genome1.fa genome2.fa --output plot.html",
        "glsw dotplot genome1.fa --strand plus --output repeats.png",
        "glsw dotplot a.fasta b.fasta --tiles 500 --output plot.svg --output scores.npz",
    )
    map: Map = group(_Tiles)
    output: _Output = group(_Output)

    def run(self) -> None:
        """Compute the map and its alignments, and write all files."""
        for output in self.output.output:
            check_output(output, *self.paths)
            try:
                check_path(output)
            except ValueError as error:
                raise ValueError(f"--output {error}") from None
        scoring, queries, targets, note = self.read_inputs()
        with self.aligner(scoring) as aligner:
            prepared = self.prepared(aligner, queries, targets)
            started = time.perf_counter()
            with progress_bar(self.running.no_progress, prepared.cells) as bar:
                plot = prepared.compute(self.output.max_alignments, bar.update, bar.expect)
            seconds = time.perf_counter() - started
        for output in self.output.output:
            plot.write(output)
        _summary(plot, prepared, seconds, note)


def _summary(plot: DotPlot, prepared: Prepared, seconds: float, note: str) -> None:
    rate = prepared.cells / seconds if seconds else 0
    say(
        f"{plot.query.tiles} x {plot.target.tiles} tiles of {plot.side} residues, "
        f"{prepared.cells} cells, alignments: {len(plot.lines)}, in {seconds:.2f} s, "
        f"{gcups(rate)}, on {prepared.mapper.device.info.name}{note}"
    )
