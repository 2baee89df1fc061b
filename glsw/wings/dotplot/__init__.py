"""The best local score through each tile of a table."""

COMMANDS = {
    "dotplot": (
        "glsw.wings.dotplot.command:Dotplot",
        "draw an exact dot plot: the best local score through each part of the table",
    ),
}
TESTS = {"score_map": "glsw.wings.dotplot.score_map.ScoreMap"}
