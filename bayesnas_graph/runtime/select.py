"""A selection of channels."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Select(nn.Module):
    """The channels of a value whose numbers are loaded with the weights and not trained."""

    channels: Tensor

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.register_buffer("channels", torch.arange(width) * inputs // width)

    def forward(self, x: Tensor) -> Tensor:
        return x.index_select(1, self.channels)
