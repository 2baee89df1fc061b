"""The options of aligners and of searches: name, type and default of each.

A function takes them as ``**options``, with these as their types. An option of a search that is
added here is known to `glsw.search` and all that pass options on; `glsw.search.limits` decides what
it does, and a row of `glsw.cli.search` gives it a name on the command line.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    is_typeddict,
)

from glsw.engines.base import Progress, Ties
from glsw.run.pool import Devices
from glsw.scoring.gaps import Mode
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Strand
from glsw.sequences.seg import Masked
from glsw.statistics import Method
from glsw.words import POSITIVE, Range, no_option

if TYPE_CHECKING:
    from concurrent.futures import Executor

Order = Literal["score", "evalue"]
ORDERS: tuple[Order, ...] = get_args(Order)
Composition = Literal["auto", 0, 1, 2]
COMPOSITIONS: tuple[Composition, ...] = get_args(Composition)
Top: TypeAlias = int | Literal["auto"] | None
"""How many hits are listed, None for all; "auto" for 500, or all if an E-value is given."""
Evalue: TypeAlias = float | Literal["auto"] | None
"""The largest E-value of hits, None for any; "auto" for 10, or any where there are none."""

COUNT = POSITIVE._replace(also="None for all")
EVALUES = Range(0, above=True, also="inf")
FRACTION = Range(0, 1)
Mark: TypeAlias = Range | Literal["of alignments"]
"""What is known of an option beside its default: the numbers that it can have; or that it concerns
alignments only, not which hits there are."""

CallT = TypeVar("CallT", bound=Callable[..., Any])


class AlignerOptions(TypedDict, total=False):
    """The options of `glsw.Aligner`, which describes them."""

    scoring: Annotated[Scoring | None, None]
    mode: Annotated[Mode | None, None]
    engine: Annotated[str, "auto"]
    device: Annotated[Devices, None]
    ties: Annotated[Ties, "conventional"]
    unknown: Annotated[str | None, None]
    memory: Annotated[int | None, None]
    lower_case_mask: Annotated[bool, False]
    mask_low_complexity: Annotated[bool, False]
    seg: Annotated[Masked, "no"]
    threads: Annotated[int | None, None]


class HitOptions(TypedDict, total=False):
    """The options of a search that decide which hits it lists.

    Parameters
    ----------
    top : int, None or "auto"
        Maximum number of hits to list, the best by score or E-value; None for all. "auto" means
        500, or all if ``evalue`` is given. `SearchResult.more` counts the hits not listed.
    min_score : int or float
        Minimum score of a hit and of its further alignments. Only positive scores are listed, in
        every mode.
    evalue : float, None or "auto"
        Maximum E-value of hits: of all sequences within it, the best ``top`` are listed. None for
        no limit. "auto" means 10; without E-values, only ``top`` limits the list. E-values are
        for one strand or frame, as in BLAST.
    max_hsps : int or None
        Maximum number of alignments per hit, None for all: the best one, then the best of those
        that share no aligned pair of residues with earlier ones, as in `alignments`, in any
        strand or frame.
    per_part : bool
        Count alignments by part of the query if ``max_hsps`` is 2 or more, as ``sam`` and ``paf``
        need it for reads that map in parts: an alignment competes with a better one if they share
        more than half of the query's letters of the shorter, else it begins a part of its own. When
        a part of a hit is full, what is left of the query on either side is aligned.
    strand : {"both", "plus", "minus"}, optional
        Strands of the query; by default "both" for DNA, "plus" otherwise.
    genetic_code : int, optional
        NCBI number of the genetic code with which queries are translated, 1 for the standard
        code; requires a protein scoring.
    target_strand : {"both", "plus", "minus"}, optional
        Strands of translated targets, by default "both".
    target_genetic_code : int, optional
        Like ``genetic_code``, for the targets. They are translated in memory, which takes two bytes
        per nucleotide. `Hit.target` is the DNA, `Hsp.target_context` the frame, and E-values are
        computed with a third of the nucleotides.
    statistics : {"auto", "karlin-altschul", "fit", "none"}
        The method of bit scores and E-values, see `glsw.statistics.for_search`.
    order : {"score", "evalue"}
        Sort hits by score, as other exact programs do, or by E-value, as BLAST does; equal E-values
        are sorted by score, equal scores by database order. The best alignment of a hit is
        always the one with the best score.
    min_identity : float
        Minimum fraction of the columns of an alignment that have equal letters, from 0 to 1. A hit
        whose best alignment has less is neither listed nor counted, nor is a further alignment.
    min_coverage : float
        Likewise, of the letters of the query that are between its first and its last aligned one.
    composition : {"auto", 0, 1, 2}
        Adjust scores to the compositions of the two proteins: 0 no, 1
        composition-based statistics (Schaffer et al. 2001), 2 conditional compositional score
        matrix adjustment (Yu and Altschul 2005), blastp's default. Hits within 10 times the
        E-value limit are rescored exactly, each with its own matrix; the resulting scores,
        alignments and E-values are reported and decide which hits are kept. For profiles 2 is
        the same as 1: the profile is scaled for the composition of each target. "auto" is 2 for
        proteins, also translated ones, with published constants and an E-value limit, otherwise
        0: for DNA, other matrices, profiles and iterations.
    """

    top: Annotated[Top, "auto", COUNT]
    min_score: Annotated[float, 1, Range()]
    evalue: Annotated[Evalue, "auto"]
    max_hsps: Annotated[int | None, 1, COUNT, "of alignments"]
    per_part: Annotated[bool, False, "of alignments"]
    strand: Annotated[Strand | None, None]
    genetic_code: Annotated[int | None, None]
    target_strand: Annotated[Strand | None, None]
    target_genetic_code: Annotated[int | None, None]
    statistics: Annotated[Method, "auto"]
    order: Annotated[Order, "score"]
    min_identity: Annotated[float, 0, FRACTION]
    min_coverage: Annotated[float, 0, FRACTION]
    composition: Annotated[Composition, "auto"]


class SearchOptions(HitOptions, total=False):
    """The options of a search: `HitOptions`, where it runs, and which queries are skipped.

    Parameters
    ----------
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    executor : concurrent.futures.Executor, optional
        Computes the scores of parts of the database, with the engine and device of this
        aligner; workers on other hosts take device ``"auto"`` unless one is named. Engines on a
        device need processes, started by "spawn"; for several devices use the ``device`` of the
        aligner instead. That of Dask is ``client.get_executor()``.
    skip : int
        Number of queries at the start that are read but not searched, such as those finished by
        an interrupted search. The results of the others do not change.
    """

    progress: Annotated[Progress | None, None]
    executor: Annotated["Executor | None", None]
    skip: Annotated[int, 0]


class AlignerSearchOptions(AlignerOptions, SearchOptions, total=False):
    """The options of `glsw.Aligner` and of `glsw.Aligner.search`."""


def defaults_of(table: Any) -> dict[str, Any]:
    """Return the defaults of options by their names, of a table or of a class that takes them.

    >>> defaults_of(HitOptions)["top"], list(defaults_of(SearchOptions))[-1]
    ('auto', 'skip')
    """
    if is_typeddict(table):
        return {name: kind.__metadata__[0] for name, kind in table.__annotations__.items()}
    return {name: each.default for name, each in inspect.signature(table).parameters.items()}


def marked(table: Any, mark: Mark) -> list[str]:
    """Return the names of the options of a table with a mark.

    >>> marked(HitOptions, COUNT)
    ['top', 'max_hsps']
    """
    options = table.__annotations__.items()
    return [name for name, kind in options if mark in kind.__metadata__[1:]]


def ranges_of(table: Any) -> dict[str, Range]:
    """Return the numbers that options of a table can have, by their names.

    >>> str(ranges_of(HitOptions)["min_identity"])
    'a number from 0 to 1'
    """
    options = table.__annotations__.items()
    marks = ((name, mark) for name, kind in options for mark in kind.__metadata__[1:])
    return {name: mark for name, mark in marks if isinstance(mark, Range)}


def complete(verb: str, table: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the defaults of all that are not given.

    Raises
    ------
    TypeError
        If a verb has no such option; it names the nearest one.
    """
    defaults = defaults_of(table)
    _check(verb, options, defaults)
    return {**defaults, **options}


