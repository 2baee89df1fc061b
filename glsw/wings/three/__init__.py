"""Alignment of three sequences."""

COMMANDS = {"align3": ("glsw.wings.three.command:Align3", "align three sequences")}
TESTS = {
    "subtable": "glsw.wings.three.engines.subtable.Subtable",
    "plane": "glsw.wings.three.engines.plane.Plane",
}
