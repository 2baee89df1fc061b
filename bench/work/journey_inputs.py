"""Whole command lines as users run them: their words, their sequences, and the judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import generated
from bench.measure import Check
from bench.programs import ParasailPairs, Scores, judge
from bench.rivals import write_records
from bench.work.base import spread
from glsw.batch import Batch
from glsw.engines import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.nucleic import complement_of
from glsw.sequences.records import Record, read

JUDGED_QUERIES = 100
JUDGED_CELLS = {"full": 10**10, "quick": 5 * 10**8, "reference": 10**8}
"""Cells after which no further query is judged."""
_PIECE = 10**5  # letters of a genome of which libraries compute alignments


class Journey(NamedTuple):
    """A command line, with the sequences by their names in `Inputs`; see journeys.json."""

    query: str = ""
    target: str = ""
    words: str = ""
    verb: str = "search"
    dna: bool = False
    indexed: bool = False
    top: int = 10
    hsps: int = 1
    evalue: float = 10.0

    @property
    def strands(self) -> int:
        return 2 if self.dna and self.verb == "search" else 1

    @property
    def scoring(self) -> Scoring:
        return Scoring.nucleotide() if self.dna else Scoring.blast()


class Program(NamedTuple):
    """How a program is asked its version, indexes a target, and searches it."""

    command: str
    prepare: str = ""
    version: str = ""
    exact: bool = False
    dna: bool = False


_DATA = json.loads(Path(__file__).with_name("journeys.json").read_text(encoding="utf-8"))
JOURNEYS: Mapping[str, Journey] = {k: Journey(**each) for k, each in _DATA["journeys"].items()}
PROGRAMS: Mapping[str, Program] = {k: Program(**each) for k, each in _DATA["programs"].items()}


def command_line(journey: Journey, program: str, **values: object) -> tuple[str, str]:
    """Return what indexes the target, perhaps nothing, and what searches it, by names of files."""
    if not journey.query:
        return "", f"python -m glsw {journey.verb}"
    index, target = f"{journey.target}.{program}", f"{journey.target}.fasta"
    values |= journey._asdict() | {
        **{"query": f"{journey.query}.fasta", "target": target, "index": index},
        **{"output": f"out.{program}", "top": journey.top or 5000},
        "database": index if journey.indexed else target,
        "strand": "both" if journey.strands == 2 else "plus",
        "word": 7 if journey.query == "primer" else 11,
    }
    prepare, command = PROGRAMS[program].prepare, PROGRAMS[program].command
    prepare = prepare if program != "glsw" or journey.indexed else ""
    return prepare.format(**values), command.format(**values)


class Inputs:
    """The sequences of the journeys as FASTA files: real ones of ``data``, else random ones."""

    def __init__(self, folder: Path, data: Path | None, quick: bool) -> None:
        self._folder, self._data, self.quick = folder, data, quick
        self.generated: set[str] = set()

    def path(self, name: str) -> Path:
        path = self._folder / f"{name}.fasta"
        if not path.exists():
            write_records(path, self._records(name))
        return path

    def _records(self, name: str) -> Iterable[Record]:
        some = self._size
        if name == "lambda":
            return self._real(name, "lambda_virus.fa", lambda: _dna(48_502, 1))
        if name in ("genome", "genome2"):
            files = {"genome": "ecoli_K12_MG1655_NC_000913.2.fna.gz"}
            file = files.get(name, "ecoli_536_NC_008253.fna.gz")
            found = self._real(name, file, lambda: self._genome(name))[0]
            return [Record(found.id, "", found.letters[: some(len(found), 100_000)])]
        if name == "genomes":
            return [*self._also(name, "genome"), *self._also(name, "genome2")]
        if name == "lambda_reads":
            whole, file = self._also(name, "lambda"), "lambda_reads_1.first1000.fq"
            return self._real(name, file, lambda: _pieces(whole, 1000, 100, 2))[: some(1000, 50)]
        if name == "genome_reads":
            return _pieces(self._also(name, "genome"), some(10_000, 50), 150, 3)
        if name == "primer":
            return _pieces(self._also(name, "genome"), 1, 20, 4)
        if name.startswith("genes"):
            count, length = some(int(name[5:]), min(5, int(name[5:]))), some(1000, 300)
            return _pieces(self._also(name, "genome2"), count, length, 5, turned=False)
        if name == "proteome":
            file, count = "ecoli_K12_sprot_4403.fasta.gz", some(4403, 20)
            return self._real(name, file, lambda: _proteins(count, 6))[:count]
        if name == "swissprot":
            file, count = "swissprot_2014_01_subset.fasta.gz", some(52_608, 1000)
            return self._real(name, file, lambda: _proteins(count, 7))[:count]
        if name == "entries":
            self.generated.add(name)
            return _proteins(some(500_000, 5000), 8)
        standard = generated.queries(generated.STANDARD)
        made = partial(_named, "query", standard, Scoring.blast())
        queries = self._real(name, "standard20.fasta", made)
        return [each for each in queries if name != "query" or len(each) == 375][: some(20, 3)]

    def _size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def _real(self, name: str, file: str, made: Callable[[], list[Record]]) -> list[Record]:
        for path in sorted(self._data.rglob(file)) if self._data else ():
            return list(read(path))
        self.generated.add(name)
        return made()

    def _also(self, name: str, source: str) -> list[Record]:
        found = list(read(self.path(source)))
        if source in self.generated:
            self.generated.add(name)
        return found

    def _genome(self, name: str) -> list[Record]:
        made = generated.dna([self._size(4_639_675, 100_000)], 9)
        return _named(name, made if name == "genome" else generated.relatives(made, 4))


def _named(name: str, sequences: Sequences, scoring: Scoring | None = None) -> list[Record]:
    decode = (scoring or Scoring.nucleotide()).alphabet.decode
    return [Record(f"{name}{k}", "", decode(each)) for k, each in enumerate(sequences)]


def _dna(length: int, seed: int) -> list[Record]:
    return _named("dna", generated.dna([length], seed))


def _proteins(count: int, seed: int) -> list[Record]:
    offsets = offsets_of(generated.swissprot_lengths(count, seed))
    made = Sequences(generated.letters(int(offsets[-1]), seed), offsets)
    return _named(f"set{seed}p", made, Scoring.blast())


def _pieces(
    sources: list[Record], count: int, length: int, seed: int, *, turned: bool = True
) -> list[Record]:
    """Return pieces with another letter in a hundred, every second of the minus strand."""
    whole, random, found = sources[0], np.random.default_rng(seed), []
    for k, at in enumerate(random.integers(0, len(whole) - length + 1, count)):
        piece = np.array(list(whole.letters[at : at + length]))
        changed = random.random(length) < 0.01
        piece[changed] = random.choice(list("ACGT"), int(changed.sum()))
        letters = "".join(piece)
        minus = turned and k % 2
        found.append(Record(f"piece{k}", "", complement_of(letters)[::-1] if minus else letters))
    return found


class Hit(NamedTuple):
    """A line of a program's output; score and E-value are None where it has none."""

    query: str
    target: str
    score: int | None
    evalue: float | None


