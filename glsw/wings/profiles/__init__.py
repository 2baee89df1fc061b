"""Profiles, queries with position-specific scores, and iterated searches."""

from glsw.words import POSITIVE, Range

FORMATS = (
    "a file written by glsw, PSI-BLAST's ASCII PSSM or ASN.1 text, a HMMER3 model, or an alignment "
    "(Stockholm, Clustal, FASTA with gaps)"
)
"""What may be in the file of a profile."""
INCLUSION, SUMS_INCLUSION = 1e-3, 5e-3
"""The E-value up to which hits become members, of best alignments and of sums."""
ITERATIONS, INCLUSIONS = POSITIVE, Range(0, 1e6, above=True)
"""The numbers of rounds and the E-values that there can be."""
OPTIONS = {"glsw.wings.profiles.options": ("search scoring",)}
BLAST = {"psiblast": "search --iterations"}
TESTS = {"forward": "glsw.wings.profiles.forward_sums.ForwardSums"}
