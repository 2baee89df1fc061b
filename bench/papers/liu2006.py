"""Liu et al. 2006: database search in fragment shaders."""

from __future__ import annotations

from bench.claims import Claim, Figure, Paper

_CPU = "Pentium 4, 3.0 GHz"
_GPU = "GeForce 7800 GTX"
_SECONDS = (
    *((63, 90.9, 48.6), (127, 184.1, 99.7), (255, 375.1, 198.2), (361, 532.7, 295.8)),
    *((511, 731.9, 391.9), (1023, 1472.5, 848.7), (2047, 2985.7, 1741.7)),
    (4095, 5925.2, 3610.8),
)
"""Table 1: the length of a query, and seconds of OSEARCH34 and SSEARCH34."""

PAPER = Paper(
    "liu2006",
    "Liu, Schmidt, Voss, Schröder, Müller-Wittig 2006: GPU-accelerated database scanning",
    ("liu2006", "fragment-tiles"),
    [
        Figure(f"{name}, query of {length}", _CPU, seconds, "s", "Table 1")
        for length, *both in _SECONDS
        for name, seconds in zip(("OSEARCH", "SSEARCH"), both, strict=True)
    ]
    + [Figure("times as fast as OSEARCH, at most", _GPU, 16, "times", "section 6")]
    + [Figure("times as fast as SSEARCH, at most", _GPU, 8, "times", "section 6")]
    + [Figure("rate, at most", _GPU, 0.7, "GCUPS", "section 6")],
    [
        Claim(
            "a fragment shader is up to 8 times as fast as SSEARCH on one core",
            "section 6",
            {"workload": "liu2006", "program": "fragment"},
            {"workload": "liu2006", "program": "ssearch36", "cores": 1},
            8.0,
            best=True,
        ),
        Claim(
            "a fragment shader beats one core (of parasail, with SIMD) at every length",
            "figure 11",
            {"workload": "liu2006", "program": "fragment"},
            {"workload": "liu2006", "program": "parasail", "cores": 1},
            1.0,
        ),
        Claim(
            "a GPU searches 8 times as fast as SSEARCH on one core (here: a compute shader)",
            "section 6",
            {"workload": "search", "program": ("lanes f16", "lanes int32")},
            {"workload": "search", "program": "ssearch36", "cores": 1},
            8.0,
        ),
    ],
    "parasail and ssearch36 use SIMD instructions that its SSEARCH did not have. Matrix and gaps "
    "are not given: here BLOSUM62, 12 and 1. Swiss-Prot 46.3 (176,469 sequences, mean 361) cannot "
    "be shipped: proteins of Swiss-Prot's lengths stand in. A texel holds a tile of cells, with "
    "16-bit borders; tile 1 of fragment-tiles is the paper's layout.",
)
