"""The parts of a training step shared by all runs: gradients, and the optimizer step."""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.supernet import begin_step
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.objectives import Objective
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runtime import dropping

Batch = tuple[Tensor, Tensor]  # samples, and their targets or the probabilities of their classes


def backward(
    network: nn.Module,
    batch: Batch,
    objective: Objective,
    device: Device,
    scaler: GradientScaler,
    *,
    parts: int,
    smoothing: float,
    drop: float,
    auxiliary: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of the mean loss, in several parts to save memory; return it and the terms of the metric.

    Both stay on the device. Auxiliary heads contribute to the gradients, but not to the returned loss.
    """
    if device.compile:
        begin_step(device.torch_device)
    measure = objective.loss(smoothing)
    total = metric_terms = torch.zeros((), device=device.torch_device)
    for i, (x, y) in enumerate(zip(batch[0].chunk(parts), batch[1].chunk(parts), strict=True)):
        last = i == parts - 1
        alone = nullcontext() if last or device.processes.world == 1 else network.no_sync()  # type: ignore[operator]
        with alone, dropping(drop):
            with device.autocast():
                result = network(x)
                outputs, *others = result if isinstance(result, tuple) else (result,)
                loss = measure(outputs.float(), y) / parts
                weighted = loss + sum(auxiliary * measure(other.float(), y) / parts for other in others)
            torch.autograd.backward(scaler.scale(weighted))
        total = total + loss.detach()
        metric_terms = metric_terms + objective.mean_terms(outputs.detach().float(), y) / parts
    return total, metric_terms


def unscale(optimiser: torch.optim.Optimizer, scaler: GradientScaler, rate: float) -> None:
    """Set the learning rate, and undo the scaling of the gradients."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    scaler.unscale_(optimiser)


def apply_gradients(optimiser: torch.optim.Optimizer, scaler: GradientScaler, clip: float) -> None:
    """Clip the gradients and take an optimizer step. Weights that were not drawn have none, and stay."""
    if clip:
        nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], clip)
    scaler.step(optimiser)
    scaler.update()
