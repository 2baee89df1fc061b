"""Databases that are flipped, forged, truncated, overwritten or full: right results, or one line.

The seeds of random ones are in the names of the tests.
"""

import errno
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from database_bytes import NUMBERS as TYPES, built, contents, ended, preface, sections
from program import process, wait_until

import glsw
from glsw.cli import main
from glsw.output import write
from glsw.sequences import sections as sections_module
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.database import Database, DatabaseError, makedb

LETTERS = "ARNDCQEGHILKMFPSTWYV"
QUERY = glsw.Record("q", "", "MKVLAW")


def written(path, residues, seed=1):
    """Write a database with about so many residues."""
    chance = random.Random(seed)
    with open(path.with_suffix(".fasta"), "w", encoding="utf-8") as file:
        k = 0
        while residues > 0:
            letters = "".join(chance.choices(LETTERS, k=chance.randint(1, 60)))
            file.write(f">t{k} protéine {k}\n{letters}{'UO'[: k % 3]}\n")
            residues, k = residues - len(letters), k + 1
    with pytest.warns(RuntimeWarning, match="scored as"):
        makedb(path.with_suffix(".fasta"), path)
    return path.read_bytes()


def found(path):
    """Return all that a search reads or shows; what is quick comes first."""
    database = Database.open(path)
    alphabet = database.alphabet
    shown = [alphabet, alphabet.aliases, alphabet.ambiguous, database.substituted]
    shown += [database.order.tolist(), database.sequences.residues.tobytes()]
    shown += [database.part(part).residues.tobytes() for part in database.parts(1000)]
    shown.append(list(database.names_and_lengths()))
    return [*shown, *((each.id, each.description, each.letters) for each in database)]


def outcome(path, look=found):
    """Return the error in one line with which a file is refused, or None, and what was found."""
    try:
        return None, look(path)
    except ValueError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) == 1
    assert str(path) in refusal
    return refusal, None


# flipped bits


def wrong_flips(path, data, bits, look=found):
    """Return the flipped bits with which other things are found than without."""
    expected, wrong = look(path), []
    with open(path, "r+b", buffering=0) as file:
        for bit in bits:
            at, flipped = bit // 8, data[bit // 8] ^ (1 << bit % 8)
            os.pwrite(file.fileno(), bytes([flipped]), at)
            error, shown = outcome(path, look)
            if error is None and shown != expected:
                wrong.append(bit)
            os.pwrite(file.fileno(), data[at : at + 1], at)
    assert path.read_bytes() == data
    return wrong


def test_flipped_bits_change_nothing_or_are_refused(tmp_path):
    data = written(tmp_path / "db", 500)
    bits = random.Random(2).sample(range(8 * len(data)), 600)
    assert wrong_flips(tmp_path / "db", data, bits) == []


@pytest.mark.slow
def test_every_flipped_bit_changes_nothing_or_is_refused(tmp_path):
    data = written(tmp_path / "db", 16_000)
    assert len(data) > 25_000
    assert wrong_flips(tmp_path / "db", data, range(8 * len(data))) == []


def output(path):
    """Return what a search prints."""
    results = glsw.search([QUERY], Database.open(path), engine="reference", top=5)
    text = path.with_suffix(".out")
    with open(text, "w", encoding="utf-8") as file:
        write(results, file, "blast-tab")
    return text.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:.* scored as")
def test_flipped_bits_and_a_whole_search(tmp_path):
    data = written(tmp_path / "db", 300)
    bits = random.Random(3).sample(range(8 * len(data)), 60)
    assert wrong_flips(tmp_path / "db", data, bits, output) == []


# forged databases


NUMBERS = [-1, 1, 2, 7, 8, 39, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 1.5, 1e400, float("nan")]
VALUES = [
    *NUMBERS,
    None,
    True,
    "",
    "A",
    "x" * 300,
    "\x1b[2J",
    "é",
    "→",
    [],
    ["A"],
    [[]],
    {},
    {"A": 1},
]


def places(table, path=()):
    """Yield the path of each value in a table of contents."""
    for key, value in table.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from places(value, (*path, key))


def forged_table(chance, data):
    """Change, remove or add a value in the table of contents."""
    table = contents(data)
    *path, key = chance.choice(list(places(table)))
    inner = table
    for each in path:
        inner = inner[each]
    kind = chance.randrange(4)
    if kind == 0:
        del inner[key]
    elif kind == 1:
        inner[chance.choice(["unmasked", "offset", "titles", "more"])] = chance.choice(VALUES)
    elif kind == 2 and isinstance(inner[key], int):
        inner[key] += chance.choice([-64, -8, -1, 1, 8, 64])
    else:
        inner[key] = chance.choice(VALUES)
    return ended(data[: struct.unpack_from("=16xQ", data)[0]], table)


