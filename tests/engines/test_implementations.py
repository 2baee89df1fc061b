"""The engines on other implementations of OpenGL, and the shaders before another compiler."""

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import (
    CASES,
    COMPUTE,
    CORE,
    EDIT_CASES,
    END_CASES,
    END_FEW,
    FEW,
    GAP_CASES,
    build,
    configurations,
    path_configurations,
    standing_in,
    takes,
)
from permutations import (
    GAPS,
    LANES,
    LINEAR,
    SCORES,
    SEPARATE,
    TWO_TRACKS,
    known_to,
    listed,
    permutations,
)

import glsw.device.shader
from bench.row import SHADERS as MICRO_SHADERS
from glsw.alignment.batch import Mask
from glsw.device.shader import assemble, explain, root
from glsw.engines import ENGINES, imported
from glsw.engines.gl import binding_macros
from glsw.trust.check import tests_of
from glsw.trust.verdicts import RIGHT
from glsw.wings import registered

ON_DEVICES = sorted(name for name, kind in ENGINES.items() if kind.capabilities.requires)
TESTS = str(Path(__file__).parents[1])
JUDGE = """
import sys
sys.path.insert(0, {tests!r})
import cases, used_memory
used_memory.fill_new_memory()
from glsw.device.device import open_device
device = open_device(quiet=True)
if "SwiftShader" in device.info.name:  # zink promises more than SwiftShader does
    device.info.limits.update(max_texture_size=8192, max_viewport_size=8192)
print(device.info.compute, *cases.judge_device(device, {names!r}, {once!r}))
"""


def judged(output):
    """Return whether there are compute shaders, and the engines judged there."""
    compute, *names = output.split()
    return compute == "True", set(names)


def able(compute):
    return {name for name in ON_DEVICES if compute or ENGINES[name].capabilities.requires < COMPUTE}


# Most of these tests run on the device already: a few cases there, every kind of program elsewhere.
# zink compiles slowly, and SwiftShader keeps nothing that it has compiled.
WHERE = {
    "llvmpipe": FEW[:1],
    "zink": FEW[:1],
    "gl41": (*CORE, *END_FEW),
    "gl33": (*CORE, *END_FEW),
    "softpipe": (*FEW, END_FEW[0]),
    "swiftshader": (),
    "es": (),
    "angle": (),
}


# Also these, with the first options of each engine.
ONCE = {"zink": ("two letters 0 0", "255 letters", END_FEW[0])}
ONCE["swiftshader"] = (*FEW[:1], *ONCE["zink"])
ONCE["es"] = ONCE["angle"] = (FEW[0], END_FEW[0])


@pytest.mark.parametrize("implementation", WHERE)
def test_engines_everywhere(run_under, implementation, device, monkeypatch):
    if implementation == "llvmpipe" and device.info.name.startswith("llvmpipe"):
        pytest.skip("llvmpipe is the device of all other tests of engines")
    # As a default on CPUs only, zink of Mesa 22.3 compiles the values of uniforms into programs:
    # slow, and compute shaders now and then run with values of an earlier dispatch.
    monkeypatch.setenv("ZINK_INLINE_UNIFORMS", "0")
    once = ONCE.get(implementation, ())
    code = JUDGE.format(tests=TESTS, names=WHERE[implementation], once=once)
    compute, engines = judged(run_under(implementation, code))
    assert engines == able(compute)
    assert "fragment" in engines


# glslangValidator

