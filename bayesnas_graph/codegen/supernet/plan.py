"""What a network with open and closed gates has to compute: functions of the graph, without tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bayesnas_graph.ir import Graph


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The gates of a pass, in the order of the supernet: open ones are exactly 1, all others exactly 0.

    The host decides which they are, so that nothing has to be read from the device.
    """

    is_open: tuple[bool, ...]
    wanted: tuple[bool, ...]  # whose slopes are wanted, whether they are open or not


@dataclass(frozen=True, slots=True)
class Wires:
    """The nodes of a graph by number, in their order: what each of them reads, and behind which gate."""

    sources: tuple[tuple[int, ...], ...]
    gates: tuple[tuple[int, ...], ...]  # of the same inputs; empty for a node without gates
    adds: tuple[bool, ...]  # whether a node is a sum without gates
    outputs: tuple[int, ...]

    @staticmethod
    def of(graph: Graph, gates: Sequence[str]) -> Wires:
        """The wires of a graph whose gates have this order."""
        number = {node.name: i for i, node in enumerate(graph)}
        position = {name: i for i, name in enumerate(gates)}
        edges = [graph.inputs(node.name) for node in graph]
        return Wires(
            sources=tuple(tuple(number[edge.source] for edge in read) for read in edges),
            gates=tuple(tuple(position[edge.gate.name] for edge in read if edge.gate) for read in edges),
            adds=tuple(node.op.adds for node in graph),
            outputs=tuple(number[name] for name in graph.outputs),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """A node to compute."""

    node: int
    reads: tuple[int, ...]  # of a sum, only the terms that are not zero
    detached: tuple[bool, ...] = ()  # the terms of a gated sum that are closed: nothing flows back through them
    gates: tuple[int, ...] = ()  # of these terms, if the slope of one is wanted
    is_forward: bool = False  # whether it is computed only for the slope of a closed gate
    done: tuple[int, ...] = ()  # values that nothing reads later


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The steps of a pass."""

    steps: tuple[Step, ...]
    zeros: frozenset[int]  # nodes that are not computed, although they are read: sums of nothing
    positions: tuple[int, ...]  # the gates whose values are multiplied with, step by step


def plan(wires: Wires, opened: Opened) -> Plan:
    """Plan a pass: what does not reach an output through open gates is left out.

    A candidate whose gate is closed is computed if the slope of its gate is wanted, but nothing flows back through it:
    its gradient would be multiplied by zero.
    """
    kept = _behind(wires, opened, wires.outputs)
    compared = [
        source
        for node in kept
        for source, gate in zip(wires.sources[node], wires.gates[node], strict=False)
        if opened.wanted[gate]
    ]
    forward = _behind(wires, opened, compared) - kept
    zeros: set[int] = set()
    steps: list[Step] = []
    for node in sorted(kept | forward):
        step = _step(wires, opened, node, zeros, is_forward=node in forward)
        if step is None:
            zeros.add(node)
        else:
            steps.append(step)
    return Plan(tuple(_freed(steps, wires.outputs)), frozenset(zeros), tuple(gate for s in steps for gate in s.gates))


def _behind(wires: Wires, opened: Opened, nodes: Sequence[int]) -> set[int]:
    """The nodes that some nodes depend on through open gates, and these nodes."""
    found, left = set(nodes), list(nodes)
    while left:
        node = left.pop()
        gates = wires.gates[node]
        for i, source in enumerate(wires.sources[node]):
            if source not in found and (not gates or opened.is_open[gates[i]]):
                found.add(source)
                left.append(source)
    return found


def _step(wires: Wires, opened: Opened, node: int, zeros: set[int], *, is_forward: bool) -> Step | None:
    """The step of a node; None if it is zero."""
    sources, gates = wires.sources[node], wires.gates[node]
    if gates:
        used = [
            (source, gate)
            for source, gate in zip(sources, gates, strict=True)
            if source not in zeros and (opened.is_open[gate] or (opened.wanted[gate] and not is_forward))
        ]
        if not used:
            return None
        is_weighed = not is_forward and any(opened.wanted[gate] for _, gate in used)
        return Step(
            node,
            tuple(source for source, _ in used),
            tuple(not opened.is_open[gate] for _, gate in used),
            tuple(gate for _, gate in used) if is_weighed else (),
            is_forward,
        )
    if wires.adds[node]:
        sources = tuple(source for source in sources if source not in zeros)
        if not sources:
            return None
    return Step(node, sources, is_forward=is_forward)


def _freed(steps: Sequence[Step], outputs: Sequence[int]) -> Iterator[Step]:
    """The steps, each with the values that no later one reads."""
    last = {source: i for i, step in enumerate(steps) for source in step.reads}
    done: list[list[int]] = [[] for _ in steps]
    for source, i in last.items():
        if source not in outputs:
            done[i].append(source)
    for step, values in zip(steps, done, strict=True):
        yield Step(step.node, step.reads, step.detached, step.gates, step.is_forward, tuple(values))
