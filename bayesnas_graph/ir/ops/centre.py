"""Convolutions with kernels of several sizes that share one set of weights: the centre of the largest kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.ir import ModuleCall, Op, Shape, ShapeError
from bayesnas_graph.ir.call import TensorCut
from bayesnas_graph.ir.ops.base import both, count, plain
from bayesnas_graph.ir.ops.convolution import Conv, Convolution, Depthwise
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Centred(Convolution):
    """Base class: a convolution with the centre of a kernel of size `largest`. Not available in the language."""

    starts_siblings: ClassVar[bool] = False
    has_centre: ClassVar[bool] = True
    plain: ClassVar[type[Convolution]]  # the same with weights of its own

    @property
    def label(self) -> str:
        return self.plain.name

    @property
    def size(self) -> int:
        """The size of its kernel."""
        return int(self.settings()["k"])  # type: ignore[arg-type]

    @property
    def largest(self) -> int:
        """The size of the kernel that its weights have."""
        return int(self.settings()["of"])  # type: ignore[arg-type]

    def alone(self) -> Convolution:
        """The convolution with weights of its own."""
        settings = {name: value for name, value in self.settings().items() if name != "of"}
        return self.plain(**settings)

    @property
    def _selects_pixels(self) -> bool:
        return False  # it is a convolution with a cut of the kernel

    def among(self, others: Iterable[Op]) -> Op:
        sizes = {other.size for other in others if isinstance(other, Centred)}
        return self.alone() if len(sizes) == 1 else replace(self, of=max(sizes))  # type: ignore[call-arg]

    def torch(self, *inputs: Shape) -> ModuleCall:
        call = replace(self.alone(), k=self.largest, padding=self._largest_padding()).torch(*inputs)  # type: ignore[call-arg]
        return replace(call, target="Centre", package="runtime", applied=(self.size,))

    def _largest_padding(self) -> int | tuple[int, int]:
        cut = (self.largest - self.size) // 2
        (high, wide), (rows, columns) = self.window.equal_padding(), both(self.window.dilation)
        return plain((high + cut * rows, wide + cut * columns))

    def tensor_cuts(self, after: Op) -> tuple[TensorCut, ...]:
        if after == self:
            return ()
        size = after.largest if isinstance(after, Centred) else self.size
        cut = (self.largest - size) // 2
        entries = tuple(range(cut, cut + size))
        return (("weight", 2, entries), ("weight", 3, entries)) if cut else ()

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        return super().curvature(self._cropped(local))

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        found = super().weight_curvature(self._cropped(local))
        whole = local.module.weight.new_zeros(local.module.weight.shape)
        cut = (self.largest - self.size) // 2
        whole[..., cut : cut + self.size, cut : cut + self.size] = found["weight"]
        return {**found, "weight": whole}

    def _cropped(self, local: Local) -> Local:
        """What the rules of a convolution need, with the centre of the kernel as the weight."""
        from torch import nn

        module: Any = local.module
        cut = (self.largest - self.size) // 2
        weight = module.weight[..., cut : cut + self.size, cut : cut + self.size]
        channels, bias = weight.shape[1] * module.groups, module.bias is not None
        settings = module.stride, self.window.equal_padding(), module.dilation, module.groups, bias
        conv = nn.Conv2d(channels, len(weight), self.size, *settings, device=weight.device, dtype=weight.dtype)
        conv.weight.data = weight.detach()
        return replace(local, module=conv)


@dataclass(frozen=True)
class CentreConv(Centred, Conv):
    """`conv` with the centre of a larger kernel. Not available in the language."""

    name: ClassVar[str] = "centre_conv"
    plain: ClassVar[type[Convolution]] = Conv

    of: int = count(3)

    def absorbing(self, before: Op) -> Op | None:
        return None


@dataclass(frozen=True)
class CentreDepthwise(Centred, Depthwise):
    """`depthwise` with the centre of a larger kernel. Not available in the language."""

    name: ClassVar[str] = "centre_depthwise"
    plain: ClassVar[type[Convolution]] = Depthwise

    of: int = count(3)

    def absorbing(self, before: Op) -> Op | None:
        return None

    def undilated(self, *inputs: Shape) -> tuple[Op, Op, Op | None] | None:
        return None


def centred(ops: Iterable[Op]) -> list[Op] | None:
    """Convolutions that differ in the size of their kernel, with shared weights.

    None if they are not convolutions, or have kernels of one size. Raises ShapeError if they have no common centre.

    >>> [str(op) for op in centred([Conv(8, 3), Conv(8, 5)]) or ()]
    ['conv(width = 8, of = 5)', 'conv(width = 8, k = 5, of = 5)']
    >>> centred([Conv(8, 3), Conv(8, 3, 2)])
    """
    given = list(ops)
    classes = {type(op) for op in given}
    if classes not in ({Conv}, {Depthwise}):
        return None
    sizes = [op.settings()["k"] for op in given]
    integers = [size for size in sizes if isinstance(size, int)]
    if len(set(sizes)) == 1:
        return None
    if len(integers) < len(sizes) or any(size % 2 == 0 for size in integers):
        raise ShapeError("only square kernels of odd size have a common centre")
    form = CentreConv if classes == {Conv} else CentreDepthwise
    return [form(**op.settings(), of=max(integers)) for op in given]  # type: ignore[arg-type]
