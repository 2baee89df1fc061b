"""Searches by strands and frames, with several alignments a hit, cut off by E-value, and masked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from Bio.Seq import reverse_complement, translate
from smaller import smaller

import glsw
from glsw import Aligner, Database, Record, Scoring, SearchResult, makedb
from glsw.cli import main
from glsw.device.device import Device
from glsw.engines import ENGINES, Cpu, Reference
from glsw.engines.base import ScanHints
from glsw.search import select
from glsw.search.limits import limits_for
from glsw.search.ranking import Ranking, scores_of, target_numbers
from glsw.sequences.alphabet import DNA, PROTEIN, custom
from glsw.sequences.encoded import Sequences
from glsw.sequences.query import Context, QueryPreparation
from glsw.statistics import Unavailable, for_search

NUCLEOTIDE = Scoring.nucleotide()
NO_CONSTANTS = Scoring.named("BLOSUM62", 14, 3)
POSITIVE = Scoring.match_mismatch(5, -1, 9, 2)
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


def mutated(random, letters: str, alphabet: str) -> str:
    changed = np.array(list(letters))
    wrong = random.random(len(changed)) < 0.15
    changed[wrong] = random.choice(list(alphabet), wrong.sum())
    at = random.integers(len(changed) + 1)
    return "".join(changed[:at]) + "".join(changed[at + 2 :])


def genes(seed: int = 0) -> tuple[list[Record], list[Record], list[Record]]:
    """DNA queries, and DNA and proteins that have parts of their strands and frames."""
    random = np.random.default_rng(seed)
    queries, dna, proteins = [], [], []
    for q in range(3):
        letters = "".join(random.choice(list("ACGT"), 60 + 31 * q))
        queries.append(Record(f"q{q}", "", letters[:20] + "NRY" + letters[23:]))
        for k, strand in enumerate((letters, reverse_complement(letters)) * 3):
            start = random.integers(len(strand) - 30)
            part = mutated(random, strand[start:][:40], "ACGT")
            flank = "".join(random.choice(list("ACGT"), 5 * k))
            dna.append(Record(f"d{q}.{k}", "", flank + part + reverse_complement(part[:15])))
            codons = strand[k % 3 :]
            amino = translate(codons[: len(codons) // 3 * 3]).replace("*", "W")
            half = mutated(random, amino[3:15], AMINO_ACIDS)
            tail = "".join(random.choice(list(AMINO_ACIDS), 9))
            proteins.append(Record(f"p{q}.{k}", "", half + tail + half[:7]))
    return queries, [*dna, *dna[::4], Record("empty", "", "")], [*proteins, *proteins[::5]]


QUERIES, GENOME, PROTEINS = genes()
DNA_SEARCH = NUCLEOTIDE, GENOME, None
TRANSLATED = Scoring.blast(), PROTEINS, 1
SEARCHES = {"strands": DNA_SEARCH, "frames": TRANSLATED}


def aligner_for(scoring: Scoring, engine: str = "cpu", **options) -> Aligner:
    return Aligner(scoring, engine=engine, **options)


def row(hit, hsp) -> tuple:
    places = hsp.query_place, hsp.target_place
    return hit.rank, hit.target.id, hsp.score, hsp.context, places, hsp.bits, hsp.evalue


def rows(results) -> list[list[tuple]]:
    return [[row(hit, hsp) for hit in each for hsp in hit.hsps] for each in results]


def contexts_of(query: Record, genetic_code: int | None) -> list[tuple[Context, str]]:
    """The contexts, by Biopython alone."""
    letters = query.letters
    strands = [(1, letters), (-1, reverse_complement(letters))]
    if genetic_code is None:
        return [(Context(len(letters), sign), strand) for sign, strand in strands]
    return [
        (
            Context(len(letters), sign, sign * frame),
            translate(strand[frame - 1 :][: (len(letters) - frame + 1) // 3 * 3], genetic_code),
        )
        for sign, strand in strands
        for frame in (1, 2, 3)
    ]


def best_by_hand(query, targets, scoring, code, top) -> list[tuple]:
    """For each target the best context, the first of equal ones; the targets by score."""
    plain = Reference(scoring)
    encode = scoring.alphabet.encode
    found = []
    for number, target in enumerate(targets):
        scores = []
        for v, (_, letters) in enumerate(contexts_of(query, code)):
            pair = glsw.alignment.batch.Batch.pairwise([encode(letters)], [encode(target.letters)])
            scores.append((-int(plain.scores(pair)[0]), v))
        score, v = min(scores)
        if score < 0:
            found.append((score, number, contexts_of(query, code)[v][0]))
    return [
        (k, targets[n].id, -s, context) for k, (s, n, context) in enumerate(sorted(found)[:top], 1)
    ]


# the best of all contexts


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("top", [3, None])
def test_the_best_view_counts(kind: str, top: int | None) -> None:
    scoring, targets, code = SEARCHES[kind]
    options = {"top": top, "evalue": None}
    results = aligner_for(scoring).search(QUERIES, targets, genetic_code=code, **options)
    seen = set()
    for query, result in zip(QUERIES, results, strict=True):
        assert result.query == query
        assert [each[:4] for each in rows([result])[0]] == best_by_hand(
            query, targets, scoring, code, top
        )
        lengths = sum(len(letters) for _, letters in contexts_of(query, code))
        assert result.cells == lengths * sum(map(len, targets))
        seen |= {hit.context.frame or hit.context.strand for hit in result}
    assert len(seen) >= 2


def same(amino_or_base: str, letters: str, context: Context) -> bool:
    """Whether a letter of what was searched is made of these letters of the query."""
    if context.strand < 0:
        letters = reverse_complement(letters)
    return amino_or_base == (translate(letters) if context.frame else letters)


@pytest.mark.parametrize("kind", SEARCHES)
def test_coordinates_lead_back_to_the_letters(kind: str) -> None:
    scoring, targets, code = SEARCHES[kind]
    options = {"max_hsps": 4, "min_score": 8, "top": 8, "composition": 0}
    for result in aligner_for(scoring).search(QUERIES, targets, genetic_code=code, **options):
        letters = result.query.letters
        for hsp in (hsp for hit in result for hsp in hit.hsps):
            upper, _, lower = hsp.alignment.rows()
            first, last = hsp.query_place
            assert (first > last) == (hsp.context.strand < 0)
            step = (3 if hsp.context.frame else 1) * hsp.context.strand
            at = first - 1
            for letter in upper.replace("-", ""):
                ends = sorted((at, at + step))
                chosen = slice(*ends) if step > 0 else slice(ends[0] + 1, ends[1] + 1)
                assert same(letter, letters[chosen], hsp.context)
                at += step
            assert at == (last if step > 0 else last - 2)
            start, end = hsp.target_place
            assert lower.replace("-", "") == hsp.alignment.target.letters[start - 1 : end]
            score = naive_score(upper, lower, scoring)
            assert score == hsp.score


def naive_score(upper: str, lower: str, scoring: Scoring) -> int:
    letters = scoring.alphabet.letters
    score = 0
    for gap, columns in groupby(
        zip(upper, lower, strict=True), key=lambda two: [k for k in (0, 1) if two[k] == "-"]
    ):
        listed = list(columns)
        if gap:
            score -= scoring.gap_open + (len(listed) - 1) * scoring.gap_extend
        else:
            score += sum(int(scoring.matrix[letters.index(a), letters.index(b)]) for a, b in listed)
    return score


@pytest.mark.parametrize("strand", ["plus", "minus"])
@pytest.mark.parametrize("kind", SEARCHES)
def test_one_strand(kind: str, strand: str) -> None:
    scoring, targets, code = SEARCHES[kind]
    options = {"top": None, "genetic_code": code}
    turned = [Record(q.id, "", reverse_complement(q.letters)) for q in QUERIES]
    aligner = aligner_for(scoring)
    one = list(aligner.search(QUERIES, targets, strand=strand, **options))
    other = {"plus": "minus", "minus": "plus"}[strand]
    again = list(aligner.search(turned, targets, strand=other, **options))
    sign = 1 if strand == "plus" else -1
    assert {hit.context.strand for each in one for hit in each} == {sign}
    for a, b in zip(one, again, strict=True):
        assert [(h.target.id, h.score, h.alignment.cigar) for h in a] == [
            (h.target.id, h.score, h.alignment.cigar) for h in b
        ]


def test_first_of_equal_contexts() -> None:
    aligner = aligner_for(NUCLEOTIDE)
    (hit,) = aligner.search("ACGCGT", ["TTACGCGTTT"], max_hsps=None, min_score=12)
    assert [(each.score, each.context.strand) for each in hit.hsps] == [(12, 1), (12, -1)]
    (hit,) = aligner.search("ACGCGT", ["TTACGCGTTT"])
    assert hit.context.strand == 1


def test_rna_and_both_cases() -> None:
    aligner = aligner_for(NUCLEOTIDE)
    (hit,) = aligner.search("acguuugacc", ["TTGGTCAAACGTTT"])
    assert (hit.score, hit.context.strand, hit.hsps[0].query_place) == (20, -1, (10, 1))
    assert hit.alignment.query.letters == "ggucaaacgu"


def test_arrays_of_codes_are_dna_where_queries_are_translated() -> None:
    codes = DNA.encode("CCGGCGTGGCATGAAGCAGAA")
    (hit,) = aligner_for(Scoring.blast()).search(codes, ["PAWHEAE"], genetic_code=1)
    assert (hit.context.frame, hit.alignment.cigar) == (1, "7=")


def test_top_of_all_contexts() -> None:
    """The best of the contexts' best, whatever is cut off of each."""
    random = np.random.default_rng(3)
    scores = random.integers(0, 12, (6, 500)).astype(np.int32)
    numbers = np.arange(500)
    best, first = scores.max(axis=0), scores.argmax(axis=0)
    expected = sorted((-best[k], k, first[k]) for k in numbers if best[k])
    for top in (1, 7, 100, None):
        lists = [Ranking(top, 1).best(each, numbers) for each in scores]
        every = [*lists, *lists[:2], *lists]
        hits, contexts = np.concatenate(every), np.repeat(np.arange(14), list(map(len, every)))
        owners = np.repeat([0, 1, 2], [6, 2, 6])[contexts]
        pairs = scores_of(hits), target_numbers(hits), contexts, owners
        rows = select.best_contexts(*pairs, frames=1)
        listed = list(zip(*(each[rows].tolist() for each in pairs), strict=True))
        for query, start in ((0, 0), (2, 8)):
            found = [(-s, t, c - start) for s, t, c, owner in listed if owner == query]
            assert found[:top] == expected[:top]


