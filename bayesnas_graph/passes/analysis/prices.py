"""Prices of architectures of a space, computed without building their graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from typing import Literal, NamedTuple

from bayesnas_graph.ir import Graph, ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.walks import reached
from bayesnas_graph.passes.analysis.limits import limits
from bayesnas_graph.passes.analysis.obey import obey
from bayesnas_graph.passes.analysis.rules import Rules
from bayesnas_graph.passes.widths import chosen_widths, remaining

Measure = Literal["parameters", "flops", "stored_values"]


class NodeInput(NamedTuple):
    """A node that another reads, and the switch between them if there is one."""

    node: int
    group: str | None


class Prices:
    """The graph of a space, indexed for computing prices. Nodes are numbered in order.

    A zero switch counts as always on: closing it is the same as closing all candidates of its choice.
    """

    def __init__(self, graph: Graph, measure: Measure) -> None:
        self.number = number = {node.name: i for i, node in enumerate(graph)}
        self.measure: Measure = measure
        self.ops = [node.op for node in graph]
        self.shapes = [node.shape for node in graph]
        self.outputs = [number[name] for name in graph.outputs]
        self.inputs: list[list[NodeInput]] = []
        for node in graph:
            always_on = node.op.is_zero_switch
            edges = graph.inputs(node.name)
            sources = [NodeInput(number[e.source], e.gate.group if e.gate and not always_on else None) for e in edges]
            self.inputs.append(sources)
        self.limits = tuple(limits(graph))
        self.rules = Rules(graph)
        self.constrained = _constrained(graph)
        self.tolerates_missing_inputs = [op.tolerates_missing_inputs for op in self.ops]
        self._fixed = [[s.node for s in sources if s.group is None] for sources in self.inputs]
        self._switched: dict[str, list[tuple[int, int]]] = defaultdict(list)  # targets and sources
        for target, sources in enumerate(self.inputs):
            for source, group in sources:
                if group is not None:
                    self._switched[group].append((target, source))
        self.groups = tuple(self._switched)
        self.hidden = {  # by switch, the channels that its candidate sets to zero, in all uses
            group: sum(len(self.ops[source].zeroed(self.shapes[source][0])) for _, source in edges)
            for group, edges in self._switched.items()
        }
        self._zeros = dict.fromkeys(graph.switches.keys() - self._switched.keys(), 0.0)
        # Nodes that share weights; their parameters are counted once.
        self.shared = {number[name]: graph[name].weights for name in graph.shared}
        alike = {op: i for i, op in enumerate(self.ops)}
        self._kind = [alike[op] for op in self.ops]  # a number is faster to look up than an operation
        self._known: dict[tuple[int, tuple[Shape, ...], int | None], tuple[Shape, int]] = {}
        self._computed: dict[tuple[int, tuple[Shape, ...], int | None], Op] = {}  # the operation that is then computed
        self.single = [self.compute(i, tuple(self.shapes[s.node] for s in self.inputs[i]))[1] for i in number.values()]
        self.chosen = {number[name]: runs for name, runs in chosen_widths(graph).items()}
        self.visited = 0  # nodes and limits visited so far: a measure of time that does not depend on the machine

    def compute(self, i: int, inputs: tuple[Shape, ...], width: int | None = None) -> tuple[Shape, int]:
        """The shape and the price of a node that reads these shapes, with at most this many channels."""
        op, key = self.ops[i], (self._kind[i], inputs, width)
        if op.is_input:
            return self.shapes[i], 0
        if op.is_mask:
            return inputs[0], 0
        if key not in self._known:
            shape = op.shape(*inputs)
            if width is not None and width < shape[0]:
                op = op.narrowed(((True,),) * len(inputs), tuple(channel < width for channel in range(shape[0])))
            self._known[key] = op.shape(*inputs), getattr(op, self.measure)(*inputs)
            self._computed[key] = op
        return self._known[key]

    def of(self, on: Set[str]) -> int | None:
        """The price of the architecture with these switches on and no others.

        It equals the `cost` of the pruned graph. None if an output is lost, if the remaining shapes do not match, if
        more candidates of a choice are on than it may keep, or if a rule of the space is broken.
        """
        self.visited += len(self.limits)
        if any(limit.exceeded(on) for limit in self.limits) or self.breaks_rules(on):
            return None
        return self.unruled(on)

    def breaks_rules(self, on: Set[str]) -> bool:
        """Return whether a rule of the space is broken with these switches on and no others."""
        if not self.rules:
            return False
        before = self.rules.visited
        broken = bool(self.rules.violated(frozenset(self.groups) - on))
        self.visited += self.rules.visited - before
        return broken

    def unruled(self, on: Set[str]) -> int | None:
        """The price with these switches on and no others, whatever the rules and limits say."""
        arriving = self._arriving(self._wanted(on))
        if not all(output in arriving for output in self.outputs):
            return None
        total = 0
        shapes: dict[int, Shape] = {}
        shared: dict[str, int] = {}  # weights -> their price
        forms: dict[str, object] = {}
        for i in sorted(reached(self.outputs, arriving.__getitem__)):
            width = remaining(self.chosen[i], on) if i in self.chosen else None
            inputs = tuple([shapes[source] for source in arriving[i]])
            try:
                shapes[i], price = self.compute(i, inputs, width)
            except ShapeError:
                return None
            if i not in self.shared:
                total += price
                continue
            weights, call = self.shared[i], self._computed[self._kind[i], inputs, width].torch(*inputs)
            assert isinstance(call, ModuleCall), "only modules have weights"
            if forms.setdefault(weights, call.module) != call.module:
                return None
            largest = max(shared.get(weights, 0), price)
            shared[weights] = largest if self.measure == "parameters" else shared.get(weights, 0) + price
        total += sum(shared.values())
        fits = all(shapes[output] == self.shapes[output] for output in self.outputs)
        return total if fits else None

    def obeying(self, on: Set[str], scores: Mapping[str, float]) -> frozenset[str] | None:
        """Switches that are near these and obey all rules, preferring higher scores; None if there are none."""
        if not self.rules:
            return frozenset(on)
        before = self.rules.visited
        off = obey(self.rules, self.limits, frozenset(self.groups) - on, {**self._zeros, **scores}, self._fits)
        self.visited += self.rules.visited - before
        return None if off is None else frozenset(self.groups) - off

    def _fits(self, off: frozenset[str]) -> bool:
        return self.of(frozenset(self.groups) - off) is not None

    def _wanted(self, on: Set[str]) -> dict[int, list[int]]:
        """All nodes that the outputs need through open switches."""
        opened: dict[int, list[int]] = defaultdict(list)
        for group in sorted(on):
            for target, source in self._switched[group]:
                opened[target].append(source)
        wanted: dict[int, list[int]] = {}
        waiting = list(self.outputs)
        while waiting:
            i = waiting.pop()
            if i not in wanted:
                # Either all inputs of a node have switches, or none has.
                wanted[i] = opened[i] if i in opened else self._fixed[i]
                waiting += wanted[i]
        self.visited += len(wanted)
        return wanted

    def _arriving(self, wanted: dict[int, list[int]]) -> dict[int, list[int]]:
        """The nodes among these that can still be computed, each with its remaining inputs."""
        arriving: dict[int, list[int]] = {}
        for i in sorted(wanted):
            brought = [source for source in wanted[i] if source in arriving]
            if len(brought) == len(self.inputs[i]) or (brought and self.tolerates_missing_inputs[i]):
                arriving[i] = brought
        return arriving


def _constrained(graph: Graph) -> list[tuple[str, ...]]:
    """The switches on the edges of every requirement; shared ones are listed once."""
    groups: dict[str, list[str]] = defaultdict(list)
    for gate in graph.gates:
        if not gate.is_zero:
            groups[gate.choice].append(gate.group)
    edges = ([choice for term in constraint.terms for choice in term.edge.inside] for constraint in graph.constraints)
    return list(dict.fromkeys(tuple(group for choice in inside for group in groups[choice]) for inside in edges))
