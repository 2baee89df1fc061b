"""The version and the checksum of a source archive in the recipe for bioconda.

python packaging/bioconda.py dist/glsw-0.1.0.tar.gz

The archive has to be the one that is uploaded to PyPI.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

RECIPE = Path(__file__).resolve().parent / "bioconda" / "meta.yaml"


def main(argv: list[str]) -> int:
    """Write them."""
    (archive,) = map(Path, argv)
    version = archive.name.removeprefix("glsw-").removesuffix(".tar.gz")
    values = {"version": version, "sha256": hashlib.sha256(archive.read_bytes()).hexdigest()}
    text = RECIPE.read_text(encoding="utf-8")
    for name, value in values.items():
        text, changed = re.subn(rf'(set {name} = ")[^"]*"', rf'\g<1>{value}"', text)
        assert changed == 1, name
    RECIPE.write_text(text, encoding="utf-8")
    print(f"{RECIPE}: {version}, {values['sha256']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
