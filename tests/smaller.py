"""Limits that tests make smaller, so that short sequences are cut as long ones are.

An engine gets other sizes by its option `limits`, and needs no entry here.
"""

from importlib import import_module
from typing import Any

import pytest

LIMITS = {
    "own_positions": "pairs.align_pairs._POSITIONS_TOGETHER",
    "batch": "alignment.batch._MANY",
    "columns": "alignment.operations._MAX_COLUMNS_TOGETHER",
    "columns_of_block": "alignment.operations._COLUMNS_OF_BLOCK",
    "profile_bytes": "alignment.traceback._MAX_PROFILE_BYTES",
    "mapped_since": "device.transfer._STORAGE",
    "wrong": "engines.lanes.pipeline._MOST_WRONG",
    "groups_of_round": "engines.lanes.pipeline._MAX_QUERIES",
    "short_keys": "engines.lanes.own_queries._SHORT_KEYS",
    "speed_seconds": "engines.speeds._SECONDS",
    "speed_targets": "engines.speeds._TARGETS",
    "shortest_window": "engines.windows._SHORTEST_WINDOW",
    "pieces": "inputs.encoder._MOST_PIECES",
    "marks": "output.result_file._SECONDS_BETWEEN_MARKS",
    "scores": "pairs.all_pairs._MAX_SCORES",
    "pairs": "pairs.many_pairs._MAX_PAIRS",
    "residues": "pairs.many_pairs._MAX_RESIDUES",
    "table": "pairs.many_pairs._MAX_TABLE",
    "pairs_aligned": "pairs.near_pairs._PAIRS_ALIGNED",
    "pending": "pairs.near_pairs._PENDING",
    "queries_as_long": "pairs.near_pairs._QUERIES_AS_LONG",
    "looks": "run.workers._LOOKS_AT_A_STOPPED_PROCESS",
    "first_share": "run.tasks._FIRST_SHARE",
    "task_seconds": "run.tasks._SECONDS_PER_TASK",
    "least_task_seconds": "run.tasks._LEAST_SECONDS_PER_TASK",
    "rounds": "run.tasks._ROUNDS",
    "hits": "search.align._MAX_PAIRS_PER_BATCH",
    "hit_residues": "search.align._MAX_RESIDUES_PER_BATCH",
    "large_scan": "search.scan._LARGE_CELLS",
    "seconds_together": "search.search._SECONDS_TOGETHER",
    "prefiltered": "search.select._MIN_HITS_TO_PREFILTER",
    "letters": "sequences.alphabet._LONG",
    "shown_letters": "sequences.database._LETTERS_OF_SHOWN",
    "run": "sequences.database_writer._RUN",
    "block": "sequences.fasta._BLOCK",
    "texts": "sequences.named._MANY",
    "sample": "sequences.records._SAMPLE",
    "records": "sequences.records._TOGETHER",
}
"""The names of limits in calls of `smaller`, and where they are in glsw."""


def smaller(patch: pytest.MonkeyPatch, **limits: Any) -> None:
    """Set limits, by their names in `LIMITS`, until the patch is undone."""
    for name, value in limits.items():
        module, _, limit = LIMITS[name].rpartition(".")
        patch.setattr(import_module(f"glsw.{module}"), limit, value)  # `glsw.search` is a verb
