"""What two notations have in common: cells whose nodes read one another, and a name for each operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from bayesnas_graph.diagnostics import did_you_mean
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations.problems import shown, unfitting

NONE = "none"  # what both notations call an edge without an operation


@dataclass(frozen=True, slots=True)
class Edge:
    """A choice in a cell. The inputs of the cell are counted first, then its nodes, as both notations do."""

    cell: str
    node: int
    input: int


@dataclass(frozen=True)
class Notation:
    """A notation, and how the switches are called in the spaces that it is for.

    An edge is known by its switches: `normal:h.1.q.skip` is `skip` on the edge from `q`, the second input, to
    `h[1]`, the second node of `normal`. A node that reads one value only has no name for it: `dense:h.0.identity`.
    """

    name: str
    spaces: tuple[str, ...]
    cells: tuple[str, ...]
    inputs: tuple[str, ...]  # of a cell
    nodes: int  # of a cell
    operations: Mapping[str, str]  # the name in the notation -> that of the switch

    @cached_property
    def places(self) -> dict[str, Edge]:
        """All edges, by what the names of their switches begin with; those into a node in the order of its inputs."""
        first = len(self.inputs)
        read = [*self.inputs, *(f"h_{j}" for j in range(self.nodes))]
        return {
            f"{cell}:h.{node - first}" + (f".{read[input]}" if node > 1 else ""): Edge(cell, node, input)
            for cell in self.cells
            for node in range(first, first + self.nodes)
            for input in range(node)
        }

    @cached_property
    def _place_of(self) -> dict[Edge, str]:
        return {edge: place for place, edge in self.places.items()}

    @cached_property
    def _name_of(self) -> dict[str, str]:
        return {label: name for name, label in self.operations.items()}

    def fits(self, graph: Graph) -> bool:
        """Whether a graph, or what pruning has left of it, has switches, and each is on an edge of the notation."""
        return self._fit({gate.group for gate in graph.gates})

    def switches(self, graph: Graph) -> frozenset[str]:
        """The groups of a graph that the notation is for. Raises NasError for another graph."""
        groups = frozenset(gate.group for gate in graph.gates)
        if not self._fit(groups):
            known = " or ".join(f"`{space}`" for space in self.spaces)
            help = f"take a network of {known}, with its switches shared as it is written there"
            unfitting(f"the switches of network {shown(graph.name)} are not those of {self.name}", help)
        return groups

    def _fit(self, groups: Collection[str]) -> bool:
        return bool(groups) and all(group.rpartition(".")[0] in self.places for group in groups)

    def groups(self, operations: Iterable[tuple[Edge, str]], graph: Graph) -> frozenset[str]:
        """The groups to keep for these operations, the zero switches of their choices included. Raises NasError.

        A cell that the network does not use is passed over: one of two cells has no normal cell.
        """
        present = self.switches(graph)
        used = {group.partition(":")[0] for group in present}
        kept = set()
        for edge, operation in operations:
            if operation == NONE:
                continue
            if operation not in self.operations:
                known = ", ".join(f"`{name}`" for name in (*self.operations, NONE))
                help = did_you_mean(operation, [*self.operations, NONE]) or f"there are {known}"
                unfitting(f"{self.name} has no operation {shown(operation)}", help)
            if edge.cell not in used:
                continue
            place = self._place_of[edge]
            group = f"{place}.{self.operations[operation]}"
            if group not in present:
                help = "take the whole space: this one was pruned, or does not have the candidate"
                unfitting(f"network {shown(graph.name)} has no switch {shown(group)}", help)
            kept |= {group, f"{place}.zero"} & present
        return frozenset(kept)

    def operations_of(self, kept: Collection[str], graph: Graph) -> dict[Edge, list[str]]:
        """What is kept on each edge, in the words of the notation. Raises NasError.

        A candidate whose zero switch is closed hands nothing on, so it does not count.
        """
        present, groups = self.switches(graph), frozenset(kept)
        if strange := sorted(groups - present):
            help = did_you_mean(strange[0], present) or "name switches by their groups, as in `Graph.gates`"
            unfitting(f"network {shown(graph.name)} has no switch {shown(strange[0])}", help)
        closed = present - groups
        found: dict[Edge, list[str]] = {edge: [] for edge in self.places.values()}
        for group in sorted(groups):
            place, _, label = group.rpartition(".")
            zero = f"{place}.zero"
            if group == zero or zero in closed:
                continue
            if label not in self._name_of:
                help = f"close it: an architecture of {self.name} has nothing like it"
                unfitting(f"{self.name} has no name for switch {shown(group)}", help)
            found[self.places[place]].append(self._name_of[label])
        return found
