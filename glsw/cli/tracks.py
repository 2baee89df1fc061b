"""Options of sequences with two letters per position, and their queries and scoring."""

from __future__ import annotations

import argparse
from pathlib import Path

from glsw.cli.inputs import FILES, Targets
from glsw.cli.scoring import scoring_of
from glsw.cli.words import MATRIX, add_rows, cost, matrix_of, name
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.sequences.database import Database
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.records import Records
from glsw.sequences.tracks import read_tracks

_TWO_TRACKS = {
    ("--second-track", name, None, "FILE"): (
        "the second letters of the queries, of the same names and lengths in the same order: "
        f"{FILES}"
    ),
    ("--second-matrix", name, None, "FILE"): (
        f"the scores of second letters, with --second-track: {MATRIX}"
    ),
    ("--weight", cost, None, "W"): (
        "what the scores of second letters are multiplied by; each is rounded then (1)"
    ),
}


def add_tracks(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search."""
    group = parser.add_argument_group(
        "two tracks",
        "QUERY and DB, of makedb --second-track, have a second letter at each position, such as "
        "its structure; the scores of both are added. Letters and identities are of the first.",
    )
    add_rows(group, _TWO_TRACKS)


def check_tracks(arguments: argparse.Namespace) -> bool:
    """Return whether there are two tracks; ValueError for options that exclude them, or miss."""
    if getattr(arguments, "second_track", None) is None:
        for word in ("second_matrix", "weight"):
            if getattr(arguments, word, None) is not None:
                option = word.replace("_", "-")
                raise ValueError(f"--{option} is for --second-track, which is not given")
        return False
    if arguments.second_matrix is None:
        raise ValueError(f"--second-track needs --second-matrix: {MATRIX}")
    for word in (
        "profile",
        "iterations",
        "translated",
        "translated_target",
        "composition",
        "lower_case_mask",
        "mask_low_complexity",
        "seg",
    ):
        if getattr(arguments, word, None) not in (None, 0, "no"):
            option = word.replace("_", "-")
            raise ValueError(f"--second-track and --{option} exclude one another")
    return True


def read_queries(arguments: argparse.Namespace) -> tuple[Scoring, Records]:
    """Return the scoring of both tracks, and the queries."""
    weight = 1 if arguments.weight is None else arguments.weight
    second = matrix_of(arguments.second_matrix)
    scoring = TwoTrackScoring.of(scoring_of(arguments), second, weight)
    tracks = read_tracks(Path(arguments.query), Path(arguments.second_track))
    return scoring, Records.of(tracks)


def check_targets(path: str, targets: Targets, two_tracks: bool) -> None:
    """Raise ValueError unless the targets have as many tracks as the queries."""
    paired = isinstance(targets, Database) and isinstance(targets.alphabet, PairedAlphabet)
    if two_tracks and not paired:
        raise ValueError(f"{path}: it has one track; makedb --second-track makes databases of two")
    if paired and not two_tracks:
        raise ValueError(f"{path}: it has two tracks; give --second-track and --second-matrix")
