"""The command line: ``glsw search``, ``align``, ``align3``, ``motifs``, ``makedb``, ``devices``.

Commands turn options into arguments of `Aligner` and `Aligner3`, and results into files. An error
is one line on stderr, with exit status 2. The results of a query are written before the next query
starts, so that those of finished queries stay if a later one is interrupted. The file for results
is opened when the first result is there: bad input leaves no file, or the old one.

Each command is a module with ``add(command)``, which declares its options, and ``run(arguments)``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from glsw import __version__
from glsw.cli import align, align3, devices, makedb, motifs, search
from glsw.cli.messages import warnings_in_a_line
from glsw.device.device import DeviceError
from glsw.device.shader import ShaderError
from glsw.sequences.alphabet import UnknownLetterError
from glsw.sequences.database_file import NoDatabaseError

ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
"""Exit statuses; the last two are 128 and the number of the signal, as in a shell."""

_EPILOG = (
    "exit status: 0 when done, 2 after an error (one line on stderr), 130 when interrupted "
    "(results of finished queries stay), 141 when the reader of the output is gone"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; return the exit status."""
    arguments = argparse.Namespace()
    try:
        arguments = _parser().parse_args(argv)
        with warnings_in_a_line():
            arguments.run(arguments)
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("glsw: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, DeviceError, ShaderError, MemoryError) as error:
        print(f"glsw: {_one_line(error)}{_hint(error, arguments)}", file=sys.stderr)
        return ERROR
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="glsw",
        description="Exact Smith-Waterman local alignment on any OpenGL device.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"glsw {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], None], text: str) -> _Parser:
        added = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_EPILOG,
            allow_abbrev=False,
        )
        added.set_defaults(run=run)
        return added

    for module in (search, align, align3, motifs, makedb, devices):
        module.add(command)
    return parser


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def _hint(error: Exception, arguments: argparse.Namespace) -> str:
    """Return the option that avoids an error, if the command has it."""
    for kind, option, text in (
        (UnknownLetterError, "unknown", "--unknown X maps such letters"),
        (NoDatabaseError, "force", "--force overwrites it"),
    ):
        if isinstance(error, kind) and option in arguments:
            return f"; {text}"
    return ""


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    elif isinstance(error, MemoryError):
        text = f"out of memory: {error}".removesuffix(": ")
    elif isinstance(error, ShaderError):
        text = str(error).partition("\n")[0]  # the driver's log follows
    else:
        text = str(error)
        for ours, theirs in (("existence", "gapopen"), ("extension", "gapextend")):
            text = text.replace(f"{ours} must be", f"{theirs} must be")
    return " ".join(text.splitlines())
