"""The benchmark of three sequences: tiny sizes, judges, what is wrong and what is left out."""

import json
import math

import numpy as np
import pytest
from test_bench import check_document, check_timed

from bench import cpu3, sudo2012, sudo2012_devices, sudo2012_runs, triples
from glsw.batch import Batch
from glsw.device.device import DeviceError
from glsw.engines.three import ENGINES3, Reference3
from glsw.paths import Ends, Paths
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.sequences.alphabet import PROTEIN

SCORINGS = {
    "identity": Scoring3.identity(),
    "ambiguous letters": Scoring3.identity(2, -1, 1),
    "affine": Scoring3.identity(2, -1, 3, 1),
    "free gaps": Scoring3.identity(1, -1, 0),
    "BLOSUM62": Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 8, 8)),
    "BLOSUM62, affine": Scoring3.sum_of_pairs(),
    "two letters gain": Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 3, 3)),
    "two letters gain, affine": Scoring3.sum_of_pairs(Scoring.named("BLOSUM62", 4, 1)),
}
OURS = ["subtable", "gpui", "plane"]


@pytest.fixture
def csv(tmp_path):
    """A recording of four channels."""
    values = np.vstack([np.arange(60) / 10, triples.recording(channels=4, samples=60)])
    path = tmp_path / "recording.csv"
    np.savetxt(path, values.T, delimiter=",", header="time,a,b,c,d", comments="")
    return path


@pytest.fixture
def bench(device, tmp_path, csv, one_repeat):
    """Run the benchmark: exit status and the document that it wrote."""

    def bench(*words):
        output = tmp_path / "out.json"
        common = ["--device", device.info.index, "--output", output, "--recording", csv]
        sizes = ["--lengths", "5,9", "--size", 6, "--word", 4, "--budget", 60]
        status = sudo2012.main([str(word) for word in (*common, *sizes, *words)])
        return status, json.loads(output.read_text())

    return bench


@pytest.fixture
def no_compiler(monkeypatch):
    """A machine without a C compiler."""
    cpu3._built.cache_clear()
    monkeypatch.setattr(cpu3, "COMPILER", ("no-such-compiler",))
    yield
    cpu3._built.cache_clear()


def parts(document, part):
    return [result for result in document["results"] if result["part"] == part]


def some(scoring, letters, count=40, seed=1):
    """Triples of up to 12 of the first letters, with empty ones among them."""
    random = np.random.default_rng(seed)
    return Batch.of(
        [random.integers(0, letters, length, np.uint8) for length in random.integers(0, 13, 3)]
        for _ in range(count)
    )


def related(letters, count=20, seed=2):
    """Triples of words that are a longer one with letters left out."""
    random = np.random.default_rng(seed)
    words = [random.integers(0, letters, 30, np.uint8) for _ in range(count)]
    return Batch.of([word[random.random(30) > 0.15] for _ in range(3)] for word in words)


def test_document(bench, capsys):
    status, document = bench()
    assert status == 0
    check_document(document, "sudo2012")
    settings = document["settings"]
    assert settings["engines"] == OURS
    assert settings["recording"] == {
        "origin": "recording.csv",
        "channels": 4,
        "samples": 60,
        "letters": 8,
    }
    (judge,) = parts(document, "judge")
    assert judge["refused"] == cpu3.refused()
    lengths = parts(document, "lengths")
    assert [(each["task"], *each["lengths"]) for each in lengths] == [
        (task, length, length, length) for task in ("table", "ends") for length in (5, 9)
    ]
    for result in lengths:
        assert list(result["engines"]) == [*OURS, "cpu"]
        for name, each in result["engines"].items():
            if name != "cpu" or cpu3.available():
                check_timed(each)
                assert each["left_out"] is None
                assert each["cells"] == math.prod(result["lengths"])
    aims = parts(document, "aims")
    assert len(aims) == 4 * 6
    for result in aims:
        check_timed(result)
        assert result["engine"] == "subtable"
        assert result["memory"] > 0
        assert result["aim"] == {}
    assert [each["lengths"] for each in aims[2:4]] == [[12, 12, 12], [48, 6, 6]]
    assert [each["triples"] for each in aims[:6]] == [1, 1, 1, 1, 1, 4]
    assert {each["source"] for each in aims} == {"recording.csv", "generated proteins"}
    printed = capsys.readouterr().out
    assert "GPUI/GPUN: " in printed
    assert "GPUI 0.004 to 0.172 GCUPS; at most GPUI/CPU 1.53" in printed
    assert ("GPUI/CPU: " in printed) == cpu3.available()


