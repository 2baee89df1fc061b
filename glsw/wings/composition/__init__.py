"""Scores adjusted to the compositions of two proteins, as in blastp."""

STAGES = {"composition": "glsw.wings.composition.rescoring"}
OPTIONS = {"glsw.wings.composition.options": ("search hits",)}
BLAST = {"comp_based_stats": "--composition"}
