"""A window on a dot plot."""

NEEDS = ("dotplot",)
COMMANDS = {
    "view": (
        "glsw.wings.view.command:View",
        "explore a dot plot in a window while it is computed",
    ),
}
