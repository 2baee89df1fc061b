"""Threads may share a `PairwiseAligner`."""

from __future__ import annotations

from typing import Any

from program import in_threads

import glsw
from glsw.device.device import Device


def test_four_threads_share_an_aligner(free: Device) -> None:
    aligner: Any = glsw.PairwiseAligner("blastp", device=free)
    pair = "HEAGAWGHEE" * 2, "PAWHEAE" * 2
    expected = aligner.score(*pair), aligner.align(*pair)[0].score

    def work(number: int) -> None:
        assert (aligner.score(*pair), aligner.align(*pair)[0].score) == expected

    in_threads(4, work)
