"""Engine ``cpu``: threads and jobs, what goes to the host, and a library that is missing."""

import dataclasses
import gzip
import subprocess
import sys
import threading
from concurrent.futures import Future
from functools import partial

import cases
import numpy as np
import parasail
import pyopal
import pytest
from Bio.SeqIO.FastaIO import SimpleFastaParser
from cases import CASES, judge, judge_paths
from hypothesis import given, settings, strategies as st
from subtests import with_subtests

import glsw.engines.cpu as module
import glsw.engines.spec
from glsw import Aligner
from glsw.alignment.batch import Batch, Mask
from glsw.alignment.traceback import PathBack, trace
from glsw.device.device import DeviceError
from glsw.engines import cpu_lanes, cpu_local, cpu_pairs, opal, spec
from glsw.engines.auto import Auto
from glsw.engines.base import Pairs, ignore
from glsw.engines.cpu import Cpu
from glsw.engines.cpu_lanes import CpuSizes
from glsw.engines.reference import Reference
from glsw.engines.tiles import ScanTile
from glsw.pairs.align_pairs import aligned
from glsw.scoring.gaps import FREE, EndGaps, GapCost
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, custom
from glsw.sequences.encoded import Sequences

NAMES = ("BLOSUM62 12 1", "DNA 4 4", "limit 900 1", "asymmetric 7 2", "two letters 0 0")
A = np.zeros(1000, np.uint8)
SMALL_JOBS = CpuSizes(lanes=2, job=500, largest_job=500)


def blosum62_of_parasail(query, targets, gaps):
    """Return scores by parasail; with linear gaps only its scan is right."""
    return [parasail.sw_scan_32(query, t, *gaps, parasail.blosum62).score for t in targets]


@with_subtests("threads", [1, 2, 7])
@with_subtests("name", NAMES)
def test_jobs_and_threads_do_not_matter(name, threads):
    judge(Cpu(CASES[name].scoring, threads=threads, limits=SMALL_JOBS), CASES[name])


def test_every_pair_is_in_one_job():
    sides, done = cases.shared(3).sequences, []
    every = np.indices([*map(len, sides)]).reshape(2, -1).T.astype(np.int32)
    batch, scoring = Batch(sides, every), CASES["DNA 10 1"].scoring
    found = Cpu(scoring, threads=2, limits=SMALL_JOBS).scores(batch, progress=done.append)
    assert found.tolist() == Reference(scoring).scores(batch).tolist()
    assert len(done) > 5
    assert sum(done) == batch.cells


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_at_least_one(threads):
    with pytest.raises(ValueError, match=f"threads {threads}: a whole number of 1 or more"):
        Cpu(CASES["DNA 4 4"].scoring, threads=threads)


