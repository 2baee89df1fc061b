"""Documents of benchmarks: those in the repository are valid, broken ones are told where."""

import copy
import getpass
import json
import socket
from pathlib import Path

import pytest

from bench import __main__, machine, schema
from bench.document import report

RESULTS = sorted(Path(schema.__file__).with_name("results").glob("*.json"))

pytest.importorskip("jsonschema", reason="the extra bench is not installed")


@pytest.fixture(scope="module")
def documents():
    """The documents of the repository by file name, read once."""
    return {path.name: json.loads(path.read_text()) for path in RESULTS}


@pytest.fixture(autouse=True)
def _names():
    schema._pattern.cache_clear()
    yield
    schema._pattern.cache_clear()


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_are_valid(path):
    schema.validate(json.loads(path.read_text()))


BROKEN = [
    ("lin2015-llvmpipe", ["date"], None, "the document: 'date' is missing"),
    ("lin2015-llvmpipe", ["host"], "x", "the document: 'host' is not known"),
    ("lin2015-llvmpipe", ["schema"], 7, "schema: 7 is not 1 or 2"),
    ("lin2015-llvmpipe", ["schema"], 2, "device: 'extensions', 'cards' is missing"),
    ("lin2015-llvmpipe", ["benchmark"], "lin2016", 'benchmark: "lin2016" is not "suite" or '),
    ("lin2015-llvmpipe", ["device", "serial"], "1", "device: 'serial' is not known"),
    ("lin2015-llvmpipe", ["device", "limits", "max_texture_size"], "1", "device.limits.max_tex"),
    ("lin2015-llvmpipe", ["versions", "numpy"], 2, "versions.numpy: 2 is not of type string or nu"),
    ("lin2015-llvmpipe", ["cpu", "cores"], 0, "cpu.cores: 0 is too small"),
    ("lin2015-llvmpipe", ["commit"], "main", 'commit: "main" is not like '),
    ("lin2015-llvmpipe", ["date"], "today", 'date: "today" is not like '),
    (
        *("lin2015-llvmpipe", ["results", 1, "engines", "fused", "wall", "median"], "fast"),
        'results[1].engines.fused.wall.median: "fast" is not of type number',
    ),
    (
        *("lin2015-llvmpipe", ["results", 0, "engines", "fused", "check", "wrong"], 1),
        " is not of type null",
    ),
    ("liu2006-llvmpipe", ["results", 2, "paper"], None, "results[2]: 'paper' is missing"),
    ("liu2006-llvmpipe", ["results", 0, "peers", "parasail", "gcups"], -1, "parasail.gcups: -1 is"),
    ("scan2014-h100", ["results", 3, "gaps"], None, "results[3]: 'gaps' is missing"),
    ("aymone2022-h100", ["results", 3, "task"], "draw", 'results[3].task: "draw" is not '),
    ("sudo2012-h100", ["results", 1, "part"], "end", 'results[1].part: "end" is not '),
    ("sudo2012-2xh200", ["results", 20, "work"], None, "results[20]: 'work' is missing"),
    ("search-h100", ["results", 0, "runs", 1, "queries", 3, "wall", "spread"], None, "spread"),
    ("search-h100", ["results", 2, "command", "seconds", 0], "1 s", "command.seconds[0]: "),
    ("traceback-h100", ["results", 2, "cells"], 1.5, "results[2].cells: 1.5 is not of type integ"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), BROKEN)
def test_broken_documents(documents, name, place, value, message):
    document = copy.deepcopy(documents[f"{name}.json"])
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    if value is None:
        del inside[place[-1]]
    else:
        inside[place[-1]] = value
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        schema.validate(document)
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert len(text) < 500


def test_what_is_no_document():
    for document in (None, [], "x", 3):
        with pytest.raises(ValueError, match=r"the document: .* is not of type object"):
            schema.validate(document)


STEP = {
    "step": "lin2015 200",
    "benchmark": "lin2015",
    "arguments": ["--lengths", "200"],
    "seconds": 1.5,
    "status": 0,
    "message": None,
    "left_out": None,
    "settings": {},
    "results": [],
}


@pytest.fixture
def suite(device, documents):
    """A suite of one step."""
    settings = {"suite": "quick", "names": ["lin2015"], "engines": None, "budget": 3.5}
    results = [STEP | {"results": documents["lin2015-llvmpipe.json"]["results"]}]
    return report("suite", device, settings | {"devices": []}, copy.deepcopy(results))


def test_suite(suite):
    schema.validate(suite)
    assert suite["schema"] == 2
    assert suite["device"]["extensions"] == sorted(suite["device"]["extensions"])
    assert "GL_ARB_texture_storage" in suite["device"]["extensions"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": 3}, "results[0].status: 3 is not 0 or 1 or 2"),
        ({"status": 1}, "results[0].message: null is not of type string"),
        ({"benchmark": "suite"}, 'results[0].benchmark: "suite" is not '),
        ({"arguments": "--lengths 200"}, "results[0].arguments: "),
        ({"note": "x"}, "results[0]: 'note' is not known"),
    ],
)
def test_broken_steps(suite, change, message):
    suite["results"][0] |= change
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        schema.validate(suite)
    assert message in str(caught.value)


