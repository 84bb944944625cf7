"""The remains of every layer."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops.base import both
from bayesnas_graph.passes.analysis import operations_by_node
from bayesnas_graph.passes.shrink import Shrunk
from bayesnas_graph.runs.layers import PrunedLayer, Share
from bayesnas_graph.train.compress.groups import Groups, regrouped
from bayesnas_graph.train.compress.patterns import is_layer, named

MOST_WIDTHS = 8  # layers; larger networks are not described by their widths


def layer_reports(graph: Graph, groups: Iterable[Groups], shrunk: Shrunk) -> list[PrunedLayer]:
    """Return the remains of every layer of a network, in order."""
    smaller = shrunk.graph
    before, after = operations_by_node(graph), operations_by_node(smaller)
    by_layer: dict[str, list[Groups]] = {}
    for some in groups:
        by_layer.setdefault(some.layer, []).append(some)
    layers = []
    for node in graph:
        if not is_layer(node):
            continue
        is_left = node.name in smaller.nx
        weight = shrunk.tensors[node.name]["weight"] if is_left else None
        total_weights = _weights(graph, node.name)
        layers.append(
            PrunedLayer(
                name=node.name,
                kind=node.op.name,
                outputs=Share(smaller[node.name].shape[0] if is_left else 0, node.shape[0]),
                inputs=Share(_inputs(smaller, node.name) if is_left else 0, _inputs(graph, node.name)),
                groups={
                    named(node.op.name, some.shares): Share(_left_of(some, shrunk), _count(graph, some))
                    for some in by_layer.get(node.name, ())
                },
                zeros=1 - (0 if weight is None else int(weight.count_nonzero())) / total_weights,
                parameters=Share(_parameters(smaller, node.name) if is_left else 0, _parameters(graph, node.name)),
                operations=Share(after.get(node.name, 0), before[node.name]),
            )
        )
    return layers


def widths(graph: Graph) -> str:
    """Return the widths of layers, in the notation of papers on small networks: `465-37-90-10`.

    These are the filters of convolutions, and the inputs and outputs of linear layers. Larger networks are described by
    their number of layers.
    """
    layers = [node for node in graph if is_layer(node)]
    if len(layers) > MOST_WIDTHS:
        return f"{len(layers)} layers"
    numbers: list[int] = []
    for before, node in zip([None, *layers], layers, strict=False):
        linear_begins = node.op.name == "linear" and (before is None or before.op.name != "linear")
        numbers += [_inputs(graph, node.name)] if linear_begins else []
        numbers.append(node.shape[0])
    return "-".join(map(str, numbers))


def _left_of(groups: Groups, shrunk: Shrunk) -> int:
    """Return how many groups of a layer are left."""
    return sum(int((regroup.norms(shrunk.tensors) > 0).sum()) for regroup in regrouped([groups], shrunk.graph))


def _count(graph: Graph, groups: Groups) -> int:
    """Return how many groups a layer has."""
    node = graph[groups.layer]
    rows, columns = both(getattr(node.op, "k", 1))
    sizes = {"n": node.shape[0], "c": _inputs(graph, node.name), "m": rows, "k": columns}
    return prod(sizes[letter] for letter in groups.shares)


def _inputs(graph: Graph, name: str) -> int:
    return graph[graph.inputs(name)[0].source].shape[0]


def _parameters(graph: Graph, name: str) -> int:
    return graph[name].op.parameters(graph[graph.inputs(name)[0].source].shape)


def _weights(graph: Graph, name: str) -> int:
    """Return the weights of a layer without its bias."""
    bias = graph[name].shape[0] if getattr(graph[name].op, "bias", False) else 0
    return _parameters(graph, name) - bias
