"""The prior of a supernet's switches, for a training loop of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

import torch

from bayesnas_graph import bayes
from bayesnas_graph.bayes import CrossEntropy, Decision, Estimator, Loss, Reach, State, Switches
from bayesnas_graph.bayes.units import unit

if TYPE_CHECKING:
    from torch import Tensor

    from bayesnas_graph.codegen.supernet import Supernet


class Prior:
    """What is believed about every switch of a supernet, and how its gates are moved by it.

    After the backward pass and the step of your own optimiser, which leaves the gates alone, `step` moves the gates.
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
        self.units = torch.ones(len(self.switches.gates), dtype=torch.float64, device=net.gates.device)
        self.rate = rate
        self._lambda = self.switches.by_kind(intensity, intensity if intensity_zero is None else intensity_zero)
        self._dependency = bayes.DEPENDENCIES[dependency]

    @torch.no_grad()
    def step(self, net: Supernet, rate: float | None = None) -> None:
        """Move the gates: along the gradients that are there, by the penalty's share, and back into their gauge."""
        rate = self.rate if rate is None else rate
        found = [torch.zeros_like(p) if p.grad is None else p.grad for p in net.parameters]
        w = net.gates.double() * self.units - rate * net.in_order(found).double() / self.units
        w = bayes.proximal_step(self.switches, w, self.state.omega, self._lambda, rate)
        w = bayes.rescale(self.switches.gauge, w)
        net.set_gates((w / self.units).to(net.gates.dtype))

    def penalty(self, net: Supernet) -> float:
        """The penalty at the gates as they are."""
        w = net.gates.double() * self.units
        return float(bayes.penalty(self.switches, w, self.state.omega, self._lambda))

    def update(
        self,
        net: Supernet,
        batches: Iterable[tuple[Tensor, Tensor]],
        loss: Loss | None = None,
        estimator: Estimator = "fisher",
        generator: torch.Generator | None = None,
    ) -> Decision:
        """Measure curvatures on some batches, update the prior, and decide about every switch."""
        measured = bayes.curvature(net, list(batches), loss or CrossEntropy(), estimator, generator=generator)
        gates, h = net.gates.double(), measured.h.double()
        self.units = bayes.in_gauge(self.switches.gauge, gates, unit(measured.moments.spreads.sqrt()))
        curvatures, w = bayes.contributions(h, gates, self.units)
        self.state = bayes.update(self.switches, self.state.gamma, curvatures, w, self._lambda, self._dependency)
        own = torch.where(bayes.keep(self.state.gamma), self.state.gamma, self.state.s)
        still = torch.zeros_like(w)  # slopes are not measured
        rankings: tuple[bayes.Ranking, ...] = get_args(bayes.Ranking)
        values = {
            rank: bayes.score(rank, self.switches, own, curvatures, w, still, self._lambda).nan_to_num().tolist()
            for rank in rankings
        }
        worth = {rank: dict(zip(self.switches.groups, found, strict=True)) for rank, found in values.items()}
        scores = worth["relevance"]
        raw = bayes.decide(net.graph, self.switches, self.state, h, gates).ranked(worth)
        sound = bayes.without_dead_ends(net.graph, bayes.bridged(net.graph, raw, scores))
        return bayes.limited(net.graph, sound, scores)
