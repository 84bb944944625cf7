"""The channels of a graph that are there only with some options of chosen widths.

Before an operation that mixes channels, a choice between `first` operations replaces absent channels by zeros. So a
channel is needed if a reader needs it, and through such a choice if one of the open candidates keeps it. This is
found by walking back from the outputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from bayesnas_graph.ir import Graph, Link, Mask, Node

Condition = frozenset[str] | None  # a channel is there if one of these switches is on; None if it always is
Runs = tuple[tuple[int, Condition], ...]  # consecutive channels, each run with its length


def chosen_widths(graph: Graph) -> dict[str, Runs]:
    """For every node with channels that are not always there: its channels.

    Nothing is found in a graph in which operations have been fused: their channels are no longer in order.
    """
    if not any(node.op.is_mask for node in graph) or any(len(node.stands_for) > 1 for node in graph):
        return {}
    needed: dict[str, list[Runs | None]] = {node.name: [] for node in graph}  # by each reader; None: everything
    found: dict[str, Runs] = {}
    for name in graph.outputs:
        needed[name].append(None)
    for node in reversed(list(graph)):
        runs = _joined(needed[node.name])
        if runs is not None:
            found[node.name] = runs
        edges = graph.inputs(node.name)
        if node.op.chooses_width:
            kept = _kept_by_candidates(graph, node, runs)
            for edge in edges:
                needed[edge.source].append(kept)
            continue
        links = node.op.coupling(*graph.input_shapes(node.name)).links if runs is not None else ()
        for i, edge in enumerate(edges):
            needed[edge.source].append(None if runs is None else _through(links[i], runs))
    return found


def _through(link: Link, runs: Runs) -> Runs | None:
    """The channels of an input that are read for some channels of the output; None for everything."""
    read = _part(runs, link.first, link.first + link.blocks * link.outputs)
    if not link.tied or link.is_partial or any(count % link.outputs for count, _ in read):
        return None
    return tuple((count // link.outputs * link.inputs, condition) for count, condition in read)


def remaining(runs: Runs, on: Collection[str]) -> int:
    """The number of channels with these switches on."""
    return sum(count for count, condition in runs if condition is None or not condition.isdisjoint(on))


def remaining_mask(runs: Runs, off: Collection[str]) -> Mask:
    """The channels that are there with these switches off and all others on."""
    kept = [(count, condition is None or not condition <= frozenset(off)) for count, condition in runs]
    return tuple(stays for count, stays in kept for _ in range(count))


def _kept_by_candidates(graph: Graph, node: Node, runs: Runs | None) -> Runs:
    """The channels that the candidates of a choice read: each only if one of those that keep it is on."""
    width = node.shape[0]
    candidates = [
        (edge.gate.group, graph[edge.source].op.zeroed(width)) for edge in graph.inputs(node.name) if edge.gate
    ]
    before = runs or ((width, None),)
    borders = {
        0,
        width,
        *(end for _, zeros in candidates if zeros for end in (zeros.start, zeros.stop)),
        *_borders(before),
    }
    found: list[tuple[int, Condition]] = []
    for start, stop in pairwise(sorted(borders)):
        groups = frozenset(group for group, zeros in candidates if start not in zeros)
        ((_, condition), *_rest) = _part(before, start, stop)
        found.append((stop - start, condition if len(groups) == len(candidates) else groups))
    return tuple(found)


def _joined(needed: list[Runs | None]) -> Runs | None:
    """The channels that any of several readers needs; None for everything."""
    known = [runs for runs in dict.fromkeys(needed) if runs is not None]
    if len(known) < len(set(needed)) or not known:
        return None
    if len(known) == 1:
        return known[0] if any(condition is not None for _, condition in known[0]) else None
    borders = sorted({end for runs in known for end in _borders(runs)})
    found: list[tuple[int, Condition]] = []
    for start, stop in pairwise(borders):
        conditions = [_part(runs, start, stop)[0][1] for runs in known]
        groups = [condition for condition in conditions if condition is not None]
        found.append((stop - start, frozenset().union(*groups) if len(groups) == len(conditions) else None))
    return _joined([tuple(found)])


def _borders(runs: Runs) -> Iterable[int]:
    position = 0
    yield position
    for count, _ in runs:
        position += count
        yield position


def _part(runs: Runs, start: int, stop: int) -> Runs:
    """The runs of the channels from `start` to `stop`."""
    found: list[tuple[int, Condition]] = []
    position = 0
    for count, condition in runs:
        inside = min(stop, position + count) - max(start, position)
        if inside > 0:
            found.append((inside, condition))
        position += count
    return tuple(found)
