"""Scoring options of commands, and the `Scoring` that they specify."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from glsw.cli.command import Command, Group, of_wings, option
from glsw.cli.inputs import Targets, unknown_letters
from glsw.cli.options import STRAND
from glsw.cli.words import genetic_code_of
from glsw.engines.base import TIES, Ties
from glsw.inputs.source import Source
from glsw.options import defaults_of
from glsw.scoring.gaps import Mode, from_blast
from glsw.scoring.matrices import COSTS, SCORES, costs_of_blast, is_published, matrix_names
from glsw.scoring.scoring import Scoring
from glsw.sequences.nucleic import (
    FEWEST_LETTERS,
    LETTERS_TO_TELL,
    PERCENT_COMMON,
    PERCENT_NUCLEOTIDES,
    Kind,
    judge,
)
from glsw.sequences.query import Strand

_DNA = defaults_of(Scoring.nucleotide)
DNA_GAPS = _DNA["existence"], _DNA["extension"]
"""Default gap costs of DNA, in BLAST's convention; those of proteins depend on the matrix."""


class Costs(Group, title="scoring"):
    """Substitution scores and gap costs."""

    about = (
        "Gap costs follow BLAST's convention: the first residue of a gap costs gapopen + "
        "gapextend, each further one gapextend; at 11/1 the first residue costs 12."
    )
    matrix: str | None = option(
        f"NAME: substitution matrix (BLOSUM62): {', '.join(matrix_names())}; with glsw[cpu] also "
        "VTML80, PFASUM60, PAM50 and others; or a file in NCBI's format",
        tasks={"blastp-short": "PAM30"},
    )
    match: float | None = option(
        "S: score of equal letters, instead of a matrix, for DNA or RNA; with --mismatch{}; "
        "ambiguity codes match nothing, but with --dna score as in blastn",
        within=SCORES,
    )
    mismatch: float | None = option(
        "S: score of different letters, such as -3{}", within=SCORES._replace(most=0)
    )
    gapopen: float | None = option(
        "COST: cost of opening a gap (that of BLAST for the matrix: 11 with BLOSUM62 and others, "
        "14 with BLOSUM45 and PAM250, 13 with BLOSUM50, 10 with BLOSUM90 and PAM70, 9 with PAM30; "
        f"15 with BLOSUM80; {DNA_GAPS[0]} with --match{{}})",
        within=COSTS,
    )
    gapextend: float | None = option(
        "COST: cost of each residue of a gap (that of BLAST for the matrix: 1 or, with BLOSUM45, "
        f"BLOSUM50, BLOSUM80 and PAM250, 2; {DNA_GAPS[1]} with --match{{}})",
        within=COSTS,
    )
    dna: bool = option(
        f"score DNA or RNA as in blastn, including ambiguity codes (--match {_DNA['match']} "
        f"--mismatch {_DNA['mismatch']}); the default if at least {PERCENT_COMMON} %% of the first "
        f"{LETTERS_TO_TELL:,} letters of each file are A, C, G, T, U or N, and "
        f"{PERCENT_NUCLEOTIDES} %% are IUPAC nucleotide codes",
    )
    protein: bool = option("score as protein, whatever the letters")
    unknown: str | None = unknown_letters()

    def apply(self, command: Command) -> None:
        """Let errors about letters suggest these options."""
        command.advice = "--protein", "--dna"

    @property
    def asked(self) -> bool:
        """Whether these ask for a scoring of DNA or of proteins."""
        return self.matrix is not None or self.match is not None or self.dna or self.protein

    def gaps(self, default: tuple[float, float]) -> tuple[float, float]:
        """Return the costs of opening a gap and of each residue of it."""
        given = self.gapopen, self.gapextend
        gapopen, gapextend = (d if g is None else g for g, d in zip(given, default, strict=True))
        return gapopen, gapextend

    def letters(self) -> tuple[Any, Any] | None:
        """Return match and mismatch, None if neither is given; an error if only one is."""
        if self.match is None and self.mismatch is None:
            return None
        if self.match is None or self.mismatch is None:
            raise ValueError("give both --match and --mismatch, or neither")
        return self.match, self.mismatch

    @cached_property
    def given(self) -> Scoring:
        """The scoring of the options alone; `ValueError` if some cannot be combined."""
        return self.scoring()

    def scoring(self, nucleic: bool = False) -> Scoring:
        """Return the scoring; `ValueError` if some options cannot be combined.

        If they ask for none it is that of DNA where sequences are ``nucleic`` acid.
        """
        letters, dna = self.letters(), self.dna or nucleic
        for words, given in (("--match, --mismatch", letters), ("--dna", self.dna)):
            if given and self.matrix:
                raise ValueError(f"--matrix {self.matrix} and {words} cannot be combined")
            if given and self.protein:
                raise ValueError(f"--protein and {words} cannot be combined")
        matrix = self.matrix or "BLOSUM62"
        default = DNA_GAPS if dna or letters else costs_of_blast(matrix)
        gapopen, gapextend = self.gaps(default)
        if dna:
            scores = letters or (_DNA["match"], _DNA["mismatch"])
            return Scoring.nucleotide(*scores, gapopen, gapextend)
        costs = from_blast(gapopen, gapextend)
        if letters:
            return Scoring.match_mismatch(*letters, *costs)
        if not is_published(matrix) and Path(matrix).is_file():
            return Scoring.from_file(matrix, *costs)
        return Scoring.blast(matrix, gapopen, gapextend)


