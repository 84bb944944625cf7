"""The editor grammar has the same keywords as the language."""

from __future__ import annotations

import json

import pytest

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.syntax import reserved_words
from tests.conftest import ROOT

GRAMMAR = json.loads((ROOT / "docs" / "editors" / "nas.tmLanguage.json").read_text())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("keywords", reserved_words() - {"true", "false"}),
        ("constants", {"true", "false"}),
        ("primitives", set(PRIMITIVES)),
        ("functions", set(BUILTINS)),
    ],
)
def test_words(entry: str, expected: set[str]) -> None:
    found = json.dumps(GRAMMAR["repository"][entry])
    (alternatives,) = {part.split(")")[0] for part in found.split("\\\\b(")[1:]}
    assert alternatives.split("|") == sorted(expected)


def test_every_rule_is_used() -> None:
    text = json.dumps(GRAMMAR)
    assert all(f'"#{name}"' in text for name in GRAMMAR["repository"])
    assert GRAMMAR["fileTypes"] == ["nas"]
