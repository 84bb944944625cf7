"""Tokens are those that lark's own lexer finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax.grammar import load_grammar, reserved_words
from bayesnas_graph.language.syntax.lexer import tokenize

PIECES = [
    "//",
    "///",
    "//!",
    "/*",
    "*/",
    '"',
    "->",
    "..",
    "==",
    ">",
    "1.5M",
    "1e",
    "true",
    "\n",
    " ",
    "#",
    "é",
    "{",
    ")",
]


def check(text: str) -> None:
    found = [(t.type, str(t), t.start_pos, t.end_pos) for t in tokenize(Source("t", text))]
    lark = load_grammar().lark.lex(text, dont_ignore=True)
    assert found == [(t.type, str(t), t.start_pos, t.end_pos) for t in lark]
    assert "".join(part for _, part, _, _ in found) == text


@pytest.mark.parametrize("path", sorted(shipped_spaces()), ids=lambda path: path.stem)
def test_shipped_spaces(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


@given(st.lists(st.sampled_from([*PIECES, *sorted(reserved_words())]) | st.text(max_size=3)).map("".join))
def test_any_text(text: str) -> None:
    check(text)
