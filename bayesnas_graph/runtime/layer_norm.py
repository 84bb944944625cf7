"""Layer norm over channels."""

from __future__ import annotations

from torch import Tensor, nn


class LayerNorm(nn.LayerNorm):
    """`nn.LayerNorm` over the channels of every position; channels come second."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)
