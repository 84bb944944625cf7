"""The parts of a training step shared by all runs: gradients, and the optimizer step."""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor, nn

from bayesnas_graph.bayes import CrossEntropy
from bayesnas_graph.codegen.supernet import begin_step
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.scaler import GradientScaler
from bayesnas_graph.runtime import dropping

Batch = tuple[Tensor, Tensor]  # samples, and their labels or the probabilities of their classes


def backward(
    network: nn.Module,
    batch: Batch,
    device: Device,
    scaler: GradientScaler,
    *,
    parts: int,
    smoothing: float,
    drop: float,
    auxiliary: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of the mean loss, in several parts to save memory; return the loss and the accuracy.

    Both stay on the device. Auxiliary heads contribute to the gradients, but not to the returned loss.
    """
    if device.compile:
        begin_step(device.torch_device)
    entropy = CrossEntropy(smoothing)
    total = accuracy = torch.zeros((), device=device.torch_device)
    for i, (x, y) in enumerate(zip(batch[0].chunk(parts), batch[1].chunk(parts), strict=True)):
        last = i == parts - 1
        alone = nullcontext() if last or device.processes.world == 1 else network.no_sync()  # type: ignore[operator]
        with alone, dropping(drop):
            with device.autocast():
                result = network(x)
                outputs, *others = result if isinstance(result, tuple) else (result,)
                loss = entropy(outputs.float(), y) / parts
                objective = loss + sum(auxiliary * entropy(other.float(), y) / parts for other in others)
            torch.autograd.backward(scaler.scale(objective))
        total = total + loss.detach()
        labels = y.argmax(1) if y.ndim == 2 else y  # of a mixed sample: the one with the larger share
        accuracy = accuracy + (outputs.detach().argmax(1) == labels).float().mean() / parts
    return total, accuracy


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
