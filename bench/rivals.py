"""Other programs that are measured in the same run: each optional, each told when it is missing.

`find` looks for all of them; ``--competitor NAME=PATH`` says where others are.
The programs of `bench.programs` compute pairs in memory; those here have devices or files.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.measure import Check, Spread
from bench.processes import Processes
from bench.programs import (
    Biopython,
    Competitor,
    Method,
    Parasail,
    ParasailPairs,
    Pyopal,
    Scores,
    Ssearch36,
)
from glsw.batch import Batch
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import PROTEIN
from glsw.sequences.encoded import Sequences

MODULES = {"parasail": "parasail", "pyopal": "pyopal", "Biopython": "Bio", "edlib": "edlib"}
COMMANDS = {"ssearch36": "ssearch36", "SWIPE": "swipe", "CUDASW++4.0": "align"}
COMMANDS |= {name: name for name in ("blastn", "blastp", "diamond", "mmseqs")}
NAMES = (*MODULES, "StringZilla", *COMMANDS)
WORDS = {name.lower().replace("++4.0", "4"): name for name in NAMES}
"""Names on the command line: ``cudasw4``, ``swipe`` ..."""


def find(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the programs that are here: by name, the path of a command or the name of a module.

    ``paths`` are those that were named; one of these that is not there is an error.
    """
    found: dict[str, str] = {}
    for name in NAMES:
        if name in paths:
            path = Path(paths[name])
            path = path / COMMANDS[name] if path.is_dir() and name in COMMANDS else path
            if not path.is_file():
                raise ValueError(f"{name}: there is no file {path.name}")
            found[name] = str(path.resolve())
        elif name in MODULES:
            if importlib.util.find_spec(MODULES[name]):
                found[name] = MODULES[name]
        elif name == "StringZilla":
            if importlib.util.find_spec("stringzillas"):
                found[name] = "stringzillas"
        elif name != "CUDASW++4.0" and (command := shutil.which(COMMANDS[name])):
            found[name] = command  # many programs are called align
    return found


def missing(found: Mapping[str, str]) -> list[str]:
    """Return the names of those that are not here."""
    return [name for name in NAMES if name not in found]


def searching(
    found: Mapping[str, str], scoring: Scoring, cores: int, *, slow: bool = False
) -> list[tuple[Competitor, int]]:
    """Return the programs that search a database with these scores, on one core and on all.

    ``slow`` is to have Biopython too, which is no program for databases.
    """
    made: list[tuple[Competitor, int]] = []
    for count in sorted({1, cores}):
        if "pyopal" in found and Pyopal.available(scoring):
            made.append((Pyopal(scoring, count), count))
        if "parasail" in found and Parasail.available(scoring):
            made.append((_on(partial(Parasail, scoring), count), count))
        if "ssearch36" in found and Ssearch36.available(scoring):
            made.append((Ssearch36(scoring, count), count))
        if "SWIPE" in found and Swipe.available(scoring):
            made.append((Swipe(scoring, found["SWIPE"], count), count))
        if slow and "Biopython" in found:
            made.append((_on(partial(Biopython, scoring), count), count))
    return made + _stringzilla(found, scoring)


def aligning(
    found: Mapping[str, str], scoring: Scoring, cores: int, methods: Sequence[Method] = ("simd",)
) -> list[tuple[Competitor, int]]:
    """Return the programs that compute pairs with these scores, on one core and on all.

    ``methods`` are those of `ParasailPairs`; a name of a row has its function if there are several.
    """
    made: list[tuple[Competitor, int]] = []
    for count in sorted({1, cores}):
        if "parasail" in found and ParasailPairs.available(scoring):
            for method in methods:
                program = _on(partial(ParasailPairs, scoring, method), count)
                program.shown = len(methods) > 1 or method != "simd"
                made.append((program, count))
        if "Biopython" in found and Biopython.available(scoring) and methods == ("simd",):
            made.append((_on(partial(Biopython, scoring), count), count))
    return made


def _on(make: Callable[[], Competitor], cores: int) -> Competitor:
    return make() if cores == 1 else Processes(make, cores)


