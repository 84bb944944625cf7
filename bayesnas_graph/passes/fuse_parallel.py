"""Computes equal operations of a cell that do not depend on each other as one wide operation, on a GPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import groupby
from math import gcd

from bayesnas_graph.ir import Edge, Graph, Node, Op, Scope
from bayesnas_graph.ir.ops import Concat, Part, RepeatedParts
from bayesnas_graph.passes.names import FreshNames, cell_of, common_gates
from bayesnas_graph.passes.options import DEFAULT, Options


def fuse_parallel(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Compute equal operations on any values of a cell as one, if none of them needs the result of another.

    Their inputs are concatenated, unless they are parts of one wide value already:

        a -> depthwise(3) > conv(8, 1) > bn                            concat(depthwise(3)(a), depthwise(5)(b))
        b -> depthwise(5) > conv(8, 1) > bn              becomes         -> conv(16, 1, groups = 2) > bn
        c -> max_pool(3) > bn                                          concat(_, max_pool(3)(c)) -> bn

    This saves kernels, each of which takes longer to launch on a GPU than to run on a small image; on CPUs the graph
    is not changed. What is fused leaves its motifs, but not its cell. A cell in which operations share their weights
    stays as it is: the order of their uses matters.
    """
    if options.device == "cpu" or options.apart:
        return graph
    return _Rewriter(graph).run()


@dataclass(frozen=True, slots=True)
class _Range:
    """Some channels of the value of a node."""

    node: str
    start: int
    stop: int

    def within(self, node: str, first: int) -> _Range:
        """The same channels in a wider value that has those of the node from `first` on."""
        return _Range(node, first + self.start, first + self.stop)


_View = tuple[_Range, ...]  # channels one after another


