"""What `auto` chooses on machines of many kinds, emulated by other OpenGL or other device lists."""

import json
from types import SimpleNamespace

import pytest
from cases import standing_in

import glsw
from glsw.cli import main
from glsw.device import context, device as device_module, egl
from glsw.device.device import DeviceError, devices_and_refusals, open_device
from glsw.engines import spec, speeds
from glsw.engines.cpu import Cpu
from glsw.scoring.scoring import Scoring

SEARCH = """
import json, sys, warnings
import numpy as np
from glsw import Aligner
rng = np.random.default_rng(68)
target = lambda n: "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), n))
targets = [target(int(n)) for n in rng.integers(20, 60, 40)]
query = targets[3][:15] + "W" + targets[3][15:]
found = {}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for name, options in (("plain", {}), ("memory", {"memory": 2**24})):
        with Aligner(**options) as aligner:
            (best, *_) = aligner.search(query, targets, max_hsps=2, evalue=None, composition=0)
            masked = aligner.align_pairs([query.lower()], [targets[3]])
            found[name] = [aligner.engine.label, best.target.id, best.score, int(masked.score[0])]
found["said"] = [str(each.message) for each in said]
with Aligner(engine="reference") as aligner:
    (best, *_) = aligner.search(query, targets, evalue=None, composition=0)
    found["right"] = [best.target.id, best.score]
print(json.dumps(found))
"""


@pytest.mark.parametrize("machine", ["llvmpipe", "gl41", "gl33", "softpipe"])
def test_without_a_gpu_the_processor_searches(machine, run_under):
    found = json.loads(run_under(machine, SEARCH))
    for options in ("plain", "memory"):
        label, *right, _ = found[options]
        assert label.startswith("auto: cpu" if machine == "llvmpipe" else "cpu"), options
        assert right == found["right"]
    assert [line.partition(":")[0] for line in found["said"]] == ["no GPU is used"]
    assert found["said"][0].endswith("; engine 'cpu' computes searches and pairs")


@pytest.mark.parametrize("version", [(4, 1), (4, 3)])
@pytest.mark.parametrize("rate", [1e9, 4e9])
def test_a_gpu_searches_where_it_is_faster(device, version, rate, monkeypatch):
    compute = version >= (4, 3)
    gpu = standing_in(device, version=version, compute=compute, name="Radeon RX 1")
    monkeypatch.setattr(spec, "open_device", lambda **_: gpu)
    name = "lanes" if compute else "fragment"
    monkeypatch.setattr(speeds, "known", lambda device: {name: rate, "cpu": 2e9})
    engine = spec.EngineSpec("auto", Scoring.blast()).make()
    by_host = isinstance(engine, Cpu) or isinstance(engine.scanner, Cpu)
    assert by_host == (rate < 2e9)
    assert f"{name} measured: {rate / 1e9:g} GCUPS; cpu measured: 2 GCUPS" in engine.why
    assert "Radeon RX 1, discrete, OpenGL" in engine.why
    pairs = glsw.Aligner(engine="reference")
    batch = pairs._inputs.batch("HEAGAWGHEE", ["PAWHEAE"])
    assert engine.scores(batch).tolist() == [17]


def test_speeds_are_measured_once(device, tmp_path, monkeypatch):
    """On the way to the first search, unless they cannot be kept."""
    made = []
    monkeypatch.setattr(speeds, "measured", lambda device, **_: made.append(device))
    for folder, times in ((tmp_path / "devices", 1), (None, 0)):
        verdicts = glsw.trust.verdicts.Verdicts(device.info, folder)
        gpu = standing_in(device)
        monkeypatch.setattr(speeds.Proofs, "of", lambda _, v=verdicts: SimpleNamespace(verdicts=v))
        speeds.known(gpu)
        assert len(made) == times
        verdicts.put_speed("lanes", 1e9)
        assert speeds.known(gpu) == {"lanes": 1e9}
        assert len(made) == times
        made.clear()
    assert speeds.known(device) == {"lanes": 1e9}  # software is not measured
    assert not made


