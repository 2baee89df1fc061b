"""Searches with matrices for the compositions of two proteins, as blastp has them."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from Bio.Seq import Seq
from program import ROOT
from wing import wing

import glsw
from glsw import Aligner, Record, Scoring, SearchResult, makedb
from glsw.device.device import Device
from glsw.engines.reference import best_cell
from glsw.output.blast import evalue_text
from glsw.scoring.gaps import GapCost
from glsw.sequences.encoded import Sequences
from glsw.statistics.published_constants import joint_frequencies
from glsw.wings import opened
from glsw.wings.composition import own_matrices, rescoring
from glsw.wings.composition.own_matrices import own_scores
from glsw.wings.composition.target_frequencies import target_frequencies

RECORDED = Path(__file__).parent / "composition.tsv"
LETTERS = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
JOINT = joint_frequencies("BLOSUM62")
BACKGROUND = JOINT.sum(axis=1)
BLOSUM62 = Scoring.blast()


@cache
def generated() -> tuple[list[Record], list[Record]]:
    """Return queries and targets: relatives of various compositions and lengths, near and far."""
    random = np.random.default_rng(2005)
    queries: list[Record] = []
    targets: list[Record] = []
    for k in range(8):
        frequencies = random.dirichlet(BACKGROUND * (40, 8)[k % 2])
        frequencies = 0.8 * frequencies + 0.2 * BACKGROUND
        query = random.choice(20, (90, 160, 320)[k % 3], p=frequencies)
        if k == 3:
            query[40:60] = np.resize([0, 11, 11, 6], 20)
        queries.append(_record(f"q{k}", query))
        others = random.dirichlet(BACKGROUND * 10)
        for far, rate in enumerate((0.0, 0.01, 0.3, 0.5, 0.6, 0.65)):
            relative = np.where(
                random.random(len(query)) < rate, random.choice(20, len(query), p=others), query
            )
            ends = [
                random.choice(20, size, p=others) for size in random.integers(0, 400, 2) * (far > 1)
            ]
            targets.append(_record(f"t{k}.{far}", np.concatenate([ends[0], relative, ends[1]])))
    for k in range(40):
        targets.append(
            _record(f"r{k}", random.choice(20, 150, p=random.dirichlet(BACKGROUND * 20)))
        )
    return queries, targets


def _record(name: str, kinds: Any) -> Record:
    return Record(name, "", LETTERS[kinds].tobytes().decode("ascii"))


def rows_of(composition: int, matrix: str = "BLOSUM62") -> list[tuple[str, ...]]:
    """Return query, target, score and E-value of the hits up to E-value 10, as blastp prints."""
    queries, targets = generated()
    options: Any = {"composition": composition, "seg": "query", "order": "evalue", "top": None}
    options["scoring"] = Scoring.blast(matrix)
    found, mode = glsw.search(queries, targets, **options), str(composition)
    return [
        (mode, result.query.id, hit.target.id, str(hit.score), evalue_text(value, digits=2))
        for result in found
        for hit in result
        if (value := hit.evalue) is not None
    ]


def blastp(folder: Path, composition: int, matrix: str) -> list[tuple[str, ...]]:
    queries, targets = generated()
    for name, records in (("q", queries), ("t", targets)):
        text = "".join(f">{each.id}\n{each.letters}\n" for each in records)
        (folder / f"{name}.fasta").write_text(text)
    index = ["makeblastdb", "-in", "t.fasta", "-dbtype", "prot"]
    words = ["blastp", "-query", "q.fasta", "-db", "t.fasta", "-seg", "yes", "-use_sw_tback"]
    words += [
        "-max_hsps",
        "1",
        "-comp_based_stats",
        str(composition),
        "-matrix",
        matrix,
        "-outfmt",
        "6 qseqid sseqid score evalue",
    ]
    subprocess.run(index, cwd=folder, check=True, capture_output=True)
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return [(str(composition), *line.split("\t")) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("composition", [0, 1, 2])
def test_recorded_scores_and_evalues(composition: int) -> None:
    """All hits of blastp 2.12 (-seg yes -use_sw_tback) are there, with its digits."""
    recorded = [tuple(line.split("\t")) for line in RECORDED.read_text().splitlines()[1:]]
    wanted = [row for row in recorded if row[0] == str(composition)]
    found = rows_of(composition)
    assert len(wanted) > 50
    assert sorted(set(wanted) - set(found)) == []
    same = [(row[1], *row[3:]) for row in found if row in wanted]
    assert same == [(row[1], *row[3:]) for row in wanted]  # in its order, but of equal hits
    if composition == 0:
        return
    plain = {row[1:3]: row[3:] for row in rows_of(0)}
    assert sum(plain.get((row[1], row[2])) == (row[3], row[4]) for row in wanted) < len(wanted) / 2


@pytest.mark.skipif(not shutil.which("blastp"), reason="no blastp here: recorded digits only")
@pytest.mark.parametrize("composition", [0, 1, 2])
@pytest.mark.parametrize(
    "matrix", ["BLOSUM45", "BLOSUM50", "BLOSUM62", "BLOSUM90", "PAM30", "PAM70", "PAM250"]
)
def test_scores_and_evalues_of_the_blastp_at_hand(
    tmp_path: Path, matrix: str, composition: int
) -> None:
    wanted = blastp(tmp_path, composition, matrix)
    assert len(wanted) > 45
    assert sorted(set(wanted) - set(rows_of(composition, matrix))) == []


# What blastp 2.12.0 gives for X, O and U against each letter, more than for the rest of a pair.
OF_X = dict.fromkeys("ARNDCQEGHILKMFPSTWYVBZXUO", -1) | {"*": -4}
OF_U = {each: int(BLOSUM62.matrix[4, k]) for k, each in enumerate("ARNDCQEGHILKMFPSTWYV")}
OF_U |= {"X": -1, "U": 9}
FLANK = "WHCWYFWHCPWDWYFWHCKWMWHCWYF"


def scores_of_letters(folder: Path, letters: str) -> dict[tuple[str, str], int]:
    """Return blastp's scores of pairs of letters, by those of equal sequences around them."""
    text = "".join(f">{each}\n{FLANK}{each}{FLANK[::-1]}\n" for each in letters)
    (folder / "letters.fasta").write_text(text)
    words = "blastp -query letters.fasta -subject letters.fasta -comp_based_stats 0 -seg no"
    fields = ["-max_hsps", "1", "-outfmt", "6 qseqid sseqid score"]
    run = subprocess.run(
        [*words.split(), *fields], cwd=folder, check=True, capture_output=True, text=True
    )
    around = 2 * sum(int(BLOSUM62.matrix[k, k]) for k in BLOSUM62.alphabet.encode(FLANK))
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return {(a, b): int(score) - around for a, b, score in rows}


