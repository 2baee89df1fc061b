"""Database search: hits, found by one engine or by several, and their alignments."""
