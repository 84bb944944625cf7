"""What the text says about motifs and networks becomes docstrings."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.codegen.emit.text import LINE, class_docstring
from bayesnas_graph.codegen.export import model_of
from tests.helpers import body, network

TEXT = """
/// A block.
///
/// With "quotes", a \\ and # signs.
motif block { in x x -> out : conv(3) > relu }

motif plain { in x x -> out : conv(3) > tanh }

/// What it is for.
network n : image(3, 8, 8), image(3, 8, 8) -> image(3, 8, 8), classes(2) {
    in x, y
    node z = x : block > plain
    node h = y : block > global_avg_pool > linear(2)
    out z, h
}
"""


def docs(source: str) -> dict[str, str | None]:
    tree = ast.parse(source)
    return {node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def test_docstrings_of_classes() -> None:
    assert docs(model_of(network(TEXT), "test").program.text) == {
        "Block": "A block.\n\nWith 'quotes', a ? and ? signs.\n\nThe motif `block`.",
        "Plain": "The motif `plain`.",
        "N": "What it is for.\n\nThe network `n`.\n\n"
        "Inputs: (batch, 3, 8, 8), (batch, 3, 8, 8); outputs: (batch, 3, 8, 8), (batch, 2).",
    }


def test_a_docstring_is_not_code() -> None:
    """Imports and definitions follow from the code alone."""
    words = "Rescale( Select( gated_sum( torch.cat F.relu Tensor"
    text = f"/// {words}\nmotif m {{ in x x -> out : conv(3) > bn }} {body('x -> out : m > m')}"
    source = model_of(network(text), "test").program.text
    assert words in source
    plain = model_of(network(text.partition("\n")[2]), "test").program.text
    assert source.replace(f'"""{words}\n\n    The motif `m`.\n    """', '"""The motif `m`."""') == plain
    assert "import torch\n" not in source
    assert "functional" not in source


@given(st.lists(st.text() | st.sampled_from(['"""', "\\", "a\n\n  b", "\r", "\x0c", "x " * 200, "'", '"']), max_size=3))
def test_any_text_is_one_docstring(paragraphs: list[str]) -> None:
    lines = class_docstring("first", *paragraphs)
    tree = ast.parse("\n".join(["class A:", *lines, "    x = 1", ""]))
    (cls,) = tree.body
    assert isinstance(cls, ast.ClassDef)
    assert len(cls.body) == 2
    assert (ast.get_docstring(cls) or "").startswith("first")
    assert all(len(line) <= LINE and line == line.rstrip() for line in lines)
