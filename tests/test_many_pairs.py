"""Many pairs in one call: their inputs, chunks, workers and results."""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import parasail
import pyarrow as pa
import pytest
from Bio.Seq import MutableSeq, Seq
from smaller import smaller

import glsw
from glsw.alignment.batch import Batch
from glsw.cores import in_threads, limited
from glsw.inputs.encoder import InputEncoder
from glsw.inputs.source import Source
from glsw.pairs.many_pairs import chunks, index_of
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, UnknownLetterError
from glsw.sequences.encoded import Sequences

WORDS = ["HEAGAWGHEE", "PAWHEAE", "", "HEAE", "WWWW"]
LETTERS = "ARNDCQEGHILKMFPSTWYV"
DNA_SCORING = Scoring.match_mismatch(2, -3, 5, 2)
PARASAIL = {
    "local": parasail.sw_scan_32,
    "global": parasail.nw_scan_32,
    "semiglobal": parasail.sg_scan_32,
}


def random_words(count, longest, letters=LETTERS, seed=1):
    random = np.random.default_rng(seed)
    alphabet = np.frombuffer(letters.encode(), np.uint8)
    lengths = random.integers(1, longest + 1, count)
    text = alphabet[random.integers(0, len(alphabet), lengths.sum())].tobytes().decode()
    return [text[a:b] for a, b in pairwise(np.append(0, np.cumsum(lengths)).tolist())]


def theirs(queries, targets, mode, dna):
    matrix = parasail.matrix_create("ACGT", 2, -3) if dna else parasail.blosum62
    opening, extending = (5, 2) if dna else (12, 1)
    score = PARASAIL[mode]
    # its semi-global alignments have an aligned pair; without one the score is 0
    least = 0 if mode == "semiglobal" else -(10**9)
    return [
        max(least, score(q, t, opening, extending, matrix).score)
        for q, t in zip(queries, targets, strict=True)
    ]


@pytest.mark.parametrize("mode", list(PARASAIL))
@pytest.mark.parametrize("dna", [False, True])
def test_scores_are_those_of_parasail(device, mode, dna):
    letters = "ACGT" if dna else LETTERS
    queries, targets = random_words(300, 40, letters), random_words(300, 40, letters, seed=2)
    scoring = DNA_SCORING if dna else Scoring.blast()
    found = glsw.score_pairs(queries, targets, scoring=scoring, mode=mode, device=device)
    assert found.tolist() == theirs(queries, targets, mode, dna)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(PARASAIL))
@pytest.mark.parametrize("dna", [False, True])
def test_scores_of_many_pairs_are_those_of_parasail(device, mode, dna):
    letters = "ACGT" if dna else LETTERS
    queries, targets = random_words(170_000, 30, letters), random_words(170_000, 30, letters, 2)
    scoring = DNA_SCORING if dna else Scoring.blast()
    found = glsw.score_pairs(queries, targets, scoring=scoring, mode=mode, device=device)
    assert found.tolist() == theirs(queries, targets, mode, dna)


@pytest.mark.parametrize("mode", list(PARASAIL))
def test_alignments_are_those_of_single_pairs(device, mode):
    queries, targets = random_words(40, 30), random_words(40, 30, seed=2)
    aligner = glsw.Aligner(mode=mode, device=device)
    found = aligner.align_pairs(queries, targets)
    for k, each in enumerate(found):
        one = aligner.align(queries[k], targets[k])
        assert each.coordinates.tolist() == one.coordinates.tolist()
        assert found.score[k] == one.score
        assert (found.columns[k], found.identities[k]) == (one.columns, one.identities)
        assert (found.gaps[k], found.positives[k]) == (one.gaps, one.positives)
        assert (found.query_start[k], found.query_end[k]) == (one.query_start, one.query_end)
        assert (found.target_start[k], found.target_end[k]) == (one.target_start, one.target_end)
        assert found.cigar(k) == one.cigar
        assert found.identity[k] == one.identity
        for over in ("inner", "query", "longer"):
            assert found.identity_over(over)[k] == one.identity_over(over)
        assert found.coverage("target")[k] == one.coverage("target")
    assert found.cigars() == [each.cigar for each in found]


