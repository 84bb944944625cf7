"""The invariants of a graph between passes. A violation is a bug in a pass, never a user error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bayesnas_graph.ir import Graph, ModuleCall


class InvalidGraph(Exception):
    """A pass returned a graph that breaks an invariant."""


def values_come_before_their_uses(graph: Graph) -> Iterator[str]:
    seen: set[str] = set()
    for node in graph:
        yield from (f"{node.name} reads {e.source} too early" for e in graph.inputs(node.name) if e.source not in seen)
        seen.add(node.name)
    yield from (f"there is no output {name}" for name in graph.outputs if name not in seen)


def slots_are_filled(graph: Graph) -> Iterator[str]:
    for node in graph:
        inputs = graph.inputs(node.name)
        if [edge.slot for edge in inputs] != list(range(len(inputs))):
            yield f"{node.name} has the slots {[edge.slot for edge in inputs]}"
        wanted = node.op.inputs
        if (wanted is None and not inputs) or (wanted is not None and len(inputs) != wanted):
            yield f"{node.name} ({node.op}) has {len(inputs)} inputs"


def shapes_follow_from_operations(graph: Graph) -> Iterator[str]:
    for node in graph:
        if not node.op.is_input:
            shape = node.op.shape(*graph.input_shapes(node.name))
            if shape != node.shape:
                yield f"{node.name} has the shape {node.shape}, its operation gives {shape}"


def gates_lead_into_gated_operations(graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        if graph[edge.target].op.is_gated != (edge.gate is not None):
            yield f"the edge {edge.source} -> {edge.target} has the gate {edge.gate}"


def gates_of_one_name_are_in_one_group(graph: Graph) -> Iterator[str]:
    groups: dict[str, str] = {}
    for gate in graph.gates:
        if groups.setdefault(gate.name, gate.group) != gate.group:
            yield f"the gate {gate.name} is in two groups"


def scopes_are_known(graph: Graph) -> Iterator[str]:
    known = {"", *(scope.name for scope in graph.scopes)}
    inside = [*((node.name, node.scope) for node in graph), *((scope.name, scope.parent) for scope in graph.scopes)]
    yield from (f"{name} is in {around}, which is no scope" for name, around in inside if around not in known)


def shared_weights_are_of_one_form(graph: Graph) -> Iterator[str]:
    first: dict[str, ModuleCall] = {}
    for node in graph:
        if node.weights:
            call = node.op.torch(*graph.input_shapes(node.name))
            if not isinstance(call, ModuleCall):
                yield f"{node.name} ({node.op}) has no weights, but shares {node.weights}"
            elif call.module != first.setdefault(node.weights, call).module:
                yield f"{node.name} shares {node.weights}, but needs {call.source()}"


def everything_reaches_an_output(graph: Graph) -> Iterator[str]:
    used = set(graph.outputs)
    for node in reversed(list(graph)):
        if node.name in used:
            used |= {edge.source for edge in graph.inputs(node.name)}
        elif not node.op.is_input:
            yield f"{node.name} is never used"


INVARIANTS: tuple[Callable[[Graph], Iterator[str]], ...] = (
    values_come_before_their_uses,
    slots_are_filled,
    shapes_follow_from_operations,
    gates_lead_into_gated_operations,
    gates_of_one_name_are_in_one_group,
    scopes_are_known,
    shared_weights_are_of_one_form,
    everything_reaches_an_output,
)


def verify(graph: Graph) -> None:
    """Raise InvalidGraph if an invariant does not hold."""
    for invariant in INVARIANTS:
        for problem in invariant(graph):
            raise InvalidGraph(f"{invariant.__name__.replace('_', ' ')}: {problem}")
