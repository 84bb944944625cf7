"""Nothing outside `ir/ops` tests for the class of an operation: it asks for a trait."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bayesnas_graph.ir.ops import COMPILED, PRIMITIVES
from tests.conftest import ROOT

PACKAGE = ROOT / "bayesnas_graph"
CLASSES = {base.__name__ for cls in (*PRIMITIVES.values(), *COMPILED.values()) for base in cls.__mro__}


def classes_tested(text: str) -> Iterator[str]:
    """The names of all classes that `isinstance` is called with."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            for part in ast.walk(node.args[1]):
                if isinstance(part, ast.Name | ast.Attribute):
                    yield part.id if isinstance(part, ast.Name) else part.attr


def test_the_search_finds_tests() -> None:
    assert {"Conv", "Linear"} <= set(classes_tested("isinstance(op, Conv | ops.Linear)"))
    assert {"Conv", "Join", "Op", "BatchNorm"} <= CLASSES


def test_no_class_is_tested_for() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "ir" / "ops")]
    assert len(files) > 100
    found = {str(path.relative_to(ROOT)): set(classes_tested(path.read_text())) & CLASSES for path in files}
    assert {path: names for path, names in found.items() if names - {"object"}} == {}
