"""What searches find and say of it: E-values beside those of others, false hits, relatives."""

import shlex
import tempfile
import time
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import combinations, product, zip_longest
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench import generated
from bench.machine import run
from bench.measure import Check, Measurement, compare
from bench.programs import judge
from bench.rivals import PROGRAMS, Hit, hits, version_of, write_records
from bench.work.base import Case, Workload, named, portion, spread
from bench.work.search import ENTRIES
from glsw import Aligner, Batch, Record, Scoring, Sequences, read
from glsw.engines import ENGINES
from glsw.output.blast import bits_text, evalue_text
from glsw.statistics import Fitted, Method, ScoreHistogram, for_search, histogram_for
from glsw.statistics.ungapped_constants import ROBINSON
from glsw.wings.profiles import INCLUSION
from glsw.wings.profiles.iteration import inclusion_of, rounds, together
from glsw.wings.series import motifs
from glsw.wings.series.motifs import Rule, aligner_of, scoring_of
from glsw.wings.series.words import words_of
from glsw.wings.three.scoring import Scoring3

Files: TypeAlias = tuple[Path, list[Record], list[Record]]
"""A folder with queries and a database of BLAST's, and their records."""
Hits: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Of each query the targets and their E-values, the best first."""

ERRORS = (*(digit * 10.0**power for power in range(-3, 1) for digit in (1, 2, 5)), 10.0)
FIRST = [(task, "first error") for task in ("family", "superfamily")]
CURVE = [("pairs", f"{errors:g} errors per query") for errors in ERRORS]
"""Errors per query; tasks and options of rows of ``sensitivity``."""
_ROUNDS, _EVALUE = 3, 100
_SIGNIFICANT = 0.05


class Significance(Workload, called="significance"):
    """What blastp, blastn and ssearch36 say of their hits, and what we say of the same scores.

    A row is wrong if a bit score or E-value of blastp or blastn has other digits; its rate is the
    median of our E-value over theirs.
    """

    proteins: Sequence[tuple[str, int, int]]  # matrix, existence and extension
    nucleotides: Sequence[tuple[int, int, int, int]]  # match, mismatch, existence and extension

    def cases(self) -> Iterator[Case]:
        kinds: list[tuple[str, Scoring, dict[str, Any]]] = [("ssearch36", Scoring.blast(), {})]
        kinds += [("blastp", Scoring.blast(*each), {"matrix": each[0]}) for each in self.proteins]
        for each in self.nucleotides:
            words = {"match": each[0], "mismatch": each[1]}
            kinds.append(("blastn", Scoring.nucleotide(*each), words))
        files = cache(self._files)
        for tool, scoring, words in kinds:
            start, options = partial(self._start, files, tool, scoring, words), f"beside {tool}"
            yield Case("glsw", start, "E-values", named(scoring), options=options, grace=600.0)

    def _start(
        self, files: Callable[[str], Files], tool: str, scoring: Scoring, words: Any, seconds: float
    ) -> Measurement:
        """Compare what a program says with our statistics of the same scores, and its order."""
        if tool not in self.setup.rivals:
            raise ValueError(f"{tool} is not here")
        folder, queries, database = files("nucl" if tool == "blastn" else "prot")
        fit = tool == "ssearch36"
        method: Method = "fit" if fit else "auto"
        extend = scoring.gap_extend
        gaps = {"existence": scoring.gap_open - extend, "extension": extend}
        command = shlex.split(PROGRAMS[tool].statistics.format(**words, **gaps))
        # ssearch36 fits its statistics to each query.
        asked = [[query] for query in queries] if fit else [queries]
        lines: list[Hit] = []
        for some in asked:
            write_records(folder / "q", some)
            lines += hits(run(command, folder).splitlines(), scores=not fit)
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
            printed = known if fit else np.array([line.score for line in mine])
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
            f"{tool} {version_of(tool, PROGRAMS[tool].version)}; same digits "
            f"{digits}, same scores {same} of {len(lines)}; E-value ratio {min(ratios):.4g} to "
            f"{max(ratios):.4g}; bits off by {np.median(bits_off):.2%} (median), "
            f"{max(bits_off):.2%} at most; {turned} of {neighbours} neighbours in another order"
        )
        facts = {"rate": float(np.median(ratios)), "unit": "E-value ratio", "note": note}
        return Measurement(check, facts=facts)

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
        write_records(folder / "db", database)
        run(["makeblastdb", "-dbtype", kind, "-in", "db"], folder)
        return folder, queries, database


def _cut(letters: str, starts: range, length: int) -> list[Record]:
    return [Record(f"from{k}", "", letters[k : k + length]) for k in starts]


class Calibration(Workload, called="calibration"):
    """Hits of random proteins in random proteins, counted and expected: the rate is their ratio.

    All hits are false; how many reach an E-value is compared with how many should: the sum, over
    the sequences, of the chance to reach the least whole score that has this E-value in a sequence
    of that length.
    """

    scorings: Sequence[tuple[str, int, int]]
    sets: Mapping[str, Mapping[str, Any]]
    """The published constants are for the composition of Robinson, and long sequences."""
    evalues: Sequence[float]
    methods: Sequence[Method] = ("karlin-altschul", "fit")

    def cases(self) -> Iterator[Case]:
        counted, scorings = cache(self._counted), map(tuple, self.scorings)
        for words, name, *way in product(scorings, self.sets, self.methods, self.evalues):
            start = partial(self._start, counted, words, name, tuple(way))
            fields: dict[str, Any] = {"options": f"{name}, {way[0]}, E-value {way[1]:g}"}
            scoring = named(Scoring.blast(*words))
            yield Case("glsw", start, "false hits", scoring, grace=600.0, **fields)

    def _start(self, counted: Any, words: Any, name: str, way: Any, seconds: float) -> Measurement:
        check, observed, expected = counted(words, name)
        note = f"{observed[way]} observed, {expected[way]:.4g} expected"
        facts = {"rate": observed[way] / expected[way], "unit": "observed / expected"}
        return Measurement(check, facts={**facts, "note": note})

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


class Motifs(Workload, called="motifs"):
    """Recordings of noise that have a motif at p <= 0.05, and responses that are found.

    A response is found if a motif at p <= 0.05 overlaps it in each of its channels. All alignments
    are scored again, column by column. The rate is a share of all recordings.
    """

    noises: Sequence[str]
    kinds: Sequence[tuple[int, Rule]]
    channels: int
    seconds: int
    hertz: int
    response: int
    deviations: float

    def cases(self) -> Iterator[Case]:
        planted = (False, True)
        for (of, rule), noise, plants in product(self.kinds, self.noises, planted):
            scoring = scoring_of(of=of, rule=rule)
            words = f"{noise}, {self.response} s planted" if plants else noise
            start = partial(self._start, scoring, noise, plants)
            task = "responses found" if plants else "false motifs"
            yield Case("glsw", start, task, scoring.name, options=words, grace=3600.0)

    def _start(self, scoring: Any, noise: str, plants: bool, seconds: float) -> Measurement:
        trials, segments = self.chosen("trials"), self.chosen("segments")
        of = 3 if isinstance(scoring, Scoring3) else 2
        hits, lines, wrong = 0, 0, 0
        with aligner_of(scoring, device=self.device.info.index) as aligner:
            for trial in range(trials):
                random = np.random.default_rng([trial, plants])
                series = generated.noise(noise, self.channels, self.seconds * self.hertz, random)
                places: dict[int, int] = {}
                if plants:
                    length = self.response * self.hertz
                    places = generated.planted(series, length, self.deviations, random)
                words = words_of(series, segments, of=of, rate=self.hertz)
                comparison = motifs.compare(words, aligner)
                names = dict(zip(words.recording.channels, range(self.channels), strict=True))
                hit = False
                for motif in motifs.trace(comparison, aligner):
                    lines += 1
                    wrong += abs(rescored(scoring, motif.rows) - motif.score) > 1e-6
                    at = [places.get(names[channel]) for channel in motif.channels]
                    there = all(
                        begin is not None
                        and start < begin / self.hertz + self.response
                        and end > begin / self.hertz
                        for begin, (start, end) in zip(at, motif.seconds.tolist(), strict=True)
                    )
                    hit |= motif.pvalue <= _SIGNIFICANT and (there or not plants)
                hits += hit
        note = f"{hits} of {trials} recordings"
        facts = {"rate": hits / trials, "unit": "share of recordings", "note": note}
        return Measurement(Check("scores of the alignments", lines, wrong), facts=facts)


def rescored(scoring: Any, rows: Sequence[str]) -> float:
    """Return the score of aligned words by their columns, with linear gaps."""
    pairs = scoring.pairs if isinstance(scoring, Scoring3) else scoring
    identity = isinstance(scoring, Scoring3) and scoring.scheme == "identity"
    total = 0
    for column in zip(*rows, strict=True):
        if identity:
            gap, same = "-" in column, len(set(column)) == 1
            total += -pairs.gap_open if gap else int(scoring.match_and_mismatch[not same])
            continue
        for a, b in combinations(column, 2):
            if "-" in (a, b):
                total -= pairs.gap_open * (a != b)
            else:
                total += int(pairs.matrix[ord(a) - ord("a"), ord(b) - ord("a")])
    return total / int(pairs.scale)


class Sensitivity(Workload, called="sensitivity"):
    """Domains of SCOP search each other; the rate is the share of relatives that are found."""

    programs: Mapping[str, tuple[str, Any, Sequence[int]]]
    """The program of each, its options, the rounds that count."""

    def cases(self) -> Iterator[Case]:
        for name, (tool, options, numbers) in self.programs.items():
            ours, fields = tool == "glsw", dict[str, Any]()
            search = partial(self._glsw, options) if ours else partial(self._others, tool, options)
            found = cache(partial(self._found, search))
            fields |= {"ours": ours, "grace": 1e4}
            fields["version"] = None if ours else version_of(tool, PROGRAMS[tool].version)
            for (place, number), measure in product(enumerate(numbers), (*FIRST, *CURVE)):
                start = partial(self._start, found, place - len(numbers), measure)
                program = f"{name}, {number} round{'s' * (number > 1)}"
                yield Case(program, start, measure[0], options=measure[1], **fields)

    def _start(self, found: Any, place: int, measure: Any, seconds: float) -> Measurement:
        count, note, rounds = found()
        hits, shares = rounds[place]
        if measure not in shares:
            raise ValueError("its hits have fewer errors")
        facts = {"rate": shares[measure], "unit": "share of relatives found"}
        note = f"{sum(map(len, hits.values()))} hits, {note}"
        return Measurement(Check("SCOP", count, 0), facts={**facts, "note": note})

    def _found(self, search: Callable[..., Sequence[Hits]]) -> tuple[int, str, Any]:
        """Return how many queries there are, the time, and hits and shares of each round.

        ``search`` returns hits by round, given a folder with the targets in ``db``, and queries.
        """
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

    def _others(
        self, tool: str, options: dict[str, Any], folder: Path, queries: list[Record]
    ) -> Sequence[Hits]:
        """Return the hits of each round of another program; its last one stands for what follows.

        With their own filters, lists of HMMER end at 0.05 errors per query.
        """
        words = {"inclusion": INCLUSION, "evalue": _EVALUE, "cores": self.setup.cores} | options
        command = PROGRAMS[tool].relatives
        if "-db db" in command:
            run(["makeblastdb", "-dbtype", "prot", "-in", "db"], folder)
        found: list[dict[str, Sequence[tuple[str, float]]]] = [{} for _ in range(_ROUNDS)]
        for query in queries:
            write_records(folder / "q", [query])
            parts = run(shlex.split(command.format(**words)), folder).split("# Iteration: ")
            parts = parts[1:] or parts
            for number, kept in enumerate(found):
                kept.update(best_of(parts[min(number, len(parts) - 1)]))
        return found


def _rounds(
    options: Mapping[str, Any], database: Path, device: int | None, queries: Sequence[Record]
) -> list[dict[str, list[tuple[str, float]]]]:
    """Return the hits of each round of queries; the last one stands for those that are missing."""
    words = {"order": "evalue", "evalue": _EVALUE, "top": None, "seg": "no", **options}
    found: list[dict[str, list[tuple[str, float]]]] = [{} for _ in range(_ROUNDS)]
    with Aligner(device=device, unknown="X", seg=words.pop("seg")) as aligner:
        targets = aligner.database(database)
        records = list(map(aligner.one, queries))
        limits = _ROUNDS, inclusion_of(None, "sums" in words)
        for some in together(aligner, records, targets):
            hits: dict[int, list[tuple[str, float]]] = {}
            every = rounds(aligner, records[some], targets, *limits, **words)
            for made, kept in zip_longest(every, found):
                for k, each in (made or {}).items():
                    hits[k] = [(hit.target.id, float(hit.evalue or 0)) for hit in each.result]
                kept.update((records[some][k].id, last) for k, last in hits.items())
    return found


def best_of(text: str) -> Hits:
    """Return the hits of a table, each target once."""
    found: dict[str, dict[str, float]] = {}
    for hit in hits(text.splitlines()):
        known, evalue = found.setdefault(hit.query, {}), float(hit.evalue)
        known[hit.target] = min(evalue, known.get(hit.target, evalue))
    return {query: sorted(each.items(), key=itemgetter(1)) for query, each in found.items()}
