"""Networks that are only looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def at_rest(network: nn.Module) -> Iterator[None]:
    """A network in evaluation mode: samples do not see each other, and nothing is updated. Modes come back after."""
    modes = {module: module.training for module in network.modules()}  # some may be at rest for good
    network.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
