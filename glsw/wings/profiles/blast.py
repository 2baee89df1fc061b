"""Readers of PSI-BLAST profiles: the ASCII table, and the checkpoint in ASN.1 text."""

from __future__ import annotations

import re

import numpy as np

from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.wings.profiles.background import Background, letters_of
from glsw.wings.profiles.text import Parts

ASCII_BEGINS = "Last position-specific scoring matrix computed"
ASN_BEGINS = "PssmWithParameters"
_NCBISTDAA = "-ABCDEFGHIKLMNPQRSTVWXYZU*OJ"
"""The letters of NCBI's numbers of amino acids."""
_NEVER = -(2**15)
"""A score that PSI-BLAST gives to letters that it has no scores for."""
_END = re.compile(r"\s*K\s+Lambda((Standard|PSI) (Ung|G)apped( +-?\d+\.\d{4}){2}\s*){4}")
"""The lines behind the positions, in one."""
_TOKEN = re.compile(r'"(?:[^"]|"")*"|\'[0-9A-F\s]*\'H|[{},]|[^\s{},]+')


def read_ascii(text: str, path: str, scoring: Scoring | None) -> Parts:
    """Return the profile of a file of ``psiblast -out_ascii_pssm``.

    The file has scores of 20 amino acids and names no matrix: BLOSUM62 11/1 unless ``scoring`` is
    given. Other letters are as in `Background.complete`.

    Raises
    ------
    ValueError
        If the file has another form, naming file and line.
    """
    scoring = scoring or Scoring.blast()
    lines = text.splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith(ASCII_BEGINS))
    header = lines[begin + 1].split() if begin + 1 < len(lines) else []
    names = "".join(header[: len(header) // 2])
    if not names:
        raise ValueError(f"{path}:{begin + 2}: the letters of the scores expected")
    columns = letters_of(scoring.alphabet, names)
    rows: list[list[int]] = []
    residues = ""
    for number, line in enumerate(lines[begin + 2 :], start=begin + 3):
        words = line.split()
        if not words:
            break
        try:
            place, letter, *numbers = words
            row = [int(word) for word in numbers[: len(names)]]
        except ValueError:
            row, place = [], "0"
        if len(row) != len(names) or place != str(len(rows) + 1) or len(letter) != 1:
            raise ValueError(
                f"{path}:{number}: position {len(rows) + 1}, its letter and {len(names)} scores "
                f"expected, got {line.strip()[:60]!r}"
            )
        rows.append(row)
        residues += letter
    else:
        raise ValueError(f"{path}: it ends after position {len(rows)}, cut off")
    if not rows:
        raise ValueError(f"{path}: no positions in it")
    if not _END.fullmatch("".join(lines[begin + 2 + len(rows) :])):
        raise ValueError(f"{path}: cut off: its last lines, of K and Lambda, are missing")
    scores = np.array(rows, np.int32)[:, columns] * scoring.scale
    return Parts(Background(scoring).complete(scores, residues), residues, scoring, "")


def read_asn(text: str, path: str, scoring: Scoring | None) -> Parts:
    """Return the profile of a file of ``psiblast -out_pssm`` (ASN.1 in text).

    Its scores (``finalData``) are taken as they are; letters without a score (B, Z) are as in
    `Background.complete`. The matrix and the gap costs are those of the file unless ``scoring`` is
    given.

    Raises
    ------
    ValueError
        If the file has another form or no scores, naming the file.
    """
    bare = re.sub(r'"[^"]*"', "", text)
    if '"' in bare or bare.count("{") != bare.count("}"):
        raise ValueError(f"{path}: cut off: its quotes or brackets are not closed")
    values = _values(text)
    try:
        rows, columns = int(values["numRows"][0]), int(values["numColumns"][0])
        residues = _residues(values)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"{path}: not a PSSM of psiblast: {error}") from None
    if "scores" not in values:
        raise ValueError(f"{path}: it has no scores (finalData), write it with psiblast -out_pssm")
    table = np.array(values["scores"], np.int64)
    if rows != len(_NCBISTDAA) or len(table) != rows * columns or len(residues) != columns:
        raise ValueError(
            f"{path}: {len(table)} scores and {len(residues)} letters for {columns} positions of "
            f"{rows} letters; {len(_NCBISTDAA)} letters expected"
        )
    by_row = values.get("byRow", ["FALSE"])[0] == "TRUE"
    table = table.reshape(rows, columns).T if by_row else table.reshape(columns, rows)
    factor = int(values.get("scalingFactor", ["1"])[0])
    if factor != 1:
        table = np.where(table <= _NEVER, table, np.rint(table / factor).astype(np.int64))
    scoring = scoring or _scoring(values, path)
    plain = letters_of(scoring.alphabet, "".join(PROTEIN.letters[:20]))
    codes = [_NCBISTDAA.index(PROTEIN.letters[k]) for k in plain]
    lowest = scoring.minimum * 10
    scores = np.maximum(table[:, codes], lowest).astype(np.int32) * scoring.scale
    made = Background(scoring).complete(scores, residues)
    for code, letter in enumerate(scoring.alphabet.letters):
        if letter in _NCBISTDAA:
            own = table[:, _NCBISTDAA.index(letter)]
            made[:, code] = np.where(own > _NEVER, own * scoring.scale, made[:, code])
    title = values.get("title", [""])[0]
    first, _, rest = title.partition(" ")
    return Parts(made, residues, scoring, first, rest)


def _scoring(values: dict[str, list[str]], path: str) -> Scoring:
    name = values.get("matrixName", ["BLOSUM62"])[0]
    costs = (int(values.get(key, [default])[0]) for key, default in _COSTS)
    try:
        return Scoring.blast(name, *costs)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


_COSTS = (("gapOpen", "11"), ("gapExtend", "1"))


def _residues(values: dict[str, list[str]]) -> str:
    """Return the letters of the query, whose data are letters or NCBI's numbers."""
    if "ncbieaa" in values:
        return values["ncbieaa"][0]
    if "iupacaa" in values:
        return values["iupacaa"][0]
    numbers = bytes.fromhex(values["ncbistdaa"][0])
    return "".join(_NCBISTDAA[number] for number in numbers)


def _values(text: str) -> dict[str, list[str]]:
    """Return the values behind each name of an ASN.1 text, those of the first such name.

    Only lists of plain values are kept apart; what else is nested is left out.

    >>> _values("A ::= { numRows 28, scores { 1, -2 }, query seq { inst { length 3 } } }")["scores"]
    ['1', '-2']
    """
    found: dict[str, list[str]] = {}
    tokens = _TOKEN.findall(text)
    k = 0
    while k + 1 < len(tokens):
        name, value = tokens[k], tokens[k + 1]
        k += 1
        if not name[0].isalpha() or value in "},":
            continue
        if value == "{":
            stop = next((j for j in range(k + 1, len(tokens)) if tokens[j] in "{}"), k)
            inside = tokens[k + 1 : stop]
            if tokens[stop] == "}" and not any(each[0].isalpha() for each in inside):
                found.setdefault(name, [each for each in inside if each != ","])
        elif value[0] in "\"'" or not value[0].isalpha() or value in ("TRUE", "FALSE"):
            value = "".join(value.strip("H'").split()) if value[0] == "'" else value
            found.setdefault(name, [value.strip('"').replace("\n", "") if name else value])
    return found
