"""The prior of a supernet's switches: its update and decisions, as the search uses them and for custom training loops.

w r      the variable of the prior: the gate `w` times its unit `r`, the magnitude of its input
step     moves the gates along their gradients, by the penalty, and back into their gauge
decide   updates the prior by curvatures, and decides about every switch
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

import torch
from torch import Tensor

from bayesnas_graph import bayes
from bayesnas_graph.bayes import Decision, Estimator, Ranking, Reach, State, Switches
from bayesnas_graph.bayes.units import unit
from bayesnas_graph.ir import Graph
from bayesnas_graph.runtime.precision import precise
from bayesnas_graph.search.learner import positions, selected
from bayesnas_graph.search.own_loop import AnyLoss, check_prior_state, measured

if TYPE_CHECKING:
    from bayesnas_graph.codegen.supernet import Supernet

__all__ = ["Decided", "Measurements", "Prior", "decide", "moved", "penalty"]


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
    Now and then `update` measures curvatures, updates the prior, and decides. `state_dict` is what to save of it.
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
        slopes = net.in_order([torch.zeros_like(p) if p.grad is None else p.grad for p in net.gate_parameters()])
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
        loss: AnyLoss,
        estimator: Estimator = "fisher",
        generator: torch.Generator | None = None,
        *,
        head: Callable[[Any], Tensor] | None = None,
        model: Callable[[Tensor], Tensor] | None = None,
    ) -> Decision:
        """Measure curvatures on some batches, update the prior, and decide about every switch. Raises NasError.

        The loss is one of `bayesnas_graph.bayes`, such as `CrossEntropy()` or `SquaredError()`. For the estimators
        `exact` and `empirical` it can be any function of outputs and targets that is a mean over samples. A `head` is
        applied to what the supernet returns. A `model` is a function from inputs to outputs that calls the supernet.
        """
        found = measured(net, list(batches), loss, estimator, generator, head, model)
        gates = precise(net.gates)
        self.units = bayes.in_gauge(self.switches.gauge, gates, unit(found.moments.spreads.sqrt()))
        measurements = Measurements(precise(found.h), gates, self.units)
        decided = decide(net.graph, self.switches, self.state.gamma, measurements, self._lambda, self._dependency)
        self.state = decided.prior
        return decided.chosen

    def pruned(self, net: Supernet) -> Prior:
        """Return the prior for the same supernet after `pruned_supernet`, with all that is known about its switches."""
        found = Prior(net, rate=self.rate, dependency=self._dependency)
        groups = positions(self.switches.groups, found.switches.groups).to(self.units.device)
        gates = positions(self.switches.gates, found.switches.gates).to(self.units.device)
        found.state, found.units, found._lambda = selected(self.state, groups), self.units[gates], self._lambda[groups]
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return what to save: tensors, numbers and strings, as `torch.load` reads them with `weights_only`."""
        state = {field.name: getattr(self.state, field.name) for field in fields(State)}
        settings = {"rate": self.rate, "lambda": self._lambda, "dependency": self._dependency}
        return {"switches": list(self.switches.groups), "units": self.units, **settings, **state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned, for a supernet with the same switches. Raises NasError."""
        check_prior_state(state, self.state_dict())
        device = self.units.device
        self.state = State(*(state[field.name].to(device) for field in fields(State)))
        self.units, self._lambda = state["units"].to(device), state["lambda"].to(device)
        self.rate, self._dependency = state["rate"], state["dependency"]
