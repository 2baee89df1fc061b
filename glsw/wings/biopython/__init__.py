"""A replacement for Biopython's `PairwiseAligner`, and all equally good alignments of a pair."""

NEEDS = ("edit",)
