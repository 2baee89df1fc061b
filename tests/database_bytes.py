"""Databases byte by byte: the format once more, from its description."""

import json
import struct
import zlib

PREFACE = "=8sIIQQII"
BLOCK = 65536
NUMBERS = dict.fromkeys(("title_offsets", "lengths", "substituted_at"), "q")
NUMBERS |= dict.fromkeys(("order", "rank"), "I")
"""The types of numbers in sections."""


def contents(data):
    """Return the table of contents of a file of these bytes."""
    _, _, _, offset, length, _, _ = struct.unpack_from(PREFACE, data)
    return json.loads(data[offset : offset + length])


def section(data, name):
    table = contents(data)
    place = table["checksums"] if name == "checksums" else table["sections"][name]
    return data[place["offset"] : place["offset"] + place["bytes"]]


def sections(data):
    return {name: section(data, name) for name in contents(data)["sections"]}


def preface(offset, table, version=5):
    data = struct.pack("=8sIIQQI", b"\x89GLSW\r\n\x1a", 0x01020304, version, offset, len(table), 0)
    data = data[:-4] + struct.pack("=I", zlib.crc32(table))
    return data + struct.pack("=I", zlib.crc32(data))


def checksums(parts):
    """Return the numbers of the blocks of some sections."""
    blocks = [part[at : at + BLOCK] for part in parts for at in range(0, len(part), BLOCK)]
    return struct.pack(f"={len(blocks)}I", *map(zlib.crc32, blocks))


def built(table, parts):
    """Return a file of these sections by name, all its checksums right.

    ``table`` has the rest of the table of contents.
    """
    data, places = bytearray(struct.calcsize(PREFACE)), {}
    for name, part in {**parts, "checksums": checksums(parts.values())}.items():
        data += bytes(-len(data) % 64)
        places[name] = {"offset": len(data), "bytes": len(part)}
        data += part
    of_blocks = {**places.pop("checksums"), "crc32": zlib.crc32(part)}
    return ended(data, {**table, "sections": places, "checksums": of_blocks})


def ended(data, table, version=5):
    """Return a file whose preface is not written yet, with a table of contents at its end."""
    spelled = table if isinstance(table, bytes) else json.dumps(table).encode()
    return preface(len(data), spelled, version) + bytes(data[struct.calcsize(PREFACE) :]) + spelled


def retabled(data, change):
    """Return a file whose table of contents was changed, with right checksums of that."""
    table = contents(data)
    change(table)
    return ended(data[: struct.unpack_from(PREFACE, data)[3]], table)
