"""Two tracks: sequences with two letters per position, such as amino acid and structure.

Such a sequence is text in which the letters of both tracks alternate: position k, counted from 0,
has the characters 2 k and 2 k + 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

from glsw.sequences.fasta import blocks
from glsw.sequences.records import Record, Records
from glsw.words import visible


def interleaved(first: str, second: str) -> str:
    """Return a sequence of two tracks, in which their letters alternate.

    Parameters
    ----------
    first, second : str
        The letters of both tracks, equally many.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> interleaved("MKV", "DVP")
    'MDKVVP'
    """
    if len(first) != len(second):
        raise ValueError(
            f"tracks of {len(first)} and {len(second)} letters: equal numbers expected"
        )
    return "".join(a + b for a, b in zip(first, second, strict=True))


def read_tracks(path: str | os.PathLike[str], second: str | os.PathLike[str]) -> Iterator[Record]:
    r"""Yield the records of two files as sequences of two tracks, see `interleaved`.

    Parameters
    ----------
    path, second : str or path
        The files of the first and of the second track, see `glsw.read`: records of the same names
        and lengths in the same order. Descriptions come from the first.

    Raises
    ------
    OSError, ValueError
        As `glsw.read`; if the files differ in the names of records, their number or their lengths.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [pathlib.Path(folder, name) for name in ("residues.fasta", "states.fasta")]
    ...     for path, letters in zip(paths, ("MKV", "DVP")):
    ...         _ = path.write_text(f">a\n{letters}\n")
    ...     list(read_tracks(*paths))
    [Record(id='a', description='', letters='MDKVVP')]
    """
    for block in paired_blocks(path, second):
        yield from block


def paired_blocks(
    path: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Records]:
    """Yield the records of a file, as `blocks`, with the letters of another file by turns.

    Raises
    ------
    OSError, ValueError
        As `blocks`; if the files differ in the names of records, their number or their lengths.
    """
    others = blocks(second, progress=progress)
    rest: Records | None = None
    for block in blocks(path, progress=progress):
        count = 0
        while count < len(block):
            rest = rest if rest is not None else next(others, None)
            if rest is None:
                name = visible(block.titles[count][0])
                raise ValueError(f"{second}: {name}, which {path} has, is missing at the end")
            some = min(len(rest), len(block) - count)
            pieces = block[count : count + some], rest[:some]
            yield _paired(*pieces, (path, second))
            rest = rest[some:] if some < len(rest) else None
            count += some
    if rest is None:
        rest = next(others, None)
    if rest is not None:
        raise ValueError(f"{second}: {visible(rest.titles[0][0])} is not in {path}")


def _paired(block: Records, other: Records, paths: tuple[object, object]) -> Records:
    """Return the records of a block with the letters of another by turns."""
    for (name, _), (another, _) in zip(block.titles, other.titles, strict=True):
        if name != another:
            raise ValueError(
                f"{paths[1]}: {visible(another)} stands where {paths[0]} has {visible(name)}"
            )
    lengths = np.diff(block.offsets), np.diff(other.offsets)
    if (different := np.flatnonzero(lengths[0] != lengths[1])).size:
        k = int(different[0])
        raise ValueError(
            f"{paths[1]}: {block.titles[k][0]} has {lengths[1][k]} letters, {lengths[0][k]} in "
            f"{paths[0]}"
        )
    letters = np.stack([block.joined_letters(), other.joined_letters()], axis=1).ravel()
    return Records(block.titles, letters, 2 * block.offsets)
