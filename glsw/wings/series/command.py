"""The command ``glsw motifs``: similar segments across the channels of a recording."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

from glsw.aligner import Aligner
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import add_output, add_running, executor_of
from glsw.cli.outputs import Destination, check_output, destination
from glsw.cli.words import Rows, add_rows, cost, count, not_positive, number
from glsw.engines import ENGINES
from glsw.scoring.gaps import from_blast
from glsw.scoring.scoring import Scoring
from glsw.wings.series import figure, readers, sax
from glsw.wings.series.motifs import (
    ENGINES_USED,
    RULES,
    Comparison,
    Motif,
    aligner_of,
    cells_of,
    compare,
    motifs,
    scoring_of,
    trace,
)
from glsw.wings.series.table import MOTIF_FORMATS, MotifFormat
from glsw.wings.series.words import LETTERS, SEGMENTS, Words, words_of
from glsw.wings.three.aligner import Aligner3
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.scoring import Scoring3
from glsw.words import numbered

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DEFAULTS = {name: each.default for name, each in inspect.signature(motifs).parameters.items()}

_ARGUMENTS = {
    ("recording", None, None, "RECORDING"): (
        "a table (.csv, .tsv, .txt) with a column per channel, or any file that MNE reads: SNIRF, "
        "NIRx, EDF, BrainVision and others"
    ),
}
_OUTPUT = {
    ("--figure", None, None, "FILE"): (
        "also draw the series of the best motif and a map of the similarity of channels: "
        + ", ".join(figure.SUFFIXES)
    ),
}
_RECORDING = {
    ("--channels", None, None, "WHICH"): (
        "names, numbers, ranges such as 3-9 and patterns such as '*hbo', separated by commas"
    ),
}
_SAMPLES = {
    ("--missing", ("error", "skip"), _DEFAULTS["missing"]): (
        "treat missing samples (nan) as an error, or omit them from segment means (error)"
    ),
    ("--rate", number, None, "HZ"): "samples per second, for a table without a time column",
}
_WORDS: Rows = {
    ("--of", (3, 2), _DEFAULTS["of"]): "compare all triples or all pairs (3)",
    ("--segments", count, None, "N"): (
        f"letters per word ({SEGMENTS[3]}, for pairs {SEGMENTS[2]}, or the number of samples if "
        "lower)"
    ),
    ("--letters", count, None, "N"): (
        f"size of the alphabet, 2 to 26 ({LETTERS[3]}, for pairs {LETTERS[2]}); with few letters "
        "random series are similar everywhere"
    ),
    ("--detrend", count, _DEFAULTS["detrend"], "N"): (
        "cosines subtracted from each channel, with periods of 2, 1, 2/3, ... times the length of "
        "the recording; 0: none"
    ),
    ("--breakpoints", sax.BREAKPOINTS, _DEFAULTS["breakpoints"]): (
        "rank: the letters of a channel are equally frequent; gaussian: intervals of the normal "
        "distribution, as in SAX (rank)"
    ),
    ("--scoring", RULES, _DEFAULTS["rule"]): (
        "identity: letters are equal or not; mindist: by the distance between letters (identity)"
    ),
    ("--match", number, None, "S"): "score of equal letters (1, with mindist 0.35)",
    ("--mismatch", not_positive, None, "S"): "score of different letters, with identity (-1)",
    (
        "--gapopen",
        cost,
        _DEFAULTS["gap_open"] - _DEFAULTS["gap_extend"],
        "COST",
    ): "cost of opening a gap (0)",
    ("--gapextend", cost, _DEFAULTS["gap_extend"], "COST"): "cost of each letter of a gap (1)",
    ("--top", count, _DEFAULTS["top"], "N"): "report the N best motifs, 0 for all (10)",
    (
        "--min-score",
        number,
        _DEFAULTS["min_score"],
        "S",
    ): "report motifs with at least this score (1)",
    ("--surrogates", count, _DEFAULTS["surrogates"], "N"): (
        "score N pairs or triples of phase-randomised channels for E-values; 0: no E-values"
    ),
    ("--seed", count, _DEFAULTS["seed"], "N"): "seed of the surrogates",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command with its options."""
    add_rows(parser, _ARGUMENTS)
    _add_reading(parser)
    _add_words(parser)
    add_running(
        parser,
        several="; for triples also numbers such as 0,1 or all to use several GPUs",
        engine=None,
        engines=f"for triples {', '.join(ENGINES3)} ({ENGINES_USED[3]}), "
        f"for pairs {', '.join(ENGINES)} ({ENGINES_USED[2]})",
    )
    output = add_output(parser, MOTIF_FORMATS, "table; tsv: one line of columns per motif")
    add_rows(output, _OUTPUT)


def run(arguments: argparse.Namespace) -> None:
    """Read, compare, and write each motif when it is found; cheap checks come first."""
    scoring = _scoring(arguments)
    if "executor" in arguments and arguments.of == 2:
        raise ValueError("pairs are compared in one process: --cluster is for --of 3")
    with executor_of(arguments) as executor:
        _run(arguments, scoring, executor)


