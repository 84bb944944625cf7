"""The channels that remain if a smaller width is chosen. Not available in the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import Expression, Mask, Op, Shape, ShapeError, intersection
from bayesnas_graph.ir.ops.activation import Identity
from bayesnas_graph.ir.ops.base import SameShape, count
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class First(SameShape):
    """The first `n` of the channels from `start` to `stop`, and zeros for the others of these.

    All channels before `start` and from `stop` on, by default none, are as in the input.
    """

    name: ClassVar[str] = "first"
    is_mask: ClassVar[bool] = True

    n: int = count()
    start: int = count(0, minimum=0)
    stop: int | None = count(absent="end")

    def zeroed(self, width: int) -> range:
        return range(self.start + self.n, width if self.stop is None else self.stop)

    def shape(self, *inputs: Shape) -> Shape:
        zeros = self.zeroed(inputs[0][0])
        if zeros.stop > inputs[0][0] or zeros.start > zeros.stop:
            raise ShapeError(f"`first` has the channels {zeros.start} to {zeros.stop} of {inputs[0][0]}")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        zeros, width = self.zeroed(inputs[0][0]), inputs[0][0]
        if zeros.stop == width:
            sides = "0, 0, " * (len(inputs[0]) - 1)
            return Expression(f"F.pad({{0}}[:, :{{number}}], ({sides}0, {{extra}}))", (zeros.start, len(zeros)))
        parts = "{0}[:, :{number}], torch.zeros_like({0}[:, {number}:{number}]), {0}[:, {number}:]"
        numbers = (zeros.start, zeros.start, zeros.stop, zeros.stop)
        return Expression(f"torch.cat([{parts}], 1)", numbers)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        zeros = self.zeroed(local.hessian.shape[1])
        masked = local.hessian.clone()
        masked[:, zeros.start : zeros.stop] = 0
        return (masked,)

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Op:
        """The same on the remaining channels; the identity if none of them becomes zero."""
        zeros = self.zeroed(len(output))
        present, absent = sum(output[self.start : zeros.start]), sum(output[zeros.start : zeros.stop])
        if not absent:
            return Identity()
        start, after = sum(output[: self.start]), sum(output[zeros.stop :])
        return First(present, start, start + present + absent if after else None)

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return intersection(nonzero[0], self._kept(inputs[0][0]))

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        return (intersection(output, self._kept(inputs[0][0])),)

    def _kept(self, width: int) -> Mask:
        zeros = self.zeroed(width)
        return tuple(channel not in zeros for channel in range(width))
