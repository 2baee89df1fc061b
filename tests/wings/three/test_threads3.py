"""Threads may share an aligner of three sequences."""

from __future__ import annotations

from typing import Any

from program import in_threads

import glsw
from glsw.device.device import Device


def test_four_threads_share_an_aligner(free: Device) -> None:
    three: Any = glsw.Aligner3(device=free)
    triple = "HEAGAWGHEE", "PAWHEAE", "GAWHEE"
    expected = list(three.align(*triple))

    def work(number: int) -> None:
        assert three.score(*triple) == 65
        alignments = three.alignments(*triple, max_alignments=2)
        assert [each.score for each in alignments] == [65, 41]
        assert list(three.align(*triple)) == expected

    in_threads(4, work)