def test_several_devices(bench, device, capsys):
    index = device.info.index
    words = ("--parts", "devices", "--devices", f"{index},{index}", "--engines", "subtable")
    status, document = bench("--lengths", "6", *words)
    assert status == 0
    *same, shared = parts(document, "devices")
    assert [(each["work"], each["task"]) for each in same] == [("same", "table"), ("same", "ends")]
    assert (shared["work"], shared["triples"], shared["task"]) == ("shared", 4, "scores")
    for result in (*same, shared):
        assert result["left_out"] is None
        assert result["check"]["wrong"] == 0 < result["check"]["pairs"]
        assert result["devices"] == [index, index]
        assert result["speed_up"] > 0
        assert result["copies"] * result["one_gcups"] > 0
    assert "1.8 times as fast with two" in capsys.readouterr().out


class OffByOne(Reference3):
    def best(self, triples, progress):
        found = super().best(triples, progress)
        found.score[:] += 1
        return found

    def tables(self, triples, *, progress=None):
        for table in super().tables(triples, progress=progress):
            table[-1, -1, -1] += 1
            yield table


class AnotherPath(Reference3):
    def paths(self, triples, *, progress=None):
        paths = super().paths(triples, progress=progress)
        return Paths.of_moves(paths.ends, [paths.moves(t)[1:] for t in range(len(paths))])


def test_wrong_results_have_no_time(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES3, "subtable", OffByOne)
    status, document = bench("--engines", "subtable", "--parts", "lengths")
    assert status == 1
    for result in parts(document, "lengths"):
        found = result["engines"]["subtable"]
        assert found["check"]["wrong"] == 1
        assert found["wall"] is found["gcups"] is None
        if cpu3.available():
            check_timed(result["engines"]["cpu"])
    printed = capsys.readouterr()
    assert "WRONG: identity, table, [5, 5, 5], subtable: 1 of 5 differ from" in printed.err
    assert "WRONG: identity, ends, [9, 9, 9], subtable: 1 of 1 differ from" in printed.err
    assert "WRONG" in printed.out
    assert "GPUI/CPU:" not in printed.out


def test_wrong_batches_and_alignments_have_no_time(bench, monkeypatch, capsys):
    monkeypatch.setitem(ENGINES3, "subtable", AnotherPath)
    status, document = bench("--engines", "subtable", "--parts", "aims")
    assert status == 1
    for result in parts(document, "aims"):
        assert (result["wall"] is None) == (result["task"] == "paths")
    assert "scores of the alignments" in capsys.readouterr().err
    monkeypatch.setitem(ENGINES3, "subtable", OffByOne)
    status, document = bench("--engines", "subtable", "--parts", "aims")
    assert status == 1
    for result in parts(document, "aims"):
        assert (result["wall"] is None) == (result["task"] == "ends")
    assert parts(document, "aims")[5]["check"]["wrong"] == 4


def test_wrong_on_several_devices():
    work = triples.Work(
        "identity",
        SCORINGS["identity"],
        some(SCORINGS["identity"], 2, 5),
        "",
        triples.Judges(None, 1.0, "no judge", None),
    )
    scores = Reference3(work.scoring).scores(work.triples)
    assert work.check_scores("subtable", np.tile(scores, 3)).passed
    wrong = np.tile(scores, 3)
    wrong[7] += 1
    assert work.check_scores("subtable", wrong).wrong == 1
    rates = [(1e9, 2e9), (1e9, 3e9), (2e9, 2e9)]
    found = sudo2012_devices._speed_up(10, work.check_scores("subtable", scores), rates)
    assert (found["one_gcups"], found["all_gcups"], found["speed_up"]) == (1, 2, 2)
    found = sudo2012_devices._speed_up(10, work.check_scores("subtable", wrong), rates)
    assert found["one_gcups"] is found["all_gcups"] is found["speed_up"] is None


