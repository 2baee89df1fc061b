"""One sequence, several, and what is neither, in all kinds of objects that verbs take."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from Bio.Seq import MutableSeq, Seq
from Bio.SeqRecord import SeqRecord

import glsw
from glsw.sequences.fasta import read_all

A, B = "HEAGAWGHEE", "PAWHEAEMKV"
CODES = glsw.PROTEIN.encode(A), glsw.PROTEIN.encode(B)
ONE: dict[str, Callable[[Path], Any]] = {
    "str": lambda folder: A,
    "bytes": lambda folder: A.encode(),
    "bytearray": lambda folder: bytearray(A.encode()),
    "Record": lambda folder: glsw.Record("a", "", A),
    "Seq": lambda folder: Seq(A),
    "MutableSeq": lambda folder: MutableSeq(A),
    "SeqRecord": lambda folder: SeqRecord(Seq(A), id="a"),
    "codes": lambda folder: CODES[0],
    "codes of 64 bits": lambda folder: CODES[0].astype(np.int64),
    "tuple of numbers": lambda folder: tuple(CODES[0].tolist()),
    "tuple of NumPy's numbers": lambda folder: tuple(CODES[0]),
    "array of Python": lambda folder: array("B", CODES[0].tolist()),
    "memoryview": lambda folder: memoryview(CODES[0].tobytes()),
}
SEVERAL: dict[str, Callable[[Path], Any]] = {
    "list": lambda folder: [A, B],
    "tuple": lambda folder: (A, B),
    "list of bytes": lambda folder: [A.encode(), B.encode()],
    "generator": lambda folder: (each for each in (A, B)),
    "iterator": lambda folder: iter([A, B]),
    "keys": lambda folder: {A: 0, B: 0}.keys(),
    "list of Record": lambda folder: [glsw.Record("a", "", A), glsw.Record("b", "", B)],
    "list of Seq": lambda folder: [Seq(A), MutableSeq(B)],
    "tuple of Seq": lambda folder: (Seq(A), Seq(B)),
    "list of SeqRecord": lambda folder: [SeqRecord(Seq(each), id=each) for each in (A, B)],
    "list of codes": lambda folder: list(CODES),
    "tuple of codes": lambda folder: CODES,
    "list of tuples": lambda folder: [tuple(each.tolist()) for each in CODES],
    "codes of two dimensions": lambda folder: np.stack(CODES),
    "array of S": lambda folder: np.array([A.encode(), B.encode()]),
    "array of U": lambda folder: np.array([A, B]),
    "array of objects": lambda folder: np.array([A, B], object),
    "Sequences": lambda folder: glsw.Sequences.of(CODES),
    "Arrow's strings": lambda folder: pa.array([A, B]),
    "Arrow's binaries": lambda folder: pa.array([A.encode(), B.encode()]),
    "Arrow's lists": lambda folder: pa.array([c.tolist() for c in CODES], pa.list_(pa.uint8())),
    "path": lambda folder: folder / "two.fa",
    "list of paths": lambda folder: [folder / "a.fa", folder / "b.fa"],
    "mixed list": lambda folder: [A, Seq(B)],
    "records of a file": lambda folder: read_all(folder / "two.fa"),
}
NEITHER: dict[str, Callable[[Path], Any]] = {
    "list of numbers": lambda folder: CODES[0].tolist(),
    "array of floats": lambda folder: CODES[0].astype(float),
    "number": lambda folder: 5,
    "dict": lambda folder: {"a": A},
    "list of None": lambda folder: [None],
    "None": lambda folder: None,
    "array without axes": lambda folder: np.array(3),
}


def files_of_two(folder: Path) -> Path:
    """Write a file of both sequences, and one of each, into a folder and return it."""
    for name, letters in (("two", [A, B]), ("a", [A]), ("b", [B])):
        text = "".join(f">{each}\n{each}\n" for each in letters)
        (folder / f"{name}.fa").write_text(text)
    return folder
