"""Cells that are computed again in the backward pass, which then needs less memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from bayesnas_graph.runtime.drop import drops_again, is_dropping
from bayesnas_graph.runtime.gates import is_watched


def recompute_cells(network: nn.Module) -> nn.Module:
    """Let a network that `build` made keep only the inputs of its cells for the backward pass. Return the network.

    Outside of cells, the outermost motifs count as cells. Outputs, gradients and statistics stay the same: in the
    second pass norms update nothing, and the same paths are dropped. A pass that is watched, and one without
    gradients, is computed as usual.
    """
    for cell in _cells(network):
        cell.forward = _Recomputed(cell)
    return network


def _cells(module: nn.Module) -> Iterator[nn.Module]:
    for child in module.children():
        role = _role(child)
        if role == "cell" or (role == "motif" and not any(_role(inner) == "cell" for inner in child.modules())):
            yield child
        else:
            yield from _cells(child)


def _role(module: nn.Module) -> str:
    return getattr(type(module), "role", "")


class _Recomputed:
    """The forward pass of a cell."""

    def __init__(self, cell: nn.Module) -> None:
        self.cell = cell
        self.once: Callable[..., Any] = cell.forward
        self.norms = [module for module in cell.modules() if isinstance(module, _BatchNorm)]

    def __call__(self, *values: Any) -> Any:
        if not self.cell.training or is_watched() or not torch.is_grad_enabled():
            return self.once(*values)
        again = drops_again()

        def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
            return nullcontext(), self._again(again)

        return checkpoint(
            self.once, *values, use_reentrant=False, context_fn=contexts, preserve_rng_state=is_dropping()
        )

    @contextmanager
    def _again(self, dropping: AbstractContextManager[None]) -> Iterator[None]:
        """Leave the running statistics of norms as they are; drop what was dropped before."""
        before = [(norm, norm.momentum, norm.num_batches_tracked) for norm in self.norms]
        for norm in self.norms:
            norm.momentum, norm.num_batches_tracked = 0.0, None
        try:
            with dropping:
                yield
        finally:
            for norm, momentum, count in before:
                norm.momentum, norm.num_batches_tracked = momentum, count
