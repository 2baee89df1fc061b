"""Bit scores and E-values: compared with blastp, blastn and ssearch36, and with counts of hits."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bench import generated
from bench.commands import version_of
from bench.measure import Check, Measurement, compare
from bench.work.base import Case, Setup, Told, Workload, portion
from bench.work.search_base import judge
from glsw.align import Aligner
from glsw.batch import Batch
from glsw.engines import ENGINES
from glsw.output.blast import bits_text, evalue_text
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import Record, read
from glsw.statistics import Fitted, Method, ScoreHistogram, Statistics, for_search, histogram_for
from glsw.statistics.ungapped_constants import ROBINSON


class Line(NamedTuple):
    """A hit as a program prints it."""

    query: str
    target: str
    score: int
    bits: str
    evalue: str


class Significance(Workload):
    """What blastp, blastn and ssearch36 say of their hits, and what we say of the same scores.

    A row is wrong if a bit score or E-value of blastp or blastn has other digits; its rate is the
    median of our E-value over theirs.
    """

    name, weight = "significance", 0
    text = "bit scores and E-values, compared with blastp, blastn and ssearch36"
    proteins: ClassVar = (
        *(("BLOSUM62", 11, 1), ("BLOSUM45", 14, 2), ("BLOSUM50", 13, 2), ("BLOSUM90", 10, 1)),
        *(("PAM30", 9, 1), ("PAM70", 10, 1)),
    )
    """Matrices, existence and extension."""
    nucleotides: ClassVar = (
        *((2, -3, 5, 2), (1, -2, 2, 2), (1, -3, 2, 2), (4, -5, 6, 5), (1, -1, 3, 2)),
    )
    """Match, mismatch, existence and extension."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._files: dict[str, tuple[Path, list[Record], list[Record]]] = {}

    def cases(self) -> Iterator[Case]:
        for matrix, existence, extension in self.proteins:
            scoring = Scoring.blast(matrix, existence, extension)
            own = ["-matrix", matrix, "-comp_based_stats", "0", "-seg", "no"]
            yield self._case("blastp", scoring, own, "auto")
        yield self._case("ssearch36", Scoring.blast(), [], "fit")
        for match, mismatch, existence, extension in self.nucleotides:
            scoring = Scoring.nucleotide(match, mismatch, existence, extension)
            own = ["-task", "blastn", "-reward", str(match), "-penalty", str(mismatch)]
            own += ["-dust", "no", "-strand", "plus"]
            yield self._case("blastn", scoring, own, "auto", f"DNA {match}/{mismatch}")

    def _case(
        self, tool: str, scoring: Scoring, own: list[str], method: Method, name: str = ""
    ) -> Case:
        name = f"{name or scoring.name}, gaps {scoring.gap_open}, {scoring.gap_extend}"
        start = partial(self._start, tool, scoring, own, method)
        words = f"beside {tool}"
        return Case("glsw", start, "E-values", name, options=words, grace=600.0)

    def _start(
        self, tool: str, scoring: Scoring, own: list[str], method: Method, seconds: float
    ) -> Told:
        if tool not in self.setup.rivals:
            raise ValueError(f"{tool} is not here")
        folder, queries, database = self._of("nucl" if tool == "blastn" else "prot")
        lines = (
            _ssearch(folder, queries) if tool == "ssearch36" else _blast(tool, folder, scoring, own)
        )
        return _compared(tool, scoring, queries, database, lines, method)

    def _of(self, kind: str) -> tuple[Path, list[Record], list[Record]]:
        if kind not in self._files:
            if kind == "prot":
                queries = list(read(self.setup.file("standard20.fasta")))
                found = list(read(self.setup.file("swissprot_2014_01_subset.fasta.gz")))
                few = {"large": 1, "full": 1}.get(self.setup.size, 20)
                queries, database = queries[:: min(few, 5)], found[::few]
            else:
                (genome,) = read(self.setup.file("ecoli_K12_MG1655_NC_000913.2.fna.gz"))
                cuts = range(0, 400_000, 2000)
                database = [Record(f"g{k}", "", genome.letters[k : k + 2000]) for k in cuts]
                (other,) = read(self.setup.file("ecoli_536_NC_008253.fna.gz"))
                cuts = range(0, 100_000, 10_000)
                queries = [Record(f"q{k}", "", other.letters[k : k + 1000]) for k in cuts]
            folder = Path(tempfile.mkdtemp(dir=self.setup.folder))
            for name, records in (("q", queries), ("db", database)):
                text = "".join(f">{record.id}\n{record.letters}\n" for record in records)
                (folder / name).write_text(text, encoding="ascii")
            words = ["makeblastdb", "-dbtype", kind, "-in", "db"]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
            self._files[kind] = folder, queries, database
        return self._files[kind]


