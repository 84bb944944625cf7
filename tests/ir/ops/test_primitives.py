"""Shapes and parameter counts of primitives against the equivalent torch modules."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bayesnas_graph import runtime
from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Expression, ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Conv, ConvTranspose, PadChannels
from bayesnas_graph.ir.ops.base import both
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.channels import SliceChannels
from bayesnas_graph.ir.ops.padding import Pair
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Checker
from tests.helpers import body, codes


def numbers_of(least: int, most: int) -> st.SearchStrategy[Pair]:
    """A number, or one for the height and one for the width."""
    one = st.integers(least, most)
    return one | st.tuples(one, one)


def omitted(op: Any) -> Any:
    """The padding of an operation, along the height and along the width if it is omitted."""
    if op.padding is not None:
        return op.padding
    found = []
    for k, stride, dilation in zip(*map(both, (op.k, op.stride, getattr(op, "dilation", 1))), strict=True):
        window = dilation * (k - 1) + 1
        found.append(0 if window % 2 == 0 and window <= stride else (window - 1) // 2)
    return tuple(found)


def omitted_1d(op: Any) -> Any:
    """The same along a sequence."""
    return omitted(op)[0] if op.padding is None else op.padding


def conv(shape: Shape, op: Any) -> nn.Module:
    padding = omitted(op)
    out = op.width or shape[0]
    return nn.Conv2d(shape[0], out, op.k, op.stride, padding, op.dilation, op.groups, op.bias)


def depthwise(shape: Shape, op: Any) -> nn.Module:
    padding = omitted(op)
    channels = shape[0]
    return nn.Conv2d(channels, channels * op.multiplier, op.k, op.stride, padding, op.dilation, channels, op.bias)


def transposed(shape: Shape, op: Any) -> nn.Module:
    """The image becomes `stride` times as large, or loses `padding` pixels on all sides."""
    removed, added = [], []
    for k, stride in zip(both(op.k), both(op.stride), strict=True):
        removed.append(max(0, (k - stride + 1) // 2))
        added.append((k - stride) % 2 if k >= stride else stride - k)
    around, after = ((removed[0], removed[1]), (added[0], added[1])) if op.padding is None else (op.padding, (0, 0))
    return nn.ConvTranspose2d(shape[0], op.width or shape[0], op.k, op.stride, around, after, bias=op.bias)


def pool(module: type[nn.Module]) -> Callable[[Shape, Any], nn.Module]:
    return lambda _, op: module(op.k, op.stride, omitted(op))


def pool_1d(module: type[nn.Module]) -> Callable[[Shape, Any], nn.Module]:
    return lambda _, op: module(op.k, op.stride, omitted_1d(op))


class ByPosition(nn.Module):
    """A module that works on the last axis, at every position of an input with the channels second."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.module(x.movedim(1, -1))).movedim(-1, 1)


def conv1d(shape: Shape, op: Any) -> nn.Module:
    padding = omitted_1d(op)
    return nn.Conv1d(shape[0], op.width or shape[0], op.k, op.stride, padding, op.dilation, op.groups, op.bias)


def depthwise1d(shape: Shape, op: Any) -> nn.Module:
    padding = omitted_1d(op)
    channels = shape[0]
    return nn.Conv1d(channels, channels * op.multiplier, op.k, op.stride, padding, op.dilation, channels, op.bias)


def linear(shape: Shape, op: Any) -> nn.Module:
    dense = nn.Linear(shape[0], op.width or shape[0], op.bias)
    return dense if len(shape) == 1 else ByPosition(dense)


def layer_norm(shape: Shape, op: Any) -> nn.Module:
    return ByPosition(nn.LayerNorm(shape[0], elementwise_affine=op.affine))


