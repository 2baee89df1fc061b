"""Text of results as text of a page."""

from __future__ import annotations

import re

from glsw.output.format import in_a_line
from glsw.sequences.records import Record
from glsw.words import visible

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
# Letters that nobody sees, and those that turn the order of others.
_UNSEEN = re.compile("[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def escaped(text: str) -> str:
    r"""Return a text that is nothing but text in a page, also as the value of an attribute.

    >>> escaped('<b onclick="x">\x1b')
    '&lt;b onclick=&quot;x&quot;&gt;\\x1b'
    >>> escaped("evil\u202egnp.exe")
    'evil\\u202egnp.exe'
    """
    text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
    return text.translate(_ENTITIES)


def element(tag: str, text: str, attributes: str = "") -> str:
    """Return an element with a text.

    >>> element("b", "1 < 2", 'class="x"')
    '<b class="x">1 &lt; 2</b>'
    """
    return f"<{tag}{' ' * bool(attributes)}{attributes}>{escaped(text)}</{tag}>"


def name_of(record: Record) -> str:
    """Return the id of a record; letters that run from right to left do not turn what follows."""
    return element("bdi", in_a_line(record.id) or "(no name)")
