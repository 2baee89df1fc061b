"""Converts arguments of the command line to values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glsw.output import Format
    from glsw.scoring.scoring import Scoring
    from glsw.sequences.alphabet import Alphabet
    from glsw.sequences.seg import Masked

MATRIX = "a file in NCBI's format, or the name of a matrix"
NO_PROGRESS = "no progress bar on a terminal"
SUMMARY = (
    "FILE.json: write versions, database, devices, cells, seconds and hits per query to this file "
    "once the results are complete"
)


def number(text: str) -> float:
    """Return a finite number, as int if it is whole."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(value) if value.is_integer() else value


def evalue(text: str) -> float:
    """Return a number above 0, or infinity."""
    value = math.inf if text.lower() == "inf" else number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text}: a number above 0 expected, or inf")
    return value


def cost(text: str) -> float:
    """Return a number of 0 or more."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text}: a number of 0 or more expected")
    return value


def not_positive(text: str) -> float:
    """Return a number of 0 or less."""
    value = number(text)
    if value > 0:
        raise argparse.ArgumentTypeError(f"{text}: a score of 0 or less expected, such as -{value}")
    return value


def count(text: str) -> int:
    """Return a whole number of 0 or more."""
    value: Any = number(text)
    if value < 0 or not isinstance(value, int):
        raise argparse.ArgumentTypeError(f"{text}: a whole number of 0 or more expected")
    return value


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    value = count(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text}: a whole number of 1 or more expected")
    return value


def size(text: str) -> int:
    """Return a number of bytes; K, M, G and T are powers of 1024."""
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        value = number(digits)
    except argparse.ArgumentTypeError:
        value = -1
    if value < 0 or unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 2G")
    return int(value * 1024 ** " KMGT".index(unit or " "))


def name(text: str) -> str:
    """Return a text that is not empty, as an unset shell variable would be."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not a name")
    return text


def devices_of(text: str) -> str | list[int]:
    """Return a list of device numbers, or the text if it is no such list."""
    words = [name(word) for word in text.split(",")]
    several = len(words) > 1 and all(word.strip().isdecimal() for word in words)
    return [int(word) for word in words] if several else text


def masked(text: str) -> Masked:
    """Return which sequences are masked; "yes", as in blastp, means the query."""
    found: Masked = "query" if text == "yes" else text  # type: ignore[assignment]
    return found


def format_in(text: str, formats: Mapping[str, Format]) -> Format:
    """Return a format by its name, perhaps followed by columns."""
    from glsw.output import format_of

    try:
        return format_of(text, formats)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def alphabet(text: str) -> Alphabet:
    """Return an alphabet: protein, dna, or that of a matrix."""
    from glsw.scoring.scoring import Scoring
    from glsw.sequences.alphabet import DNA, PROTEIN

    known = {"protein": PROTEIN, "dna": DNA}.get(text.lower())
    try:
        return known or Scoring.named(text).alphabet
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"neither protein nor dna, and {error}") from None


def matrix_of(text: str) -> Scoring:
    """Return the scoring of a matrix by its name, or else by its file."""
    from glsw.scoring.matrices import is_published
    from glsw.scoring.scoring import Scoring

    return Scoring.named(text) if is_published(text) else Scoring.from_file(text, 1, 1)
