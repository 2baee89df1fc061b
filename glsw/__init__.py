"""Exact Smith-Waterman alignment on any OpenGL device.

>>> import glsw
>>> glsw.score("HEAGAWGHEE", "PAWHEAE")
17
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glsw.align import Aligner
    from glsw.align3 import Aligner3, align3
    from glsw.batch import Batch
    from glsw.device.device import Device, DeviceError, DeviceInfo, DeviceMemoryError, devices
    from glsw.device.shader import ShaderError
    from glsw.dotplot.plot import DotPlot, dotplot
    from glsw.edit import edit_distance, edit_distance_matrix
    from glsw.iteration import iterate
    from glsw.near_verbs import clusters, reciprocal_best_hits
    from glsw.neighbors import BestHits
    from glsw.output import write
    from glsw.pairwise import PairwiseAligner
    from glsw.paths import Ends
    from glsw.profiles.profile import Profile
    from glsw.results import Alignment, Hit, Hsp, PairAlignments, SearchResult
    from glsw.scoring.scoring import Scoring
    from glsw.scoring.three import Scoring3
    from glsw.scoring.two_tracks import TwoTrackScoring
    from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet
    from glsw.sequences.database import Database, makedb
    from glsw.sequences.encoded import Sequences
    from glsw.sequences.records import Record, read
    from glsw.sequences.tracks import interleaved, read_tracks
    from glsw.verbs import (
        align,
        align_pairs,
        alignments,
        neighbors,
        score,
        score_matrix,
        score_pairs,
        search,
    )

__version__ = "0.1.0"

__all__ = [
    "DNA",
    "PROTEIN",
    "Aligner",
    "Aligner3",
    "Alignment",
    "Alphabet",
    "Batch",
    "BestHits",
    "Database",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemoryError",
    "DotPlot",
    "Ends",
    "Hit",
    "Hsp",
    "PairAlignments",
    "PairwiseAligner",
    "Profile",
    "Record",
    "Scoring",
    "Scoring3",
    "SearchResult",
    "Sequences",
    "ShaderError",
    "TwoTrackScoring",
    "__version__",
    "align",
    "align3",
    "align_pairs",
    "alignments",
    "clusters",
    "devices",
    "dotplot",
    "edit_distance",
    "edit_distance_matrix",
    "interleaved",
    "iterate",
    "makedb",
    "neighbors",
    "read",
    "read_tracks",
    "reciprocal_best_hits",
    "score",
    "score_matrix",
    "score_pairs",
    "search",
    "write",
]

_HOMES = {
    "align": "Aligner",
    "align3": "Aligner3 align3",
    "batch": "Batch",
    "device.device": "Device DeviceError DeviceInfo DeviceMemoryError devices",
    "device.shader": "ShaderError",
    "dotplot.plot": "DotPlot dotplot",
    "edit": "edit_distance edit_distance_matrix",
    "iteration": "iterate",
    "near_verbs": "clusters reciprocal_best_hits",
    "neighbors": "BestHits",
    "output": "write",
    "pairwise": "PairwiseAligner",
    "paths": "Ends",
    "profiles.profile": "Profile",
    "results": "Alignment Hit Hsp PairAlignments SearchResult",
    "scoring.scoring": "Scoring",
    "scoring.three": "Scoring3",
    "scoring.two_tracks": "TwoTrackScoring",
    "sequences.alphabet": "DNA PROTEIN Alphabet",
    "sequences.database": "Database makedb",
    "sequences.encoded": "Sequences",
    "sequences.records": "Record read",
    "sequences.tracks": "interleaved read_tracks",
    "verbs": "align align_pairs alignments neighbors score score_matrix score_pairs search",
}
"""The public names that each module has; it is imported when one of them is first used."""

_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


class _Package(ModuleType):
    """A package whose public names come before modules of the same name, such as ``search``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


if not TYPE_CHECKING:  # a type checker would take any name for one of the package

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            module = importlib.import_module(f"{__name__}.{_HOME[name]}")
            globals()[name] = getattr(module, name)
            return globals()[name]
        if not name.startswith("_"):
            try:
                return importlib.import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        text = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)


sys.modules[__name__].__class__ = _Package