REFERENCE: dict[str, Callable[[Shape, Any], nn.Module]] = {
    "conv": conv,
    "depthwise": depthwise,
    "conv1d": conv1d,
    "depthwise1d": depthwise1d,
    "conv_transpose": transposed,
    "linear": linear,
    "max_pool": pool(nn.MaxPool2d),
    "avg_pool": pool(nn.AvgPool2d),
    "max_pool1d": pool_1d(nn.MaxPool1d),
    "avg_pool1d": pool_1d(nn.AvgPool1d),
    "bn": lambda shape, op: (nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm1d)(shape[0], affine=op.affine),
    "group_norm": lambda shape, op: nn.GroupNorm(op.groups, shape[0], affine=op.affine),
    "layer_norm": layer_norm,
    "flatten": lambda _shape, _op: nn.Flatten(),
    "relu": lambda _shape, _op: nn.ReLU(),
    "dropout": lambda _shape, op: nn.Dropout(float(op.p)),
    "channel_shuffle": lambda _shape, op: nn.ChannelShuffle(op.groups),
    "upsample": lambda _shape, op: nn.Upsample(scale_factor=op.factor, mode=op.mode),
    "resize": lambda _shape, op: nn.Upsample((op.height, op.width or op.height), mode=op.mode),
    "adaptive_avg_pool": lambda _shape, op: nn.AdaptiveAvgPool2d((op.height, op.width or op.height)),
    "adaptive_max_pool": lambda _shape, op: nn.AdaptiveMaxPool2d((op.height, op.width or op.height)),
    "leaky_relu": lambda _shape, op: nn.LeakyReLU(float(op.slope)),
    "elu": lambda _shape, op: nn.ELU(float(op.alpha)),
}

IMAGE = (6, 9, 7)
SEQUENCE = (6, 9)
SETTINGS: list[tuple[str, Shape, dict[str, Any]]] = [
    *(("conv", IMAGE, {"width": 8, "k": k, "stride": s}) for k in (1, 2, 3, 5) for s in (1, 2, 3)),
    ("conv", IMAGE, {"k": 3, "groups": 3}),
    ("conv", IMAGE, {"width": 4, "k": 3, "dilation": 2, "bias": True}),
    ("conv", IMAGE, {"width": 4, "k": 5, "padding": 0}),
    ("conv", IMAGE, {"width": 4, "k": 5, "padding": 4, "stride": 2}),
    ("depthwise", IMAGE, {"k": 5, "stride": 2}),
    ("depthwise", IMAGE, {"k": 3, "dilation": 2, "multiplier": 3, "bias": True}),
    ("linear", (6,), {"width": 4}),
    ("linear", (6,), {"bias": False}),
    *((name, IMAGE, {"k": k, "stride": s}) for name in ("max_pool", "avg_pool") for k in (2, 3, 5) for s in (1, 2)),
    ("max_pool", IMAGE, {"k": 4, "stride": 2, "padding": 0}),
    ("conv", IMAGE, {"width": 4, "k": (1, 7)}),
    ("conv", IMAGE, {"width": 4, "k": (3, 2), "stride": (2, 1), "dilation": (1, 3), "padding": (0, 1), "groups": 2}),
    ("depthwise", IMAGE, {"k": (7, 1), "stride": (1, 2), "multiplier": 2}),
    *(("conv_transpose", IMAGE, {"k": k, "stride": s}) for k in (1, 2, 3, 4, 5) for s in (2, 3)),
    ("conv_transpose", IMAGE, {"k": 3, "stride": 1}),
    ("conv_transpose", IMAGE, {"width": 4, "k": (1, 3), "stride": (2, 1), "bias": True}),
    ("conv_transpose", IMAGE, {"width": 4, "k": 4, "padding": (0, 2)}),
    *((name, IMAGE, {"k": (1, 3), "stride": (2, 1)}) for name in ("max_pool", "avg_pool")),
    *((name, IMAGE, {"k": (4, 3), "padding": (1, 0)}) for name in ("max_pool", "avg_pool")),
    ("bn", IMAGE, {}),
    ("bn", IMAGE, {"affine": False}),
    ("group_norm", IMAGE, {"groups": 3}),
    ("layer_norm", IMAGE, {"affine": False}),
    ("layer_norm", IMAGE, {}),
    *(("layer_norm", shape, {}) for shape in (SEQUENCE, (6,))),
    *(("conv1d", SEQUENCE, {"width": 8, "k": k, "stride": s}) for k in (1, 2, 3, 5) for s in (1, 2, 3)),
    ("conv1d", SEQUENCE, {"k": 3, "groups": 3, "dilation": 2, "bias": True}),
    ("conv1d", SEQUENCE, {"width": 4, "k": 5, "padding": 4, "stride": 2}),
    ("depthwise1d", SEQUENCE, {"k": 5, "stride": 2}),
    ("depthwise1d", SEQUENCE, {"k": 3, "dilation": 2, "multiplier": 3, "bias": True}),
    ("linear", SEQUENCE, {"width": 4}),
    ("linear", SEQUENCE, {"bias": False}),
    *((name, SEQUENCE, {"k": k, "stride": s}) for name in ("max_pool1d", "avg_pool1d") for k in (2, 3) for s in (1, 2)),
    ("bn", SEQUENCE, {}),
    ("group_norm", SEQUENCE, {"groups": 3}),
    ("flatten", SEQUENCE, {}),
    ("flatten", IMAGE, {}),
    ("relu", IMAGE, {}),
    ("dropout", IMAGE, {"p": Fraction(1, 4)}),
    ("leaky_relu", IMAGE, {"slope": Fraction(1, 5)}),
    ("elu", IMAGE, {"alpha": Fraction(3, 2)}),
    *(("channel_shuffle", IMAGE, {"groups": g}) for g in (1, 2, 3)),
    *(("upsample", IMAGE, {"factor": f, "mode": mode}) for f in (1, 2, (2, 3)) for mode in ("nearest", "bilinear")),
    *(("resize", IMAGE, {"height": n, "mode": mode}) for n in (4, 9, 15) for mode in ("nearest", "bilinear")),
    ("resize", IMAGE, {"height": 5, "width": 11}),
    *(
        (f"adaptive_{kind}_pool", IMAGE, {"height": n, "width": m})
        for kind in ("avg", "max")
        for n in (1, 4, 11)
        for m in (3, None)
    ),
]


