"""A factor that is loaded with the weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Rescale(nn.Module):
    """A value times a number that is loaded with the weights and not trained."""

    factor: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x
