"""The queries of Liu et al. 2006 against the proteins of E. coli, by the judgement of others."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import cases
import numpy as np
import parasail
import pytest

from glsw.batch import Batch, Sequences
from glsw.engines.reference import Reference
from glsw.scoring import Scoring
from glsw.sequences import read

pytestmark = pytest.mark.realdata

# As glsw counts: 12, 1 is "11/1" in the words of BLAST and ssearch36.
GAPS = [(12, 1), (11, 1), (8, 8)]


class Proteins:
    """Queries, the shortest first, and database; U and other letters of no matrix are X."""

    def __init__(self, folder):
        self.queries = self._read(folder / "queries" / "queries2006.fasta")
        self.queries.sort(key=len)
        self.targets = self._read(folder / "proteins" / "ecoli_K12_sprot_4403.fasta.gz")
        encode = cases.PROTEIN.encode
        self.query_codes = [encode(letters) for letters in self.queries]
        self.target_codes = Sequences.of(encode(letters) for letters in self.targets)

    @staticmethod
    def _read(path):
        return [re.sub("[^ARNDCQEGHILKMFPSTWYVBZX]", "X", record.letters) for record in read(path)]

    def batch(self, query, targets=slice(None)):
        return Batch.one_to_many(self.query_codes[query], self.target_codes).select(targets)

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
    return lambda gaps: cases.build((request.param, {}), Scoring.named("BLOSUM62", *gaps), device)


@pytest.fixture
def ssearch36():
    found = shutil.which("ssearch36")
    if found is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("ssearch36 is not installed (Debian: fasta3)")
    return found


@pytest.mark.parametrize("query", range(4))
def test_all_scores_of_short_queries_equal_parasail(make, proteins, query):
    found = make((12, 1)).scores(proteins.batch(query))
    assert found.tolist() == proteins.parasail(query, (12, 1)).tolist()


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("query", range(8))
def test_sample_of_scores_equals_parasail(make, proteins, query, gaps):
    targets = np.arange(query, 4403, 100)
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
sys.path.insert(0, {tests!r})
from pathlib import Path
from glsw.device import open_device
from glsw.engines import Fragment
from glsw.scoring import Scoring
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
def test_scores_on_other_implementations(run_under, data, implementation, step):
    code = JUDGE.format(tests=str(Path(__file__).parent), data=str(data), step=step)
    done = run_under(implementation, code, timeout=1200)
    assert sum(map(int, done.split())) >= 3 * 8 * (4403 // step)


def test_best_scores_equal_ssearch36(make, proteins, ssearch36, tmp_path):
    engine = make((12, 1))
    for name, sequences in (("queries", proteins.queries), ("targets", proteins.targets)):
        text = "".join(f">{name}{k}\n{letters}\n" for k, letters in enumerate(sequences))
        (tmp_path / name).write_text(text)
    numbers = {"-T": 1, "-f": -11, "-g": -1, "-z": -1, "-d": 0, "-b": 10}
    options = [str(word) for option in numbers.items() for word in option]
    done = subprocess.run(
        [ssearch36, "-q", "-s", "BP62", *options, tmp_path / "queries", tmp_path / "targets"],
        capture_output=True,
        text=True,
        check=True,
    )
    compared = 0
    for part in re.split(r">>>(?=queries\d)", done.stdout)[1:]:
        query = int(re.match(r"queries(\d+)", part)[1])
        hits = re.findall(r"^targets(\d+) .*\( *\d+\) +(\d+)$", part, re.MULTILINE)
        targets, scores = np.array(hits, int).T
        assert engine.scores(proteins.batch(query, targets)).tolist() == scores.tolist()
        if query < 2:
            every = engine.scores(proteins.batch(query))
            assert sorted(every.tolist())[-10:] == sorted(scores.tolist())
        compared += len(hits)
    assert compared == 80


@pytest.mark.parametrize("gaps", GAPS)
def test_sample_of_ends_equals_the_reference(make, proteins, gaps):
    engine, reference = make(gaps), Reference(Scoring.named("BLOSUM62", *gaps))
    # Fewer targets for longer queries: the reference needs a second for a million cells.
    for query, count in enumerate((5, 5, 3, 2, 2, 1, 1)):
        targets = np.linspace(10 * query, 4402, count).astype(int)
        batch = proteins.batch(query, targets)
        found, expected = engine.ends(batch), reference.ends(batch)
        for field in ("score", "query_end", "target_end"):
            assert getattr(found, field).tolist() == getattr(expected, field).tolist()
