"""Typical calls, which together ask for nearly every program that glsw has."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import glsw
from glsw.alignment.batch import Batch
from glsw.cli import main
from glsw.device.device import open_device
from glsw.engines import ENGINES

Call: TypeAlias = Callable[[], object]

_BLOSUM62 = glsw.Scoring.blast("BLOSUM62", existence=11, extension=1)
_DNA = glsw.Scoring.match_mismatch(2, -3, gap_open=7, gap_extend=2)
_LINEAR = glsw.Scoring.match_mismatch(1, -1, gap_open=1, gap_extend=1)
_FAMILY = "HEAGAWGHEE", "HEA-AWGQED", "HDAGSWPHE-"
_MODES = "local", "global", "semiglobal"
_PAIRS = (100, 100), (700, 800), (3000, 3000), (9000, 9000), (9000, 200)


def _protein(length: int) -> str:
    return "".join(np.random.default_rng(length).choice(list("ARNDCQEGHILKMFPSTWYV"), length))


def _dna(length: int) -> str:
    return "".join(np.random.default_rng(length).choice(list("ACGT"), length))


def _proteins(count: int, low: int, high: int) -> list[str]:
    lengths = np.random.default_rng(count).integers(low, high, count)
    return [_protein(int(length)) for length in lengths]


def _search(queries: Any, targets: Any, scoring: Any = _BLOSUM62, mode: Any = "local") -> object:
    return [*glsw.Aligner(scoring, device=0, mode=mode).search(queries, targets, top=3)]


def _verb(verb: str, *sides: str, scoring: Any = _BLOSUM62, **options: Any) -> object:
    return getattr(glsw.Aligner(scoring, device=0, **options), verb)(*sides)


def _several(aligner: Any, *sides: str, **options: Any) -> object:
    return [*aligner(device=0, **options).alignments(*sides, max_alignments=3)]


def _verb3(verb: str, *sides: str, scoring: Any = None, **options: Any) -> object:
    return getattr(glsw.Aligner3(scoring, device=0, **options), verb)(*sides)


def _engine(name: str, **options: Any) -> object:
    engine: Any = ENGINES[name](_LINEAR, open_device(0, quiet=True), **options)
    codes = [_LINEAR.alphabet.encode(_dna(length)) for length in (400, 500, 600)]
    batch = Batch.one_to_many(codes[0], codes[1:])
    return engine.scores(batch) if name == "lanes" else engine.ends(batch)


def _searches() -> Iterator[tuple[str, Call]]:
    database, long = _proteins(5000, 40, 900), _protein(35000)
    for count, length in product((600, 5000), (20, 60, 100, 200, 380, 700, 1300, 3000, 9000)):
        some = database[:count]
        yield f"search {length} in {count}", partial(_search, [_protein(length)], some)
    yield "search 20 queries", partial(_search, _proteins(20, 50, 1200), database)
    for mode, length in product(_MODES[1:], (20, 60, 200, 700, 3000)):
        yield f"search {mode} {length}", partial(_search, [_protein(length)], database, mode=mode)
    for mode in _MODES[1:]:
        queries = _proteins(20, 50, 1200)
        yield f"search {mode} 20 queries", partial(_search, queries, database, mode=mode)
    yield "search long", partial(_search, [_protein(300)], [*database[:50], long])
    yield "search reads", partial(_search, [_dna(150)] * 30, [_dna(60000)], _DNA)
    yield "search genes", partial(_search, [_dna(1500)], [_dna(2000)] * 200, _DNA)
    family = glsw.Profile.from_alignment(_FAMILY)
    yield "search profile", partial(_search, [family], database)
    sums = partial(glsw.iterate, iterations=1, sums=True, device=0)
    yield "iterate with sums", partial(sums, _protein(200), database[:600])


def _pairs() -> Iterator[tuple[str, Call]]:
    few, reads = _proteins(300, 50, 500), ([_dna(150)] * 3000, [_dna(200)] * 3000)
    options: Any = {"scoring": _BLOSUM62, "device": 0}
    yield "score_pairs reads", partial(glsw.score_pairs, *reads, scoring=_DNA, device=0)
    yield "align_pairs", partial(glsw.align_pairs, few[:2], few[2:4], **options)
    for mode in _MODES:
        options_of_mode = options | {"mode": mode}
        yield f"score_pairs {mode}", partial(glsw.score_pairs, few, few[::-1], **options_of_mode)
        yield f"score_matrix {mode}", partial(glsw.score_matrix, few, **options_of_mode)
    for verb, mode, (m, n) in product(("align", "score"), _MODES, _PAIRS):
        yield f"{verb} {mode} {m} {n}", partial(_verb, verb, _protein(m), _protein(n), mode=mode)
    sides = _protein(5000), _protein(6000)
    yield "align linear", partial(_verb, "align", _dna(3000), _dna(3000), scoring=_LINEAR)
    yield "align with little memory", partial(_verb, "align", *sides, mode="global", memory=2**22)
    yield "alignments", partial(_several, glsw.Aligner, *sides)
    yield "dotplot", partial(glsw.dotplot, _dna(20000), _dna(20000), scoring=_DNA, device=0)
    for length in (50, 1000, 20000):
        word = _dna(length)
        yield f"edit_distance {length}", partial(glsw.edit_distance, word, [word] * 2, device=0)
    yield "edit_distance many", partial(glsw.edit_distance, _dna(100), [_dna(100)] * 2000, device=0)


def _threes() -> Iterator[tuple[str, Call]]:
    same = glsw.Scoring3.identity(match=2, mismatch=-1, gap_open=1)
    small, large = [[_protein(n) for n in lengths] for lengths in ((100, 90, 110), (300, 290, 310))]
    dna = [_dna(length) for length in (300, 290, 310)]
    for mode in _MODES[:2]:
        yield f"align3 {mode}", partial(_verb3, "align", *small, mode=mode)
        yield f"score3 {mode}", partial(_verb3, "score", *dna, scoring=same, mode=mode)
    yield "align3 300", partial(_verb3, "align", *large)
    yield "alignments3", partial(_several, glsw.Aligner3, *small)
    yield "plane", partial(_verb3, "score", *small, engine="plane")


def _engines() -> Iterator[tuple[str, Call]]:
    for name in ("wavefront", "scan", "blocked", "diagonal", "fragment", "lanes"):
        yield f"engine {name}", partial(_engine, name)
    yield "engine lanes mediump", partial(_engine, "lanes", number="mediump")
    for form in ("blocks", "single-stage"):
        yield f"engine scan {form}", partial(_engine, "scan", form=form)


def _command(*words: str) -> object:
    """Run `glsw`; a word in braces is a file of such a sequence."""
    letters = {"a": _protein(100), "b": _protein(90), "c": _protein(110)}
    letters |= {"read": _dna(150), "genome": _dna(60000)}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in letters}
        for name, file in files.items():
            file.write_text(f">{name}\n{letters[name]}\n", encoding="ascii")
        return main([*(word.format(**files) for word in words), "--device", "0", "--no-progress"])


def _commands() -> Iterator[tuple[str, Call]]:
    for words in (
        "search demo/query.fasta demo/proteins.fasta --top 10",
        "search --dna {read} {genome}",
        "align {a} {b}",
        "align3 {a} {b} {c}",
        "neighbors demo/proteins.fasta --cutoff 100",
    ):
        yield f"glsw {words}", partial(_command, *words.split())


def calls() -> dict[str, Call]:
    """Return the calls by their names."""
    return dict([*_commands(), *_searches(), *_pairs(), *_threes(), *_engines()])
