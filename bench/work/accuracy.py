"""Bit scores and E-values: compared with blastp, blastn and ssearch36, and with counts of hits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bench import generated
from bench.machine import run
from bench.measure import Check, Measurement, compare
from bench.programs import judge
from bench.rivals import ssearch36_table, version_of, write_records
from bench.work.base import Case, Told, Workload, named, portion
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

Files: TypeAlias = tuple[Path, list[Record], list[Record]]
"""A folder with queries and a database of BLAST's, and their records."""


class Line(NamedTuple):
    """A hit as a program prints it; the score is 0 where its table has none."""

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

    name = "significance"
    proteins: Sequence[tuple[str, int, int]]  # matrix, existence and extension
    nucleotides: Sequence[tuple[int, int, int, int]]  # match, mismatch, existence and extension

    def cases(self) -> Iterator[Case]:
        blastp = "-matrix {} -comp_based_stats 0 -seg no"
        blastn = "-task blastn -reward {} -penalty {} -dust no -strand plus"
        kinds = [("blastp", Scoring.blast(*each), blastp.format(*each)) for each in self.proteins]
        kinds += [("ssearch36", Scoring.blast(), "")]
        for each in self.nucleotides:
            kinds += [("blastn", Scoring.nucleotide(*each), blastn.format(*each))]
        files = cache(self._files)
        for tool, scoring, words in kinds:
            start, options = partial(self._start, files, tool, scoring, words), f"beside {tool}"
            yield Case("glsw", start, "E-values", named(scoring), options=options, grace=600.0)

    def _start(
        self, files: Callable[[str], Files], tool: str, scoring: Scoring, words: str, seconds: float
    ) -> Told:
        """Compare what a program says with our statistics of the same scores, and its order."""
        if tool not in self.setup.rivals:
            raise ValueError(f"{tool} is not here")
        folder, queries, database = files("nucl" if tool == "blastn" else "prot")
        fit = tool == "ssearch36"
        method: Method = "fit" if fit else "auto"
        lines = _ssearch(folder, queries) if fit else _blast(tool, folder, scoring, words)
        aligner = Aligner(scoring, engine="cpu", unknown=scoring.alphabet.wildcard)
        exact = aligner.score_matrix(queries, database).astype(np.int32)
        lengths = np.array([len(record) for record in database])
        place = {record.id: k for k, record in enumerate(database)}
        ratios, bits_off, digits, same, turned, neighbours = [], [], 0, 0, 0, 0
        for scores, query in zip(exact, queries, strict=True):
            histogram = histogram_for(scoring, "fit") if fit else None
            if histogram is not None:
                histogram.add(scores, lengths)
            size = len(database), int(lengths.sum())
            statistics = for_search(scoring, len(query), *size, histogram, method)
            mine = [line for line in lines if line.query == query.id]
            at = np.array([place[line.target] for line in mine], np.intp)
            known, n = scores[at], lengths[at]
            printed = np.array([line.score for line in mine])
            printed = np.where(printed > 0, printed, known)
            same += int((printed == known).sum())
            turned += int((np.diff(known) > 0).sum())
            neighbours += max(0, len(mine) - 1)
            bits, evalues = statistics.bits(printed, n), statistics.evalue(printed, len(query), n)
            for line, bit, evalue in zip(mine, bits.tolist(), evalues.tolist(), strict=True):
                texts = evalue_text(evalue, digits=2), bits_text(bit)
                digits += texts == (line.evalue, line.bits)
                bits_off.append(abs(bit - float(line.bits)) / float(line.bits))
                if float(line.evalue) > 1e-170:
                    ratios.append(evalue / float(line.evalue))
        check = Check(tool, len(lines), 0 if fit else len(lines) - digits)
        note = (
            f"{tool} {version_of(tool, '-h' if fit else '-version')}; same digits "
            f"{digits}, same scores {same} of {len(lines)}; E-value ratio {min(ratios):.4g} to "
            f"{max(ratios):.4g}; bits off by {np.median(bits_off):.2%} (median), "
            f"{max(bits_off):.2%} at most; {turned} of {neighbours} neighbours in another order"
        )
        facts = {"rate": float(np.median(ratios)), "unit": "E-value ratio", "note": note}
        return Told(Measurement(check, 0), facts)

    def _files(self, kind: str) -> Files:
        if kind == "prot":
            few = {"large": 1, "full": 1}.get(self.setup.size, 20)
            queries = list(read(self.setup.file("standard20.fasta")))[:: min(few, 5)]
            database = list(read(self.setup.file(ENTRIES)))[::few]
        else:
            (genome,) = read(self.setup.file("ecoli_K12_MG1655_NC_000913.2.fna.gz"))
            (other,) = read(self.setup.file("ecoli_536_NC_008253.fna.gz"))
            database = _cut(genome.letters, range(0, 400_000, 2000), 2000)
            queries = _cut(other.letters, range(0, 100_000, 10_000), 1000)
        folder = Path(tempfile.mkdtemp(dir=self.setup.folder))
        write_records(folder / "q", queries)
        write_records(folder / "db", database)
        run(["makeblastdb", "-dbtype", kind, "-in", "db"], folder)
        return folder, queries, database


