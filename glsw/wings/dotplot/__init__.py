"""The best local score through each tile of a table."""

COMMANDS = {
    "dotplot": (
        "glsw.wings.dotplot.command",
        "draw the best local score through each part of the table of two genomes",
    ),
}
