"""What a primitive operation is, whatever it computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any, ClassVar, Literal

from bayesnas_graph.ir.call import Expression, ModuleCall
from bayesnas_graph.ir.coupling import Coupling, Kept, either

Shape = tuple[int, ...]  # of one sample: (channels, height, width), or (features,)
Kind = Literal["integer", "rational", "boolean"]
Value = int | float | Fraction | bool | None


class ShapeError(Exception):
    """An operation cannot take its inputs. The text states why."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What an operation accepts for one of its arguments."""

    kind: Kind
    minimum: int | Fraction | None = None
    maximum: int | Fraction | None = None
    absent: str | None = None  # what leaving it out means, where that is no fixed value


@dataclass(frozen=True)
class Op:
    """A primitive operation with its arguments.

    A subclass is a frozen dataclass: its fields are the arguments of the language, in order, with
    their defaults, and each carries an `Argument` in its metadata (see `ops.base.argument`).
    """

    name: ClassVar[str]
    inputs: ClassVar[int | None] = 1  # None: any number, at least one
    pure: ClassVar[bool] = True  # equal inputs give equal outputs: no weights, no randomness
    bears_losses: ClassVar[bool] = False  # does with the inputs that are left when some are gone
    bends: ClassVar[bool] = False  # has a second derivative, so that its curvature depends on the gradient

    @property
    def mergeable(self) -> bool:
        """Whether two of it with equal inputs may be computed as one: always if it is pure."""
        return self.pure

    def shape(self, *inputs: Shape) -> Shape:
        """The shape of the output. Raises ShapeError where the inputs cannot be taken."""
        raise NotImplementedError(f"`{self.name}` has no shape rule")

    def torch(self, *inputs: Shape) -> ModuleCall | Expression:
        """How torch computes it: a module where it keeps weights or depends on the mode, else an expression."""
        raise NotImplementedError(f"`{self.name}` has no torch call")

    def flops(self, *inputs: Shape) -> int:
        """Multiply-adds per sample, one each. Only convolutions and linear layers count, as in the literature."""
        return 0

    def operations(self, *inputs: Shape) -> int:
        """Additions and multiplications per sample, counted as in papers on compression; of the same operations."""
        return 0

    def stores(self, *inputs: Shape) -> int:
        """How many values it stores per sample: those of its output, unless it only looks at its input anew."""
        return prod(self.shape(*inputs))

    def parameters(self, *inputs: Shape) -> int:
        """How many weights it has for inputs of these shapes."""
        if self.pure:
            return 0
        raise NotImplementedError(f"`{self.name}` has no rule for its number of parameters")

    # The rules for curvature take an `ops.curvature.Local` and return tensors, types that this layer does not know.

    def curvature(self, local: Any) -> tuple[Any, ...]:
        """The diagonal Hessian of the loss with respect to every input, given that with respect to the output."""
        raise NotImplementedError(f"`{self.name}` has no curvature rule")

    def weight_curvature(self, local: Any) -> dict[str, Any]:
        """The diagonal Hessian of the mean loss with respect to every parameter, by its name in the module."""
        if self.pure:
            return {}
        raise NotImplementedError(f"`{self.name}` has no curvature rule for its parameters")

    def coupling(self, *inputs: Shape) -> Coupling:
        """Which channels of its inputs, its output and its parameters can only be removed together."""
        raise NotImplementedError(f"`{self.name}` has no coupling rule")

    def narrowed(self, inputs: tuple[Kept, ...], output: Kept) -> Op:
        """The operation once channels are removed: another one only where its arguments tell widths or groups."""
        return self

    # The next three look at zeros in weights, out of training. Tensors come by their names in the module.

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        """The channels of the output that can be other than zero, given those of every input that can."""
        width = self.shape(*inputs)[0]
        links = self.coupling(*inputs).links
        reached = (link.forwards(some, width) for link, some in zip(links, arriving, strict=True))
        return reduce(either, reached, (False,) * width)

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        """The channels of every input that have an influence on some channels of the output."""
        return tuple(link.backwards(output) for link in self.coupling(*inputs).links)

    def cut(self, tensors: Mapping[str, Any], kept: tuple[Kept, ...], output: Kept, *inputs: Shape) -> dict[str, Any]:
        """What is left of its tensors when these channels of inputs and output are, of inputs that had these shapes."""
        left = dict(tensors)
        for axis in self.coupling(*inputs).axes:
            stays = output if axis.follows == "output" else kept[0]
            entries = [i for i, is_left in enumerate(stays) if is_left]
            left[axis.name] = left[axis.name][(slice(None),) * axis.axis + (entries,)]
        return left

    def scaled_by(self) -> tuple[str, ...]:
        """The tensors of its module by which its output is multiplied when they are; none if there are no such."""
        return ()

    @property
    def label(self) -> str:
        """What it is called in the names of nodes."""
        return self.name

    @classmethod
    def arguments(cls) -> dict[str, Argument]:
        """The arguments by name, in order."""
        return {field.name: field.metadata["argument"] for field in fields(cls)}

    def settings(self) -> dict[str, Value]:
        """The value of every argument."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        defaults = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in self.settings().items() if value != defaults.get(name, MISSING)}
        shown = ", ".join(f"{name} = {_text(value)}" for name, value in given.items())
        return f"{self.label}({shown})" if shown else self.label


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def shape_text(shape: Shape) -> str:
    """A shape as it is shown to people.

    >>> shape_text((16, 32, 32)), shape_text((10,))
    ('16x32x32', '10')
    """
    return "x".join(map(str, shape))


def named_shape(shape: Shape) -> str:
    """A shape with what it is.

    >>> named_shape((16, 32, 32)), named_shape((10,))
    ('an image of 16x32x32', 'a vector of 10')
    """
    return f"{'a vector' if len(shape) == 1 else 'an image'} of {shape_text(shape)}"
