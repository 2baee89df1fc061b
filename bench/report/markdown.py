r"""A report as Markdown; its figures are files of their own.

>>> from bench.report.blocks import Table
>>> print(table(Table("Rates", ["engine", "A|B"], [["lanes", "1.5"]], ["¹ a note"], ["a.json"])))
**Rates**
<BLANKLINE>
| engine | A\|B |
|---|---:|
| lanes | 1.5 |
<BLANKLINE>
¹ a note\
From a.json
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench.report.blocks import WRONG, Picture, Section, Table

FIGURES = "figures"
"""The folder of the figures, next to the report."""


def markdown(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the whole report."""
    lines = [f"# {escaped(title)}", escaped(lead)]
    for section in sections:
        lines.append(f"## {escaped(section.title)}")
        for block in section.blocks:
            if isinstance(block, Table):
                lines.append(table(block))
            elif isinstance(block, Picture):
                lines.append(picture(block))
            else:
                lines.append(escaped(block))
    return "\n\n".join(lines) + "\n"


def table(block: Table) -> str:
    """Return a table with its caption before it and its notes after it."""
    head = [escaped(text) for text in block.head]
    lines = [f"**{escaped(block.caption)}**", ""]
    lines.append("| " + " | ".join(head) + " |")
    lines.append("|" + "|".join("---" if words else "---:" for words in block.wordy()) + "|")
    for row in block.rows:
        if len(row) == 1 < len(head):
            texts = [f"**{escaped(row[0])}**"] + [""] * (len(head) - 1)
        else:
            texts = [_bold(text) for text in row]
        lines.append("| " + " | ".join(texts) + " |")
    notes = [escaped(note) for note in block.notes]
    if block.files:
        notes.append("From " + escaped(", ".join(block.files)))
    return "\n".join(lines) + ("\n\n" + "\\\n".join(notes) if notes else "")


def picture(block: Picture) -> str:
    """Return a figure as a link to its file."""
    text = escaped(block.title).replace("[", "\\[").replace("]", "\\]")
    source = f"\n\n{escaped(block.text)} From {escaped(', '.join(block.files))}"
    return f"![{text}]({FIGURES}/{block.name}.svg)\n\n*{text}.* {source.strip()}"


def _bold(text: str) -> str:
    found = escaped(text)
    return f"**{found}**" if text.startswith(WRONG) else found


def escaped(text: str) -> str:
    r"""Return text that Markdown takes as it is, on one line.

    >>> print(escaped("a <b> | *c*"))
    a &lt;b&gt; \| \*c\*
    """
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\|*_`~\[\]])", r"\\\1", line)
