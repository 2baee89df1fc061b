"""Bit scores, E-values and the order of hits, compared with blastp, blastn and ssearch36.

    python -m bench.significance --queries FASTA --database FASTA --output FILE.json

Each tool searches, and what it says of its hits is compared with what we say of the same scores,
and its order with that of the exact scores. Exit status 1 if a bit score or E-value of blastp has
other digits. Debian: ncbi-blast+, fasta3.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import options
from bench.document import Results
from glsw.align import Aligner
from glsw.output.blast import bits_text, evalue_text
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import Record, read
from glsw.statistics import Method, for_search, histogram_for

PROTEINS = (
    *(("BLOSUM62", 11, 1), ("BLOSUM45", 14, 2), ("BLOSUM50", 13, 2), ("BLOSUM90", 10, 1)),
    *(("PAM30", 9, 1), ("PAM70", 10, 1)),
)
"""Matrices, gapopen and gapextend in BLAST's words."""

NUCLEOTIDES = ((2, -3, 5, 2), (1, -2, 2, 2), (1, -3, 2, 2), (4, -5, 6, 5), (1, -1, 3, 2))
"""Match, mismatch, gapopen and gapextend in BLAST's words."""

_COLUMNS = "qseqid sseqid score bitscore evalue"


class Line(NamedTuple):
    """A hit as a tool prints it."""

    query: str
    target: str
    score: int
    bits: str
    evalue: str


