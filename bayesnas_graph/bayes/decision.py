"""The decision about every switch, with reasons."""

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
from bayesnas_graph.bayes.worth import Worth
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir import Graph
from bayesnas_graph.ir.literals import Ranking
from bayesnas_graph.passes.prune import Disconnected, Misfit, prune
from bayesnas_graph.runtime.precision import gate_dtype


class Why(StrEnum):
    """The reason why a switch is kept or closed."""

    OWN = "own switch off"
    ZERO = "its zero switch off"
    BEFORE = "nothing before it"  # or too little for its own variance
    UNDETERMINED = "undetermined"  # by the data, so removing it costs nothing
    DEAD_END = "dead end"  # it is on, but leads to no output
    LIMIT = "others of its choice are better"  # only a limited number can stay
    NODE = "others into its node are better"  # only a limited number may stay
    REQUIRED = "a requirement allows no more"  # a `require` of the space
    SIZE = "no room for it"  # the architecture would be too large
    LEFT_OUT = "not in the architecture"  # that was given
    LOST = "not in the best finalist"  # but it was in the architecture that the search decided on
    NEEDED = "undetermined but needed"  # removing it would lose an output
    BRIDGE = "off but needed"  # the best switch that reconnects the output
    ROOM = "off but there is room"  # the architecture may be larger
    LEAST = "off but its choice needs it"  # the best of those that it could still keep
    DEMANDED = "off but required"  # by a `require` of the space
    BEST = "best of its choice"  # or one of the best, if a fixed number stays
    GIVEN = "in the architecture"  # that was given
    WON = "in the best finalist"  # but it was not in the architecture that the search decided on
    KEPT = "kept"

    @property
    def keep(self) -> bool:
        """Whether a switch with this reason is kept."""
        return self in (
            Why.NEEDED,
            Why.BRIDGE,
            Why.ROOM,
            Why.LEAST,
            Why.DEMANDED,
            Why.BEST,
            Why.GIVEN,
            Why.WON,
            Why.KEPT,
        )

    @property
    def is_reopened(self) -> bool:
        """Whether a switch with this reason would be closed, but an output, a choice or a requirement needs it."""
        return self in (Why.BRIDGE, Why.LEAST, Why.DEMANDED)


@dataclass(frozen=True, slots=True)
class Location:
    """A range of a text. Lines and columns begin at 1; the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @staticmethod
    def of(span: Span) -> Location:
        """The location of a span."""
        return Location(span.source.name, *span.source.position(span.start), *span.source.position(span.end))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about one switch, with a value and a curvature for each of its gates."""

    name: str
    keep: bool
    why: Why
    gamma: float
    s: float
    omega: float
    entropy: float | None  # None where gamma is zero
    gates: tuple[str, ...]
    w: tuple[float, ...]
    h: tuple[float, ...]
    places: tuple[Location, ...]
    relevance: float = 0.0  # scores by three rankings, from the same update as the rest
    removal: float = 0.0
    magnitude: float = 0.0
    worth: float = 0.0  # the best value of its gate, relative to an equal contribution, if the strategy estimates it
    error: float = 0.0  # the standard error of its worth
    behind: float = 0.0  # how much less it is worth than the best of its choice, when both were last open

    def score(self, ranking: Ranking) -> float:
        """Its score by a ranking; higher is better."""
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
    """The decision about all switches of a graph.

    If the graph falls apart, this is only reported: `lost` are the outputs that nothing reaches, and `cut` the closed
    switches that disconnect them. `misfit` names the shapes that no longer match.
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
        """A copy with another reason for some switches."""
        others = frozenset(names)
        verdicts = (replace(v, keep=why.keep, why=why) if v.name in others else v for v in self.verdicts)
        return replace(self, verdicts=tuple(verdicts))

    def ranked(self, worth: Mapping[Ranking, Mapping[str, float]]) -> Decision:
        """A copy with the scores of every switch by all rankings."""
        relevance, removal, magnitude = worth["relevance"], worth["removal"], worth["magnitude"]
        verdicts = (
            replace(v, relevance=relevance[v.name], removal=removal[v.name], magnitude=magnitude[v.name])
            for v in self.verdicts
        )
        return replace(self, verdicts=tuple(verdicts))

    def judged(self, worth: Worth, behind: Tensor) -> Decision:
        """A copy with the worth of every switch, which is also its score by all rankings but gamma."""
        numbers = zip(self.verdicts, worth.mean.tolist(), worth.error.tolist(), behind.tolist(), strict=True)
        verdicts = (
            replace(v, worth=w, error=e, behind=b, relevance=w, removal=w, magnitude=w) for v, w, e, b in numbers
        )
        return replace(self, verdicts=tuple(verdicts))

    def to_plain(self) -> dict[str, Any]:
        """Dictionaries, lists, strings and numbers, for JSON. Numbers keep full precision."""
        plain: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return plain

    @staticmethod
    def from_plain(plain: object) -> Decision:
        """Read what `to_plain` wrote. Raises pydantic's ValidationError."""
        return _adapter().validate_python(plain)


@cache
def _adapter() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)


def decide(graph: Graph, switches: Switches, state: State, h: Tensor, w: Tensor) -> Decision:
    """Decide about every switch of a graph, given the last update and its `h` and `w`.

    A switch is closed if its gamma is too small. Undetermined switches are closed too, unless an output depends on
    them, and finally all switches that are no longer on a path from an input to an output.
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
    """The graph after pruning."""

    removed: set[str]  # of the undetermined groups
    left: set[str] | None = None  # groups still in the graph; None if it fell apart
    lost: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    misfit: str | None = None


def _outcome(graph: Graph, off: set[str], undetermined: set[str]) -> _Outcome:
    """Prune, and restore undetermined switches as long as the graph falls apart without them."""
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
    """The groups that are reachable from an input: gamma is positive when open switches are 1 and closed ones 0."""
    structure = switches.structure
    device = switches.group.device
    s = torch.tensor([group not in off for group in switches.groups], dtype=gate_dtype(device), device=device)
    gamma = structure.reduce(whole_path(structure, structure.spread(s)))
    return {group for group, value in zip(switches.groups, gamma.tolist(), strict=True) if value > 0}


def _under_closed_zeros(graph: Graph, closed: set[str]) -> set[str]:
    """The groups that in every use are inside a choice with a closed zero switch."""
    choices = {gate.choice for gate in graph.gates if gate.is_zero and gate.group in closed}
    found: dict[str, bool] = {}
    for edge in graph.edges:
        if edge.gate is not None:
            is_under = not choices.isdisjoint(graph.choices_around(edge.target))
            found[edge.gate.group] = found.get(edge.gate.group, True) and is_under
    return {group for group, is_under in found.items() if is_under}


def verdicts(switches: Switches, state: State, h: Tensor, w: Tensor, reasons: Iterable[Why]) -> Iterator[Verdict]:
    """The decisions about all switches, given the reasons."""
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
    """Convert to Python floats. Infinite values, which JSON lacks, become the largest float."""
    found: list[float] = values.nan_to_num().tolist()
    return found
