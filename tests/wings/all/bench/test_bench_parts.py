"""Small parts of the benchmarks: words of tables, rows, generated sequences, what judges."""

import argparse

import numpy as np
import pytest

from bench import (
    at_least,
    compare,
    cpu3,
    generated,
    machine,
    measure,
    programs,
    report,
    rivals,
    row,
    table,
)
from bench.micro_kernels import chains
from bench.programs import Biopython, judge
from bench.roofline import bound, run_of
from bench.work import alignments, three
from bench.work.base import named, spread
from bench.work.journeys import key_of
from glsw.alignment.batch import Batch
from glsw.alignment.traceback import trace
from glsw.scoring.scoring import Scoring
from glsw.sequences.alphabet import DNA, PROTEIN
from glsw.wings.three.scoring import Scoring3

SIMPLE = Scoring.match_mismatch(2, -1, 1, 1)
LIU = [SIMPLE.alphabet.encode(word) for word in ("ATCTCGTATGAT", "GTCTATCAC")]
"""Liu et al. 2006, figure 2."""


# tables and pages


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        *((table.number, 3711.8, "3,712"), (table.number, 97.68, "97.7")),
        *((table.number, 0.0123, "0.0123"), (table.number, None, "-")),
        *((table.seconds, 44.96, "45 s"), (table.seconds, 0.00133, "1.33 ms")),
        *((table.seconds, 2e-6, "2 us"), (table.seconds, None, "-")),
        *((table.size_text, 2**18, "256 KiB"), (table.size_text, 3 * 2**20, "3 MiB")),
        *((table.size_text, None, "-"), (report.few_digits, 0.002787, "0.0028")),
        *((report.few_digits, 12.345, "12.3"), (report.few_digits, 3898.1, "3,898")),
        (table.sizes, {"sizes": [375, 512], "count": 1000000}, "1,000,000 x 375 x 512"),
        *((table.sizes, {"sizes": [8, 8, 8]}, "8 x 8 x 8"), (table.sizes, {}, "")),
        *((table.where, {"ours": False, "cores": 2}, "all cores"),),
        *((table.where, {"ours": False}, "GPU"), (table.where, {"ours": True}, "")),
        (key_of, "sp|P02232|LGB1_VICFA", "P02232"),
        (key_of, "read1", "read1"),
        (machine.slug, "NVIDIA H100 80GB HBM3/PCIe/SSE2", "nvidia-h100-80gb-hbm3"),
        (machine.slug, "llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe"),
        (machine.slug, "Mesa Intel(R) UHD Graphics 620 (KBL GT2)", "mesa-intel-uhd-graphics-620"),
        (machine.slug, "zink Vulkan 1.3(llvmpipe (LLVM))", "zink-vulkan-1-3-llvmpipe"),
        (row.impersonal, "cannot read /home/ada/query.fasta", "cannot read ~/query.fasta"),
    ],
)
def test_words(function, value, text):
    assert function(value) == text


def test_amounts():
    values = (1.5e12, "op/s"), (2.5e-6, "s"), (5e9, "cell/s"), (0.9, "recall")
    found = [table.amount(*each) for each in values]
    assert found == ["1.5 Top/s", "2.5 us", "5 GCUPS", "0.9 recall"]


def test_cells_are_escaped():
    cell = report.Cell("5 <", 5.0, {"href": "#d0", "class": "wrong", "title": None})
    text = '{% from "table.html" import table %}{{ table(lines) }}'
    made = report.PAGES.from_string(text).render(lines=report.Table("", ["a"], [[cell]]))
    assert '<th class="n" data-v="5"><a href="#d0" class="wrong">5 &lt;</a></th>' in made


def test_words_of_the_command_line():
    assert at_least(int, 1, "a number from 1")("5") == 5
    with pytest.raises(argparse.ArgumentTypeError):
        at_least(float, 0, "")("-1")


# rows


def test_rows():
    timed = {"workload": "pairs", "program": "x", "cells": 10**9, "wall": 0.5, "wrong": 0}
    assert (row.state(timed), row.rate_of(timed)) == ("timed", 2e9)
    assert row.key(timed) == row.key(timed | {"wall": 0.4})
    assert len(row.name_of(timed)) == 8
    found = row.tidy({"wall": 0.12345678, "note": "in /home/ada/x", "part": None, "cells": 10})
    assert found == {"wall": 0.123457, "note": "in ~/x", "cells": 10}
    with pytest.raises(ValueError, match="'program' is a required property"):
        row.check({"workload": "pairs"}, "row")


def test_what_differs():
    rates = {"rate": 4e9, "unit": "op/s", "spread": 0.01, "repeats": 20}
    assert compare.times(rates, "rate").median == 2.5e-10
    times = compare.Times
    quiet, late = times(1.0, 0.98, 0.03, 20), times(1.2, 1.17, 0.05, 20)
    assert compare.judge(quiet, late, 0.05) == "slower"
    assert compare.judge(late, quiet, 0.05) == "faster"
    assert compare.judge(quiet, late, 0.25) == ""
    assert compare.judge(quiet, times(1.2, 0.99, 0.3, 20), 0.05) == ""  # its repeats differ by more
    ratios = 1.0, 0.98, 1.02, 0.99, 1.01, 1.0, 1.03, 2.0
    deltas = [
        compare.Delta({}, "wall", times(1.0, 1.0, 0.0, 20), times(x, x, 0.0, 20)) for x in ratios
    ]
    assert compare.between(deltas) == pytest.approx(0.029, abs=5e-4)