@pytest.mark.filterwarnings("ignore:.* scored as ")
def test_letters_score_as_in_blastp() -> None:
    """X, and what counts as X or C, as recorded of blastp; other scorings keep the matrix's X."""
    for letter, wanted in (("X", OF_X), ("O", OF_X), ("U", OF_U)):
        for pair in ((letter, other) for other in wanted):
            for query, target in (pair, pair[::-1]):
                found = glsw.score(
                    query, target, mode="global", scoring=BLOSUM62, engine="reference"
                )
                assert found == wanted[pair[1]], (query, target)
    x, *letters = BLOSUM62.alphabet.encode("XASTCPW")
    assert Scoring.named("BLOSUM62").matrix[x, letters].tolist() == [0, 0, 0, -2, -2, -2]
    nucleic = Scoring.blast("NUC.4.4", 10, 6)
    assert np.array_equal(nucleic.matrix, Scoring.named("NUC.4.4").matrix)


@pytest.mark.skipif(not shutil.which("blastp"), reason="no blastp here: recorded scores only")
def test_letters_score_as_in_the_blastp_at_hand(tmp_path: Path) -> None:
    found = scores_of_letters(tmp_path, "".join(OF_X))
    for letter, wanted in (("X", OF_X), ("O", OF_X), ("U", OF_U)):
        for other, score in wanted.items():
            assert found[letter, other] == found[other, letter] == score


