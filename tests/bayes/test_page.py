"""The example of docs/bayes.md, and that the page names what there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from bayesnas_graph import bayes
from tests.conftest import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "bayes.md"


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = (block.text for block in blocks(PAGE) if block.kind == "nas")
    (tmp_path / "example.nas").write_text(text)
    monkeypatch.chdir(tmp_path)
    session = "\n".join(block.text for block in blocks(PAGE) if block.kind == "python")
    example = doctest.DocTestParser().get_doctest(session, {}, PAGE.name, str(PAGE), 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_every_function_of_the_table_exists() -> None:
    table = PAGE.read_text().partition("## Symbols")[2].partition("## An example")[0]
    for name in re.findall(r"`(Switches\.\w+|State\.\w+|posterior_variance|omega_squared|strength)`", table):
        owner, _, member = name.partition(".")
        assert hasattr(bayes, owner)
        assert not member or member in dir(getattr(bayes, owner)), name


def test_every_reason_is_explained() -> None:
    page = PAGE.read_text()
    assert [why.value for why in bayes.Why if f"| {why.value} |" not in page] == []
