"""Sequences as passed by users: classified, read and encoded once."""
