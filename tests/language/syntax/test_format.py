"""The formatter: done twice is done once, words and comments stay, and so does the meaning."""

from __future__ import annotations

from hypothesis import given, settings

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.syntax.words import words_of
from tests.helpers import formatted
from tests.programs import programs


def words(text: str) -> list[str]:
    """Everything but spaces; trailing spaces of comment lines are not kept."""
    found = [str(word) for word in words_of(Source("t", text)) if word.type != "SPACE"]
    return ["\n".join(line.rstrip() for line in word.split("\n")) for word in found]


@settings(max_examples=3 * settings().max_examples)
@given(programs(fault=0))
def test_words_idempotence_and_meaning(text: str) -> None:
    once = formatted(text)
    assert words(once) == words(text)
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
