"""Hooks of MkDocs: pages from the folder above docs/, notebooks as pages, and links between pages.

``extra.below`` of mkdocs.yml lists pages that have no entry of their own in the navigation.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import glsw

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
    """Let links lead to the pages from above, name pages by their titles, and draw the packages."""
    if PLACE in markdown:
        markdown = markdown.replace(PLACE, picture())
    markdown = re.sub(rf"\]\(\.\./({'|'.join(map(re.escape, ABOVE))})", r"](\1", markdown)
    own = page.file.src_uri

    def titled(found: re.Match[str]) -> str:
        named = files.get_file_from_path(found[1])
        return f"[{_title(files, found[1])}]({found[2]})" if named else found[0]

    markdown = re.sub(r"\[(?:docs/)?(\w+\.md)\]\((\w+\.md[^)]*)\)", titled, markdown)

    def links(names: Iterable[str]) -> str:
        folder = posixpath.dirname(own)
        made = (f"[{_title(files, name)}]({posixpath.relpath(name, folder)})" for name in names)
        return " · ".join(made)

    below: dict[str, list[str]] = config.extra["below"]
    above = [name for name, others in below.items() if own in others]
    near = links(below.get(own, ())) or links(above)
    if not near:
        return markdown
    head, line, rest = re.split(r"^(# .*\n)", markdown, maxsplit=1, flags=re.MULTILINE)
    return f"{head}{line}\n{'Part of' if above else 'See also'}: {near}\n{{.near}}\n{rest}"


def on_env(env: Any, config: MkDocsConfig, files: Files) -> None:
    """Let names in the pages about Python lead to what they name."""
    pages = [file.page for file in files.documentation_pages() if file.src_uri.startswith("api/")]
    places: dict[str, set[str]] = {}
    for page in filter(None, pages):
        for name in re.findall(r'id="(glsw\.[\w.]+)"', page.content or ""):
            *_, kind, last = name.split(".")
            own = last in glsw.__all__ and kind.islower()  # in a module, not in a class
            for short in (last, f"{kind}.{last}", *[f"glsw.{last}"] * own):
                places.setdefault(short, set()).add(f"{page.file.name}.html#{name}")

    def link(found: re.Match[str]) -> str:
        code, name = found.groups()
        if "." not in name and name.islower():  # a parameter
            return code
        near = places.get(name) or places.get(name.removeprefix("glsw."), set())
        return f'<a href="{min(near)}">{code}</a>' if len(near) == 1 else code

    def guide(found: re.Match[str]) -> str:
        name = found[1]
        return f'<a href="../{name.removesuffix(".md")}.html">{_title(files, name)}</a>'

    for page in filter(None, pages):
        parts = re.split(
            r"(<(?:a|pre|h\d)\b.*?</(?:a|pre|h\d)>)", page.content or "", flags=re.DOTALL
        )
        pattern = r"(<code>((?:glsw\.)?[A-Za-z_]\w*(?:\.\w+)?)(?:\(\))?</code>)"
        parts[::2] = [re.sub(pattern, link, part) for part in parts[::2]]
        parts[::2] = [re.sub(r"<code>docs/(\w+\.md)</code>", guide, part) for part in parts[::2]]
        page.content = "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the search index into a script, which pages opened as files may load (local.js)."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    text = index.read_text(encoding="utf-8")
    index.with_suffix(".js").write_text(f"var __index = {text}\n", encoding="utf-8")


def _title(files: Files, name: str) -> str:
    """Return the first heading of a page."""
    file = files.get_file_from_path(name)
    assert file is not None, name
    found = re.search(r"^# (.*)$", file.content_string, re.MULTILINE)
    assert found is not None, name
    return found[1]


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
            table = re.sub(r"\s*\n\s*", "", "".join(data["text/html"]))
            yield f'<div class="result">{table}</div>'
        else:
            text = "".join(output.get("text", data.get("text/plain", "")))
            yield f"```text\n{text.rstrip()}\n```"
