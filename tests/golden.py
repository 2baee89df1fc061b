"""Golden files: what the command line and the library print, byte by byte.

``python tests/golden.py FOLDER`` writes one file per case into FOLDER and compares their checksums
with ``tests/golden.txt``. It lists the names that differ, are missing or are new; the exit status
is 1 if there are any. To see what differs, run it on both versions and ``diff -r`` the folders.

``python tests/golden.py FOLDER --write`` rewrites ``tests/golden.txt``, after a change of results
that is meant. ``--only NAME`` restricts all this to names that begin so and may be repeated.

Cases use ``glsw.cli.main`` and public names of ``glsw``, and no modules inside, so that these may
move. Engines are ``cpu`` and ``reference``, which need no device. A case runs in a folder of its
own with the same input files, which come from a fixed seed and from ``demo``. Its file has what it
prints, then every file it has written; those that are no text as a checksum. What depends on the
machine, the time or the version is replaced: paths, seconds, GCUPS, versions and names of hosts.
Checksums are of files whose long numbers are rounded to 12 digits, as processors differ in the last
ones; the files have all digits.

``help`` and ``options`` are in the words of argparse, which differ between versions of Python, and
are compared only with the version that wrote the list.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import glsw
from glsw.cli import main

ROOT = Path(__file__).resolve().parents[1]
LISTED = ROOT / "tests" / "golden.txt"
OF_ARGPARSE = "help", "options"
AMINO_ACIDS, NUCLEOTIDES = "ARNDCQEGHILKMFPSTWYV", "ACGT"
FORMATS = "pairwise table tsv blast-tab blast-tab-comments sam paf gff3 jsonl html"
OF_ALIGNMENTS = "score identities positives gaps columns identity cigar"
OF_RESULTS = "cells engine evalue listed more residues sequences statistics"
WITH_THREADS = "search", "merge", "align", "align3", "neighbors", "motifs"

PREFACE = 40
"""Bytes at the beginning of a database."""

COMMANDS: dict[str, list[str]] = {}
"""The command lines of each case."""
CALLS: dict[str, Callable[[], None]] = {}
"""Cases of the library."""
SLOW = "cluster", "iterate", "search.resume"
"""Cases that take seconds, and begin first."""


# inputs


def letters(rng: random.Random, length: int, of: str = AMINO_ACIDS) -> str:
    return "".join(rng.choice(of) for _ in range(length))


def mutated(rng: random.Random, sequence: str, of: str = AMINO_ACIDS, rate: float = 0.2) -> str:
    """Return a sequence with substitutions, and a third as many insertions and deletions."""
    made = []
    for letter in sequence:
        dice = rng.random() / rate
        if dice < 1 / 6:
            continue
        if dice < 2 / 6:
            made.append(rng.choice(of))
        made.append(rng.choice(of) if 2 / 6 <= dice < 1 else letter)
    return "".join(made) or sequence


def fasta(records: Iterable[tuple[str, str]]) -> str:
    return "".join(f">{name}\n{sequence}\n" for name, sequence in records)


def reverse_complement(sequence: str) -> str:
    return sequence.translate(str.maketrans("ACGT", "TGCA"))[::-1]


def coding(rng: random.Random, protein: str) -> str:
    """Return DNA that the standard genetic code translates to this protein."""
    codons: dict[str, list[str]] = {}
    table = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
    for k, amino_acid in enumerate(table):
        codons.setdefault(amino_acid, []).append(
            f"{'TCAG'[k // 16]}{'TCAG'[k // 4 % 4]}{'TCAG'[k % 4]}"
        )
    return "".join(rng.choice(codons[each]) for each in protein)


def write_inputs(folder: Path) -> None:
    """Write the input files of all cases."""
    folder.mkdir(parents=True)
    for name in ("query.fasta", "proteins.fasta", "recording.csv"):
        shutil.copy(ROOT / "demo" / name, folder / name)
    for name in ("data/made_up.mat", "wings/profiles/made_up.hmm", "wings/profiles/made_up.pssm"):
        shutil.copy(ROOT / "tests" / name, folder / Path(name).name)
    records = (ROOT / "demo" / "proteins.fasta").read_text().split(">")[1:]
    (folder / "some_proteins.fasta").write_text("".join(f">{each}" for each in records[::6]))
    for name, text in {**_proteins(), **_dna(), **_others()}.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def _proteins() -> dict[str, str]:
    rng = random.Random(1)
    ancestors = [letters(rng, 80) for _ in range(3)]
    family = [
        (
            f"f{k} family {k % 3}",
            mutated(rng, ancestors[0 if k % 5 else k % 3], rate=0.05 + 0.008 * (k % 60)),
        )
        for k in range(700)
    ]
    queries = [(f"q{k} query", mutated(rng, each)) for k, each in enumerate(ancestors)]
    low = "QQQQQQQQPQQQQQQAQQQQQQQQQ"
    biased = [
        (f"b{k}", letters(rng, 40) + (low if k % 2 else "") + mutated(rng, ancestors[0], rate=0.4))
        for k in range(80)
    ]
    few = family[:12]
    soft = queries[0][1][:30] + queries[0][1][30:50].lower() + queries[0][1][50:]
    rows = [ancestors[0][:40], *(letters(rng, 40) for _ in range(2))]
    rows[1] = rows[0][:10] + "----" + rows[0][14:35] + "WWWWW"
    rows[2] = rows[0][:20] + rows[1][20:30] + "---" + rows[0][33:]
    endless = letters(rng, 4000)
    states = "ACDEFGHIKLMNPQRSTVWY"
    matrix = ["   " + "  ".join(states + "X")]
    for a in states + "X":
        scores = (-1 if "X" in (a, b) else 4 if a == b else rng.randint(-3, 0) for b in states)
        row = [*scores, -1]
        matrix.append(a + " ".join(f"{each:3d}" for each in row))
    for k, a in enumerate(states):  # the same both ways
        cells = matrix[k + 1][1:].split()
        for j in range(k):
            cells[j] = matrix[j + 1][1:].split()[k]
        matrix[k + 1] = a + " ".join(f"{each:>3}" for each in cells)
    return {
        "family.fa": fasta(family),
        "queries.fa": fasta(queries),
        "q.fa": fasta(queries[:1]),
        "few.fa": fasta(few),
        "other.fa": fasta(family[12:20]),
        "biased.fa": fasta(biased),
        "biased_query.fa": fasta([("bq", biased[1][1])]),
        "soft.fa": fasta([("soft", soft)]),
        "two.fa": fasta([("short", endless[:50]), ("endless", endless[:3000] * 2)]),
        "long.fa": fasta((f"t{k}", endless[k * 100 : k * 100 + 900]) for k in range(21)),
        "odd.fa": fasta([("odd", queries[0][1][:40] + "UOJBZX" + queries[0][1][40:])]),
        "family.afa": fasta((f"row{k}", row) for k, row in enumerate(rows)),
        **{f"p{k}.fa": fasta([(f"p{k}", mutated(rng, ancestors[0]))]) for k in range(3)},
        "tracks.fa": fasta(family[:100]),
        "tracks2.fa": fasta((name, letters(rng, len(each), states)) for name, each in family[:100]),
        "tracks_query2.fa": fasta(
            (name, letters(rng, len(each), states)) for name, each in queries
        ),
        "states.mat": "\n".join(matrix) + "\n",
        "genes.fa": fasta(
            (f"g{k}", letters(rng, 31, NUCLEOTIDES) + strand(coding(rng, mutated(rng, each))))
            for k, (each, strand) in enumerate(
                (each, strand) for each in ancestors for strand in (str, reverse_complement)
            )
        ),
    }


def _dna() -> dict[str, str]:
    rng = random.Random(1)
    genome = letters(rng, 3000, NUCLEOTIDES)
    rng = random.Random(2)
    reads = []
    for k in range(12):
        start = rng.randrange(2800)
        read = genome[start : start + 120]
        read = "".join(rng.choice(NUCLEOTIDES) if rng.random() < 0.05 else x for x in read)
        if k % 2:
            read = reverse_complement(read)
        if k % 3 == 0:
            read = read[:50] + read[60:]
        reads.append((f"r{k} read", read))
    quality = "".join(chr(33 + k % 40) for k in range(120))
    return {
        "dna.fa": fasta([("g genome", genome)]),
        "reads.fa": fasta(reads),
        "reads.fq": "".join(
            f"@{name}\n{read}\n+\n{quality[: len(read)]}\n" for name, read in reads[:4]
        ),
        "one.fa": fasta(reads[:1]),
        "repeat.fa": fasta([("repeat", genome[100:160] + "AT" * 30 + genome[160:220])]),
        "soft_dna.fa": fasta([("soft", genome[100:160] + genome[160:200].lower())]),
        **{
            f"d{k}.fa": fasta([(f"d{k}", mutated(rng, genome[:60], NUCLEOTIDES))]) for k in range(3)
        },
    }


def _others() -> dict[str, str | bytes]:
    return {
        "bad.fa": ">good\nMKVLA\n>bad\nMKVL-A\n",
        "empty.fa": "",
        "blank.fa": "\n\n",
        "not.fa": "no sequences\n",
        "half.fq": "@a\nACGT\n+\nII",
        "cut.fa.gz": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xb3K",
        "masked.fa": ">soft\nmkvla\n",
        "hole.csv": "time,a,b,c\n"
        + "".join(f"{k},{k},{k % 3},{k % 2}\n" for k in range(9))
        + "9,,1,2\n",
        "text.csv": "time,a,b\n0,1,2\n1,x,2\n",
        "short2.fa": ">q0 query\nACDE\n",
        "bad.mat": "A B\nA 1\n",
    }


# cases


def add_commands() -> None:
    cpu = "--engine cpu --no-progress"
    demo = f"search query.fasta proteins.fasta {cpu}"
    columns = "blast-tab std qlen slen btop qcovs qcovhsp frames sstrand ppos qseq sseq"
    formats = FORMATS.split()

    def case(name: str, *lines: str) -> None:
        assert name not in COMMANDS, name
        COMMANDS[name] = list(lines)

    for form in [*formats, columns]:
        short = form.partition(" ")[0] + "-columns" * (" " in form)
        case(
            f"search.prot.{short}",
            f"{demo} --top 20 --max-hsps 3 --format '{form}' --output out",
        )
        case(f"search.default.{short}", f"{demo} --format '{form}'")
        dna = f"search reads.fa dna.fa {cpu} --format '{form}'"
        case(f"search.dna.{short}", f"{dna} --evalue 1e-3 --max-hsps 2 --output out")
        case(f"search.dna-default.{short}", dna)
        case(f"search.family.{short}", f"search q.fa family.fa {cpu} --format '{form}'")
    tsv = f"{cpu} --format tsv"
    demo_tsv = f"search query.fasta proteins.fasta {tsv}"
    case("search.plain", f"{demo}")
    case(
        "search.stdin",
        f"search - few.fa {tsv} < q.fa",
        f"search reads.fa - {tsv} --top 2 < dna.fa",
        f"search - few.fa {tsv}",
        f"align - p1.fa {tsv} < p0.fa",
    )
    case("search.alignments", f"{demo} --format table --alignments 2", f"{demo} --alignments 0")
    case("search.comp", f"{demo_tsv} --composition 2 --order evalue --seg yes")
    case(
        "search.gonnet", f"{demo_tsv} --matrix GONNET1992 --gapopen 10 --gapextend 0.5 --unknown A"
    )
    case("search.link", f"{demo} --format html --top 3 --link 'https://x.org/{{accession}}/{{id}}'")
    case(
        "search.reads",
        f"search reads.fq dna.fa {cpu} --format sam --read-group '@RG\\tID:run1\\tSM:s' "
        "--max-hsps 2",
    )
    for mode in ("global", "semiglobal"):
        case(f"search.{mode}", f"search q.fa few.fa {tsv} --mode {mode}")
        case(f"search.{mode}.pairwise", f"search q.fa few.fa {cpu} --mode {mode}")
    case(
        "search.limits",
        f"search queries.fa family.fa {tsv} --top 7",
        f"search queries.fa family.fa {tsv} --evalue 1e-20 --min-score 300",
        f"search q.fa family.fa {tsv} --top 0 --min-score 250",
        f"search q.fa family.fa {tsv} --evalue inf --top 600",
        f"search q.fa family.fa {tsv} --ties any --top 5",
    )
    for method in ("auto", "karlin-altschul", "fit", "none"):
        case(f"search.statistics.{method}", f"{demo_tsv} --statistics {method} --top 30")
    case(
        "search.statistics.other-gaps",
        f"{demo_tsv} --gapopen 5 --gapextend 3 --top 30",
        f"{demo_tsv} --gapopen 2 --gapextend 1 --top 30",
        f"search q.fa few.fa {tsv} --gapopen 5 --gapextend 3",
        f"search q.fa family.fa {tsv} --matrix BENNER22 --top 30 --unknown A",
    )
    for composition in (1, 2):
        for order in ("score", "evalue"):
            case(
                f"search.composition.{composition}.{order}",
                f"search biased_query.fa biased.fa {tsv} --composition {composition} "
                f"--order {order} --seg yes --max-hsps 2",
            )
    for seg in ("yes", "no", "query", "target", "both"):
        case(f"search.seg.{seg}", f"search biased_query.fa biased.fa {tsv} --seg {seg}")
    case(
        "search.masks",
        f"search soft.fa family.fa {tsv} --lower-case-mask --top 20",
        f"search biased_query.fa biased.fa {tsv} --mask-low-complexity --top 20",
        f"search soft_dna.fa dna.fa {cpu} --lower-case-mask",
        f"search repeat.fa dna.fa {cpu} --mask-low-complexity",
        f"search odd.fa few.fa {cpu}",
        f"search odd.fa few.fa {tsv} --unknown X",
    )
    case(
        "search.strands",
        *(f"search reads.fa dna.fa {tsv} --strand {each}" for each in ("both", "plus", "minus")),
        f"search reads.fa dna.fa {tsv} --match 5 --mismatch -4 --gapopen 10 --gapextend 1",
        f"search reads.fa dna.fa {tsv} --matrix NUC.4.4 --gapopen 10 --gapextend 1",
    )
    translated = {
        "translated": "search genes.fa few.fa --translated",
        "translated-code": "search genes.fa few.fa --translated --genetic-code 2 --strand plus",
        "translated-target": "search queries.fa genes.fa --translated-target",
        "translated-target-code": "search queries.fa genes.fa --translated-target "
        "--target-genetic-code 4 --target-strand minus",
        "tblastx": "search genes.fa genes.fa --translated --translated-target --max-hsps 2",
    }
    for name, words in translated.items():
        for form in ("pairwise", "tsv", "blast-tab std frames btop", "paf", "jsonl", "html"):
            case(f"search.{name}.{form.split()[0]}", f"{words} {cpu} --format '{form}'")
    case(
        "search.indexed",
        "makedb proteins.fasta db.glsw",
        "verify db.glsw",
        f"search query.fasta db.glsw {tsv}",
        f"search query.fasta db.glsw {cpu} --format sam --top 3",
        f"search query.fasta db.glsw {cpu} --top 3 --summary run.json",
    )
    case(
        "search.indexed-dna",
        "makedb dna.fa reads.fa db.glsw --alphabet dna",
        f"search reads.fa db.glsw {tsv}",
        "makedb reads.fq fq.glsw",
        f"search one.fa fq.glsw {cpu}",
    )
    case(
        "search.indexed-masks",
        "makedb soft.fa biased.fa odd.fa masked.glsw --lower-case-mask --seg",
        f"search biased_query.fa masked.glsw {tsv} --lower-case-mask",
    )
    tracks = f"search queries.fa db.glsw --second-track tracks_query2.fa {cpu}"
    case(
        "search.tracks",
        "makedb tracks.fa db.glsw --second-track tracks2.fa",
        "verify db.glsw",
        f"{tracks} --second-matrix states.mat",
        f"{tracks} --second-matrix states.mat --weight 1.4 --format tsv --evalue 10",
        f"{tracks} --second-matrix states.mat --weight 0 --format jsonl --top 5",
        f"{tracks} --second-matrix bad.mat",
        f"{tracks}",
        "makedb tracks.fa no.glsw --second-track tracks_query2.fa",
        f"search q.fa db.glsw {cpu}",
    )
    case(
        "search.shards",
        *(f"{demo} --format blast-tab --shard {k}/3 --output parts" for k in (1, 2)),
        f"merge parts {cpu}",
        f"{demo} --format blast-tab --shard 3/3 --output parts",
        f"merge parts {cpu}",
        *(f"merge parts {cpu} --format {form} --output {form}" for form in formats),
    )
    case(
        "search.shards-dna",
        *(f"search reads.fa dna.fa {cpu} --top 4 --shard {k}/2 --output parts" for k in (1, 2)),
        f"merge parts {cpu}",
    )
    case(
        "profile.files",
        *(
            f"search --profile {each} proteins.fasta {tsv} --top 20"
            for each in ("made_up.pssm", "made_up.hmm", "family.afa")
        ),
        f"search --profile family.afa family.fa {cpu} --top 5",
        f"search --profile family.afa family.fa {tsv} --top 20 --positional-gaps",
        f"search --profile made_up.hmm family.fa {tsv} --top 20 --positional-gaps",
        f"search --profile family.afa family.fa {tsv} --top 20 --composition 1",
        f"search --profile made_up.pssm proteins.fasta {tsv} --matrix PAM30 --gapopen 9",
        f"search --profile query.fasta proteins.fasta {tsv}",
    )
    case("iterate.demo", f"search query.fasta some_proteins.fasta {tsv} --iterations 2")
    case("iterate.profiles", f"search q.fa biased.fa {tsv} --iterations 3 --profiles rounds")
    case("iterate.sums", f"search queries.fa tracks.fa {tsv} --iterations 2 --sums --top 50")
    case("iterate.sums-pairwise", f"search queries.fa biased.fa {cpu} --iterations 3 --sums")
    case("iterate.gaps", f"search queries.fa biased.fa {tsv} --iterations 2 --positional-gaps")
    case(
        "iterate.others",
        f"search queries.fa biased.fa {tsv} --iterations 2 --inclusion 1e-10 --seg yes",
        f"search queries.fa biased.fa {tsv} --iterations 2 --composition 2 --order evalue",
    )
    for mode in ("local", "global", "semiglobal"):
        for form in ("pairwise", "tsv", "sam", "paf", "jsonl", "blast-tab"):
            most = 3 if mode == "local" else 1
            case(
                f"align.{mode}.{form}",
                f"align one.fa dna.fa {cpu} --mode {mode} --max-alignments {most} --format {form} "
                "--output out",
                f"align p0.fa p1.fa {cpu} --mode {mode} --max-alignments {most} --format {form}",
            )
    case(
        "align.others",
        f"align p0.fa p1.fa {cpu} --mode global --max-alignments 3 --min-score 10",
        f"align one.fa dna.fa {cpu} --strand minus",
        f"align p0.fa p1.fa {cpu} --matrix GONNET1992 --gapopen 10.5 --gapextend 0.5",
        f"align soft.fa p1.fa {cpu} --lower-case-mask",
        f"align p0.fa p1.fa {cpu} --ties any --summary run.json",
        "align p0.fa p1.fa --engine reference --max-alignments 0 --min-score 30 --format tsv",
    )
    reference = "--engine reference --no-progress"
    for form in ("text", "clustal", "fasta", "tsv"):
        case(
            f"align3.{form}",
            *(
                f"align3 p0.fa p1.fa p2.fa {reference} --mode {mode} --format {form}"
                for mode in ("local", "global", "semiglobal")
            ),
            *(
                f"align3 d0.fa d1.fa d2.fa {reference} --scheme {scheme} --format {form}"
                for scheme in ("identity", "sum-of-pairs")
            ),
            f"align3 d0.fa d1.fa d2.fa {reference} --max-alignments 3 --format {form} --gapopen 3",
        )
    motifs = f"motifs recording.csv {reference} --segments 40 --surrogates 30"
    for form in ("table", "tsv"):
        case(
            f"motifs.{form}",
            f"{motifs} --channels 1-6 --format {form}",
            f"{motifs} --of 2 --format {form} --top 0 --min-score 12",
            f"{motifs} --of 2 --format {form} --scoring mindist --letters 5 --gapopen 1",
            f"{motifs} --channels CH3,6,8 --from 5 --to 90.5 --format {form}",
            f"motifs hole.csv --missing skip {reference} --surrogates 30 --format {form}",
        )
    for form in ("tsv", "mtx"):
        for distance in ("score:60", "self:200", "identity:0.3", "evalue:1e-3"):
            name, _, cutoff = distance.partition(":")
            pairs = f"{cpu} --cutoff {cutoff} --distance {name} --format {form}"
            case(
                f"neighbors.{name}.{form}",
                f"neighbors few.fa {pairs} --output out",
                f"neighbors few.fa other.fa {pairs}",
                f"neighbors few.fa {pairs} --both --self --top 3",
            )
    case(
        "neighbors.others",
        f"neighbors few.fa {cpu} --cutoff 10 --mode global --summary run.json",
        f"neighbors reads.fa {cpu} --cutoff 40",
        f"neighbors few.fa {cpu} --cutoff 0.5 --distance identity --min-score 150",
    )
    case("summary", f"{demo_tsv} --summary run.json", f"align p0.fa p1.fa {cpu} --summary a.json")
    case("help", *(f"{each} --help".strip() for each in ("", *COMMAND_NAMES.split())))
    case("mistakes", *MISTAKES)
    case("options", *OPTION_MISTAKES)


COMMAND_NAMES = "search merge align align3 dotplot view neighbors motifs makedb verify devices demo"
BAD = "search q.fa few.fa --engine cpu"
MISTAKES = [
    "search missing.fa few.fa",
    "search q.fa no/db",
    "align q.fa empty.fa",
    "align blank.fa q.fa",
    "makedb empty.fa out.glsw",
    "search not.fa few.fa",
    "search half.fq dna.fa",
    "search q.fa cut.fa.gz",
    "search - -",
    "search q.fa bad.fa --engine reference",
    "search bad.fa few.fa --engine reference",
    f"{BAD} --match 2 --mismatch -3",
    f"{BAD} --unknown J",
    f"{BAD} --dna --matrix PAM30",
    f"{BAD} --dna --protein",
    f"{BAD} --protein --match 2 --mismatch -3",
    f"{BAD} --dna",
    "makedb --alphabet dna few.fa out",
    f"{BAD} --translated",
    "search dna.fa dna.fa --dna --translated",
    "search genes.fa few.fa --translated --genetic-code 8",
    f"{BAD} --genetic-code 1",
    f"{BAD} --strand minus",
    f"{BAD} --evalue 1 --statistics none",
    f"{BAD} --evalue 1 --gapopen 5 --gapextend 3",
    "search dna.fa dna.fa --evalue 1 --match 5 --mismatch -1 --engine cpu",
    f"{BAD} --statistics karlin-altschul --gapopen 5 --gapextend 3",
    "search masked.fa few.fa --engine cpu --lower-case-mask",
    f"{BAD} --matrix GONNET1992 --lower-case-mask",
    "makedb --alphabet GONNET1992 --lower-case-mask few.fa out",
    "search dna.fa few.fa --engine cpu",
    "search q.fa dna.fa --engine cpu",
    f"{BAD} --gapopen 1e12",
    f"{BAD} --match 2",
    f"{BAD} --match 0 --mismatch -3",
    f"{BAD} --match 1e300 --mismatch -3",
    f"{BAD} --output no/out",
    f"{BAD} --output few.fa",
    f"{BAD} --composition 2 --matrix PAM30 --gapopen 20",
    f"{BAD} --composition 2 --mode global",
    f"{BAD} --sums",
    f"{BAD} --positional-gaps",
    f"{BAD} --inclusion 1",
    f"{BAD} --iterations 2 --mode global",
    f"{BAD} --weight 2",
    f"{BAD} --second-track tracks_query2.fa",
    f"{BAD} --second-track short2.fa --second-matrix states.mat",
    f"{BAD} --shard 4/3 --output parts",
    f"{BAD} --shard 1/3",
    f"{BAD} --resume",
    f"{BAD} --link x",
    f"{BAD} --read-group x",
    f"{BAD} --format sam --read-group x",
    f"{BAD} --alignments 3 --format tsv",
    f"{BAD} --summary no/run.json",
    f"{BAD} --iterations 2 --profiles q.fa",
    f"{BAD} --cluster nowhere",
    "search --profile few.fa",
    "search --profile not.fa few.fa --engine cpu",
    "search --profile made_up.hmm dna.fa --engine cpu",
    "merge nothing",
    "makedb none.fa out",
    "makedb few.fa bad.fa out",
    "makedb few.fa q.fa",
    "makedb --force few.fa few.fa",
    "makedb few.fa -",
    "makedb --alphabet BLOSUM26 few.fa out",
    "makedb new.glsw q.fa",
    "makedb few.fa db.glsw",
    "search db.glsw few.fa --engine cpu",
    "search reads.fa db.glsw --engine cpu",
    "neighbors db.glsw --cutoff 1 --engine cpu",
    "verify few.fa",
    "align queries.fa q.fa",
    "align q.fa few.fa",
    "align3 p0.fa p1.fa d0.fa --engine reference --scheme identity",
    "align3 p0.fa p1.fa few.fa --engine reference",
    "neighbors few.fa --cutoff 2 --distance identity --engine cpu",
    "neighbors few.fa other.fa --both --cutoff 1 --engine cpu",
    "neighbors few.fa --cutoff -1 --distance evalue --engine cpu",
    "dotplot q.fa few.fa --output a.txt",
    "motifs none.csv",
    "motifs q.fa",
    "motifs text.csv",
    "motifs hole.csv",
    "motifs recording.csv --channels 99",
    "motifs recording.csv --segments 0",
    "motifs recording.csv --letters 1",
    "motifs recording.csv --rate 5",
    "motifs recording.csv --engine lanes",
    "motifs recording.csv --figure r.jpeg",
]
"""Mistakes in words of glsw; ``db.glsw`` is made on the way."""

OPTION_MISTAKES = [
    "",
    "search",
    "search q.fa",
    "serch q.fa few.fa",
    "find q.fa",
    "--verion",
    "tblastn q.fa few.fa",
    "help",
    f"{BAD} --evlaue 1",
    "search q.fa few.fa -outfmt 6",
    "search q.fa few.fa --num_threads 2",
    "search -query q.fa -db few.fa",
    "makedb -in q.fa",
    "neighbors q.fa --cutof 1",
    f"{BAD} --genetic-code 1.5",
    f"{BAD} --strand top",
    f"{BAD} --evalue -1",
    f"{BAD} --evalue low",
    f"{BAD} --statistics best",
    f"{BAD} --max-hsps -1",
    f"{BAD} --format 'sam score'",
    f"{BAD} --format 'blast-tab score nosuch'",
    f"{BAD} --format xml",
    f"{BAD} --gapopen -11",
    f"{BAD} --gapopen inf",
    f"{BAD} --gapopen 0.123456",
    f"{BAD} --gapextend one",
    f"{BAD} --match 2 --mismatch 3",
    f"{BAD} --matrix BLOSUM26",
    "search q.fa few.fa --engine warp",
    "search q.fa few.fa --engine refrence",
    f"{BAD} --ties all",
    f"{BAD} --top -1",
    f"{BAD} --top 1.5",
    f"{BAD} --min-score nan",
    f"{BAD} --speed 9",
    f"{BAD} --gapo 9",
    f"{BAD} --mode golbal",
    f"{BAD} --memory big",
    f"{BAD} --threads 0",
    f"{BAD} --shard 0/3 --output parts",
    "dotplot q.fa few.fa --ouptut=x.png",
    "align q.fa few.fa --read-grup x",
    "align3 q.fa few.fa",
    "motifs",
    "motifs recording.csv --of 4",
    "motifs recording.csv --mismatch 1",
]
"""Mistakes in words of argparse, as far as some of them are."""


def call(function: Callable[[], None]) -> Callable[[], None]:
    """Make a function a case, its name that of the function with dots."""
    CALLS[function.__name__.replace("__", ".").replace("_", "-")] = function
    return function


def show(name: str, value: Any) -> None:
    """Print a value: arrays in full with their type."""
    if hasattr(value, "tocoo"):
        value = value.tocoo()
        show(f"{name}.row", value.row)
        show(f"{name}.col", value.col)
        show(f"{name}.data", value.data)
    elif isinstance(value, np.ndarray):
        print(f"{name}: {value.dtype} {value.shape} {value.tolist()}")
    elif isinstance(value, list | tuple):
        print(f"{name}: {type(value).__name__} of {len(value)}")
        for k, each in enumerate(value):
            show(f"{name}[{k}]", each)
    else:
        print(f"{name}: {value!r}")


def sequences(path: str, most: int | None = None) -> list[str]:
    return [each.letters for each in glsw.read(path)][:most]


def show_alignment(name: str, found: glsw.Alignment) -> None:
    show(name, found)
    show(f"{name}, numbers", tuple(getattr(found, each) for each in OF_ALIGNMENTS.split()))
    show(f"{name}.rows", found.rows)
    show(f"{name}.coordinates", np.asarray(found.coordinates))
    print(found.to_biopython())


@call
def api__aligner() -> None:
    queries, targets = sequences("queries.fa"), sequences("few.fa")
    for mode in ("local", "global", "semiglobal"):
        aligner = glsw.Aligner(mode=mode, engine="cpu", threads=1)
        show("score", aligner.score(queries[0], targets[0]))
        show("scores", aligner.score(queries[0], targets))
        ends = aligner.ends(queries[0], targets)
        show("ends.score", ends.score)
        show("ends.end", ends.end)
        show_alignment("align", aligner.align(queries[0], targets[1]))
        show("score_matrix", aligner.score_matrix(queries, targets))
        show("score_matrix of one", aligner.score_matrix(targets))
        show("score_pairs", aligner.score_pairs(targets[:6], targets[6:]))
        index = np.array([[0, 1], [2, 0], [1, 5]])
        show("score_pairs of index", aligner.score_pairs(queries, targets, pairs=index))
        show_pairs(aligner.align_pairs(queries, targets, pairs=index))
        show_pairs(aligner.align_pairs(targets[:6], targets[6:]))
    for k, found in enumerate(
        glsw.alignments(queries[0], targets[0], max_alignments=4, engine="cpu")
    ):
        show_alignment(f"alignments[{k}]", found)


def show_pairs(found: glsw.PairAlignments) -> None:
    print(len(found))
    names = "score query_start target_start query_end target_end identity identities positives"
    for name in (*names.split(), "gaps", "gap_opens"):
        value = getattr(found, name)
        show(name, value() if callable(value) else value)
    show("cigars", list(found.cigars()))
    show("columns", np.asarray(found.columns() if callable(found.columns) else found.columns))


@call
def api__scorings() -> None:
    one, other = sequences("p0.fa")[0], sequences("p1.fa")[0]
    dna, genome = sequences("one.fa")[0], sequences("dna.fa")[0]
    for scoring in (
        glsw.Scoring.blast(),
        glsw.Scoring.named("PAM30", 9, 1),
        glsw.Scoring.named("GONNET1992", 10.5, 0.5),
        glsw.Scoring.named("BLOSUM45", 2, 2),
        glsw.Scoring.from_file("made_up.mat", 11, 1),
    ):
        show("scoring", scoring)
        show_alignment("align", glsw.align(one, other, scoring=scoring, engine="cpu", unknown="A"))
    for scoring in (glsw.Scoring.nucleotide(), glsw.Scoring.match_mismatch(1, -2, 2, 1)):
        show_alignment("align", glsw.align(dna, genome, scoring=scoring, engine="cpu"))
    for ties in ("conventional", "any"):
        show("align", glsw.align("AAAAWAAAA", "AAAA", ties=ties, engine="cpu").rows)
    show("of masks", glsw.score("mkvlAWHEAG", "MKVLAWHEAG", lower_case_mask=True, engine="cpu"))


@call
def api__search() -> None:
    queries = list(glsw.read("queries.fa"))
    for result in glsw.search(queries, Path("family.fa"), engine="cpu", max_hsps=2):
        show("result", result)
        show("first", result[0])
        for name in OF_RESULTS.split():
            show(name, getattr(result, name))
        for hit in list(result)[:4]:
            show("hit", (hit.rank, hit.score, hit.bits, hit.evalue, hit.target.id, hit.context))
            for hsp in hit.hsps:
                show("hsp", (hsp.score, hsp.bits, hsp.evalue, hsp.query_place, hsp.target_place))
                show_alignment("alignment", hsp.alignment)
        stream = io.StringIO()
        glsw.write(result, stream, "jsonl")
        print(stream.getvalue())
    result = glsw.search(sequences("q.fa")[0], sequences("few.fa"), engine="reference")
    print(result.to_dataframe().to_csv(index=False))
    for each in glsw.iterate(queries[0], Path("biased.fa"), engine="cpu", iterations=2):
        show("round", (each.number, each.members, each.new, len(each.result)))
        print(each.profile.to_text())


@call
def api__threads() -> None:
    queries, targets = sequences("few.fa"), sequences("other.fa")
    index = np.array([[k % 12, k % 8] for k in range(40)])
    with ThreadPoolExecutor(2) as executor:
        options: dict[str, Any] = {"engine": "cpu", "executor": executor}
        show("score_pairs", glsw.score_pairs(queries, targets, pairs=index, **options))
        show("score_matrix", glsw.score_matrix(queries, targets, **options))
        show_pairs(glsw.align_pairs(queries, targets, pairs=index, **options))
        show("neighbors", glsw.neighbors(queries, cutoff=60, **options))


@call
def api__neighbors() -> None:
    some, others = sequences("few.fa"), sequences("other.fa")
    for distance, cutoff in (("score", 60), ("self", 250), ("identity", 0.3)):
        options: dict[str, Any] = {"distance": distance, "cutoff": cutoff, "engine": "cpu"}
        show(distance, glsw.neighbors(some, **options))
        show("k", glsw.neighbors(some, others, k=2, **options))
        show("clusters", glsw.clusters(some, **options))
        best = glsw.reciprocal_best_hits(some, others, **options)
        for name in ("a", "b", "value"):
            show(name, getattr(best, name))


@call
def api__edit() -> None:
    some, others = sequences("few.fa"), sequences("other.fa", 4)
    for mode in ("global", "infix"):
        options: dict[str, Any] = {"mode": mode, "engine": "host"}
        show("one", glsw.edit_distance(some[0][:20], some[3], **options))
        show("many", glsw.edit_distance(some[0], others, **options))
        show("pairs", glsw.edit_distance(some[:4], others, **options))
        show("matrix", glsw.edit_distance_matrix(some, others, **options))
        found = glsw.edit_distance(some[0][:20], others, ends=True, **options)
        show("ends", (found.distance, found.target_end))
    show("symmetric", glsw.edit_distance_matrix(some, engine="host"))
    show("words", glsw.edit_distance(("the", "old", "man"), ("the", "man"), engine="host"))


@call
def api__pairwise() -> None:
    one, other = sequences("p0.fa")[0][:40], sequences("p1.fa")[0][:40]
    for order in ("conventional", "biopython"):
        for mode in ("global", "local"):
            for settings in (
                {"scoring": "blastp"},
                {"match_score": 2, "mismatch_score": -1, "gap_score": -1.5},
                {
                    "match_score": 2,
                    "mismatch_score": -1,
                    "open_gap_score": -3,
                    "extend_gap_score": -0.5,
                    "end_gap_score": 0,
                },
            ):
                aligner = glsw.PairwiseAligner(
                    mode=mode, engine="reference", order=order, **settings
                )
                show("score", aligner.score(one, other))
                found = aligner.align(one, other)
                for k, each in zip(range(3), found, strict=False):
                    show(f"coordinates[{k}]", each.coordinates)
                    print(each)
    aligner = glsw.PairwiseAligner("blastn", engine="cpu", mode="local")
    dna = sequences("reads.fa", 3)
    show("scores", aligner.score_many(dna, dna[::-1]))
    for strand in "+-":
        show("strand", aligner.score(dna[0], dna[1], strand))
        print(aligner.align(dna[0], dna[1], strand)[0])


@call
def api__three() -> None:
    dna = [sequences(f"d{k}.fa")[0] for k in range(3)]
    for mode in ("local", "global", "semiglobal"):
        for scoring in (
            glsw.Scoring3.sum_of_pairs(glsw.Scoring.nucleotide()),
            glsw.Scoring3.identity(),
        ):
            with glsw.Aligner3(scoring, mode=mode, engine="reference") as aligner:
                show("aligner", aligner.scoring)
                show("score", aligner.score(*dna))
                found = aligner.align(*dna)
                show("coordinates", found.coordinates)
                print(found)
    proteins = [sequences(f"p{k}.fa")[0] for k in range(3)]
    aligner = glsw.Aligner3(engine="reference")
    for each in aligner.alignments(*proteins, max_alignments=2):
        show("coordinates", each.coordinates)
        print(each)


@call
def api__profiles() -> None:
    some = sequences("few.fa")
    for path in ("made_up.pssm", "made_up.hmm", "family.afa"):
        profile = glsw.Profile.read(path)
        show("profile", profile)
        print(profile.to_text())
        show("scores", glsw.score(profile, some, engine="cpu"))
        show_alignment("align", glsw.align(profile, some[0], engine="cpu"))
    profile = glsw.Profile.from_sequence(some[0])
    print(profile.to_text())


@call
def api__tracks() -> None:
    states = glsw.Scoring.from_array([[3, -2], [-2, 4]], "HE", 1, 1, name="states")
    scoring = glsw.TwoTrackScoring.of(glsw.Scoring.blast(), states, weight=1.5)
    query = glsw.interleaved("HEAGAWGHEE", "HHHHHEEEEE")
    target = glsw.interleaved("PAWHEAE", "HHHEEEE")
    show("scoring", scoring)
    show("score", glsw.score(query, target, scoring=scoring, engine="cpu"))
    show("align", glsw.align(query, target, scoring=scoring, engine="reference").rows)
    show("records", list(glsw.read_tracks("tracks.fa", "tracks2.fa"))[:2])


@call
def api__warnings() -> None:
    options: dict[str, Any] = {"engine": "reference"}
    for make in (
        lambda: glsw.score("MKVU", "MKV", **options),
        lambda: glsw.align_pairs(["MKOU"], ["MKVJ"], **options),
        lambda: glsw.score(
            "ACGTACGTACGTACGTACGTACGTACGT", "ACGTACGTACGTACGTACGTACGTACGT", **options
        ),
        lambda: list(glsw.search(["mkvla", "MKV"], ["MKV"], lower_case_mask=True, **options)),
        lambda: glsw.score("MKV", "MK-", **options),
        lambda: glsw.score("MKV", "MKV", engine="lames"),
        lambda: glsw.score("MKV", "MKV", engin="cpu"),
        lambda: glsw.search("MKV", ["MKV"], evlaue=1, **options),
        lambda: glsw.search("MKV", ["MKV"], top=-1, **options),
        lambda: glsw.search("MKV", ["MKV"], order="best", **options),
        lambda: glsw.Scoring.named("BLOSUM26", 11, 1),
        lambda: glsw.Scoring.blast("BLOSUM62", -1, 1),
        lambda: glsw.score_pairs(["MKV"], ["MKV", "A"], **options),
        lambda: glsw.score_pairs(["MKV"], ["MKV"], pairs=np.array([[0, 1]]), **options),
        lambda: glsw.edit_distance("a", "b", mode="suffix"),
        lambda: glsw.align("", "MKV", **options),
        lambda: glsw.Profile.read("not.fa"),
        lambda: glsw.neighbors(["MKV"], cutoff=1, distance="far", **options),
    ):
        try:
            show("value", make())
        except Exception as error:
            print(f"{type(error).__name__}: {error}")


def resume() -> None:
    """Interrupt a search after its first query, and go on.

    The second is expected to take longer than results wait for one another, on any machine. Of
    a database there is a journal to go on from as soon as there is a result.
    """
    run("makedb long.fa db.glsw")
    words = "search two.fa db.glsw --engine reference --format tsv --output out --no-progress"
    command = [sys.executable, "-m", "glsw", *words.split()]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    with subprocess.Popen(command, stderr=subprocess.PIPE) as started:
        while started.poll() is None and not Path("out.part.journal").exists():
            time.sleep(0.01)
        time.sleep(0.1)
        started.send_signal(signal.SIGINT)
        print(started.communicate()[1].decode(), started.returncode)
    run(f"{words} --resume")


def cluster() -> None:
    """Search by two processes, in a process that may start others."""
    for words in (
        "search query.fasta proteins.fasta --engine cpu --format tsv --cluster local:2",
        "neighbors few.fa --engine cpu --cutoff 60 --cluster local:2",
    ):
        done = subprocess.run(
            [sys.executable, "-m", "glsw", *words.split()], stdout=subprocess.PIPE, check=False
        )
        print(f"$ glsw {words}\n{done.stdout.decode()}status {done.returncode}")


CALLS["search.resume"] = resume
CALLS["cluster"] = cluster
add_commands()


# running


def run(words: str, threads: int | None = None) -> None:
    """Run a command line in this process, and print its words and what it says."""
    words, _, read = words.partition(" < ")
    given = shlex.split(words)
    say(f"$ glsw {words}{' < ' * bool(read)}{read}\n")
    with open(read or os.devnull, "rb") as file:
        os.dup2(file.fileno(), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.argv = ["glsw", *given]
    if threads and given[:1] and given[0] in WITH_THREADS:
        given += ["--threads", str(threads)]
    with captured(2) as errors:
        try:
            status: Any = main(given)
        except SystemExit as end:
            status = end.code
    if errors:
        say(f"--- stderr\n{errors[0].decode()}")
    say(f"--- status {status}\n")


def say(text: str) -> None:
    sys.stdout.flush()
    os.write(1, text.encode())


@contextmanager
def captured(*descriptors: int) -> Iterator[list[bytes]]:
    """Yield a list that gets what is written to descriptors of this process, if anything is."""
    found: list[bytes] = []
    path = f"../captured-{os.getpid()}-{time.monotonic_ns()}"
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(each) for each in descriptors]
    with open(path, "wb") as file:
        for each in descriptors:
            os.dup2(file.fileno(), each)
    try:
        yield found
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for copy, each in zip(kept, descriptors, strict=True):
            os.dup2(copy, each)
            os.close(copy)
        if text := Path(path).read_bytes():
            found.append(text)
        os.unlink(path)


def write_case(name: str, folder: Path, threads: int | None) -> None:
    """Run a case in a folder of its own, and write what it made."""
    work = folder / "work" / name
    work.mkdir(parents=True)
    for each in (folder / "inputs").iterdir():
        (work / each.name).symlink_to(each)
    before = {each.name for each in work.iterdir()}
    os.chdir(work)
    random.seed(0)
    with captured(1) as printed, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: say(f"warning: {message}\n")  # type: ignore[assignment]
        try:
            if name in CALLS:
                CALLS[name]()
            for words in COMMANDS.get(name, ()):
                run(words, threads)
        except Exception as error:
            say(f"--- failed: {type(error).__name__}: {error}\n")
    text = printed[0] if printed else b""
    made = sorted(each for each in work.rglob("*") if each.is_file() and each.name not in before)
    for each in made:
        content = without_place_and_time(each.read_bytes(), work)
        if each.suffix == ".shard":  # it has the seconds, compressed
            content = b"\n"
        if content.startswith(b"\x89GLSW"):  # the checksum of the time is here
            content = content[PREFACE:]
        text += f"--- file {each.relative_to(work)}\n".encode()
        try:
            content.decode()
        except UnicodeDecodeError:
            content = f"{len(content)} bytes, sha256 {digest(content)}\n".encode()
        text += content
    (folder / name).write_bytes(without_place_and_time(text, work))
    os.chdir(folder)
    shutil.rmtree(work)


REPLACED = [
    (rb"\bin [\d.]+ s\b", b"in SECONDS"),
    (rb", (under )?[\d.,]+ GCUPS", b", GCUPS"),
    (rb" on [^\n;]*?, \d+ threads?(, [A-Za-z]+ [\d.]+)*", rb" on HOST"),
    (rb'"(seconds|search_seconds|gcups)": [\d.e-]+', rb'"\1": NUMBER'),
    (rb'"crc32": "\w+"', b'"crc32": "OF PATHS AND VERSIONS"'),
    (rb'"checksum": "[0-9a-f]{8}"', rb'"checksum": ""'),
    (rb'"versions": \{[^}]*\}', rb'"versions": {}'),
    (rb'"started": "[^"]*"', rb'"started": ""'),
    (rb'"created": "[^"]*"', rb'"created": ""'),
    (rb'"ran_on": \[[^\]]*\]', rb'"ran_on": []'),
    (rb' --threads \d+|, "--threads", "\d+"', b""),
    (
        rb"(?<![\d.])" + re.escape(glsw.__version__).encode() + rb"(?![\d.])",
        b"VERSION",
    ),
]


def without_place_and_time(text: bytes, work: Path) -> bytes:
    for place in (work, work.parents[1] / "inputs", ROOT):
        text = text.replace(str(place).encode(), b"PLACE")
    for pattern, by in REPLACED:
        text = re.sub(pattern, by, text)
    return text


def rounded(text: bytes) -> bytes:
    """Return a text with 12 digits of long numbers: NumPy's last ones depend on the processor."""
    return re.sub(
        rb"\d+\.\d{10,}(e[+-]\d+)?",
        lambda found: f"{float(found[0]):.11e}".encode(),
        text,
    )


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def cases(only: Iterable[str] = ()) -> list[str]:
    """Return the names of the cases that can run here, those that take longest first."""
    names = sorted({**COMMANDS, **CALLS}, key=lambda name: (not name.startswith(SLOW), name))
    begins = tuple(only)
    return [name for name in names if not begins or name.startswith(begins)]


