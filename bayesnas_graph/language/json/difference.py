"""The differences between two graphs, node by node and switch by switch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from bayesnas_graph.ir import Edge, Graph, Node, Shape
from bayesnas_graph.language.json.fingerprint import fingerprint, is_commutative, op_identity
from bayesnas_graph.language.json.matching import Matching, match
from bayesnas_graph.language.json.settings import op_document
from bayesnas_graph.language.json.switches import SwitchChanges, compare_switches


@dataclass(frozen=True, slots=True)
class Change:
    """A node in both graphs whose operation, arguments or shape changed."""

    before: Node
    after: Node


@dataclass(frozen=True, slots=True)
class Read:
    """An input of a node."""

    name: str  # of the node it reads; if that is in both graphs, its name in the second graph
    is_switched: bool

    def __str__(self) -> str:
        return f"{self.name} (switched)" if self.is_switched else self.name


@dataclass(frozen=True, slots=True)
class Rewired:
    """A node in both graphs whose inputs or their order changed."""

    before: str
    after: str
    old: tuple[Read, ...]
    new: tuple[Read, ...]

    def as_json(self) -> dict[str, Any]:
        """The change as plain values."""
        old, new = list(map(str, self.old)), list(map(str, self.new))
        return {"before": self.before, "after": self.after, "old": old, "new": new}


@dataclass(frozen=True, slots=True)
class Reshared:
    """A node in both graphs that shares its weights with other nodes than before."""

    before: str
    after: str
    old: tuple[str, ...]  # the others; those in both graphs with their names in the second
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the network."""

    name: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class PortChange:
    """A changed input or output; None if one graph does not have it."""

    number: int
    before: Port | None
    after: Port | None


