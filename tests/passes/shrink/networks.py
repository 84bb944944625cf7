"""Networks with zero weights, and checks of the shrunk networks."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.codegen.emit import as_state, build, emit
from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Edge, Graph, Node, Op, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Input
from bayesnas_graph.language.json import fingerprint
from bayesnas_graph.passes import drop_unused, verify
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.passes.shrink import Shrunk, shrink

Tensors = Mapping[str, Mapping[str, Tensor]]

OPS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *(("conv", {"width": 4}), ("conv", {"width": 6, "k": 1, "bias": True}), ("conv", {"width": 4, "groups": 2})),
    *(("conv", {"width": 8, "groups": 4, "k": 1, "bias": True}), ("conv", {})),
    *(("depthwise", {}), ("depthwise", {"multiplier": 2, "bias": True}), ("linear", {"width": 6}), ("linear", {})),
    *(("bn", {}), ("bn", {"affine": False}), ("layer_norm", {}), ("group_norm", {"groups": 2})),
    *(("leaky_relu", {}), ("elu", {}), ("hard_sigmoid", {}), ("hard_swish", {}), ("mish", {}), ("softmax", {})),
    *(("conv_transpose", {"width": 4, "k": 3, "stride": 1}), ("conv_transpose", {"k": 1, "stride": 1, "bias": True})),
    *(("conv", {"width": 4, "k": (1, 3)}), ("depthwise", {"k": (3, 1)}), ("max_pool", {"k": (1, 3)})),
    *(("slice_channels", {"start": 1, "width": 3}), ("slice_channels", {"start": 0, "width": 4})),
    *(("channel_shuffle", {}), ("channel_shuffle", {"groups": 3}), ("difference", {}), ("difference", {})),
    *(("upsample", {}), ("resize", {"height": 3}), ("adaptive_avg_pool", {"height": 2}), ("resize", {"height": 2})),
    *(("relu", {}), ("sigmoid", {}), ("tanh", {}), ("dropout", {}), ("rescale", {}), ("identity", {})),
    *(("select", {"width": 3}), ("select", {"width": 4}), ("pad_channels", {"width": 6})),
    *(("max_pool", {}), ("avg_pool", {}), ("flatten", {}), ("global_avg_pool", {}), ("global_max_pool", {})),
    *(("sum", {}), ("sum", {}), ("sum", {}), ("mean", {}), ("product", {}), ("concat", {}), ("concat", {})),
    *(("scale", {}), ("scale", {})),
    *(("conv1d", {"width": 4}), ("conv1d", {"width": 8, "groups": 2, "k": 1, "bias": True}), ("depthwise1d", {})),
    *(("attention", {"heads": 2}), ("attention", {"head_width": 2}), ("attention", {}), ("layer_scale", {})),
    *(("to_sequence", {}), ("to_image", {"height": 3}), ("at", {}), ("stack_vectors", {}), ("class_token", {})),
    *(("position_embedding", {}), ("shift", {}), ("max_pool1d", {}), ("avg_pool1d", {})),
)
INPUTS = (("x", (4, 3, 3)), ("z", (4,)), ("s", (4, 9)))


def grown() -> st.SearchStrategy[Graph]:
    """Random graphs of all kinds of operations, with several inputs and outputs."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _grown(Random(seed)))


def _grown(random: Random) -> Graph:
    nodes = [Node(name, Input(), shape) for name, shape in random.sample(INPUTS, random.randint(1, 3))]
    edges: list[Edge] = []
    for i in range(random.randint(1, 40)):
        name, arguments = random.choice(OPS)
        op: Op = PRIMITIVES[name](**arguments)
        near = nodes[-6:] if random.random() < 0.7 else nodes
        sources = [random.choice(near) for _ in range(op.inputs or random.randint(1, 3))]
        try:
            shape = op.shape(*(source.shape for source in sources))
        except ShapeError:
            continue
        if shape[0] <= 40:
            edges += [Edge(source.name, f"{name}_{i}", slot) for slot, source in enumerate(sources)]
            nodes.append(Node(f"{name}_{i}", op, shape))
    outputs = [node.name for node in random.choices(nodes[-5:], k=random.randint(1, 2))]
    return drop_unused(Graph("grown", nodes, edges, outputs))


