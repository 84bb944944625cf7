"""Whether a network can be trained in the memory of a device."""

from __future__ import annotations

import torch

from bayesnas_graph.codegen.emit.memory import check_memory
from bayesnas_graph.language.elaborate import Network
from bayesnas_graph.runs.config.groups import WeightSettings
from bayesnas_graph.runs.device import Device


def check_training_memory(network: Network, config: WeightSettings, device: Device) -> None:
    """Raise NasError if weights, gradients and the state of the optimiser cannot fit into memory."""
    state = 2 if config.optimiser == "adamw" else int(config.momentum > 0)
    available = None
    if device.torch_device.type == "cuda":
        available = torch.cuda.mem_get_info(device.torch_device)[0]
    check_memory(network.graph(), 2 + state, available)