# engines, parts, devices


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("engine", sorted({"lanes", "diagonal", "fragment", "cpu"} & {*ENGINES}))
def test_engines_find_the_same(kind: str, engine: str, device: Device) -> None:
    requires = ENGINES[engine].capabilities.requires
    if requires and not device.info.offers(requires):
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"{engine} needs OpenGL {requires}, here is {device.info.version}")
    scoring, targets, code = SEARCHES[kind]
    options = {"genetic_code": code, "max_hsps": 3, "min_score": 12, "top": 6}
    expected = rows(aligner_for(scoring, "reference").search(QUERIES, targets, **options))
    found = aligner_for(scoring, engine, device=device if requires else None)
    assert rows(found.search(QUERIES, targets, **options)) == expected
    assert max(map(len, expected)) > 6


class Small(Cpu):
    """Has room for parts of 150 residues, and looks at about three contexts at once."""

    name = "small"

    hints = ScanHints(part=150, cells_at_once=3 * 50 * 1500)


def many(count: int, seed: int = 5) -> list[Record]:
    random = np.random.default_rng(seed)
    letters = list(AMINO_ACIDS)
    return [
        Record(f"r{k}", "", "".join(random.choice(letters, random.integers(20, 60))))
        for k in range(count)
    ]


WAYS = {
    "strands": (NUCLEOTIDE, GENOME, None, "auto"),
    "frames": (Scoring.blast(), PROTEINS, 1, "auto"),
    "proteins": (Scoring.blast(), many(80), None, "auto"),
    "fitted frames": (NO_CONSTANTS, [*PROTEINS, *many(80)], 1, "auto"),
    "fit in place of constants": (Scoring.blast(), many(80), None, "fit"),
}


