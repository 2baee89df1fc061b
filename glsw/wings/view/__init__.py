"""A window on a dot plot."""

NEEDS = ("dotplot",)
COMMANDS = {
    "view": (
        "glsw.wings.view.command",
        "show the same as dotplot in a window, to zoom into while it is computed",
    ),
}
