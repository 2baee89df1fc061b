"""Liu et al. 2006, Table 1 and figure 11: eight queries against a protein database.

    python -m bench.liu2006 --sequences 2000 --output bench/results/liu2006-llvmpipe.json

Prints the paper's seconds and MCUPS with ours and those of parasail and ssearch36, measured in
the same run on one core. Exit status 1 if the engine gave a wrong score: its query has no time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import competitors, options, programs, workloads
from bench.document import Results
from bench.measure import WARM_UP, Check, compare, measure, tell_wrong
from glsw.batch import Batch
from glsw.device.device import Device
from glsw.engines import ENGINES, Engine, engine_of
from glsw.engines.spec import device_for
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences

SWISSPROT = 176_469 * 361
"""Residues of Swiss-Prot 46.3, March 2005: sequences and mean length as the paper gives them."""


@dataclass(frozen=True)
class PaperQuery:
    """One query of the paper."""

    length: int
    accession: str
    osearch: float
    ssearch: float

    @property
    def mcups(self) -> dict[str, float]:
        """Query length x residues of Swiss-Prot 46.3 / seconds, in millions."""
        cells = self.length * SWISSPROT / 1e6
        return {"osearch": cells / self.osearch, "ssearch": cells / self.ssearch}


PAPER = (
    PaperQuery(63, "O29181", 90.9, 48.6),
    PaperQuery(127, "P03630", 184.1, 99.7),
    PaperQuery(255, "P53765", 375.1, 198.2),
    PaperQuery(361, "Q8ZGB4", 532.7, 295.8),
    PaperQuery(511, "P58229", 731.9, 391.9),
    PaperQuery(1023, "P39985", 1472.5, 848.7),
    PaperQuery(2047, "Q96HP0", 2985.7, 1741.7),
    PaperQuery(4095, "P36022", 5925.2, 3610.8),
)
"""Table 1: seconds of OSEARCH34 and SSEARCH34 on a Pentium 4 of 3.0 GHz, Swiss-Prot 46.3."""

GPU_RATIO = {"osearch": 16.0, "ssearch": 8.0}
"""Section 6: a GeForce 7800 GTX was "almost 16" and 8 times as fast as those two."""

REPEATS = 0.3
"""Seconds that hardware has for a query after its warm-up, however small the budget."""

PROBE = 1e8
"""Cells from which the speed of a peer is estimated."""

JUDGED = 3e8
"""Cells that parasail judges."""

BY_REFERENCE = 5e6
"""Cells that the reference judges where parasail is missing."""


class Query(NamedTuple):
    """A query and its name."""

    name: str
    codes: npt.NDArray[np.uint8]

    @property
    def paper(self) -> PaperQuery | None:
        """The row of the paper with about this length: two of its eight were shortened since."""
        near = [row for row in PAPER if abs(row.length - len(self.codes)) <= 0.01 * row.length]
        return near[0] if near else None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, 1 if a score was wrong, 2 if the input cannot be used."""
    return options.run(_parser(), _run, argv)


def _run(arguments: argparse.Namespace) -> int:
    scoring = Scoring.named("BLOSUM62", 12, 1)
    queries = _queries(arguments, scoring)
    database, origin = _database(arguments, scoring)
    kind = ENGINES[arguments.engine]
    device = device_for(kind, device=arguments.device)
    engine = engine_of(kind, scoring, device)
    settings = {
        "engine": arguments.engine,
        "scoring": {"matrix": scoring.name, "gap_open": 12, "gap_extend": 1},
        "queries": [query.name for query in queries],
        "database": origin,
        "budget": arguments.budget,
    }
    _print_heading(device, arguments.engine, origin)
    results = Results("liu2006", device, settings, arguments)
    share = arguments.budget / sum(len(query.codes) ** 0.5 for query in queries)
    for query in queries:
        budget = share * len(query.codes) ** 0.5
        results.keep(_query(query, database, engine, device, budget))
        _print_row(results[-1])
    _print_notes(results)
    return tell_wrong(
        (f"{arguments.engine}, query {each['query']}", each["engine"]["check"]) for each in results
    )


def _query(
    query: Query, database: Sequences, engine: Engine, device: Device | None, budget: float
) -> dict[str, Any]:
    """Measure the engine and the competitors with one query; a third of ``budget`` is for those."""
    batch = Batch.one_to_many(query.codes, database)
    scoring = engine.scoring
    most = JUDGED if programs.Parasail.available(scoring) else BY_REFERENCE
    chosen = competitors.portion(batch, most)
    judge, expected = competitors.judge(scoring, batch.select(chosen))

    latest = np.empty(0, np.int32)

    def check(scores: npt.NDArray[np.int32]) -> Check:
        nonlocal latest
        latest = scores
        return compare(scores[chosen], expected, judge)

    def cut(cells: float) -> tuple[Batch, npt.NDArray[np.int32]]:
        some = competitors.portion(batch, cells)
        return batch.select(some), latest[some]

    least = 0.0 if device is None or device.info.software else WARM_UP + REPEATS
    ours = measure(
        lambda: engine.scores(batch),
        check,
        cells=batch.cells,
        device=device,
        budget=max(least, budget * 2 / 3),
    )
    beside: dict[str, dict[str, Any]] = {}
    for kind in (programs.Parasail, programs.Ssearch36) if ours.wall else ():
        if kind.available(scoring):
            peer = kind(scoring)
            try:
                beside[peer.name] = competitors.measured(
                    peer, batch.cells, cut, judge=engine.name, budget=budget / 6, trial=PROBE
                )
            except RuntimeError as error:
                print(f"left out: {error}", flush=True)
    row = query.paper
    return {
        "query": query.name,
        "length": len(query.codes),
        "paper": None if row is None else {**asdict(row), "mcups": row.mcups},
        "engine": ours.as_dict(),
        "peers": beside,
    }


