"""Optimizers, and their state by name of weight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from bayesnas_graph.runs.config.groups import WeightSettings

Memory = dict[str, dict[str, Tensor]]  # the state of an optimizer: kind of tensor -> name of the weight -> tensor
Named = Iterable[tuple[str, nn.Parameter]]


def new_optimiser(
    config: WeightSettings, parameters: list[nn.Parameter], *, fused: bool = False
) -> torch.optim.Optimizer:
    """Return an optimizer without state. `fused` requires a single kernel; otherwise torch decides."""
    parameters = parameters or [nn.Parameter(torch.zeros(1))]  # a space of pools has none, but torch requires some
    settings: dict[str, Any] = {"weight_decay": config.weight_decay, "fused": fused or None}
    if config.optimiser == "adamw":
        return torch.optim.AdamW(parameters, config.rate, **settings)
    settings |= {"momentum": config.momentum, "nesterov": config.nesterov and config.momentum > 0}
    return torch.optim.SGD(parameters, config.rate, **settings)


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
        fused = bool(optimiser.defaults["fused"])
        optimiser.state[parameter] = {
            kind: _counter(values[name], parameter, fused) if kind == "step" else _copied(values[name], parameter)
            for kind, values in memory.items()
        }


def _copied(value: Tensor, parameter: nn.Parameter) -> Tensor:
    """Return a copy on the device of a weight and with its strides, which fused kernels rely on."""
    return torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)


def _counter(value: Tensor, parameter: nn.Parameter, fused: bool) -> Tensor:
    """Return a copy of a counter. torch keeps it on the CPU, unless a fused kernel reads it."""
    return value.to(parameter.device if fused else torch.device("cpu"), copy=True)


def _is_like(value: Tensor, parameter: Tensor) -> bool:
    return value.shape == parameter.shape and value.is_floating_point()
