"""Text with errors is read as far as possible."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.resources import shipped_spaces
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.syntax import ast, parse, parse_incomplete
from bayesnas_graph.language.syntax.recovery import readable_at


def read(text: str) -> dict[str, list[str]]:
    """The definitions of a text by name, with the kinds of their statements."""
    found = {}
    for definition in parse_incomplete(Source("example", text)).definitions:
        body = definition.body.statements if isinstance(definition, ast.Motif) else ()
        found[definition.name.name] = [type(statement).__name__ for statement in body]
    return found


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("in x\n x -> out : conv(3, ", ["In", "EdgeStatement"]),
        ("in x\n x -> out : relu > \n node h = x\n", ["In", "EdgeStatement", "NodeDeclaration"]),
        ("in x\n node h = \n h -> out", ["In", "NodeDeclaration", "EdgeStatement"]),
        ("in x\n for i in ", ["In"]),
        ("in x\n for i in 0..3 { node h = x : choose { conv(3), ", ["In", "For"]),
        ("in x\n x -> out ; : relu\n node k", ["In", "EdgeStatement", "NodeDeclaration"]),
        ("in x\n node k\n )\n node j }", ["In", "NodeDeclaration", "NodeDeclaration"]),
        ("in x\n x y z -> out\n node k }", ["In", "NodeDeclaration"]),
        ("in x\n x -> out : bench.\n let w = 3 }", ["In", "EdgeStatement", "Let"]),
        ("in x\n if x ", ["In"]),
    ],
)
def test_bodies(text: str, statements: list[str]) -> None:
    assert read(f"motif m(n) {{ {text}") == {"m": statements}


def test_other_definitions() -> None:
    found = read('set s = { conv(), \nlet f(a) = max(a, \nlet g = 1\nop o(n) from "torch')
    assert list(found) == ["s", "f", "g", "o"]


def test_a_broken_header_leaves_the_name() -> None:
    file = parse_incomplete(Source("example", "motif m(a, \nmotif k { in x  out x }"))
    assert [definition.name.name for definition in file.definitions] == ["k"]
    assert file.lost == {"m"}


@pytest.mark.parametrize("path", shipped_spaces(), ids=lambda path: path.stem)
def test_valid_text_is_read_as_always(path: Path) -> None:
    source = Source(path.name, path.read_text())
    assert parse_incomplete(source) == parse(source, Report())


@given(st.sampled_from([path.read_text() for path in shipped_spaces()]), st.data())
def test_beginnings(text: str, data: st.DataObject) -> None:
    """Every definition before the one that is cut is complete, and so is what can be read next."""
    offset = data.draw(st.integers(0, min(len(text), 4000)))
    source = Source("example", text[:offset])
    whole = {item.span.text for item in parse(source, Report()).items}
    assert whole <= {item.span.text for item in parse_incomplete(source).items}
    assert isinstance(readable_at(source, offset), frozenset)
