"""Emitted source computes what the graph does, and reads like source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.elaborate import Checker
from bayesnas_graph.emit import Emitted, build, emit
from bayesnas_graph.ir import Graph
from bayesnas_graph.ops import Input
from bayesnas_graph.source import Source
from bayesnas_graph.supernet import ReferenceNetwork
from tests.helpers import body, graph
from tests.passes.test_passes import shipped
from tests.programs import programs

ALL = [
    ("darts", "search"),
    ("darts_v2", "darts_v2"),
    ("densenet", "search"),
    ("hierarchical", "search"),
    ("lenet300", "lenet300"),
    ("lenet5", "lenet5"),
    ("nasbench201", "search"),
    ("proxyless_mobile", "search"),
    ("quickstart", "digits"),
    ("resnet18_cifar", "resnet18"),
    ("tree_cell", "search"),
]
SMALL = [entry for entry in ALL if entry[0] in ("lenet300", "lenet5", "quickstart", "densenet")]


def copy_weights(reference: ReferenceNetwork, emitted: Emitted, module: nn.Module) -> None:
    """Give the emitted network the weights and gates of the reference, by the names that `emit` tells."""
    with torch.no_grad():
        for node, path in emitted.modules.items():
            module.get_submodule(path).load_state_dict(reference.weights[node.replace(".", "/")].state_dict())
        for gate, (path, position) in emitted.gates.items():
            module.get_parameter(path)[position] = reference.gates[gate.replace(".", "/")]


def assert_same_function(found: Graph) -> None:
    torch.manual_seed(0)
    reference = ReferenceNetwork(found).double().eval()
    with torch.no_grad():
        for gate in reference.gates.values():
            gate.uniform_(0.5, 1.5)
    emitted = emit(found)
    module = build(emitted).double().eval()
    copy_weights(reference, emitted, module)
    assert sum(p.numel() for p in module.parameters()) == sum(p.numel() for p in reference.parameters())
    shapes = [node.shape for node in found if isinstance(node.op, Input)]
    inputs = [torch.randn(2, *shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    expected = reference(*inputs)
    outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    torch.testing.assert_close(outputs, expected)
    gradients = [
        torch.autograd.grad(sum(y.square().sum() for y in ys), inputs, allow_unused=True, materialize_grads=True)
        for ys in (expected, outputs)
    ]
    torch.testing.assert_close(gradients[0], gradients[1])


@settings(max_examples=25)
@given(programs(fault=0))
def test_random_graphs(text: str) -> None:
    for network in Checker(Report()).text(Source("t", text)).networks:
        found = network.graph()
        assert_same_function(found)
        assert_same_function(passes.run(found, passes.passes()))


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize(("space", "network"), SMALL)
def test_shipped_spaces(space: str, network: str, merge: bool) -> None:
    assert_same_function(passes.run(shipped(space, network), passes.passes(fuse=merge)))


@pytest.mark.parametrize(("space", "network"), ALL)
def test_source_is_clean_and_stable(space: str, network: str, tmp_path: Path) -> None:
    found = passes.run(shipped(space, network), passes.passes())
    text = emit(found).text
    assert emit(found).text == text
    (tmp_path / "network.py").write_text(text)
    rules = ["--isolated", "--no-cache", "--select", "E,F,W,I,B,UP,A", "--line-length", "120"]
    subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", *rules, str(tmp_path / "network.py")], check=True)


def test_one_class_for_units_that_differ_in_numbers() -> None:
    text = "motif m(w) { in x x -> out : conv(w) > bn > relu }" + body("x -> out : m(4) > m(8) > m(3)")
    source = emit(graph(text)).text
    assert source.count("class M(") == 1
    assert "class M2(" not in source
    assert "self.m = M(3, 4)" in source
    assert "self.m_2 = M(4, 8)" in source


def test_several_inputs_and_outputs() -> None:
    text = """
        motif split { in x node a = x : conv(3) > relu node b = x : conv(3) > tanh out a, b }
        motif cross { in a, b node c = sum(a, b) node d = product(a, b) out c, d }
        network n : image(3, 8, 8), image(3, 8, 8) -> image(3, 8, 8), image(3, 8, 8) {
            in x, y
            node p, q = split(x)
            node r, s = cross(p, y)
            out sum(r, q), s
        }
    """
    assert_same_function(graph(text))


HOSTILE = [
    "class",
    "lambda",
    "x2",
    "torch",
    "nn",
    "F",
    "gates",
    "forward",
    "train",
    "print",
    "None",
    "super",
    "__init__",
]


@pytest.mark.parametrize(
    "name", [*HOSTILE, "x2", "torch", "nn", "F", "gates", "forward", "train", "_", "__", "h_0", "tensor"]
)
def test_names_cannot_harm(name: str) -> None:
    """Names of Python, of torch and of the file itself, for nodes, motifs and networks."""
    text = f"""
        motif {name}_m {{ in x node {name} = x : conv(3) > choose {{ relu, conv(3) }} {name} -> out : bn }}
        network {name} : image(3, 8, 8) -> image(3, 8, 8) {{
            in a
            node {name} = a : {name}_m
            node h[1] = {name} : conv(3)
            h[0] -> out : relu
        }}
    """
    assert_same_function(graph(text))


class Doubled(nn.Module):
    """What a user might write."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.conv(x) * 2)


OURS, TORCHS = 'op mine(width = 3) from "HERE:Doubled"', 'op mine(p = 0.5) from "torch.nn:Dropout"'


@pytest.mark.parametrize("definition", [OURS, TORCHS])
def test_python_operations(definition: str) -> None:
    text = definition.replace("HERE", __name__) + body("x -> out : conv(3) > choose { relu, mine } > conv(3)")
    report = Report()
    space = Checker(report, allow_python=True).text(Source("t", text))
    assert not report.diagnostics
    assert_same_function(passes.run(space.networks[0].graph(), passes.passes()))


def test_torch_compile_sees_one_graph() -> None:
    found = passes.run(shipped("quickstart", "digits"), passes.passes())
    module = build(emit(found)).eval()
    x = torch.randn(2, 1, 8, 8)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))
