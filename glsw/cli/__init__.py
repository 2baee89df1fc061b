"""The command line: ``glsw search``, ``makedb``, ``devices`` and the other commands.

Commands turn options into arguments of an aligner, and results into files. An error
is one line on stderr, with exit status 2. Results are written, by a thread, while the next ones are
computed; those of finished queries stay if a later one is interrupted. A file for results appears,
or replaces the old one, when all are written.

Each command is a `glsw.cli.command.Command`. Its module is imported when it is called.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import re
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from glsw._version import __version__
from glsw.cli.messages import occupy_standard_streams, say, warnings_in_a_line
from glsw.cli.signals import STATUSES, Served, Terminated, end_is_said, interrupts_raised
from glsw.cores import limited
from glsw.device import egl
from glsw.statuses import BROKEN_PIPE, ERROR, MEANINGS, SUCCESS
from glsw.wings import registered, widened
from glsw.words import ParameterError, is_number

if TYPE_CHECKING:
    from glsw.cli.command import Command

_COMMANDS = {
    "search": (
        "glsw.cli.search:Search",
        "rank the sequences of a database by their best alignment",
    ),
    "align": ("glsw.cli.align:Align", "align two sequences"),
    "neighbors": (
        "glsw.cli.neighbors:Neighbors",
        "compare all pairs of sequences and list those within a cutoff",
    ),
    "makedb": ("glsw.cli.makedb:Makedb", "index sequences, so that searches start at once"),
    "verify": ("glsw.cli.verify:Verify", "check a whole database against its checksums"),
    "devices": ("glsw.cli.devices:Devices", "list the OpenGL devices"),
    "demo": ("glsw.cli.demo:Demo", "write a small database and a query, and search them"),
}
"""The commands of the core: the class of each, and its help. Wings register more."""
_WITHOUT_DEVICE = "makedb", "verify"
"""Commands that open no device."""
_NOT_EARLY = "-h", "--help"
"""Options with which a command opens none."""
_HOST_ENGINES = "cpu", "reference"
"""Engines that open none."""

_SCORINGS = "glsw.Scoring.blast()", "glsw.Scoring.nucleotide()"
"""What errors of letters advise; each command has options for it."""

_COSTS = {"existence": "gapopen", "extension": "gapextend"}
"""What errors of these parameters call them on the command line."""

_NAMES_OF_BLAST = {
    "outfmt": ("--format", "6 is blast-tab, 7 blast-tab-comments, 0 pairwise"),
    "max_target_seqs": ("--top", ""),
    "num_alignments": ("--top", ""),
    "num_descriptions": ("--top", ""),
    "num_threads": ("--threads", ""),
    "task": ("--task", ""),
    "out": ("--output", ""),
    "reward": ("--match", ""),
    "penalty": ("--mismatch", ""),
    "lcase_masking": ("--lower-case-mask", ""),
    "query_gencode": ("--genetic-code", ""),
    "db_gencode": ("--target-genetic-code", ""),
    "dbtype": ("--alphabet", ""),
}
"""Options of BLAST+ without their hyphen: those of the same meaning, and what else to say.

