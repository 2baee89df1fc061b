"""Every measurement of a document under a name that is the same in two runs of the same sizes.

>>> from types import SimpleNamespace
>>> check = {"judge": "reference", "pairs": 1, "wrong": 0, "first": None}
>>> timed = {"check": check, "cells": 10**6, "wall": {"median": 0.1}, "device": None}
>>> result = {"length": 1000, "engines": {"fused": timed}, "cpu": {"plain": timed}}
>>> part = SimpleNamespace(benchmark="lin2015", settings={}, results=[result])
>>> for key, measurement in measurements(part):
...     print(key, state(measurement), measurement["peer"])
lin2015 / length 1000 / fused timed False
lin2015 / length 1000 / one core, plain timed True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Protocol, TypeAlias

Found: TypeAlias = Iterator[tuple[tuple[object, ...], Mapping[str, Any]]]
"""Words of the name, and what was measured."""

MEASURED = frozenset(("check", "cells", "wall"))
"""Fields that make an entry a measurement."""


class Part(Protocol):
    """Results of one benchmark: a document, or a step of a suite."""

    @property
    def benchmark(self) -> str:
        """The module."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Sizes, scoring and options."""

    @property
    def results(self) -> Sequence[Any]:
        """What it found."""


def measurements(part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and measurement of all that a benchmark measured, or left out.

    Each has besides `peer`: it is another program. Those of `micro` have ``value`` and ``unit``
    instead of times.
    """
    for words, found in _FORMS.get(part.benchmark, _unknown)(part):
        key = " / ".join(str(word) for word in (part.benchmark, *words) if word not in (None, ""))
        yield key, {"peer": False, **found}


def state(measurement: Mapping[str, Any]) -> str:
    """Return ``timed``, ``checked`` (right, not timed), ``wrong`` or ``not run``."""
    check = measurement.get("check")
    if check is None or (reason(measurement) and not check["pairs"]):
        return "not run"
    if check["wrong"] or not check["pairs"]:
        return "wrong"
    timed = measurement.get("wall") or measurement.get("value") is not None
    return "timed" if timed else "checked"


def reason(measurement: Mapping[str, Any]) -> str | None:
    """Return why something was not run, if that is told."""
    for field in ("left_out", "refused"):
        if measurement.get(field):
            return str(measurement[field])
    if measurement.get("estimate"):
        return f"it would take about {measurement['estimate']:.3g} s"
    return None


def _liu2006(part: Part) -> Found:
    size = f"{part.settings['database']['sequences']} sequences"
    for result in part.results:
        words = (size, f"length {result['length']}")
        yield (*words, part.settings["engine"]), result["engine"]
        for name, peer in result["peers"].items():
            yield (*words, name), _peer(peer)


def _aymone2022(part: Part) -> Found:
    size = f"{part.settings['pairs']} x {part.settings['length']}"
    for result in part.results:
        words = (size, result["workload"])
        if result["task"] in ("trace", "simd"):
            yield (*words, f"one core, {result['task']}"), _peer(result)
        else:
            yield (*words, f"{result['task']}, {result['ties']}"), result


def _pairs(part: Part) -> Found:
    for result in part.results:
        gaps = f"{result['gaps']} gaps" if "gaps" in result else None
        words = (gaps, f"length {result['length']}")
        for name, each in result["engines"].items():
            yield (*words, name), each
        for name, each in result["cpu"].items():
            yield (*words, f"one core, {name}"), _peer(each)


def _sudo2012(part: Part) -> Found:
    for result in part.results:
        if result["part"] == "judge":
            continue
        task = result["task"]
        size = f"{result['triples']} x {' x '.join(map(str, result['lengths']))}"
        words = (result["part"], result["scoring"], task, size)
        if result["part"] == "lengths":
            for name, each in result["engines"].items():
                yield (*words, name), _peer(each) if name == "cpu" else each
        elif result["part"] == "aims":
            yield (*words, result["engine"]), result
        else:
            names = ",".join(map(str, result["devices"]))
            for what, rate in ((names.partition(",")[0], "one_gcups"), (names, "all_gcups")):
                found = {
                    "check": result["check"],
                    "cells": result["cells"],
                    "wall": _of_rate(result.get(rate), result["cells"]),
                    "device": None,
                    "gcups": result.get(rate),
                    "left_out": result.get("left_out"),
                }
                yield (*words, result["work"], result["engine"], f"devices {what}"), found


def _of_rate(gcups: float | None, cells: int) -> dict[str, Any] | None:
    """Return seconds of which only the rate was written down."""
    if not gcups:
        return None
    seconds = cells / gcups / 1e9
    return {"median": seconds, "minimum": seconds, "maximum": seconds, "spread": None, "repeats": 1}


def _search(part: Part) -> Found:
    for result in part.results:
        base = (f"{database_name(result)}, {result['database']['sequences']} sequences",)
        for run in result["runs"]:
            words = (*base, run["label"])
            if run["refused"]:
                yield words, _left_out(run["refused"])
                continue
            for each in run["queries"]:
                yield (*words, f"query {each['length']}"), each
            if run["together"]:
                yield (*words, "all queries at once"), run["together"]
        for each in result.get("peers", ()):
            cores = "one core" if each["cores"] == 1 else f"{each['cores']} cores"
            yield (*base, f"{each['peer']}, {cores}", f"query {each['length']}"), _peer(each)
        if "command" in result:
            yield (*base, "glsw search", result["command"]["engine"]), _command(result)
        if "devices" in result:
            numbers = result["devices"]["devices"]
            for name, some in (("one", numbers[:1]), ("all", numbers)):
                words = (*base, "devices " + ",".join(map(str, some)))
                refused = result["devices"]["refused"]
                yield words, _left_out(refused) if refused else result["devices"][name]


def database_name(result: Mapping[str, Any]) -> str:
    """Return the name of the database of a search; older documents call targets subjects."""
    return str(result["database"]["name"]).replace("subjects", "targets")


def _command(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole command as a measurement: its seconds, without cells."""
    command = result["command"]
    times = command["seconds"]
    passed = not command["check"]["wrong"]
    low, high = min(times), max(times)
    wall = {"median": median(times), "minimum": low, "maximum": high}
    wall |= {"spread": (high - low) / median(times), "repeats": len(times)}
    return {"check": command["check"], "cells": None, "wall": wall if passed else None}


def _nucleotides(part: Part) -> Found:
    for result in part.results:
        words = (f"{result['sequences']} x {part.settings['length']}", f"length {result['length']}")
        yield (*words, "lanes"), result["lanes"]
        yield (*words, "cpu"), _peer(result["cpu"])


def _edit(part: Part) -> Found:
    for result in part.results:
        work = (result["work"], f"{result['pairs']} pairs", result["program"])
        yield work, result if result["program"].startswith("glsw") else _peer(result)


def _traceback(part: Part) -> Found:
    for result in part.results:
        if result["memory"]:
            way = f"at most {result['memory']} bytes"
        elif not result["spacing"]:
            way = "score and end only"
        else:
            way = f"c = {result['rows']}" if result["rows"] else "all directions"
        yield (f"length {result['length']}", result["engine"], way), result


def _fragment_tiles(part: Part) -> Found:
    for result in part.results:
        yield (
            (
                f"length {result['length']}",
                f"{result['gaps']} gaps",
                result["task"],
                f"tile {result['tile']}",
                f"{result['texels']} texels",
            ),
            result,
        )


def _megabase(part: Part) -> Found:
    for result in part.results:
        yield (result["pair"], result["task"]), result


def _exact(part: Part) -> Found:
    for result in part.results:
        size = f"{result['queries']} x {result['subjects']}"
        yield (
            (result["name"], result["number"], size),
            {
                "check": result["check"],
                "cells": None,
                "wall": None,
            },
        )


def _micro(part: Part) -> Found:
    for result in part.results:
        yield (result["name"],), {"cells": None, "wall": None, "device": None, **result}


def _engines(part: Part) -> Found:
    for result in part.results:
        cores = result.get("cores")
        name = result["engine"]
        if cores:
            name += ", one core" if cores == 1 else f", {cores} cores"
        size = f"{result['count']} x {lengths(result['lengths'])}"
        found = _peer(result) if result.get("peer") else result
        yield (result["workload"], result["task"], result["scoring"], size, name), found


def _journeys(part: Part) -> Found:
    for result in part.results:
        size = f"{result['query_letters']} x {result['target_letters']}"
        origin = "generated" if result["generated"] else ""
        found = result if result["program"] == "glsw" else _peer(result)
        yield (result["journey"], size, origin, result["program"]), found


def lengths(values: Sequence[int]) -> str:
    """Return lengths as words.

    >>> lengths([512, 512]), lengths([144, 189, 222, 375, 464])
    ('512 x 512', '5 lengths from 144 to 464')
    """
    if len(values) > 3:
        return f"{len(values)} lengths from {min(values)} to {max(values)}"
    return " x ".join(map(str, values))


def _peer(measurement: Mapping[str, Any]) -> dict[str, Any]:
    return {**measurement, "peer": True}


def _left_out(why: str) -> dict[str, Any]:
    return {"check": None, "cells": None, "wall": None, "device": None, "left_out": why}


def _unknown(part: Part) -> Found:
    """Find measurements at any depth; words and whole numbers around them are the name."""

    def walk(entry: Any, words: tuple[object, ...]) -> Found:
        if isinstance(entry, Mapping):
            own = [
                f"{name} {value}" if isinstance(value, int) else value
                for name, value in entry.items()
                if isinstance(value, (str, int)) and not isinstance(value, bool)
                if name not in ("cells", "memory", "memory_used")
            ]
            if entry.keys() >= MEASURED:
                yield (*words, *own), entry
                return
            for name, value in entry.items():
                if isinstance(value, (Mapping, list)):
                    yield from walk(value, (*words, *own, name))
        elif isinstance(entry, list):
            for each in entry:
                yield from walk(each, words)

    for result in part.results:
        yield from walk(result, ())


_FORMS: Mapping[str, Callable[[Part], Found]] = {
    "liu2006": _liu2006,
    "aymone2022": _aymone2022,
    "lin2015": _pairs,
    "scan2014": _pairs,
    "sudo2012": _sudo2012,
    "search": _search,
    "nucleotides": _nucleotides,
    "edit": _edit,
    "traceback": _traceback,
    "fragment_tiles": _fragment_tiles,
    "megabase": _megabase,
    "exact": _exact,
    "micro": _micro,
    "engines": _engines,
    "journeys": _journeys,
}
