"""Real proteins and genomes, by the judgement of other programs.

The queries of Liu et al. 2006 against the proteins of E. coli; coronaviruses, mitochondria and
herpes viruses against each other.
"""

import os
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import cases
import naive
import numpy as np
import parasail
import pytest
from subtests import with_subtests

from glsw.alignment.batch import Batch
from glsw.engines.reference import Reference
from glsw.scoring.scoring import Scoring
from glsw.sequences.encoded import Sequences
from glsw.sequences.fasta import read

pytestmark = pytest.mark.realdata

# As glsw counts: 12, 1 is "11/1" in the words of BLAST and ssearch36.
HERE = Path(__file__).parent
GAPS = [(12, 1), (11, 1), (8, 8)]
# Engines that take pairs one by one, or a dispatch for each diagonal: every so many of the targets.
STEPS = {"blocked": 5, "wavefront": 50}


class Proteins:
    """Queries, the shortest first, and database; U and other letters of no matrix are X."""

    def __init__(self, folder):
        self.queries = self._read(folder / "queries" / "queries2006.fasta")
        self.queries.sort(key=len)
        self.targets = self._read(folder / "proteins" / "ecoli_K12_sprot_4403.fasta.gz")
        encode = cases.PROTEIN.encode
        self.query_codes = [encode(letters) for letters in self.queries]
        self.target_codes = Sequences.of(encode(letters) for letters in self.targets)
        self._ends = {}

    @staticmethod
    def _read(path):
        return [re.sub("[^ARNDCQEGHILKMFPSTWYVBZX]", "X", record.letters) for record in read(path)]

    def batch(self, query, targets=slice(None)):
        return Batch.one_to_many(self.query_codes[query], self.target_codes).select(targets)

    def reference(self, query, gaps, targets):
        key = query, gaps, tuple(targets.tolist())
        if key not in self._ends:
            reference = Reference(Scoring.named("BLOSUM62", *gaps))
            self._ends[key] = reference.ends(self.batch(query, targets))
        return self._ends[key]

    def parasail(self, query, gaps, targets=slice(None)):
        # With linear gaps some scores of the functions of 8 bits and of the striped ones are wrong.
        profile = parasail.profile_create_32(self.queries[query], parasail.blosum62)
        found = [
            parasail.sw_scan_profile_32(profile, target, *gaps).score
            for target in np.array(self.targets, object)[targets]
        ]
        return np.array(found)


@pytest.fixture(scope="module")
def proteins(data):
    found = Proteins(data)
    assert [len(query) for query in found.queries] == [63, 127, 255, 361, 511, 1022, 2047, 4092]
    assert len(found.targets) == 4403
    assert sum(map(len, found.targets)) == 1_354_446
    return found


@pytest.fixture(scope="module", params=sorted({name for name, _ in cases.configurations()}))
def make(request, device):
    """``make(gaps)``: the engine under test, with BLOSUM62."""

    def make(gaps):
        return cases.build((request.param, {}), Scoring.named("BLOSUM62", *gaps), device)

    make.targets = slice(None, None, STEPS.get(request.param))
    return make


@pytest.fixture(scope="module")
def ssearch36(proteins, tmp_path_factory):
    """The ten best targets of each query by ssearch36, and their scores, by the query."""
    found = shutil.which("ssearch36")
    if found is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("ssearch36 is not installed (Debian: fasta3)")
    folder = tmp_path_factory.mktemp("ssearch36")
    for name, sequences in (("queries", proteins.queries), ("targets", proteins.targets)):
        text = "".join(f">{name}{k}\n{letters}\n" for k, letters in enumerate(sequences))
        (folder / name).write_text(text)
    numbers = {"-T": 1, "-f": -11, "-g": -1, "-z": -1, "-d": 0, "-b": 10}
    options = [str(word) for option in numbers.items() for word in option]
    done = subprocess.run(
        [found, "-q", "-s", "BP62", *options, folder / "queries", folder / "targets"],
        capture_output=True,
        text=True,
        check=True,
    )
    best = {}
    for part in re.split(r">>>(?=queries\d)", done.stdout)[1:]:
        query = int(re.match(r"queries(\d+)", part)[1])
        hits = re.findall(r"^targets(\d+) .*\( *\d+\) +(\d+)$", part, re.MULTILINE)
        best[query] = np.array(hits, int).T
    assert sum(targets.size for targets, _ in best.values()) == 80
    return best


@with_subtests("query", range(4))
def test_all_scores_of_short_queries_equal_parasail(make, proteins, query):
    found = make((12, 1)).scores(proteins.batch(query, make.targets))
    assert found.tolist() == proteins.parasail(query, (12, 1), make.targets).tolist()


@with_subtests("gaps", GAPS)
@with_subtests("query", range(8))
def test_sample_of_scores_equals_parasail(make, proteins, query, gaps):
    targets = np.arange(query, 4403, 100)[make.targets]
    found = make(gaps).scores(proteins.batch(query, targets))
    assert found.tolist() == proteins.parasail(query, gaps, targets).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("query", range(8))
def test_all_scores_equal_parasail(make, proteins, query, gaps):
    found = make(gaps).scores(proteins.batch(query))
    assert found.tolist() == proteins.parasail(query, gaps).tolist()


JUDGE = """
import sys
sys.path[:0] = {folders!r}
from pathlib import Path
from glsw.device.device import open_device
from glsw.engines import Fragment
from glsw.scoring.scoring import Scoring
from test_realdata import GAPS, Proteins
proteins, device = Proteins(Path({data!r})), open_device(quiet=True)
for gaps in GAPS:
    engine = Fragment(Scoring.named("BLOSUM62", *gaps), device)
    for query in range(8):
        targets = slice(query % {step}, None, {step})
        found = engine.scores(proteins.batch(query, targets))
        assert found.tolist() == proteins.parasail(query, gaps, targets).tolist()
        print(len(found))
"""


