"""Iterated search: the hits of a round make the profile of the next one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glsw.aligner import Aligner
from glsw.alignment.hits import Hits, SearchResult, joined
from glsw.alignment.paths import DIAGONAL, Runs
from glsw.options import AlignerSearchOptions, HitOptions, SearchOptions, apart, listing
from glsw.scoring.kinds import chosen
from glsw.scoring.positional import MAX_POSITIONS, PositionalQuery, PositionalScoring
from glsw.scoring.two_tracks import check_one_track
from glsw.search.limits import DEFAULT_TOP, evalue_of
from glsw.sequences.database import Database
from glsw.sequences.encoded import offsets_of
from glsw.sequences.lines import located
from glsw.sequences.named import Many, One
from glsw.sequences.records import EncodedRecord, ProfileRecord, Record
from glsw.sequences.tiles import cut
from glsw.wings.profiles.alignment import (
    GAP,
    OUTSIDE,
    letter_numbers,
    position_gaps,
    position_scores,
)
from glsw.wings.profiles.background import Background, Gaps, check_gaps
from glsw.wings.profiles.forward import MAX_CANDIDATE_EVALUE, with_forward_scores
from glsw.wings.profiles.profile import Profile

if TYPE_CHECKING:
    from typing_extensions import Unpack

INCLUSION, SUMS_INCLUSION = 1e-3, 5e-3
"""The E-value up to which hits become members, of best alignments and of sums."""
_MAX_EVALUE = 1e6
_MAX_TOGETHER = 2**18  # positions of queries whose results wait for one another

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
    query : Profile
        Its letters are the first row of every profile.
    gaps : {"fixed", "positional"}
        As for `Profile.from_alignment`.
    background : Background, optional
        Of the scoring of the query, which several queries may share.
    """

    def __init__(
        self, query: Profile, gaps: Gaps = "fixed", background: Background | None = None
    ) -> None:
        self._query, self._gaps = query, gaps
        self._background = background or Background(query.scoring)
        self._parts: dict[int, list[int]] = {}

    def profile(
        self, numbers: Sequence[int], runs: Runs, targets: Sequence[npt.NDArray[np.uint8]]
    ) -> Profile | None:
        """Return the profile of the query and these members, None if there are none.

        Parameters
        ----------
        numbers : sequence of int
            Of the sequences, the best come first.
        runs : Runs
            The columns of their alignments with the query.
        targets : sequence of ndarray of uint8
            The codes of the whole sequences.
        """
        if not numbers:
            return None
        alphabet, letters = self._query.scoring.alphabet, self._query.letters
        own = letter_numbers(alphabet.encode(letters, unknown=alphabet.wildcard), self._background)
        bounds = zip(numbers, runs.start[:, 1].tolist(), runs.end[:, 1].tolist(), strict=True)
        start, stop = np.array([self._parts.setdefault(k, part) for k, *part in bounds]).T
        at, residues = runs.pairs()
        member = np.repeat(
            np.arange(len(runs)), runs.total((runs.moves == DIAGONAL) * runs.lengths)
        )
        gap_behind = (np.diff(residues, append=0) > 1) & (np.diff(member, append=-1) == 0)
        rows = np.full((1 + len(runs), len(own)), OUTSIDE, np.int8)
        inserted = np.zeros(rows.shape, bool)
        rows[0] = own
        within = (residues >= start[member]) & (residues < stop[member])
        at, residues, member, gap_behind = (
            each[within] for each in (at, residues, member, gap_behind)
        )
        some, first, count = np.unique(member, return_index=True, return_counts=True)
        if not len(some):
            return None
        columns = np.arange(len(own))
        inside = (columns >= at[first][:, None]) & (columns <= at[first + count - 1][:, None])
        rows[1 + some] = np.where(inside, np.int8(GAP), np.int8(OUTSIDE))
        codes = np.concatenate(targets)
        letters_at = offsets_of([len(each) for each in targets])[member] + residues
        rows[1 + member, at] = letter_numbers(codes[letters_at], self._background)
        inserted[1 + member, at] = gap_behind
        used = np.append(0, 1 + some)
        rows, inserted = rows[used], inserted[used]
        scores = position_scores(rows, self._background, letters, of_members=True)
        query = self._query
        complete = self._background.complete(scores, letters)
        made = Profile(complete, letters, query.scoring, query.id, query.description)
        if self._gaps == "fixed":
            return made
        return made.with_gaps(position_gaps(rows, inserted, self._background))


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
        score), corrected for biased composition, see `with_forward_scores`. Hits are sorted by
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
    of_aligner, (query, database) = chosen(of_aligner, query=query, target=database)
    aligner, first = Aligner.for_queries(query, **of_aligner)
    with aligner, located(query, database):
        record = aligner.one(first)
        targets = aligner.database(database)
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
    **options: Any,
) -> Iterator[dict[int, Round]]:
    """Yield the rounds of `iterate`, each when it is computed, by the numbers of their queries.

    One search has all queries for which something was new in the round before, or as many of them
    as have `MAX_POSITIONS` positions. Where the profile that was built is the one that has just
    searched, the next round is not computed: it has the same hits, no cells and no time.
    """
    scoring = aligner.scoring
    _check(iterations, inclusion, scoring.local, options)
    check_one_track(scoring, "an iterated search")
    if scoring.alphabet.nucleotides and options.get("strand") not in ("plus", "minus"):
        raise ValueError("an iterated search of DNA needs one strand, plus or minus")
    if sums and options.get("composition"):
        raise ValueError("sums correct for composition themselves: omit composition")
    top, given = options.pop("top", "auto"), options.pop("evalue", "auto")
    top = (DEFAULT_TOP if given == "auto" else None) if top == "auto" else top
    evalue = evalue_of(given) or _MAX_EVALUE
    profiles = [_profile(aligner, query) for query in queries]
    check_gaps(gaps)
    widest = max(evalue, inclusion, MAX_CANDIDATE_EVALUE if sums else 0)
    background = Background(profiles[0].scoring) if profiles else None
    members = [Members(profile, gaps, background) for profile in profiles]
    seen: list[set[int]] = [set() for _ in queries]
    going, made = list(range(len(queries))), dict[int, Round]()
    # A stage of compositions takes a query otherwise than the profile with the same scores.
    first_to_compare = 3 if options.get("composition") else 2
    for number in range(1, iterations + 1):
        before, made = made, {}
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
            results = list(aligner.search(searched, database, top=None, evalue=widest, **options))
            if sums:
                results = with_forward_scores(results, searching, database, aligner.engine)
            for k, profile, result in zip(part, searching, results, strict=True):
                found, names, runs, codes = _members(result, inclusion, database)
                new = tuple(
                    name for target, name in zip(found, names, strict=True) if target not in seen[k]
                )
                seen[k].update(found)
                built = members[k].profile(found, runs, codes) or profile
                shown = _shown(result, queries[k], evalue, top, sums)
                made[k] = Round(number, profile, shown, names, new, built)
        yield made
        going = [k for k in going if made[k].new]
        if not going:
            return
        for k in going:
            profiles[k] = made[k].built


