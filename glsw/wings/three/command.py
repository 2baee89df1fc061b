"""The command ``glsw align3``: alignments of three sequences."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Literal

from glsw.cli.command import Command, Group, argument, group, option
from glsw.cli.inputs import FILES, Targets, check_standard_input, lengths, only
from glsw.cli.messages import Bar, progress_bar, tables
from glsw.cli.options import Output, Running, Several
from glsw.cli.outputs import check_output, destination, write
from glsw.cli.scoring import Costs, scoring_for
from glsw.cli.words import alphabet
from glsw.scoring.gaps import Mode, from_blast
from glsw.sequences.alphabet import DNA, Alphabet
from glsw.sequences.fasta import read_all
from glsw.sequences.records import Record
from glsw.wings.three.aligner import Aligner3, disjoint
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.formats import FORMATS3, Result3
from glsw.wings.three.results import Alignment3
from glsw.wings.three.scoring import Scheme, Scoring3

IDENTITY = 1, -1
"""Default match and mismatch of three letters (Sudo et al. 2012)."""
IDENTITY_GAPS = 0, 1
"""Default gap costs with them, in BLAST's words."""
POLLING = {"auto": None, "on": True, "off": False}
"""Choices of ``--polling``."""


class _Scheme(Group):
    scheme: Scheme = option("the scoring of a column (sum-of-pairs)", "sum-of-pairs")
    mode: Mode = option(
        "local: the alignment begins and ends anywhere; global: it contains all letters of "
        "the three sequences; semiglobal: it begins with the first letter of at least one and ends "
        "with the last letter of at least one (local)",
        "local",
    )
    alphabet: Alphabet | None = option(
        "NAME: alphabet for identity: dna, protein, or the name of a matrix with other letters "
        "(dna)",
        type=alphabet,
    )


class _Scoring(Costs, _Scheme):
    about = (
        "sum-of-pairs: a column scores the sum over its three pairs; each of the two pairs of a "
        "letter and a gap has a gap cost. identity: a column scores match if its three letters are "
        "equal, otherwise mismatch; gap costs are per column, with one gap or two. Gap costs "
        "follow BLAST's convention: the first residue of a gap costs gapopen + gapextend, each "
        "further one gapextend."
    )

    def apply(self, command: Command) -> None:
        """Let errors of letters advise the options of the scheme."""
        if self.scheme != "identity":
            super().apply(command)

    def of_three(self, *sides: tuple[str, Targets]) -> tuple[Scoring3, str]:
        """Return the scoring of the options and of the sequences, and a note for the summary."""
        if self.scheme == "sum-of-pairs":
            if self.alphabet:
                raise ValueError("--alphabet is for --scheme identity")
            scoring, note = scoring_for(self, *sides) if sides else (self.given, "")
            return Scoring3.sum_of_pairs(scoring), note
        for word, given in (("dna", self.dna), ("protein", self.protein)):
            if given:
                raise ValueError(
                    f"--{word} is for --scheme sum-of-pairs, --alphabet {word} for identity"
                )
        if self.matrix:
            raise ValueError(f"--matrix {self.matrix} and --scheme identity cannot be combined")
        match, mismatch = self.letters() or IDENTITY
        costs = from_blast(*self.gaps(IDENTITY_GAPS))
        letters = self.alphabet or DNA
        return Scoring3.identity(match, mismatch, *costs, alphabet=letters), ""


class _Running(Running):
    engine: str = option(f"NAME: {', '.join(ENGINES3)} (subtable)", "subtable")
    polling: Literal["auto", "on", "off"] = option(
        "on: compute all parts of a table at once, waiting for one another, which is faster; if "
        "the device does not let them proceed, a warning follows and off is used; off: compute "
        "dependent parts one after the other; auto: on with NVIDIA's driver, and with AMD's once "
        "it has passed its self-test (auto)",
        "auto",
    )


class _Output(Output):
    format: str = option(
        "text: three rows, and below them * if all letters are equal, : if all pairs score above "
        "0, . if at least one does; clustal; fasta: rows with gaps; tsv: one line per alignment "
        "(text)",
        "text",
        choices=tuple(FORMATS3),
    )


_NOTES = {
    "match": f"; with identity {IDENTITY[0]}",
    "mismatch": f"; with identity {IDENTITY[1]}",
    "gapopen": f", with identity {IDENTITY_GAPS[0]}",
    "gapextend": f", with identity {IDENTITY_GAPS[1]}",
    "max_alignments": "column of two or three residues at the same place of all sequences",
}


class Align3(Command, notes=_NOTES):
    """Align three sequences."""

    examples = (
        "glsw align3 a.fasta b.fasta c.fasta",
        "glsw align3 a.fasta b.fasta c.fasta --mode global --format clustal",
        "glsw align3 a.fasta b.fasta c.fasta --scheme identity --alphabet protein",
    )
    a: str = argument(f"A: a file of one sequence: {FILES}")
    b: str = argument("B: a file of one sequence")
    c: str = argument("C: a file of one sequence")
    scoring: _Scoring = group(_Scoring)
    several: Several = group(Several)
    running: _Running = group(_Running)
    output: _Output = group(_Output)

    def run(self) -> None:
        """Align the sequences of three files; cheap checks come first."""
        asked, running, output = self.scoring, self.running, self.output
        asked.of_three()  # raises errors of options
        paths = self.a, self.b, self.c
        check_output(output.output, *paths)
        check_standard_input(*paths)
        records = [read_all(path) for path in paths]
        a, b, c = map(only, paths, records)
        scoring, note = asked.of_three(*zip(paths, records, strict=True))
        scoring = scoring.in_mode(asked.mode)
        with (
            Aligner3(
                scoring,
                engine=running.engine,
                device=running.device,
                unknown=asked.unknown,
                memory=running.memory,
                polling=POLLING[running.polling],
            ) as aligner,
            progress_bar(running.no_progress, math.prod(lengths(scoring.alphabet, a, b, c))) as bar,
        ):
            results = self._disjoint(aligner, (a, b, c), bar)
            to = destination(self, output.output)
            write(results, FORMATS3[output.format], to, bar, note=note)

    def _disjoint(
        self, aligner: Aligner3, records: tuple[Record, Record, Record], bar: Bar
    ) -> Iterator[Result3]:
        """Yield a result per alignment, or one result without an alignment if there is none."""
        most, least = self.several.max_alignments, self.several.min_score
        found = disjoint(aligner, records, most or None, least, bar.update)
        cells = math.prod(lengths(aligner.scoring.alphabet, *records))
        found = tables(found, cells, most if aligner.scoring.local else 1, bar)
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