Wings register more, as ``BLAST``, and programs.
"""
_FILES_OF_BLAST = "query", "db", "subject", "in"
"""Options of BLAST+ with a file, which has no option here."""
_PROGRAMS_OF_BLAST = {
    "blastp": "search",
    "blastn": "search",
    "blastx": "search --translated",
    "tblastn": "search --translated-target",
    "tblastx": "search --translated --translated-target",
    "makeblastdb": "makedb",
    "help": "--help",
}

_OBJECTS = 20_000
"""Made between two looks for garbage: results are many objects, and hardly any are garbage."""


def main(argv: Sequence[str] | None = None, *, program: bool = False) -> int:
    """Run a command line, by default that of the process; return the exit status.

    Without any words that is 2, and standard error has the help.

    If this is the ``program`` of the process, signals may end it at once when the work is done.
    """
    command: Command | None = None
    occupy_standard_streams()
    try:
        words = sys.argv[1:] if argv is None else argv
        if not words:
            _parser(False).print_help(sys.stderr)
            return ERROR
        command = parsed(words)
        if program:
            gc.freeze()
            gc.set_threshold(_OBJECTS)
            gc.enable()
        with warnings_in_a_line(), interrupts_raised(program=program):
            from glsw.sequences.lines import located

            with located([Path(word) for word in words]), limited(command.threads):
                (command.instead or command.run)()
    except Served:
        return SUCCESS
    except BrokenPipeError:
        return BROKEN_PIPE
    except (KeyboardInterrupt, Terminated) as signal:
        end_is_said()
        name = "terminated" if isinstance(signal, Terminated) else "interrupted"
        say(f"{name}{_left(command)}")
        return STATUSES[type(signal)]
    except Exception as error:
        if not isinstance(error, _errors()):
            raise
        say(_one_line(error, command) + _hint(error, command) + _left(command))
        return ERROR
    return SUCCESS


def parsed(words: Sequence[str]) -> Command:
    """Return the command of a command line, which has these ``words`` after its name."""
    began = time.time()
    if {"-h", "--help"} & {*words}:
        widened()
    try:
        command = _command(words)
    except ValueError:
        if not widened():
            raise
        command = _command(words)
    command.words, command.began = list(words), began
    for part in command.parts():
        part.apply(command)
    return command


def _command(words: Sequence[str]) -> Command:
    parser = _parser("--verbose" in words)
    parser.words = words
    found: Command = parser.parse_args(words).command
    return found


def with_all_options() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the main parser and the parsers of all commands, for manual pages and completions."""
    from glsw.cli.command import add_options

    parser = _parser(False)
    (action,) = (each for each in parser._actions if each.nargs == argparse.PARSER)
    commands: dict[str, argparse.ArgumentParser] = dict(action.choices)  # type: ignore[arg-type]
    for name, command in commands.items():
        add_options(command, _kind(name))
    return parser, commands


def _kind(name: str) -> type[Command]:
    module, _, kind = _commands()[name][0].partition(":")
    found: type[Command] = getattr(importlib.import_module(module), kind)
    return found


def _commands() -> dict[str, tuple[str, str]]:
    return {**_COMMANDS, **registered("COMMANDS")}


def _parser(verbose: bool) -> _Parser:
    """Return the parser; the option --version prints more if it is to be ``verbose``."""
    statuses = (f"  {status:<4} {meaning}" for status, meaning in MEANINGS.items())
    common: dict[str, Any] = {
        "epilog": "\n".join(["exit status:", *statuses]),
        "allow_abbrev": False,
        "formatter_class": _Formatter,
    }
    parser = _Parser(
        prog="glsw",
        description="Exact sequence alignment and database search (Smith-Waterman) on any OpenGL "
        "device or the CPU: every score is the optimal one. To begin: glsw demo.",
        **common,
    )
    parser.add_argument(
        "--version",
        action=_VerboseVersion if verbose else "version",
        version=f"glsw {__version__}",
        help="show the version and exit",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="with --version, also show packages, drivers and devices",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_CommandParser)
    for name, (_, text) in _commands().items():
        description = f"{text[0].upper()}{text[1:]}."
        commands.add_parser(name, help=text, description=description, **common)
    return parser


class _Formatter(argparse.HelpFormatter):
    """Fills the lines of a text, but leaves indented ones as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill, lines = super()._fill_text, text.splitlines()
        return "\n".join(
            line if line.startswith(" ") else fill(line, width, indent) for line in lines
        )


class _VerboseVersion(argparse._VersionAction):
    """Prints versions of all that computes, and the devices."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from glsw.cli.devices import versions_and_devices

        for line in versions_and_devices():
            parser._print_message(f"{line}\n", sys.stdout)
        parser.exit()