def together(aligner: Aligner, queries: Sequence[Record]) -> Iterator[slice]:
    """Yield slices of queries whose profiles have at most `_MAX_TOGETHER` positions, or of one."""
    positions = [_positions(aligner, query) for query in queries]
    yield from cut([offsets_of(positions)], [_MAX_TOGETHER])


def _positions(aligner: Aligner, query: Record) -> int:
    """Return the positions of the profile of a query: of DNA it has those of both strands."""
    alphabet = aligner.scoring.alphabet
    return (2 if alphabet.nucleotides else 1) * (len(query.letters) // alphabet.width)


def _alike(made: Round) -> bool:
    """Return whether the profile that a round has built is the one with which it searched."""
    values = attrgetter("scores", "gap_open", "gap_extend")
    return all(map(np.array_equal, values(made.profile), values(made.built)))


def _check(iterations: int, inclusion: float, local: bool, options: Mapping[str, Any]) -> None:
    """Raise ValueError for options that an iterated search does not take."""
    if iterations < 1:
        raise ValueError(f"iterations {iterations}: at least 1 expected")
    if not 0 < inclusion <= _MAX_EVALUE:
        raise ValueError(f"inclusion {inclusion}: an E-value of more than 0 expected")
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


def _members(
    result: SearchResult, inclusion: float, database: Database
) -> tuple[list[int], tuple[str, ...], Runs, list[npt.NDArray[np.uint8]]]:
    """Return the targets of a result within an E-value: numbers, names, best alignments, codes."""
    listed = result.listed
    if not len(listed):
        return [], (), Runs.nothing(0), []
    table, first = listed.table, np.array(listed.bounds[:-1], np.int64)
    rows = first[table.evalues[first] <= inclusion]
    numbers = table.target[rows].tolist()
    names = tuple(table.targets[number].given.id for number in numbers)
    codes = [database.codes(place) for place in database.rank[numbers].tolist()]
    return numbers, names, table.runs[rows], codes


def _shown(
    result: SearchResult, query: Record, evalue: float, top: int | None, by_evalue: bool
) -> SearchResult:
    """Return the result of a query as given, with the hits within the limits."""
    listed, more = result.listed, 0
    if len(listed):
        first = np.array(listed.bounds[:-1], np.int64)
        evalues = listed.table.evalues[first]
        within = np.flatnonzero(evalues <= evalue)
        if by_evalue:
            within = within[np.argsort(evalues[within], kind="stable")]
        more = len(within) - len(within[:top])
        within = within[:top]
        if np.array_equal(within, np.arange(len(within))):
            listed = Hits(listed.bounds[: len(within) + 1], listed.table)
        else:
            listed = listed.select(within)
    limit = evalue if result.statistics and result.statistics.available else None
    return replace(result, query=query, hits=listed, evalue=limit, more=more)


def inclusion_of(given: float | None, sums: bool) -> float:
    """Return the E-value of members that is asked for, or the usual one."""
    usual = SUMS_INCLUSION if sums else INCLUSION
    return usual if given is None else given
