"""The public names and their modules: type checkers read this file, and `glsw` itself."""

__all__: list[str]

from glsw._version import __version__ as __version__
from glsw.aligner import Aligner as Aligner, BestHits as BestHits
from glsw.alignment.alignment import Alignment as Alignment
from glsw.alignment.batch import Batch as Batch
from glsw.alignment.hits import Hit as Hit, Hsp as Hsp, SearchResult as SearchResult
from glsw.alignment.paths import Ends as Ends
from glsw.alignment.table import PairAlignments as PairAlignments
from glsw.device.device import (
    Device as Device,
    DeviceError as DeviceError,
    DeviceInfo as DeviceInfo,
    DeviceMemoryError as DeviceMemoryError,
    devices as devices,
)
from glsw.device.shader import ShaderError as ShaderError
from glsw.output import write as write
from glsw.scoring.scoring import Scoring as Scoring
from glsw.scoring.two_tracks import TwoTrackScoring as TwoTrackScoring
from glsw.sequences.alphabet import DNA as DNA, PROTEIN as PROTEIN, Alphabet as Alphabet
from glsw.sequences.database import Database as Database, makedb as makedb
from glsw.sequences.encoded import Sequences as Sequences
from glsw.sequences.fasta import read as read
from glsw.sequences.records import Record as Record
from glsw.sequences.tracks import interleaved as interleaved, read_tracks as read_tracks
from glsw.verbs import (
    align as align,
    align_pairs as align_pairs,
    alignments as alignments,
    clusters as clusters,
    neighbors as neighbors,
    reciprocal_best_hits as reciprocal_best_hits,
    score as score,
    score_matrix as score_matrix,
    score_pairs as score_pairs,
    search as search,
)
from glsw.wings.biopython.pairwise import PairwiseAligner as PairwiseAligner
from glsw.wings.dotplot.plot import DotPlot as DotPlot, dotplot as dotplot
from glsw.wings.edit.verbs import (
    edit_distance as edit_distance,
    edit_distance_matrix as edit_distance_matrix,
)
from glsw.wings.profiles.iteration import iterate as iterate
from glsw.wings.profiles.profile import Profile as Profile
from glsw.wings.series.motifs import motifs as motifs
from glsw.wings.series.recording import Recording as Recording
from glsw.wings.three.aligner import Aligner3 as Aligner3, align3 as align3
from glsw.wings.three.scoring import Scoring3 as Scoring3