def _queries(arguments: argparse.Namespace, scoring: Scoring) -> list[Query]:
    if arguments.queries:
        return [
            Query(each.id, codes)
            for each, codes in workloads.encoded(arguments.queries, scoring.alphabet)
        ]
    generated = workloads.queries(arguments.lengths)
    return [Query(f"generated {len(codes)}", codes) for codes in generated]


def _database(arguments: argparse.Namespace, scoring: Scoring) -> tuple[Sequences, dict[str, Any]]:
    """Return the database and what stands in the JSON about it."""
    if arguments.database == "generated":
        database = workloads.swissprot_like(arguments.sequences or 2000)
        name = "generated, lengths and composition of Swiss-Prot"
    else:
        every = workloads.from_file(arguments.database, scoring.alphabet)
        count = min(arguments.sequences or len(every), len(every))
        database = every.select(np.arange(count) * len(every) // count)
        name = Path(arguments.database).name
    return database, {
        "name": name,
        "sequences": len(database),
        "residues": len(database.residues),
        "longest": int(database.lengths.max()),
    }


HEADING = {
    "query": ("length",),
    "seconds, paper": ("OSEARCH", "SSEARCH"),
    "seconds, here": ("ours", "parasail", "ssearch"),
    "MCUPS, paper": ("OSEARCH", "SSEARCH", "GPU"),
    "MCUPS, here": ("ours", "spread", "parasail", "ssearch"),
}
WIDTH = 9


def _print_heading(device: Device | None, engine: str, database: dict[str, Any]) -> None:
    print(f"engine {engine} on {'the CPU' if device is None else device.info.name}")
    print(
        f"database: {database['name']}; {database['sequences']:,} sequences, "
        f"{database['residues']:,} residues, longest {database['longest']:,}"
    )
    print("BLOSUM62, first gap position 12, each further one 1\n")
    print(" |".join(f"{group:>{WIDTH * len(columns)}}" for group, columns in HEADING.items()))
    _print_line(*HEADING.values())


def _print_row(result: dict[str, Any]) -> None:
    ours, paper = result["engine"], result["paper"]
    beside = [result["peers"].get(name) for name in ("parasail", "ssearch36")]
    in_2006 = [paper and paper["osearch"], paper and paper["ssearch"]]
    rates = [paper and paper["mcups"]["osearch"], paper and paper["mcups"]["ssearch"]]
    wall = ours["wall"] or {"median": None, "spread": None}
    marks = ["~" if peer and peer["scaled"] else "" for peer in beside]
    _print_line(
        [str(result["length"])],
        [_text(seconds, 1) for seconds in in_2006],
        [_text(wall["median"], 2)]
        + [
            _text(peer and peer["seconds"], 2, mark)
            for peer, mark in zip(beside, marks, strict=True)
        ],
        [_text(rate, 1) for rate in rates]
        + [_text(paper and rates[0] * GPU_RATIO["osearch"], 0, "<")],
        ["WRONG" if ours["gcups"] is None else _text(ours["gcups"] * 1e3, 0)]
        + [_text(wall["spread"] and wall["spread"] * 100, 1) + "%"]
        + [_text(peer and peer["gcups"] and peer["gcups"] * 1e3, 0) for peer in beside],
    )


def _print_line(*groups: Sequence[str]) -> None:
    lines = ("".join(f"{cell:>{WIDTH}}" for cell in group) for group in groups)
    print(" |".join(lines), flush=True)


def _text(number: float | None, digits: int, mark: str = "") -> str:
    return "-" if number is None else f"{mark}{number:.{digits}f}"


def _print_notes(results: list[dict[str, Any]]) -> None:
    print()
    print(
        "GPU: at most 16 x OSEARCH, the paper's words; the seconds of its GeForce 7800 GTX are lost"
    )
    if any(peer["scaled"] for result in results for peer in result["peers"].values()):
        print("~: measured on a part of the database, seconds scaled to all of it")
    timed = [result for result in results if result["engine"]["wall"] and result["paper"]]
    if timed:
        cells = sum(result["engine"]["cells"] for result in timed)
        seconds = sum(result["engine"]["wall"]["median"] for result in timed)
        whole = sum(result["length"] for result in timed) * SWISSPROT * seconds / cells
        osearch, ssearch = (sum(r["paper"][key] for r in timed) for key in ("osearch", "ssearch"))
        print(
            f"all {len(timed)} queries against Swiss-Prot 46.3 at this rate: {whole:,.0f} s; "
            f"OSEARCH {osearch:,.0f} s, SSEARCH {ssearch:,.0f} s in 2006"
        )


def _parser() -> argparse.ArgumentParser:
    text = "about this long in all (default 180); every query is run at least twice"
    parser = options.parser("liu2006", __doc__, 180, text)
    parser.add_argument(
        "--database",
        default="generated",
        metavar="FASTA",
        help="file to search, or the word generated (default)",
    )
    parser.add_count(
        "--sequences", "of the generated database (default 2000), or of the file, evenly spaced"
    )
    parser.add_argument("--queries", metavar="FASTA", help="instead of generated queries")
    parser.add_counts("--lengths", [row.length for row in PAPER], "of the generated queries")
    parser.add_argument("--engine", choices=ENGINES, default="fragment")
    return parser


if __name__ == "__main__":
    sys.exit(main())
