"""A fixed graph as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from bayesnas_graph.codegen.docs import NO_DOCS, Docs
from bayesnas_graph.codegen.units import Item, OpUse, UnitUse
from bayesnas_graph.codegen.unparse.body import BodyWriter, WrittenStatement
from bayesnas_graph.codegen.unparse.definitions import Definition, Definitions
from bayesnas_graph.codegen.unparse.facts import about_definition, about_file, budget, noted, one_line, types
from bayesnas_graph.codegen.unparse.layout import BodyLayout
from bayesnas_graph.codegen.unparse.names import is_label, unique
from bayesnas_graph.codegen.unparse.python import PythonOps
from bayesnas_graph.codegen.unparse.structure import structured
from bayesnas_graph.codegen.unparse.tidy import tidy
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph, inner_name, local_name
from bayesnas_graph.language.syntax import format_source

Place = str | tuple[str, int]  # a node, the use of a motif, or an edge: the node that it leads into, and its slot

MAX_NOTES = 3  # on one node in all uses of its motif


def unparse(
    graph: Graph,
    *,
    doc: str = "",
    docs: Docs = NO_DOCS,
    notes: Mapping[Place, str] | None = None,
    budgets: Sequence[str] = (),
) -> str:
    """A fixed network as a file of the language that elaborates to the same graph.

    There is a motif or cell for every kind of scope that is still whole. Uses that differ in numbers only share one,
    with parameters. `doc` is the documentation of the file, `docs` that of the network and its motifs, and `budgets`,
    such as `params < 20K`, become requirements.
    `notes` become comments on the lines of nodes, of uses of motifs, or of edges that pass a value to a node unchanged.
    Nodes that reach no output are omitted.

    Raises ValueError if the graph is not a fixed network of primitives, or a budget is not valid.
    """
    return _Writer(graph, notes or {}, docs).text(doc, budgets)


class _Writer:
    def __init__(self, graph: Graph, notes: Mapping[Place, str], docs: Docs) -> None:
        self.docs = docs
        tidied = tidy(graph)
        self.graph = tidied.graph
        self.scoped = tidied.scoped
        self.notes = {name: one_line(notes[old]) for name, old in tidied.origins.items() if old in notes}
        self.edge_notes = _edge_notes(notes, tidied.origins)
        tree = structured(self.graph)
        self.item_names = tree.names  # of every unit, by its scope
        self.operations = PythonOps(node.op for node in self.graph)
        self.definitions = Definitions(tree.root, self.operations)
        # Definitions that are written where `share` names them.
        self.inline = {motif: text for motif in self.definitions if (text := self.definitions.chain(motif)) is not None}
        self.outputs: dict[Definition, list[str]] = {}  # the names of the outputs of a motif inside it
        self.inputs = [node.name for node in self.graph if node.op.is_input]

    def text(self, doc: str, budgets: Sequence[str]) -> str:
        required = [budget(text) for text in budgets]
        *motifs, network = self.definitions
        parts = [about_file(doc), *self.operations.lines()]
        parts += [self._definition(motif, _signature(motif)) for motif in motifs if motif not in self.inline]
        parts.append(self._definition(network, f"network {network.name} : {self._types()}", self.inputs, required))
        report = Report()
        formatted = format_source(Source(network.name, "\n\n".join(parts)), report)
        assert formatted is not None, "our own text is valid"
        return formatted

    def _definition(
        self, definition: Definition, head: str, input_names: Sequence[str] | None = None, budgets: Sequence[str] = ()
    ) -> str:
        """The text of a definition. Only those of a network have names for their inputs, and budgets."""
        layout = self._layout(definition, input_names)
        self.outputs[definition] = [layout.names.get(name, "y") for name in definition.unit.outputs]
        shared = self._shared(definition, layout)
        body = BodyWriter(layout, lambda i: shared.get(i) or self.definitions.operation(definition, i))
        inputs = ", ".join(layout.names[name] for name in definition.unit.inputs)
        note = noted([self.notes.get(name, "") for name in input_names]) if input_names is not None else ""
        lines = [f"in {inputs}{note}"]
        lines += [f"share {name} = {self._named(definition, i)}" for name, i in _first(shared).items()]
        lines += [line.text + self._note(line, definition) for line in body.lines()]
        lines += [f"require {budget}" for budget in budgets]
        doc = self.docs.of(definition.scope) if input_names is None else self.docs.network
        return "\n".join([*about_definition(doc), f"{head} {{", *lines, "}"])

    def _shared(self, definition: Definition, layout: BodyLayout) -> dict[int, str]:
        """For every item that shares its weights, the name of the shared operation."""
        names: dict[str, str] = {}
        shared: dict[int, str] = {}
        for i, item in enumerate(definition.unit.items):
            if isinstance(item, OpUse | UnitUse) and item.weights:
                if item.weights not in names:
                    names[item.weights] = unique(item.weights, layout.used)
                    layout.used.add(names[item.weights])
                shared[i] = names[item.weights]
        return shared

    def _named(self, definition: Definition, i: int) -> str:
        """The operation of an item, which `share` names."""
        item = definition.unit.items[i]
        inline = self.inline.get(self.definitions.of(item.unit)) if isinstance(item, UnitUse) else None
        return inline or self.definitions.operation(definition, i)

    def _layout(self, definition: Definition, inputs: Sequence[str] | None) -> BodyLayout:
        unit = definition.unit
        paths = [self._path(unit.scope.name, name) for name in self.item_names[unit.scope.name]]
        labels = [self._labels(item) for item in unit.items]
        output_names = [
            self.outputs.get(self.definitions.of(item.unit), []) if isinstance(item, UnitUse) else []
            for item in unit.items
        ]
        taken = self.definitions.names - {motif.name for motif in self.inline}
        taken |= {parameter.name for parameter in definition.parameters}
        return BodyLayout(unit, paths, labels, output_names, inputs, taken)

    def _path(self, scope: str, name: str) -> tuple[str, ...]:
        """The parts of a name, without dissolved motifs that only repeat their kind."""
        full = inner_name(scope, name)
        around = self.scoped.enclosing(full) if full in self.scoped.nx else self.scoped.scopes_from(full)[1:]
        dissolved = takewhile(lambda other: other.name != scope, around)
        omitted = scope
        for inner in reversed(list(dissolved)):
            if not is_label(local_name(omitted, inner.name), [inner.kind]):
                break
            omitted = inner.name
        return tuple(local_name(omitted, full).split("."))

    def _labels(self, item: Item) -> set[str]:
        """The names of an item as an operation."""
        if isinstance(item, OpUse | UnitUse) and item.weights:
            return {item.weights}
        if isinstance(item, UnitUse):
            return {self.definitions.of(item.unit).name, *(s.kind for s in (item.unit.scope, *item.unit.wrappers))}
        assert isinstance(item, OpUse), "a fixed network of primitives has nothing else"
        return {item.op.label, self.operations.name(item.op)}

    def _types(self) -> str:
        takes = [self.graph[name] for name in self.inputs]
        return types(takes, [self.graph[name] for name in self.graph.outputs], self.graph.kinds)

    def _note(self, line: WrittenStatement, definition: Definition) -> str:
        """The comment of a line: the notes on its nodes in all uses of the motif."""
        if not self.notes and not self.edge_notes:
            return ""
        by_node = [[self.notes.get(node, "") for node in self._nodes(definition, i)] for i in line.items]
        by_node += [
            [self.edge_notes.get((node, slot), "") for node in self._nodes(definition, i)] for i, slot in line.bare
        ]
        texts: list[str] = []
        for notes in by_node:
            distinct = list(dict.fromkeys(note for note in notes if note))
            shown = [*distinct[:MAX_NOTES], "..."] if len(distinct) > MAX_NOTES else distinct
            texts += [", ".join(shown)] if shown else []
        return noted(texts)

    def _nodes(self, definition: Definition, i: int) -> list[str]:
        """The names of an item in the graph, in every use of its motif."""
        scopes = (unit.scope.name for unit in definition.members)
        return [inner_name(scope, self.item_names[scope][i]) for scope in scopes]


def _first(shared: Mapping[int, str]) -> dict[str, int]:
    """The first item of every shared operation."""
    first: dict[str, int] = {}
    for i, name in shared.items():
        first.setdefault(name, i)
    return first


def _edge_notes(notes: Mapping[Place, str], origins: Mapping[str, str]) -> dict[tuple[str, int], str]:
    """The notes on edges, with the new names of nodes."""
    new_names = {old: name for name, old in origins.items()}
    edges = {place: note for place, note in notes.items() if isinstance(place, tuple)}
    return {(new_names[node], slot): one_line(note) for (node, slot), note in edges.items() if node in new_names}


def _signature(definition: Definition) -> str:
    role = "cell" if definition.scope.role == "cell" else "motif"
    parameters = ", ".join(parameter.declaration for parameter in definition.parameters)
    return f"{role} {definition.name}" + (f"({parameters})" if parameters else "")
