"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Expression, Mask, Shape
from bayesnas_graph.ir.ops.base import SameShape, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Elementwise(SameShape):
    """Base class of elementwise functions: a Python expression and two derivatives."""

    by_channel: ClassVar[bool] = True
    function: ClassVar[str]

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

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        return x.new_ones(x.shape), 0.0

    def stored_values(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class Relu(Elementwise):
    """max(x, 0)."""

    name: ClassVar[str] = "relu"
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
    has_second_derivative: ClassVar[bool] = True
    function: ClassVar[str] = "torch.tanh({0})"

    def derivatives(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        t = x.tanh()
        slope = 1 - t.square()
        return slope, -2 * t * slope
