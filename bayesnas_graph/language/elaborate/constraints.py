"""Look up the edges that the requirements of a motif are about, once all its edges are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.language.elaborate.block import BlockConstraint, BlockEdge
from bayesnas_graph.language.elaborate.limits import Meter
from bayesnas_graph.language.elaborate.problems import count
from bayesnas_graph.language.elaborate.values import MotifNode
from bayesnas_graph.language.elaborate.wiring import (
    Application,
    ClauseRequirement,
    CountRequirement,
    Requirement,
    Wiring,
)


@dataclass(frozen=True, slots=True)
class ExpandedEdge:
    """An edge of the text and where it is in the block."""

    application: Application
    target: MotifNode
    edge: BlockEdge


class ConstraintFinder:
    """Turns the requirements of a motif into constraints on the edges of its block."""

    def __init__(self, wiring: Wiring, edges: Sequence[ExpandedEdge], outputs: Sequence[int], meter: Meter) -> None:
        self.edges = [edge for edge in edges if edge.target.declared]
        self.inputs = frozenset(wiring.inputs)
        self.outputs = tuple(outputs)
        self.meter = meter
        self.into: dict[MotifNode, list[ExpandedEdge]] = {}
        for edge in self.edges:
            self.into.setdefault(edge.target, []).append(edge)

    def constraint(self, requirement: Requirement, report: Report) -> BlockConstraint | None:
        """The constraint of a requirement; None if it always holds. Raises NasError, reported, if it never does."""
        if isinstance(requirement, CountRequirement):
            return self._count(requirement, report)
        return self._clause(requirement, report)

    def _count(self, requirement: CountRequirement, report: Report) -> BlockConstraint | None:
        node = requirement.node
        if node is None:
            counted = [edge.edge for edge in self.edges if edge.edge.closable]
            around, what = self.outputs, "edges that can be off"
        else:
            self._check_target(node, requirement, report)
            into = self.into.get(node, [])
            counted, what = [edge.edge for edge in into], f"edges into `{node.text}`"
            join = counted[0].target if counted else None
            around = (counted[0].source if join is None else join,) if counted else ()
        self.meter.step(requirement.span, len(counted))
        fixed = sum(not edge.closable for edge in counted)
        least, most = _bounds(requirement, len(counted))
        if least > len(counted) or most < fixed or least > most:
            label = f"there are {len(counted)} {what}"
            help = None
            if fixed and most < fixed:
                label = f"{count(fixed, 'edge')} of {len(counted)} cannot be off"
                help = "an edge can be off if it has `optional` or `choose`, but not `choose exactly`"
            report.fail(
                Diagnostic("NAS308", f"`{requirement}` can never hold", Label(requirement.span, label), help=help)
            )
        if least <= fixed and most >= len(counted):
            return None
        terms = tuple((edge, True) for edge in counted)
        return BlockConstraint(terms, least, most, around, str(requirement), requirement.span)

    def _clause(self, requirement: ClauseRequirement, report: Report) -> BlockConstraint:
        terms = []
        for between, kept in requirement.edges:
            found = [edge for edge in self.into.get(between.target, []) if between.source in edge.application.inputs]
            if not found:
                label = Label(between.span, f"nothing leads from `{between.source.text}` to `{between.target.text}`")
                report.fail(Diagnostic("NAS214", "unknown edge", label, help="write the source first: `edge(a, b)`"))
            if len(found) > 1:
                label = Label(between.span, f"there are {len(found)} such edges")
                help = "put all operations between two nodes into one `choose`"
                report.fail(Diagnostic("NAS214", "several edges", label, help=help))
            terms.append((found[0].edge, kept))
        can_hold = any(kept or edge.closable for edge, kept in terms)
        if not can_hold:
            label = Label(requirement.span, "its edges cannot be off")
            report.fail(Diagnostic("NAS308", f"`{requirement}` can never hold", label))
        return BlockConstraint(tuple(terms), 1, len(terms), self.outputs, str(requirement), requirement.span)

    def _check_target(self, node: MotifNode, requirement: CountRequirement, report: Report) -> None:
        if node in self.inputs or not node.declared:
            what = "an input of the motif" if node in self.inputs else "the result of an operation"
            label = Label(requirement.span, f"`{node.written}` is {what}")
            report.fail(Diagnostic("NAS214", "only nodes with edges have inputs", label))


def _bounds(requirement: CountRequirement, number: int) -> tuple[int, int]:
    """At least and at most so many of a number of edges."""
    bound = requirement.bound
    match requirement.comparison:
        case "==":
            return bound, bound
        case "<":
            return 0, bound - 1
        case "<=":
            return 0, bound
        case ">":
            return bound + 1, number
        case _:
            return bound, number
