"""The page COLUMNS.md, made from what stands beside the columns, keys and tags in the code.

python docs/columns.py          # writes it
python docs/columns.py --check  # exit status 1 if COLUMNS.md is another
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from glsw.alignment import columns
from glsw.output import blast_tab, jsonl, paf, sam
from glsw.wings.three import formats as three

PAGE = Path(__file__).with_name("COLUMNS.md")
_HEAD = """\
<!-- made by `python docs/columns.py` from the code: do not edit -->

# Columns, keys and tags

One name has one meaning, in Python and in files: starts count from 0 and ends are half-open, on the
query as given, also on its minus strand; identity is a fraction. This is so in
`SearchResult.to_dataframe()` and `rows()`, `PairAlignments`, `Alignment`, `tsv` and `jsonl`. Where
other programs define a format, it is as they do: in `blast-tab` letters count from 1, the last one
is included, on the minus strand the target descends, and identity is in per cent; SAM counts from
1, PAF from 0. Text for people (`table`, `pairwise`, `html`, `str()` of a result) counts from 1, as
BLAST does; so do `Hsp.query_place` and `Hsp.target_place`, which it shows.
"""


def page() -> str:
    """Return the page."""
    table = {name: column.about for name, column in columns.TABLE.items()}
    blast = {name: column.about for name, column in blast_tab.COLUMNS.items()}
    numbered = {str(k): text for k, text in enumerate(paf.COLUMNS, start=1)}
    parts = [
        _HEAD,
        "## `tsv` of `glsw search` and `glsw align`, and `SearchResult.to_dataframe()`\n",
        "A line, or a row, per alignment. What is not known is empty, in Python None or NaN.\n",
        *_table("column", table),
        "## `jsonl`\n",
        "A line is the object of a query. `[]` stands for each element of an array.\n",
        *_table("key", jsonl.KEYS),
        "## SAM\n",
        "Records are those of the specification; the first hit is primary. Tags:\n",
        *_table("tag", sam.TAGS),
        "## PAF\n",
        "The columns, and the tags behind them:\n",
        *_table("column", numbered, code=False),
        *_table("tag", paf.TAGS),
        "## `blast-tab`\n",
        "By default those of `std`, else those that are named:\n",
        f"`std`: `{' '.join(blast_tab.STANDARD)}`\n",
        *_table("column", blast),
        "## `tsv` of `glsw align3`\n",
        *_table("column", three.DESCRIPTIONS),
    ]
    return "\n".join(parts)


def _table(what: str, rows: Mapping[str, str], *, code: bool = True) -> Iterable[str]:
    yield f"| {what} | |\n|---|---|"
    for name, text in rows.items():
        yield f"| `{name}` | {text} |" if code else f"| {name} | {text} |"
    yield ""


def main(arguments: Sequence[str]) -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" in arguments:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
