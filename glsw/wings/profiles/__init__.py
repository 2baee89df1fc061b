"""Queries with scores by position, and searches round by round."""

OPTIONS = {"glsw.wings.profiles.options": ("search scoring",)}
