"""Recordings, SAX (time series as words), and the segments that channels share."""

NEEDS = ("three",)
COMMANDS = {
    "motifs": (
        "glsw.wings.series.command",
        "rank similar segments across the channels of a recording",
    ),
}