def _run(
    arguments: argparse.Namespace, scoring: Scoring3 | Scoring, executor: Executor | None
) -> None:
    check_output(arguments.output, arguments.recording)
    _check_figure(arguments)
    words = _words(arguments)
    cells = cells_of(words, arguments.of, arguments.surrogates)
    with (
        aligner_of(scoring, arguments.engine, arguments.device, arguments.memory) as aligner,
        progress_bar(arguments, cells) as bar,
    ):

        def progress(cells: int) -> None:
            bar.update(cells)

        comparison = compare(
            words,
            aligner,
            top=arguments.top or None,
            min_score=arguments.min_score,
            surrogates=arguments.surrogates,
            seed=arguments.seed,
            progress=progress,
            executor=executor,
        )
        bar.close()
        best = _write(comparison, aligner, MOTIF_FORMATS[arguments.format], destination(arguments))
    if arguments.figure:
        figure.write(comparison, best, arguments.figure)
    _summary(comparison, aligner)


def _words(arguments: argparse.Namespace) -> Words:
    try:
        recording = readers.read(arguments.recording, rate=arguments.rate)
        recording = recording.select(arguments.channels, start=arguments.start, end=arguments.end)
        words = words_of(
            recording,
            arguments.segments,
            arguments.letters,
            of=arguments.of,
            detrend=arguments.detrend,
            breakpoints=arguments.breakpoints,
            missing=arguments.missing,
        )
    except ValueError as error:
        raise ValueError(_with_flags(str(error))) from None
    reasons: dict[str, list[str]] = {}
    for channel, reason in words.left_out.items():
        reasons.setdefault(reason, []).append(channel)
    notes = [f"{reason}, left out: {', '.join(names)}" for reason, names in reasons.items()]
    if recording.gap:
        start, end = recording.gap
        notes.append(f"no samples from {start:g} to {end:g} s, time is taken to go on")
    for note in notes:
        say(f"{recording.name}: {note}")
    return words


def _with_flags(text: str) -> str:
    """Return a message of the library with its parameters as options of the command.

    >>> _with_flags('nan in sample 4; missing="skip" goes on')
    'nan in sample 4; --missing skip goes on'
    """
    return re.sub(r'\b(missing|rate|segments)="?(\w+)"?', r"--\1 \2", text)


def _write(
    comparison: Comparison, aligner: Aligner3 | Aligner, form: MotifFormat, to: Destination
) -> Motif | None:
    """Write each motif when it is traced; return the first one."""
    best = None
    with to:
        to.stream.write(form.header(comparison))
        for number, motif in enumerate(trace(comparison, aligner), start=1):
            best = best or motif
            to.stream.write(form.line(comparison, motif))
            to.mark(number)
    return best


def _summary(comparison: Comparison, aligner: Aligner3 | Aligner) -> None:
    cells, seconds = comparison.cells, comparison.seconds
    rate = cells / seconds if seconds else 0
    where = aligner.where if isinstance(aligner, Aligner3) else aligner.engine.where
    kind = "triple" if comparison.of == 3 else "pair"
    say(
        f"{numbered(comparison.count, kind)}, {cells} cells in {seconds:.2f} s, {gcups(rate)}, "
        f"engine {aligner.engine.label} on {where}"
    )


def _scoring(arguments: argparse.Namespace) -> Scoring3 | Scoring:
    if arguments.scoring == "mindist" and arguments.mismatch is not None:
        raise ValueError("--scoring mindist has distances for a mismatch: no --mismatch with it")
    known = ENGINES3 if arguments.of == 3 else ENGINES
    if arguments.engine and arguments.engine not in known:
        names = ", ".join(known)
        raise ValueError(f"engine {arguments.engine!r}: with --of {arguments.of} there are {names}")
    gap_open, gap_extend = from_blast(arguments.gapopen, arguments.gapextend)
    return scoring_of(
        arguments.letters,
        of=arguments.of,
        rule=arguments.scoring,
        match=arguments.match,
        mismatch=_DEFAULTS["mismatch"] if arguments.mismatch is None else arguments.mismatch,
        gap_open=gap_open,
        gap_extend=gap_extend,
    )


def _check_figure(arguments: argparse.Namespace) -> None:
    if not arguments.figure:
        return
    try:
        figure.check(arguments.figure)
    except ValueError as error:
        raise ValueError(f"--figure {error}") from None
    check_output(arguments.figure, arguments.recording, option="--figure")
    if Path(arguments.output).resolve() == Path(arguments.figure).resolve():
        raise ValueError(f"--figure {arguments.figure}: it is --output too")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("recording")
    add_rows(group, _RECORDING)
    group.add_argument("--from", dest="start", metavar="S", type=number, help="start time in s")
    group.add_argument(
        "--to", dest="end", metavar="S", type=number, help="end time in s, exclusive"
    )
    add_rows(group, _SAMPLES)


def _add_words(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "words",
        "Each channel is encoded as a word (SAX); words are compared three or two at a time. Gap "
        "costs follow BLAST's convention: the first letter of a gap costs gapopen + gapextend.",
    )
    add_rows(group, _WORDS)
