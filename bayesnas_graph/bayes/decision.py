"""What a search decides about every switch, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

import torch
from pydantic import ConfigDict, TypeAdapter
from torch import Tensor

from bayesnas_graph.bayes.dependency import whole_path
from bayesnas_graph.bayes.entropy import entropy, keep
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.bayes.update import State
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.literals import Ranking
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune


class Why(StrEnum):
    """The reason why a switch is kept or not; each has one."""

    OWN = "own switch off"
    ZERO = "its zero switch off"
    BEFORE = "nothing before it"  # or too little, with what it has itself
    UNDETERMINED = "undetermined"  # the data say nothing about it, so taking it out costs nothing
    DEAD_END = "dead end"  # it is on, but leads to no output
    LIMIT = "others of its choice are better"  # of which only so many may stay
    NODE = "others into its node are better"  # likewise
    SIZE = "no room for it"  # the architecture would be too large
    LEFT_OUT = "not in the architecture"  # that was given
    NEEDED = "undetermined but needed"  # taking it out would cost an output
    BRIDGE = "off but needed"  # likewise; it is the best of those that could stay in its place
    ROOM = "off but there is room"  # the architecture may be larger than it would be without it
    BEST = "best of its choice"  # or one of the best, where a fixed number stays
    GIVEN = "in the architecture"  # that was given
    KEPT = "kept"

    @property
    def keep(self) -> bool:
        """Whether a switch with this reason stays."""
        return self in (Why.NEEDED, Why.BRIDGE, Why.ROOM, Why.BEST, Why.GIVEN, Why.KEPT)


@dataclass(frozen=True, slots=True)
class Location:
    """Where in a text something was written. Lines and columns begin at 1; the end is not included."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @staticmethod
    def of(span: Span) -> Location:
        """The place of a span."""
        return Location(span.source.name, *span.source.position(span.start), *span.source.position(span.end))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided about one switch. It has a value and a curvature for each of its gates."""

    name: str
    keep: bool
    why: Why
    gamma: float
    s: float
    omega: float
    entropy: float | None  # None where gamma is zero, and there is no bound
    gates: tuple[str, ...]
    w: tuple[float, ...]
    h: tuple[float, ...]
    places: tuple[Location, ...]
    relevance: float = 0.0  # what it is worth by three rankings, as of the update that the rest is from
    removal: float = 0.0
    magnitude: float = 0.0

    def worth(self, ranking: Ranking) -> float:
        """What it is worth by a ranking; more is better."""
        match ranking:
            case "gamma":
                return self.gamma
            case "relevance":
                return self.relevance
            case "removal":
                return self.removal
            case "magnitude":
                return self.magnitude


@dataclass(frozen=True)
class Decision:
    """What is decided about all switches of a graph.

    If the graph falls apart by it, that is told and nothing else happens: `lost` are the outputs that nothing
    reaches, `cut` the closed switches at which the way to them ends. `misfit` tells what no longer fits together.
    """

    __pydantic_config__ = ConfigDict(allow_inf_nan=False, extra="forbid")

    verdicts: tuple[Verdict, ...]
    lost: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    misfit: str | None = None

    @property
    def off(self) -> frozenset[str]:
        """The groups to prune."""
        return frozenset(verdict.name for verdict in self.verdicts if not verdict.keep)

    def changed(self, names: Iterable[str], why: Why) -> Decision:
        """The same but for some switches, for which there is another reason."""
        others = frozenset(names)
        verdicts = (replace(v, keep=why.keep, why=why) if v.name in others else v for v in self.verdicts)
        return replace(self, verdicts=tuple(verdicts))

    def ranked(self, worth: Mapping[Ranking, Mapping[str, float]]) -> Decision:
        """The same, with what every switch is worth by all rankings."""
        relevance, removal, magnitude = worth["relevance"], worth["removal"], worth["magnitude"]
        verdicts = (
            replace(v, relevance=relevance[v.name], removal=removal[v.name], magnitude=magnitude[v.name])
            for v in self.verdicts
        )
        return replace(self, verdicts=tuple(verdicts))

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, lists, strings and numbers, as JSON has them. No number loses a digit."""
        plain: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return plain

    @staticmethod
    def from_plain(plain: object) -> Decision:
        """The decision that `to_plain` was given. Raises pydantic's ValidationError if it is none."""
        return _adapter().validate_python(plain)


@cache
def _adapter() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)


