"""Emitted source computes the same as the graph, and passes the linters."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import Emitted, build, emit
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Edge, Graph, Node
from bayesnas_graph.ir.ops import Conv, Input, Relu
from bayesnas_graph.language.elaborate import Checker
from tests.helpers import body, graph, mostly_long
from tests.passes.cases import shipped
from tests.programs import programs

ALL = [
    ("darts", "search"),
    ("darts", "evaluation"),
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
SMALL = [entry for entry in ALL if entry[0] in ("lenet300", "lenet5", "quickstart", "densenet", "nasbench201")]
# The plain program, and what the passes make of it for a processor of each kind.
ORDERS: dict[str, tuple[tuple[passes.Pass, ...], passes.Options]] = {
    "plain": (passes.SWITCHES, passes.DEFAULT),
    "cpu": ((*passes.SWITCHES, *passes.FASTER), passes.DEFAULT),
    "cuda": ((*passes.SWITCHES, *passes.FASTER), passes.Options(device="cuda", batch=1)),
}


def copy_weights(found: Graph, reference: ReferenceNetwork, emitted: Emitted, module: nn.Module) -> None:
    """Copy the weights and gates of the reference into the emitted network, using the locations from `emit`."""
    with torch.no_grad():
        for node in found:
            weights = reference.module(node.name)
            if weights is not None:
                slots = [[emitted.modules[name] for name in names] for names in node.stands_for]
                (path,) = {slot.path for same in slots for slot in same}
                assert [{(slot.index, slot.count) for slot in same} for same in slots] == [
                    {(index, len(slots))} for index in range(len(slots))
                ]
                module.get_submodule(path).load_state_dict(weights.state_dict())
        for gate, slot in emitted.gates.items():
            values = module.get_parameter(slot.path)
            assert len(values) == slot.count
            values[slot.index] = reference.gates[gate.replace(".", "/")]


def assert_same_function(found: Graph) -> None:
    torch.manual_seed(0)
    reference = ReferenceNetwork(found).double().eval()
    with torch.no_grad():
        for gate in reference.gates.values():
            gate.uniform_(0.5, 1.5)
    emitted = emit(found)
    module = build(emitted).double().eval()
    copy_weights(found, reference, emitted, module)
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
        for order in ORDERS.values():
            assert_same_function(passes.run(found, *order))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("space", "network"), SMALL)
def test_shipped_spaces(space: str, network: str, order: str) -> None:
    assert_same_function(passes.run(shipped(space, network), *ORDERS[order]))


@pytest.mark.parametrize("order", ["plain", "cpu"])
@pytest.mark.parametrize(("space", "network"), mostly_long(ALL, *SMALL))
def test_source_is_clean_and_stable(space: str, network: str, order: str, tmp_path: Path) -> None:
    found = passes.run(shipped(space, network), *ORDERS[order])
    text = emit(found, standalone=order == "plain").text
    assert emit(found, standalone=order == "plain").text == text
    file = tmp_path / "network.py"
    file.write_text(text)
    ruff = [sys.executable, "-m", "ruff"]
    rules = ["--isolated", "--no-cache", "--select", "E,F,W,I,B,C4,UP,A,SIM,RET,PIE,RUF", "--line-length", "110"]
    subprocess.run([*ruff, "check", "--quiet", *rules, str(file)], check=True)
    subprocess.run(
        [*ruff, "format", "--diff", "--isolated", "--no-cache", "--line-length", "110", str(file)], check=True
    )


def test_types_are_right(tmp_path: Path, type_errors: Callable[..., str]) -> None:
    for space, network in [("quickstart", "digits"), ("proxyless_mobile", "search"), ("darts_v2", "darts_v2")]:
        text = emit(passes.run(shipped(space, network), *ORDERS["plain"]), standalone=True).text
        (tmp_path / f"{space}.py").write_text(text)
    assert type_errors(*tmp_path.glob("*.py")) == ""


def test_networks_of_one_name_show_their_own_lines() -> None:
    modules = [build(emit(graph(body(f"x -> out : {operation}")))) for operation in ("relu", "tanh")]
    assert ["relu" in inspect.getsource(type(module).forward) for module in modules] == [True, False]


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


HOSTILE = ["class", "lambda", "print", "None", "super", "__init__", "range", "stride", "channels", "width"]
HOSTILE += [
    "named_parameters",
    "x",
    "x2",
    "torch",
    "nn",
    "F",
    "gates",
    "gate",
    "forward",
    "train",
    "_",
    "__",
    "h_0",
    "tensor",
    "phases",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("order", ORDERS)
def test_names_cannot_harm(name: str, order: str) -> None:
    """Nodes, motifs and networks may have names from Python, torch or the emitted file."""
    text = f"""
        motif {name}_m(step = 1) {{
            in b
            node {name} = b : conv(3)
            node other = {name} : max_pool(3, step) > choose {{ relu, conv(3), conv(k = 3, dilation = 2) }}
            node again = b : max_pool(3, step)
            other, again -> out : bn
        }}
        network {name} : image(3, 8, 8) -> image(3, 4, 4) {{
            in a
            node {name} = a : {name}_m > {name}_m > {name}_m(2)
            node h[1] = {name} : conv(3)
            h[0] -> out : relu
        }}
    """
    assert_same_function(passes.run(graph(text), *ORDERS[order]))


class Doubled(nn.Module):
    """A user-defined operation."""

    def __init__(self, width: int, torch: float = 2, tests: float = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 1)
        self.factor = torch * tests

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.conv(x) * self.factor)


OURS, TORCHS = (
    'op mine(width = 3, torch = 2, tests = 1) from "HERE:Doubled"',
    'op mine(p = 0.5) from "torch.nn:Dropout"',
)


@pytest.mark.parametrize(
    ("definition", "use"),
    [(OURS, "mine"), (TORCHS, "mine"), (OURS, "m(1, 3) > m(2, 4)"), (OURS, "m(1.5, 3) > m(2.5, 4) > m(0.5, 2)")],
)
def test_python_operations(definition: str, use: str) -> None:
    """Their arguments may have the name of an imported module."""
    motif = "motif m(a, b) { in x x -> out : mine(torch = a, tests = b) > conv(3) }" if "m(" in use else ""
    chain = f"conv(3) > {use} > conv(3)" if motif else f"conv(3) > choose {{ relu, {use} }} > conv(3)"
    text = definition.replace("HERE", __name__) + motif + body(f"x -> out : {chain}")
    report = Report()
    space = Checker(report, allow_python=True).text(Source("t", text))
    assert not report.diagnostics
    assert_same_function(passes.run(space.networks[0].graph(), (*passes.SWITCHES, *passes.FASTER)))


EVIL = [
    "n:\n    pass\nraise SystemExit\nclass Q",
    "a b",
    '"""\nraise SystemExit\n"""',
    "x;raise SystemExit",
    "..",
    "ünï",
    "9",
]


@pytest.mark.parametrize("name", EVIL)
def test_graphs_from_files_may_be_called_anything(name: str) -> None:
    """Graphs read from JSON can have names that are not valid in a `.nas` file."""
    x, y = Node("x", Input(), (3, 4, 4)), Node(name, Conv(width=3), (3, 4, 4))
    edges = [Edge("x", name, 0), Edge(name, "z", 0)]
    found = Graph(name, [x, y, Node("z", Relu(), (3, 4, 4))], edges, ["z"])
    assert_same_function(found)
    source = emit(found).text
    exec(compile(source, "text", "exec"), {"__name__": "text"})  # the name is only in the docstring
    assert "raise SystemExit" not in source.split('"""')[2]
