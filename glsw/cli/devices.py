"""The command ``glsw devices``: lists and tests the OpenGL devices; versions of packages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal, TextIO

from glsw.cli.command import Command, option
from glsw.cli.messages import gcups, say
from glsw.cli.stream import PlainStream
from glsw.device.device import DeviceError, devices_and_refusals, open_device
from glsw.device.info import DeviceInfo
from glsw.words import visible


class Devices(Command):
    """List the OpenGL devices, or test them."""

    examples = "glsw devices", "glsw devices --format json", "glsw devices --test --device 0"
    test: bool = option(
        "test every engine on each device and print a table to include in bug reports; also "
        "compare the speeds of device and CPU, so that searches use the faster one",
    )
    device: str | None = option("N: number of the device or part of its name (all)", type=str)
    format: Literal["text", "json"] = option("text or JSON (text)", "text")

    def run(self) -> None:
        """List or test the devices."""
        wanted = self.device
        refused = list[str]()
        if wanted is None:
            listed, refused = devices_and_refusals()
        else:
            listed = [open_device(wanted, quiet=True).info]
        for reason in refused:
            say(f"not opened: {reason}")
        with PlainStream("-") as to:
            if self.test:
                _test(listed, self.format, to.stream)
                return
            if self.format == "json":
                json.dump([asdict(info) for info in listed], to.stream, indent=1)
                to.stream.write("\n")
            else:
                to.stream.writelines(f"{info}\n" for info in listed)


def _test(listed: list[DeviceInfo], form: str, stream: TextIO) -> None:
    """Test devices one by one, and write a table of each, or all as JSON.

    DeviceError if a test failed.
    """
    from glsw.run.self_test import SelfTest
    from glsw.trust.check import summary

    reports: list[dict[str, Any]] = []
    failed = 0
    for info in listed:
        rows, as_text, test = [], form == "text", SelfTest(info)
        if as_text:
            stream.write(f"{info}\n{info.version_string}\n\n")
            stream.write(f"{'engine':13} {'variant':31} {'work':34} {'ms':>7}  verdict\n")
        for row in test.rows():
            rows.append(row)
            failed += row.verdict != "right"
            if as_text:
                milliseconds = f"{1e3 * row.seconds:7.1f}"
                words = f"{row.engine:13} {row.variant:31} {row.work:34} {milliseconds}"
                stream.write(f"{words}  {row.verdict}\n")
                stream.flush()
        speeds = test.speeds()
        if as_text:
            rates = ", ".join(f"{key} {gcups(rate)}" for key, rate in speeds.items())
            stream.write(f"\n{'; '.join(filter(None, (summary(rows), rates)))}\n\n")
        tests = [row._asdict() for row in rows]
        reports.append({"device": asdict(info), "tests": tests, "cells_per_second": speeds})
    if form == "json":
        json.dump(reports, stream, indent=1)
        stream.write("\n")
    if failed:
        raise DeviceError(f"{failed} tests failed: please report this table")


def versions_and_devices() -> Iterator[str]:
    """Yield a line per package, and one per device with its driver, or why there is none."""
    from glsw.engines.spec import EngineSpec
    from glsw.output.summary import versions
    from glsw.scoring.scoring import Scoring

    for name, version in versions().items():
        yield f"{name} {version}"
    try:
        listed, refused = devices_and_refusals()
        for info in listed:
            device = f"{info.index}: {info.name} ({info.vendor}), {info.kind}"
            yield visible(f"device {device}, driver {info.version_string}")
        yield from (visible(f"not opened: {' '.join(reason.split())}") for reason in refused)
        chosen = EngineSpec("auto", Scoring.blast()).make(quiet=True)
        yield visible(f"by default engine {chosen.name}: {chosen.why}")
    except DeviceError as error:
        yield f"no device: {' '.join(str(error).split())}"