class _Parser(argparse.ArgumentParser):
    words: Sequence[str] = ()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; unlike that of argparse, it raises errors of a full disk."""
        if file is not sys.stdout:
            return super()._print_message(message, file)
        from glsw.cli.stream import PlainStream

        with PlainStream("-") as to:
            to.stream.write(message)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}{self._suggestion(message)} (see {self.prog} --help)")

    def _suggestion(self, message: str) -> str:
        """Return the choice or option that is nearest to what was typed, "" if none is near."""
        from glsw.words import did_you_mean

        if found := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message):
            programs = {**_PROGRAMS_OF_BLAST, **registered("BLAST")}
            if (like := programs.get(found[1])) and "search" in found[2]:
                return f", did you mean {like}?"
            return did_you_mean(found[1], re.findall(r"[\w-]+", found[2]))
        names = (word.partition("=")[0] for word in self.words if word[1:] and word[0] == "-")
        for name in names:
            if name in self._option_string_actions:
                continue
            blast = name.lstrip("-").replace("-", "_")
            option, what = _NAMES_OF_BLAST.get(blast, (registered("BLAST").get(blast), ""))
            if option in self._option_string_actions:
                named = "" if name in message.split() else f"; {name}"
                return f"{named}, did you mean {option}?{' ' + what if what else ''}"
            if blast in _FILES_OF_BLAST:
                usage = " ".join(
                    str(action.metavar) for action in self._actions if not action.option_strings
                )
                return f": files are given without an option, in the order {usage}"
            hint = did_you_mean(name, self._option_string_actions)
            if hint:
                return hint if name in message.split() else f"; {name}{hint}"
        return ""


class _CommandParser(_Parser):
    """The parser of a command, which gets its options when the command is called."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        name = self.prog.split()[-1]
        _open_early(name, args)
        from glsw.cli.command import add_options, made

        kind = _kind(name)
        add_options(self, kind, *_values_of("--task", args)[-1:])
        self.words = args
        # Without that -1e-4 would be an option.
        self._negative_number_matcher = SimpleNamespace(match=is_number)  # type: ignore[assignment]
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        found.command = made(kind, vars(found), name)
        return found, others


def _open_early(command: str, words: Sequence[str]) -> None:
    """Open the device that a command will use, while a thread imports its module."""
    without = {*_values_of("--engine", words)} & {*_HOST_ENGINES}
    if without or command in _WITHOUT_DEVICE or any(word.startswith(_NOT_EARLY) for word in words):
        return
    threads = _values_of("--threads", words)
    if threads and threads[-1].isascii() and threads[-1].isdecimal():
        os.environ.setdefault("LP_NUM_THREADS", threads[-1])  # which Mesa's llvmpipe reads
    devices = _values_of("--device", words)
    importing = threading.Thread(target=_import_quietly, args=[command], name="glsw import")
    importing.start()
    if not devices:
        egl.prepare(every=command == "devices")
    elif devices[-1].isdecimal():  # else it may be any
        egl.prepare(index=int(devices[-1]))
    importing.join()


def _import_quietly(name: str) -> None:
    """Import the module of a command; errors come when it is imported again."""
    with suppress(Exception):
        _kind(name)


def _values_of(option: str, words: Sequence[str]) -> list[str]:
    """Return the values that an option is given.

    >>> _values_of("--device", ["--device", "0", "query", "--device=1"])
    ['0', '1']
    """
    apart = [second for first, second in pairwise(words) if first == option]
    return apart + [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]


def _errors() -> tuple[type[Exception], ...]:
    """Return the errors of users, files and devices, which are said in one line."""
    from glsw.device.device import DeviceError
    from glsw.device.shader import ShaderError

    return OSError, ValueError, MemoryError, DeviceError, ShaderError


def _hint(error: Exception, command: Command | None) -> str:
    """Return the option that avoids an error, if the command has it."""
    from glsw.sequences.alphabet import GAPS

    for _, each in command.options() if command else ():
        kind, text = each.metadata.get("avoids", ((), ""))
        if isinstance(error, kind) and GAPS not in error.args:
            return f"; {text}"
    return ""


def _left(command: Command | None) -> str:
    """Return where the results are of a command that ends early."""
    file = command.file if command else None
    if file is None or not file.left or not file.part.exists():
        return ""
    on = ", --resume continues from them" if file.resumable else ""
    return f"; {file.part} has the results so far{on}"


def _one_line(error: Exception, command: Command | None) -> str:
    from glsw.device.shader import ShaderError

    if isinstance(error, OSError) and error.strerror:
        name = error.filename or repr(error.filename)  # also of a name that is empty
        text = error.strerror if error.filename is None else f"{name}: {error.strerror}"
    elif isinstance(error, MemoryError):
        text = f"out of memory: {error}".removesuffix(": ")
    elif isinstance(error, ShaderError):
        text = str(error).partition("\n")[0]  # the driver's log follows
    else:
        text = str(error)
        if isinstance(error, ParameterError):
            from glsw.cli.command import flag_of

            flags = {each.name: flag_of(each) for _, each in command.options()} if command else {}
            text = f"{({**flags, **_COSTS}).get(error.parameter, error.parameter)} {error.text}"
        text = text.replace("max_hsps None", "max_hsps 0")  # as it is typed
        if command:
            for ours, theirs in zip(_SCORINGS, command.advice, strict=True):
                text = text.replace(ours, theirs)
    return text
