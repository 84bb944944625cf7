"""Python operations: their arguments, their multiply-adds, and the text and source they become."""

from __future__ import annotations

import ast
import json

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from bayesnas_graph import api
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.codegen.unparse import unparse
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Shape
from bayesnas_graph.ir.call import python_literal
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.json import fingerprint, from_json, to_json
from bayesnas_graph.passes.analysis import cost

HERE = "tests.ir.ops.user_modules"
OP = f'op convs(width, sizes, mode = "relu", bias = false) from "{HERE}:Convs"\n'
NET = "network net : image(4, 8, 8) -> image(4, 8, 8) {{ in x x -> out : {} }}"


def text(operation: str, op: str = OP) -> api.Text:
    return api.Text(op + NET.format(operation), "net.nas")


def load(operation: str, op: str = OP) -> Network:
    return api.load(text(operation, op), allow_python=True)


def test_strings_and_arrays_are_arguments() -> None:
    graph = load('convs(4, [3, 5], mode = "tanh") > convs(4, [1])').graph()
    first, second = (node.op for node in graph if node.op.is_python)
    assert isinstance(first, PythonOp)
    assert first.values == (("width", 4), ("sizes", (3, 5)), ("mode", "tanh"), ("bias", False))
    assert hash(first) != hash(second)
    module = build(emit(graph))
    assert [type(part).__name__ for part in module.modules() if isinstance(part, nn.Tanh | nn.ReLU)] == ["Tanh", "ReLU"]
    assert module(torch.zeros(2, 4, 8, 8)).shape == (2, 4, 8, 8)


def test_documents_and_texts_keep_them() -> None:
    network = load('convs(4, [3, 5], "tanh", true) > convs(4, [], "a b, (c)") > convs(4, [1, 1])')
    graph = network.graph()
    again = from_json(to_json(graph), "graph.json", allow_python=True)
    assert again == graph
    written = api.load(text=unparse(graph), allow_python=True)
    assert fingerprint(written.graph()) == fingerprint(again) == fingerprint(graph)
    source = emit(graph, standalone=True).text
    assert 'mode="a b\\x2c \\x28c\\x29"' in source
    ast.parse(source)


def test_old_documents_are_still_read() -> None:
    document = json.loads(to_json(load("shuffle(2)", 'op shuffle(groups) from "torch.nn:ChannelShuffle"\n').graph()))
    (op,) = (node["op"] for node in document["nodes"] if node["op"]["name"] == "python")
    assert op["args"]["values"] == {"groups": 2}
    assert from_json(json.dumps(document), "graph.json", allow_python=True)


@pytest.mark.parametrize(
    ("argument", "label"),
    [("[[3]]", "an array of something else"), ("relu", "an operation"), ("0..2", "a range"), ("{ relu }", "a set")],
)
def test_other_values_are_refused(argument: str, label: str) -> None:
    with pytest.raises(NasError, match="must be a number, a boolean, a string, or an array of these") as caught:
        load(f"convs(4, {argument})")
    (problem,) = caught.value.diagnostics
    assert problem.primary is not None
    assert problem.primary.text == f"`sizes` is {label}"


@given(st.text())
@example('"""\nimport os\n')
@example("# coding: rot13")
@example("\\")
@example("\u2028")
def test_no_string_ends_a_literal(value: str) -> None:
    literal = python_literal((value, 3))
    assert ast.literal_eval(literal) == (value, 3)
    assert literal.isascii()
    assert literal.isprintable()
    assert not set(literal[1:-1].replace("\\x22", "")) & set("()[]{}'#")


def test_types_of_values_are_kept() -> None:
    """`1` and `True` are equal in Python, but not for a user's class."""
    graph = load("convs(4, [1], bias = true) > convs(4, [1], bias = false)").graph()
    assert [node.op.parameters((4, 8, 8)) for node in graph if node.op.is_python] == [20, 16]
    one, true = (PythonOp("convs", f"{HERE}:Convs", (("width", 4), ("sizes", (flag,)))) for flag in (1, True))
    assert one == true
    assert emit(load("convs(4, [true]) > convs(4, [1])").graph()).text.count("True") == 1


# ------------------------------------------------------------------------------- multiply-adds


@pytest.mark.parametrize(
    ("target", "values", "inputs", "expected"),
    [
        ("torch.nn:Conv2d", {"in_channels": 4, "out_channels": 6, "kernel_size": 3}, (4, 8, 8), 6 * 6 * 6 * 4 * 9),
        ("torch.nn:Linear", {"in_features": 8, "out_features": 5}, (8,), 40),
        (f"{HERE}:Vectors", {}, (8,), 40),
        (f"{HERE}:Convs", {"width": 4, "sizes": (3, 1)}, (4, 8, 8), 64 * 16 * 10),
        ("torch.nn:ChannelShuffle", {"groups": 2}, (4, 8, 8), 0),
    ],
)
def test_multiply_adds_are_counted(target: str, values: dict[str, int], inputs: Shape, expected: int) -> None:
    op = PythonOp("op", target, tuple(values.items()))
    assert op.counts_all_flops(inputs)
    assert op.flops(inputs) == expected


def test_they_equal_those_of_primitives() -> None:
    own, ours = load("convs(4, [3, 5]) > relu"), load("conv(4, 3) > conv(4, 5) > relu")
    assert cost(own.graph()).flops == cost(ours.graph()).flops > 0


@pytest.mark.parametrize(("use", "least"), [("Fourier(4)", 64 * 16), ("Pairs", 0)])
def test_what_cannot_be_counted_is_a_lower_bound(use: str, least: int) -> None:
    op = f'op Fourier(width) from "{HERE}:Fourier"\nop Pairs from "{HERE}:Pairs"\n'
    found = cost(load(use, op).graph())
    assert (found.flops, found.flops_at_least, found.flops_text) == (least, True, f"at least {least:,}")


def test_source_says_what_it_imports() -> None:
    source = api.export(load("convs(4, [3]) > relu")).program.text
    assert (ast.get_docstring(ast.parse(source)) or "").endswith(f"\n\nBesides torch, it imports `Convs` of `{HERE}`.")
    plain = api.export(load("conv(4)")).program.text
    assert "Besides torch" not in plain
