"""The line about work that takes long."""

import pytest

from glsw.cli import messages


@pytest.mark.parametrize(
    ("total", "steps", "said"),
    [
        (100, [(0.5, 1), (0.6, 4), (1, 4)], "glsw: 100 cells will take about 22 s\n"),
        (100, [(1.1, 50), (1.1, 50)], ""),
        (100, [(0.2, 100)], ""),
        (0, [(2, 5)], ""),
    ],
)
def test_long_work_is_announced_once(total, steps, said, monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(messages.time, "monotonic", lambda: now)
    with messages.progress_bar(False, total) as bar:
        for seconds, done in steps:
            now += seconds
            bar.update(done)
    assert capsys.readouterr().err == said
