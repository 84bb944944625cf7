"""Operations on several values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.ir import Expression, Op, Shape, ShapeError, shape_text
from bayesnas_graph.ops.base import image, register, vector


@dataclass(frozen=True)
class Join(Op):
    """Makes one value of any number."""

    inputs: ClassVar[int | None] = None


@dataclass(frozen=True)
class Pointwise(Join):
    """Combines values of one shape place by place."""

    def shape(self, *inputs: Shape) -> Shape:
        if len(set(inputs)) > 1:
            raise ShapeError(f"`{self.name}` needs inputs of one shape")
        return inputs[0]


@register
@dataclass(frozen=True)
class Sum(Pointwise):
    """The sum of its inputs: how a node joins its edges unless told otherwise."""

    name: ClassVar[str] = "sum"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(_between(" + ", inputs))


@register
@dataclass(frozen=True)
class Mean(Pointwise):
    """The mean of its inputs."""

    name: ClassVar[str] = "mean"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"({_between(' + ', inputs)}) / {len(inputs)}")


@register
@dataclass(frozen=True)
class Product(Pointwise):
    """The product of its inputs."""

    name: ClassVar[str] = "product"

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(_between(" * ", inputs))


@register
@dataclass(frozen=True)
class Concat(Join):
    """The channels of all inputs, one after another."""

    name: ClassVar[str] = "concat"

    def shape(self, *inputs: Shape) -> Shape:
        if len({shape[1:] for shape in inputs}) > 1:
            raise ShapeError("`concat` needs inputs of one height and width")
        return sum(shape[0] for shape in inputs), *inputs[0][1:]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"torch.cat([{_between(', ', inputs)}], 1)")


@register
@dataclass(frozen=True)
class Scale(Op):
    """The first input, an image, with each channel multiplied by its entry of the second, a vector."""

    name: ClassVar[str] = "scale"
    inputs: ClassVar[int | None] = 2

    def shape(self, *inputs: Shape) -> Shape:
        channels, factors = image(self, inputs[0])[0], vector(self, inputs[1])
        if channels != factors:
            raise ShapeError(f"`scale` has {factors} factors for the {channels} channels of {shape_text(inputs[0])}")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0} * {1}[:, :, None, None]")


def _between(operator: str, inputs: tuple[Shape, ...]) -> str:
    """`{0} + {1} + {2}`."""
    return operator.join(f"{{{i}}}" for i in range(len(inputs)))
