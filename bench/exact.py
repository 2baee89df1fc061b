r"""All scores of many queries against a real database, compared with those of a SIMD library.

    python -m bench.exact --queries standard20.fasta --database swissprot.fasta.gz \
        --titin titin_hum.aa --output bench/results/exact-llvmpipe.json

Every number type of engine `lanes` that the device has, protein and nucleotide scoring, a matrix
with scores of 200, and a sequence of 34,350 letters against itself, whole and in parts. No times:
this is what the times elsewhere rest on. Exit status 1 if a score is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import options, workloads
from bench.document import Results
from bench.measure import compare, tell_wrong
from glsw.device.device import Device, open_device
from glsw.engines.cpu import Cpu
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences


def main(argv: Sequence[str] | None = None) -> int:
    """Compare; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    numbers = arguments.numbers or (("int32", "f16") if device.info.half else ("int32", "f32"))
    print(device.info.name)
    settings = {
        "queries": arguments.queries.name,
        "database": arguments.database.name,
        "numbers": list(numbers),
    }
    results = Results("exact", device, settings, arguments)
    for each in _comparisons(arguments, numbers):
        results.keep(_judged(device, *each))
    return tell_wrong((f"{each['name']}, {each['number']}", each["check"]) for each in results)


def _comparisons(
    arguments: argparse.Namespace, numbers: Sequence[str]
) -> Iterator[tuple[str, str, Scoring, Sequences, Sequences]]:
    """Yield what is compared: its name, number type, scoring, queries and targets."""
    targets = workloads.from_file(arguments.database).part(slice(arguments.sequences))
    matrix = np.full((24, 24), -150)
    np.fill_diagonal(matrix, 200)
    high = Scoring.from_array(matrix, PROTEIN.letters, 300, 20)
    queries = workloads.from_file(arguments.queries).part(slice(arguments.queries_subset))
    for number in numbers:
        blosum = Scoring.blast("BLOSUM62", 11, 1)
        yield "BLOSUM62 11/1", number, blosum, queries, targets
        part = targets.part(slice(2000))
        yield "scores of 200", number, high, part.part(slice(3)), part
        nucleotides = Sequences(part.residues % 4, part.offsets)
        dna = Scoring.match_mismatch(2, -3, 7, 2)
        yield "nucleotides", number, dna, nucleotides.part(slice(3)), nucleotides
        if arguments.titin:
            (titin,) = workloads.from_file(arguments.titin)
            whole = [titin, titin[:32768], titin[100:30000], titin[::-1].copy()]
            yield "titin", number, blosum, Sequences.of(whole[:1]), Sequences.of(whole)


def _judged(
    device: Device,
    name: str,
    number: Any,
    scoring: Scoring,
    queries: Sequences,
    targets: Sequences,
) -> dict[str, Any]:
    """Compare all scores; print a line."""
    (found,) = Lanes(scoring, device, number=number).scan(queries, [targets])
    judge = Cpu(scoring)
    (expected,) = judge.scan(queries, [targets])
    check = compare(found.ravel(), expected.ravel(), judge.where)
    high = int((expected >= 2048).sum())
    print(f"{name}, {number}: {check.pairs} pairs, {high} from 2048 on, {check.wrong} wrong")
    if check.first:
        print(f"  first {check.first}")
    return {
        "name": name,
        "number": number,
        "queries": len(queries),
        "subjects": len(targets),
        "from_2048": high,
        "highest": int(expected.max()),
        "check": vars(check),
    }


def _parser() -> argparse.ArgumentParser:
    parser = options.parser("exact", __doc__)
    parser.add_argument("--queries", type=Path, required=True, help="FASTA")
    parser.add_argument("--database", type=Path, required=True, help="FASTA")
    parser.add_argument("--titin", type=Path, help="FASTA of one long sequence")
    parser.add_argument("--numbers", type=options.choices(("int32", "f16", "f32")))
    parser.add_count("--sequences", "only the first ones of the database")
    parser.add_count("--queries-subset", "only the first ones")
    return parser


if __name__ == "__main__":
    sys.exit(main())