def test_without_a_compiler(bench, no_compiler, capsys):
    status, document = bench("--engines", "subtable,reference")
    assert status == 0
    assert document["settings"]["compiler"] is None
    reason = "no C compiler here: no-such-compiler is not found"
    assert parts(document, "judge") == [{"part": "judge", "refused": reason, "check": None}]
    for result in parts(document, "lengths"):
        assert result["engines"]["cpu"]["left_out"] == reason
        assert result["engines"]["cpu"]["wall"] is None
        check_timed(result["engines"]["subtable"])
        assert result["engines"]["subtable"]["check"]["judge"] == "reference"
    assert f"no column CPU: {reason}" in capsys.readouterr().out


def test_a_compiler_that_fails(monkeypatch, no_compiler, tmp_path):
    source = tmp_path / "broken.c"
    source.write_text("int broken(\n")
    monkeypatch.setattr(cpu3, "COMPILER", ("cc", "-O3"))
    monkeypatch.setattr(cpu3, "_SOURCE", source)
    why = cpu3.refused()
    assert why is not None
    assert "cc" in why
    with pytest.raises(RuntimeError, match="cc"):
        cpu3.best(SCORINGS["identity"], some(SCORINGS["identity"], 2))


@pytest.mark.parametrize("name", SCORINGS)
def test_c_code_equals_the_reference(name):
    scoring = SCORINGS[name]
    if not cpu3.available():  # then the benchmark says so, see test_without_a_compiler
        assert cpu3.refused() == "no C compiler here: cc is not found"
        return
    for letters in (1, 2, len(scoring.alphabet)):
        work, judge = some(scoring, letters), Reference3(scoring)
        expected = triples.cells_of(judge.ends(work)).tolist()
        assert cpu3.best(scoring, work).tolist() == expected
        assert cpu3.best(scoring, work, threads=2).tolist() == expected
        if scoring.linear:
            for t, table in enumerate(judge.tables(work)):
                assert cpu3.table(scoring, work, t).tolist() == table.tolist()
    if not scoring.linear:
        with pytest.raises(ValueError, match="linear"):
            cpu3.table(scoring, work)


def test_wrong_c_code_is_no_judge(bench, monkeypatch, capsys):
    right = cpu3.best

    def wrong(scoring, triples, *, threads=1):
        if cpu3.refused():
            return np.ones((len(triples), 4), np.int32)
        return right(scoring, triples, threads=threads) + np.int32(1)

    monkeypatch.setattr(cpu3, "best", wrong)
    if not cpu3.available():
        monkeypatch.setattr(cpu3, "refused", lambda: None)
    status, document = bench("--engines", "reference", "--parts", "lengths")
    assert status == 1
    (judge,) = parts(document, "judge")
    assert judge["check"]["wrong"] > 0
    for result in parts(document, "lengths"):
        assert result["engines"]["cpu"]["left_out"].startswith("the C code is wrong: pair ")
        check_timed(result["engines"]["reference"])
    assert "WRONG: C code: " in capsys.readouterr().err


@pytest.mark.parametrize("name", SCORINGS)
def test_path_scores(name):
    scoring = SCORINGS[name]
    work = related(4)
    paths = Reference3(scoring).paths(work)
    assert {7, 3, 5, 6, 1, 2, 4} <= set((paths.runs & 7).tolist())
    for t, (score, end) in enumerate(zip(paths.ends.score, paths.ends.end, strict=True)):
        words, moves = work[t], paths.moves(t)
        assert score > 0
        assert triples.path_score(scoring, words, end, moves) == score
        assert triples.path_score(scoring, words, end, np.repeat(moves, 30)) == -1
        assert triples.path_score(scoring, words, end + 30, moves) == -1
        assert triples.path_score(scoring, words, end, np.append(moves, np.uint8(0))) == -1


