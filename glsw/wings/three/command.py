"""The command ``glsw align3``: alignments of three sequences."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator

from glsw.cli.inputs import FILES, Targets, check_standard_input, lengths, only
from glsw.cli.messages import Bar, progress_bar, tables
from glsw.cli.options import add_output, add_running, add_several
from glsw.cli.outputs import check_output, destination, write
from glsw.cli.scoring import add_costs, check_match, gaps_of, scoring_for, scoring_of
from glsw.cli.words import add_rows, alphabet
from glsw.scoring.gaps import MODES, from_blast
from glsw.sequences.alphabet import DNA
from glsw.sequences.fasta import read_all
from glsw.sequences.records import Record
from glsw.wings.three.aligner import Aligner3, disjoint
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.formats import FORMATS3, Result3
from glsw.wings.three.results import Alignment3
from glsw.wings.three.scoring import SCHEMES, Scoring3

IDENTITY = 1, -1
"""Default match and mismatch of three letters (Sudo et al. 2012)."""
IDENTITY_GAPS = 0, 1
"""Default gap costs with them, in BLAST's words."""
POLLING = {"auto": None, "on": True, "off": False}
"""Choices of ``--polling``."""

_ARGUMENTS = {
    ("a", None, None, "A"): f"a file of one sequence: {FILES}",
    ("b", None, None, "B"): "a file of one sequence",
    ("c", None, None, "C"): "a file of one sequence",
}
_ADD = {
    ("--polling", tuple(POLLING), "auto"): (
        "on: compute all parts of a table at once, waiting for one another, which is faster; if "
        "the device does not let them proceed, a warning follows and off is used; off: compute "
        "dependent parts one after the other; auto: on with NVIDIA's driver, and with AMD's once "
        "it has passed its self-test (auto)"
    ),
}
_SCORING = {
    ("--scheme", SCHEMES, "sum-of-pairs"): "the scoring of a column (sum-of-pairs)",
    ("--mode", MODES, "local"): (
        "local: the alignment begins and ends anywhere; global: it contains all letters of "
        "the three sequences; semiglobal: it begins with the first letter of at least one and ends "
        "with the last letter of at least one (local)"
    ),
    ("--alphabet", alphabet, None, "NAME"): (
        "alphabet for identity: dna, protein, or the name of a matrix with other letters (dna)"
    ),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)
    _add_scoring(parser)
    add_several(
        parser,
        "column of two or three residues at the same place of all sequences",
        None,
        "1; no limit with other modes",
    )
    running = add_running(parser, engine="subtable", engines=f"{', '.join(ENGINES3)} (subtable)")
    add_rows(running, _ADD)
    add_output(
        parser,
        FORMATS3,
        "text: three rows, and below them * if all letters are equal, : if all pairs score above "
        "0, . if at least one does; clustal; fasta: rows with gaps; tsv: one line per alignment",
    )


def run(arguments: argparse.Namespace) -> None:
    """Align the sequences of three files; cheap checks come first."""
    _scoring_of(arguments)  # raises errors of options
    paths = arguments.a, arguments.b, arguments.c
    check_output(arguments.output, *paths)
    check_standard_input(*paths)
    records = [read_all(path) for path in paths]
    a, b, c = map(only, paths, records)
    sides = zip(paths, records, strict=True)
    scoring, note = _scoring_of(arguments, *sides)
    scoring = scoring.in_mode(arguments.mode)
    with (
        Aligner3(
            scoring,
            engine=arguments.engine,
            device=arguments.device,
            unknown=arguments.unknown,
            memory=arguments.memory,
            polling=POLLING[arguments.polling],
        ) as aligner,
        progress_bar(arguments, math.prod(lengths(scoring.alphabet, a, b, c))) as bar,
    ):
        results = _disjoint(aligner, (a, b, c), arguments, bar)
        write(results, FORMATS3[arguments.format], destination(arguments), bar, note=note)


def _disjoint(
    aligner: Aligner3,
    records: tuple[Record, Record, Record],
    arguments: argparse.Namespace,
    bar: Bar,
) -> Iterator[Result3]:
    """Yield a result per alignment, or one result without an alignment if there is none."""
    most = arguments.max_alignments or None
    found = disjoint(aligner, records, most, arguments.min_score, bar.update)
    cells = math.prod(lengths(aligner.scoring.alphabet, *records))
    most = arguments.max_alignments if aligner.scoring.local else 1
    found = tables(found, cells, most, bar)
    rank, start = 0, time.perf_counter()

    def result(rank: int, alignment: Alignment3 | None) -> Result3:
        seconds, engine = time.perf_counter() - start, aligner.engine
        ran = engine.label, engine.where, engine.memory_used
        return Result3(records, rank, alignment, cells, seconds, *ran)

    for rank, alignment in enumerate(found, start=1):
        yield result(rank, alignment if alignment.columns else None)
        start = time.perf_counter()
    if not rank:
        yield result(1, None)


def _scoring_of(arguments: argparse.Namespace, *sides: tuple[str, Targets]) -> tuple[Scoring3, str]:
    """Return the scoring of the options and of the sequences, and a note for the summary."""
    if arguments.scheme == "sum-of-pairs":
        if arguments.alphabet:
            raise ValueError("--alphabet is for --scheme identity")
        scoring, note = scoring_for(arguments, *sides) if sides else (scoring_of(arguments), "")
        return Scoring3.sum_of_pairs(scoring), note
    for word in ("dna", "protein"):
        if getattr(arguments, word):
            raise ValueError(
                f"--{word} is for --scheme sum-of-pairs, --alphabet {word} for identity"
            )
    if arguments.matrix:
        raise ValueError(f"--matrix {arguments.matrix} and --scheme identity cannot be combined")
    match, mismatch = arguments.match, arguments.mismatch
    check_match(arguments)
    if match is None:
        match, mismatch = IDENTITY
    gapopen, gapextend = gaps_of(arguments, IDENTITY_GAPS)
    letters = arguments.alphabet or DNA
    costs = from_blast(gapopen, gapextend)
    return Scoring3.identity(match, mismatch, *costs, alphabet=letters), ""


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "scoring",
        "sum-of-pairs: a column scores the sum over its three pairs; each of the two pairs of a "
        "letter and a gap has a gap cost. identity: a column scores match if its three letters are "
        "equal, otherwise mismatch; gap costs are per column, with one gap or two. Gap costs "
        "follow BLAST's convention: the first residue of a gap costs gapopen + gapextend, each "
        "further one gapextend.",
    )
    add_rows(group, _SCORING)
    add_costs(
        group,
        *(f"; with identity {number}" for number in IDENTITY),
        *(f", with identity {cost}" for cost in IDENTITY_GAPS),
    )
