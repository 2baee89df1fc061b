"""Options for queries that are profiles, and for iterated searches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glsw import caller
from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.command import Group, option
from glsw.cli.messages import Bar, say
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.query import MaskedError
from glsw.sequences.records import Record, Records
from glsw.statistics import Unavailable
from glsw.wings.profiles import FORMATS, INCLUSION, INCLUSIONS, ITERATIONS, SUMS_INCLUSION

if TYPE_CHECKING:
    from glsw.cli.pairs import Inputs
    from glsw.cli.search import Search
    from glsw.wings.profiles.background import Gaps
    from glsw.wings.profiles.iteration import Round


class Options(Group, title="profiles", decides=True):
    """Options for profiles and iterated searches."""

    profile: bool = option(
        f"QUERY is a profile, with its own scores at each position: {FORMATS}; --matrix, "
        "--gapopen and --gapextend supplement or override the file",
        one_track=True,
    )
    iterations: int | None = option(
        "N: search up to N times, each round with a profile of the query and the significant hits "
        "of the previous round, until no new hits are found; report the last round",
        within=ITERATIONS,
        one_track=True,
    )
    inclusion: float | None = option(
        f"E: with --iterations, hits with at most this E-value are significant ({INCLUSION:g}, "
        f"with --sums {SUMS_INCLUSION:g})",
        within=INCLUSIONS,
    )
    profiles: str | None = option(
        "DIR: with --iterations, write the profile built in each round to a file in this folder",
        decides=False,
    )
    positional_gaps: bool = option(
        "gap costs by position: with --iterations from the gaps of the members, with "
        "--profile from those of an alignment or the transitions of a HMMER3 model",
    )
    sums: bool = option(
        "with --iterations, compute E-values from the sum over all alignments of a hit, corrected "
        "for biased composition, and sort by them: more sensitive for distant relatives (proteins)",
    )

    def apply(self, command: Search) -> None:
        """Make the query a profile, or the search iterated.

        Raises
        ------
        ValueError
            For options that iterations need, or that exclude them.
        """
        if self.profile:
            command.read_queries = partial(read_profile, command, self.gaps)
        if self.positional_gaps and self.iterations is None and not self.profile:
            raise ValueError("--positional-gaps is for --iterations and --profile")
        if self.iterations is None:
            for option, given in (
                ("inclusion", self.inclusion is not None),
                ("profiles", self.profiles is not None),
                ("sums", self.sums),
            ):
                if given:
                    raise ValueError(f"--{option} requires --iterations")
            return
        for option, value in command.named(("shard", "translated", "translated_target")).items():
            if value:
                option = option.replace("_", "-")
                raise ValueError(f"--iterations and --{option} cannot be combined")
        command.results, command.rounds = partial(iterated, self, self.iterations), self.iterations

    @property
    def gaps(self) -> Gaps:
        """Which costs gaps have."""
        return "positional" if self.positional_gaps else "fixed"


def iterated(
    asked: Options,
    iterations: int,
    aligner: Aligner,
    given: Inputs,
    bar: Bar,
    done: int,
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

    queries, database = given.queries[done:], aligner.database(given.targets)
    inclusion = inclusion_of(asked.inclusion, asked.sums)
    folder = asked.profiles and Path(asked.profiles)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[int] = Counter()
    converged = 0
    for some in together(aligner, queries, database):
        last: dict[int, Round] = {}
        results: dict[int, SearchResult] = {}
        numbers = range(len(queries))[some]
        found = rounds(
            *(aligner, queries[some], database, iterations, inclusion),
            gaps=asked.gaps,
            sums=asked.sums,
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
                        number = done + numbers[k] + 1
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
            bar.expect(result.cells - given.cells[done + number])
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


def read_profile(search: Search, gaps: Gaps) -> tuple[Scoring, Records]:
    """Return the scoring by position of the profile in the file of the query, and its record."""
    from glsw.wings.profiles.profile import Profile

    costs, masks = search.scoring, search.masks
    given = costs.gapopen is not None or costs.gapextend is not None
    asked = costs.given if costs.asked or search.frames.any or given else None
    profile = Profile.read(Path(search.query), asked, gaps=gaps)
    masked = masks.lower_case_mask, masks.mask_low_complexity, masks.seg
    scoring, records = Profile.by_position([profile], *masked)
    return scoring, Records.of(records)


def _without_hits(aligner: Aligner, query: Record, database: Database) -> SearchResult:
    engine, size = aligner.engine, (len(database), database.residues)
    nothing = Unavailable("all residues of the query are masked")
    return SearchResult(query, (), 0, 0.0, engine.label, engine.where, *size, 0, nothing)
