"""`torch.compile`, region by region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from bayesnas_graph.codegen.supernet.same_classes import reuse_classes

SHAPES = 64  # that a kind of choice may be compiled for; torch's default, 8, is less than a deep network has

Backend = str | Callable[..., Any]


def compile_regions(network: nn.Module, backend: Backend = "inductor", *, graphs: bool = False) -> nn.Module:
    """Compile a network that `build` made from emitted source, one choice at a time. Return the network.

    A whole network takes many minutes to compile as one region. Its choices are of few kinds, each used many times:
    torch compiles each kind once for every shape. Kinds that an earlier network has, as after pruning, are not compiled
    again. This is opt-in, because it does not pay on CPUs: `python -m benchmarks.supernet_step --torch-compile`.

    With `graphs`, calls of a region are recorded as CUDA graphs and replayed: a call starts one graph, not many
    kernels. Shapes are static: training has no smaller batches, and all else is computed by `uncompiled`.
    """
    # What a graph returns is in its memory until the next step begins (`begin_step`). Nothing of ours outlives a step
    # there: gradients are set to None when the next step begins, optimizers and strategies keep sums of their own, the
    # loss is computed outside of regions, and a `Watch`, which keeps what regions compute, is only used uncompiled.
    reuse_classes(network)
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, SHAPES)
    mode = "reduce-overhead" if graphs else None
    for module in network.modules():
        if getattr(type(module), "role", "") == "choice":
            module.compile(dynamic=False, backend=backend, mode=mode)
    return network


def begin_step(device: torch.device) -> None:
    """Tell torch that a step begins: the results of CUDA graphs of the step before are no longer needed."""
    if device.type == "cuda":
        torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
