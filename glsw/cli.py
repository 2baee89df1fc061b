"""The command line: ``glsw search``, ``align``, ``makedb`` and ``devices``.

Options in, writers out; what happens between is `glsw.align.Aligner`. Errors are one line on
stderr and exit status 2. Results of a query are written and flushed before the next query starts;
a file for them is opened when the first result is there, so that bad input leaves no file, or the
old one, and what was written of finished queries stays when a later one is interrupted.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeAlias

from tqdm import tqdm

from glsw import __version__
from glsw.align import Aligner
from glsw.alphabet import DNA, PROTEIN, Alphabet
from glsw.database import Database, is_database, makedb
from glsw.device import DeviceError, devices
from glsw.engines import ENGINES, TIES, Progress
from glsw.output import ALIGNMENT_FORMATS, FORMATS, Format
from glsw.result import Hit, SearchResult
from glsw.scoring import Scoring, matrix_names
from glsw.sequences import Record, as_records
from glsw.shader import ShaderError

ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
"""Exit statuses; the last two are 128 and the number of the signal, as in a shell."""

PROTEIN_GAPS = 11, 1
DNA_GAPS = 5, 2
"""Gap costs unless given, in BLAST's words."""

_EPILOG = (
    "exit status: 0 when done, 2 after an error (one line on stderr), 130 when interrupted "
    "(results of finished queries stay), 141 when the reader of the output is gone"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; return the exit status."""
    try:
        arguments = _parser().parse_args(argv)
        arguments.run(arguments)
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("glsw: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, DeviceError, ShaderError, MemoryError) as error:
        print(f"glsw: {_one_line(error)}", file=sys.stderr)
        return ERROR
    return 0


def _search(arguments: argparse.Namespace) -> None:
    _run(arguments, FORMATS, _ranked)


def _align(arguments: argparse.Namespace) -> None:
    _run(arguments, ALIGNMENT_FORMATS, _disjoint, one_each=True)


def _makedb(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    with tqdm(
        total=_bytes(arguments.source),
        unit="B",
        unit_scale=True,
        leave=False,
        dynamic_ncols=True,
        disable=arguments.no_progress or None,
    ) as bar:
        database = makedb(
            arguments.source,
            arguments.out,
            alphabet=arguments.alphabet,
            unknown=arguments.unknown,
            force=arguments.force,
            progress=bar.update,
        )
    print(
        f"glsw: {arguments.out}: {len(database)} sequences, {database.residues} residues, "
        f"{database.alphabet.name} alphabet, in {time.perf_counter() - start:.2f} s",
        file=sys.stderr,
    )


def _bytes(paths: Iterable[str]) -> int | None:
    """Return the size of files, None if it is not known beforehand."""
    files = [Path(path) for path in paths]
    return sum(f.stat().st_size for f in files) if all(f.is_file() for f in files) else None


def _devices(_: argparse.Namespace) -> None:
    with _opened("-") as stream:
        stream.writelines(f"{info}\n" for info in devices())


def _run(
    arguments: argparse.Namespace,
    formats: Mapping[str, Format],
    task: _Task,
    *,
    one_each: bool = False,
) -> None:
    """Compare the sequences of two files; what is cheap to find wrong comes first."""
    scoring = _scoring(arguments)
    _check_output(arguments.output, arguments.query, arguments.target)
    queries, targets = _inputs(arguments.query, arguments.target, one_each)
    with (
        Aligner(
            scoring,
            engine=arguments.engine,
            device=arguments.device,
            ties=arguments.ties,
            unknown=arguments.unknown,
            memory=arguments.memory,
        ) as aligner,
        _bar(arguments, scoring, queries, targets) as bar,
        _warnings_in_a_line(),
    ):

        def progress(cells: int) -> None:
            bar.update(cells)

        results = task(aligner, queries, targets, arguments, progress)
        _write(results, formats[arguments.format], arguments.output, bar)


_Targets: TypeAlias = list[Record] | Database
_Task: TypeAlias = Callable[
    [Aligner, list[Record], _Targets, argparse.Namespace, Progress], Iterable[SearchResult]
]


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print warnings of a search as the program's messages."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        tqdm.write(f"glsw: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield


def _ranked(
    aligner: Aligner,
    queries: list[Record],
    targets: _Targets,
    arguments: argparse.Namespace,
    progress: Progress,
) -> Iterable[SearchResult]:
    _recommend(aligner)
    return aligner.search(
        queries,
        targets,
        top=arguments.top or None,
        min_score=arguments.min_score,
        progress=progress,
    )


def _disjoint(
    aligner: Aligner,
    queries: list[Record],
    targets: _Targets,
    arguments: argparse.Namespace,
    progress: Progress,
) -> Iterator[SearchResult]:
    """Yield a result for each alignment of the one pair when it is there, or one without any."""
    (query,), (target,) = queries, targets
    found = aligner.alignments(
        query,
        target,
        max_alignments=arguments.max_alignments or None,
        min_score=arguments.min_score,
        progress=progress,
    )
    m, n = (len(record) // aligner.scoring.alphabet.width for record in (query, target))
    rank, start = 0, time.perf_counter()

    def result(*hits: Hit) -> SearchResult:
        seconds = time.perf_counter() - start
        engine = aligner.engine
        return SearchResult(
            query, hits, m * n, seconds, engine.label, engine.where, 1, n, engine.memory_used
        )

    for rank, alignment in enumerate(found, start=1):
        yield result(Hit(rank, target, alignment.score, alignment))
        start = time.perf_counter()
    if not rank:
        yield result()


def _recommend(aligner: Aligner) -> None:
    """Say what is faster than OpenGL without a GPU."""
    if aligner.engine.name == "auto" and aligner.engine.device.info.software:
        how = "" if importlib.util.find_spec("pyopal") else ", after pip install glsw[cpu]"
        print(f"glsw: engine 'cpu' searches several times faster here{how}", file=sys.stderr)


def _inputs(query: str, target: str, one_each: bool) -> tuple[list[Record], _Targets]:
    if query == target == "-":
        raise ValueError("standard input ('-') can be read only once, not as both files")
    queries = as_records(Path(query), what="query")
    targets: _Targets
    if not one_each and is_database(target):
        targets = Database.open(target)
    else:
        targets = as_records(Path(target), what="target")
    for path, records in ((query, queries), (target, targets)):
        if one_each and len(records) != 1:
            raise ValueError(f"{path}: one sequence expected, {len(records)} found")
    return queries, targets


def _scoring(arguments: argparse.Namespace) -> Scoring:
    match, mismatch = arguments.match, arguments.mismatch
    if (match is None) != (mismatch is None):
        raise ValueError("--match and --mismatch are given together or not at all")
    if match is not None and arguments.matrix:
        raise ValueError(f"--matrix {arguments.matrix} and --match, --mismatch exclude one another")
    gapopen, gapextend = PROTEIN_GAPS if match is None else DNA_GAPS
    gapopen = gapopen if arguments.gapopen is None else arguments.gapopen
    gapextend = gapextend if arguments.gapextend is None else arguments.gapextend
    if match is not None:
        return Scoring.match_mismatch(match, mismatch, gapopen + gapextend, gapextend)
    return Scoring.blast(arguments.matrix or "BLOSUM62", gapopen, gapextend)


def _bar(
    arguments: argparse.Namespace, scoring: Scoring, queries: list[Record], targets: _Targets
) -> tqdm[NoReturn]:
    """Return a progress bar in cells, which shows nothing unless stderr is a terminal."""

    def residues(side: _Targets) -> int:
        if isinstance(side, Database):
            return side.residues
        return sum(map(len, side)) // scoring.alphabet.width

    return tqdm(
        total=residues(queries) * residues(targets),
        unit="cell",
        unit_scale=True,
        leave=False,
        dynamic_ncols=True,
        disable=arguments.no_progress or None,
    )


def _write(results: Iterable[SearchResult], form: Format, output: str, bar: tqdm[NoReturn]) -> None:
    """Write each result when it is there, and after the last one a summary to stderr."""
    rest = iter(results)
    first = next(rest)
    cells, seconds = 0, 0.0
    with _opened(output) as stream:
        stream.write(form.header)
        for result in chain([first], rest):
            bar.clear()
            form.write(result, stream)
            stream.flush()
            cells += result.cells
            seconds += result.seconds
    bar.close()
    rate = cells / seconds / 1e9 if seconds else 0
    memory = f", {result.memory / 2**20:.1f} MiB" if result.memory else ""
    print(
        f"glsw: {cells} cells in {seconds:.2f} s, {rate:.3g} GCUPS, "
        f"engine {result.engine} on {result.device}{memory}",
        file=sys.stderr,
    )


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    """Open a file for results; '-' is standard output, which is flushed at the end."""
    if output != "-":
        with open(output, "w", encoding="utf-8") as stream:
            yield stream
        return
    if sys.stdout is None:
        raise ValueError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # descriptions may hold any letter
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError:
        _drop_stdout()
        raise


def _check_output(output: str, *inputs: str) -> None:
    """Raise an error now if a file for results could not be opened later."""
    if output == "-":
        return
    path = Path(output)
    if not path.parent.is_dir():
        raise ValueError(f"--output {output}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"--output {output}: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"--output {output}: no permission to write")
    for other in inputs:
        if other != "-" and path.exists() and path.samefile(other):
            raise ValueError(f"--output {output}: it is an input, and would be overwritten")


def _drop_stdout() -> None:
    """Send what is left in the buffer nowhere: Python flushes it at exit, which would fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    elif isinstance(error, MemoryError):
        text = f"out of memory: {error}".removesuffix(": ")
    elif isinstance(error, ShaderError):
        text = str(error).partition("\n")[0]  # the driver's log follows
    else:
        text = str(error)
    return " ".join(text.splitlines())


# the words of the command line


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


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

    files = "FASTA or FASTQ, plain or gzip; - is standard input"
    search = command("search", _search, "rank the sequences of a database by their best alignment")
    search.add_argument("query", metavar="QUERY", help=f"one or more queries: {files}")
    search.add_argument(
        "target", metavar="DB", help=f"sequences to search: {files}; or what makedb wrote"
    )
    _add_scoring(search)
    hits = search.add_argument_group("hits")
    hits.add_argument(
        "--top", metavar="N", type=_count, default=10, help="the N best hits, 0 for all (10)"
    )
    hits.add_argument(
        "--min-score", metavar="S", type=_number, default=1, help="hits of at least this score (1)"
    )
    _add_running(search, several=True)
    _add_output(
        search,
        FORMATS,
        "pairwise: ranked list and alignments; table: the list only; tsv: a line of columns a hit",
    )

    align = command("align", _align, "align two sequences, once or several times")
    align.add_argument("query", metavar="QUERY", help=f"a file of one sequence: {files}")
    align.add_argument("target", metavar="TARGET", help="likewise")
    _add_scoring(align)
    several = align.add_argument_group("alignments")
    several.add_argument(
        "--max-alignments",
        metavar="K",
        type=_count,
        default=1,
        help="the K best of those that share no aligned pair of residues, 0 for all (1)",
    )
    several.add_argument(
        "--min-score",
        metavar="S",
        type=_number,
        default=1,
        help="alignments of at least this score (1)",
    )
    _add_running(align, several=False)
    _add_output(align, ALIGNMENT_FORMATS, "pairwise: text; tsv: a line of columns")

    index = command("makedb", _makedb, "index sequences once, for searches that start at once")
    index.add_argument("source", metavar="FILE", nargs="+", help=files)
    index.add_argument("out", metavar="OUT", help="the database to write")
    index.add_argument(
        "--alphabet",
        metavar="NAME",
        type=_alphabet,
        default=PROTEIN,
        help="protein, dna (for --match and --mismatch), or a matrix whose letters are others, "
        "such as GONNET1992 (protein)",
    )
    index.add_argument(
        "--unknown",
        metavar="X",
        help="take letters outside the alphabet for this one; without it they are an error",
    )
    index.add_argument(
        "--force", action="store_true", help="overwrite OUT even if it is no database"
    )
    index.add_argument("--no-progress", action="store_true", help="no progress bar on a terminal")

    command("devices", _devices, "list the OpenGL devices")
    return parser


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "scoring",
        "Gap costs are in BLAST's words: the first residue of a gap costs gapopen + gapextend, "
        "each further one gapextend; at 11/1 that is 12 for the first residue.",
    )
    group.add_argument(
        "--matrix",
        metavar="NAME",
        help=f"substitution matrix (BLOSUM62): {', '.join(matrix_names())}",
    )
    group.add_argument(
        "--match",
        metavar="S",
        type=_number,
        help="DNA or RNA instead of a matrix: score of equal letters, with --mismatch",
    )
    group.add_argument(
        "--mismatch", metavar="S", type=_not_positive, help="score of different letters, such as -3"
    )
    for k, (word, what) in enumerate(
        (("gapopen", "cost of opening a gap"), ("gapextend", "cost of each residue of a gap"))
    ):
        group.add_argument(
            f"--{word}",
            metavar="COST",
            type=_cost,
            help=f"{what} ({PROTEIN_GAPS[k]}, with --match {DNA_GAPS[k]})",
        )
    group.add_argument(
        "--unknown",
        metavar="X",
        help="take letters outside the alphabet for this one; without it they are an error",
    )
    group.add_argument(
        "--ties",
        choices=TIES,
        default=TIES[0],
        help="which of several best alignments: the one that ends last, or any (conventional)",
    )