def test_quasi_natural_costs():
    scoring = Scoring3.sum_of_pairs(Scoring.match_mismatch(3, -3, 5, 1))
    words = [scoring.alphabet.encode(word) for word in ("ACCG", "ATG", "AG")]
    end = np.array([4, 3, 2])
    for moves, score in (
        ([7, 3, 1, 7], 9 - 3 - (5 + 5) - (5 + 1) + 9),  # a pair of the two gaps goes on
        ([7, 1, 2, 1, 7], 9 - 10 - 10 - 10 + 9),
        ([7, 1, 1, 2, 7], 9 - 10 - 2 - 10 + 9),
    ):
        found = triples.path_score(scoring, words, end, np.array(moves, np.uint8))
        assert found == score


def test_too_long_is_left_out(bench, monkeypatch, capsys):
    monkeypatch.setattr(sudo2012_runs, "PROBE", 2)
    status, document = bench("--engines", "subtable", "--longest", "0")
    assert status == 0
    for result in (*parts(document, "aims"), parts(document, "lengths")[0]["engines"]["subtable"]):
        assert result["check"] is result["wall"] is result["gcups"] is None
        assert result["left_out"].startswith("about ")
        assert result["estimate"] > 0
    assert "-: about " in capsys.readouterr().out


def test_tables_need_memory(bench, monkeypatch, capsys):
    monkeypatch.setattr(sudo2012_runs, "TABLES", 5)
    for free, reason in ((None, "is not known"), (2**10, "0 GiB are free"), (2**20, None)):
        monkeypatch.setattr(sudo2012_runs, "_memory", lambda free=free: free)
        status, document = bench("--engines", "reference", "--parts", "lengths")
        assert status == 0
        small, large = (result["engines"]["reference"] for result in document["results"][1:3])
        check_timed(small)
        if reason:
            assert reason in large["left_out"]
            assert reason in capsys.readouterr().out
        else:
            check_timed(large)


def test_a_device_that_cannot_is_left_out(bench, monkeypatch, capsys):
    class Refuses(Reference3):
        def best(self, triples, progress):
            raise DeviceError("not enough memory on the card")

    monkeypatch.setitem(ENGINES3, "plane", Refuses)
    status, document = bench("--engines", "plane", "--parts", "aims")
    assert status == 0
    for result in parts(document, "aims"):
        if result["task"] == "ends":
            assert result["left_out"] == "not enough memory on the card"
    assert "-: not enough memory on the card" in capsys.readouterr().out


def test_other_engines_judge_what_is_too_long(device):
    scoring = SCORINGS["BLOSUM62"]
    work = some(scoring, 20, 3)
    judges = triples.Judges(device, 1e-9, "no C code", None)
    expected = triples.cells_of(Reference3(scoring).ends(work)).tolist()
    for engine, judge in (("subtable", "plane"), ("plane", "subtable")):
        name, chosen, cells = judges.cells(triples.Work("", scoring, work, "", judges), engine)
        assert (name, chosen.tolist(), cells.tolist()) == (judge, [0, 1, 2], expected)
        full = Batch.of([[np.array([1, 2, 3], np.uint8)] * 3])
        name, planes = judges.planes(triples.Work("", scoring, full, "", judges), engine)
        (table,) = Reference3(scoring).tables(full)
        assert (name, planes.tolist()) == (judge, triples.checksums(table).tolist())


def test_a_part_is_judged_if_all_is_too_long():
    scoring = SCORINGS["identity"]
    word = np.array([0, 1, 2, 3], np.uint8)
    work = Batch.of([[word] * 3] * 9)
    judges = triples.Judges(None, 3.5 * 64 / 2e7, "no C code", None)
    name, chosen, cells = judges.cells(triples.Work("", scoring, work, "", judges), "subtable")
    assert (name, chosen.tolist()) == ("reference", [0, 4, 8])
    assert cells.tolist() == [[4, 4, 4, 4]] * 3
    ends = Ends(np.full(9, 4, np.int32), np.full((9, 3), 4, np.int32))
    check = triples.Work("", scoring, work, "", judges).check("subtable", "ends", ends)
    assert (check.pairs, check.wrong) == (3, 0)


