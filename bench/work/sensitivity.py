"""Relatives that searches find among the domains of SCOP, before and beside false ones."""

from __future__ import annotations

import tempfile
import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product, zip_longest
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench.machine import run
from bench.measure import Check, Measurement
from bench.rivals import ssearch36_table, version_of, write_records
from bench.work.base import Case, Told, Workload, spread
from glsw.align import Aligner
from glsw.iteration import INCLUSION, rounds
from glsw.sequences.records import Record, read

Hits: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Of each query the targets and their E-values, the best first."""

Search: TypeAlias = Callable[[Path, list[Record]], Sequence[Hits]]
"""Returns the hits of each round, given a folder with the targets in ``db``, and the queries."""

ERRORS = (*(digit * 10.0**power for power in range(-3, 1) for digit in (1, 2, 5)), 10.0)
"""Per query."""

FIRST = [(task, "first error") for task in ("family", "superfamily")]
CURVE = [("pairs", f"{errors:g} errors per query") for errors in ERRORS]
"""Tasks and options of rows."""

_ROUNDS = 3
_EVALUE = 100


def counted(hits: Hits, classes: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """Return the shares of relatives among hits, by task and options, given the classes of domains.

    A class is such as a.1.2.3: class, fold, superfamily, family. A domain of another fold is an
    error; one of the same fold and another superfamily is neither right nor wrong. "family" and
    "superfamily" are means over queries of the share of relatives that stand before the first
    error: of the same family, and of the same superfamily but another family. "pairs" is the share
    of pairs of one superfamily among the hits of all queries, sorted by E-value, before there are
    more errors. What the hits do not reach is left out.
    """
    number = {name: k for k, name in enumerate(classes)}
    family, superfamily, fold = (
        np.unique([text.rsplit(".", n)[0] for text in classes.values()], return_inverse=True)[1]
        for n in range(3)
    )
    shares: tuple[list[float], list[float]] = [], []
    evalues, rights, wrongs, possible = [], [], [], 0
    for name, found in hits.items():
        query = number[name]
        some = [(number[target], evalue) for target, evalue in found if target != name]
        at, of_each = np.array([k for k, _ in some], np.intp), [evalue for _, evalue in some]
        right, wrong = superfamily[at] == superfamily[query], fold[at] != fold[query]
        before = right & (np.cumsum(wrong) == 0)
        near = family[at] == family[query]
        kin, all_kin = (int((level == level[query]).sum()) - 1 for level in (family, superfamily))
        for share, which, of in zip(shares, (near, ~near), (kin, all_kin - kin), strict=True):
            share += [float((before & which).sum() / of)] if of else []
        possible += all_kin
        evalues += of_each
        rights.append(right)
        wrongs.append(wrong)
    order = np.argsort(evalues, kind="stable")
    last = np.append(np.diff(np.array(evalues)[order]) > 0, True)[: len(order)]
    right, wrong = (
        np.append(0, np.cumsum(np.concatenate([[], *each])[order])[last])
        for each in (rights, wrongs)
    )
    means = (sum(each) / max(1, len(each)) for each in shares)
    result = dict(zip(FIRST, means, strict=True))
    for measure, errors in zip(CURVE, ERRORS, strict=True):
        if wrong[-1] >= errors * len(hits):
            before_them = np.searchsorted(wrong, errors * len(hits), "right") - 1
            result[measure] = float(right[before_them] / max(1, possible))
    return result


class Sensitivity(Workload):
    """Domains of SCOP search each other; the rate is the share of relatives that are found."""

    name = "sensitivity"

    def cases(self) -> Iterator[Case]:
        composition = {"composition": 2, "seg": "query", "evalue": 20}
        jackhmmer = f"jackhmmer -N {_ROUNDS} --incE {INCLUSION}"
        programs: dict[str, tuple[str, Search, Sequence[int]]] = {
            "glsw": ("", partial(self._glsw, {}), (1, 2, 3)),
            "glsw positional gaps": ("", partial(self._glsw, {"gaps": "positional"}), (2, 3)),
            "glsw composition": ("", partial(self._glsw, composition), (1, 2, 3)),
            "blastp": ("-version", partial(self._blast, "blastp"), (1,)),
            "ssearch36": ("-h", self._ssearch36, (1,)),
            "psiblast": ("-version", partial(self._blast, "psiblast"), (2, 3)),
            "phmmer": ("-h", partial(self._hmmer, "phmmer"), (1,)),
            "jackhmmer": ("-h", partial(self._hmmer, jackhmmer), (_ROUNDS,)),
        }
        for name, (asks, search, numbers) in programs.items():
            found = cache(partial(self._found, search))
            words: dict[str, Any] = {"ours": not asks, "grace": 1e4}
            words["version"] = version_of(name, asks) if asks else None
            for (place, number), measure in product(enumerate(numbers), (*FIRST, *CURVE)):
                start = partial(self._start, found, place - len(numbers), measure)
                program = f"{name}, {number} round{'s' * (number > 1)}"
                yield Case(program, start, measure[0], options=measure[1], **words)

    def _start(self, found: Any, place: int, measure: tuple[str, str], seconds: float) -> Told:
        count, note, rounds = found()
        hits, shares = rounds[place]
        if measure not in shares:
            raise ValueError("its hits have fewer errors")
        facts = {"rate": shares[measure], "unit": "share of relatives found"}
        note = f"{sum(map(len, hits.values()))} hits, {note}"
        return Told(Measurement(Check("SCOP", count, 0), 0), {**facts, "note": note})

    def _found(self, search: Search) -> tuple[int, str, Any]:
        """Return how many queries there are, the time, and hits and shares of each round."""
        records = list(read(self.setup.file("scop20_half.fasta.gz")))
        classes = {each.id: each.description.split()[0] for each in records}
        few = [records[k] for k in spread(len(records), self.chosen("queries"))]
        with tempfile.TemporaryDirectory(dir=self.setup.folder) as folder:
            write_records(Path(folder, "db"), records)
            began = time.perf_counter()
            found = search(Path(folder), few)
            took = time.perf_counter() - began
        rounds = [{each.id: hits.get(each.id, []) for each in few} for hits in found]
        note = f"all rounds in {took:.1f} s"
        return len(few), note, [(hits, counted(hits, classes)) for hits in rounds]

    def _glsw(self, options: dict[str, Any], folder: Path, queries: list[Record]) -> Sequence[Hits]:
        """Return the hits of each round; without a GPU each core has a process, and any engine."""
        software = self.setup.software
        count, device = (self.setup.cores, None) if software else (1, self.device.info.index)
        work = partial(_rounds, options, folder / "db", device)
        with ProcessPoolExecutor(count, get_context("spawn")) as pool:
            parts = list(pool.map(work, [queries[k::count] for k in range(count)]))
        return [dict(ChainMap(*some)) for some in zip(*parts, strict=True)]

    def _blast(self, program: str, folder: Path, queries: list[Record]) -> Sequence[Hits]:
        """Return the hits of each round of psiblast, or of the one of blastp."""
        run(["makeblastdb", "-dbtype", "prot", "-in", "db"], folder)
        words = f"{program} -query q -db db -max_target_seqs 5000 -evalue {_EVALUE}"
        words += f" -num_threads {self.setup.cores}"
        if program == "psiblast":
            words += f" -num_iterations {_ROUNDS} -inclusion_ethresh {INCLUSION}"
        found: list[dict[str, Sequence[tuple[str, float]]]] = [{} for _ in range(_ROUNDS)]
        for query in queries:
            write_records(folder / "q", [query])
            text = run([*words.split(), "-outfmt", "7 qseqid sseqid evalue"], folder)
            parts = text.split("# Iteration: ")
            parts = parts[1:] or parts
            for number, hits in enumerate(found):
                hits.update(_best(parts[min(number, len(parts) - 1)].splitlines()))
        return found

    def _ssearch36(self, folder: Path, queries: list[Record]) -> Sequence[Hits]:
        rows = ssearch36_table(folder, queries, _EVALUE, self.setup.cores)
        return [_best(f"{row[0]}\t{row[1]}\t{row[10]}" for row in rows)]

    def _hmmer(self, command: str, folder: Path, queries: list[Record]) -> Sequence[Hits]:
        """Return the hits of phmmer, or of the last round of jackhmmer."""
        write_records(folder / "q", queries)
        # With its own filters, lists end at 0.05 errors per query.
        words = f"{command} --F1 0.05 --F2 0.05 --F3 0.02 -E {_EVALUE} --cpu {self.setup.cores}"
        run(f"{words} -o out --tblout table q db".split(), folder)
        rows = (line.split() for line in (folder / "table").read_text().splitlines())
        return [_best(f"{row[2]}\t{row[0]}\t{row[4]}" for row in rows if row[0][0] != "#")]


def _rounds(
    options: Mapping[str, Any], database: Path, device: int | None, queries: Sequence[Record]
) -> list[dict[str, list[tuple[str, float]]]]:
    """Return the hits of each round of queries; the last one stands for those that are missing."""
    words = {"order": "evalue", "evalue": _EVALUE, "top": None, "seg": "no", **options}
    found: list[dict[str, list[tuple[str, float]]]] = [{} for _ in range(_ROUNDS)]
    with Aligner(device=device, unknown="X", seg=words.pop("seg")) as aligner:
        targets = aligner.database(database)
        for query in map(aligner.one, queries):
            hits: list[tuple[str, float]] = []
            some = rounds(aligner, query, targets, _ROUNDS, INCLUSION, **words)
            for each, kept in zip_longest(some, found):
                if each:
                    hits = [(hit.target.id, float(hit.evalue or 0)) for hit in each.result]
                kept[query.id] = hits
    return found


def _best(lines: Iterable[str]) -> Hits:
    """Return hits of lines with query, target and E-value, each target once."""
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        if line.count("\t") == 2:
            query, target, evalue = line.split("\t")
            known = found.setdefault(query, {})
            known[target] = min(float(evalue), known.get(target, float("inf")))
    return {query: sorted(each.items(), key=itemgetter(1)) for query, each in found.items()}
