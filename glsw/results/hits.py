"""The ranked hits of a search, as data."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glsw.results import text
from glsw.results.alignment import Alignment, biopython_alignment
from glsw.sequences.nucleic import reversed_strand
from glsw.sequences.query import Context
from glsw.sequences.records import Record

if TYPE_CHECKING:
    import Bio.Align

    from glsw.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Hsp:
    """A high-scoring pair: one alignment of a hit, and how significant it is.

    Parameters
    ----------
    alignment : Alignment
        Of the query in this context and the target.
    context : Context
    bits : float, optional
        Score in bits, None if no statistics are known.
    evalue : float, optional
        Number of alignments with this score or more expected by chance in this search.
    """

    alignment: Alignment
    context: Context
    bits: float | None = None
    evalue: float | None = None

    @property
    def score(self) -> int | float:
        """In units of the matrix."""
        return self.alignment.score

    @property
    def query_place(self) -> tuple[int, int]:
        """First and last letter of the query as given, counted from 1, see `Context.place`."""
        return self.context.place(self.alignment.query_start, self.alignment.query_end)

    @property
    def target_place(self) -> tuple[int, int]:
        """First and last letter of the target, counted from 1."""
        return self.alignment.target_start + 1, self.alignment.target_end

    @property
    def query_step(self) -> int:
        """Difference of the places of neighbouring residues: 1 or -1, translated 3 or -3."""
        return self.context.strand * (3 if self.context.frame else 1)

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

    def __str__(self) -> str:
        return text.of_hsp(self)

    def _repr_html_(self) -> str:
        return text.preformatted(self)


@dataclass(frozen=True, eq=False)
class Hit:
    """A sequence of the database that a search found.

    Parameters
    ----------
    rank : int
        1 for the best.
    target : Record
    hsps : tuple of Hsp
        The best alignment, then those that share no aligned pair with the ones before.
    """

    rank: int
    target: Record
    hsps: tuple[Hsp, ...]

    @property
    def score(self) -> int | float:
        """Of the best alignment, in units of the matrix."""
        return self.hsps[0].score

    @property
    def alignment(self) -> Alignment:
        """The best one."""
        return self.hsps[0].alignment

    @property
    def bits(self) -> float | None:
        """Score in bits of the best alignment, None if no statistics are known."""
        return self.hsps[0].bits

    @property
    def evalue(self) -> float | None:
        """Number of alignments with the best score or more expected by chance."""
        return self.hsps[0].evalue

    @property
    def context(self) -> Context:
        """Strand and frame of the query in the best alignment."""
        return self.hsps[0].context

    def __str__(self) -> str:
        return text.of_hit(self)

    def _repr_html_(self) -> str:
        return text.preformatted(self)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The hits of one query, the best first; among equal scores in the order of the database.

    Parameters
    ----------
    query : Record
    hits : tuple of Hit
    cells : int
        Query residues times database residues.
    seconds : float
        Wall time of scoring and alignment.
    engine, device : str
        Engine and device that computed the scores.
    sequences, residues : int
        Size of the database.
    memory : int
        Bytes of device memory that the largest chunk took besides the sequences, where counted.
    statistics : Statistics, optional
        Source of bit scores and E-values.
    """

    query: Record
    hits: tuple[Hit, ...]
    cells: int
    seconds: float
    engine: str
    device: str
    sequences: int
    residues: int
    memory: int = 0
    statistics: Statistics | None = None

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
        """Yield for each high-scoring pair its values by the names of `COLUMNS`."""
        for hit in self:
            for number, hsp in enumerate(hit.hsps, start=1):
                found = hsp.alignment
                values = (
                    self.query.id,
                    hit.rank,
                    number,
                    hit.target.id,
                    hsp.score,
                    hsp.bits,
                    hsp.evalue,
                    100 * found.identity,
                    found.identities,
                    found.positives,
                    found.gaps,
                    found.columns,
                    "+" if hsp.context.strand > 0 else "-",
                    hsp.context.frame,
                    *hsp.query_place,
                    hsp.context.length,
                    *hsp.target_place,
                    len(hit.alignment.target.codes),
                    found.cigar,
                    hit.target.description,
                )
                yield dict(zip(COLUMNS, values, strict=True))

    def to_dataframe(self) -> Any:
        """Return a :class:`pandas.DataFrame` with a row for each high-scoring pair.

        Its columns are `COLUMNS`; unknown bits and E-values are NaN.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_dataframe needs pandas: pip install pandas") from None
        frame = pandas.DataFrame(list(self.rows()), columns=list(COLUMNS))
        return frame.astype({"bits": float, "evalue": float})

    def table(self, width: int = text.WIDTH) -> str:
        """Return the ranked list: a line about the query and one for each high-scoring pair.

        The columns are rank, score, bits and E-value where known, identical columns of the
        alignment in percent, strand or frame unless all are plus, ranges of the query as given and
        of the target (the first residue is 1, the last is included; on the minus strand they
        descend), residues of the whole target, its id and description. Descriptions are cut at
        ``width``, ids never. Further pairs of a hit have no rank.
        """
        return text.table(self, width)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return text.html_table(self)


COLUMNS = (
    "query",
    "rank",
    "hsp",
    "target",
    "score",
    "bits",
    "evalue",
    "identity",
    "identities",
    "positives",
    "gaps",
    "columns",
    "strand",
    "frame",
    "query_start",
    "query_end",
    "query_length",
    "target_start",
    "target_end",
    "target_length",
    "cigar",
    "description",
)
"""The columns of `SearchResult.rows` and of the format tsv, per high-scoring pair.

``hsp`` numbers the pairs of a hit from 1, the best. ``bits`` and ``evalue`` may be unknown.
``identity`` is in percent of the ``columns`` of the alignment; ``positives`` score above 0;
``gaps`` counts columns. ``strand`` is that of the query, + or -, ``frame`` its reading frame, 0 if
it was not translated. Starts and ends count from 1 and include the last residue; those of the query
are places on the query as given, where on the minus strand the start stands behind the end.
Lengths are those of the whole sequences. ``cigar`` describes the searched query, on the minus
strand its reverse complement, relative to the target (``=`` equal, ``X`` different,
``I`` only in the query, ``D`` only in the target). ``description`` is the target's.
"""
