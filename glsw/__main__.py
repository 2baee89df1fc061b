"""Entry point of ``glsw`` and ``python -m glsw``; Ctrl-C during the imports just ends it."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress

from glsw.statuses import INTERRUPTED, SIGNALLED

_AT_EXIT = {"cProfile", "coverage", "distributed", "mpi4py", "profile"}
"""Modules that have something to do when Python ends."""


def main() -> int:
    """Run the command line of the process; return the exit status if Python should end itself."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
        signal.signal(signal.SIGINT, _end)
    # NumPy's library starts a thread for each core when it is imported, for large products.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # modules are no garbage, which takes a twentieth of their time to find
    from glsw.cli import main

    status = main(program=True)
    if status in SIGNALLED:
        os._exit(status)  # else Python flushes standard output, whose reader may take nothing
    if not _AT_EXIT & sys.modules.keys():
        with suppress(OSError):  # which Python says when it ends
            for stream in (sys.stdout, sys.stderr):
                if stream:  # else it is closed
                    stream.flush()
            os._exit(status)  # to free all objects, one by one, would take 0.1 s
    return status


def _end(*_: object) -> None:
    """End the process: there is nothing to clean up, and modules fail oddly when interrupted."""
    try:
        os.write(2, b"glsw: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    raise SystemExit(main())