def texts_of(words):
    """Return forms of text that are encoded all at once."""
    return {
        "text": words,
        "tuple": tuple(words),
        "bytearray": [bytearray(word.encode()) for word in words],
        "Seq": [Seq(word) for word in words],
        "MutableSeq": [MutableSeq(word) for word in words],
        "array of U": np.array(words),
        "array of objects": np.array(words, object),
        "text of NumPy": list(np.array(words)),
        "pandas": pd.Series(words),
        "pandas, objects": pd.Series(words, dtype=object),
        "pandas, Arrow": pd.Series(words, dtype="string[pyarrow]"),
        "pandas, categories": pd.Series(words, dtype="category"),
        "pandas, index": pd.Index(words),
    }


def forms_of(words):
    codes = [PROTEIN.encode(word) for word in words]
    listed = pa.array([each.tolist() for each in codes], pa.list_(pa.uint8()))
    return {
        **texts_of(words),
        "bytes": [word.encode() for word in words],
        "mixed": [words[0].encode(), *words[1:]],
        "array of S": np.array([word.encode() for word in words]),
        "Sequences": Sequences.of(codes),
        "codes": codes,
        "codes of several types": [codes[0].astype(np.int64), *codes[1:]],
        "Arrow, text": pa.array(words),
        "Arrow, bytes": pa.array([word.encode() for word in words], pa.large_binary()),
        "Arrow, slice": pa.array(["MMM", *words, "MM"])[1:-1],
        "Arrow, parts": pa.chunked_array([pa.array(words[:2]), pa.array(words[2:])]),
        "Arrow, views": pa.array(words, pa.string_view()),
        "Arrow, categories": pa.array(words).dictionary_encode(),
        "Arrow, codes": listed,
        "Arrow, codes of 64 bits": listed.cast(pa.list_(pa.int64())),
        "Arrow, large codes": listed.cast(pa.large_list(pa.uint8())),
    }


@pytest.mark.parametrize("form", list(forms_of(WORDS)))
def test_each_form_of_sequences(form):
    aligner = glsw.Aligner(engine="reference")
    expected = aligner.score_pairs(WORDS, WORDS[::-1])
    assert expected.tolist() == [
        aligner.score(a, b) for a, b in zip(WORDS, WORDS[::-1], strict=True)
    ]
    given = forms_of(WORDS)[form]
    one = [aligner.score(WORDS[0], word) for word in WORDS]
    assert aligner.score(WORDS[0], given).tolist() == one
    assert aligner.score_pairs(given, WORDS[::-1]).tolist() == expected.tolist()
    assert aligner.align_pairs(given, WORDS[::-1])[0].query.letters == WORDS[0]


@pytest.mark.parametrize("form", list(texts_of(WORDS)))
def test_no_record_is_made_of_each_text(form, monkeypatch):
    expected = Source(WORDS).encoded(PROTEIN, what="query")
    monkeypatch.setattr("glsw.inputs.source._record", None)
    found = Source(texts_of(WORDS)[form]).encoded(PROTEIN, what="query")
    assert found.sequences.residues.tolist() == expected.sequences.residues.tolist()
    assert found.sequences.offsets.tolist() == expected.sequences.offsets.tolist()


@pytest.mark.parametrize("kind", [str, str.encode])
def test_threads_encode_pieces_of_texts(kind, monkeypatch):
    for name in ("records", "named"):
        monkeypatch.setattr(f"glsw.sequences.{name}.PIECE", 16)
    smaller(monkeypatch, texts=2, letters=8)
    words, found = random_words(60, 25, LETTERS + "U?"), Counter()
    with limited(3):
        codes = Source([*map(kind, words)]).encoded(
            PROTEIN, what="x", unknown="X", substituted=found
        )
    expected, counted = "".join(words), "".join(words).count("U")
    assert PROTEIN.decode(codes.sequences.residues) == expected.replace("U", "C").replace("?", "X")
    assert codes.sequences.lengths.tolist() == [*map(len, words)]
    assert found == {"U": counted}
    with limited(3), pytest.raises(UnknownLetterError, match="x 60: letter 'ü' at position 2"):
        Source(["MKV"] * 59 + ["Mü"]).encoded(PROTEIN, what="x")


