"""Files of results as tables and pictures: Markdown and one HTML page.

    python -m bench.report A.json B.json ... --output FOLDER

Writes ``report.md`` with its figures in ``figures/``, and ``report.html``, one file with all in it.
Every number is from one of the files, or from what a paper says, with its place there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bench import options


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report; return 0, or 2 if a file cannot be used."""
    arguments = _parser().parse_args(argv)
    if find_spec("matplotlib") is None:
        print("bench.report: matplotlib is missing; install glsw[bench]", file=sys.stderr)
        return 2
    # Not before it is known to be there; and bench.compare needs the documents only.
    from bench.report.documents import Collection, DocumentError, load
    from bench.report.whole import write

    try:
        files = Collection(load(path) for path in arguments.files)
        for path in write(files, arguments.output):
            print(path)
    except (DocumentError, OSError) as error:
        print(f"bench.report: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = options.Parser(
        prog="python -m bench.report", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.json")
    parser.add_argument(
        "--output", type=Path, default=Path("."), metavar="FOLDER", help="default: here"
    )
    return parser