def test_target_frequencies_are_stationary() -> None:
    """They fulfil the constraints, and ln(x / q) is a sum of multiples of their gradients."""
    random = np.random.default_rng(44)
    joint = JOINT
    rows, columns = (
        0.8 * random.dirichlet(BACKGROUND * 20, 6) + 0.2 * BACKGROUND for _ in range(2)
    )
    found, log_ratios, converged = target_frequencies(joint, rows, columns, 0.44)
    assert converged.all()
    one = np.ones(20)
    sums = np.concatenate([np.kron(np.eye(20), one), np.kron(one, np.eye(20))])
    for x, given, r, c in zip(found, log_ratios, rows, columns, strict=True):
        np.testing.assert_allclose(x.sum(axis=1), r, rtol=1e-9)
        np.testing.assert_allclose(x.sum(axis=0), c, atol=1e-8)
        by_chance = np.log(x / np.outer(r, c))
        np.testing.assert_allclose(given, by_chance, atol=1e-12)
        assert np.sum(x * by_chance) == pytest.approx(0.44, abs=1e-8)
        gradients = np.concatenate([sums, by_chance.reshape(1, -1) + 1]).T
        wanted = np.log(x / joint).ravel() + 1
        multipliers = np.linalg.lstsq(gradients, wanted, rcond=None)[0]
        np.testing.assert_allclose(gradients @ multipliers, wanted, atol=1e-7)
    nothing = target_frequencies(joint, rows[:0], columns[:0], 0.44)
    assert [each.shape for each in nothing] == [(0, 20, 20), (0, 20, 20), (0,)]
    *_, converged = target_frequencies(joint, rows, columns, 9.0)  # more than there can be
    assert not converged.any()


def test_own_scores_are_those_of_pairs_alone() -> None:
    random = np.random.default_rng(7)
    for gap_open, gap_extend in ((384, 32), (40, 32), (50, 50)):
        count = int(random.integers(1, 9))
        query = random.integers(0, 24, random.integers(1, 60)).astype(np.uint8)
        sizes = random.integers(0, 70, count)
        targets = Sequences.of([random.integers(0, 24, n).astype(np.uint8) for n in sizes])
        noise = random.integers(-60, 60, (count, 24, 24))
        matrices = (32 * BLOSUM62.matrix + noise).astype(np.int32)
        costs = {"gap_open": gap_open, "gap_extend": gap_extend}
        alone = [
            best_cell(query, target, replace(BLOSUM62, matrix=matrix, **costs))[0]
            for target, matrix in zip(targets, matrices, strict=True)
        ]
        assert own_scores(query, targets, matrices, GapCost(gap_open, gap_extend)).tolist() == alone


def test_further_alignments_and_limits() -> None:
    queries, targets = generated()
    repeated = [*targets, Record("twice", "", queries[1].letters + queries[1].letters)]
    aligner = Aligner()
    options: Any = {"composition": 2, "top": None}
    one = aligner.search(queries[1], repeated, **options)
    more = aligner.search(queries[1], repeated, max_hsps=2, **options)
    assert [(hit.target.id, hit.score, hit.evalue) for hit in more] == [
        (hit.target.id, hit.score, hit.evalue) for hit in one
    ]
    first, second = next(hit for hit in more if hit.target.id == "twice").hsps
    assert first.score == second.score
    assert first.evalue == pytest.approx(second.evalue)
    limit = sorted(hit.evalue for hit in one)[3]
    kept: tuple[tuple[Any, list[Any]], ...] = (
        ({"top": 2}, one[:2]),
        ({"min_score": one[3].score}, [hit for hit in one if hit.score >= one[3].score]),
        ({"evalue": limit}, [hit for hit in one if hit.evalue <= limit]),
    )
    for some, wanted in kept:
        few = aligner.search(queries[1], repeated, **{**options, **some})
        assert [hit.target.id for hit in few] == [hit.target.id for hit in wanted]
        assert few.more == (len(one) - 2 if "top" in some else 0)
    assert "scores adjusted for composition (2)" in str(one)


def test_queries_together_are_as_queries_alone() -> None:
    queries, targets = generated()
    masked = Record("masked", "", "P" * 30)
    aligner = Aligner(seg="query")
    with pytest.warns(RuntimeWarning, match=r"^query masked: all 30 residues are masked"):
        together = list(aligner.search([queries[0], masked, queries[1]], targets, composition=1))
    assert [len(each) for each in together][1] == 0
    for query, found in zip(queries, together[::2], strict=False):
        alone = aligner.search(query, targets, composition=1)
        assert [(hit.target.id, hit.score) for hit in found] == [
            (hit.target.id, hit.score) for hit in alone
        ]
    nothing = list(aligner.search(queries[:2], [Record("x", "", "X" * 40)], composition=2))
    assert [len(each) for each in nothing] == [0, 0]