@pytest.mark.parametrize("way", WAYS)
def test_parts_and_executors_find_the_same(
    way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(ENGINES, "small", Small)
    scoring, targets, code, method = WAYS[way]
    queries = QUERIES if code or scoring is NUCLEOTIDE else many(3, seed=8)
    options = {"genetic_code": code, "statistics": method, "max_hsps": 2}
    whole = list(aligner_for(scoring).search(queries, targets, **options))
    expected = rows(whole)
    assert all(hsp[-1] is not None for each in expected for hsp in each)
    parts = list(aligner_for(scoring, "small").search(queries, targets, **options))
    assert rows(parts) == expected
    names = [each.statistics.name for each in whole]
    assert [each.statistics.name for each in parts] == names
    with ThreadPoolExecutor(2) as executor:
        found = list(aligner_for(scoring).search(queries, targets, executor=executor, **options))
    assert rows(found) == expected
    assert [each.statistics.name for each in found] == names
    assert [each.cells for each in found] == [each.cells for each in whole]


@pytest.fixture(scope="module")
def two(device: Device) -> Iterator[Aligner]:
    index = device.info.index
    with Aligner(NO_CONSTANTS, engine="diagonal", device=[index, index]) as aligner:
        yield aligner


def test_two_devices_find_the_same(two: Aligner) -> None:
    _, targets, code, _ = WAYS["fitted frames"]
    done: list[int] = []
    options = {"genetic_code": code, "max_hsps": 2, "min_score": 15}
    expected = list(aligner_for(NO_CONSTANTS).search(QUERIES, targets, **options))
    found = list(two.search(QUERIES, targets, progress=done.append, **options))
    assert rows(found) == rows(expected)
    assert [each.statistics.name for each in found] == [each.statistics.name for each in expected]
    assert sum(done) == sum(each.cells for each in found)
    options |= {"evalue": 2.0, "top": 2}
    expected = rows(aligner_for(NO_CONSTANTS).search(QUERIES, targets, **options))
    assert rows(two.search(QUERIES, targets, **options)) == expected


def test_processes_of_an_executor_count_scores_too() -> None:
    targets = many(70)
    expected = list(aligner_for(NO_CONSTANTS).search(targets[:2], targets))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        aligner = aligner_for(NO_CONSTANTS)
        assert rows(aligner.search(targets[:2], targets, executor=executor)) == rows(expected)


# several alignments of a hit


def by_hand(aligner: Aligner, query: Record, target: Record, code: int | None, least: int):
    """All alignments of all contexts, the best first, contexts in their order."""
    plain = Aligner(aligner.scoring, engine="reference")
    found = []
    for v, (context, letters) in enumerate(contexts_of(query, code)):
        for k, each in enumerate(plain.alignments(letters, target.letters, min_score=least)):
            found.append((-each.score, v, k, context, each.coordinates.tolist()))
    return [
        (-score, context, at) for score, _, _, context, at in sorted(found, key=lambda x: x[:3])
    ]


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("count", [2, 5, None])
def test_hsps_are_the_alignments_of_all_contexts(kind: str, count: int | None) -> None:
    scoring, targets, code = SEARCHES[kind]
    aligner = aligner_for(scoring)
    several = 0
    options = {"genetic_code": code, "top": 4, "min_score": 14, "evalue": None}
    for result in aligner.search(QUERIES, targets, max_hsps=count, **options):
        for hit in result:
            expected = by_hand(aligner, result.query, hit.target, code, 14)[:count]
            found = [(e.score, e.context, e.alignment.coordinates.tolist()) for e in hit.hsps]
            assert found == expected
            several += len(found) > 1
    assert several


def test_hsps_of_proteins() -> None:
    unit = "MKVLAWHEAGPQ"
    aligner = Aligner(engine="reference")
    (hit,) = aligner.search(unit * 2, [unit], max_hsps=None, min_score=30)
    expected = list(aligner.alignments(unit * 2, unit, min_score=30))
    assert len(hit.hsps) == len(expected) == 2
    for hsp, alignment in zip(hit.hsps, expected, strict=True):
        assert hsp.alignment.coordinates.tolist() == alignment.coordinates.tolist()
    (one,) = aligner.search(unit * 2, [unit])
    assert len(one.hsps) == 1
    assert one.evalue == hit.evalue


# E-values


def test_hits_and_hsps_are_cut_off_by_evalue() -> None:
    aligner = aligner_for(Scoring.blast())
    options = {"genetic_code": 1, "top": None, "max_hsps": 4}
    whole = list(aligner.search(QUERIES, PROTEINS, **options))
    values = sorted(hsp.evalue for each in whole for hit in each for hsp in hit.hsps)
    for limit in (values[0], values[len(values) // 2], values[-1], 1e-30):
        cut = aligner.search(QUERIES, PROTEINS, evalue=limit, **options)
        for result, every in zip(cut, whole, strict=True):
            expected = [
                (hit.target.id, [hsp.evalue for hsp in hit.hsps if hsp.evalue <= limit])
                for hit in every
                if hit.evalue <= limit
            ]
            found = [(hit.target.id, [hsp.evalue for hsp in hit.hsps]) for hit in result]
            assert found == expected
            assert [hit.rank for hit in result] == list(range(1, len(result) + 1))


CUT_OFF = {
    "constants": (Scoring.blast(), None, "auto"),
    "constants, frames": (Scoring.blast(), 1, "auto"),
    "fit": (Scoring.blast(), None, "fit"),
    "automatic fit": (NO_CONSTANTS, None, "auto"),
    "fit, frames": (NO_CONSTANTS, 1, "auto"),
    "constants of DNA": (NUCLEOTIDE, None, "auto"),
}


def spread_out() -> list[Record]:
    """Targets of so different lengths that scores and E-values are in different orders."""
    random = np.random.default_rng(11)
    letters = list(AMINO_ACIDS)
    made = [
        Record(f"s{k}", "", "".join(random.choice(letters, random.integers(0, 5 + k))))
        for k in range(90)
    ]
    return [*made[::2], *many(10), *PROTEINS[:4], *made[1::2]]


@pytest.mark.parametrize("way", CUT_OFF)
def test_the_best_of_those_with_the_evalue_are_listed(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINES, "small", Small)
    scoring, code, method = CUT_OFF[way]
    targets = GENOME if scoring is NUCLEOTIDE else spread_out()
    queries = QUERIES[:2] if code or scoring is NUCLEOTIDE else many(2, seed=8)
    options = {"genetic_code": code, "statistics": method, "composition": 0}
    aligner, small = aligner_for(scoring), aligner_for(scoring, "small")
    whole = list(aligner.search(queries, targets, top=None, evalue=None, **options))
    values = sorted(hit.evalue for each in whole for hit in each.hits[:10])
    usual = list(aligner.search(queries, targets, **options))
    within = [[hit.target.id for hit in each if hit.evalue <= 10] for each in whole]
    assert [[hit.target.id for hit in each] for each in usual] == within
    lost = False
    for limit in (values[1], values[len(values) // 3], values[2 * len(values) // 3]):
        for top in (2, 6):
            expected = [[h for h in each if h.evalue <= limit][:top] for each in whole]
            lost |= any(
                len(few) > sum(hit.evalue <= limit for hit in each.hits[:top])
                for few, each in zip(expected, whole, strict=True)
            )
            listed = [[(h.target.id, h.score, h.evalue) for h in each] for each in expected]
            found = list(small.search(queries, targets, top=top, evalue=limit, **options))
            assert [[(h.target.id, h.score, h.evalue) for h in each] for each in found] == listed
            counts = [sum(h.evalue <= limit for h in each) for each in whole]
            assert [len(each) + (each.more or 0) for each in found] == counts
            assert {each.evalue for each in found} == {limit}
    assert lost or "fit" not in way  # constants make less of lengths
    with ThreadPoolExecutor(2) as executor:
        options |= {"top": 4, "evalue": values[len(values) // 2]}
        expected = rows(aligner.search(queries, targets, **options))
        assert rows(aligner.search(queries, targets, executor=executor, **options)) == expected
    smaller(monkeypatch, prefiltered=0)
    assert rows(aligner.search(queries, targets, **options)) == expected


def test_hits_are_sorted_by_evalue(monkeypatch: pytest.MonkeyPatch) -> None:
    queries, targets = many(6), spread_out()
    aligner = Aligner(engine="reference")
    whole = list(aligner.search(queries, targets, evalue=None, top=None))
    expected = [
        sorted(each, key=lambda hit: (hit.evalue, -hit.score, int(hit.rank))) for each in whole
    ]
    by_score = [[hit.target.id for hit in each] for each in whole]
    for limit in (None, 100.0):
        kept = [[hit for hit in each if hit.evalue <= (limit or np.inf)] for each in expected]
        ids = [[hit.target.id for hit in each] for each in kept]
        for top in (None, 3):
            options = {"order": "evalue", "top": top, "evalue": limit, "composition": 0}
            found = list(aligner.search(queries, targets, **options))
            assert [[hit.target.id for hit in each] for each in found] == [k[:top] for k in ids]
            assert all([hit.rank for hit in each] == [*range(1, len(each) + 1)] for each in found)
            with monkeypatch.context() as patch:
                smaller(patch, prefiltered=0)
                again = aligner.search(queries, targets, **options)
                assert rows(again) == rows(found)
    assert ids != by_score
    with pytest.raises(ValueError, match=r"^order 'evalue': statistics are 'none'$"):
        aligner.search(queries, targets, order="evalue", statistics="none")
    with pytest.raises(ValueError, match=r"^order 'bits': score or evalue expected$"):
        aligner.search(queries, targets, order="bits")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^E-values exist for local alignments only$"):
        Aligner(mode="global", engine="reference").search(queries, targets, order="evalue")


def test_only_scores_that_an_evalue_asks_for_are_kept() -> None:
    queries = Sequences.of([PROTEIN.encode(each.letters) for each in many(40)])
    database = Database.of(spread_out(), PROTEIN)
    scoring = Scoring.blast()
    for evalue in (1e-3, 1, 50):
        limits = limits_for(scoring, top=5, min_score=1, evalue=evalue)
        ranking = limits.scan_ranking(scoring, queries, database)
        statistics = for_search(scoring, 60, len(database), database.residues)
        targets = np.unique(database.sequences.lengths)[1:]
        for floor, length in zip(
            ranking.floors.of(queries.lengths).tolist(), queries.lengths.tolist(), strict=True
        ):
            exact = statistics.cutoff(evalue, length, targets).min()
            assert exact - 2 <= floor <= exact
        assert ranking.top is None
    assert limits.scan_ranking(scoring, Sequences.of([]), database).floors is None
    nothing = limits.scan_ranking(scoring, queries, Database.of([], PROTEIN))
    assert nothing.floors.of(queries.lengths).max() == 1
    counting = limits_for(NO_CONSTANTS, top=5, min_score=7, evalue=1)
    assert counting.scan_ranking(NO_CONSTANTS, queries, database) == Ranking(None, 7, 1)
    plain = limits_for(scoring, top=5, min_score=7, evalue=None)
    assert plain.scan_ranking(scoring, queries, database) == Ranking(5, 7)


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore:.* scored as")
def test_a_better_hit_is_not_lost_to_the_evalue(data: Path) -> None:
    """Without the cut-off a sixth sequence is among the best by score alone."""
    targets = data / "proteins" / "ecoli_K12_sprot_4403.fasta.gz"
    aligner = Aligner(engine="cpu", unknown="X")
    query = data / "ssearch" / "gtm1_human.aa"
    options = {"statistics": "fit", "evalue": 2.5}
    (found,) = aligner.search(query, targets, top=5, **options)
    (every,) = aligner.search(query, targets, top=None, **options)
    assert len(every) >= len(found) == 5
    assert [hit.target.id for hit in found] == [hit.target.id for hit in every][:5]
    assert any("MIPA_ECOLI" in hit.target.id for hit in found)


# queries for which there is no hope


def test_a_query_without_statistics_does_not_end_the_others() -> None:
    tiny = Record("tiny", "", "P")
    good = many(2, seed=8)
    aligner = aligner_for(NO_CONSTANTS)
    targets = many(80)
    alone = rows(aligner.search(good, targets, evalue=5))
    with pytest.warns(RuntimeWarning, match=r"^query tiny: no E-values: .+; it has no hits$") as w:
        first, nothing, last = aligner.search([good[0], tiny, good[1]], targets, evalue=5)
    assert len(w) == 1
    assert rows([first, last]) == alone
    assert len(nothing) == 0
    assert isinstance(nothing.statistics, Unavailable)
    with pytest.raises(ValueError, match=r"^query tiny: no E-values: [^;]+$"):
        aligner.search(tiny, targets, evalue=5)
    plain = list(aligner.search([good[0], tiny], targets))
    assert len(plain[1])
    assert plain[1][0].evalue is None


def test_a_fit_that_fails_leaves_the_scores() -> None:
    aligner = Aligner(engine="reference")
    first, second = many(2)
    with pytest.warns(RuntimeWarning, match=r"^query r[01]: no E-values: .* too few to fit") as w:
        found = list(aligner.search([first, second], many(20), statistics="fit"))
    assert len(w) == 2
    assert [len(each) for each in found] == [20, 20]
    with pytest.raises(ValueError, match=r"^query r0: no E-values: .* too few to fit"):
        list(aligner.search([first], many(20), statistics="fit"))


def test_a_masked_query_does_not_end_the_others() -> None:
    aligner = Aligner(engine="reference", lower_case_mask=True)
    first, second = QUERIES[:2]
    masked = Record("masked", "", "acgtacgt")
    alone = rows(aligner.search([first, second], PROTEINS, genetic_code=1))
    message = r"^query masked: all 8 residues are masked; it has no hits$"
    for queries, places in (([masked, first, second], [1, 2]), ([first, second, masked], [0, 1])):
        with pytest.warns(RuntimeWarning, match=message) as w:
            found = list(aligner.search(queries, PROTEINS, genetic_code=1))
        assert len(w) == 1
        assert rows(found[k] for k in places) == alone
        (empty,) = (each for each in found if each.query == masked)
        assert (len(empty), empty.cells, empty.statistics.available) == (0, 0, False)
    with pytest.warns(RuntimeWarning, match=message):
        both = list(aligner.search([masked] * 2, PROTEINS, genetic_code=1))
    assert [len(each) for each in both] == [0, 0]
    with pytest.raises(ValueError, match="all 8 residues are masked"):
        aligner.search([masked], PROTEINS, genetic_code=1)


def test_a_masked_query_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_fasta(tmp_path / "q", [Record("masked", "", "mkv"), Record("good", "", "PAWHEAE")])
    write_fasta(tmp_path / "one", [Record("masked", "", "mkv")])
    write_fasta(tmp_path / "db", [Record("t", "", "HEAGAWGHEE")])
    words = ["--engine", "reference", "--lower-case-mask", "--format", "blast-tab qacc sacc"]
    assert main(["search", str(tmp_path / "q"), str(tmp_path / "db"), *words]) == 0
    out, err = capsys.readouterr()
    assert out == "good\tt\n"
    assert err.startswith("glsw: query masked: all 3 residues are masked; it has no hits\n")
    assert main(["search", str(tmp_path / "one"), str(tmp_path / "db"), *words]) == 2
    assert capsys.readouterr().err == "glsw: query masked: all 3 residues are masked\n"


def test_help_on_evalues(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["search", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "at most this E-value, inf for no limit (10; where there are no E-values, only --top"
        in text
    )
    assert "list the N best hits, 0 for all (500, but all if --evalue is given)" in text


# how many alignments of a hit there are


def test_all_alignments_of_a_hit_end() -> None:
    aligner = Aligner(engine="reference")
    query = many(1, seed=4)[0].letters[:20] * 2
    target = query + many(1, seed=6)[0].letters[:20]
    (hit,) = aligner.search(query, [target], max_hsps=None, composition=0)
    (every,) = aligner.search(query, [target], max_hsps=None, min_score=5, evalue=None)
    expected = [each.score for each in every.hsps if each.evalue <= 10]
    assert [each.score for each in hit.hsps] == expected
    assert 2 < len(hit.hsps) < len(every.hsps)
    (wider,) = aligner.search(query, [target], max_hsps=None, evalue=30)
    assert len(wider.hsps) > len(hit.hsps)


@pytest.mark.parametrize(
    ("scoring", "statistics"), [(POSITIVE, "auto"), (NUCLEOTIDE, "none"), (Scoring.blast(), "none")]
)
def test_something_has_to_end_the_alignments_of_a_hit(scoring: Scoring, statistics: str) -> None:
    aligner = aligner_for(scoring)
    options = {"max_hsps": None, "statistics": statistics}
    with pytest.raises(ValueError, match=r"^max_hsps None: min_score expected, nothing else ends"):
        aligner.search("ACGTTTGACC", ["ACGTTTGACC"], **options)
    assert aligner.search("ACGTTTGACC", ["ACGTTTGACC"], min_score=20, **options).hits
    with pytest.raises(ValueError, match=r"^max_hsps None: evalue or min_score expected, nothing"):
        Aligner(engine="reference").search("MKV", ["MKV"], max_hsps=None, evalue=None)


def test_a_fit_that_fails_ends_the_alignments_of_a_hit() -> None:
    aligner = aligner_for(NO_CONSTANTS)
    queries, targets = many(2), many(20)
    with pytest.raises(ValueError, match=r"^query r0: max_hsps None without min_.* too few to fit"):
        list(aligner.search(queries[:1], targets, max_hsps=None))
    with pytest.warns(RuntimeWarning, match=r"^query r[01]: max_hsps None .* too few to fit"):
        found = list(aligner.search(queries, targets, max_hsps=None))
    assert {len(hit.hsps) for each in found for hit in each} == {1}


@pytest.mark.parametrize("limit", [{"hits": 1}, {"hits": 7}, {"hit_residues": 500}])
@pytest.mark.parametrize("kind", SEARCHES)
def test_hits_are_aligned_some_at_a_time(
    kind: str, limit: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    scoring, targets, code = SEARCHES[kind]
    options = {"genetic_code": code, "max_hsps": 3, "top": 9, "min_score": 10, "composition": 0}
    aligner = aligner_for(scoring)
    expected = rows(aligner.search(QUERIES[:2], targets, **options))
    sizes: list[tuple[int, int]] = []
    together = select.aligned

    def watched(engine, batch, records, *rest):
        sizes.append((len(batch), int(sum(batch.query_lengths)) + len(batch.targets.residues)))
        return together(engine, batch, records, *rest)

    monkeypatch.setattr(select, "aligned", watched)
    smaller(monkeypatch, **limit)
    assert rows(aligner.search(QUERIES[:2], targets, **options)) == expected
    contexts = 2 if code is None else 6
    assert max(pairs for pairs, _ in sizes) <= max(contexts, limit.get("hits", 10**6))
    longest = contexts * (max(map(len, QUERIES)) + max(map(len, targets)))
    assert max(size for _, size in sizes) <= max(longest, limit.get("hit_residues", 10**6))


def test_statistics_of_a_search() -> None:
    (first, *_), targets, few = many(1, seed=9), many(90), {"top": 10, "evalue": None}
    published = Aligner(engine="reference").search(first, targets, **few)
    assert "BLOSUM62 11/1" in published.statistics.name
    fitted = Aligner(engine="reference").search(first, targets, statistics="fit", **few)
    assert "fitted to" in fitted.statistics.name
    for hit in published:
        length = len(hit.target)
        assert hit.bits == published.statistics.bits(hit.score, length)
        assert hit.evalue == published.statistics.evalue(hit.score, len(first), length)
    assert [hit.target.id for hit in fitted] == [hit.target.id for hit in published]
    nothing = Aligner(engine="reference").search(first, targets, statistics="none")
    assert [(hit.bits, hit.evalue) for hit in nothing] == [(None, None)] * 90
    assert not nothing.statistics.available


def test_scores_are_only_counted_where_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["glsw.search.ranking"]
    monkeypatch.setattr(module, "ScoreHistogram", partial(pytest.fail, "counted"))
    Aligner(engine="reference").search("HEAGAWGHEE", PROTEINS)
    aligner_for(NUCLEOTIDE).search("ACGTTTGACC", GENOME)


@pytest.mark.parametrize(
    ("scoring", "options", "message"),
    [
        (POSITIVE, {"evalue": 10}, "no local statistics exist: the expected score of two random"),
        (POSITIVE, {"statistics": "fit"}, "no local statistics exist"),
        (POSITIVE, {"statistics": "karlin-altschul"}, "no local statistics exist"),
        (
            Scoring.match_mismatch(5, -4, 11, 2),
            {"statistics": "karlin-altschul"},
            "no Karlin-Altschul constants are published",
        ),
        (Scoring.match_mismatch(5, -4, 11, 2), {"evalue": 1}, "query query: no E-values: "),
        (NUCLEOTIDE, {"statistics": "fit"}, "query query: .* too few to fit statistics to"),
        (NUCLEOTIDE, {"statistics": "none", "evalue": 1}, "evalue 1: statistics are 'none'"),
        (NUCLEOTIDE, {"statistics": "best"}, "unknown statistics 'best'; there are auto"),
        (NUCLEOTIDE, {"evalue": 0}, "evalue 0: a number above 0, or inf, expected"),
        (NUCLEOTIDE, {"evalue": float("nan")}, "evalue nan: a number above 0, or inf, expected"),
        (
            NUCLEOTIDE,
            {"max_hsps": 0},
            "max_hsps 0: a whole number of 1 or more, or None",
        ),
        (NUCLEOTIDE, {"top": 0}, "top 0: a whole number of 1 or more, or None"),
        (NUCLEOTIDE, {"min_score": float("nan")}, "min_score nan: a finite number expected"),
        (NUCLEOTIDE, {"strand": "top"}, "strand 'top': both, plus, minus expected"),
        (NUCLEOTIDE, {"genetic_code": 1}, "translation needs a protein scoring"),
    ],
)
def test_searches_that_cannot_be(scoring: Scoring, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        aligner_for(scoring).search("ACGTTTGACC", GENOME, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 2.5}, "top must be a whole number, not float"),
        ({"top": True}, "top must be a whole number, not bool"),
        ({"max_hsps": "2"}, "max_hsps must be a whole number, not str"),
        ({"evalue": "1e-3"}, "evalue must be a number, not str"),
        ({"min_score": None}, "min_score must be a number, not NoneType"),
        ({"min_score": "5"}, "min_score must be a number, not str"),
    ],
)
def test_kinds_of_limits(options: dict, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        aligner_for(NUCLEOTIDE).search("ACGTTTGACC", GENOME, **options)


def test_limits_of_numpy() -> None:
    plain = {"top": 3, "max_hsps": 2, "min_score": 8, "evalue": 20}
    kinds = {"top": np.uint8, "max_hsps": np.int64, "min_score": np.float32, "evalue": np.float64}
    options = {name: kinds[name](number) for name, number in plain.items()}
    aligner = aligner_for(NUCLEOTIDE)
    found = aligner.search(QUERIES, GENOME, **options)
    assert rows(found) == rows(aligner.search(QUERIES, GENOME, **plain))


def test_without_statistics_there_are_hits() -> None:
    result = aligner_for(POSITIVE).search("ACGTTTGACC", GENOME)
    assert len(result) == sum(hit.score > 0 for hit in result) == 23
    assert {hit.evalue for hit in result} == {None}
    assert "no local statistics exist" in result.statistics.name


def test_proteins_have_one_strand() -> None:
    aligner = Aligner(engine="reference")
    with pytest.raises(ValueError, match="strand 'both': the protein alphabet has no complements"):
        aligner.search("MKV", PROTEINS, strand="both")
    with pytest.raises(ValueError, match="genetic code 99: there are 1, 2, 3"):
        aligner.search("ATG", PROTEINS, genetic_code=99)
    with pytest.raises(ValueError, match="query: letter 'E' at position 2 is not in the DNA alph"):
        aligner.search("AEG", PROTEINS, genetic_code=1)
    assert aligner.search("MKVLAW", PROTEINS, strand="plus").hits


def test_global_search_gives_one_alignment_per_hit() -> None:
    aligner = Aligner(Scoring.blast().in_mode("global"), engine="reference")
    assert aligner.search("HEAGAWGHEE", ["HEAGAWGHE"])[0].evalue is None
    for options in ({"max_hsps": 2}, {"evalue": 1}, {"statistics": "fit"}):
        with pytest.raises(ValueError, match=r"both sequences$|not local$|local alignments only$"):
            aligner.search("HEAGAWGHEE", ["PAWHEAE"], **options)


# masks


def test_masked_letters_score_nothing() -> None:
    plain = Aligner(engine="reference")
    masking = Aligner(engine="reference", lower_case_mask=True)
    assert masking.score("HEAGAWGHEE", "PAWHEAE") == plain.score("HEAGAWGHEE", "PAWHEAE") == 17
    assert masking.score("HEAGAwGHEE", "PAWHEAE") == plain.score("HEAGAXGHEE", "PAWHEAE")
    assert masking.score("HEAGAWGHEE", "PAwHEAE") == plain.score("HEAGAWGHEE", "PAXHEAE")
    alignment = masking.align("MKVlAWHEAG", "MKVLAWHEAG")
    assert alignment.score == plain.score("MKVXAWHEAG", "MKVLAWHEAG")
    assert alignment.rows()[0] == "MKVlAWHEAG"
    scores = masking.score(["MKV", "mkvW"], ["MKV", "MKVW"])
    assert scores.tolist() == [plain.score("MKV", "MKV"), 11]
    for verb in (masking.score, masking.align, masking.search):
        with pytest.raises(ValueError, match=r"^query query: all 3 residues are masked$"):
            verb("mkv", "MKV")


def test_low_complexity_of_the_query_alone() -> None:
    random = "GACTTGCATCGGATCCATTGACGTAC"
    query = f"{random}{'A' * 40}"
    masking = aligner_for(NUCLEOTIDE, mask_low_complexity=True)
    (hit,) = masking.search(query, ["T" * 60, query], min_score=20)
    assert hit.target.id == "target 2"
    assert hit.alignment.query.letters.startswith(random)
    assert hit.alignment.query.letters.upper() == query
    with pytest.warns(RuntimeWarning, match="lie in regions of low complexity"):
        assert len(aligner_for(NUCLEOTIDE).search(query, ["T" * 60, query], min_score=20)) == 2


def test_masked_databases(tmp_path: Path) -> None:
    fasta = tmp_path / "db.fasta"
    fasta.write_text(">soft\nACGTTTGaccttgacATTGCA\n>plain\nACGTTTGACC\n>all\nacgtttgacc\n")
    indexed = makedb(fasta, tmp_path / "db", alphabet=DNA, lower_case_mask=True)
    assert [each.letters for each in indexed] == [
        "ACGTTTGNNNNNNNNATTGCA",
        "ACGTTTGACC",
        "N" * 10,
    ]
    masking = aligner_for(NUCLEOTIDE, lower_case_mask=True)
    query = "ACGTTTGACCTTG"
    expected = [("plain", 20), ("soft", 14)]
    for database in (fasta, tmp_path / "db", Database.open(tmp_path / "db")):
        found = masking.search(query, database, min_score=14)
        assert [(hit.target.id, hit.score) for hit in found] == expected
    assert masking.search(query, fasta)[1].target.letters == "ACGTTTGaccttgacATTGCA"
    plain = makedb(fasta, tmp_path / "db", alphabet=DNA)
    assert aligner_for(NUCLEOTIDE).search(query, plain)[0].score == 26
    unmasked = {"db": plain, "the database": Database.of(glsw.read(fasta), DNA)}
    for name, database in unmasked.items():
        with pytest.raises(ValueError, match=rf"{name}: lower case is not masked: index it with"):
            masking.search(query, database)
    assert masking.search(query, Database.of(glsw.read(fasta), DNA.lower_case_masked()))
    with pytest.raises(ValueError, match="has no X or N"):
        makedb(fasta, tmp_path / "db", alphabet=custom("ACGT"), lower_case_mask=True)


def test_masks_come_along_to_the_minus_strand() -> None:
    masking = aligner_for(NUCLEOTIDE, lower_case_mask=True)
    found = masking.search("acgtttGACCATTGCA", [reverse_complement("ACGTTTGACCATTGCA")])
    assert (found[0].score, found[0].context.strand) == (20, -1)
    assert found[0].hsps[0].query_place == (16, 7)


# as BLAST has it

QUERY = "TGGTGTTAACCTTACTATACTCCCGCTCCGGGGTTTGGCTCATATGAACAAGTCTTTGCGCCCATAAATGTAGCCAGTGAGCTTAGTTGG"
SUBJECTS = {
    "forward": "TTTTATGCTTGAGAAAATCACATACTGTACTCCCGCTCCGGCGTTTGGCTATGAACAAGTTTTTGCGCCC"
    "ATAAATGTAGCCAGTGAACCCTTGTCACATAC",
    "backward": "ATAGTGTTTGGGTCTTCCGTAAACACATTTATCGGCGCAAAGACGTGTTCATAGGAGCCAAACCCCGGAG"
    "CGGGAGTATCGTAAGGTTAACCATTTTCAG",
    "ambiguous": "GCGCGTACGAGTCATATGAACANRYCTTTGCGCCCATAAATGTAGCCTGTCCAGCTCTAACACGGAA",
}
SUBJECT_PROTEINS = {
    "behind": "MKVWLHLWAQRLVHMSQTPEREYSKHEAG",
    "ahead": "KMYWGDNLTILPLRGLAHMNKSLRPLMLGG",
}
# What BLAST 2.12 prints: sseqid score qstart qend sstart send bitscore evalue.
BLASTN = [
    ("backward", 114, 5, 71, 91, 25, 104, 9.15e-28),
    ("forward", 104, 13, 80, 23, 87, 95.1, 4.74e-25),
    ("ambiguous", 63, 40, 78, 12, 50, 58.1, 1.19e-13),
]
BLASTX = [
    ("behind", 125, 76, 11, 4, 25, 52.8, 1.42e-17),
    ("ahead", 101, 2, 70, 5, 27, 43.5, 6.64e-14),
]
SUM_STATISTICS = 1 / 0.9
"""blastx divides E-values by this, since a hit could be linked with others."""


def in_the_words_of_blast(result: SearchResult) -> list[tuple]:
    """Hits with the coordinates of a table of BLAST: those of the minus strand are turned round."""
    listed = []
    for hit in result:
        query, target = hit.hsps[0].query_place, hit.hsps[0].target_place
        if hit.context.strand < 0 and not hit.context.frame:
            query, target = query[::-1], target[::-1]
        bits = int(hit.bits) if hit.bits >= 99.9 else round(hit.bits, 1)
        listed.append((hit.target.id, hit.score, *query, *target, bits, hit.evalue))
    return listed


def assert_like_blast(result: SearchResult, expected: list[tuple], factor: float = 1) -> None:
    found = in_the_words_of_blast(result)
    assert [each[:-1] for each in found] == [each[:-1] for each in expected]
    values = [each[-1] * factor for each in found]
    assert values == pytest.approx([each[-1] for each in expected], rel=0.01)


def records(named: dict[str, str]) -> list[Record]:
    return [Record(name, "", letters) for name, letters in named.items()]


def test_like_blastn() -> None:
    assert_like_blast(aligner_for(NUCLEOTIDE).search(QUERY, records(SUBJECTS)), BLASTN)


def test_like_blastx() -> None:
    aligner = aligner_for(Scoring.blast())
    result = aligner.search(QUERY, records(SUBJECT_PROTEINS), genetic_code=1, composition=0)
    assert_like_blast(result, BLASTX, SUM_STATISTICS)
    assert [hit.context.frame for hit in result] == [-3, 2]


def blast(words: str, folder: Path) -> list[tuple]:
    program = words.split()[0]
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    columns = "6 sseqid score qstart qend sstart send bitscore evalue"
    done = subprocess.run(
        [*words.split(), "-outfmt", columns], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [(name, *map(float, numbers)) for name, *numbers in lines]


def write_fasta(path: Path, named: list[Record]) -> None:
    path.write_text("".join(f">{each.id}\n{each.letters}\n" for each in named))


@pytest.mark.parametrize("program", ["blastn", "blastx"])
def test_recorded_numbers_are_those_of_blast(program: str, tmp_path: Path) -> None:
    write_fasta(tmp_path / "query", [Record("q", "", QUERY)])
    subjects, expected = {"blastn": (SUBJECTS, BLASTN), "blastx": (SUBJECT_PROTEINS, BLASTX)}[
        program
    ]
    write_fasta(tmp_path / "subjects", records(subjects))
    options = {
        "blastn": "-task blastn -dust no -word_size 4",
        "blastx": "-seg no -word_size 2 -threshold 8 -comp_based_stats 0",
    }[program]
    found = blast(f"{program} -query query -subject subjects -max_hsps 1 {options}", tmp_path)
    assert found == expected


@pytest.mark.realdata
@pytest.mark.parametrize("turned", [False, True])
def test_a_real_gene_like_blastn(turned: bool, data: Path, tmp_path: Path) -> None:
    """Mouse glutathione transferase; what blastn finds without seeds may be better, never worse."""
    (record,) = glsw.read(data / "ssearch" / "mgstm1.nt")
    letters = reverse_complement(record.letters) if turned else record.letters
    subjects = [
        Record(each.id, "", each.letters) for each in glsw.read(data / "ssearch" / "gst.nlib")
    ]
    result = aligner_for(NUCLEOTIDE, "cpu").search(letters, subjects)
    found = {each[0]: each for each in in_the_words_of_blast(result)}
    recorded = {
        "pGT875": (38, 694, 1186.0, 0.0),
        "RABGLTR": (34, 672, 558.0, 7.69e-162),
        "BTGST": (265, 297, 33.7, 7.25e-04),
        "OCDHPR": (2303, 2317, 28.3, 0.031),
    }
    for name, (start, end, bits, evalue) in recorded.items():
        target = (end, start) if turned else (start, end)
        assert found[name][4:7] == (*target, bits)
        assert found[name][7] == pytest.approx(evalue, rel=0.02, abs=1e-180)
    write_fasta(tmp_path / "query", [Record("q", "", letters)])
    write_fasta(tmp_path / "subjects", subjects)
    words = "blastn -query query -subject subjects -max_hsps 1 -task blastn -dust no"
    for name, score, *places, bits, _ in blast(words, tmp_path):
        assert found[name][1] >= score
        if found[name][1] == score and name in recorded:
            assert [*found[name][2:6]] == places
            assert found[name][6] == bits


@pytest.mark.realdata
def test_a_real_gene_like_blastx(data: Path, tmp_path: Path) -> None:
    (record,) = glsw.read(data / "ssearch" / "mgstm1.nt")
    subjects = [
        Record(each.id, "", "".join(c for c in each.letters if c in PROTEIN.letters))
        for each in glsw.read(data / "ssearch" / "prot_test.lib")
    ]
    result = aligner_for(Scoring.blast(), "cpu").search(
        reverse_complement(record.letters), subjects, genetic_code=1, composition=0
    )
    found = {each[0]: each for each in in_the_words_of_blast(result)}
    assert found["GT8.7"][2:7] == (657, 4, 1, 218, 455.0)
    assert found["GT8.7"][7] * SUM_STATISTICS == pytest.approx(1.21e-169, rel=0.02)
    assert found["CCHU"][2:7] == (30, 137, 9, 42, 16.5)
    write_fasta(tmp_path / "query", [Record("q", "", reverse_complement(record.letters))])
    write_fasta(tmp_path / "subjects", subjects)
    words = "blastx -query query -subject subjects -max_hsps 1 -seg no -comp_based_stats 0"
    for name, score, *_ in blast(words, tmp_path):
        assert found[name][1] >= score


def test_progress_counts_the_cells_of_all_contexts() -> None:
    preparation = QueryPreparation(PROTEIN, None, 1)
    done: list[int] = []
    aligner = aligner_for(Scoring.blast())
    results = list(aligner.search(QUERIES, PROTEINS, genetic_code=1, progress=done.append))
    cells = sum(preparation.residues(len(q)) for q in QUERIES) * sum(map(len, PROTEINS))
    assert sum(done) == sum(each.cells for each in results) == cells