def _blast(tool: str, folder: Path, scoring: Scoring, own: list[str]) -> list[Line]:
    """Return the best alignment of each hit up to an E-value of 1000."""
    words = [tool, "-query", "q", "-db", "db", "-evalue", "1000", "-max_hsps", "1"]
    words += ["-gapopen", str(scoring.gap_open - scoring.gap_extend)]
    words += ["-gapextend", str(scoring.gap_extend), "-max_target_seqs", "5000"]
    words += ["-outfmt", "6 qseqid sseqid score bitscore evalue", *own]
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
) -> Told:
    """Compare what a program says with our statistics of the same scores, and its order."""
    aligner = Aligner(scoring, engine="cpu", unknown=scoring.alphabet.wildcard)
    exact = aligner.score_matrix(queries, database)
    lengths = np.array([len(record) for record in database])
    place = {record.id: k for k, record in enumerate(database)}
    ratios, bits_off, digits, same, turned, neighbours = [], [], 0, 0, 0, 0
    for q, query in enumerate(queries):
        mine = [line for line in lines if line.query == query.id]
        scores, numbers = exact[q].astype(np.int32), [place[line.target] for line in mine]
        histogram = histogram_for(scoring, "fit") if method == "fit" else None
        if histogram is not None:
            histogram.add(scores, lengths)
        size = len(database), int(lengths.sum())
        statistics = for_search(scoring, len(query), *size, histogram, method)
        for line, k in zip(mine, numbers, strict=True):
            score = line.score or int(scores[k])
            same += score == scores[k]
            bits = float(statistics.bits(score, int(lengths[k])))
            evalue = float(statistics.evalue(score, len(query), int(lengths[k])))
            bits_off.append(abs(bits - float(line.bits)) / float(line.bits))
            if float(line.evalue) > 1e-170:
                ratios.append(evalue / float(line.evalue))
            digits += evalue_text(evalue, digits=2) == line.evalue and bits_text(bits) == line.bits
        ours = [int(scores[k]) for k in numbers]
        turned += sum(a < b for a, b in pairwise(ours))
        neighbours += max(0, len(ours) - 1)
    right = len(lines) if tool == "ssearch36" else digits
    check = Check(tool, len(lines), len(lines) - right, None)
    note = (
        f"{tool} {version_of(tool, '-h' if tool == 'ssearch36' else '-version')}; same digits "
        f"{digits}, same scores {same} of {len(lines)}; E-value ratio {min(ratios):.4g} to "
        f"{max(ratios):.4g}; bits off by {np.median(bits_off):.2%} (median), {max(bits_off):.2%} "
        f"at most; {turned} of {neighbours} neighbours in another order"
    )
    rate = float(np.median(ratios))
    return Told(Measurement(check, 0), {"rate": rate, "unit": "E-value ratio", "note": note})


# counts of hits


class RandomSet(NamedTuple):
    """Queries and database, both of Swiss-Prot's lengths or all of one length."""

    length: int | None
    composition: Mapping[str, float]
    queries: int
    sequences: int


