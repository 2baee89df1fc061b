"""Columns of a table of hits: the name, description and values of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glsw.alignment.table import HitTable
from glsw.sequences.query import Shown
from glsw.words import in_a_line

Values: TypeAlias = Callable[[HitTable], list[Any]]
"""``values(table)``: a value per row."""


class Column(NamedTuple):
    """A column of a table with a row per high-scoring pair.

    Parameters
    ----------
    about : str
        What it says.
    values : callable
        `Values`, None where nothing is known.
    text : callable or str
        How a value is written: by a function that is called once for equal ones, nothing for None;
        or a format as of the operator ``%``, if no value is None.

    Examples
    --------
    >>> from glsw import Aligner
    >>> result = Aligner(engine="reference").search("HEAGAWGHEE", ["PAWHE"], composition=0)
    >>> TABLE["identity"].texts(result.listed.table)
    ['0.8000']
    """

    about: str
    values: Values
    text: Callable[[Any], str] | str = "%s"

    def texts(self, table: HitTable) -> list[str]:
        """Return the values as text."""
        values = self.values(table)
        text = (
            self.text.__mod__ if isinstance(self.text, str) else _TextCache(self.text).__getitem__
        )
        return list(map(text, values))

    @staticmethod
    def lines(
        columns: Iterable[Column], table: HitTable, between: str = "\t", end: str = "\n"
    ) -> list[str]:
        """Return a line for each row of a table, with tabs between the columns unless told."""
        formats, values = [], []
        for column in columns:
            if isinstance(column.text, str):
                formats.append(column.text)
                values.append(column.values(table))
            else:
                formats.append("%s")
                values.append(column.texts(table))
        line = between.join(formats) + end
        return list(map(line.__mod__, zip(*values, strict=True)))


class _TextCache(dict[Any, str]):
    """The text of each value that is asked for."""

    def __init__(self, text: Callable[[Any], str]) -> None:
        super().__init__({None: ""})
        self._text = text

    def __missing__(self, value: Any) -> str:
        text = self[value] = self._text(value)
        return text


def array(name: str) -> Values:
    """Return the values of a table that are an array of it, perhaps of its contexts."""
    get = attrgetter(name)
    return lambda table: get(table).tolist()


def of_query(name: str) -> Values:
    """Return a property of the query of each row."""
    return lambda table: _given(name, table.queries, table.query)


def of_target(name: str) -> Values:
    """Return a property of the target of each row."""
    return lambda table: _given(name, table.targets, table.target)


def _given(name: str, shown: Shown, numbers: npt.NDArray[np.int64]) -> list[Any]:
    """Return a property of the sequences of rows, each asked once."""
    get, of_rows = attrgetter(name), numbers.tolist()
    known = {k: get(shown[k].given) for k in set(of_rows)}
    return [known[k] for k in of_rows]


def _known(name: str) -> Values:
    get = attrgetter(name)
    return lambda table: [None if math.isnan(value) else value for value in get(table).tolist()]


def _start(side: str) -> Values:
    """Return the starts from 0 of places, which count from 1 and descend on the minus strand."""
    return lambda table: (_places(table, side, plus=0) - 1).tolist()


def _end(side: str) -> Values:
    return lambda table: _places(table, side, plus=1).tolist()


def _places(table: HitTable, side: str, plus: int) -> npt.NDArray[np.int64]:
    """Return the first (0) or the last (1) places on the plus strand."""
    if side == "query":
        places, minus = table.query_places, table.query_contexts.strands < 0
    else:
        places, minus = table.target_places, table.target_contexts.strands < 0
    return np.where(minus, places[1 - plus], places[plus])


TABLE: Mapping[str, Column] = {
    "query": Column("id of the query", of_query("id"), in_a_line),
    "rank": Column("rank of the hit, 1 for the query's best", array("rank")),
    "hsp": Column("number of the alignment within the hit, 1 for the best", array("number")),
    "target": Column("id of the target", of_target("id"), in_a_line),
    "score": Column(
        "score in units of the matrix",
        lambda table: table.scoring.in_matrix_units(table.units).tolist(),
    ),
    "bits": Column("bit score; empty without statistics", _known("bits"), "{:.1f}".format),
    "evalue": Column("E-value; empty without statistics", _known("evalues"), "{:.3g}".format),
    "identity": Column(
        "fraction of columns with equal letters, from 0 to 1",
        lambda table: (table.identities / np.maximum(1, table.columns)).tolist(),
        "%.4f",
    ),
    "identities": Column("columns with equal letters", array("identities")),
    "positives": Column("columns with two letters whose score is above 0", array("positives")),
    "gaps": Column("columns with a gap", array("gaps")),
    "columns": Column("columns of the alignment", array("columns")),
    "strand": Column(
        "strand of the query, `+` or `-`",
        lambda table: np.where(table.query_contexts.strands > 0, "+", "-").tolist(),
    ),
    "frame": Column(
        "reading frame of the query, 1 to 3 and -1 to -3; 0 if not translated",
        array("query_contexts.frames"),
    ),
    "query_start": Column(
        "first aligned letter of the query as given, counted from 0, on both strands",
        _start("query"),
    ),
    "query_end": Column("end, exclusive: end minus start is a length", _end("query")),
    "query_length": Column("length of the query as given", array("query_contexts.lengths")),
    "target_start": Column(
        "first aligned letter of the target as given, counted from 0", _start("target")
    ),
    "target_end": Column("end, exclusive", _end("target")),
    "target_length": Column("length of the target as given", array("target_contexts.lengths")),
    "target_frame": Column(
        "reading frame of the target; 0 if not translated", array("target_contexts.frames")
    ),
    "cigar": Column(
        "CIGAR of the query as searched (on the minus strand its reverse complement) along the "
        "target: `=` equal, `X` different, `I` only in the query, `D` only in the target",
        lambda table: table.cigars(),
    ),
    "description": Column("description of the target", of_target("description"), in_a_line),
}
"""The columns of `SearchResult.rows` and of the format tsv, per high-scoring pair, by name."""

COLUMNS = tuple(TABLE)
"""Their names."""


def columns_of(table: HitTable) -> list[list[Any]]:
    """Return the values of `COLUMNS`, each with a value per row of a table."""
    return [column.values(table) for column in TABLE.values()]
