"""Small networks of every kind, as left by a search and a training run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch import nn

from bayesnas_graph import passes
from bayesnas_graph.codegen.emit import build, emit
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph, Shape
from bayesnas_graph.ir.ops import Input
from bayesnas_graph.language.elaborate import Checker, load_network
from tests.conftest import ROOT
from tests.helpers import graph
from tests.passes.cases import shipped

# Two inputs, two outputs, and every primitive on images and vectors.
EVERYTHING = """
import "std.nas"
network n : image(3, 8, 8), vector(5) -> classes(4), image(8, 4, 4) {
    in x, v
    node a = x : conv(4, 3, stride = 2, bias = true) > bn > relu
    node b = a : depthwise(3, dilation = 2) > group_norm(2) > gelu > rescale
    node c = a : pad(1, 1, 1, 1) > max_pool(3, padding = 0) > layer_norm > swish > dropout(0.3)
    node d = x : crop(4) > pad_channels(4) > avg_pool(3) > relu6 > identity
    node e = concat(sum(a, b), product(c, d)) : squeeze_excite
    node m = mean(a, c) : conv(8, 1, groups = 2)
    node p = e : leaky_relu(0.1) > elu(0.5) > hard_swish > hard_sigmoid > mish > softmax
    node q = e : upsample > resize(6, 5) > adaptive_avg_pool(8) > adaptive_max_pool(4)
    node s = e : conv_transpose(8, 3) > conv(8, [1, 3], [2, 1]) > max_pool([1, 2], [1, 2])
    node t = difference(e, s) : channel_shuffle(4) > slice_channels(2, 4) > conv(8, 1)
    node r = e : upsample([1, 2], "bilinear") > resize(4, mode = "nearest")
    node y = sum(e, m, p, q, r, t) : tanh
    node g = y : global_avg_pool
    node h = y : global_max_pool
    node w = v : linear(8) > sigmoid
    node i = y : flatten > linear(8)
    node z = scale(y, w)
    node o = concat(g, h, i) : select(20) > linear(4)
    out o, z
}
"""


# Every primitive on sequences and tokens.
SEQUENCES = """
import "std.nas"
network n : image(3, 8, 8), sequence(4, 12), tokens(6) -> classes(4), sequence(8, 6), image(8, 4, 4) {
    in x, s, t
    node a = x : conv(8, 2, 2, bias = true) > to_sequence > class_token > position_embedding
    node b = a : transformer_block(2) > layer_norm > layer_scale(init = 1) > shift(init = 2)
    node c = s : conv1d(8, 3, 2) > bn > relu > depthwise1d(3) > max_pool1d(3) > avg_pool1d(2, padding = "same")
    node d = t : embedding(50, 8) > self_attention(4) > gelu
    node e = attention(head_width = 4, causal = true)(c, d, d)
    node f = scale(e, at(-1)(d)) : pad1d(1, 2) > conv1d(k = 4, padding = 0)
    node g = stack_vectors(at(0)(b), global_avg_pool(c), global_max_pool(f)) : linear(6) > flatten
    node h = x : conv(8, 2, 2) > to_sequence > linear(8) > to_image(4)
    node y = g : linear(4)
    out y, f, h
}
"""


@cache
def small_resnet() -> Graph:
    """ResNet-18 with a sixteenth of each width."""
    return load_network(Path("resnet18_cifar"), parameters={"width": 4}).network.graph()


@cache
def nasbench201() -> Graph:
    text = (ROOT / "spaces" / "nasbench201.nas").read_text().replace("(nor_conv(3))(x)", "(nor_conv(3), 4, 1)(x)")
    networks = Checker(Report()).text(Source("nasbench201.nas", text)).networks
    return next(network for network in networks if network.name == "all_conv3x3").graph()


@cache
def searched() -> Graph:
    """A quickstart cell, with factors where gates cannot be folded into weights."""
    found = passes.insert_zero_identity(shipped("quickstart", "digits"), passes.Options(zero="after"))
    kept = ("h.0.relu_conv_bn", "h.0.identity", "h.1.h_0.max_pool", "h.2.entry.relu_conv_bn", ".zero")
    closed = {gate.group for gate in found.gates if not gate.group.endswith(kept)}
    return passes.rescale_gates(passes.prune(found, closed)).graph


NETWORKS: dict[str, Callable[[], Graph]] = {
    "everything": cache(lambda: graph(EVERYTHING)),
    "sequences": cache(lambda: graph(SEQUENCES)),
    "lenet5": lambda: shipped("lenet5", "lenet5"),
    "resnet18": small_resnet,
    "nasbench201": nasbench201,
    "searched": searched,
}


def network(found: Graph) -> tuple[nn.Module, list[Shape]]:
    """A network in evaluation mode with non-trivial statistics and factors, and its input shapes."""
    torch.manual_seed(0)
    module = build(emit(found, standalone=True)).eval()
    for name, value in module.named_buffers():
        if value.is_floating_point():
            value.uniform_(0.5, 2) if name.endswith(("var", "factor")) else value.normal_()
    return module, [node.shape for node in found if isinstance(node.op, Input)]


def tiny() -> tuple[nn.Module, Shape]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)).eval(), (1, 4, 4)
