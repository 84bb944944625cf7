"""Constraints on the edges that an architecture keeps: the `require` statements of motifs, cells and networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bayesnas_graph.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class WrittenEdge:
    """An edge of the text: a value that a node reads, perhaps through operations with switches.

    It is kept if the value reaches the node. A node with a single edge has no join in the graph: then `target` is
    empty, and the edge is kept if `source` is.
    """

    source: str  # the node that computes the value
    target: str  # the join that reads it; empty if there is none
    inside: tuple[str, ...] = ()  # the choices and optional operations on the edge
    closable: bool = False  # whether it is off if all these are
    text: str = field(default="", compare=False)  # its ends: `x -> h[1]`


@dataclass(frozen=True, slots=True)
class Term:
    """An edge that counts if it is kept, or if it is not."""

    edge: WrittenEdge
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Constraint:
    """At least `least` and at most `most` of the terms hold, while one of the nodes `around` is used.

    `inputs(h) == 2` has a term for every edge into `h`; `a implies b` has the terms "not a" and "b", and one must hold.
    """

    terms: tuple[Term, ...]
    least: int
    most: int
    around: tuple[str, ...]
    text: str = field(default="", compare=False)  # `inputs(h[1]) == 2`
    part: str = field(default="", compare=False)  # the cell, motif or network that it is in
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.part}: {self.text}" if self.part else self.text

    def moved(self, sources: Mapping[tuple[str, str], str]) -> Constraint:
        """The constraint after edges, given by source and target, got other sources."""
        terms = []
        for term in self.terms:
            edge = term.edge
            source = sources.get((edge.source, edge.target), edge.source)
            terms.append(replace(term, edge=replace(edge, source=source)))
        return replace(self, terms=tuple(terms))