@with_subtests("match", [1, 3, 127, 128, 200])
def test_edges_of_8_16_and_32_bits(match):
    scoring = Scoring.match_mismatch(match, -match, 2, 1, alphabet=cases.AB)
    edges = [bound // match for bound in (127, 128, 255, 256, 32767, 32768, 65535, 65536)]
    lengths = [n + more for n in edges for more in (-1, 0, 1, 2) if 0 < n + more < len(A)]
    batch = Batch.one_to_many(A, [A[:n] for n in lengths])
    assert Cpu(scoring).scores(batch).tolist() == [match * n for n in lengths]
    ends = Cpu(scoring).ends(batch, ties="any")
    assert ends.score.tolist() == [match * n for n in lengths]
    assert ends.query_end.tolist() == ends.target_end.tolist() == lengths


@with_subtests("gap_open", [126, 127, 128, 129, 255, 256, 32766, 32767, 32768, 65536])
@with_subtests("linear", [False, True])
def test_gap_costs_at_the_edges_of_8_and_16_bits(gap_open, linear):
    rng = np.random.default_rng(gap_open)
    scoring = Scoring.match_mismatch(100, -90, gap_open, gap_open if linear else 1, alphabet=DNA)
    queries = [rng.integers(0, 4, m).astype(np.uint8) for m in (40, 90, 250)]
    pairs = [(q, cases.mutated(rng, 4, q)) for q in queries for _ in range(3)]
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    assert Cpu(scoring).scores(batch).tolist() == Reference(scoring).scores(batch).tolist()


def test_every_number_of_letters():
    rng = np.random.default_rng(7)
    for letters, simd in ((1, True), (2, True), (25, True), (26, True), (27, False), (64, False)):
        alphabet = custom(tuple(f"{k:03}" for k in range(letters)))
        matrix = rng.integers(-200, 201, (letters, letters))
        scoring = Scoring(matrix, alphabet, 250, 30, "drawn")
        engine = Cpu(scoring)
        assert opal.takes(scoring) == simd
        pairs = [rng.integers(0, letters, (2, 30)).astype(np.uint8) for _ in range(9)]
        case = cases.Case("drawn", scoring, Batch.pairwise(*zip(*pairs, strict=True)))
        judge(engine, case)


def test_largest_entries_are_not_rounded():
    matrix = np.array([[10**6 - 1, -(10**6)], [-(10**6), 1]])
    scoring = Scoring(matrix, cases.AB, 9, 1, "large")
    scores = Cpu(scoring).scores(Batch.one_to_many(A[:100], [A[:99]]))
    assert scores.tolist() == [99 * (10**6 - 1)]


def test_decimal_matrix():
    scoring = Scoring.named("GONNET1992", 10.5, 0.7)
    rng = np.random.default_rng(8)
    query = rng.integers(0, 20, 60).astype(np.uint8)
    targets = [cases.mutated(rng, 20, query) for _ in range(40)]
    judge(Cpu(scoring), cases.Case("decimal", scoring, Batch.one_to_many(query, targets)))


def test_long_pairs_go_to_the_host():
    case = CASES["BLOSUM62 12 1"]
    finished = []
    engine = Cpu(case.scoring, limits=CpuSizes(long=300))
    scores = engine.scores(case.batch, progress=finished.append)
    assert scores.tolist() == case.expected.score.tolist()
    assert sum(finished) == case.batch.cells
    assert max(finished) > 300


def test_interruption_leaves_the_other_jobs(monkeypatch):
    done, interrupted = [], threading.Event()
    text_of, cancel = opal.text_of, Future.cancel

    def counted(codes):
        done.append(len(codes))
        if len(done) > 10:  # the others wait until the first is cancelled
            interrupted.wait()
        return text_of(codes)

    monkeypatch.setattr(opal, "text_of", counted)
    monkeypatch.setattr(Future, "cancel", lambda self: interrupted.set() or cancel(self))

    def interrupt(cells):
        raise KeyboardInterrupt

    targets = Sequences.of([A[:300]] * 2000)
    engine = Cpu(CASES["DNA 4 4"].scoring, threads=2, limits=SMALL_JOBS)
    with pytest.raises(KeyboardInterrupt):
        engine.scores(Batch.one_to_many(A[:300], targets), progress=interrupt)
    assert len(done) < 500
    del done[:]
    assert set(engine.scores(Batch.one_to_many(A[:300], targets)).tolist()) == {1500}
    assert done == [300] * 1000


@pytest.fixture
def copied(monkeypatch):
    """How many sequences, of which letters, the library copied each time."""
    copies, made = [], pyopal.Database

    def database(sequences, letters):
        copy = made(sequences, letters)
        copies.append((len(copy), letters))
        return copy

    monkeypatch.setattr(pyopal, "Database", database)
    return copies


def test_targets_are_encoded_once(copied):
    batch, scoring = cases.shared(4), CASES["DNA 4 4"].scoring
    engine, parts = Cpu(scoring), [batch.targets, cases.shared(5).targets]
    for k, count in ((0, 1), (0, 1), (1, 2), (1, 2)):
        some = Batch.one_to_many(A[:50], parts[k])
        assert engine.scores(some).tolist() == Reference(scoring).scores(some).tolist()
        assert len(copied) == count
    for part, scores in zip(
        parts, engine.answers(ScanTile(batch.queries, part) for part in parts), strict=True
    ):
        for query, found in zip(batch.queries, scores, strict=True):
            expected = engine.scores(Batch.one_to_many(query, part))
            assert found.tolist() == expected.tolist()


def test_the_library_has_the_letters_that_occur(copied):
    scoring = Scoring.nucleotide()
    encode = scoring.alphabet.encode
    targets = Sequences.of([encode("ACCA"), encode("CATT")])
    engine, judge_of_all = Cpu(scoring, threads=1), Reference(scoring)
    for query, letters in (("ACA", 3), ("GAT", 4), ("CNA", 5), ("ACA", 5), ("RRA", 6)):
        batch = Batch.one_to_many(encode(query), targets)
        assert engine.scores(batch).tolist() == judge_of_all.scores(batch).tolist()
        assert len(copied[-1][1]) == letters


def test_it_runs_without_a_device():
    aligner = Aligner(engine="cpu")
    assert aligner.score("HEAGAWGHEE", "PAWHEAE") == 17
    result = aligner.search("HEAGAWGHEE", ["PPPPPP", "PAWHEAE"], composition=0)
    assert [hit.score for hit in result] == [17]
    assert result.engine == "cpu"
    assert "pyopal" in result.device
    assert "thread" in result.device
    with pytest.raises(ValueError, match="engine 'cpu' runs on the CPU: omit the device"):
        Aligner(engine="cpu", device=0)


def test_the_processor_has_a_name(monkeypatch, tmp_path):
    assert module.processor()
    monkeypatch.setattr(module, "Path", lambda _: tmp_path / "missing")
    assert module.processor.__wrapped__()


@pytest.mark.parametrize("missing", ["pyopal", "scoring_matrices"])
def test_without_the_library_the_extra_is_named(missing, monkeypatch):
    assert opal.is_installed()
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setitem(sys.modules, f"{missing}.lib", None)
    assert not opal.is_installed()
    with pytest.raises(DeviceError) as caught:
        Aligner(engine="cpu")
    assert str(caught.value) == "engine 'cpu' needs pyopal: pip install 'glsw[cpu]'"


def test_the_library_is_not_imported_before_it_is_needed():
    code = "import sys, glsw; sys.exit('pyopal' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@st.composite
def large_cases(draw):
    """Matrices of large numbers, and repeats that make high scores and ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    letters = draw(st.integers(1, 26))
    unit = draw(st.sampled_from((1, 8, 60, 200, 4000)))
    matrix = rng.integers(-unit, unit + 1, (letters, letters))
    gap_extend = draw(st.integers(0, unit))
    gap_open = gap_extend + draw(st.sampled_from((0, 0, 1, unit)))
    scoring = Scoring(matrix, custom(opal.LETTERS[:letters]), gap_open, gap_extend, "drawn")
    sequences = [
        np.resize(rng.integers(0, letters, rng.integers(1, 20)), n).astype(np.uint8)
        for n in rng.integers(0, 120, draw(st.integers(2, 12)))
    ]
    index = rng.integers(0, len(sequences), (2, 8)).astype(np.int32)
    both = Sequences.of(sequences)
    return cases.Case("large", scoring, Batch.indexed(both, both, *index))


@settings(max_examples=60)
@given(case=large_cases())
def test_large_numbers(case):
    judge(Cpu(case.scoring), case)


@pytest.mark.realdata
@pytest.mark.parametrize("gaps", [(12, 1), (9, 9)])
def test_real_proteins_equal_parasail(data, gaps):
    with gzip.open(data / "proteins/ecoli_K12_sprot_4403.fasta.gz", "rt") as file:
        targets = [sequence for _, sequence in SimpleFastaParser(file)][::8]
    query = (data / "queries/standard20.fasta").read_text().split(">")[1].partition("\n")[2]
    query = query.replace("\n", "")
    aligner = Aligner(Scoring.named("BLOSUM62", *gaps), engine="cpu", unknown="X")
    encode = aligner.scoring.alphabet.encode
    codes = [encode(target, unknown="X") for target in targets]
    targets = [aligner.scoring.alphabet.decode(target) for target in codes]
    expected = blosum62_of_parasail(query, targets, gaps)
    assert aligner.score(query, targets).tolist() == expected


def test_auto_is_cpu_without_opengl(monkeypatch):
    def none(*_, **__):
        raise DeviceError("no OpenGL 3.3 device")

    monkeypatch.setattr(glsw.engines.spec, "open_device", none)
    with pytest.warns(RuntimeWarning, match="^engine 'cpu' is used: no OpenGL 3.3 device$"):
        aligner = Aligner()
    assert aligner.engine.name == "cpu"
    assert aligner.align("HEAGAWGHEE", "PAWHEAE").score == 17
    with pytest.warns(RuntimeWarning, match="^engine 'cpu' is used: no OpenGL 3.3 device$"):
        aligner = Aligner(mode="global")
    assert aligner.align("HEAGAWGHEE", "PAWHEAE").score == 1
    with pytest.warns(RuntimeWarning, match="^engine 'cpu' is used: "):
        assert Aligner(memory=2**24).engine.name == "cpu"
    with pytest.raises(DeviceError):
        Aligner(device=0)
    monkeypatch.setattr(module, "is_installed", lambda: False)
    with pytest.raises(DeviceError):
        Aligner()


def test_rest_computes_what_the_library_does_not():
    case = CASES["DNA 10 1"]
    engine = Cpu(case.scoring, limits=CpuSizes(long=100))
    left = []

    def rest(batch, progress):
        left.append(batch)
        return Reference(case.scoring).scores(batch)

    engine.rest = rest
    batch = cases.shared(3)
    cells = batch.query_lengths * batch.target_lengths
    assert engine.scores(batch).tolist() == Reference(case.scoring).scores(batch).tolist()
    assert [len(each) for each in left] == [np.count_nonzero(cells > 100)]
    assert 0 < len(left[0]) < len(batch)


UNEVEN = Scoring.from_array([[2, -1], [-3, 4]], "ab", 3, 1)
STEEP = Scoring.match_mismatch(300, -200, 300, 300)  # beyond 8 and 16 bits; opening like extending


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("scoring", [Scoring.blast(), UNEVEN, STEEP])
def test_single_pairs_are_computed_by_parasail(scoring, threads, monkeypatch):
    rng = np.random.default_rng(7)
    letters = len(scoring.alphabet.letters)
    words = [rng.integers(0, letters, n, np.uint8) for n in rng.integers(0, 150, 120)]
    queries, targets = Sequences.of(words[:60]), Sequences.of([*words[55:], words[0]])
    index = np.stack([np.arange(200) % 60, rng.integers(0, len(targets), 200)], axis=1)
    index[-40:, 0] = 5  # a query with many targets
    batch = Batch((queries, targets), index.astype(np.int32))
    engine = Cpu(scoring, threads=threads)
    single, begin = [], cpu_pairs.SinglePairs.begin
    monkeypatch.setattr(
        cpu_pairs.SinglePairs,
        "begin",
        lambda *args, ends: single.append(len(args[3])) or begin(*args, ends=ends),
    )
    done = []
    found = engine.scores(batch, progress=done.append)
    assert 0 < single[0] < 200
    assert found.tolist() == Reference(scoring).scores(batch).tolist()
    assert sum(done) == batch.cells
    assert "parasail" in engine.where


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("base", [Scoring.blast(), UNEVEN, STEEP])
def test_one_small_pair_needs_no_job(base, mode, monkeypatch):
    scoring = base.in_mode(mode)
    rng, letters = np.random.default_rng(12), len(scoring.alphabet.letters)
    engine, done = Cpu(scoring), []
    for kind in (cpu_lanes.LaneJobs, cpu_pairs.SinglePairs):
        monkeypatch.setattr(kind, "begin", partial(pytest.fail, "a job"))
    for lengths in rng.integers(1, 60, (30, 2)).tolist():
        batch = Batch.pairwise(*([rng.integers(0, letters, n, np.uint8)] for n in lengths))
        found = engine.scores(batch, progress=done.append)
        assert found.tolist() == Reference(scoring).scores(batch).tolist()
        assert done.pop() == batch.cells


LOCAL = [name for name, case in CASES.items() if Cpu(case.scoring).traces(case.batch)]


FREE_ENDS = [("global", "both"), *(("semiglobal", free) for free in ("both", "query", "target"))]


@with_subtests("name", LOCAL)
def test_alignments_by_tables(name):
    judge_paths(Cpu(CASES[name].scoring, threads=2), CASES[name])


def test_tables_are_for_all_scorings_but_those_with_free_gaps():
    left = {name for name in CASES if name not in LOCAL}
    assert len(LOCAL) > 10
    assert left
    for name in left:
        scoring = CASES[name].scoring
        assert scoring.gap_open == 0 or scoring.wide_queries or len(scoring.alphabet) > 26


@settings(max_examples=60)
@given(st.data())
def test_alignments_of_random_pairs_by_tables(data):
    """Few letters, so that many alignments are equally good."""
    word = st.lists(st.integers(0, 2), max_size=40).map(lambda some: np.array(some, np.uint8))
    pairs = data.draw(st.lists(st.tuples(word, word), min_size=1, max_size=8))
    match, mismatch = data.draw(st.integers(1, 5)), data.draw(st.integers(-5, 0))
    extend = data.draw(st.integers(0, 4))
    costs = data.draw(st.integers(max(1, extend), 6)), extend
    mode, free = data.draw(st.sampled_from([("local", "both"), *FREE_ENDS]))
    scoring = Scoring.match_mismatch(match, mismatch, *costs).in_mode(mode, free=free)
    batch = Batch.pairwise(*zip(*pairs, strict=True))
    engine = Cpu(scoring, threads=1)
    assert engine.paths(batch) is not None
    judge_paths(engine, cases.Case("random", scoring, batch))


def every_path(engine, batch):
    """Return the score and the coordinates of the best alignment of each pair, in lists."""
    scores, runs = aligned(engine, batch, "conventional")
    paths = (runs.coordinates(p).tolist() for p in range(len(runs)))
    return list(zip(scores.tolist(), paths, strict=True))


def test_pairs_with_large_tables_are_traced_back_elsewhere(device):
    case = CASES["BLOSUM62 12 1"]
    few = CpuSizes(table=300, passes=600)
    engine = Cpu(case.scoring, limits=few)
    batch = case.batch
    expected = every_path(Cpu(case.scoring), batch)
    cells = batch.query_lengths * batch.target_lengths
    assert engine.paths(batch.select(np.flatnonzero(cells > 600))) is None
    assert engine.paths(batch)  # one large table among others made all of them slow
    assert ((cells > 300) & (cells <= 600)).any()
    judge(engine, case)
    router = Auto(case.scoring, device, scanner=Cpu, limits=few)
    for some in (engine, router):
        found = every_path(some, batch)
        assert found == expected
    assert "diagonal" in router.label


def test_parts_of_large_tables_are_enough(monkeypatch):
    """Rows of NumPy took minutes for the hits of a protein of 35,000 residues."""
    rng = np.random.default_rng(8)
    domain = rng.integers(0, 20, 150).astype(np.uint8)
    query = np.concatenate([rng.integers(0, 20, 2000), domain, rng.integers(0, 20, 1500)])
    targets = [
        np.concatenate([rng.integers(0, 20, n), domain[:140], rng.integers(0, 20, n)])
        for n in (1, 300, 700)
    ]
    batch = Batch.one_to_many(query.astype(np.uint8), [each.astype(np.uint8) for each in targets])
    scoring = Scoring.blast()
    expected = every_path(Reference(scoring), batch)
    monkeypatch.setattr(cpu_pairs, "trace", partial(pytest.fail, "NumPy"))
    engine = Cpu(scoring, limits=CpuSizes(table=50_000))
    found = every_path(engine, batch)
    assert found == expected
    paths = (np.array(path) for _, path in expected)
    nothing = Mask.nothing(len(query))
    masked = batch.masked(cases.with_path(nothing, path) for path in paths)
    monkeypatch.undo()
    expected = every_path(Reference(scoring), masked)
    found = every_path(engine, masked)
    assert found == expected


def test_rows_of_numpy_are_those_of_the_alignment_alone(monkeypatch):
    """Rows of NumPy took most of the time of long proteins against a genome."""
    rng, scoring = np.random.default_rng(12), Scoring.blast()
    domain = rng.integers(0, 20, 400).astype(np.uint8)
    query = np.concatenate([rng.integers(0, 20, 1200), domain, rng.integers(0, 20, 900)])
    target = np.concatenate([rng.integers(0, 20, 9000), domain[5:], rng.integers(0, 20, 4000)])
    batch = Batch.one_to_many(query.astype(np.uint8), [target.astype(np.uint8)])
    expected, cells = every_path(Reference(scoring), batch), []

    def traced(query, target, *args, **options):
        cells.append(len(query) * len(target))
        return trace(query, target, *args, **options)

    for part in (module, cpu_pairs):
        monkeypatch.setattr(part, "best_end", partial(pytest.fail, "NumPy"))
    monkeypatch.setattr(cpu_pairs, "trace", traced)
    engine = Cpu(scoring, limits=CpuSizes(table=100_000))
    assert every_path(engine, batch) == expected
    assert engine.ends(batch).end.tolist() == Reference(scoring).ends(batch).end.tolist()
    assert len(cells) == 1  # ends need no rows
    assert max(cells) < 2 * len(domain) ** 2


def test_few_large_tables_exist_at_once(monkeypatch):
    case = CASES["BLOSUM62 12 1"]
    few = CpuSizes(large_table=300, large_tables=2, walked=0, job_of_singles=500)
    engine = Cpu(case.scoring, threads=5, limits=few)
    at_once, most, go = [], [], PathBack.go

    def counted(way, table, *rest, **options):
        at_once.append(table.size > 300)
        most.append(sum(at_once))
        go(way, table, *rest, **options)
        at_once.remove(table.size > 300)

    monkeypatch.setattr(PathBack, "go", counted)
    judge_paths(engine, case)
    assert max(most) <= 2
    assert max(most) > 0


def test_auto_aligns_by_tables_where_there_is_no_gpu(device):
    if not device.info.software:
        pytest.skip("there is a GPU")
    case = CASES["BLOSUM62 12 1"].part(slice(100, 110))
    router = Auto(case.scoring, device, scanner=Cpu)
    judge_paths(router, case)
    assert "cpu" in router.label


@pytest.mark.parametrize("mode", ["local", "global"])
def test_a_single_pair_belongs_to_the_host(mode, device, monkeypatch):
    """It is there before any device would begin, where no device is named."""
    hardware = cases.standing_in(device)
    monkeypatch.setattr(spec, "open_device", lambda **_: hardware)
    monkeypatch.setattr(spec.speeds, "known", lambda device: {"lanes": 2e9, "cpu": 1e9})
    rng = np.random.default_rng(12)
    one, other, long = (rng.integers(0, 20, n).astype(np.uint8) for n in (30, 300, 1100))
    scoring = Scoring.blast().in_mode(mode)
    small, large = Batch.of([(one, other)]), Batch.of([(other, long)])
    expected = Reference(scoring)
    made = spec.EngineSpec("auto", scoring).make()
    assert made.scores(small).tolist() == expected.scores(small).tolist()
    assert every_path(made, small) == every_path(expected, small)
    assert made.scores(large).tolist() == expected.scores(large).tolist()
    assert made.label == "auto: cpu"
    assert every_path(made, large) == every_path(expected, large)
    assert made.label == ("auto: cpu" if mode == "local" else "auto: cpu, blocked")
    named = spec.EngineSpec("auto", scoring, hardware).make()
    named.scores(small)
    assert "cpu" not in named.label


@pytest.mark.parametrize(("mode", "free"), FREE_ENDS)
@pytest.mark.parametrize("base", [Scoring.blast(), UNEVEN, STEEP])
def test_scores_from_end_to_end(base, mode, free, device):
    scoring = base.in_mode(mode, free=free)
    rng, letters = np.random.default_rng(11), len(scoring.alphabet.letters)
    words = [rng.integers(0, letters, n, np.uint8) for n in rng.integers(0, 40, 120)]
    batch = Batch.pairwise(words[:60], words[60:])
    expected = Reference(scoring)
    engine, router = Cpu(scoring, threads=2), Auto(scoring, device, scanner=Cpu)
    for some in (engine, router):
        assert some.scores(batch).tolist() == expected.scores(batch).tolist()
        judge_paths(some, cases.Case("from end to end", scoring, batch))
        ends, right = some.ends(batch), expected.ends(batch)
        assert (ends.score.tolist(), ends.end.tolist()) == (
            right.score.tolist(),
            right.end.tolist(),
        )
    assert "cpu" in router.label or not device.info.software
    matrix = expected.scores(Batch.one_to_many(words[5], words)).tolist()
    (found,) = engine.answers([ScanTile(Sequences.of([words[5]]), Sequences.of(words))])
    assert found[0].tolist() == matrix


COSTS = {
    "protein 12 1": Scoring.blast(),
    "protein 11 11": Scoring.named("BLOSUM62", 11, 11),
    "protein 0 0": Scoring.named("BLOSUM62", 0, 0),
    "DNA 7 2": Scoring.nucleotide(),
    "DNA 127 3": Scoring.match_mismatch(5, -4, 127, 3),
    "DNA 129 129": Scoring.match_mismatch(127, -128, 129, 129),
    "DNA 40000 1000": Scoring.match_mismatch(9000, -9000, 40_000, 1000),
}


@with_subtests("mode", FREE_ENDS)
@with_subtests("costs", COSTS)
def test_lanes_from_end_to_end_equal_parasail(costs, mode):
    """Scores of 8, 16 and 32 bits: 1,875 pairs of each mode, of which some are related."""
    scoring = COSTS[costs].in_mode(mode[0], free=mode[1])
    rng, letters = np.random.default_rng(len(costs)), 20 if "protein" in costs else 4
    queries = [rng.integers(0, letters, n, np.uint8) for n in rng.integers(0, 401, 25)]
    targets = [rng.integers(0, letters, n, np.uint8) for n in rng.integers(0, 401, 50)]
    targets += [cases.mutated(rng, letters, each) for each in queries]
    tile = ScanTile(Sequences.of(queries), Sequences.of(targets))
    in_lanes = Cpu(scoring, threads=2)
    with pytest.MonkeyPatch.context() as patch:
        assert opal.Opal(scoring).algorithm or mode == ("semiglobal", "query")
        patch.setattr(opal, "algorithm_of", lambda scoring: "")
        alone = Cpu(scoring, threads=2)
    (found,), (expected,) = in_lanes.answers([tile]), alone.answers([tile])
    assert found.tolist() == expected.tolist()
    single = Batch.one_to_many(queries[0], targets[:5])
    assert found[0, :5].tolist() == Reference(scoring).scores(single).tolist()


def test_another_caller_with_other_gap_costs_came_first():
    """What Opal has for minus infinity depends on the first call of a process."""
    code = """
import numpy as np, pyopal
for algorithm in ("nw", "hw", "ov"):
    aligner = pyopal.Aligner(gap_open=100, gap_extend=100)
    aligner.align("A", pyopal.Database(["A"]), algorithm=algorithm)
from glsw import Scoring
from glsw.alignment.batch import Batch
from glsw.engines.cpu import Cpu
from glsw.engines.opal import Opal
from glsw.engines.reference import Reference
batch = Batch.one_to_many(np.zeros(30, np.uint8), [np.full(n, 17, np.uint8) for n in range(40)])
for mode in ("global", "semiglobal"):
    scoring = Scoring.named("BLOSUM62", 11, 1).in_mode(mode)
    assert not Opal(scoring).algorithm
    engine = Cpu(scoring)
    assert engine.scores(batch).tolist() == Reference(scoring).scores(batch).tolist()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numbers_that_come_near_32_bits_are_left_to_others():
    scoring = Scoring.match_mismatch(10**6, -(10**6), 10**6, 10**6)
    words = [np.zeros(n, np.uint8) for n in (530, 531, 536, 537)]
    large, small = Batch.pairwise(words, words), Batch.pairwise(words[:2], words[:2])
    for some, fits in ((large, False), (small, True)):
        engine = Cpu(scoring)
        assert engine.traces(some) == fits
        expected = [10**6 * len(some.pair(p)[0]) for p in range(len(some))]
        assert engine.scores(some).tolist() == engine.ends(some).score.tolist() == expected


@with_subtests("task", ["ends", "score"])
def test_masks_count_where_several_queries_have_many_targets(task):
    """Such pairs share lanes, which know no masks, if they have none."""
    random = np.random.default_rng(44)
    scoring = Scoring.blast()
    queries, targets = (
        Sequences.of(random.integers(0, 20, (count, length)).astype(np.uint8))
        for count, length in ((2, 30), (40, 60))
    )
    pairs = np.indices((len(queries), len(targets))).reshape(2, -1).T.astype(np.int32)
    batch = Batch((queries, targets), pairs)
    plain = Cpu(scoring).best(Pairs(batch, "ends"), ignore)
    ones = [
        Mask.of(range(max(0, i - n), i), range(max(0, j - n), j), 30)
        for i, j, n in np.stack([plain.i, plain.j, np.minimum(plain.i, plain.j)], axis=1).tolist()
    ]
    masked = batch.masked(ones)
    asked = Pairs(masked, task)
    expected = Reference(scoring).best(asked, ignore)
    assert (expected.score < plain.score).any()
    found = Cpu(scoring).best(asked, ignore)
    assert found.score.tolist() == expected.score.tolist()


def test_masks_of_many_pairs_are_for_the_device():
    """Rows of NumPy take ten times as long as llvmpipe."""
    engine, word = Cpu(Scoring.blast(), limits=CpuSizes(sparse=3)), np.arange(9, dtype=np.uint8)
    masks = [Mask.of(range(n), range(n), len(word)) for n in (3, 4)]
    batch = Batch.pairwise([word] * 2, [word] * 2).masked(masks)
    assert [engine.traces(batch.select([p])) for p in (0, 1)] == [True, False]
    assert not engine.traces(batch)
    assert engine.scores(batch).tolist() == Reference(Scoring.blast()).scores(batch).tolist()


def test_other_end_gaps_are_left_to_the_host():
    ends = EndGaps(GapCost(1, 1), FREE, FREE, GapCost(1, 0))
    scoring = dataclasses.replace(Scoring.blast(), end_gaps=ends)
    assert not module.takes(scoring)
    assert module.takes(Scoring.blast().in_mode("global"))
    case = CASES["BLOSUM62 12 1"]
    batch = case.batch.select(np.arange(0, len(case.batch), 5))
    assert Cpu(scoring).scores(batch).tolist() == Reference(scoring).scores(batch).tolist()


def test_without_parasail_lanes_are_idle(monkeypatch):
    monkeypatch.setattr("glsw.engines.cpu_pairs.is_installed", lambda: False)
    engine = Cpu(Scoring.blast())
    assert "parasail" not in engine.where
    words = [np.full(n, 3, np.uint8) for n in (5, 9, 3)]
    batch = Batch.pairwise(words, words[::-1])
    assert engine.scores(batch).tolist() == Reference(Scoring.blast()).scores(batch).tolist()


def test_auto_has_the_cpu_score_single_pairs_where_there_is_no_gpu(device):
    if not device.info.software:
        pytest.skip("there is a GPU")
    rng = np.random.default_rng(8)
    words = ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 300)) for _ in range(40)]
    aligner = Aligner()
    found = aligner.score_pairs(words[:20], words[20:])
    assert "cpu" in aligner.engine.label
    assert (
        found.tolist() == Aligner(engine="reference").score_pairs(words[:20], words[20:]).tolist()
    )