@pytest.mark.parametrize(("name", "shape", "arguments"), SETTINGS)
def test_shape_and_parameters_are_those_of_torch(name: str, shape: Shape, arguments: dict[str, Any]) -> None:
    op = PRIMITIVES[name](**arguments)
    module = REFERENCE[name](shape, op)
    assert op.shape(shape) == tuple(module(torch.zeros(2, *shape)).shape[1:])
    assert op.parameters(shape) == sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize(("name", "shape", "arguments"), SETTINGS)
def test_torch_computes_what_the_reference_does(name: str, shape: Shape, arguments: dict[str, Any]) -> None:
    """The stored call, executed, against the module written here."""
    op = PRIMITIVES[name](**arguments)
    reference = REFERENCE[name](shape, op).double().eval()
    x = torch.randn(2, *shape, dtype=torch.float64)
    call = op.torch(shape)
    if isinstance(call, ModuleCall):
        module = build_module(call).double().eval()
        module.load_state_dict({name.removeprefix("module."): t for name, t in reference.state_dict().items()})
        assert eval(call.source(), {"nn": nn, **vars(runtime)}).__repr__() == repr(build_module(call))
        y = module(x)
    else:
        y = build_function(call, 1)(x)
    expected = reference(x)
    if name.startswith("avg_pool"):  # padding is not counted
        expected = expected / reference(torch.ones_like(x))
    torch.testing.assert_close(y, expected)


JOINED: dict[str, Callable[..., torch.Tensor]] = {
    "sum": lambda a, b, c: a + b + c,
    "mean": lambda a, b, c: torch.stack([a, b, c]).mean(0),
    "product": lambda a, b, c: a * b * c,
    "concat": lambda a, b, c: torch.cat([a, b, c], 1),
}


@pytest.mark.parametrize("shape", [(4, 3, 3), (4, 3), (5,)])
@pytest.mark.parametrize("name", JOINED)
def test_joins(name: str, shape: Shape) -> None:
    inputs = [torch.randn(2, *shape, dtype=torch.float64) for _ in range(3)]
    call = PRIMITIVES[name]().torch(shape, shape, shape)
    assert isinstance(call, Expression)
    torch.testing.assert_close(build_function(call, 3)(*inputs), JOINED[name](*inputs))