class _Rewriter:
    """Fuses one kind of operation after another. Concatenations, parts and repetitions are views until the end."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.fresh = FreshNames(graph)
        self.nodes: dict[str, Node] = {}
        self.place: dict[str, int] = {}  # the order of nodes
        self.reads: dict[str, list[_View]] = {}
        self.edges: dict[str, list[Edge]] = {}
        self.cells: dict[str, str] = {}  # the innermost cell around each node that is in one
        self.left: set[str] = set()  # scopes that something left
        self.views: dict[str, _View] = {}  # the values of nodes
        for place, node in enumerate(graph):
            inputs = graph.inputs(node.name)
            cell = cell_of(graph, node.name)
            seen = self._seen(node, cell)
            self.views[node.name] = seen or (_Range(node.name, 0, node.shape[0]),)
            if seen is None:
                self.nodes[node.name], self.place[node.name] = node, place
                self.reads[node.name] = [self.views[edge.source] for edge in inputs]
                self.edges[node.name] = list(inputs)
                if cell is not None:
                    self.cells[node.name] = cell.name
        self.outputs = [self.views[name] for name in graph.outputs]
        self.inside: dict[str, set[str]] = defaultdict(set)  # the nodes of each scope, with those of scopes in it
        for name in self.nodes:
            for scope in graph.enclosing(name):
                self.inside[scope.name].add(name)

    def _seen(self, node: Node, cell: Scope | None) -> _View | None:
        """The value of a node as a view of others, if that is what it is."""
        if cell is None or not (node.op.parts or node.op.repeats):
            return None
        (edge,) = self.graph.inputs(node.name)
        view = self.views[edge.source]
        if node.op.repeats:
            return view * node.op.repeats
        unit = self.graph[edge.source].shape[0] // node.op.parts
        return tuple(_cut(view, *(unit * end for end in node.op.part)))

    def run(self) -> Graph:
        changed = False
        for cell in dict.fromkeys(self.cells.values()):
            scopes = {scope for name in self._by_place(cell) for scope in self._below(cell, self.nodes[name].scope)}
            groups = [] if self._is_fixed(cell, scopes) else self._groups(cell)
            for members in groups:
                self._fuse(cell, members)
            if groups:  # nodes of a motif with several outputs may no longer be computed one after another
                self.left |= {scope.name for scope in scopes if scope.outputs > 1}
                changed = True
        return _Writer(self).graph() if changed else self.graph

    def _is_fixed(self, cell: str, scopes: Iterable[Scope]) -> bool:
        """Whether a cell cannot be changed: the order of its nodes matters."""
        is_shared = any(name in self.graph.shared for name in self.inside[cell])
        return is_shared or any(scope.role == "cell" and scope.outputs > 1 for scope in scopes)

    def in_order(self) -> list[str]:
        """The nodes in an order in which every value comes before its uses, close to the old order."""
        return _sorted({name: self._sources(name) for name in self.nodes}, self.place)

    # ---- finding

    def _groups(self, cell: str) -> list[list[str]]:
        """The nodes of a cell that are fused, those that others need first."""
        found = _Groups({name: self._sources(name) for name in self._by_place(cell)}, self.place)
        keys: dict[object, list[str]] = defaultdict(list)
        for name in found.sources:
            key = self._key(name) if self.cells[name] == cell else None
            if key is not None:
                keys[key].append(name)
        for alike in keys.values():
            found.join(alike)
        return found.in_order()

    def _by_place(self, cell: str) -> list[str]:
        return sorted(self.inside[cell], key=lambda name: self.place[name])

    def _sources(self, name: str) -> set[str]:
        return {part.node for view in self.reads[name] for part in view}

    def _key(self, name: str) -> object:
        """What operations that can be fused have in common; None if it cannot be fused."""
        node = self.nodes[name]
        if len(self.reads[name]) != 1 or self.edges[name][0].gate is not None:
            return None
        (view,), width, count = self.reads[name], node.shape[0], len(node.stands_for)
        one = node.op.one_of(count, width)
        if one is None or _width(view) % count or width % count:
            return None
        if one.passes_through or not one.stored_values(*self.graph.input_shapes(name)):  # it costs nothing
            return None
        size = self.nodes[view[0].node].shape[1:]
        return type(one), one, _width(view) // count, size, width // count, node.shape[1:]

    # ---- fusing

    def _fuse(self, cell: str, members: list[str]) -> None:
        members = self._by_first_read(cell, members)
        nodes = [self.nodes[name] for name in members]
        first, counts = nodes[0], [len(node.stands_for) for node in nodes]
        one, count = first.op.one_of(counts[0], first.shape[0]), sum(counts)
        assert one is not None, "it has a key"
        width = sum(node.shape[0] for node in nodes)
        replaces = tuple(part for node in nodes for part in node.stands_for)
        wide = Node(
            self.fresh.name(cell, first.op.label, f"x{count}"),
            one.widened(width, count),
            (width, *first.shape[1:]),
            first.span,
            replaces,
            behind=common_gates(nodes),
            scope=cell,
        )
        view = tuple(part for name in members for part in self.reads[name][0])
        edge = self.edges[members[0]][0]
        starts: dict[str, int] = {}
        start = 0
        for node in nodes:
            starts[node.name] = start
            start += node.shape[0]
            self.left |= {scope.name for scope in self._below(cell, node.scope)}
        place = min(self.place[name] for name in members)
        for around in self.graph.scopes_from(cell):
            self.inside[around.name] = self.inside[around.name] - starts.keys() | {wide.name}
        for name in members:
            del self.nodes[name], self.place[name], self.reads[name], self.edges[name], self.cells[name]
        self.nodes[wide.name], self.place[wide.name], self.cells[wide.name] = wide, place, cell
        self.reads[wide.name], self.edges[wide.name] = [view], [edge]

        def moved(view: _View) -> _View:
            return tuple(part.within(wide.name, starts[part.node]) if part.node in starts else part for part in view)

        for name, views in self.reads.items():
            if any(part.node in starts for view in views for part in view):
                self.reads[name] = [moved(view) for view in views]
        self.outputs = [moved(view) for view in self.outputs]

    def _by_first_read(self, cell: str, members: list[str]) -> list[str]:
        """Nodes by where they start to read: in this order, nodes that read all of a wide value read it as it is.

        Values from outside of the cell are in the order of their uses, which is the same in all equal cells.
        """
        first = {name: self.reads[name][0][0] for name in members}
        uses: dict[str, int] = {}
        for name in sorted(members, key=lambda name: self.place[name]):
            source = first[name].node
            uses.setdefault(source, self.place[source if source in self.inside[cell] else name])
        return sorted(members, key=lambda name: (uses[first[name].node], first[name].start, self.place[name]))

    def _below(self, cell: str, scope: str) -> Iterator[Scope]:
        for around in self.graph.scopes_from(scope):
            if around.name == cell:
                return
            yield around


class _Groups:
    """Nodes that will be fused, as one node each."""

    def __init__(self, sources: Mapping[str, set[str]], place: Mapping[str, int]) -> None:
        self.sources = {name: read & sources.keys() for name, read in sources.items()}
        self.place = place
        self.first = {name: name for name in sources}  # of the group of each node

    def join(self, alike: list[str]) -> None:
        """Make groups of those of some nodes that do not need each other: with as many of them on the way to them."""
        before: dict[str, int] = {}
        groups: dict[int, list[str]] = defaultdict(list)
        read, wanted = self._contracted(), set(alike)
        for name in _sorted(read, self.place):
            before[name] = max((before[source] for source in read[name]), default=0)
            if name in wanted:
                groups[before[name]].append(name)
                before[name] += 1
        for members in groups.values():
            self.first.update(dict.fromkeys(members, members[0]))

    def in_order(self) -> list[list[str]]:
        members: dict[str, list[str]] = defaultdict(list)
        for name, first in self.first.items():
            members[first].append(name)
        return [members[name] for name in _sorted(self._contracted(), self.place) if len(members[name]) > 1]

    def _contracted(self) -> dict[str, set[str]]:
        read: dict[str, set[str]] = defaultdict(set)
        for name, sources in self.sources.items():
            read[self.first[name]] |= {self.first[source] for source in sources}
        return read


class _Writer:
    """Writes what a rewriter found as a graph, with nodes for its views."""

    def __init__(self, found: _Rewriter) -> None:
        self.found = found
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.written: dict[tuple[_View, str], str] = {}
        self.units = self._units()

    def _units(self) -> dict[str, int]:
        """For each node that is read in parts, the largest number of channels that they consist of."""
        found = self.found
        units: dict[str, int] = {}
        for view in [*(view for views in found.reads.values() for view in views), *found.outputs]:
            for part in self._operands(view):
                for number in (part.start, part.stop):
                    units[part.node] = gcd(units.get(part.node, found.nodes[part.node].shape[0]), number)
        return units

    def graph(self) -> Graph:
        found = self.found
        for name in found.in_order():
            sources = [self._value(view, found.cells.get(name, "")) for view in found.reads[name]]
            self.nodes[name] = found.nodes[name]
            pairs = zip(found.edges[name], sources, strict=True)
            self.edges += [replace(edge, source=source, target=name) for edge, source in pairs]
        outputs = [self._value(view, "") for view in found.outputs]
        dissolved = {scope.name for scope in found.graph.scopes if scope.name in found.left and scope.role != "choice"}
        nodes = [self._at_home(node) for node in self.nodes.values()]
        whole = found.graph.replace(nodes, self.edges, outputs)
        return whole.keep_scopes({scope.name for scope in whole.scopes} - dissolved)

    def _at_home(self, node: Node) -> Node:
        """A node, moved out of the choices that something left; a choice itself stays, with its gates."""
        if node.op.is_gated or node.scope not in self.found.left:
            return node
        chain = self.found.graph.scopes_from(node.scope)
        return replace(node, scope=next((scope.name for scope in chain if scope.name not in self.found.left), ""))

    def _value(self, view: _View, cell: str) -> str:
        """The name of the node that has a value, for a reader in this cell. It is added if it is new."""
        operands, repeats = self._operands(view), _repeats(view)
        if len(operands) > 1 and repeats is None:
            return self._add(view, Concat(), [self._value((part,), cell) for part in operands], cell)
        if repeats is not None:
            return self._add(view, RepeatedParts(*repeats), [self._value(operands, cell)], cell)
        (part,) = operands
        width = self.found.nodes[part.node].shape[0]
        if (part.start, part.stop) == (0, width):
            return part.node
        unit = self.units[part.node]
        op = Part(part.start // unit, width // unit, (part.stop - part.start) // unit)
        return self._add((part,), op, [part.node], self.found.cells[part.node])

    @staticmethod
    def _operands(view: _View) -> _View:
        """What is concatenated or repeated to get a view."""
        repeats = _repeats(view)
        return tuple(_joined(view if repeats is None else view[:: repeats[0]]))

    def _add(self, view: _View, op: Op, sources: Sequence[str], cell: str) -> str:
        if (view, cell) not in self.written:
            read = [self.nodes[source] for source in sources]
            name = self.found.fresh.of_value(cell, read[0], op.label)
            behind = common_gates(read)
            shape = op.shape(*(node.shape for node in read))
            self.nodes[name] = Node(name, op, shape, read[0].span, behind=behind, scope=cell)
            self.edges += [Edge(source, name, slot, span=read[0].span) for slot, source in enumerate(sources)]
            self.written[view, cell] = name
        return self.written[view, cell]


def _width(view: _View) -> int:
    return sum(part.stop - part.start for part in view)


def _cut(view: _View, start: int, stop: int) -> Iterator[_Range]:
    """Some channels of a view."""
    for part in view:
        size = part.stop - part.start
        first, last = max(start, 0), min(stop, size)
        if first < last:
            yield _Range(part.node, part.start + first, part.start + last)
        start, stop = start - size, stop - size


def _joined(view: _View) -> Iterator[_Range]:
    """A view in as few ranges as possible."""
    last: _Range | None = None
    for part in view:
        if last is not None and (part.node, part.start) == (last.node, last.stop):
            last = replace(last, stop=part.stop)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


def _repeats(view: _View) -> tuple[int, int] | None:
    """How often, and how many equal parts, if a view is consecutive parts of one value, each repeated as often."""
    runs = [(part, len(list(same))) for part, same in groupby(view)]
    count, parts = runs[0][1], tuple(part for part, _ in runs)
    if count == 1 or any(number != count for _, number in runs):
        return None
    if len(list(_joined(parts))) > 1 or len({part.stop - part.start for part in parts}) > 1:
        return None
    return count, len(parts)


def _sorted(sources: Mapping[str, set[str]], place: Mapping[str, int]) -> list[str]:
    """Nodes in an order in which every value comes before its uses, and otherwise by their places."""
    waits = {name: len(read) for name, read in sources.items()}
    readers: dict[str, list[str]] = defaultdict(list)
    for name, read in sources.items():
        for source in read:
            readers[source].append(name)
    ready = [(place[name], name) for name, count in waits.items() if not count]
    heapify(ready)
    found = []
    while ready:
        _, name = heappop(ready)
        found.append(name)
        for reader in readers[name]:
            waits[reader] -= 1
            if not waits[reader]:
                heappush(ready, (place[reader], reader))
    return found
