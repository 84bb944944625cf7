"""Functions of each value by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.ir import Op, Shape
from bayesnas_graph.ops.base import register


@dataclass(frozen=True)
class Elementwise(Op):
    """What all of them have in common: the shape stays."""

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]


@register
@dataclass(frozen=True)
class Identity(Elementwise):
    """Hands its input on."""

    name: ClassVar[str] = "identity"


@register
@dataclass(frozen=True)
class Relu(Elementwise):
    """max(x, 0)."""

    name: ClassVar[str] = "relu"


@register
@dataclass(frozen=True)
class Relu6(Elementwise):
    """min(max(x, 0), 6)."""

    name: ClassVar[str] = "relu6"


@register
@dataclass(frozen=True)
class Swish(Elementwise):
    """x sigmoid(x), also called SiLU."""

    name: ClassVar[str] = "swish"


@register
@dataclass(frozen=True)
class Gelu(Elementwise):
    """x times the normal distribution function of x."""

    name: ClassVar[str] = "gelu"


@register
@dataclass(frozen=True)
class Sigmoid(Elementwise):
    """1 / (1 + exp(-x))."""

    name: ClassVar[str] = "sigmoid"


@register
@dataclass(frozen=True)
class Tanh(Elementwise):
    """The hyperbolic tangent."""

    name: ClassVar[str] = "tanh"
