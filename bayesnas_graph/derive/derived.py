"""From a decision to a connected architecture, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bayesnas_graph.bayes import Decision, Verdict, Why
from bayesnas_graph.bayes.decision import Location
from bayesnas_graph.bayes.repair import close_dead_ends
from bayesnas_graph.derive.rules import Rule, apply, left_groups
from bayesnas_graph.diagnostics import Diagnostic, Label, NasError
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.passes import Disconnected, Misfit, prune
from bayesnas_graph.passes.analysis import Rules, limits

SHOWN = 6  # switches named in a message


@dataclass(frozen=True, eq=False)
class Derived:
    """An architecture: the remaining graph, and the decision about every switch."""

    graph: Graph  # pruned, with the remaining gates
    decision: Decision


def derive(graph: Graph, decision: Decision, rule: Rule | None = None) -> Derived:
    """Return the architecture that a decision and a rule select from a graph.

    Raises NasError if it is not connected, or if it breaks a rule of the space.

    The graph must have zero switches and groups. It may differ from that of the search if it has the same switches:
    cells found in a small network can be put into a large one.
    """
    decision = about(graph, decision)
    decision = apply(rule or Rule(), graph, decision)
    try:
        pruned = prune(graph, decision.off)
    except Disconnected as error:
        raise NasError([_disconnected(graph, error)]) from None
    except Misfit as error:
        help = "keep more of its inputs, or write the network so that its width may change"
        message = f"inconsistent widths at `{error.node}`: {error.reason}"
        lost = f", because {_listed(error.narrower)} lost inputs" if error.narrower else ""
        raise NasError([Diagnostic("NAS613", message + lost, help=help)]) from None
    if problems := _disobeyed(graph, pruned, decision):
        raise NasError(problems)
    return Derived(pruned, close_dead_ends(graph, decision))


def about(graph: Graph, decision: Decision) -> Decision:
    """Return a decision about the switches of this graph, in its order. Raises NasError if one is missing."""
    known = {verdict.name: verdict for verdict in decision.verdicts}
    groups = list(dict.fromkeys(gate.group for gate in graph.gates))
    missing = [group for group in groups if group not in known]
    if missing:
        message = f"no decision about {_named(graph, missing)} of network `{graph.name}`"
        help = "use a network with the cells that were searched"
        raise NasError([Diagnostic("NAS615", message, _label(graph, missing[0], "not searched"), help=help)])
    return Decision(tuple(known[group] for group in groups))


def given(graph: Graph, kept: Collection[str]) -> Decision:
    """Return the decision that keeps exactly these switches."""
    spans: dict[str, dict[Span, None]] = {}
    gates: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.gate is not None:
            gates.setdefault(edge.gate.group, []).append(edge.gate.name)
            spans.setdefault(edge.gate.group, {}).update({span: None} if (span := edge.switch_span) else {})
    return Decision(
        tuple(
            Verdict(
                name=group,
                keep=group in kept,
                why=Why.GIVEN if group in kept else Why.LEFT_OUT,
                gamma=float(group in kept),
                s=float(group in kept),
                omega=1.0,
                entropy=None,
                gates=tuple(dict.fromkeys(names)),
                w=(),
                h=(),
                places=tuple(map(Location.of, spans.get(group, ()))),
                relevance=float(group in kept),
            )
            for group, names in gates.items()
        )
    )


def _disconnected(graph: Graph, error: Disconnected) -> Diagnostic:
    """Report which closed switches block the output, and where they are written."""
    lost = "the output" if len(graph.outputs) == 1 else f"output {', '.join(f'`{name}`' for name in error.outputs)}"
    message = f"nothing reaches {lost}: {_named(graph, error.cut)} {'is' if len(error.cut) == 1 else 'are'} off"
    help = "keep one of them: use `--keep-per-edge 1`, search with a smaller lambda, or change the given architecture"
    text = "off, but needed to reach the output"
    labels = [label for label in (_label(graph, group, text) for group in error.cut) if label is not None]
    places = list({label.span: label for label in labels}.values())
    primary, others = (places[0], tuple(places[1:SHOWN])) if places else (None, ())
    return Diagnostic("NAS612", message, primary, others, help=help)


def _disobeyed(graph: Graph, pruned: Graph, decision: Decision) -> list[Diagnostic]:
    """Report the rules of the space that an architecture breaks: requirements, and limits of choices.

    A search may keep more candidates than a choice may have if an output needs them, so only those that were given
    are reported.
    """
    found: dict[object, Diagnostic] = {}
    for rule, missing in Rules(graph).violated(decision.off):
        constraint = rule.constraint
        if rule.of_choice:
            groups = tuple(edge.gate.group for edge in graph.inputs(constraint.around[0]) if edge.gate)
            found[groups] = _miscount(graph, groups, decision.off, f"exactly {constraint.least}", "add")
            continue
        has = "too few" if missing > 0 else "too many"
        counted = f"{has} of {_listed([term.edge.text for term in constraint.terms])} are kept"
        if any(not term.kept for term in constraint.terms):
            counted = "it does not hold for the edges that are kept"
        label = Label(constraint.span, counted) if constraint.span else None
        message = f"the architecture breaks a requirement of `{constraint.part}`: {constraint.text}"
        help = "change the architecture, or the requirement"
        found.setdefault((constraint.part, constraint.text), Diagnostic("NAS623", message, label, help=help))
    given = {verdict.name for verdict in decision.verdicts if verdict.why == Why.GIVEN}
    left = left_groups(pruned) & given
    for limit in limits(graph):
        if limit.exceeded(left):
            off = set(limit.groups) - left
            wanted = f"{'exactly' if limit.least else 'at most'} {limit.most}"
            found[limit.groups] = _miscount(graph, limit.groups, off, wanted, "remove")
    return list(found.values())


def _miscount(graph: Graph, groups: tuple[str, ...], off: Collection[str], wanted: str, verb: str) -> Diagnostic:
    gate = graph.switches[groups[0]]
    kept = [graph.switches[group].label for group in groups if group not in off]
    has = f"has {_listed(kept)}" if kept else "has none"
    message = f"`{gate.part} {gate.place}` keeps {wanted} of its {len(groups)} candidates, but the architecture {has}"
    choice = graph[gate.choice]
    label = Label(choice.span, "chosen here") if choice.span else None
    return Diagnostic("NAS623", message, label, help=f"{verb} candidates in the architecture")


def _label(graph: Graph, group: str, text: str) -> Label | None:
    for edge in graph.edges:
        if edge.gate is not None and edge.gate.group == group and (span := edge.switch_span) is not None:
            return Label(span, text)
    return None


def _named(graph: Graph, groups: Collection[str]) -> str:
    return _listed([graph.switches[group].text for group in groups])


def _listed(names: Collection[str]) -> str:
    shown = [f"`{name}`" for name in list(names)[:SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def kept_groups(derived: Derived) -> frozenset[str]:
    """Return the switches of an architecture."""
    return frozenset(left_groups(derived.graph))
