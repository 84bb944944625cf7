"""The prior of a supernet's switches: its update and decisions, as the search uses them and for custom training loops.

w r      the variable of the prior: the gate `w` times its unit `r`, the magnitude of its input
step     moves the gates along their gradients, by the penalty, and back into their gauge
decide   updates the prior by curvatures, and decides about every switch
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes import Decision, Estimator, Loss, Ranking, Reach, State, Switches
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.ir import Graph
from bayesnas_graph.runs.objectives import objective_of
from bayesnas_graph.runtime.precision import precise

if TYPE_CHECKING:
    from bayesnas_graph.codegen.supernet import Supernet


@torch.no_grad()
def moved(
    switches: Switches, omega: Tensor, units: Tensor, lambda_w: Tensor, gates: Tensor, slopes: Tensor, rate: float
) -> Tensor:
    """Return `w r` after a gradient step and the step of the penalty.

    The step is taken in the unit of the prior, so how fast a gate shrinks does not depend on the scale of its input.
    """
    w = precise(gates) * units - rate * precise(slopes) / units
    return bayes.proximal_step(switches, w, omega, lambda_w, rate)


def penalty(switches: Switches, omega: Tensor, units: Tensor, lambda_w: Tensor, gates: Tensor) -> float:
    """Return the penalty at these gates."""
    return float(bayes.penalty(switches, precise(gates) * units, omega, lambda_w))


@dataclass(frozen=True, eq=False)
class Measurements:
    """The basis of a decision, for every gate."""

    h: Tensor  # second derivative of the mean loss
    gates: Tensor
    units: Tensor
    slopes: Tensor | None = None  # first derivative, if the ranking needs it


@dataclass(frozen=True, eq=False)
class Decided:
    """The prior after an update, and its decision."""

    prior: State
    sound: Decision  # without dead ends and disconnected outputs
    chosen: Decision  # also within the limits of choices
    scores: dict[str, float]  # of every switch, by the ranking


@torch.no_grad()
def decide(
    graph: Graph,
    switches: Switches,
    gamma: Tensor,
    found: Measurements,
    lambda_w: Tensor,
    dependency: Reach,
    ranking: Ranking = "relevance",
) -> Decided:
    """Update the prior, and decide about every switch of a graph."""
    h, w = bayes.contributions(found.h, found.gates, found.units)
    prior = bayes.update(switches, gamma, h, w, lambda_w, bayes.DEPENDENCIES[dependency])
    slopes = torch.zeros_like(h) if found.slopes is None else found.slopes / found.units
    own = torch.where(bayes.keep(prior.gamma), prior.gamma, prior.s)  # also of a switch that another one closes
    worth = {
        rank: dict(
            zip(
                switches.groups,
                bayes.score(rank, switches, own, h, w, slopes, lambda_w).nan_to_num().tolist(),
                strict=True,
            )
        )
        for rank in get_args(Ranking)
    }
    scores = worth[ranking]
    raw = bayes.decide(graph, switches, prior, found.h, found.gates).ranked(worth)
    sound = bayes.close_dead_ends(graph, bayes.reconnect(graph, raw, scores))
    chosen = bayes.enforce_limits(graph, sound, scores)
    return Decided(prior, bayes.with_kept(sound, chosen), chosen, scores)


class Prior:
    """The prior of every switch of a supernet, for a custom training loop.

    After the backward pass and the step of your optimizer, which must not include the gates, `step` moves the gates.
    Now and then `update` measures curvatures, updates the prior, and decides.
    """

    def __init__(
        self,
        net: Supernet,
        *,
        intensity: float = 0.05,
        intensity_zero: float | None = None,
        rate: float = 0.1,
        dependency: Reach = "one_hop",
    ) -> None:
        self.switches = Switches.of(net.graph).to(net.gates.device)
        self.state = State.start(self.switches)
        self.units = torch.ones_like(precise(net.gates))
        self.rate = rate
        self._lambda = self.switches.by_kind(intensity, intensity if intensity_zero is None else intensity_zero)
        self._dependency: Reach = dependency

    @torch.no_grad()
    def step(self, net: Supernet, rate: float | None = None) -> None:
        """Move the gates along their gradients, by the penalty, and back into their gauge."""
        rate = self.rate if rate is None else rate
        slopes = net.in_order([torch.zeros_like(p) if p.grad is None else p.grad for p in net.parameters])
        w = moved(self.switches, self.state.omega, self.units, self._lambda, net.gates, slopes, rate)
        w = bayes.rescale(self.switches.gauge, w)
        net.set_gates((w / self.units).to(net.gates.dtype))

    def penalty(self, net: Supernet) -> float:
        """Return the penalty at the current gates."""
        return penalty(self.switches, self.state.omega, self.units, self._lambda, net.gates)

    def update(
        self,
        net: Supernet,
        batches: Iterable[tuple[Tensor, Tensor]],
        loss: Loss | None = None,
        estimator: Estimator = "fisher",
        generator: torch.Generator | None = None,
    ) -> Decision:
        """Measure curvatures on some batches, update the prior, and decide about every switch."""
        loss = loss or objective_of(net.graph).loss()
        measured = bayes.curvature(net, list(batches), loss, estimator, generator=generator)
        gates = precise(net.gates)
        self.units = bayes.in_gauge(self.switches.gauge, gates, unit(measured.moments.spreads.sqrt()))
        found = Measurements(precise(measured.h), gates, self.units)
        decided = decide(net.graph, self.switches, self.state.gamma, found, self._lambda, self._dependency)
        self.state = decided.prior
        return decided.chosen