ELEMENTWISE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "identity": lambda x: x,
    "relu": lambda x: x.clamp(min=0),
    "relu6": lambda x: x.clamp(0, 6),
    "leaky_relu": lambda x: torch.maximum(x, x / 100),
    "elu": lambda x: x.clamp(min=0) + x.clamp(max=0).exp() - 1,
    "hard_sigmoid": lambda x: (x + 3).clamp(0, 6) / 6,
    "hard_swish": lambda x: x * (x + 3).clamp(0, 6) / 6,
    "mish": lambda x: x * (1 + x.exp()).log().tanh(),
    "softmax": lambda x: x.exp() / x.exp().sum(1, keepdim=True),
    "swish": lambda x: x / (1 + (-x).exp()),
    "gelu": lambda x: x * (1 + torch.erf(x / 2**0.5)) / 2,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "tanh": lambda x: (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()),
    "global_avg_pool": lambda x: x.flatten(2).mean(2),
    "global_max_pool": lambda x: x.flatten(2).max(2).values,
    "crop": lambda x: x[:, :, 1:, 1:],
    "pad": lambda x: x,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions(name: str) -> None:
    x = 4 * torch.randn(2, *IMAGE, dtype=torch.float64)
    call = PRIMITIVES[name]().torch(IMAGE)
    assert isinstance(call, Expression)
    torch.testing.assert_close(build_function(call, 1)(x), ELEMENTWISE[name](x))


def test_scale_padding_slices_and_differences() -> None:
    x, s = torch.randn(2, *IMAGE), torch.randn(2, 6)
    scale, pad = PRIMITIVES["scale"]().torch(IMAGE, (6,)), PadChannels(width=9).torch(IMAGE)
    assert isinstance(scale, Expression)
    assert isinstance(pad, Expression)
    torch.testing.assert_close(build_function(scale, 2)(x, s), torch.einsum("nchw,nc->nchw", x, s))
    padded = build_function(pad, 1)(x)
    assert padded.shape == (2, 9, 9, 7)
    assert torch.equal(padded[:, :6], x)
    assert not padded[:, 6:].any()
    difference = PRIMITIVES["difference"]().torch(IMAGE, IMAGE)
    assert isinstance(difference, Expression)
    assert torch.equal(build_function(difference, 2)(x, 2 * x), -x)
    part = SliceChannels(2, 3).torch(IMAGE)
    assert isinstance(part, Expression)
    assert torch.equal(build_function(part, 1)(x), x[:, 2:5])
    with pytest.raises(ShapeError, match="channels 4 to 6, but there are only 6"):
        SliceChannels(4, 3).shape(IMAGE)
    with pytest.raises(ShapeError, match="4 groups, which do not divide 6 channels"):
        PRIMITIVES["channel_shuffle"](groups=4).shape(IMAGE)  # type: ignore[call-arg]


@pytest.mark.parametrize("shape", [IMAGE, SEQUENCE, (6,)])
def test_norms_take_images_sequences_and_vectors(shape: Shape) -> None:
    for name, arguments in (("bn", {}), ("layer_norm", {}), ("group_norm", {"groups": 2})):
        call = PRIMITIVES[name](**arguments).torch(shape)
        assert isinstance(call, ModuleCall)
        assert build_module(call)(torch.randn(4, *shape)).shape == (4, *shape)


@pytest.mark.parametrize(
    ("op", "shape", "flops", "stored"),
    [
        (Conv(width=8, k=3), (6, 8, 8), 8 * 8 * 8 * 6 * 9, 8 * 8 * 8),
        (Conv(width=8, k=3, stride=2, groups=2, bias=True), (6, 8, 8), 4 * 4 * 8 * 3 * 9, 8 * 4 * 4),
        (PRIMITIVES["depthwise"](k=5), (6, 8, 8), 8 * 8 * 6 * 25, 6 * 8 * 8),  # type: ignore[call-arg]
        (Conv(width=8, k=(1, 7), stride=(2, 1)), (6, 8, 8), 4 * 8 * 8 * 6 * 7, 8 * 4 * 8),
        (ConvTranspose(width=8, k=3), (6, 8, 8), 8 * 8 * 6 * 8 * 9, 8 * 16 * 16),
        (PRIMITIVES["linear"](width=10), (84,), 840, 10),  # type: ignore[call-arg]
        (PRIMITIVES["linear"](width=10), (84, 5), 5 * 840, 5 * 10),  # type: ignore[call-arg]
        (PRIMITIVES["conv1d"](width=8, k=5, stride=2), (6, 8), 4 * 8 * 6 * 5, 8 * 4),  # type: ignore[call-arg]
        (PRIMITIVES["depthwise1d"](k=5, bias=True), (6, 8), 8 * 6 * 5, 6 * 8),  # type: ignore[call-arg]
        (PRIMITIVES["to_sequence"](), (6, 8, 8), 0, 0),
        (PRIMITIVES["at"](), (6, 8), 0, 0),
        (PRIMITIVES["relu"](), (6, 8, 8), 0, 6 * 8 * 8),
        (PRIMITIVES["flatten"](), (6, 8, 8), 0, 0),
        (PRIMITIVES["identity"](), (6, 8, 8), 0, 0),
    ],
)
def test_costs(op: Op, shape: Shape, flops: int, stored: int) -> None:
    assert (op.flops(shape), op.stored_values(shape)) == (flops, stored)


