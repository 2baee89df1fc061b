"""Random work for engines and the command line, until the time is over: ``make fuzz``.

Each piece of work has a seed. Seeds that fail are printed and can be repeated with ``--seed``;
those that have failed once are in ``tests/data/fuzz_seeds.txt``, which `make test` repeats.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import fuzz_engines
import fuzz_inputs

from glsw import makedb
from glsw.device.device import Device, open_device

SEEDS = Path(__file__).parents[1] / "data" / "fuzz_seeds.txt"
FASTA = ">a\nMKVLAAGG\n>b two words\nHEAGAWGHEE\n>c\nPAWHEAEMKV\n"
ENGINES_PER_SCENARIO = 3
KINDS = ("engines", "inputs")


def kept_seeds(kind: str) -> list[int]:
    """Return the seeds of a kind that have failed once."""
    words = (line.partition("#")[0].split() for line in SEEDS.read_text("utf-8").splitlines())
    return [int(each[1]) for each in words if each and each[0] == kind]


def try_engines(device: Device, scale: float, seed: int) -> Counter[str]:
    """Judge some engines by the scenario of a seed; return the scores compared, by engine."""
    chosen = fuzz_engines.scenario(seed, scale)
    return Counter(dict(fuzz_engines.judge(chosen, device, ENGINES_PER_SCENARIO)))


def try_inputs(folder: Path, database: bytes, seed: int) -> Counter[str]:
    """Run the command of a seed in a folder."""
    return Counter({fuzz_inputs.run(seed, folder, database).split()[0]: 1})


def small_database(folder: Path) -> bytes:
    """Return a database of three proteins, made in the folder."""
    (folder / "three.fa").write_text(FASTA)
    makedb(folder / "three.fa", folder / "three.glsw")
    return (folder / "three.glsw").read_bytes()


def main() -> int:
    """Fuzz as the words of the command line say; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, help="engines or inputs only")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, help="this one only")
    parser.add_argument("--first", type=int, default=time.time_ns() // 1_000_000, help="first seed")
    parser.add_argument("--scale", type=float, default=1, help="pairs of large scenarios, times")
    parser.add_argument("--device", help="index or part of the name")
    words = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = int(words.device) if words.device and words.device.isdigit() else words.device
    device = open_device(chosen, quiet=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tries: dict[str, Callable[[int], Counter[str]]] = {
            "engines": partial(try_engines, device, words.scale),
            "inputs": partial(try_inputs, folder, small_database(folder)),
        }
        os.chdir(folder)
        failed = 0
        kinds = [words.kind] if words.kind else KINDS
        for kind in kinds:
            seeds = count(words.first) if words.seed is None else [words.seed]
            failed += _fuzz(kind, tries[kind], seeds, words.seconds / len(kinds), device)
    return bool(failed)


def _fuzz(kind: str, attempt, seeds, seconds: float, device: Device) -> int:
    done: Counter[str] = Counter()
    start, failed, tried = time.perf_counter(), 0, 0
    for seed in seeds:
        if tried and time.perf_counter() - start > seconds:
            break
        tried += 1
        try:
            done += attempt(seed)
        except Exception as error:  # whatever it is, the other seeds are tried too
            failed += 1
            print(f"{kind} {seed}  # {type(error).__name__}: {str(error)[:400]}", flush=True)
    unit = "scores" if kind == "engines" else "commands"
    print(
        f"{kind}: {tried} seeds, {done.total():,} {unit}, {failed} failed, "
        f"{time.perf_counter() - start:.0f} s, {device.info.name}"
    )
    for name, number in done.most_common():
        print(f"  {number:>12,} {name}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