@pytest.mark.parametrize("implementation", ["zink", "gl41", "gl33"])
@pytest.mark.parametrize("step", [200, pytest.param(1, marks=pytest.mark.slow)])
def test_scores_on_other_implementations(run_under, data, implementation, step, monkeypatch):
    monkeypatch.setenv("ZINK_INLINE_UNIFORMS", "0")  # see test_implementations.py
    code = JUDGE.format(folders=[str(HERE), str(HERE.parent)], data=str(data), step=step)
    done = run_under(implementation, code)
    assert sum(map(int, done.split())) >= 3 * 8 * (4403 // step)


def test_best_scores_equal_ssearch36(make, proteins, ssearch36):
    engine = make((12, 1))
    for query, (targets, scores) in ssearch36.items():
        assert engine.scores(proteins.batch(query, targets)).tolist() == scores.tolist()
        if query < 1 and make.targets == slice(None):
            every = engine.scores(proteins.batch(query))
            assert sorted(every.tolist())[-10:] == sorted(scores.tolist())


@with_subtests("gaps", GAPS)
def test_sample_of_ends_equals_the_reference(make, proteins, gaps):
    engine = make(gaps)
    # Fewer targets for longer queries: the reference needs a second for a million cells.
    for query, count in enumerate((5, 5, 3, 2, 2, 1, 1)):
        targets = np.linspace(10 * query, 4402, count).astype(int)
        batch = proteins.batch(query, targets)
        found, expected = engine.ends(batch), proteins.reference(query, gaps, targets)
        for field in ("score", "query_end", "target_end"):
            assert getattr(found, field).tolist() == getattr(expected, field).tolist()


# Genomes


DNA = Scoring.match_mismatch(1, -3, 5, 2)
TRACING = sorted({name for name, _ in cases.path_configurations()} - {"auto"})
LONG = [
    pytest.param(name, marks=() if name in ("blocked", "scan") else pytest.mark.slow)
    for name in dict(cases.configurations())
]


class Genomes:
    """Sequences by the names of their files."""

    def __init__(self, folder):
        self._folder = folder / "dna"

    def __call__(self, name):
        return [record.letters for record in read(self._folder / name)]

    def batch(self, *pairs):
        encode = DNA.alphabet.encode
        return Batch.pairwise(
            *([encode(each) for each in side] for side in zip(*pairs, strict=True))
        )


@pytest.fixture(scope="module")
def genomes(data):
    return Genomes(data)


@pytest.fixture(scope="module")
def coronaviruses(genomes):
    names = "sars_cov1_GZ02_AY390556.fasta", "sars_cov2_NC_045512.2.fasta"
    pair = tuple(genomes(name)[0] for name in names)
    assert list(map(len, pair)) == [29_760, 29_903]
    return pair


@pytest.fixture(scope="module")
def mitochondria(genomes):
    found = genomes("mito_human_mouse_chicken_fugu.fasta")
    assert list(map(len, found)) == [16_571, 16_299, 16_775, 16_447]
    return list(combinations(found, 2))


def parasail_dna(query, target):
    matrix = parasail.matrix_create("ACGT", 1, -3)
    return parasail.sw_scan_32(query, target, DNA.gap_open, DNA.gap_extend, matrix).score


def path_score(batch, paths, p=0):
    """Return the score of an alignment, column by column, and how many columns it has."""
    coordinates = paths.coordinates(p)
    columns = int(np.diff(coordinates).max(axis=0).sum())
    return naive.path_score(*batch.pair(p), DNA, coordinates), columns


@pytest.mark.parametrize(
    "options",
    [{"memory": 2**26}, pytest.param({}, marks=pytest.mark.slow)],
    ids=["little-memory", "memory"],
)
@pytest.mark.parametrize("name", TRACING)
def test_coronaviruses(device, genomes, coronaviruses, name, options):
    batch = genomes.batch(coronaviruses)
    engine = cases.build((name, options), DNA, device)
    paths = engine.paths(batch)
    score, columns = path_score(batch, paths)
    assert paths.ends.score.tolist() == [score] == [parasail_dna(*coronaviruses)]
    assert columns > 20_000
    assert engine.memory_used <= options.get("memory", 2**30)


@pytest.mark.parametrize("name", LONG)
def test_mitochondria(device, genomes, mitochondria, name):
    engine = cases.build((name, {}), DNA, device)
    expected = [parasail_dna(*pair) for pair in mitochondria]
    assert engine.scores(genomes.batch(*mitochondria)).tolist() == expected


@pytest.mark.parametrize("name", TRACING)
def test_alignment_of_mitochondria(device, genomes, mitochondria, name):
    batch = genomes.batch(mitochondria[0])
    paths = cases.build((name, {}), DNA, device).paths(batch)
    assert paths.ends.score.tolist() == [path_score(batch, paths)[0]]
    assert paths.ends.score.tolist() == [parasail_dna(*mitochondria[0])]


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACING)
def test_herpes_viruses(device, genomes, name):
    pair = [genomes(f"herpes_{name}.fasta.gz")[0] for name in ("NC_000898", "NC_007605")]
    assert list(map(len, pair)) == [162_114, 171_823]
    batch = genomes.batch(pair)
    paths = cases.build((name, {}), DNA, device).paths(batch)
    assert paths.ends.score.tolist() == [18]
    assert path_score(batch, paths)[0] == 18
