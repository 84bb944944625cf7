"""Activations: functions of single values, and softmax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import pi, prod, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Coupling, Expression, Link, Mask, Op, Shape
from bayesnas_graph.ir.ops.base import SameShape, rational, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Elementwise(SameShape):
    """Base class of elementwise functions: a Python expression and two derivatives."""

    by_channel: ClassVar[bool] = True
    function: ClassVar[str]

    @property
    def saves_inputs(self) -> bool:
        return not self.saves_output

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(self.function)

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        """The first and second derivative at `x`; where the first jumps, the second is taken as 0."""
        raise NotImplementedError(f"`{self.name}` has no derivatives")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        first, second = self.derivatives(local.inputs[0])
        return (first.square() * local.hessian + second * local.gradient,)


@register
@dataclass(frozen=True)
class Identity(Elementwise):
    """The input, unchanged."""

    name: ClassVar[str] = "identity"
    passes_through: ClassVar[bool] = True
    function: ClassVar[str] = "{0}"

    @property
    def saves_inputs(self) -> bool:
        return False

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return x.new_ones(x.shape), 0.0

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class Relu(Elementwise):
    """max(x, 0)."""

    name: ClassVar[str] = "relu"
    saves_output: ClassVar[bool] = True
    function: ClassVar[str] = "F.relu({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return (x > 0).to(x), 0.0


@register
@dataclass(frozen=True)
class Relu6(Elementwise):
    """min(max(x, 0), 6)."""

    name: ClassVar[str] = "relu6"
    function: ClassVar[str] = "F.relu6({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return ((x > 0) & (x < 6)).to(x), 0.0


@register
@dataclass(frozen=True)
class LeakyRelu(Elementwise):
    """x where it is positive, and `slope` x elsewhere."""

    name: ClassVar[str] = "leaky_relu"

    slope: Fraction = rational("0.01")

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("F.leaky_relu({0}, {slope})", (float(self.slope),))

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return x.new_ones(x.shape).where(x > 0, float(self.slope)), 0.0


@register
@dataclass(frozen=True)
class Elu(Elementwise):
    """x where it is positive, and `alpha` (exp(x) - 1) elsewhere."""

    name: ClassVar[str] = "elu"
    has_second_derivative: ClassVar[bool] = True

    alpha: Fraction = rational("1")

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("F.elu({0}, {alpha})", (float(self.alpha),))

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        growth = float(self.alpha) * x.clamp(max=0).exp()
        return x.new_ones(x.shape).where(x > 0, growth), growth.where(x <= 0, 0)


@register
@dataclass(frozen=True)
class HardSigmoid(Elementwise):
    """min(max(x + 3, 0), 6) / 6, a sigmoid of straight lines."""

    name: ClassVar[str] = "hard_sigmoid"
    function: ClassVar[str] = "F.relu6({0} + 3) / 6"  # torch has no second derivative of `F.hardsigmoid`

    @property
    def saves_inputs(self) -> bool:
        return False

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return size * prod(inputs[0])  # x + 3

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return (x.abs() < 3).to(x) / 6, 0.0

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return (True,) * inputs[0][0]  # it is 1/2 at 0


@register
@dataclass(frozen=True)
class HardSwish(Elementwise):
    """x hard_sigmoid(x), the activation of MobileNetV3."""

    name: ClassVar[str] = "hard_swish"
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "F.hardswish({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        curved = x.abs() < 3
        return (x / 3 + 0.5).where(curved, (x > 0).to(x)), curved.to(x) / 3


@register
@dataclass(frozen=True)
class Mish(Elementwise):
    """x tanh(log(1 + exp(x)))."""

    name: ClassVar[str] = "mish"
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "F.mish({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        from torch.nn import functional as F

        s, t = x.sigmoid(), F.softplus(x).tanh()
        first = (1 - t.square()) * s  # of t
        second = first * (1 - s - 2 * t * s)
        return t + x * first, 2 * first + x * second


@register
@dataclass(frozen=True)
class Swish(Elementwise):
    """x sigmoid(x), also called SiLU."""

    name: ClassVar[str] = "swish"
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "F.silu({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        s = x.sigmoid()
        slope = s * (1 - s)
        return s + x * slope, slope * (2 + x * (1 - 2 * s))


@register
@dataclass(frozen=True)
class Gelu(Elementwise):
    """x times the normal distribution function of x."""

    name: ClassVar[str] = "gelu"
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "F.gelu({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        density = (-x.square() / 2).exp() / sqrt(2 * pi)
        distribution = (1 + (x / sqrt(2)).erf()) / 2
        return distribution + x * density, (2 - x.square()) * density


@register
@dataclass(frozen=True)
class Sigmoid(Elementwise):
    """1 / (1 + exp(-x))."""

    name: ClassVar[str] = "sigmoid"
    saves_output: ClassVar[bool] = True
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "torch.sigmoid({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        s = x.sigmoid()
        slope = s * (1 - s)
        return slope, slope * (1 - 2 * s)

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return (True,) * inputs[0][0]  # sigmoid(0) is 1/2


@register
@dataclass(frozen=True)
class Tanh(Elementwise):
    """The hyperbolic tangent."""

    name: ClassVar[str] = "tanh"
    saves_output: ClassVar[bool] = True
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "torch.tanh({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        t = x.tanh()
        slope = 1 - t.square()
        return slope, -2 * t * slope


@register
@dataclass(frozen=True)
class Softmax(Op):
    """exp(x), divided by its sum over the channels: positive numbers that add up to 1 at every position."""

    name: ClassVar[str] = "softmax"
    saves_output: ClassVar[bool] = True

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("torch.softmax({0}, 1)")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        # dy_o / dx_i is -y_o y_i, and y_i more if o = i.
        y, hessian = local.output, local.hessian
        total = (hessian * y.square()).sum(1, keepdim=True)
        return (y.square() * (total + hessian * (1 - 2 * y)),)

    def coupling(self, *inputs: Shape) -> Coupling:
        channels = inputs[0][0]
        return Coupling((Link(1, channels, channels),))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return (True,) * inputs[0][0]
