"""Networks in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def at_rest(network: nn.Module) -> Iterator[None]:
    """Put a network into evaluation mode inside the `with` block; restore the modes of all modules afterwards."""
    modes = {module: module.training for module in network.modules()}  # some may always be in evaluation mode
    network.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