BINDINGS = binding_macros(
    binding for kind in ENGINES.values() for binding in getattr(kind, "bindings", ())
)
SPAN = ({}, {"GLOBAL_MODE": 1})
TASKS = ({}, {"ENDS": 1})
TILES = [
    {"TILE": tile, "BITS": bits, "TEXELS": texels}
    for tile, bits, texels in ((8, 16, 2), (4, 32, 2), (4, 16, 1), (2, 32, 1), (1, 32, 1))
]
DIRECTIONS = ({}, {"DIRECTIONS": 1})
MASKED = ({}, {"MASKED": 1})
AGAIN, TURN = ([{name: k} for k in range(most)] for name, most in (("AGAIN", 2), ("TURN", 3)))
DIRECTED = (AGAIN[0], {"DIRECTIONS": 1} | AGAIN[0], {"DIRECTIONS": 1} | AGAIN[1])
PRUNE = ({}, {"PRUNE": 1})
NUMBERS, QUERY_PROFILES = (
    [{name: value} for value in range(n)] for name, n in (("NUMBER", 3), ("QUERY_PROFILE", 5))
)
QUERY_PROFILES[4] |= {"OWN_QUERIES": 1}
COLUMNS = {"STEP": 2, "WORKGROUP": 64}
CHAINS = {"ROWS": 16, "CHAIN": 8, "STRIDE": 32, "LETTERS": 24}
# Every set of defines that a program is compiled with, where these are not the usual ones.
OWN_PERMUTATIONS = {
    "quad.vert": [{}],
    "checksum.comp": [{"WORKGROUP": 64, "COLUMNS": "4096u", "WORDS_BINDING": 8, "SUMS_BINDING": 9}],
    "query_profile.frag": permutations(TILES, ({}, GAPS), LETTERS=24),
    "fragment.frag": [
        defines
        for defines in permutations(
            LINEAR,
            [*SPAN, GAPS, {**SPAN[1], **GAPS}],
            ({}, {"ENDS": 1}),
            TILES,
            LETTERS=24,
        )
        if defines["BITS"] == 32 or not {*SPAN[1], *GAPS} <= {*defines}
    ],
    "diagonal.comp": permutations(
        LINEAR,
        SEPARATE,
        [*MASKED, *SPAN[1:]],
        SCORES,
        [
            *permutations(TASKS, AGAIN=0),
            *permutations(TASKS[1:], AGAIN, DIRECTIONS=1),
        ],
        **LANES,
    ),
    "diagonal_leaning.comp": permutations(SEPARATE, SPAN, SCORES[:-1], TASKS, **LANES),
    "blocked.comp": permutations(
        LINEAR,
        SEPARATE,
        [
            *permutations([*PRUNE, *SPAN[1:]], TASKS),
            *permutations(PRUNE, MASKED=1, ENDS=1),
            *permutations([*PRUNE, *SPAN[1:]], PACKED=1, ENDS=1),
            *permutations(PRUNE, PACKED=1, MASKED=1, ENDS=1),
            *permutations([*MASKED, *SPAN[1:]], DIRECTIONS=1, ENDS=1),
        ],
        SCORES,
        **LANES,
        COLUMNS=128,
    ),
    "blocked_trace.comp": permutations(**LANES, TRACERS=64),
    "region_borders.comp": permutations(({}, {"PACKED": 1}), **LANES),
    "blocked_leaning.comp": permutations(
        SEPARATE,
        [*PRUNE, *SPAN[1:]],
        SCORES[:-1],
        TASKS,
        ({}, {"PROFILE": 4}),
        **LANES,
        STEPS=32,
    ),
    "traceback.comp": permutations(({}, {"ROW_MAJOR": 1}), TURN, **LANES, ENDS=1),
    "scan.comp": permutations(
        LINEAR,
        SCORES,
        TASKS,
        ({}, {"SUBGROUPS": 1}),
        DIRECTED,
        **LANES,
        COLUMNS=16,
        NEAR=4,
    ),
    "scan_blocks.comp": permutations(LINEAR, SCORES, TASKS, **LANES),
    "scan_carries.comp": permutations(LINEAR, SCORES, **LANES, BLOCK=256),
    "scan_step.comp": permutations(LINEAR, SCORES, **LANES),
    "lanes.comp": [
        defines
        for defines in permutations(
            LINEAR,
            NUMBERS,
            QUERY_PROFILES,
            ({}, {"TWO_QUERIES": 1}),
            ({}, {"JOINED": 1}, {"GLOBAL_MODE": 1}, {"GLOBAL_MODE": 1, "JOINED": 1}),
            ({"CHAIN": 1}, {"CHAIN": 8}, {"CHAIN": 8, "SUBGROUPS": 1}),
            ({}, {**TWO_TRACKS, "FIRST_LETTERS": 24, "LETTERS": 45}, {**GAPS, "LETTERS": 28}),
            **CHAINS | COLUMNS,
        )
        if (defines["NUMBER"] or "TWO_QUERIES" not in defines)
        and (
            not {*GAPS} & {*defines}
            or (defines["QUERY_PROFILE"] in (1, 2, 3) and not defines["NUMBER"])
        )
        and (defines["QUERY_PROFILE"] in (1, 2, 3) or not {"TWO_QUERIES", *TWO_TRACKS} & {*defines})
        and ("GLOBAL_MODE" not in defines or not {*TWO_TRACKS} & {*defines})
        and (
            ("JOINED" in defines) == (defines["QUERY_PROFILE"] in (1, 2, 3))
            if "GLOBAL_MODE" in defines
            else defines["QUERY_PROFILE"] in (2, 3) or "JOINED" not in defines
        )
        and ("GLOBAL_MODE" not in defines or defines["QUERY_PROFILE"])
    ]
    + permutations(
        ({}, {"TWO_QUERIES": 1}),
        ({}, {"GLOBAL_MODE": 1, "JOINED": 1}),
        **{"NUMBER": 2, "MEDIUMP": 1, "QUERY_PROFILE": 2, "CHAIN": 8} | CHAINS | COLUMNS,
    ),
    "lanes_profile.comp": permutations([{"BITS": 16}, {"BITS": 32}], WORKGROUP=64),
    "lanes_columns.comp": permutations(
        NUMBERS,
        ({}, {"TWO_QUERIES": 1}, {"OWN_QUERIES": 1}, {**TWO_TRACKS, "FIRST_LETTERS": 24}, GAPS),
        **COLUMNS,
    ),
}


