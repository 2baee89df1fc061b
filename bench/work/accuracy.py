"""Bit scores and E-values: compared with blastp, blastn and ssearch36, and with counts of hits."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bench import generated
from bench.machine import run
from bench.measure import Check, Measurement, compare
from bench.programs import judge
from bench.rivals import ssearch36_table, version_of, write_records
from bench.work.base import Case, Setup, Told, Workload, named
from bench.work.parts import portion
from bench.work.search import ENTRIES
from glsw.align import Aligner
from glsw.batch import Batch
from glsw.engines import ENGINES
from glsw.output.blast import bits_text, evalue_text
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import Record, read
from glsw.statistics import Fitted, Method, ScoreHistogram, for_search, histogram_for
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
            words = ["-matrix", matrix, "-comp_based_stats", "0", "-seg", "no"]
            yield self._case("blastp", Scoring.blast(matrix, existence, extension), *words)
        yield self._case("ssearch36", Scoring.blast())
        for match, mismatch, existence, extension in self.nucleotides:
            words = ["-task", "blastn", "-reward", str(match), "-penalty", str(mismatch)]
            scoring = Scoring.nucleotide(match, mismatch, existence, extension)
            yield self._case("blastn", scoring, *words, "-dust", "no", "-strand", "plus")

    def _case(self, tool: str, scoring: Scoring, *words: str) -> Case:
        start, options = partial(self._start, tool, scoring, words), f"beside {tool}"
        return Case("glsw", start, "E-values", named(scoring), options=options, grace=600.0)

    def _start(self, tool: str, scoring: Scoring, words: Sequence[str], seconds: float) -> Told:
        """Compare what a program says with our statistics of the same scores, and its order."""
        if tool not in self.setup.rivals:
            raise ValueError(f"{tool} is not here")
        folder, queries, database = self._of("nucl" if tool == "blastn" else "prot")
        fit = tool == "ssearch36"
        lines = _ssearch(folder, queries) if fit else _blast(tool, folder, scoring, words)
        aligner = Aligner(scoring, engine="cpu", unknown=scoring.alphabet.wildcard)
        exact = aligner.score_matrix(queries, database)
        lengths = np.array([len(record) for record in database])
        place = {record.id: k for k, record in enumerate(database)}
        ratios, bits_off, digits, same, turned, neighbours = [], [], 0, 0, 0, 0
        for q, query in enumerate(queries):
            mine = [line for line in lines if line.query == query.id]
            scores, numbers = exact[q].astype(np.int32), [place[line.target] for line in mine]
            histogram = histogram_for(scoring, "fit") if fit else None
            if histogram is not None:
                histogram.add(scores, lengths)
            size = len(database), int(lengths.sum())
            method: Method = "fit" if fit else "auto"
            statistics = for_search(scoring, len(query), *size, histogram, method)
            for line, k in zip(mine, numbers, strict=True):
                score = line.score or int(scores[k])
                same += score == scores[k]
                bits = float(statistics.bits(score, int(lengths[k])))
                evalue = float(statistics.evalue(score, len(query), int(lengths[k])))
                bits_off.append(abs(bits - float(line.bits)) / float(line.bits))
                if float(line.evalue) > 1e-170:
                    ratios.append(evalue / float(line.evalue))
                texts = evalue_text(evalue, digits=2), bits_text(bits)
                digits += texts == (line.evalue, line.bits)
            ours = [int(scores[k]) for k in numbers]
            turned += sum(a < b for a, b in pairwise(ours))
            neighbours += max(0, len(ours) - 1)
        check = Check(tool, len(lines), 0 if fit else len(lines) - digits)
        note = (
            f"{tool} {version_of(tool, '-h' if fit else '-version')}; same digits "
            f"{digits}, same scores {same} of {len(lines)}; E-value ratio {min(ratios):.4g} to "
            f"{max(ratios):.4g}; bits off by {np.median(bits_off):.2%} (median), "
            f"{max(bits_off):.2%} at most; {turned} of {neighbours} neighbours in another order"
        )
        facts = {"rate": float(np.median(ratios)), "unit": "E-value ratio", "note": note}
        return Told(Measurement(check, 0), facts)

    def _of(self, kind: str) -> tuple[Path, list[Record], list[Record]]:
        """Return a folder with queries and a database of BLAST's, and their records."""
        if kind not in self._files:
            if kind == "prot":
                few = {"large": 1, "full": 1}.get(self.setup.size, 20)
                queries = list(read(self.setup.file("standard20.fasta")))[:: min(few, 5)]
                database = list(read(self.setup.file(ENTRIES)))[::few]
            else:
                (genome,) = read(self.setup.file("ecoli_K12_MG1655_NC_000913.2.fna.gz"))
                (other,) = read(self.setup.file("ecoli_536_NC_008253.fna.gz"))
                database = _cut("g", genome.letters, 400_000, 2000, 2000)
                queries = _cut("q", other.letters, 100_000, 10_000, 1000)
            folder = Path(tempfile.mkdtemp(dir=self.setup.folder))
            write_records(folder / "q", queries)
            write_records(folder / "db", database)
            run(["makeblastdb", "-dbtype", kind, "-in", "db"], folder)
            self._files[kind] = folder, queries, database
        return self._files[kind]


