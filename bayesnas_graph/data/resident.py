"""Examples that stay on a device, so that no batch is copied there."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import torch

from bayesnas_graph.data.model import Examples, InMemory

_held: WeakKeyDictionary[InMemory, dict[torch.device, InMemory]] = WeakKeyDictionary()


def resident(examples: Examples, device: torch.device, share: float) -> InMemory | None:
    """The examples on a device, moved there once; None if they are better left where they are.

    They are moved if they are in memory, the device is not the CPU, and they take at most this share of what is free.
    """
    if device.type == "cpu" or not share or not isinstance(examples, InMemory):
        return None
    by_device = _held.setdefault(examples, {})
    if device not in by_device:
        free, need = free_memory(device), examples.images.nbytes + examples.labels.nbytes
        if free is not None and need > share * free:
            return None
        by_device[device] = InMemory(examples.images.to(device), examples.labels.to(device))
    return by_device[device]


def free_memory(device: torch.device) -> int | None:
    """How many bytes are free on a device; None if it is unknown."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return None
