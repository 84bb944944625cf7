"""Which channels of a value stand or fall with which channels of another.

Networks are made smaller by removing channels. An operation says here what has to go with a channel:
on its other side, in its other inputs, and in its parameters. A vector's channels are its features.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import and_, or_
from typing import Literal

Kept = tuple[bool, ...]  # for every channel of a value, whether it stays


def either(one: Kept, other: Kept) -> Kept:
    """What is in one of two sets of channels.

    >>> either((True, False, False), (False, False, True))
    (True, False, True)
    """
    return tuple(map(or_, one, other))


def both(one: Kept, other: Kept) -> Kept:
    """What is in both of two sets of channels.

    >>> both((True, True, False), (False, True, True))
    (False, True, False)
    """
    return tuple(map(and_, one, other))


@dataclass(frozen=True, slots=True)
class Link:
    """How the channels of one input lead to channels of the output: block by block.

    A block is some consecutive channels of the input and some consecutive channels of the output. Every
    output channel of a block depends on every input channel of it, and on no other channel of this input.

    The channels of a tied block go or stay together, those of the input and those of the output. Where a block
    is not tied, there are weights in between that can be cut along either side, and each channel may go by itself.

    A flattened image of 3 channels, 4 pixels each:

    >>> link = Link(blocks=3, outputs=4)
    >>> link.reached(1), link.read(5)
    (range(4, 8), range(1, 2))
    """

    blocks: int
    inputs: int = 1  # channels of the input in a block
    outputs: int = 1  # channels of the output in a block
    first: int = 0  # the output channel at which the first block begins
    tied: bool = True

    def reached(self, channel: int) -> range:
        """The channels of the output that depend on a channel of the input."""
        start = self.first + channel // self.inputs * self.outputs
        return range(start, start + self.outputs)

    def read(self, channel: int) -> range:
        """The channels of the input that a channel of the output depends on; none outside of the blocks."""
        block = (channel - self.first) // self.outputs
        return range(block * self.inputs, (block + 1) * self.inputs) if 0 <= block < self.blocks else range(0)

    def forwards(self, some: Kept, width: int) -> Kept:
        """The channels of an output so wide that depend on some channels of the input.

        >>> Link(blocks=2, inputs=2, first=1).forwards((False, False, True, False), 4)
        (False, False, True, False)
        """
        reached = _repeated(_by_block(some, self.inputs), self.outputs)
        return (False,) * self.first + reached + (False,) * (width - self.first - len(reached))

    def backwards(self, some: Kept) -> Kept:
        """The channels of the input that some channels of the output depend on.

        >>> Link(blocks=2, inputs=2, first=1).backwards((True, False, True, False))
        (False, False, True, True)
        """
        within = some[self.first : self.first + self.blocks * self.outputs]
        return _repeated(_by_block(within, self.outputs), self.inputs)


def _by_block(some: Kept, size: int) -> Kept:
    """For every block of so many channels whether any of it is in a set; most blocks have one."""
    return some if size == 1 else tuple(any(some[i : i + size]) for i in range(0, len(some), size))


def _repeated(some: Kept, times: int) -> Kept:
    return some if times == 1 else tuple(one for one in some for _ in range(times))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a parameter or buffer that has one entry per channel of the output, or of the only input."""

    name: str
    axis: int
    follows: Literal["input", "output"] = "output"


@dataclass(frozen=True, slots=True)
class Coupling:
    """One link for every input, and the axes of the parameters that are cut as channels are.

    Channels of the output that no link reaches, such as those that padding adds, may go by themselves.
    """

    links: tuple[Link, ...]
    axes: tuple[Axis, ...] = ()

    @classmethod
    def each(cls, *inputs: tuple[int, ...], axes: tuple[Axis, ...] = ()) -> Coupling:
        """Every channel of the output is made of the same channel of each input; these are their shapes.

        >>> Coupling.each((8, 4, 4), (8,)).links == (Link(8), Link(8))
        True
        """
        return cls(tuple(Link(shape[0]) for shape in inputs), axes)
