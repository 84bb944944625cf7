"""Whether a network can be trained in the memory of a device."""

from __future__ import annotations

import torch

from bayesnas_graph.codegen.emit.memory import check_memory
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.memory import available_memory, memory_text
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.config.groups import DataSettings, WeightSettings
from bayesnas_graph.runs.device import Device

LEAST = 0.5  # of the activations that `stats` counts: a compiled network stores 60 % of them (docs/benchmarks.md)


def check_training_memory(network: Network, config: WeightSettings, device: Device) -> None:
    """Raise NasError if weights, gradients and the state of the optimiser cannot fit into memory."""
    state = 2 if config.optimiser == "adamw" else int(config.momentum > 0)
    check_memory(network.graph(), 2 + state, _on_gpu(device))


def check_activations(network: Network, config: DataSettings, device: Device) -> None:
    """Raise NasError if what a forward pass stores for the backward pass cannot fit into memory."""
    free, samples = _on_gpu(device) or available_memory(), device.samples(config)
    one = LEAST * cost(network.graph()).memory(1, device.precision.itemsize)
    if free is None or one * samples <= free:
        return
    fits_one = one <= free
    batch, need = (f"a batch of {samples}", one * samples) if fits_one else ("a single sample", one)
    message = f"training network `{network.name}` on {batch} needs at least {memory_text(int(need))} for activations, "
    message += f"but {memory_text(free)} of memory are available"
    if fits_one:
        raise NasError([Diagnostic("NAS601", message, help="reduce `batch`, or split it with `accumulate`")])
    raise NasError([Diagnostic("NAS407", message, help="make the network or its images smaller")])


def _on_gpu(device: Device) -> int | None:
    """Return how many bytes are free on a GPU; None if the device is another."""
    is_gpu = device.torch_device.type == "cuda"
    return torch.cuda.mem_get_info(device.torch_device)[0] if is_gpu else None
