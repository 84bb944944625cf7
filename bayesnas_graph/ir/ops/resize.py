"""Images of another size, without weights: interpolation, and pools of a given number of windows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

from bayesnas_graph.ir import Expression, Shape
from bayesnas_graph.ir.ops.base import INDEX, ChannelByChannel, both, count, image, pair, plain, register, word
from bayesnas_graph.ir.ops.curvature import Local, handed_to

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Resampling(ChannelByChannel):
    """Base class of operations that give each channel another size."""

    by_channel: ClassVar[bool] = True

    def size(self, height: int, width: int) -> tuple[int, int]:
        """The height and width of the output."""
        raise NotImplementedError(f"`{self.name}` has no size")

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        return channels, *self.size(height, width)


@dataclass(frozen=True)
class Separable(Resampling):
    """Base class of those that are linear, rows and columns separately: every value of the output is `a^T x b`.

    So a diagonal is propagated with the squares of both matrices.
    """

    def weights(self, identity: Tensor, size: int) -> Tensor:
        """The matrix that gives a column `size` values, from an identity matrix with its number of values."""
        raise NotImplementedError(f"`{self.name}` has no matrix")

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch import einsum, eye

        x, hessian = local.inputs[0], local.hessian
        rows, columns = (
            self.weights(eye(before, dtype=x.dtype, device=x.device), after).square()
            for before, after in zip(x.shape[2:], hessian.shape[2:], strict=True)
        )
        return (einsum("oi,ncop,pj->ncij", rows, hessian, columns),)


@dataclass(frozen=True)
class Interpolation(Separable):
    """Base class of interpolations, in which a position is the middle of a pixel, not its corner."""

    def weights(self, identity: Tensor, size: int) -> Tensor:
        from torch.nn import functional as F

        shape = size, len(identity)
        return F.interpolate(identity[None, None], shape, mode=str(self.settings()["mode"]))[0, 0]


@register
@dataclass(frozen=True)
class Upsample(Interpolation):
    """The image `factor` times as large. `mode` is "nearest" or "bilinear"."""

    name: ClassVar[str] = "upsample"
    always_shown: ClassVar[tuple[str, ...]] = ("factor",)

    factor: int | tuple[int, int] = pair(2)
    mode: str = word("nearest", "bilinear")

    def size(self, height: int, width: int) -> tuple[int, int]:
        rows, columns = both(self.factor)
        return rows * height, columns * width

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("F.interpolate({0}, scale_factor={factor}, mode={mode})", (self.factor, self.mode))


@register
@dataclass(frozen=True)
class Resize(Interpolation):
    """The image in a given size, larger or smaller. `mode` is "bilinear" or "nearest"."""

    name: ClassVar[str] = "resize"

    height: int = count()
    width: int | None = count(absent="height")
    mode: str = word("bilinear", "nearest")

    def size(self, height: int, width: int) -> tuple[int, int]:
        return self.height, self.width or self.height

    def torch(self, *inputs: Shape) -> Expression:
        rows, columns = self.size(*inputs[0][1:])
        return Expression("F.interpolate({0}, ({rows}, {columns}), mode={mode})", (rows, columns, self.mode))


@dataclass(frozen=True)
class AdaptivePool(Resampling):
    """Base class of pools with a given number of windows, which have equal sizes or nearly so."""

    height: int = count()
    width: int | None = count(absent="height")

    def size(self, height: int, width: int) -> tuple[int, int]:
        return self.height, self.width or self.height

    def repeats_on_cuda(self, *inputs: Shape) -> bool:
        return self.size(*inputs[0][1:]) == (1, 1)  # a mean, or a pool of the whole image

    def _call(self, function: str, shape: Shape) -> Expression:
        return Expression(f"F.{function}({{0}}, ({{rows}}, {{columns}}))", self.size(*shape[1:]))


@register
@dataclass(frozen=True)
class AdaptiveAvgPool(AdaptivePool, Separable):
    """The means of `height` times `width` windows that together cover the image."""

    name: ClassVar[str] = "adaptive_avg_pool"

    @property
    def saves_inputs(self) -> bool:
        return self.size(0, 0) != (1, 1)  # which is a mean

    def torch(self, *inputs: Shape) -> Expression:
        return self._call("adaptive_avg_pool2d", inputs[0])

    def weights(self, identity: Tensor, size: int) -> Tensor:
        from torch.nn import functional as F

        return F.adaptive_avg_pool2d(identity[None, None], (size, len(identity)))[0, 0]


@register
@dataclass(frozen=True)
class AdaptiveMaxPool(AdaptivePool):
    """The largest values in `height` times `width` windows that together cover the image."""

    name: ClassVar[str] = "adaptive_max_pool"

    @property
    def saves_inputs(self) -> bool:
        return True

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        return INDEX * prod(self.shape(*inputs))  # where the largest values are

    def torch(self, *inputs: Shape) -> Expression:
        (_, height, width), (rows, columns) = inputs[0], self.size(*inputs[0][1:])
        if height % rows or width % columns:
            return self._call("adaptive_max_pool2d", inputs[0])
        # Equal windows: an ordinary pool, which ONNX has too.
        return Expression("F.max_pool2d({0}, {kernel})", (plain((height // rows, width // columns)),))

    def repeats_on_cuda(self, *inputs: Shape) -> bool:
        (_, height, width), (rows, columns) = inputs[0], self.size(*inputs[0][1:])
        return not (height % rows or width % columns)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        from torch.nn import functional as F

        (x,) = local.inputs
        _, largest = F.adaptive_max_pool2d(x, local.hessian.shape[2:], return_indices=True)
        return (handed_to(largest, local.hessian, x),)
