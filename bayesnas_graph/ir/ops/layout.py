"""Operations that passes insert around others for speed. Not available in the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesnas_graph.ir import Expression, Op, Shape, ShapeError
from bayesnas_graph.ir.ops.base import count as number
from bayesnas_graph.ir.ops.base import image


@dataclass(frozen=True)
class Reordered(Op):
    """The values of an image in another order, which separates the pixels of each `step` by `step` square."""

    function: ClassVar[str]

    step: int = number(2)

    def shape(self, *inputs: Shape) -> Shape:
        if any(size % self.step for size in image(self, inputs[0])[1:]):
            raise ShapeError(f"`{self.name}` needs sides that are divisible by {self.step}")
        return inputs[0]

    def torch(self, *inputs: Shape) -> Expression:
        return Expression(f"{self.function}({{0}}, {{step}})", (self.step,), self.function)


@dataclass(frozen=True)
class Phases(Reordered):
    """The images made of every `step`-th pixel. Their shape is given as that of the image they are part of."""

    name: ClassVar[str] = "phases"
    changes_batch: ClassVar[bool] = True
    function: ClassVar[str] = "phases"


@dataclass(frozen=True)
class Interleaved(Reordered):
    """The image with these phases."""

    name: ClassVar[str] = "interleaved"
    by_channel: ClassVar[bool] = True
    function: ClassVar[str] = "interleaved"


@dataclass(frozen=True)
class Subsampled(Op):
    """Every `step`-th pixel."""

    name: ClassVar[str] = "subsampled"

    step: int = number(2)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = image(self, inputs[0])
        return channels, -(-height // self.step), -(-width // self.step)

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("subsampled({0}, {step})", (self.step,), "subsampled")


@dataclass(frozen=True)
class Repeated(Op):
    """All channels `count` times, one after another."""

    name: ClassVar[str] = "repeated"

    count: int = number(2)

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = inputs[0]
        return channels * self.count, *sizes

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("torch.cat([{0}] * {count}, 1)", (self.count,))

    @property
    def repeats(self) -> int:
        return self.count


@dataclass(frozen=True)
class RepeatedParts(Op):
    """Each of `parts_in` equal parts of the channels `count` times, one after another."""

    name: ClassVar[str] = "repeated_parts"

    count: int = number(2)
    parts_in: int = number(1)

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = inputs[0]
        if channels % self.parts_in:
            raise ShapeError(f"{channels} channels have no {self.parts_in} equal parts")
        return channels * self.count, *sizes

    def torch(self, *inputs: Shape) -> Expression:
        return Expression("repeated({0}, {count}, {number})", (self.count, self.parts_in), "repeated")


@dataclass(frozen=True)
class Part(Op):
    """One of `count` equal parts of the channels, or `size` of them."""

    name: ClassVar[str] = "part"

    index: int = number(minimum=0)
    count: int = number()
    size: int = number(1)

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = inputs[0]
        if channels % self.count or self.index + self.size > self.count:
            raise ShapeError(f"`part` {self.index} of {self.count} is not in {channels} channels")
        return channels // self.count * self.size, *sizes

    def torch(self, *inputs: Shape) -> Expression:
        unit = inputs[0][0] // self.count
        return Expression("{0}[:, {number}:{number}]", (self.index * unit, (self.index + self.size) * unit))

    def stored_values(self, *inputs: Shape) -> int:
        return 0

    @property
    def parts(self) -> int:
        return self.count

    @property
    def part(self) -> tuple[int, int]:
        return self.index, self.index + self.size
