"""Operations with small input shapes, for entry-by-entry comparison."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import cycle, product
from typing import Any

import torch
from torch import Tensor, nn

from bayesnas_graph.ir import ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.ops import (
    PRIMITIVES,
    CentreConv,
    CentreDepthwise,
    Choice,
    Conv,
    First,
    LightBatchNorm,
    LightMaxPool,
    Maybe,
    ReluConv,
    ReluDepthwise,
    Total,
    Width,
    Zero,
)
from bayesnas_graph.ir.ops.activation import Elementwise
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.python import PythonOp

Case = tuple[Op, tuple[Shape, ...]]

IMAGE = (4, 6, 5)
SEQUENCE = (4, 7)
BATCH = 2


class Written(nn.Module):
    """A user-defined operation: two inputs, an unused parameter, and nothing linear."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, width, 1)
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.sin(torch.as_tensor(self.conv(x)) * y)


def _op(name: str, *shapes: Shape, **arguments: Any) -> Case:
    return PRIMITIVES[name](**arguments), shapes


def _convolutions() -> list[Case]:
    found: list[Case] = []
    bias = cycle((True, False, False))
    for k, stride, dilation, groups, padding in product((1, 2, 3, 5), (1, 2, 3), (1, 2), (1, 2, 4), (0, 1, 2, None)):
        op = Conv(8 if groups > 1 else 3, k, stride, groups, dilation, padding, next(bias))
        try:
            op.shape(IMAGE)
        except ShapeError:
            continue
        found.append((op, (IMAGE,)))
    return found


def _convolutions1d() -> list[Case]:
    settings = product((1, 2, 3), (1, 2), (1, 2), (1, 2, 4), (0, 1, None))
    return [
        _op("conv1d", SEQUENCE, width=8, k=k, stride=stride, dilation=dilation, groups=groups, padding=padding)
        for k, stride, dilation, groups, padding in settings
    ]


