"""Options of queries that are profiles, and the profile of a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glsw import caller
from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.messages import Bar, say
from glsw.cli.scoring import asked_for, scoring_of, seg_of
from glsw.cli.words import add_rows, count, name, number
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.query import MaskedError
from glsw.sequences.records import Record, Records
from glsw.statistics import Unavailable
from glsw.wings.profiles.background import Gaps
from glsw.wings.profiles.files import FORMATS
from glsw.wings.profiles.iteration import (
    INCLUSION,
    SUMS_INCLUSION,
    Round,
    inclusion_of,
    rounds,
    with_work_of,
)
from glsw.wings.profiles.profile import Profile

if TYPE_CHECKING:
    from glsw.cli.pairs import Inputs


DECIDES = "profile", "iterations", "inclusion", "positional_gaps", "sums"


_PROFILES = {
    ("--profile", bool): (
        f"QUERY is a profile, with its own scores at each position: {FORMATS}; --matrix, "
        "--gapopen and --gapextend supplement or override the file"
    ),
    ("--iterations", count, None, "N"): (
        "search up to N times, each round with a profile of the query and the significant hits "
        "of the previous round, until no new hits are found; report the last round"
    ),
    ("--inclusion", number, None, "E"): (
        f"with --iterations, hits with at most this E-value are significant ({INCLUSION:g}, "
        f"with --sums {SUMS_INCLUSION:g})"
    ),
    ("--profiles", name, None, "DIR"): (
        "with --iterations, write the profile built in each round to a file in this folder"
    ),
    ("--positional-gaps", bool): (
        "gap costs by position: with --iterations from the gaps of the members, with "
        "--profile from those of an alignment or the transitions of a HMMER3 model"
    ),
    ("--sums", bool): (
        "with --iterations, compute E-values from the sum over all alignments of a hit, corrected "
        "for biased composition, and sort by them: more sensitive for distant relatives (proteins)"
    ),
}


def add(parser: argparse.ArgumentParser, _: argparse._ArgumentGroup) -> None:
    """Add the options."""
    group = parser.add_argument_group("profiles")
    add_rows(group, _PROFILES)


def apply(arguments: argparse.Namespace) -> None:
    """Let a profile be the query, and searches go on round by round.

    Raises
    ------
    ValueError
        For options that iterations need, or that exclude them.
    """
    if arguments.profile:
        arguments.read_queries = read_profile
    if arguments.positional_gaps and arguments.iterations is None and not arguments.profile:
        raise ValueError("--positional-gaps is for --iterations and --profile")
    if arguments.iterations is None:
        for word in ("inclusion", "profiles", "sums"):
            if getattr(arguments, word) not in (None, False):
                raise ValueError(f"--{word} is for --iterations, which is not given")
        return
    if arguments.iterations < 1:
        raise ValueError("--iterations 0: at least 1 expected")
    for word in ("shard", "translated", "translated_target"):
        if getattr(arguments, word, None):
            option = word.replace("_", "-")
            raise ValueError(f"--iterations and --{option} exclude one another")
    arguments.results, arguments.rounds = iterated, arguments.iterations


def iterated(
    aligner: Aligner,
    given: Inputs,
    arguments: argparse.Namespace,
    bar: Bar,
    options: dict[str, Any],
) -> Iterator[SearchResult]:
    """Yield the result of the last round of each query, and write the profiles of all rounds.

    Its cells, seconds and engines are those of all rounds. The total of the bar has all rounds of a
    query until its last one is done.
    """
    queries, database = given.queries, aligner.database(given.targets)
    gaps = _gaps(arguments)
    inclusion = inclusion_of(arguments.inclusion, arguments.sums)
    folder = arguments.profiles and Path(arguments.profiles)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    for k, query in enumerate(queries[arguments.skip :], start=arguments.skip + 1):
        last: Round | None = None
        result: SearchResult | None = None
        counts = []
        try:
            for last in rounds(
                *(aligner, query, database, arguments.iterations, inclusion),
                gaps=gaps,
                sums=arguments.sums,
                **options,
            ):
                result = with_work_of(last.result, result) if result else last.result
                counts.append(str(len(last.members)))
                if folder:
                    named = re.sub(r"[^\w.-]", "_", query.id)[:100]
                    last.built.write(folder / f"{k}_{named}_round{last.number}.profile")
        except MaskedError as error:
            if len(queries) == 1:
                raise
            caller.warn(f"{error}; it has no hits", RuntimeWarning)
            bar.expect(-given.cells[k - 1])
            yield _without_hits(aligner, query, database)
            continue
        assert last is not None
        assert result is not None
        bar.expect(result.cells - given.cells[k - 1])
        end = "nothing new" if last.converged else "the last round allowed"
        say(f"query {query.id}: members by round: {', '.join(counts)}; {end}")
        yield result


def read_profile(arguments: argparse.Namespace) -> tuple[Scoring, Records]:
    """Return the scoring by position of the profile in the file of the query, and its record."""
    gaps = arguments.gapopen is not None or arguments.gapextend is not None
    given = scoring_of(arguments) if asked_for(arguments) or gaps else None
    profile = Profile.read(Path(arguments.query), given, gaps=_gaps(arguments))
    masks = arguments.lower_case_mask, arguments.mask_low_complexity
    scoring, records = Profile.by_position([profile], *masks, seg_of(arguments))
    return scoring, Records.of(records)


def _gaps(arguments: argparse.Namespace) -> Gaps:
    return "positional" if arguments.positional_gaps else "fixed"


def _without_hits(aligner: Aligner, query: Record, database: Database) -> SearchResult:
    engine, size = aligner.engine, (len(database), database.residues)
    nothing = Unavailable("all residues of the query are masked")
    return SearchResult(query, (), 0, 0.0, engine.label, engine.where, *size, 0, nothing)
