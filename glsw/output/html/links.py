"""Addresses of targets, made of a pattern."""

from __future__ import annotations

import re

_PLACES = re.compile(r"\{(.*?)\}")


def check_link(pattern: str) -> None:
    """Raise ValueError unless a pattern is an address with ``{accession}`` or ``{id}``.

    >>> check_link("ftp://example.org/{id}")
    Traceback (most recent call last):
        ...
    ValueError: link 'ftp://example.org/{id}': http:// or https:// expected at its beginning
    """
    if not re.match(r"https?://[^/\s{}]+/", pattern):
        raise ValueError(f"link {pattern!r}: http:// or https:// expected at its beginning")
    places = {*_PLACES.findall(pattern)}
    if not places or places - {"accession", "id"}:
        raise ValueError(f"link {pattern!r}: {{accession}} or {{id}} expected in it")


def link_to(pattern: str, name: str) -> str:
    """Return the address of a target.

    >>> link_to("https://www.uniprot.org/uniprotkb/{accession}", "sp|P69905|HBA_HUMAN")
    'https://www.uniprot.org/uniprotkb/P69905'
    >>> link_to("https://example.org/?q={id}", 'a"&b')
    'https://example.org/?q=a%22%26b'
    """
    from urllib.parse import quote

    values = {"id": name, "accession": accession(name)}
    return _PLACES.sub(
        lambda found: quote(values[found[1]].encode("utf-8", "replace"), safe=""), pattern
    )


def accession(name: str) -> str:
    """Return the accession in an id of UniProt or NCBI, or the whole id.

    >>> [accession(name) for name in ("sp|P69905|HBA_HUMAN", "gi|129295|ref|NP_1.2|", "chr1")]
    ['P69905', 'NP_1.2', 'chr1']
    """
    parts = name.split("|")
    if parts[0] == "gi" and len(parts) > 3:
        parts = parts[2:]
    return parts[1] if len(parts) > 1 and parts[1] else name