def test_threads_switch_quickly_only_while_another_one_makes_their_items():
    before, seen = sys.getswitchinterval(), []

    def items(last):
        yield from range(30)
        yield last

    def work(k):
        seen.append(sys.getswitchinterval())
        return 60 // (k - 30)

    with limited(3):
        assert in_threads(work, items(60), count=31) == [*map(work, items(60))]
        assert min(seen) < before == sys.getswitchinterval()
        with pytest.raises(ZeroDivisionError):
            in_threads(work, items(30), count=31)
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize(
    "words", [["mk", "", "mkv" * 9] * 9, ["W", "ACD"] * 9 + [""], [""], ["", ""]]
)
def test_room_for_letters_is_made_as_they_come_and_a_list_may_change_afterwards(words, monkeypatch):
    for name in ("records", "named"):
        monkeypatch.setattr(f"glsw.sequences.{name}.PIECE", 16)
    smaller(monkeypatch, texts=2, sample=1)
    given = list(words)
    with limited(3):
        found = Source(given).encoded(PROTEIN, what="x")
    given[:] = [None] * len(given)
    assert PROTEIN.decode(found.sequences.residues) == "".join(words).upper()
    assert found.sequences.lengths.tolist() == [*map(len, words)]
    assert found.sequences.code_bound == found.sequences.residues.max(initial=0)
    assert [found.record(k).letters for k in range(len(words))] == words
    assert len(found.records) == len(words)


_OTHERS = [glsw.Record("r", "", "MK"), Seq("MK"), b"MK", "MKé", "MK?", "a.fa", 5, None]


@pytest.mark.parametrize("unknown", [None, "X"])
@pytest.mark.parametrize("at", [2, 30])
@pytest.mark.parametrize("other", _OTHERS, ids=repr)
def test_an_item_of_a_long_list_is_of_another_kind(other, at, unknown, monkeypatch):
    def found(words):
        options = {"what": "query", "unknown": unknown}
        inputs = glsw.Aligner(engine="reference", unknown=unknown)._inputs
        for collected in (
            lambda: Source(words).encoded(PROTEIN, **options),
            lambda: inputs.collections(words, ["MK"])[0],
            lambda: inputs.collections(["MK"], words)[1],
        ):
            try:
                made = collected()
            except (ValueError, TypeError) as error:
                yield repr(error)
            else:
                yield made.sequences.residues.tolist(), [*map(made.name, range(len(made)))]
                yield [made.record(k).letters for k in range(len(made))]

    words = ["MKV", ""] * 20
    words[at] = other
    expected = [*found(words)]
    smaller(monkeypatch, sample=3)
    assert [*found(words)] == [*found(tuple(words))] == expected


@pytest.mark.parametrize("kind", [str, str.encode])
@pytest.mark.parametrize("mode", ["local", "global"])
def test_pairs_of_long_lists_are_encoded_in_parts(mode, kind, monkeypatch):
    queries, targets = (random_words(90, 20, LETTERS + "U", seed) for seed in (1, 2))
    queries[7] = targets[8] = ""
    targets[40] *= 50  # more letters than one part has room for
    words, done = [[*map(kind, side)] for side in (queries, targets)], []
    aligner = glsw.Aligner(mode=mode, engine="reference")
    with pytest.warns(RuntimeWarning) as whole:
        expected = aligner.score_pairs(*words)
    monkeypatch.setattr("glsw.inputs.encoder.PIECE", 100)
    smaller(monkeypatch, pieces=2)
    whole_sides, collections = [], InputEncoder.collections
    monkeypatch.setattr(
        InputEncoder, "collections", lambda *sides: whole_sides.append(sides) or collections(*sides)
    )
    with pytest.warns(RuntimeWarning) as warned:
        found = aligner.score_pairs(*words, progress=done.append)
    assert not whole_sides
    with pytest.warns(RuntimeWarning):
        assert aligner.score_pairs(words[0], tuple(words[1])).tolist() == expected.tolist()
    assert len(whole_sides) == 1
    assert found.tolist() == expected.tolist()
    assert [str(each.message) for each in warned] == [str(each.message) for each in whole]
    assert {each.filename for each in warned} == {__file__}
    assert sum(done) == sum(len(q) * len(t) for q, t in zip(*words, strict=True))
    for side, at, name in ((1, 80, "target 81"), (1, 12, "target 13"), (0, 85, "query 86")):
        words[side][at] = kind("MK?")  # errors are those of all queries, then of all targets
        with pytest.raises(UnknownLetterError, match=rf"^{name}: letter '\?' at position 3"):
            aligner.score_pairs(*words)
    words[0][85] = words[1][12] = kind("")
    words[1][80] = None
    with pytest.raises(TypeError, match="target 81: "):
        aligner.score_pairs(*words)
    words[1][80] = "MK" if kind is not str else b"MK"
    with pytest.warns(RuntimeWarning):
        assert len(aligner.score_pairs(*words)) == 90


