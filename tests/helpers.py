"""Helpers for most tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from bayesnas_graph.diagnostics import Diagnostic, Report, render
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import Checker, Limits, Network, Space
from bayesnas_graph.language.syntax import format_source


def mostly_long(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Parameters of which only some are tried every time, and the others by `make test-long`."""
    every = list(values)
    assert set(quick) < set(every)
    return [
        value
        if value in quick
        else pytest.param(*value if isinstance(value, tuple) else (value,), marks=pytest.mark.long)
        for value in every
    ]


def check(text: str, limits: Limits | None = None) -> tuple[Space, tuple[Diagnostic, ...]]:
    """The checked text and all diagnostics."""
    report = Report()
    space = Checker(report, limits).text(Source("test.nas", text))
    return space, report.diagnostics


def codes(text: str, limits: Limits | None = None) -> list[str]:
    """The codes of all diagnostics of a text."""
    return [diagnostic.code for diagnostic in check(text, limits)[1]]


def network(text: str) -> Network:
    """The only network of a valid text."""
    space, diagnostics = check(text)
    assert not diagnostics, "\n".join(map(render, diagnostics))
    (found,) = space.networks
    return found


def graph(text: str) -> Graph:
    """The graph of the only network of a valid text."""
    return network(text).graph()


def body(statements: str, types: str = "image(3, 8, 8) -> image(3, 8, 8)") -> str:
    """A network with this body; `x` is its input."""
    return f"network n : {types} {{ in x {statements} }}"


def formatted(text: str) -> str:
    """The formatted form of a text without syntax errors."""
    report = Report()
    result = format_source(Source("test.nas", text), report)
    assert result is not None, "\n".join(map(render, report.diagnostics))
    return result


def weights(graph: Graph) -> int:
    """The number of parameters of a graph."""
    return sum(node.op.parameters(*(graph[edge.source].shape for edge in graph.inputs(node.name))) for node in graph)


def edit_json(path: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Change a document of a run as a person would, who removes its checksum."""
    content = json.loads(path.read_text())
    content.pop("checksum", None)
    change(content)
    path.write_text(json.dumps(content))