def hits(path: Path, *, scores: bool = False) -> Iterator[Hit]:
    """Yield the hits of a file, SAM or a table whose last column may be the score."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if line.startswith(("@", "#")) or len(cells) < 11 or cells[2] == "*":
                continue
            tags = dict(cell.split(":", 1) for cell in cells[11:] if cell.startswith("AS:"))
            if tags:
                yield Hit(cells[0], cells[2], int(tags["AS"][2:]), None)
            else:
                yield Hit(cells[0], cells[1], int(cells[-1]) if scores else None, float(cells[10]))


@lru_cache(4)
def records(path: Path) -> list[Record]:
    """Return the records of a file, kept for the next who asks."""
    return list(read(path))


def judged(journey: Journey, inputs: Inputs, found: list[Hit]) -> Check:
    """Compare the scores of a sample of queries with the best of all targets, or of a part.

    The part holds the targets that were found and others at equal distances; none of these may
    have a higher score than what was found has.
    """
    scoring = journey.scoring
    fast = ParasailPairs.available(scoring)
    limit = JUDGED_CELLS[("quick" if inputs.quick else "full") if fast else "reference"]
    queries, targets = (records(inputs.path(name)) for name in (journey.query, journey.target))
    number, encode = {record.id: k for k, record in enumerate(targets)}, scoring.alphabet.encode
    listed: dict[str, dict[int, int]] = {}
    for hit in found:  # the best alignment of a hit is its first
        listed.setdefault(hit.query, {}).setdefault(number[hit.target], hit.score or 0)
    chosen = spread(len(queries), JUDGED_QUERIES)
    share = limit // len(chosen) // journey.strands
    spent, pairs, wrong, first = 0, 0, 0, None
    for query in (queries[k] for k in chosen):
        if spent > limit:
            break
        mine = listed.get(query.id, {})
        step = -(-sum(map(len, targets)) * len(query) // max(1, share))
        part = sorted({*mine, *(range(0, len(targets), max(1, step)) if share else ())})
        codes = [encode(targets[k].letters) for k in part]
        strands = [query.letters, complement_of(query.letters)[::-1]][: journey.strands]
        of_strands = [judge(scoring, Batch.one_to_many(encode(each), codes))[1] for each in strands]
        best = sorted(np.max(of_strands, axis=0).tolist(), reverse=True)
        best = [each for each in best[: len(mine) if not journey.top else journey.top] if each > 0]
        got = sorted(mine.values(), reverse=True)
        spent += sum(map(len, codes)) * len(query) * journey.strands
        pairs += 1
        if got != best:
            wrong += 1
            first = first or f"{query.id}: scores {got[:10]}, expected {best[:10]}"
    return Check(ParasailPairs.name if fast else Reference.name, pairs, wrong, first)


class Cells:
    """The cells of a journey; libraries get a part: one query, or of DNA many and one target."""

    judge = ParasailPairs.name

    def __init__(self, journey: Journey, queries: Path, targets: Path) -> None:
        self._scoring, self._dna = journey.scoring, journey.dna
        self._queries, self._targets = records(queries), records(targets)
        letters = sum(map(len, self._queries)) * sum(map(len, self._targets))
        self.cells = letters * journey.strands

    def cut(self, cells: float) -> tuple[Batch, Scores]:
        """Return pairs with about this number of cells, and their scores."""
        encode = self._scoring.alphabet.encode
        query = sorted(self._queries, key=len)[len(self._queries) // 2]
        if self._dna:
            target = self._targets[0].letters[: min(_PIECE, max(1, int(cells) // len(query)))]
            count = max(1, int(cells) // (len(query) * len(target)))
            chosen = [self._queries[k] for k in spread(len(self._queries), count)]
            pairs = [[encode(each.letters) for each in chosen], [encode(target)] * len(chosen)]
            batch = Batch.pairwise(*pairs)
        else:
            letters = sum(map(len, self._targets))
            count = max(1, int(cells * len(self._targets) / (letters * len(query))))
            chosen = [self._targets[k] for k in spread(len(self._targets), count)]
            targets = [encode(each.letters) for each in chosen]
            batch = Batch.one_to_many(encode(query.letters), targets)
        return batch, judge(self._scoring, batch)[1]
