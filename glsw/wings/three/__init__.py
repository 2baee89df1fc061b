"""Alignment of three sequences."""

COMMANDS = {"align3": ("glsw.wings.three.command", "align three sequences")}
TESTS = {
    "subtable": "glsw.wings.three.engines.subtable.Subtable",
    "plane": "glsw.wings.three.engines.plane.Plane",
}
