"""Genotypes: cells in the notation of DARTS, which also writes those of NASNet and AmoebaNet.

H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bayesnas_graph.diagnostics import NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations.genotype_text import read_fields
from bayesnas_graph.language.notations.notation import NONE, CellEdge, Notation
from bayesnas_graph.language.notations.problems import shown, unfit, unfitting

DARTS = Notation(
    name="DARTS",
    spaces=("darts", "darts_imagenet", "nasnet"),
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
        "sep_conv_7x7": "sep_conv_7",
        "conv_7x1_1x7": "conv_7x1_1x7",
        "conv_3x1_1x3": "conv_3x1_1x3",
        "conv_1x1": "conv_keep_1",
        "conv_3x3": "conv_keep_3",
        "max_pool_5x5": "maximum_5",
        "max_pool_7x7": "maximum_7",
    },
    aliases={"average": "avg_pool_3x3", "maximum_3": "max_pool_3x3", "dil_conv": "dil_conv_3"},  # of `nasnet`
)
TWICE = ("max_pool_3x3", "avg_pool_3x3")  # have no weights, so the same one twice is the same value twice

Pairs = tuple[tuple[str, int], ...]

PER_NODE = 2  # edges into a node
BRANCHES = ("left", "right")  # of the nodes of `nasnet`
FIRST = len(DARTS.inputs)  # the number of the first node
CONCAT = tuple(range(FIRST, FIRST + DARTS.nodes))  # in the shipped spaces


@dataclass(frozen=True, slots=True)
class Genotype:
    """Two cells, each as pairs of an operation and the number of its input: two pairs per node.

    The inputs of a cell are 0 and 1, its nodes 2, 3, and so on. A node sums its pairs, so their order does not affect
    the network, but it matters when genotypes are compared.
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
    notation = DARTS.sized(graph, BRANCHES)
    cells = (("normal", genotype.normal, genotype.normal_concat), ("reduce", genotype.reduce, genotype.reduce_concat))
    _check_space(notation, [pairs for _, pairs, _ in cells], graph)
    joins, kept = notation.joins(graph), set[str]()
    operations: list[tuple[CellEdge, str]] = []
    for cell, (field, pairs, concat) in zip(notation.cells, cells, strict=True):
        operations += _operations(notation, field, cell, pairs)
        _check_concat(notation, field, concat, is_free=any(of == cell for of, _ in joins))
        kept |= {group for (of, node), group in joins.items() if of == cell and node in concat}
    return notation.groups(operations, graph) | kept


def _check_space(notation: Notation, cells: list[Pairs], graph: Graph) -> None:
    """Raise NasError for operations that are usual, but not in this space, and for cells with more or fewer nodes."""
    notation.groups((), graph)  # raises if the graph has other switches
    problems = []
    if lacking := notation.missing((name for pairs in cells for name, _ in pairs), graph):
        candidates = dict.fromkeys(gate.label for gate in graph.switches.values() if gate.kind == "candidate")
        names = ", ".join(f"`{name}`" for name in lacking)
        help = f"its candidates are {', '.join(f'`{label}`' for label in candidates)}"
        problems.append(unfit(f"network {shown(graph.name)} has no operation {names}", help))
    for field, pairs in zip(("normal", "reduce"), cells, strict=True):
        if len(pairs) != PER_NODE * notation.nodes:
            help = f"a cell of this space has {notation.nodes} nodes with {PER_NODE} pairs each"
            problems.append(unfit(f"`{field}` has {len(pairs)} pairs, not {PER_NODE * notation.nodes}", help))
            break
    if problems:
        raise NasError(problems)


def _check_concat(notation: Notation, field: str, concat: tuple[int, ...], *, is_free: bool) -> None:
    """Raise NasError if the cells of the space cannot output these nodes. `is_free` is true if they can output any."""
    nodes = range(FIRST, FIRST + notation.nodes)
    if not is_free and concat != tuple(nodes):
        help = "cells of this space must concatenate all their nodes in order"
        unfitting(f"`{field}_concat` is {shown(_numbers(concat))}, not `{_numbers(tuple(nodes))}`", help)
    if list(concat) != sorted(set(concat)) or not set(concat) <= set(nodes):
        help = f"list some of the nodes {nodes[0]} to {nodes[-1]}, in order"
        unfitting(f"`{field}_concat` is {shown(_numbers(concat))}", help)


def _operations(notation: Notation, field: str, cell: str, pairs: Pairs) -> list[tuple[CellEdge, str]]:
    """The operations of a cell with their edges. Raises NasError if the space has no such cell."""
    operations: dict[tuple[CellEdge, str], None] = {}
    for i, (operation, input) in enumerate(pairs):
        edge = CellEdge(cell, FIRST + i // PER_NODE, input, i % PER_NODE if notation.branches else 0)
        if not 0 <= input < edge.node:
            help = f"node {edge.node} can use inputs 0 to {edge.node - 1}: 0 and 1 are the inputs of the cell"
            unfitting(f"node {edge.node} of `{field}` uses input {shown(input)}, which is not before it", help)
        if (edge, operation) in operations and operation not in TWICE:
            help = "the two operations of a node must differ, or be on different edges"
            unfitting(f"node {edge.node} of `{field}` uses input `{input}` twice with {shown(operation)}", help)
        if operation != NONE:
            operations[edge, operation] = None
    return list(operations)


def genotype_of(kept: Collection[str], graph: Graph) -> Genotype:
    """The genotype that keeps these groups. The pairs of a node are in the order of its branches, or of their inputs.

    Raises NasError unless every node keeps two operations.
    """
    notation = DARTS.sized(graph, BRANCHES)
    operations = notation.operations_of(kept, graph)
    joins = notation.joins(graph)

    def concat(cell: str) -> tuple[int, ...]:
        switches = {node: group for (of, node), group in joins.items() if of == cell}
        nodes = range(FIRST, FIRST + notation.nodes)
        return tuple(node for node in nodes if not switches or switches.get(node) in kept)

    normal, reduce = (_pairs(notation, cell, operations, graph) for cell in notation.cells)
    return Genotype(normal, concat(notation.cells[0]), reduce, concat(notation.cells[1]))


def _pairs(notation: Notation, cell: str, operations: dict[CellEdge, list[str]], graph: Graph) -> Pairs:
    if not any(gate.part == cell for gate in graph.gates):
        help = "a genotype needs both kinds of cells: use a network with at least three cells"
        unfitting(f"network {shown(graph.name)} has no switches of cell `{cell}`", help)
    pairs: list[tuple[str, int]] = []
    for node in range(FIRST, FIRST + notation.nodes):
        edges = {edge: operations[edge] for edge in operations if (edge.cell, edge.node) == (cell, node)}
        here = [(name, edge.input) for edge, names in edges.items() for name in names]
        if len(here) == 1 and here[0][0] in TWICE and not notation.branches:
            here *= 2
        if len(here) != PER_NODE:
            count = sum(map(bool, edges.values()))
            counts = f"{len(here)} operation{'s' * (len(here) != 1)} on {count} edge{'s' * (count != 1)}"
            help = "a genotype has two operations into each node: derive with `--keep-per-node 2`"
            unfitting(f"node {node} of `{cell}` keeps {counts}", help)
        pairs += here
    return tuple(pairs)
