"""What `bench.search` compares the engines with: other programs, the command, several devices."""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench import competitors
from bench.machine import cores
from bench.measure import WARM_UP, Check, measure
from bench.search_work import SCORING, Query, ScoreJudge, Targets, spread
from glsw.align import Aligner
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError
from glsw.engines import ENGINES
from glsw.output import FORMATS
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import read

TOP = 10
COMMANDS = 2
"""How often the whole command is run: the first time it may have to compile."""

PROBE = 1e8
"""Cells from which the speed of a peer is estimated."""

_ROOT = Path(__file__).parents[1]


class Files(NamedTuple):
    """Where the queries and the targets are."""

    queries: Path
    database: Path
    makedb: float | None
    """Seconds that indexing took; None if the database is the FASTA file."""


@dataclass
class Comparisons:
    """A database, and all that is compared with the scores that the engines found in it."""

    targets: Targets
    queries: list[Query]
    judges: list[ScoreJudge]
    arguments: argparse.Namespace

    def competitors(self) -> list[dict[str, Any]]:
        """Measure other programs with a few queries on a part of the targets."""
        found = []
        for k in spread(len(self.queries), self.arguments.competitor_queries):
            query, scores = self.queries[k], self.judges[k].scores
            if scores is None:
                continue
            batch = Batch.one_to_many(query.codes, self.targets.sequences)

            def cut(
                cells: float, batch: Batch = batch, scores: Any = scores
            ) -> tuple[Batch, npt.NDArray[np.int32]]:
                chosen = competitors.portion(batch, cells)
                return batch.select(chosen), scores[chosen]

            for count in sorted({1, cores()}):
                for peer in competitors.on_cores(SCORING, count):
                    try:
                        measured = competitors.measured(
                            peer,
                            batch.cells,
                            cut,
                            judge="the engines",
                            budget=self.arguments.budget,
                            trial=PROBE * count,
                        )
                    except RuntimeError as error:
                        print(f"  left out: {error}", flush=True)
                        continue
                    found.append(
                        {"peer": peer.name, "cores": count, "query": query.name}
                        | {"length": len(query.codes)}
                        | measured
                    )
        return found

    def files(self, folder: Path) -> Files:
        """Write queries and targets, and index these with ``glsw makedb``."""
        queries, fasta, indexed = (folder / name for name in ("q.fasta", "db.fasta", "db.glsw"))
        _write_fasta(queries, "query", Sequences.of([query.codes for query in self.queries]))
        _write_fasta(fasta, "target", self.targets.sequences)
        start = time.perf_counter()
        done = _glsw("makedb", fasta, indexed)
        seconds = time.perf_counter() - start
        if done.returncode:
            print(f"not indexed: {_last_line(done.stderr)}", file=sys.stderr)
            return Files(queries, fasta, None)
        return Files(queries, indexed, seconds)

    def command(
        self, files: Files, device: Device | None, runs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Measure ``glsw search`` from start to end, and the kernels of the fastest run."""
        engine = self.arguments.engines[0]
        words = [files.queries, files.database, "--format", "tsv", "--top", str(TOP)]
        words += ["--engine", engine, "--no-progress"]
        words += (
            []
            if device is None or not ENGINES[engine].capabilities.requires
            else ["--device", str(device.info.index)]
        )
        seconds: list[float] = []
        check = Check("the engines", 0, 0)
        for _ in range(COMMANDS):
            start = time.perf_counter()
            done = _glsw("search", *words)
            seconds.append(time.perf_counter() - start)
            if done.returncode:
                check = Check("the engines", 1, 1, _last_line(done.stderr))
                break
            check = self._check_lines(done.stdout)
        kernels = [run["kernel"] for run in runs if run["engine"] == engine and run.get("kernel")]
        kernel = min(kernels, default=None)
        return {
            "engine": engine,
            "indexed": files.makedb is not None,
            "makedb": files.makedb,
            "check": vars(check),
            "seconds": seconds,
            "kernel": kernel,
            "allowed": kernel and 1.5 * kernel + 2,
        }

    def _check_lines(self, text: str) -> Check:
        """Compare the scores of the hits of all queries with the best ones."""
        found: dict[str, list[int]] = {}
        for row in csv.DictReader(io.StringIO(text), dialect=csv.excel_tab, quoting=csv.QUOTE_NONE):
            if row.get("hsp", "1") == "1":  # a hit may have more alignments
                found.setdefault(row["query"], []).append(int(row["score"]))
        lists = [found.get(f"query{k}", []) for k in range(len(self.queries))]
        best = [
            _best(judge.scores) if judge.scores is not None else each
            for judge, each in zip(self.judges, lists, strict=True)
        ]
        wrong = [k for k, (one, other) in enumerate(zip(lists, best, strict=True)) if one != other]
        first = f"query {wrong[0]}: {lists[wrong[0]]}, expected {best[wrong[0]]}" if wrong else None
        return Check("the engines", len(lists), len(wrong), first)

    def devices(self, files: Files, device: Device | None) -> dict[str, Any]:
        """Measure the search on the first device and on all; their output has to be equal."""
        queries = list(read(files.queries))
        database: Any = Database.open(files.database) if files.makedb is not None else None
        database = list(read(files.database)) if database is None else database
        cells = len(self.targets.sequences.residues) * sum(map(len, queries))
        chosen = self.arguments.devices
        warm_up = 0.0 if device is None or device.info.software else WARM_UP
        expected: str | None = None
        measured = []
        for some in (chosen[0], list(chosen)):
            try:
                aligner = Aligner(SCORING, engine=self.arguments.engines[0], device=some)
            except (ValueError, DeviceError) as error:
                return {"devices": chosen, "refused": str(error)}

            def check(text: str) -> Check:
                nonlocal expected
                expected = text if expected is None else expected
                same = text == expected
                return Check("one device", 1, int(not same), None if same else "other bytes")

            with closing(aligner) if hasattr(aligner, "close") else nullcontext():
                measured.append(
                    measure(
                        partial(_tsv, aligner, queries, database),
                        check,
                        cells=cells,
                        budget=2 * self.arguments.budget,
                        warm_up=warm_up,
                    )
                )
        one, all_ = measured
        ratio = one.wall.median / all_.wall.median if one.wall and all_.wall else None
        return {
            "devices": chosen,
            "refused": None,
            "engine": self.arguments.engines[0],
            "one": one.as_dict(),
            "all": all_.as_dict(),
            "ratio": ratio,
            "bytes": len(expected or ""),
        }


def _tsv(aligner: Aligner, queries: Any, database: Any) -> str:
    """Return what the search command writes."""
    stream = io.StringIO()
    for result in aligner.search(queries, database, top=TOP):
        FORMATS["tsv"].write(result, stream)
    return stream.getvalue()


def _best(scores: npt.NDArray[np.int32]) -> list[int]:
    return [int(score) for score in np.sort(scores)[::-1][:TOP] if score > 0]


def _glsw(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a glsw command of this checkout."""
    command = [sys.executable, "-m", "glsw", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment())


def environment() -> dict[str, str]:
    """Return the variables with which Python finds the glsw of this checkout."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def _write_fasta(path: Path, name: str, sequences: Sequences) -> None:
    letters = np.frombuffer("".join(PROTEIN.letters).encode(), np.uint8)[sequences.residues]
    with path.open("wb") as file:
        for k, (start, end) in enumerate(
            zip(sequences.offsets, sequences.offsets[1:], strict=False)
        ):
            file.write(b">%s%d\n" % (name.encode(), k))
            file.write(letters[start:end].tobytes())
            file.write(b"\n")
