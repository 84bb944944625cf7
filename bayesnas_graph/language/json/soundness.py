"""Check that the nodes and edges of a document form a graph that the compiler could have produced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesnas_graph.diagnostics import did_you_mean
from bayesnas_graph.ir import Edge, ModuleCall, Node, Scope, ShapeError, TokenShape, shape_text
from bayesnas_graph.ir.walks import in_order
from bayesnas_graph.language.json.problems import Step, fail

LONGEST_CYCLE = 8  # nodes of a cycle shown in a message


def nodes_in_order(nodes: Mapping[str, Node], edges: Sequence[Edge], source_name: str) -> list[Node]:
    """The nodes, each after the nodes it reads, otherwise in the given order."""
    order = in_order(nodes, ((edge.source, edge.target) for edge in edges))
    if len(order) < len(nodes):
        cycle = _cycle(nodes.keys() - set(order), edges)
        route = " -> ".join(f"`{name}`" for name in cycle[:LONGEST_CYCLE])
        dots = " -> ..." if len(cycle) > LONGEST_CYCLE else ""
        closing = next(i for i, e in enumerate(edges) if (e.source, e.target) == (cycle[-2], cycle[-1]))
        fail(source_name, ["edges", closing], f"the edges form a cycle: {route}{dots}")
    return [nodes[name] for name in order]


def _cycle(left: set[str], edges: Sequence[Edge]) -> list[str]:
    """A cycle among these nodes, ending with its first node."""
    source = {edge.target: edge.source for edge in edges if edge.target in left and edge.source in left}
    walk = [min(left)]
    seen = {walk[0]: 0}
    while (before := source[walk[-1]]) not in seen:
        seen[before] = len(walk)
        walk.append(before)
    return [before, *reversed(walk[seen[before] :])]


def check_wiring(nodes: Mapping[str, Node], edges: Sequence[Edge], source_name: str) -> None:
    """Check that operations have their inputs, with gates where needed, and the stated output shapes."""
    slots: dict[str, dict[int, Edge]] = {name: {} for name in nodes}
    groups: dict[str, str] = {}
    for i, edge in enumerate(edges):
        if edge.slot in slots[edge.target]:
            fail(source_name, ["edges", i, "slot"], f"slot {edge.slot} of `{edge.target}` already has an edge")
        slots[edge.target][edge.slot] = edge
        _check_gate(edge, nodes[edge.target], source_name, i)
        if edge.gate is not None and groups.setdefault(edge.gate.name, edge.gate.group) != edge.gate.group:
            reason = f"gate `{edge.gate.name}` is already in group `{groups[edge.gate.name]}`"
            fail(source_name, ["edges", i, "gate", "group"], reason)
    for i, node in enumerate(nodes.values()):
        _check_node(node, slots[node.name], nodes, source_name, i)


def check_replaced(nodes: Mapping[str, Node], source_name: str) -> None:
    """Check that each name is replaced only once, and that the number of parts divides the channels."""
    replaced: dict[str, str] = {}  # a name -> the node that replaces it
    for i, node in enumerate(nodes.values()):
        path: list[Step] = ["nodes", i, "replaces"]
        if node.replaces and node.shape[0] % len(node.replaces):
            fail(source_name, path, f"{node.shape[0]} channels cannot be split into {len(node.replaces)} equal parts")
        for j, names in enumerate(node.replaces):
            for k, name in enumerate(names):
                if name in replaced:
                    fail(source_name, [*path, j, k], f"`{name}` is already replaced by `{replaced[name]}`")
                replaced[name] = node.name


def check_gates(nodes: Mapping[str, Node], edges: Sequence[Edge], source_name: str) -> None:
    """Check that every gate names its choice, and is of the kind that its edge leads into."""
    for i, edge in enumerate(edges):
        if edge.gate is None:
            continue
        path: list[Step] = ["edges", i, "gate"]
        op, choice = nodes[edge.target].op, edge.gate.choice
        kind = "zero" if op.is_zero_switch else "candidate" if op.is_choice else "optional"
        if edge.gate.kind != kind:
            fail(source_name, [*path, "kind"], f"should be `{kind}` before `{op.label}`, got `{edge.gate.kind}`")
        if choice not in nodes:
            fail(source_name, [*path, "choice"], f"unknown node `{choice}`", did_you_mean(choice, nodes))
        if choice != edge.target and not edge.gate.is_zero:
            fail(source_name, [*path, "choice"], f"should be `{edge.target}`, where its edge leads, got `{choice}`")


def check_scopes(nodes: Mapping[str, Node], scopes: Mapping[str, Scope], source_name: str) -> None:
    """Check that nodes and scopes are in known scopes, and are named after them.

    The names keep what is in different scopes apart. They also rule out that two scopes are in each other.
    """
    for i, node in enumerate(nodes.values()):
        is_named_after = node.name == node.scope or node.name.startswith(f"{node.scope}.")  # equal if it is a choice
        _check_scope(node.scope, scopes, node.name, is_named_after, ["nodes", i, "scope"], source_name)
    for i, scope in enumerate(scopes.values()):
        is_named_after = scope.name.startswith(f"{scope.parent}.")
        _check_scope(scope.parent, scopes, scope.name, is_named_after, ["scopes", i, "parent"], source_name)


def check_weights(nodes: Mapping[str, Node], edges: Sequence[Edge], source_name: str) -> None:
    """Check that nodes that share weights have operations with weights, and that these are of one form."""
    reads: dict[str, dict[int, str]] = {name: {} for name in nodes}
    for edge in edges:
        reads[edge.target][edge.slot] = edge.source
    first: dict[str, tuple[str, ModuleCall]] = {}
    for i, node in enumerate(nodes.values()):
        if not node.weights:
            continue
        path: list[Step] = ["nodes", i, "weights"]
        sources = reads[node.name]
        call = node.op.torch(*(nodes[sources[slot]].shape for slot in sorted(sources)))
        if not isinstance(call, ModuleCall):
            fail(source_name, path, f"`{node.op.label}` has no weights to share")
        name, expected = first.setdefault(node.weights, (node.name, call))
        if call.module != expected.module:
            fail(source_name, path, f"`{node.name}` and `{name}` share weights, but need different ones")


def _check_scope(
    around: str, scopes: Mapping[str, Scope], name: str, is_named_after: bool, path: list[Step], source_name: str
) -> None:
    if around and around not in scopes:
        fail(source_name, path, f"unknown scope `{around}`", did_you_mean(around, scopes))
    if around and not is_named_after:
        fail(source_name, path, f"`{name}` cannot be in `{around}`", f"names in it begin with `{around}.`")


def _check_gate(edge: Edge, target: Node, source_name: str, i: int) -> None:
    gated = target.op.is_gated
    if gated and edge.gate is None:
        fail(source_name, ["edges", i, "gate"], f"is missing, and `{target.op.label}` needs one on each of its inputs")
    if edge.gate is not None and not gated:
        help = "only `choice`, `maybe` and `zero` take gates"
        fail(source_name, ["edges", i, "gate"], f"`{target.op.label}` takes no gates", help)


def _check_node(node: Node, slots: Mapping[int, Edge], nodes: Mapping[str, Node], source_name: str, i: int) -> None:
    wanted, given = node.op.inputs, len(slots)
    if (wanted is None and not given) or (wanted is not None and wanted != given):
        takes = "at least 1 input" if wanted is None else f"{wanted} input{'s' * (wanted != 1)}"
        fail(source_name, ["nodes", i], f"`{node.op.label}` takes {takes}, but `{node.name}` got {given}")
    missing = next((slot for slot in range(given) if slot not in slots), None)
    if missing is not None:
        reason = f"slot {missing} of `{node.name}` has no edge, but slot {max(slots)} has one"
        fail(source_name, ["nodes", i], reason, "slots are numbered from 0, without gaps")
    if invalid := node.op.invalid_argument():
        fail(source_name, ["nodes", i, "op", "args", invalid[0]], invalid[1])
    if node.op.is_input or node.op.is_python:
        return  # inputs declare their shapes, and Python operations are not run to compute theirs
    shapes = [nodes[slots[slot].source].shape for slot in range(given)]
    if any(isinstance(shape, TokenShape) for shape in shapes) and not node.op.reads_tokens:
        reason = f"`{node.op.label}` needs numbers, but the input of `{node.name}` is tokens"
        fail(source_name, ["nodes", i, "op"], reason)
    try:
        shape = node.op.shape(*shapes)
    except ShapeError as error:
        reads = ", ".join(map(shape_text, shapes))
        fail(source_name, ["nodes", i, "op"], f"{error}; the input of `{node.name}` is {reads}")
    if shape != node.shape:
        reason = f"`{node.op.label}` outputs {shape_text(shape)} here, got {shape_text(node.shape)}"
        fail(source_name, ["nodes", i, "shape"], reason)
