"""One step of training: weights by their optimiser, gates by the strategy."""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor, nn

from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.runtime import dropping
from bayesnas_graph.search.learner import Learner
from bayesnas_graph.search.problem import Batch
from bayesnas_graph.search.strategies import strategy_of
from bayesnas_graph.search.strategy import Draw, Part, Rates


def train_step(learner: Learner, batch: Batch, rates: Rates, held_out: Batch | None = None) -> tuple[Tensor, Tensor]:
    """Take a step; the mean loss before it and the part of the samples that were right, still on the device.

    With a held-out batch, the gates follow the gradient on that, else on the same batch as the weights.
    """
    config, strategy = learner.config, strategy_of(learner.config)
    together = bool(rates.gates) and held_out is None
    learner.network.train()
    draw = _drawn(learner, rates, "gates" if together else "weights")
    for parameter in learner.supernet.module.parameters():
        parameter.grad = None
    loss, right = _backward(learner, batch)
    for group in learner.optimiser.param_groups:
        group["lr"] = rates.weights
    learner.scaler.unscale_(learner.optimiser)
    slopes = _gate_slopes(learner) if together else None
    if config.clip:
        nn.utils.clip_grad_norm_(learner.optimiser.param_groups[0]["params"], config.clip)
    learner.scaler.step(learner.optimiser)
    learner.scaler.update()
    if rates.gates and slopes is None:
        draw = _drawn(learner, rates, "gates")
        slopes = _held_out_slopes(learner, held_out)
    if slopes is not None:
        strategy.move(learner, slopes, draw, rates)
    return loss, right


def _drawn(learner: Learner, rates: Rates, part: Part) -> Draw | None:
    """Draw gates and set them, where the strategy draws some."""
    draw = None if rates.settled else strategy_of(learner.config).draw(learner, rates, part)
    if draw is not None:
        learner.supernet.set_gates(draw.gates.detach().to(learner.supernet.gates.dtype))
    return draw


def _backward(learner: Learner, batch: Batch) -> tuple[Tensor, Tensor]:
    """Gradients of the mean loss, computed in parts if that is asked for; the loss, and how many were right."""
    config, parts = learner.config, learner.config.accumulate
    loss = CrossEntropy(config.label_smoothing)
    total = right = torch.zeros((), device=learner.place.device)
    for i, (x, y) in enumerate(zip(batch[0].chunk(parts), batch[1].chunk(parts), strict=True)):
        last = i == parts - 1
        alone = nullcontext() if last or learner.place.processes.world == 1 else learner.network.no_sync()  # type: ignore[operator]
        with alone, dropping(config.drop_path):
            with learner.place.autocast():
                outputs = learner.network(x)
                value = loss(outputs.float(), y) / parts
            torch.autograd.backward(learner.scaler.scale(value))
        total, right = total + value.detach(), right + (outputs.detach().argmax(1) == y).float().mean() / parts
    return total, right


def _gate_slopes(learner: Learner) -> Tensor:
    """The gradients that the backward pass has left at the gates."""
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in learner.supernet.parameters]
    slopes = learner.supernet.in_order(found)
    if learner.scaler.is_enabled():  # a scale that is too large is lowered after this step, which counts for nothing
        slopes = (slopes / learner.scaler.get_scale()).nan_to_num(0, 0, 0)
    return slopes


def _held_out_slopes(learner: Learner, batch: Batch | None) -> Tensor:
    """The gradients by the gates alone, on samples that the weights are not trained on."""
    assert batch is not None, "it is given where gates are trained on it"
    parameters = learner.supernet.parameters
    with learner.place.autocast():
        value = CrossEntropy(learner.config.label_smoothing)(learner.supernet.module(batch[0]).float(), batch[1])
    slopes = torch.autograd.grad(value, parameters, allow_unused=True, materialize_grads=True)
    return learner.place.processes.mean(learner.supernet.in_order(list(slopes)))
