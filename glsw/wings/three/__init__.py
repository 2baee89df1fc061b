"""Alignment of three sequences."""

COMMANDS = {"align3": ("glsw.wings.three.command:Align3", "align three sequences")}
TESTS = {"three": "glsw.wings.three.engines.proof"}
