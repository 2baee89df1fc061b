"""The benchmarks' command line: `USAGE` says what there is."""

import gc
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

from glsw import DeviceError, ShaderError

USAGE = """\
python -m bench run [WORKLOAD ...]    measure this device: rows in one file
python -m bench show FILE ...         rows as tables
python -m bench report FILE ...       a page of any number of devices, and of five papers
python -m bench compare OLD NEW       what became faster or slower
python -m bench check FILE ...        what forbids to publish a file
python -m bench readme                write the tables of the READMEs from bench/results

Each has --help; `bench run --list` names the workloads."""

COMMANDS = ("run", "show", "report", "compare", "check", "readme")
INPUT = (OSError, ImportError, ValueError, DeviceError, ShaderError, subprocess.SubprocessError)
"""What input that cannot be used raises."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status, 2 for input that cannot be used."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if words else 2
    if words[0] not in COMMANDS:
        print(f"bench: {words[0]!r}: {', '.join(COMMANDS)} are known", file=sys.stderr)
        return 2
    try:
        module = import_module(f"bench.{words[0].replace('show', 'table')}")
        if argv is None:
            gc.freeze()  # what is imported stays: collecting after each row need not look at it
        return int(module.main(words[1:]))
    except INPUT as error:
        text = str(error)
        if isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        print(f"bench {words[0]}: {' '.join(text.split())}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