KINDS = {
    "NVIDIA GeForce RTX 4060 Laptop GPU/PCIe/SSE2": "discrete",
    "D3D12 (NVIDIA GeForce RTX 3070)": "discrete",
    "AMD Radeon RX 6800 XT (radeonsi, navi21, LLVM 15.0.6)": "discrete",
    "AMD Radeon Graphics (radeonsi, renoir, LLVM 15.0.6)": "integrated",
    "AMD Radeon 780M Graphics (radeonsi, gfx1103_r1)": "integrated",
    "AMD Radeon(TM) Vega 8 Graphics": "integrated",
    "Mesa Intel(R) UHD Graphics 770 (ADL-S GT1)": "integrated",
    "Mesa Intel(R) Arc(tm) A770 Graphics (DG2)": "discrete",
    "Intel(R) Arc(TM) 140V GPU": "integrated",
    "Apple M1": "integrated",
    "V3D 7.1": "integrated",
    "llvmpipe (LLVM 15.0.6, 256 bits)": "software",
}


def test_kinds_of_gpus(device, subtests):
    for name, kind in KINDS.items():
        with subtests.test(name):
            info = standing_in(device, name=name, vendor="", software="llvm" in name).info
            assert info.kind == kind


class Context:
    """Of a machine with several GPUs."""

    gc_mode, error = None, "GL_NO_ERROR"

    def __init__(self, name):
        self.name, self.objects = name, []

    def __enter__(self):
        return self

    def release(self):
        """Do nothing."""


@pytest.fixture
def machine(device, monkeypatch):
    """Return a function that puts GPUs in place, by names and models; it returns what is opened."""
    monkeypatch.setattr(device_module, "open_now", {})
    monkeypatch.setattr(
        device_module,
        "read_info",
        lambda index, ctx: (
            standing_in(device, index=index, name=ctx.name, software="pipe" in ctx.name).info
        ),
    )

    def put(*gpus):
        opened = []

        def attempt(name):
            opened.append(name)
            ctx = Context(name)
            return ctx, ctx.release, lambda: None

        def opener(name):
            return lambda version: attempt(name)

        ways = [
            context.Route(k, name, opener(name), "pipe" in name, model=model)
            for k, (name, model) in enumerate(gpus)
        ]
        monkeypatch.setattr(device_module, "routes", lambda: ways)
        return opened

    return put


INTEL, NVIDIA, CARD = "Mesa Intel(R) UHD Graphics 770", "NVIDIA GeForce RTX 4060", "AMD Radeon RX 1"


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_of_two_gpus_the_discrete_one_is_used(machine, order):
    opened = machine(*[("llvmpipe", ""), (INTEL, "1"), (NVIDIA, "2")][order])
    assert open_device().info.name == NVIDIA
    assert sorted(opened) == sorted([INTEL, NVIDIA])


def test_of_equal_gpus_one_is_opened(machine):
    opened = machine(*[(NVIDIA, "2")] * 8)
    assert open_device().info.index == 0
    assert opened == [NVIDIA]


def test_of_two_gpus_the_one_measured_to_be_faster_is_used(machine, monkeypatch):
    rates = {}
    monkeypatch.setattr(
        speeds.Verdicts, "of", lambda info: SimpleNamespace(speeds=rates.get(info.name, {}))
    )
    for measured, chosen in (
        ({NVIDIA: 1e9, CARD: 2e9}, CARD),
        ({NVIDIA: 1e9, INTEL: 2e9}, INTEL),
        ({INTEL: 2e9}, NVIDIA),
    ):
        machine((NVIDIA, "2"), (INTEL if INTEL in measured else CARD, "3"))
        rates.clear()
        rates.update({name: {"lanes": rate} for name, rate in measured.items()})
        opened = open_device(faster=speeds.faster)
        assert opened.info.name == chosen
        device_module.open_now.clear()


def test_a_gpu_without_permission_is_listed_with_a_remedy(machine, tmp_path, monkeypatch, capsys):
    card = tmp_path / "card7"
    card.touch()
    found = egl.EglDevice(("EGL_EXT_device_drm",), str(card))
    assert found.forbidden == ""
    monkeypatch.setattr(egl.os, "access", lambda *_: False)
    machine((NVIDIA, "2"))

    def refused(_):
        raise egl.EglError("eglInitialize failed (0x3001)")

    way = context.Route(1, "EGL device 1", refused, forbidden=found.forbidden)
    ways = [*device_module.routes(), way]
    monkeypatch.setattr(device_module, "routes", lambda: ways)
    listed, (reason,) = devices_and_refusals()
    assert [info.name for info in listed] == [NVIDIA]
    assert f"no permission for {card}: add this user to the group of that file" in reason
    assert main(["devices"]) == 0
    assert capsys.readouterr().err == f"glsw: not opened: {reason}\n"
    monkeypatch.setattr(device_module, "routes", lambda: [way])
    with pytest.raises(DeviceError, match="usermod -aG render"):
        open_device()


