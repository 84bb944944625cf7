"""One step of training."""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor, nn

from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.runtime import dropping
from bayesnas_graph.train.learner import Learner, follow

Batch = tuple[Tensor, Tensor]


def train_step(learner: Learner, batch: Batch, step: int, slowdown: float = 1.0) -> tuple[Tensor, Tensor]:
    """Take a step; the mean loss before it and the part of the samples that were right, still on the device."""
    config = learner.course.config
    learner.network.train()
    learner.optimiser.zero_grad()
    loss, right = _backward(learner, batch, learner.course.drop(step))
    for group in learner.optimiser.param_groups:
        group["lr"] = learner.course.rate(step) * slowdown
    learner.scaler.unscale_(learner.optimiser)
    if config.clip:
        nn.utils.clip_grad_norm_(learner.module.parameters(), config.clip)
    learner.scaler.step(learner.optimiser)
    learner.scaler.update()
    if learner.mean is not None:
        follow(learner.mean, learner.module.state_dict(), config.ema, step + 1)
    return loss, right


def _backward(learner: Learner, batch: Batch, drop: float) -> tuple[Tensor, Tensor]:
    """Gradients of the mean loss, computed in parts if that is asked for; the loss, and how many were right.

    The loss of an auxiliary head counts for the gradients, and is not told.
    """
    config, place = learner.course.config, learner.place
    entropy, parts = CrossEntropy(config.label_smoothing), config.accumulate
    total = right = torch.zeros((), device=place.device)
    for i, (x, y) in enumerate(zip(batch[0].chunk(parts), batch[1].chunk(parts), strict=True)):
        last = i == parts - 1
        alone = nullcontext() if last or place.processes.world == 1 else learner.network.no_sync()  # type: ignore[operator]
        with alone, dropping(drop):
            with place.autocast():
                found = learner.network(x)
                outputs, *others = found if isinstance(found, tuple) else (found,)
                loss = entropy(outputs.float(), y) / parts
                whole = loss + sum(config.auxiliary * entropy(other.float(), y) / parts for other in others)
            torch.autograd.backward(learner.scaler.scale(whole))
        total, right = total + loss.detach(), right + (outputs.detach().argmax(1) == y).float().mean() / parts
    return total, right
