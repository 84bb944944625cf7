"""One step of training."""

from __future__ import annotations

from torch import Tensor

from bayesnas_graph.runs.step import Batch, apply_gradients, backward, unscale
from bayesnas_graph.train.learner import TrainLearner, follow


def train_step(learner: TrainLearner, batch: Batch, step: int, slowdown: float = 1.0) -> tuple[Tensor, Tensor]:
    """Take a step; return the mean loss before it and the terms of the metric, on the device."""
    problem, config = learner.problem, learner.problem.config
    learner.network.train()
    learner.optimiser.zero_grad()
    found = backward(
        learner.network,
        batch,
        problem.objective,
        learner.device,
        learner.scaler,
        parts=config.accumulate,
        smoothing=config.label_smoothing,
        drop=problem.drop(step),
        auxiliary=config.auxiliary,
    )
    unscale(learner.optimiser, learner.scaler, problem.rate(step) * slowdown)
    apply_gradients(learner.optimiser, learner.scaler, config.clip)
    if learner.mean is not None:
        follow(learner.mean, learner.module.state_dict(), config.ema, step + 1)
    return found
