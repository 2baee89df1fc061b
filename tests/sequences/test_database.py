import gzip
import json
import os
import pickle
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from database_bytes import (
    NUMBERS,
    PREFACE,
    built,
    checksums,
    contents,
    preface,
    retabled,
    section,
    sections,
)
from hypothesis import given, strategies as st
from smaller import smaller

from glsw.scoring.scoring import Scoring
from glsw.sequences import database_writer
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet
from glsw.sequences.database import Database, makedb
from glsw.sequences.database_file import is_database
from glsw.sequences.fasta import read
from glsw.sequences.records import Record
from glsw.sequences.sections import BLOCK, BlockChecksums, DatabaseError, OpenFile, Section

CODONS = Alphabet("codons", ("AAA", "CCC", "GGG"), {"GGT": "GGG"})
RECORDS = [
    Record("a", "the first", "MKV"),
    Record("b", "", "MKVLA"),
    Record("c", "protéine\twith a tab", ""),
    Record("d", "as long as a", "VKM"),
    Record("record 5", "", "W*"),
]
FASTA = ">a the first\nMK\nV\n>b\nMKVLA\n>c protéine\twith a tab\n>d as long as a\nvkm\n>\nW*\n"

# Numbers of the preface.
FIELDS = {
    "magic": (0, 8),
    "mark": (8, 4),
    "version": (12, 4),
    "contents offset": (16, 8),
    "contents length": (24, 8),
    "contents checksum": (32, 4),
    "preface checksum": (36, 4),
}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.fasta"
    path.write_text(FASTA)
    return path


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "db.glsw"


@pytest.fixture
def made(source, out):
    makedb(source, out)
    return out


def both(source, out):
    return makedb(source, out), Database.of(read(source), PROTEIN)


# what goes in comes out


def test_records_keep_their_order_and_codes_are_sorted(source, out):
    database, memory = both(source, out)
    assert list(database) == [*RECORDS[:3], Record("d", "as long as a", "VKM"), RECORDS[4]]
    assert list(memory) == list(read(source))
    for each in (database, memory):
        assert (len(each), each.residues) == (5, 13)
        assert each.alphabet == PROTEIN
        assert each.order.tolist() == [1, 0, 3, 4, 2]
        assert each.rank.tolist() == [1, 0, 4, 2, 3]
        assert each.sequences.lengths.tolist() == [5, 3, 3, 2, 0]
        decoded = [PROTEIN.decode(codes) for codes in each.sequences]
        assert decoded == ["MKVLA", "MKV", "VKM", "W*", ""]
    assert database.path == str(out)
    assert memory.path is None