def test_recording():
    values = triples.recording()
    assert values.shape == (24, 4096)
    assert np.array_equal(values, triples.recording())
    steps = np.abs(np.diff(values)).mean()
    assert steps < values.std() / 10  # smooth
    data = triples.Data.of(None, 8)
    work, source = data.triple("identity", (4096, 512, 512))
    assert source == "a generated recording"
    assert work.lengths.tolist() == [[4096, 512, 512]]
    assert len(set(work[0][0].tolist())) == 8
    assert data.triples("identity", 128)[0].cells == 2024 * 128**3
    longer, _ = data.triple("identity", (5000, 5, 5))
    assert len(longer[0][0]) == 5000


def test_a_short_recording(csv):
    data = triples.Data.of(str(csv), 4)
    assert data.triple("identity", (60, 60, 60))[1] == "recording.csv"
    assert data.triple("identity", (61, 60, 60))[1] == "a generated recording"
    with pytest.raises(ValueError, match=r"60 samples .* 61 letters"):
        data.triples("identity", 61)
    proteins, source = data.triple("sum of pairs", (90, 60, 60))
    assert source == "generated proteins"
    assert max(map(max, proteins[0])) < len(PROTEIN)


@pytest.mark.parametrize(
    ("software", "scheme", "lengths", "task", "every", "aim"),
    [
        (False, "identity", 512, "ends", False, {"gcups": 100}),
        (False, "identity", 1024, "ends", False, {"gcups": 200}),
        (False, "BLOSUM62", 512, "ends", False, {"gcups": 50}),
        (False, "BLOSUM62", 512, "paths", False, {"seconds": 0.05}),
        (False, "BLOSUM62", 128, "ends", True, {"gcups": 100, "seconds": 2}),
        (True, "identity", 512, "ends", False, {"gcups": 0.5}),
        (True, "identity", 128, "ends", True, {"seconds": 60}),
        (True, "BLOSUM62", 512, "ends", False, {}),
        (False, "identity", 256, "ends", False, {}),
    ],
)
def test_aims(software, scheme, lengths, task, every, aim):
    made = sudo2012.SpeedTarget("", task, (lengths, lengths, lengths), every)
    assert made.target(SCORINGS[scheme], software) == aim
    if aim:
        fast = {"aim": aim, "wall": {"median": 0.05}, "gcups": 200}
        assert sudo2012.reached(fast) is True
        assert sudo2012.reached(fast | {"wall": {"median": 61.0}, "gcups": 0.4}) is False
    assert sudo2012.reached({"aim": aim, "wall": None, "gcups": None}) is None
    assert (
        sudo2012.SpeedTarget("", "ends", (4096, 512, 512)).target(SCORINGS[scheme], software) == {}
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--devices", "0,99"), "device 99"),
        (("--device", "no such device"), "no such device"),
        (("--letters", "27"), "27"),
        (("--recording", "no such file.csv"), "no such file"),
        (("--parts", "aims", "--word", "61"), "61 letters"),
    ],
)
def test_bad_input_is_one_line(bench, words, message, capsys, tmp_path):
    (tmp_path / "out.json").write_text("{}")
    assert bench(*words)[0] == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("bench.sudo2012: ")
    assert error.count("\n") == 1


def test_a_recording_of_two_channels(bench, csv, tmp_path, capsys):
    two = tmp_path / "two.csv"
    two.write_text("time,a,b\n0,1,2\n1,2,3\n2,3,5\n")
    (tmp_path / "out.json").write_text("{}")
    assert bench("--recording", two)[0] == 2
    assert "two.csv: 2 channels, at least 3 are needed" in capsys.readouterr().err
