"""A learned vector for each position of a sequence."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class PositionEmbedding(nn.Module):
    """A sequence plus a learned vector at each position."""

    def __init__(self, channels: int, length: int, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(std * torch.randn(channels, length))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight
