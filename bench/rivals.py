"""Other programs in the same run, each optional and told when it is missing; those that read files.

`find` looks for all of them; ``--competitor NAME=PATH`` says where others are. ssearch36 and
CUDASW++4.0 read files, and list their best scores.
"""

import importlib.util
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench import data, programs
from bench.machine import run
from bench.programs import Competitor, Method, Ready, Scores, is_blosum62
from glsw import DNA, PROTEIN, Alphabet, Batch, Record, Scoring, Sequences

MODULES = {"parasail": "parasail", "pyopal": "pyopal", "Biopython": "Bio", "edlib": "edlib"}
MODULES |= {"StringZilla": "stringzillas"}


class Program(NamedTuple):
    """The commands of a program, see commands.json."""

    program: str = ""  # its name on PATH, where that is another one
    kind: str = "proteins"  # one or more
    exact: bool = False
    version: str = ""
    prepare: str = ""
    search: str = ""
    scores: str = ""
    statistics: str = ""
    relatives: str = ""

    def does(self, kind: str) -> bool:
        """Tell whether it runs beside journeys of a kind."""
        return bool(self.search) and kind in self.kind.split()


PROGRAMS = {name: Program(**each) for name, each in data("commands.json")["programs"].items()}
COMMANDS = {name: each.program or name for name, each in PROGRAMS.items() if name != "glsw"}
NAMES = (*MODULES, *COMMANDS)
WORDS = {name.lower().replace("++4.0", "4"): name for name in NAMES}  # on the command line
Programs: TypeAlias = list[tuple[Competitor, int]]  # and the cores that they use, 0 on a GPU


