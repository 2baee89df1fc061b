"""Benchmarks: one file a paper, and what they share. Run from the checkout, see README.md."""
