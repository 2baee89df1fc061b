"""The fingerprint of a search: all that determines the bytes of its results, by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from glsw.scoring.scoring import Scoring
from glsw.sequences.database import Database
from glsw.sequences.encoded import Sequences
from glsw.sequences.records import Record, Records

Fingerprint: TypeAlias = Mapping[str, str]
"""What decides the bytes of results, by name: only with an equal one a run goes on."""

BYTES_PER_SECOND = 2.5e8
"""Of records, that `fingerprint` looks at at least, on one core."""


def fingerprint(
    queries: Iterable[Record],
    targets: Database | Iterable[Record],
    scoring: Scoring,
    **settings: object,
) -> dict[str, str]:
    """Return the fingerprint of a search, as text that may be stored and compared.

    Sequences and matrices enter by a digest of their contents, a database file by its checksum:
    it does not matter where they are and what their files are called.

    Parameters
    ----------
    queries, targets : sequences
    scoring : Scoring
    **settings
        Whatever else decides what is written, such as limits and the format; codes by a digest.

    Examples
    --------
    >>> one, other = (Record("q", "", letters) for letters in ("MKV", "MKL"))
    >>> before, now = (fingerprint([each], [], Scoring.blast(), top=10) for each in (one, other))
    >>> [name for name in before if before[name] != now[name]]
    ['queries']
    >>> before["top"]
    '10'
    """
    from glsw._version import __version__

    costs = scoring.insertion, scoring.deletion, scoring.end_gaps, scoring.scale
    gaps = scoring.gaps
    by_position = (gaps.opens.tobytes(), gaps.extends.tobytes()) if gaps else ()
    of_scoring = _digest(scoring.matrix.tobytes(), scoring.alphabet, costs, *by_position)
    for name, value in settings.items():
        if isinstance(value, Sequences):
            digest = _digest(value.residues.data, value.offsets.data)
            settings[name] = f"{len(value)} contexts {digest}"
    return {
        "glsw": __version__,
        "queries": _of_sequences(queries),
        "database": _of_sequences(targets),
        "scoring": f"{scoring.name} {of_scoring}",
        **{name: str(value) for name, value in settings.items()},
    }


def json_object(data: bytes) -> dict[str, Any]:
    """Return the object of JSON that an earlier run left; ValueError if it is none.

    >>> json_object(b'{"top": "10"}')
    {'top': '10'}
    """
    try:
        found = json.loads(data)
    except RecursionError:
        raise ValueError("too many brackets") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def differences(left: object, wanted: Fingerprint) -> str:
    """Return what differs between the fingerprint of a run that was left and that of this one.

    >>> differences({"top": "10", "ties": "any"}, {"top": "20", "ties": "any"})
    'top changed from 10 to 20'
    """
    if not isinstance(left, dict):
        return "it has no fingerprint"
    names = [name for name in {**wanted, **left} if left.get(name) != wanted.get(name)]
    return ", ".join(
        f"{name} changed from {left.get(name, 'none')} to {wanted.get(name, 'none')}"
        for name in names
    )


def _of_sequences(sequences: Database | Iterable[Record]) -> str:
    if isinstance(sequences, Database):
        sequences = sequences.given
        if sequences.stamp is not None:
            return f"{len(sequences)} sequences {sequences.stamp:08x}"
        sequences = sequences.records or ()
    records = Records.of(sequences)
    titles, known = records.titles, records.qualities
    arrays = [titles.text, titles.offsets, records.joined_letters(), records.offsets]
    arrays += [] if known is None else [known]
    digest = _digest(*(np.ascontiguousarray(each).data for each in arrays))
    return f"{len(records)} sequences {digest}"


def _digest(*parts: object) -> str:
    """Return a digest of bytes and of the text of other objects; each part begins with its size."""
    import hashlib

    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = (
            part
            if isinstance(part, bytes | memoryview)
            else str(part).encode("utf-8", "backslashreplace")
        )
        found.update(f"{memoryview(data).nbytes} ".encode("ascii"))
        found.update(data)
    return found.hexdigest()
