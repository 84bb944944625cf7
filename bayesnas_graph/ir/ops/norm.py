"""Normalisation and dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import (
    Axis,
    Coupling,
    Link,
    Mask,
    ModuleCall,
    Shape,
    ShapeError,
    intersection,
    numbers,
    union,
)
from bayesnas_graph.ir.ops.base import FLOAT, SameShape, Untrained, count, flag, rational, register
from bayesnas_graph.ir.ops.curvature import Local, along_channels, per_channel

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Normalisation(SameShape):
    """Base class of norms: the shape stays the same, and each channel may have a weight and a bias."""

    pure: ClassVar[bool] = False
    normalises: ClassVar[bool] = True

    @property
    def is_affine(self) -> bool:
        return bool(self.settings()["affine"])

    @property
    def mergeable(self) -> bool:
        return not self.is_affine  # without weights, its statistics are those of its input

    def parameters(self, *inputs: Shape) -> int:
        return 2 * inputs[0][0] if self.is_affine else 0

    def normalised(self, local: Local) -> Tensor:
        """The normalised input, without weight and bias."""
        raise NotImplementedError(f"`{self.name}` has no normalised input")

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        if local.module.weight is None:
            return {}
        of_weight = local.hessian * self.normalised(local).square()
        return {"weight": per_channel(of_weight), "bias": per_channel(local.hessian)}

    def scale_tensors(self) -> tuple[str, ...]:
        return ("weight", "bias") if self.is_affine else ()

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        if "weight" in tensors:
            output = intersection(output, _nonzero(tensors["weight"]))
        return super().needed_inputs(output, tensors, *inputs)

    def _axes(self) -> tuple[Axis, ...]:
        return (Axis("weight", 0), Axis("bias", 0)) if self.is_affine else ()


@register
@dataclass(frozen=True)
class BatchNorm(Normalisation):
    """Batch normalisation of each channel. `affine = false` omits weight and bias."""

    name: ClassVar[str] = "bn"
    by_channel: ClassVar[bool] = True
    uses_batch_statistics: ClassVar[bool] = True

    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")
    momentum: Fraction = rational("0.1", maximum="1")

    def torch(self, *inputs: Shape) -> ModuleCall:
        target = "BatchNorm2d" if len(inputs[0]) == 3 else "BatchNorm1d"
        settings = numbers(eps=float(self.eps), momentum=float(self.momentum), affine=self.affine)
        return ModuleCall(target, numbers(norm=inputs[0][0]), settings)

    def light_form(self) -> BatchNorm:
        return self if self.affine else LightBatchNorm(**vars(self))

    def normalised(self, local: Local) -> Tensor:
        from torch.nn import functional as F

        norm, (x,) = local.module, local.inputs
        return F.batch_norm(x, norm.running_mean, norm.running_var, eps=norm.eps)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        variance = along_channels(local.module.running_var, local.hessian)
        return (local.hessian * _squared_weight(local) / (variance + local.module.eps),)

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs, axes=(*self._axes(), Axis("running_mean", 0), Axis("running_var", 0)))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        """A channel is nonzero if its input is and its factor is, or if zero is mapped to something else."""
        factor = (tensors["running_var"] + float(self.eps)).rsqrt() * tensors.get("weight", 1)
        at_zero = tensors.get("bias", 0) - tensors["running_mean"] * factor
        return union(intersection(nonzero[0], _nonzero(factor)), _nonzero(at_zero))


@dataclass(frozen=True)
class LightBatchNorm(BatchNorm):
    """A batch norm without weights that stores its output for the backward pass, not its input.

    Not available in the language.
    """

    name: ClassVar[str] = "light_bn"
    saves_output: ClassVar[bool] = True

    affine: bool = flag(False)

    @property
    def label(self) -> str:
        return BatchNorm.name

    @property
    def saves_inputs(self) -> bool:
        return False

    def torch(self, *inputs: Shape) -> ModuleCall:
        call = super().torch(*inputs)
        settings = tuple(number for number in call.kwargs if number.role != "affine")
        return replace(call, target=f"Light{call.target}", kwargs=settings, package="runtime")

    def light_form(self) -> BatchNorm:
        return self

    def invalid_argument(self) -> tuple[str, str] | None:
        return ("affine", "`light_bn` has no weights, so it must be false") if self.affine else None


@dataclass(frozen=True)
class SampleNorm(Normalisation):
    """Base class of group norm and layer norm: statistics over some values of each sample."""

    def grouped(self, values: Tensor, local: Local) -> Tensor:
        """A batch with the values that are normalised together along the last axis."""
        raise NotImplementedError(f"`{self.name}` has no groups")

    def ungrouped(self, values: Tensor, local: Local) -> Tensor:
        """A batch in its own shape again."""
        raise NotImplementedError(f"`{self.name}` has no groups")

    def normalised(self, local: Local) -> Tensor:
        from torch.nn import functional as F

        x = self.grouped(local.inputs[0], local)
        return self.ungrouped(F.layer_norm(x, x.shape[-1:], eps=local.module.eps), local)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        """The diagonal of `J^T diag(H) J`. The second derivatives of the norm itself are omitted (Gauss-Newton).

        In a group of `m` values, with `z` the normalised ones and `s` their deviation,

            J_oi = weight_o / s (1[o = i] - 1/m - z_o z_i / m)

        Squared and summed over `o` with `a_o = H_o weight_o^2 / s^2`, this needs only the sums of `a`, `a z` and
        `a z^2` over the group.
        """
        variance = self.grouped(local.inputs[0], local).var(-1, correction=0, keepdim=True)
        a = self.grouped(local.hessian * _squared_weight(local), local) / (variance + local.module.eps)
        z = self.grouped(self.normalised(local), local)
        m = z.shape[-1]
        zero, one, two = ((a * z**power).sum(-1, keepdim=True) for power in range(3))
        diagonal = a * (1 - 2 * (1 + z**2) / m)
        crossed = (zero + 2 * z * one + z**2 * two) / m**2
        return (self.ungrouped(diagonal + crossed, local),)

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        """A nonzero channel changes the mean of its group, and so all channels of the group."""
        spread = super().nonzero_outputs(nonzero, tensors, *inputs)
        if "weight" not in tensors:
            return spread
        return union(intersection(spread, _nonzero(tensors["weight"])), _nonzero(tensors["bias"]))


@register
@dataclass(frozen=True)
class GroupNorm(SampleNorm):
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
        settings = numbers(eps=float(self.eps), affine=self.affine)
        return ModuleCall("GroupNorm", numbers(groups=self.groups, norm=inputs[0][0]), settings)

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return 2 * FLOAT * self.groups  # a mean and a deviation

    def grouped(self, values: Tensor, local: Local) -> Tensor:
        return values.reshape(len(values), self.groups, -1)

    def ungrouped(self, values: Tensor, local: Local) -> Tensor:
        return values.reshape(local.inputs[0].shape)

    def coupling(self, *inputs: Shape) -> Coupling:
        size = inputs[0][0] // self.groups
        return Coupling((Link(self.groups, size, size),), self._axes())

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> GroupNorm:
        return replace(self, groups=self.groups * sum(output) // len(output))


@register
@dataclass(frozen=True)
class LayerNorm(SampleNorm):
    """Normalisation over the channels of every position, as in transformers and ConvNeXt; `group_norm(1)` is over all.

    Each channel has a weight and a bias; `affine = false` omits them.
    """

    name: ClassVar[str] = "layer_norm"

    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")

    def torch(self, *inputs: Shape) -> ModuleCall:
        settings = numbers(eps=float(self.eps), elementwise_affine=self.affine)
        package = "nn" if len(inputs[0]) == 1 else "runtime"
        return ModuleCall("LayerNorm", numbers(norm=inputs[0][0]), settings, package)

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return 2 * FLOAT * prod(inputs[0][1:])  # a mean and a deviation

    def grouped(self, values: Tensor, local: Local) -> Tensor:
        return values.movedim(1, -1)

    def ungrouped(self, values: Tensor, local: Local) -> Tensor:
        return values.movedim(-1, 1)

    def coupling(self, *inputs: Shape) -> Coupling:
        channels = inputs[0][0]
        return Coupling((Link(1, channels, channels),), self._axes())


@register
@dataclass(frozen=True)
class Dropout(SameShape, Untrained):
    """Zeroes each value with probability `p` while training."""

    name: ClassVar[str] = "dropout"

    p: Fraction = rational("0.5", maximum="1")

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return size * prod(inputs[0])  # which values are zero, as factors

    def torch(self, *inputs: Shape) -> ModuleCall:
        return ModuleCall("Dropout", numbers(p=float(self.p)))

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,)  # in evaluation mode it returns its input


def _nonzero(values: Tensor) -> Mask:
    """A mask of the nonzero entries."""
    return tuple((values != 0).tolist())


def _squared_weight(local: Local) -> Tensor | float:
    weight = local.module.weight
    return 1.0 if weight is None else along_channels(weight.square(), local.hessian)