def test_pairs_on_a_device_or_by_a_library_are_those_by_rows(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, targets = generated()
    short = [each for each in targets if len(each) < 200]
    options: Any = {"composition": 2, "top": None, "max_hsps": 2, "order": "evalue"}

    def found() -> list[tuple[Any, ...]]:
        aligner = Aligner(engine="diagonal", device=device)
        return [
            (hit.target.id, hsp.score, hsp.evalue, hsp.alignment.coordinates.tolist())
            for result in aligner.search(queries[:3], short, **options)
            for hit in result
            for hsp in hit.hsps
        ]

    by_library = found()
    monkeypatch.setattr(own_matrices, "takes_tables", lambda scoring: False)
    host = found()
    assert by_library == host
    monkeypatch.setattr(own_matrices, "on_device", lambda engine: True)
    monkeypatch.setattr(own_matrices, "MAX_POSITIONS", 24 * 7)  # pairs of several groups
    monkeypatch.setattr(rescoring, "_MATRICES_TOGETHER", (5, 5))
    assert found() == host
    assert len(host) > 20


@pytest.mark.parametrize(
    ("scoring", "options", "message"),
    [
        (BLOSUM62, {"composition": 3}, r"^composition 3: 'auto', 0, 1 or 2 expected$"),
        (Scoring.blast("BLOSUM80"), {"composition": 2}, r"^composition 2: a protein .*BLOSUM80"),
        (Scoring.blast("BLOSUM62", 5, 3), {"composition": 1}, r"^composition 1: .* gap costs with"),
        (Scoring.nucleotide(), {"composition": 1}, r"^composition 1: a protein matrix"),
        (BLOSUM62, {"composition": 1, "statistics": "fit"}, r"^composition: published .*'fit'$"),
    ],
)
def test_errors(scoring: Scoring, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Aligner(scoring, engine="reference").search("ACGT", ["ACGT"], **options)


def test_auto_is_the_default_of_blastp_where_there_is_one() -> None:
    queries, targets = generated()

    def found(**options: Any) -> list[tuple[str, int | float, float | None]]:
        result = glsw.search(queries[1], targets, **options)
        adjusted = "scores adjusted for composition" in str(
            result.statistics and result.statistics.name
        )
        return [(str(adjusted), hit.score, hit.evalue) for hit in result]

    wanted = found(composition=2)
    assert found() == found(composition="auto") == wanted != found(composition=0)
    assert {name for name, _, _ in wanted} == {"True"}
    for options in (
        {"evalue": None, "top": 9},
        {"statistics": "fit"},
        {"statistics": "none"},
        {"scoring": Scoring.blast("BLOSUM80")},
        {"mode": "semiglobal"},
    ):
        assert found(**options) == found(composition=0, **options)
    assert {name for name, _, _ in found(evalue=None, top=9)} == {"False"}
    with pytest.raises(ValueError, match=r"^composition: an E-value expected"):
        found(composition=2, evalue=None)


def test_the_default_is_the_same_in_all_ways(tmp_path: Path, device: Device) -> None:
    """Engines, parts, an executor, a database, shards, and the order of queries."""
    queries, targets = generated()
    targets = targets[::2]
    fasta = tmp_path / "db.fasta"
    fasta.write_text("".join(f">{each.id}\n{each.letters}\n" for each in targets))
    makedb(fasta, tmp_path / "db.glsw")

    def rows(results: Iterable[SearchResult]) -> dict[str, list[tuple[Any, ...]]]:
        found = {}
        for each in results:
            assert each.statistics
            assert each.statistics.name.endswith("; scores adjusted for composition (2)")
            found[each.query.id] = [
                (hit.target.id, hit.score, hit.bits, hit.evalue, hit.alignment.cigar)
                for hit in each
            ]
        return found

    cpu = Aligner(engine="cpu")
    expected = rows(cpu.search(queries, targets))
    assert sum(map(len, expected.values())) > 30
    for engine in ("reference", "diagonal"):
        aligner = Aligner(engine=engine, device=device if engine == "diagonal" else None)
        assert rows(aligner.search(queries[:4], targets)) == dict([*expected.items()][:4])
    assert rows(cpu.search(queries[::-1], targets)) == expected
    assert rows(cpu.search(queries, tmp_path / "db.glsw")) == expected
    with ThreadPoolExecutor(2) as executor:
        assert rows(cpu.search(queries, targets, executor=executor)) == expected
    for query in queries[:2]:
        assert rows([cpu.search(query, targets)]) == {query.id: expected[query.id]}
    turned = rows(cpu.search(queries, targets[::-1]))
    assert {name: sorted(each) for name, each in turned.items()} == {
        name: sorted(each) for name, each in expected.items()
    }
    if "shards" in opened():
        shards, search = wing("shards.verbs"), cpu.prepare(queries, targets)
        for number in (3, 1, 2):
            shards.scan_shard(search, number, 3, tmp_path / "shards")
        assert rows(shards.merge(search, tmp_path / "shards")) == expected


def test_shuffled_proteins_are_not_significant_by_default() -> None:
    """Chance hits of queries with regions of low complexity, of which 0.01 are expected."""
    random = np.random.default_rng(60)
    queries, targets = [], []
    for k in range(60):
        kinds = random.choice(20, 120, p=BACKGROUND)
        kinds[30:80] = random.choice([14, 5, 0], 50, p=(0.5, 0.25, 0.25))
        if k < 4:
            queries.append(_record(f"low{k}", kinds))
        else:
            targets.append(_record(f"t{k}", random.permutation(kinds)))
            targets.append(_record(f"s{k}", np.concatenate([kinds[60:], kinds[:60]])[::-1]))
    options: Any = {"evalue": 1e-3, "top": None}
    with pytest.warns(RuntimeWarning, match=r"^query low\d: hits .* seg='query' \(--seg yes\)"):
        assert sum(map(len, glsw.search(queries, targets, composition=0, **options))) > 20
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert sum(map(len, glsw.search(queries, targets, **options))) == 0
        assert not any(glsw.search(queries, targets, composition=0, seg="query", **options))


def test_compositions_without_a_solution_do_not_end_the_others() -> None:
    """Newton's equations are singular for some extreme compositions; others are solved."""
    random = np.random.default_rng(1)
    counts = random.dirichlet(np.full(20, 0.02), 500) * random.integers(10, 3000, (500, 1))
    columns = counts + 20 * BACKGROUND
    columns /= columns.sum(axis=1, keepdims=True)
    rows = np.roll(columns, 1, axis=0)
    usual = random.dirichlet(BACKGROUND * 200)
    rows[7] = columns[7] = 0.8 * usual + 0.2 * BACKGROUND
    found, _, converged = target_frequencies(JOINT, rows, columns, 0.44)
    assert converged[7]
    assert not converged.all()
    assert np.isfinite(found[converged]).all()
    alone, *_ = target_frequencies(JOINT, rows[7:8], columns[7:8], 0.44)
    np.testing.assert_allclose(found[7], alone[0], rtol=1e-12)


def reverse_translated(records: Iterable[Record], seed: int, most: int = 0) -> list[Record]:
    """Return genes of proteins, with up to so many letters on either side on either strand."""
    random, made = np.random.default_rng(seed), list[Record]()
    codons = dict[str, list[str]]()
    for codon in map("".join, product("ACGT", repeat=3)):
        codons.setdefault(str(Seq(codon).translate()), []).append(codon)
    for each in records:
        gene = "".join(random.choice(codons[letter]) for letter in each.letters)
        ends = ("".join(random.choice(list("ACGT"), random.integers(most + 1))) for _ in "ab")
        letters = gene.join(ends)
        if most and random.random() < 0.5:
            letters = str(Seq(letters).reverse_complement())
        made.append(Record(each.id, "", letters))
    return made


@pytest.mark.parametrize("translated", ["query", "target"])
def test_translations_score_as_their_proteins(translated: str) -> None:
    """So they do where nothing lies around them; BLAST does not count all that does."""
    queries, targets = generated()
    options: Any = {"composition": 2, "evalue": 1e-3, "top": None, "engine": "cpu"}
    plain = glsw.search(queries, targets, **options)
    if translated == "query":
        found = glsw.search(reverse_translated(queries, 1), targets, genetic_code=1, **options)
    else:
        genes = reverse_translated(targets, 2)
        found = glsw.search(queries, genes, target_genetic_code=1, **options)
    wanted = {(r.query.id, h.target.id): h.score for r in plain for h in r}
    scores = {(r.query.id, h.target.id): h.score for r in found for h in r}
    whole = [pair for pair in wanted if pair[1].endswith((".0", ".1"))]
    assert len(whole) == 16
    assert [scores[pair] for pair in whole] == [wanted[pair] for pair in whole]
    assert set(scores) >= set(wanted)


def test_places_of_other_frames_have_matrices_of_their_own() -> None:
    queries, _ = generated()
    one, other = queries[1].letters[:80], queries[2].letters[:80]
    genes = [
        each.letters for each in reverse_translated([Record("", "", one), Record("", "", other)], 3)
    ]
    read = "C".join(["", genes[0], "", genes[1], "A"])  # frames 2 and 1
    options: Any = {"composition": 2, "engine": "reference", "max_hsps": None, "evalue": 1e-3}
    (result,) = glsw.search([read], [one + "W" * 30 + other], genetic_code=1, **options)
    (hit,) = result
    assert sorted(hsp.context.frame for hsp in hit.hsps) == [1, 2]
    assert min(hsp.alignment.identity for hsp in hit.hsps) > 0.75  # W in the target is masked
    (result,) = glsw.search([one + "W" * 30 + other], [read], target_genetic_code=1, **options)
    (hit,) = result
    assert sorted(hsp.target_context.frame for hsp in hit.hsps) == [1, 2]


@pytest.mark.skipif(not shutil.which("blastx"), reason="no blastx here")
@pytest.mark.parametrize("program", ["blastx", "tblastn"])
@pytest.mark.parametrize("composition", [1, 2])
def test_translated_searches_score_as_blast(tmp_path: Path, program: str, composition: int) -> None:
    """Most do; BLAST does not find the best alignment of some, nor the same ends of others."""
    queries, targets = generated()
    options: Any = {"composition": composition, "seg": "query", "top": None, "engine": "cpu"}
    if program == "blastx":
        queries, options["genetic_code"] = reverse_translated(queries, 8, 900), 1
    else:
        targets, options["target_genetic_code"] = reverse_translated(targets, 9, 900), 1
    for name, records in (("q", queries), ("t", targets)):
        text = "".join(f">{each.id}\n{each.letters}\n" for each in records)
        (tmp_path / f"{name}.fasta").write_text(text)
    words = f"{program} -query q.fasta -subject t.fasta -seg yes -max_hsps 1 -sum_stats false"
    more = ["-comp_based_stats", str(composition), "-outfmt", "6 qseqid sseqid score"]
    run = subprocess.run(
        [*words.split(), *more], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    wanted = {(q, t): int(score) for q, t, score in rows}
    found = glsw.search(queries, targets, **options)
    scores = {(r.query.id, h.target.id): h.score for r in found for h in r}
    assert len(wanted) > 50
    differences = np.array([scores[pair] - score for pair, score in wanted.items()])
    assert differences.min() >= -3
    assert np.mean(differences == 0) > 0.85


def test_it_is_for_proteins_of_one_track() -> None:
    profile, gene = glsw.Profile.from_sequence("MASKG"), "ATGGCTAGCAAAGGA"
    with pytest.raises(ValueError, match="not translated targets"):
        glsw.search([profile], [gene], target_genetic_code=1, composition=1)
    blosum = glsw.Scoring.named("BLOSUM62", 12, 1)
    for scoring in (
        glsw.TwoTrackScoring.of(blosum, blosum),
        glsw.TwoTrackScoring.of(blosum, blosum, 0),
    ):
        with pytest.raises(ValueError, match="composition"):
            glsw.search("MDKV", ["MDKV"], scoring=scoring, composition=2)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return tmp_path


def test_the_defaults_of_blastp(run: Callable[..., Any]) -> None:
    files = f"{ROOT / 'demo' / 'query.fasta'} {ROOT / 'demo' / 'proteins.fasta'}"
    search = f"search {files} --order evalue --top 3 --format table --composition"
    plain, scaled, adjusted = (run(f"{search} {mode}").out for mode in (0, 1, 2))
    assert len({plain, scaled, adjusted}) == 3
    assert "scores adjusted for composition (1)" in scaled
    assert "scores adjusted" not in plain
    assert run(f"search {files} --composition 2 --matrix BLOSUM100").err == (
        "glsw: composition 2: a protein matrix and gap costs with published constants for local "
        "alignment expected, not BLOSUM100\n"
    )
