"""Pairs and triples by index, the columns of their alignments, and what users receive."""
