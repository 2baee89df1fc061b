"""The papers whose benchmarks are repeated, a file each."""

from __future__ import annotations

from bench.papers import aymone2022, lin2015, liu2006, scan2014, sudo2012

PAPERS = (liu2006.PAPER, aymone2022.PAPER, lin2015.PAPER, scan2014.PAPER, sudo2012.PAPER)
