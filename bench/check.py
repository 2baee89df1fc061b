"""``bench check FILE``: what is looked at before the rows of another device are published.

The form is that of schema.json, nothing in it personal. All rows are of the device and the clean
commits that they name; each result of glsw was judged; times, cells and rates agree; the work is
that of the rows of bench/results that have the same name; and no rate is above what the device's
own rates of `micro` allow.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import Parser, roofline, table
from bench.row import KEY, File, Row, older, state
from glsw.words import numbered

RESULTS = Path(__file__).with_name("results")
MOST = 1.15  # share of a ceiling that is believed: `micro` is measured too
CLOSE = 0.02  # what may be lost by rounding
_WORK = [
    name for name in KEY if name not in ("program", "number", "cores", "device", "driver", "cpu")
]


def work_of(row: Row) -> str:
    """Return what was done, whoever did it."""
    return str([row.get(name) for name in _WORK])


def results() -> list[Path]:
    """Return our files of rows."""
    return sorted(RESULTS.glob("*.ndjson"))


def problems(file: File) -> Iterator[str]:
    """Yield what is wrong with a file that has the right form."""
    device, rows = file.header["device"], list(file.rows.values())
    whose = device["renderer"] if device else None
    rates = roofline.rates_of(rows)
    known: dict[str, set[int]] = {}
    for row in (row for path in results() for row in File.read(path).rows.values()):
        if _whole(row):
            known.setdefault(work_of(row), set()).add(row["cells"])
    for row in rows:
        found = [*_of_row(row)]
        if row["device"] != (whose or row["cpu"].rpartition(",")[0]):
            found.append(f"is of {row['device']}, the file of {whose}")
        cells = known.get(work_of(row))
        if _whole(row) and cells and row["cells"] not in cells:
            found.append(f"{row['cells']} cells, of the same work {max(cells)} are known")
        limit = roofline.bound(row, rates, device) if state(row) == "timed" else None
        if limit and limit.share and limit.share > MOST:
            found.append(f"{limit.share:.0%} of what is possible: {limit.lowest.reason}")
        yield from (f"{table.title(row)}: {each}" for each in found)


def _whole(row: Row) -> bool:
    """Tell whether the cells are those of the work, and this is told by its sizes."""
    return bool(row.get("cells") and row.get("sizes") and not row.get("part"))


def _of_row(row: Row) -> Iterator[str]:
    if row.get("dirty"):
        yield "measured from files that differed from their commit"
    if row["ours"] and not row.get("commit"):
        yield "of no commit"
    if state(row) != "timed":
        return
    if row["ours"] and not row.get("judged"):
        yield "nobody judged the result"
    for name in ("wall", "clock"):
        limits = row.get(f"{name}_min"), row.get(f"{name}_max")
        if row.get(name) and limits != (None, None):
            low, high = (limits[0] or 0.0) * (1 - CLOSE), (limits[1] or 0.0) * (1 + CLOSE)
            if not 0 < low <= row[name] <= high:
                yield f"{name} {row[name]} is not between its limits"
    if row.get("wall") and (row.get("clock") or 0.0) > row["wall"] * (1 + CLOSE):
        yield "the device's clock ran longer than the call"
    if row.get("wall") and row.get("cells") and row.get("unit") == "cell/s":
        ratio, apart = (
            (row.get("rate") or 0.0) * row["wall"] / row["cells"],
            CLOSE + (row.get("between") or 0.0),
        )
        if not 1 - apart <= ratio <= 1 + apart:
            yield f"its rate is {ratio:.3g} times its cells over its seconds"


def notes(file: File) -> Iterator[str]:
    """Yield what does not make a file wrong."""
    rows = list(file.rows.values())
    yield f"{numbered(len(rows), 'row')}, {sum(state(row) == 'timed' for row in rows)} timed"
    if wrong := [table.title(row) for row in rows if state(row) == "wrong"]:
        yield f"{numbered(len(wrong), 'wrong result')}, without a time: {wrong[0]}"
    if file.header["device"] and not roofline.rates_of(rows):
        yield "no rows of `micro`: rates are not compared with what the device allows"
    if old := sum(map(older, rows)):
        yield f"{old} rows are older than the shaders of this checkout"
    if told := sum(bool(row.get("source")) for row in rows):
        yield f"{told} rows are not of a run"


def main(argv: Sequence[str]) -> int:
    """Check files; return 0, 1 if something is wrong with one."""
    parser = Parser(" check", "Check files before they are published.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    status = 0
    for path in parser.parse_args(argv).files:
        file = File.read(path)
        found = [*problems(file)]
        print(f"{path.name}: {'; '.join(notes(file))}: {numbered(len(found), 'problem')}")
        for each in found:
            print(f"  {each}", file=sys.stderr)
        status |= bool(found)
    return status
