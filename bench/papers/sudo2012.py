"""Sudo et al. 2012: three sequences, with and without sub-tables."""

from __future__ import annotations

from bench.claims import Claim, Figure, Paper

_GPU, _CPU = "GeForce GTX 460", "Core i5-2400"
_TABLE = {"workload": "sudo2012", "task": "table"}
_ENDS = {"workload": "sudo2012", "task": "ends"}

PAPER = Paper(
    "sudo2012",
    "Sudo, Yoshimi, Miki, Hiroyasu 2012: three-dimensional Smith-Waterman with multiple GPUs",
    ("sudo2012", "three-large"),
    [
        Figure("GPUI, highest", _GPU, 0.172, "GCUPS", "section 7.2"),
        Figure("GPUI, lowest", _GPU, 0.004, "GCUPS", "section 7.2"),
        Figure("GPUI over CPU, at most", f"{_GPU}, {_CPU}", 1.53, "times", "section 7.2"),
        Figure("GPUN over CPU, at most", f"{_GPU}, {_CPU}", 1.01, "times", "section 7.2"),
        Figure("GPUI over GPUN, at most", _GPU, 1.50, "times", "section 7.2"),
        Figure("two devices over one", f"two {_GPU}", 1.8, "times", "figure 13"),
    ],
    [
        Claim(
            "sub-tables are up to 1.5 times as fast as none, the table on the host",
            "section 7.2",
            _TABLE | {"program": "gpui"},
            _TABLE | {"program": "plane"},
            1.5,
            best=True,
        ),
        Claim(
            "sub-tables are up to 1.53 times as fast as one core, the table on the host",
            "section 7.2",
            _TABLE | {"program": "gpui"},
            _TABLE | {"program": "C code"},
            1.53,
            best=True,
        ),
        Claim(
            "the same, score and end alone",
            "-",
            _ENDS | {"program": "gpui"},
            _ENDS | {"program": "C code"},
            1.53,
            best=True,
        ),
        Claim(
            "our form of the sub-tables is faster than the paper's",
            "-",
            _ENDS | {"program": "subtable"},
            _ENDS | {"program": "gpui"},
            1.0,
        ),
        Claim(
            "two devices are 1.8 times as fast as one",
            "figure 13",
            {"workload": "sudo2012", "program": "plane", "task": "table, devices", "count": 2},
            {"workload": "sudo2012", "program": "plane", "task": "table, devices", "count": 1},
            1.8,
            best=True,
        ),
    ],
    "The figures are lost; the text gives extremes. GCUPS are read as l x m x n cells per second. "
    "A letter is a sample, as in the paper, which does not give the size of its alphabet; here 8 "
    "letters of a generated recording. GPUI is `gpui`: sub-tables of 4 x 4 x 4 in registers, sides "
    "in shared memory; GPUN is `plane`; `subtable` is our form. The C code writes its table into "
    "memory that it has used before.",
)
