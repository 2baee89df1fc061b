"""The common part of ``glsw search`` and ``glsw align``: two files in, results out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.inputs import Targets, check_standard_input, only, queries_of, residues
from glsw.cli.messages import Bar, progress_bar
from glsw.cli.outputs import Destination, check_output, destination, no_second_place, write
from glsw.cli.scoring import check_kinds, scoring_for, scoring_of, seg_of
from glsw.cli.summary import check_summary, counted, summary_of
from glsw.cli.words import MATRIX, matrix_of
from glsw.options import AlignerOptions, defaults_of
from glsw.output.result_file import ResultFile
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import TwoTrackScoring
from glsw.search.fingerprint import BYTES_PER_SECOND, Fingerprint, fingerprint
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.fasta import read_all
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import Records
from glsw.sequences.tracks import read_tracks


def compare(
    arguments: argparse.Namespace,
    task: Task,
    preparation: Callable[[argparse.Namespace, Scoring], QueryPreparation],
    *,
    settings: Sequence[str] = (),
    one_each: bool = False,
) -> None:
    """Compare the sequences of two files; cheap checks come first.

    A run that was interrupted goes on, if it is asked to, where ``settings`` names the options of
    the command that decide what is written.
    """
    scoring_of(arguments)  # raises errors of options
    paths = arguments.query, arguments.target
    tracks = arguments.second_track if _check_tracks(arguments) else None
    inputs = *paths, *filter(None, [tracks, arguments.matrix])
    check_output(arguments.output, *inputs)
    check_summary(arguments, *inputs)
    given = read_inputs(arguments, preparation, one_each=one_each)
    queries, targets = given.queries, given.targets
    if isinstance(targets, Database):
        alone = not isinstance(arguments.device, list) and arguments.device != "all"
        targets.read_ahead(residues=alone and not {"executor", "results"} & {*vars(arguments)})
    to, done = _destination(arguments, settings, queries, targets, given.scoring)
    arguments.skip = done
    with (
        aligner_for(arguments, given.scoring) as aligner,
        progress_bar(arguments, sum(given.cells[done:])) as bar,
        summary_of(arguments, aligner, queries, targets, paths=paths, resumed=done) as summary,
    ):
        found = task(aligner, given, arguments, bar) if queries else ()
        results = counted(summary, found)
        reason = no_second_place(arguments, given.scoring)
        form = arguments.format
        write(results, form, to, bar, targets, note=given.note, done=done, reason=reason)


class Inputs(NamedTuple):
    """What a command compares: sequences, their scoring with a note on it, cells of each query."""

    queries: Records
    targets: Targets
    scoring: Scoring
    note: str
    cells: list[int]


Task: TypeAlias = Callable[[Aligner, Inputs, argparse.Namespace, Bar], Iterable[SearchResult]]
"""The work of a command with an aligner and its inputs."""


def read_inputs(
    arguments: argparse.Namespace,
    preparation: Callable[[argparse.Namespace, Scoring], QueryPreparation],
    *,
    one_each: bool = False,
    check: bool = True,
) -> Inputs:
    """Read the sequences of two files, and choose their scoring.

    Whether these fit it need not be checked for a search that was made before.
    """
    scoring_of(arguments)  # raises errors of options
    two_tracks = _check_tracks(arguments)
    scoring: Scoring | None = None
    second = [arguments.second_track] if two_tracks else []
    check_standard_input(arguments.query, arguments.target, *second)
    if is_database(arguments.query):
        raise ValueError(
            f"{arguments.query} is a database of makedb: the query comes first, then the database"
        )
    if two_tracks:
        scoring, queries = _read_tracks(arguments)
    elif "read_queries" in arguments:
        scoring, queries = arguments.read_queries(arguments)
    else:
        queries = (read_all if one_each else queries_of)(arguments.query)
    path = arguments.target
    targets = Database.open(path) if is_database(path) and not one_each else read_all(path)
    _check_targets(path, targets, two_tracks)
    if one_each:
        only(arguments.query, queries)
        only(path, targets)
    sides = (arguments.query, queries), (path, targets)
    if scoring:
        note = check_kinds(arguments, scoring, *sides) if check else ""
    else:
        scoring, note = scoring_for(arguments, *sides, check=check)
    read = preparation(arguments, scoring)
    width = read.query_alphabet.width
    each_residue = residues(targets, scoring) * getattr(arguments, "rounds", 1)
    if getattr(arguments, "translated_target", False):  # three frames, each a third
        each_residue *= 2 if arguments.target_strand in (None, "both") else 1
    cells = [read.residues(n // width) * each_residue for _, n in queries.names_and_lengths()]
    return Inputs(queries, targets, scoring, note, cells)


def aligner_for(arguments: argparse.Namespace, scoring: Scoring) -> Aligner:
    """Return the aligner of the options."""
    given = {
        name: getattr(arguments, name) for name in defaults_of(AlignerOptions) if name in arguments
    }
    return Aligner(**{**given, "scoring": scoring, "seg": seg_of(arguments)})


def _destination(
    arguments: argparse.Namespace,
    settings: Sequence[str],
    queries: Records,
    targets: Targets,
    scoring: Scoring,
) -> tuple[Destination, int]:
    """Return where results go, and how many are there, of an earlier run that was interrupted."""
    if not settings:
        return destination(arguments), 0

    def identity() -> Fingerprint:
        given = {f"--{name.replace('_', '-')}": getattr(arguments, name) for name in settings}
        given = {name: "not given" if each is None else each for name, each in given.items()}
        given["--format"] = arguments.format.name
        if arguments.ties == "any":  # which depends on the engine
            given |= {"--engine": arguments.engine, "--device": arguments.device}
        return fingerprint(queries, targets, scoring, **given)

    size = targets.letters.nbytes if isinstance(targets, Records) else 0
    to = destination(arguments, identity, 100 * size / BYTES_PER_SECOND)
    if not arguments.resume:
        return to, 0
    if not isinstance(to, ResultFile):
        raise ValueError("--resume requires --output FILE")
    return to, to.resume()


def _check_tracks(arguments: argparse.Namespace) -> bool:
    """Return whether there are two tracks; ValueError for options that exclude them, or miss."""
    if getattr(arguments, "second_track", None) is None:
        for word in ("second_matrix", "weight"):
            if getattr(arguments, word, None) is not None:
                option = word.replace("_", "-")
                raise ValueError(f"--{option} requires --second-track")
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
        if getattr(arguments, word, None) not in (None, 0, "no", "auto"):
            option = word.replace("_", "-")
            raise ValueError(f"--second-track and --{option} cannot be combined")
    return True


def _read_tracks(arguments: argparse.Namespace) -> tuple[Scoring, Records]:
    """Return the scoring of both tracks, and the queries."""
    weight = 1 if arguments.weight is None else arguments.weight
    second = matrix_of(arguments.second_matrix)
    scoring = TwoTrackScoring.of(scoring_of(arguments), second, weight)
    tracks = read_tracks(Path(arguments.query), Path(arguments.second_track))
    return scoring, Records.of(tracks)


def _check_targets(path: str, targets: Targets, two_tracks: bool) -> None:
    """Raise ValueError unless the targets have as many tracks as the queries."""
    paired = isinstance(targets, Database) and isinstance(targets.alphabet, PairedAlphabet)
    if two_tracks and not paired:
        raise ValueError(
            f"{path}: it has one track; makedb --second-track creates databases with two"
        )
    if paired and not two_tracks:
        raise ValueError(f"{path}: it has two tracks; give --second-track and --second-matrix")
