"""Exact Smith-Waterman local alignment on any OpenGL device.

>>> import glsw
>>> glsw.score("HEAGAWGHEE", "PAWHEAE")
17
"""

from importlib.metadata import PackageNotFoundError, version

from glsw.align import Aligner, align, alignments, score, search
from glsw.alphabet import DNA, PROTEIN, Alphabet, custom
from glsw.database import Database, is_database, makedb
from glsw.device import Device, DeviceError, DeviceInfo, devices, open_device
from glsw.engines import ENGINES
from glsw.result import Alignment, Ends, Hit, SearchResult
from glsw.scoring import Scoring
from glsw.sequences import Record, read
from glsw.shader import ShaderError

try:
    __version__ = version("glsw")
except PackageNotFoundError:  # a plain checkout
    __version__ = "0+unknown"

__all__ = [
    "DNA",
    "ENGINES",
    "PROTEIN",
    "Aligner",
    "Alignment",
    "Alphabet",
    "Database",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "Ends",
    "Hit",
    "Record",
    "Scoring",
    "SearchResult",
    "ShaderError",
    "__version__",
    "align",
    "alignments",
    "custom",
    "devices",
    "is_database",
    "makedb",
    "open_device",
    "read",
    "score",
    "search",
]
