"""Shipped networks against the same networks written by hand, with the same weights, in float64."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.passes import plain


class TransformerBlock(nn.Module):
    """On tensors of samples, positions and channels, as usual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm1(x)
        n, length, width = y.shape
        size = n, length, self.heads, width // self.heads
        q, k, v = (layer(y).view(size).transpose(1, 2) for layer in (self.query, self.key, self.value))
        weights = (q @ k.transpose(2, 3) / size[-1] ** 0.5).softmax(-1)
        x = x + self.project((weights @ v).transpose(1, 2).reshape(n, length, width))
        return x + torch.as_tensor(self.mlp(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.first = nn.ParameterList([torch.zeros(width)])
        self.positions = nn.ParameterList([torch.zeros(width, 197)])
        self.blocks = nn.Sequential(*(TransformerBlock(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.first[0].expand(len(x), 1, -1), patches], 1) + self.positions[0].T
        return torch.as_tensor(self.head(self.norm(self.blocks(y))[:, 0]))


class ConvNeXtBlock(nn.Module):
    """With dense layers on images with the channels last, as in the paper's own program."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.expand = nn.Linear(width, 4 * width)
        self.project = nn.Linear(4 * width, width)
        self.factor = nn.ParameterList([torch.ones(width)])

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.factor[0] * self.project(nn.functional.gelu(self.expand(y)))
        return x + torch.as_tensor(y).permute(0, 3, 1, 2)


class ImageNorm(nn.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        parts: list[nn.Module] = [nn.Conv2d(3, 96, 4, 4), ImageNorm(96, eps=1e-6)]
        for stage, depth in enumerate((3, 3, 9, 3)):
            width = 96 * 2**stage
            if stage:
                parts += [ImageNorm(width // 2, eps=1e-6), nn.Conv2d(width // 2, width, 2, 2)]
            parts += [ConvNeXtBlock(width) for _ in range(depth)]
        self.parts = nn.Sequential(*parts)
        self.norm = nn.LayerNorm(768, eps=1e-6)
        self.head = nn.Linear(768, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.head(self.norm(self.parts(x).mean((2, 3)))))


@torch.no_grad()
def assert_same(space: str, network: str, reference: nn.Module) -> None:
    """The parameters of both are in the same order; a convolution of 1 by 1 is a dense layer."""
    torch.manual_seed(0)
    program = emit(plain(load_network(Path(space), network).network.graph()))
    own, reference = build(program).double().eval(), reference.double().eval()
    pairs = list(zip(own.parameters(), reference.parameters(), strict=True))
    assert sum(value.numel() for value, _ in pairs) == program.parameters
    for value, other in pairs:
        other.copy_(value.normal_(std=0.1).reshape(other.shape))
    x = torch.randn(1, 3, 224, 224, dtype=torch.float64)
    torch.testing.assert_close(own(x), reference(x))


def test_vit() -> None:
    assert_same("vit", "vit", ViT(384, 12, 6))


def test_convnext() -> None:
    assert_same("convnext", "tiny", ConvNeXt())