PYTHON = PythonOp("written", f"{__name__}:Written", (("width", 2),))
CASES: list[Case] = [
    *_convolutions(),
    _op("conv", (1, 4, 4), width=3),
    _op("depthwise", IMAGE),
    _op("depthwise", IMAGE, k=2, stride=3, bias=True),
    _op("depthwise", IMAGE, k=3, stride=2, dilation=2, multiplier=3),
    _op("linear", (5,)),
    _op("linear", (5,), width=3, bias=False),
    *(
        _op(name, IMAGE, k=k, stride=stride, padding=padding)
        for name in ("max_pool", "avg_pool")
        for k, stride, padding in product((2, 3, 5), (1, 2, 3), (0, 1, None))
    ),
    *_convolutions1d(),
    _op("conv1d", SEQUENCE, bias=True),
    _op("depthwise1d", SEQUENCE),
    _op("depthwise1d", SEQUENCE, k=2, stride=3, bias=True),
    _op("depthwise1d", SEQUENCE, k=3, stride=2, dilation=2, multiplier=3),
    _op("linear", SEQUENCE),
    _op("linear", SEQUENCE, width=3, bias=False),
    *(
        _op(name, SEQUENCE, k=k, stride=stride, padding=padding)
        for name in ("max_pool1d", "avg_pool1d")
        for k, stride, padding in (*product((2, 3, 5), (1, 2, 3), (0, 1, None)), (2, 1, "same"), (4, 2, "same"))
    ),
    _op("pad1d", SEQUENCE, left=1, right=2),
    *(_op("bn", shape, affine=affine) for shape in (IMAGE, SEQUENCE, (5,)) for affine in (True, False)),
    *(_op("layer_norm", shape, affine=affine) for shape in (IMAGE, SEQUENCE, (5,)) for affine in (True, False)),
    _op("group_norm", SEQUENCE, groups=2),
    *(_op(name, shape) for name in ("layer_scale", "shift") for shape in (IMAGE, SEQUENCE, (5,))),
    _op("position_embedding", SEQUENCE),
    _op("class_token", SEQUENCE),
    _op("to_sequence", IMAGE),
    _op("to_image", (4, 6), height=2, width=3),
    _op("to_image", (4, 9), height=3),
    _op("at", SEQUENCE),
    _op("at", SEQUENCE, index=-2),
    *(_op("stack_vectors", *[(5,)] * n) for n in (1, 2, 3)),
    *(_op("attention", *[SEQUENCE] * 3, heads=heads) for heads in (None, 1, 2)),
    _op("attention", *[(6, 4)] * 3, head_width=2),
    _op("attention", (4, 3), (4, 5), (4, 5), heads=2),
    _op("attention", *[SEQUENCE] * 3, heads=2, causal=True),
    *(_op("group_norm", IMAGE, groups=groups, affine=affine) for groups in (1, 2, 4) for affine in (True, False)),
    _op("group_norm", (6,), groups=2),
    _op("dropout", IMAGE),
    _op("rescale", IMAGE),
    _op("rescale", (5,)),
    _op("select", IMAGE, width=3),
    _op("select", (5,), width=2),
    *(_op(name, IMAGE) for name, cls in PRIMITIVES.items() if issubclass(cls, Elementwise)),
    _op("leaky_relu", IMAGE, slope=Fraction(1, 5)),
    _op("elu", IMAGE, alpha=Fraction(3, 2)),
    _op("softmax", IMAGE),
    _op("softmax", (5,)),
    *(
        _op("upsample", (2, 3, 4), factor=factor, mode=mode)
        for factor in (2, (1, 3))
        for mode in ("nearest", "bilinear")
    ),
    *(_op("resize", IMAGE, height=h, mode=mode) for h in (2, 5, 9) for mode in ("nearest", "bilinear")),
    _op("resize", IMAGE, height=8, width=3),
    *(_op(f"adaptive_{kind}_pool", IMAGE, height=h) for kind in ("avg", "max") for h in (1, 4, 7)),
    _op("adaptive_max_pool", IMAGE, height=3, width=5),
    _op("conv", IMAGE, width=3, k=(1, 5), bias=True),
    _op("conv", IMAGE, width=8, k=(3, 2), stride=(2, 1), groups=2, dilation=(1, 2), padding=(0, 2)),
    _op("depthwise", IMAGE, k=(5, 1), stride=(1, 2), multiplier=2),
    _op("depthwise", IMAGE, k=(1, 3), dilation=2),
    *(_op("slice_channels", shape, start=start, width=2) for shape in (IMAGE, (5,)) for start in (0, 1, 2)),
    _op("slice_channels", IMAGE, start=0, width=4),
    *(_op("channel_shuffle", shape, groups=g) for shape in ((6, 3, 2), (12,)) for g in (2, 3)),
    _op("channel_shuffle", IMAGE, groups=1),
    _op("conv_transpose", (4, 2, 3)),
    _op("conv_transpose", (4, 3, 2), width=3, k=3, bias=True),
    _op("conv_transpose", (4, 3, 2), width=3, k=4, stride=1, padding=1),
    _op("conv_transpose", (4, 3, 2), width=5, k=(1, 3), stride=(2, 3), bias=True),
    *(_op(name, IMAGE, k=(1, 3), stride=(2, 1)) for name in ("max_pool", "avg_pool")),
    *(
        _op(name, IMAGE, k=k, stride=stride, padding="same")
        for name in ("max_pool", "avg_pool")
        for k, stride in (((2, 3), 1), ((3, 4), (1, 2)), ((4, 5), (2, 3)), ((2, 2), (1, 2)))
    ),
    *(_op(name, IMAGE) for name in ("global_avg_pool", "global_max_pool", "flatten", "crop")),
    *(_op(name, SEQUENCE) for name in ("global_avg_pool", "global_max_pool", "flatten", "relu", "dropout", "rescale")),
    _op("select", SEQUENCE, width=3),
    _op("pad_channels", SEQUENCE, width=7),
    _op("flatten", (5,)),
    _op("crop", IMAGE, n=3),
    _op("pad", IMAGE, top=1, right=2),
    *(
        _op(name, IMAGE, k=k, stride=stride, padding="same")
        for name in ("max_pool", "avg_pool")
        for k, stride in ((2, 1), (2, 2), (4, 2), (4, 3))
    ),
    _op("pad_channels", IMAGE, width=7),
    _op("pad_channels", (5,), width=6),
    *(
        _op(name, *[shape] * n)
        for name in ("sum", "mean", "product")
        for shape in (IMAGE, SEQUENCE, (5,))
        for n in (1, 2, 3)
    ),
    *(_op("difference", shape, shape) for shape in (IMAGE, SEQUENCE, (5,))),
    _op("concat", (1, 3, 2), (4, 3, 2), (2, 3, 2)),
    _op("concat", (5,), (3,)),
    _op("concat", (1, 3), (4, 3)),
    _op("scale", IMAGE, (4,)),
    _op("scale", SEQUENCE, (4,)),
    (Choice(), (IMAGE, IMAGE)),
    (Total(), (IMAGE, IMAGE)),
    (Width(1, 1), (IMAGE, IMAGE)),
    (First(2), (IMAGE,)),
    (First(2), (SEQUENCE,)),
    (First(1, 1, 2), (IMAGE,)),
    (Maybe(), (IMAGE,)),
    (Zero(), (IMAGE,)),
    (LightBatchNorm(affine=False), (IMAGE,)),
    (LightBatchNorm(affine=False), (SEQUENCE,)),
    (LightMaxPool(2, 2), (IMAGE,)),
    (LightMaxPool(4, 3, padding="same"), (IMAGE,)),
    (ReluConv(3, stride=2, bias=True), (IMAGE,)),
    (ReluDepthwise(k=5, dilation=2), (IMAGE,)),
    (ReluConv(3, k=(1, 5), stride=(2, 1)), (IMAGE,)),
    (ReluDepthwise(k=(5, 1), dilation=(1, 2)), (IMAGE,)),
    *((CentreConv(3, k, stride=2, bias=True, of=5), (IMAGE,)) for k in (1, 3, 5)),
    *((CentreDepthwise(k, dilation=2, of=3), (IMAGE,)) for k in (1, 3)),
]


