"""What `reference` computes for the work of proofs, with the scorings that commands use by default.

The reference takes some hundredths of a second for the work of a proof, see `glsw.engines.proof`.
So its results for the usual scorings are in a file, which a test compares with the reference, and
which ``python -m glsw.engines.proof_expected`` writes anew when the work has changed.
"""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from glsw.alignment.paths import Ends
from glsw.scoring.scoring import Scoring

FILE = Path(__file__).with_suffix(".npy")


def usual_scorings() -> tuple[Scoring, ...]:
    """Return the scorings of which there are results."""
    return Scoring.blast(), Scoring.nucleotide()


def digest(scoring: object) -> str:
    """Return what tells a scoring from others; "" if it is no usual one."""
    import hashlib

    if type(scoring) is not Scoring or not scoring.local or scoring.separate:
        return ""
    words = scoring.alphabet.letters, scoring.gap_open, scoring.gap_extend
    content = repr(words).encode() + np.ascontiguousarray(scoring.matrix, np.int32).tobytes()
    return hashlib.sha256(content).hexdigest()[:12]


def of(scoring: object, what: str) -> Any:
    """Return what the reference computes, None if the file does not say."""
    known, name = stored(), f"{digest(scoring)} {what}"
    if f"{name} score" in known:
        return Ends(known[f"{name} score"], known[f"{name} end"])
    if f"{name} bounds" in known:
        joined, bounds = known[f"{name} joined"], known[f"{name} bounds"].tolist()
        return [joined[:, a:b] for a, b in pairwise(bounds)]
    return known.get(name)


def packed(scoring: object, what: str, value: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return a value as named arrays, as `of` reads them."""
    name = f"{digest(scoring)} {what}"
    if isinstance(value, Ends):
        return {f"{name} score": value.score, f"{name} end": value.end}
    if isinstance(value, list):
        bounds = np.cumsum([0, *(each.shape[1] for each in value)])
        return {
            f"{name} joined": np.concatenate(value, axis=1),
            f"{name} bounds": bounds,
        }
    return {name: np.asarray(value)}


@cache
def stored() -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of the file, by their names."""
    index = json.loads(FILE.with_suffix(".json").read_text(encoding="ascii"))
    values = np.load(FILE)
    found, first = {}, 0
    for name, shape in index.items():
        size = math.prod(shape)
        found[name] = values[first : first + size].reshape(shape)
        first += size
    return found


def write() -> None:
    """Write the file, one array of all numbers, and beside it the names and shapes of its parts."""
    found = everything()
    np.save(FILE, np.concatenate([values.ravel().astype(np.int32) for values in found.values()]))
    index = {name: values.shape for name, values in found.items()}
    FILE.with_suffix(".json").write_text(json.dumps(index, indent=0) + "\n", encoding="ascii")


def everything() -> dict[str, np.ndarray[Any, Any]]:
    """Return what the file has to have, computed by the reference."""
    from glsw.engines import proof
    from glsw.engines.lanes.engine import PREFIXES

    found: dict[str, np.ndarray[Any, Any]] = {}
    for scoring in usual_scorings():
        work = proof.work_for(scoring)
        for rows in PREFIXES:
            best = proof.best_of_prefixes(scoring, work, rows)
            found |= packed(scoring, f"{rows} prefixes", best)
        for size in proof.EVERY_SIZE:
            batch = proof.awkward(scoring, size)
            ends = proof.ends_by_reference(scoring, batch)
            found |= packed(scoring, f"ends {size}", ends)
            paths = list(proof.traced(batch, scoring, ends.end))
            found |= packed(scoring, f"paths {size}", paths)
    return found


if __name__ == "__main__":
    write()
