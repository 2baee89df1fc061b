"""The benchmarks' command line: `USAGE` says what there is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

USAGE = """\
python -m bench run                         measure this device: every paper's benchmark
python -m bench show FILE ...               rows as tables
python -m bench suite                       the former suite
python -m bench journeys                    whole command lines, compared with BLAST and others
python -m bench report A.json B.json ...    tables and pictures
python -m bench compare OLD.json NEW.json   what became faster or slower
python -m bench validate FILE.json ...      are these documents as they should be

Each has --help. One benchmark alone: python -m bench.liu2006 --help"""

COMMANDS = {
    "run": "bench.run",
    "show": "bench.table",
    "suite": "bench.suite",
    "journeys": "bench.journeys",
    "report": "bench.report",
    "compare": "bench.compare",
    "validate": "bench.schema",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if words else 2
    if words[0] not in COMMANDS:
        print(f"bench: {words[0]!r}: {', '.join(COMMANDS)} are known", file=sys.stderr)
        return 2
    try:
        module = import_module(COMMANDS[words[0]])
    except ModuleNotFoundError as error:
        print(f"bench {words[0]}: {error.name} is missing; install glsw[bench]", file=sys.stderr)
        return 2
    status: int = module.main(words[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())
