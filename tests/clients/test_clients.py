"""Programs of others, with glsw in the place of what they call: ``make clients`` runs this.

They are imported where they are used, as only the environment of ``make clients`` has all.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import doc_examples
import numpy as np
import pytest

import glsw
from glsw.cli import main

ROOT = Path(__file__).resolve().parents[2]
PYOPAL = {"=": "M", "X": "X", "I": "D", "D": "I"}
"""Its letters for the operations of a CIGAR."""
LETTERS = [*"ARNDCQEGHILKMFPSTWYV"]
pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]


def proteins(rng: np.random.Generator, count: int, low: int, high: int) -> list[str]:
    return ["".join(rng.choice(LETTERS, n)) for n in rng.integers(low, high, count)]


def test_the_examples_of_the_page() -> None:
    names: dict[str, Any] = {}
    blocks = doc_examples.blocks(ROOT / "docs" / "CLIENTS.md")
    assert len(blocks) == 5
    for block in blocks:
        doc_examples.run_python(block, names)


def test_metagenomic_deepfri() -> None:
    from mDeepFRI.alignment import align_pairwise

    rng, pairs = np.random.default_rng(1), []
    for query in proteins(rng, 60, 80, 400):
        target = np.array([*query])
        changed = rng.random(len(target)) < 0.3
        target[changed] = rng.choice(LETTERS, changed.sum())
        lost = rng.integers(0, len(target), len(target) // 30)
        pairs.append((query, "".join(np.delete(target, lost))))
    queries, targets = map(list, zip(*pairs, strict=True))
    scoring = glsw.Scoring.named("VTML80", 10, 1)
    found = glsw.align_pairs(queries, targets, scoring=scoring, mode="global")
    values = found.identity_over("pairs"), found.coverage("query"), found.coverage("target")
    same = 0
    for k, pair in enumerate(pairs):
        moves, *theirs = align_pairwise(*pair)
        ours = re.sub(r"(\d+)(.)", lambda run: int(run[1]) * PYOPAL[run[2]], found.cigar(k))
        if ours == moves:
            same += 1
            assert [each[k] for each in values] == pytest.approx(theirs)
        else:
            assert score_of(moves, *pair, scoring) == found.score[k]
    assert same >= 45


def score_of(moves: str, query: str, target: str, scoring: glsw.Scoring) -> int:
    """Return the score of a global alignment in pyopal's letters."""
    encode, total, i, j = scoring.alphabet.encode, 0, 0, 0
    a, b = encode(query), encode(target)
    for run in re.finditer(r"I+|D+|[MX]", moves):
        length = len(run[0])
        if run[0][0] in "MX":
            total += int(scoring.matrix[a[i], b[j]])
        else:
            total -= int(scoring.gap_open + (length - 1) * scoring.gap_extend)
        i += length * (run[0][0] != "I")
        j += length * (run[0][0] != "D")
    return total


def run_suite(modules: Iterable[str]) -> Counter[str]:
    """Run tests of a package itself; return how many passed, and the other reasons of errors."""
    found: Counter[str] = Counter()
    for name in modules:
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
        wrong = [*result.errors, *result.failures]
        found += Counter(text.strip().splitlines()[-1] for _, text in wrong)
        found["passed"] += result.testsRun - len(wrong) - len(result.skipped)
    return found


