"""The command ``glsw dotplot``: pictures of the best local score through each tile of a table."""

from __future__ import annotations

import argparse
import time
import warnings

from glsw.aligner import Aligner
from glsw.cli.inputs import FILES, check_standard_input
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import add_running
from glsw.cli.outputs import check_output
from glsw.cli.scoring import add_costs, add_masks, scoring_for, scoring_of, seg_of
from glsw.cli.words import add_rows, count, number, positive
from glsw.device.device import SoftwareRendererWarning, without_gpu
from glsw.scoring.scoring import Scoring
from glsw.sequences.fasta import read_all
from glsw.sequences.query import STRANDS
from glsw.sequences.records import Records
from glsw.wings.dotplot.mapper import Cap, Settings
from glsw.wings.dotplot.plot import SUFFIXES, TILES, DotPlot, Prepared, check_path, prepare
from glsw.wings.dotplot.score_map import VALUES


def _cap(text: str) -> Cap:
    if text in ("auto", "none"):
        return "auto" if text == "auto" else None
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text}: a score above 0, auto or none expected")
    return value


_OUTPUT = {
    ("--max-alignments", count, 1, "K"): (
        "draw the K best alignments over the map, 0 for none; each takes about as long as the "
        "map (1)"
    ),
}
_SEQUENCES = {
    ("query", None, None, "QUERY"): f"sequences of the rows: {FILES}",
}
_TILES = {
    ("--tiles", positive, TILES, "N"): (
        f"approximate number of tiles along the longer side ({TILES})"
    ),
    ("--side", positive, None, "N"): "approximate side of a tile in residues, instead of --tiles",
}
_MAP = {
    ("--value", VALUES, VALUES[0]): (
        "show the best score of a local alignment that passes through a tile, or that ends "
        f"there, which takes half the time ({VALUES[0]})"
    ),
    ("--cap", _cap, "auto", "S"): (
        "upper limit of scores, none for no limit (auto: 40 nucleotide matches or 6 times the "
        "best score of the matrix, or the cost of a gap of half a tile if that is more)"
    ),
    ("--strand", STRANDS): "strands of the target (both for DNA or RNA)",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_sequences(parser)
    add_rows(add_map(parser), _TILES)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output",
        metavar="FILE",
        action="append",
        required=True,
        help=f"a picture (png, svg, pdf), a page to zoom into (html), or arrays (npz): "
        f"{', '.join(SUFFIXES)}; may be repeated",
    )
    add_rows(group, _OUTPUT)


def add_sequences(parser: argparse.ArgumentParser) -> None:
    """Add the sequences, their scoring, and where it runs."""
    add_rows(parser, _SEQUENCES)
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="sequences of the columns (the query itself)",
    )
    group = parser.add_argument_group(
        "scoring",
        "Gap costs follow BLAST's convention: the first residue costs gapopen + gapextend.",
    )
    add_costs(group)
    add_masks(parser)
    add_running(parser, engines="engine for the alignments that are drawn (auto)")


def add_map(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add what the map shows; return the group of options."""
    group = parser.add_argument_group("map")
    add_rows(group, _MAP)
    return group


def run(arguments: argparse.Namespace) -> None:
    """Compute the map and its alignments, and write all files."""
    for output in arguments.output:
        check_output(output, arguments.query, *filter(None, [arguments.target]))
        try:
            check_path(output)
        except ValueError as error:
            raise ValueError(f"--output {error}") from None
    scoring, queries, targets, note = read_inputs(arguments)
    with aligner_for(arguments, scoring) as aligner:
        prepared = prepared_of(arguments, aligner, queries, targets)
        started = time.perf_counter()
        with progress_bar(arguments, prepared.cells) as bar:
            plot = prepared.compute(arguments.max_alignments, bar.update, bar.expect)
        seconds = time.perf_counter() - started
    for output in arguments.output:
        plot.write(output)
    _summary(plot, prepared, seconds, note)


def read_inputs(
    arguments: argparse.Namespace,
) -> tuple[Scoring, Records, Records | None, str]:
    """Return the scoring, the queries, the targets if they are others, and a note."""
    scoring_of(arguments)  # raises errors of options
    paths = [arguments.query, *filter(None, [arguments.target])]
    check_standard_input(*paths)
    queries = read_all(arguments.query)
    targets = read_all(arguments.target) if arguments.target else None
    sides = [queries] if targets is None else [queries, targets]
    scoring, note = scoring_for(arguments, *zip(paths, sides, strict=True))
    for path, records in zip(paths, sides, strict=True):
        if not len(records.letters):
            raise ValueError(f"{path}: it has no residues")
    return scoring, queries, targets, note


def aligner_for(arguments: argparse.Namespace, scoring: Scoring) -> Aligner:
    """Return the aligner of the options; maps are computed on its device, not by engine ``cpu``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftwareRendererWarning)
        aligner = Aligner(
            scoring,
            engine=arguments.engine,
            device=arguments.device,
            unknown=arguments.unknown,
            memory=arguments.memory,
            lower_case_mask=arguments.lower_case_mask,
            mask_low_complexity=arguments.mask_low_complexity,
            seg=seg_of(arguments),
        )
    for info in aligner.devices:
        if info.software:
            say(without_gpu(info))
    return aligner


def prepared_of(
    arguments: argparse.Namespace, aligner: Aligner, queries: Records, targets: Records | None
) -> Prepared:
    """Return the dot plot of the options, to compute."""
    settings = Settings(arguments.value, arguments.cap, arguments.strand)
    tiles, side = getattr(arguments, "tiles", TILES), getattr(arguments, "side", None)
    return prepare(aligner, queries, targets, settings, tiles, side, arguments.memory)


def _summary(plot: DotPlot, prepared: Prepared, seconds: float, note: str) -> None:
    rate = prepared.cells / seconds if seconds else 0
    say(
        f"{plot.query.tiles} x {plot.target.tiles} tiles of {plot.side} residues, "
        f"{prepared.cells} cells, alignments: {len(plot.lines)}, in {seconds:.2f} s, "
        f"{gcups(rate)}, on {prepared.mapper.device.info.name}{note}"
    )
