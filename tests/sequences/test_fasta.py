import gzip
import io
import sys
import zlib

import pytest
from Bio.SeqIO.FastaIO import SimpleFastaParser
from Bio.SeqIO.QualityIO import FastqGeneralIterator
from hypothesis import example, given, strategies as st
from smaller import smaller
from subtests import with_subtests

from glsw.sequences import fasta
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet
from glsw.sequences.database import Database, makedb
from glsw.sequences.fasta import blocks, read, read_all
from glsw.sequences.named import codes_of
from glsw.words import visible

CODONS = Alphabet("codons", ("AAA", "CCC", "GGG"))
FASTA = b">a first one\nACGT\nAC\n>b\nTT\n"
FASTQ = b"@r1 left\nACGT\n+\n@III\n@r2\nTT\n+r2\n+@\n"
LONG = b">a x\n" + b"ACGTACGTAC\n" * 1000 + b">b\n\n>c\n" + b"T" * 5000


def plainly_read(path):
    """Yield id, description and letters line by line: Biopython cuts the text into records."""
    try:
        text = path.read_bytes()
        shown = str(path)
        empty = not text
        if text.startswith(b"\x1f\x8b"):
            text = gzip.GzipFile(fileobj=io.BytesIO(text)).read()
        text = text.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\n\r\x0b\f")
    except EOFError:
        raise ValueError(f"{shown}: truncated gzip file") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{shown}: corrupt gzip file ({error})") from None
    if not text:
        raise ValueError(f"{shown}: {'empty file' if empty else 'no sequences, only blank lines'}")
    if text[:1] not in b">@":
        begin = text[:20].splitlines()[0].decode("latin-1")
        raise ValueError(f"{shown}: not FASTA or FASTQ, it begins with {begin!a}")
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", errors="replace")
    titled = SimpleFastaParser(lines) if text[:1] == b">" else FastqGeneralIterator(lines)
    try:
        for number, (title, letters, *_) in enumerate(titled, start=1):
            letters = "".join(letters.split())
            first, description = [*title.split(None, 1), "", ""][:2]
            name = first or f"record {number}"
            for at, letter in enumerate(letters, start=1):
                if not letter.isascii():
                    place = f"{letter!a} at position {at}"
                    raise NotALetterError(f"{shown}: {visible(name)}: {place} is not a letter")
            yield name, description.rstrip(), letters
    except NotALetterError:
        raise
    except ValueError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{shown}: truncated or malformed FASTQ: {reason}") from None


class NotALetterError(ValueError):
    pass


def common(path, alphabet, unknown=None):
    """Return the records of `plainly_read` in codes, or their error."""
    try:
        return [
            (
                name,
                description,
                alphabet.encode(letters, name=name, unknown=unknown).tobytes(),
                alphabet.substituted(letters),
            )
            for name, description, letters in plainly_read(path)
        ]
    except ValueError as error:
        return str(error)


def decoded(path, alphabet, unknown=None):
    """Return what `glsw.read` gives in codes, or its error."""
    try:
        return [
            (
                record.id,
                record.description,
                alphabet.encode(record.letters, name=record.id, unknown=unknown).tobytes(),
                alphabet.substituted(record.letters),
            )
            for record in read(path)
        ]
    except ValueError as error:
        return str(error)


def encoded(path, alphabet, unknown=None):
    """Yield id, description, codes and substituted letters of each record, encoded in blocks."""
    for records in blocks(path):
        codes = codes_of(records, alphabet, unknown)
        for k, record in enumerate(records):
            assert records[k] == record
            part = codes[k].tobytes()
            yield record.id, record.description, part, alphabet.substituted(record.letters)


def blockwise(path, alphabet, unknown=None):
    try:
        return list(encoded(path, alphabet, unknown))
    except ValueError as error:
        return str(error)


def databases(path, alphabet, unknown=None):
    """Return what a database of the file in arrays has, and one of its records; or errors."""
    for records in (lambda: read_all(path), lambda: list(read(path))):
        try:
            made = Database.of(records(), alphabet, unknown)
        except ValueError as error:
            yield str(error)
        else:
            assert list(made.names_and_lengths()) == [(each.id, len(each)) for each in made]
            arrays = made.sequences.residues, made.sequences.offsets, made.order, made.rank
            yield list(made), made.substituted, [array.tolist() for array in arrays]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("fasta") / "file"

    def write(content):
        path.write_bytes(content)
        return path

    return write


words = "> \n \r \r\n \n> ACGT acguN * \xa0 \u2028 é ; @ + J u \0 - \v\f\x1c\x1f".encode()
pieces = st.sampled_from([*words.split(b" "), b" ", b"\t", b"\xff", b"\xc3"])
contents = st.lists(pieces, max_size=30).map(b"".join)


