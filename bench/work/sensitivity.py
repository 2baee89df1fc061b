"""Relatives that searches find among the domains of SCOP, before and beside false ones."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from bench.commands import run, ssearch36_table, version_of, write_records
from bench.measure import Check, Measurement
from bench.work.base import Case, Setup, Told, Workload, spread
from glsw.align import Aligner
from glsw.sequences.records import Record, read

Hits: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Of each query the targets and their E-values, the best first."""

_EVALUE = 100
_ERRORS = 0.1  # per query


class Counts(NamedTuple):
    """What a search has found.

    Parameters
    ----------
    family, superfamily : float
        Mean over queries of the share of relatives that stand before the first domain of another
        fold: of the same family, and of the same superfamily but another family.
    pairs : float
        The share of pairs of one superfamily among the hits of all queries, sorted by E-value,
        before the errors exceed `_ERRORS` per query.

    Examples
    --------
    >>> classes = {"q": "a.1.1.1", "r": "a.1.1.1", "s": "a.1.1.2", "t": "a.1.2.1", "u": "b.1.1.1"}
    >>> hits = {"q": [("q", 0.0), ("r", 1e-9), ("t", 1e-3), ("u", 0.1), ("s", 1.0)]}
    >>> counted(hits, classes)
    Counts(family=1.0, superfamily=0.0, pairs=0.5)
    """

    family: float
    superfamily: float
    pairs: float


def counted(hits: Hits, classes: Mapping[str, str]) -> Counts:
    """Count the relatives among hits, given the class, fold, superfamily and family of domains."""
    levels = {name: _levels(text) for name, text in classes.items()}
    shares: tuple[list[float], list[float]] = [], []
    everything: list[tuple[float, bool]] = []
    possible = 0
    for query, found in hits.items():
        fold, superfamily, family = levels[query]
        others = [each for name, each in levels.items() if name != query]
        kin = sum(each[2] == family for each in others)
        all_kin = sum(each[1] == superfamily for each in others)
        possible += all_kin
        before: list[tuple[str, str, str]] = []
        wrong = False
        for target, evalue in found:
            each = levels[target]
            if target == query:
                continue
            if each[0] != fold:
                wrong = True
                everything.append((evalue, False))
            elif each[1] == superfamily:
                everything.append((evalue, True))
                before += [] if wrong else [each]
        of_family = sum(each[2] == family for each in before)
        if kin:
            shares[0].append(of_family / kin)
        if all_kin > kin:
            shares[1].append((len(before) - of_family) / (all_kin - kin))
    errors = right = 0
    for _, together in groupby(sorted(everything, key=lambda each: each[0]), lambda each: each[0]):
        some = [true for _, true in together]
        errors += some.count(False)
        if errors > _ERRORS * len(hits):
            break
        right += some.count(True)
    near, far = (sum(each) / max(1, len(each)) for each in shares)
    return Counts(near, far, right / max(1, possible))


def _levels(text: str) -> tuple[str, str, str]:
    """Return the fold, the superfamily and the family of a class such as a.1.2.3."""
    words = text.split(".")
    return ".".join(words[:2]), ".".join(words[:3]), text


