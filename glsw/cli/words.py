"""Converts arguments of the command line to values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glsw.output import Format
    from glsw.scoring.scoring import Scoring
    from glsw.sequences.alphabet import Alphabet
    from glsw.sequences.seg import Masked
    from glsw.words import Range

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


def number_in(text: str, within: Range) -> float:
    """Return a number that a parameter can have."""
    if text.lower() == within.also:
        return math.inf if within.also == "inf" else number(text)
    value = number(text)
    if not within.has(value):
        hint = f", such as -{value}" if not within.most and value > 0 else ""
        raise argparse.ArgumentTypeError(f"{text}: {within} expected{hint}")
    return value


def size(text: str) -> int:
    """Return a number of bytes; K, M, G and T are powers of 1024."""
    from glsw.engines.spec import MIN_MEMORY

    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        value = number(digits)
    except argparse.ArgumentTypeError:
        value = -1
    if value < 0 or unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 2G")
    found = int(value * 1024 ** " KMGT".index(unit or " "))
    if found < MIN_MEMORY:
        raise argparse.ArgumentTypeError(f"{text}: at least 1 MiB expected")
    return found


def genetic_code_of(text: str) -> int:
    """Return the number of a genetic code."""
    from glsw.sequences.translation import genetic_codes

    known = {str(each): each for each in genetic_codes()}
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text}: there are {', '.join(known)}")
    return known[text]


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
