"""Letters and their codes: DNA and RNA, protein, codons, and custom alphabets."""

from __future__ import annotations

import ctypes
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glsw import caller
from glsw.arrays import Codes
from glsw.sequences.lines import UnknownLetterError as UnknownLetterError
from glsw.sequences.nucleic import (
    complement_of,
    kind_of,
    nucleotide_aliases,
    spell_nucleotides,
)
from glsw.words import numbered, visible

LARGEST = 255
"""The most letters of an alphabet."""
_LONG = 2**18  # characters
_LOOKED_UP = 2**20  # pairs of characters at a time: each time threads wait for Python's lock
_NONE = LARGEST  # what the tables give for a letter outside the alphabet
_AMBIGUOUS_DNA = "RYSWKMBDHVN"
_AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
_SUBSTITUTES = {"U": "C", "O": "X", "J": "X"}


@dataclass(frozen=True)
class Alphabet:
    """An ordered set of letters: letter ``letters[k]`` has code ``k``.

    Parameters
    ----------
    name : str
        Its name in error messages.
    letters : str or tuple of str
        At most 255 distinct letters of equal width, printable ASCII. A letter is one
        character, or three in an alphabet of codons.
    aliases : mapping of str to str
        Further spellings of letters, such as U for T.
    ambiguous : str
        Letters that stand for several others: when sequences are scored by match and mismatch, they
        match nothing, not even themselves.
    unmasked : Alphabet, optional
        The alphabet of which this one is `lower_case_masked`.

    Notes
    -----
    Lower case is accepted for upper case unless the alphabet itself has lower-case letters.

    In an alphabet with the 20 amino acids, U counts as C, and O and J count as X, unless they are
    letters or aliases of it: see `substitutes`.

    Examples
    --------
    >>> DNA.encode("acgu")
    array([0, 1, 2, 3], dtype=uint8)
    >>> DNA.decode([3, 0, 1])
    'TAC'
    >>> DNA.encode("AC?T", name="read 7")
    Traceback (most recent call last):
        ...
    glsw.sequences.lines.UnknownLetterError: read 7: letter '?' at position 3 is not in the DNA \
alphabet (ACGTRYSWKMBDHVN)
    >>> DNA.decode(DNA.encode("ACxT", unknown="N"))
    'ACNT'
    """

    name: str
    letters: str | tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict, hash=False)
    ambiguous: str = ""
    unmasked: Alphabet | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        letters = _checked_letters(self.name, self.letters, self.aliases, self.ambiguous)
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "aliases", dict(self.aliases))

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def width(self) -> int:
        """Characters per letter: 1, or 3 for codons."""
        return len(self.letters[0])

    @property
    def shown(self) -> Alphabet:
        """The alphabet of the letters that results show: itself, or that of the first track."""
        return self

    def as_shown(self, codes: Codes, letters: str) -> tuple[Codes, str]:
        """Return codes and letters of a sequence in the alphabet that is `shown`, unmasked."""
        return self.scored[self.compared(codes, letters)] if self.unmasked else codes, letters

    @property
    def code_type(self) -> type[np.unsignedinteger[Any]]:
        """The type of its codes."""
        return np.uint8

    @cached_property
    def nucleotides(self) -> bool:
        """Whether the letters are nucleotides, each with its complement.

        >>> DNA.nucleotides, custom("ACGU").nucleotides, PROTEIN.nucleotides
        (True, True, False)
        """
        letters = "".join(self.letters)
        return (
            self.width == 1
            and spell_nucleotides(letters)
            and set(complement_of(letters)) <= set(self._codes)
        )

    @property
    def amino_acids(self) -> bool:
        """Whether the 20 amino acids are among the letters."""
        return self.width == 1 and set(_AMINO_ACIDS) <= set(self.letters)

    @cached_property
    def substitutes(self) -> dict[str, str]:
        """Letters outside an alphabet of amino acids, and the letter that each counts as.

        U (selenocysteine) counts as C and O (pyrrolysine) as X, as in BLAST, and J (leucine or
        isoleucine) as X, where the alphabet has no such letter but the one that it counts as.

        >>> PROTEIN.substitutes, custom("ACDEFGHIKLMNPQRSTVWY").substitutes, DNA.substitutes
        ({'U': 'C', 'O': 'X', 'J': 'X'}, {'U': 'C'}, {})
        """
        pairs = _SUBSTITUTES.items() if self.amino_acids else ()
        return {a: b for a, b in pairs if a not in self._codes and b in self.letters}

    @property
    def wildcard(self) -> str | None:
        """The letter that stands for any other: N for nucleotides, X for amino acids, or None.

        >>> DNA.wildcard, PROTEIN.wildcard, custom("ACGT").wildcard
        ('N', 'X', None)
        """
        letter = "N" if self.nucleotides else "X"
        return letter if letter in self.letters else None

    def lower_case_masked(self) -> Alphabet:
        """Return this alphabet, with lower-case letters read as the wildcard.

        Raises
        ------
        ValueError
            If there is no such letter, or the alphabet has lower-case letters of its own.

        Examples
        --------
        >>> masked = DNA.lower_case_masked()
        >>> masked.decode(masked.encode("ACgtAC"))
        'ACNNAC'
        """
        letter = self.wildcard
        if letter is None or not self._folded:
            raise ValueError(
                f"the {self.name} alphabet ({_listing(self.letters)}) has no X or N "
                "for masked letters"
            )
        lower = {spelling.lower(): letter for spelling in (*self._codes, *self.substitutes)}
        aliases = {**self.aliases, **{a: x for a, x in lower.items() if a not in self._codes}}
        return replace(self, aliases=aliases, unmasked=self)

    def encode(
        self,
        text: str | bytes,
        *,
        name: str = "sequence",
        unknown: str | None = None,
        substituted: Counter[str] | None = None,
    ) -> Codes:
        """Return the codes of ``text``, an array of shape (letters,).

        Parameters
        ----------
        text : str or bytes
            The sequence, without white space.
        name : str
            Name of the sequence in error messages.
        unknown : str, optional
            Replacement for letters outside the alphabet, which are otherwise an error.
        substituted : Counter of str, optional
            Counts the letters of ``text`` that have `substitutes`.

        Raises
        ------
        TypeError
            If ``text`` is neither str nor bytes.
        UnknownLetterError
            If a letter is not in the alphabet, naming it and its position counted from 1.
        ValueError
            If ``unknown`` is not in the alphabet; if the length is not a multiple of the width.

        Examples
        --------
        >>> PROTEIN.encode("MKV*")
        array([12, 11, 19, 23], dtype=uint8)
        >>> custom("ab").encode("abba")
        array([0, 1, 1, 0], dtype=uint8)
        """
        if not isinstance(text, str | bytes):
            raise TypeError(f"{name}: expected letters (str or bytes), got {type(text).__name__}")
        replacement = None if unknown is None else self._code(unknown)
        if len(text) % self.width:
            raise ValueError(
                f"{visible(name)}: length {len(text)} is not a multiple of {self.width}, "
                f"the width of the letters of the {self.name} alphabet"
            )
        data = single_bytes(text)
        if self.width == 1 and len(data) < _LONG:  # quicker
            found = bytearray(data).translate(self._characters)
            codes, clean = np.frombuffer(found, np.uint8), _NONE not in found
        else:
            codes = np.empty(len(data) // self.width, np.uint8)
            clean = self._put(data, codes) >= 0
        if not clean and self.substitutes:
            translated = data.translate(self._characters_and_substitutes)
            codes, clean = np.frombuffer(translated, dtype=np.uint8), _NONE not in translated
            if substituted is not None:
                substituted.update(letter for _, letter in self.substituted(data))
        if clean:
            return codes
        strangers = codes == _NONE
        if replacement is None:
            at = int(np.argmax(strangers)) * self.width
            letter = text[at : at + self.width]
            shown = letter if isinstance(letter, str) else letter.decode("latin-1")
            error = UnknownLetterError(
                f"{visible(name)}: letter {shown!r} at position {at + 1} is not in the {self.name} "
                f"alphabet ({_listing(self.letters)})",
                GAPS if shown in ("-", ".") else _advice(self, data),
            )
            error.place = name, shown, at + 1
            raise error
        return np.where(strangers, np.uint8(replacement), codes)

    def _put(self, data: bytes | memoryview, codes: Codes) -> int:
        """Put the codes of letters into an array; return the highest, -1 if some have none.

        `encode` counts or replaces these, or raises an error. Threads can do this at the same time
        for long texts.

        Parameters
        ----------
        data : bytes or memoryview
            The letters, of a whole number of widths.
        codes : ndarray, shape (letters,)
            Of `code_type`.
        """
        if self.width > 1:
            parts = np.frombuffer(bytes(data).translate(self._characters), np.uint8)
            codes[:] = self._words[tuple(parts.reshape(-1, self.width).T)]
        else:
            translate(data, self._characters, codes)
        highest = int(codes.max(initial=0))
        return -1 if highest == _NONE else highest

    def substituted(self, text: str | bytes) -> list[tuple[int, str]]:
        """Return the positions, from 0, of letters that have `substitutes`, and these letters.

        >>> PROTEIN.substituted("MKUCo"), DNA.substituted("ACGU")
        ([(2, 'U'), (4, 'O')], [])
        """
        if not self.substitutes:
            return []
        data = single_bytes(text)
        before = data.translate(self._characters)
        if _NONE not in before:
            return []
        after = data.translate(self._characters_and_substitutes)
        changed = np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
        return [(k, chr(data[k]).upper()) for k in np.flatnonzero(changed).tolist()]

    @property
    def merges(self) -> bool:
        """Whether different letters have one code: masked ones, or those with `substitutes`."""
        return bool(self.unmasked or self.substitutes)

    def compared(self, codes: Codes, text: str | bytes) -> Codes:
        """Return codes that are equal where the letters are equal, whatever they score.

        Masked letters have their own codes, those with `substitutes` codes behind all others. A
        letter outside the alphabet has that of its replacement.

        >>> masked = PROTEIN.lower_case_masked()
        >>> codes = masked.encode("CUcu?", unknown="A")
        >>> codes.tolist(), masked.compared(codes, "CUcu?").tolist()
        ([4, 4, 22, 22, 0], [4, 24, 4, 24, 0])
        """
        if not text or not self.merges:
            return codes
        data = single_bytes(text).translate(self._distinct)
        found = np.frombuffer(data, np.uint8)
        return found if _NONE not in data else np.where(found == _NONE, codes, found)

    @cached_property
    def scored(self) -> Codes:
        """The codes as which those of `compared` are scored, shape (letters and substitutes,)."""
        others = self.encode("".join(self.substitutes))
        return np.concatenate([np.arange(len(self), dtype=self.code_type), others])

    @cached_property
    def _distinct(self) -> bytes:
        """For each byte the code in `compared`."""
        table = bytearray((self.unmasked or self)._characters)
        for code, letter in enumerate(self.substitutes, len(self)):
            table[ord(letter)] = code
            if self._folded:
                table[ord(letter.lower())] = code
        return bytes(table)

    def warn_of_substitutes(self, substituted: Counter[str]) -> None:
        """Warn of substituted letters, with their numbers, in one RuntimeWarning."""
        if not substituted:
            return
        parts = [
            f"{numbered(count, 'letter')} {letter} as {other}"
            for letter, other in self.substitutes.items()
            if (count := substituted[letter])
        ]
        if parts:
            first, *others = parts
            first = first.replace(" as ", " scored as ", 1)
            caller.warn(", ".join([first, *others]), RuntimeWarning)

    def decode(self, codes: npt.ArrayLike, *, name: str = "sequence") -> str:
        """Return the letters of ``codes``, integers of shape (length,).

        Raises
        ------
        TypeError
            If ``codes`` are not integers.
        ValueError
            If ``codes`` are not one-dimensional, or one of them is no code of this alphabet.
        """
        array = np.asarray(codes)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"{name}: codes must be integers, got {array.dtype}")
        if array.ndim != 1:
            raise ValueError(f"{name}: codes must have one dimension, got shape {array.shape}")
        outside = (array < 0) | (array >= len(self))
        if outside.any():
            at = int(np.argmax(outside))
            raise ValueError(
                f"{name}: code {array[at]} at position {at + 1} is not in the {self.name} "
                f"alphabet (0 to {len(self) - 1})"
            )
        if self.width > 1:
            return "".join([self.letters[k] for k in array.tolist()])
        table = "".join(self.letters).encode("ascii").ljust(256, b"?")
        return array.astype(np.uint8).tobytes().translate(table).decode("ascii")

    @cached_property
    def _codes(self) -> dict[str, int]:
        """Every accepted spelling, lower case apart, and its code."""
        codes = {letter: k for k, letter in enumerate(self.letters)}
        return codes | {alias: codes[letter] for alias, letter in self.aliases.items()}

    @cached_property
    def _characters(self) -> bytes:
        """For each byte the code of that letter; for codons the number of that character."""
        if self.width == 1:
            numbers, stranger = self._codes, _NONE
        else:
            numbers = {c: k for k, c in enumerate(sorted(set("".join(self._codes))))}
            stranger = len(numbers)
        table = bytearray([stranger]) * 256
        if self._folded:
            for character, number in numbers.items():
                table[ord(character.lower())] = number
        for character, number in numbers.items():
            table[ord(character)] = number
        return bytes(table)

    @cached_property
    def _characters_and_substitutes(self) -> bytes:
        """The same, with the letters that have `substitutes`."""
        table = bytearray(self._characters)
        for letter, other in self.substitutes.items():
            for spelling in (letter, letter.lower()) if self._folded else letter:
                if table[ord(spelling)] == _NONE:
                    table[ord(spelling)] = self._codes[other]
        return bytes(table)

    @property
    def _folded(self) -> bool:
        """Whether lower case is read as upper case, unless aliases say something else."""
        return not any(c in string.ascii_lowercase for letter in self.letters for c in letter)

    @cached_property
    def _words(self) -> Codes:
        """For codons: the code for each triple of character numbers."""
        table = np.full((max(self._characters) + 1,) * 3, _NONE, dtype=np.uint8)
        for word, code in self._codes.items():
            table[tuple(self._characters[ord(c)] for c in word)] = code
        return table

    def _code(self, unknown: str) -> int:
        if not isinstance(unknown, str):
            raise TypeError(f"unknown must be a letter (str), got {type(unknown).__name__}")
        if len(unknown) == self.width and unknown.isascii():
            numbers = [self._characters[ord(c)] for c in unknown]
            code = numbers[0] if self.width == 1 else int(self._words[tuple(numbers)])
            if code != _NONE:
                return code
        raise ValueError(
            f"unknown letter {unknown!r} is not in the {self.name} alphabet "
            f"({_listing(self.letters)})"
        )


