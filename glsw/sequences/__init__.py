"""Sequences: alphabets, files, databases, and how queries are prepared."""
