"""The search network of DARTS written by hand in plain torch, with a module for each candidate of each edge.

Every candidate has a gate and every edge a zero gate, all of which start at 1, so that it computes the same as the
compiled network.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, Slot

STEPS = 4  # inner nodes of a cell
CANDIDATES = "sep_conv_3", "sep_conv_5", "dil_conv_3", "dil_conv_5", "max_pool_3x3", "avg_pool_3x3", "skip"


def relu_conv_bn(channels: int, width: int) -> nn.Sequential:
    """ReLU, pointwise convolution, norm."""
    return nn.Sequential(nn.ReLU(), nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width, affine=False))


class FactorizedReduce(nn.Module):
    """Halves the size with two strided convolutions, one of them shifted by a pixel."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.even = nn.Conv2d(channels, width // 2, 1, stride=2, bias=False)
        self.odd = nn.Conv2d(channels, width // 2, 1, stride=2, bias=False)
        self.bn = nn.BatchNorm2d(width, affine=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(x)
        reduced: Tensor = self.bn(torch.cat([self.even(x), self.odd(x[:, :, 1:, 1:])], 1))
        return reduced


def separable(channels: int, kernel: int, stride: int) -> list[nn.Module]:
    """ReLU, depthwise convolution, pointwise convolution, norm."""
    return [
        nn.ReLU(),
        nn.Conv2d(channels, channels, kernel, stride, kernel // 2, groups=channels, bias=False),
        nn.Conv2d(channels, channels, 1, bias=False),
        nn.BatchNorm2d(channels, affine=False),
    ]


def dilated(channels: int, kernel: int, stride: int) -> nn.Sequential:
    """The same with a dilation of 2."""
    modules = separable(channels, kernel, stride)
    modules[1] = nn.Conv2d(channels, channels, kernel, stride, kernel - 1, 2, groups=channels, bias=False)
    return nn.Sequential(*modules)


class MixedOp(nn.Module):
    """The sum of all candidates of an edge, each multiplied by its gate."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        pools = nn.MaxPool2d(3, stride, 1), nn.AvgPool2d(3, stride, 1, count_include_pad=False)
        skip = nn.Identity() if stride == 1 else FactorizedReduce(channels, channels)
        self.candidates = nn.ModuleList(
            [
                *(nn.Sequential(*separable(channels, k, stride), *separable(channels, k, 1)) for k in (3, 5)),
                *(dilated(channels, k, stride) for k in (3, 5)),
                *(nn.Sequential(pool, nn.BatchNorm2d(channels, affine=False)) for pool in pools),
                skip,
            ]
        )
        self.gates = nn.Parameter(torch.ones(len(self.candidates)))
        self.zero = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        weighted = [gate * candidate(x) for gate, candidate in zip(self.gates, self.candidates, strict=True)]
        return self.zero * torch.as_tensor(sum(weighted))


class Cell(nn.Module):
    """A normal or a reduction cell."""

    def __init__(self, a: int, b: int, width: int, reduction: bool, after_reduction: bool) -> None:
        super().__init__()
        self.p = FactorizedReduce(a, width) if after_reduction else relu_conv_bn(a, width)
        self.q = relu_conv_bn(b, width)
        self.edges = nn.ModuleDict(
            {f"{i}->{j}": MixedOp(width, 2 if reduction and i < 2 else 1) for j in range(STEPS) for i in range(2 + j)}
        )

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        states = [self.p(a), self.q(b)]
        for j in range(STEPS):
            states.append(torch.stack([self.edges[f"{i}->{j}"](x) for i, x in enumerate(states)]).sum(0))
        return torch.cat(states[2:], 1)


class PlainDarts(nn.Module):
    """The whole network for CIFAR-10."""

    def __init__(self, width: int = 16, cells: int = 8) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 3 * width, 3, padding=1, bias=False), nn.BatchNorm2d(3 * width))
        self.cells = nn.ModuleList()
        a = b = 3 * width
        after_reduction = False
        for k in range(cells):
            reduction = k in (cells // 3, 2 * cells // 3)
            width *= 2 if reduction else 1
            self.cells.append(Cell(a, b, width, reduction, after_reduction))
            a, b, after_reduction = b, STEPS * width, reduction
        self.head = nn.Linear(b, 10)

    def forward(self, x: Tensor) -> Tensor:
        a = b = self.stem(x)
        for cell in self.cells:
            a, b = b, cell(a, b)
        head: Tensor = self.head(b.mean((2, 3)))
        return head


def slots(cells: int) -> Emitted:
    """Where the weights and gates of the nodes of `darts.nas` are in this network."""
    modules = {"backbone.stem.conv": "stem.0", "backbone.stem.bn": "stem.1", "backbone.linear": "head"}
    gates: dict[str, Slot] = {}
    for k in range(cells):
        cell, node = f"cells.{k}", f"backbone.y.s.{k + 2}"
        for side in ("p", "q"):
            plain, reduced = _projection(f"{cell}.{side}", f"{node}.p.{side}")
            modules |= reduced if side == "p" and k - 1 in (cells // 3, 2 * cells // 3) else plain
        for j in range(STEPS):
            for i in range(2 + j):
                edge, choice = f"{cell}.edges.{i}->{j}", f"{node}.h.{j}.{('p', 'q')[i] if i < 2 else f'h_{i - 2}'}"
                modules |= _edge(f"{edge}.candidates", choice)
                gates |= {f"{choice}.{name}": Slot(f"{edge}.gates", n, 7) for n, name in enumerate(CANDIDATES)}
                gates[f"{choice}.zero"] = Slot(f"{edge}.zero")
    return Emitted("", "PlainDarts", {node: Slot(path) for node, path in modules.items()}, gates)


def _projection(module: str, node: str) -> tuple[dict[str, str], dict[str, str]]:
    return {f"{node}.conv": f"{module}.1", f"{node}.bn": f"{module}.2"}, _reduce(module, node)


def _reduce(module: str, node: str) -> dict[str, str]:
    return {f"{node}.even": f"{module}.even", f"{node}.odd.conv": f"{module}.odd", f"{node}.bn": f"{module}.bn"}


def _edge(module: str, node: str) -> dict[str, str]:
    found = _reduce(f"{module}.6", f"{node}.skip.factorized_reduce")
    for number, k in ((0, 3), (1, 5)):
        parts = {"y.depthwise": 1, "y.conv": 2, "y.bn": 3, "depthwise": 5, "conv": 6, "bn": 7}
        found |= {f"{node}.sep_conv_{k}.{part}": f"{module}.{number}.{i}" for part, i in parts.items()}
    for number, k in ((2, 3), (3, 5)):
        parts = {"depthwise": 1, "conv": 2, "bn": 3}
        found |= {f"{node}.dil_conv_{k}.{part}": f"{module}.{number}.{i}" for part, i in parts.items()}
    for number, kind in ((4, "max"), (5, "avg")):
        found[f"{node}.{kind}_pool_3x3.{kind}_pool_bn.bn"] = f"{module}.{number}.1"
    return found