@dataclass(frozen=True)
class Difference:
    """All differences. If `same`, only names differ."""

    fingerprints: tuple[str, str]
    added: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[Change, ...] = ()
    rewired: tuple[Rewired, ...] = ()
    reshared: tuple[Reshared, ...] = ()
    inputs: tuple[PortChange, ...] = ()
    outputs: tuple[PortChange, ...] = ()
    switches: SwitchChanges = field(default_factory=SwitchChanges)
    budgets_added: tuple[str, ...] = ()
    budgets_removed: tuple[str, ...] = ()
    requirements_added: tuple[str, ...] = ()  # on edges
    requirements_removed: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the spaces are the same."""
        return self.same_graph and not self.budgets_added and not self.budgets_removed

    @property
    def same_graph(self) -> bool:
        """Whether the graphs are the same, regardless of budgets."""
        return self.fingerprints[0] == self.fingerprints[1]

    def as_json(self) -> dict[str, Any]:
        """The differences as plain values."""
        return {
            "version": 1,
            "same": self.same,
            "fingerprints": list(self.fingerprints),
            "inputs": [asdict(change) for change in self.inputs],
            "outputs": [asdict(change) for change in self.outputs],
            "nodes": {
                "added": [_node_json(node) for node in self.added],
                "removed": [_node_json(node) for node in self.removed],
                "renamed": [{"before": before, "after": after} for before, after in self.renamed],
                "changed": [
                    {"before": _node_json(change.before), "after": _node_json(change.after)} for change in self.changed
                ],
                "rewired": [rewired.as_json() for rewired in self.rewired],
                "reshared": [asdict(change) for change in self.reshared],
            },
            "switches": asdict(self.switches),
            "budgets": {"added": list(self.budgets_added), "removed": list(self.budgets_removed)},
            "requirements": {"added": list(self.requirements_added), "removed": list(self.requirements_removed)},
        }


def compare(before: Graph, after: Graph, budgets: tuple[Iterable[str], Iterable[str]] = ((), ())) -> Difference:
    """Compare two graphs and their budgets."""
    matching = match(before, after)
    required, requires = map(list, budgets)
    old_rules, new_rules = (dict.fromkeys(map(str, graph.constraints)) for graph in (before, after))
    switches = compare_switches(before, after, matching)
    pairs = [(before[old], after[new]) for old, new in matching.after.items()]
    # In the order of the second graph, like everything else.
    order = {node.name: i for i, node in enumerate(after)}
    pairs.sort(key=lambda pair: order[pair[1].name])
    return Difference(
        (fingerprint(before), fingerprint(after)),
        added=tuple(node for node in after if node.name not in matching.before),
        removed=tuple(node for node in before if node.name not in matching.after),
        renamed=tuple((old.name, new.name) for old, new in pairs if old.name != new.name),
        changed=tuple(Change(old, new) for old, new in pairs if _differs(old, new)),
        rewired=tuple(_rewired(before, after, pairs, matching, switches)),
        reshared=tuple(_reshared(before, after, pairs, matching)),
        inputs=_ports(_inputs(before), _inputs(after), matching),
        outputs=_ports(_outputs(before), _outputs(after), matching),
        switches=switches,
        budgets_added=tuple(text for text in requires if text not in required),
        budgets_removed=tuple(text for text in required if text not in requires),
        requirements_added=tuple(text for text in new_rules if text not in old_rules),
        requirements_removed=tuple(text for text in old_rules if text not in new_rules),
    )


def _differs(old: Node, new: Node) -> bool:
    return (old.shape, op_identity(old.op)) != (new.shape, op_identity(new.op))


def _inputs(graph: Graph) -> list[Port]:
    return [Port(node.name, node.shape) for node in graph if node.op.is_input]


def _outputs(graph: Graph) -> list[Port]:
    return [Port(name, graph[name].shape) for name in graph.outputs]


def _ports(old: list[Port], new: list[Port], matching: Matching) -> tuple[PortChange, ...]:
    changes = []
    for i in range(max(len(old), len(new))):
        before = old[i] if i < len(old) else None
        after = new[i] if i < len(new) else None
        if before and after and matching.after.get(before.name) == after.name and before.shape == after.shape:
            continue
        changes.append(PortChange(i, before, after))
    return tuple(changes)


def _rewired(
    before: Graph, after: Graph, pairs: list[tuple[Node, Node]], matching: Matching, switches: SwitchChanges
) -> Iterable[Rewired]:
    """Nodes whose inputs changed, except candidates, which are reported as switches."""
    gone = {switch.group for switch in switches.removed}
    new_groups = {switch.group for switch in switches.added}
    for old, new in pairs:
        reads = [_read(edge, matching.after) for edge in _kept(before.inputs(old.name), gone)]
        reads_now = [_read(edge, None) for edge in _kept(after.inputs(new.name), new_groups)]
        if is_commutative(old.op) and is_commutative(new.op):
            reads.sort(key=str)
            reads_now.sort(key=str)
        if reads != reads_now:
            yield Rewired(old.name, new.name, tuple(reads), tuple(reads_now))


def _reshared(before: Graph, after: Graph, pairs: list[tuple[Node, Node]], matching: Matching) -> Iterable[Reshared]:
    """Nodes that share their weights with other nodes than before."""
    partners, partners_now = _by_weights(before), _by_weights(after)
    for old, new in pairs:
        shared = {matching.after.get(name, name) for name in partners.get(old.weights, ()) if name != old.name}
        shared_now = {name for name in partners_now.get(new.weights, ()) if name != new.name}
        if shared != shared_now:
            yield Reshared(old.name, new.name, tuple(sorted(shared)), tuple(sorted(shared_now)))


def _by_weights(graph: Graph) -> dict[str, list[str]]:
    """The nodes that use each set of shared weights."""
    found: dict[str, list[str]] = {}
    for node in graph:
        if node.weights:
            found.setdefault(node.weights, []).append(node.name)
    return found


def _kept(edges: Iterable[Edge], groups: set[str]) -> list[Edge]:
    return [edge for edge in edges if edge.gate is None or edge.gate.group not in groups]


def _read(edge: Edge, names: dict[str, str] | None) -> Read:
    name = edge.source if names is None else names.get(edge.source, edge.source)
    return Read(name, edge.gate is not None)


def _node_json(node: Node) -> dict[str, Any]:
    return {"name": node.name, "op": op_document(node.op).model_dump(), "shape": list(node.shape)}