def decide(graph: Graph, switches: Switches, state: State, h: Tensor, w: Tensor) -> Decision:
    """Decide about every switch of a graph, given the last update and the `h` and `w` that it was made from.

    A switch is off where gamma says so. Of the rest, those about which the data say nothing go too, unless an
    output depends on them, and then what no longer lies on a way from an input to an output.
    """
    off = _closed(switches, state.gamma)
    undetermined = {switches.groups[i] for i in state.undetermined.tolist()} - off
    outcome = _outcome(graph, off, undetermined)
    closed = _closed(switches, state.s)
    under_zero = _under_closed_zeros(graph, closed | outcome.removed)
    arriving = _arriving(switches, off | outcome.removed)

    def why(group: str) -> Why:
        if group in closed:
            return Why.OWN
        if group in outcome.removed:
            return Why.UNDETERMINED
        if group in off or group not in arriving:
            return Why.ZERO if group in under_zero else Why.BEFORE
        if outcome.left is not None and group not in outcome.left:
            return Why.DEAD_END
        return Why.NEEDED if group in undetermined else Why.KEPT

    return Decision(
        verdicts=tuple(verdicts(switches, state, h, w, [why(group) for group in switches.groups])),
        lost=outcome.lost,
        cut=outcome.cut,
        misfit=outcome.misfit,
    )


def _closed(switches: Switches, variances: Tensor) -> set[str]:
    """The groups that are off by these variances."""
    return {group for group, kept in zip(switches.groups, keep(variances).tolist(), strict=True) if not kept}


@dataclass(frozen=True)
class _Outcome:
    """What becomes of a graph."""

    removed: set[str]  # of the undetermined groups
    left: set[str] | None = None  # groups that are still in the graph; None if there is no graph
    lost: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    misfit: str | None = None


def _outcome(graph: Graph, off: set[str], undetermined: set[str]) -> _Outcome:
    """Prune, and give undetermined switches back for as long as the graph falls apart without them."""
    removed = undetermined
    while True:
        try:
            return _Outcome(removed, {gate.group for gate in prune(graph, off | removed).gates})
        except Disconnected as error:
            needed = removed.intersection(error.cut)
            if not needed:
                return _Outcome(removed, lost=error.outputs, cut=error.cut)
        except Misfit as error:
            needed = removed
            if not needed:
                return _Outcome(removed, misfit=str(error))
        removed = removed - needed


def _arriving(switches: Switches, off: set[str]) -> set[str]:
    """The groups that something arrives at: where gamma is positive if what is on is 1 and what is off is 0."""
    structure = switches.structure
    s = torch.tensor([group not in off for group in switches.groups], dtype=torch.float64, device=switches.group.device)
    gamma = structure.reduce(whole_path(structure, structure.spread(s)))
    return {group for group, value in zip(switches.groups, gamma.tolist(), strict=True) if value > 0}


def _under_closed_zeros(graph: Graph, closed: set[str]) -> set[str]:
    """The groups that have, in each of their uses, a closed zero switch on a choice around them."""
    choices = {gate.choice for gate in graph.gates if gate.is_zero and gate.group in closed}
    found: dict[str, bool] = {}
    for edge in graph.edges:
        if edge.gate is not None:
            is_under = not choices.isdisjoint(graph.choices_around(edge.target))
            found[edge.gate.group] = found.get(edge.gate.group, True) and is_under
    return {group for group, is_under in found.items() if is_under}


def verdicts(switches: Switches, state: State, h: Tensor, w: Tensor, reasons: Iterable[Why]) -> Iterator[Verdict]:
    """What is decided about every switch, given why."""
    members: list[list[int]] = [[] for _ in switches.groups]
    for gate, group in enumerate(switches.group.tolist()):
        members[group].append(gate)
    values, curvatures = _numbers(w), _numbers(h)
    columns = map(_numbers, (state.gamma, state.s, state.omega, entropy(state.gamma)))
    for group, (why, gamma, s, omega, left) in enumerate(zip(reasons, *columns, strict=True)):
        yield Verdict(
            name=switches.groups[group],
            keep=why.keep,
            why=why,
            gamma=gamma,
            s=s,
            omega=omega,
            entropy=left if gamma > 0 else None,
            gates=tuple(switches.gates[i] for i in members[group]),
            w=tuple(values[i] for i in members[group]),
            h=tuple(curvatures[i] for i in members[group]),
            places=tuple(map(Location.of, switches.spans[group])),
        )


def _numbers(values: Tensor) -> list[float]:
    """As Python has them; infinite ones, which JSON lacks, as the largest."""
    found: list[float] = values.nan_to_num().tolist()
    return found
