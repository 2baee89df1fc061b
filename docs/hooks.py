"""Hooks of MkDocs: pages from the folder above docs/, and notebooks as pages."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from imports import PLACE, picture

ROOT = Path(__file__).resolve().parents[1]
ABOVE = "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for name in ABOVE:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join(part for cell in cells for part in _parts(cell))
        link = f"[This page as a notebook]({path.name})"
        made = File.generated(config, f"notebooks/{path.stem}.md", content=f"{text}\n\n{link}\n")
        files.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to the pages from above lead to them, and draw the picture of the rooms."""
    if PLACE in markdown:
        markdown = markdown.replace(PLACE, picture())
    return re.sub(rf"\]\(\.\./({'|'.join(map(re.escape, ABOVE))})", r"](\1", markdown)


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the Markdown of a cell and of its outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            yield f"![A figure](data:image/png;base64,{''.join(data['image/png']).strip()})"
        elif "text/html" in data:
            yield re.sub(r"\s*\n\s*", "", "".join(data["text/html"]))
        else:
            text = "".join(output.get("text", data.get("text/plain", "")))
            yield f"```text\n{text.rstrip()}\n```"