@pytest.mark.parametrize("kind", ["str", "string[pyarrow]", pd.ArrowDtype(pa.large_string())])
@pytest.mark.parametrize("words", [["MKV", "AC"], ["MKé", "A"], ["MK?", ""], ["a.fa", "b/c"]])
def test_columns_are_as_lists(words, kind, monkeypatch):
    def found(source, unknown):
        try:
            made = Source(source).encoded(PROTEIN, what="query", unknown=unknown)
        except ValueError as error:
            return repr(error)
        return made.sequences.residues.tolist(), [each.letters for each in made.records]

    column = pd.concat([pd.Series(["W"], dtype=kind), pd.Series([*words, "W"], dtype=kind)])[1:-1]
    for unknown in (None, "X"):
        assert found(column, unknown) == found(words, unknown)
    monkeypatch.setattr(pd.Series, "tolist", None)  # no object is made of each text
    assert (
        len(Source(pd.Series(["MKV"], dtype=kind)).encoded(PROTEIN, what="query").sequences[0]) == 3
    )


def test_columns_with_missing_text_and_sequences_without_letters_are_named():
    with pytest.raises(TypeError, match=r"query 2: .* got float"):
        Source(pd.Series(["MKV", None])).encoded(PROTEIN, what="query")
    with pytest.raises(ValueError, match="query 2: its letters are undefined"):
        Source([Seq("MKV"), Seq(None, 5)]).encoded(PROTEIN, what="query")


def test_files_and_arrays_of_codes(tmp_path):
    path = tmp_path / "two.fasta"
    path.write_text(">a first\nHEAGAWGHEE\n>b\nPAWHEAE\n")
    aligner = glsw.Aligner(engine="reference")
    found = aligner.align_pairs(path, pairs=[[0, 1], [1, 1]])
    assert found.score.tolist() == [17, 44]
    assert found[0].query == glsw.Record("a", "first", "HEAGAWGHEE")
    codes = np.array([DNA.encode("ACGT"), DNA.encode("ACCT")])
    dna = glsw.Aligner(DNA_SCORING, engine="reference")
    assert dna.score_pairs(codes, codes[::-1]).tolist() == [4, 4]


def test_letters_are_shown_as_given():
    with pytest.warns(RuntimeWarning, match="1 letter U scored as C"):
        found = glsw.align_pairs(["acUde"], ["ACCDE"], engine="reference")
    assert found[0].query.letters == "acUde"
    assert found.cigars() == ["2=1X2="]
    masked = glsw.Aligner(engine="reference", lower_case_mask=True)
    assert masked.score_pairs(["HEAgawghee"], ["PAWHEAE"]).tolist() == [
        masked.score("HEAgawghee", "PAWHEAE")
    ]
    assert masked.align_pairs(["HEAgawghee"], ["PAWHEAE"])[0].query.letters == "HEAgawghee"


