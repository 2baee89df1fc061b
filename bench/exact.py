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

from bench import options
from bench.measure import Check, compare, report, write
from glsw.device.device import Device, DeviceError, open_device
from glsw.device.shader import ShaderError
from glsw.engines.cpu import Cpu
from glsw.engines.lanes.engine import Lanes
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import read


def main(argv: Sequence[str] | None = None) -> int:
    """Compare; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except (OSError, ValueError, DeviceError, ShaderError) as error:
        print(f"exact: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    device = open_device(arguments.device, require=(4, 3))
    numbers = arguments.numbers or (("int32", "f16") if device.info.half else ("int32", "f32"))
    print(device.info.name)
    results = [_judged(device, *each) for each in _comparisons(arguments, numbers)]
    if arguments.output:
        settings = {
            "queries": arguments.queries.name,
            "database": arguments.database.name,
            "numbers": list(numbers),
        }
        write(
            arguments.output,
            report("exact", device, settings, results, commit=arguments.commit),
        )
    return 0 if all(result["check"]["wrong"] == 0 for result in results) else 1


def _comparisons(
    arguments: argparse.Namespace, numbers: Sequence[str]
) -> Iterator[tuple[str, str, Scoring, Sequences, Sequences]]:
    """Yield what is compared: its name, number type, scoring, queries and subjects."""
    proteins = _letters(arguments.database)
    queries = _letters(arguments.queries)
    every = slice(None, arguments.sequences)
    subjects = Sequences.of(list(proteins)[every])
    matrix = np.full((24, 24), -150)
    np.fill_diagonal(matrix, 200)
    high = Scoring.from_array(matrix, PROTEIN.letters, 300, 20)
    few = Sequences.of(list(queries)[: arguments.queries_subset])
    for number in numbers:
        blosum = Scoring.blast("BLOSUM62", 11, 1)
        yield "BLOSUM62 11/1", number, blosum, few, subjects
        part = Sequences.of(list(subjects)[:2000])
        yield "scores of 200", number, high, Sequences.of(list(part)[:3]), part
        nucleotides = Sequences.of([codes % 4 for codes in part])
        dna = Scoring.match_mismatch(2, -3, 7, 2)
        yield "nucleotides", number, dna, Sequences.of(list(nucleotides)[:3]), nucleotides
        if arguments.titin:
            (titin,) = _letters(arguments.titin)
            whole = [titin, titin[:32768], titin[100:30000], titin[::-1].copy()]
            yield "titin", number, blosum, Sequences.of(whole[:1]), Sequences.of(whole)


def _letters(path: Path) -> Sequences:
    return Sequences.of(
        PROTEIN.encode(record.letters, name=record.id, unknown="X") for record in read(path)
    )


def _judged(
    device: Device,
    name: str,
    number: Any,
    scoring: Scoring,
    queries: Sequences,
    subjects: Sequences,
) -> dict[str, Any]:
    """Compare all scores; print a line."""
    (found,) = Lanes(scoring, device, number=number).scan(queries, [subjects])
    judge = Cpu(scoring)
    (expected,) = judge.scan(queries, [subjects])
    check: Check = compare(found.ravel(), expected.ravel(), judge.where)
    high = int((expected >= 2048).sum())
    print(f"{name}, {number}: {check.pairs} pairs, {high} from 2048 on, {check.wrong} wrong")
    if check.first:
        print(f"  first {check.first}")
    return {
        "name": name,
        "number": number,
        "queries": len(queries),
        "subjects": len(subjects),
        "from_2048": high,
        "highest": int(expected.max()),
        "check": vars(check),
    }


def _parser() -> argparse.ArgumentParser:
    parser = options.Parser(
        prog="python -m bench.exact", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--device", type=options.device, help="index, or part of the name")
    parser.add_argument("--output", type=Path, metavar="FILE.json", help="write the results")
    parser.add_argument("--commit", help="commit to write down where there is no git history")
    parser.add_argument("--queries", type=Path, required=True, help="FASTA")
    parser.add_argument("--database", type=Path, required=True, help="FASTA")
    parser.add_argument("--titin", type=Path, help="FASTA of one long sequence")
    parser.add_argument("--numbers", type=options.choices(("int32", "f16", "f32")))
    parser.add_argument("--sequences", type=options.count, help="of the database, the first ones")
    parser.add_argument("--queries-subset", type=options.count, help="the first ones")
    return parser


if __name__ == "__main__":
    sys.exit(main())