# StringZilla


def _stringzilla(found: Mapping[str, str], scoring: Scoring) -> list[tuple[Competitor, int]]:
    if "StringZilla" not in found or scoring.linear or scoring.alphabet is not PROTEIN:
        return []
    on_gpu = stringzilla_scope()[1]
    return [(StringZilla(scoring), 0 if on_gpu else 1)]


@cache
def stringzilla_scope() -> tuple[Any, bool, str]:
    """Return StringZilla's scope of work, whether that is a GPU, and its version."""
    import stringzillas

    on_gpu = "cuda" in stringzillas.__capabilities__
    words = {"gpu_device": 0} if on_gpu else {"cpu_cores": 1}
    return stringzillas.DeviceScope(**words), on_gpu, str(stringzillas.__version__)


def strings(texts: Sequence[str]) -> Any:
    """Return texts as StringZilla takes them, on the GPU if it works there."""
    import stringzilla
    import stringzillas

    made = stringzilla.Strs(list(texts))
    return stringzillas.to_device(made) if stringzilla_scope()[1] else made


class StringZilla(Competitor):
    """StringZilla's Smith-Waterman scores of one query with many targets, on a GPU or one core."""

    def __init__(self, scoring: Scoring) -> None:
        import stringzillas

        self._scoring = scoring
        self._scope, on_gpu, self.version = stringzilla_scope()
        self.name = "StringZilla GPU" if on_gpu else "StringZilla"
        letters = "".join(scoring.alphabet.letters)
        classes, costs = np.zeros(256, np.uint8), np.zeros((32, 32), np.int8)
        for code, letter in enumerate(letters):
            classes[ord(letter)] = code
        count = len(letters)
        costs[:count, :count] = scoring.matrix[:count, :count]
        self._engine = stringzillas.SmithWatermanScores(
            *(classes, costs),
            open=-scoring.gap_open,
            extend=-scoring.gap_extend,
            capabilities=self._scope,
        )

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        decode = self._scoring.alphabet.decode
        targets = [decode(batch.targets[int(k)]) for k in batch.target_index]
        yield strings([decode(batch.queries[0])]), strings(targets)

    def matrix(self, queries: Any, targets: Any) -> Any:
        return np.asarray(self._engine(queries, targets, device=self._scope)).astype(np.int32)

    def scores(self, prepared: Any) -> Scores:
        found: Scores = self.matrix(*prepared).ravel()
        return found


# programs that read files


