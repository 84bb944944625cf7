"""A fixed graph to text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from bayesnas_graph.codegen.emit.units import Compute, Item, Use
from bayesnas_graph.codegen.unparse.body import Body, Line
from bayesnas_graph.codegen.unparse.definitions import Definition, Definitions
from bayesnas_graph.codegen.unparse.facts import about_file, budget, noted, one_line, types
from bayesnas_graph.codegen.unparse.layout import Layout
from bayesnas_graph.codegen.unparse.names import is_label
from bayesnas_graph.codegen.unparse.python import PythonOps
from bayesnas_graph.codegen.unparse.structure import structured
from bayesnas_graph.codegen.unparse.tidy import tidy
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.language.syntax import format_source

MOST_NOTES = 3  # of one node in all uses of its motif


def unparse(graph: Graph, *, doc: str = "", notes: Mapping[str, str] | None = None, budgets: Sequence[str] = ()) -> str:
    """A fixed network as a file of the language, which means the same graph.

    There is a motif or cell for every kind of scope that is still whole, and its uses that differ in numbers only are
    one with parameters. `doc` is said about the file, and `budgets`, such as `params < 20K`, are required of the
    network. `notes` stand beside the lines in which the nodes of these names are written, or the uses of motifs, or the
    edges, `name#slot`, that hand a value to a node as it is. What reaches no output is left out.

    Raises ValueError if the graph is no fixed network of primitives, or a budget is none.
    """
    return _Writer(graph, notes or {}).text(doc, budgets)


class _Writer:
    def __init__(self, graph: Graph, notes: Mapping[str, str]) -> None:
        tidied = tidy(graph)
        self.graph = tidied.graph
        self.kinds = tidied.kinds
        self.notes = {name: one_line(notes[old]) for name, old in tidied.origins.items() if old in notes}
        self.edge_notes = _edge_notes(notes, tidied.origins)
        structure = structured(self.graph)
        self.item_names = structure.names  # of every unit, by its scope
        self.operations = PythonOps(node.op for node in self.graph)
        self.definitions = Definitions(structure.root, self.operations)
        self.outputs: dict[Definition, list[str]] = {}  # what the outputs of a motif are called in it
        self.inputs = [node.name for node in self.graph if isinstance(node.op, Input)]

    def text(self, doc: str, budgets: Sequence[str]) -> str:
        required = [budget(text) for text in budgets]
        *motifs, network = self.definitions
        parts = [about_file(doc), *self.operations.lines()]
        parts += [self._definition(motif, _signature(motif), []) for motif in motifs]
        parts.append(self._definition(network, f"network {network.name} : {self._types()}", required))
        report = Report()
        formatted = format_source(Source(network.name, "\n\n".join(parts)), report)
        assert formatted is not None, "what is written can be read"
        return formatted

    def _definition(self, definition: Definition, head: str, budgets: Sequence[str]) -> str:
        is_network = head.startswith("network")
        layout = self._layout(definition, self.inputs if is_network else None)
        self.outputs[definition] = [layout.names.get(name, "y") for name in definition.unit.outputs]
        body = Body(layout, partial(self.definitions.operation, definition))
        inputs = ", ".join(layout.names[name] for name in definition.unit.inputs)
        note = noted([self.notes.get(name, "") for name in self.inputs]) if is_network else ""
        lines = [f"in {inputs}{note}"]
        lines += [line.text + self._note(line, definition) for line in body.lines()]
        lines += [f"require {budget}" for budget in budgets]
        return "\n".join([f"{head} {{", *lines, "}"])

    def _layout(self, definition: Definition, inputs: Sequence[str] | None) -> Layout:
        unit = definition.unit
        paths = [self._path(unit.scope.name, name) for name in self.item_names[unit.scope.name]]
        labels = [self._labels(item) for item in unit.items]
        given = [self.outputs[self.definitions.of(item.unit)] if isinstance(item, Use) else [] for item in unit.items]
        taken = self.definitions.names | {parameter.name for parameter in definition.parameters}
        return Layout(unit, paths, labels, given, inputs, taken)

    def _path(self, scope: str, name: str) -> tuple[str, ...]:
        """The parts of a name, without motifs that have dissolved and that only say what they are."""
        parts = name.split(".")
        around = f"{scope}." if scope else ""
        while len(parts) > 1:
            kind = self.kinds.get(around + parts[0])
            if kind is None or not is_label(parts[0], [kind]):
                break
            around += f"{parts[0]}."
            del parts[0]
        return tuple(parts)

    def _labels(self, item: Item) -> set[str]:
        """What an item is called as an operation."""
        if isinstance(item, Use):
            return {self.definitions.of(item.unit).name, *(s.kind for s in (item.unit.scope, *item.unit.wrappers))}
        assert isinstance(item, Compute), "a fixed network of primitives has nothing else"
        return {item.op.label, self.operations.name(item.op)}

    def _types(self) -> str:
        takes = [self.graph[name] for name in self.inputs]
        return types(takes, [self.graph[name] for name in self.graph.outputs])

    def _note(self, line: Line, definition: Definition) -> str:
        """The comment of a line: what is noted of its nodes in all uses of the motif."""
        if not self.notes and not self.edge_notes:
            return ""
        told = [[self.notes.get(node, "") for node in self._nodes(definition, i)] for i in line.items]
        told += [
            [self.edge_notes.get((node, slot), "") for node in self._nodes(definition, i)] for i, slot in line.bare
        ]
        found: list[str] = []
        for notes in told:
            distinct = list(dict.fromkeys(note for note in notes if note))
            shown = [*distinct[:MOST_NOTES], "..."] if len(distinct) > MOST_NOTES else distinct
            found += [", ".join(shown)] if shown else []
        return noted(found)

    def _nodes(self, definition: Definition, i: int) -> list[str]:
        """What an item is called in the graph, in every use of its motif."""
        names = [(unit.scope.name, self.item_names[unit.scope.name][i]) for unit in definition.members]
        return [f"{scope}.{name}" if scope else name for scope, name in names]


def _edge_notes(notes: Mapping[str, str], origins: Mapping[str, str]) -> dict[tuple[str, int], str]:
    """The notes on edges, by the node that they lead into and their slot there."""
    own = {old: name for name, old in origins.items()}
    split = {key: key.rpartition("#") for key in notes}
    return {
        (own[node], int(slot)): one_line(notes[key])
        for key, (node, _, slot) in split.items()
        if node in own and slot.isdigit()
    }


def _signature(definition: Definition) -> str:
    role = "cell" if definition.scope.role == "cell" else "motif"
    parameters = ", ".join(parameter.declaration for parameter in definition.parameters)
    return f"{role} {definition.name}" + (f"({parameters})" if parameters else "")