def test_the_suite_of_biopython(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 79 tests of PairwiseAligner, of which 8 have gap functions, and 13 FOGSAA."""
    import Bio.Align

    archives = sorted((ROOT / "build" / "clients").glob("biopython-*.tar.gz"))
    if not archives:
        pytest.skip("no source archive of Biopython in build/clients, where make clients puts it")
    with tarfile.open(archives[-1]) as archive:
        tests = [each for each in archive if re.search(r"/Tests/(test_pairwise|Align/)", each.name)]
        archive.extractall(tmp_path, tests, filter="data")
    (folder,) = tmp_path.glob("*/Tests")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(Bio.Align, "PairwiseAligner", glsw.PairwiseAligner)
    assert run_suite(["test_pairwise_aligner"]) == {
        "passed": 58,
        "ValueError: mode 'fogsaa': 'local' or 'global' expected": 13,
        "ValueError: gap scores given by functions: numbers expected": 8,
    }


def test_the_suite_of_pyopal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tests are in the package; the adapter computes with glsw, and returns its results."""
    import pyopal
    from pyopal import _align

    options: dict[str, Any] = {
        "nw": {"mode": "global"},
        "hw": {"mode": "semiglobal", "free": "target"},
        "ov": {"mode": "semiglobal"},
        "sw": {"mode": "local"},
    }

    calls = Counter[str]()

    class Aligner(pyopal.Aligner):
        def align(  # type: ignore[override]
            self,
            query: str,
            database: Any,
            *,
            mode: str = "score",
            overflow: str = "buckets",
            algorithm: str = "sw",
            start: int = 0,
            end: int = sys.maxsize,
        ) -> list[Any]:
            calls[algorithm] += 1
            targets = [database[k] for k in range(start, min(end, len(database)))]
            costs = self.gap_open, self.gap_extend
            matrix, letters = np.array(self.scoring_matrix), self.scoring_matrix.alphabet
            scoring = glsw.Scoring.from_array(matrix, letters, *costs).in_mode(**options[algorithm])
            if mode == "score":
                scores = glsw.score(query, targets, scoring=scoring)
                return [pyopal.ScoreResult(k, x) for k, x in enumerate(scores.tolist(), start)]
            found = [glsw.align(query, target, scoring=scoring) for target in targets]
            results = []
            for k, (each, target) in enumerate(zip(found, targets, strict=True), start):
                (first, *_, last), (top, *_, bottom) = each.coordinates.tolist()
                ends = int(each.score), bottom - 1, last - 1
                if mode == "end":
                    results.append(pyopal.EndResult(k, *ends))
                    continue
                moves = re.sub(r"(\d+)(.)", lambda run: int(run[1]) * PYOPAL[run[2]], each.cigar)
                lengths = len(query), len(target)
                results.append(pyopal.FullResult(k, *ends, top, first, *lengths, moves))
            return results

    monkeypatch.setattr(_align, "Aligner", Aligner)
    parts = "align", "aligner", "alphabet", "database", "result"
    names = [f"pyopal.tests.test_{each}" for each in parts]
    for name in names:  # glsw itself calls the package, in which nothing is replaced
        theirs = SimpleNamespace(**vars(pyopal) | {"Aligner": Aligner})
        monkeypatch.setattr(importlib.import_module(name), "pyopal", theirs)
    found = run_suite(names)
    assert found == {"passed": 50}
    assert set(calls) == set(options)


def test_pwseqdist() -> None:
    import pwseqdist

    cdr3 = [f"CAS{each}F" for each in proteins(np.random.default_rng(1), 80, 6, 14)]
    scoring = glsw.Scoring.named("BLOSUM62", 3, 3)
    scores = glsw.score_matrix(cdr3, scoring=scoring, mode="global")
    own = np.diag(scores)
    theirs = pwseqdist.apply_pairwise_rect(pwseqdist.metrics.nw_metric, cdr3, ncpus=1)
    assert np.array_equal(own[:, None] + own - 2 * scores, theirs)


def test_the_suite_of_scirpy(tmp_path: Path) -> None:
    """Those of its tests that compute alignment distances, with the class of docs/NEIGHBORS.md."""
    blocks = doc_examples.blocks(ROOT / "docs" / "NEIGHBORS.md")
    (code,) = (each.code for each in blocks if "class Exact" in each.code)
    names = "metrics.AlignmentDistanceCalculator = metrics.FastAlignmentDistanceCalculator"
    put = f"import scirpy.ir_dist.metrics as metrics\n{names} = Exact\n"
    (tmp_path / "with_glsw.py").write_text(f"{code}\n{put}", encoding="utf-8")
    words = ["-q", "-p", "with_glsw", "-p", "no:cacheprovider", "-W", "ignore", "-k", "alignment"]
    where = ["-c", os.devnull, "--rootdir", str(tmp_path)]
    suite = ["--pyargs", "scirpy.tests.test_ir_dist_metrics"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *where, *suite],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert re.search(r"^15 passed", done.stdout, re.MULTILINE), done.stdout


def test_biotite_and_scikit_bio() -> None:
    import biotite.sequence as biotite
    import skbio
    from biotite.sequence.align import SubstitutionMatrix, align_optimal
    from skbio.alignment import pair_align

    query, *targets = proteins(np.random.default_rng(2), 21, 60, 300)
    matrix = SubstitutionMatrix.std_protein_matrix()
    one, many = biotite.ProteinSequence(query), list(map(biotite.ProteinSequence, targets))
    options = {"gap_penalty": (-12, -1), "local": True, "max_number": 1}
    theirs = [align_optimal(one, each, matrix, **options)[0].score for each in many]
    assert glsw.score(one, many).tolist() == theirs
    protein, others = skbio.Protein(query), list(map(skbio.Protein, targets))
    costs = {"mode": "local", "sub_score": "BLOSUM62", "gap_cost": (11, 1)}
    theirs = [pair_align(protein, each, **costs).score for each in others]
    assert glsw.score(protein, others).tolist() == theirs


def test_mne() -> None:
    import mne

    recording = glsw.Recording.of(ROOT / "demo" / "recording.csv")
    rate = 1 / recording.period
    info = mne.create_info([*recording.channels, "bad", "trigger"], rate, [*["eeg"] * 11, "stim"])
    values = np.vstack([recording.values, np.zeros((2, recording.values.shape[1]))])
    raw = mne.io.RawArray(values, info, verbose=False)
    raw.info["bads"] = ["bad"]
    assert glsw.Recording.of(raw).channels == recording.channels
    options: dict[str, Any] = {"segments": 100, "top": 5, "engine": "reference", "of": 2}
    theirs, ours = glsw.motifs(raw, **options), glsw.motifs(recording, **options)
    assert str(theirs).splitlines()[1:] == str(ours).splitlines()[1:]
    epochs = mne.make_fixed_length_epochs(raw, duration=10, preload=True, verbose=False)
    with pytest.raises(TypeError, match="series over one time axis expected"):
        glsw.Recording.of(epochs)


def test_multiqc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("query.fasta", "proteins.fasta"):
        shutil.copy(ROOT / "demo" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    words = "search query.fasta proteins.fasta --engine cpu --output out --summary run_mqc.json"
    assert main(words.split()) == 0
    multiqc = Path(sys.executable).with_name("multiqc")
    subprocess.run([multiqc, ".", "-q", "--no-ansi"], check=True, capture_output=True)
    lines = Path("multiqc_data/multiqc_general_stats.txt").read_text().splitlines()
    names, values = (line.split("\t") for line in lines)
    row = {name.rpartition("-")[2]: value for name, value in zip(names, values, strict=True)}
    assert (row["Sample"], row["queries"], row["engine"]) == ("query", "2", "cpu")
    assert "sequences searched" in Path("multiqc_report.html").read_text(encoding="utf-8")


def test_gff3_by_bcbio(tmp_path: Path) -> None:
    from BCBio import GFF

    genome = "".join(np.random.default_rng(3).choice([*"ACGT"], 900))
    gene = genome[300:420]
    found = glsw.search(glsw.Record("gene;1", "", gene), [glsw.Record("chr", "", genome)])
    glsw.write(found, tmp_path / "hits.gff3", "gff3")
    with (tmp_path / "hits.gff3").open() as file:
        (record,) = GFF.parse(file)
    feature = record.features[0]
    assert (record.id, feature.type) == ("chr", "nucleotide_match")
    assert (int(feature.location.start), int(feature.location.end)) == (300, 420)
    assert feature.qualifiers["Name"] == ["gene;1"]
    assert feature.qualifiers["Gap"] == ["M120"]
