"""Options for the scoring of two sequences, and the `Scoring` made from them."""

from __future__ import annotations

import argparse
from pathlib import Path

from glsw.cli.inputs import Targets
from glsw.cli.options import add_of_wings
from glsw.cli.words import UNKNOWN, Rows, add_rows, cost, name, not_positive, number
from glsw.engines import TIES
from glsw.scoring.gaps import MODES, from_blast
from glsw.scoring.kinds import seen
from glsw.scoring.matrices import costs_of_blast, is_published, matrix_names
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.nucleic import (
    FEWEST_LETTERS,
    LETTERS_TO_TELL,
    PERCENT_COMMON,
    PERCENT_NUCLEOTIDES,
    Kind,
    judge,
)
from glsw.sequences.seg import MASKED, Masked

DNA_GAPS = 5, 2
"""Default gap costs of DNA, in BLAST's convention; those of proteins depend on the matrix."""

_SCORING = {
    ("--mode", MODES, "local"): (
        "local: the alignment begins and ends anywhere; global: it contains all letters of "
        "both sequences; semiglobal: the same, with free end gaps in both (local)"
    ),
    ("--ties", TIES, TIES[0]): (
        "among equally good alignments, choose the one that ends last, or any (conventional)"
    ),
}
_MASKING = {
    ("--lower-case-mask", bool): "mask lower-case letters",
    ("--mask-low-complexity", bool): (
        "mask low-complexity regions in queries: DUST for DNA, tantan for proteins"
    ),
    ("--seg", ("yes", *MASKED), "no"): (
        "mask low-complexity segments of proteins with SEG: in queries (yes or query, as in "
        "blastp), in targets, or in both (no)"
    ),
}
_KINDS = {
    ("--dna", bool): (
        "score DNA or RNA as in blastn, including ambiguity codes (--match 2 --mismatch -3); the "
        f"default if at least {PERCENT_COMMON} %% of the first {LETTERS_TO_TELL:,} letters of "
        f"each file are A, C, G, T, U or N, and {PERCENT_NUCLEOTIDES} %% are IUPAC nucleotide codes"
    ),
    ("--protein", bool): "score as protein, whatever the letters",
}


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Add a matrix, or match and mismatch, gap costs and ties."""
    group = parser.add_argument_group(
        "scoring",
        "Gap costs follow BLAST's convention: the first residue of a gap costs gapopen + "
        "gapextend, each further one gapextend; at 11/1 the first residue costs 12.",
    )
    add_costs(group)
    add_rows(group, _SCORING)
    add_of_wings(parser, group)


def add_masks(parser: argparse.ArgumentParser) -> None:
    """Add the masks."""
    group = parser.add_argument_group("masking", "Masked letters score like X or N.")
    add_rows(group, _MASKING)


def seg_of(arguments: argparse.Namespace) -> Masked:
    """Return which sequences SEG masks, where blastp's word is yes."""
    seg: Masked = "query" if arguments.seg == "yes" else arguments.seg
    return seg


def add_costs(
    group: argparse._ArgumentGroup,
    match: str = "",
    mismatch: str = "",
    gapopen: str = "",
    gapextend: str = "",
) -> None:
    """Add the options that scorings share, with more help."""
    rows: Rows = {
        ("--matrix", name, None, "NAME"): (
            f"substitution matrix (BLOSUM62): {', '.join(matrix_names())}; with glsw[cpu] also "
            "VTML80, PFASUM60, PAM50 and others; or a file in NCBI's format"
        ),
        ("--match", number, None, "S"): (
            f"score of equal letters, instead of a matrix, for DNA or RNA; with --mismatch{match}; "
            "ambiguity codes match nothing, but with --dna score as in blastn"
        ),
        ("--mismatch", not_positive, None, "S"): (
            f"score of different letters, such as -3{mismatch}"
        ),
        ("--gapopen", cost, None, "COST"): (
            "cost of opening a gap (that of BLAST for the matrix: 11 with BLOSUM62 and others, 14 "
            "with BLOSUM45 and PAM250, 13 with BLOSUM50, 10 with BLOSUM90 and PAM70, 9 with PAM30; "
            f"15 with BLOSUM80; {DNA_GAPS[0]} with --match{gapopen})"
        ),
        ("--gapextend", cost, None, "COST"): (
            "cost of each residue of a gap (that of BLAST for the matrix: 1 or, with BLOSUM45, "
            f"BLOSUM50, BLOSUM80 and PAM250, 2; {DNA_GAPS[1]} with --match{gapextend})"
        ),
        **_KINDS,
        **UNKNOWN,
    }
    add_rows(group, rows)


def scoring_for(
    arguments: argparse.Namespace, *sides: tuple[str, Targets], check: bool = True
) -> tuple[Scoring, str]:
    """Return the scoring of the options and a note for the summary.

    If the options ask for no scoring, it is DNA if all sides, of the query first, each with its
    path, are nucleic acid, which the note says. An error says what to do if they are not alike,
    unless that is not to be checked.
    """
    asked = asked_for(arguments)
    nucleic = not asked and judge({path: seen(side)[0] for path, side in sides}).nucleic
    scoring = scoring_of(arguments, bool(nucleic))
    note = check_kinds(arguments, scoring, *sides) if check else ""
    return scoring, "; DNA scoring, as the query is nucleic acid" if nucleic else note


