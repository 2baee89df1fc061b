"""The summary of a run for pipelines: a JSON file of versions, inputs, devices, hits and times.

`SCHEMA` has its members; docs/SUMMARY.md describes them.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from glsw.alignment.hits import SearchResult, joined
from glsw.device.info import DeviceInfo
from glsw.output.result_file import ResultFile
from glsw.sequences.records import Record

SCHEMA = Path(__file__).with_name("summary_schema.json")
"""The JSON Schema of summaries."""
VERSION = 1
"""The version of the schema, a member of each summary."""

_MULTIQC = "_mqc.json"
_COLUMNS: Mapping[str, Mapping[str, object]] = {
    "queries": {"title": "Queries", "description": "sequences searched", "format": "{:,.0f}"},
    "hits": {"title": "Hits", "description": "hits listed", "format": "{:,.0f}"},
    "alignments": {"title": "Alignments", "description": "of these hits", "format": "{:,.0f}"},
    "seconds": {"title": "Time", "description": "wall time of the run", "suffix": " s"},
    "gcups": {"title": "GCUPS", "description": "billions of cells per second", "hidden": True},
    "engine": {"title": "Engine", "description": "what computed", "hidden": True},
    "device": {"title": "Device", "description": "where it ran"},
}
"""The columns of general statistics in MultiQC."""
_PACKAGES = "numpy", "biopython", "moderngl", "pyopal", "parasail"


class RunSummary:
    """A summary of a run, written with its results and complete when a ``with`` block succeeds.

    After an error there is no new file; an older one remains. Each query is one line.

    Parameters
    ----------
    path : path
        The file. If its name ends in ``_mqc.json``, it is written as custom content for MultiQC: a
        row with the run's totals for its general statistics.
    members : mapping
        Members at the beginning, such as ``command`` and ``database``.
    began : float, optional
        `time.time` at the start of the run, by default now.
    resumed : int
        Number of results from an earlier run, which are not in the summary.

    Attributes
    ----------
    devices : sequence of DeviceInfo
        To be set before the block ends.

    Examples
    --------
    >>> import tempfile
    >>> from glsw import Aligner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.json")
    ...     with RunSummary(path, {"command": "an example"}) as summary:
    ...         for result in summary.counted(Aligner(engine="reference").search(["MKV"], ["MKV"])):
    ...             pass
    ...     json.loads(path.read_text())["totals"]["hits"]
    1
    """

    def __init__(
        self,
        path: str | Path,
        members: Mapping[str, object],
        *,
        began: float | None = None,
        resumed: int = 0,
    ) -> None:
        self._file = ResultFile(path)
        self._for_multiqc = Path(path).name.endswith(_MULTIQC)
        self._began = time.time() if began is None else began
        self._members, self._resumed = members, resumed
        self._rows = self._hits = self._alignments = self._cells = self._memory = 0
        self._seconds = 0.0
        self._engines: dict[str, None] = {}
        self._ran_on: dict[str, None] = {}
        self.devices: Sequence[DeviceInfo] = ()

    def __enter__(self) -> RunSummary:
        begun = datetime.fromtimestamp(self._began, timezone.utc)
        head = {
            "schema": VERSION,
            "versions": versions(),
            "started": begun.isoformat(timespec="seconds"),
            **self._members,
        }
        self._file.__enter__()
        if not self._for_multiqc:
            self._file.stream.write(f'{json.dumps(head, indent=2)[:-2]},\n  "queries": [')
        return self

    def counted(self, results: Iterable[SearchResult]) -> Iterator[SearchResult]:
        """Yield the results, and add a line per query, also if it has several results."""
        last: Record | None = None
        row: dict[str, Any] = {}
        for result in results:
            if result.query is not last:
                self._add_if(last, row)
                last, row = result.query, _row(result)
            else:  # an alignment each
                for name in ("alignments", "cells", "seconds"):
                    row[name] += _row(result)[name]
            self.ran(result.engine, result.device, result.memory)
            yield result
        self._add_if(last, row)

    def _add_if(self, query: Record | None, row: dict[str, Any]) -> None:
        if query is not None:
            self.add(query.id, **row)
            self._alignments += row["alignments"]
            self.work(row["cells"], row["seconds"])

    def add(self, query: str, *, hits: int, **values: object) -> None:
        """Add a line about a query."""
        if not self._for_multiqc:
            line = json.dumps({"id": query, "hits": hits, **values}, allow_nan=False)
            self._file.stream.write(f"{',' * bool(self._rows)}\n    {line}")
        self._rows += 1
        self._hits += hits

    def work(self, cells: int, seconds: float) -> None:
        """Add the cells and the seconds of queries."""
        self._cells += cells
        self._seconds += seconds

    def ran(self, engine: str, device: str, memory: int = 0) -> None:
        """Record the engine and where it ran, and the bytes of device memory, if counted."""
        self._engines[engine] = None
        self._ran_on[device] = None
        self._memory = max(self._memory, memory)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if error is None and self._for_multiqc:
                self._file.stream.write(f"{json.dumps(self._multiqc(), indent=2)}\n")
            elif error is None:
                self._file.stream.write(f"\n  ],{json.dumps(self._end(), indent=2)[1:]}\n")
        finally:
            self._file.__exit__(kind, error, traceback)
            if error is not None:
                self._file.part.unlink(missing_ok=True)

    def _multiqc(self) -> dict[str, object]:
        """Return the totals as MultiQC's custom content, of a sample named as the query file."""
        query = self._members.get("query")
        path = str(query["path"]) if isinstance(query, Mapping) else "glsw"
        sample = Path("stdin" if path == "-" else path).name.partition(".")[0]
        end = self._end()
        values = {**self._totals(), "engine": end["engine"], "device": ", ".join(self._ran_on)}
        return {
            "id": "glsw",
            "plot_type": "generalstats",
            "headers": {name: {"namespace": "glsw", **each} for name, each in _COLUMNS.items()},
            "data": {sample: {name: values[name] for name in _COLUMNS}},
        }

    def _end(self) -> dict[str, object]:
        return {
            "engine": joined(self._engines),
            "ran_on": list(self._ran_on),
            "devices": [device_members(each) for each in self.devices],
            "totals": self._totals(),
        }

    def _totals(self) -> dict[str, object]:
        return {
            "queries": self._rows,
            "resumed_queries": self._resumed,
            "hits": self._hits,
            "alignments": self._alignments,
            "cells": self._cells,
            "search_seconds": round(self._seconds, 6),
            "seconds": round(time.time() - self._began, 6),
            "gcups": round(self._cells / self._seconds / 1e9, 6) if self._seconds else 0,
            "device_memory": self._memory,
        }


def versions() -> dict[str, str]:
    """Return the versions of glsw, Python, the system, and packages used to compute."""
    from importlib.metadata import PackageNotFoundError, version

    from glsw._version import __version__

    found = {
        "glsw": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def device_members(info: DeviceInfo) -> dict[str, Any]:
    """Return a device and its driver as members of JSON."""
    return {
        "index": info.index,
        "name": info.name,
        "vendor": info.vendor,
        "driver": info.version_string,
        "software": info.software,
    }


def _row(result: SearchResult) -> dict[str, Any]:
    best = result[0] if len(result) else None
    rows = result.listed.rows
    return {
        "length": len(result.query),
        "hits": len(result),
        "more_hits": result.more,
        "more_places": result.more_places,
        "alignments": rows.stop - rows.start,
        "best_score": best and best.score,
        "best_evalue": best and best.evalue,
        "statistics": result.statistics.name if result.statistics else None,
        "cells": result.cells,
        "seconds": result.seconds,
    }
