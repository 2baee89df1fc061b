"""The ranked hits of a search, as data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from glsw.alignment import listing, text
from glsw.alignment.alignment import (
    Alignment,
    biopython_alignment,
    counts_of,
    in_a_line,
    lines_of,
    names_of,
)
from glsw.alignment.columns import COLUMNS, columns_of
from glsw.alignment.paths import Runs
from glsw.alignment.table import HitTable
from glsw.sequences.encoded import offsets_of, ranges
from glsw.sequences.nucleic import reversed_strand
from glsw.sequences.query import Context, InContext
from glsw.sequences.records import EncodedRecord, Record
from glsw.words import numbered, package, visible

if TYPE_CHECKING:
    import Bio.Align

    from glsw.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Hsp:
    """A high-scoring pair: one alignment of a hit and its significance.

    Parameters
    ----------
    alignment : Alignment
        The alignment of the query and the target, each in its context.
    context : Context
        Strand and frame of the query.
    bits : float, optional
        Bit score, None without statistics.
    evalue : float, optional
        Expected number of chance alignments in this search with at least this score.
    target_context : Context, optional
        Strand and frame of the target, if it was translated.
    """

    alignment: Alignment
    context: Context
    bits: float | None = None
    evalue: float | None = None
    target_context: Context | None = None

    @property
    def score(self) -> int | float:
        """The score in units of the matrix."""
        return self.alignment.score

    @property
    def query_place(self) -> tuple[int, int]:
        """First and last letter of the query as given, as text shows them: counted from 1.

        See `Context.place`.
        """
        return self.context.place(self.alignment.query_start, self.alignment.query_end)

    @property
    def target_place(self) -> tuple[int, int]:
        """First and last letter of the target as given, as text shows them: counted from 1."""
        found = self.alignment
        return self.of_target.place(found.target_start, found.target_end)

    @property
    def of_target(self) -> Context:
        """Strand and frame of the target, even if it was not translated."""
        return self.target_context or Context(len(self.alignment.target.codes))

    def to_biopython(self) -> Bio.Align.Alignment:
        """Return the alignment of the target (row 0) and the query as given, with its score.

        On the minus strand the coordinates of the query descend, as Biopython has it, which counts
        and returns the complement of RNA as RNA but prints it as DNA. A translated query is the
        protein of its frame.
        """
        found = self.alignment
        if self.context.strand > 0 or self.context.frame:
            return found.to_biopython()
        letters = reversed_strand(found.query.letters, self.context.rna)
        coordinates = found.coordinates * found.scoring.alphabet.width
        coordinates[1] = len(letters) - coordinates[1]
        query = Record(found.query.id, found.query.description, letters)
        turned = biopython_alignment((found.target, query), coordinates, found.score)
        if self.context.rna:
            turned.query.annotations["molecule_type"] = "RNA"
        return turned

    def __repr__(self) -> str:
        return f"<Hsp: {in_a_line(self.alignment)}{_expected(self)}>"

    def __str__(self) -> str:
        return "\n".join([*names_of(self.alignment), *self._lines()])

    def _repr_html_(self) -> str:
        return text.preformatted(self)

    def _lines(self) -> Iterator[str]:
        """Yield a line of score, significance and counts, then the rows."""
        parts = [f"score {self.score}"]
        if self.bits is not None:
            parts.append(f"{self.bits:.1f} bits")
        if self.evalue is not None:
            parts.append(f"E {self.evalue:.2g}")
        parts.append(counts_of(self.alignment))
        if frames := text.frames_text(self.context.frame, self.of_target.frame):
            parts.append(f"frame {frames}")
        elif self.context.strand < 0:
            parts.append("minus strand")
        yield ", ".join(parts)
        query = self.query_place[0], self.context.step
        yield from lines_of(self.alignment, query, (self.target_place[0], self.of_target.step))


@dataclass(frozen=True, eq=False)
class Hit:
    """A sequence of the database that a search found.

    Parameters
    ----------
    rank : int
        1 for the best.
    target : Record
        The sequence as given. If it was translated, its alignments contain the protein of a frame.
    hsps : tuple of Hsp
        The best alignment, then further ones that share no aligned pair with earlier ones.
    """

    rank: int
    target: Record
    hsps: tuple[Hsp, ...]

    @property
    def score(self) -> int | float:
        """The score of the best alignment, in units of the matrix."""
        return self.hsps[0].score

    @property
    def alignment(self) -> Alignment:
        """The best alignment."""
        return self.hsps[0].alignment

    @property
    def bits(self) -> float | None:
        """Bit score of the best alignment, None without statistics."""
        return self.hsps[0].bits

    @property
    def evalue(self) -> float | None:
        """E-value of the best alignment: chance alignments expected with at least its score."""
        return self.hsps[0].evalue

    @property
    def context(self) -> Context:
        """Strand and frame of the query in the best alignment."""
        return self.hsps[0].context

    def __repr__(self) -> str:
        name = text.short_name(self.target)
        return f"<Hit {self.rank}: {name}, score {self.score}{_expected(self)}>"

    def __str__(self) -> str:
        title = visible(f"{self.rank}. {self.target.id} {self.target.description}".rstrip())
        hsps = "\n\n".join("\n".join(hsp._lines()) for hsp in self.hsps)
        return f"{title} ({self.hsps[0].of_target.length} letters)\n{hsps}"

    def _repr_html_(self) -> str:
        return text.preformatted(self)


class Hits(Sequence[Hit]):
    """The hits of one query as rows of a table; objects are created on access.

    Parameters
    ----------
    bounds : sequence of int
        Hit ``k`` is the rows from ``bounds[k]`` to ``bounds[k + 1]``.
    table : HitTable, optional
        Not needed if there are no hits.
    """

    def __init__(self, bounds: Sequence[int], table: HitTable | None) -> None:
        self._bounds, self._table = bounds, table
        self._made: dict[int, Hit] = {}

    @classmethod
    def of(cls, query: Record, hits: Sequence[Hit]) -> Hits:
        """Return hits that are objects already, of a query as given."""
        bounds = offsets_of([len(hit.hsps) for hit in hits]).tolist()
        made = cls(bounds, _table(query, hits) if bounds[-1] else None)
        made._made.update(enumerate(hits))
        return made

    @property
    def table(self) -> HitTable:
        """The table, which may contain hits of other queries too."""
        assert self._table is not None
        return self._table

    @property
    def bounds(self) -> Sequence[int]:
        """The first row of each hit, and the row behind the last one."""
        return self._bounds

    @property
    def rows(self) -> slice:
        """All rows."""
        return slice(self._bounds[0], self._bounds[-1])

    @staticmethod
    def selected(every: Sequence[Hits], chosen: Sequence[npt.NDArray[np.int64]]) -> list[Hits]:
        """Return some hits of each query, in this order, with ranks from 1, as rows of one table.

        They all are in one table; of what is not chosen nothing is known then.
        """
        bounds = [np.array(hits.bounds, np.int64) for hits in every]
        counts = [np.diff(each)[some] for each, some in zip(bounds, chosen, strict=True)]
        first = np.concatenate([each[some] for each, some in zip(bounds, chosen, strict=True)])
        of_each = np.concatenate(counts)
        rank = np.concatenate([np.arange(1, len(some) + 1) for some in chosen])
        table = every[0].table.select(ranges(first, of_each))
        table = replace(table, rank=np.repeat(rank, of_each), hidden=None, beyond=None)
        rows, ends = offsets_of(of_each).tolist(), np.cumsum([len(some) for some in chosen])
        return [
            Hits(rows[end - len(some) : end + 1], table)
            for some, end in zip(chosen, ends.tolist(), strict=True)
        ]

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, k: int) -> Hit: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, k: int | slice) -> Hit | tuple[Hit, ...]:
        if isinstance(k, slice):
            return tuple(self[each] for each in range(*k.indices(len(self))))
        if not -len(self) <= k < len(self):
            raise IndexError(f"hit {k} of {len(self)}")
        k %= len(self)
        if k not in self._made:
            self._made[k] = self._hit(range(self._bounds[k], self._bounds[k + 1]))
        return self._made[k]

    def __repr__(self) -> str:
        return f"<{len(self)} hits>"

    def _hit(self, rows: range) -> Hit:
        table = self.table
        hsps = tuple(table_hsp(table, row) for row in rows)
        target = table.targets[int(table.target[rows[0]])].given
        return Hit(int(table.rank[rows[0]]), target, hsps)


def table_hsp(table: HitTable, row: int) -> Hsp:
    """Return the pair of a row of a table."""
    target = table.targets[int(table.target[row])].context
    known = float(table.bits[row]), float(table.evalues[row])
    bits, evalue = (None if math.isnan(x) else x for x in known)
    return Hsp(
        table.alignment(row),
        table.queries[int(table.query[row])].context,
        bits,
        evalue,
        target if target.frame else None,
    )


def _table(query: Record, hits: Sequence[Hit]) -> HitTable:
    """Return the table of hits that are objects, of which there is at least one."""
    hsps = [hsp for hit in hits for hsp in hit.hsps]
    targets = [
        InContext(hit.target, hsp.of_target, _named(hsp.alignment.target, hit.target))
        for hit in hits
        for hsp in hit.hsps
    ]
    counts = [len(hit.hsps) for hit in hits]
    each = np.arange(len(hsps))
    return HitTable(
        hsps[0].alignment.scoring,
        [InContext(query, hsp.context, hsp.alignment.query) for hsp in hsps],
        dict(enumerate(targets)),
        each,
        each,
        np.array([hsp.alignment.units for hsp in hsps]),
        np.array([hsp.bits for hsp in hsps], np.float64),  # None becomes NaN
        np.array([hsp.evalue for hsp in hsps], np.float64),
        np.repeat([hit.rank for hit in hits], counts),
        ranges(np.ones(len(hits), int), counts),
        Runs.concatenated([hsp.alignment.runs for hsp in hsps]),
    )


def _named(record: EncodedRecord, title: Record) -> EncodedRecord:
    """Return a record with the id and the description of another."""
    if (record.id, record.description) == (title.id, title.description):
        return record
    letters = record.__dict__.get("letters")  # if they need not be decoded
    return EncodedRecord(title.id, title.description, record.codes, record.alphabet, letters)


def joined(names: Iterable[str]) -> str:
    """Return the names of the engines or devices used, each once.

    >>> joined(["auto: cpu", "", "auto: cpu, lanes", "auto: scan and auto: cpu"])
    'auto: cpu, lanes and auto: scan'
    """
    each = dict.fromkeys(one for name in names if name for one in name.split(" and "))
    return " and ".join(
        one for one in each if not any(other.startswith(f"{one}, ") for other in each)
    )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The hits of one query, best first; equal scores are in the order of the database.

    Parameters
    ----------
    query : Record
    hits : sequence of Hit
        Hits of a search become objects when they are accessed.
    cells : int
        Query residues times database residues.
    seconds : float
        Wall time of scoring and alignment.
    engine, device : str
        Engine and device that computed the scores.
    sequences, residues : int
        Size of the database.
    memory : int
        Bytes of device memory used by the largest chunk, without the sequences, if counted.
    statistics : Statistics, optional
        Source of bit scores and E-values.
    evalue : float, optional
        Maximum E-value of hits, None for no limit, or if identity or coverage decide too.
    more : int or None
        Number of hits within the limits of the search that are not listed, because ``top`` limits
        the list; None if unknown, without an E-value limit.
    """

    query: Record
    hits: Sequence[Hit]
    cells: int
    seconds: float
    engine: str
    device: str
    sequences: int
    residues: int
    memory: int = 0
    statistics: Statistics | None = None
    evalue: float | None = None
    more: int | None = 0

    @property
    def unlisted(self) -> str:
        """The message about hits and alignments that are not listed; empty if there are none."""
        said = [_unlisted_hits(self)]
        if self.more_places:
            few = numbered(self.more_places, "listed hit")
            have = "has" if self.more_places == 1 else "have"
            said.append(f"{few} {have} further alignments, not listed")
        return "; ".join(filter(None, said))

    @property
    def more_places(self) -> int | None:
        """Number of hits with further alignments that are not listed.

        Those count that are as good as the best one of the hit, or within the limits with an
        E-value up to 0.001. None if there may be some, for which nobody looked.
        """
        if not len(self):
            return 0
        further, rows = self.listed.table.further, self.listed.rows
        if further is None:
            return None
        of_hits = further[rows][self.listed.table.number[rows] == 1]
        some = int((of_hits > 0).sum())
        return some or (None if (of_hits < 0).any() else 0)

    @cached_property
    def listed(self) -> Hits:
        """The hits as rows of a table."""
        return self.hits if isinstance(self.hits, Hits) else Hits.of(self.query, self.hits)

    def __repr__(self) -> str:
        count = len(self.hits)
        best = f", the best with score {self.hits[0].score}" if count else ""
        name = text.short_name(self.query)
        return f"<SearchResult of {name}: {numbered(count, 'hit')}{best}>"

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, k: int) -> Hit:
        return self.hits[k]

    @property
    def gcups(self) -> float:
        """Giga (10^9) cells of the tables per second."""
        return self.cells / self.seconds / 1e9 if self.seconds else 0.0

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the values of each high-scoring pair by column name, see `COLUMNS`.

        Starts count from 0 and ends are half-open, on the query as given and on both strands;
        ``identity`` is a fraction; unknown bits and E-values are None.
        """
        if not len(self):
            return
        table = self._listed_rows
        for values in zip(*columns_of(table), strict=True):
            yield dict(zip(COLUMNS, values, strict=True))

    def to_dataframe(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each high-scoring pair.

        Its columns are `COLUMNS` as in `rows`; unknown bits and E-values are NaN.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        frame = package("pandas", "to_dataframe").DataFrame(
            list(self.rows()), columns=list(COLUMNS)
        )
        return frame.astype({"bits": float, "evalue": float})

    def table(self, width: int = listing.WIDTH) -> str:
        """Return the ranked list: a line about the query and one for each high-scoring pair.

        The columns are rank, score, bits and E-value where known, identical columns of the
        alignment in percent, strand or frame unless all are plus, ranges of the query as given and
        of the target (the first residue is 1, the last is included; on the minus strand they
        descend), residues of the whole target, its id and description. Descriptions are cut at
        ``width``, ids never. Further pairs of a hit have no rank.
        """
        rows = listing.lines_of(self._listed_rows, width) if self.hits else ()
        return "\n".join([self._title, *rows, *notes(self)])

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        rows = listing.html_of(self._listed_rows) if self.hits else ()
        title, *below = (f"<p>{text.escaped(said)}</p>" for said in (self._title, *notes(self)))
        return "\n".join([title, *rows, *below])

    @property
    def _listed_rows(self) -> HitTable:
        return self.listed.table.select(self.listed.rows)

    @property
    def _title(self) -> str:
        return (
            f"query {visible(self.query.id)} ({numbered(len(self.query), 'letter')}): "
            f"{numbered(len(self), 'hit')} in {numbered(self.sequences, 'sequence')} "
            f"of {numbered(self.residues, 'residue')}"
        )


def notes(result: SearchResult) -> list[str]:
    """Return what stands below a list of hits: of those not listed, and where E-values are from."""
    parts = [result.unlisted] if result.unlisted else []
    if result.statistics:
        parts.append(f"E-values: {result.statistics.name}")
    return parts


def _unlisted_hits(result: SearchResult) -> str:
    if result.more is None:
        rest, score = result.sequences - len(result), result[-1].score
        return (
            f"No E-value limits this list: the other {rest} sequences, not listed, have scores of "
            f"at most {score}"
        )
    limit = "" if result.evalue is None else f" with E-values of at most {result.evalue:g}"
    if not result.more:
        return f"There are no hits{limit}" if limit and not len(result) else ""
    are = "is" if result.more == 1 else "are"
    return f"{numbered(result.more, 'more hit')}{limit} {are} not listed"


def _expected(found: Hit | Hsp) -> str:
    """Return the E-value, if there is one, for the end of a line."""
    return "" if found.evalue is None else f", E-value {found.evalue:.2g}"


def by_table(results: Sequence[SearchResult]) -> list[tuple[HitTable, list[int]]]:
    """Return the tables of results that have hits, each with the numbers of its results."""
    found: dict[int, tuple[HitTable, list[int]]] = {}
    for k, each in enumerate(results):
        if len(each):
            table = each.listed.table
            found.setdefault(id(table), (table, []))[1].append(k)
    return list(found.values())
