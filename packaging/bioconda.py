"""The recipe for bioconda with the version and the checksum of a source archive.

python packaging/bioconda.py dist/glsw-0.1.0.tar.gz build/bioconda

The recipe in the folder beside this file has no checksum. The archive has to be the one that is
uploaded to PyPI.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

RECIPE = Path(__file__).resolve().parent / "bioconda" / "meta.yaml"


def main(argv: list[str]) -> int:
    """Write it into a folder."""
    archive, folder = map(Path, argv)
    version = archive.name.removeprefix("glsw-").removesuffix(".tar.gz")
    values = {"version": version, "sha256": hashlib.sha256(archive.read_bytes()).hexdigest()}
    text = RECIPE.read_text(encoding="utf-8")
    for name, value in values.items():
        text, changed = re.subn(rf'(set {name} = ")[^"]*"', rf'\g<1>{value}"', text)
        assert changed == 1, name
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / RECIPE.name
    made.write_text(text, encoding="utf-8")
    print(f"{made}: {version}, {values['sha256']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