def whole(graph: Graph, seed: int = 0) -> dict[str, dict[str, Tensor]]:
    """Tensors for a graph, in float64, with distinct values. Nodes that share their weights have the same ones."""
    torch.manual_seed(seed)
    found: dict[str, dict[str, Tensor]] = {}
    shared: dict[str, str] = {}  # weights -> the first node that has them
    net = ReferenceNetwork(graph).double()
    for node in graph:
        module = net.module(node.name)
        state = {} if module is None else module.state_dict()
        first = shared.setdefault(node.weights, node.name) if node.weights else node.name
        if state and first != node.name:
            found[node.name] = found[first]
        elif state:
            found[node.name] = {name: value.clone() for name, value in state.items()}
            for name, value in found[node.name].items():
                if value.is_floating_point():
                    value.uniform_(0.5, 2) if name in ("running_var", "factor") else value.normal_()
                elif name == "channels":
                    channels = graph[graph.inputs(node.name)[0].source].shape[0]
                    value.copy_(torch.randperm(channels)[: len(value)].sort().values)
    return found


def zeroed(graph: Graph, seed: int) -> dict[str, dict[str, Tensor]]:
    """The same with zeros: single entries, filters with their followers, inputs, and layers."""
    found = whole(graph, seed)
    random = Random(seed)
    share = random.choice((0.1, 0.3, 0.6, 0.9))
    for tensors in found.values():
        width = next(iter(tensors.values())).shape[:1]
        gone = torch.rand(width) < share
        kind = random.choice(("nothing", "filters", "filters", "filters", "inputs", "entries", "constants", "layer"))
        for name, value in tensors.items():
            if not value.is_floating_point() or name == "running_var":
                continue
            if kind == "layer":
                value.zero_()
            elif value.ndim and (kind == "filters" or (kind == "constants" and name == "weight")):
                value[gone] = 0
            elif kind == "inputs" and value.ndim > 1:
                value[:, torch.rand(value.shape[1]) < share] = 0
            elif kind == "entries":
                value[torch.rand(value.shape) < share] = 0
    return found


def dead(tensors: dict[str, dict[str, Tensor]], *nodes: str, channels: slice | list[int] = slice(None)) -> None:
    """Set the weights of output channels to zero, in convolutions with the norms after them."""
    for node in nodes:
        for name in tensors[node].keys() & {"weight", "bias", "running_mean"}:
            tensors[node][name][channels] = 0


@torch.no_grad()
def outputs(graph: Graph, tensors: Tensors, seed: int = 0) -> tuple[Tensor, ...]:
    """The outputs of a network, run without any compilation."""
    net = ReferenceNetwork(graph).double().eval()
    for node in graph:
        module = net.module(node.name)
        if module is not None:
            module.load_state_dict(dict(tensors.get(node.name, {})))
    generator = torch.Generator().manual_seed(seed)
    shapes = [node.shape for node in graph if isinstance(node.op, Input)]
    found: tuple[Tensor, ...] = net(*(torch.randn(3, *s, generator=generator, dtype=torch.float64) for s in shapes))
    return found


def assert_shrunk(graph: Graph, tensors: Tensors) -> Shrunk:
    """Shrink a network and check all general properties."""
    found = shrink(graph, tensors)
    verify(found.graph)
    before = outputs(graph, tensors)
    for one, other in zip(before, outputs(found.graph, found.tensors), strict=True):
        torch.testing.assert_close(other, one, rtol=1e-9, atol=1e-9 * max(1.0, float(one.abs().max())))
    assert cost(found.graph).parameters <= cost(graph).parameters
    assert cost(found.graph).flops <= cost(graph).flops
    assert set(found.kept) == {node.name for node in graph}
    for node in graph:
        assert len(found.kept[node.name]) == node.shape[0]
        left = found.graph[node.name].shape[0] if node.name in found.graph.nx else 0
        assert sum(found.kept[node.name]) == left
    _assert_fits(found)
    again = shrink(found.graph, found.tensors)
    assert again.graph == found.graph
    assert fingerprint(again.graph) == fingerprint(found.graph)
    assert all(torch.equal(t, again.tensors[n][k]) for n, of in found.tensors.items() for k, t in of.items())
    return found


def _assert_fits(found: Shrunk) -> None:
    """The tensors match the program of the graph."""
    program = emit(found.graph, standalone=True)
    assert "bayesnas" not in program.text
    net = build(program).double()
    net.load_state_dict(as_state(found.tensors, {}, program))
    assert sum(p.numel() for p in net.parameters()) == cost(found.graph).parameters