def test_masked_queries_meet_whole_targets():
    poly = "MKVLAAGIVSSSSSSSSSSSSSSSSSSSSLLKWHEAGAWGHEE"
    masked = glsw.Aligner(engine="reference", mask_low_complexity=True)
    expected = [masked.score(poly, WORDS[0]), masked.score(WORDS[0], poly)]
    assert masked.score_pairs([poly, WORDS[0]], pairs=[[0, 1], [1, 0]]).tolist() == expected


@pytest.mark.parametrize(
    ("queries", "targets", "pairs"),
    [
        ("HEAE", WORDS, None),
        (WORDS, "HEAE", None),
        (WORDS, WORDS[:2], np.array([[4, 1], [0, 0], [0, 1]], np.uint64)),
        (WORDS, None, (np.array([3, 1]), [0, 1])),
        (WORDS, None, []),
        ([], [], None),
        ([], WORDS[:1], None),
    ],
)
def test_which_pairs(queries, targets, pairs):
    aligner = glsw.Aligner(engine="reference")
    found = aligner.score_pairs(queries, targets, pairs=pairs)
    many = [queries] if isinstance(queries, str) else queries
    others = many if targets is None else [targets] if isinstance(targets, str) else targets
    index = index_of(pairs, len(many), len(others)).tolist()
    assert found.tolist() == [aligner.score(many[q], others[t]) for q, t in index]
    assert len(aligner.align_pairs(queries, targets, pairs=pairs)) == len(index)


@pytest.mark.parametrize(
    ("queries", "targets", "pairs", "error", "text"),
    [
        (WORDS, WORDS[:2], None, ValueError, "5 queries and 2 targets do not pair up"),
        (WORDS, None, None, TypeError, "targets, or pairs of the queries, expected"),
        (WORDS, None, [[0.5, 1]], TypeError, "pairs must be integers, got float64"),
        (WORDS, None, [0, 1], ValueError, r"pairs must have the shape .* got \(2,\)"),
        (WORDS, WORDS[:1], [[0, 1]], ValueError, "pairs name target 1, there are 0 to 0"),
        (WORDS, None, [[-1, 1]], ValueError, "pairs name query -1, there are 0 to 4"),
        (["AC", "A!C"], WORDS[:2], None, ValueError, "query 2: letter '!' at position 2"),
        (["AC"], ["é"], None, ValueError, "target 1: letter 'é' at position 1"),
        ([np.array([1, 99], np.uint8)], ["A"], None, ValueError, "query 1: code 99 at position 2"),
        (Sequences.of([np.full(2, 99, np.uint8)]), "A", None, ValueError, "query 1: code 99"),
        (pa.array(["A", None]), "A", None, ValueError, "query: 1 of 2 sequences are null"),
        (pa.array([1, 2]), "A", None, TypeError, "query: an Arrow array of strings"),
        (pa.table({"a": ["A"]}), "A", None, TypeError, "query: an Arrow array .*, got Table"),
        ([1, 2], "A", None, TypeError, "query 1: expected letters"),
    ],
)
def test_wrong_input_is_one_line(queries, targets, pairs, error, text):
    aligner = glsw.Aligner(engine="reference")
    with pytest.raises(error, match=text):
        aligner.score_pairs(queries, targets, pairs=pairs)


def test_results_do_not_depend_on_the_chunks(device, monkeypatch):
    aligner = glsw.Aligner(device=device)
    index = np.random.default_rng(5).integers(0, 30, (200, 2))
    words = random_words(30, 50)
    whole = aligner.align_pairs(words, pairs=index)
    done = []
    smaller(monkeypatch, pairs=7, residues=300)
    cut = aligner.align_pairs(words, pairs=index, progress=done.append)
    assert cut.score.tolist() == whole.score.tolist()
    assert cut.cigars() == whole.cigars()
    assert sum(done) == sum(len(words[q]) * len(words[t]) for q, t in index)
    assert aligner.score_pairs(words, pairs=index).tolist() == whole.score.tolist()


