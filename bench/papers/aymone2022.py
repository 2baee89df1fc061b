"""Aymone 2022: many pairs with traceback on the device."""

from __future__ import annotations

from bench.claims import Claim, Figure, Paper

_T4, _A100 = "Tesla T4", "A100-SXM4-40GB"
_PATHS = {"workload": "aymone2022", "program": "diagonal", "task": "paths"}

PAPER = Paper(
    "aymone2022",
    "Aymone 2022: Smith-Waterman with traceback in CUDA",
    ("aymone2022", "traceback"),
    [
        Figure("1000 pairs of 512 x 512, one core", "CPU of the T4", 2.2840359211, "s", "Table 1"),
        Figure("the same, pure", _T4, 0.0886352062, "s", "Table 1"),
        Figure("the same, conventional", _T4, 0.1009891033, "s", "Table 1"),
        Figure("the same, one core", "CPU of the A100", 2.7850348949, "s", "Table 1"),
        Figure("the same, pure", _A100, 0.0104529858, "s", "Table 1"),
        Figure("the same, conventional", _A100, 0.0118029118, "s", "Table 1"),
    ],
    [
        Claim(
            "the conventional order of ties costs more: 1.13 times",
            "Table 1",
            _PATHS | {"options": "ties: any"},
            _PATHS | {"options": "ties: conventional"},
            1.05,
            clock=True,
        ),
        Claim(
            "a GPU is 266 times as fast as one core (of parasail with traceback, SIMD)",
            "Table 1",
            _PATHS | {"options": "ties: any"},
            {
                "workload": "aymone2022",
                "program": ("parasail sw_trace_scan_sat", "parasail sw_trace_striped_sat"),
            },
            266.0,
            best=True,
        ),
    ],
    "The paper's program draws A, C, G, T and N; here four letters. Its clock has the kernel "
    "alone; our device time has uploads and downloads too. The table is for 1000 pairs; the number "
    "stands in its program, not in the report.",
)
