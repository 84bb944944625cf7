"""One step of a search: weights move by their optimizer, gates by the strategy."""

from __future__ import annotations

import torch
from torch import Tensor

from bayesnas_graph.runs.step import apply_gradients, backward, unscale
from bayesnas_graph.runtime.precision import sent
from bayesnas_graph.search.learner import SearchLearner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Draw, Part, Rates


def train_step(
    learner: SearchLearner, batch: Batch, rates: Rates, held_out: Batch | None = None
) -> tuple[Tensor, Tensor]:
    """Take a step; return the mean loss before it and the terms of the metric, on the device.

    The gates follow the gradient on the held-out batch if there is one, otherwise on the batch of the weights.
    """
    config, strategy = learner.config, strategy_of(learner.config)
    together = bool(rates.gates) and held_out is None
    learner.network.train()
    draw = _drawn(learner, rates, "gates" if together else "weights")
    for parameter in learner.supernet.module.parameters():
        parameter.grad = None
    with learner.computing(draw.opened if draw else None):
        found = backward(
            learner.network,
            batch,
            learner.objective,
            learner.device,
            learner.scaler,
            parts=config.accumulate,
            smoothing=config.label_smoothing,
            drop=config.drop_path,
        )
    unscale(learner.optimiser, learner.scaler, rates.weights)
    slopes = _gate_slopes(learner) if together else None
    apply_gradients(learner.optimiser, learner.scaler, config.clip)
    if rates.gates and slopes is None:
        draw = _drawn(learner, rates, "gates")
        with learner.computing(draw.opened if draw else None):
            slopes = _held_out_slopes(learner, held_out)
    if slopes is not None:
        strategy.move(learner, slopes, draw, rates)
    return found


def _drawn(learner: SearchLearner, rates: Rates, part: Part) -> Draw | None:
    """Draw and set gates, if the strategy draws them."""
    draw = None if rates.settled else strategy_of(learner.config).draw(learner, rates, part)
    if draw is not None:
        gates = draw.gates.detach().to(learner.supernet.gates.dtype)
        learner.supernet.set_gates(gates if gates.device == learner.units.device else sent(gates, learner.units.device))
    return draw


def _gate_slopes(learner: SearchLearner) -> Tensor:
    """Return the gradients of the gates from the backward pass."""
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in learner.supernet.gate_parameters()]
    slopes = learner.supernet.in_order(found)
    if learner.scaler.is_enabled():  # after an overflow the step is skipped and the scale lowered
        slopes = (slopes / learner.scaler.scale(slopes.new_ones(()))).nan_to_num(0, 0, 0)
    return slopes


def _held_out_slopes(learner: SearchLearner, batch: Batch | None) -> Tensor:
    """Return the gradients of the gates on held-out samples."""
    assert batch is not None, "present if gates are trained on it"
    parameters, parts = learner.supernet.gate_parameters(), learner.config.accumulate
    loss, total = learner.objective.loss(learner.config.label_smoothing), None
    for x, y in zip(batch[0].chunk(parts), batch[1].chunk(parts), strict=True):
        with learner.device.autocast():
            value = loss(learner.called(x).float(), y)
        found = torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
        slopes = learner.supernet.in_order(list(found))
        total = slopes if total is None else total + slopes
    assert total is not None, "a batch has at least one part"
    return learner.device.processes.mean(total / parts if parts > 1 else total)
