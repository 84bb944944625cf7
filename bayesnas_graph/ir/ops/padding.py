"""Windows that slide over images: how they are padded, and how many positions they have.

`padding` is a number, "same" or "valid", or omitted.

- "valid" is 0.
- "same" gives ceil(n / stride) positions. An odd window is padded equally on all sides. An even one has no middle: it
  gets as little padding as it needs; if that is an odd number, there is one more at the bottom and right.
- Without `padding`, an odd window is padded as with "same". An even one that is no larger than its stride, such as a
  patch of 16 pixels or a pool of 2, is not padded. Any other even one gets half its size, minus one, on all sides; at
  stride 1 the image becomes smaller by one, which is a warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesnas_graph.ir import Expression, Op, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops.base import ChannelByChannel, count, image, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor

Padding = int | Literal["same", "valid"] | None


def padding() -> Any:
    """The field of the argument `padding`."""
    return count(absent="auto", minimum=0, words=("same", "valid"))


@dataclass(frozen=True, slots=True)
class Window:
    """How the window of an operation slides over an image."""

    reach: int  # its size, with the gaps of a dilation
    stride: int
    padding: Padding

    def simple_padding(self) -> Padding:
        """The same padding, as a number or omitted where possible."""
        if self.padding == "valid":
            return 0
        return None if self.padding == "same" and self.reach % 2 else self.padding

    def equal_padding(self) -> int:
        """The padding if it is equal on all sides, as torch takes it."""
        if self.padding is None:
            return 0 if self.reach % 2 == 0 and self.reach <= self.stride else (self.reach - 1) // 2
        if isinstance(self.padding, str):
            raise ShapeError(f'`padding = "{self.padding}"` is known only with the size of an image')
        return self.padding

    def same_padding(self, size: int) -> tuple[int, int]:
        """The least padding before and after `size` pixels that gives ceil(size / stride) positions.

        >>> Window(4, 1, "same").same_padding(32), Window(4, 4, "same").same_padding(32)
        ((1, 2), (0, 0))
        """
        positions = -(-size // self.stride)
        total = max((positions - 1) * self.stride + self.reach - size, 0)
        return total // 2, total - total // 2

    def positions(self, op: Op, height: int, width: int) -> tuple[int, int]:
        """The number of positions along the height and the width of an image."""
        if self.padding == "same":
            return -(-height // self.stride), -(-width // self.stride)
        padding = self.equal_padding()
        for size, side in ((height, "high"), (width, "wide")):
            if size + 2 * padding < self.reach:
                image = f"{'padded ' * (padding > 0)}image is only {size + 2 * padding} {side}"
                raise ShapeError(f"`{op.name}` has a window of {self.reach}, but the {image}")
        rows, columns = ((size + 2 * padding - self.reach) // self.stride + 1 for size in (height, width))
        return rows, columns

    def doubtful(self, op: Op, shape: Shape) -> str | None:
        """A warning about an even window without `padding` that makes an image smaller."""
        if self.padding is not None or self.reach % 2 or self.stride > 1:
            return None
        sizes = f"from {shape_text(shape[1:])} to {shape_text(op.shape(shape)[1:])}"
        return f"`{op.name}` with an even window of {self.reach} makes the image smaller, {sizes}"


@register
@dataclass(frozen=True)
class Pad(ChannelByChannel):
    """The image with rows and columns of zeros around it."""

    name: ClassVar[str] = "pad"

    top: int = count(0, minimum=0)
    bottom: int = count(0, minimum=0)
    left: int = count(0, minimum=0)
    right: int = count(0, minimum=0)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        return channels, height + self.top + self.bottom, width + self.left + self.right

    def torch(self, *inputs: Shape) -> Expression:
        sides = self.left, self.right, self.top, self.bottom
        return Expression("F.pad({0}, ({left}, {right}, {top}, {bottom}))", sides)

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        rows, columns = local.inputs[0].shape[2:]
        return (local.hessian[:, :, self.top : self.top + rows, self.left : self.left + columns],)
