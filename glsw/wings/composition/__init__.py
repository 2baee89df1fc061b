"""Scores for the compositions of two proteins, as in blastp."""
