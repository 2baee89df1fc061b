"""The option ``--composition`` of a search, a parameter of `glsw.search`."""

from __future__ import annotations

from glsw.cli.command import Group, option
from glsw.options import Composition, HitOptions, defaults_of

_NOTES = {"task": " --composition 0"}


class Options(Group, decides=True, notes=_NOTES, defaults=defaults_of(HitOptions)):
    """The option ``--composition``."""

    composition: Composition = option(
        "adjust scores to the compositions of the proteins, as blastp's -comp_based_stats: 0 no, "
        "1 scaled matrices, 2 conditionally adjusted matrices, auto 2 for searches with "
        "E-values from published constants, but for profiles and --iterations; with 1 and 2 "
        "profiles, including those of --iterations, are scaled (auto)",
        one_track=True,
        tasks={"blastp-short": 0},
    )
