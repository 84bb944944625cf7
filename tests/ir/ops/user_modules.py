"""Classes for `op name(...) from "tests.ir.ops.user_modules:Name"`."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Convs(nn.Module):
    """Several convolutions of different sizes, with an activation by name."""

    def __init__(self, width: int, sizes: tuple[int, ...], mode: str = "relu", bias: bool = False) -> None:
        super().__init__()
        if (type(sizes), type(mode)) != (tuple, str):
            raise TypeError("an array is a tuple, a string a str")
        self.layers = nn.ModuleList(nn.Conv2d(width, width, k, padding=k // 2, bias=bias) for k in sizes)
        self.act = {"relu": nn.ReLU, "tanh": nn.Tanh}.get(mode, nn.Identity)()

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        out: Tensor = self.act(x)
        return out


class Fourier(nn.Module):
    """A convolution, and a transform whose multiply-adds nobody counts."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = nn.Conv2d(width, width, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        real: Tensor = torch.fft.fft2(self.layer(x)).real
        return real


class Pairs(nn.Module):
    """Works on two samples, but not on one."""

    def forward(self, x: Tensor) -> Tensor:
        if len(x) < 2:
            raise ValueError("too few samples")
        return x


class Vectors(nn.Module):
    """A product of a matrix and a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(5, 8))

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([torch.mv(self.weight, one) for one in x])
