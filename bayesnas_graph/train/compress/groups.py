"""The groups of weights that are kept or removed together, as sums over axes of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torch import Tensor

from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.train.compress.patterns import Chosen, chosen_for, is_layer, shared

Entries = Callable[[str, str], Tensor]  # node and name -> a tensor of the shape of that weight

# The axes of a weight once the groups of a convolution are separated: [group, filter, channel, row, column].
_AXES = {"n": (0, 1), "c": (0, 2), "m": (3,), "k": (4,)}


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups into which a pattern divides the weights of a layer.

    A filter is removed together with what belongs to it alone: its bias, and the weight and bias of a norm after it.
    """

    layer: str  # the node
    shares: str  # the axes, of n, c, m and k, that the members of a group share
    parts: int = 1  # groups of the convolution
    companions: tuple[tuple[str, str], ...] = ()  # node and name of tensors with an entry for every filter
    filters_axis: int = 0  # of the weight

    @property
    def name(self) -> str:
        """A name that is unique in the network."""
        return f"{self.layer}/{self.shares}"

    def sums(self, entries: Entries) -> Tensor:
        """Return the sum over every group of one value per weight."""
        weight = self._apart(entries(self.layer, "weight"))
        kept_axes = {axis for letter in self.shares for axis in _AXES[letter]}
        total = weight.sum([axis for axis in range(5) if axis not in kept_axes], keepdim=True)
        for node, name in self.companions:
            total = total + self._of_filters(entries(node, name))
        return total

    def norms(self, weights: ByNode) -> Tensor:
        """Return the Euclidean norm of every group."""
        return self.sums(lambda node, name: weights[node][name].square()).sqrt()

    @property
    def tensors(self) -> tuple[tuple[str, str], ...]:
        """The tensors whose entries are in groups: node and name."""
        return ((self.layer, "weight"), *self.companions)

    def spread(self, of_groups: Tensor, like: ByNode) -> Iterator[tuple[str, str, Tensor]]:
        """Yield a value per group as a value per weight: node, name and a tensor of the shape of the weight."""
        weight = like[self.layer]["weight"]
        entries = of_groups.expand(self._apart(weight).shape).reshape(self.filters_first(weight).shape)
        yield self.layer, "weight", entries.transpose(0, self.filters_axis)
        for node, name in self.companions:
            yield node, name, of_groups.flatten()

    def filters_first(self, weight: Tensor) -> Tensor:
        """Return the weight of the layer with the axis of its filters first."""
        return weight.transpose(0, self.filters_axis)

    def _apart(self, weight: Tensor) -> Tensor:
        ordered = self.filters_first(weight)
        filters, channels, *kernel = ordered.shape
        rows_and_columns = *[1] * (2 - len(kernel)), *kernel  # one row in a sequence, one of each in a matrix
        return ordered.reshape(self.parts, filters // self.parts, channels, *rows_and_columns)

    def _of_filters(self, vector: Tensor) -> Tensor:
        return vector.reshape(self.parts, len(vector) // self.parts, 1, 1, 1)


def groups_of(graph: Graph, chosen: Chosen) -> tuple[Groups, ...]:
    """Return all groups of a network, except filters of outputs, which cannot be removed. Raises NasError."""
    last = _last_layers(graph)
    groups = []
    for name, patterns in chosen_for(graph, chosen).items():
        node = graph[name]
        for shares in shared(node, patterns):
            if shares == "n" and name in last:
                continue
            groups.append(_groups(graph, node, shares))
    return tuple(groups)


def regrouped(groups: Iterable[Groups], graph: Graph) -> tuple[Groups, ...]:
    """Return the same groups in the remaining network."""
    return tuple(_groups(graph, graph[group.layer], group.shares) for group in groups if group.layer in graph.nx)


def _groups(graph: Graph, node: Node, shares: str) -> Groups:
    companions = _companions(graph, node) if shares == "n" else ()
    return Groups(node.name, shares, _parts(graph, node), companions, node.op.weight_axes.index("n"))


def _parts(graph: Graph, node: Node) -> int:
    (edge,) = graph.inputs(node.name)
    (link,) = node.op.coupling(graph[edge.source].shape).links
    return link.blocks


def _companions(graph: Graph, node: Node) -> tuple[tuple[str, str], ...]:
    """Return the bias of a layer, and the weight and bias of a norm if nothing else reads the layer."""
    companions = [(node.name, name) for name in node.op.scale_tensors() if name != "weight"]
    readers = [edge.target for edge in graph.edges if edge.source == node.name]
    after = graph[readers[0]] if len(readers) == 1 and node.name not in graph.outputs else None
    if after is not None and after.op.normalises and after.name not in graph.shared:
        companions += [(after.name, name) for name in after.op.scale_tensors()]
    return tuple(companions)


def _last_layers(graph: Graph) -> set[str]:
    """Return the layers from which a path leads to an output without another layer that mixes channels."""
    last: set[str] = set()
    seen, waiting = set(graph.outputs), list(graph.outputs)
    while waiting:
        node = graph[waiting.pop()]
        if is_layer(node):
            last.add(node.name)
            if not node.op.by_channel:
                continue
        for edge in graph.inputs(node.name):
            if edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
    return last
