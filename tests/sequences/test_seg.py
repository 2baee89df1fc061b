"""SEG: segments of low complexity, as segmasker finds them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glsw
from glsw import Aligner, Record
from glsw.sequences.database import Database, makedb
from glsw.sequences.encoded import offsets_of
from glsw.sequences.seg import Seg

SEG = Seg()
LETTERS = np.frombuffer(b"ACDEFGHIKLMNPQRSTVWY", np.uint8)
POOR = "PAPAPAPPAPAAPAP"
PLAIN = "MKTAYIAKQRQISFVKSHFSRQ", "LEERLGLIEVQAPILSRVGDGTQDNLSG"
SEQUENCE = PLAIN[0] + POOR + PLAIN[1]


def generated() -> list[str]:
    """Return sequences with stretches of few kinds of letters, and other letters."""
    random = np.random.default_rng(1993)
    made = []
    for k in range(120):
        text = b""
        for _ in range(random.integers(1, 9)):
            kinds = random.choice(LETTERS, random.integers(1, 21), replace=False)
            text += random.choice(kinds, random.integers(1, 80 if k else 900)).tobytes()
        text = bytearray(text)
        for place in random.integers(0, len(text), k % 4):
            text[place] = b"XBZ"[place % 3]
        made.append(text.decode("ascii"))
    return [*made, "", "A", "A" * 11, "A" * 12, "PQ" * 300]


def segments(sequences: list[str], seg: Seg = SEG) -> list[list[tuple[int, int]]]:
    """Return the segments of each sequence, counted from 0 in it."""
    letters = np.frombuffer("".join(sequences).encode("ascii"), np.uint8)
    offsets = offsets_of([len(each) for each in sequences])
    found: list[list[tuple[int, int]]] = [[] for _ in sequences]
    for begin, end in zip(*(each.tolist() for each in seg.segments(letters, offsets)), strict=True):
        k = int(np.searchsorted(offsets, begin, "right")) - 1
        found[k].append((begin - int(offsets[k]), end - int(offsets[k])))
    return found


def segmasker(sequences: list[str], *options: str) -> list[list[tuple[int, int]]]:
    """Return what NCBI's program finds, with overlapping segments joined."""
    fasta = "".join(f">{k}\n{each}\n" for k, each in enumerate(sequences))
    words = ["segmasker", "-outfmt", "interval", *options]
    lines = subprocess.run(words, input=fasta, capture_output=True, text=True, check=True).stdout
    found: list[list[tuple[int, int]]] = []
    for line in lines.splitlines():
        if line.startswith(">"):
            found.append([])
        else:
            first, last = map(int, line.split(" - "))
            found[-1].append((first, last + 1))
    return [joined(each) for each in found]


def joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    made: list[tuple[int, int]] = []
    for begin, end in sorted(intervals):
        if made and begin < made[-1][1]:
            made[-1] = made[-1][0], max(end, made[-1][1])
        else:
            made.append((begin, end))
    return made


def test_recorded_segments() -> None:
    """Of segmasker 1.0.0 of BLAST 2.12.0."""
    found = segments(generated())
    assert sum(map(len, found)) == 229
    assert sum((b + 1) * e for each in found for b, e in each) == 10_272_641
    assert segments([SEQUENCE]) == [[(22, 37)]]
    assert segments([SEQUENCE[:28] + "U" * 3 + SEQUENCE[31:]]) == [[(29, 37)]]


@pytest.mark.skipif(not shutil.which("segmasker"), reason="no segmasker here: recorded only")
@pytest.mark.parametrize("seg", [Seg(), Seg(10, 1.8, 2.1), Seg(25, 3.0, 3.3)])
def test_segments_of_segmasker(seg: Seg) -> None:
    sequences = [each for each in generated() if each]
    options = "-window", str(seg.window), "-locut", str(seg.locut), "-hicut", str(seg.hicut)
    assert segments(sequences, seg) == segmasker(sequences, *options)


@pytest.mark.parametrize(
    ("seg", "query", "target"),
    [("no", False, False), ("query", True, False), ("target", False, True), ("both", True, True)],
)
def test_masks_of_searches_and_pairs(seg: Any, query: bool, target: bool) -> None:
    masked = [
        PLAIN[0] + "X" * len(POOR) + PLAIN[1] if each else SEQUENCE for each in (query, target)
    ]
    wanted = glsw.score(*masked, engine="reference")
    aligner = Aligner(engine="reference", seg=seg)
    assert aligner.score(SEQUENCE, SEQUENCE) == wanted
    for targets in ([Record("t", "", SEQUENCE)], [SEQUENCE.lower()]):
        (hit,) = aligner.search(SEQUENCE, targets, composition=0)
        assert hit.score == wanted
    assert aligner.score_matrix([SEQUENCE], [SEQUENCE]).tolist() == [[wanted]]
    alignment = aligner.align(SEQUENCE, SEQUENCE)
    assert alignment.score == wanted
    assert alignment.query.letters == (PLAIN[0] + POOR.lower() + PLAIN[1] if query else SEQUENCE)


def test_lower_case_and_seg_add_up() -> None:
    lower = SEQUENCE[:5].lower() + SEQUENCE[5:]
    aligner = Aligner(engine="reference", seg="both", lower_case_mask=True)
    wanted = "X" * 5 + SEQUENCE[5:22] + "X" * 15 + SEQUENCE[37:]
    assert aligner.score(lower, lower) == glsw.score(wanted, wanted, engine="reference")


def test_an_indexed_database_is_masked_when_it_is_made(tmp_path: Path) -> None:
    fasta = tmp_path / "t.fasta"
    fasta.write_text(f">t\n{SEQUENCE}\n")
    database = makedb(fasta, tmp_path / "t.glsw", seg=True)
    wanted = Aligner(engine="reference", seg="target").score(SEQUENCE, SEQUENCE)
    (hit,) = Aligner(engine="reference").search(SEQUENCE, database, composition=0)
    assert hit.score == wanted
    for given in (database, Database.of([Record("t", "", SEQUENCE)], database.alphabet)):
        with pytest.raises(ValueError, match=r": SEG masks an indexed database when it is built$"):
            Aligner(engine="reference", seg="both").search(SEQUENCE, given)


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"^SEG is for proteins, not for the DNA alphabet$"):
        Aligner(glsw.Scoring.nucleotide(), seg="query", engine="reference")
    with pytest.raises(ValueError, match=r"^seg 'yes': no, query, target, both expected$"):
        Aligner(seg="yes", engine="reference")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^query query: all 15 residues are masked$"):
        Aligner(seg="query", engine="reference").search(POOR, [SEQUENCE])