def _add_running(parser: argparse.ArgumentParser, *, several: bool) -> None:
    group = parser.add_argument_group("running")
    group.add_argument(
        "--engine", metavar="NAME", default="auto", help=f"{', '.join(ENGINES)} (auto)"
    )
    which = "number of the device or part of its name, see glsw devices"
    if several:
        which += "; numbers such as 0,1 or all to use several GPUs"
    group.add_argument("--device", metavar="N", type=_devices_of if several else str, help=which)
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=_size,
        help="device memory that parts of the database and what is kept may take, "
        "such as 512M or 2G",
    )
    group.add_argument("--no-progress", action="store_true", help="no progress bar on a terminal")


def _add_output(parser: argparse.ArgumentParser, formats: Mapping[str, Format], text: str) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=formats, default="pairwise", help=f"{text} (pairwise)")
    group.add_argument(
        "--output",
        metavar="FILE",
        default="-",
        help="write results here instead of to standard output",
    )


def _alphabet(text: str) -> Alphabet:
    known = {"protein": PROTEIN, "dna": DNA}.get(text.lower())
    try:
        return known or Scoring.named(text).alphabet
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"neither protein nor dna, and {error}") from None


def _devices_of(text: str) -> str | list[int]:
    """Return numbers separated by commas, or else the text."""
    numbers = text.split(",")
    several = len(numbers) > 1 and all(number.strip().isdecimal() for number in numbers)
    return [int(number) for number in numbers] if several else text


def _number(text: str) -> float:
    """Return a finite number, as int if it is whole."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(number) if number.is_integer() else number


def _cost(text: str) -> float:
    number = _number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text}: costs are not negative")
    return number


def _not_positive(text: str) -> float:
    number = _number(text)
    if number > 0:
        raise argparse.ArgumentTypeError(
            f"{text}: a score of 0 or less expected, such as -{number}"
        )
    return number


def _size(text: str) -> int:
    """Return bytes, from a number with or without K, M, G or T for powers of 1024."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 2G")
    return int(_cost(number) * 1024 ** " KMGT".index(unit or " "))


def _count(text: str) -> int:
    number: Any = _number(text)
    if number < 0 or not isinstance(number, int):
        raise argparse.ArgumentTypeError(f"{text}: a whole number of 0 or more expected")
    return number