def write_files(
    folder: Path, only: Iterable[str] = (), *, threads: int | None = None, processes: int = 2
) -> dict[str, str]:
    """Write the golden files into a folder; return their checksums by name."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "inputs", ignore_errors=True)
    shutil.rmtree(folder / "work", ignore_errors=True)
    write_inputs(folder / "inputs")
    names = cases(only)
    os.environ.update(COLUMNS="100", PYTHONPATH=str(ROOT), PYTHONHASHSEED="0")
    with ProcessPoolExecutor(processes, get_context("spawn")) as executor:
        works = [executor.submit(write_case, name, folder, threads) for name in names]
        for work in works:
            work.result()
    shutil.rmtree(folder / "inputs")
    shutil.rmtree(folder / "work")
    return {name: digest(rounded((folder / name).read_bytes())) for name in sorted(names)}


def listed() -> tuple[str, dict[str, str]]:
    """Return the version of Python that wrote the list, and the checksums by name."""
    first, *lines = LISTED.read_text().splitlines()
    return first.split()[-1], {name: each for each, name in (line.split("  ") for line in lines)}


def python_version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def differences(found: dict[str, str], only: Iterable[str] = ()) -> list[str]:
    """Return a line for each name that differs from the list, is missing or is new."""
    version, expected = listed()
    begins = tuple(only)
    lines = []
    for name in sorted(expected.keys() | found.keys()):
        if begins and not name.startswith(begins):
            continue
        if name.startswith(OF_ARGPARSE) and version != python_version():
            continue
        if name not in found:
            lines.append(f"missing  {name}")
        elif name not in expected:
            lines.append(f"new      {name}")
        elif found[name] != expected[name]:
            lines.append(f"differs  {name}")
    return lines


def write_list(found: dict[str, str], only: Iterable[str] = ()) -> None:
    """Write the list; entries that ``only`` leaves out stay."""
    begins = tuple(only)
    kept = listed()[1] if begins and LISTED.exists() else {}
    kept = {name: each for name, each in kept.items() if not name.startswith(begins)}
    lines = sorted((kept | found).items())
    text = "".join(f"{each}  {name}\n" for name, each in lines)
    LISTED.write_text(f"# Python {python_version()}\n{text}")


def program() -> int:
    parser = argparse.ArgumentParser(description="Write golden files and compare them.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="rewrite tests/golden.txt")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="names that begin so"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="of each command")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="of this script")
    given = parser.parse_args()
    began = time.monotonic()
    found = write_files(given.folder, given.only, threads=given.threads, processes=given.processes)
    print(f"{len(found)} files in {time.monotonic() - began:.0f} s")
    if given.write:
        write_list(found, given.only)
        return 0
    lines = differences(found, given.only)
    print("\n".join(lines) or "no differences")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(program())
