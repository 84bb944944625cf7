"""A learned first position of a sequence."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ClassToken(nn.Module):
    """A sequence after a learned position."""

    def __init__(self, channels: int, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(std * torch.randn(channels))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.weight.expand(x.shape[0], -1)[:, :, None], x], 2)
