"""The line about work that takes long."""

import pytest

from glsw.cli import messages


@pytest.mark.parametrize(
    ("hidden", "total", "steps", "said"),
    [
        (
            False,
            100,
            [(0.5, 1), (1, 4), (1.5, 4), (3, 4)],
            "glsw: 100 cells will take about 31 s\n",
        ),
        (True, 100, [(0.5, 1), (1, 4), (1.5, 4), (3, 4)], ""),
        (False, 100, [(9, 1), (0.1, 40), (0.1, 40), (0.1, 19)], ""),  # what was compiled before
        (False, 100, [(1.1, 50), (2.1, 50)], ""),
        (False, 100, [(0.2, 100)], ""),
        (False, 0, [(2, 5), (3, 5)], ""),
    ],
)
def test_long_work_is_announced_once(hidden, total, steps, said, monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(messages.time, "monotonic", lambda: now)
    with messages.progress_bar(hidden, total) as bar:
        for seconds, done in steps:
            now += seconds
            bar.update(done)
    assert capsys.readouterr().err == said
