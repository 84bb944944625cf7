"""Normalisation and dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Axis, Coupling, Kept, Link, ModuleCall, Op, Shape, ShapeError, both, either
from bayesnas_graph.ir.ops.base import count, flag, rational, register
from bayesnas_graph.ir.ops.curvature import Local, per_channel

if TYPE_CHECKING:
    from torch import Tensor


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

    def normalised(self, local: Local) -> Tensor:
        """The input once it has its mean and variance, without weight and bias."""
        raise NotImplementedError(f"`{self.name}` has no normalised input")

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        if local.module.weight is None:
            return {}
        felt = local.hessian * self.normalised(local).square()
        return {"weight": per_channel(felt), "bias": per_channel(local.hessian)}

    def scaled_by(self) -> tuple[str, ...]:
        return ("weight", "bias") if getattr(self, "affine", False) else ()

    def needs(self, output: Kept, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Kept, ...]:
        if "weight" in tensors:
            output = both(output, _is_there(tensors["weight"]))
        return super().needs(output, tensors, *inputs)

    def _axes(self) -> tuple[Axis, ...]:
        return (Axis("weight", 0), Axis("bias", 0)) if getattr(self, "affine", False) else ()


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

    def normalised(self, local: Local) -> Tensor:
        from torch.nn import functional as F

        norm, (x,) = local.module, local.inputs
        return F.batch_norm(x, norm.running_mean, norm.running_var, eps=norm.eps)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        variance = _along_channels(local.module.running_var, local.hessian)
        return (local.hessian * _squared_weight(local) / (variance + local.module.eps),)

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs, axes=(*self._axes(), Axis("running_mean", 0), Axis("running_var", 0)))

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        """A channel carries where it is multiplied and something arrives, or where zero becomes something else."""
        factor = (tensors["running_var"] + float(self.eps)).rsqrt() * tensors.get("weight", 1)
        of_zero = tensors.get("bias", 0) - tensors["running_mean"] * factor
        return either(both(arriving[0], _is_there(factor)), _is_there(of_zero))


@dataclass(frozen=True)
class SampleNorm(Normalisation):
    """What group norm and layer norm have in common: each group of channels has the statistics of its sample."""

    def normalised(self, local: Local) -> Tensor:
        from torch.nn import functional as F

        return F.group_norm(local.inputs[0], local.module.num_groups, eps=local.module.eps)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        """The diagonal of `J^T diag(H) J`. The second derivatives of the norm itself are left out (Gauss-Newton).

        In a group of `m` values, with `z` the normalised ones and `s` their deviation,

            J_oi = weight_o / s (1[o = i] - 1/m - z_o z_i / m)

        Squared and summed over `o` with `a_o = H_o weight_o^2 / s^2`, this needs of the other places only the sums
        of `a`, `a z` and `a z^2` in the group.
        """
        (x,), norm = local.inputs, local.module

        def grouped(values: Tensor) -> Tensor:
            return values.reshape(len(x), norm.num_groups, -1)

        variance = grouped(x).var(-1, correction=0, keepdim=True)
        a = grouped(local.hessian * _squared_weight(local)) / (variance + norm.eps)
        z = grouped(self.normalised(local))
        m = z.shape[-1]
        zero, one, two = ((a * z**power).sum(-1, keepdim=True) for power in range(3))
        diagonal = a * (1 - 2 * (1 + z**2) / m)
        crossed = (zero + 2 * z * one + z**2 * two) / m**2
        return ((diagonal + crossed).reshape(x.shape),)

    def carries(self, arriving: tuple[Kept, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Kept:
        """What arrives in a channel is in the mean of its group, and so in all channels of that."""
        spread = super().carries(arriving, tensors, *inputs)
        if "weight" not in tensors:
            return spread
        return either(both(spread, _is_there(tensors["weight"])), _is_there(tensors["bias"]))


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
        given = _changed(eps=(self.eps, 1e-5), affine=(self.affine, True))
        return ModuleCall("GroupNorm", (self.groups, inputs[0][0]), given)

    def coupling(self, *inputs: Shape) -> Coupling:
        size = inputs[0][0] // self.groups
        return Coupling((Link(self.groups, size, size),), self._axes())

    def narrowed(self, inputs: tuple[Kept, ...], output: Kept) -> GroupNorm:
        return replace(self, groups=self.groups * sum(output) // len(output))


@register
@dataclass(frozen=True)
class LayerNorm(SampleNorm):
    """Normalisation over everything in one sample, with a weight and a bias per channel."""

    name: ClassVar[str] = "layer_norm"

    affine: bool = flag(True)
    eps: Fraction = rational("0.00001")

    def torch(self, *inputs: Shape) -> ModuleCall:
        given = _changed(eps=(self.eps, 1e-5), affine=(self.affine, True))
        return ModuleCall("GroupNorm", (1, inputs[0][0]), given)

    def coupling(self, *inputs: Shape) -> Coupling:
        channels = inputs[0][0]
        return Coupling((Link(1, channels, channels),), self._axes())


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

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return (local.hessian,)  # out of training it hands its input on

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        return {}

    def coupling(self, *inputs: Shape) -> Coupling:
        return Coupling.each(*inputs)


def _changed(**settings: tuple[Fraction | bool, float | bool]) -> tuple[tuple[str, float | bool], ...]:
    """The keywords whose values differ from the defaults of torch."""
    plain = {name: (v if isinstance(v, bool) else float(v), default) for name, (v, default) in settings.items()}
    return tuple((name, value) for name, (value, default) in plain.items() if value != default)


def _is_there(values: Tensor) -> Kept:
    """Which entries are not zero."""
    return tuple((values != 0).tolist())


def _along_channels(values: Tensor, like: Tensor) -> Tensor:
    """A value per channel, in a shape that meets a batch."""
    return values.reshape(-1, *[1] * (like.ndim - 2))


def _squared_weight(local: Local) -> Tensor | float:
    weight = local.module.weight
    return 1.0 if weight is None else _along_channels(weight.square(), local.hessian)
