"""Graphs survive a round trip through JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Constraint, Edge, Gate, Graph, Node, Scope
from bayesnas_graph.ir.ops import PRIMITIVES, BatchNorm, Input
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Checker
from bayesnas_graph.language.json import from_document, from_json, json_schema, to_document, to_json
from tests.conftest import LONG, ROOT, SPACES
from tests.helpers import body, codes, graph, mostly_long
from tests.language.json.graphs import graphs, shipped

PAGE = ROOT / "docs" / "graph-json.md"
TEXT = body("node y = x : choose {conv(3), bn(eps = 0.001)} out concat(y, x)", "image(3, 8, 8) -> image(6, 8, 8)")
PYTHON = PythonOp("half", "no.such.module:Half", (("width", 2), ("rate", 0.5), ("on", True)))


def document(text: str = TEXT) -> Any:
    return json.loads(to_json(graph(text)))


# ---------------------------------------------------------------------------------- there and back


LARGE = ("auto_deeplab", "darts", "darts_imagenet", "hierarchical", "nasnet", "tree_cell")  # most of the time
NAMES = [path.stem for path in SPACES if path.stem != "std"]


@pytest.mark.parametrize("name", mostly_long(NAMES, *(name for name in NAMES if name not in LARGE)))
def test_shipped_spaces_survive(name: str) -> None:
    original = shipped(name)
    text = to_json(original)
    again = from_json(text, "again")
    assert again == original
    assert again.name == original.name
    assert json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n" == text


@settings(max_examples=50 * LONG)
@given(graphs())
def test_random_graphs_survive(original: Graph) -> None:
    assert from_document(to_document(original)) == original
    assert to_json(from_json(to_json(original), "x")) == to_json(from_document(to_document(original)))


def test_arguments_are_exact() -> None:
    args = next(n["op"]["args"] for n in document()["nodes"] if n["op"]["name"] == "bn")
    assert args == {"affine": True, "eps": "1/1000", "momentum": "1/10"}
    found = next(n.op for n in from_json(to_json(graph(TEXT)), "x") if isinstance(n.op, BatchNorm))
    assert found.eps == Fraction(1, 1000)
    assert type(found.eps) is Fraction


def test_places_are_told_and_not_read() -> None:
    node = next(n for n in document()["nodes"] if n["op"]["name"] == "bn")
    column = TEXT.index("bn(eps") + 1
    end = TEXT.index(", x)") - len("} out concat(y") + 1
    assert node["place"] == {"file": "test.nas", "line": 1, "column": column, "end_line": 1, "end_column": end}
    assert all(node.span is None for node in from_json(to_json(graph(TEXT)), "x"))


def test_python_operations_are_data() -> None:
    original = Graph("p", [Node("x", Input(), (4,)), Node("y", PYTHON, (7,))], [Edge("x", "y", 0)], ["y"])
    again = from_json(to_json(original), "p.json")
    assert again == original
    op = again["y"].op
    assert isinstance(op, PythonOp)
    assert [type(value) for _, value in op.values] == [int, float, bool]


def test_nodes_are_put_in_order() -> None:
    data = document()
    for parts in ("nodes", "edges", "scopes"):
        data[parts].reverse()
    again = from_json(json.dumps(data), "x")
    seen: set[str] = set()
    for node in again:
        assert {edge.source for edge in again.inputs(node.name)} <= seen
        seen.add(node.name)
    assert {node.name: node for node in again} == {node.name: node for node in graph(TEXT)}


def test_defaults_may_be_left_out() -> None:
    data = document()
    for node in data["nodes"]:
        del node["place"], node["label"], node["behind"]
        if node["op"]["name"] == "conv":
            node["op"]["args"] = {"width": 3}
    assert from_json(json.dumps(data), "x") == graph(TEXT)


@pytest.mark.parametrize("name", [name for name, cls in PRIMITIVES.items() if cls.inputs == 1])
def test_every_primitive_survives(name: str) -> None:
    given = {
        "group_norm": "(3)",
        "pad_channels": "(5)",
        "select": "(2)",
        "embedding": "(9, 2)",
        "to_image": "(8)",
        "resize": '(6, mode = "nearest")',
        "adaptive_avg_pool": "(6)",
        "adaptive_max_pool": "(6)",
        "slice_channels": "(1, 2)",
        "channel_shuffle": "(3)",
    }
    steps = f"{name}{given.get(name, '')} > flatten > linear(2)"
    types = ("image(3, 8, 8)", "sequence(3, 64)", "tokens(64)")
    taken = next(taken for taken in types if not codes(body(f"x -> out : {steps}", f"{taken} -> classes(2)")))
    original = graph(body(f"x -> out : {steps}", f"{taken} -> classes(2)"))
    assert from_json(to_json(original), name) == original


@pytest.mark.parametrize("args", ["3, [1, 5]", "3, [1, 5], [2, 1]", "3, dilation = [2, 1], padding = [3, 0]"])
def test_pairs_survive(args: str) -> None:
    original = graph(body(f"x -> out : conv({args}) > flatten > linear(2)", "image(3, 8, 8) -> classes(2)"))
    assert from_json(to_json(original), "x") == original


def test_torch_is_not_loaded() -> None:
    script = (
        "import sys\nfrom bayesnas_graph.language.json import from_json, fingerprint, compare\n"
        "g = from_json(sys.stdin.read(), 'x')\nfingerprint(g), compare(g, g)\n"
        "assert 'torch' not in sys.modules\n"
    )
    (data,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    subprocess.run([sys.executable, "-c", script], input=data, text=True, check=True)


# --------------------------------------------------------------------------------- documentation


def test_the_page_shows_what_is_written(update_golden: bool) -> None:
    page = PAGE.read_text()
    (text,) = re.findall(r"```nas\n(.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    space = Checker(Report()).text(Source("example.nas", text))
    actual = to_json(space.networks[0].graph())
    if update_golden:
        PAGE.write_text(page.replace(shown, actual))
        return
    assert shown == actual
    assert from_json(shown, "page") == space.networks[0].graph()


def test_json_schema_names_every_field() -> None:
    schema = json_schema()
    assert json.loads(json.dumps(schema)) == schema
    for field in ("schema", "version", "name", "nodes", "edges", "outputs", "scopes", "constraints"):
        assert field in schema["properties"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["version"]["const"] == 4
    parts = ("Constraint", "Edge", "Gate", "Node", "Op", "Place", "Scope", "Term")
    assert set(schema["$defs"]) == {f"{part}Document" for part in parts}
    for part, made in (("Node", Node), ("Edge", Edge), ("Gate", Gate), ("Scope", Scope), ("Constraint", Constraint)):
        fields = {field.name for field in dataclasses.fields(made)} - {"span"}
        assert set(schema["$defs"][f"{part}Document"]["properties"]) - {"place"} == fields