def check_kinds(
    arguments: argparse.Namespace, scoring: Scoring, *sides: tuple[str, Targets]
) -> str:
    """Raise an error that says what to do if sides, of the query first, do not fit a scoring.

    The alphabet of a database decides what fits, whatever the options say. Letters do not decide
    against --protein, nor against a matrix that all of them are scored by, nor if they are few;
    then the note for the summary says so.
    """
    translated = getattr(arguments, "translated", None)  # None: there is no such option
    if "rounds" in arguments:
        translated = None
    for path, side in sides[1:]:
        if isinstance(side, Database):
            if side.alphabet.amino_acids and scoring.alphabet.nucleotides:
                raise _proteins(path, translated, indexed=True)
            wrong = side.alphabet.nucleotides and scoring.alphabet.amino_acids
            translating = getattr(arguments, "translated_target", False)
            if wrong and asked_for(arguments) and not translating:
                raise _dna(path, translated, indexed=True)
    if not scoring.alphabet.amino_acids:
        return ""
    if getattr(arguments, "translated_target", False):
        return _check_translated(arguments, *sides)
    asked = asked_for(arguments)
    kinds = {str(k): seen(side)[0] for k, (_, side) in enumerate(sides)}  # paths may be equal
    if translated or "read_queries" in arguments:
        kinds["0"] = Kind(False)
    if arguments.protein or (asked and all(each.nucleic for each in kinds.values())):
        paths = [sides[int(k)][0] for k, kind in kinds.items() if kind.nucleic and kind.sure]
        once = dict.fromkeys(paths)
        return "".join(f"; {path} looks like DNA, but is scored as protein" for path in once)
    verdict = judge(kinds)
    if verdict.mixed:
        nucleic, protein = verdict.mixed
        path, side = sides[int(nucleic if protein == "0" else protein)]
        indexed = isinstance(side, Database)
        if protein == "0":
            raise _dna(path, translated, indexed)
        raise _proteins(path, translated, indexed, asked)
    return "".join(
        f"; {path} has fewer than {FEWEST_LETTERS} letters, too few to tell DNA from "
        "protein: scored as protein"
        for path in dict.fromkeys(sides[int(k)][0] for k in verdict.short)
    )


def _check_translated(
    arguments: argparse.Namespace, query: tuple[str, Targets], target: tuple[str, Targets]
) -> str:
    """Check the sides of a search of translated targets, see `check_kinds`."""
    of_query, of_target = (seen(side)[0] for _, side in (query, target))
    if of_target.nucleic is False:
        raise ValueError(f"{target[0]} has proteins: --translated-target is for DNA")
    if arguments.translated or not of_query.nucleic:
        return ""
    if of_query.sure and not arguments.protein:
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


def asked_for(arguments: argparse.Namespace) -> bool:
    """Return whether the options ask for a scoring of DNA or of proteins."""
    words = "matrix", "match", "dna", "protein", "translated", "translated_target"
    return any(getattr(arguments, word, None) not in (None, False) for word in words)


def scoring_of(arguments: argparse.Namespace, nucleic: bool = False) -> Scoring:
    """Return the scoring of the options; `ValueError` if some cannot be combined.

    If the options ask for none it is that of DNA where sequences are ``nucleic`` acid.
    """
    match, mismatch = arguments.match, arguments.mismatch
    check_match(arguments)
    dna = arguments.dna or nucleic
    for words, given in (("--match, --mismatch", match is not None), ("--dna", arguments.dna)):
        if given and arguments.matrix:
            raise ValueError(f"--matrix {arguments.matrix} and {words} cannot be combined")
        if given and arguments.protein:
            raise ValueError(f"--protein and {words} cannot be combined")
    matrix = arguments.matrix or "BLOSUM62"
    default = DNA_GAPS if dna or match is not None else costs_of_blast(matrix)
    gapopen, gapextend = gaps_of(arguments, default)
    if dna and match is None:
        return Scoring.nucleotide(existence=gapopen, extension=gapextend)
    if dna:
        return Scoring.nucleotide(match, mismatch, gapopen, gapextend)
    if match is not None:
        return Scoring.match_mismatch(match, mismatch, *from_blast(gapopen, gapextend))
    if not is_published(matrix) and Path(matrix).is_file():
        return Scoring.from_file(matrix, *from_blast(gapopen, gapextend))
    return Scoring.blast(matrix, gapopen, gapextend)


def check_match(arguments: argparse.Namespace) -> None:
    """Raise an error if only one of match and mismatch is given."""
    if (arguments.match is None) != (arguments.mismatch is None):
        raise ValueError("give both --match and --mismatch, or neither")


def gaps_of(arguments: argparse.Namespace, default: tuple[float, float]) -> tuple[float, float]:
    """Return the costs of opening a gap and of each residue of it."""
    given = arguments.gapopen, arguments.gapextend
    gapopen, gapextend = (d if g is None else g for g, d in zip(given, default, strict=True))
    return gapopen, gapextend
