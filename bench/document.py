"""The document of a benchmark: what was measured, where and with which versions, as JSON."""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bench import machine
from glsw.device.device import Device

SCHEMA = 2
"""Version of the JSON files: schema.json says what is in them, README.md what it means."""


class Results(list[dict[str, Any]]):
    """Results of a benchmark, which `keep` also writes to the file of ``--output``.

    Parameters
    ----------
    benchmark : str
        Name of the module.
    device : Device or None
        What the engine ran on, None for the CPU alone.
    settings : mapping
        Sizes, scoring and options.
    arguments : Namespace
        Of the command line: ``output`` and ``commit``.
    """

    def __init__(
        self,
        benchmark: str,
        device: Device | None,
        settings: Mapping[str, Any],
        arguments: argparse.Namespace,
    ) -> None:
        super().__init__()
        self._path: Path | None = arguments.output
        self._document = report(benchmark, device, settings, self, commit=arguments.commit)

    def keep(self, result: dict[str, Any]) -> dict[str, Any]:
        """Append a result, write the file, and return the result."""
        self.append(result)
        self.save()
        return result

    def save(self) -> None:
        """Write the file."""
        if self._path:
            write(self._path, self.document())

    def document(self) -> dict[str, Any]:
        """Return the whole document."""
        return self._document | {"date": _now(), "results": list(self)}


def report(
    benchmark: str,
    device: Device | None,
    settings: Mapping[str, Any],
    results: list[Any],
    *,
    commit: str | None = None,
) -> dict[str, Any]:
    """Return the whole document; the parameters are those of `Results`.

    ``commit`` is for a copy of the checkout without its history.
    """
    return {
        "schema": SCHEMA,
        "benchmark": benchmark,
        "date": _now(),
        "commit": commit or machine.git("rev-parse", "HEAD"),
        "dirty": machine.dirty(commit),
        "device": None if device is None else machine.device_facts(device),
        "cpu": {"model": machine.cpu_model(), "cores": machine.cores()},
        "os": {"system": platform.system(), "machine": platform.machine()},
        "versions": machine.versions(),
        "settings": dict(settings),
        "results": results,
    }


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a report as JSON; whoever reads the file sees the old one or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
