"""The option ``--composition`` of a search, a parameter of `glsw.search`."""

from __future__ import annotations

import argparse

from glsw.cli.words import add_rows
from glsw.options import COMPOSITIONS

_ADD = {
    ("--composition", COMPOSITIONS, "auto"): (
        "adjust scores to the compositions of the proteins, as blastp's -comp_based_stats: 0 no, "
        "1 scaled matrices, 2 conditionally adjusted matrices, auto 2 for searches with "
        "E-values from published constants, but for profiles and --iterations; with 1 and 2 "
        "profiles, including those of --iterations, are scaled (auto)"
    ),
}


def add(_: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the option."""
    add_rows(group, _ADD)
