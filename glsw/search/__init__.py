"""Database search: which hits, found by one engine or by many, and their alignments."""
