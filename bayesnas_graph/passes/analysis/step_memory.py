"""The memory of a training step of a compiled graph, counted operation by operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from bayesnas_graph.ir import Graph, Node
from bayesnas_graph.passes.analysis.cost import cost

FLOAT = 4  # bytes of a weight


@dataclass(frozen=True, slots=True)
class StepMemory:
    """What a training step stores, in bytes."""

    weights: int
    saved: int  # by the forward pass for the backward pass, per sample
    # Moments of the backward pass: what is stored per sample, and the gradients of weights that are there already.
    moments: tuple[tuple[int, int], ...]

    def activations(self, batch: int) -> int:
        """What the forward pass of a batch saves for the backward pass."""
        return self.saved * batch

    def training(self, batch: int, state: int = 1, parts: int = 1) -> int:
        """The most that a step stores, with `state` numbers of an optimiser per weight.

        If a batch is computed in several parts, the gradients of weights are there from the first part on.
        """
        before = self.weights if parts > 1 else 0
        samples = -(-batch // parts)
        most = max(samples * values + max(before, gradients) for values, gradients in self.moments)
        return self.weights * (1 + state) + max(most, self.weights)


def step_memory(graph: Graph, size: int = FLOAT, *, recompute: bool = False) -> StepMemory:
    """The memory of a training step of a graph as it is compiled, if a value has `size` bytes.

    A value that several operations save counts once, and so does one of which they save different parts. With
    `recompute`, cells keep their inputs, and everything else is there only during their own backward pass.
    """
    step = _Step(graph, size, _cells(graph) if recompute else {})
    return StepMemory(FLOAT * cost(graph).parameters, sum(step.pieces.values()), _largest(step.moments()))


def _cells(graph: Graph) -> dict[str, str]:
    """The outermost cell around each node that is in one. Where there are no cells, outermost motifs count as cells.

    A motif that is the whole network does not count: it becomes the class of the network.
    """
    around = {scope.name for cell in graph.scopes if cell.role == "cell" for scope in graph.scopes_from(cell.parent)}
    inside = Counter(scope.name for node in graph for scope in graph.enclosing(node.name))
    around |= {name for name, count in inside.items() if count == sum(not node.op.is_input for node in graph)}
    found: dict[str, str] = {}
    for node in graph:
        for scope in reversed(graph.enclosing(node.name)):
            if scope.role == "cell" or (scope.role == "motif" and scope.name not in around):
                found[node.name] = scope.name
                break
    return found


def _largest(moments: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The moments that may be the worst, depending on the number of samples."""
    found: list[tuple[int, int]] = []
    for moment in sorted(set(moments), reverse=True):
        if not found or moment[1] > found[-1][1]:
            found.append(moment)
    return tuple(found)


