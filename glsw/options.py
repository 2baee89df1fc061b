"""The options of aligners and of searches: name, type and default of each.

A function takes them as ``**options``, with these as their types. An option of a search that is
added here is known to `glsw.search` and all that pass options on; `glsw.search.limits` decides what
it does, and a row of `glsw.cli.search` gives it a name on the command line.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

from glsw.engines.base import Progress, Ties
from glsw.run.pool import AnyExecutor, Devices
from glsw.scoring.gaps import Mode
from glsw.scoring.scoring import Scoring
from glsw.sequences.query import Strand
from glsw.sequences.seg import Masked
from glsw.statistics import Method
from glsw.words import did_you_mean

Order = Literal["score", "evalue"]
ORDERS: tuple[Order, ...] = get_args(Order)
Composition = Literal[0, 1, 2]
COMPOSITIONS: tuple[Composition, ...] = get_args(Composition)
Top: TypeAlias = int | Literal["auto"] | None
"""How many hits are listed, None for all; "auto" for 500, or all if an E-value is given."""
Evalue: TypeAlias = float | Literal["auto"] | None
"""The largest E-value of hits, None for any; "auto" for 10, or any where there are none."""

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
    """The options of a search that decide which hits it lists, see `glsw.search`."""

    top: Annotated[Top, "auto"]
    min_score: Annotated[float, 1]
    evalue: Annotated[Evalue, "auto"]
    max_hsps: Annotated[int | None, 1]
    strand: Annotated[Strand | None, None]
    genetic_code: Annotated[int | None, None]
    target_strand: Annotated[Strand | None, None]
    target_genetic_code: Annotated[int | None, None]
    statistics: Annotated[Method, "auto"]
    order: Annotated[Order, "score"]
    composition: Annotated[Composition, 0]


class SearchOptions(HitOptions, total=False):
    """The options of `glsw.Aligner.search`, see `glsw.search`."""

    progress: Annotated[Progress | None, None]
    executor: Annotated[AnyExecutor | None, None]
    skip: Annotated[int, 0]


class AlignerSearchOptions(AlignerOptions, SearchOptions, total=False):
    """The options of `glsw.Aligner` and of `glsw.Aligner.search`."""


def defaults_of(table: Any) -> dict[str, Any]:
    """Return the defaults of options by their names.

    >>> defaults_of(HitOptions)["top"], list(defaults_of(SearchOptions))[-1]
    ('auto', 'skip')
    """
    return {name: kind.__metadata__[0] for name, kind in table.__annotations__.items()}


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
    """Return the options of the aligner of a verb, and those of its search.

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
            raise TypeError(f"{verb}() has no option {name!r}{did_you_mean(name, known)}")


def listing(table: Any) -> Callable[[CallT], CallT]:
    """Let the signature of a function with ``**options`` list these with their defaults.

    >>> @listing(AlignerOptions)
    ... def verb(query, *, k=1, **options): ...
    >>> str(inspect.signature(verb))[:39]
    '(query, *, k=1, scoring=None, mode=None'
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
        return call

    return listed
