"""The option ``--composition`` of a search, a parameter of `glsw.search`."""

from __future__ import annotations

import argparse

from glsw.options import COMPOSITIONS

DECIDES = ("composition",)


def add(_: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> None:
    """Add the option."""
    group.add_argument(
        "--composition",
        type=int,
        choices=COMPOSITIONS,
        default=0,
        help="score proteins with matrices for their compositions, as blastp's -comp_based_stats: "
        "1 scaled, 2 conditionally adjusted (blastp's default), 0 not; profiles, also in rounds, "
        "are scaled by both (0)",
    )
