import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from Bio import SeqIO
from Bio.Seq import MutableSeq, Seq
from Bio.SeqRecord import SeqRecord
from hypothesis import given, strategies as st
from smaller import smaller

from glsw.inputs.source import Source, is_single
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.sequences.fasta import read, read_all
from glsw.sequences.named import codes_of
from glsw.sequences.records import Record, Records

FASTA = b">a first one\nACGT\nAC\n>b\nTT\n"
FASTQ = b"@r1 left\nACGT\n+\n@III\n@r2\nTT\n+r2\n+@\n"
# contents name the tests, which must have the same names in all processes: without the time
ZIPPED = gzip.compress(FASTA, mtime=0)


@pytest.fixture
def write(tmp_path):
    def write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def stdin(monkeypatch, content):
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
    monkeypatch.setattr(sys, "stdin", stream)
    return stream


def test_fasta(write):
    assert list(read(write(FASTA))) == [Record("a", "first one", "ACGTAC"), Record("b", "", "TT")]


def test_fastq(write):
    assert list(read(write(FASTQ))) == [Record("r1", "left", "ACGT"), Record("r2", "", "TT")]


@pytest.mark.parametrize("content", [FASTA, FASTQ])
@pytest.mark.parametrize("name", ["file.fa", "file.gz", "file.txt"])
def test_gzip_is_told_by_content(write, content, name):
    plain = list(read(write(content, name)))
    assert list(read(write(gzip.compress(content), name))) == plain
    members = gzip.compress(content[:9]) + gzip.compress(content[9:]) + gzip.compress(b"")
    assert list(read(write(members, name))) == plain


@pytest.mark.parametrize("content", [FASTA, FASTQ])
def test_line_ends_and_blank_lines_do_not_matter(write, content):
    plain = list(read(write(content)))
    windows = content.replace(b"\n", b"\r\n")
    for variant in (windows, content.rstrip(b"\n"), b"\n \r\n" + content, content + b"\n\n"):
        assert list(read(write(variant))) == plain
    assert list(read(write(b"\xef\xbb\xbf" + content))) == plain


def test_old_macintosh_line_ends(write):
    assert list(read(write(FASTA.replace(b"\n", b"\r")))) == list(read(write(FASTA)))


def test_white_space_among_letters_is_dropped_and_a_stop_kept(write):
    (record,) = read(write(b">a\nMK V\t\n\n  LA* \n"))
    assert record.letters == "MKVLA*"


def test_empty_and_nameless_records(write):
    assert list(read(write(b">\nAC\n>b\n> c d\n>"))) == [
        Record("record 1", "", "AC"),
        Record("b", "", ""),
        Record("c", "d", ""),
        Record("record 4", "", ""),
    ]


def test_titles_may_hold_any_text(write):
    (record,) = read(write(">a\tprotéine  of\xa0Escherichia \nMK\n".encode()))
    assert record == Record("a", "protéine  of\xa0Escherichia", "MK")
    assert next(read(write(b">a caf\xe9\nMK\n"))).description == "caf\ufffd"


@pytest.mark.parametrize("content", [FASTA, FASTQ, ZIPPED])
def test_standard_input(monkeypatch, write, content):
    stream = stdin(monkeypatch, content)
    assert list(read("-")) == list(read(write(content)))
    assert not stream.buffer.closed
    assert stream.buffer.read() == b""


def test_standard_input_without_a_buffer(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FASTA)))
    assert len(list(read(Path("-")))) == 2


