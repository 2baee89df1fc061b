"""The option ``--composition`` of a search, a parameter of `glsw.search`."""

from __future__ import annotations

import argparse

from glsw.cli.words import add_rows
from glsw.options import COMPOSITIONS

_ADD = {
    ("--composition", COMPOSITIONS, 0): (
        "score proteins with matrices for their compositions, as blastp's -comp_based_stats: "
        "1 scaled, 2 conditionally adjusted (blastp's default), 0 not; profiles, also in rounds, "
        "are scaled by both (0)"
    ),
}


def add(_: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the option."""
    add_rows(group, _ADD)
