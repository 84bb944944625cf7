"""Small networks to compress, with given and random weights."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from bayesnas_graph.codegen.supernet import ReferenceNetwork
from bayesnas_graph.ir import Edge, Graph, Node, Op, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Input
from bayesnas_graph.passes import drop_unused
from tests.helpers import body, graph

# Filters with norms, a block that may vanish, and linear layers behind an image.
SMALL = """
motif residual {
    in x
    node h
    x -> h : conv() > bn > relu > conv() > bn
    x -> h
    h -> out : relu
}

network net(width = 6) : image(1, 8, 8) -> classes(10) {
    in x
    node y = x : conv(width) > bn > relu > residual > conv(2 * width, 3, 2) > bn > relu
    y -> out : flatten > linear(16) > relu > linear(10)
}
"""

# Two convolutions and two linear layers, as in LeNet-5.
LENET = """
network lenet : image(1, 8, 8) -> classes(10) {
    in x
    node y = x : conv(6, bias = true) > max_pool(2, 2, padding = 0) > conv(8, bias = true) > max_pool(2, 2, padding = 0)
    y -> out : flatten > linear(16) > relu > linear(10)
}
"""

Weights = dict[str, dict[str, Tensor]]


def net(statements: str, types: str = "image(3, 8, 8) -> classes(5)") -> Graph:
    """A network with this body; `x` is its input."""
    return graph(body(statements, types))


def random_weights(found: Graph, seed: int = 0) -> Weights:
    """Positive weights in float64, with norms that do nothing."""
    generator = torch.Generator().manual_seed(seed)
    network = ReferenceNetwork(found).double()
    weights: Weights = {}
    for node in found:
        module = network.module(node.name)
        for name, value in ({} if module is None else module.state_dict()).items():
            if name in ("weight", "bias"):
                value = torch.rand(value.shape, generator=generator, dtype=value.dtype) + 0.1
            weights.setdefault(node.name, {})[name] = value.clone()
    return weights


# ----------------------------------------------------------------------------------- random networks

_LAYERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("conv", {"width": 4}), ("conv", {"width": 6, "k": 1, "bias": True}), ("conv", {"width": 4, "groups": 2})),
    *(("conv", {"width": 4, "k": (1, 3)}), ("conv_transpose", {"width": 6, "k": 3, "stride": 1, "bias": True})),
    *(("depthwise", {}), ("depthwise", {"multiplier": 2, "bias": True}), ("conv", {"k": 1})),
)


def networks() -> st.SearchStrategy[Graph]:
    """Layers with norms and activations, in sequence and with skips, and one or two final linear layers."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _network(Random(seed)))


def _network(random: Random) -> Graph:
    nodes, edges = [Node("x", Input(), (4, 4, 4))], list[Edge]()

    def add(name: str, sources: list[Node], **arguments: Any) -> Node:
        op: Op = PRIMITIVES[name](**arguments)
        node = Node(f"{name}_{len(nodes)}", op, op.shape(*(source.shape for source in sources)))
        nodes.append(node)
        edges.extend(Edge(source.name, node.name, slot) for slot, source in enumerate(sources))
        return node

    last = nodes[0]
    for _ in range(random.randint(1, 4)):
        before = last
        for _ in range(random.randint(1, 2)):
            kind, arguments = random.choice(_LAYERS)
            try:
                last = add(kind, [last], **arguments)
            except ShapeError:
                continue
            last = add("bn", [last]) if random.random() < 0.4 else last
            last = add("relu", [last]) if random.random() < 0.5 else last
        how = random.choice(("row", "sum", "sum", "concat"))
        if how == "sum" and before.shape == last.shape and before is not last:
            last = add("sum", [before, last])
        elif how == "concat" and before is not last and last.shape[0] < 20:
            last = add("concat", [before, last])
    last = add(random.choice(("flatten", "global_avg_pool")), [last])
    if random.random() < 0.5:
        last = add("relu", [add("linear", [last], width=6)])
    last = add("linear", [last], width=5)
    return drop_unused(Graph("net", nodes, edges, [last.name]))


@torch.no_grad()
def depends_on_its_input(found: Graph, weights: Mapping[str, Mapping[str, Tensor]]) -> bool:
    """Whether it matters what goes into a network of weights that are not negative.

    Where in a kernel a weight stands does not count: kernels that look into a corner, one after another, may push an
    image out of its frame.
    """
    network = ReferenceNetwork(found).double().eval()
    network.take({node: {name: _levelled(value) for name, value in of.items()} for node, of in weights.items()})
    shape = next(node.shape for node in found if isinstance(node.op, Input))
    one, other = network(torch.stack([torch.full(shape, value, dtype=torch.float64) for value in (0.5, 9.0)]))[0]
    return not torch.allclose(one, other, rtol=1e-12, atol=0)


def _levelled(value: Tensor) -> Tensor:
    return value.sum((2, 3), keepdim=True).expand_as(value) if value.ndim == 4 else value
