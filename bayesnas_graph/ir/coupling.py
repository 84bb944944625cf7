"""Which channels of a value can be removed only together with channels of another.

Networks shrink by losing channels. The coupling of an operation states what must be removed with a channel: on its
other side, in its other inputs, and in its parameters. The channels of a vector are its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import and_, or_
from typing import Literal

Mask = tuple[bool, ...]  # for every channel of a value, whether it belongs to a set of channels
Sides = Sequence[Mask | None]  # for every input, its remaining channels; None if the input itself was removed


def union(one: Mask, other: Mask) -> Mask:
    """The channels in either of two masks.

    >>> union((True, False, False), (False, False, True))
    (True, False, True)
    """
    return tuple(map(or_, one, other))


def intersection(one: Mask, other: Mask) -> Mask:
    """The channels in both of two masks.

    >>> intersection((True, True, False), (False, True, True))
    (False, True, False)
    """
    return tuple(map(and_, one, other))


@dataclass(frozen=True, slots=True)
class Link:
    """How the channels of one input lead to channels of the output, block by block.

    A block is a range of consecutive input channels and a range of consecutive output channels. Every output channel
    of a block depends on every input channel of the block, and on no other channel of this input. If input channels
    are interleaved, it depends on at least one of them.

    The channels of a tied block, of input and output, are kept or removed together. A block that is not tied has
    weights in between that can be sliced along either side, so that each channel can be removed alone.

    A flattened image of 3 channels, 4 pixels each:

    >>> link = Link(blocks=3, outputs=4)
    >>> link.reached(1), link.read(5)
    (range(4, 8), range(1, 2))
    """

    blocks: int
    inputs: int = 1  # channels of the input in a block
    outputs: int = 1  # channels of the output in a block
    first: int = 0  # the first output channel of the first block
    tied: bool = True
    before: int = 0  # input channels before the first block, which lead nowhere
    after: int = 0  # input channels after the last block, which lead nowhere
    is_interleaved: bool = False  # input channels take turns: the first of every block, then the second of every block

    @property
    def is_partial(self) -> bool:
        """Whether some input channels lead nowhere."""
        return self.before + self.after > 0

    def reached(self, channel: int) -> range:
        """The channels of the output that depend on a channel of the input; none outside the blocks."""
        inside = channel - self.before
        block = inside % self.blocks if self.is_interleaved else inside // self.inputs
        start = self.first + block * self.outputs
        return range(start, start + self.outputs) if 0 <= inside < self.blocks * self.inputs else range(0)

    def read(self, channel: int) -> range:
        """The channels of the input that a channel of the output depends on; none outside the blocks."""
        block = (channel - self.first) // self.outputs
        if not 0 <= block < self.blocks:
            return range(0)
        if self.is_interleaved:
            return range(self.before + block, self.before + self.blocks * self.inputs, self.blocks)
        return range(self.before + block * self.inputs, self.before + (block + 1) * self.inputs)

    def forwards(self, mask: Mask, width: int) -> Mask:
        """The channels of an output of this width that depend on some channels of the input.

        >>> Link(blocks=2, inputs=2, first=1).forwards((False, False, True, False), 4)
        (False, False, True, False)
        """
        within = mask[self.before : self.before + self.blocks * self.inputs]
        if self.is_interleaved:
            by_block = tuple(any(within[block :: self.blocks]) for block in range(self.blocks))
        else:
            by_block = _by_block(within, self.inputs)
        reached = _repeated(by_block, self.outputs)
        return (False,) * self.first + reached + (False,) * (width - self.first - len(reached))

    def backwards(self, mask: Mask) -> Mask:
        """The channels of the input that some channels of the output depend on.

        >>> Link(blocks=2, inputs=2, first=1).backwards((True, False, True, False))
        (False, False, True, True)
        """
        by_block = _by_block(mask[self.first : self.first + self.blocks * self.outputs], self.outputs)
        read = by_block * self.inputs if self.is_interleaved else _repeated(by_block, self.inputs)
        return (False,) * self.before + read + (False,) * self.after


def _by_block(mask: Mask, size: int) -> Mask:
    """For every block of `size` channels, whether any channel of it is in the mask."""
    return mask if size == 1 else tuple(any(mask[i : i + size]) for i in range(0, len(mask), size))


def _repeated(mask: Mask, times: int) -> Mask:
    return mask if times == 1 else tuple(entry for entry in mask for _ in range(times))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a parameter or buffer that has one entry per channel of the output, or of the only input."""

    name: str
    axis: int
    follows: Literal["input", "output"] = "output"


@dataclass(frozen=True, slots=True)
class Coupling:
    """One link for every input, and the axes of the parameters that are sliced as channels are removed.

    Output channels that no link reaches, such as those that padding adds, can be removed alone.
    """

    links: tuple[Link, ...]
    axes: tuple[Axis, ...] = ()

    def remaining(self, sides: Sides, width: int) -> Mask:
        """The channels of an output of this width that remain: tied to a remaining channel, or to no channel at all.

        >>> Coupling((Link(2), Link(2, first=2))).remaining([(True, False), None], 4)
        (True, False, False, False)
        """
        return tuple(self._remains(channel, sides) for channel in range(width))

    def _remains(self, channel: int, sides: Sides) -> bool:
        reads = [(side, link.read(channel)) for link, side in zip(self.links, sides, strict=True) if link.tied]
        read = [side[i] for side, channels in reads if side is not None for i in channels]
        lost = any(side is None and len(channels) for side, channels in reads)
        return all(read) if read else not lost

    @classmethod
    def each(cls, *inputs: tuple[int, ...], axes: tuple[Axis, ...] = ()) -> Coupling:
        """The coupling of inputs of these shapes, if every output channel depends on the same channel of each input.

        >>> Coupling.each((8, 4, 4), (8,)).links == (Link(8), Link(8))
        True
        """
        return cls(tuple(Link(shape[0]) for shape in inputs), axes)
