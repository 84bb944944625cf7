"""Functions of each value by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.ir import Expression, Op, Shape
from bayesnas_graph.ops.base import register


@dataclass(frozen=True)
class Elementwise(Op):
    """What all of them have in common: the shape stays."""

    function: ClassVar[str]

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(self.function)


@register
@dataclass(frozen=True)
class Identity(Elementwise):
    """Hands its input on."""

    name: ClassVar[str] = "identity"
    function: ClassVar[str] = "{0}"

    def stores(self, *inputs: Shape) -> int:
        return 0


@register
@dataclass(frozen=True)
class Relu(Elementwise):
    """max(x, 0)."""

    name: ClassVar[str] = "relu"
    function: ClassVar[str] = "F.relu({0})"


@register
@dataclass(frozen=True)
class Relu6(Elementwise):
    """min(max(x, 0), 6)."""

    name: ClassVar[str] = "relu6"
    function: ClassVar[str] = "F.relu6({0})"


@register
@dataclass(frozen=True)
class Swish(Elementwise):
    """x sigmoid(x), also called SiLU."""

    name: ClassVar[str] = "swish"
    function: ClassVar[str] = "F.silu({0})"


@register
@dataclass(frozen=True)
class Gelu(Elementwise):
    """x times the normal distribution function of x."""

    name: ClassVar[str] = "gelu"
    function: ClassVar[str] = "F.gelu({0})"


@register
@dataclass(frozen=True)
class Sigmoid(Elementwise):
    """1 / (1 + exp(-x))."""

    name: ClassVar[str] = "sigmoid"
    function: ClassVar[str] = "torch.sigmoid({0})"


@register
@dataclass(frozen=True)
class Tanh(Elementwise):
    """The hyperbolic tangent."""

    name: ClassVar[str] = "tanh"
    function: ClassVar[str] = "torch.tanh({0})"
