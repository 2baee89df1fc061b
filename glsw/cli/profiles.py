"""Options of queries that are profiles, and the profile of a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from glsw.cli.scoring import asked_for, scoring_of, seg_of
from glsw.profiles.files import FORMATS
from glsw.profiles.profile import Profile
from glsw.profiles.queries import by_position
from glsw.scoring.scoring import Scoring
from glsw.sequences.records import Record


def add_profiles(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("profiles")
    group.add_argument(
        "--profile",
        action="store_true",
        help=f"QUERY is the file of a profile, whose scores depend on the position: {FORMATS}; "
        "--matrix, --gapopen and --gapextend if the file names none, or instead of its own",
    )


def read_profile(arguments: argparse.Namespace) -> tuple[Scoring, list[Record]]:
    """Return the scoring by position of the profile in the file of the query, and its record."""
    gaps = arguments.gapopen is not None or arguments.gapextend is not None
    given = scoring_of(arguments) if asked_for(arguments) or gaps else None
    profile = Profile.read(Path(arguments.query), given)
    masks = arguments.lower_case_mask, arguments.mask_low_complexity
    scoring, records = by_position([profile], *masks, seg_of(arguments))
    return scoring, list(records)
