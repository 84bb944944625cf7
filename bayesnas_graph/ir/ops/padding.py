"""Windows that slide over images and sequences: how they are padded, and how many positions they have.

`padding` is a number, "same" or "valid", or omitted. A number may be a pair: above and below, left and right. All that
follows holds for the height and for the width separately.

- "valid" is 0.
- "same" gives ceil(n / stride) positions. An odd window is padded equally on all sides. An even one has no middle: it
  gets as little padding as it needs; if that is an odd number, there is one more at the bottom and right.
- Without `padding`, an odd window is padded as with "same". An even one that is no larger than its stride, such as a
  patch of 16 pixels or a pool of 2, is not padded. Any other even one gets half its size, minus one, on all sides; at
  stride 1 the image becomes smaller by one, which is a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesnas_graph.ir import Argument, Expression, Op, Shape, ShapeError, shape_text
from bayesnas_graph.ir.ops.base import ChannelByChannel, both, count, image, register
from bayesnas_graph.ir.ops.curvature import Local

if TYPE_CHECKING:
    from torch import Tensor

Pair = int | tuple[int, int]  # for both, or for the height and for the width
Word = Literal["same", "valid"]
SidePadding = int | Word | None
Padding = Pair | Word | None


def padding(*, is_pair: bool = True) -> Any:
    """The field of the argument `padding`."""
    argument = Argument("integer", 0, absent="auto", words=("same", "valid"), is_pair=is_pair)
    return field(default=None, metadata={"argument": argument})


@dataclass(frozen=True, slots=True)
class Side:
    """How the window of an operation slides along a sequence, or the height or width of an image."""

    reach: int  # its size, with the gaps of a dilation
    stride: int
    padding: SidePadding

    def simple_padding(self) -> SidePadding:
        """The same padding, as a number or omitted where possible."""
        if self.padding == "valid":
            return 0
        return None if self.padding == "same" and self.reach % 2 else self.padding

    def equal_padding(self) -> int:
        """The padding if it is equal on both sides, as torch takes it."""
        if self.padding is None:
            return 0 if self.reach % 2 == 0 and self.reach <= self.stride else (self.reach - 1) // 2
        if isinstance(self.padding, str):
            raise ShapeError(f'`padding = "{self.padding}"` is known only with the size of an image')
        return self.padding

    def same_padding(self, size: int) -> tuple[int, int]:
        """The padding before and after `size` pixels that gives ceil(size / stride) positions.

        >>> [Side(reach, stride, "same").same_padding(32) for reach, stride in ((4, 1), (4, 4), (3, 2))]
        [(1, 2), (0, 0), (1, 1)]
        """
        if self.reach % 2:
            return self.reach // 2, self.reach // 2
        positions = -(-size // self.stride)
        total = max((positions - 1) * self.stride + self.reach - size, 0)
        return total // 2, total - total // 2

    def positions(self, op: Op, size: int, too_small: str) -> int:
        """The number of positions of the window. `too_small` is what an error says, with `{}` for the size."""
        if self.padding == "same":
            return -(-size // self.stride)
        padding = self.equal_padding()
        if size + 2 * padding < self.reach:
            problem = "padded " * (padding > 0) + too_small.format(size + 2 * padding)
            raise ShapeError(f"`{op.name}` has a window of {self.reach}, but the {problem}")
        return (size + 2 * padding - self.reach) // self.stride + 1


@dataclass(frozen=True, slots=True)
class Window:
    """How the window of an operation slides over an image."""

    k: Pair
    stride: Pair
    padding: Padding
    dilation: Pair = 1

    @property
    def sides(self) -> tuple[Side, Side]:
        """Along the height and along the width."""
        strides = both(self.stride)
        paddings = self.padding if isinstance(self.padding, tuple) else (self.padding, self.padding)
        high, wide = (Side(*each) for each in zip(self.reach, strides, paddings, strict=True))
        return high, wide

    @property
    def reach(self) -> tuple[int, int]:
        """The height and width of the window, with the gaps of a dilation."""
        (rows, columns), (high, wide) = both(self.k), both(self.dilation)
        return high * (rows - 1) + 1, wide * (columns - 1) + 1

    def simple_padding(self) -> Padding:
        """The same padding, as numbers or omitted where possible."""
        if self.padding == "valid":
            return 0
        return None if self.padding == "same" and all(reach % 2 for reach in self.reach) else self.padding

    def equal_padding(self) -> tuple[int, int]:
        """The padding above and below, and that on the left and right, if each is equal on both sides."""
        high, wide = (side.equal_padding() for side in self.sides)
        return high, wide

    def positions(self, op: Op, height: int, width: int) -> tuple[int, int]:
        """The number of positions along the height and the width of an image."""
        high, wide = self.sides
        rows = high.positions(op, height, "image is only {} high")
        return rows, wide.positions(op, width, "image is only {} wide")

    def doubtful(self, op: Op, shape: Shape) -> str | None:
        """A warning about an even window without `padding` that makes an image smaller."""
        if not any(side.padding is None and side.reach % 2 == 0 and side.stride == 1 for side in self.sides):
            return None
        size = self.reach[0] if self.reach[0] == self.reach[1] else shape_text(self.reach)
        sizes = f"from {shape_text(shape[1:])} to {shape_text(op.shape(shape)[1:])}"
        return f"`{op.name}` with an even window of {size} makes the image smaller, {sizes}"


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
