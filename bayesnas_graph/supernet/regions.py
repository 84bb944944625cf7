"""`torch.compile`, region by region."""

from __future__ import annotations

from torch import nn


def compile_regions(network: nn.Module) -> nn.Module:
    """Compile a network that was built from emitted source, one choice at a time; the network itself.

    A whole network as one region takes many minutes to compile. Its choices are few kinds, each used many
    times: torch compiles each kind once for every shape and uses it for all its copies.
    """
    for module in network.modules():
        if type(module).__name__.startswith("Choice"):
            module.compile(dynamic=False)
    return network