def _cut(name: str, letters: str, stop: int, step: int, length: int) -> list[Record]:
    return [Record(f"{name}{k}", "", letters[k : k + length]) for k in range(0, stop, step)]


def _blast(tool: str, folder: Path, scoring: Scoring, own: Sequence[str]) -> list[Line]:
    """Return the best alignment of each hit up to an E-value of 1000."""
    words = [tool, "-query", "q", "-db", "db", "-evalue", "1000", "-max_hsps", "1"]
    words += ["-gapopen", str(scoring.gap_open - scoring.gap_extend)]
    words += ["-gapextend", str(scoring.gap_extend), "-max_target_seqs", "5000"]
    words += ["-outfmt", "6 qseqid sseqid score bitscore evalue", *own]
    lines = (line.split("\t") for line in run(words, folder).splitlines())
    return [Line(q, s, int(score), bits.strip(), evalue) for q, s, score, bits, evalue in lines]


def _ssearch(folder: Path, queries: list[Record]) -> list[Line]:
    """Return the hits of ssearch36 with its default statistics; its table has no raw scores."""
    rows = ssearch36_table(folder, queries, 10)
    return [Line(row[0], row[1], 0, row[11].strip(), row[10]) for row in rows]


# counts of hits


class RandomSet(NamedTuple):
    """Queries and database, both of Swiss-Prot's lengths or all of one length."""

    length: int | None
    composition: Mapping[str, float]
    queries: int
    sequences: int

    def proteins(self, count: int, seed: int) -> Sequences:
        lengths = generated.swissprot_lengths(count, seed)
        if self.length is not None:
            lengths[:] = self.length
        return generated.proteins(lengths, seed, self.composition)


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
        self._found: dict[Any, tuple[Check, Any, Any]] = {}
        for words in self.scorings:
            scoring = Scoring.blast(*words)
            for name in self.sets:
                for method in self.methods:
                    for evalue in self.evalues:
                        start = partial(self._start, scoring, name, (method, evalue))
                        options = f"{name}, {method}, E-value {evalue:g}"
                        fields: dict[str, Any] = {"options": options, "grace": 600.0}
                        yield Case("glsw", start, "false hits", named(scoring), **fields)

    def _start(self, scoring: Scoring, name: str, which: Any, seconds: float) -> Told:
        if (scoring.name, name) not in self._found:
            self._found[scoring.name, name] = self._counted(scoring, self.sets[name])
        check, observed, expected = self._found[scoring.name, name]
        note = f"{observed[which]} observed, {expected[which]:.4g} expected"
        facts = {"rate": observed[which] / expected[which], "unit": "observed / expected"}
        return Told(Measurement(check, 0), {**facts, "note": note})

    def _counted(self, scoring: Scoring, kind: RandomSet) -> tuple[Check, Any, Any]:
        """Return how many hits there are and should be, for each method and E-value."""
        share = {"tiny": 0.01, "small": 0.1, "medium": 0.3}.get(self.setup.size, 1.0)
        asked = kind.proteins(max(1, round(kind.queries * share)), 2)
        database, engine = kind.proteins(kind.sequences, 1), ENGINES["cpu"](scoring)
        lengths, at, counts = np.unique(database.lengths, return_inverse=True, return_counts=True)
        size = len(database), int(database.lengths.sum())
        ways = [(method, evalue) for method in self.methods for evalue in self.evalues]
        observed, expected = dict.fromkeys(ways, 0), dict.fromkeys(ways, 0.0)
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
                for evalue in self.evalues:
                    least = statistics.cutoff(evalue, len(query), lengths)
                    observed[method, evalue] += int((scores >= least[at]).sum())
                    chances = statistics.evalue(least, len(query), lengths)
                    fitted = isinstance(statistics, Fitted)
                    chances = chances / size[0] if fitted else chances * lengths / size[1]
                    expected[method, evalue] += float(chances @ counts)
        return compare(np.concatenate(found), np.concatenate(right), name), observed, expected
