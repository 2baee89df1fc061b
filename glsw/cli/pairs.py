"""The common part of ``glsw search`` and ``glsw align``: reads two files, compares, writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.command import Command, Group, flag_of, option
from glsw.cli.inputs import FILES, Targets, check_standard_input, only, queries_of, residues
from glsw.cli.messages import Bar, progress_bar
from glsw.cli.options import Masks, ResultOutput, Running
from glsw.cli.outputs import Destination, destination, write
from glsw.cli.scoring import Frames, Scored, check_kinds, scoring_for
from glsw.cli.summary import check_files, counted, summary_of
from glsw.cli.words import MATRIX, matrix_of
from glsw.options import AlignerOptions, defaults_of
from glsw.output.result_file import ResultFile
from glsw.scoring.scoring import Scoring
from glsw.scoring.two_tracks import WEIGHTS, TwoTrackScoring
from glsw.search.fingerprint import BYTES_PER_SECOND, Fingerprint, fingerprint
from glsw.sequences.database import Database
from glsw.sequences.database_file import is_database
from glsw.sequences.fasta import read_all
from glsw.sequences.paired_alphabet import PairedAlphabet
from glsw.sequences.query import QueryPreparation
from glsw.sequences.records import Records
from glsw.sequences.tracks import read_tracks


class Inputs(NamedTuple):
    """What a command compares: sequences, their scoring with a note on it, cells of each query."""

    queries: Records
    targets: Targets
    scoring: Scoring
    note: str
    cells: list[int]


class Tracks(Group, title="two tracks"):
    """Options for sequences with two letters per position."""

    about = (
        "QUERY and DB (from makedb --second-track) have a second letter at each position, such as "
        "its structural state; both scores are added. Reported letters and identities are those "
        "of the first track."
    )
    second_track: str | None = option(
        "FILE: second letters of the queries, with the same names and lengths in the same order: "
        f"{FILES}",
    )
    second_matrix: str | None = option(
        f"FILE: scores of second letters, with --second-track: {MATRIX}"
    )
    weight: float | None = option(
        "W: factor for the scores of second letters, which are then rounded (1)", within=WEIGHTS
    )

    def check(self, command: Command) -> None:
        """Raise ValueError for options that these exclude, or that are missing."""
        if self.second_track is None:
            for flag, value in (
                ("--second-matrix", self.second_matrix),
                ("--weight", self.weight),
            ):
                if value is not None:
                    raise ValueError(f"{flag} requires --second-track")
            return
        if self.second_matrix is None:
            raise ValueError(f"--second-track needs --second-matrix: {MATRIX}")
        for part, each in command.options():
            if each.metadata.get("one_track") and getattr(part, each.name) not in (each.default, 0):
                raise ValueError(f"--second-track and {flag_of(each)} cannot be combined")

    def read(self, first: Scoring, query: str) -> tuple[Scoring, Records]:
        """Return the scoring of both tracks, and the queries."""
        assert self.second_track is not None
        assert self.second_matrix is not None
        weight = 1 if self.weight is None else self.weight
        scoring = TwoTrackScoring.of(first, matrix_of(self.second_matrix), weight)
        return scoring, Records.of(read_tracks(Path(query), Path(self.second_track)))


class Comparison(Command, abstract=True):
    """A command that compares the sequences of two files.

    Attributes
    ----------
    one_each : bool
        Whether each file has one sequence.
    checked : bool
        Whether sequences have to fit their scoring: not those of a search that was made before.
    read_queries : callable, optional
        What a wing searches with: it returns the scoring and the records.
    rounds : int, optional
        How often at most a search of a wing goes through the database.
    """

    query: str
    target: str
    scoring: Scored
    masks: Masks
    running: Running
    output: ResultOutput
    tracks: Tracks | None = None
    frames: Frames | None = None
    one_each = False
    checked = True
    read_queries: Callable[[], tuple[Scoring, Records]] | None = None
    rounds: int | None = None

    def preparation(self, scoring: Scoring) -> QueryPreparation:
        """Return how queries are prepared; the errors are also those of targets."""
        raise NotImplementedError

    def compared(
        self, aligner: Aligner, given: Inputs, bar: Bar, done: int
    ) -> Iterable[SearchResult]:
        """Yield the results after those that are ``done``."""
        raise NotImplementedError

    def no_second_place(self, scoring: Scoring) -> str:
        """Return why no second place of a query is found, empty if one may be."""
        raise NotImplementedError

    def compare(self) -> None:
        """Compare the sequences of two files; cheap checks come first.

        A run that was interrupted goes on, if it is asked to.
        """
        self.check_scoring()
        output, paths = self.output, (self.query, self.target)
        others = self.second_track, self.scoring.matrix
        check_files(output.output, output.summary, *paths, *filter(None, others))
        given = self.read_inputs()
        queries, targets = given.queries, given.targets
        if isinstance(targets, Database):
            targets.read_ahead()
        to, done = self._destination(given)
        with (
            aligner_for(self, given.scoring) as aligner,
            progress_bar(self.running.no_progress, sum(given.cells[done:])) as bar,
            summary_of(
                *(self, output.summary, aligner, queries, targets), paths=paths, resumed=done
            ) as summary,
        ):
            found = self.compared(aligner, given, bar, done) if queries else ()
            results = counted(summary, found)
            reason = partial(self.no_second_place, given.scoring)
            form = output.format
            write(results, form, to, bar, targets, note=given.note, done=done, reason=reason)

    @property
    def second_track(self) -> str | None:
        """The file with the second track of the queries, if any."""
        return self.tracks.second_track if self.tracks else None

    def check_scoring(self) -> None:
        """Raise the errors of options of the scoring."""
        _ = self.scoring.given
        if self.tracks:
            self.tracks.check(self)

    def read_inputs(self) -> Inputs:
        """Read the sequences of two files, and choose their scoring."""
        self.check_scoring()
        frames, query, target = self.frames, self.query, self.target
        second = self.second_track
        check_standard_input(query, target, *filter(None, [second]))
        if is_database(query):
            raise ValueError(
                f"{query} is a database of makedb: the query comes first, then the database"
            )
        scoring: Scoring | None = None
        if self.tracks and second:
            scoring, queries = self.tracks.read(self.scoring.given, query)
        elif self.read_queries:
            scoring, queries = self.read_queries()
        else:
            queries = (read_all if self.one_each else queries_of)(query)
        indexed = is_database(target) and not self.one_each
        targets = Database.open(target) if indexed else read_all(target)
        _check_targets(target, targets, bool(second))
        if self.one_each:
            only(query, queries)
            only(target, targets)
        sides, note = ((query, queries), (target, targets)), ""
        shown = frames if self.rounds is None else None
        if scoring is None:
            scoring, note = scoring_for(self.scoring, *sides, frames=shown, check=self.checked)
        elif self.checked:
            profile = self.read_queries is not None
            note = check_kinds(self.scoring, scoring, *sides, frames=shown, profile=profile)
        read = self.preparation(scoring)
        width = read.query_alphabet.width
        each_residue = residues(targets, scoring) * (self.rounds or 1)
        if frames and frames.translated_target:  # three frames, each a third
            each_residue *= 2 if frames.target_strand in (None, "both") else 1
        cells = [read.residues(n // width) * each_residue for _, n in queries.names_and_lengths()]
        return Inputs(queries, targets, scoring, note, cells)

    def _destination(self, given: Inputs) -> tuple[Destination, int]:
        """Return where results go, and how many an earlier run that was interrupted has left."""
        output, targets = self.output, given.targets
        if output.resume is None:
            return destination(self, output.output), 0

        def identity() -> Fingerprint:
            settings = {**self.deciding(), "--format": output.format.name}
            if self.scoring.ties == "any":  # which depends on the engine
                settings |= {"--engine": self.running.engine, "--device": self.running.device}
            return fingerprint(given.queries, targets, given.scoring, **settings)

        size = targets.size if isinstance(targets, Records) else 0
        to = destination(self, output.output, identity, 100 * size / BYTES_PER_SECOND)
        if not output.resume:
            return to, 0
        if not isinstance(to, ResultFile):
            raise ValueError("--resume requires --output FILE")
        return to, to.resume()


def aligner_for(command: Command, scoring: Scoring) -> Aligner:
    """Return the aligner of the options."""
    return Aligner(**{**command.named(defaults_of(AlignerOptions)), "scoring": scoring})


def _check_targets(path: str, targets: Targets, two_tracks: bool) -> None:
    """Raise ValueError unless the targets have as many tracks as the queries."""
    paired = isinstance(targets, Database) and isinstance(targets.alphabet, PairedAlphabet)
    if two_tracks and not paired:
        raise ValueError(
            f"{path}: it has one track; makedb --second-track creates databases with two"
        )
    if paired and not two_tracks:
        raise ValueError(f"{path}: it has two tracks; give --second-track and --second-matrix")
