"""Exact Smith-Waterman local alignment on any OpenGL device.

>>> import glsw
>>> glsw.score("HEAGAWGHEE", "PAWHEAE")
17
"""

from importlib.metadata import PackageNotFoundError, version

from glsw.align import Aligner, align, alignments, score, score_matrix, search
from glsw.align3 import Aligner3, align3, alignments3, score3
from glsw.batch import Triples
from glsw.device.device import Device, DeviceError, DeviceInfo, devices, open_device
from glsw.device.shader import ShaderError
from glsw.engines import ENGINES
from glsw.engines.three import ENGINES3
from glsw.output import write
from glsw.pairwise import PairwiseAligner
from glsw.paths import Ends, Ends3, Paths3
from glsw.results import Alignment, Hit, Hsp, SearchResult
from glsw.scoring.gaps import EndGaps, GapCost
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet, custom
from glsw.sequences.database import Database, makedb
from glsw.sequences.database_file import is_database
from glsw.sequences.query import View
from glsw.sequences.records import Record, read
from glsw.statistics import Statistics

try:
    __version__ = version("glsw")
except PackageNotFoundError:  # a plain checkout
    __version__ = "0+unknown"

__all__ = [
    "DNA",
    "ENGINES",
    "ENGINES3",
    "PROTEIN",
    "Aligner",
    "Aligner3",
    "Alignment",
    "Alphabet",
    "Database",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "EndGaps",
    "Ends",
    "Ends3",
    "GapCost",
    "Hit",
    "Hsp",
    "PairwiseAligner",
    "Paths3",
    "Record",
    "Scoring",
    "Scoring3",
    "SearchResult",
    "ShaderError",
    "Statistics",
    "Triples",
    "View",
    "__version__",
    "align",
    "align3",
    "alignments",
    "alignments3",
    "custom",
    "devices",
    "is_database",
    "makedb",
    "open_device",
    "read",
    "score",
    "score3",
    "score_matrix",
    "search",
    "write",
]