class Scored(Costs):
    """The scoring, the mode, and the tie rule of pairwise alignment."""

    mode: Mode = option(
        "local: the alignment begins and ends anywhere; global: it contains all letters of "
        "both sequences; semiglobal: the same, with free end gaps in both (local)",
        "local",
        decides=True,
    )
    ties: Ties = option(
        "among equally good alignments, choose the one that ends last, or any (conventional)",
        TIES[0],
        decides=True,
    )
    wings: list[Group] = of_wings()


class Frames(Group, title="strands and frames", decides=True):
    """Strands, and what is translated."""

    strand: Strand | None = option(STRAND)
    translated: bool = option(
        "search proteins with a DNA query translated in three frames of each strand, as blastx",
        one_track=True,
    )
    genetic_code: int | None = option(
        "N: NCBI number of the genetic code of the queries, with --translated (1)",
        type=genetic_code_of,
    )
    translated_target: bool = option(
        "search DNA with a protein, as tblastn: translate the targets in three frames of each "
        "strand; with --translated, the query too, as tblastx",
        one_track=True,
    )
    target_strand: Strand | None = option("strands of the targets, with --translated-target (both)")
    target_genetic_code: int | None = option(
        "N: NCBI number of the genetic code of the targets, with --translated-target (1)",
        type=genetic_code_of,
    )

    @property
    def any(self) -> bool:
        """Whether anything is translated."""
        return self.translated or self.translated_target

    def codes(self) -> tuple[int | None, int | None]:
        """Return the genetic codes of queries and of targets, None if these are not translated."""
        of_query, of_target = self.genetic_code, self.target_genetic_code
        for translated, given, flag, needed in (
            (self.translated, of_query, "genetic-code", "translated"),
            (self.translated_target, of_target, "target-genetic-code", "translated-target"),
            (self.translated_target, self.target_strand, "target-strand", "translated-target"),
        ):
            if given is not None and not translated:
                raise ValueError(f"--{flag} {given} requires --{needed}")
        if self.translated and of_query is None:
            of_query = 1
        if self.translated_target and of_target is None:
            of_target = 1
        return of_query, of_target


def scoring_for(
    costs: Costs, *sides: tuple[str, Targets], frames: Frames | None = None, check: bool = True
) -> tuple[Scoring, str]:
    """Return the scoring of the options and a note for the summary.

    If the options ask for no scoring, it is DNA if all sides, of the query first, each with its
    path, are nucleic acid, which the note says. An error says what to do if they are not alike,
    unless that is not to be checked. ``frames`` are the options of translation if there are any.
    """
    asked = costs.asked or (frames is not None and frames.any)
    sources = [(path, Source(side)) for path, side in sides]
    nucleic = not asked and judge({path: source.kind for path, source in sources}).nucleic
    scoring = costs.scoring(nucleic=True) if nucleic else costs.given
    note = check_kinds(costs, scoring, *sources, frames=frames) if check else ""
    return scoring, "; DNA scoring, as the query is nucleic acid" if nucleic else note


