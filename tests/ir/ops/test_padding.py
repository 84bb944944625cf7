"""Windows on images: "same", "valid" and omitted padding, compared with padding by hand."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from bayesnas_graph.ir import Expression, ModuleCall, Op
from bayesnas_graph.ir.ops import PRIMITIVES, Conv
from bayesnas_graph.ir.ops.base import both
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.padding import Pair
from tests.helpers import body, codes, graph
from tests.ir.ops.test_primitives import numbers_of

SIZES = st.tuples(st.integers(1, 9), st.integers(1, 9))


def padded(x: torch.Tensor, ks: Pair, strides: Pair, value: float = 0.0) -> torch.Tensor:
    """An image with the padding of "same": for an odd window as torch, for an even one as little as possible."""
    sides: list[int] = []
    for size, k, stride in zip(x.shape[2:], both(ks), both(strides), strict=True):
        total = max((-(-size // stride) - 1) * stride + k - size, 0)
        sides = [*([k // 2, k // 2] if k % 2 else [total // 2, total - total // 2]), *sides]
    return F.pad(x, sides, value=value)


def divided(size: tuple[int, int], strides: Pair) -> tuple[int, ...]:
    """The size of an image, divided by the strides and rounded up."""
    return tuple(-(-n // stride) for n, stride in zip(size, both(strides), strict=True))


def run(op: Op, x: torch.Tensor) -> torch.Tensor:
    """The result of an operation, or of those it stands for; weights are all 1."""
    for step in op.simplified().resolved(tuple(x.shape[1:])):
        call = step.torch(tuple(x.shape[1:]))
        if isinstance(call, ModuleCall):
            module = build_module(call).double()
            for weights in module.parameters():
                torch.nn.init.ones_(weights)
            y = module(x)
        else:
            assert isinstance(call, Expression)
            y = build_function(call, 1)(x)
        assert tuple(y.shape[1:]) == step.shape(tuple(x.shape[1:]))
        x = y
    return x


@given(size=SIZES, k=numbers_of(1, 6), stride=numbers_of(1, 5))
def test_same_padding_gives_the_size_divided_by_the_stride(size: tuple[int, int], k: Pair, stride: Pair) -> None:
    x = torch.randn(1, 2, *size, dtype=torch.float64)
    conv = run(PRIMITIVES["depthwise"](k=k, stride=stride, padding="same"), x)  # type: ignore[call-arg]
    assert conv.shape[2:] == divided(size, stride)
    sums = F.avg_pool2d(padded(x, k, stride), k, stride, divisor_override=1)
    torch.testing.assert_close(conv, sums[:, :, : conv.shape[2], : conv.shape[3]])


@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
@given(size=SIZES, k=numbers_of(1, 6), stride=numbers_of(1, 5))
def test_pools_ignore_the_padding(name: str, size: tuple[int, int], k: Pair, stride: Pair) -> None:
    x = torch.randn(1, 2, *size, dtype=torch.float64)
    y = run(PRIMITIVES[name](k=k, stride=stride, padding="same"), x)  # type: ignore[call-arg]
    assert y.shape[2:] == divided(size, stride)
    if name == "max_pool":
        expected = F.max_pool2d(padded(x, k, stride, -inf), k, stride)
    else:
        sums, ones = (F.avg_pool2d(padded(v, k, stride), k, stride) for v in (x, torch.ones_like(x)))
        expected = sums / ones
    torch.testing.assert_close(y, expected[:, :, : y.shape[2], : y.shape[3]])


@pytest.mark.parametrize(
    ("arguments", "size", "expected"),
    [
        ({"k": 3}, 32, 32),
        ({"k": 3, "stride": 2}, 33, 17),
        ({"k": 4, "stride": 4}, 32, 8),  # patches are not padded
        ({"k": 4, "stride": 4}, 35, 8),
        ({"k": 16, "stride": 16}, 224, 14),
        ({"k": 4, "stride": 2}, 32, 16),
        ({"k": 4}, 32, 31),  # a warning
        ({"k": 2, "stride": 2}, 7, 3),
        ({"k": 4, "padding": "valid"}, 32, 29),
    ],
)
def test_sizes(arguments: dict[str, Any], size: int, expected: int) -> None:
    shape = 3, size, size
    for op in (Conv(3, **arguments), PRIMITIVES["max_pool"](**arguments)):
        assert op.simplified().shape(shape) == (3, expected, expected)


def test_a_patch_embedding_reads_each_pixel_once() -> None:
    x = torch.randn(1, 1, 8, 8, dtype=torch.float64)
    expected = x.unfold(2, 4, 4).unfold(3, 4, 4).sum((4, 5))
    torch.testing.assert_close(run(Conv(1, 4, 4), x), expected)


def test_odd_same_and_valid_are_the_usual_forms() -> None:
    assert Conv(8, 3, padding="same").simplified() == Conv(8, 3)
    assert Conv(8, 3, padding="valid").simplified() == Conv(8, 3, padding=0)
    assert codes(body('x -> out : choose { conv(k = 5), conv(k = 5, padding = "same") }')) == ["NAS307"]


def test_an_even_window_that_shrinks_is_a_warning() -> None:
    assert codes(body("x -> out : conv(k = 4) > conv(k = 4, padding = 2)")) == ["NAS217"]
    assert codes(body('x -> out : conv(k = 4, padding = "same") > max_pool(2, 1, "same")')) == []


def test_the_padding_of_an_even_convolution_is_an_operation() -> None:
    nodes = [(node.name, str(node.op)) for node in graph(body('node y = x : conv(k = 2, padding = "same") out y'))]
    assert nodes[1:] == [("y.pad", "pad(bottom = 1, right = 1)"), ("y", "conv(k = 2, padding = 0)")]


def test_a_window_that_is_even_in_one_direction() -> None:
    assert codes(body("x -> out : conv(k = [3, 4]) > conv(k = [5, 2], padding = [2, 1])")) == ["NAS217"]
    nodes = [str(node.op) for node in graph(body('x -> out : conv(k = [3, 2], padding = "same")'))]
    assert nodes[1:] == ["pad(top = 1, bottom = 1, right = 1)", "conv(k = [3, 2], padding = 0)"]
    nodes = [
        str(node.op)
        for node in graph(body('x -> out : conv(k = 2, stride = [1, 2], padding = "same") > upsample([1, 2])'))
    ]
    assert nodes[1:3] == ["pad(bottom = 1)", "conv(k = 2, stride = [1, 2], padding = 0)"]