class Calibration(Workload):
    """Hits of random proteins in random proteins, counted and expected: the rate is their ratio.

    All hits are false; how many reach an E-value is compared with how many should: the sum, over
    the sequences, of the chance to reach the least whole score that has this E-value in a sequence
    of that length.
    """

    name, weight = "calibration", 0
    text = "false hits of random proteins, counted and expected"
    scorings: ClassVar = (("BLOSUM62", 11, 1), ("PAM70", 10, 1))
    sets: ClassVar = {
        "like Swiss-Prot": RandomSet(None, generated.COMPOSITION, 150, 4000),
        "Robinson, 1000 letters": RandomSet(1000, ROBINSON, 80, 1500),
        "Robinson, 100 letters": RandomSet(100, ROBINSON, 300, 4000),
    }
    """The published constants are for the composition of Robinson, and long sequences."""
    evalues = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    methods: ClassVar[tuple[Method, ...]] = ("karlin-altschul", "fit")

    def cases(self) -> Iterator[Case]:
        self._found: dict[Any, Any] = {}
        for words in self.scorings:
            scoring = Scoring.blast(*words)
            name = f"{scoring.name}, gaps {scoring.gap_open}, {scoring.gap_extend}"
            for case in self.sets:
                for method in self.methods:
                    for k, evalue in enumerate(self.evalues):
                        yield Case(
                            "glsw",
                            partial(self._start, scoring, case, method, k),
                            task="false hits",
                            grace=600.0,
                            scoring=name,
                            options=f"{case}, {method}, E-value {evalue:g}",
                        )

    def _start(self, scoring: Scoring, case: str, method: Method, k: int, seconds: float) -> Told:
        name = scoring.name, case
        if name not in self._found:
            share = {"tiny": 0.01, "small": 0.1, "medium": 0.3}.get(self.setup.size, 1.0)
            sizes = self.sets[case]
            few = max(1, round(sizes.queries * share))
            self._found[name] = self._counted(scoring, sizes._replace(queries=few))
        check, observed, expected = self._found[name]
        ratio = observed[method][k] / expected[method][k]
        note = f"{observed[method][k]} observed, {expected[method][k]:.4g} expected"
        facts = {"rate": float(ratio), "unit": "observed / expected", "note": note}
        return Told(Measurement(check, 0), facts)

    def _counted(self, scoring: Scoring, case: RandomSet) -> tuple[Check, Any, Any]:
        """Return how many hits there are and should be, for each method and E-value."""
        engine = ENGINES["cpu"](scoring)
        database, asked = (
            _proteins(case, count, seed) for count, seed in ((case.sequences, 1), (case.queries, 2))
        )
        lengths, at, counts = np.unique(database.lengths, return_inverse=True, return_counts=True)
        size = len(database), int(database.lengths.sum())
        observed = {method: np.zeros(len(self.evalues), int) for method in self.methods}
        expected = {method: np.zeros(len(self.evalues)) for method in self.methods}
        name, right, found = "", [], []
        for query in asked:
            batch = Batch.one_to_many(query, database)
            scores = engine.scores(batch)
            some = portion(batch, 2e5)
            name, known = judge(scoring, batch.select(some))
            right.append(known)
            found.append(scores[some])
            histogram = ScoreHistogram.of(scoring)
            histogram.add(scores, database.lengths)
            for method in self.methods:
                statistics = for_search(scoring, len(query), *size, histogram, method)
                for k, evalue in enumerate(self.evalues):
                    least = statistics.cutoff(evalue, len(query), lengths)
                    observed[method][k] += int((scores >= least[at]).sum())
                    chances = _chances(statistics, least, len(query), lengths, size)
                    expected[method][k] += float(chances @ counts)
        return compare(np.concatenate(found), np.concatenate(right), name), observed, expected


def _proteins(case: RandomSet, count: int, seed: int) -> Sequences:
    """Return random proteins."""
    lengths = (
        generated.swissprot_lengths(count, seed)
        if case.length is None
        else np.full(count, case.length)
    )
    return generated.proteins(lengths, seed, case.composition)


def _chances(
    statistics: Statistics, scores: Any, query: int, lengths: Any, size: tuple[int, int]
) -> Any:
    """Return the chance that one sequence of each length reaches its score."""
    evalues = statistics.evalue(scores, query, lengths)
    return evalues / size[0] if isinstance(statistics, Fitted) else evalues * lengths / size[1]


WORKLOADS = (Significance, Calibration)
