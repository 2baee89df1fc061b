"""What was measured on: devices, drivers, processors, commits, files; and what went wrong."""

from __future__ import annotations

from bench import rows
from bench.report.blocks import Section, Table, joined
from bench.report.documents import Collection, Document

ALL = "From all files, see Files"


def section(files: Collection) -> Section:
    """Return the devices, and how many results were compared, were wrong, or are missing."""
    blocks = [_devices(files), *_checks(files)]
    documents = [_line(files, each) for each in files.documents]
    head = ["file", "device", "benchmark", "commit", "date (UTC)", "glsw", "Python", "form"]
    notes = ["+: the checkout differed from the commit"]
    blocks.append(Table("Files", head, documents, notes, folded=True))
    return Section("devices", "Devices", list(blocks))


def _devices(files: Collection) -> Table:
    """Return a line per device, with what its newest document says."""
    head = ["device", "renderer", "vendor", "driver", "OpenGL", "CPU", "commits", "dates", "files"]
    rows = []
    for name in files.devices:
        own = sorted(
            (each for each in files.documents if files.name(each) == name),
            key=lambda each: each.date,
        )
        newest = own[-1]
        device = newest.device or {}
        days = sorted({each.date[:10] for each in own})
        rows.append(
            [
                name,
                newest.renderer,
                str(device.get("vendor", "")),
                joined(str((each.device or {}).get("driver", "")) for each in own),
                str(device.get("gl", "none")),
                joined(f"{each.cpu['model']}, {each.cpu['cores']} cores" for each in own),
                joined(each.version for each in own),
                " to ".join(dict.fromkeys((days[0], days[-1]))),
                str(len(own)),
            ]
        )
    notes = ["cores: usable logical processors", ALL]
    return Table("Devices compared", head, rows, notes)


def _line(files: Collection, document: Document) -> list[str]:
    benchmark = document.benchmark
    if benchmark == "suite":
        benchmark = "suite: " + joined(part.benchmark for part in document.parts)
    return [
        document.file,
        files.name(document),
        benchmark,
        document.version,
        document.date[:16].replace("T", " "),
        str(document.versions.get("glsw", "")),
        str(document.versions.get("python", "")),
        f"version {document.schema}",
    ]


def _checks(files: Collection) -> list[Table | str]:
    counts = {
        name: dict.fromkeys(("timed", "checked", "wrong", "not run"), 0) for name in files.devices
    }
    compared = dict.fromkeys(files.devices, 0)
    wrong: list[list[str]] = []
    for part in files.parts():
        name = files.name(part)
        for key, found in rows.measurements(part):
            state = rows.state(found)
            counts[name][state] += 1
            compared[name] += (found.get("check") or {"pairs": 0})["pairs"]
            if state == "wrong":
                check = found["check"]
                what = f"{check['wrong']} of {check['pairs']} differ from {check['judge']}"
                wrong.append([key, name, what, str(check["first"]), part.document.file])
    head = ["device", "timed", "only compared", "wrong", "not run", "results compared"]
    lines = [
        [name, *(f"{count:,}" for count in counts[name].values()), f"{compared[name]:,}"]
        for name in files.devices
    ]
    notes = ["results compared: in the last run of each measurement; every timed run is compared"]
    notes.append(ALL)
    blocks: list[Table | str] = [Table("Measurements by outcome", head, lines, notes)]
    if wrong:
        head = ["measurement", "device", "how many", "first", "file"]
        blocks.append(Table("WRONG results: they have no times", head, wrong))
    else:
        blocks.append("No result was wrong. What is wrong is never timed.")
    missing = [
        [step.name, files.name(each), step.why, each.file]
        for each in files.documents
        for step in each.missing
    ]
    if missing:
        head = ["step", "device", "why", "file"]
        told = sorted({line[-1] for line in missing})
        blocks.append(Table("Steps left out or cut short", head, missing, files=told))
    return blocks
