"""Sequences as users give them: looked at, read and encoded once."""
