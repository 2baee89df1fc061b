"""Searches in parts, with several processes, and from indexed files: the hits are the same."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path

import numpy as np
import pytest
from failing import REASONS, always_fails, fails_once
from hypothesis import given, strategies as st
from smaller import smaller

import glsw
from glsw import Aligner, Database, Record, Scoring, SearchResult, makedb
from glsw.device.device import Device, DeviceError
from glsw.engines import ENGINES, Cpu, Reference
from glsw.engines.auto import Auto
from glsw.engines.base import ComingScan, ScanHints
from glsw.engines.gl import Programs
from glsw.engines.lanes.engine import Lanes
from glsw.run import workers
from glsw.search import scan as scans, stages
from glsw.search.ranking import NOTHING, Found, Ranking, target_numbers
from glsw.search.scan import Part, scan
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.sequences.encoded import Sequences
from glsw.statistics import for_search
from glsw.statistics.least_scores import Floors, least_scores
from glsw.trust.proofs import Proofs


def records(count: int, longest: int, seed: int = 0) -> list[Record]:
    """Random proteins, some of them empty, some equal."""
    random = np.random.default_rng(seed)
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    made = [
        Record(f"t{k}", f"number {k}", "".join(random.choice(letters, random.integers(longest))))
        for k in range(count)
    ]
    return made + [Record(f"copy of {each.id}", "", each.letters) for each in made[::3]]


TARGETS = records(60, 90)
QUERIES = [*records(4, 50, seed=1), TARGETS[7]]


def shown(results: Iterator[SearchResult]) -> list[str]:
    return [
        "\n".join([str(each), *(str(hit.alignment) for hit in each)]) + f"\n{each.cells}"
        for each in results
    ]


@pytest.fixture(scope="module")
def expected() -> list[str]:
    return shown(Aligner(engine="cpu").search(QUERIES, TARGETS))


class Small(Cpu):
    """Has room for parts of a hundred residues, and looks at about two queries at once."""

    name = "small"

    hints = ScanHints(
        part=100,
        cells_at_once=2 * (sum(map(len, QUERIES)) // len(QUERIES)) * sum(map(len, TARGETS)),
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Aligner:
    monkeypatch.setitem(ENGINES, "small", Small)
    return Aligner(engine="small")


# which hits are kept


@given(
    st.lists(st.integers(0, 9), max_size=300),
    st.one_of(st.none(), st.integers(1, 20)),
    st.sampled_from([1, 2.5, 8, 1000]),
    st.integers(1, 50),
    st.randoms(use_true_random=False),
)
def test_the_best_are_kept(scores, top, least, size, random):
    order = list(range(len(scores)))
    random.shuffle(order)
    ranking = Ranking(top, least)
    hits = [NOTHING]
    for start in range(0, len(order), size):
        part = order[start : start + size]
        found = np.array([scores[k] for k in part], np.int32)
        hits.append(Found(ranking.best(found, np.array(part, np.int64))))
    best = sorted((-score, k) for k, score in enumerate(scores) if score >= least)[:top]
    assert target_numbers(ranking.merged(*hits).key).tolist() == [k for _, k in best]


@pytest.mark.parametrize("top", [1, 3, 700, None])
@pytest.mark.parametrize("count", [0, 1, 7, 200])
def test_the_best_of_each_query(top: int | None, count: int) -> None:
    scores = np.random.default_rng(3).integers(0, 9, (5, count)).astype(np.int32)
    numbers, ranking = np.arange(count)[::-1] + 5, Ranking(top, 4)
    lengths, least = np.array([9, 10, 19, 20, 99]), [4, 4, 4, 6, 6]
    floors = Floors(np.array([9, 20]), np.array([3, 6]))
    for some, each_least in ((None, [4] * 5), (floors, least)):
        of_each = ranking._replace(floors=some).best_of_each(scores, numbers, lengths)
        rankings = [Ranking(top, score) for score in each_least]
        assert [each.tolist() for each in of_each] == [
            each.best(row, numbers).tolist() for each, row in zip(rankings, scores, strict=True)
        ]


@pytest.mark.parametrize("count", [4, 70])
def test_global_scores_below_zero_are_no_hits(count: int) -> None:
    targets = ["KKKKKKKKKK", "MKVLAAGIWQHEAGAWGHEW", *["W" * 20] * (count - 2)]
    with Aligner(mode="global", engine="reference") as aligner:
        (found,) = aligner.search(["MKVLAAGIWQHEAGAWGHEE"], targets)
    assert [(hit.rank, hit.target.id, hit.score) for hit in found] == [(1, "target 2", 106)]


@pytest.mark.parametrize("scoring", [Scoring.blast(), Scoring.nucleotide()])
@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=12),
    st.lists(st.integers(1, 5000), min_size=1, max_size=12),
    st.sampled_from([1e-9, 0.02, 10.0, 1000.0]),
)
def test_no_query_misses_a_hit_for_the_length_of_another(scoring, queries, targets, evalue):
    """The least scores of queries are the best that is known of all target lengths, or lower."""
    statistics = for_search(scoring, 300, 400, 150_000)
    floors = least_scores(statistics, evalue, np.array(queries), np.array(targets), scoring)
    for m, floor in zip(queries, floors.of(np.array(queries)).tolist(), strict=True):
        exact = int(statistics.cutoff(evalue, m, np.array(targets)).min())
        if exact <= scoring.bound(m, max(targets)):
            assert floor <= exact
            if m in floors.lengths:
                assert floor == exact


@pytest.mark.parametrize("top", [1, 3, 700, None])
def test_large_scores_and_many_sequences(top: int | None) -> None:
    scores = np.random.default_rng(2).integers(0, 2**31, 50_000).astype(np.int32)
    scores[[5, 77, 40_000]] = 2**31 - 1
    found = Ranking(top, 1).best(scores, np.arange(len(scores))[::-1] + 2**31)
    best = np.argsort(-scores[::-1].astype(np.int64), kind="stable")[:top] + 2**31
    assert target_numbers(found).tolist() == best.tolist()


# parts


@pytest.mark.parametrize("top", [1, 4, None])
def test_parts_give_the_same_hits(small: Aligner, top: int | None) -> None:
    whole = Aligner(engine="cpu").search(QUERIES, TARGETS, top=top, evalue=None)
    assert shown(small.search(QUERIES, TARGETS, top=top, evalue=None)) == shown(whole)


@pytest.fixture
def tasks_seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], Sequences]]:
    """Watch which queries, by their lengths, meet which part."""
    seen: list[tuple[list[int], Sequences]] = []
    answers = Small.answers

    def watched(self, tiles, *, progress=None):
        for tile in tiles:
            seen.append((tile.queries.lengths.tolist(), tile.targets))
            yield from answers(self, [tile], progress=progress)

    monkeypatch.setattr(Small, "answers", watched)
    return seen


def test_each_part_meets_all_queries(small: Aligner, tasks_seen) -> None:
    results = small.search(QUERIES, TARGETS)
    next(results)
    parts = len(list(Database.of(TARGETS, PROTEIN).parts(100)))
    assert [len(lengths) for lengths, _ in tasks_seen] == [len(QUERIES)] * parts
    list(results)
    assert len(tasks_seen) == parts


def test_queries_are_taken_as_the_engine_wants_them(
    small: Aligner, tasks_seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Small, "hints", replace(Small.hints, part=10**6))
    smaller(monkeypatch, seconds_together=-1)
    results = small.search(QUERIES, TARGETS)
    next(results)
    next(results)
    lengths = [len(each) for each in QUERIES]
    total = sum(map(len, TARGETS))
    groups: list[list[int]] = [[]]
    for length in lengths:
        if groups[-1] and (sum(groups[-1]) + length) * total > Small.hints.cells_at_once:
            groups.append([])
        groups[-1].append(length)
    seen = [lengths for lengths, _ in tasks_seen]
    assert seen == groups[: len(seen)]
    assert len(seen) < len(groups)
    list(results)
    assert [lengths for lengths, _ in tasks_seen] == groups


def test_few_queries_are_taken_together_once_the_engine_is_known_to_be_fast(
    small: Aligner, tasks_seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Small, "hints", replace(Small.hints, part=10**6))
    slow = shown(small.search(QUERIES, TARGETS))
    alone = len(tasks_seen)
    monkeypatch.setattr(Small, "hints", replace(Small.hints, rate=1e9))
    assert shown(small.search(QUERIES, TARGETS)) == slow
    assert alone > 1
    assert [len(lengths) for lengths, _ in tasks_seen[alone:]] == [len(QUERIES)]


def test_progress_counts_all_cells(small: Aligner) -> None:
    done: list[int] = []
    results = list(small.search(QUERIES, TARGETS, progress=done.append))
    assert sum(done) == sum(each.cells for each in results)
    assert sum(done) == sum(map(len, QUERIES)) * sum(map(len, TARGETS))
    assert all(each.seconds > 0 for each in results if len(each.query))


@pytest.mark.parametrize("queries", [[], [Record("empty", "", "")], QUERIES])
def test_nothing_to_search(queries: list[Record], small: Aligner) -> None:
    for result in small.search(queries, []):
        assert (len(result), result.sequences, result.residues, result.cells) == (0, 0, 0, 0)


# databases


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indexed")
    fasta = folder / "db.fasta"
    fasta.write_text("".join(f">{r.id} {r.description}\n{r.letters}\n" for r in TARGETS))
    makedb(fasta, folder / "db")
    return folder


@pytest.mark.parametrize("kind", ["fasta", "path", "opened", "in memory"])
def test_kinds_of_databases(kind: str, indexed: Path) -> None:
    fasta, path = indexed / "db.fasta", indexed / "db"
    database = {
        "fasta": fasta,
        "path": path,
        "opened": Database.open(path),
        "in memory": Database.of(glsw.read(fasta), PROTEIN),
    }[kind]
    aligner = Aligner(engine="reference")
    listed = list(glsw.read(fasta))
    assert shown(aligner.search(QUERIES, database)) == shown(aligner.search(QUERIES, listed))
    single = aligner.search(QUERIES[0], database)
    assert isinstance(single, SearchResult)
    assert single.sequences == len(TARGETS)


def test_database_of_another_alphabet(indexed: Path) -> None:
    aligner = Aligner(Scoring.match_mismatch(2, -3, 5, 2), engine="reference")
    with pytest.raises(ValueError, match=r"its alphabet is protein .*, that of the scoring is"):
        aligner.search("ACGT", indexed / "db")
    assert aligner.search("ACGT", Database.of([Record("d", "", "ACG")], DNA))[0].score == 6


# several processes


@pytest.fixture(scope="module")
def two(device: Device) -> Iterator[Aligner]:
    """Two processes on the device under test."""
    index = device.info.index
    with Aligner(engine="diagonal", device=[index, index]) as aligner:
        yield aligner


@pytest.mark.parametrize("in_file", [False, True])
def test_two_processes_find_the_same(
    two: Aligner, in_file: bool, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(monkeypatch, first_share=2**26)  # tasks of a few cells
    for worker in two._pool.workers():
        worker.rate = None
    database = indexed / "db" if in_file else TARGETS
    one = Aligner(engine="diagonal", device=two.engine.device)
    done: list[int] = []
    results = list(two.search(QUERIES, database, progress=done.append))
    assert shown(iter(results)) == shown(one.search(QUERIES, database))
    assert len(done) > 2
    assert sum(done) == sum(each.cells for each in results)
    assert {each.device for each in results} <= {
        f"2 x {two.engine.where}",
        two.engine.where,
    }
    assert {each.engine for each in results} == {"diagonal"}


def test_two_processes_and_an_empty_database(two: Aligner) -> None:
    assert [len(result) for result in two.search(QUERIES, [])] == [0] * len(QUERIES)


def test_processes_end_with_an_aligner_that_is_no_longer_used(device: Device) -> None:
    index, before = device.info.index, set(active_children())
    aligner = Aligner(engine="diagonal", device=[index, index])
    results = aligner.search([QUERIES[0], QUERIES[0]], TARGETS)
    del aligner
    processes = set(active_children()) - before
    assert len(processes) == 2
    assert len(list(results)) == 2
    del results
    for process in processes:
        process.join(10)
        assert not process.is_alive()


def test_other_verbs_use_the_first_device(two: Aligner) -> None:
    assert two.score("HEAGAWGHEE", "PAWHEAE") == 17
    assert two.align("HEAGAWGHEE", "PAWHEAE").score == 17


@pytest.mark.parametrize("how", REASONS)
def test_a_failed_part_is_repeated(
    how: str,
    two: Aligner,
    expected: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "run_task", partial(fails_once, str(tmp_path / "flag"), how))
    with pytest.warns(
        RuntimeWarning, match=rf"^device \d+: {REASONS[how]}; a part of the search"
    ) as w:
        assert shown(two.search(QUERIES, TARGETS)) == expected
    assert len(w) == 1
    assert shown(two.search(QUERIES, TARGETS)) == expected  # with a new process


@pytest.mark.parametrize("how", REASONS)
def test_a_part_that_fails_twice_is_an_error(
    how: str, two: Aligner, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        patched.setattr(workers, "run_task", partial(always_fails, how))
        with pytest.raises(DeviceError, match=f"^device .*: {REASONS[how]}; .* has failed twice$"):
            list(two.search(QUERIES, TARGETS))
    assert shown(two.search(QUERIES, TARGETS)) == expected


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_database_that_is_gone_is_searched_by_several_processes(
    how: str, two: Aligner, indexed: Path, expected: list[str], tmp_path: Path
) -> None:
    shutil.copy(indexed / "db", tmp_path / "db")
    database = Database.open(tmp_path / "db")
    if how == "deleted":
        (tmp_path / "db").unlink()
    else:
        (tmp_path / "db.fasta").write_text(">another\nMKV\n")
        makedb(tmp_path / "db.fasta", tmp_path / "db")
    assert shown(two.search(QUERIES, database)) == expected


def test_other_errors_of_a_task_are_raised(
    two: Aligner, indexed: Path, expected: list[str], tmp_path: Path
) -> None:
    shutil.copy(indexed / "db", tmp_path / "db")
    database = Database.open(tmp_path / "db")
    len(database.sequences)  # this process has read it
    with open(tmp_path / "db", "r+b") as file:
        file.truncate(100)
    with pytest.raises(ValueError, match="truncated database, 100 of"):
        list(two.search(QUERIES, database))
    assert shown(two.search(QUERIES, TARGETS)) == expected


def test_devices_that_are_not_there(device: Device) -> None:
    index = device.info.index
    with pytest.raises(DeviceError, match="no device 99; found device 0: "):
        Aligner(engine="diagonal", device=[index, 99])
    with pytest.raises(ValueError, match="at least one expected"):
        Aligner(engine="diagonal", device=[])
    with pytest.raises(ValueError, match="engine 'reference' runs on the CPU: omit the device"):
        Aligner(engine="reference", device=[0, 1])
    with pytest.raises(ValueError, match="omit the device"):
        Aligner(engine="reference", device="all")


def test_all_devices() -> None:
    hardware = [info.index for info in glsw.devices() if not info.software]
    aligner = Aligner(engine="fragment", device="all")
    aligner.close()
    if hardware:
        assert aligner.engine.device.info.index == hardware[0]


# executors


EXECUTORS: dict[str, Callable[[], Executor]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
}


@pytest.mark.parametrize("kind", EXECUTORS)
def test_executors(kind: str, expected: list[str], indexed: Path) -> None:
    with EXECUTORS[kind]() as executor:
        aligner = Aligner(engine="reference")
        found = aligner.search(QUERIES, TARGETS, executor=executor)
        assert shown(found) == expected
        listed = aligner.search(QUERIES, indexed / "db")
        assert shown(aligner.search(QUERIES, indexed / "db", executor=executor)) == shown(listed)


def test_an_engine_on_a_device_needs_processes(device: Device, expected: list[str]) -> None:
    aligner = Aligner(engine="diagonal", device=device)
    with (
        EXECUTORS["threads"]() as executor,
        pytest.raises(ValueError, match="'diagonal' on an executor needs processes started by 'sp"),
    ):
        list(aligner.search(QUERIES, TARGETS, executor=executor))
    aligner = Aligner(engine="diagonal", device=device.info.index)
    with EXECUTORS["processes"]() as executor:
        assert shown(aligner.search(QUERIES, TARGETS, executor=executor)) == expected


def test_a_task_of_an_executor_that_fails_is_repeated(
    expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "run_task", partial(fails_once, str(tmp_path / "flag"), "raises"))
    said = "^worker on here: the driver is lost; a part of the search is computed again$"
    with EXECUTORS["processes"]() as executor:
        found = Aligner(engine="reference").search(QUERIES, TARGETS, executor=executor)
        with pytest.warns(RuntimeWarning, match=said) as w:
            assert shown(found) == expected
    assert len(w) == 1


def test_executors_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    aligner = Aligner(engine="reference")
    with EXECUTORS["threads"]() as executor:
        executor.shutdown()
        with pytest.raises(DeviceError, match=r"^executor: cannot schedule new futures after shut"):
            aligner.search("MKV", TARGETS, executor=executor)
    monkeypatch.setattr(workers, "run_task", partial(always_fails, "dies"))
    with (
        EXECUTORS["processes"]() as executor,
        pytest.raises(DeviceError, match=r"^executor: A process in the process pool was "),
    ):
        aligner.search("MKV", TARGETS, executor=executor)


def test_executors_that_cannot_be(two: Aligner) -> None:
    with pytest.raises(TypeError, match="executor must be an Executor, not int"):
        Aligner(engine="reference").search("MKV", TARGETS, executor=4)
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(ValueError, match="an executor and several devices cannot be combined"),
    ):
        two.search("MKV", TARGETS, executor=executor)


def test_scan_of_no_parts() -> None:
    queries = Sequences.of([PROTEIN.encode("MKV")])
    (found,) = scan(Reference(Scoring.blast()), queries, [], Ranking(10, 1))
    assert not len(found.found)


def test_a_whole_database_is_always_the_same_object() -> None:
    database = Database.of(TARGETS, PROTEIN)
    whole = slice(0, len(database))
    assert Part.of(database, whole).load() is Part.of(database, whole).load()


def test_the_first_large_search_gets_ready_while_its_targets_are_read(
    expected: list[str], monkeypatch: pytest.MonkeyPatch, device: Device
) -> None:
    ready: list[int] = []
    get_ready = Lanes.get_ready

    def noted(engine: Lanes, coming: ComingScan) -> None:
        get_ready(engine, coming)
        ready.append(coming.residues)

    hints = property(lambda self: ScanHints(rate=1.0 if ready else None))
    monkeypatch.setattr(Lanes, "hints", hints)
    monkeypatch.setattr(Lanes, "get_ready", noted)
    smaller(monkeypatch, large_scan=0)
    aligner = Aligner(engine="lanes", device=device)
    database = Database.of(TARGETS, PROTEIN)
    assert shown(aligner.search(QUERIES, database)) == expected
    assert shown(aligner.search(QUERIES, database)) == expected
    assert ready == [len(database.sequences.residues)]


def test_programs_of_a_large_search_are_begun_unless_they_are_proved(
    expected: list[str], monkeypatch: pytest.MonkeyPatch, device: Device
) -> None:
    begun: set[str] = set()
    monkeypatch.setattr(Programs, "begin", lambda engine, name, **macros: begun.add(name))
    monkeypatch.setattr(scans, "large_first", lambda *words: True)
    monkeypatch.setattr(Auto, "weak", False)  # as hardware
    monkeypatch.setattr(Proofs, "require", lambda *words: None)
    for verdict, names in (
        ("right", ()),
        (None, ("lanes", "lanes_columns", "lanes_profile", "diagonal", "traceback")),
    ):
        monkeypatch.setattr(Proofs, "verdict", lambda *words, found=verdict: found)
        aligner = Aligner(engine="lanes", device=device)
        assert shown(aligner.search(QUERIES, Database.of(TARGETS, PROTEIN))) == expected
        assert {f"{name}.comp" for name in names} <= begun
        assert bool(begun) == bool(names)


def test_empty_queries_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []
    scores = Reference.scores
    monkeypatch.setattr(
        Reference, "scores", lambda *words, **options: scored.append(1) or scores(*words, **options)
    )
    queries = [Record(f"q{k}", "", "HEAG" * (k == 500)) for k in range(1000)]
    with Aligner(engine="reference") as aligner:
        found = list(aligner.search(queries, ["HEAG", "HEA"]))
    assert [len(each) for each in found] == [2 * (k == 500) for k in range(1000)]
    assert len(scored) == 1


def test_without_the_wing_of_compositions_there_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(stages, "registered", lambda kind: {})
    aligner = Aligner(engine="reference")
    plain = aligner.search("HEAGAWGHEE", ["PAWHEAE"], composition=0)
    by_default = aligner.search("HEAGAWGHEE", ["PAWHEAE"])
    assert [hit.score for hit in plain] == [hit.score for hit in by_default] == [17]
    with pytest.raises(ValueError, match="composition 2: 0 expected, this glsw has no other"):
        aligner.search("HEAGAWGHEE", ["PAWHEAE"], composition=2)
