"""Pairs of sequences without a database: any pairs, all pairs, near pairs."""