def test_parts_use_the_copy_of_the_whole(copied):
    scoring, random = Scoring.named("BLOSUM62", 11, 1), np.random.default_rng(7)
    engine = Cpu(scoring)
    lengths = np.sort(random.integers(0, 60, 300))[::-1]
    codes = random.integers(0, 20, int(lengths.sum()), np.uint8)
    whole = Sequences(codes, np.cumsum([0, *lengths.tolist()], dtype=np.int64))
    query = codes[:50]
    expected = Reference(scoring).scores(Batch.one_to_many(query, list(whole)))
    queries = Sequences.of([query])
    for part in (slice(0, 300), slice(20, 200), slice(200, 290), slice(5, 9)):
        (found,) = engine.answers([ScanTile(queries, whole.part(part))])
        assert found[0].tolist() == expected[part].tolist()
        assert [count for count, _ in copied] == [300]
    other = Sequences(codes, whole.offsets)
    engine = Cpu(scoring, limits=CpuSizes(parts_of_whole=2))
    (found,) = engine.answers([ScanTile(queries, other.part(slice(250, 300)))])
    assert found[0].tolist() == expected[250:].tolist()
    assert [count for count, _ in copied] == [300, 50]


@pytest.mark.parametrize("together", [1, 7, 10**6])
def test_queries_with_few_targets_are_computed_together(together):
    scoring = Scoring.blast()
    rng = np.random.default_rng(11)
    queries, targets = (
        Sequences.of([rng.integers(0, 20, n).astype(np.uint8) for n in lengths])
        for lengths in ((30, 1, 7, 300), (40, 1, 90))
    )
    progress: list[int] = []
    tiles = [ScanTile(queries, targets), ScanTile(queries.part(slice(1, 3)), targets)]
    engine = Cpu(scoring, threads=2, limits=CpuSizes(together=together))
    found = list(engine.answers(tiles, progress=progress.append))
    expected = list(Reference(scoring).answers(tiles))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert sum(progress) == 131 * (338 + 8)


