"""The common part of both notations: cells whose nodes read each other, and a name for each operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bayesnas_graph.diagnostics import did_you_mean
from bayesnas_graph.ir import Gate, Graph, switch_text
from bayesnas_graph.language.notations.problems import shown, unfitting

NONE = "none"  # an edge without an operation, in both notations
MOST_NODES = 16  # of a cell


@dataclass(frozen=True, slots=True)
class CellEdge:
    """A choice in a cell. The inputs of the cell are numbered first, then its nodes, as in both notations."""

    cell: str
    node: int
    input: int
    branch: int = 0  # if a node has several, each of which reads one input


@dataclass(frozen=True)
class Notation:
    """A notation, and the names of cells, nodes and candidates in its spaces.

    Nodes are `h[0]`, `h[1]` and so on. Each reads the inputs of the cell and the nodes before it, perhaps in branches.
    """

    name: str
    spaces: tuple[str, ...]
    cells: tuple[str, ...]
    inputs: tuple[str, ...]  # of a cell
    nodes: int  # of a cell
    operations: Mapping[str, str]  # the name in the notation -> the label of the candidate
    aliases: Mapping[str, str] = field(default_factory=dict)  # another label of a candidate -> its usual label
    # Arrays of nodes: node `h[j]` adds `left[j]` and `right[j]`. None if it reads its inputs itself.
    branches: tuple[str, ...] = ()

    def sized(self, graph: Graph, branches: tuple[str, ...] = ()) -> Notation:
        """The notation for cells like those of a graph, perhaps with these branches, or this one if none fits."""
        forms = [replace(self, nodes=n, branches=some) for some in ((), branches) for n in range(1, MOST_NODES + 1)]
        return self if self.fits(graph) else next((other for other in forms if other.fits(graph)), self)

    @cached_property
    def edges(self) -> dict[CellEdge, str]:
        """All edges, with their names in gates. Edges into a node are in the order of its inputs."""
        first = len(self.inputs)
        read = [*self.inputs, *(f"h[{j}]" for j in range(self.nodes))]
        return {
            CellEdge(cell, node, input, i): f"{branch}[{node - first}]" + (f" <- {read[input]}" if node > 1 else "")
            for cell in self.cells
            for node in range(first, first + self.nodes)
            for i, branch in enumerate(self.branches or ("h",))
            for input in range(node)
        }

    @cached_property
    def _edge_at(self) -> dict[tuple[str, str], CellEdge]:
        return {(edge.cell, place): edge for edge, place in self.edges.items()}

    @cached_property
    def _nodes(self) -> dict[str, int]:
        """The numbers of the nodes, by their names in gates."""
        return {f"h[{j}]": len(self.inputs) + j for j in range(self.nodes)}

    def _joined(self, gate: Gate) -> tuple[str, int] | None:
        """The cell and the node whose way to the output a switch is on, if it is such a switch."""
        if gate.kind != "optional" or gate.use or gate.target in self._nodes or gate.part not in self.cells:
            return None
        return (gate.part, self._nodes[gate.source]) if gate.source in self._nodes else None

    def _label(self, gate: Gate) -> str:
        return self.aliases.get(gate.label, gate.label)

    @cached_property
    def _name_of(self) -> dict[str, str]:
        return {label: name for name, label in self.operations.items()}

    def fits(self, graph: Graph) -> bool:
        """Return whether a graph, pruned or not, has switches, all on edges of the notation."""
        return bool(graph.gates) and all(map(self._is_known, graph.gates))

    def _is_known(self, gate: Gate) -> bool:
        is_shared = gate.group != gate.name  # by all uses of the cell
        return is_shared and ((gate.part, gate.place) in self._edge_at or self._joined(gate) is not None)

    def joins(self, graph: Graph) -> dict[tuple[str, int], str]:
        """The switches between nodes and the outputs of their cells, by cell and node; empty if there are none."""
        places = ((gate.group, self._joined(gate)) for gate in graph.switches.values())
        return {place: group for group, place in places if place is not None}

    def _switches(self, graph: Graph) -> dict[CellEdge, list[Gate]]:
        """The switches of a graph by edge. Raises NasError if the notation does not apply to the graph."""
        if not self.fits(graph):
            known = " or ".join(f"`{space}`" for space in self.spaces)
            help = f"use a network of {known} with the switches shared as in that space"
            unfitting(f"network {shown(graph.name)} does not have the switches of {self.name}", help)
        gates: dict[CellEdge, list[Gate]] = {edge: [] for edge in self.edges}
        for gate in graph.switches.values():
            if (gate.part, gate.place) in self._edge_at:
                gates[self._edge_at[gate.part, gate.place]].append(gate)
        return gates

    def missing(self, operations: Iterable[str], graph: Graph) -> list[str]:
        """Those of some operations that no candidate of a graph computes."""
        labels = {self._label(gate) for gate in graph.switches.values()}
        known = (name for name in dict.fromkeys(operations) if name in self.operations)
        return [name for name in known if self.operations[name] not in labels]

    def groups(self, operations: Iterable[tuple[CellEdge, str]], graph: Graph) -> frozenset[str]:
        """The groups to keep for these operations, including the zero switches of their choices. Raises NasError.

        Cells that the network does not use are skipped: a network of two cells has no normal cell.
        """
        switches = self._switches(graph)
        used = {gate.part for gate in graph.gates}
        kept: set[str] = set()
        for edge, operation in operations:
            if operation == NONE:
                continue
            if operation not in self.operations:
                known = ", ".join(f"`{name}`" for name in (*self.operations, NONE))
                help = did_you_mean(operation, [*self.operations, NONE]) or f"it has {known}"
                unfitting(f"{self.name} has no operation {shown(operation)}", help)
            if edge.cell not in used:
                continue
            label = self.operations[operation]
            candidates = {self._label(gate): gate.group for gate in switches[edge] if not gate.is_zero}
            if label not in candidates:
                help = "use the full space: this one was pruned or lacks the candidate"
                missing = switch_text(edge.cell, self.edges[edge], label)
                unfitting(f"network {shown(graph.name)} has no switch {shown(missing)}", help)
            kept |= {candidates[label], *(gate.group for gate in switches[edge] if gate.is_zero)}
        return frozenset(kept)

    def operations_of(self, kept: Collection[str], graph: Graph) -> dict[CellEdge, list[str]]:
        """The operations kept on each edge, by their names in the notation. Raises NasError.

        A candidate whose zero switch is closed passes nothing on, so it does not count.
        """
        switches = self._switches(graph)
        if unknown := sorted(set(kept) - set(graph.switches)):
            help = did_you_mean(unknown[0], graph.switches) or "name switches by their groups, as in `Graph.gates`"
            unfitting(f"network {shown(graph.name)} has no switch {shown(unknown[0])}", help)
        operations: dict[CellEdge, list[str]] = {edge: [] for edge in self.edges}
        for edge, gates in switches.items():
            if any(gate.is_zero and gate.group not in kept for gate in gates):
                continue
            for gate in sorted(gates, key=lambda gate: gate.group):
                if gate.is_zero or gate.group not in kept:
                    continue
                if self._label(gate) not in self._name_of:
                    help = f"close it: {self.name} cannot express it"
                    unfitting(f"{self.name} has no name for switch {shown(gate.text)}", help)
                operations[edge].append(self._name_of[self._label(gate)])
        return operations
