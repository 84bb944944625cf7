"""Architectures as DARTS genotypes and NAS-Bench-201 cells.

An architecture is the set of kept groups of switches; a notation is another way to write it.
"""

from __future__ import annotations

from collections.abc import Collection

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations import genotype, nasbench201
from bayesnas_graph.language.notations.genotype import DARTS, Genotype, genotype_of, parse_genotype
from bayesnas_graph.language.notations.nasbench201 import NASBENCH201, Cell, cell_of, parse_cell
from bayesnas_graph.language.notations.problems import string_source, unreadable

__all__ = [
    "Cell",
    "Genotype",
    "cell_of",
    "genotype_of",
    "parse_cell",
    "parse_genotype",
    "read_architecture",
    "write_architecture",
]


def read_architecture(text: str, graph: Graph) -> frozenset[str]:
    """The groups to keep in a graph for an architecture in either notation. Raises NasError."""
    if "Genotype" in text:
        return genotype.groups_of(parse_genotype(text), graph)
    if "|" in text:
        return nasbench201.groups_of(parse_cell(text), graph)
    source = string_source(text)
    help = "write `Genotype(normal=[...], ...)` (DARTS) or `|...~0|+|...` (NAS-Bench-201)"
    everything = Span(source, 0, len(source.text))
    unreadable(everything, "the notation of the architecture is unknown", "neither a genotype nor a cell", help)


def write_architecture(kept: Collection[str], graph: Graph) -> str | None:
    """The architecture in the notation of the graph's space; None if the space has no notation.

    Raises NasError if the notation cannot express the architecture.
    """
    if DARTS.fits(graph):
        return str(genotype_of(kept, graph))
    if NASBENCH201.fits(graph):
        return str(cell_of(kept, graph))
    return None
