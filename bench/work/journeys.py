"""Whole command lines as users run them, beside other programs (see bench/README.md)."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from Bio.Seq import Seq

import glsw
from bench import data, generated
from bench.machine import environment
from bench.measure import Check, Measurement, Spread, commands
from bench.programs import Parasail, judge, texts
from bench.rivals import PROGRAMS, Hit, hits, version_of, write_records
from bench.row import digest, impersonal
from bench.work.base import Case, Workload, spread
from glsw import Aligner, Batch, Profile, Record, Scoring, read
from glsw.engines import Reference
from glsw.sequences.encoded import Sequences, offsets_of
from glsw.sequences.nucleic import complement_of

SIGNIFICANT = 1e-3
"""E-value up to which hits count in `recall`; programs report others as they like."""
LIMIT = 300.0  # seconds after which a command is stopped
JUDGED_QUERIES = 100
JUDGED_CELLS = {"full": 10**10, "quick": 5 * 10**8, "reference": 10**8}
"""Cells after which no further query is judged."""
OTHER_ENGINE = "diagonal"
"""What judges rounds and scores by composition, which no other program computes alike."""


class Journey(NamedTuple):
    """A command line, with the sequences by their names in `Inputs`; see journeys.json."""

    query: str = ""
    target: str = ""
    words: str = ""
    verb: str = "search"
    dna: bool = False
    indexed: bool = False
    composition: bool = False
    top: int = 10
    hsps: int = 1
    evalue: float = 10.0

    @property
    def kind(self) -> str:
        """Which other programs do the same, if any."""
        if not self.query:
            return ""
        if "--translated-target" in self.words:
            return "translated"
        if "--iterations" in self.words:
            return "rounds"
        return "composition" if self.composition else "dna" if self.dna else "proteins"

    @property
    def strands(self) -> int:
        """How many times the letters of a target are aligned; six frames have a third of them."""
        return 2 if self.kind == "translated" or (self.dna and self.verb == "search") else 1

    @property
    def scoring(self) -> Scoring:
        return Scoring.nucleotide() if self.dna else Scoring.blast()


class Source(NamedTuple):
    """Sequences of a file, pieces of others, or random ones; numbers for full and quick sizes."""

    file: str = ""
    of: Sequence[str] = ()
    records: tuple[int, int] = (1, 1)
    length: tuple[int, int] = (0, 0)
    seed: int = 0
    every: int = 1  # record of the file
    shuffled: bool = False


_DATA = data("work/journeys.json")
JOURNEYS: Mapping[str, Journey] = {k: Journey(**each) for k, each in _DATA["journeys"].items()}
SOURCES: Mapping[str, Source] = {k: Source(**each) for k, each in _DATA["sequences"].items()}


def command_line(journey: Journey, program: str, **values: object) -> tuple[str, str]:
    """Return what indexes the target, perhaps nothing, and what searches it, by names of files."""
    if not journey.query:
        return "", f"python -m glsw {journey.verb} {journey.words}".rstrip()
    index, target = f"{journey.target}.{program}", f"{journey.target}.fasta"
    values |= journey._asdict() | {
        **{"query": f"{journey.query}.fasta", "target": target, "index": index},
        **{"output": f"out.{program}", "top": journey.top or 5000},
        "database": index if journey.indexed else target,
        "strand": "both" if journey.strands == 2 else "plus",
        "word": 7 if journey.query == "primer" else 11,
        "composition": 2 if journey.composition else 0,
    }
    prepare, command = PROGRAMS[program].prepare, PROGRAMS[program].search
    prepare = prepare if program != "glsw" or journey.indexed else ""
    return prepare.format(**values), command.format(**values)


class Inputs:
    """The sequences of the journeys as FASTA files: real ones of ``data``, else random ones."""

    def __init__(self, folder: Path, data: Path | None, quick: bool) -> None:
        self._folder, self._data, self.quick = folder, data, quick

    def path(self, name: str) -> Path:
        path = self._folder / f"{name}.fasta"
        if not path.exists():
            write_records(path, self._made(name))
        return path

    def records(self, name: str) -> list[Record]:
        return _read(self.path(name))

    def letters(self, name: str) -> int:
        return sum(map(len, self.records(name))) if name else 0

    def file(self, name: str) -> Path | None:
        pattern = SOURCES[name].file
        found = self._data.rglob(pattern) if self._data and pattern else ()
        return min(found, default=None)

    def generated(self, name: str) -> bool:
        """Tell whether there are random sequences among them."""
        sources = SOURCES[name].of
        return not self.file(name) and (not sources or any(map(self.generated, sources)))

    def _made(self, name: str) -> list[Record]:
        source, protein = SOURCES[name], Scoring.blast()
        count, length, seed = source.records[self.quick], source.length[self.quick], source.seed
        if path := self.file(name):
            found = list(read(path))[:: source.every]
        elif source.of:
            found = [record for each in source.of for record in self.records(each)]
            found = _pieces(found[0], count, length, seed, name) if length else found
            found = _shuffled(found, seed) if source.shuffled else found
        elif length:
            dna = generated.dna([length], seed)
            found = _named(name, generated.relatives(dna, 4) if name == "genome2" else dna)
        elif not seed:
            found = _named("query", generated.queries(generated.STANDARD), protein)
        else:
            offsets = offsets_of(generated.swissprot_lengths(count, seed))
            proteins = Sequences(generated.letters(int(offsets[-1]), seed), offsets)
            found = _named(f"set{seed}p", proteins, protein)
        if name.startswith("genome") and not source.of and self.quick:
            return [Record(found[0].id, "", found[0].letters[:length])]
        return [each for each in found if name != "query" or len(each) == 375][:count]

    def judged(self, journey: Journey, found: list[Hit]) -> Check:
        """Compare the scores of a sample of queries with the best of all targets, or of a part.

        The part holds the targets that were found and others at equal distances; none of these may
        have a higher score than what was found has, or, where an E-value limits the hits, the score
        of a longer one that was found. Of rounds, hits are judged by their profile.
        """
        scoring = journey.scoring
        fast = Parasail.available(scoring)
        limit = JUDGED_CELLS[("quick" if self.quick else "full") if fast else "reference"]
        queries, targets = self.records(journey.query), self.records(journey.target)
        number, encode = {record.id: k for k, record in enumerate(targets)}, scoring.alphabet.encode
        if journey.kind in ("rounds", "composition") and "--profiles" not in journey.words:
            return self._judged_by_engine(journey, found)
        if "--profiles rounds" in journey.words:
            files = sorted(self._folder.glob("rounds/*"))  # of each round, for the next one
            asked = Profile.read(files[-2]) if len(files) > 1 else queries[0].letters
            right, made = {r.id: r.letters for r in targets}, Aligner(engine=Reference.name)
            unlike = [hit for hit in found if made.score(asked, right[hit.target]) != hit.score]
            return Check(Reference.name, len(found), len(unlike), str((*unlike, "")[0]) or None)
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
            step = -(-self.letters(journey.target) * len(query) // max(1, share))
            part = sorted({*mine, *(range(0, len(targets), max(1, step)) if share else ())})
            codes = [encode(targets[k].letters) for k in part]
            if journey.kind == "translated":
                frames = [[encode(each) for each in _frames(targets[k].letters)] for k in part]
                batches = [
                    Batch.one_to_many(encode(query.letters), six)
                    for six in zip(*frames, strict=True)
                ]
            else:
                strands = [query.letters, complement_of(query.letters)[::-1]][: journey.strands]
                batches = [Batch.one_to_many(encode(each), codes) for each in strands]
            scores = np.max([judge(scoring, each)[1] for each in batches], axis=0)
            best = sorted(scores.tolist(), reverse=True)[: journey.top or len(mine)]
            if not journey.top:  # those of an E-value, which depends on lengths too
                lengths, of_mine = np.array([*map(len, codes)]), np.isin(part, [*mine])
                as_good = scores[:, None] >= scores[of_mine]
                as_good &= lengths[:, None] <= lengths[of_mine]
                best = sorted(scores[as_good.any(axis=1)].tolist(), reverse=True)
            best = [each for each in best if each > 0]
            got = sorted(mine.values(), reverse=True)
            spent += sum(map(len, codes)) * len(query) * journey.strands
            pairs += 1
            if got != best:
                wrong += 1
                first = first or f"{query.id}: scores {got[:10]}, expected {best[:10]}"
        return Check(Parasail.name if fast else Reference.name, pairs, wrong, first)

    def _judged_by_engine(self, journey: Journey, found: list[Hit]) -> Check:
        """Compare the hits of the last query with those of another engine."""
        (*_, query), targets = self.records(journey.query), self.records(journey.target)
        limits: dict[str, Any] = {"top": journey.top or None, "evalue": journey.evalue}
        limits |= {"engine": OTHER_ENGINE, "unknown": "X"}
        if journey.kind == "rounds":
            rounds: dict[str, Any] = {"inclusion": 1e-3, "sums": "--sums" in journey.words}
            *_, last = glsw.iterate(query, targets, **rounds, **limits)
            hits = last.result
        else:
            (hits,) = glsw.search([query], targets, **limits)
        right = [(hit.target.id, hit.score) for hit in hits]
        mine = [(hit.target, hit.score) for hit in found if hit.query == query.id]
        unlike = [pair for pair in zip_longest(mine, right) if pair[0] != pair[1]]
        return Check(OTHER_ENGINE, len(right), len(unlike), str((*unlike, "")[0]) or None)


@lru_cache(4)
def _read(path: Path) -> list[Record]:
    return list(read(path))


def _frames(letters: str) -> list[str]:
    """Return the six translations of DNA, by Biopython."""
    turned = complement_of(letters)[::-1]
    parts = (each[k : k + (len(each) - k) // 3 * 3] for each in (letters, turned) for k in range(3))
    return [str(Seq(part).translate()) for part in parts]  # type: ignore[no-untyped-call]


def _named(name: str, sequences: Sequences, scoring: Scoring | None = None) -> list[Record]:
    letters = texts((scoring or Scoring.nucleotide()).alphabet, sequences)
    return [Record(f"{name}{k}", "", each) for k, each in enumerate(letters)]


def _pieces(whole: Record, count: int, length: int, seed: int, name: str) -> list[Record]:
    """Return pieces with another letter in a hundred, every second one of reads turned."""
    random, found = np.random.default_rng(seed), []
    for k, at in enumerate(random.integers(0, len(whole) - length + 1, count)):
        piece = np.array(list(whole.letters[at : at + length]))
        changed = random.random(length) < 0.01
        piece[changed] = random.choice(list("ACGT"), int(changed.sum()))
        letters = "".join(piece)
        minus = k % 2 and not name.startswith("genes")
        found.append(Record(f"piece{k}", "", complement_of(letters)[::-1] if minus else letters))
    return found


def _shuffled(records: list[Record], seed: int) -> list[Record]:
    """Return each record with its letters in another order."""
    random = np.random.default_rng(seed)
    return [
        Record(f"shuffled{k}", "", "".join(random.permutation(list(each.letters))))
        for k, each in enumerate(records)
    ]


class Journeys(Workload, called="journeys"):
    """Reads, primers and genes against genomes, proteomes against databases."""

    @cached_property
    def inputs(self) -> Inputs:
        quick = self.setup.size not in ("large", "full")
        return Inputs(self.setup.folder, self.setup.data, quick)

    def cases(self) -> Iterator[Case]:
        self._ours: dict[str, list[Hit]] = {}
        for (name, journey), (program, known) in product(JOURNEYS.items(), PROGRAMS.items()):
            start = partial(self._start, name, program)
            fields: dict[str, Any] = {"options": name, "grace": 5 * LIMIT}
            if program == "glsw":
                yield Case(program, start, "command", version=glsw.__version__, **fields)
            elif program in self.setup.rivals and known.does(journey.kind):
                fields |= {"ours": False, "version": version_of(program, known.version)}
                yield Case(program, start, "command", cores=self.setup.cores, **fields)

    def _start(self, name: str, program: str, seconds: float) -> Measurement:
        """Index the target, run, check and time a command; another that fails is left out."""
        journey, ours, info = JOURNEYS[name], program == "glsw", self.device.info
        letters = self.inputs.letters(journey.query) * self.inputs.letters(journey.target)
        prepare, command = command_line(
            *(journey, program),
            cores=self.setup.cores,
            engine=(self.setup.engines or ["auto"])[0],
            device="" if info.software else f" --device {info.index}",  # as users without a GPU
        )
        output = self.setup.folder / f"out.{program}"
        facts: dict[str, Any] = {"note": command} | (
            {"shaders": {"*": digest("*")}} if ours else {}
        )
        random = sorted(
            filter(self.inputs.generated, filter(None, {journey.query, journey.target}))
        )
        facts["note"] += f"; generated: {', '.join(random)}" if random else ""
        times: list[float] = []
        first: list[tuple[int, Check]] = []

        def run() -> None:
            output.unlink(missing_ok=True)
            self._seconds(command, output)

        def judged(_: None) -> Check:
            lines, check = _lines(output), Check("exit status", 1, 0)
            if first:
                known, check = first[0]
                again = Check("the first run", 1, 1, f"{lines} lines, not {known}")
                return again if ours and lines != known else check  # statistics of others vary
            found: list[Hit] = []
            if journey.query:
                with output.open(encoding="utf-8", errors="replace") as file:
                    found += hits(file, scores=ours)
            if not ours:
                share = _recall(self._ours.get(name, []), found)
                facts["note"] += "" if share is None else f"; recall {share:.3f}"
            elif journey.query:
                self._ours[name], check = found, self.inputs.judged(journey, found)
            facts["note"] += f"; {lines} lines"
            first.append((lines, check))
            return check

        try:
            facts["setup"] = self._seconds(prepare) if prepare else None
            check, times = commands(run, judged)
        except RuntimeError as error:
            if not ours:
                raise
            check = Check("exit status", 1, 1, str(error))
        exact = PROGRAMS[program].exact and journey.kind not in (
            "rounds",
            "composition",
        )  # several tables
        cells = letters * journey.strands * exact
        times = times[1:] or times  # the first one warms up
        return Measurement(check, cells, Spread.of(times) if times else None, facts=facts)

    def _seconds(self, command: str, output: Path | None = None) -> float:
        """Run a command; return its seconds, or raise RuntimeError with its last words."""
        words = shlex.split(command)
        known = {**self.setup.rivals, "python": sys.executable}
        words[0] = known.get(words[0], words[0])
        stdout = Path(os.devnull) if output is None or output.name in words else output
        pipes: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment()}
        with stdout.open("wb") as out:
            start = time.perf_counter()
            process = subprocess.Popen(
                *(words,), cwd=self.setup.folder, stdout=out, start_new_session=True, **pipes
            )
            try:
                _, errors = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"stopped after {LIMIT:g} s") from None
            finally:
                if process.poll() is None:  # with all that it started
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            seconds = time.perf_counter() - start
        if process.returncode:
            text = errors.decode(errors="replace").strip().splitlines()
            last = (text or [f"status {process.returncode}"])[-1]
            raise RuntimeError(impersonal(last.replace(str(self.setup.folder), "FOLDER")))
        return seconds


def _recall(ours: list[Hit], found: list[Hit]) -> float | None:
    """Return the part of our significant hits that are found too, None if there is none."""
    mine = [hit for hit in ours if float(hit.evalue or 0) <= SIGNIFICANT]
    wanted, there = ({(key_of(h.query), key_of(h.target)) for h in side} for side in (mine, found))
    return len(wanted & there) / len(wanted) if wanted else None


def key_of(name: str) -> str:
    """Return the accession of a name: some programs print nothing else."""
    parts = name.split("|")
    return parts[1] if len(parts) > 2 else name


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(not line.startswith((b"@", b"#")) for line in file)
