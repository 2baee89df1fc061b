"""``bench compilers``: the shaders before the compilers of devices that are not here.

`tools/vendors.sh` runs a command before such a driver. There `child` compiles what `calls` ask
for, and samples of all permutations; `measure` starts it per device and keeps rows.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from bench import Parser, at_least
from bench.compilers.rows import RESULTS, devices


def main(argv: Sequence[str]) -> int:
    """Show the rows of a file, or measure devices; return 1 where some device has failed."""
    parser = Parser(" compilers", __doc__)
    add = parser.add_argument
    add("file", nargs="?", type=Path, default=RESULTS, metavar="FILE", help="default: our results")
    add("--measure", action="store_true", help="measure devices: see --device")
    add(
        "--device",
        action="append",
        metavar="NAME",
        help="one of tools/vendors.txt; can be repeated; default: all",
    )
    add("--every", type=at_least(int, 1, "a number from 1 on"), default=17, metavar="N")
    add("--jobs", type=at_least(int, 1, "a number from 1 on"), default=1, metavar="N")
    arguments = parser.parse_args(argv)
    status = 0
    if arguments.measure:
        from bench.compilers import measure

        chosen = arguments.device or [*devices()]
        failed = measure.measure(arguments.file, chosen, arguments.every, arguments.jobs)
        for name, reason in failed.items():
            print(f"bench compilers: {name}: {reason}", file=sys.stderr)
        status = int(bool(failed))
    from bench.compilers import table

    print(*table.lines(arguments.file), sep="\n")
    return status
