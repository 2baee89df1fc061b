"""The workload ``sensitivity``: relatives before the first error, and errors per query."""

from __future__ import annotations

import numpy as np
import pytest

from bench.readme import shares_of
from bench.work.accuracy import CURVE, ERRORS, FIRST, Hits, best_of, counted

CLASSES = {
    **{"q": "a.1.1.1", "near": "a.1.1.1", "nearer": "a.1.1.1"},
    **{"far": "a.1.1.2", "fold": "a.1.2.1", "other": "b.1.1.1", "alone": "c.1.1.1"},
}
TENTH = "pairs", "0.1 errors per query"


@pytest.mark.parametrize(
    ("order", "family", "superfamily", "pairs"),
    [
        ("near nearer far other", 1.0, 1.0, 1.0),
        ("near other nearer far", 0.5, 0.0, 1 / 3),
        ("fold near q far nearer other", 1.0, 1.0, 1.0),  # neither right nor wrong
        ("other near nearer far", 0.0, 0.0, 0.0),
    ],
)
def test_relatives_before_the_first_error(
    order: str, family: float, superfamily: float, pairs: float
) -> None:
    hits = {"q": [(name, 0.1 * k) for k, name in enumerate(order.split())]}
    found = counted(hits, CLASSES)
    assert [found[each] for each in (*FIRST, TENTH)] == pytest.approx([family, superfamily, pairs])


def test_a_query_without_relatives_counts_for_errors_only() -> None:
    hits = {"q": [("near", 1e-9)], "alone": [("other", 1e-5)]}
    found = counted(hits, CLASSES)
    assert [found[each] for each in (*FIRST, TENTH)] == pytest.approx([0.5, 0.0, 1 / 3])


def test_errors_of_equal_evalues_count_together() -> None:
    hits = {"q": [("near", 1e-9), ("nearer", 0.5), ("other", 0.5)]}
    assert counted(hits, CLASSES)[TENTH] == pytest.approx(1 / 3)


def test_what_the_hits_do_not_reach_is_left_out() -> None:
    assert counted({"q": [("near", 1e-9)]}, CLASSES) == {FIRST[0]: 0.5, FIRST[1]: 0.0}
    assert counted({"q": []}, CLASSES) == dict.fromkeys(FIRST, 0.0)


def _naive(hits: Hits, classes: dict[str, str]) -> dict[tuple[str, str], float]:
    """Return what `counted` does, pair by pair."""

    def same(query: str, target: str, words: int) -> bool:
        return classes[query].split(".")[:words] == classes[target].split(".")[:words]

    def kin(query: str, names: list[str]) -> tuple[set[str], set[str]]:
        near = {name for name in names if name != query and same(query, name, 4)}
        far = {name for name in names if name != query and same(query, name, 3)} - near
        return near, far

    shares: list[list[float]] = [[], []]
    for query, found in hits.items():
        before: list[str] = []
        for target, _ in found:
            if not same(query, target, 2):
                break
            before.append(target)
        for share, some, of in zip(
            shares, kin(query, before), kin(query, list(classes)), strict=True
        ):
            share += [len(some) / len(of)] if of else []
    result = {name: sum(each) / len(each) for name, each in zip(FIRST, shares, strict=True)}
    limits = sorted({evalue for found in hits.values() for _, evalue in found})
    possible = sum(len(near | far) for near, far in (kin(query, list(classes)) for query in hits))
    for name, most in zip(CURVE, ERRORS, strict=True):
        steps = [(0, 0)]
        for limit in limits:
            some = [
                (query, target)
                for query, found in hits.items()
                for target, evalue in found
                if evalue <= limit and target != query
            ]
            right = sum(same(*pair, 3) for pair in some)
            steps.append((sum(not same(*pair, 2) for pair in some), right))
        if steps[-1][0] >= most * len(hits):
            result[name] = max(n for wrong, n in steps if wrong <= most * len(hits)) / possible
    return result


@pytest.mark.parametrize("seed", range(4))
def test_generated_domains_are_counted_as_pair_by_pair(seed: int) -> None:
    generator = np.random.default_rng(seed)
    classes = {
        f"d{k}": "a." + ".".join(map(str, levels))
        for k, levels in enumerate(generator.integers(1, 3, (18, 3)).tolist())
    }
    names = np.array([*classes])
    hits = {}
    for query in names[::2].tolist():
        some = generator.permutation(names)[: generator.integers(0, 18)].tolist()
        far = [classes[name][:3] != classes[query][:3] for name in some]
        evalues = generator.integers(0, 30, len(some)) / 4 + 4 * np.array(far)
        order = np.argsort(evalues, kind="stable").tolist()
        hits[query] = [(some[k], float(evalues[k])) for k in order]
    found = counted(hits, classes)
    assert found == pytest.approx(_naive(hits, classes))
    assert 10 < len(found) < len(FIRST) + len(CURVE)


def test_each_target_counts_once() -> None:
    table = ("a\tb", 0.5), ("a\tc", 0.1), ("a\tb", 0.01)
    lines = ["\t".join([pair, *"00000000", str(evalue), "9.9"]) for pair, evalue in table]
    lines += ["Search has converged!", ""]
    assert best_of("\n".join(lines)) == {"a": [("b", 0.01), ("c", 0.1)]}


def test_curves_are_those_of_the_rows() -> None:
    row = {"workload": "sensitivity", "program": "glsw, 2 rounds", "rate": 0.25}
    rows = [{**row, "task": task, "options": options} for task, options in (*FIRST, *CURVE[3:7])]
    shares = shares_of([*rows, {**row, "workload": "pairs", "task": "scores"}])
    assert shares == {"glsw, 2 rounds": dict.fromkeys((*FIRST, *CURVE[3:7]), 0.25)}
