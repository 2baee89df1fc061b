"""Letters that count as others, kept apart from the codes of sequences."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from glsw.sequences.alphabet import Alphabet
from glsw.sequences.records import Codes


class Substituted:
    """Letters that count as others, see `Alphabet.substitutes`: where they are among the residues.

    Parameters
    ----------
    places : ndarray of int64, shape (K,)
        Ascending positions in the sorted residues.
    letters : ndarray of uint8, shape (K,)
        The letters there, ASCII.
    """

    def __init__(
        self, places: npt.ArrayLike = (), letters: npt.NDArray[np.uint8] | None = None
    ) -> None:
        self._places = np.asarray(places, np.int64)
        self._letters = np.empty(0, np.uint8) if letters is None else letters

    def counted(self) -> Counter[str]:
        """Return how often each letter occurs."""
        return Counter(self._letters.tobytes().decode("ascii", "replace"))

    def restored(self, codes: Codes, start: int, alphabet: Alphabet) -> str | None:
        """Return the letters of the residues from ``start`` on, None if all are as in the codes."""
        if not len(self._places):
            return None
        first, last = np.searchsorted(self._places, [start, start + len(codes)]).tolist()
        if first == last:
            return None
        text = bytearray(alphabet.decode(codes), "ascii")
        places = (self._places[first:last] - start).tolist()
        for at, letter in zip(places, self._letters[first:last].tolist(), strict=True):
            text[at] = letter
        return text.decode("ascii", "replace")

    def fits(self, residues: int, alphabet: Alphabet) -> bool:
        """Return whether so many residues may have such letters at these places."""
        places, letters = self._places, set(self._letters.tobytes())
        inside = not len(places) or bool(places[0] >= 0 and places[-1] < residues)
        known = letters <= set("".join(alphabet.substitutes).encode("ascii"))
        return inside and known and bool((np.diff(places) > 0).all())
