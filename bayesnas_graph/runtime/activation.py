"""An activation that is computed again in the backward pass instead of being kept."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bayesnas_graph.runtime.channels_last import is_strided_pointwise, selected
from bayesnas_graph.runtime.depthwise import convolution_backward


class ReluConv2d(nn.Conv2d):
    """`nn.Conv2d` of the ReLU of its input. It keeps its input, which a norm before it keeps anyway."""

    def forward(self, x: Tensor) -> Tensor:
        settings = self.stride, self.padding, self.dilation, self.groups
        if is_strided_pointwise(self):  # see `StridedPointwise`; it is less work, too
            x, settings = selected(self, x), ((1, 1), (0, 0), (1, 1), self.groups)
        result: Tensor = _ReluConv.apply(x, self.weight, self.bias, *settings)  # type: ignore[no-untyped-call]
        return result


class _ReluConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.settings, ctx.sizes = settings, None if bias is None else [bias.numel()]
        return functional.conv2d(functional.relu(x), weight, bias, *settings)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = (tensor.to(gradients[0].dtype) for tensor in ctx.saved_tensors)  # the precision of autocast
        wanted = ctx.needs_input_grad[:3]
        found = convolution_backward(gradients[0], functional.relu(x), weight, ctx.sizes, ctx.settings, wanted)
        of_x, of_weight, of_bias = found
        if of_x is not None:
            of_x = torch.ops.aten.threshold_backward(of_x, x, 0)
        return of_x, of_weight, of_bias, None, None, None, None
