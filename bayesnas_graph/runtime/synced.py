"""Batch norms whose statistics are those of the batch over all processes of a group.

Each process has some rows of the batch. While training, all of them together normalise as one process would that
has all rows, whatever their numbers: with the same outputs, running statistics and gradients, to rounding. As ever
in data parallelism, the gradient that a process computes for a weight is that of its own rows, to be added up over
processes; the gradient for an input counts what that input does to the losses of all of them.
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
    """Synchronise the batch norms of a network over a group of processes, or over all of them; the network itself.

    Parameters, buffers and their names stay what they are, and so does what the network computes when it is not
    in training, or in a process that is alone.
    """
    for module in network.modules():
        if type(module) in _SYNCED:
            module.__class__ = _SYNCED[type(module)]  # so that its tensors, hooks and places stay as they are
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
        # As a norm at rest that has nothing left to do but its weights: one kernel, in any precision.
        return functional.batch_norm(
            normal, torch.zeros_like(mean), torch.ones_like(mean), self.weight, self.bias, eps=0.0
        )

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None, "the caller looked"
        assert self.running_var is not None, "there are both or neither"
        assert self.num_batches_tracked is not None, "likewise"
        self.num_batches_tracked.add_(1)
        share = 1 / self.num_batches_tracked.to(mean.dtype) if self.momentum is None else self.momentum
        for running, seen in ((self.running_mean, mean), (self.running_var, variance)):
            running.add_((seen - running) * share)


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
    """The mean and the variance of each channel over all processes, and of how many values they are.

    Processes exchange means and squared deviations from them. Plain sums of squares would be one number less, but
    those of a channel with a large mean leave nothing of a small variance.
    """
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    axes = [axis for axis in range(x.ndim) if axis != 1]
    size = x.numel() // x.size(1)
    mean = x.sum(axes, keepdim=True) / max(1, size)  # a process may have no rows
    deviations = (x - mean).square().sum(axes)
    own = torch.stack([torch.full_like(deviations, size), mean.flatten(), deviations])
    parts = [torch.empty_like(own) for _ in range(distributed.get_world_size(group))]
    distributed.all_gather(parts, own, group)
    sizes, means, squares = torch.stack(parts, 1)
    count = sizes.sum(0)
    common = (means * sizes).sum(0) / count
    return common, (squares + (means - common).square() * sizes).sum(0) / count, count


class _Normalise(torch.autograd.Function):
    """Keeps its output and not its input, as `LightBatchNorm2d` does."""

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
        handed = torch.addcmul(-shift, gradient, scale.view_as(shift)).addcmul_(output, slope, value=-1)
        return handed.to(output.dtype), None, None, None, None, None
