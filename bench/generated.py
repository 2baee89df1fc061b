"""Data from seeds, the same on every machine: proteins like Swiss-Prot, DNA, relatives, series."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import data
from glsw import PROTEIN, Alphabet, read
from glsw.sequences.encoded import Sequences, offsets_of

Floats = npt.NDArray[np.float64]

_DATA = data("swissprot.json")
COMPOSITION: Mapping[str, float] = _DATA["composition"]
STANDARD: Sequence[int] = _DATA["standard"]


def swissprot_lengths(count: int, seed: int = 2006) -> npt.NDArray[np.int64]:
    """Return ``count`` lengths distributed as Swiss-Prot's, in random order.

    One is drawn from each of ``count`` equal slices of the distribution, so that also a small
    database has its mean; between two of swissprot.json the logarithm of the length is uniform.
    """
    if count < 1:
        raise ValueError(f"a database of {count} sequences: at least 1 is needed")
    random = np.random.default_rng(seed)
    fraction = (np.arange(count) + random.random(count)) / count
    fractions, lengths = zip(*_DATA["lengths"], strict=True)
    drawn = np.exp(np.interp(fraction, fractions, np.log(lengths)))
    return random.permutation(np.rint(drawn).astype(np.int64))


def proteins(
    lengths: npt.ArrayLike, seed: int = 2006, composition: Mapping[str, float] = COMPOSITION
) -> Sequences:
    """Return random proteins of these lengths and this composition, by default Swiss-Prot's."""
    offsets = offsets_of(lengths)
    letters, frequencies = "".join(composition), np.array(list(composition.values()))
    random, shares = np.random.default_rng(seed), frequencies / frequencies.sum()
    drawn = random.choice(PROTEIN.encode(letters), offsets[-1], p=shares, shuffle=False)
    return Sequences(drawn, offsets)


queries = partial(proteins, seed=7800)


def letters(count: int, seed: int = 2006) -> npt.NDArray[np.uint8]:
    """Return ``count`` letters of Swiss-Prot's `COMPOSITION`, to 1/65536 and in a hurry.

    A quarter of a billion takes a second of one core; `proteins` draws others from the same seed.
    """
    frequencies = np.array(list(COMPOSITION.values()))
    ends = np.rint(np.cumsum(frequencies) / frequencies.sum() * 2**16).astype(np.int64)
    table = np.repeat(PROTEIN.encode("".join(COMPOSITION)), np.diff(ends, prepend=0))
    random, drawn = np.random.default_rng(seed), np.empty(count, np.uint8)
    for part in np.split(drawn, range(2**18, count, 2**18)):  # they stay in a cache
        words = np.frombuffer(random.bytes(2 * len(part)), np.dtype("<u2"))
        table.take(words, out=part, mode="clip")
    return drawn


def many(lengths: npt.ArrayLike, seed: int = 2006) -> Sequences:
    """Return random proteins of these lengths, the longest first, made of `letters`."""
    sizes = np.sort(np.asarray(lengths, dtype=np.int64))[::-1]
    offsets = offsets_of(sizes)
    return Sequences(letters(int(offsets[-1]), seed), offsets)


