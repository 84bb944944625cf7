"""Matches the nodes of two equal graphs with different names."""

from __future__ import annotations

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.json.fingerprint import op_identity


def correspondence(before: Graph, after: Graph) -> dict[str, str]:
    """For every input of `before`, and every node that outputs depend on, its node in `after`.

    The graphs are walked back from their outputs, argument by argument. Raises ValueError if they differ.
    """
    inputs = [[node.name for node in graph if node.op.is_input] for graph in (before, after)]
    if len(inputs[0]) != len(inputs[1]) or len(before.outputs) != len(after.outputs):
        raise ValueError("the graphs differ in their number of inputs or outputs")
    waiting = [*zip(*inputs, strict=True), *zip(before.outputs, after.outputs, strict=True)]
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    while waiting:
        old, new = waiting.pop()
        if forth.get(old, new) != new or back.get(new, old) != old:
            raise ValueError(f"`{old}` and `{new}` are in different positions")
        if old in forth:
            continue
        forth[old], back[new] = new, old
        _compare(before, after, old, new)
        pairs = zip(before.inputs(old), after.inputs(new), strict=True)
        waiting += [(left.source, right.source) for left, right in pairs]
    weights: dict[str, str] = {}
    for old, new in forth.items():
        pair = before[old].weights if old in before.shared else "", after[new].weights if new in after.shared else ""
        if bool(pair[0]) != bool(pair[1]) or weights.setdefault(pair[0], pair[1]) != pair[1]:
            raise ValueError(f"`{old}` and `{new}` share their weights with others")
    return {node.name: forth[node.name] for node in before if node.name in forth}


def _compare(before: Graph, after: Graph, old: str, new: str) -> None:
    left, right = before[old], after[new]
    if op_identity(left.op) != op_identity(right.op):
        raise ValueError(f"`{old}` is {left.op}, and `{new}` is {right.op}")
    if left.shape != right.shape:
        raise ValueError(f"`{old}` has the shape {left.shape}, and `{new}` has {right.shape}")
    if [edge.slot for edge in before.inputs(old)] != [edge.slot for edge in after.inputs(new)]:
        raise ValueError(f"`{old}` and `{new}` differ in their number of inputs")
