"""``python -m tools.vendors``: what compilers of absent devices make of the shaders."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tools.vendors import table
from tools.vendors.rows import RESULTS, both


def main(argv: Sequence[str] | None = None) -> int:
    """Show rows, or measure devices; return 1 where some device has failed or the page is old."""
    parser = ArgumentParser("python -m tools.vendors", description=__doc__)
    add, page = parser.add_argument, table.PAGE.relative_to(Path(__file__).parents[2])
    add("file", nargs="?", type=Path, default=RESULTS, metavar="FILE", help="default: our rows")
    add("--measure", action="store_true", help="measure devices: see --device")
    what = "one of devices.txt, or with -es its OpenGL ES; can be repeated; default: all"
    add("--device", action="append", choices=both(), metavar="NAME", help=what)
    add("--every", type=int, default=17, metavar="N", help="compile each N-th permutation (17)")
    add("--jobs", type=int, default=1, metavar="N", help="devices at once (1)")
    add("--write", action="store_true", help=f"write the tables of {page}")
    add("--check", action="store_true", help=f"compare with the tables of {page}")
    arguments = parser.parse_args(argv)
    failed = dict[str, str]()
    if arguments.measure:
        from tools.vendors import measure

        chosen = arguments.device or both()
        failed = measure.measure(arguments.file, chosen, arguments.every, arguments.jobs)
        for name, reason in failed.items():
            print(f"vendors: {name}: {reason}", file=sys.stderr)
    old = (arguments.write or arguments.check) and table.differs(arguments.file, arguments.write)
    if old:
        print(f"vendors: {page} differs: python -m tools.vendors --write", file=sys.stderr)
    if not arguments.check:
        print(*table.lines(arguments.file), sep="\n")
    return int(bool(failed) or old)


if __name__ == "__main__":
    sys.exit(main())
