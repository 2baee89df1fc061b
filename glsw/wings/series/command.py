"""The command ``glsw motifs``: similar segments across the channels of a recording."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glsw.aligner import Aligner
from glsw.cli.command import Command, Group, argument, group, option
from glsw.cli.messages import gcups, progress_bar, say
from glsw.cli.options import OnDevices, Output
from glsw.cli.outputs import Destination, check_output, destination
from glsw.engines import ENGINES
from glsw.options import defaults_of
from glsw.scoring.gaps import from_blast
from glsw.scoring.matrices import COSTS, SCORES
from glsw.scoring.scoring import Scoring
from glsw.wings.series import figure, readers, sax
from glsw.wings.series.motifs import (
    ENGINES_USED,
    Comparison,
    Motif,
    Rule,
    aligner_of,
    cells_of,
    compare,
    motifs,
    scoring_of,
    trace,
)
from glsw.wings.series.recording import RATES
from glsw.wings.series.significance import COUNTS
from glsw.wings.series.table import MOTIF_FORMATS, MotifFormat
from glsw.wings.series.words import LETTERS, SEGMENTS, Words, words_of
from glsw.wings.three.aligner import Aligner3
from glsw.wings.three.engines import ENGINES3
from glsw.wings.three.scoring import Scoring3
from glsw.words import POSITIVE, numbered

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DEFAULTS = defaults_of(motifs)


class _Reading(Group, title="recording", defaults=_DEFAULTS):
    channels: str | None = option(
        "WHICH: names, numbers, ranges such as 3-9 and patterns such as '*hbo', separated by "
        "commas",
        type=str,
    )
    start: float | None = option("S: start time in s", flag="--from")
    end: float | None = option("S: end time in s, exclusive", flag="--to")
    missing: Literal["error", "skip"] = option(
        "treat missing samples (nan) as an error, or omit them from segment means (error)"
    )
    rate: float | None = option(
        "HZ: samples per second, for a table without a time column", within=RATES
    )


class _Words(Group, title="words", defaults=_DEFAULTS):
    about = (
        "Each channel is encoded as a word (SAX); words are compared three or two at a time. Gap "
        "costs follow BLAST's convention: the first letter of a gap costs gapopen + gapextend."
    )
    of: Literal[3, 2] = option("compare all triples or all pairs (3)")
    segments: int | None = option(
        f"N: letters per word ({SEGMENTS[3]}, for pairs {SEGMENTS[2]}, or the number of samples if "
        "lower)",
        within=POSITIVE,
    )
    letters: int | None = option(
        f"N: size of the alphabet, 2 to 26 ({LETTERS[3]}, for pairs {LETTERS[2]}); with few "
        "letters random series are similar everywhere",
        within=sax.LETTERS,
    )
    detrend: int = option(
        "N: cosines subtracted from each channel, with periods of 2, 1, 2/3, ... times the length "
        "of the recording; 0: none (6)"
    )
    breakpoints: sax.Breakpoints = option(
        "rank: the letters of a channel are equally frequent; gaussian: intervals of the normal "
        "distribution, as in SAX (rank)"
    )
    scoring: Rule = option(
        "identity: letters are equal or not; mindist: by the distance between letters (identity)",
        _DEFAULTS["rule"],
    )
    match: float | None = option("S: score of equal letters (1, with mindist 0.35)", within=SCORES)
    mismatch: float | None = option(
        "S: score of different letters, with identity (-1)", None, within=SCORES._replace(most=0)
    )
    gapopen: float = option(
        "COST: cost of opening a gap (0)",
        _DEFAULTS["gap_open"] - _DEFAULTS["gap_extend"],
        within=COSTS,
    )
    gapextend: float = option(
        "COST: cost of each letter of a gap (1)", _DEFAULTS["gap_extend"], within=COSTS
    )
    top: int = option("N: report the N best motifs, 0 for all (10)")
    min_score: float = option("S: report motifs with at least this score (1)")
    surrogates: int = option(
        "N: score N pairs or triples of phase-randomised channels for E-values, 0: none (200)",
        within=COUNTS,
    )
    seed: int = option("N: seed of the surrogates (0)")

    def scored(self, engine: str | None) -> Scoring3 | Scoring:
        """Return the scoring of letters for an engine."""
        if self.scoring == "mindist" and self.mismatch is not None:
            raise ValueError(
                "--scoring mindist has distances for a mismatch: no --mismatch with it"
            )
        known = ENGINES3 if self.of == 3 else ENGINES
        if engine and engine not in known:
            names = ", ".join(known)
            raise ValueError(f"engine {engine!r}: with --of {self.of} there are {names}")
        gap_open, gap_extend = from_blast(self.gapopen, self.gapextend)
        return scoring_of(
            self.letters,
            of=self.of,
            rule=self.scoring,
            match=self.match,
            mismatch=_DEFAULTS["mismatch"] if self.mismatch is None else self.mismatch,
            gap_open=gap_open,
            gap_extend=gap_extend,
        )


class _Running(
    OnDevices, notes={"device": "; for triples also numbers such as 0,1 or all to use several GPUs"}
):
    engine: str | None = option(
        f"NAME: for triples {', '.join(ENGINES3)} ({ENGINES_USED[3]}), "
        f"for pairs {', '.join(ENGINES)} ({ENGINES_USED[2]})",
    )


class _Output(Output):
    format: str = option(
        "table; tsv: one line of columns per motif (table)", "table", choices=tuple(MOTIF_FORMATS)
    )
    figure: str | None = option(
        "FILE: also draw the series of the best motif and a map of the similarity of channels: "
        + ", ".join(figure.SUFFIXES),
        type=str,
    )


class Motifs(Command):
    """Rank the motifs of a recording."""

    examples = (
        "glsw motifs recording.csv --figure best.svg",
        "glsw motifs recording.csv --of 2 --channels 1-5 --from 10 --to 60",
        "glsw motifs recording.csv --segments 100 --top 5 --format tsv",
    )
    recording: str = argument(
        "RECORDING: a table (.csv, .tsv, .txt) with a column per channel, or any file that MNE "
        "reads: SNIRF, NIRx, EDF, BrainVision and others"
    )
    reading: _Reading = group(_Reading)
    sax: _Words = group(_Words)
    running: _Running = group(_Running)
    output: _Output = group(_Output)

    def run(self) -> None:
        """Read, compare, and write each motif when it is found; cheap checks come first."""
        scoring = self.sax.scored(self.running.engine)
        if self.running.executor and self.sax.of == 2:
            raise ValueError("pairs are compared in one process: --cluster is for --of 3")
        with self.running.workers() as executor:
            self._run(scoring, executor)

    def _run(self, scoring: Scoring3 | Scoring, executor: Executor | None) -> None:
        asked, running, output = self.sax, self.running, self.output
        check_output(output.output, self.recording)
        self._check_figure()
        words = self._words()
        cells = cells_of(words, asked.of, asked.surrogates)
        with (
            aligner_of(scoring, running.engine, running.device, running.memory) as aligner,
            progress_bar(running.no_progress, cells) as bar,
        ):

            def progress(cells: int) -> None:
                bar.update(cells)

            comparison = compare(
                words,
                aligner,
                top=asked.top or None,
                min_score=asked.min_score,
                surrogates=asked.surrogates,
                seed=asked.seed,
                progress=progress,
                executor=executor,
            )
            bar.close()
            to = destination(self, output.output)
            best = _write(comparison, aligner, MOTIF_FORMATS[output.format], to)
        if output.figure:
            figure.write(comparison, best, output.figure)
        _summary(comparison, aligner)

    def _words(self) -> Words:
        reading, asked = self.reading, self.sax
        try:
            recording = readers.read(self.recording, rate=reading.rate)
            recording = recording.select(reading.channels, start=reading.start, end=reading.end)
            words = words_of(
                recording,
                asked.segments,
                asked.letters,
                of=asked.of,
                detrend=asked.detrend,
                breakpoints=asked.breakpoints,
                missing=reading.missing,
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

    def _check_figure(self) -> None:
        drawn = self.output.figure
        if not drawn:
            return
        try:
            figure.check(drawn)
        except ValueError as error:
            raise ValueError(f"--figure {error}") from None
        check_output(drawn, self.recording, option="--figure")
        if Path(self.output.output).resolve() == Path(drawn).resolve():
            raise ValueError(f"--figure {drawn}: it is --output too")


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
