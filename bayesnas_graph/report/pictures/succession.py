"""Cells in a row that read the outputs of the two before them, as in NASNet and DARTS."""

from __future__ import annotations

from collections.abc import Iterable

from bayesnas_graph.language.elaborate.block import Block, Compute, Nested

SHORTEST = 3  # uses in a row: fewer do not show that each reads the two before it

Distances = tuple[int, ...]  # for each input, how many uses ago its value was computed


def successive(blocks: Iterable[Block]) -> dict[Block, Distances]:
    """The cells whose inputs are the outputs of the last two uses, wherever they are used, with their distances."""
    found: dict[Block, Distances] = {}
    not_so: set[Block] = set()
    for block in blocks:
        row = list(_cells(block))
        distances = _distances(row)
        for step, _ in row:
            if distances is None or found.setdefault(step.block, distances) != distances:
                not_so.add(step.block)
    return {block: distances for block, distances in found.items() if block not in not_so}


def _cells(block: Block) -> Iterable[tuple[Nested, int]]:
    """The uses of motifs with two inputs and one output, and the value that each computes."""
    value = len(block.inputs)
    for step in block.steps:
        if isinstance(step, Nested) and len(step.inputs) == 2 and len(step.block.outputs) == 1:
            yield step, value
        value += 1 if isinstance(step, Compute) else len(step.block.outputs)


def _distances(row: list[tuple[Nested, int]]) -> Distances | None:
    """The distances of the inputs in a row of uses, if they are the same in all; None otherwise.

    The first two uses read values that no other use computes.
    """
    if len(row) < SHORTEST:
        return None
    values = [value for _, value in row]
    ways = {
        tuple(number - values.index(source) if source in values else 0 for source in step.inputs)
        for number, (step, _) in enumerate(row[2:], 2)
    }
    if len(ways) != 1 or sorted(distances := next(iter(ways))) != [1, 2]:
        return None
    second = row[1][0].inputs
    return distances if second[distances.index(1)] == values[0] else None


def inputs_of(block: Block) -> list[frozenset[int]]:
    """For each output of a block, the inputs that it depends on."""
    reached: list[frozenset[int]] = [frozenset([number]) for number in range(len(block.inputs))]
    for step in block.steps:
        if isinstance(step, Compute):
            reached.append(frozenset[int]().union(*(reached[source] for source in step.inputs)))
        else:
            for inner in inputs_of(step.block):
                reached.append(frozenset[int]().union(*(reached[step.inputs[number]] for number in inner)))
    return [reached[value] for value in block.outputs]
