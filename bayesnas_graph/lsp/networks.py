"""Elaborate the networks of a document, and say what is known about the operations and nodes of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.ir import Shape, shape_text
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.language.elaborate.block import Block, Compute, UnfinishedBlock
from bayesnas_graph.lsp.reading import Reading
from bayesnas_graph.passes.analysis.cost import Cost, cost_of_op

NOTHING = Cost(0, 0, 0)
AnyBlock = Block | UnfinishedBlock


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known about one use of an operation, a motif or a node."""

    shapes: tuple[Shape, ...]  # of its outputs
    inputs: tuple[Shape, ...] | None = None  # None for a node
    cost: Cost = NOTHING  # of all candidates

    def __str__(self) -> str:
        result = " and ".join(map(shape_text, self.shapes))
        if self.inputs is None:
            return result
        text = f"{', '.join(map(shape_text, self.inputs))} -> {result}"
        if self.cost.parameters:
            text += f", {self.cost.parameters:,} parameters"
        if self.cost.flops or self.cost.flops_at_least:
            text += f", {self.cost.flops_text} multiply-adds"
        return text


@dataclass(frozen=True, eq=False)
class Elaboration:
    """The networks of a document that have no errors, and what is known about those that have."""

    networks: tuple[Network, ...]
    unfinished: tuple[UnfinishedBlock, ...] = ()
    complete: bool = True  # false if it was cancelled

    @cached_property
    def _facts(self) -> _Facts:
        return _Facts([*(network.block for network in self.networks), *self.unfinished])

    def about_node(self, declared: Span) -> list[Fact]:
        """The facts about a node, given the span of its name where it is declared; each fact once."""
        return self._facts.nodes.get((declared.source, declared.start), [])

    def about_operation(self, name: Span) -> list[Fact]:
        """The facts about an operation, given the span of its name where it is used; each fact once."""
        start, text = name.start, name.source.text
        if text[:start].endswith("."):  # a member of an imported file
            start -= 1
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
        return self._facts.operations.get((name.source, start), [])


def elaborate(reading: Reading, is_cancelled: Callable[[], bool] = lambda: False) -> Elaboration:
    """Elaborate all networks of a document; errors are added to the diagnostics of the reading."""
    networks: list[Network] = []
    for definition in reading.checked.networks if reading.checked else ():
        if is_cancelled():
            return Elaboration(tuple(networks), complete=False)
        network = reading.checker.network(reading.checked, definition.name.name) if reading.checked else None
        if network is not None:
            networks.append(network)
    return Elaboration(tuple(networks), tuple(reading.checker.unfinished))


class _Facts:
    """Collects facts from blocks, each of which is visited once. They are found by where their text starts."""

    def __init__(self, blocks: Iterable[AnyBlock]) -> None:
        self.operations: dict[tuple[Source, int], list[Fact]] = {}
        self.nodes: dict[tuple[Source, int], list[Fact]] = {}
        self.costs: dict[AnyBlock, Cost] = {}
        for block in blocks:
            self.cost(block)

    def cost(self, block: AnyBlock) -> Cost:
        """The cost of a block, whose facts are collected."""
        if block not in self.costs:
            total, shapes = NOTHING, block.value_shapes
            for step in block.steps:
                inputs = tuple(shapes[i] for i in step.inputs)
                outputs: tuple[Shape, ...]
                if isinstance(step, Compute):
                    cost, outputs = cost_of_op(step.op, inputs), (step.shape,)
                else:
                    cost, outputs = self.cost(step.block), step.block.output_shapes
                total += cost
                _note(self.operations, step.span, Fact(outputs, inputs, cost))
            for node, value in block.nodes_of_text:
                _note(self.nodes, node.span, Fact((shapes[value],)))
            self.costs[block] = total
        return self.costs[block]


def _note(facts: dict[tuple[Source, int], list[Fact]], span: Span, fact: Fact) -> None:
    known = facts.setdefault((span.source, span.start), [])
    if fact not in known:
        known.append(fact)
