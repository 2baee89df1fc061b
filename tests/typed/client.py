"""What a user's program may write, and the types that it gets: mypy and pyright read it alike.

Nothing runs it: ``make typecheck`` passes it to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import Bio.Align
import numpy as np
import numpy.typing as npt
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

import glsw

if TYPE_CHECKING:
    from typing_extensions import assert_type

Integers = npt.NDArray[np.int32]
Scores = npt.NDArray[np.int32] | npt.NDArray[np.float64]


def client() -> None:
    """Use what is public."""
    one, several = "HEAG", ["PAW", "HEAE"]
    record = glsw.Record("a", "", one)
    codes = np.zeros(3, np.uint8)
    profile = glsw.Profile.from_sequence(one)
    database = glsw.Database.open("db.glsw")

    assert_type(record.letters, str)
    assert_type(profile, glsw.Profile)
    assert_type(glsw.Profile.read("a.hmm", gaps="positional"), glsw.Profile)
    assert_type(glsw.Profile.from_alignment(several).write("a.profile"), None)
    assert_type(database, glsw.Database)
    assert_type(glsw.makedb(Path("a.fasta"), "a.glsw"), glsw.Database)
    assert_type(glsw.read("a.fasta"), Iterator[glsw.Record])

    # One pair is a number; lists and files are arrays.
    assert_type(glsw.score(one, "PAW"), int | float)
    assert_type(glsw.score(b"HEAG", bytearray(b"PAW")), int | float)
    assert_type(glsw.score(Seq(one), SeqRecord(Seq(one))), int | float)
    assert_type(glsw.score(record, codes), int | float)
    assert_type(glsw.score(profile, one), int | float)
    assert_type(glsw.score(one, several), Scores)
    assert_type(glsw.score(several, several), Scores)
    assert_type(glsw.score([profile, profile], several), Scores)
    assert_type(glsw.score(Path("a.fasta"), one), Scores)
    assert_type(glsw.score_pairs(several, several), Scores)
    assert_type(glsw.score_matrix(several, several, engine="cpu"), Scores)

    # One query is a result; several are an iterator of results.
    assert_type(glsw.search(one, several), glsw.SearchResult)
    assert_type(glsw.search(record, database, top=5), glsw.SearchResult)
    assert_type(glsw.search(profile, Path("a.fasta"), evalue=1e-3), glsw.SearchResult)
    assert_type(glsw.search(several, several), Iterator[glsw.SearchResult])
    assert_type(glsw.search([record], database), Iterator[glsw.SearchResult])
    assert_type(glsw.search([profile], database), Iterator[glsw.SearchResult])
    assert_type(glsw.search(Path("queries.fasta"), database), Iterator[glsw.SearchResult])
    for result in glsw.search(several, database, max_hsps=2):
        assert_type(result, glsw.SearchResult)
        for hit in result:
            assert_type(hit, glsw.Hit)
            assert_type(hit.score, int | float)
            assert_type(hit.evalue, float | None)
            assert_type(hit.target.id, str)
            assert_type(hit.hsps[0], glsw.Hsp)
            assert_type(hit.alignment, glsw.Alignment)
    for found in glsw.iterate(one, database, iterations=2):
        assert_type(found.result, glsw.SearchResult)
    glsw.write(glsw.search(several, database), "hits.tsv", "tsv")

    # Alignments.
    assert_type(glsw.align(one, "PAW"), glsw.Alignment)
    assert_type(glsw.align(profile, Path("a.fasta")).cigar, str)
    assert_type(glsw.alignments(one, "PAW"), Iterator[glsw.Alignment])
    assert_type(glsw.align_pairs(several, several), glsw.PairAlignments)
    assert_type(glsw.align_pairs(several, several).cigars(), list[str])

    # All pairs; their matrix is of SciPy, which has no types for mypy.
    assert_type(glsw.clusters(several, cutoff=5), npt.NDArray[np.int64])
    glsw.neighbors(several, cutoff=0.5, distance="identity")
    assert_type(glsw.reciprocal_best_hits(several, several), glsw.BestHits)

    # Aligners, as the functions.
    scoring = glsw.Scoring.blast("BLOSUM62", 11, 1)
    with glsw.Aligner(scoring=scoring, engine="auto") as aligner:
        assert_type(aligner, glsw.Aligner)
        assert_type(aligner.score(one, one), int | float)
        assert_type(aligner.score(one, several), Scores)
        assert_type(aligner.ends(one, several), glsw.Ends)
        assert_type(aligner.search(one, database), glsw.SearchResult)
        assert_type(aligner.search(several, database), Iterator[glsw.SearchResult])
        assert_type(aligner.align(one, one), glsw.Alignment)

    # Edit distances, three sequences, recordings.
    assert_type(glsw.edit_distance(one, "HEA"), int)
    assert_type(glsw.edit_distance(several, several), Integers)
    assert_type(glsw.Recording.of("a.snirf"), glsw.Recording)
    assert_type(glsw.motifs("a.snirf", of=2)[0].channels, tuple[str, ...])
    assert_type(glsw.align3(one, "PAW", "HEA"), Bio.Align.Alignment)
