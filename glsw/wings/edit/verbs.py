"""Edit distances over any alphabet: `edit_distance` and `edit_distance_matrix`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, get_args, overload

import numpy as np
import numpy.typing as npt

from glsw.alignment.batch import Batch
from glsw.engines.base import Progress
from glsw.inputs.source import NUMBERS, Many, Single, Source
from glsw.options import described
from glsw.run.pool import Devices
from glsw.sequences.encoded import Sequences, copy_ranges, offsets_of
from glsw.sequences.file_names import check_no_file
from glsw.sequences.records import Record
from glsw.wings.edit.bit_parallel import Distances
from glsw.wings.edit.engines import EditEngine, distance_engine, is_quick
from glsw.wings.edit.items import CODES, Items, codes_together, items_of
from glsw.words import one_of, suggesting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Unpack

EditMode: TypeAlias = Literal["global", "infix", "prefix"]
_Int64 = npt.NDArray[np.int64]
OneText: TypeAlias = "Single | tuple[Hashable, ...]"
"""A sequence of any letters."""


class EditOptions(TypedDict, total=False):
    """The options that `edit_distance` and `edit_distance_matrix` share."""

    mode: EditMode
    engine: EditEngine
    device: Devices
    progress: Progress | None
    executor: Executor | None


@overload
def edit_distance(  # type: ignore[overload-overlap]
    queries: OneText,
    targets: OneText,
    *,
    ends: Literal[False] = False,
    **options: Unpack[EditOptions],
) -> int: ...
@overload
def edit_distance(
    queries: OneText | Many,
    targets: OneText | Many,
    *,
    ends: Literal[False] = False,
    **options: Unpack[EditOptions],
) -> npt.NDArray[np.int32]: ...
@overload
def edit_distance(
    queries: OneText | Many,
    targets: OneText | Many,
    *,
    ends: Literal[True],
    **options: Unpack[EditOptions],
) -> Distances: ...
@suggesting
def edit_distance(
    queries: OneText | Many,
    targets: OneText | Many,
    *,
    mode: EditMode = "global",
    ends: bool = False,
    engine: EditEngine = "auto",
    device: Devices = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> int | npt.NDArray[np.int32] | Distances:
    """Return the edit distance of each pair (Levenshtein): changed, inserted and deleted letters.

    Parameters
    ----------
    queries, targets : sequence, path or list of sequences
        One query and one target, one query and many targets, or as many queries as targets. A
        sequence is text with any letters, bytes, an array of integers, a tuple of words, numbers or
        other objects, a `Record` or a Biopython sequence. Letters are either equal or not: upper
        and lower case differ. A list is several sequences, see
        `glsw.inputs.source.is_single`. A path leads to a FASTA or FASTQ file.
    mode : {"global", "infix", "prefix"}
        "global": between whole sequences. "infix": between the whole query and the nearest part of
        the target, edlib's mode HW. "prefix": between the whole query and the nearest part at the
        start of the target, edlib's mode SHW.
    ends : bool
        Whether to return where the nearest part of the target ends.
    engine : {"auto", "bit_parallel", "host"}
        "bit_parallel" needs OpenGL 4.3; "host" computes one pair after the other in Python; "auto"
        uses the first unless there are 256 different letters, such as all bytes, or, if no device
        is named, there is one pair of up to 2,000 letters.
    device : int, str, Device, or list of int or str, optional
        As for `glsw.Aligner`; several devices share the work.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    executor : concurrent.futures.Executor, optional
        Computes parts of the work, as in `search`, on the first device of each worker.

    Returns
    -------
    int, or ndarray of int32, shape (N,)
        A number for one query and one target. With ``ends``, a named tuple (``distance``,
        ``target_end``) of two of these, where the end is the number of target letters before it.
        Among several parts with the same distance, the one that ends first is reported (the first
        of edlib's ``locations``, plus 1); in global mode it is the length of the target.

    Raises
    ------
    TypeError, ValueError
        If a sequence has another type or is the name of a file; if the numbers of queries and
        targets differ; if they have more than 256 different letters in common (255 on a device,
        in mode "prefix" one less); for an executor with several devices or with the host.
    DeviceError
        If the device has no compute shaders.

    Warns
    -----
    RuntimeWarning
        If ``engine="auto"`` finds no OpenGL 4.3 and computes on the host.

    Notes
    -----
    For alignments, pass the scoring `glsw.wings.edit.unit_costs.unit_costs` to `glsw.Aligner`: its
    scores are negative distances.

    Examples
    --------
    >>> import glsw
    >>> glsw.edit_distance("kitten", "sitting")
    3
    >>> glsw.edit_distance("ACGT", ["ACT", "AGGT", ""])
    array([1, 1, 4], dtype=int32)
    >>> glsw.edit_distance(("the", "old", "cat"), ("the", "cat"))
    1
    >>> glsw.edit_distance("ACGT", "TTTACTTTTTACGTTT", mode="infix", ends=True)
    Distances(distance=0, target_end=14)
    >>> glsw.edit_distance("ACGT", "ACCGTTTACGT", mode="prefix", ends=True)
    Distances(distance=1, target_end=5)
    """
    _check(mode, engine)
    sides = [Source(each, any_letters=True) for each in (queries, targets)]
    (left, right), count = _coded(sides)
    if not sides[0].single and len(left) != len(right):
        raise ValueError(
            f"{len(left)} queries and {len(right)} targets: one of either, or equal numbers, "
            "expected"
        )
    before = np.zeros(len(right), np.int64)
    if mode == "prefix":
        before += left.lengths
        left, right, count = _anchored(left, right, before, count)
    if len(left) == len(right) == 1:
        batch = Batch.of_pair(left, right)
    elif sides[0].single:
        batch = Batch.one_to_many(left[0], right)
    else:
        batch = Batch.pairwise(left, right)
    quick = is_quick(batch)
    with distance_engine(engine, count, mode != "global", device, executor, quick=quick) as chosen:
        found = _within(chosen.distances(batch, progress=progress), before)
    if all(side.single for side in sides):
        found = Distances(*(int(each[0]) for each in found))
    return found if ends else found.distance


@overload
def edit_distance_matrix(
    queries: OneText | Many,
    targets: OneText | Many | None = None,
    *,
    ends: Literal[False] = False,
    **options: Unpack[EditOptions],
) -> npt.NDArray[np.int32]: ...
@overload
def edit_distance_matrix(
    queries: OneText | Many,
    targets: OneText | Many | None = None,
    *,
    ends: Literal[True],
    **options: Unpack[EditOptions],
) -> Distances: ...
@suggesting
@described(edit_distance)
def edit_distance_matrix(
    queries: OneText | Many,
    targets: OneText | Many | None = None,
    *,
    mode: EditMode = "global",
    ends: bool = False,
    engine: EditEngine = "auto",
    device: Devices = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> npt.NDArray[np.int32] | Distances:
    """Return the edit distance of each query with each target.

    Without targets, the queries are compared with each other. Parameters and errors as for
    `edit_distance`.

    Returns
    -------
    ndarray of int32, shape (M, N)
        With ``ends``, a named tuple (``distance``, ``target_end``) of two of these.

    Examples
    --------
    >>> import glsw
    >>> glsw.edit_distance_matrix(["ACGT", "AGT", "TTTT"])
    array([[0, 1, 3],
           [1, 0, 3],
           [3, 3, 0]], dtype=int32)
    """
    _check(mode, engine)
    given = [queries] if targets is None else [queries, targets]
    sides, count = _coded([Source(each, any_letters=True) for each in given])
    left, right = sides[0], sides[-1]
    before = np.zeros(len(right), np.int64)
    if mode == "prefix":
        before += left.lengths.max(initial=0)
        left, right, count = _anchored(left, right, before, count)
    with distance_engine(engine, count, mode != "global", device, executor) as chosen:
        found = _within(chosen.distances_of_each(left, right, progress=progress), before)
    if not ends:
        distance: npt.NDArray[np.int32] = found.distance
        return distance
    return Distances(found.distance, np.ascontiguousarray(found.target_end))  # perhaps a view


def _anchored(
    queries: Sequences, targets: Sequences, before: _Int64, count: int
) -> tuple[Sequences, Sequences, int]:
    """Return sequences whose infix distances are the prefix distances of those that are given.

    A query of m letters gets m letters before it that occur nowhere else, and a target at least as
    many. A part of the target that begins among them costs at least what the prefix with its end
    costs: take the new letters out of the alignment, and no cost arises. A part that begins behind
    them costs m at least, and the empty prefix m. So the least distances are the same, and the
    first ends, too. A prefix of more than 2 m letters costs more than the empty one.
    """
    if count == CODES:
        raise ValueError(f"{count} different letters: at most {CODES - 1} in mode 'prefix'")
    made = []
    for each, new, most in (
        (queries, queries.lengths, queries.lengths),
        (targets, before, np.minimum(targets.lengths, 2 * before)),
    ):
        offsets = offsets_of(new + most)
        codes = np.full(offsets[-1], count, np.uint8)
        copy_ranges(each.residues, each.offsets[:-1], most, codes, offsets[:-1] + new)
        made.append(Sequences(codes, offsets))
    return made[0], made[1], count + 1


def _within(found: Distances, before: _Int64) -> Distances:
    """Return distances with ends in targets that had so many letters before them."""
    if not before.any():
        return found
    ends = np.maximum(found.target_end - before, 0).astype(np.int32)
    return Distances(found.distance, ends)


def _check(mode: object, engine: object) -> None:
    """Raise ValueError if there is no such mode or engine."""
    one_of("mode", mode, get_args(EditMode))
    one_of("engine", engine, get_args(EditEngine))


def _coded(sources: list[Source]) -> tuple[list[Sequences], int]:
    """Return the codes of sequences or lists of them, and how many codes there are."""
    names = ("queries", "targets")
    return codes_together([_items(*each) for each in zip(sources, names, strict=False)])


def _items(source: Source, name: str) -> list[Items]:
    """Return the items of each sequence of a source."""
    given = source.given
    if type(given) in (list, Sequences):
        kinds = set(map(type, given))
        numbers = kinds == {np.ndarray} and all(
            each.ndim == 1 and each.dtype.isnative and each.dtype.kind in "iu" for each in given
        )
        if kinds == {str} or numbers:
            return list(given)
        if kinds == {bytes}:
            return [letters.decode("latin-1") for letters in given]
    if isinstance(given, str):
        check_no_file(given, name, None, alone=True)
    found: list[Items] = []
    for number, (_, each) in enumerate(source.sequences(name, "a sequence or several expected"), 1):
        letters = each.letters if isinstance(each, Record) else each
        if not hasattr(letters, "__iter__"):
            more = f"; {NUMBERS}" if number == 1 and isinstance(each, int | np.integer) else ""
            raise TypeError(f"{name}: sequence {number} is of type {type(each).__name__}{more}")
        found.append(items_of(letters, empty=True))
    return found
