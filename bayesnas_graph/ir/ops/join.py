"""Operations on several values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import (
    Coupling,
    Expression,
    Link,
    Mask,
    Op,
    Shape,
    ShapeError,
    intersection,
    named_shape,
    shape_text,
)
from bayesnas_graph.ir.ops.base import ChannelByChannel, SameShape, register, vector
from bayesnas_graph.ir.ops.curvature import Local, along_channels

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Join(Op):
    """Joins any number of values into one.

    Its curvature rules treat each input separately: a caller that passes one value twice must add up the results.
    """

    inputs: ClassVar[int | None] = None
    is_join: ClassVar[bool] = True


@dataclass(frozen=True)
class Pointwise(Join, SameShape):
    """Combines values of one shape position by position."""

    is_pointwise: ClassVar[bool] = True

    def shape(self, *inputs: Shape) -> Shape:
        if len(set(inputs)) > 1:
            raise ShapeError(f"`{self.name}` needs inputs of the same shape")
        return inputs[0]


@register
@dataclass(frozen=True)
class Sum(Pointwise):
    """The sum of its inputs: how a node joins its edges by default."""

    name: ClassVar[str] = "sum"
    adds: ClassVar[bool] = True
    combines_linearly: ClassVar[bool] = True
    tolerates_missing_inputs: ClassVar[bool] = True

    def is_view(self, *inputs: Shape) -> bool:
        return len(inputs) == 1

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(_between(" + ", inputs))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,) * len(local.inputs)


@register
@dataclass(frozen=True)
class Mean(Pointwise):
    """The mean of its inputs."""

    name: ClassVar[str] = "mean"
    combines_linearly: ClassVar[bool] = True
    tolerates_missing_inputs: ClassVar[bool] = True

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"({_between(' + ', inputs)}) / {len(inputs)}")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        count = len(local.inputs)
        return (local.hessian / count**2,) * count


@register
@dataclass(frozen=True)
class Product(Pointwise):
    """The product of its inputs."""

    name: ClassVar[str] = "product"

    @property
    def saves_inputs(self) -> bool:
        return True

    def is_view(self, *inputs: Shape) -> bool:
        return len(inputs) == 1

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return size * prod(inputs[0]) * max(0, len(inputs) - 2)  # the products of the first few

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(_between(" * ", inputs))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        squares = [x.square() for x in local.inputs]
        return tuple(reduce(mul, squares[:i] + squares[i + 1 :], local.hessian) for i in range(len(squares)))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return reduce(intersection, nonzero)


@register
@dataclass(frozen=True)
class Difference(Join, SameShape):
    """The first of two inputs minus the second."""

    name: ClassVar[str] = "difference"
    combines_linearly: ClassVar[bool] = True

    def shape(self, *inputs: Shape) -> Shape:
        if len(inputs) != 2:
            raise ShapeError(f"`{self.name}` needs two inputs, got {len(inputs)}")
        if inputs[0] != inputs[1]:
            raise ShapeError(f"`{self.name}` needs inputs of the same shape")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("{0} - {1}")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return local.hessian, local.hessian


@register
@dataclass(frozen=True)
class Concat(Join):
    """The channels of all inputs, one after another."""

    name: ClassVar[str] = "concat"
    concatenates: ClassVar[bool] = True
    tolerates_missing_inputs: ClassVar[bool] = True

    def shape(self, *inputs: Shape) -> Shape:
        if len({shape[1:] for shape in inputs}) > 1:
            size = "length" if {len(shape) for shape in inputs} == {2} else "height and width"
            raise ShapeError(f"`concat` needs inputs of the same {size}")
        return sum(shape[0] for shape in inputs), *inputs[0][1:]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"torch.cat([{_between(', ', inputs)}], 1)")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import split

        return split(local.hessian, [x.shape[1] for x in local.inputs], 1)

    def coupling(self, *inputs: Shape) -> Coupling:
        widths = [shape[0] for shape in inputs]
        firsts = accumulate(widths[:-1], initial=0)
        return Coupling(tuple(Link(width, first=first) for width, first in zip(widths, firsts, strict=True)))


@register
@dataclass(frozen=True)
class Scale(ChannelByChannel):
    """The first input, an image or a sequence, with each channel multiplied by its entry of the second, a vector."""

    name: ClassVar[str] = "scale"
    inputs: ClassVar[int | None] = 2

    @property
    def saves_inputs(self) -> bool:
        return True

    def shape(self, *inputs: Shape) -> Shape:
        if len(inputs[0]) == 1:
            raise ShapeError(f"`scale` needs an image or a sequence, got {named_shape(inputs[0])}")
        channels, factors = inputs[0][0], vector(self, inputs[1])
        if channels != factors:
            raise ShapeError(f"`scale` has {factors} factors for the {channels} channels of {shape_text(inputs[0])}")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"{{0}} * {{1}}[:, :{', None' * (len(inputs[0]) - 1)}]")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        x, factors = local.inputs
        of_values = local.hessian * along_channels(factors.square(), x)
        of_factors = (local.hessian * x.square()).flatten(2).sum(2)
        return of_values, of_factors

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return intersection(*nonzero)


def _between(operator: str, inputs: tuple[Shape, ...]) -> str:
    """`{0} + {1} + {2}`."""
    return operator.join(f"{{{i}}}" for i in range(len(inputs)))
