"""Recordings, SAX (time series as words), and the segments that channels share."""

NEEDS = ("three",)
COMMANDS = {
    "motifs": (
        "glsw.wings.series.command:Motifs",
        "rank similar segments in different channels of a recording",
    ),
}
