"""Options of queries that are profiles, and the profile of a file."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping
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
from glsw.wings.profiles import FORMATS, INCLUSION, SUMS_INCLUSION

if TYPE_CHECKING:
    from glsw.cli.pairs import Inputs
    from glsw.wings.profiles.background import Gaps
    from glsw.wings.profiles.iteration import Round


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
                raise ValueError(f"--{word} requires --iterations")
        return
    if arguments.iterations < 1:
        raise ValueError("--iterations 0: at least 1 expected")
    for word in ("shard", "translated", "translated_target"):
        if getattr(arguments, word, None):
            option = word.replace("_", "-")
            raise ValueError(f"--iterations and --{option} cannot be combined")
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
    from glsw.wings.profiles.iteration import (
        inclusion_of,
        last_results,
        rounds,
        together,
        with_work_of,
    )

    queries, database = given.queries[arguments.skip :], aligner.database(given.targets)
    inclusion = inclusion_of(arguments.inclusion, arguments.sums)
    folder = arguments.profiles and Path(arguments.profiles)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[int] = Counter()
    converged = 0
    for some in together(aligner, queries, database):
        last: dict[int, Round] = {}
        results: dict[int, SearchResult] = {}
        numbers = range(len(queries))[some]
        found = rounds(
            *(aligner, queries[some], database, arguments.iterations, inclusion),
            gaps=_gaps(arguments),
            sums=arguments.sums,
            every_hit=False,
            every_profile=bool(folder),
            **options,
        )
        try:
            for made in found:
                for k, each in made.items():
                    last[k] = each
                    results[k] = (
                        with_work_of(each.result, results[k]) if k in results else each.result
                    )
                    counts[each.number] += len(each.members)
                    if folder:
                        named = re.sub(r"[^\w.-]", "_", queries[numbers[k]].id)[:100]
                        number = arguments.skip + numbers[k] + 1
                        each.built.write(folder / f"{number}_{named}_round{each.number}.profile")
        except MaskedError as error:  # of a query by itself
            if len(queries) == 1:
                raise
            caller.warn(f"{error}; it has no hits", RuntimeWarning)
            results[0] = _without_hits(aligner, queries[numbers[0]], database)
            converged += 1
        converged += sum(each.converged for each in last.values())
        of_each = last_results([results[k] for k in range(len(numbers))])
        for number, result in zip(numbers, of_each, strict=True):
            bar.expect(result.cells - given.cells[arguments.skip + number])
            yield result
    _say(queries, counts, converged)


def _say(queries: Records, counts: Mapping[int, int], converged: int) -> None:
    """Print how the rounds of all queries went."""
    members = ", ".join(map(str, counts.values())) or "0"
    if len(queries) == 1:
        end = "nothing new" if converged else "the last round allowed"
        say(f"query {queries[0].id}: members by round: {members}; {end}")
        return
    ends = f"nothing new for {converged}"
    if rest := len(queries) - converged:
        ends += f", the last round allowed for {rest}"
    say(f"{len(queries)} queries: members by round: {members}; {ends}")


def read_profile(arguments: argparse.Namespace) -> tuple[Scoring, Records]:
    """Return the scoring by position of the profile in the file of the query, and its record."""
    from glsw.wings.profiles.profile import Profile

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
