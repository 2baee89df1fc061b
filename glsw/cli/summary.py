"""The option ``--summary``: a JSON file about a run, for pipelines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from glsw.aligner import Aligner
from glsw.alignment.hits import SearchResult
from glsw.cli.command import Command
from glsw.cli.inputs import Targets, residues
from glsw.cli.outputs import check_output, command_line
from glsw.output.result_file import is_replaced
from glsw.output.summary import RunSummary
from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database


def check_files(output: str, summary: str | None, *inputs: str) -> None:
    """Raise an error if a file could not be written later, is an input, or is used twice."""
    check_output(output, *inputs)
    if summary == "-":
        raise ValueError("--summary -: it names no file")
    if summary is not None:
        if os.path.realpath(summary) == os.path.realpath(output):
            raise ValueError(f"--summary {summary}: it is --output")
        check_output(summary, *inputs, option="--summary")
        if not is_replaced(Path(summary)):
            raise ValueError(f"--summary {summary}: a regular file is needed")


@contextmanager
def summary_of(
    command: Command,
    path: str | None,
    aligner: Aligner,
    queries: Targets,
    targets: Targets,
    *,
    paths: Sequence[str],
    resumed: int = 0,
) -> Iterator[RunSummary | None]:
    """Return the summary of a command at a path, None if none is wanted."""
    if path is None:
        yield None
        return
    members = {
        "command": command_line(command.words),
        "query": _members_of(queries, paths[0], aligner.scoring),
        "database": _members_of(targets, paths[-1], aligner.scoring),
        "scoring": _scoring(aligner.scoring),
    }
    with RunSummary(path, members, began=command.began, resumed=resumed) as summary:
        yield summary
        summary.devices = aligner.devices


def counted(summary: RunSummary | None, results: Iterable[SearchResult]) -> Iterable[SearchResult]:
    """Return the results, counting them in the summary if there is one."""
    return results if summary is None else summary.counted(results)


def _members_of(side: Targets, path: str, scoring: Scoring) -> dict[str, object]:
    """Return a file of sequences as members of JSON."""
    stamp = side.stamp if isinstance(side, Database) else None
    return {
        "path": path,
        "sequences": len(side),
        "residues": residues(side, scoring),
        "checksum": None if stamp is None else f"{stamp:08x}",
    }


def _scoring(scoring: Scoring) -> dict[str, object]:
    """Return a scoring as members of JSON: the first residue of a gap costs gap_open.

    Of gap costs by position these are the costs of the scoring under them.
    """
    by_position = scoring.gaps is not None
    scoring = scoring.letters if by_position else scoring
    return {
        "name": scoring.name,
        "alphabet": scoring.alphabet.name,
        "gap_open": scoring.display(scoring.gap_open),
        "gap_extend": scoring.display(scoring.gap_extend),
        "local": scoring.local,
        **({"gaps_by_position": True} if by_position else {}),
    }
