"""Lin, Zhong and Lin 2015: the row scan."""

from __future__ import annotations

from bench.claims import Claim, Figure, Paper

_BLOCKS = {"workload": "lin2015", "program": "scan blocks"}
_PLAIN = {"workload": "lin2015", "program": "parasail sw"}

PAPER = Paper(
    "lin2015",
    "Lin, Zhong, Lin 2015: a parallel scan of rows",
    ("lin2015",),
    [
        Figure("times one core, at most", "GT 520M", 90, "times", "section 2.3, figure 8"),
        Figure("the same, SWAT", "GT 520M", 10, "times", "section 2.3, figure 8"),
        Figure("times one core, at most", "GTX 650 Ti Boost", 262, "times", "section 3, figure 8"),
        Figure("the same, SWAT", "GTX 650 Ti Boost", 50, "times", "section 3, figure 8"),
    ],
    [
        Claim(
            "a scan in blocks beats the scan of SWAT (here: a single stage) at every length",
            "figure 8",
            _BLOCKS,
            {"workload": "lin2015", "program": "scan single-stage"},
            1.0,
        ),
        Claim(
            "the scan in blocks is up to 262 times as fast as one core (plain code)",
            "section 3",
            _BLOCKS,
            _PLAIN,
            262.0,
            best=True,
        ),
        Claim(
            "a scan is up to 262 times as fast as one core (here: fused, plain code)",
            "section 3",
            {"workload": "lin2015", "program": "scan fused"},
            _PLAIN,
            262.0,
            best=True,
        ),
        Claim(
            "a scan in blocks beats one core that uses SIMD",
            "-",
            _BLOCKS,
            {"workload": "lin2015", "program": "parasail sw_striped_sat"},
            1.0,
        ),
    ],
    "The paper gives neither scores, nor sequences, nor the numbers of its Table 1. Here unrelated "
    "random DNA, 5/-4, gaps 11 and 1, score and end cell; the paper also walks back, and keeps the "
    "whole table. Its CPU was an i3-2310 with code of its own; parasail's plain code is the "
    "nearest. SWAT goes up and down a row in 2 log2 n launches; none of our forms is that: "
    "single-stage has log2 n and bounds SWAT from above where launches decide.",
)
