"""The metric and the latency of a network."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import torch
from torch import Tensor, nn

from bayesnas_graph.ir import Shape, TokenShape
from bayesnas_graph.runs.device import Device
from bayesnas_graph.runs.objectives import Objective
from bayesnas_graph.runtime.precision import moved

WARM_UP = 5  # runs before measuring: torch selects kernels and allocates memory first


@dataclass(frozen=True, slots=True)
class Score:
    """Loss and metric on all samples of a set."""

    loss: float
    accuracy: float  # or another metric


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per batch: the median of some runs, and the quartiles."""

    batch: int
    median: float
    low: float
    high: float


@torch.no_grad()
def score(network: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], device: Device, objective: Objective) -> Score:
    """Return the mean loss and the metric of a network, over all processes."""
    network.eval()
    found, samples = list[Tensor](), 0
    for x, y in batches:
        with device.autocast():
            outputs = network(x).float()
        found.append(torch.cat([objective.total_loss(outputs, y).view(1), objective.terms(outputs, y)]))
        samples += len(y)
    sums = torch.zeros(1 + objective.size, dtype=torch.float64)
    for row in torch.stack(found).cpu() if found else ():  # the only place that waits for the device
        sums += row
    part = sums / max(1, samples)
    if device.processes.world > 1:
        part = device.processes.mean(moved(part, device.torch_device), samples)
    loss, *terms = part.tolist()
    return Score(loss, objective.value(terms))


def latency(network: nn.Module, shapes: Sequence[Shape], batch: int, device: Device, runs: int) -> Latency:
    """Measure how long a network takes for a batch of inputs of these shapes."""
    return latencies([network], shapes, batch, device, runs)[0]


@torch.no_grad()
def latencies(
    networks: Sequence[nn.Module], shapes: Sequence[Shape], batch: int, device: Device, runs: int
) -> list[Latency]:
    """Measure several networks with the same inputs. They take turns, so that other load affects all equally."""
    types = [torch.long if isinstance(shape, TokenShape) else torch.float32 for shape in shapes]
    values = [
        torch.zeros(batch, *shape, dtype=dtype, device=device.torch_device)
        for shape, dtype in zip(shapes, types, strict=True)
    ]
    if device.channels_last:
        values = [value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value for value in values]
    seconds: list[list[float]] = [[] for _ in networks]
    for network in networks:
        network.eval()
    for _ in range(WARM_UP + runs):
        for network, times in zip(networks, seconds, strict=True):
            _wait(device.torch_device)
            start = time.perf_counter()
            with device.autocast():
                network(*values)
            _wait(device.torch_device)
            times.append(time.perf_counter() - start)
    return [_summary(batch, times[WARM_UP:]) for times in seconds]


def _summary(batch: int, seconds: list[float]) -> Latency:
    low, _, high = quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else seconds * 3
    return Latency(batch, median(seconds), low, high)


def _wait(device: torch.device) -> None:
    """Wait until the device has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
