"""`torch.compile`, region by region."""

from __future__ import annotations

from torch import nn


def compile_regions(network: nn.Module, backend: str = "inductor") -> nn.Module:
    """Compile a network that was built from emitted source, one choice at a time; the network itself.

    A whole network as one region takes many minutes to compile. Its choices are few kinds, each used many
    times: torch compiles each kind once for every shape and uses it for all its copies. It is not done unless
    it is asked for, since on CPUs it does not pay back: `python -m benchmarks.supernet_step --torch-compile`.
    """
    for module in network.modules():
        if type(module).__name__.startswith("Choice"):
            module.compile(dynamic=False, backend=backend)
    return network
