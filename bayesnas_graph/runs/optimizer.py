"""Optimizers, and their state by name of weight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from bayesnas_graph.runs.config.groups import WeightSettings

Memory = dict[str, dict[str, Tensor]]  # the state of an optimizer: kind of tensor -> name of the weight -> tensor
Named = Iterable[tuple[str, nn.Parameter]]


def new_optimiser(config: WeightSettings, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """Return an optimizer without state."""
    parameters = parameters or [nn.Parameter(torch.zeros(1))]  # a space of pools has none, but torch requires some
    if config.optimiser == "adamw":
        return torch.optim.AdamW(parameters, config.rate, weight_decay=config.weight_decay)
    settings: dict[str, Any] = {"momentum": config.momentum, "weight_decay": config.weight_decay}
    return torch.optim.SGD(parameters, config.rate, nesterov=config.nesterov and config.momentum > 0, **settings)


def memory_of(optimiser: torch.optim.Optimizer, weights: Named) -> Memory:
    """Return the state of an optimizer."""
    memory: Memory = {}
    for name, parameter in weights:
        for kind, value in optimiser.state.get(parameter, {}).items():
            if value is not None:
                memory.setdefault(kind, {})[name] = value
    return memory


def remember(optimiser: torch.optim.Optimizer, weights: Named, memory: Memory) -> None:
    """Restore the state of an optimizer. Raises LookupError or ValueError if it is that of another one.

    Weights that have never had a gradient have none.
    """
    kinds = {"step", "exp_avg", "exp_avg_sq"} if isinstance(optimiser, torch.optim.AdamW) else {"momentum_buffer"}
    if memory and memory.keys() != kinds:
        raise ValueError("the state of another optimizer")
    named = dict(weights)
    if any(values.keys() - named.keys() for values in memory.values()):
        raise LookupError("the state of other weights")
    for name, parameter in named.items():
        if not any(name in values for values in memory.values()):
            continue
        if any(kind != "step" and not _is_like(values[name], parameter) for kind, values in memory.items()):
            raise ValueError("the state of another optimizer")
        tensors = {kind: values[name].to(_device_of(kind, parameter)) for kind, values in memory.items()}
        optimiser.state[parameter] = {kind: value.clone() for kind, value in tensors.items()}


def _is_like(value: Tensor, parameter: Tensor) -> bool:
    return value.shape == parameter.shape and value.is_floating_point()


def _device_of(kind: str, parameter: nn.Parameter) -> torch.device:
    return torch.device("cpu") if kind == "step" else parameter.device  # a counter, which torch keeps on the CPU