def plant(database: Sequences, queries: Sequences, seed: int = 1981) -> npt.NDArray[np.intp]:
    """Overwrite a sequence of the database with a relative of each query; return which ones.

    Random proteins never score high; these do, as homologues in a real database. A relative takes
    the place of a sequence as long as the query, or as near to that as there is; it is cut, or
    followed by what stood there. A query whose place is taken gets none. ``database`` is sorted by
    descending length; its residues are overwritten.
    """
    lengths = database.lengths
    chosen: list[int] = []
    for k, (query, relative) in enumerate(zip(queries, relatives(queries, 20, seed), strict=True)):
        nearest = lengths[np.abs(lengths - len(query)).argmin()]
        first, last = np.searchsorted(-lengths, [-nearest, 1 - nearest])
        # Queries that are equally near spread over the sequences of that length.
        at = int(first + (last - first) * (2 * k + 1) // (2 * len(queries)))
        if at not in chosen:
            chosen.append(at)
            place = database[at]
            place[: len(relative)] = relative[: len(place)]
    return np.array(sorted(chosen), np.intp)


def dna(lengths: npt.ArrayLike, seed: int = 2022) -> Sequences:
    """Return random DNA of these lengths, all four letters equally often."""
    offsets = offsets_of(lengths)
    return Sequences(np.random.default_rng(seed).integers(0, 4, offsets[-1], np.uint8), offsets)


def drawn(count: int, low: int, high: int, letters: int, seed: int) -> Sequences:
    """Return random sequences of lengths in a range, all of so many letters equally often."""
    random = np.random.default_rng(seed)
    offsets = offsets_of(random.integers(low, high + 1, count))
    return Sequences(random.integers(0, letters, offsets[-1], np.uint8), offsets)


def from_file(path: Path, alphabet: Alphabet = PROTEIN) -> Sequences:
    """Return the sequences of a FASTA file; unknown letters of proteins become X."""
    unknown = "X" if alphabet is PROTEIN else None
    found = read(path)
    return Sequences.of(alphabet.encode(r.letters, name=r.id, unknown=unknown) for r in found)


def relatives(sequences: Sequences, letters: int, seed: int = 1981) -> Sequences:
    """Return a relative of each sequence, as long as it: about 90 % of the letters are the same.

    A letter in ten is drawn again from the first ``letters`` of the alphabet, one in a hundred is
    taken out, and before one in a hundred another is put in.
    """
    random = np.random.default_rng(seed)
    drawn: Any = partial(random.integers, 0, letters, dtype=np.uint8)

    def relative(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        kept = codes[random.random(len(codes)) >= 0.01]
        at = np.flatnonzero(random.random(len(kept)) < 0.01)
        changed = np.insert(kept, at, drawn(len(at)))
        where = np.flatnonzero(random.random(len(changed)) < 0.1)
        changed[where] = drawn(len(where))
        longer: npt.NDArray[np.uint8] = np.append(changed, drawn(len(codes)))
        return longer[: len(codes)]

    return Sequences.of(map(relative, sequences))


def noise(kind: str, channels: int, samples: int, random: np.random.Generator) -> Floats:
    """Return series without a motif, shape (channels, samples): "white", "pink", "walk" or "drift".

    "drift" is autocorrelated noise that decays in 20 samples, with a linear and a quadratic trend.
    """
    if kind == "pink":
        frequencies = np.fft.rfftfreq(2 * samples)
        frequencies[0] = frequencies[1]
        parts = random.normal(size=(2, channels, len(frequencies)))
        return np.fft.irfft((parts[0] + 1j * parts[1]) / np.sqrt(frequencies))[:, :samples]
    steps: Floats = random.normal(size=(channels, samples + 100))
    if kind == "white":
        return steps[:, 100:]
    if kind == "walk":
        return steps[:, 100:].cumsum(axis=1)
    for k in range(1, samples + 100):
        steps[:, k] += 0.95 * steps[:, k - 1]
    series: Floats = steps[:, 100:] / steps[:, 100:].std(axis=1, keepdims=True)
    time = np.linspace(-1, 1, samples)
    linear, quadratic = random.normal(size=(2, channels, 1))
    series += 2 * linear * time + 1.5 * quadratic * time**2
    return series


def planted(
    series: Floats, length: int, deviations: float, random: np.random.Generator
) -> dict[int, int]:
    """Add the same response to three channels, and return its first sample by channel.

    It is ``deviations`` times as large as the channel without its first six cosines.
    """
    from glsw.wings.series.sax import detrend  # a wing, which the core works without

    time = np.arange(length) / length
    response = sum(random.normal() * np.sin(np.pi * k * time) for k in range(2, 8))
    response *= np.sin(np.pi * time) ** 0.5
    response *= deviations / response.std()
    places = {}
    for channel in random.choice(len(series), 3, replace=False).tolist():
        begin = int(random.integers(0, series.shape[1] - length))
        scale = detrend(series[[channel]], 6).std()
        series[channel, begin : begin + length] += scale * response
        places[channel] = begin
    return places
