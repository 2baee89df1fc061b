"""The description on the package index: README.md without what only a checkout can show.

An index knows no files of the project. So relative links lead below the address ``Source`` of
``[project.urls]``; as long as there is none, their text is left alone, and a picture its caption.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?:)([^)]+)\)")


class Description(MetadataHookInterface):
    """Sets ``project.readme``."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the text to the metadata of the project."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, source)}


def described(text: str, source: str = "") -> str:
    """Return a text in Markdown with links below an address, or without those it would need.

    >>> described("See [this](docs/A.md), [that](https://b.org). ![A figure](c.png)")
    'See this, [that](https://b.org). *A figure*'
    >>> described("[this](docs/A.md#b)", "https://b.org/glsw/")
    '[this](https://b.org/glsw/docs/A.md#b)'
    """

    def link(found: re.Match[str]) -> str:
        picture, shown, target = found.groups()
        if source:
            return f"{picture}[{shown}]({source.rstrip('/')}/{target})"
        return f"*{shown}*" if picture else shown

    return _LINK.sub(link, text)
