"""Exact Smith-Waterman alignment on any OpenGL device.

>>> import glsw
>>> glsw.score("HEAGAWGHEE", "PAWHEAE")
17
"""

from glsw.align import Aligner
from glsw.align3 import Aligner3, align3
from glsw.batch import Batch
from glsw.device.device import Device, DeviceError, DeviceInfo, DeviceMemoryError, devices
from glsw.device.shader import ShaderError
from glsw.output import write
from glsw.pairwise import PairwiseAligner
from glsw.paths import Ends
from glsw.results import Alignment, Hit, Hsp, SearchResult
from glsw.scoring.scoring import Scoring
from glsw.scoring.three import Scoring3
from glsw.sequences.alphabet import DNA, PROTEIN, Alphabet
from glsw.sequences.database import Database, makedb
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import Record, read
from glsw.verbs import align, alignments, score, score_matrix, search

__version__ = "0.1.0"

__all__ = [
    "DNA",
    "PROTEIN",
    "Aligner",
    "Aligner3",
    "Alignment",
    "Alphabet",
    "Batch",
    "Database",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemoryError",
    "Ends",
    "Hit",
    "Hsp",
    "PairwiseAligner",
    "Record",
    "Scoring",
    "Scoring3",
    "SearchResult",
    "Sequences",
    "ShaderError",
    "__version__",
    "align",
    "align3",
    "alignments",
    "devices",
    "makedb",
    "read",
    "score",
    "score_matrix",
    "search",
    "write",
]