def test_a_right_result_is_timed():
    work = np.arange(10)
    result = measure.measure(work.cumsum, lambda x: measure.compare(x[-1:], [45]), cells=10)
    assert result.check.wrong == 0
    assert result.wall.repeats >= 3
    assert result.rate > 0


def test_ceilings_of_a_wavefront():
    rates = {"recurrence linear": 1e10, "dispatch": 1e-4}
    measured = {"program": "wavefront", "scoring": "DNA 1/-1, gaps 2, 2", "sizes": [1000, 1000]}
    measured |= {"count": 1, "cells": 10**6, "task": "ends", "wall": 0.5, "ours": True}
    limit = bound(measured, rates, {"software": True, "subgroup_size": 0, "half": False})
    found = [(each.resource, round(each.cells_per_second)) for each in limit.ceilings]
    assert found == [("dispatches", 5002501), ("compute", 10**10)]
    assert round(limit.share, 2) == 0.4


def test_engine_of_auto():
    device = {"software": False, "subgroup_size": 32, "half": True}
    measured = {"program": "auto", "note": "auto: lanes", "scoring": "BLOSUM62, gaps 12, 1"}
    measured |= {"sizes": [375, 300], "count": 10, "cells": 375 * 3000, "task": "scores"}
    run = run_of(measured, device)
    assert (run.engine, run.lengths, run.linear) == ("lanes f16", (375, 300), False)


# tools


def test_lines_of_tools():
    for line in ("2026/11/21 10:45:20.250, [N/A]\n", "2026/11/21 10:45:20.250, 7", "\n"):
        assert machine.sample_of(line) is None
    one, other = (machine.sample_of(f"2026/11/21 10:45:20.{ms}, 71.30\n") for ms in (250, 300))
    assert (round(other[0] - one[0], 3), other[1]) == (0.05, 71.3)
    said = "Processing query 0 ... Done. Scan time: 0.0123 s, 4000 GCUPS"
    assert rivals.parse_scans(said) == [0.0123]


# sequences and scorings


def test_generated_sequences_are_those_of_every_machine():
    lengths = generated.swissprot_lengths(20_000)
    found = round(lengths.mean()), round(np.median(lengths)), int(lengths.max())
    assert found == (364, 297, 12980)
    assert PROTEIN.decode(generated.proteins([8, 3], seed=1)[0]) == "LVNVEGSG"
    assert PROTEIN.decode(generated.letters(8, seed=1)) == "WIPLKPLV"
    assert DNA.decode(generated.dna([8, 3], seed=1)[0]) == "TTACTGAG"
    sequences = generated.dna([1000, 5])
    relatives = generated.relatives(sequences, 4)
    assert relatives.lengths.tolist() == [1000, 5]
    assert not np.array_equal(relatives[0], sequences[0])
    database, two = generated.many([30, 20, 20, 20, 10]), generated.queries([20, 26])
    assert generated.plant(database, two).tolist() == [0, 1]
    assert database.lengths.tolist() == [30, 20, 20, 20, 10]
    values = three.recording(channels=3, samples=100)
    assert values.shape == (3, 100)
    assert np.isfinite(values).all()


def test_names_and_samples():
    assert named(Scoring3.identity(1, -1, 2, 1)) == "identity 1/-1, gaps 2, 1"
    assert named(Scoring.match_mismatch(5, -4, 11, 1)) == "DNA 5/-4, gaps 11, 1"
    assert named(Scoring.named("BLOSUM62", 12, 1)) == "BLOSUM62, gaps 12, 1"
    assert [spread(20, 3), spread(2, 5), spread(20, 1)] == [[0, 10, 19], [0, 1], [10]]
    kernel = chains(16, 8, "add max")
    assert (kernel.work, kernel.expected.shape) == (256, (64,))


# judges


def test_scores_of_alignments():
    path = trace(*LIU, SIMPLE, 11, 8)[0].coordinates()
    assert alignments.path_score(SIMPLE, LIU, path) == 10
    scoring = Scoring3.identity()
    words = [scoring.alphabet.encode(word) for word in ("TACG", "ACG", "AG")]
    path = np.array([[1, 2, 3, 4], [0, 1, 2, 3], [0, 1, 1, 2]])
    assert alignments.path_score(scoring, words, path) == 1
    path[2] = 0, 1, 2, 3  # there is no third letter
    assert alignments.path_score(scoring, words, path) == -1


def test_biopython_and_the_judge():
    batch = Batch.one_to_many(LIU[0], [LIU[1], SIMPLE.alphabet.encode("TTTT")])
    assert Biopython(SIMPLE).scores_of(batch).tolist() == [10, 4]
    assert judge(SIMPLE, batch)[1].tolist() == [10, 4]


@pytest.mark.skipif(cpu3.refused() is not None, reason="no C compiler")
def test_the_c_code():
    scoring = Scoring3.identity()
    words = [scoring.alphabet.encode(word) for word in ("TACGTT", "ACCGT", "GACGA")]
    assert cpu3.best(scoring, Batch.of([words])).tolist() == [[2, 3, 2, 3]]


def test_a_library_that_cannot_be_imported_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pyopal" in rivals.find({})
    monkeypatch.setattr(programs, "pyopal", None)
    assert "pyopal" not in rivals.find({})