# Those of wings, and of benchmarks, are beside their tests.
OF_WINGS = [runpy.run_path(str(path)) for path in sorted(Path(TESTS).glob("wings/**/programs*.py"))]
for table in OF_WINGS:
    OWN_PERMUTATIONS |= table["PERMUTATIONS"]
    BINDINGS |= table["BINDINGS"]
USUAL_PERMUTATIONS = permutations(LINEAR, SCORES, TASKS, **LANES)


PROGRAMS = [
    path.relative_to(root()).as_posix()
    for kind in ("vert", "frag", "comp")
    for path in sorted(root().rglob(f"*.{kind}"))
]
PERMUTATIONS = {
    name: known_to(name, OWN_PERMUTATIONS.get(name, USUAL_PERMUTATIONS))
    for name in dict.fromkeys([*PROGRAMS, *OWN_PERMUTATIONS])
}


@pytest.fixture(scope="module")
def validator():
    found = shutil.which("glslangValidator")
    if found is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("glslangValidator is not installed (Debian: glslang-tools)")
    return found


def readable(name, defines, es=False):
    """Return the text of a program as the validator knows it, and where its lines come from."""
    source, origins = assemble(name, BINDINGS | defines, MICRO_SHADERS, es=es)
    if defines.get("NUMBER") == 1:  # it has 16-bit floats as AMD has them, and from 4.5 on
        source = source.replace("#version 430", "#version 450")
        source = source.replace("#extension GL_NV_gpu_shader5 : enable", "")
    return source, origins


def validate(validator, name, defines, es=False):
    source, origins = readable(name, defines, es)
    stage = name.rpartition(".")[2]
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{defines}: " + explain(
        f"\n{done.stdout}", {stage: origins}, name
    )
    assert "WARNING" not in done.stdout, f"{name} {defines}: {done.stdout}"


@pytest.mark.parametrize("es", [False, True], ids=["gl", "es"])
@pytest.mark.parametrize("name", PERMUTATIONS)
def test_validator_reads_every_permutation(validator, name, es, tmp_path):
    # All at once, which is faster; one by one only to say which is wrong.
    kind, files, every = name.rpartition(".")[2], [], PERMUTATIONS[name]
    if es:  # where there are neither 16-bit floats nor, for this validator, subgroups
        every = [each for each in every if each.get("NUMBER") != 1 and "SUBGROUPS" not in each]
    for number, defines in enumerate(every):
        files.append(tmp_path / f"{number}.{kind}")
        files[-1].write_text(readable(name, defines, es)[0])
    done = subprocess.run([validator, *files], capture_output=True, text=True)
    if done.returncode or "WARNING" in done.stdout:
        for defines in every:
            validate(validator, name, defines, es)
        raise AssertionError(done.stdout)


