"""docs/bayes.md names only things that exist."""

from __future__ import annotations

import re

from bayesnas_graph import bayes
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "bayes.md"


def test_every_function_of_the_table_exists() -> None:
    table = PAGE.read_text().partition("## Symbols")[2].partition("## An example")[0]
    for name in re.findall(r"`(Switches\.\w+|State\.\w+|posterior_variance|omega_squared|strength)`", table):
        owner, _, member = name.partition(".")
        assert hasattr(bayes, owner)
        assert not member or member in dir(getattr(bayes, owner)), name


def test_every_reason_is_explained() -> None:
    page = PAGE.read_text()
    assert [why.value for why in bayes.Why if f"| {why.value} |" not in page] == []
