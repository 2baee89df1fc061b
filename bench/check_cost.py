"""What the check of each read costs: calls with and without it, in turn, in one process.

python -m bench.check_cost [--targets 200000] [--rounds 7] [--device 0]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

import glsw
from glsw.device.device import open_device
from glsw.device.transfer import Readback

LETTERS = np.frombuffer(b"ACDEFGHIKLMNPQRSTVWY", "S1")


def words(rng: np.random.Generator, lengths: Any) -> list[str]:
    """Return random proteins of such lengths."""
    letters = rng.choice(LETTERS, int(np.sum(lengths))).tobytes().decode()
    ends = np.cumsum(lengths).tolist()
    return [letters[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def calls(aligner: glsw.Aligner, targets: int, count: int) -> dict[str, Callable[[], object]]:
    """Return what is measured; lengths are about those of Swiss-Prot: median 294, mean 361."""
    rng = np.random.default_rng(1)
    lengths = np.clip(rng.lognormal(5.68, 0.64, targets), 20, 5000).astype(int)
    database = words(rng, lengths)
    queries = words(rng, np.linspace(100, 1000, 20).astype(int))
    pairs = [words(rng, np.full(count, 60)) for _ in range(2)]
    one = words(rng, [200, 300])
    return {
        f"search, 20 queries x {targets}": lambda: aligner.search(queries, database, top=10),
        "score_matrix of the same": lambda: aligner.score_matrix(queries, database),
        f"score_pairs of {count}": lambda: aligner.score_pairs(*pairs),
        "score of one pair": lambda: aligner.score(*one),
        "align of one pair": lambda: aligner.align(*one),
    }


def without(*_: object) -> None:
    """Stand in for the sums of a device: nothing is checked."""


def main() -> None:
    """Print the medians of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=200_000)
    parser.add_argument("--pairs", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default=None)
    arguments = parser.parse_args()
    device = open_device(arguments.device, quiet=True)
    summed = Readback._summed
    with glsw.Aligner(device=device) as aligner:
        print(device.info)
        for name, call in calls(aligner, arguments.targets, arguments.pairs).items():
            call()
            times: tuple[list[float], list[float]] = ([], [])
            small = "one pair" in name
            for _ in range(arguments.rounds):
                for which, found in enumerate(times):
                    with patch.object(Readback, "_summed", without if which else summed):
                        start = time.perf_counter()
                        for _ in range(50 if small else 1):
                            call()
                        found.append((time.perf_counter() - start) / (50 if small else 1))
            on, off = map(statistics.median, times)
            both = f"with {on * 1e3:10.3f} ms, without {off * 1e3:10.3f} ms"
            print(f"{name:32} {both}, {on / off - 1:+.2%}")


if __name__ == "__main__":
    main()
