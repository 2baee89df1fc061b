"""Shards: parts of a search, computed on any machines, and their merge."""

COMMANDS = {
    "merge": ("glsw.wings.shards.command:Merge", "combine the shards of a search into its results"),
}
OPTIONS = {"glsw.wings.shards.options": ("search output",)}
