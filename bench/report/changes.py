"""Two commits of one device: what `bench.compare` says of them."""

from __future__ import annotations

from itertools import pairwise

from bench import compare
from bench.report.blocks import Block, Section, Table, number
from bench.report.documents import Collection, Document


def section(files: Collection) -> Section | None:
    """Return the changes of each device with two commits of the same work; None without any."""
    shown: list[Block] = []
    for name in files.devices:
        own = sorted(
            (each for each in files.documents if files.name(each) == name),
            key=lambda each: each.date,
        )
        for work in dict.fromkeys(each.benchmark for each in own):
            runs = [each for each in own if each.benchmark == work]
            for old, new in pairwise(runs):
                if old.version != new.version:
                    shown += _compared(name, old, new)
    if not shown:
        return None
    floors = (f"{floor * 100:g} % on {kind}" for kind, floor in compare.FLOOR.items())
    text = (
        "New time over old time, of measurements that two runs on one device have in common. What "
        f"is marked changed by more than {' and '.join(floors)}, by more than the repeats of both "
        "runs differ, and so far that even the shortest time is beyond the other run's median."
    )
    return Section("changes", "Changes between commits", [text, *shown])


def _compared(name: str, old: Document, new: Document) -> list[Block]:
    found = compare.compare(old, new)
    if not found.deltas and not found.wrong:
        return []
    caption = f"{name}: {old.version} to {new.version}"
    groups = compare.by_benchmark(found.ours)
    rows = [
        [
            benchmark,
            number(compare.mean(deltas)),
            str(len(deltas)),
            *(str(sum(each.verdict == word for each in deltas)) for word in ("slower", "faster")),
        ]
        for benchmark, deltas in groups.items()
    ]
    beside = [delta for delta in found.deltas if delta.peer]
    if beside:
        rows.append(["other programs", number(compare.mean(beside)), str(len(beside)), "", ""])
    head = ["benchmark", "new / old, mean", "compared", "slower", "faster"]
    only = f"only in the old run: {len(found.only_old)}, only in the new one: {len(found.only_new)}"
    names = [old.file, new.file]
    notes = [
        "mean: geometric; below 1 is faster; other programs tell what the machine did",
        only,
    ]
    shown: list[Block] = [Table(caption, head, rows, notes, names)]
    lines = [
        [
            delta.key,
            delta.verdict,
            f"{delta.ratio:.3f}",
            f"{delta.noise * 100:.1f} %",
            delta.clock,
        ]
        for delta in found.marked
    ]
    lines += [[key, "WRONG", "", "", text] for key, text in found.wrong.items()]
    if lines:
        head = ["measurement", "mark", "new / old", "repeats differ by", "clock"]
        marked = f"{caption}: beyond noise"
        shown.append(Table(marked, head, lines, [], names, folded=len(lines) > 20))
    return shown
