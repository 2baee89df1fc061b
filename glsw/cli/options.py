"""Groups of options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from glsw.cli.command import Command, Group, of_wings, option
from glsw.cli.words import (
    NO_PROGRESS,
    SUMMARY,
    devices_of,
    masked,
    name,
    size,
)
from glsw.engines import ENGINES
from glsw.options import AlignerOptions, defaults_of
from glsw.output import format_of
from glsw.output.sam import sam_format
from glsw.run.pool import Devices
from glsw.sequences.query import Strand
from glsw.sequences.seg import MASKED, Masked
from glsw.words import POSITIVE

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DEFAULTS = defaults_of(AlignerOptions)
STRAND = "strands of the query (both, plus of proteins)"
DEVICE = (
    "N: number of the device or part of its name, see glsw devices; auto: the GPU whose index is "
    "the local rank of this process (Slurm, MPI, Dask){}"
)


class Strands(Group, title="strands"):
    """The strands of the query."""

    strand: Strand | None = option(STRAND)


class Masks(Group, title="masking", decides=True, defaults=_DEFAULTS):
    """Which letters are masked."""

    about = "Masked letters score like X or N."
    lower_case_mask: bool = option("mask lower-case letters", one_track=True)
    mask_low_complexity: bool = option(
        "mask low-complexity regions in queries: DUST for DNA, tantan for proteins",
        one_track=True,
    )
    seg: Masked = option(
        "mask low-complexity segments of proteins with SEG: in queries (yes or query, as in "
        "blastp), in targets, or in both (no)",
        choices=("yes", *MASKED),
        one_track=True,
        type=masked,
    )


class Running(Group, title="running", defaults=_DEFAULTS):
    """Where a command computes.

    A wing may set ``executor``: a function that returns a context manager, see `workers`.
    """

    engine: str | None = option(f"NAME: {', '.join(ENGINES)} (auto)")
    device: Devices = option(DEVICE, type=name)
    memory: int | None = option(
        "SIZE: limit of device memory for parts of a database and for tables, such as 512M or 2G",
        type=size,
    )
    threads: int | None = option(
        "N: CPU threads, for engine cpu and software OpenGL{} (all cores)",
        within=POSITIVE,
    )
    wings: list[Group] = of_wings()
    no_progress: bool = option(NO_PROGRESS)
    executor: Callable[[str], AbstractContextManager[Executor]] | None = None

    def apply(self, command: Command) -> None:
        """Limit the threads of the command."""
        command.threads = self.threads

    @property
    def several(self) -> bool:
        """Whether there may be several devices."""
        return isinstance(self.device, list) or self.device == "all"

    def workers(self, database: str = "") -> AbstractContextManager[Executor | None]:
        """Return the executor to compute on, None for this process.

        ``database`` is the path of what other processes read.
        """
        return self.executor(database) if self.executor else nullcontext()


class OnDevices(Running, notes={"device": "; numbers such as 0,1 or all to use several GPUs"}):
    """Where a command computes that can use several devices."""

    device: Devices = option(DEVICE, type=devices_of)


class Several(Group, title="alignments"):
    """Which alignments are reported."""

    max_alignments: int = option(
        "K: report the K best alignments that share no {}, 0 for all (1)", 1
    )
    min_score: float | None = option(
        "S: report alignments with at least this score (1; no limit with other modes)"
    )


class Output(Group, title="output"):
    """Where results go, and how they are written: each command has its formats."""

    format: Any = None
    output: str = option(
        "FILE: write results to this file instead of standard output", "-", type=str
    )


class ResultOutput(Output):
    """The output of results of pairs; a command need not have all of these options."""

    alignments: int | None = None
    resume: bool | None = None
    link: str | None = None
    read_group: str | None = option(
        "LINE: with --format sam, the read group of all records, such as "
        r"'@RG\tID:run1\tSM:sample'",
    )
    summary: str | None = option(SUMMARY, type=str)

    def complete(self) -> None:
        """Pass options that refine the format on to it, if given."""
        given = self.format.name
        for flag, value, formats in (
            ("--link", self.link, ("html",)),
            ("--alignments", self.alignments, ("table", "pairwise")),
            ("--read-group", self.read_group, ("sam",)),
        ):
            if value is None:
                continue
            if given not in formats:
                raise ValueError(f"{flag} is for --format {' or '.join(formats)}, not {given}")
            if value is self.read_group:
                sam_format(self.read_group)  # raises the error of what is no read group
            self.format = format_of(f"{given} {value}")
