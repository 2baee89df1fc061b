"""Records of FASTQ are those that Biopython reads, and so are errors."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from Bio.SeqIO.QualityIO import FastqGeneralIterator

from glsw.sequences import fasta

LINES = (
    *("@a", "@a b ", "ACGT", "AC GT", "A\tC", "", "+", "+a", "+a b", "IIII", "@III", "I"),
    *("II I", "ACGT ", "+III", " ", "\x0b"),
)


def any_lines(rng: random.Random) -> str:
    text = "\n".join(rng.choice(LINES) for _ in range(rng.randrange(14)))
    return f"@{text.removeprefix('@')}{rng.choice(('', chr(10), chr(10) * 2))}"


def mostly_right(rng: random.Random) -> str:
    text = ""
    for _ in range(rng.randrange(1, 6)):
        n = rng.choice((0, 1, 4))
        quality = rng.choice(("@III", "IIII", "+III"))[:n]
        text += f"@{rng.choice('ab')}\n{'ACGT'[:n]}\n+{rng.choice(('', '', 'a'))}\n{quality}\n"
        text += rng.choice(("", "", "", "\n"))
    return text


def outcome(found: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return titles and letters, and the error behind them if there is one."""
    records: list[Any] = []
    try:
        for title, letters, *_ in found:
            records.append((title, letters))
    except ValueError as error:
        records.append(str(error))
    return records


@pytest.mark.parametrize("size", [1, 4, 5, 1 << 14])
@pytest.mark.parametrize("text_of", [any_lines, mostly_right])
def test_records_and_errors_are_biopythons(size: int, text_of: Any) -> None:
    rng, kinds = random.Random(size), set()
    for _ in range(2000):
        text = text_of(rng)
        expected = outcome(FastqGeneralIterator(io.StringIO(text)))
        assert outcome(fasta.fastq_records(io.StringIO(text), size)) == expected, text
        kinds |= {type(each) for each in expected}
    assert kinds == {tuple, str}


def test_biopython_is_imported_for_other_records_only() -> None:
    program = (
        "import sys; from glsw.sequences.fasta import fastq_records; "
        "print(*fastq_records({!r}), 'Bio.SeqIO' in sys.modules)"
    )
    for lines, needed in ((["@a\n", "AC\n", "+\n", "II\n"], False), (["@a\n", "+\n", "\n"], True)):
        done = subprocess.run(
            [sys.executable, "-c", program.format(lines)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split()[-1] == str(needed)
