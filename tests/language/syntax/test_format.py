"""The formatter is idempotent and keeps tokens, comments and meaning."""

from __future__ import annotations

from hypothesis import given

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.syntax.lexer import tokenize
from tests.helpers import formatted
from tests.programs import programs


def tokens(text: str) -> list[str]:
    """All tokens except spaces, without trailing spaces in comments."""
    texts = [str(token) for token in tokenize(Source("t", text)) if token.type != "SPACE"]
    return ["\n".join(line.rstrip() for line in text.split("\n")) for text in texts]


@given(programs(fault=0))
def test_tokens_idempotence_and_meaning(text: str) -> None:
    once = formatted(text)
    assert tokens(once) == tokens(text)
    assert formatted(once) == once
    assert once.isspace() or once == "" or once.endswith("\n")
    assert not any(line != line.rstrip() for line in once.splitlines())
    before, after = (Checker(Report()).text(Source("t", source)).networks for source in (text, once))
    assert [network.graph() for network in before] == [network.graph() for network in after]


def test_lines_fit_where_they_can() -> None:
    text = "set s = {" + ", ".join(f"conv({i}, 3)" for i in range(40)) + "}"
    assert max(map(len, formatted(text).splitlines())) <= 100


def test_nothing_is_nothing() -> None:
    assert formatted("") == ""
    assert formatted("\n\n  \n") == ""
    assert formatted("// only a comment") == "// only a comment\n"
