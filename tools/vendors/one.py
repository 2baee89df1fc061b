"""Compile a program before this device's driver, and print what it tells.

Without ``--asked`` the macros are those of the command. With it they take the place of those in
each row of the program that this device has in the results.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from glsw.device.device import open_device
from tools.vendors.driver import Driver, bindings
from tools.vendors.rows import ASKED, Rows, impersonal


def main(argv: Sequence[str]) -> int:
    """Compile the sets of macros; return 1 if one has failed."""
    parser = ArgumentParser("python -m tools.vendors.one", description=__doc__)
    parser.add_argument("program", metavar="PROGRAM", help="such as lanes.comp")
    parser.add_argument("macros", nargs="*", metavar="MACRO=VALUE")
    parser.add_argument("--asked", action="store_true", help="also macros of the results")
    parser.add_argument("--quiet", action="store_true", help="without the driver's own words")
    arguments = parser.parse_args(argv)
    own = {name: value or 1 for name, _, value in (x.partition("=") for x in arguments.macros)}
    device, sets = open_device(0, quiet=True), [own]
    if arguments.asked:
        told = Rows.read()
        names = [name for name, text in told.devices.items() if text == impersonal(device.info)]
        rows = [row for name in names for row in told.of(name, ASKED)]
        found = [row["macros"] | own for row in rows if row["program"] == arguments.program]
        sets = [each for k, each in enumerate(found) if each not in found[:k]]
    driver, failed = Driver(), False
    print(device.info.name)
    for macros in sets:
        made, row = driver.compile(device, arguments.program, bindings() | macros)
        print(*(f"{key}={value}" for key, value in row.pop("macros").items()))
        shown: dict[str, Any] = {k: row[k] for k in row if k not in ("program", "text", "error")}
        print("  ", ", ".join(f"{key} {value}" for key, value in shown.items()))
        if not arguments.quiet:
            print(*(f"   {each.strip()}" for each in driver.messages), sep="\n")
        if isinstance(made, Exception):
            print(made, file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