@pytest.mark.parametrize(
    ("scoring", "longest"),
    [
        (Scoring.match_mismatch(1000, -1000, 900, 10), 16),
        (Scoring.match_mismatch(8192, -1, 8192, 1), 1),
        (Scoring.match_mismatch(8193, -1, 2, 1), -1),  # twice that is no number of 16 bits
        (Scoring.match_mismatch(1, -1, 8193, 1), -1),
        (Scoring.match_mismatch(2, -3, 4, 4), -1),  # striped functions are wrong now and then
        (Scoring.match_mismatch(2, -3, 7, 2), 8191),
        (Scoring.match_mismatch(2, -3, 7, 2).in_mode("global"), -1),
    ],
)
def test_pairs_are_scored_in_16_bits_where_no_score_leaves_them(scoring, longest, monkeypatch):
    called, best = [], cpu_pairs.parasail_calls.best

    def watched(name, *rest):
        called.append(name)
        return best(name, *rest)

    monkeypatch.setattr(cpu_pairs.parasail_calls, "best", watched)
    assert cpu_pairs.longest_in_16_bits(scoring) == longest
    lengths = sorted({1, 2, 16, 17, 60, max(1, min(longest, 100)), max(1, min(longest + 1, 100))})
    rng = np.random.default_rng(1)
    targets = [np.append(np.zeros(n, np.uint8), rng.integers(0, 4, 5)) for n in lengths]
    queries = [np.zeros(n, np.uint8) for n in lengths]
    batch = Batch.pairwise(queries, [each.astype(np.uint8) for each in targets])
    found = Cpu(scoring, threads=1).scores(batch)
    assert found.tolist() == Reference(scoring).scores(batch).tolist()
    narrow = [n for n, name in zip(lengths, called, strict=True) if name == "sw_striped_16"]
    assert narrow == [n for n in lengths if n <= longest]


