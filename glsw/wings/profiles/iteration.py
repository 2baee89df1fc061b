"""Iterated search: the hits of a round build the profile of the next one."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.alignment.hits import Hits, SearchResult, by_table, joined
from glsw.alignment.paths import DIAGONAL, Runs
from glsw.caller import stage
from glsw.inputs.kinds import chosen
from glsw.inputs.source import Many, One
from glsw.options import AlignerSearchOptions, HitOptions, SearchOptions, apart, listing
from glsw.scoring.positional import MAX_POSITIONS, PositionalQuery, PositionalScoring
from glsw.scoring.two_tracks import check_one_track
from glsw.search.limits import DEFAULT_TOP, evalue_of
from glsw.search.search import PreparedSearch
from glsw.search.select import Selection
from glsw.sequences.database import Database
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.lines import located
from glsw.sequences.records import EncodedRecord, ProfileRecord, Record
from glsw.sequences.tiles import cut
from glsw.wings.profiles import INCLUSION, INCLUSIONS, ITERATIONS, SUMS_INCLUSION
from glsw.wings.profiles.alignment import (
    GAP,
    OUTSIDE,
    letter_numbers,
    position_gaps,
    position_scores,
)
from glsw.wings.profiles.background import Background, Gaps, check_gaps
from glsw.wings.profiles.forward import MAX_CANDIDATE_EVALUE, HitSums
from glsw.wings.profiles.profile import Profile
from glsw.words import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MAX_LETTERS = 2**13  # of the alignments that are one array: they fit a cache
_MAX_TOGETHER, _MAX_CELLS = 2**18, 2**42  # of queries whose results wait for one another

_Int64 = npt.NDArray[np.int64]


class Members:
    """Remembers which part of each sequence was aligned when it was first a member.

    A local alignment may run on from a homologous domain into what is not, and in the next round
    the profile has that in it. Therefore a later alignment of a member counts as far as it is
    within the part of the sequence that was aligned when it became one, as in PSI-Search (Li et al.
    2012, "PSI-Search: iterative HOE-reduced profile SSEARCH searching", Bioinformatics 28:1650;
    Gonzalez and Pearson 2010, "Homologous over-extension", Nucleic Acids Research 38:2177). And the
    fewer members reach a column, the more its scores are those of the query's letter: see
    `glsw.wings.profiles.alignment.position_scores`.

    Parameters
    ----------
    queries : sequence of Profile
        Of one scoring. The letters of each are the first row of all its profiles.
    gaps : {"fixed", "positional"}
        As for `Profile.from_alignment`.
    """

    def __init__(self, queries: Sequence[Profile], gaps: Gaps = "fixed") -> None:
        self._queries, self._gaps = queries, gaps
        self._parts: list[dict[int, list[int]]] = [{} for _ in queries]

    def profiles(self, found: Mapping[int, Found]) -> dict[int, Profile]:
        """Return the profiles of some queries, by number, and their members.

        There is none without members, or if no part of them counts.
        """
        some = [k for k, each in found.items() if each.numbers]
        sizes = [len(self._queries[k]) * (1 + len(found[k].numbers)) for k in some]
        made: dict[int, Profile] = {}
        if some:
            background = Background(self._queries[0].scoring)
            with stage("profiles", len(some)) as done:
                for part in cut([offsets_of(sizes)], [_MAX_LETTERS]):
                    made |= self._made({k: found[k] for k in some[part]}, background)
                    done(len(some[part]))
        return made

    def _made(self, found: Mapping[int, Found], background: Background) -> dict[int, Profile]:
        """Return the profiles of some queries, which all have members."""
        queries = [self._queries[k] for k in found]
        alphabet, letters = background.scoring.alphabet, [each.letters for each in queries]
        own = alphabet.encode("".join(letters), unknown=alphabet.wildcard)
        runs = Runs.concatenated([each.runs for each in found.values()])
        targets = [codes for each in found.values() for codes in each.codes]
        numbers = [(k, number) for k, each in found.items() for number in each.numbers]
        bounds = zip(numbers, runs.start[:, 1].tolist(), runs.end[:, 1].tolist(), strict=True)
        start, stop = np.array(
            [self._parts[k].setdefault(number, part) for (k, number), *part in bounds]
        ).T
        # The rows of all alignments are one array, those of each query one after the other.
        counts = np.array([len(each.numbers) for each in found.values()])
        sizes = np.array([len(each) for each in queries])
        places = offsets_of(sizes * (1 + counts))
        owner = np.repeat(np.arange(len(queries)), counts)
        row = places[owner] + sizes[owner] * ranges(np.ones_like(counts), counts)
        rows, inserted = np.full(places[-1], OUTSIDE, np.int8), np.zeros(places[-1], bool)
        rows[ranges(places[:-1], sizes)] = letter_numbers(own, background)
        at, residues = runs.pairs()
        member = np.repeat(
            np.arange(len(runs)), runs.total((runs.moves == DIAGONAL) * runs.lengths)
        )
        gap_behind = (np.diff(residues, append=0) > 1) & (np.diff(member, append=-1) == 0)
        within = (residues >= start[member]) & (residues < stop[member])
        at, residues, member, gap_behind = (
            each[within] for each in (at, residues, member, gap_behind)
        )
        some, first, count = np.unique(member, return_index=True, return_counts=True)
        begin = at[first]
        rows[ranges(row[some] + begin, at[first + count - 1] + 1 - begin)] = GAP
        residues += offsets_of([len(each) for each in targets])[member]
        at += row[member]
        rows[at] = letter_numbers(np.concatenate(targets)[residues], background)
        inserted[at] = gap_behind
        bounds_of_each = list(zip(pairwise(places.tolist()), sizes.tolist(), strict=True))
        alignments, gaps = (
            [flat[slice(*part)].reshape(-1, size) for part, size in bounds_of_each]
            for flat in (rows, inserted)
        )
        scores = position_scores(alignments, background, letters, of_members=True)
        scores = background.complete(scores, "".join(letters))
        counting = {*owner[some].tolist()}
        made = {}
        for n, (k, query) in enumerate(zip(found, queries, strict=True)):
            if n in counting:
                of_query = scores[slice(*offsets_of(sizes)[n : n + 2])]
                titles = query.id, query.description
                made[k] = Profile(of_query, query.letters, query.scoring, *titles)
                if self._gaps == "positional":
                    costs = position_gaps(alignments[n], gaps[n], background)
                    made[k] = made[k].with_gaps(costs)
        return made


class Found(NamedTuple):
    """The members that a round has found: numbers of targets, names, alignments, codes."""

    numbers: list[int]
    names: tuple[str, ...]
    runs: Runs
    codes: list[npt.NDArray[np.uint8]]

    def names_but(self, seen: Container[int]) -> tuple[str, ...]:
        """Return the names of those whose numbers are not among these."""
        named = zip(self.numbers, self.names, strict=True)
        return tuple(name for number, name in named if number not in seen)


@dataclass(frozen=True, eq=False)
class Round:
    """A round of an iterated search.

    Parameters
    ----------
    number : int
        1 for the first.
    profile : Profile
        The profile that searched; in the first round the scores of the query.
    result : SearchResult
        The hits.
    members : tuple of str
        Names of the targets from which the next profile is built, best first.
    new : tuple of str
        Members that no earlier round had.
    built : Profile
        The profile built from the members, with which the next round searches.
    """

    number: int
    profile: Profile
    result: SearchResult
    members: tuple[str, ...]
    new: tuple[str, ...]
    built: Profile

    @property
    def converged(self) -> bool:
        """Whether the round had no new members, which makes it the last."""
        return not self.new


@listing(AlignerSearchOptions, HitOptions, SearchOptions, Aligner)
def iterate(
    query: One | PositionalQuery,
    database: Many | Database,
    *,
    iterations: int = 3,
    inclusion: float | None = None,
    gaps: Gaps = "fixed",
    sums: bool = False,
    **options: Unpack[AlignerSearchOptions],
) -> list[Round]:
    """Search repeatedly, each round with a profile of the significant hits of the previous one.

    A target is a member of the next profile if the E-value of its best alignment is at most
    ``inclusion``. The profile is built from the query and the aligned parts of its members, see
    `Profile.from_alignment`. Only the part of a member that was aligned when it first became one
    contributes, see `Members`. Members that are no longer significant are dropped. The search ends
    with the first round without new members. Results depend on the inputs alone; with ``sums``
    E-values also depend on the device, by less than 0.01 %.

    Parameters
    ----------
    query : sequence, path of one, or Profile
        The first round uses the scores of a `Profile`, the others its letters.
    database : Database, path or list of sequences
    iterations : int
        Maximum number of rounds.
    inclusion : float, optional
        Maximum E-value of members; by default 0.001, with ``sums`` 0.005.
    gaps : {"fixed", "positional"}
        "positional": profiles have gap costs by position, from the gaps of their members, as in
        `Profile.from_alignment`. E-values are computed with the aligner's gap costs.
    sums : bool
        Whether bit scores and E-values are based on the sum over all alignments of a hit (Forward
        score), corrected for biased composition, see `HitSums`. Hits are sorted by
        E-value. Only targets whose best alignment has an E-value of at most 100 are considered. For
        proteins; not with ``composition``.
    **options
        Of `glsw.search`. ``top`` and ``evalue`` limit the list of hits, not the members.
        ``composition`` 1 and 2 scale the profiles of later rounds for the composition of each
        target. No ``skip`` and no translation; of DNA ``strand`` is "plus" or "minus".

    Returns
    -------
    list of Round
        At most ``iterations`` rounds. The last one contains the result; its `Round.converged` is
        True if it had no new members.

    Raises
    ------
    ValueError
        As for `glsw.search`; if there are no E-values; for both strands or translation.

    Examples
    --------
    >>> import glsw
    >>> family = ["HEAGAWGHEEMKVLAW", "HEAGSWGHDEMKILAW", "HDAGSWPHDQMKILSW"]
    >>> rounds = glsw.iterate(family[0], family, inclusion=1e-6, engine="reference")
    >>> [(each.number, len(each.members), len(each.new)) for each in rounds]
    [(1, 3, 3), (2, 3, 0)]
    """
    of_aligner, of_search = apart("iterate", options)
    limits = iterations, inclusion_of(inclusion, sums)
    _check(*limits, of_aligner.get("mode") in (None, "local"), of_search)
    of_aligner, sides = chosen(of_aligner, query=query, target=database)
    aligner, first = Aligner.for_queries(sides[0], **of_aligner)
    with aligner, located(query, database):
        record = aligner.one(first)
        targets = aligner.database(sides[1])
        every = rounds(aligner, [record], targets, *limits, gaps=gaps, sums=sums, **of_search)
        return [each[0] for each in every]


def rounds(
    aligner: Aligner,
    queries: Sequence[Record],
    database: Database,
    iterations: int,
    inclusion: float,
    *,
    gaps: Gaps = "fixed",
    sums: bool = False,
    every_hit: bool = True,
    every_profile: bool = True,
    **options: Any,
) -> Iterator[dict[int, Round]]:
    """Yield the rounds of `iterate`, each when it is computed, by the numbers of their queries.

    One search has all queries for which something was new in the round before, or as many of them
    as have `MAX_POSITIONS` positions. Where the profile that was built is the one that has just
    searched, the next round is not computed: it has the same hits, no cells and no time.

    Without ``every_hit`` results before the last one of a query may lack hits that are no members.
    Without ``every_profile`` its last round builds none, but has the one that searched.
    """
    scoring = aligner.scoring
    _check(iterations, inclusion, scoring.local, options)
    check_one_track(scoring, "an iterated search")
    if scoring.alphabet.nucleotides and options.get("strand") not in ("plus", "minus"):
        raise ParameterError("strand", "plus or minus expected, for an iterated search of DNA")
    if options.get("composition", "auto") == "auto":
        options["composition"] = 0
    if sums and options["composition"]:
        raise ValueError("sums correct for composition themselves: omit composition")
    top, given = options.pop("top", "auto"), options.pop("evalue", "auto")
    top = (DEFAULT_TOP if given == "auto" else None) if top == "auto" else top
    evalue = evalue_of(given) or INCLUSIONS.most
    profiles = [_profile(aligner, query) for query in queries]
    check_gaps(gaps)
    widest = max(evalue, inclusion, MAX_CANDIDATE_EVALUE if sums else 0)
    members = Members(profiles, gaps)
    seen: list[set[int]] = [set() for _ in queries]
    going, made = list(range(len(queries))), dict[int, Round]()
    composed = bool(options["composition"])
    # A stage of compositions takes a query otherwise than the profile with the same scores.
    first_to_compare = 3 if composed else 2
    running = options.pop("progress", None), options.pop("executor", None), aligner.ties
    options.pop("skip", None)
    for number in range(1, iterations + 1):
        before, made, last = made, {}, number == iterations
        parts = [going]
        if number > 1:
            same = [k for k in going if number >= first_to_compare and _alike(before[k])]
            for k in same:  # nothing else would be found
                again = replace(before[k].result, cells=0, seconds=0.0)
                profile = profiles[k]
                made[k] = Round(number, profile, again, before[k].members, (), profile)
            changed = sorted({*going}.difference(same))
            places = offsets_of([_positions(aligner, queries[k]) for k in changed])
            parts = [changed[some] for some in cut([places], [MAX_POSITIONS])]
        for part in parts:
            searching = [profiles[k] for k in part]
            searched = searching if number > 1 else queries
            search = aligner.prepare(searched, database, top=None, evalue=widest, **options)
            complete = np.full(len(part), composed or every_hit or last)
            with search.pool.running(*running) as run:
                scans = search.scans(run)
                if composed:  # all at once their matrices would need much memory
                    results = list(chain.from_iterable(search.results(scans)))
                else:
                    found_hits = search.selected(search.queries, list(scans))
                    by = HitSums(found_hits, searching, database, aligner.engine) if sums else None
                    hits = _Hits(search, found_hits, by)
                    complete |= ~hits.fresh([seen[k] for k in part], inclusion)
                    every = complete[found_hits.owners]
                    results = hits.aligned((hits.evalues <= inclusion) | every)
            found = {
                k: _members(result, inclusion, database)
                for k, result in zip(part, results, strict=True)
            }
            new = {k: each.names_but(seen[k]) for k, each in found.items()}
            built = members.profiles(
                {k: each for k, each in found.items() if every_profile or (new[k] and not last)}
            )
            for k, profile, result in zip(part, searching, results, strict=True):
                seen[k].update(found[k].numbers)
                names, following = found[k].names, built.get(k, profile)
                made[k] = Round(number, profile, result, names, new[k], following)
            late = [
                not done and (made[k].converged or _alike(made[k]))
                for k, done in zip(part, complete.tolist(), strict=True)
            ]
            if any(late):
                whole = hits.aligned(np.array(late)[found_hits.owners])
                results = [
                    one if end else other
                    for end, one, other in zip(late, whole, results, strict=True)
                ]
            shown = _shown(results, [queries[k] for k in part], evalue, top, sums)
            for k, result in zip(part, shown, strict=True):
                made[k] = replace(made[k], result=result)
        yield made
        going = [k for k in going if made[k].new]
        if not going:
            return
        for k in going:
            profiles[k] = made[k].built


def together(aligner: Aligner, queries: Sequence[Record], database: Database) -> Iterator[slice]:
    """Yield slices of queries that go through the rounds together, or of one.

    Their profiles have at most `_MAX_TOGETHER` positions. With a large database, where a round
    takes long, they are as many as one search of profiles can have.
    """
    positions = [_positions(aligner, query) for query in queries]
    most = min(_MAX_TOGETHER, max(MAX_POSITIONS, _MAX_CELLS // max(1, database.residues)))
    yield from cut([offsets_of(positions)], [most])


def _positions(aligner: Aligner, query: Record) -> int:
    """Return the positions of the profile of a query: of DNA it has those of both strands."""
    alphabet = aligner.scoring.alphabet
    return (2 if alphabet.nucleotides else 1) * (len(query.letters) // alphabet.width)


class _Hits(NamedTuple):
    """The hits of all queries of a search, not aligned yet, and their sums if they are needed."""

    search: PreparedSearch
    found: Selection
    sums: HitSums | None

    @property
    def evalues(self) -> npt.NDArray[np.float64]:
        """The E-value of each hit; with sums, one that is not more."""
        return self.sums.evalues if self.sums else self.found.table.evalues

    def fresh(self, seen: Sequence[Container[int]], inclusion: float) -> npt.NDArray[np.bool_]:
        """Tell which queries may have members that are not among those seen of each."""
        found = np.zeros(len(seen), bool)
        rows = np.flatnonzero(self.evalues <= inclusion)
        targets = self.found.table.target[rows].tolist()
        for query, target in zip(self.found.owners[rows].tolist(), targets, strict=True):
            found[query] |= target not in seen[query]
        return found

    def aligned(self, chosen: npt.NDArray[np.bool_]) -> list[SearchResult]:
        """Return the results of all queries, with the hits that are chosen."""
        rows = np.flatnonzero(chosen)
        results = list(chain.from_iterable(self.search.aligned(self.found.select(rows))))
        return self.sums.results(results) if self.sums else results


def _alike(made: Round) -> bool:
    """Return whether the profile that a round has built is the one with which it searched."""
    values = attrgetter("scores", "gap_open", "gap_extend")
    return all(map(np.array_equal, values(made.profile), values(made.built)))


def _check(iterations: int, inclusion: float, local: bool, options: Mapping[str, Any]) -> None:
    """Raise ValueError for options that an iterated search does not take."""
    ITERATIONS.check("iterations", iterations)
    INCLUSIONS.check("inclusion", inclusion)
    codes = (options.get(name) for name in ("genetic_code", "target_genetic_code"))
    if any(code is not None for code in codes) or options.get("skip"):
        raise ValueError("an iterated search supports neither translation nor skip")
    if not local:
        raise ValueError("an iterated search needs E-values, which exist for local alignments only")
    if options.get("statistics") == "none":
        raise ValueError("an iterated search needs E-values: statistics are 'none'")


def with_work_of(result: SearchResult, before: SearchResult) -> SearchResult:
    """Return the result of a round with the cells, seconds and engines of the rounds before too."""
    return replace(
        result,
        cells=before.cells + result.cells,
        seconds=before.seconds + result.seconds,
        engine=joined([before.engine, result.engine]),
        device=joined([before.device, result.device]),
        memory=max(before.memory, result.memory),
    )


def _profile(aligner: Aligner, query: Record) -> Profile:
    """Return the scores of a query as a profile."""
    scoring = aligner.scoring
    if isinstance(query, ProfileRecord) and isinstance(scoring, PositionalScoring):
        positions = query.positions[1]
        costs = scoring.gaps_at(positions)
        rows, scoring = scoring.matrix[positions], scoring.underlying
        if costs:
            titles = query.id, query.description
            return Profile(rows, query.letters, scoring, *titles, costs.opens, costs.extends)
    else:
        codes = EncodedRecord.of(query, scoring.alphabet, aligner.unknown).codes
        rows = scoring.matrix[codes]
    return Profile(rows, query.letters, scoring, query.id, query.description)


def _members(result: SearchResult, inclusion: float, database: Database) -> Found:
    """Return the targets of a result within an E-value, with their best alignments."""
    listed = result.listed
    if not len(listed):
        return Found([], (), Runs.nothing(0), [])
    table, first = listed.table, np.array(listed.bounds[:-1], np.int64)
    rows = first[table.evalues[first] <= inclusion]
    numbers = table.target[rows].tolist()
    names = tuple(table.targets[number].given.id for number in numbers)
    codes = [database.codes(place) for place in database.places(numbers).tolist()]
    return Found(numbers, names, table.runs[rows], codes)


def _shown(
    results: Sequence[SearchResult],
    queries: Sequence[Record],
    evalue: float,
    top: int | None,
    by_evalue: bool,
) -> list[SearchResult]:
    """Return the results of queries as given, with the hits within the limits."""
    shown = []
    for result, query in zip(results, queries, strict=True):
        limit = evalue if result.statistics and result.statistics.available else None
        shown.append(replace(result, query=query, evalue=limit, more=0))
    for table, group in by_table(results):
        listed, chosen, counts = [results[k].listed for k in group], [], []
        for hits in listed:
            evalues = table.evalues[np.array(hits.bounds[:-1], np.int64)]
            within = np.flatnonzero(evalues <= evalue)
            if by_evalue:
                within = within[np.argsort(evalues[within], kind="stable")]
            chosen.append(within[:top])
            counts.append(len(within))
        if table.hidden is None:
            listed = Hits.selected(listed, chosen)
        else:  # of a query whose last hits are left out, its limits still are known
            listed = [
                Hits(hits.bounds[: len(some) + 1], table)
                if np.array_equal(some, np.arange(len(some)))
                else Hits.selected([hits], [some])[0]
                for hits, some in zip(listed, chosen, strict=True)
            ]
        for k, hits, count in zip(group, listed, counts, strict=True):
            shown[k] = replace(shown[k], hits=hits, more=count - len(hits))
    return shown


def last_results(results: Sequence[SearchResult]) -> list[SearchResult]:
    """Return the same results, without the rows of other rounds in their tables."""
    found = list(results)
    for table, group in by_table(results):
        listed = [results[k].listed for k in group]
        if table.hidden is None and sum(hits.bounds[-1] - hits.bounds[0] for hits in listed) < len(
            table
        ):
            every = Hits.selected(listed, [np.arange(len(hits)) for hits in listed])
            for k, hits in zip(group, every, strict=True):
                found[k] = replace(results[k], hits=hits)
    return found


def inclusion_of(given: float | None, sums: bool) -> float:
    """Return the inclusion E-value as requested, or the default."""
    usual = SUMS_INCLUSION if sums else INCLUSION
    return usual if given is None else given
