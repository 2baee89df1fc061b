"""The alphabet of two tracks: pairs of letters, such as amino acid and structure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glsw.arrays import Codes
from glsw.sequences.alphabet import LARGEST, Alphabet, UnknownLetterError

STRUCTURE = "ACDEFGHIKLMNPQRSTVWYX"
"""The 20 states of the structure alphabet 3Di, and X for an unknown one."""


@dataclass(frozen=True)
class PairedAlphabet(Alphabet):
    """The pairs of a letter of one alphabet and one of another: ``b`` letters in the second.

    The pair of codes i and k has code ``i * b + k``.

    Parameters
    ----------
    first, second : Alphabet
        Of single characters; X in the second is a letter like others.
    others
        As of `Alphabet`; `of` makes them.

    Raises
    ------
    ValueError
        If letters have several characters, or both have more than 255 letters together.

    Examples
    --------
    >>> from glsw.sequences.alphabet import custom
    >>> pairs = PairedAlphabet.of(custom("abc", "letters"), custom("xy", "states"))
    >>> pairs.name, len(pairs), pairs.encode("axbycy"), pairs.decode([0, 3])
    ('letters and states', 6, array([0, 3, 5], dtype=uint16), 'axby')
    """

    first: Alphabet = field(kw_only=True)
    second: Alphabet = field(kw_only=True)

    @classmethod
    def of(cls, first: Alphabet, second: Alphabet) -> PairedAlphabet:
        """Return the alphabet of the pairs of two."""
        for each in (first, second):
            if each.width != 1:
                raise ValueError(f"tracks have letters of one character, not {each.name}")
        if len(first) + len(second) > LARGEST:
            raise ValueError(
                f"two tracks of {len(first)} and {len(second)} letters: at most {LARGEST} "
                "together expected"
            )
        letters = tuple(a + b for a in first.letters for b in second.letters)
        return cls(f"{first.name} and {second.name}", letters, first=first, second=second)

    def __post_init__(self) -> None:
        """Accept what `of` has made; pairs may be more than the letters of other alphabets."""

    @property
    def shown(self) -> Alphabet:
        """That of the first track."""
        return self.first

    def as_shown(self, codes: Codes, letters: str) -> tuple[Codes, str]:
        """Return those of the first track."""
        return self.tracks(codes)[0], letters[::2]

    @property
    def code_type(self) -> type[np.unsignedinteger[Any]]:
        """The type of its codes."""
        return np.uint16

    @property
    def substitutes(self) -> dict[str, str]:
        """Those of the first track; letters of the second have none."""
        return self.first.substitutes

    def encode(
        self,
        text: str | bytes,
        *,
        name: str = "sequence",
        unknown: str | None = None,
        substituted: Counter[str] | None = None,
    ) -> Codes:
        """Return the codes, see `Alphabet.encode`; of a type of 16 bits.

        ``unknown`` replaces letters of the first track, and of the second if it has this letter.
        """
        if not isinstance(text, str | bytes):
            raise TypeError(f"{name}: expected letters (str or bytes), got {type(text).__name__}")
        if len(text) % 2:
            raise ValueError(f"{name}: two letters per position expected, got {len(text)} letters")
        codes = self.first.encode(text[::2], name=name, unknown=unknown, substituted=substituted)
        known = unknown is None or unknown in self.second.letters
        try:
            others = self.second.encode(
                text[1::2], name=f"{name}, second track", unknown=unknown if known else None
            )
        except UnknownLetterError as error:  # no advice on scorings of one track
            raise UnknownLetterError(error.args[0]) from None
        return self.paired(codes, others)

    def _put(self, data: bytes | memoryview, codes: Codes) -> int:
        """Put the codes of positions into an array, see `Alphabet._put`."""
        text, (first, second) = bytes(data), np.empty((2, len(codes)), np.uint8)
        known = self.first._put(text[::2], first) >= 0 <= self.second._put(text[1::2], second)
        codes[:] = self.paired(first, second)
        return int(codes.max(initial=0)) if known else -1

    def paired(self, first: Codes, second: Codes) -> Codes:
        """Return the codes of pairs, given those of both tracks."""
        codes: Codes = first.astype(self.code_type)
        codes *= len(self.second)
        codes += second
        return codes

    def tracks(self, codes: Codes) -> tuple[Codes, Codes]:
        """Return the codes of both tracks, given those of pairs."""
        first, second = np.divmod(codes, len(self.second))
        return first.astype(np.uint8), second.astype(np.uint8)

    def substituted(self, text: str | bytes) -> list[tuple[int, str]]:
        """Return those of the first track, by position, see `Alphabet.substituted`."""
        return self.first.substituted(text[::2])


class _Structure(Alphabet):
    """An alphabet whose letters are no residues, also if they are spelled as these."""

    @property
    def amino_acids(self) -> bool:
        """Never."""
        return False


def second_alphabet(letters: str | tuple[str, ...] = STRUCTURE) -> Alphabet:
    """Return an alphabet of a second track: these letters in the order of the alphabet.

    >>> second_alphabet("YXA").letters, second_alphabet().substitutes
    ('AXY', {})
    """
    return _Structure("structure", "".join(sorted(letters)))