def test_a_reader_may_stop_early(write):
    records = read(write(FASTA))
    assert next(records).id == "a"
    records.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (gzip.compress(b"", mtime=0), "only blank lines|empty file"),
        (b" \n\n", "only blank lines"),
        (b"LOCUS NC_000913\n>a\nACGT\n", "not FASTA or FASTQ, it begins with 'LOCUS NC_000913'"),
        (b"ACGT\n", "not FASTA or FASTQ"),
        (b"; old style\n>a\nAC\n", "not FASTA or FASTQ"),
        (b"\x00\x01\x02\nPK", r"not FASTA or FASTQ, it begins with '\\x00\\x01\\x02'"),
        (b"\xff\xfe>\x00a\x00", "not FASTA or FASTQ, but UTF-16: save it as UTF-8$"),
        (bz2.compress(FASTA), "but compressed by bzip2: decompress it first$"),
        (lzma.compress(FASTA), "but compressed by xz: decompress it first$"),
        (b"(\xb5/\xfd$\x1d\xe9", "but compressed by zstd: decompress it first$"),
        (b"PK\x03\x04\x14", "but a zip archive: extract it first$"),
        (">a\nACGé\n".encode(), r"a: '\\xe9' at position 4 is not a letter"),
        (b">\nAC\xffG\n", r"record 1: '\\ufffd' at position 3 is not a letter"),
        (b"@r1\nACGT\n", "FASTQ: End of file without quality information"),
        (b"@r1\nACGT\n+\n", "FASTQ: Unexpected end of file"),
        (b"@r1\nACGT\n+\nII", "FASTQ: Lengths of sequence and quality"),
        (b"@r1\nACGT\n+r2\nIIII\n", "FASTQ: Sequence and quality captions differ"),
        (b"@", "FASTQ: Unexpected end of file"),
        (gzip.compress(FASTA * 99, mtime=0)[:-9], "truncated gzip file"),
        (ZIPPED[:2], "truncated gzip file"),
        (ZIPPED[:12], "truncated gzip file"),
        (ZIPPED[:-8] + b"\0" * 8, "corrupt gzip file"),
        (ZIPPED + b"junk", "corrupt gzip file"),
        (b"\x1f\x8bjunk that is longer", "corrupt gzip file"),
        (ZIPPED[:10] + b"\xff" * 40, "corrupt gzip file"),
    ],
)
def test_bad_files_are_refused_in_one_line_that_names_them(write, content, message):
    path = write(content, "bad.fa")
    with pytest.raises(ValueError, match=message) as caught:
        list(read(path))
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert text.isprintable()
    assert not text.endswith(".")


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda junk: b">" + junk))
def test_junk_is_read_or_refused(tmp_path_factory, junk):
    path = tmp_path_factory.getbasetemp() / "junk"
    path.write_bytes(junk)
    try:
        outcome = len(list(read(path)))
    except ValueError as error:
        outcome = str(error)
    if isinstance(outcome, int):
        assert outcome > 0
    else:
        assert outcome.startswith(f"{path}: ")
        assert len(outcome.splitlines()) == 1


def test_bad_standard_input_is_named(monkeypatch):
    stdin(monkeypatch, b"junk")
    with pytest.raises(ValueError, match=r"^standard input: not FASTA"):
        next(read("-"))


def test_what_cannot_be_opened_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(read(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        next(read(tmp_path))


def test_a_path_is_not_a_number():
    with pytest.raises(TypeError):
        next(read(3))


@pytest.mark.parametrize(
    "source",
    ["MKV", b"MKV", Seq("MKV"), MutableSeq("MKV"), np.array([12, 11, 19]), PROTEIN.encode("MKV")],
)
def test_one_nameless_sequence(source):
    assert is_single(source)
    assert list(Source(source).records(what="query", alphabet=PROTEIN)) == [
        Record("query", "", "MKV")
    ]


def test_a_str_is_letters_and_a_path_a_file(write):
    path = write(FASTA)
    assert Source("MKV").records(what="query")[0].letters == "MKV"
    with pytest.raises(ValueError, match=r'is the name of a file: Path\(".*"\) reads it'):
        Source(f"{path.rename(f'{path}.fasta')}").records(what="query")
    path = path.with_name(f"{path.name}.fasta")
    assert [record.id for record in Source(path).records(what="query")] == ["a", "b"]
    assert not is_single(path)


def test_records_of_biopython(write):
    path = write(FASTA)
    with path.open() as handle:
        parsed = list(SeqIO.parse(handle, "fasta"))
    assert list(Source(parsed).records(what="target")) == list(read(path))
    assert list(Source(parsed[0]).records(what="target")) == [Record("a", "first one", "ACGTAC")]
    assert list(Source(SeqRecord(Seq("AC"))).records(what="target")) == [Record("target", "", "AC")]
    titled = SeqRecord(Seq("AC"), id="x", description="made by hand")
    assert list(Source(titled).records(what="target")) == [Record("x", "made by hand", "AC")]


def test_a_collection_of_all_kinds(write):
    sources = ["AC", Record("x", "y", "GG"), Seq("GT"), write(FASTA), np.array([0, 3])]
    records = Source(source for source in sources).records(what="target", alphabet=DNA)
    assert [(record.id, record.letters) for record in records] == [
        ("target 1", "AC"),
        ("x", "GG"),
        ("target 3", "GT"),
        ("a", "ACGTAC"),
        ("b", "TT"),
        ("target 5", "AT"),
    ]


def test_a_table_of_codes_is_a_collection():
    table = np.array([[0, 1], [2, 3]], np.uint8)
    assert not is_single(table)
    letters = [record.letters for record in Source(table).records(what="target", alphabet=DNA)]
    assert letters == ["AC", "GT"]


def test_an_array_of_str_is_a_collection():
    records = Source(np.array(["AC", "G"])).records(what="target")
    assert [type(record.letters) for record in records] == [str, str]


def test_empty_collections_and_sequences():
    assert list(Source([]).records(what="target")) == []
    assert list(Source("").records(what="query")) == [Record("query", "", "")]
    assert Source(np.array([], np.uint8)).records(what="query", alphabet=DNA)[0].letters == ""


@pytest.mark.parametrize("source", [5, None, 2.5, np.array(3), {"a": "ACGT"}, object()])
def test_other_kinds_are_refused(source):
    assert not is_single(source)
    with pytest.raises(TypeError, match=r"query: expected letters, .* got"):
        Source(source).records(what="query")


@pytest.mark.parametrize("item", [5, None, ["ACGT"], np.array([0.5])])
def test_other_items_are_refused_by_number(item):
    with pytest.raises(TypeError, match="target 2: expected letters"):
        Source(["AC", item]).records(what="target")


def test_codes_need_an_alphabet_and_must_be_in_it():
    with pytest.raises(ValueError, match="query: an array of codes needs an alphabet"):
        Source(np.array([0, 1])).records(what="query")
    with pytest.raises(ValueError, match="target 1: code 99 at position 2"):
        Source([np.array([0, 99])]).records(what="target", alphabet=DNA)


def test_a_seq_without_letters_is_refused():
    with pytest.raises(ValueError, match="query: its letters are undefined"):
        Source(Seq(None, length=5)).records(what="query")
    with pytest.raises(TypeError, match="x: expected a Seq, got NoneType"):
        Source(SeqRecord(None, id="x")).records(what="query")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "kind", "alphabet"),
    [
        ("queries/queries2006.fasta", "fasta", PROTEIN),
        ("proteins/ecoli_K12_sprot_4403.fasta.gz", "fasta", PROTEIN),
        ("dna/lambda_virus.fa", "fasta", DNA),
        ("dna/lambda_reads_1.first1000.fq", "fastq", DNA),
        ("dna/mito_human_mouse_chicken_fugu.fasta", "fasta", DNA),
    ],
)
def test_real_files_read_as_biopython_reads_them(data, name, kind, alphabet):
    path = Path(data) / name
    records = list(read(path))
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as handle:
        expected = Source(SeqIO.parse(handle, kind)).records(what=name)
    assert records == list(expected)
    for record in records:
        text = record.letters.upper()
        codes = alphabet.encode(text, name=record.id, unknown="X" if alphabet is PROTEIN else "N")
        assert len(codes) == len(text)