@pytest.mark.parametrize(
    ("error", "remedy"),
    [("eglInitialize failed (0x3001)", "no driver"), ("eglCreateContext failed", "too old")],
)
def test_a_gpu_that_does_not_open_has_a_remedy(error, remedy):
    def refused(_):
        raise egl.EglError(error)

    with pytest.raises(DeviceError, match=f"{error[:13]}.*{remedy}"):
        context.Route(1, "EGL device 1", refused).open()


WITHOUT_PARASAIL = "import sys; sys.modules['parasail'] = None\n"
EVERYTHING = """
import contextlib, io, json, os, tempfile, warnings
from pathlib import Path
import numpy as np
import glsw
from glsw.cli import main
from glsw.engines import cpu, cpu_pairs
from glsw.output import ALIGNMENT_FORMATS, FORMATS
from glsw.wings import opened

rng = np.random.default_rng(68)
def related(letters, lengths):
    some = ["".join(rng.choice(list(letters), n)) for n in lengths]
    changed = [s[:5] + s[8 : len(s) // 2] + letters[0] + s[len(s) // 2 + 1 :].lower() for s in some]
    return some, changed + ["".join(rng.choice(list(letters), n)) for n in (7, 90)]
def fasta(name, sequences):
    Path(name).write_text("".join(f">{k} about it\\n{s}\\n" for k, s in enumerate(sequences)))
    return name

sides = related("ACDEFGHIKLMNPQRSTVWY", (30, 60, 130)), related("ACGT", (50, 140, 300))
warnings.simplefilter("ignore")
found = {"installed": [cpu.is_installed(), cpu_pairs.is_installed()]}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind, (queries, targets) in zip(("protein", "dna"), sides):
        one, other = fasta("one.fa", queries[1:2]), fasta("other.fa", targets[1:2])
        files = fasta("q.fa", queries), fasta("db.fa", targets)
        commands = [["search", *files, "--format", name] for name in FORMATS]
        commands += [["align", one, other, "--format", name] for name in ALIGNMENT_FORMATS]
        commands += [["align", one, other, "--max-alignments", "3", "--lower-case-mask"]]
        commands += [["search", *files, "--lower-case-mask", "--max-hsps", "0"]]
        commands += [["neighbors", files[1], "--cutoff", "20"]]
        if kind == "protein" and "composition" in opened():
            commands += [["search", *files, "--composition", "2"]]
        for mode in ("global", "semiglobal"):
            commands += [[*w, "--mode", mode] for w in (["search", *files], ["align", one, other])]
        for words in commands:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert main([*words]) == 0, words
            found[" ".join([kind, *words])] = out.getvalue()
        for mode in ("local", "global", "semiglobal"):
            scoring = glsw.Scoring.nucleotide() if kind == "dna" else None
            with glsw.Aligner(scoring, mode=mode) as aligner:
                same = queries, targets[: len(queries)]
                table, ends = aligner.align_pairs(*same), aligner.ends(*same)
                found[f"{kind} {mode}"] = [
                    aligner.score(*same).tolist(), aligner.score(queries[0], targets[0]),
                    aligner.score_pairs(*same).tolist(), table.score.tolist(),
                    list(table.cigars()), str(aligner.align(queries[0], targets[0])),
                    aligner.score_matrix(queries, targets).tolist(),
                    [np.asarray(x).tolist() for x in (ends.score, ends.query_end, ends.target_end)],
                ]
print(json.dumps(found))
"""


def test_outputs_are_the_same_without_parasail(run_under, subtests):
    """As on macOS on ARM, for which pyopal has wheels and parasail has none."""
    both, one = (json.loads(run_under("gl41", w + EVERYTHING)) for w in ("", WITHOUT_PARASAIL))
    assert both.pop("installed") == [True, True]
    assert one.pop("installed") == [True, False]
    assert both.keys() == one.keys()
    for name, right in both.items():
        with subtests.test(name):
            assert one[name] == right
