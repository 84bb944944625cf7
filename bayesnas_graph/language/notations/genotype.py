"""Genotypes: cells in the notation of DARTS.

H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations.genotype_text import read_fields
from bayesnas_graph.language.notations.notation import NONE, CellEdge, Notation
from bayesnas_graph.language.notations.problems import shown, unfitting

DARTS = Notation(
    name="DARTS",
    spaces=("darts", "darts_imagenet"),
    cells=("normal", "reduction"),
    inputs=("p", "q"),
    nodes=4,
    operations={
        "max_pool_3x3": "max_pool_3x3",
        "avg_pool_3x3": "avg_pool_3x3",
        "skip_connect": "skip",
        "sep_conv_3x3": "sep_conv_3",
        "sep_conv_5x5": "sep_conv_5",
        "dil_conv_3x3": "dil_conv_3",
        "dil_conv_5x5": "dil_conv_5",
    },
)

Pairs = tuple[tuple[str, int], ...]

PER_NODE = 2  # edges into a node
FIRST = len(DARTS.inputs)  # the number of the first node
CONCAT = tuple(range(FIRST, FIRST + DARTS.nodes))


@dataclass(frozen=True, slots=True)
class Genotype:
    """Two cells, each as pairs of an operation and the number of its input: two pairs per node.

    The inputs of a cell are 0 and 1, its nodes 2 to 5. A node sums its pairs, so their order does not affect the
    network, but it matters when genotypes are compared.
    """

    normal: Pairs
    normal_concat: tuple[int, ...]  # the nodes that the cell outputs
    reduce: Pairs
    reduce_concat: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"Genotype(normal={list(self.normal)}, normal_concat={_numbers(self.normal_concat)}, "
            f"reduce={list(self.reduce)}, reduce_concat={_numbers(self.reduce_concat)})"
        )


def _numbers(numbers: tuple[int, ...]) -> str:
    """Numbers as DARTS prints them: as a range if possible.

    >>> _numbers((2, 3, 4, 5)), _numbers((2, 4))
    ('range(2, 6)', '[2, 4]')
    """
    if numbers and numbers == tuple(range(numbers[0], numbers[0] + len(numbers))):
        return f"range({numbers[0]}, {numbers[-1] + 1})"
    return str(list(numbers))


def parse_genotype(text: str) -> Genotype:
    """Parse a genotype as printed by DARTS and its variants. Raises NasError.

    Nothing in the text is executed.

    >>> genotype = parse_genotype("MINE = Genotype([('skip_connect', 0)], [2], reduce=[], reduce_concat=range(2, 6))")
    >>> genotype.normal, genotype.reduce_concat
    ((('skip_connect', 0),), (2, 3, 4, 5))
    """
    return Genotype(*read_fields(text))


def groups_of(genotype: Genotype, graph: Graph) -> frozenset[str]:
    """The groups to keep in a graph of the space; a pair with `none` keeps none. Raises NasError."""
    normal = _operations("normal", DARTS.cells[0], genotype.normal, genotype.normal_concat)
    reduce = _operations("reduce", DARTS.cells[1], genotype.reduce, genotype.reduce_concat)
    return DARTS.groups([*normal, *reduce], graph)


def _operations(field: str, cell: str, pairs: Pairs, concat: tuple[int, ...]) -> list[tuple[CellEdge, str]]:
    """The operations of a cell with their edges. Raises NasError if the space has no such cell."""
    if concat != CONCAT:
        help = "cells of this space must concatenate all their nodes in order"
        unfitting(f"`{field}_concat` is {shown(_numbers(concat))}, not `{_numbers(CONCAT)}`", help)
    if len(pairs) != PER_NODE * DARTS.nodes:
        help = f"a cell of this space has {DARTS.nodes} nodes with {PER_NODE} pairs each"
        unfitting(f"`{field}` has {len(pairs)} pairs, not {PER_NODE * DARTS.nodes}", help)
    operations: dict[CellEdge, str] = {}
    for i, (operation, input) in enumerate(pairs):
        edge = CellEdge(cell, FIRST + i // PER_NODE, input)
        if not 0 <= input < edge.node:
            help = f"node {edge.node} can use inputs 0 to {edge.node - 1}: 0 and 1 are the inputs of the cell"
            unfitting(f"node {edge.node} of `{field}` uses input {shown(input)}, which is not before it", help)
        if operation != NONE and edge in operations:
            help = "the two operations of a node must be on different edges"
            unfitting(f"node {edge.node} of `{field}` uses input `{input}` twice", help)
        if operation != NONE:
            operations[edge] = operation
    return list(operations.items())


def genotype_of(kept: Collection[str], graph: Graph) -> Genotype:
    """The genotype that keeps these groups. The pairs of a node are in the order of their inputs.

    Raises NasError unless every node keeps two edges, with one operation on each.
    """
    operations = DARTS.operations_of(kept, graph)
    normal, reduce = (_pairs(cell, operations, graph) for cell in DARTS.cells)
    return Genotype(normal, CONCAT, reduce, CONCAT)


def _pairs(cell: str, operations: dict[CellEdge, list[str]], graph: Graph) -> Pairs:
    if not any(gate.part == cell for gate in graph.gates):
        help = "a genotype needs both kinds of cells: use a network with at least three cells"
        unfitting(f"network {shown(graph.name)} has no switches of cell `{cell}`", help)
    pairs: list[tuple[str, int]] = []
    for node in CONCAT:
        edges = {edge.input: operations[edge] for edge in operations if (edge.cell, edge.node) == (cell, node)}
        here = [(name, input) for input, names in edges.items() for name in names]
        count = sum(map(bool, edges.values()))
        if (len(here), count) != (PER_NODE, PER_NODE):
            counts = f"{len(here)} operation{'s' * (len(here) != 1)} on {count} edge{'s' * (count != 1)}"
            help = "a genotype has two edges into each node with one operation each: derive with `--keep-per-node 2`"
            unfitting(f"node {node} of `{cell}` keeps {counts}", help)
        pairs += here
    return tuple(pairs)
