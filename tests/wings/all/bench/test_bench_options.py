"""What options of `glsw search` cost: each is measured, or there is a reason why it is not."""

from bench.work.options import Options
from glsw.cli import with_all_options


def test_each_option_of_search_has_a_factor_or_a_reason():
    search = with_all_options()[1]["search"]
    flags = {max(each.option_strings, key=len) for each in search._actions if each.option_strings}
    factors = Options.factors
    assert set(factors) == flags
    assert all(factors.values())


def test_the_factor_of_an_option(bench, monkeypatch):
    monkeypatch.setattr("bench.work.options._PAIRS", 1)
    status, file = bench("options", "--only", "max-hsps 2|top 10")
    rows = list(file.rows.values())
    assert (status, [row["options"] for row in rows]) == (0, ["--top 10", "--max-hsps 2"])
    assert all(" times " in row["note"] and row["wall"] > 0 for row in rows)