@given(st.data())
def test_any_records_come_back(tmp_path_factory, data):
    alphabet = data.draw(st.sampled_from([PROTEIN, DNA, CODONS]))
    words = st.lists(st.sampled_from(alphabet.letters), max_size=9).map("".join)
    titles = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))
    pairs = data.draw(st.lists(st.tuples(titles, words), min_size=1, max_size=12))
    folder = tmp_path_factory.mktemp("any")
    text = "".join(f">{title}\n{letters}\n" for title, letters in pairs)
    (folder / "in").write_text(text, encoding="utf-8", newline="")
    records = list(read(folder / "in"))
    database = makedb(folder / "in", folder / "out", alphabet=alphabet)
    database.verify()
    memory = Database.of(records, alphabet)
    assert list(database) == list(memory) == records
    lengths = [len(record) // alphabet.width for record in records]
    assert database.order.tolist() == sorted(range(len(records)), key=lambda k: -lengths[k])
    for name in ("order", "rank"):
        assert np.array_equal(getattr(database, name), getattr(memory, name))
    for name in ("residues", "offsets"):
        kept, fresh = getattr(database.sequences, name), getattr(memory.sequences, name)
        assert np.array_equal(kept, fresh)
        assert kept.dtype == fresh.dtype


def test_the_file_is_as_described(made):
    data = made.read_bytes()
    table = contents(data)
    assert data[:40] == preface(struct.unpack_from(PREFACE, data)[3], json.dumps(table).encode())
    assert table["alphabet"]["letters"] == PROTEIN.letters
    assert (table["sequences"], table["residues"]) == (5, 13)
    assert table["program"].startswith("glsw ")
    assert time.strptime(table["created"], "%Y-%m-%dT%H:%M:%SZ")
    assert len(data) == struct.unpack_from(PREFACE, data)[3] + len(json.dumps(table))
    for place in table["sections"].values():
        assert place["offset"] % 64 == 0
    assert section(data, "checksums") == checksums(sections(data).values())
    assert table["checksums"]["crc32"] == zlib.crc32(section(data, "checksums"))
    assert data == built(table, sections(data))
    titles = section(data, "titles").decode()
    assert titles == "athe firstbcprotéine\twith a tabdas long as arecord 5"
    numbers = {
        name: np.frombuffer(section(data, name), NUMBERS[name]).tolist()
        for name in ("title_offsets", "order", "rank", "lengths")
    }
    assert numbers["title_offsets"] == [0, 1, 10, 11, 11, 12, 32, 33, 45, 53, 53]
    assert numbers["order"] == [1, 0, 3, 4, 2]
    assert numbers["rank"] == [1, 0, 4, 2, 3]
    assert numbers["lengths"] == [5, 1, 3, 2, 2, 1, 0, 1]
    assert section(data, "residues") == PROTEIN.encode("MKVLAMKVVKMW*").tobytes()


def test_residues_are_read_only(made):
    database = Database.open(made)
    with pytest.raises(ValueError, match="read-only"):
        database.part(slice(1)).residues[0] = 1
    sequences = database.sequences
    with pytest.raises(ValueError, match="read-only"):
        sequences.residues[0] = 1


@pytest.mark.parametrize("system", ["Linux", "Windows"])
@pytest.mark.parametrize("run", [1, 40, 1000, 2**26])
def test_runs_that_are_sorted_apart_make_the_same_database(tmp_path, monkeypatch, run, system):
    """Records of a block, of several blocks and runs; many of one length, one longer than a run."""
    if system == "Windows":
        monkeypatch.delattr(os, "preadv")
        monkeypatch.delattr(os, "posix_fadvise")
    rng, text = np.random.default_rng(run), []
    for k, length in enumerate([*rng.integers(0, 9, 300).tolist(), 1500, *[7] * 200]):
        letters = "".join(rng.choice(list("ARNDCU"), length))
        text.append(f">{k} of {length}\n{letters}\n" if k % 9 else f">\n{letters}\n")
    (tmp_path / "in").write_text("".join(text))
    smaller(monkeypatch, run=run, block=99)
    with pytest.warns(RuntimeWarning, match="scored as C"):
        made = makedb(tmp_path / "in", tmp_path / "db")
    made.verify()
    records = list(read(tmp_path / "in"))
    memory = Database.of(records, PROTEIN)
    assert list(made) == records
    for name in "order", "rank", "offsets":
        assert np.array_equal(getattr(made, name), getattr(memory, name))
    assert np.array_equal(made.sequences.residues, memory.sequences.residues)
    assert made.places(np.array([[7, 301]])).tolist() == memory.rank[[[7, 301]]].tolist()


def test_several_sources_and_other_kinds_of_files(source, tmp_path, out):
    (tmp_path / "z").write_bytes(gzip.compress(b">z\nMM\n>\nKK\n"))
    (tmp_path / "q").write_bytes(b"@q of reads\nAC\n+\nII\n")
    database = makedb([source, str(tmp_path / "z"), tmp_path / "q"], str(out))
    assert [record.id for record in database] == [*"abcd", "record 5", "z", "record 2", "q"]
    assert database[7] == Record("q", "of reads", "AC")
    assert len(makedb(iter([source]), out)) == 5


def test_nothing_but_empty_sequences(tmp_path, out):
    (tmp_path / "in").write_text(">a\n>b\n")
    database = makedb(tmp_path / "in", out)
    assert list(database) == [Record("a", "", ""), Record("b", "", "")]
    assert database.sequences.lengths.tolist() == [0, 0]
    assert list(database.sequences.parts(5)) == [slice(0, 2)]
    database.verify()


def test_nothing_at_all_in_memory():
    database = Database.of([], PROTEIN)
    assert (len(database), database.residues, list(database)) == (0, 0, [])
    assert len(database.sequences) == 0
    assert list(database.sequences.parts(5)) == []


def test_unknown_letters(tmp_path, out):
    (tmp_path / "in").write_text(">a\nM-\n>b\n?K\n")
    message = "a: letter '-' at position 2 is not in the protein alphabet"
    with pytest.raises(ValueError, match=message):
        makedb(tmp_path / "in", out)
    with pytest.raises(ValueError, match=message):
        Database.of(read(tmp_path / "in"), PROTEIN)
    assert not list(out.parent.iterdir())
    database = makedb(tmp_path / "in", out, unknown="X")
    assert [record.letters for record in database] == ["MX", "XK"]
    assert [r.letters for r in Database.of(read(tmp_path / "in"), PROTEIN, "X")] == ["M-", "?K"]


def test_numbers_count_from_the_end_too(source, out):
    for database in both(source, out):
        assert database[-1].id == "record 5"
        assert database[np.int64(1)].id == "b"
        for k in (5, -6):
            with pytest.raises(IndexError, match=f"sequence {k} of 5"):
                database[k]


def test_it_says_what_it_is(source, out):
    database, memory = both(source, out)
    assert repr(memory) == "<Database of 5 sequences, 13 residues, protein alphabet>"
    assert repr(database) == repr(memory).replace("Database", f"Database {out}")


# parts


def test_what_is_read_ahead_is_kept_and_checked_when_it_is_needed(made):
    def ahead():
        database = Database.open(made)
        database.read_ahead()
        for thread in threading.enumerate():
            if thread.name == "glsw-read":
                thread.join()
        return database

    names, content = ("order", "offsets"), made.read_bytes()
    expected = [getattr(Database.open(made), name).tolist() for name in names]
    database = ahead()
    made.write_bytes(bytes(len(content)))
    assert [getattr(database, name).tolist() for name in names] == expected
    with pytest.raises(DatabaseError, match="overwritten"):
        _ = database.sequences.residues
    with pytest.raises(DatabaseError, match="overwritten"):
        _ = database.rank
    place = content.index(np.array(expected[0], np.uint32).tobytes())
    made.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    damaged = ahead()
    with pytest.raises(DatabaseError, match="order"):
        _ = damaged.order
    Database.of(RECORDS, PROTEIN).read_ahead()  # it has no file


@pytest.mark.parametrize("blocks", [15, 16, 16.5, 17, 48, 49.2])
def test_damage_is_found_in_slabs_as_in_blocks(tmp_path, blocks):
    path, start = tmp_path / "file", 7
    content = np.random.default_rng(1).integers(0, 256, int(blocks * BLOCK), np.uint8)
    whole = BlockChecksums()
    whole.add(content)
    of_blocks = np.array(whole.values, np.uint32)

    def section():
        path.write_bytes(bytes(start) + content.tobytes())
        return Section(OpenFile(path), "residues", start, len(content), of_blocks)

    assert np.array_equal(section().whole(), content)
    assert np.array_equal(section().read(BLOCK, 17 * BLOCK), content[BLOCK : 17 * BLOCK])
    for at in (0, BLOCK, 15 * BLOCK - 1, len(content) // 2, len(content) - 1):
        content[at] ^= 4
        for reading in (Section.whole, Section.check):
            with pytest.raises(DatabaseError, match="residues"):
                reading(section())
        content[at] ^= 4
    section().check()


@pytest.mark.parametrize("residues", [1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 99])
def test_parts_cover_all_and_hold_at_most_what_they_may(made, residues):
    database = Database.open(made)
    parts = list(database.sequences.parts(residues))
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == len(database)
    joined = []
    for part in parts:
        view = database.part(part)
        assert len(view) == 1 or len(view.residues) <= residues
        joined.extend(map(np.ndarray.tolist, view))
    assert joined == [codes.tolist() for codes in database.sequences]


def test_parts_are_as_large_as_they_may_be(made):
    database = Database.open(made)
    assert list(database.sequences.parts(8)) == [slice(0, 2), slice(2, 5)]
    with pytest.raises(ValueError, match="at least 1 residue, got 0"):
        next(database.sequences.parts(0))


def test_part(made):
    database = Database.open(made)
    assert len(database.part(slice(1, None))) == 4
    assert len(database.part(slice(3, 2))) == 0
    with pytest.raises(ValueError, match="step of 2"):
        database.part(slice(0, 4, 2))


# alphabets


def test_the_alphabet_must_be_that_of_the_scoring(source, out):
    for database in both(source, out):
        database.check(PROTEIN)
        database.check(Scoring.blast("PAM250").alphabet)
        message = r"its alphabet is protein \(ARN.*\), that of the scoring is DNA \(ACGT.*\)"
        with pytest.raises(ValueError, match=message):
            database.check(DNA)
    with pytest.raises(ValueError, match=str(out)):
        Database.open(out).check(Scoring.named("GONNET1992").alphabet)
    with pytest.raises(ValueError, match=r"scoring is codons \(AAA \.\.\. GGG\)"):
        Database.open(out).check(CODONS)


@pytest.mark.parametrize("alphabet", [DNA, CODONS, Scoring.named("SCHNEIDER").alphabet])
def test_the_alphabet_comes_back(tmp_path, out, alphabet):
    (tmp_path / "in").write_text(">a\nAAACCC\n")
    makedb(tmp_path / "in", out, alphabet=alphabet)
    database = Database.open(out)
    assert database.alphabet == alphabet
    assert database.alphabet.aliases == alphabet.aliases
    assert database[0].letters == "AAACCC"


# other processes


def describe(database):
    return database.path, len(database), database[3], database.sequences.residues.tolist()


def test_it_is_pickled_as_a_path(monkeypatch, source, out):
    monkeypatch.chdir(out.parent)
    makedb(source, out.name)
    database = Database.open(out.name)
    monkeypatch.chdir("/")
    packed = pickle.dumps(database)
    assert len(packed) < 300
    assert describe(pickle.loads(packed)) == describe(database)


def test_what_has_changed_since_is_no_copy(source, made):
    packed = pickle.dumps(Database.open(made))
    source.write_text(">other\nMK\n")
    makedb(source, made)
    with pytest.raises(ValueError, match="the database has changed since it was opened"):
        pickle.loads(packed)


def test_in_memory_it_is_pickled_as_it_is(source):
    memory = Database.of(read(source), PROTEIN)
    assert describe(pickle.loads(pickle.dumps(memory))) == describe(memory)


def test_another_process_opens_it(made):
    database = Database.open(made)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(describe, database).result() == describe(database)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_what_ends_it_between_any_sections_is_raised(source, out, error, monkeypatch):
    add, left = database_writer.BlockChecksums.add, [0]

    def fail(checksums, piece):
        left[0] -= 1
        if not left[0]:
            raise error
        add(checksums, piece)

    monkeypatch.setattr(database_writer.BlockChecksums, "add", fail)
    makedb(source, out)
    before, pieces = out.read_bytes(), -left[0]
    assert pieces > 8
    for piece in range(1, pieces + 1):
        left[0] = piece
        with pytest.raises(error):
            makedb(source, out, force=True)
    assert list(out.parent.iterdir()) == [out]
    assert out.read_bytes() == before


def test_an_open_database_outlives_its_file(source, made):
    database = Database.open(made)
    made.unlink()
    database.verify()
    assert database[1] == RECORDS[1]


# files that are refused


def refusal(path):
    """Return the one line with which a file is refused, when opened or verified."""
    with pytest.raises(ValueError, match=str(path)) as error:
        Database.open(path).verify()
    assert len(str(error.value).splitlines()) == 1
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("field", FIELDS)
def test_each_byte_of_the_preface_matters(made, field):
    data = made.read_bytes()
    start, length = FIELDS[field]
    for at in range(start, start + length):
        for change in (0x01, 0x80, 0xFF):
            made.write_bytes(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
            message = refusal(made)
            if field == "magic":
                assert message == "not a glsw database"
                assert not is_database(made)
            elif field == "version":
                assert message.startswith(("database of format", "corrupt database (preface)"))
            else:
                assert message == "corrupt database (preface)"


def test_each_byte_of_the_rest_matters(made):
    data = made.read_bytes()
    table = contents(data)["sections"]
    table["checksums"] = contents(data)["checksums"]
    covered = set(range(40))
    for name in table:
        start = table[name]["offset"]
        covered |= set(range(start, start + table[name]["bytes"]))
        for at in range(start, start + table[name]["bytes"], 3):
            made.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            assert refusal(made) == f"corrupt database ({name})"
    for at in set(range(struct.unpack_from(PREFACE, data)[3])) - covered:
        made.write_bytes(data[:at] + b"\1" + data[at + 1 :])
        assert refusal(made) == "corrupt database (between sections)"
    for at in range(struct.unpack_from(PREFACE, data)[3], len(data), 7):
        made.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        assert refusal(made) == "corrupt database (table of contents)"


def test_truncated_files(made):
    data = made.read_bytes()
    for size in range(0, len(data), 5):
        made.write_bytes(data[:size])
        message = "not a glsw database" if size < 8 else f"truncated database, {size} "
        assert refusal(made).startswith(message)
    made.write_bytes(data + b"\n")
    assert refusal(made) == f"corrupt database ({len(data) + 1} bytes instead of {len(data)})"


def test_other_byte_order(made):
    table = json.dumps(contents(made.read_bytes())).encode()
    other = ">" if sys.byteorder == "little" else "<"
    fields = (b"\x89GLSW\r\n\x1a", 0x01020304, 1, 40, len(table), zlib.crc32(table))
    data = struct.pack(other + "8sIIQQI", *fields)
    made.write_bytes(data + struct.pack(other + "I", zlib.crc32(data)) + table)
    assert is_database(made)
    assert "with the other byte order" in refusal(made)


def test_other_versions(made):
    data = made.read_bytes()
    offset = struct.unpack_from(PREFACE, data)[3]
    table = data[offset:]
    for version in (0, 3, 4, 6):
        made.write_bytes(preface(offset, table, version=version) + data[40:])
        assert refusal(made) == (
            f"database of format {version}, this glsw reads format 5; rebuild it with glsw makedb"
        )


# letters that count as others


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("ecoli_K12_sprot_4403", {"U": 3}),
        ("swissprot_2014_01_subset", {"U": 17, "O": 4}),
    ],
)
def test_real_proteomes_are_indexed_without_options(data, out, name, counts):
    path = Path(data) / "proteins" / f"{name}.fasta.gz"
    with pytest.warns(RuntimeWarning, match="letters U scored as C"):
        database = makedb(path, out)
    database.verify()
    assert database.substituted == counts
    assert all(a.letters == b.letters for a, b in zip(database, read(path), strict=True))


RARE = ">a\nMUK\n>b\nMKVLA\n>c\nOMKVLAuJ\n>d\nWU\n"


@pytest.mark.parametrize("masked", [False, True])
def test_letters_that_count_as_others_come_back_as_they_are(tmp_path, out, masked):
    (tmp_path / "in").write_text(RARE)
    said = "2 letters U scored as C, 1 letter O as X, 1 letter J as X"
    with pytest.warns(RuntimeWarning, match=said.replace("2", "2" if masked else "3")) as warned:
        database = makedb(tmp_path / "in", out, lower_case_mask=masked)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert [each.letters for each in database] == [
        "MUK",
        "MKVLA",
        "OMKVLAXJ" if masked else "OMKVLAUJ",
        "WU",
    ]
    assert database[2].part(5, 8) == ("AXJ" if masked else "AUJ")
    coded = [PROTEIN.decode(codes) for codes in database.sequences]
    assert coded == ["XMKVLAXX" if masked else "XMKVLACX", "MKVLA", "MCK", "WC"]
    memory = Database.of(read(tmp_path / "in"), database.alphabet)
    assert memory.substituted == database.substituted
    assert [each.letters for each in memory] == ["MUK", "MKVLA", "OMKVLAuJ", "WU"]
    database.verify()


def test_their_sections_are_as_described(tmp_path, out):
    (tmp_path / "in").write_text(RARE)
    with pytest.warns(RuntimeWarning, match="scored as"):
        makedb(tmp_path / "in", out)
    data = out.read_bytes()
    assert np.frombuffer(section(data, "substituted_at"), np.int64).tolist() == [0, 6, 7, 14, 17]
    assert section(data, "substituted") == b"OUJUU"
    for name in ("substituted_at", "substituted"):
        at = contents(data)["sections"][name]["offset"]
        out.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        assert refusal(out) == f"corrupt database ({name})"


@pytest.mark.parametrize("content", [b"", b">a\nMK\n", b"\x1f\x8b\x08", bytes(64), b"\x89GLSW"])
def test_what_is_no_database(out, content):
    out.write_bytes(content)
    assert not is_database(out)
    assert refusal(out) == "not a glsw database"


def test_what_is_no_file(tmp_path):
    assert not is_database(tmp_path)
    assert not is_database(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        Database.open(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Database.open(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert not is_database(tmp_path / "pipe")


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.clear(),
        lambda table: table.update(sections=[]),
        lambda table: table.update(alphabet="ACGT"),
        lambda table: table["alphabet"].update(letters=5),
        lambda table: table["alphabet"].update(letters="AA"),
        lambda table: table["alphabet"].update(colour="red"),
        lambda table: table["sections"].pop("rank"),
        lambda table: table["sections"].pop("residues"),
        lambda table: table["sections"]["titles"].update(bytes=None),
        lambda table: table["sections"]["residues"].update(bytes=12),
        lambda table: table["sections"]["residues"].update(bytes=10**15),
        lambda table: table["sections"]["residues"].update(offset=-5),
        lambda table: table["sections"].update(rank=table["sections"]["lengths"]),
        lambda table: table["sections"].update(order=table["sections"]["lengths"]),
        lambda table: table["sections"].update(lengths=table["sections"]["title_offsets"]),
        lambda table: table["sections"].update(title_offsets=table["sections"]["lengths"]),
        lambda table: table["sections"].update(order=table["sections"]["titles"]),
    ],
)
def test_tables_of_contents_that_make_no_sense(made, change):
    made.write_bytes(retabled(made.read_bytes(), change))
    assert refusal(made).startswith("corrupt database")


def test_some_sequences_that_were_shown_are_kept(monkeypatch):
    smaller(monkeypatch, shown_letters=2**23)
    database = Database.of([Record(name, "", "MKV") for name in "abc"], PROTEIN)
    first = database.shown(0)
    assert database.shown(0) is first
    assert first[::2] == (database[0], database[0])
    assert len(pickle.loads(pickle.dumps(database))._shown) == 0
    assert [database.shown(k).given.id for k in (1, 2, 1)] == ["b", "c", "b"]
    assert database.shown(0) is not first


def test_corrupt_residues_are_found_when_shown(made):
    data = made.read_bytes()
    start = contents(data)["sections"]["residues"]["offset"]
    made.write_bytes(data[:start] + b"\xf0" + data[start + 1 :])
    with pytest.raises(ValueError, match=r"corrupt database \(residues\)"):
        Database.open(made)[1]


# what is written, and where


def test_a_database_is_overwritten_and_other_files_are_not(source, made):
    other = made.with_name("thesis.txt")
    other.write_text("years of work")
    makedb(source, made)
    with pytest.raises(ValueError, match=r"it exists, but is not a database$"):
        makedb(source, other)
    assert other.read_text() == "years of work"
    assert len(makedb(source, other, force=True)) == 5


@pytest.mark.parametrize("force", [False, True])
def test_what_is_never_overwritten(monkeypatch, source, tmp_path, made, force):
    with pytest.raises(ValueError, match="it is an input"):
        makedb(source, source, force=force)
    with pytest.raises(ValueError, match="it is an input"):
        makedb([source, made], made, force=force)
    with pytest.raises(ValueError, match="a folder or device"):
        makedb(source, tmp_path, force=force)
    with pytest.raises(ValueError, match="there is no folder"):
        makedb(source, tmp_path / "none" / "db", force=force)
    with pytest.raises(ValueError, match="standard output"):
        makedb(source, "-", force=force)
    if os.path.exists(os.devnull):
        with pytest.raises(ValueError, match="a folder or device"):
            makedb(source, os.devnull, force=force)
    assert source.read_text() == FASTA
    monkeypatch.chdir(tmp_path)
    assert len(makedb(source.name, "here", force=force)) == 5


def test_sources_are_looked_for_before_anything_is_read(source, tmp_path, out):
    with pytest.raises(FileNotFoundError, match="none"):
        makedb([source, tmp_path / "none"], out)
    with pytest.raises(ValueError, match="no file to index"):
        makedb([], out)
    with pytest.raises(ValueError, match="can be read only once"):
        makedb(["-", source, "-"], out)


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_links_and_permissions(source, out):
    link = out.with_name("link")
    link.symlink_to(out)
    makedb(source, out)
    makedb(source, link)
    assert link.is_symlink()
    assert sorted(path.name for path in out.parent.iterdir()) == ["db.glsw", "link"]
    umask = os.umask(0o027)
    try:
        makedb(source, out)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("where", ["progress", "os.fsync", "os.replace"])
def test_an_interruption_leaves_the_old_one(monkeypatch, source, made, error, where):
    def fail(*_):
        raise error

    before = made.read_bytes()
    source.write_text(">new\nMK\n")
    options = {"progress": fail} if where == "progress" else {}
    if not options:
        monkeypatch.setattr(where, fail)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        makedb(source, made, **options)
    assert list(made.parent.iterdir()) == [made]
    assert made.read_bytes() == before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
@pytest.mark.parametrize("old", [False, True])
def test_a_killed_one_leaves_nothing_that_opens(source, out, old):
    if old:
        makedb(source, out)
    code = "import sys; from glsw.sequences.database import makedb; makedb('-', sys.argv[1])"
    process = subprocess.Popen([sys.executable, "-c", code, out], stdin=subprocess.PIPE)
    piece = b"".join(b">%d some title\n%s\n" % (k, b"MKVLA" * 60) for k in range(4000))
    part = None
    while not (part and part.stat().st_size):
        assert process.poll() is None
        process.stdin.write(piece)  # blocks of several MB must come for something to be written
        part = next(out.parent.glob("*.part"), None)
    process.kill()
    process.wait()
    process.stdin.close()
    assert part.stat().st_size > 0
    assert not is_database(part)
    assert refusal(part) == "not a glsw database"
    assert out.exists() == old
    if old:
        assert list(Database.open(out)) == list(read(source))[:3] + RECORDS[3:]


# sizes


def pages_read():
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


@pytest.mark.skipif(os.name != "posix", reason="files with holes are not made everywhere")
def test_opening_reads_little_of_a_large_file(tmp_path):
    """A hundred million sequences of 36 G residues, all of it a hole in the file but the ends."""
    count, residues = 10**8, 36 * 10**9
    lengths = {
        "titles": 0,
        "title_offsets": 8 * (2 * count + 1),
        "order": 4 * count,
        "rank": 4 * count,
        "lengths": 16 * 3000,
        "substituted_at": 0,
        "substituted": 0,
        "residues": residues,
    }
    places, at = {}, 64
    for name, length in lengths.items():
        places[name] = {"offset": at, "bytes": length}
        at += length + -length % 64
    hole = zlib.crc32(bytes(1 << 16))
    of_blocks = np.full(sum(-(-length >> 16) for length in lengths.values()), hole, np.uint32)
    end = {"offset": at, "bytes": of_blocks.nbytes, "crc32": zlib.crc32(of_blocks)}
    alphabet = {"name": "protein", "letters": PROTEIN.letters}
    table = {"alphabet": alphabet, "sections": places, "checksums": end}
    spelled = json.dumps(table).encode()
    at += of_blocks.nbytes
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.write(preface(at, spelled))
        file.seek(end["offset"])
        file.write(of_blocks)
        file.write(spelled)
    if path.stat().st_blocks * 512 > 1 << 30:
        pytest.skip("this file system keeps no holes")
    before = pages_read()
    database = Database.open(path)
    assert pages_read() - before < 10_000  # of ten million
    assert (len(database), database.residues) == (count, residues)
    codes = database._file.section("residues")
    assert not codes.read(codes.length // 2, codes.length // 2 + 10**5).any()


@pytest.mark.slow
def test_half_a_million_sequences(tmp_path):
    random = np.random.default_rng(1)
    lengths = np.maximum(random.lognormal(5.66, 0.65, 500_000), 10).astype(int)
    with open(tmp_path / "in", "wb") as file:
        for k, length in enumerate(lengths.tolist()):
            letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)[
                random.integers(0, 20, length)
            ].tobytes()
            lines = b"\n".join(letters[at : at + 60] for at in range(0, length, 60))
            file.write(b">sp|P%06d|NAME_%d A protein OS=Homo sapiens\n%s\n" % (k, k, lines))
    database = makedb(tmp_path / "in", tmp_path / "out")
    database = Database.open(tmp_path / "out")
    database.verify()
    assert np.array_equal(database.sequences.lengths, -np.sort(-lengths))