# What a reader has to hold: per program the files it includes and the macros its conditions are on,
# at most, and how many permutations are compiled. These numbers may only fall.
BUDGETS = {
    "quad.vert": (0, 0, 1),
    "fragment.frag": (5, 5, 56),
    "query_profile.frag": (1, 2, 10),
    "best.comp": (1, 1, 2),
    "blocked.comp": (13, 13, 208),
    "blocked_leaning.comp": (10, 11, 144),
    "blocked_trace.comp": (4, 2, 1),
    "checksum.comp": (0, 0, 1),
    "compact.comp": (0, 0, 1),
    "diagonal.comp": (11, 9, 156),
    "diagonal_leaning.comp": (9, 10, 48),
    "lanes.comp": (9, 11, 250),  # 65 of them from end to end
    "lanes_columns.comp": (2, 6, 12),
    "lanes_profile.comp": (0, 1, 2),
    "region_borders.comp": (3, 2, 2),
    "scan.comp": (11, 7, 156),
    "scan_blocks.comp": (9, 5, 26),
    "scan_carries.comp": (6, 4, 13),
    "scan_single.comp": (9, 5, 26),
    "scan_step.comp": (6, 4, 13),
    "traceback.comp": (4, 3, 6),
    "wavefront.comp": (7, 5, 26),
}
for table in OF_WINGS:
    BUDGETS |= table["BUDGETS"]
ALL_PERMUTATIONS = 1_816  # 296 of them of three sequences from end to end, not listed before


def conditional_macros(lines):
    """Return the macros that the conditions of preprocessor lines name, but for the file's own."""
    conditions = [line for line in lines if re.match(r"\s*#\s*(if|elif)", line)]
    named = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", "\n".join(conditions)))
    return named - {match[1] for line in lines if (match := re.match(r"#define (\w+)", line))}


def measured(name):
    """Return the includes, the conditional macros and the permutations of a program."""
    source, origins = assemble(name)
    files = {origin.partition(":")[0] for origin in origins}
    return len(files) - 1, len(conditional_macros(source.splitlines())), len(PERMUTATIONS[name])


def test_programs_keep_within_their_budgets():
    found = {name: measured(name) for name in PROGRAMS}
    over = {
        name: (sizes, BUDGETS.get(name))
        for name, sizes in found.items()
        if any(map(int.__gt__, sizes, BUDGETS.get(name, (0, 0, 0))))
    }
    assert not over, f"(includes, conditional macros, permutations), and the budget: {over}"
    assert set(BUDGETS) == set(PROGRAMS)
    assert sum(permutations for *_, permutations in found.values()) <= ALL_PERMUTATIONS


MOST_BUFFERS = 8  # that OpenGL promises to a program


@pytest.mark.parametrize("name", [name for name in PERMUTATIONS if name.endswith(".comp")])
def test_no_program_exceeds_the_storage_buffers_of_opengl(name, validator, tmp_path):
    buffers = re.compile(r"^[^/\n]*\bbuffer (\w+)", re.MULTILINE)
    if len({*buffers.findall(readable(name, {})[0])}) <= MOST_BUFFERS:  # under all conditions
        return
    for number, defines in enumerate(PERMUTATIONS[name]):
        file = tmp_path / f"{number}.comp"
        file.write_text(readable(name, defines)[0])
    files = sorted(tmp_path.iterdir())
    done = subprocess.run([validator, "-E", *files], capture_output=True, text=True, check=True)
    programs = done.stdout.split("#version")[1:]
    assert len(programs) == len(files)
    assert max(len({*buffers.findall(program)}) for program in programs) <= MOST_BUFFERS