def with_rule(rule: str) -> set[type[Op]]:
    """All operations of the package that have a rule, including inherited rules."""
    found, open_ = set(), [Op]
    while open_:
        subclasses = open_.pop().__subclasses__()
        open_ += subclasses
        found |= {cls for cls in subclasses if cls.__module__.startswith("bayesnas_graph.") and hasattr(cls, "name")}
    return {cls for cls in found if getattr(cls, rule) is not getattr(Op, rule)}


def title(case: Case) -> str:
    op, shapes = case
    return f"{op} {'x'.join(map(str, shapes[0]))}"


def built(op: Op, shapes: tuple[Shape, ...]) -> tuple[Callable[..., Tensor], nn.Module | None]:
    """The function of an operation in float64, with distinct parameters and statistics."""
    call = op.torch(*shapes)
    if not isinstance(call, ModuleCall):
        return build_function(call, len(shapes)), None
    module = build_module(call).double().eval()
    for name, values in module.state_dict().items():
        if values.is_floating_point():
            values.uniform_(0.5, 2) if "var" in name else values.normal_()
    return (partial(_applied, module, call.applied) if call.applied else module), module


def _applied(module: nn.Module, applied: tuple[int, ...], *inputs: Tensor) -> Tensor:
    result: Tensor = module(*inputs, *applied)
    return result


def local(op: Op, *inputs: Tensor) -> Local:
    """An operation at these inputs, with some curvature of its output."""
    function, module = built(op, tuple(tuple(x.shape[1:]) for x in inputs))
    with torch.no_grad():
        output = function(*inputs)
    return Local(inputs, output, torch.randn_like(output), torch.randn_like(output), module)


def values(*shapes: Shape) -> tuple[Tensor, ...]:
    return tuple(torch.randn(BATCH, *shape, dtype=torch.float64) for shape in shapes)