class _Step:
    """The pieces of memory that a forward pass saves, and the nodes that need them."""

    def __init__(self, graph: Graph, size: int, cells: Mapping[str, str]) -> None:
        self.graph, self.size, self.cells = graph, size, cells
        self.readers = Counter(edge.source for edge in graph.edges)
        self.readers.update(graph.outputs)
        self.trained: set[str] = set()  # the nodes that have a gradient
        self.home: dict[str, str] = {}  # a node -> the node whose memory its value is in
        self.pieces: dict[str, int] = {}  # a piece of memory -> its bytes per sample
        self.needed: dict[str, tuple[str, ...]] = {}  # a node -> the pieces its backward pass needs
        for node in graph:
            self._add(node)
        self.inner: dict[str, dict[str, int]] = {cell: {} for cell in cells.values()}  # what is computed again
        self._move_into_cells()
        for name in graph.outputs:  # the loss saves logarithms
            self.pieces[f"{name} loss"] = self._bytes(name)

    def _move_into_cells(self) -> None:
        """Keep the inputs of a cell until its backward pass is done, and its own pieces only within it."""
        reads: dict[str, dict[str, int]] = {cell: {} for cell in self.inner}
        first: dict[str, str] = {}
        for node in self.graph:
            cell = self.cells.get(node.name)
            if cell is not None and node.name in self.trained:
                first.setdefault(cell, node.name)
                outside = [e.source for e in self.graph.inputs(node.name) if self.cells.get(e.source) != cell]
                reads[cell] |= {self.home[source]: self._bytes(self.home[source]) for source in outside}
        sizes, self.pieces = self.pieces, {name: size for name, size in self.pieces.items() if self._is_batch(name)}
        for name, pieces in self.needed.items():
            cell = self.cells.get(name)
            own = {} if cell is None else {f"{piece} in {cell}": piece for piece in pieces if piece not in reads[cell]}
            if cell is not None:
                self.inner[cell] |= {inner: sizes[piece] for inner, piece in own.items()}
            others = [piece for piece in pieces if piece not in own.values()]
            self.pieces |= {piece: sizes[piece] for piece in others}
            self.needed[name] = (*others, *own)
        for cell, name in first.items():  # whose backward pass is the last one
            self.pieces |= reads[cell]
            self.needed[name] = tuple({*self.needed.get(name, ()), *reads[cell]})

    def _add(self, node: Node) -> None:
        name, edges, shapes = node.name, self.graph.inputs(node.name), self.graph.input_shapes(node.name)
        self.home[name] = self.home[edges[0].source] if self._is_view(node) else name
        if node.op.is_input:
            self.pieces[name] = self._bytes(name)  # a batch is there all the time
            return
        is_gated = any(edge.gate is not None for edge in edges)
        if is_gated or node.op.parameters(*shapes) or any(edge.source in self.trained for edge in edges):
            self.trained.add(name)
        if name not in self.trained or self._is_view(node):
            return
        found: dict[str, int] = {}
        if is_gated or node.op.saves_inputs:
            found |= {self.home[edge.source]: self._bytes(self.home[edge.source]) for edge in edges}
        if node.op.saves_output and not is_gated:
            found[name] = self._bytes(name)
        if more := 0 if is_gated else node.op.saved_bytes(self.size, *shapes):
            found[f"{name} more"] = more
        self.pieces |= found
        self.needed[name] = tuple(found)

    def _is_view(self, node: Node) -> bool:
        """Whether a node has no memory of its own. A zero gate becomes part of the sum that only it reads."""
        edges = self.graph.inputs(node.name)
        if any(edge.gate is not None for edge in edges):
            before = edges[0].source
            return node.op.is_zero_switch and self.graph[before].op.is_choice and self.readers[before] == 1
        return not node.op.is_input and node.op.is_view(*self.graph.input_shapes(node.name))

    def _bytes(self, name: str) -> int:
        return self.size * prod(self.graph[name].shape)

    def moments(self) -> list[tuple[int, int]]:
        """What the backward pass stores from node to node: bytes per sample, and gradients of weights."""
        live, learnt, done, entered = sum(self.pieces.values()), 0, set[str](), set[str]()
        sizes = self.pieces | {piece: size for inner in self.inner.values() for piece, size in inner.items()}
        uses = Counter(piece for pieces in self.needed.values() for piece in pieces)
        gradients = {name: _Gradient(self._bytes(name), 1) for name in self.graph.outputs if name in self.trained}
        live += sum(gradient.size for gradient in gradients.values())
        found = [(live, 0)]
        for node in reversed(list(self.graph)):
            gradient = gradients.pop(node.name, None)
            if gradient is None:
                continue
            cell = self.cells.get(node.name)
            if cell is not None and cell not in entered:
                entered.add(cell)
                live += sum(self.inner[cell].values())
            most = live
            for edge in self.graph.inputs(node.name):
                if edge.source not in self.trained:
                    continue
                handed = gradient if self._hands_on(node) else _Gradient(self._bytes(edge.source))
                known = gradients.get(edge.source)
                if known is not None and handed is not known:  # added up
                    handed = _Gradient(self._bytes(edge.source))
                    most = max(most, live + handed.size)
                    live -= known.release()
                gradients[edge.source] = handed
                live += handed.hold()
            if (node.weights or node.name) not in done:
                learnt += FLOAT * node.op.parameters(*self.graph.input_shapes(node.name))
                done.add(node.weights or node.name)
            found.append((max(most, live), learnt))
            live -= gradient.release()
            for piece in self.needed.get(node.name, ()):
                uses[piece] -= 1
                live -= 0 if uses[piece] or self._is_batch(piece) else sizes[piece]
        return found

    def _hands_on(self, node: Node) -> bool:
        """Whether the gradient of an input is the gradient of the node, or a part of it."""
        if any(edge.gate is not None for edge in self.graph.inputs(node.name)):
            return self._is_view(node)
        same = self._is_view(node) and prod(self.graph.input_shapes(node.name)[0]) == prod(node.shape)
        return same or node.op.adds or node.op.concatenates

    def _is_batch(self, piece: str) -> bool:
        return piece in self.home and self.graph[piece].op.is_input


@dataclass(slots=True)
class _Gradient:
    """A gradient that one or several nodes have."""

    size: int
    holders: int = 0

    def hold(self) -> int:
        """Count another holder; return the bytes that this adds."""
        self.holders += 1
        return self.size if self.holders == 1 else 0

    def release(self) -> int:
        """Count a holder less; return the bytes that this frees."""
        self.holders -= 1
        return self.size if self.holders <= 0 else 0
