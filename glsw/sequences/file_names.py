"""Recognizes text that is a file name rather than a sequence."""

from __future__ import annotations

import os
import re

from glsw.sequences.alphabet import Alphabet

_LIKE_A_FILE = re.compile(
    r"/|\.(fasta|fastq|fas?|fq|fna|faa|ffn|frn|fsa|a2m|a3m|txt|gz|bgz|bz2|xz|zip|zst|glsw)$",
    re.IGNORECASE,
)
_LONGEST = 4096  # characters of a path


def are_errors(alphabet: Alphabet, unknown: str | None) -> bool:
    """Tell whether letters that all names of files have are an error."""
    letters = "".join((*alphabet.letters, *alphabet.aliases))
    return unknown is None and "." not in letters and "/" not in letters


class FileNameError(ValueError):
    """A sequence looks like the name of a file."""


def like_a_file(text: str) -> bool:
    """Return whether text has a folder, or ends like the name of a file of sequences.

    >>> like_a_file("reads.fq.gz"), like_a_file("data/reads"), like_a_file("MKV.")
    (True, True, False)
    """
    return len(text) <= _LONGEST and _LIKE_A_FILE.search(text) is not None


def check_no_file(text: str, name: str, alphabet: Alphabet | None, *, alone: bool) -> None:
    """Raise FileNameError if text is the name of a file, or looks more like one than a sequence.

    Parameters
    ----------
    text : str
        Letters in upper case are always a sequence.
    name : str
        Name of the sequence in the error.
    alphabet : Alphabet, optional
        Its letters; without it all characters are letters, and the file must exist.
    alone : bool
        Whether it is not in a list: only then letters that are also a file's name are an error.
    """
    if len(text) > _LONGEST or (text.isalpha() and (text.isupper() or not alone)):
        return
    like, path = like_a_file(text), f'Path("{text}")'
    if alphabet is None:
        if like and os.path.isfile(text):
            raise FileNameError(f"{name}: {text!r} is the name of a file: {path} reads it")
        return
    try:
        alphabet.encode(text)
    except ValueError:
        if like or os.path.isfile(text):
            raise FileNameError(
                f"{name}: {text!r} is not a sequence; {path} reads the file of that name"
            ) from None
        return
    if alone and os.path.isfile(text):
        raise FileNameError(
            f"{name}: {text!r} is the name of a file and a sequence: {path} reads the file, "
            f"b{text!r} is the sequence"
        )
