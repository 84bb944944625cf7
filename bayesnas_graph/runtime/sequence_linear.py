"""A dense layer at every position of a sequence."""

from __future__ import annotations

from torch import Tensor, nn


class SequenceLinear(nn.Linear):
    """`nn.Linear` at every position of a sequence of shape (batch, channels, length)."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.mT).mT