def test_results_do_not_depend_on_the_workers(device):
    aligner = glsw.Aligner(engine="reference")
    index = np.random.default_rng(5).integers(0, 30, (100, 2))
    words = random_words(30, 50)
    alone = aligner.align_pairs(words, pairs=index)
    with ThreadPoolExecutor(2) as executor:
        done = []
        scores = aligner.score_pairs(words, pairs=index, executor=executor, progress=done.append)
        found = aligner.align_pairs(words, pairs=index, executor=executor)
    assert scores.tolist() == alone.score.tolist() == found.score.tolist()
    assert found.cigars() == alone.cigars()
    assert sum(done) == sum(len(words[q]) * len(words[t]) for q, t in index)


def test_chunks_are_all_pairs_in_order():
    queries = [np.zeros(n, np.uint8) for n in (5, 0, 90, 1, 40)] * 9
    batch = Batch.pairwise(queries, [np.ones(4, np.uint8)] * 45)
    for count in (1, 2, 7, 100):
        found = list(chunks(batch, count))
        assert [each.stop for each in found[:-1]] == [each.start for each in found[1:]]
        assert (found[0].start, found[-1].stop) == (0, len(batch))
        assert len(found) >= 0.8 * min(count, 15)


def test_tables_of_alignments():
    found = glsw.align_pairs(["HEAGAWGHEE", "HEAE"], ["PAWHEAE", "HEAGE"], engine="reference")
    frame = found.to_dataframe()
    assert frame.loc[1].to_dict() == {
        "query": "query 2",
        "target": "target 2",
        "score": 17,
        "query_start": 0,
        "query_end": 3,
        "target_start": 0,
        "target_end": 3,
        "columns": 3,
        "identities": 3,
        "gaps": 0,
        "cigar": "3=",
    }
    assert found.to_arrow().to_pandas().equals(frame)
    theirs = found.alignment(-2)
    assert vars(theirs)["score"] == 17
    assert theirs.coordinates.tolist() == found[0].coordinates.tolist()
    with pytest.raises(IndexError, match="alignment 2 of 2"):
        found.cigar(2)


def test_decimals_give_floats():
    scoring = Scoring.named("GONNET1992", 10, 0.5)
    assert glsw.score_pairs(["WWW"], ["WWW"], scoring=scoring, engine="reference").dtype == float


def test_a_file_is_read_in_arrays(tmp_path):
    path = Path(tmp_path, "a.fasta")
    path.write_text("".join(f">n{k}\n{word}\n" for k, word in enumerate(random_words(50, 30))))
    found = Source(path).encoded(PROTEIN, what="query")
    assert [found.record(k) for k in range(50)] == list(glsw.read(path))


@pytest.mark.parametrize("many", [["MKV", b"", "HE"], np.array(["MKV", "", "HE"])])
def test_texts_have_their_numbers_as_names(many):
    found = Source(many).encoded(PROTEIN, what="query")
    records = found.records
    assert records is not None
    assert [found.name(k) for k in range(3)] == ["query 1", "query 2", "query 3"]
    expected = [("query 1", "MKV"), ("query 2", ""), ("query 3", "HE")]
    assert [(each.id, each.letters) for each in records] == expected
    assert [(each.id, each.letters) for each in records[1:]] == expected[1:]
    assert [*records.titles] == [(name, "") for name, _ in expected]
    for _ in range(2):
        assert records.joined_letters().tobytes() == b"MKVHE"
    assert records.offsets.tolist() == found.sequences.offsets.tolist() == [0, 3, 3, 5]


def test_a_table_is_no_sequences():
    table = pd.DataFrame({"SEQ": ["HEAG", "PAW"]})
    for call in (glsw.score_pairs, glsw.score, glsw.search):
        with pytest.raises(TypeError, match=r"^target: a column .*\['name'\], got DataFrame$"):
            call(["HEAG"], table)
        with pytest.raises(TypeError, match=r"^target: a list expected, .* no order, got set$"):
            call(["HEAG"], {"HEAG", "PAW"})
    assert glsw.score("HEAG", {"HEAG": 1, "PAW": 2}.keys()).tolist() == [23, 4]
    assert glsw.score_pairs(["HEAG", "PAW"], table["SEQ"]).tolist() == [23, 22]