def find(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the programs that are here: module or path by name; those of ``paths`` have to be."""
    found = {
        name: module
        for name, module in MODULES.items()
        if importlib.util.find_spec(module) and getattr(programs, module, module) is not None
    }
    for name, command in COMMANDS.items():
        path = shutil.which(command)
        if path and name != "CUDASW++4.0":  # many programs are called align
            found[name] = path
    for name, named in paths.items():
        place = Path(named, COMMANDS.get(name, "")) if Path(named).is_dir() else Path(named)
        if not place.is_file():
            raise ValueError(f"{name}: there is no file {place}")
        found[name] = str(place.resolve())
    return found


def searching(
    found: Mapping[str, str], scoring: Scoring, cores: int, *, slow: bool = False
) -> Programs:
    """Return what searches a database, on one core and on all; ``slow``: Biopython too."""
    kinds: list[type[Competitor]] = [programs.Pyopal, programs.Parasail, Ssearch36]
    kinds += [programs.Biopython] * slow
    made: Programs = []
    for count, kind in product(sorted({1, cores}), kinds):
        if kind.name in found and kind.available(scoring):
            one, path = partial(kind, scoring), found[kind.name]
            several = one(count, path) if kind.parallel else programs.on_cores(one, count)
            made.append((several, count))
    if "StringZilla" in found and not scoring.linear and scoring.alphabet is PROTEIN:
        made.append((programs.StringZilla(scoring), 0 if programs.stringzilla_scope()[1] else 1))
    return made


def aligning(
    found: Mapping[str, str], scoring: Scoring, cores: int, methods: Sequence[Method] = ("simd",)
) -> Programs:
    """Return the programs that compute pairs with these scores, on one core and on all.

    ``methods`` are those of `Parasail`; a name of a row has its function if there are several.
    """
    kinds: list[Callable[[], Competitor]] = []
    if "parasail" in found and programs.Parasail.available(scoring):
        kinds += [partial(programs.Parasail, scoring, method) for method in methods]
    if "Biopython" in found and programs.Biopython.available(scoring) and methods == ("simd",):
        kinds.append(partial(programs.Biopython, scoring))
    made = [
        (programs.on_cores(make, count), count) for count in sorted({1, cores}) for make in kinds
    ]
    for program, _ in made:
        program.shown = len(methods) > 1
    return made


@cache
def version_of(*words: str) -> str | None:
    """Return the word behind "version" or the first number that a command prints, None without."""
    if shutil.which(words[0]) is None:
        return None
    done = subprocess.run(words, capture_output=True, text=True)
    text = done.stdout + done.stderr
    found = re.search(r"version:?\s+v?(\d\S*)", text) or re.search(r"(?<!\S)v?(\d\S*)", text)
    return found[1] if found else "unknown"


def write_fasta(path: Path, name: str, sequences: Sequences, alphabet: Alphabet = PROTEIN) -> None:
    """Write sequences, numbered."""
    letters = np.frombuffer("".join(alphabet.letters).encode(), np.uint8)[sequences.residues]
    with path.open("wb") as file:
        for k, (start, end) in enumerate(pairwise(sequences.offsets.tolist())):
            file.write(b">%s%d\n%s\n" % (name.encode(), k, letters[start:end].tobytes()))


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records with their titles."""
    with path.open("w", encoding="ascii") as file:
        for record in records:
            title = f"{record.id} {record.description}".rstrip()
            file.write(f">{title}\n{record.letters}\n")


class Ssearch36(Competitor):
    """``ssearch36`` of the FASTA package: BLOSUM62, or match and mismatch of DNA.

    It reads files and lists its ten best scores; its time includes its start.
    """

    name, best, parallel = "ssearch36", 10, True
    words = PROGRAMS[name].scores

    def __init__(self, scoring: Scoring, cores: int, path: str) -> None:
        super().__init__(scoring, cores, path)
        self.version = version_of(path, PROGRAMS[self.name].version) or "unknown"

    @staticmethod
    def available(scoring: Scoring) -> bool:
        kinds = scoring.match_and_mismatch
        simple = scoring.alphabet == DNA and kinds is not None and kinds[0] > 0 > kinds[1]
        return is_blosum62(scoring) or simple

    @contextmanager
    def prepared(self, batch: Batch) -> Iterator[Ready]:
        scoring, (match, mismatch) = self._scoring, self._scoring.matrix[0, :2]
        # Its -f is what a gap costs besides -g for every position, the first included.
        first, kind = scoring.gap_open - scoring.gap_extend, "-s BP62"
        if not is_blosum62(scoring):
            kind = f"-n -3 -r +{match}/{mismatch}"  # one strand
        known = {"cores": self._cores, "kind": kind, "best": self.best}
        words = self.words.format(**known, first=first, further=scoring.gap_extend)
        with tempfile.TemporaryDirectory(prefix="glsw-bench-") as name:
            folder, targets = Path(name), batch.targets.select(batch.target_index)
            write_fasta(folder / "query", "query", batch.queries.part(slice(1)), scoring.alphabet)
            write_fasta(folder / "db", "t", targets, scoring.alphabet)

            def scores() -> Scores:
                text = run([self._path, *words.split()[1:]], folder)
                found = re.findall(r"\(\s*\d+\)\s+(?:\[f\]\s+)?(\d+)\s*$", text, re.MULTILINE)
                return np.array(found[: self.best], str).astype(np.int32)

            yield scores

    def listed(self, scores: Scores) -> Scores:
        return np.sort(scores)[::-1][: self.best]


class Hit(NamedTuple):
    """A line of a program's output; the score is None and texts are empty where it has none."""

    query: str
    target: str
    score: int | None = None
    evalue: str = ""
    bits: str = ""


def hits(lines: Iterable[str], *, scores: bool = False) -> Iterator[Hit]:
    """Yield the hits of SAM, HMMER's table, or BLAST's, whose last column may be the score."""
    for line in lines:
        cells, words = line.rstrip("\n").split("\t"), line.split()
        if len(cells) == 1 and len(words) > 17:
            cells = [words[2], words[0], *[""] * 8, *words[4:6]]
        if line.startswith(("@", "#")) or len(cells) < 11 or cells[2] == "*":
            continue
        if tags := [cell for cell in cells[11:] if cell.startswith("AS:")]:
            yield Hit(cells[0], cells[2], int(tags[0].rpartition(":")[2]))
        else:
            evalue, bits = (each.strip() for each in cells[10:12])
            yield Hit(cells[0], cells[1], int(cells[-1]) if scores else None, evalue, bits)


class Cudasw4:
    """CUDASW++4.0 on files: all queries in one command, which tells the scan time of each.

    ``path`` is that of its program ``align``, with ``makedb`` in the same folder; ``folder`` is
    where the files are written. The scoring is BLOSUM62 with `gaps`, the first position and each
    further one: the program reads --gop and --gex, and never passes them on (commit 37a394c).
    """

    name, best, kinds, gaps = "CUDASW++4.0", 10, ("dpx", "half2"), (11, 1)

    def __init__(self, path: str, queries: Sequences, targets: Sequences, folder: Path) -> None:
        self._folder, self._count = Path(tempfile.mkdtemp(dir=folder)), len(queries)
        self._path = path
        write_fasta(self._folder / "q.fa", "query", queries)
        write_fasta(self._folder / "twice.fa", "query", Sequences.of([queries[0], *queries]))
        write_fasta(self._folder / "db.fa", "t", targets)
        start = time.perf_counter()
        run([str(Path(path).with_name("makedb")), "db.fa", "db"], self._folder)
        self.indexing = time.perf_counter() - start

    def command(self, kind: str, queries: str = "q.fa") -> str:
        words = PROGRAMS[self.name].scores.format(best=self.best, queries=queries).split()[1:]
        return run([self._path, *words, *["--dpx"] * (kind == "dpx")], self._folder)

    def scans(self, kind: str, repeats: int = 3) -> npt.NDArray[np.float64]:
        """Return the scan time of each query, shape (repeats, Q); the first command warms up.

        The first query is given twice, and what is said of the first time is dropped: of a million
        targets, that scan misses some.
        """
        texts = [self.command(kind, "twice.fa") for _ in range(repeats + 1)]
        return np.array([parse_scans(text)[1:] for text in texts[1:]])

    def best_scores(self) -> list[list[int]]:
        """Return the scores that the last command listed for each query, the last Q of them."""
        found: dict[int, list[int]] = {}
        for line in (self._folder / "out").read_text().splitlines()[1:]:
            cells = line.split("\t")
            found.setdefault(int(cells[0]), []).append(int(cells[4]))
        first = max(found, default=0) + 1 - self._count
        return [found.get(first + q, []) for q in range(self._count)]


def parse_scans(text: str) -> list[float]:
    """Return the scan times that CUDASW++4.0 printed."""
    return [float(each) for each in re.findall(r"Scan time: ([\d.eE+-]+) s", text)]
