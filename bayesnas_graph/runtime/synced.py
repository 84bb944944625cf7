"""Batch norms that use the statistics of the whole batch, over all processes of a group.

Each process has some rows of the batch. In training, they normalise as one process with all rows would, however the
rows are distributed: outputs, running statistics and gradients are the same, up to rounding. As usual in data
parallelism, the gradient of a weight is that of the rows of the process, to be summed over processes; the gradient of
an input includes its effect on the losses of all processes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from bayesnas_graph.runtime.norm import LightBatchNorm1d, LightBatchNorm2d


def synchronised(network: nn.Module, group: distributed.ProcessGroup | None = None) -> nn.Module:
    """Synchronise the batch norms of a network over a group of processes, or over all of them. Return the network.

    Parameters, buffers and their names stay the same, and so does the output in evaluation mode and with one process.
    """
    for module in network.modules():
        if type(module) in _SYNCED:
            module.__class__ = _SYNCED[type(module)]  # keeps its tensors, hooks and position in the network
        if isinstance(module, _Synced):
            module.group = group
    return network


class _Synced(_BatchNorm):
    group: distributed.ProcessGroup | None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not _several(self.group):
            return super().forward(x)
        self._check_input_dim(x)  # type: ignore[no-untyped-call]
        mean, variance, count = _moments(x.detach(), self.group)
        if self.running_mean is not None:
            self._track(mean, variance * (count / (count - 1)))
        normal: Tensor = _Normalise.apply(x, mean, variance, count, self.eps, self.group)  # type: ignore[no-untyped-call]
        if self.weight is None:
            return normal
        # A norm in evaluation mode that only applies its weights: one kernel, in any precision.
        return functional.batch_norm(
            normal, torch.zeros_like(mean), torch.ones_like(mean), self.weight, self.bias, eps=0.0
        )

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None, "the caller checked"
        assert self.running_var is not None, "either both exist or neither"
        assert self.num_batches_tracked is not None, "either all exist or none"
        if not isinstance(self, LightBatchNorm1d | LightBatchNorm2d):  # which do not count
            self.num_batches_tracked.add_(1)
        share = 1 / self.num_batches_tracked.to(mean.dtype) if self.momentum is None else self.momentum
        for running, latest in ((self.running_mean, mean), (self.running_var, variance)):
            running.add_((latest - running) * share)


class SyncedBatchNorm1d(_Synced, nn.BatchNorm1d):
    """`nn.BatchNorm1d` of all processes."""


class SyncedBatchNorm2d(_Synced, nn.BatchNorm2d):
    """`nn.BatchNorm2d` of all processes."""


class SyncedLightBatchNorm1d(_Synced, LightBatchNorm1d):
    """`LightBatchNorm1d` of all processes."""


class SyncedLightBatchNorm2d(_Synced, LightBatchNorm2d):
    """`LightBatchNorm2d` of all processes."""


_SYNCED: dict[type[nn.Module], type[_Synced]] = {
    nn.BatchNorm1d: SyncedBatchNorm1d,
    nn.BatchNorm2d: SyncedBatchNorm2d,
    LightBatchNorm1d: SyncedLightBatchNorm1d,
    LightBatchNorm2d: SyncedLightBatchNorm2d,
}


def _several(group: distributed.ProcessGroup | None) -> bool:
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size(group) > 1


def _moments(x: Tensor, group: distributed.ProcessGroup | None) -> tuple[Tensor, Tensor, Tensor]:
    """The mean and variance of each channel over all processes, and the number of values.

    Processes exchange means and squared deviations from them. Plain sums of squares would be one number less, but would
    lose a small variance next to a large mean.
    """
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    axes = [axis for axis in range(x.ndim) if axis != 1]
    size = x.numel() // x.size(1)
    mean = x.sum(axes, keepdim=True) / max(1, size)  # a process may have no rows
    deviations = (x - mean).square().sum(axes)
    local = torch.stack([torch.full_like(deviations, size), mean.flatten(), deviations])
    parts = [torch.empty_like(local) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(parts, local, group)
    sizes, means, squares = torch.stack(parts, 1)
    count = sizes.sum(0)
    common = (means * sizes).sum(0) / count
    return common, (squares + (means - common).square() * sizes).sum(0) / count, count


class _Normalise(torch.autograd.Function):
    """Keeps its output instead of its input, like `LightBatchNorm2d`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, variance: Tensor, count: Tensor, eps: float, group: Any) -> Tensor:
        output = functional.batch_norm(x, mean, variance, eps=eps)
        ctx.save_for_backward(output, (variance + eps).rsqrt(), count)
        ctx.group = group
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        output, scale, count = ctx.saved_tensors
        gradient = gradients[0].to(scale.dtype)
        axes = [axis for axis in range(gradient.ndim) if axis != 1]
        sums = torch.stack([gradient.sum(axes), (gradient * output).sum(axes)])
        distributed.all_reduce(sums, group=ctx.group)
        shift, slope = (sums * scale / count).view(2, -1, *[1] * (gradient.ndim - 2))
        propagated = torch.addcmul(-shift, gradient, scale.view_as(shift)).addcmul_(output, slope, value=-1)
        return propagated.to(output.dtype), None, None, None, None, None
