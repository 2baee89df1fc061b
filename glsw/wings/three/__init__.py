"""Alignment of three sequences."""

COMMANDS = {"align3": ("glsw.wings.three.command", "align three sequences")}
TESTS = {"three": "glsw.wings.three.engines.proof"}