def apart(verb: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Split the options of a verb into those of its aligner and those of its search.

    Raises
    ------
    TypeError
        As of `complete`.
    """
    of_aligner, of_search = defaults_of(AlignerOptions), defaults_of(SearchOptions)
    _check(verb, options, [*of_aligner, *of_search])
    return (
        {name: value for name, value in options.items() if name in of_aligner},
        {name: value for name, value in options.items() if name in of_search},
    )


def _check(verb: str, options: Iterable[str], known: Iterable[str]) -> None:
    for name in options:
        if name not in known:
            raise no_option(verb, name, known)


def listing(table: Any, *described_by: Any) -> Callable[[CallT], CallT]:
    """Let the signature of a function with ``**options`` list these, and its docstring too.

    Descriptions are those of the table and of ``described_by``, see `described`.

    >>> @listing(SearchOptions, HitOptions)
    ... def verb(query, *, k=1, **options):
    ...     "Do something."
    >>> str(inspect.signature(verb))[:37]
    "(query, *, k=1, top='auto', min_score"
    >>> verb.__doc__.count("max_hsps : int or None")
    1
    """

    def listed(call: CallT) -> CallT:
        signature = inspect.signature(call)
        *others, _ = signature.parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        options = [
            inspect.Parameter(name, keyword, default=default)
            for name, default in defaults_of(table).items()
        ]
        call.__signature__ = signature.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
        return described(table, *described_by)(call)

    return listed


def described(*sources: Any) -> Callable[[CallT], CallT]:
    """Let the docstring of a function describe all its parameters, as those of the sources do.

    >>> def score(query, target, *, k=1):
    ...     '''Score a pair.
    ...
    ...     Parameters
    ...     ----------
    ...     query, target : str
    ...     k : int
    ...         How often.
    ...     '''
    >>> @described(score)
    ... def align(query, target, k=1):
    ...     '''Align a pair.
    ...
    ...     Returns
    ...     -------
    ...     str
    ...     '''
    >>> align.__doc__.count("query, target : str"), align.__doc__.count("How often.")
    (1, 1)
    """

    def filled(call: CallT) -> CallT:
        if call.__doc__ is None:  # python -OO
            return call
        text = inspect.cleandoc(call.__doc__)
        own = _entries(text)
        known: dict[str, str] = {}
        for source in reversed(sources):
            known |= _entries(inspect.cleandoc(source.__doc__ or ""))
        names = [name for name in inspect.signature(call).parameters if name not in own]
        missing = dict.fromkeys(known[name] for name in names if name in known)
        if missing:
            text = re.sub(r"\n\*\*options\n(    .*\n?)+", "\n", text)
            parts = re.split(r"\n\n(?=\w+\n---)", text)
            at = next((k for k, part in enumerate(parts) if part.startswith(_PARAMETERS)), 0)
            if not at:
                at = 1
                parts.insert(at, _PARAMETERS.rstrip("\n"))
            parts[at] = "\n".join([parts[at].rstrip("\n"), *missing])
            text = "\n\n".join(parts)
        call.__doc__ = text
        return call

    return filled


_PARAMETERS = "Parameters\n----------\n"


@cache
def _entries(text: str) -> dict[str, str]:
    """Return the entry of each parameter that a docstring describes."""
    _, _, section = text.partition(_PARAMETERS)
    section = re.split(r"\n\n(?=\w+\n---)", section)[0]
    entries = re.findall(r"^\S.*(?:\n(?:    .*|(?=\n    )))*", section, re.MULTILINE)
    return {
        name.strip(): entry for entry in entries for name in re.split(" : |\n", entry)[0].split(",")
    }