def test_cost_of_attention() -> None:
    """Two products of matrices: queries with keys, and weights with values."""
    op = PRIMITIVES["attention"](heads=3)  # type: ignore[call-arg]
    queries, keys = (12, 5), (12, 7)
    scores, mixed = 3 * 5 * 7 * 4, 3 * 5 * 4 * 7
    assert op.flops(queries, keys, keys) == scores + mixed
    assert op.operations(queries, keys, keys) == 2 * (scores + mixed) - 3 * 5 * 7 - 12 * 5
    assert op.stored_values(queries, keys, keys) == 12 * 5 + 3 * 5
    assert op.parameters(queries, keys, keys) == 0


@pytest.mark.parametrize("arguments", [{"heads": 3}, {"head_width": 4}, {"heads": 3, "causal": True}, {}])
def test_attention_against_its_definition(arguments: dict[str, Any]) -> None:
    """Head by head and query by query."""
    shape, heads = (12, 5), 3 if arguments else 1
    q, k, v = (torch.randn(2, *shape, dtype=torch.float64) for _ in range(3))
    expected = torch.zeros_like(q)
    for head in torch.arange(12).chunk(heads):
        for i in range(5):
            read = range(i + 1) if arguments.get("causal") else range(5)
            scores = torch.stack([(q[:, head, i] * k[:, head, j]).sum(1) for j in read], 1) / len(head) ** 0.5
            weights = scores.exp() / scores.exp().sum(1, keepdim=True)
            expected[:, head, i] = torch.stack([weights[:, j : j + 1] * v[:, head, j] for j in read]).sum(0)
    call = PRIMITIVES["attention"](**arguments).torch(shape, shape, shape)
    torch.testing.assert_close(run(call, q, k, v), expected)


LEARNED: dict[str, tuple[Shape, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]] = {
    "layer_scale": ((6,), lambda x, w: torch.einsum("ncl,c->ncl", x, w)),
    "shift": ((6,), lambda x, w: torch.stack([x[:, i] + w[i] for i in range(6)], 1)),
    "position_embedding": (SEQUENCE, lambda x, w: x + w),
    "class_token": ((6,), lambda x, w: torch.cat([w.repeat(2, 1)[:, :, None], x], 2)),
}


@pytest.mark.parametrize("name", LEARNED)
def test_learned_tensors(name: str) -> None:
    size, expected = LEARNED[name]
    op, call = PRIMITIVES[name](), PRIMITIVES[name]().torch(SEQUENCE)
    assert isinstance(call, ModuleCall)
    x, weight = (torch.randn(shape, dtype=torch.float64) for shape in ((2, *SEQUENCE), size))
    module = build_module(call).double()
    module.load_state_dict({"weight": weight})
    torch.testing.assert_close(module(x), expected(x, weight))
    assert op.parameters(SEQUENCE) == weight.numel()
    assert op.shape(SEQUENCE) == module(x).shape[1:]


def test_learned_tensors_start_as_told() -> None:
    for name, start in (("layer_scale", Fraction(1, 10)), ("shift", Fraction(-3))):
        call = PRIMITIVES[name](init=start).torch(IMAGE)  # type: ignore[call-arg]
        assert isinstance(call, ModuleCall)
        torch.testing.assert_close(build_module(call).state_dict()["weight"], torch.full((6,), float(start)))
    call = PRIMITIVES["position_embedding"](std=Fraction(2)).torch((50, 50))  # type: ignore[call-arg]
    assert isinstance(call, ModuleCall)
    assert 1.8 < float(build_module(call).state_dict()["weight"].std()) < 2.2


