"""Normalisation and dropout."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bayesnas_graph.ir import ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ops.base import count, flag, rational, register


@dataclass(frozen=True)
class Normalisation(Op):
    """What the norms have in common: the shape stays, and each channel may have a weight and a bias."""

    pure: ClassVar[bool] = False

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    @property
    def mergeable(self) -> bool:
        return not getattr(self, "affine", False)  # its statistics are those of its input, whoever computes them

    def parameters(self, *inputs: Shape) -> int:
        return 2 * inputs[0][0] if getattr(self, "affine", False) else 0


@register
@dataclass(frozen=True)
class BatchNorm(Normalisation):
    """Batch normalisation of each channel. `affine = false` leaves out weight and bias."""

    name: ClassVar[str] = "bn"

    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")
    momentum: Fraction = rational("0.1", maximum="1")

    def torch(self, *inputs: Shape) -> ModuleCall:
        target = "BatchNorm2d" if len(inputs[0]) == 3 else "BatchNorm1d"
        given = _changed(eps=(self.eps, 1e-5), momentum=(self.momentum, 0.1), affine=(self.affine, True))
        return ModuleCall(target, (inputs[0][0],), given)


@register
@dataclass(frozen=True)
class GroupNorm(Normalisation):
    """Normalisation over groups of channels of one sample."""

    name: ClassVar[str] = "group_norm"

    groups: int = count()
    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")

    def shape(self, *inputs: Shape) -> Shape:
        if inputs[0][0] % self.groups:
            raise ShapeError(f"`group_norm` has {self.groups} groups, which do not divide {inputs[0][0]} channels")
        return inputs[0]

    def torch(self, *inputs: Shape) -> ModuleCall:
        given = _changed(eps=(self.eps, 1e-5), affine=(self.affine, True))
        return ModuleCall("GroupNorm", (self.groups, inputs[0][0]), given)


@register
@dataclass(frozen=True)
class LayerNorm(Normalisation):
    """Normalisation over everything in one sample, with a weight and a bias per channel."""

    name: ClassVar[str] = "layer_norm"

    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")

    def torch(self, *inputs: Shape) -> ModuleCall:
        given = _changed(eps=(self.eps, 1e-5), affine=(self.affine, True))
        return ModuleCall("GroupNorm", (1, inputs[0][0]), given)


@register
@dataclass(frozen=True)
class Dropout(Op):
    """Zeroes each value with probability `p` while training."""

    name: ClassVar[str] = "dropout"
    pure: ClassVar[bool] = False

    p: Fraction = rational("0.5", maximum="1")

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def parameters(self, *inputs: Shape) -> int:
        return 0

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Dropout", (float(self.p),))


def _changed(**settings: tuple[Fraction | bool, float | bool]) -> tuple[tuple[str, float | bool], ...]:
    """The keywords whose values differ from the defaults of torch."""
    plain = {name: (v if isinstance(v, bool) else float(v), default) for name, (v, default) in settings.items()}
    return tuple((name, value) for name, (value, default) in plain.items() if value != default)
