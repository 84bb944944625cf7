"""Exported networks: what they compute, their size, and that they need only torch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.bayes.repair import enforce_limits, reconnect
from bayesnas_graph.codegen.emit import as_state, build, by_gate, by_node, emit, rescaled
from bayesnas_graph.codegen.export import model_of
from bayesnas_graph.derive import derive, written
from bayesnas_graph.derive import given as given_switches
from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Edge, Graph, Node, Scope
from bayesnas_graph.ir.ops import PRIMITIVES, Conv, Input
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes.analysis import cost
from tests.helpers import network
from tests.passes.cases import SIZES, small

SPACES = [*SIZES, ("proxyless_mobile", "search")]


def drawn(graph: Graph, share: float, seed: int) -> Decision:
    """A random decision that keeps the network connected and choices within their limits."""
    random = Random(seed)
    groups = sorted({gate.group for gate in graph.gates})
    decision = given_switches(graph, {group for group in groups if random.random() < share})
    scores = {group: random.random() for group in groups}
    return enforce_limits(graph, reconnect(graph, decision, scores), scores)


@pytest.mark.parametrize("precision", [torch.float64, torch.float32])
@pytest.mark.parametrize(("space", "name"), SPACES)
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_every_space(space: str, name: str, precision: torch.dtype, seed: int) -> None:
    """Searched, written as text, read back and built from source, the outputs are the same."""
    graph = small(space, name)
    derived = derive(graph, drawn(graph, 0.5, seed))
    source = emit(derived.graph)
    torch.manual_seed(seed)
    net = build(source).to(precision)
    for slot in source.gates.values():
        torch.nn.init.uniform_(net.get_parameter(slot.path), 0.5, 1.5)
    inputs = [torch.randn(2, *node.shape, dtype=precision) for node in graph if isinstance(node.op, Input)]
    state = {name: value.detach() for name, value in net.state_dict().items()}
    fixed = passes.rescale_gates(derived.graph)
    text = written(fixed.graph, "", {})
    tensors = rescaled(by_node(state, source), by_gate(state, source), fixed)
    target = emit(text.graph, standalone=True)
    exported = build(target).to(precision)
    renamed = {text.names[node]: found for node, found in tensors.items() if node in text.names}
    exported.load_state_dict(as_state(renamed, {}, target), strict=True)
    with torch.no_grad():
        expected, found = net.eval()(*inputs), exported.eval()(*inputs)
    tolerance = 1e-9 if precision == torch.float64 else 1e-3
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))
    assert sum(p.numel() for p in exported.parameters()) == cost(derived.graph).parameters


@pytest.mark.parametrize(
    ("space", "name", "weights"),
    [
        ("darts_v2", None, 3_349_342),
        ("lenet5", None, None),
        ("lenet300", None, None),
        ("resnet18_cifar", None, None),
        ("nasbench201", "all_conv3x3", 1_531_546),
        ("nasbench201", "all_skip", 73_306),
        ("densenet", "densenet_bc_100_12", None),
    ],
)
def test_fixed_networks(space: str, name: str | None, weights: int | None) -> None:
    loaded = load_network(Path(space), name).network
    model = model_of(loaded, space)
    count = sum(p.numel() for p in model.build().parameters())
    assert count == cost(loaded.graph()).parameters
    assert weights is None or count == weights
    assert model.program.text == model_of(loaded, space).program.text, "done twice, it is the same"
    assert "bayesnas" not in model.program.text


def test_a_space_is_not_a_model() -> None:
    with pytest.raises(NasError) as error:
        model_of(load_network(Path("quickstart")).network, "quickstart")
    assert [d.code for d in error.value.diagnostics] == ["NAS610"]


LENET = load_network(Path("lenet5")).network
BODY = ast.dump(ast.Module(ast.parse(model_of(LENET, "lenet5").program.text).body[1:], []))
NASTY = ['x"""\nimport os\n"""', '""";K#', "\\", 'a"', "\x00", "{0}", "'''", "\r\n\t", "x; import os", "class"]
CALLS = re.compile(r"super\(\)\.__init__|super|nn\.Conv2d|F\.relu|.*flatten|self\.\w+")


@given(name=st.text(max_size=60) | st.sampled_from(NASTY))
def test_names_of_files_stay_in_the_docstring(name: str) -> None:
    head, *body = ast.parse(model_of(LENET, name).program.text).body
    assert isinstance(head, ast.Expr)
    assert isinstance(head.value, ast.Constant)
    assert ast.dump(ast.Module(body, [])) == BODY


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(name=st.text(min_size=1, max_size=20) | st.sampled_from(NASTY))
def test_names_of_nodes_stay_names(name: str) -> None:
    """A graph from JSON can have any names for itself, its nodes and its motifs."""
    part = name.replace(".", "_")
    nodes = [
        Node("x", Input(), (1, 4, 4)),
        Node(f"{part}!.conv", Conv(2), (2, 4, 4), scope=f"{part}!"),
        Node(f"{part}!.relu", PRIMITIVES["relu"](), (2, 4, 4), scope=f"{part}!"),
        Node(f"{part}?", PRIMITIVES["flatten"](), (32,)),
    ]
    edges = [Edge(one.name, other.name, 0) for one, other in pairwise(nodes)]
    graph = Graph(name, nodes, edges, [nodes[-1].name], [Scope(f"{part}!", name, "motif")])
    for found in (graph, written(graph, name, {nodes[1].name: name}).graph):
        source = emit(found, standalone=True)
        tree = ast.parse(source.text)
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        strange = [call for call in calls - own if not CALLS.fullmatch(call)]
        assert not strange
        assert build(source)(torch.zeros(2, 1, 4, 4)).shape == (2, 32)


def test_it_runs_where_this_package_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    model_of(load_network(Path("lenet5")).network, "lenet5").write(path)
    code = (
        "import sys; sys.modules['bayesnas_graph'] = None\n"
        "import torch, model\n"
        "print(tuple(model.Lenet5()(torch.zeros(2, 1, 28, 28)).shape))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 10)\n", done.stderr


def test_a_motif_may_be_called_like_the_constant() -> None:
    text = """
    motif WIDTH(w) { in x x -> out : conv(w) > relu > conv(w) }
    network net(width = 4) : image(3, 8, 8) -> classes(10) {
        in x
        x -> out : WIDTH(width) > WIDTH(2 * width) > global_avg_pool > linear(10)
    }
    """
    model = model_of(network(text), "test")
    assert model.build()(torch.zeros(1, 3, 8, 8)).shape == (1, 10)