def _cut(letters: str, starts: range, length: int) -> list[Record]:
    return [Record(f"from{k}", "", letters[k : k + length]) for k in starts]


def _blast(tool: str, folder: Path, scoring: Scoring, words: str) -> list[Line]:
    """Return the best alignment of each hit up to an E-value of 1000."""
    extend = scoring.gap_extend
    words += f" -gapopen {scoring.gap_open - extend} -gapextend {extend} -evalue 1000"
    command = f"{tool} -query q -db db -max_hsps 1 -max_target_seqs 5000 {words}".split()
    text = run([*command, "-outfmt", "6 qseqid sseqid score bitscore evalue"], folder)
    lines = (line.split("\t") for line in text.splitlines())
    return [Line(q, s, int(score), bits.strip(), evalue) for q, s, score, bits, evalue in lines]


def _ssearch(folder: Path, queries: list[Record]) -> list[Line]:
    """Return the hits of ssearch36 with its default statistics."""
    rows = ssearch36_table(folder, queries, 10)
    return [Line(row[0], row[1], 0, row[11].strip(), row[10]) for row in rows]


class Calibration(Workload):
    """Hits of random proteins in random proteins, counted and expected: the rate is their ratio.

    All hits are false; how many reach an E-value is compared with how many should: the sum, over
    the sequences, of the chance to reach the least whole score that has this E-value in a sequence
    of that length.
    """

    name = "calibration"
    scorings: Sequence[tuple[str, int, int]]
    sets: Mapping[str, Mapping[str, Any]]
    """The published constants are for the composition of Robinson, and long sequences."""
    evalues: Sequence[float]
    methods: Sequence[Method] = ("karlin-altschul", "fit")

    def cases(self) -> Iterator[Case]:
        ways, counted = list(product(self.methods, self.evalues)), cache(self._counted)
        for words, name, (method, evalue) in product(map(tuple, self.scorings), self.sets, ways):
            start = partial(self._start, counted, words, name, (method, evalue))
            options = f"{name}, {method}, E-value {evalue:g}"
            fields: dict[str, Any] = {"options": options, "grace": 600.0}
            yield Case("glsw", start, "false hits", named(Scoring.blast(*words)), **fields)

    def _start(self, counted: Any, words: Any, name: str, way: Any, seconds: float) -> Told:
        check, observed, expected = counted(words, name)
        note = f"{observed[way]} observed, {expected[way]:.4g} expected"
        facts = {"rate": observed[way] / expected[way], "unit": "observed / expected"}
        return Told(Measurement(check, 0), {**facts, "note": note})

    def _counted(self, words: tuple[str, int, int], which: str) -> tuple[Check, Any, Any]:
        """Return how many hits there are and should be, for each method and E-value."""
        scoring, kind = Scoring.blast(*words), self.sets[which]
        composition = ROBINSON if kind["robinson"] else generated.COMPOSITION
        count = max(1, round(kind["queries"] * self.chosen("share")))

        def drawn(count: int, seed: int) -> Sequences:
            lengths = generated.swissprot_lengths(count, seed)
            lengths[:] = kind["length"] or lengths
            return generated.proteins(lengths, seed, composition)

        asked, database = drawn(count, 2), drawn(kind["sequences"], 1)
        lengths, at, counts = np.unique(database.lengths, return_inverse=True, return_counts=True)
        size = len(database), int(database.lengths.sum())
        engine, ways = ENGINES["cpu"](scoring), list(product(self.methods, self.evalues))
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
