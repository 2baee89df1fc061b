"""Queries with scores by position, and searches round by round."""