@given(
    contents.map(b">".__add__) | contents,
    st.sampled_from([(PROTEIN, None), (PROTEIN, "X"), (DNA, "N"), (CODONS, None)]),
    st.sampled_from([1, 2, 5, 1 << 22]),
    st.booleans(),
)
@example(b">", (DNA, None), 1, False)
@example(b">\n>\n>b\n>", (DNA, None), 1, False)
@example(b"\xef\xbb\xbf\n >a b \r\nAC GT\r\n\r\n>\r\n*", (PROTEIN, None), 2, True)
def test_records_and_errors_are_those_of_a_plain_reader(file, content, letters, block, zipped):
    path = file(gzip.compress(content) if zipped else content)
    with pytest.MonkeyPatch.context() as patch:
        smaller(patch, block=block)
        assert decoded(path, *letters) == common(path, *letters)
        assert blockwise(path, *letters) == common(path, *letters)
        in_arrays, one_by_one = databases(path, *letters)
        assert in_arrays == one_by_one


@pytest.mark.parametrize(
    "content",
    [
        b"",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"", mtime=0) + gzip.compress(FASTA, mtime=0),
        b" \n\n",
        b"LOCUS NC_000913\n>a\nACGT\n",
        b"; old style\n>a\nAC\n",
        FASTQ,
        gzip.compress(FASTQ, mtime=0),
        FASTQ[:-4],
        FASTA + b">z\nAC!T\n",
        FASTA + ">é\nACé\n".encode(),
        b">\nAC\n>\nA\x00\n",
        gzip.compress(FASTA, mtime=0)[:-9],
        gzip.compress(LONG, mtime=0)[:40],
        gzip.compress(FASTA, mtime=0) + b"trailing",
        gzip.compress(FASTA, mtime=0)[:-8] + bytes(8),
        b"\x1f\x8b",
        b"\x1f\x8b" + b"\xff" * 40,
    ],
)
@pytest.mark.parametrize("alphabet", [DNA, CODONS])
def test_errors_are_those_of_a_plain_reader(file, content, alphabet):
    path = file(content)
    assert decoded(path, alphabet) == common(path, alphabet)
    assert blockwise(path, alphabet) == common(path, alphabet)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("block", [1, 7, 64, 4096])
def test_records_longer_than_a_block(monkeypatch, file, end, block):
    smaller(monkeypatch, block=block)
    path = file(LONG.replace(b"\n", end))
    assert list(read_all(path).names_and_lengths()) == [("a", 10_000), ("b", 0), ("c", 5000)]


def test_a_long_line_need_not_end(monkeypatch, file):
    smaller(monkeypatch, block=64)
    (record,) = read(file(b">a\n" + b"A" * 10_000))
    assert record.letters == "A" * 10_000


@pytest.mark.parametrize("content", [FASTA, FASTQ, LONG])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_counts_the_bytes_of_the_file(file, content, pack):
    path, counts = file(pack(content)), []
    list(blocks(path, progress=counts.append))
    assert sum(counts) == path.stat().st_size


@pytest.mark.parametrize("content", [FASTA, FASTQ, gzip.compress(FASTA, mtime=0)])
def test_standard_input(monkeypatch, file, content):
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
    monkeypatch.setattr(sys, "stdin", stream)
    assert blockwise("-", DNA) == common(file(content), DNA)
    assert not stream.buffer.closed


def test_the_letter_for_unknown_ones_is_checked_first(tmp_path):
    with pytest.raises(ValueError, match="unknown letter '!' is not in the DNA alphabet"):
        makedb(tmp_path / "none", tmp_path / "out", alphabet=DNA, unknown="!")


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(blocks(tmp_path / "none"))
    with pytest.raises(IsADirectoryError):
        next(blocks(tmp_path))
    with pytest.raises(TypeError, match="a path must be str, got bytes"):
        next(blocks(b"none"))


def test_blank_lines_are_skipped_many_at_once() -> None:
    reads = []

    class Counted(io.BufferedReader):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size)
            return super().read(size)

    text = b"\r\n\t " * 2**20 + b">t\nPAWHEAE\n"
    stream = Counted(io.BytesIO(text), 1 << 17)  # type: ignore[arg-type]
    texts, _ = zip(*fasta._texts(stream, "t.fasta", False), strict=True)
    assert b"".join(texts) == b">t\nPAWHEAE\n\n"
    assert len(reads) < 100


@with_subtests("end", ["\n", "\r\n", ""])
def test_a_look_at_a_file_does_not_read_long_records(end, tmp_path, monkeypatch):
    smaller(monkeypatch, block=16)
    path = tmp_path / "long.fasta"
    path.write_bytes(end.join([">a long title", "ACGT" * 9, ">b", "GG"]).encode() + b"\n")
    if not end:
        path.write_bytes(b">a\n" + b"ACGT" * 9 + b"GG")
    parts = list(blocks(path, whole=False))
    assert b"".join(part.joined_letters().tobytes() for part in parts) == b"ACGT" * 9 + b"GG"
    assert len(parts) > 2
    path.write_bytes(b">a\n" + b"ACGT" * 10**6)
    read = []
    next(blocks(path, whole=False, progress=read.append))
    assert 0 < sum(read) < 10**6
