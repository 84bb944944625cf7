"""A learned factor for each channel."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LayerScale(nn.Module):
    """Each channel times a learned factor."""

    def __init__(self, channels: int, init: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((channels,), init))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight.view(-1, *[1] * (x.ndim - 2))