def shared_bytes(validator, file):
    """Return the shared memory of a program in bytes, and the invocations of a work group."""
    words = [validator, "-G", "--aml", "--amb", "-H", "-o", os.devnull, str(file)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    sizes, constants, pointers, total = {}, {}, {}, 0
    for line in text.splitlines():
        if not (found := re.match(r"\s*(\d+)(?:\(\S*\))?:\s+(?:\d+\(\S*\) )?(\w+) ?(.*)", line)):
            continue
        number, kind, rest = found[1], found[2], re.findall(r"\b(?<!\()\w+", found[3])
        if kind in ("TypeInt", "TypeFloat"):
            sizes[number] = int(rest[0]) // 8
        elif kind == "Constant":
            constants[number] = rest[0]
        elif kind == "TypeVector":
            sizes[number] = sizes[rest[0]] * int(rest[1])
        elif kind == "TypeArray":
            sizes[number] = sizes.get(rest[0], 0) * int(constants[rest[1]])
        elif kind == "TypeStruct":
            sizes[number] = sum(sizes.get(member, 0) for member in rest)
        elif kind == "TypePointer":
            pointers[number] = rest[1]
    for pointer in re.findall(r"(\d+)\(ptr\) Variable Workgroup", text):
        total += sizes[pointers[pointer]]
    x, y, z = map(int, re.search(r"LocalSize (\d+) (\d+) (\d+)", text).groups())
    return total, x * y * z


PI = {"max_work_group_invocations": 256, "max_shared_memory": 16 << 10}


@pytest.mark.parametrize("name", ON_DEVICES)
def test_programs_keep_within_the_limits_of_a_raspberry_pi(
    name, device, validator, tmp_path, monkeypatch
):
    programs, compute = [], glsw.device.shader.compute

    def watched(device, name, **defines):
        if (name, defines) not in programs:
            programs.append((name, defines))
        return compute(device, name, **defines)

    monkeypatch.setattr(glsw.device.shader, "compute", watched)
    traits = {"subgroup_size": 0, "half": False, "limits": {**device.info.limits, **PI}}
    for case in CASES[FEW[0]], next(iter(EDIT_CASES.values())):
        some = case.part(slice(100, 103))
        if ENGINES[name].capabilities.takes(some.scoring):
            engine = ENGINES[name](some.scoring, standing_in(device, **traits))
            engine.scores(some.batch)
            if "ends" in engine.capabilities.tasks:
                engine.ends(some.batch)
            engine.paths(some.batch)
    assert programs or name == "fragment"
    for file, defines in programs:
        path = tmp_path / "program.comp"
        path.write_text(readable(file, defines)[0])
        shared, invocations = shared_bytes(validator, path)
        assert shared <= PI["max_shared_memory"], (file, defines)
        assert invocations <= PI["max_work_group_invocations"], (file, defines)


def engines_named(name, case, device):
    """Return the engine with the first options, in two cases also the last ones."""
    chosen = []
    for every in (configurations(ENGINES), path_configurations()):
        own = [each for each in every if each[0] == name and takes(each, case.scoring)]
        chosen += own[:1] + own[1:][-1:] * (case.name in (FEW[0], END_FEW[0]))
    return [build(configuration, case.scoring, device) for configuration in chosen]


@pytest.mark.parametrize("name", ON_DEVICES)
def test_permutations_are_those_of_the_engines(name, device, monkeypatch):
    programs = []
    compute, render = glsw.device.shader.compute, glsw.device.shader.render

    def watched_compute(device, name, **defines):
        programs.append((name, defines))
        program = compute(device, name, **defines)
        return program

    def watched_render(device, vertex, fragment, **defines):
        programs.append((fragment, defines))
        return render(device, vertex, fragment, **defines)

    monkeypatch.setattr(glsw.device.shader, "compute", watched_compute)
    monkeypatch.setattr(glsw.device.shader, "render", watched_render)
    some = [
        CASES[each].part(slice(100, 103))
        for each in (*FEW, "two letters 2 1", "255 letters", "two tracks 12 1")
    ]
    others = *END_FEW, "insertions, linear", *list(GAP_CASES)[:2]
    some += [(END_CASES | GAP_CASES)[each].part(slice(30, 33)) for each in others]
    some += [case.part(slice(100, 103)) for case in EDIT_CASES.values()]
    for case in some:
        for engine in engines_named(name, case, device):
            engine.scores(case.batch)
            engine.ends(case.batch)
            engine.paths(case.batch)
            if engine.capabilities.masks and case.scoring.local:
                lengths = case.batch.lengths.tolist()
                masks = [Mask.of([0] * (n > 0), [0] * (n > 0), m) for m, n in lengths]
                engine.paths(case.batch.masked(masks))
    listed(programs, PERMUTATIONS)


def test_permutations_are_those_of_the_engines_of_wings(device, monkeypatch):
    programs = []
    compute = glsw.device.shader.compute

    def watched_compute(device, name, **defines):
        programs.append((name, defines))
        return compute(device, name, **defines)

    monkeypatch.setattr(glsw.device.shader, "compute", watched_compute)
    homes = [*registered("TESTS").values(), *(home for home, _ in registered("ENGINES").values())]
    for home in homes if device.info.compute else ():
        programs.clear()
        assert {row.verdict for row in tests_of(imported(home), device)} == {RIGHT}
        listed(programs, PERMUTATIONS)