def forged_text(chance, data):
    """Put other text in the place of the table of contents."""
    deep = chance.choice([b"[", b'{"a":']) * 100_000
    text = chance.choice(
        [b"", b"[]", b"1e999", b"NaN", b"\xff", b"9" * 5000, b"{}", deep, b" " * 9]
    )
    return ended(data[: struct.unpack_from("=16xQ", data)[0]], text)


def forged_section(chance, data):
    """Change some values of a section, or its length."""
    parts = sections(data)
    name = chance.choice(list(parts))
    part, kind = bytearray(parts[name]), chance.randrange(4)
    if kind == 0:
        part = part[: len(part) - chance.choice([1, 8, 16])]
    elif kind == 1:
        part += part[: chance.choice([1, 8, 16])]
    for _ in range(chance.choice([1, 1, 3, 20]) * bool(part)):
        if kind_of_number := TYPES.get(name):
            size = struct.calcsize(kind_of_number)
            number = chance.choice([-1, 0, 1, 3, len(part) // 8, 2**40, 2**62, -(2**62)])
            number = number if size == 8 else number % 2**32
            at = chance.randrange(len(part) // size) * size
            struct.pack_into(f"={kind_of_number}", part, at, number)
        else:
            part[chance.randrange(len(part))] = chance.choice([0, 10, 23, 24, 27, 127, 254, 255])
    return built(contents(data), {**parts, name: bytes(part)})


def check_forged(path, data, seeds):
    for seed in seeds:
        chance = random.Random(seed)
        forge = chance.choice([forged_table, forged_text, forged_section, forged_section])
        path.write_bytes(forge(chance, data))
        try:
            outcome(path)
            outcome(path, lambda path: Database.open(path).verify())
        except Exception as error:
            raise AssertionError(f"seed {seed}, {forge.__name__}") from error


def test_forged_databases_are_refused_in_a_line(tmp_path):
    data = written(tmp_path / "db", 300)
    check_forged(tmp_path / "db", data, range(300))


@pytest.mark.slow
def test_many_forged_databases_are_refused_in_a_line(tmp_path):
    data = written(tmp_path / "db", 300)
    check_forged(tmp_path / "db", data, range(20_000))


def test_a_search_of_forged_databases_ends_in_a_line(tmp_path, capsys):
    data = written(tmp_path / "db", 300)
    (tmp_path / "q").write_text(">q\nMKVLAW\n")
    for seed in range(40):
        (tmp_path / "db").write_bytes(forged_section(random.Random(seed), data))
        status = main(["search", f"{tmp_path}/q", f"{tmp_path}/db", "--engine", "reference"])
        said = capsys.readouterr()
        assert status in (0, 2), seed
        *before, last = said.err.splitlines()  # a warning of letters may come before
        assert len(before) <= 1, seed
        assert status == 0 or str(tmp_path / "db") in last, seed


def test_sections_must_not_overlap(tmp_path):
    data = written(tmp_path / "db", 300)
    table = contents(data)
    table["sections"]["rank"] = table["sections"]["order"]
    (tmp_path / "db").write_bytes(ended(data[: struct.unpack_from("=16xQ", data)[0]], table))
    error, _ = outcome(tmp_path / "db")
    assert error == f"{tmp_path}/db: corrupt database (table of contents)"


def test_codes_outside_the_alphabet_are_refused(tmp_path):
    data = written(tmp_path / "db", 300)
    parts = sections(data)
    parts["residues"] = parts["residues"][:-1] + bytes([len(PROTEIN)])
    (tmp_path / "db").write_bytes(built(contents(data), parts))
    database = Database.open(tmp_path / "db")
    for read in (
        lambda: database.part(slice(None)).residues,
        lambda: list(database),
        database.verify,
    ):
        with pytest.raises(DatabaseError, match=r"corrupt database \(residues\)"):
            read()


def test_a_huge_table_of_contents_is_not_read(tmp_path):
    head = bytearray(preface(40, b"")[:36])
    struct.pack_into("=Q", head, 24, 10**10)
    with open(tmp_path / "db", "wb") as file:
        file.write(head + struct.pack("=I", zlib.crc32(head)))
        file.truncate(40 + 10**10)
    error, _ = outcome(tmp_path / "db")
    assert error.endswith("corrupt database (table of contents)")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_no_database(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DatabaseError, match="not a regular file"):
        Database.open(tmp_path / "pipe")


# files that change while they are in use


def blocks_of(database):
    """Read the whole database, in many parts."""
    return [database.part(part).residues for part in database.parts(50_000)]


@pytest.fixture
def large(tmp_path):
    written(tmp_path / "db", 300_000)
    return tmp_path / "db"


def test_a_file_that_is_truncated_while_it_is_in_use(large):
    database = Database.open(large)
    first = database.part(slice(1))
    before = first.residues.copy()
    os.truncate(large, 100)
    with pytest.raises(DatabaseError, match="overwritten while it was in use"):
        blocks_of(database)
    assert np.array_equal(first.residues, before)


def test_a_file_that_is_overwritten_while_it_is_in_use(large, tmp_path):
    data = large.read_bytes()
    other = written(tmp_path / "other", 300_000, seed=2)
    database = Database.open(large)
    database.part(slice(1))
    large.write_bytes(other[: len(data)].ljust(len(data)))
    with pytest.raises(DatabaseError, match="overwritten while it was in use"):
        blocks_of(database)


def test_what_was_read_stays_when_the_file_is_overwritten(large):
    database = Database.open(large)
    expected = [each.codes.tolist() for each in database]
    sequences = database.sequences
    assert len(sequences.residues) == database.residues
    large.write_bytes(b"something else")
    assert [sequences[k].tolist() for k in database.rank] == expected


def test_an_error_of_the_disk_names_the_file(large, monkeypatch):
    database = Database.open(large)

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(sections_module, "read_at", fail)
    with pytest.raises(OSError, match="Input/output error") as error:
        blocks_of(database)
    assert error.value.filename == str(large)


# glsw verify


def verify(path, capsys):
    status = main(["verify", str(path)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_verify(tmp_path, capsys):
    data = written(tmp_path / "db", 300)
    status, out, err = verify(tmp_path / "db", capsys)
    assert (status, err) == (0, "")
    assert out.startswith(f"{tmp_path}/db: undamaged, ")
    assert "format 5" in out
    for name, place in contents(data)["sections"].items():
        if place["bytes"]:
            at = place["offset"] + place["bytes"] // 2
            (tmp_path / "db").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            status, out, err = verify(tmp_path / "db", capsys)
            assert (status, out) == (2, "")
            assert err == f"glsw: {tmp_path}/db: corrupt database ({name})\n"


def test_verify_what_is_no_database(tmp_path, capsys):
    (tmp_path / "in").write_text(">a\nMK\n")
    assert verify(tmp_path / "in", capsys) == (2, "", f"glsw: {tmp_path}/in: not a glsw database\n")
    status, _, err = verify(tmp_path / "none", capsys)
    assert (status, err) == (2, f"glsw: {tmp_path}/none: No such file or directory\n")


# makedb that cannot go on


def test_a_terminated_makedb_leaves_nothing(tmp_path):
    (tmp_path / "out").mkdir()
    running = process("makedb - out/db", tmp_path, stdin=subprocess.PIPE)
    piece = b"".join(b">%d some title\n%s\n" % (k, b"MKVLA" * 60) for k in range(4000))

    def begun():
        running.stdin.write(piece)  # blocks of several MB must come for something to be written
        return list((tmp_path / "out").glob("*.part"))

    wait_until(begun, running)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate()
    assert (running.returncode, out, err) == (143, b"", b"glsw: terminated\n")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_second_sigterm_ends_the_process(tmp_path):
    code = (
        "import os, signal, time\n"
        "from glsw.cli import signals\n"
        "with signals.interrupts_raised(program=False):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(60)\n"
        "    except signals.Terminated:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(60)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == -signal.SIGTERM


def test_a_disk_without_room_names_the_database(tmp_path, monkeypatch, capsys):
    (tmp_path / "in.fasta").write_text(">a\nMKVLA\n" * 50_000)
    monkeypatch.chdir(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        status = main(["makedb", "in.fasta", "db"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 2
    assert capsys.readouterr().err == f"glsw: {tmp_path}/db: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.fasta"]


def test_a_full_disk_names_the_database(tmp_path, monkeypatch):
    (tmp_path / "in.fasta").write_text(">a\nMKVLA\n")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left on device") as error:
        makedb(tmp_path / "in.fasta", tmp_path / "db")
    assert error.value.filename == str(tmp_path / "db")
