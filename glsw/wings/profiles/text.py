"""The text format of profiles, which is read back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet, custom
from glsw.sequences.lines import sealed, unsealed

BEGINS = "glsw profile 2"
_COSTS = "open", "extend"
_NUMBERS = "scale", "gap_open", "gap_extend", "insertion_open", "insertion_extend"


class Parts(NamedTuple):
    """What a profile is made of, see `glsw.Profile`."""

    scores: npt.NDArray[np.int32]
    letters: str
    scoring: Scoring
    id: str
    description: str = ""
    gap_open: npt.NDArray[np.int32] | None = None
    gap_extend: npt.NDArray[np.int32] | None = None


def written(parts: Parts) -> str:
    """Return a profile as text.

    A first line, then lines of a name and a value; then two tables with a line of letters and lines
    of a letter and its scores: ``matrix`` (letter by letter) and ``scores`` (position by position).
    Gap costs by position, if there are any, are a third one, ``gaps``, with the columns open and
    extend. Scores and costs are in integer units, ``scale`` of them per unit of the matrix as
    published. The last line is that of `glsw.sequences.lines.sealed`.
    """
    scoring = parts.scoring
    lines = [BEGINS, f"id {json.dumps(parts.id)}", f"description {json.dumps(parts.description)}"]
    alphabet = scoring.alphabet
    lines += [f"name {json.dumps(scoring.name)}", f"alphabet {json.dumps(alphabet.name)}"]
    lines += [f"ambiguous {json.dumps(alphabet.ambiguous)}"]
    numbers = ((name, getattr(scoring, name)) for name in _NUMBERS)
    lines += [f"{name} {number}" for name, number in numbers if number is not None]
    names, width = list(alphabet.letters), alphabet.width
    own = [parts.letters[k : k + width] for k in range(0, len(parts.letters), width)]
    tables = [("matrix", names, names, scoring.matrix), ("scores", names, own, parts.scores)]
    if parts.gap_open is not None and parts.gap_extend is not None:
        costs = np.column_stack([parts.gap_open, parts.gap_extend])
        tables.append(("gaps", list(_COSTS), own, costs))
    for title, columns, rows, table in tables:
        lines += [title, " ".join(columns)]
        lines += [
            f"{name} {' '.join(map(str, row))}"
            for name, row in zip(rows, table.tolist(), strict=True)
        ]
    return sealed("\n".join(lines) + "\n")


def read_text(text: str, path: str, scoring: Scoring | None) -> Parts:
    """Return the profile that `written` has written; its scoring unless another one is given.

    Raises
    ------
    ValueError
        If the text is damaged or has another form, naming file and line.
    """
    lines = enumerate(unsealed(text).splitlines(), start=1)
    next(lines)
    values: dict[str, str] = {}
    for _, line in lines:
        if line == "matrix":
            break
        name, _, value = line.partition(" ")
        values[name] = value
    else:
        raise ValueError(f"{path}: no line 'matrix' in it")
    names, letters, matrix, _ = _table(lines, path, "scores")
    again, rows, scores, more = _table(lines, path, "gaps")
    columns, same, costs = list(_COSTS), rows, None
    if more:
        columns, same, costs, _ = _table(lines, path, None)
    if columns != list(_COSTS) or same != rows:
        raise ValueError(f"{path}: gap costs of other positions, or not by {' '.join(_COSTS)}")
    if letters != names or again != names:
        raise ValueError(f"{path}: its tables have different letters")
    try:
        alphabet = _alphabet(names, json.loads(values["alphabet"]), json.loads(values["ambiguous"]))
        numbers: dict[str, Any] = {k: int(values[k]) for k in _NUMBERS if k in values}
        made = Scoring(matrix, alphabet, name=json.loads(values["name"]), **numbers)
        titles = json.loads(values["id"]), json.loads(values["description"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    gaps = () if costs is None else costs.T
    return Parts(scores, "".join(rows), scoring or made, *titles, *gaps)


def _alphabet(names: list[str], name: str, ambiguous: str) -> Alphabet:
    letters = "".join(names) if max(map(len, names)) == 1 else tuple(names)
    known = (each for each in (PROTEIN, DNA) if each.letters == letters)
    return next(known, None) or custom(letters, name, ambiguous=ambiguous)


def _table(
    lines: Iterator[tuple[int, str]], path: str, end: str | None
) -> tuple[list[str], list[str], npt.NDArray[np.int32], bool]:
    """Return the letters of columns, those of rows, and the scores of a table up to a line.

    And whether there was this line.
    """
    _, line = next(lines, (0, ""))
    names = line.split()
    rows, scores, ended = [], [], False
    for number, line in lines:
        if line == end:
            ended = True
            break
        name, *words = line.split() or [""]
        try:
            row = [int(word) for word in words]
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        if len(row) != len(names):
            raise ValueError(f"{path}:{number}: {len(names)} scores expected, got {len(row)}")
        rows.append(name)
        scores.append(row)
    if not rows or not names:
        raise ValueError(f"{path}: a table is missing or empty")
    return names, rows, np.array(scores, np.int32), ended
