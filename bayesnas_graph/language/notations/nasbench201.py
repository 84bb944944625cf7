"""Cells in the notation of NAS-Bench-201: `|nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|`.

X. Dong, Y. Yang: NAS-Bench-201: Extending the Scope of Reproducible Neural Architecture Search. ICLR 2020.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations.notation import NONE, Notation
from bayesnas_graph.language.notations.problems import string_source, unfitting, unreadable

NASBENCH201 = Notation(
    name="NAS-Bench-201",
    spaces=("nasbench201",),
    cells=("dense",),
    inputs=("x",),
    nodes=3,
    operations={
        "skip_connect": "identity",
        "nor_conv_1x1": "nor_conv_1",
        "nor_conv_3x3": "nor_conv_3",
        "avg_pool_3x3": "avg_pool",
    },
)

_EDGES = tuple(NASBENCH201.edges)


@dataclass(frozen=True, slots=True)
class Cell:
    """The operations of the six edges, by target node."""

    operations: tuple[str, ...]

    def __str__(self) -> str:
        written = zip(_EDGES, self.operations, strict=True)
        return "".join(f"{_opening(edge.node, edge.input)}{name}~{edge.input}|" for edge, name in written)


def _opening(node: int, input: int) -> str:
    """The separator before an edge."""
    if input:
        return ""
    return "|" if node == 1 else "+|"


def parse_cell(text: str) -> Cell:
    """Parse a cell. Raises NasError with the position of the error.

    >>> parse_cell("|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|avg_pool_3x3~2|").operations
    ('nor_conv_3x3', 'none', 'skip_connect', 'none', 'none', 'avg_pool_3x3')
    """
    source = string_source(text)
    end = len(source.text.rstrip())
    place = min(len(source.text) - len(source.text.lstrip()), end)
    operations = []
    for edge in _EDGES:
        opening = _opening(edge.node, edge.input)
        match = re.compile(rf"{re.escape(opening)}(\w+)~{edge.input}\|", re.ASCII).match(source.text, place, end)
        if match is None:
            wrong = re.compile(r"[+|]*[^+|]*\|?").match(source.text, place, end)
            label = f"expected `{opening}operation~{edge.input}|`"
            _fail(Span(source, place, wrong.end() if wrong else end), label)
        operations.append(match[1])
        place = match.end()
    if place < end:
        _fail(Span(source, place, end), "the cell ends before this")
    return Cell(tuple(operations))


def _fail(span: Span, label: str) -> NoReturn:
    form = Cell(("nor_conv_3x3", NONE, "skip_connect", NONE, NONE, "avg_pool_3x3"))
    unreadable(span, "this is not a cell of NAS-Bench-201", label, f"a cell looks like `{form}`")


def groups_of(cell: Cell, graph: Graph) -> frozenset[str]:
    """The groups to keep in a graph of the space; an edge with `none` keeps none. Raises NasError."""
    return NASBENCH201.groups(zip(_EDGES, cell.operations, strict=True), graph)


def cell_of(kept: Collection[str], graph: Graph) -> Cell:
    """The cell that keeps these groups. Raises NasError if an edge keeps several operations."""
    operations = NASBENCH201.operations_of(kept, graph)
    for edge, names in operations.items():
        if len(names) > 1:
            kept_here = ", ".join(f"`{name}`" for name in names)
            help = "an edge of NAS-Bench-201 can have only one operation: close the others"
            unfitting(f"the edge from {edge.input} to {edge.node} keeps several operations: {kept_here}", help)
    return Cell(tuple(names[0] if names else NONE for names in operations.values()))