class Sensitivity(Workload):
    """Domains of SCOP search each other; the rate is the share of relatives that are found."""

    name, weight = "sensitivity", 0
    text = "relatives found among domains of SCOP, beside blastp, ssearch36, psiblast, HMMER"
    queries: ClassVar = {"tiny": 20, "small": 100, "medium": 500, "full": 10_000}

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._found: dict[str, tuple[Counts, int, float]] = {}

    def cases(self) -> Iterator[Case]:
        programs: dict[str, tuple[str, Callable[[Path, list[Record]], Hits]]] = {
            "glsw": ("", partial(self._glsw, {})),
            "glsw composition": ("", partial(self._glsw, {"composition": 2})),
            "blastp": ("-version", self._blastp),
            "ssearch36": ("-h", self._ssearch36),
            "psiblast": ("-version", self._psiblast),
            "phmmer": ("-h", partial(self._hmmer, ["phmmer"])),
            "jackhmmer": ("-h", partial(self._hmmer, ["jackhmmer", "-N", "3"])),
        }
        for name, (asks, search) in programs.items():
            for measure in Counts._fields:
                start = partial(self._start, name, search, measure)
                options = f"{_ERRORS:g} errors per query" if measure == "pairs" else "first error"
                version = _version(name, asks) if asks else None
                yield Case(
                    name, start, measure, options=options, ours=not asks, version=version, grace=3e3
                )

    def _start(
        self, name: str, search: Callable[[Path, list[Record]], Hits], measure: str, seconds: float
    ) -> Told:
        if name not in self._found:
            records = list(read(self.setup.file("scop20_half.fasta.gz")))
            classes = {each.id: each.description.split()[0] for each in records}
            few = spread(len(records), self.setup.chosen(self.queries))
            with tempfile.TemporaryDirectory(dir=self.setup.folder) as folder:
                write_records(Path(folder, "db"), records)
                began = time.perf_counter()
                hits = search(Path(folder), [records[k] for k in few])
                took = time.perf_counter() - began
            hits = {records[k].id: hits.get(records[k].id, []) for k in few}
            self._found[name] = counted(hits, classes), sum(map(len, hits.values())), took
        counts, judged, took = self._found[name]
        facts = {"rate": getattr(counts, measure), "unit": "share of relatives found"}
        note = f"{judged} hits up to E-value {_EVALUE}, {took:.1f} s"
        return Told(Measurement(Check("SCOP", judged, 0), 0), {**facts, "note": note})

    def _glsw(self, options: dict[str, Any], folder: Path, queries: list[Record]) -> Hits:
        engine = "cpu" if self.setup.software else "auto"
        device = None if self.setup.software else self.device
        words: dict[str, Any] = {"order": "evalue", "evalue": _EVALUE, "top": None, **options}
        with Aligner(engine=engine, device=device, unknown="X") as aligner:
            return {
                result.query.id: [(hit.target.id, float(hit.evalue or 0)) for hit in result]
                for result in aligner.search(queries, folder / "db", **words)
            }

    def _blastp(self, folder: Path, queries: list[Record]) -> Hits:
        _index(folder)
        write_records(folder / "q", queries)
        words = ["blastp", "-query", "q", "-num_threads", str(self.setup.cores)]
        return _best(run([*words, *_TABLE], folder).splitlines())

    def _psiblast(self, folder: Path, queries: list[Record]) -> Hits:
        """Return the hits of the last of three rounds of each query."""
        _index(folder)
        words = ["psiblast", "-query", "q", "-num_iterations", "3"]
        found: dict[str, Sequence[tuple[str, float]]] = {}
        for query in queries:
            write_records(folder / "q", [query])
            lines = run([*words, "-num_threads", str(self.setup.cores), *_TABLE], folder)
            rounds = [text for text in lines.split("\n\n") if "\t" in text]
            found.update(_best(rounds[-1].splitlines() if rounds else []))
        return found

    def _ssearch36(self, folder: Path, queries: list[Record]) -> Hits:
        rows = ssearch36_table(folder, queries, _EVALUE, self.setup.cores)
        return _best(f"{row[0]}\t{row[1]}\t{row[10]}" for row in rows)

    def _hmmer(self, command: list[str], folder: Path, queries: list[Record]) -> Hits:
        """Return the hits of phmmer, or of the last round of jackhmmer."""
        write_records(folder / "q", queries)
        words = ["-E", str(_EVALUE), "--cpu", str(self.setup.cores), "-o", "out"]
        run([*command, *words, "--tblout", "table", "q", "db"], folder)
        rows = (line.split() for line in (folder / "table").read_text().splitlines())
        return _best(f"{row[2]}\t{row[0]}\t{row[4]}" for row in rows if not row[0].startswith("#"))


_TABLE = ["-db", "db", "-max_target_seqs", "5000"]
_TABLE += ["-evalue", str(_EVALUE), "-outfmt", "6 qseqid sseqid evalue"]


def _best(lines: Iterator[str] | Sequence[str]) -> Hits:
    """Return hits of lines with query, target and E-value, each target once."""
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        if line.count("\t") == 2:
            query, target, evalue = line.split("\t")
            known = found.setdefault(query, {})
            known[target] = min(float(evalue), known.get(target, float("inf")))
    return {
        query: sorted(known.items(), key=lambda each: each[1]) for query, known in found.items()
    }


def _index(folder: Path) -> None:
    run(["makeblastdb", "-dbtype", "prot", "-in", "db"], folder)


def _version(program: str, asks: str) -> str | None:
    try:
        return version_of(program, asks)
    except OSError:  # it is not here, which its row says
        return None


WORKLOADS = (Sensitivity,)
