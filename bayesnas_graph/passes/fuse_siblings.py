"""Computes equal operations on one value as one wide operation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import prod

from bayesnas_graph.ir import Edge, Graph, Node, Scope, inner_name, local_name
from bayesnas_graph.ir.ops import Part, Repeated
from bayesnas_graph.passes.fusion_site import FusionSite
from bayesnas_graph.passes.names import FreshNames, cell_of, common_gates, common_scope, scopes_below
from bayesnas_graph.passes.options import DEFAULT, Options

# Values in a batch beyond which a CPU computes siblings faster one by one: `benchmarks/fusion_sites.py` prints the
# table. On a GPU, calls are expensive and wide calls are cheap.
LARGEST_SIBLING = 2**17


def fuse_siblings(graph: Graph, options: Options = DEFAULT) -> Graph:
    """Compute equal convolutions of one value as one, and also the equal operations that follow them.

    Four candidates `conv(16) > bn` of one value become one `conv(64) > bn`; each has a quarter of the channels.
    Later convolutions have a group for each sibling. Part `i` of every tensor has the weights of sibling `i`, which the
    node names.

    Fewer, larger calls pay if the overhead of a call exceeds its work, so large siblings are not fused on a CPU.
    Where `options.sites` has an answer for these siblings, it counts instead of their size. Operations that share their
    weights stay as they are.
    """
    if options.apart:
        return graph
    largest = max(1, LARGEST_SIBLING // options.batch) if options.device == "cpu" else None
    if not options.sites:
        return _Rewriter(graph, _Families(graph, largest)).run()
    families, measured = _Families(graph, None), dict(options.sites)
    for tree in families.trees():
        fits = largest is None or prod(graph[tree[0].members[0]].shape) <= largest
        if not measured.get(families.site(tree).key, fits):
            families.drop(tree)
    return _Rewriter(graph, families).run()


def fusion_sites(graph: Graph) -> tuple[FusionSite, ...]:
    """The distinct siblings of a graph that could be fused, each with what follows them."""
    families = _Families(graph, None)
    sites = [families.site(tree) for tree in families.trees()]
    return tuple({site.key: site for site in sites}.values())


@dataclass(eq=False)
class _Family:
    """Siblings: equal operations. Member `i` reads part `i` of what the family reads."""

    members: list[str]
    parent: _Family | None  # the family whose members they read; None if all read one value
    scope: str  # that they share; empty if there is none

    @property
    def root(self) -> _Family:
        """The family at the start of the chain, which reads one value."""
        return self if self.parent is None else self.parent.root


class _Families:
    """Finds the siblings of a graph."""

    def __init__(self, graph: Graph, largest: int | None) -> None:
        self.graph = graph
        self.largest = largest
        self.of: dict[str, _Family] = {}
        self.readers: dict[str, list[Node]] = defaultdict(list)
        for node in graph:
            inputs = graph.inputs(node.name)
            if len(inputs) == 1 and inputs[0].gate is None and node.name not in graph.shared:
                self.readers[inputs[0].source].append(node)
        for node in graph:
            for reader in self.readers[node.name]:
                if reader.name not in self.of:
                    self._add_family(reader, node.name)
        self._drop_unprofitable()

    def read_apart(self, family: _Family) -> int:
        """The number of members that have a reader outside all families."""
        return sum(
            member in self.graph.outputs or any(target not in self.of for target in self.graph.nx.successors(member))
            for member in family.members
        )

    def trees(self) -> list[list[_Family]]:
        """The families of each root, which comes first; parents come before their children."""
        trees: dict[_Family, list[_Family]] = defaultdict(list)
        for family in dict.fromkeys(self.of.values()):
            trees[family.root].append(family)
        return list(trees.values())

    def drop(self, tree: list[_Family]) -> None:
        """Leave the members of these families as they are."""
        for family in tree:
            for member in family.members:
                del self.of[member]

    def site(self, tree: list[_Family]) -> FusionSite:
        """The families of one root, taken out of the graph."""
        parents = [None if family.parent is None else tree.index(family.parent) for family in tree]
        return FusionSite.of(self.graph, [family.members for family in tree], parents)

    def _drop_unprofitable(self) -> None:
        """Do not fuse siblings if their wide nodes, with the nodes needed around them, would not be fewer nodes."""
        for tree in self.trees():
            before = sum(len(family.members) for family in tree)
            repeated = not self.graph[tree[0].members[0]].op.reads_all_channels
            after = repeated + len(tree) + sum(self.read_apart(family) for family in tree)
            if after >= before:
                self.drop(tree)

    def _add_family(self, node: Node, source: str) -> None:
        parent = self.of.get(source)
        if parent is None:
            if not node.op.starts_siblings or (self.largest and prod(node.shape) > self.largest):
                return
            members = [other.name for other in self.readers[source] if self._like(node, other)]
        else:
            if not (node.op.starts_siblings or node.op.by_channel):
                return
            alike = [
                next((other.name for other in self.readers[member] if self._like(node, other)), None)
                for member in parent.members
            ]
            members = [name for name in alike if name is not None]
            if len(members) < len(alike):
                return
        if len(members) < 2:
            return
        nodes, sources = [self.graph[name] for name in members], [] if parent else [self.graph[source]]
        scope = common_scope(self.graph, nodes, sources)
        if scope is not None and (parent is None or scope == parent.scope):
            family = _Family(members, parent, scope)
            self.of.update(dict.fromkeys(members, family))

    def _like(self, node: Node, other: Node) -> bool:
        """Return whether a node that is not yet in a family can be a sibling of another. Siblings are in one cell."""
        same_op = (type(node.op), node.op, node.shape) == (type(other.op), other.op, other.shape)
        return (
            same_op and other.name not in self.of and cell_of(self.graph, node.name) == cell_of(self.graph, other.name)
        )


class _Rewriter:
    """Rewrites a graph, with a wide node for each family in place of its first member."""

    def __init__(self, graph: Graph, families: _Families) -> None:
        self.graph = graph
        self.families = families.of
        self.fresh = FreshNames(graph)
        self.wide: dict[_Family, Node] = {}
        self.repeated: dict[tuple[str, int, str], Node] = {}
        self.renamed: dict[str, str] = {}  # a member -> the part that has its value
        self.scopes: dict[tuple[Scope, ...], Scope] = {}  # the motifs of siblings -> the motif of the wide node
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []

    def run(self) -> Graph:
        children = self._children()
        read = {edge.source for edge in self.graph.edges if edge.target not in children}
        read |= set(self.graph.outputs)
        for node in self.graph:
            family = self.families.get(node.name)
            if family is None:
                self.nodes.append(node)
                edges = self.graph.inputs(node.name)
                self.edges += [replace(edge, source=self.renamed.get(edge.source, edge.source)) for edge in edges]
            elif family not in self.wide:
                self._write(family)
                self._take_apart(family, read)
        outputs = [self.renamed.get(name, name) for name in self.graph.outputs]
        scopes = [*self.graph.scopes, *self.scopes.values()]
        return Graph(self.graph.name, self.nodes, self.edges, outputs, scopes, kinds=self.graph.kinds)

    def _children(self) -> set[str]:
        """The nodes that read a whole wide node."""
        return {name for name, family in self.families.items() if family.parent is not None}

    def _write(self, family: _Family) -> None:
        first = self.graph[family.members[0]]
        (edge,) = self.graph.inputs(first.name)
        count = len(family.members)
        shares_input = family.parent is None and first.op.reads_all_channels
        source = self.wide[family.parent] if family.parent else self._source(edge, family)
        op = first.op.widened(first.shape[0] * count, 1 if shares_input else count)
        name, scope = self._name(family)
        replaces = tuple(part for member in family.members for part in self.graph[member].stands_for)
        behind = self._behind(family)
        node = Node(name, op, op.shape(source.shape), first.span, replaces, behind=behind, scope=scope)
        self.wide[family] = node
        self.nodes.append(node)
        self.edges.append(replace(edge, source=source.name, target=name))

    def _name(self, family: _Family) -> tuple[str, str]:
        """The name and scope of a wide node: in a motif of its own, if each sibling is in one of that kind."""
        below = [scopes_below(self.graph, family.scope, self.graph[member]) for member in family.members]
        inside = [[scope for scope in scopes if scope.role == "motif"] for scopes in below]
        count = f"x{len(inside)}"
        motifs = tuple(scopes[-1] for scopes in inside if scopes)
        if len(set(motifs)) < len(inside) or len({motif.kind for motif in motifs}) > 1:
            return self.fresh.name(family.scope, _common_end(family.scope, family.members), count), family.scope
        if motifs not in self.scopes:
            end = _common_end(family.scope, [motif.name for motif in motifs])
            name = self.fresh.name(family.scope, end, count)
            self.scopes[motifs] = replace(motifs[0], name=name, parent=family.scope)
        scope = self.scopes[motifs].name
        return inner_name(scope, local_name(motifs[0].name, family.members[0])), scope

    def _behind(self, family: _Family) -> tuple[str, ...]:
        return common_gates([self.graph[member] for member in family.members])

    def _source(self, edge: Edge, family: _Family) -> Node:
        """The input of a wide node: one value if siblings read all its channels, else that value repeated for each."""
        first, count = self.graph[family.members[0]], len(family.members)
        value = replace(self.graph[edge.source], name=self.renamed.get(edge.source, edge.source))
        if first.op.reads_all_channels:
            return value
        key = value.name, count, family.scope
        if key not in self.repeated:
            op = Repeated(count)
            name = self.fresh.of_value(family.scope, self.graph[edge.source], f"x{count}")
            shape, behind = op.shape(value.shape), self._behind(family)
            self.repeated[key] = Node(name, op, shape, first.span, behind=behind, scope=family.scope)
            self.nodes.append(self.repeated[key])
            self.edges.append(replace(edge, source=value.name, target=name))
        return self.repeated[key]

    def _take_apart(self, family: _Family, read: set[str]) -> None:
        """Add a node for each part that is read separately."""
        wide, count = self.wide[family], len(family.members)
        for index, member in enumerate(family.members):
            if member in read:
                node = self.graph[member]
                name = self.fresh.name(family.scope, local_name(family.scope, wide.name), str(index))
                self.renamed[member] = name
                part = Node(name, Part(index, count), node.shape, node.span, behind=wide.behind, scope=family.scope)
                self.nodes.append(part)
                self.edges.append(Edge(wide.name, name, 0, span=node.span))


def _common_end(scope: str, names: list[str]) -> str:
    """The words that the names have in common at the end."""
    parts = [local_name(scope, name).split(".") for name in names]
    words: list[str] = []
    for column in zip(*(reversed(part) for part in parts), strict=False):
        if len(set(column)) > 1:
            break
        words.insert(0, column[0])
    return "_".join(words) or "siblings"
