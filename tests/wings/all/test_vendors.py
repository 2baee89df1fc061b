"""Compilers of devices that are not here: rows of today's programs, and what drivers tell."""

import json
import subprocess
import sys
from itertools import product

import pytest

from tools.vendors import __main__, loop, table
from tools.vendors.driver import statistics
from tools.vendors.measure import permutations, sample
from tools.vendors.rows import ASKED, RESULTS, SAMPLE, Rows, devices

TOLD = {
    "radeonsi": "Shader Stats: SGPRS: 40 VGPRS: 180 Code Size: 3240 LDS: 13056 Scratch: 0 "
    "Max Waves: 1 Spilled SGPRs: 0 Spilled VGPRs: 2 DivergentLoop: 0 (CS, W64)",
    "iris": "CS SIMD8 shader: 922 inst, 3 loops, 367032 cycles, 7:23 spills:fills, 36 sends, "
    "scheduled with mode lifo, Promoted 1 constants, compacted 16128 to 11712 bytes.",
    "asahi": "CS shader: 698 instrs, 632 alu, 632 fscib, 44 ic, 5960 code size, 247 gprs, "
    "50 uniforms, 0 scratch, 384 threads, 3 loops, 0:0 spills:fills, 20 preamble inst",
    "freedreno": "CL shader: 841 inst, 137 nops, 1504 dwords, 0 half, 48 full, 1 stp, 2 ldp, "
    "20 sstall, 4 waves, 3 loops",
    "nouveau": "type: 5, local: 288, shared: 12816, gpr: 63, inst: 859, bytes: 6872, cached: 16120",
}


@pytest.mark.parametrize("driver", sorted({name.partition("-")[0] for name in devices()}))
def test_rows_cover_the_programs_of_today(driver):
    """A failure means: after a change of shaders run `make vendors`, and commit its rows."""
    rows = Rows.read()
    found: dict[str, set[str]] = {}
    names = [name for name in rows.devices if name.startswith(driver)]
    for name, kind in product(names, (ASKED, SAMPLE)):
        for row in rows.of(name, kind):
            found.setdefault(row["program"], set()).update(row["macros"])
    subgroups = any("no subgroups" not in rows.devices[name] for name in names)
    without = set() if subgroups else {"SUBGROUPS"}
    for program, sets in permutations().items():
        names = {macro for macros in sets for macro in macros if not macro.endswith("_BINDING")}
        assert names - without <= found.get(program, set()), f"{program}: make vendors"


def test_samples_have_every_macro():
    sets = [{"A": 1, "NUMBER": 1}, {"A": 1, "B": 1}, {"A": 1, "B": 1, "C": 1}, {"A": 1}]
    assert sample(sets, 3) == [sets[0], sets[3], sets[1], sets[2]]


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("radeonsi", {"registers": 180, "waves": 1, "spills": 2, "width": 64}),
        ("iris", {"instructions": 922, "spills": 7, "fills": 23, "width": 8, "bytes": 11712}),
        ("asahi", {"instructions": 698, "registers": 247, "spills": 0, "threads": 384}),
        ("freedreno", {"instructions": 841, "registers": 48, "spills": 1, "fills": 2, "waves": 4}),
        ("nouveau", {"instructions": 859, "registers": 63, "scratch": 288, "shared": 12816}),
    ],
)
def test_statistics_of_each_driver(driver, expected):
    assert expected.items() <= statistics(["something else", TOLD[driver]]).items()


AMD = """\
BB1:
	v_mov_b32_e32 v1, 0                                         ; 7e020280
BB2:
	v_add_nc_u32_e32 v1, -1, v6                                 ; 4a8a0cc1
	s_delay_alu instid0(VALU_DEP_1)                             ; bf870001
	s_cbranch_scc0 BB2                                          ; bfa1ff6a
	s_branch BB1                                                ; bfa0fd33
"""
INTEL = """\
LABEL4:
cmp.ge.f0.0(8)  null<1>D        g57<8,8,1>D     1201D           { align1 1Q @1 };
(+f0.0) break(8) JIP:  LABEL3         UIP:  LABEL3              { align1 1Q };
sync nop(1)                     null<0,1,0>UB                   { align1 WE_all 1N };
while(8)        JIP:  LABEL4                                    { align1 1Q };
"""
APPLE = """\
 48c: 420800000000           if       0.0, 0.0, 1, feq
 492: 52ac94422508           while    $r74, r10, 1, slt
 498: 8e2d541600280000       iadd     $r75, r74.sx, 1
 4a0: 00c0d0eaffff           jmp_any  -14
"""


@pytest.mark.parametrize(("listing", "expected"), [(AMD, (3, 1)), (INTEL, (4, 1)), (APPLE, (3, 1))])
def test_innermost_loops_of_listings(listing, expected):
    assert [*loop.innermost(listing.splitlines())] == [expected]


def test_a_table_of_rows():
    common = {"device": "intel-tgl", "set": ASKED, "program": "lanes.comp", "ms": 20.0}
    slow = {"ms": 2000.0, "spills": 9, "loop": 96, "width": 8, "macros": {"ROWS": 24, "STEP": 2}}
    as_es = [common | {"spills": 0}, common | {"error": "no"}]
    each = [common, common | slow, common | {"error": "no"}]
    rows = Rows({}, {"intel-tgl": each, "intel-tgl-es": as_es})
    *_, line = table.by_device(rows)
    assert "| 3 | 1 | 1010 ms | 2.00 s, `lanes.comp` | 1 | 8: 1 | 2.0 | 2, 1, 0 |" in line
    assert "| 256 x 1.55 GHz | 2.0 | 198 |" in [*table.bounds(rows)][-1]


@pytest.mark.skipif(sys.platform != "linux", reason="the process has limits of Linux")
def test_a_process_tells_of_each_program_once(device):
    if not device.info.compute:
        pytest.skip("no compute shaders")
    macros = {"WORKGROUP": 64, "LETTERS": 4, "SCORES": 0, "AMBIGUOUS": 4, "NO": 1}
    calls = "engine diagonal", "engine diagonal", "align local 100 100"
    tasks = *calls, ["best.comp", macros], ["missing.comp", {}]
    done = subprocess.run(
        [sys.executable, "-m", "tools.vendors.child"],
        **{"input": "".join(json.dumps(task) + "\n" for task in tasks), "text": True},
        **{"capture_output": True, "check": True},
    )
    head, *told = map(json.loads, done.stdout.splitlines())
    assert head["version"]
    rows = [row for row in told if "program" in row]
    assert {"diagonal_leaning.comp", "best.comp", "traceback.comp"} <= {r["program"] for r in rows}
    assert len(rows) == len({json.dumps([row["program"], row["macros"]]) for row in rows})
    assert "no shader file missing.comp" in rows[-1]["error"]
    said = [row["said"] for row in told if "done" in row]
    assert len(said) == len(tasks)
    assert not any(said[: len(calls)])  # each goes on to its last program


def test_the_page_has_the_tables_of_the_rows(tmp_path):
    assert __main__.main(["--check"]) == 0
    (tmp_path / "rows").write_text(RESULTS.read_text().replace('"loop":', '"no":'))
    assert __main__.main(["--check", str(tmp_path / "rows")]) == 1


def test_what_runs_before_a_driver_needs_no_bench():
    code = "import sys; sys.modules['bench'] = None; import tools.vendors.child"
    subprocess.run([sys.executable, "-c", code], check=True)
