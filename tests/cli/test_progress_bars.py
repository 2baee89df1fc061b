"""Progress bars: they end at exactly 100 % of what was announced, and never show more."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import tqdm
from subtests import with_subtests
from wing import of_wing

from glsw.output import result_file
from glsw.output.result_file import ResultFile
from glsw.search.select import Selection
from glsw.search.stages import Stage

RNG = random.Random(3)
SEARCH = "search queries.fasta db.fasta --engine reference"
FAMILY = [
    "HEAGAWGHEEMKVLAWPAWHEAE",
    "HEAGSWGHDEMKILAWPAWHQAE",
    "HDAGSWPHDQMKILSWPSWHQAD",
    "PPPPPP",
]


def dna(length: int) -> str:
    return "".join(RNG.choices("ACGT", k=length))


def fasta(*sequences: str) -> str:
    return "".join(f">s{k}\n{each}\n" for k, each in enumerate(sequences))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of small inputs."""
    shared, other = dna(60), dna(70)
    contents = {
        "queries.fasta": fasta("HEAGAWGHEE", "MKVLAW", "PAWHEAEPPP", "HEAG"),
        "masked.fasta": fasta("HEAGAWGHEE", "mkvlaw", "PAWHEAE"),
        "query.fasta": fasta("HEAGAWGHEE"),
        "db.fasta": fasta("PPPPPP", "PAWHE", "MKVLAWHEAG", "HEAGAWGHEEMKVLAW"),
        "family.fasta": fasta(*FAMILY),
        "aligned.fasta": fasta(*FAMILY[:3]),
        "family_queries.fasta": fasta(FAMILY[0], FAMILY[3], FAMILY[1]),
        "target.fasta": fasta("PAWHEAEGAWGHE"),
        "third.fasta": fasta("AWGHEAW"),
        "unlike.fasta": fasta("PPP"),
        "empty.fasta": fasta(""),
        "long.fasta": fasta("HEAGAWGHEE" * 900, "PAWHEAE" * 3),
        "structures.fasta": fasta("pppppp", "vvvvv", "dddddddddd", "vvvvvvvvddddpppp"),
        "a.fasta": fasta(dna(20) + shared + dna(30) + other),
        "b.fasta": fasta(dna(40) + shared + other[::-1]),
        "many.fasta": fasta(dna(30), shared + dna(9), dna(5)),
        "t.fasta": fasta("TTTT"),
        "g.fasta": fasta("GGGG"),
        "recording.csv": "a,b,c,d\n"
        + "".join(f"{k % 7},{k % 5},{(k + 1) % 7},{k % 3}\n" for k in range(60)),
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    return tmp_path


ALIGN, ALIGN3 = "align query.fasta", "align3 query.fasta target.fasta"
DOTPLOT = "dotplot a.fasta b.fasta --side 8 --output out.npz"
COMMANDS = {  # the cells that a command has to report, if they are easily told
    SEARCH: 30 * 37,
    f"{SEARCH} --max-hsps 3 --top 2": 30 * 37,
    "search a.fasta b.fasta --engine reference": 2 * 180 * 170,
    "search a.fasta db.fasta --translated --engine reference": None,
    "search masked.fasta db.fasta --engine reference --lower-case-mask": 17 * 37,
    f"{ALIGN} target.fasta --engine reference": 130,
    f"{ALIGN} target.fasta --engine reference --max-alignments 3": 390,
    f"{ALIGN} target.fasta --engine reference --max-alignments 90": None,
    f"{ALIGN} target.fasta --engine reference --max-alignments 0": None,
    f"{ALIGN} target.fasta --engine reference --max-alignments 4 --min-score 15": None,
    f"{ALIGN} target.fasta --engine reference --max-alignments 0 --min-score 15": None,
    f"{ALIGN} target.fasta --engine blocked --max-alignments 2": 260,
    f"{ALIGN} target.fasta --engine reference --mode global": 130,
    f"{ALIGN} target.fasta --engine reference --mode global --max-alignments 0": 130,
    f"{ALIGN} unlike.fasta --engine reference --max-alignments 3": 30,
    f"{ALIGN} unlike.fasta --engine reference --max-alignments 0": 30,
    f"{ALIGN} empty.fasta --engine reference --max-alignments 2": 0,
    "search query.fasta long.fasta --top 2": None,
    "neighbors queries.fasta --cutoff 1 --engine reference": None,
    "neighbors queries.fasta db.fasta --cutoff 1 --engine reference": 30 * 37,
    "neighbors queries.fasta db.fasta --cutoff 0.1 --distance identity --engine reference": 30 * 37,
}
COMMANDS |= of_wing(
    "profiles",
    {
        "search family_queries.fasta family.fasta --engine reference --iterations 1": 52 * 75,
        "search family_queries.fasta family.fasta --engine reference --iterations 5": None,
        "search masked.fasta db.fasta --engine reference --lower-case-mask --iterations 4": None,
        "search aligned.fasta family.fasta --engine reference --profile": 23 * 75,
    },
)
COMMANDS |= of_wing(
    "three",
    {
        f"{ALIGN3} third.fasta --engine reference": 910,
        f"{ALIGN3} third.fasta --engine reference --max-alignments 3": 2730,
        f"{ALIGN3} third.fasta --engine subtable --max-alignments 2": 1820,
        f"{ALIGN3} third.fasta --engine reference --max-alignments 0 --min-score 20": None,
        f"{ALIGN3} third.fasta --engine reference --max-alignments 9 --min-score 20": None,
        f"{ALIGN3} third.fasta --engine reference --mode global --max-alignments 0": 910,
        f"{ALIGN3} unlike.fasta --engine reference --max-alignments 0 --min-score 99": 390,
    },
)
COMMANDS |= of_wing(
    "dotplot",
    {
        f"{DOTPLOT} --max-alignments 0": 4 * 184 * 176,
        f"{DOTPLOT} --max-alignments 0 --value end": 2 * 184 * 176,
        f"{DOTPLOT}": 4 * 184 * 176 + 180 * 170,
        f"{DOTPLOT} --max-alignments 3 --value end": None,
        f"{DOTPLOT} --max-alignments 2 --strand minus": None,
        "dotplot a.fasta many.fasta --side 8 --output out.npz": None,
        "dotplot many.fasta --side 8 --output out.npz --value end --max-alignments 2": None,
        "dotplot many.fasta a.fasta --side 8 --output out.npz --max-alignments 4 --cap 10": None,
        "dotplot t.fasta g.fasta --side 2 --strand plus --output out.npz --max-alignments 3": 32,
    },
)
COMMANDS |= of_wing(
    "composition",
    {
        "search queries.fasta db.fasta --composition 2": 30 * 37,
    },
)
COMMANDS |= of_wing(
    "series",
    {
        "motifs recording.csv --engine reference --segments 9 --rate 1": 204 * 9**3,
        "motifs recording.csv --engine reference --segments 9 --rate 1 --of 2": 206 * 9**2,
    },
)


@pytest.mark.parametrize("words", COMMANDS)
def test_it_ends_with_all_cells(bar: Callable[..., tuple[float, float]], words: str) -> None:
    done, total = bar(words)
    assert done == total
    assert COMMANDS[words] in (None, done)


def test_makedb(bar: Callable[..., tuple[float, float]], files: Path) -> None:
    (files / "db.fasta.gz").write_bytes(gzip.compress((files / "db.fasta").read_bytes()))
    for sources, words in {
        ("db.fasta",): "makedb db.fasta db",
        ("db.fasta", "db.fasta.gz"): "makedb db.fasta db.fasta.gz db --force",
        ("db.fasta", "structures.fasta"): "makedb db.fasta two --second-track structures.fasta",
    }.items():
        size = sum((files / name).stat().st_size for name in sources)
        assert bar(words) == (size, size)
    assert bar("search queries.fasta db --top 1") == (2 * 30 * 37, 2 * 30 * 37)


@pytest.mark.parametrize("iterations", [1, *of_wing("profiles", [4])])
def test_a_search_that_goes_on_has_the_cells_of_the_rest(
    bar: Callable[..., tuple[float, float]], monkeypatch: pytest.MonkeyPatch, iterations: int
) -> None:
    mark = ResultFile.mark

    def interrupted(self: ResultFile, results: int) -> None:
        mark(self, results)
        if results == 2:
            raise KeyboardInterrupt

    words = f"{SEARCH} --output out" + f" --iterations {iterations}" * (iterations > 1)
    with monkeypatch.context() as patch:
        patch.setattr(result_file, "_SECONDS_BETWEEN_MARKS", 0)
        patch.setattr(ResultFile, "mark", interrupted)
        bar(words, status=130)
    done, total = bar(f"{words} --resume")
    assert 14 * 37 <= done == total <= 14 * 37 * iterations


STAGES = {
    f"{SEARCH} --evalue 1e9": ["alignments"],
    f"{SEARCH} --evalue 1e9 --max-hsps 0": ["alignments", "further alignments"],
    **of_wing(
        "composition",
        {
            "search queries.fasta db.fasta --engine cpu --composition 2 --evalue 1e9": [
                "composition"
            ]
        },
    ),
    **of_wing(
        "profiles",
        {
            "search family_queries.fasta family.fasta --engine reference --iterations 3 --sums "
            "--inclusion 1e6 --evalue 1e9": ["sums", "alignments", "profiles"],
        },
    ),
}


@with_subtests("words, names", STAGES.items())
def test_each_stage_is_named_until_its_end(
    bar: Callable[..., tuple[float, float]],
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    names: list[str],
) -> None:
    said: list[str] = []
    monkeypatch.setattr(tqdm.tqdm, "set_description", lambda _, text, **__: said.append(text))
    done, total = bar(words)
    assert done == total  # the cells of the scan alone
    stages: dict[str, list[int]] = {}
    for text in said:
        name, part = text.rsplit(" ", 1)
        stages.setdefault(name, []).append(int(part.removesuffix("%")))
    assert stages.keys() >= {*names}
    for name, parts in stages.items():
        assert parts[0] == 0
        assert max(parts) <= 100
        if name in names:
            assert parts[-1] == 100


def test_the_summary_has_the_time_until_the_last_result(
    run: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each second is counted that a stage takes, by the line and by the file."""
    clock = [0.0]

    def slow(self: Stage, engine: object, hits: Selection, *_: object) -> Selection:
        clock[0] += 1000
        return hits

    monkeypatch.setattr(Stage, "rescored", slow)
    real = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: real() + clock[0])
    done = run(f"{SEARCH} --summary run.json --evalue inf")  # which no wing rescores
    seconds = re.search(r"cells in ([\d.]+) s", done.err)
    assert seconds
    assert float(seconds[1]) >= clock[0] >= 1000
    summary = json.loads(Path("run.json").read_text())
    assert summary["totals"]["search_seconds"] >= clock[0]
    hits = {row["id"]: row["hits"] for row in summary["queries"]}
    assert all((row["seconds"] > 1) == (row["hits"] > 0) for row in summary["queries"]), hits
