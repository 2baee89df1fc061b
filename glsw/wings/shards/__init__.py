"""Parts of a search that any machines compute, and their merge."""

COMMANDS = {
    "merge": ("glsw.wings.shards.command:Merge", "combine the shards of a search into its results"),
}
OPTIONS = {"glsw.wings.shards.options": ("search output",)}