def test_broken_suites(suite):
    del suite["results"][0]["results"][0]["engines"]["fused"]["gcups"]
    with pytest.raises(ValueError, match=r"results\[0\].results\[0\].engines.fused: 'gcups' is m"):
        schema.validate(suite)
    suite["results"] = []
    suite["settings"]["suite"] = "slow"
    with pytest.raises(ValueError, match=r'settings\.suite: "slow" is not "quick" or "full"'):
        schema.validate(suite)
    suite["schema"] = 1
    del suite["device"]["extensions"], suite["device"]["cards"]
    suite["settings"]["suite"] = "full"
    with pytest.raises(ValueError, match="benchmark: "):
        schema.validate(suite)


PERSONAL = ["/home/ada", "/Users/ada", "C:\\Users\\ada", "/root/x", "lovelace", "analytical-engine"]


@pytest.mark.parametrize("text", PERSONAL)
def test_personal(suite, monkeypatch, text):
    monkeypatch.setattr(getpass, "getuser", lambda: "lovelace")
    monkeypatch.setattr(socket, "gethostname", lambda: "analytical-engine.example.org")
    schema.validate(suite)
    message = f"cannot read {text}/query.fasta"
    suite["results"][0] |= {"status": 2, "message": message}
    with pytest.raises(ValueError, match=r"results\[0\].message: '.*' is personal"):
        schema.validate(suite)
    suite["results"][0]["message"] = schema.impersonal(message)
    schema.validate(suite)
    suite["settings"]["names"] = [f"{text}/x"]
    with pytest.raises(ValueError, match=r"settings.names\[0\]: '.*' is personal"):
        schema.validate(suite)


@pytest.mark.parametrize(
    "text", ["/usr/share", "GL_EXT_root", "nvidia-smi", "adamant", "x.lovelace"]
)
def test_not_personal(monkeypatch, text):
    monkeypatch.setattr(getpass, "getuser", lambda: "nvidia")
    monkeypatch.setattr(socket, "gethostname", lambda: "ada")
    assert schema.personal(text) is None
    assert schema.impersonal(text) == text


def test_command(documents, tmp_path, capsys):
    good, bad, other = (tmp_path / name for name in ("good.json", "bad.json", "other.json"))
    good.write_text(json.dumps(documents["lin2015-h100.json"]))
    bad.write_text(json.dumps(documents["lin2015-h100.json"] | {"schema": 3}))
    other.write_text("{")
    assert __main__.main(["validate", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: lin2015, schema 1, valid\n"
    assert __main__.main(["validate", str(bad), str(good)]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"{bad}: schema: 3 is not 1 or 2\n"
    assert "valid" in printed.out
    assert __main__.main(["validate", str(other), str(bad)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert __main__.main(["validate", str(tmp_path / "missing.json")]) == 2


def test_cards(monkeypatch):
    told = {
        "nvidia-smi": "NVIDIA H100 80GB HBM3, 580.159, 700.00, 1980, 81559\nX, 1, [N/A], 5, 6",
        "rocm-smi": json.dumps(
            {
                "card0": {
                    "Card Series": "Radeon RX 6800",
                    "Max Graphics Package Power (W)": "203.0",
                    "VRAM Total Memory (B)": str(16 << 30),
                    "Serial Number": "1234",
                },
                "system": {"Driver version": "6.7.0"},
            }
        ),
    }
    machine.cards.cache_clear()
    asked = []

    def output(*command):
        asked.append(command)
        return told.get(command[0])

    monkeypatch.setattr(machine, "output", output)
    first, second = machine.cards()
    assert first == {
        "name": "NVIDIA H100 80GB HBM3",
        "driver": "580.159",
        "power_limit_w": 700.0,
        "clock_mhz": 1980.0,
        "memory_mib": 81559.0,
    }
    assert second["power_limit_w"] is None
    assert len(asked) == 1
    assert not any("serial" in word or "uuid" in word for word in asked[0])
    for text, expected in (
        (told["rocm-smi"], [("Radeon RX 6800", "6.7.0", 203.0, None, 16384.0)]),
        ("no JSON", None),
        (None, None),
    ):
        machine.cards.cache_clear()
        told.pop("nvidia-smi", None)
        told["rocm-smi"] = text
        found = machine.cards()
        assert (found and [tuple(card.values()) for card in found]) == expected
    machine.cards.cache_clear()


def test_file_modes_are_no_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_ROOT", tmp_path)
    assert machine.dirty(None) is None
    file = tmp_path / "glsw" / "x.py"
    file.parent.mkdir()
    file.write_text("1\n")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x", "commit", "--quiet", "-m", "x"],
    ):
        machine.output("git", "-C", str(tmp_path), *words)
    if machine.git("rev-parse", "HEAD") is None:
        pytest.skip("no git here")
    assert machine.dirty(None) is False
    file.chmod(0o755)
    assert machine.dirty(None) is False
    file.write_text("2\n")
    assert machine.dirty(None) is True
