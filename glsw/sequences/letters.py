"""Letters that an alphabet may have, and text as one byte per letter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

LARGEST = 255
"""The most letters of an alphabet."""


def checked_letters(
    name: str, given: str | tuple[str, ...], aliases: Mapping[str, str], ambiguous: str
) -> str | tuple[str, ...]:
    """Return the letters of an alphabet, a str unless they are codons; errors as `Alphabet`."""
    letters = given if isinstance(given, str) else tuple(given)
    if not all(isinstance(letter, str) for letter in letters):
        raise TypeError(f"letters of the {name} alphabet must be str, got {letters!r}")
    if not 1 <= len(letters) <= LARGEST:
        raise ValueError(
            f"the {name} alphabet has {len(letters)} letters: 1 to {LARGEST} are possible"
        )
    if {len(letter) for letter in letters} not in ({1}, {3}):
        raise ValueError(
            f"letters of the {name} alphabet must be all one character wide, "
            f"or all three, got {letters!r}"
        )
    if len(letters[0]) == 1:
        letters = "".join(letters)
    for k, letter in enumerate(letters):
        if not (letter.isascii() and letter.isprintable()) or " " in letter:
            raise ValueError(f"letter {letter!r} of the {name} alphabet is not printable ASCII")
        if letter in letters[:k]:
            raise ValueError(f"letter {letter!r} is twice in the {name} alphabet")
    for alias, letter in aliases.items():
        fits = len(alias) == len(letter) == len(letters[0]) and alias.isascii()
        if alias in letters or letter not in letters or not fits:
            raise ValueError(f"alias {alias!r} for {letter!r} does not fit the {name} alphabet")
    if unheard := [letter for letter in ambiguous if letter not in letters]:
        raise ValueError(
            f"ambiguous letter {unheard[0]!r} is not in the {name} alphabet ({listing(letters)})"
        )
    return letters


def listing(letters: str | tuple[str, ...]) -> str:
    """Return letters as errors show them, of codons the first two and the last."""
    return letters if isinstance(letters, str) else f"{letters[0]} {letters[1]} ... {letters[-1]}"


def single_bytes(text: str | bytes) -> bytes:
    """Return one byte per character, 0 (in no alphabet) unless it is ASCII."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("ascii")
    except UnicodeEncodeError:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return np.where(points < 128, points, 0).astype(np.uint8).tobytes()
