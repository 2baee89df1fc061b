"""What `make check` runs: no change without a test of it."""

import re

import changed
import pytest
import thorough

FIRST = [*changed.ALWAYS]


@pytest.mark.parametrize(
    ("file", "expected", "engines"),
    [
        ("shaders/fragment.frag", [], "[fragment"),
        ("shaders/lib/neighbours.glsl", [], "[lanes"),
        ("glsw/engines/wavefront.py", [], "[wavefront"),
        ("glsw/engines/lanes/rows.py", ["tests/engines/test_lanes_rows.py"], "[lanes"),
        ("glsw/output/html.py", ["tests/output/test_html.py"], ""),
        ("glsw/pairs/near_pairs.py", ["tests/test_neighbors.py"], ""),
        ("glsw/alignment/batch.py", ["tests/test_batch.py"], ""),
        ("docs/ENGINES.md", ["tests/wings/all/test_docs.py"], ""),
        ("tests/naive.py", ["tests/engines/test_ends.py"], ""),
        ("tests/test_results.py", ["tests/test_results.py"], ""),
        ("glsw/arrays.py", [changed.USUAL[-1]], ""),
        ("LICENSE", None, ""),
    ],
)
def test_tests_of_a_file(file, expected, engines):
    runs = changed.runs([file])
    if expected is None:
        assert runs == []
        return
    first, *more = runs
    assert first[: len(FIRST)] == FIRST
    assert {*expected} <= {*first}
    comparisons = [words for words in more if words[0] == changed.COMPARISONS[0]]
    assert bool(comparisons) == bool(engines)
    for words in comparisons:
        assert engines in words[-1].split(" or ")
    if file.startswith("shaders/"):
        assert more[-1][0].endswith("test_implementations.py")


def test_what_is_thorough_exists():
    folder = changed.ROOT / "tests"
    for name, patterns in thorough.THOROUGH.items():
        text = (folder / name).read_text(encoding="utf-8") if (folder / name).exists() else ""
        tests = re.findall(r"^def (test_\w+)", text, re.MULTILINE)
        for pattern in patterns if tests else ():
            start = pattern.partition(r"\[")[0]
            assert any(re.match(start, test) for test in tests), (name, pattern)