def custom(
    letters: str | tuple[str, ...], name: str = "custom", *, ambiguous: str = ""
) -> Alphabet:
    """Return an alphabet of these letters, in this order.

    If the letters are those of nucleotides (A, C, G, T or U, perhaps IUPAC's ambiguous ones),
    U is an alias of T, or T of U, whichever is missing.

    Examples
    --------
    >>> custom("ACGU").decode([3, 3])
    'UU'
    >>> custom("ACGU").encode("TT")
    array([3, 3], dtype=uint8)
    """
    return Alphabet(name, letters, nucleotide_aliases(letters), ambiguous)


def _checked_letters(
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
            raise ValueError(f"letter {letter!r} occurs twice in the {name} alphabet")
    for alias, letter in aliases.items():
        fits = len(alias) == len(letter) == len(letters[0]) and alias.isascii()
        if alias in letters or letter not in letters or not fits:
            raise ValueError(f"alias {alias!r} for {letter!r} does not fit the {name} alphabet")
    if unheard := [letter for letter in ambiguous if letter not in letters]:
        raise ValueError(
            f"ambiguous letter {unheard[0]!r} is not in the {name} alphabet ({_listing(letters)})"
        )
    return letters


def _listing(letters: str | tuple[str, ...]) -> str:
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


def translate(data: bytes | memoryview, table: bytes, codes: Codes) -> None:
    """Put bytes, translated by a table of 256, into an array of as many.

    Of long ones two at a time, which takes as long, without Python's lock.
    """
    if len(data) < _LONG:
        codes[:] = np.frombuffer(bytes(data).translate(table), np.uint8)
        return
    whole = len(data) // 2
    pairs, found = np.frombuffer(data, np.uint16, whole), codes[: 2 * whole].view(np.uint16)
    indices = np.empty(min(whole, _LOOKED_UP), np.intp)
    for at in range(0, whole, _LOOKED_UP):
        some = slice(at, at + _LOOKED_UP)
        own = indices[: len(pairs[some])]
        np.copyto(own, pairs[some])
        np.take(_pairs_of(table), own, out=found[some], mode="clip")
    if len(data) % 2:
        codes[-1] = table[data[-1]]


@lru_cache(maxsize=16)
def _pairs_of(table: bytes) -> npt.NDArray[np.uint16]:
    """Return what a table gives for two bytes, in the order of bytes of this machine."""
    pairs = np.arange(2**16, dtype=np.uint16).view(np.uint8)
    return np.frombuffer(table, np.uint8)[pairs].view(np.uint16)


def letters_of(text: str) -> memoryview:
    """Return the letters of ASCII text where Python keeps them, one byte each, not copied.

    Raises
    ------
    ValueError
        If some are not ASCII.

    Examples
    --------
    >>> bytes(letters_of("MKV")), len(letters_of(""))
    (b'MKV', 0)
    """
    if not text.isascii():
        raise ValueError("letters that are not ASCII")
    address = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
    address.argtypes, address.restype = (ctypes.py_object, ctypes.c_void_p), ctypes.c_void_p
    block: Any = (ctypes.c_ubyte * len(text)).from_address(address(text, None))
    block.text = text  # which has to live as long
    return memoryview(block).cast("B")


def _advice(alphabet: Alphabet, data: bytes) -> str:
    """Return the scoring that takes letters of which an alphabet lacks some, if there is one."""
    if _NONE not in data.translate(DNA._characters):
        return "glsw.Scoring.nucleotide() scores DNA"
    takes = _NONE not in data.translate(PROTEIN._characters_and_substitutes)
    nucleic = alphabet.amino_acids or bool(kind_of([data]).nucleic)
    return "glsw.Scoring.blast() scores proteins" if takes and not nucleic else ""


GAPS = "remove the gaps of an alignment first"
"""Advice on ``-`` and ``.``, for which no letter should stand."""

DNA = custom("ACGT" + _AMBIGUOUS_DNA, "DNA", ambiguous=_AMBIGUOUS_DNA)
PROTEIN = Alphabet("protein", "ARNDCQEGHILKMFPSTWYVBZX*", ambiguous="BZX*")
