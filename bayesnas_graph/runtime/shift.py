"""A learned number added to each channel."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Shift(nn.Module):
    """Each channel plus a learned number."""

    def __init__(self, channels: int, init: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((channels,), init))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight.view(-1, *[1] * (x.ndim - 2))
