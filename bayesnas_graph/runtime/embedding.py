"""Tokens as vectors."""

from __future__ import annotations

from torch import Tensor, nn


class Embedding(nn.Embedding):
    """`nn.Embedding` as a sequence of shape (batch, channels, length)."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens).mT