class Swipe(Competitor):
    """SWIPE, which searches a database of BLAST's format; lists its best scores."""

    name, best = "SWIPE", 10

    def __init__(self, scoring: Scoring, path: str, cores: int = 1) -> None:
        self._scoring, self._path, self._cores = scoring, path, cores
        done = subprocess.run([path, "-h"], capture_output=True, text=True)
        found = re.search(r"SWIPE\s+([\d.]+)", done.stdout + done.stderr)
        self.version = found[1] if found else "unknown"

    @staticmethod
    def available(scoring: Scoring) -> bool:
        return shutil.which("makeblastdb") is not None and Parasail.available(scoring)

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Any]:
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as folder:
            write_fasta(Path(folder, "query"), "query", batch.queries)
            write_fasta(Path(folder, "db"), "t", batch.targets.select(batch.target_index))
            words = ["makeblastdb", "-dbtype", "prot", "-in", "db", "-blastdb_version", "4"]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
            yield folder

    def scores(self, prepared: Any) -> Scores:
        gaps = self._scoring.gap_open - self._scoring.gap_extend, self._scoring.gap_extend
        words = [self._path, "-i", "query", "-d", "db", "-M", "BLOSUM62", "-G", str(gaps[0])]
        words += ["-E", str(gaps[1]), "-a", str(self._cores), "-m", "99", "-v", "0"]
        words += ["-b", str(self.best), "-e", "1e9"]
        done = subprocess.run(words, cwd=prepared, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"SWIPE ended with status {done.returncode}")
        rows = (line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
        return np.array([int(row[-1]) for row in rows][: self.best], np.int32)

    def listed(self, scores: Scores) -> Scores:
        return np.sort(scores)[::-1][: self.best]


class Scan(NamedTuple):
    """What CUDASW++4.0 says of one query."""

    seconds: Spread
    scores: list[int]


class Cudasw4:
    """CUDASW++4.0 on files: all queries in one command, which tells the scan time of each.

    Parameters
    ----------
    path : str
        Of its program ``align``, with ``makedb`` in the same folder.
    scoring : Scoring
        BLOSUM62 with any cost of gaps.
    queries, targets : Sequences
    folder : Path
        Where the files are written.
    """

    name, best = "CUDASW++4.0", 10
    kinds = ("dpx", "half2")

    def __init__(
        self, path: str, scoring: Scoring, queries: Sequences, targets: Sequences, folder: Path
    ) -> None:
        self._align = path
        self._costs = scoring.gap_open, scoring.gap_extend
        self._found: dict[str, list[Scan]] = {}
        self._place = Path(tempfile.mkdtemp(dir=folder))
        write_fasta(self._place / "q.fa", "query", queries)
        write_fasta(self._place / "db.fa", "t", targets)
        start = time.perf_counter()
        self._run([str(Path(path).with_name("makedb")), "db.fa", "db"])
        self.indexing = time.perf_counter() - start

    def _run(self, words: Sequence[str]) -> str:
        done = subprocess.run(words, cwd=self._place, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise RuntimeError(f"{Path(words[0]).name}: {last}")
        return done.stdout

    def command(self, kind: str) -> tuple[float, str]:
        words = [self._align, "--query", "q.fa", "--db", "db", "--top", str(self.best), "--tsv"]
        words += ["--of", "out", "--mat", "blosum62", "--verbose", *["--dpx"] * (kind == "dpx")]
        words += ["--gop", str(-self._costs[0]), "--gex", str(-self._costs[1])]
        start = time.perf_counter()
        told = self._run(words)
        return time.perf_counter() - start, told

    def scans(self, kind: str, repeats: int = 3) -> list[Scan]:
        """Return the scan times and the best scores of each query; the first command warms up."""
        if kind not in self._found:
            told = [parse_scans(self.command(kind)[1]) for _ in range(repeats + 1)][1:]
            scores = self.scores()
            self._found[kind] = [
                Scan(Spread.of(list(each)), scores.get(q, []))
                for q, each in enumerate(zip(*told, strict=True))
            ]
        return self._found[kind]

    def forget(self, kind: str) -> None:
        """Run the commands again for the next who asks."""
        self._found.pop(kind, None)

    def scores(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for line in (self._place / "out").read_text().splitlines()[1:]:
            cells = line.split("\t")
            found.setdefault(int(cells[0]), []).append(int(cells[4]))
        return found

    def check(self, q: int, got: Sequence[int], expected: npt.NDArray[np.int32]) -> Check:
        want = [int(each) for each in np.sort(expected)[::-1][: self.best]]
        wrong = sum(a != b for a, b in zip(got, want, strict=False)) + abs(len(got) - len(want))
        first = f"query {q}: {list(got)}, expected {want}" if wrong else None
        return Check("the engines", len(want), wrong, first)


def parse_scans(text: str) -> list[float]:
    """Return the scan times that CUDASW++4.0 printed.

    >>> parse_scans("Processing query 0 ... Done. Scan time: 0.0123 s, 4000 GCUPS")
    [0.0123]
    """
    return [float(each) for each in re.findall(r"Scan time: ([\d.eE+-]+) s", text)]


def write_fasta(path: Path, name: str, sequences: Sequences) -> None:
    """Write proteins, numbered."""
    letters = np.frombuffer("".join(PROTEIN.letters).encode(), np.uint8)[sequences.residues]
    bounds = sequences.offsets.tolist()
    with path.open("wb") as file:
        for k, (start, end) in enumerate(pairwise(bounds)):
            file.write(b">%s%d\n%s\n" % (name.encode(), k, letters[start:end].tobytes()))
