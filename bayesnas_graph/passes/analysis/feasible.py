"""Whether a space has an architecture that meets all its requirements."""

from __future__ import annotations

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes.analysis.limits import limits
from bayesnas_graph.passes.analysis.obey import obey
from bayesnas_graph.passes.analysis.rules import Rules
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune


def check_feasible(graph: Graph) -> None:
    """Raise NasError if no architecture is found that meets all requirements, with the first that is one too many."""
    if _has_architecture(graph, len(graph.constraints)):
        return
    known = 0  # requirements, in the order of the graph, that can be met together
    while known + 1 < len(graph.constraints) and _has_architecture(graph, known + 1):
        known += 1
    constraint = graph.constraints[known]
    earlier = [other for other in graph.constraints[:known] if str(other) != str(constraint)]
    message = f"no architecture of network `{graph.name}` was found that meets `{constraint.text}`"
    message += " and the requirements before it" if earlier else ""
    label = Label(constraint.span, f"required in `{constraint.part}`") if constraint.span else None
    raise NasError([Diagnostic("NAS308", message, label, help="relax one of the requirements")])


def _has_architecture(graph: Graph, count: int) -> bool:
    """Return whether an architecture was found that meets the first requirements."""
    if count == 0:
        return True
    part = graph.replace(list(graph), graph.edges, graph.outputs, graph.constraints[:count])
    scores = dict.fromkeys(graph.switches, 0.0)

    def is_whole(off: frozenset[str]) -> bool:
        try:
            prune(graph, off)
        except (Disconnected, Misfit):
            return False
        return True

    most = limits(graph)
    closed = frozenset(group for limit in most for group in limit.groups[limit.most :])
    return obey(Rules(part), most, closed, scores, is_whole) is not None
