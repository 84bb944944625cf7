"""The search network of NAS-Bench-201 written by hand in plain torch, with a module for each candidate of each edge.

Every candidate has a gate and every edge a zero gate, all of which start at 1, so that it computes the same as the
compiled network.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import Emitted, Slot

NODES = 3  # of a cell, besides its input
CANDIDATES = "identity", "nor_conv_1", "nor_conv_3", "avg_pool"
STAGES = "a", "b", "c"


def relu_conv_bn(channels: int, width: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """ReLU, convolution, norm."""
    conv = nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(nn.ReLU(), conv, nn.BatchNorm2d(width))


class MixedOp(nn.Module):
    """The sum of all candidates of an edge, each multiplied by its gate."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        convolutions = (relu_conv_bn(channels, channels, kernel) for kernel in (1, 3))
        pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)
        self.candidates = nn.ModuleList([nn.Identity(), *convolutions, pool])
        self.gates = nn.Parameter(torch.ones(len(self.candidates)))
        self.zero = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        weighted = [gate * candidate(x) for gate, candidate in zip(self.gates, self.candidates, strict=True)]
        return self.zero * torch.as_tensor(sum(weighted))


class Cell(nn.Module):
    """Nodes that are each connected to all before them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.edges = nn.ModuleDict({f"{i}->{j}": MixedOp(channels) for j in range(NODES) for i in range(1 + j)})

    def forward(self, x: Tensor) -> Tensor:
        states = [x]
        for j in range(NODES):
            states.append(torch.stack([self.edges[f"{i}->{j}"](state) for i, state in enumerate(states)]).sum(0))
        return states[-1]


class Reduction(nn.Module):
    """The residual block between two stages."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        width = 2 * channels
        self.long = nn.Sequential(relu_conv_bn(channels, width, 3, 2), relu_conv_bn(width, width, 3))
        self.short = nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(channels, width, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        reduced: Tensor = self.long(x) + self.short(x)
        return reduced


class PlainNasBench201(nn.Module):
    """The whole network for CIFAR-10."""

    def __init__(self, width: int = 16, cells: int = 5) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
        self.stages = nn.ModuleDict()
        for stage in STAGES:
            reduction = [] if stage == "a" else [Reduction(width)]
            width *= 1 + len(reduction)
            self.stages[stage] = nn.Sequential(*reduction, *(Cell(width) for _ in range(cells)))
        self.last = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU())
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for stage in self.stages.values():
            x = stage(x)
        head: Tensor = self.head(self.last(x).mean((2, 3)))
        return head


def slots(cells: int = 5) -> Emitted:
    """Where the weights and gates of the nodes of `nasbench201.nas` are in this network."""
    modules = {"a.conv": "stem.0", "a.bn": "stem.1", "bn": "last.0", "linear": "head"}
    gates: dict[str, Slot] = {}
    for stage in STAGES:
        reductions = int(stage != "a")
        if reductions:
            modules |= _reduction(f"stages.{stage}.0", f"{stage}.residual_reduction.out")
        for k in range(cells):
            for j in range(NODES):
                for i in range(1 + j):
                    edge = f"stages.{stage}.{reductions + k}.edges.{i}->{j}"
                    source = "" if j == 0 else f".h_{i - 1}" if i else ".x"
                    choice = f"{stage}.stage.c.{k}.h.{j}{source}"
                    modules |= _edge(f"{edge}.candidates", choice)
                    slots = {f"{choice}.{name}": Slot(f"{edge}.gates", n, 4) for n, name in enumerate(CANDIDATES)}
                    gates |= slots | {f"{choice}.zero": Slot(f"{edge}.zero")}
    found = {f"skeleton.{node}": Slot(path) for node, path in modules.items()}
    return Emitted("", "PlainNasBench201", found, {f"skeleton.{gate}": slot for gate, slot in gates.items()})


def _reduction(module: str, node: str) -> dict[str, str]:
    found = {f"{node}.x_2.conv": f"{module}.short.1"}
    for number, part in enumerate(("relu_conv_bn", "relu_conv_bn_2")):
        found |= _conv_bn(f"{module}.long.{number}", f"{node}.x.{part}")
    return found


def _edge(module: str, node: str) -> dict[str, str]:
    numbers = {1: "nor_conv_1", 2: "nor_conv_3"}
    parts = [_conv_bn(f"{module}.{number}", f"{node}.{name}.relu_conv_bn") for number, name in numbers.items()]
    return parts[0] | parts[1]


def _conv_bn(module: str, node: str) -> dict[str, str]:
    return {f"{node}.conv": f"{module}.1", f"{node}.bn": f"{module}.2"}