def test_positions() -> None:
    x, s = torch.randn(2, *IMAGE), torch.randn(2, *SEQUENCE)
    flat = run(PRIMITIVES["to_sequence"]().torch(IMAGE), x)
    assert flat.shape == (2, 6, 63)
    assert torch.equal(flat[:, :, 7 * 2 + 3], x[:, :, 2, 3])
    back = PRIMITIVES["to_image"](height=9, width=7)  # type: ignore[call-arg]
    assert torch.equal(run(back.torch((6, 63)), flat), x)
    last = PRIMITIVES["at"](index=-1)  # type: ignore[call-arg]
    assert torch.equal(run(last.torch(SEQUENCE), s), s[:, :, 8])
    assert torch.equal(run(PRIMITIVES["stack_vectors"]().torch(*[(6,)] * 9), *s.unbind(2)), s)


def run(call: ModuleCall | Expression, *inputs: torch.Tensor) -> torch.Tensor:
    assert isinstance(call, Expression)
    return build_function(call, len(inputs))(*inputs)


@given(
    size=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    k=numbers_of(1, 7),
    stride=numbers_of(1, 4),
    dilation=numbers_of(1, 3),
    padding=st.none() | numbers_of(0, 4),
)
def test_every_convolution_that_torch_refuses_is_refused(
    size: tuple[int, int], k: Pair, stride: Pair, dilation: Pair, padding: Pair | None
) -> None:
    op = Conv(width=2, k=k, stride=stride, dilation=dilation, padding=padding)
    try:
        expected = tuple(conv((1, *size), op).to("meta")(torch.empty(1, 1, *size, device="meta")).shape[1:])
    except RuntimeError:
        with pytest.raises(ShapeError):
            op.shape((1, *size))
    else:
        assert op.shape((1, *size)) == expected


@given(size=st.tuples(st.integers(1, 9), st.integers(1, 9)), k=numbers_of(1, 7), stride=numbers_of(1, 4))
def test_a_transposed_convolution_enlarges_by_its_stride(size: tuple[int, int], k: Pair, stride: Pair) -> None:
    rows, columns = both(stride)
    op = ConvTranspose(2, k, stride)
    if any(window % 2 == 0 and step == 1 for window, step in zip(both(k), both(stride), strict=True)):
        with pytest.raises(ShapeError, match="cannot keep the size"):
            op.shape((3, *size))
        return
    call = op.torch((3, *size))
    assert op.shape((3, *size)) == (2, rows * size[0], columns * size[1])
    assert build_module(call)(torch.zeros(1, 3, *size)).shape[1:] == op.shape((3, *size))


