"""A convolution with several kernels."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class Centre(nn.Conv2d):
    """A convolution with the centre of its kernel, of a size that each call gives. All sizes give the same shape."""

    def forward(self, input: Tensor, size: int = 1) -> Tensor:
        cut = (self.weight.shape[-1] - size) // 2
        weight = self.weight[..., cut : cut + size, cut : cut + size]
        assert isinstance(self.padding, tuple), "it is given as numbers"
        padding = [edge - cut * step for edge, step in zip(self.padding, self.dilation, strict=True)]
        return F.conv2d(input, weight, self.bias, self.stride, padding, self.dilation, self.groups)
