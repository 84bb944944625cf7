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

from bayesnas_graph.diagnostics import Report
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Expression, ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.ops import PRIMITIVES, Conv, PadChannels
from bayesnas_graph.ir.ops.build import build_function, build_module
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate import Checker
from tests.helpers import body, codes


def omitted(window: int, stride: int) -> int:
    """The padding of a window without `padding`."""
    return 0 if window % 2 == 0 and window <= stride else (window - 1) // 2


def conv(shape: Shape, op: Any) -> nn.Module:
    padding = omitted(op.dilation * (op.k - 1) + 1, op.stride) if op.padding is None else op.padding
    out = op.width or shape[0]
    return nn.Conv2d(shape[0], out, op.k, op.stride, padding, op.dilation, op.groups, op.bias)


def depthwise(shape: Shape, op: Any) -> nn.Module:
    padding = omitted(op.dilation * (op.k - 1) + 1, op.stride) if op.padding is None else op.padding
    channels = shape[0]
    return nn.Conv2d(channels, channels * op.multiplier, op.k, op.stride, padding, op.dilation, channels, op.bias)


def pool(module: type[nn.Module]) -> Callable[[Shape, Any], nn.Module]:
    return lambda _, op: module(op.k, op.stride, omitted(op.k, op.stride) if op.padding is None else op.padding)


REFERENCE: dict[str, Callable[[Shape, Any], nn.Module]] = {
    "conv": conv,
    "depthwise": depthwise,
    "linear": lambda shape, op: nn.Linear(shape[0], op.width or shape[0], op.bias),
    "max_pool": pool(nn.MaxPool2d),
    "avg_pool": pool(nn.AvgPool2d),
    "bn": lambda shape, op: nn.BatchNorm2d(shape[0], affine=op.affine),
    "group_norm": lambda shape, op: nn.GroupNorm(op.groups, shape[0], affine=op.affine),
    "layer_norm": lambda shape, op: nn.GroupNorm(1, shape[0], affine=op.affine),
    "flatten": lambda _shape, _op: nn.Flatten(),
    "relu": lambda _shape, _op: nn.ReLU(),
    "dropout": lambda _shape, op: nn.Dropout(float(op.p)),
}

IMAGE = (6, 9, 7)
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
    ("bn", IMAGE, {}),
    ("bn", IMAGE, {"affine": False}),
    ("group_norm", IMAGE, {"groups": 3}),
    ("layer_norm", IMAGE, {"affine": False}),
    ("layer_norm", IMAGE, {}),
    ("flatten", IMAGE, {}),
    ("relu", IMAGE, {}),
    ("dropout", IMAGE, {"p": Fraction(1, 4)}),
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
        module.load_state_dict(reference.state_dict())
        assert eval(call.source(), {"nn": nn}).__repr__() == repr(build_module(call))
        y = module(x)
    else:
        y = build_function(call, 1)(x)
    expected = reference(x)
    if name == "avg_pool":  # padding is not counted
        expected = expected / reference(torch.ones_like(x))
    torch.testing.assert_close(y, expected)


JOINED: dict[str, Callable[..., torch.Tensor]] = {
    "sum": lambda a, b, c: a + b + c,
    "mean": lambda a, b, c: torch.stack([a, b, c]).mean(0),
    "product": lambda a, b, c: a * b * c,
    "concat": lambda a, b, c: torch.cat([a, b, c], 1),
}


@pytest.mark.parametrize("shape", [(4, 3, 3), (5,)])
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


def test_scale_and_padding() -> None:
    x, s = torch.randn(2, *IMAGE), torch.randn(2, 6)
    scale, pad = PRIMITIVES["scale"]().torch(IMAGE, (6,)), PadChannels(width=9).torch(IMAGE)
    assert isinstance(scale, Expression)
    assert isinstance(pad, Expression)
    torch.testing.assert_close(build_function(scale, 2)(x, s), torch.einsum("nchw,nc->nchw", x, s))
    padded = build_function(pad, 1)(x)
    assert padded.shape == (2, 9, 9, 7)
    assert torch.equal(padded[:, :6], x)
    assert not padded[:, 6:].any()


@pytest.mark.parametrize("shape", [IMAGE, (6,)])
def test_norms_take_images_and_vectors(shape: Shape) -> None:
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
        (PRIMITIVES["linear"](width=10), (84,), 840, 10),  # type: ignore[call-arg]
        (PRIMITIVES["relu"](), (6, 8, 8), 0, 6 * 8 * 8),
        (PRIMITIVES["flatten"](), (6, 8, 8), 0, 0),
        (PRIMITIVES["identity"](), (6, 8, 8), 0, 0),
    ],
)
def test_costs(op: Op, shape: Shape, flops: int, stored: int) -> None:
    assert (op.flops(shape), op.stored_values(shape)) == (flops, stored)


@given(
    size=st.integers(1, 20),
    k=st.integers(1, 7),
    stride=st.integers(1, 4),
    dilation=st.integers(1, 3),
    padding=st.none() | st.integers(0, 4),
)
def test_every_convolution_that_torch_refuses_is_refused(
    size: int, k: int, stride: int, dilation: int, padding: int | None
) -> None:
    op = Conv(width=2, k=k, stride=stride, dilation=dilation, padding=padding)
    try:
        expected = tuple(conv((1, size, size), op).to("meta")(torch.empty(1, 1, size, size, device="meta")).shape[1:])
    except RuntimeError:
        with pytest.raises(ShapeError):
            op.shape((1, size, size))
    else:
        assert op.shape((1, size, size)) == expected


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
        ("scale", [(6,), (6,)], None),
        ("global_avg_pool", [(6,)], None),
        ("crop", [(3, 1, 1)], None),
        ("pad", [IMAGE], IMAGE),
        ("pad", [(6,)], None),
        ("linear", [IMAGE], None),
        ("conv", [(6,)], None),
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
