"""The file of rows: a header with the devices, then a row per program, or per sample of them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

RESULTS = Path(__file__).with_name("rows.ndjson")
DEVICES = Path(__file__).with_name("devices.txt")
Row: TypeAlias = dict[str, Any]
ASKED, SAMPLE = "asked for", "permutations"
"""The sets of rows: of a program that engines ask for; of a sample of the tests' permutations."""
ES = "-es"
"""What follows the name of a device where its OpenGL ES is meant."""
_KERNEL = re.compile(r" \(DRM [^)]*\)|, DRM [^)]*|^0: ")


@cache
def devices() -> dict[str, str]:
    """Return what the devices of tools/vendors/devices.txt are, by their names."""
    lines = DEVICES.read_text(encoding="ascii").splitlines()
    parts = [line.split(maxsplit=3) for line in lines if not line.startswith("#")]
    return {name: text for name, _, _, text in parts}


def both() -> list[str]:
    """Return the names of the devices, and of their OpenGL ES, as run.sh knows them."""
    return [name + more for name in devices() for more in ("", ES)]


def spills(row: Row) -> bool:
    """Tell whether registers did not suffice."""
    return bool(row.get("spills") or row.get("scratch"))


def per_cell(rows: Iterable[Row]) -> Iterator[float]:
    """Yield how many instructions a cell takes in the loops of `lanes.comp` that were counted."""
    for row in rows:
        if "loop" in row:
            yield row["loop"] / (row["macros"]["ROWS"] * row["macros"]["STEP"])


def impersonal(info: object) -> str:
    """Return what a device says of itself, without the kernel of this machine."""
    return _KERNEL.sub("", str(info))


@dataclass
class Rows:
    """Rows by the names of their devices, and what the devices say of themselves."""

    devices: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path = RESULTS) -> "Rows":
        """Read a file; one that is not there has no rows."""
        found = cls()
        if path.exists():
            head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            found.devices = head["devices"]
            for row in lines:
                found.rows.setdefault(row["device"], []).append(row)
        return found

    def write(self, path: Path) -> None:
        """Write the rows, in the order of `devices`."""
        names = [name for name in both() if name in self.rows]
        told = {name: self.devices[name] for name in names}
        values: list[Row] = [{"schema": 1, "licence": "CC0-1.0", "devices": told}]
        values += [row for name in names for row in self.rows[name]]
        path.write_text("".join(map(_line, values)), encoding="utf-8")

    def of(self, device: str, kind: str) -> list[Row]:
        """Return the rows of a device that are of a set."""
        return [row for row in self.rows.get(device, ()) if row["set"] == kind]


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"
