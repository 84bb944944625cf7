"""Architectures as DARTS genotypes, NAS-Bench-201 cells and lists of switches.

An architecture is the set of kept groups of switches; a notation is another way to write it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.notations import genotype, nasbench201, switch_names
from bayesnas_graph.language.notations.genotype import DARTS, Genotype, genotype_of, parse_genotype
from bayesnas_graph.language.notations.nasbench201 import NASBENCH201, Cell, cell_of, parse_cell
from bayesnas_graph.language.notations.problems import string_source, unreadable
from bayesnas_graph.language.notations.switch_names import with_zeros

__all__ = [
    "Cell",
    "Genotype",
    "cell_of",
    "genotype_of",
    "parse_cell",
    "parse_genotype",
    "read_architecture",
    "with_zeros",
    "write_architecture",
]


def read_architecture(text: str | Sequence[str], graph: Graph) -> frozenset[str]:
    """The groups to keep in a graph for a text in any notation, or for names of switches. Raises NasError."""
    if not isinstance(text, str):
        return switch_names.groups_named(((name, None) for name in text), graph)
    if switch_names.is_json(text):
        return switch_names.groups_of(text, graph)
    if "Genotype" in text:
        return genotype.groups_of(parse_genotype(text), graph)
    if "|" in text:
        return nasbench201.groups_of(parse_cell(text), graph)
    if switch_names.is_list(text, graph):
        return switch_names.groups_of(text, graph)
    source = string_source(text)
    help = "write names of switches, `Genotype(normal=[...], ...)` (DARTS) or `|...~0|+|...` (NAS-Bench-201)"
    everything = Span(source, 0, len(source.text))
    label = "neither names of switches nor a genotype nor a cell"
    unreadable(everything, "the notation of the architecture is unknown", label, help)


def write_architecture(kept: Collection[str], graph: Graph) -> str | None:
    """The architecture in the notation of the graph's space; None if the space has no notation.

    Raises NasError if the notation cannot express the architecture.
    """
    if DARTS.sized(graph).fits(graph):
        return str(genotype_of(kept, graph))
    if NASBENCH201.fits(graph):
        return str(cell_of(kept, graph))
    return None