@pytest.mark.parametrize("kind", ["a file", "objects"])
def test_records_are_the_same_from_a_file_and_as_objects(kind, tmp_path):
    path = tmp_path / "three.fq"
    path.write_text("@a first one\nACGT\n+\nIIII\n@b\n\n+\n\n@c\nAC\n+\nIJ\n")
    whole = list(read(path))
    records = read_all(path) if kind == "a file" else Records.of(whole)
    assert Records.of(records) is records
    assert (len(records), list(records), [*reversed(records)]) == (3, whole, whole[::-1])
    assert [records[k].quality for k in range(3)] == ["IIII", "", "IJ"]
    assert [*records.titles] == [("a", "first one"), ("b", ""), ("c", "")]
    assert b"".join(records.pieces()) == b"ACGTAC"
    assert records.joined_letters().tobytes() == b"ACGTAC"
    assert (records.offsets.tolist(), records.qualities.tobytes()) == ([0, 4, 4, 6], b"IIIIIJ")
    assert [*records.names_and_lengths()] == [("a", 4), ("b", 0), ("c", 2)]
    for part in (slice(None), slice(1, 3), slice(2), slice(3, 1), slice(3, None)):
        some = records[part]
        assert list(some) == whole[part]
        assert some.offsets[0] == 0
        assert [*some.titles] == [*records.titles][part]
    assert list(Records.joined([records, records[1:]])) == whole + whole[1:]
    with pytest.raises(IndexError):
        records[3]


def test_many_records_are_made_some_at_a_time(monkeypatch, tmp_path):
    path = tmp_path / "many.fasta"
    path.write_text("".join(f">r{k}\n{'ACGT' * (k % 3)}\n" for k in range(25)))
    expected = [Record(f"r{k}", "", "ACGT" * (k % 3)) for k in range(25)]
    for together in (1, 7, 25, 100):
        smaller(monkeypatch, records=together)
        assert list(read_all(path)) == expected


def test_letters_that_are_not_ascii_are_none_of_any_alphabet():
    records = Records.of([Record("a", "", "MK"), Record("b", "", "Ké")])
    assert records.joined_letters().tobytes() == b"MKK\0"
    with pytest.raises(ValueError, match="b: letter 'é' at position 2"):
        codes_of(records, PROTEIN, None)
    assert PROTEIN.decode(codes_of(records, PROTEIN, "X")[1]) == "KX"