def check_kinds(
    costs: Costs,
    scoring: Scoring,
    *sides: tuple[str, Targets | Source],
    frames: Frames | None = None,
    profile: bool = False,
) -> str:
    """Raise an error with advice if the sequences, the query first, do not fit the scoring.

    The alphabet of a database decides what fits, whatever the options say. Letters do not decide
    against --protein, nor against a matrix that all of them are scored by, nor if they are few;
    then the note for the summary says so. The query may be a ``profile``, of proteins.
    """
    translated = frames.translated if frames else None  # None: there is no such option
    translating = frames is not None and frames.translated_target
    asked = costs.asked or bool(translated) or translating
    sources = [(path, Source.of(side)) for path, side in sides]
    for path, source in sources[1:]:
        if (database := source.database) is not None:
            if database.alphabet.amino_acids and scoring.alphabet.nucleotides:
                raise _proteins(path, translated, indexed=True)
            wrong = database.alphabet.nucleotides and scoring.alphabet.amino_acids
            if wrong and asked and not translating:
                raise _dna(path, translated, indexed=True)
    if not scoring.alphabet.amino_acids:
        return ""
    if translating:
        return _check_translated(costs, bool(translated), *sources)
    # By number, as paths may be equal.
    kinds = {str(k): source.kind for k, (_, source) in enumerate(sources)}
    if translated or profile:
        kinds["0"] = Kind(False)
    if costs.protein or (asked and all(each.nucleic for each in kinds.values())):
        paths = [sources[int(k)][0] for k, kind in kinds.items() if kind.nucleic and kind.sure]
        once = dict.fromkeys(paths)
        return "".join(f"; {path} looks like DNA, but is scored as protein" for path in once)
    verdict = judge(kinds)
    if verdict.mixed:
        nucleic, protein = verdict.mixed
        path, source = sources[int(nucleic if protein == "0" else protein)]
        indexed = source.database is not None
        if protein == "0":
            raise _dna(path, translated, indexed)
        raise _proteins(path, translated, indexed, asked)
    return "".join(
        f"; {path} has fewer than {FEWEST_LETTERS} letters, too few to tell DNA from "
        "protein: scored as protein"
        for path in dict.fromkeys(sources[int(k)][0] for k in verdict.short)
    )


def _check_translated(
    costs: Costs, translated: bool, query: tuple[str, Source], target: tuple[str, Source]
) -> str:
    """Check the sides of a search of translated targets, see `check_kinds`."""
    of_query, of_target = query[1].kind, target[1].kind
    if of_target.nucleic is False:
        raise ValueError(f"{target[0]} has proteins: --translated-target is for DNA")
    if translated or not of_query.nucleic:
        return ""
    if of_query.sure and not costs.protein:
        raise ValueError(
            f"{query[0]} has DNA: give --translated too, to translate the query as well, or "
            "--protein if it has proteins"
        )
    return f"; {query[0]} looks like DNA, but is scored as protein"


def _proteins(
    path: str, translated: bool | None, indexed: bool, as_asked: bool = False
) -> ValueError:
    """Return the error of proteins, beside a query of DNA."""
    search = "" if translated is None else "--translated to search proteins with DNA, or "
    elsewhere = (
        "; glsw search --translated searches proteins with DNA" if translated is None else ""
    )
    index = "; makedb --alphabet dna indexes DNA" if indexed else ""
    query = "has DNA" if as_asked else "is scored as DNA"
    return ValueError(
        f"{path} has proteins, but the query {query}: give {search}--protein if it is a "
        f"protein{index}{elsewhere}"
    )


def _dna(path: str, translated: bool | None, indexed: bool) -> ValueError:
    """Return the error of DNA, beside a query of proteins."""
    search = "" if translated is None else "--translated-target to search DNA with proteins, or "
    what = (
        f"give {search}--dna if it is DNA"
        if indexed
        else f"give {search}--protein if it has proteins"
    )
    if translated is None:
        what += "; glsw search --translated-target searches DNA with proteins"
    if translated:
        what = "--translated is for proteins, with --translated-target it is for DNA"
    return ValueError(f"{path} has DNA, but the query is scored as protein: {what}")
