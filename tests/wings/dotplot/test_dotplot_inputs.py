"""Dot plots of all kinds of input, and of what was typed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kinds_of_input import ONE, SEVERAL, files_of_two

import glsw
from glsw.device.device import Device
from glsw.sequences.nucleic import KindWarning

PROTEIN = "MKVLAWHEAGAWGHEEPLQNRSTV"
DNA = "ACGTTGCATGCAAGCTTACGGATC"


def test_kinds_of_input(device: Device, tmp_path: Path) -> None:
    folder = files_of_two(tmp_path)
    for expected, kinds in ((1, ONE), (2, SEVERAL)):
        for kind, made in kinds.items():
            plot = glsw.dotplot(made(folder), "PAWHEAE", side=5, device=device)
            assert len(plot.query.segments) == expected, kind


def test_kinds_of_letters(device: Device) -> None:
    options = {"side": 8, "device": device}
    with pytest.warns(KindWarning) as caught:
        plot = glsw.dotplot(DNA, **options)
    assert len(caught) == 1
    np.testing.assert_array_equal(
        plot.minus, glsw.dotplot(DNA, scoring=glsw.Scoring.nucleotide(), **options).minus
    )
    with pytest.raises(ValueError, match="target looks like nucleic acid, but query like protein"):
        glsw.dotplot(PROTEIN, DNA, **options)


def test_no_two_tracks() -> None:
    scoring = glsw.TwoTrackScoring.of(glsw.Scoring.blast(), glsw.Scoring.blast())
    with pytest.raises(ValueError, match="a dot plot does not support two tracks"):
        glsw.dotplot("MDKV", "MDKV", scoring=scoring)
