"""`torch.compile`, region by region."""

from __future__ import annotations

from torch import nn


def compile_regions(network: nn.Module, backend: str = "inductor") -> nn.Module:
    """Compile a network that `build` made from emitted source, one choice at a time. Return the network.

    A whole network takes many minutes to compile as one region. Its choices are of few kinds, each used many times:
    torch compiles each kind once for every shape. This is opt-in, because it does not pay on CPUs:
    `python -m benchmarks.supernet_step --torch-compile`.
    """
    for module in network.modules():
        if getattr(module, "is_choice", False):
            module.compile(dynamic=False, backend=backend)
    return network
