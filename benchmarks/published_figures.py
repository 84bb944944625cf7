"""Published figures about the shipped spaces, each with its source and with what it counts.

Every shipped space with a network has at least one entry. One without a published figure says so, and what is counted
instead. To add a space, add an entry to `FIGURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import prod

from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate.values import Argument
from bayesnas_graph.passes.analysis import cost, networks, switches
from benchmarks.nasbench101 import Cells

K, M, G = 10**3, 10**6, 10**9


@dataclass(frozen=True)
class Measure:
    """Something to count in a graph."""

    name: str
    count: Callable[[Graph], int]
    is_exact: Callable[[Graph], bool] = lambda _: True  # otherwise at most the count


def _two_inputs(graph: Graph) -> int:
    """The architectures in which every node that chooses its inputs reads two, each by one operation."""
    candidates: dict[tuple[str, str], dict[str, int]] = {}
    for gate in graph.switches.values():
        inputs = candidates.setdefault((gate.part, gate.target), {})
        inputs[gate.source] = inputs.get(gate.source, 0) + 1
    return prod(sum(a * b for a, b in combinations(inputs.values(), 2)) for inputs in candidates.values())


PARAMETERS = Measure("parameters", lambda graph: cost(graph).parameters)
MULTIPLY_ADDS = Measure("multiply-adds", lambda graph: cost(graph).flops)
SETTINGS = Measure("settings of switches", lambda graph: switches(graph).settings)
NETWORKS = Measure("networks", lambda graph: networks(graph).count, lambda graph: networks(graph).exact)
TWO_INPUTS = Measure("settings with two inputs", _two_inputs)
ISOMORPHIC = Measure("networks up to isomorphism", lambda graph: Cells.of(graph).isomorphic())


@dataclass(frozen=True)
class Figure:
    """A published figure. The number that is counted may have more digits: it is rounded or cut to `unit`."""

    space: str
    measure: Measure
    published: int | None  # None if there is no such figure
    source: str  # of the figure; what else there is to say if there is none
    unit: int = 1
    network: str | None = None  # the first of the space
    arguments: Mapping[str, Argument] = field(default_factory=dict)


FIGURES = (
    Figure("auto_deeplab", NETWORKS, None, "the paper counts cells and paths separately"),
    Figure("autoformer", NETWORKS, None, "the paper also chooses the width of the embedding"),
    Figure("convnext", PARAMETERS, 28_589_128, "torchvision", network="tiny"),
    Figure("convnext", MULTIPLY_ADDS, 4_500 * M, "paper", 100 * M, network="tiny"),
    Figure("darts", TWO_INPUTS, 10**18, "paper", 10**18),
    Figure("darts", PARAMETERS, 1_930_618, "code of the authors, for the search network"),
    Figure("darts_imagenet", TWO_INPUTS, 10**18, "paper, for the same cells", 10**18),
    Figure("darts_rnn", NETWORKS, None, "we know of none"),
    Figure("darts_v2", PARAMETERS, 3_349_342, "code of the authors"),
    Figure("densenet", PARAMETERS, 800 * K, "paper", 100 * K, "densenet_bc_100_12"),
    Figure("densenet", PARAMETERS, 769_162, "PyTorch implementations", network="densenet_bc_100_12"),
    Figure("densenet", NETWORKS, None, "the paper searches nothing"),
    Figure("efficientnet_b0", PARAMETERS, 5_288_548, "torchvision"),
    Figure("efficientnet_b0", MULTIPLY_ADDS, 390 * M, "paper", 10 * M),
    Figure(
        "efficientnet_b0",
        PARAMETERS,
        66_347_960,
        "torchvision, for B7",
        arguments={"multiplier": 2, "depth": Fraction(31, 10), "size": 600},
    ),
    Figure("hierarchical", NETWORKS, None, "we know of none"),
    Figure("lenet300", PARAMETERS, 267 * K, "S. Han et al., NeurIPS 2015", K),
    Figure("lenet5", PARAMETERS, 431 * K, "S. Han et al., NeurIPS 2015", K),
    Figure("mobilenet_v2", PARAMETERS, 3_504_872, "torchvision"),
    Figure("mobilenet_v2", MULTIPLY_ADDS, 300 * M, "paper", M),
    Figure("mobilenet_v3", PARAMETERS, 5_483_032, "torchvision", network="mobilenet_v3_large"),
    Figure("mobilenet_v3", MULTIPLY_ADDS, 219 * M, "paper", M, network="mobilenet_v3_large"),
    Figure("nasbench101", ISOMORPHIC, 423_624, "benchmark"),
    Figure("nasbench101", SETTINGS, 510 * M, "paper", 10 * M),
    Figure("nasbench201", SETTINGS, 15_625, "paper"),
    Figure("nasbench201", PARAMETERS, 1_531_546, "benchmark", network="all_conv3x3"),
    Figure("nasbench201", PARAMETERS, 73_306, "benchmark", network="all_skip"),
    Figure("nasbench_macro", SETTINGS, 6_561, "paper"),
    Figure("nasnet", NETWORKS, None, "we know of none"),
    Figure("nats_size", SETTINGS, 32_768, "paper"),
    Figure("once_for_all", NETWORKS, 2 * 10**19, "paper", 10**19),
    Figure("proxyless_mobile", NETWORKS, None, "we know of none"),
    Figure("quickstart", NETWORKS, None, "our own space"),
    Figure("resnet18_cifar", PARAMETERS, 11_173_962, "pytorch-cifar by K. Liu"),
    Figure("resnet50", PARAMETERS, 25_557_032, "torchvision"),
    Figure("resnet50", MULTIPLY_ADDS, 3_800 * M, "paper", 100 * M),
    Figure("resnet50", MULTIPLY_ADDS, 4_089 * M, "torchvision", M, arguments={"strided": 3}),
    Figure("resnet50", PARAMETERS, 44_549_160, "torchvision, for ResNet-101", arguments={"depths": (3, 4, 23, 3)}),
    Figure("sequence", NETWORKS, None, "our own space"),
    Figure("shufflenet_v2", PARAMETERS, 2_278_604, "torchvision", network="shufflenet_v2"),
    Figure("shufflenet_v2", MULTIPLY_ADDS, 146 * M, "paper", M, network="shufflenet_v2"),
    Figure("tabular", NETWORKS, None, "the paper chooses numbers from intervals"),
    Figure("tree_cell", NETWORKS, None, "we know of none"),
    Figure("unet", PARAMETERS, None, "the paper gives only the number of convolutions", network="unet"),
    Figure("vgg11_bn", PARAMETERS, 132_868_840, "torchvision"),
    Figure("vgg11_bn", PARAMETERS, 133 * M, "paper, configuration A", M, arguments={"norm": False}),
    Figure(
        "vgg11_bn",
        PARAMETERS,
        138_357_544,
        "torchvision, for VGG-16 without norms",
        arguments={"norm": False, "depths": (2, 2, 3, 3, 3)},
    ),
    Figure("vit", PARAMETERS, 22_050_664, "timm, for ViT-S/16"),
    Figure("vit", MULTIPLY_ADDS, 4_600 * M, "H. Touvron et al., ICML 2021, for DeiT-S", 100 * M),
)
