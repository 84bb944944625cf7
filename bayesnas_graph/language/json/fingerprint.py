"""A fingerprint of a graph that does not depend on the names of its nodes.

This is colour refinement. Every node has a colour, a hash that initially covers its operation, arguments, shape and
which output it is. Colours are refined from the inputs to the outputs by what a node reads, from the outputs to the
inputs by its readers, and through groups of gates, which have colours of their own, from the edges they are on. Nodes
that share weights are refined by each other. When a round distinguishes no more nodes or groups, the fingerprint is the
hash of all colours, sorted, and of the constraints by the colours of their nodes.

Graphs have the same fingerprint if they differ only in the names of nodes, gates, groups and weights, in the order of
nodes (except inputs, which are numbered), and in the order of the inputs of a sum, mean, product or choice. The
converse holds if refinement distinguishes all nodes that differ. It can fail for spaces built of many parts that look
alike from everywhere: for example, six equal nodes, read in pairs by sums that form one ring of six or two rings of
three.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from bayesnas_graph.ir import Constraint, Graph, Op
from bayesnas_graph.language.json.settings import op_document

FORM = b"bayesnas-graph/fingerprint/1"  # the number changes when the same graph gets another fingerprint
ROUNDS = 16  # at most, to bound the time; a network needs three or four

Colour = bytes


def fingerprint(graph: Graph) -> str:
    """The fingerprint, 64 hexadecimal digits."""
    return _Colouring(graph).digest()


def is_commutative(op: Op) -> bool:
    """Return whether the order of its inputs does not matter."""
    return op.is_pointwise


def op_key(op: Op) -> str:
    """A text that is equal for operations that compute the same in the same way."""
    document = op_document(op)
    # The name of a Python operation in the file does not matter, like the names of nodes.
    args = {name: value for name, value in document.args.items() if not (op.is_python and name == "called")}
    return json.dumps([document.name, args], sort_keys=True)


def op_identity(op: Op) -> object:
    """A key that is equal where `op_key` is, but faster to compute."""
    # 2 == 2.0 in Python, but user code may distinguish them.
    return op_key(op) if op.is_python else op


class _Colouring:
    def __init__(self, graph: Graph) -> None:
        number = {node.name: i for i, node in enumerate(graph)}
        keys: dict[object, bytes] = {}
        outputs: dict[str, list[int]] = {}
        for i, name in enumerate(graph.outputs):
            outputs.setdefault(name, []).append(i)
        self.nodes: list[Colour] = []
        self.ordered: list[bool] = []
        inputs = 0
        for node in graph:
            op = op_identity(node.op)
            if op not in keys:
                keys[op] = op_key(node.op).encode()
            place = -1
            if node.op.is_input:
                place, inputs = inputs, inputs + 1
            facts = repr((node.shape, place, outputs.get(node.name))).encode()
            self.nodes.append(_hash([FORM, keys[op], facts]))
            self.ordered.append(not is_commutative(node.op))
        # An edge is (source, target, slot, group); the slot is empty if the order does not matter.
        groups: dict[str, int] = {}
        self.reads: list[list[tuple[int, bytes, int]]] = [[] for _ in number]
        self.readers: list[list[tuple[int, bytes, int]]] = [[] for _ in number]
        self.members: list[list[tuple[int, int, bytes]]] = []
        for edge in graph.edges:
            source, target = number[edge.source], number[edge.target]
            slot = str(edge.slot).encode() if self.ordered[target] else b""
            group = -1
            if edge.gate is not None:
                group = groups.setdefault(edge.gate.group, len(groups))
                if group == len(self.members):
                    self.members.append([])
                self.members[group].append((source, target, slot))
            self.reads[target].append((source, slot, group))
            self.readers[source].append((target, slot, group))
        shared: dict[str, list[int]] = {}
        for i, node in enumerate(graph):
            if node.weights:
                shared.setdefault(node.weights, []).append(i)
        self.shared = [members for members in shared.values() if len(members) > 1]
        self.number = number
        self.constraints = graph.constraints
        self.groups: list[Colour] = [b"group"] * len(groups) + [b""]  # the last is for edges without a gate

    def digest(self) -> str:
        classes = 0
        for _ in range(ROUNDS):
            self._refine()
            found = len(set(self.nodes)) + len(set(self.groups))
            if found == classes:
                break
            classes = found
        rules = sorted(map(self._constraint, self.constraints))
        return sha256(b"".join([FORM, *sorted(self.nodes), *sorted(self.groups[:-1]), *rules])).hexdigest()

    def _constraint(self, constraint: Constraint) -> Colour:
        def colour(name: str) -> Colour:
            return self.nodes[self.number[name]] if name in self.number else b""

        ends = [colour(t.edge.source) + b":" + colour(t.edge.target) + bytes([t.kept]) for t in constraint.terms]
        bounds = repr((constraint.least, constraint.most)).encode()
        return _hash([b"constraint", bounds, *sorted(ends), b"around", *sorted(map(colour, constraint.around))])

    def _refine(self) -> None:
        self._sweep(range(len(self.nodes)), self.reads)
        self._sweep(range(len(self.nodes) - 1, -1, -1), self.readers)
        nodes = self.nodes
        for i, members in enumerate(self.members):
            edges = sorted(nodes[source] + nodes[target] + slot for source, target, slot in members)
            self.groups[i] = _hash([self.groups[i], *edges])
        for same in self.shared:
            colour = _hash([b"weights", *sorted(nodes[i] for i in same)])
            for i in same:
                nodes[i] = _hash([nodes[i], colour])

    def _sweep(self, order: Iterable[int], edges: list[list[tuple[int, bytes, int]]]) -> None:
        """Refine each node by its neighbours on one side, which come before it in the order."""
        nodes, groups = self.nodes, self.groups
        for i in order:
            if edges[i]:
                around = sorted(nodes[other] + groups[group] + b":" + slot for other, slot, group in edges[i])
                nodes[i] = _hash([nodes[i], *around])


def _hash(parts: Iterable[bytes]) -> Colour:
    """A hash of a sequence of parts, including their boundaries."""
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.digest()