def main(argv: Sequence[str] | None = None) -> int:
    """Compare; return 0, 1 if BLAST has other digits, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    queries = [record for path in arguments.queries for record in read(path)]
    database = list(read(arguments.database))
    settings = {
        "queries": [record.id for record in queries],
        "database": {"name": Path(arguments.database).name, "sequences": len(database)},
    }
    results = Results("significance", None, settings, arguments)

    def compared(*words: Any) -> None:
        print(_shown(results.keep(_compared(*words))), flush=True)

    with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
        made = _files(Path(folder), queries, database, "prot")
        for matrix, gapopen, gapextend in PROTEINS:
            scoring = Scoring.blast(matrix, gapopen, gapextend)
            own = ["-matrix", matrix, "-comp_based_stats", "0", "-seg", "no"]
            lines = _blast("blastp", made, gapopen, gapextend, own)
            compared("blastp", scoring, queries, database, lines, "auto")
        lines = _ssearch(made, queries)
        compared("ssearch36", Scoring.blast(), queries, database, lines, "fit")
    if arguments.nucleotides:
        genes, library = (list(read(path)) for path in arguments.nucleotides)
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            made = _files(Path(folder), genes, library, "nucl")
            for match, mismatch, gapopen, gapextend in NUCLEOTIDES:
                scoring = Scoring.nucleotide(match, mismatch, gapopen, gapextend)
                own = ["-task", "blastn", "-reward", str(match), "-penalty", str(mismatch)]
                own += ["-dust", "no", "-strand", "plus"]
                lines = _blast("blastn", made, gapopen, gapextend, own)
                compared("blastn", scoring, genes, library, lines, "auto")
    blast = [result for result in results if result["tool"] == "blastp"]
    return int(any(result["same_digits"] < result["hits"] for result in blast))


def _files(folder: Path, queries: list[Record], database: list[Record], kind: str) -> Path:
    """Write FASTA files, and index the database for BLAST."""
    for name, records in (("q", queries), ("db", database)):
        text = "".join(f">{record.id}\n{record.letters}\n" for record in records)
        (folder / name).write_text(text, encoding="ascii")
    words = ["makeblastdb", "-dbtype", kind, "-in", "db"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


def _blast(tool: str, folder: Path, gapopen: int, gapextend: int, own: list[str]) -> list[Line]:
    """Return the best alignment of each hit up to an E-value of 1000."""
    words = [tool, "-query", "q", "-db", "db", "-gapopen", str(gapopen), "-gapextend"]
    words += [str(gapextend), "-evalue", "1000", "-max_hsps", "1", "-max_target_seqs", "5000"]
    words += ["-outfmt", f"6 {_COLUMNS}", *own]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return [Line(q, s, int(score), bits.strip(), evalue) for q, s, score, bits, evalue in lines]


def _ssearch(folder: Path, queries: list[Record]) -> list[Line]:
    """Return the hits of ssearch36 with its default statistics; its table has no raw scores."""
    found = []
    for record in queries:
        (folder / "one").write_text(f">{record.id}\n{record.letters}\n", encoding="ascii")
        words = ["ssearch36", "-q", "-T", "1", "-s", "BP62", "-f", "-11", "-g", "-1", "-E", "10"]
        words += ["-d", "0", "-m", "8", "one", "db"]
        done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            cells = line.split("\t")
            found.append(Line(cells[0], cells[1], 0, cells[11].strip(), cells[10]))
    return found


def _compared(
    tool: str,
    scoring: Scoring,
    queries: list[Record],
    database: list[Record],
    lines: list[Line],
    method: Method,
) -> dict[str, Any]:
    """Compare what a tool says with our statistics of the same scores, and its order with ours."""
    aligner = Aligner(scoring, engine="cpu", unknown=scoring.alphabet.wildcard)
    exact = aligner.score_matrix(queries, database)
    lengths = np.array([len(record) for record in database])
    place = {record.id: k for k, record in enumerate(database)}
    ratios, differences, digits, same, inversions, neighbours = [], [], 0, 0, 0, 0
    for q, query in enumerate(queries):
        mine = [line for line in lines if line.query == query.id]
        scores, numbers = exact[q].astype(np.int32), [place[line.target] for line in mine]
        histogram = None
        if method == "fit":
            histogram = _histogram(scoring, scores, lengths)
        statistics = for_search(
            scoring, len(query), len(database), int(lengths.sum()), histogram, method
        )
        for line, k in zip(mine, numbers, strict=True):
            score = line.score or int(scores[k])
            same += score == scores[k]
            bits = float(statistics.bits(score, int(lengths[k])))
            evalue = float(statistics.evalue(score, len(query), int(lengths[k])))
            differences.append(abs(bits - float(line.bits)) / float(line.bits))
            if float(line.evalue) > 1e-170:
                ratios.append(evalue / float(line.evalue))
            digits += evalue_text(evalue, digits=2) == line.evalue and bits_text(bits) == line.bits
        ours = [int(scores[k]) for k in numbers]
        inversions += sum(a < b for a, b in pairwise(ours))
        neighbours += max(0, len(ours) - 1)
    spread = np.array(ratios)
    return {
        "tool": tool,
        "version": _version(tool),
        "scoring": scoring.name,
        "gapopen": scoring.gap_open - scoring.gap_extend,
        "gapextend": scoring.gap_extend,
        "statistics": method,
        "hits": len(lines),
        "same_scores": None if tool == "ssearch36" else int(same),
        "same_digits": digits,
        "evalue_ratio": {
            "median": float(np.median(spread)),
            "minimum": float(spread.min()),
            "maximum": float(spread.max()),
        },
        "bits_difference": {
            "median": float(np.median(differences)),
            "maximum": float(max(differences)),
        },
        "order": {"neighbours": neighbours, "turned": inversions},
    }


def _histogram(scoring: Scoring, scores: Any, lengths: Any) -> Any:
    histogram = histogram_for(scoring, "fit")
    assert histogram is not None
    histogram.add(scores, lengths)
    return histogram


def _version(tool: str) -> str:
    """Return what a tool calls its version."""
    words = [tool, "-h"] if tool == "ssearch36" else [tool, "-version"]
    done = subprocess.run(words, capture_output=True, text=True)
    text = (done.stdout + done.stderr).replace("version", " ").replace(":", " ")
    return next(word for word in text.split() if word[0].isdigit())


def _shown(result: dict[str, Any]) -> str:
    ratio, bits, order = (result[key] for key in ("evalue_ratio", "bits_difference", "order"))
    return (
        f"{result['tool']} {result['scoring']} {result['gapopen']}/{result['gapextend']}: "
        f"{result['hits']} hits, same digits {result['same_digits']}, E {ratio['minimum']:.4g} to "
        f"{ratio['maximum']:.4g} times (median {ratio['median']:.4g}), bits {bits['median']:.2%}, "
        f"at most {bits['maximum']:.2%}; {order['turned']} of {order['neighbours']} turned"
    )


def _parser() -> argparse.ArgumentParser:
    made = options.parser("significance", __doc__, device=False)
    made.add_argument("--queries", nargs="+", required=True, metavar="FASTA")
    made.add_argument("--database", required=True, metavar="FASTA")
    made.add_argument(
        "--nucleotides", nargs=2, metavar="FASTA", help="queries and database for blastn"
    )
    return made


if __name__ == "__main__":
    sys.exit(main())