@with_subtests("name", [name for name in NAMES if CASES[name].scoring.gap_open])
def test_tables_by_diagonals(name):
    """Those of large pairs."""
    case = CASES[name].part(slice(60, 100))
    judge_paths(Cpu(case.scoring, limits=CpuSizes(by_diagonals=0)), case)


def test_tables_by_diagonals_of_a_matrix_that_is_not_symmetric():
    scoring, rng = Scoring.match_mismatch(5, -4, 6, 2), np.random.default_rng(69)
    scoring = dataclasses.replace(scoring, matrix=rng.integers(-6, 7, (15, 15), np.int32))
    batch = Batch.of([tuple(rng.integers(0, 4, n, np.uint8) for n in (40, 60)) for _ in range(8)])
    for mode in ("local", "global", "semiglobal"):
        made = scoring.in_mode(mode)
        engine = Cpu(made, limits=CpuSizes(by_diagonals=0))
        assert every_path(engine, batch) == every_path(Reference(made), batch)


def test_the_longest_alignment_is_found_in_64_bits_where_32_do_not_suffice(monkeypatch):
    used, best = [], cpu_local.best
    monkeypatch.setattr(cpu_local, "_LARGEST_LONG", 2**14)
    monkeypatch.setattr(cpu_local, "best", lambda name, *of: used.append(name) or best(name, *of))
    rng, scoring = np.random.default_rng(70), Scoring.blast()
    one = rng.integers(0, 20, 120, np.uint8)
    batch = Batch.of([(one, np.concatenate([one[10:60], one[65:]]))])
    engine = Cpu(scoring, limits=CpuSizes(column_table=0))
    assert every_path(engine, batch) == every_path(Reference(scoring), batch)
    assert "sw_striped_64" in used