@pytest.mark.parametrize(
    ("name", "inputs", "shape"),
    [
        ("sum", [IMAGE, IMAGE], IMAGE),
        ("mean", [(4,), (4,)], (4,)),
        ("product", [IMAGE], IMAGE),
        ("concat", [(2, 4, 4), (3, 4, 4)], (5, 4, 4)),
        ("concat", [(2,), (3,)], (5,)),
        ("scale", [IMAGE, (6,)], IMAGE),
        ("global_avg_pool", [IMAGE], (6,)),
        ("global_max_pool", [IMAGE], (6,)),
        ("crop", [IMAGE], (6, 8, 6)),
        ("sum", [(4,), (5,)], None),
        ("concat", [(2, 4, 4), (2, 4, 5)], None),
        ("concat", [(2, 4, 4), (2,)], None),
        ("scale", [IMAGE, (5,)], None),
        ("difference", [IMAGE, IMAGE], IMAGE),
        ("difference", [IMAGE], None),
        ("difference", [IMAGE, IMAGE, IMAGE], None),
        ("difference", [IMAGE, (5,)], None),
        ("scale", [(6,), (6,)], None),
        ("global_avg_pool", [(6,)], None),
        ("crop", [(3, 1, 1)], None),
        ("pad", [IMAGE], IMAGE),
        ("pad", [(6,)], None),
        ("upsample", [IMAGE], (6, 18, 14)),
        ("upsample", [(6,)], None),
        ("linear", [IMAGE], None),
        ("conv", [(6,)], None),
        ("conv", [SEQUENCE], None),
        ("max_pool1d", [(6,)], None),
        ("pad1d", [IMAGE], None),
        ("concat", [(2, 4), (3, 4)], (5, 4)),
        ("concat", [(2, 4), (3, 5)], None),
        ("concat", [(2, 4), (3,)], None),
        ("scale", [SEQUENCE, (6,)], SEQUENCE),
        ("global_avg_pool", [SEQUENCE], (6,)),
        ("to_sequence", [SEQUENCE], None),
        ("at", [SEQUENCE], (6,)),
        ("at", [IMAGE], None),
        ("stack_vectors", [(6,), (6,)], (6, 2)),
        ("stack_vectors", [(6,), (5,)], None),
        ("stack_vectors", [SEQUENCE], None),
        ("attention", [(6, 3), (6, 5), (6, 5)], (6, 3)),
        ("attention", [(6, 3), (6, 5), (6, 4)], None),
        ("attention", [(6, 3), (4, 3), (4, 3)], None),
        ("attention", [IMAGE, IMAGE, IMAGE], None),
        ("position_embedding", [IMAGE], None),
        ("class_token", [(6,)], None),
    ],
)
def test_shapes_of_the_others(name: str, inputs: list[Shape], shape: Shape | None) -> None:
    op = PRIMITIVES[name]()
    if shape is None:
        with pytest.raises(ShapeError):
            op.shape(*inputs)
    else:
        assert op.shape(*inputs) == shape
        assert op.pure == (op.parameters(*inputs) == 0) or name in ("conv", "linear")


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_primitive_is_documented_and_has_rules(name: str) -> None:
    cls = PRIMITIVES[name]
    assert cls.__doc__
    rules = {method for base in cls.__mro__ if base is not Op for method in vars(base)}
    assert {"shape", "torch"} <= rules
    assert cls.pure or "parameters" in rules


def test_a_primitive_without_rules_fails_loudly() -> None:
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass(frozen=True)
    class Unfinished(Op):
        name: ClassVar[str] = "unfinished"
        pure: ClassVar[bool] = False

    with pytest.raises(NotImplementedError, match="`unfinished` has no shape rule"):
        Unfinished().shape((1,))
    with pytest.raises(NotImplementedError, match="`unfinished`"):
        Unfinished().parameters((1,))
    with pytest.raises(NotImplementedError, match="`unfinished` has no torch call"):
        Unfinished().torch((1,))


# ------------------------------------------------------------------------- Python operations


class Doubled(nn.Module):
    """A user-defined operation."""

    def __init__(self, width: int, bias: bool = False) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.conv(x) * 2)


TARGET = f"{__name__}:Doubled"


def check_allowed(text: str) -> tuple[Any, list[str]]:
    report = Report()
    space = Checker(report, allow_python=True).text(Source("t", text))
    return space, [diagnostic.code for diagnostic in report.diagnostics]


def test_python_operations_are_refused() -> None:
    text = f'op doubled(width, bias = false) from "{TARGET}" ' + body("x -> out : doubled(3)")
    assert codes(text) == ["NAS105"]
    assert codes(text.replace("doubled(3)", "relu")) == []  # to name it is harmless


def test_python_operations_work_when_allowed() -> None:
    text = f'op doubled(width, bias = false) from "{TARGET}" ' + body(
        "x -> out : choose { doubled(3), doubled(3, bias = true) }"
    )
    space, found = check_allowed(text)
    assert not found
    graph = space.networks[0].graph()
    counts = [n.op.parameters((3, 8, 8)) for n in graph if isinstance(n.op, PythonOp)]
    assert counts == [9, 12]
    assert [gate.name for gate in graph.gates] == ["choice.doubled_false", "choice.doubled_true"]


@pytest.mark.parametrize(
    "target",
    ["nowhere.at.all:Class", f"{__name__}:Missing", "no colon", ":", f"{__name__}:check_allowed", "builtins:dict"],
)
def test_python_operations_that_cannot_be_used(target: str) -> None:
    _, found = check_allowed(f'op broken(width) from "{target}" ' + body("x -> out : broken(3)"))
    assert found == ["NAS106"]
