"""Shards: the plan, and their files, as Python programs use them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from damage import accepted, cuts, flips
from hypothesis import given, strategies as st

from glsw import PROTEIN, Aligner, Database, Record, Sequences, makedb
from glsw.alignment.hits import SearchResult
from glsw.sequences.sections import OpenFile
from glsw.wings.shards import plan as shard_plan, verbs as shards
from glsw.wings.shards.file import ShardFile, blocks, packed
from glsw.wings.shards.verbs import ShardError, merge, plan, scan_shard

QUERIES = [Record(f"q{k}", "", letters) for k, letters in enumerate(("MKVLAW", "HEAGAW", "WWKV"))]
TARGETS = [
    Record(f"t{k}", "", letters) for k, letters in enumerate(("PAWHEAE", "MKL", "GAWK", "W"))
]


def sequences(lengths: Sequence[int]) -> Sequences:
    return Sequences.of([np.zeros(length, np.uint8) for length in lengths])


def database(lengths: Sequence[int]) -> Database:
    return Database.of([Record("", "", "A" * length) for length in lengths], PROTEIN)


@given(
    st.lists(st.integers(0, 40), max_size=12),
    st.lists(st.integers(0, 40), max_size=12),
    st.integers(1, 20),
)
def test_a_plan_has_every_pair_exactly_once(
    queries: list[int], targets: list[int], count: int
) -> None:
    made = plan(sequences(queries), database(targets), count)
    assert [each.number for each in made] == list(range(1, count + 1))
    met = np.zeros((len(queries), len(targets)), np.int64)
    for each in made:
        met[each.contexts, each.targets] += 1
    assert (met == 1).all()


@pytest.mark.parametrize("count", [1, 2, 7, 16, 100])
@pytest.mark.parametrize(
    ("queries", "targets"),
    [
        ([200], [300, 200] * 2000),  # one protein, a database
        ([150] * 3000, [100_000]),  # reads, a genome
        ([150] * 3000, [9000, 7000, 5000, 2000, 1000]),  # reads, chromosomes
    ],
)
def test_shards_are_even(queries: list[int], targets: list[int], count: int) -> None:
    contexts, searched = sequences(queries), database(targets)
    cells = [each.cells(contexts, searched) for each in plan(contexts, searched, count)]
    assert sum(cells) == sum(queries) * sum(targets)
    assert max(cells) <= 1.15 * sum(cells) / count


def test_a_divisible_database_is_read_in_parts() -> None:
    made = plan(sequences([100] * 50), database([20] * 160), 16)
    assert all(each.contexts == slice(0, 50) for each in made)
    assert all(one.targets.stop == other.targets.start for one, other in pairwise(made))


def scores(results: Iterable[SearchResult]) -> list[tuple[object, ...]]:
    """The hits of each query, their limits, and how many more there are."""
    return [
        (each.evalue, each.more, *((hit.target.id, hit.score) for hit in each)) for each in results
    ]


@pytest.mark.parametrize("count", [1, 2, 13])
@pytest.mark.parametrize("by_executor", [False, True])
def test_merged_results_are_those_of_a_search(
    count: int, by_executor: bool, tmp_path: Path
) -> None:
    with Aligner(engine="reference") as aligner, ThreadPoolExecutor(2) as executor:
        wanted = scores(aligner.search(QUERIES, TARGETS, top=1))
        assert any(more for _, more, *_ in wanted)
        search = aligner.prepare(QUERIES, TARGETS, top=1)
        for number in range(count, 0, -1):
            scan_shard(search, number, count, tmp_path, executor=executor if by_executor else None)
        assert scores(merge(search, tmp_path)) == wanted


def test_a_filter_of_alignments_counts_what_all_shards_have(tmp_path: Path) -> None:
    with Aligner(engine="reference") as aligner:
        every = scores(aligner.search(QUERIES, TARGETS, top=1))
        wanted = scores(aligner.search(QUERIES, TARGETS, top=1, min_coverage=0.5))
        assert wanted != every
        search = aligner.prepare(QUERIES, TARGETS, top=1, min_coverage=0.5)
        for number in (2, 1, 3):
            scan_shard(search, number, 3, tmp_path)
        assert scores(merge(search, tmp_path)) == wanted


def test_a_shard_goes_on_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_MAX_PENDING_HITS", 1)
    packed, calls = shards.hits_block, 0

    def failing(found: list[shards.ScanResult]) -> bytes:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return packed(found)

    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES, TARGETS)
        monkeypatch.setattr(shards, "hits_block", failing)
        with pytest.raises(KeyboardInterrupt):
            scan_shard(search, 1, 1, tmp_path)
        part = tmp_path / "0001-of-0001.shard.part"
        with part.open("ab") as file:
            file.write(b"half a block")
        done = scan_shard(search, 1, 1, tmp_path, resume=True)
        assert done.contexts == 1
        assert not part.exists()
        assert scores(merge(search, tmp_path)) == scores(aligner.search(QUERIES, TARGETS))
        part.write_bytes(done.path.read_bytes())  # killed when all but the name was done
        done.path.unlink()
        assert scan_shard(search, 1, 1, tmp_path, resume=True).contexts == 0
        assert scores(merge(search, tmp_path)) == scores(aligner.search(QUERIES, TARGETS))


def test_damage_is_noticed_at_every_byte(tmp_path: Path) -> None:
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES, TARGETS)
        path = scan_shard(search, 1, 1, tmp_path).path
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert ShardFile(path).damage, at
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            assert ShardFile(path).damage, size
        with pytest.raises(ShardError, match="shard 1 of 1 is damaged"):
            merge(search, tmp_path)
        assert not scan_shard(search, 1, 1, tmp_path).was_complete
        merge(search, tmp_path)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    def whole(path: Path) -> ShardFile:
        if (file := ShardFile(path)).damage:
            raise file.damage
        return file

    with Aligner(engine="reference") as aligner:
        notes = {"words": ["search", "é"]}
        path = scan_shard(aligner.prepare(QUERIES, TARGETS), 1, 1, tmp_path, notes=notes).path
    plan, description = tmp_path / "search.json", shards.description
    assert description(tmp_path).notes == notes
    readers = (path, whole), (plan, lambda path: description(path.parent))
    for file, look in readers:
        assert look(file)
        assert not accepted(file, look, cuts(file.read_bytes(), 300))
        assert not accepted(file, look, flips(file.read_bytes(), 700))


DEEP = b"[" * 100_000
NO_OBJECTS = [b"[]", b"7", b"{", b"\xff", DEEP, b'{"contexts": ' + DEEP]


def forged(mark: bytes, *changes: tuple[int, int]) -> Callable[[bytes, bytes], bytes]:
    """Return what changes numbers of the blocks with a mark."""

    def change(found: bytes, data: bytes) -> bytes:
        if found != mark:
            return data
        numbers = np.frombuffer(data, "<i8").copy()
        for at, value in changes:
            numbers[at] = value
        return numbers.tobytes()

    return change


def instead(mark: bytes, text: bytes) -> Callable[[bytes, bytes], bytes]:
    return lambda found, data: text if found == mark else data


def added_to_hits(*numbers: int) -> Callable[[bytes, bytes], bytes]:
    """Return what adds to the hits of the first context, the best first."""

    def change(found: bytes, data: bytes) -> bytes:
        if found != b"hits":
            return data
        made = np.frombuffer(data, "<i8").copy()
        assert made[1] >= len(numbers)
        made[10 : 10 + len(numbers)] += numbers
        return made.tobytes()

    return change


SUMMARY = {"seconds": 1.0, "engine": "x", "device": "y", "memory": 0}
FORGED = {
    **{f"header {text[:20]!r}": instead(b"glsh", text) for text in NO_OBJECTS},
    "contexts of text": instead(b"glsh", b'{"contexts": ["a", "b"]}'),
    "contexts of one": instead(b"glsh", b'{"contexts": [0]}'),
    **{f"summary {text[:20]!r}": instead(b"done", text) for text in NO_OBJECTS},
    "empty summary": instead(b"done", b"{}"),
    "seconds of text": instead(
        b"done", b'{"seconds": "1", "engine": "x", "device": "y", "memory": 0}'
    ),
    "no numbers": instead(b"hits", b""),
    "half a number": instead(b"hits", b"\3\0\0\0\0\0\0\0\0"),
    "contexts -1": forged(b"hits", (0, -1)),
    "contexts 2^62": forged(b"hits", (0, 2**62)),
    **{
        f"size {k} is {size}": forged(b"hits", (k, size))
        for k in (1, 2, 3)
        for size in (-1, 2**62, 10)
    },
    "sizes that wrap": forged(b"hits", (1, 2**62), (4, 2**62), (7, 2**62)),
    "hit -1": forged(b"hits", (10, -1)),
    "hit -2^62": forged(b"hits", (10, -(2**62))),
    "target 4": forged(b"hits", (10, (2**31 - 1 - 17) << 32 | 4)),
    "score 0": forged(b"hits", (10, (2**31 - 1) << 32)),
    "a better score": added_to_hits(-1 << 32),
    "a lower score": added_to_hits(0, 1 << 32),
    "not sorted": added_to_hits(4 << 32),
    "a target twice": added_to_hits(0, -1),
    **{
        f"{name} {value}": instead(b"done", json.dumps({**SUMMARY, name: value}).encode())
        for name, value in (
            ("seconds", float("nan")),
            ("seconds", -1.0),
            ("memory", -1),
            ("memory", 10**400),
        )
    },
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_shards_are_refused(forge: Callable[[bytes, bytes], bytes], tmp_path: Path) -> None:
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES, TARGETS, composition=0)
        path = scan_shard(search, 1, 1, tmp_path).path
        made = [packed(each.mark, forge(each.mark, each.data)) for each in blocks(path)]
        path.write_bytes(b"".join(made))
        with pytest.raises(ShardError):
            list(merge(search, tmp_path))


@pytest.mark.parametrize("fitted", [False, True])
def test_hits_and_scores_of_other_parts_are_refused(fitted: bool, tmp_path: Path) -> None:
    targets = [Record(f"t{k}", "", "MKVLAW" * (1 + k // 40)) for k in range(80)]
    settings = {"statistics": "fit" if fitted else "auto", "evalue": 10}
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES[:1], targets, **settings)
        one, other = (scan_shard(search, number, 2, tmp_path).path for number in (1, 2))
        found = {each.mark: each.data for each in blocks(other)}
        kept = [each for each in blocks(one) if each.mark != b"hits"]
        kept[1:1] = [kept[0]._replace(mark=b"hits", data=found[b"hits"])]
        one.write_bytes(b"".join(packed(each.mark, each.data) for each in kept))
        with pytest.raises(ShardError, match=r"0001-of-0002\.shard: damaged at byte"):
            list(merge(search, tmp_path))


def test_a_plan_of_many_shards_is_made_at_once() -> None:
    made = plan(sequences([150, 90, 200]), database([300, 200, 100]), shard_plan.MAX_SHARDS)
    assert len(made) == shard_plan.MAX_SHARDS


@pytest.mark.parametrize(
    "text",
    [
        *NO_OBJECTS,
        b"{}",
        b'{"fingerprint": [], "shards": 1, "notes": {}}',
        b'{"fingerprint": {}, "shards": 1, "notes": []}',
        b'{"fingerprint": {}, "shards": 1, "notes": {}}',
        *(shards.description_bytes(shards.Description({}, each, {})) for each in (True, -1, 10**9)),
    ],
)
def test_forged_descriptions_are_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "search.json").write_bytes(text)
    with pytest.raises(ShardError, match=r"search\.json: damaged"):
        shards.description(tmp_path)


def test_so_many_shards_are_refused() -> None:
    with pytest.raises(ValueError, match="1000000000 shards: 1 to 65536 expected"):
        plan(sequences([3]), database([3]), 10**9)


def test_a_shard_under_the_name_of_another_one(tmp_path: Path) -> None:
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES, TARGETS)
        one, other = (scan_shard(search, number, 2, tmp_path).path for number in (1, 2))
        other.write_bytes(one.read_bytes())
        with pytest.raises(ShardError, match=r"0002-of-0002.shard is shard 1$"):
            merge(search, tmp_path)
        with pytest.raises(ShardError, match=r"0002-of-0002.shard is shard 1$"):
            scan_shard(search, 2, 2, tmp_path)


def test_the_engine_is_not_part_of_the_fingerprint(tmp_path: Path) -> None:
    pytest.importorskip("pyopal")
    for number, engine in ((1, "reference"), (2, "cpu")):
        with Aligner(engine=engine) as aligner:
            scan_shard(aligner.prepare(QUERIES, TARGETS), number, 2, tmp_path)
            wanted = scores(aligner.search(QUERIES, TARGETS))
    with Aligner(engine="reference") as aligner:
        assert scores(merge(aligner.prepare(QUERIES, TARGETS), tmp_path)) == wanted


@pytest.mark.parametrize("number", [0, 3])
def test_shards_are_numbered_from_1(number: int, tmp_path: Path) -> None:
    with Aligner(engine="reference") as aligner:
        search = aligner.prepare(QUERIES, TARGETS)
        with pytest.raises(ValueError, match=f"shard {number} of 2: a number from 1 to 2"):
            scan_shard(search, number, 2, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_worker_reads_only_its_part_of_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = "".join(np.random.default_rng(1).choice(list("ARNDCQEGHILKMFPSTVWY"), 2**21))
    records = (f">{k}\n{letters[k : k + 2**13]}\n" for k in range(0, len(letters), 2**13))
    (tmp_path / "db.fasta").write_text("".join(records))
    database = makedb(tmp_path / "db.fasta", tmp_path / "db")
    fill, read = OpenFile.fill, 0

    def counted(self: OpenFile, buffer: memoryview, at: int) -> None:
        nonlocal read
        read += len(buffer)
        fill(self, buffer, at)

    pytest.importorskip("pyopal")
    with Aligner(engine="cpu") as aligner:
        monkeypatch.setattr(OpenFile, "fill", counted)
        search = aligner.prepare(QUERIES, tmp_path / "db")
        scan_shard(search, 3, 8, tmp_path / "run")
    assert database.residues == 2**21
    assert 2**21 / 8 <= read <= 2**21 / 8 + 2**18
