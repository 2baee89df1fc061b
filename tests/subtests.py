"""One test for many near-equal cases, each of them a subtest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def with_subtests(names: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test with a subtest for each of the values.

    Fixtures are those of the one test: no subtest may depend on a fresh one.
    """
    words = [name.strip() for name in names.split(",")]
    rows = [dict(zip(words, row if len(words) > 1 else (row,), strict=True)) for row in values]

    def decorate(test: Test) -> Test:
        inner, inner_rows = getattr(test, "with_subtests", (test, [{}]))
        every = [row | more for row in rows for more in inner_rows]

        @functools.wraps(inner)
        def tests(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for row in every:
                with subtests.test(", ".join(map(_label, row.values()))):
                    inner(**fixtures, **row)

        parameter = functools.partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
        fixtures = [name for name in inspect.signature(inner).parameters if name not in every[0]]
        signature = inspect.Signature([parameter(name) for name in (*fixtures, "subtests")])
        tests.__signature__ = signature  # type: ignore[attr-defined]
        tests.with_subtests = inner, every  # type: ignore[attr-defined]
        return tests

    return decorate


def _label(value: object) -> str:
    return str(getattr(value, "name", value))[:80]
