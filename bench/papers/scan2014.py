"""The 2014 paper: scans and anti-diagonals."""

from __future__ import annotations

from bench.claims import Claim, Figure, Paper

_PLAIN = {"workload": "scan2014", "program": "parasail sw"}
_WAVES = {"workload": "scan2014", "program": "wavefront"}
_BLOCKS = {"workload": "scan2014", "program": "scan blocks"}
_LINEAR, _AFFINE = "DNA 5/-3, gaps 8, 8", "DNA 5/-3, gaps 8, 1"

PAPER = Paper(
    "scan2014",
    '"Optimizing Parallel Scan Smith Waterman Algorithm On GPU", IJACEN 2(9), 2014',
    ("scan2014",),
    [
        Figure("scan, times one core, constant gaps, least", "GTX 480", 2.0, "times", "figure 8"),
        Figure("the same, most", "GTX 480", 6.0, "times", "figure 8"),
        Figure("scan, times one core, affine gaps, least", "GTX 480", 1.5, "times", "figure 9"),
        Figure("the same, most", "GTX 480", 4.5, "times", "figure 9"),
    ],
    [
        Claim(
            "the scan beats plain anti-diagonals over global memory (here: in blocks)",
            "section V",
            _BLOCKS,
            _WAVES,
            1.0,
        ),
        Claim(
            "the same of the scan in a single stage, which the paper proposes",
            "section V",
            {"workload": "scan2014", "program": "scan single-stage"},
            _WAVES,
            1.0,
        ),
        Claim(
            "with constant gaps the scan is at least 2 times as fast as one core",
            "figure 8",
            _BLOCKS | {"scoring": _LINEAR},
            _PLAIN | {"scoring": _LINEAR},
            2.0,
        ),
        Claim(
            "with affine gaps the scan is at least 1.5 times as fast as one core",
            "figure 9",
            _BLOCKS | {"scoring": _AFFINE},
            _PLAIN | {"scoring": _AFFINE},
            1.5,
        ),
        Claim(
            "scans beat blocked anti-diagonals too (here: fused scan)",
            "section V",
            {"workload": "scan2014", "program": "scan fused"},
            {"workload": "scan2014", "program": "blocked"},
            1.0,
        ),
    ],
    "The scores of its figure 3. Its figures are lost, its text gives ranges (GTX 480 against an "
    "i3-550). Its blocked anti-diagonals leave out the optimisations of Sandes et al.; ours keep "
    "cells in registers.",
)
