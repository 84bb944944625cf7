"""Values whose number of channels is chosen: which channels there are, depending on the number.

Such a value is computed with all channels that it can have. A channel that is absent is not read: before an operation
that mixes channels, it is replaced by zeros (`First`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayesnas_graph.ir import Link, Op, Shape, ShapeError
from bayesnas_graph.language.elaborate.number_choices import NumberChoice

WIDEST = 65_536  # channels of a value whose width is chosen


@dataclass(frozen=True, slots=True)
class Presence:
    """The options of a number with which a channel is there."""

    choice: NumberChoice
    options: frozenset[int]


Channels = tuple[tuple[int, Presence | None], ...]  # runs of channels, each with its length; None if always there


def chosen_channels(choice: NumberChoice, widths: Sequence[int]) -> Channels | None:
    """The first so many channels, depending on a choice; None if it makes no difference."""
    runs: list[tuple[int, Presence | None]] = []
    before = 0
    for width in sorted(set(widths)):
        options = frozenset(i for i, other in enumerate(widths) if other >= width)
        runs.append((width - before, None if len(options) == len(widths) else Presence(choice, options)))
        before = width
    return tuple(runs) if len(runs) > 1 else None


def numbers_in(channels: Iterable[Channels | None]) -> list[NumberChoice]:
    """The numbers that some values depend on."""
    found = {run.choice: None for runs in channels if runs for _, run in runs if run is not None}
    return list(found)


def width_with(channels: Channels, choice: NumberChoice, option: int) -> int:
    """The number of channels with one option of a number, and as many as possible otherwise."""
    return sum(count for count, run in channels if run is None or run.choice != choice or option in run.options)


def narrow_shapes(
    shapes: Sequence[Shape], channels: Sequence[Channels | None], choice: NumberChoice, option: int
) -> list[Shape]:
    """The shapes of values with one option of a number."""
    return [
        shape if runs is None else (width_with(runs, choice, option), *shape[1:])
        for shape, runs in zip(shapes, channels, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Reading:
    """What becomes of chosen widths at an operation."""

    output: Channels | None  # the channels of its output
    mixes: bool  # whether it must not see absent channels


def read(op: Op, shapes: Sequence[Shape], channels: Sequence[Channels | None]) -> Reading:
    """How an operation reads values whose widths are chosen. Raises ShapeError if it cannot."""
    shape, links = op.shape(*shapes), op.coupling(*shapes).links
    widths: dict[tuple[NumberChoice, int], int] = {}
    for choice in numbers_in(channels):
        for option in range(len(choice)):
            try:
                width, *sizes = op.shape(*narrow_shapes(shapes, channels, choice, option))
            except ShapeError as error:
                raise ShapeError(f"{error} with `{choice.name} = {choice.options[option]}`") from None
            if sizes != list(shape[1:]):
                raise ShapeError(f"`{op.label}` cannot read a value whose width is chosen")
            widths[choice, option] = width
    carried = _carried(op, shape, shapes, links, channels)
    if carried is not None and all(width_with(carried, *key) == width for key, width in widths.items()):
        return Reading(carried, mixes=False)
    takes_part = op.selects or any(link.is_partial for link in links)
    if not takes_part and all(link.inputs == 1 if link.tied else link.blocks == 1 for link in links):
        if all(width == shape[0] for width in widths.values()):
            return Reading(None, mixes=True)
        first = channels[0]
        keeps = len(shapes) == 1 and first is not None and shapes[0][0] == shape[0]
        if keeps and all(width_with(first or (), *key) == width for key, width in widths.items()):
            return Reading(first, mixes=True)  # it keeps the number of channels, whatever it is
    raise ShapeError(f"`{op.label}` cannot read a value whose width is chosen")


def _carried(
    op: Op, shape: Shape, shapes: Sequence[Shape], links: Sequence[Link], channels: Sequence[Channels | None]
) -> Channels | None:
    """The channels of an output that depends, channel by channel, on those of its inputs; None if it does not."""
    if not all(link.tied for link in links) or not _keeps_blocks(op, shape, shapes, links):
        return None
    inputs = []
    for runs, (width, *_), link in zip(channels, shapes, links, strict=True):
        counted = runs or ((width, None),)
        if any(count % link.inputs for count, _ in counted):
            return None
        inputs.append(tuple((count // link.inputs * link.outputs, run) for count, run in counted))
    if op.concatenates:
        return _merged(run for runs in inputs for run in runs)
    if any(runs != inputs[0] for runs in inputs) or sum(count for count, _ in inputs[0]) != shape[0]:
        return None
    return inputs[0]


def _keeps_blocks(op: Op, shape: Shape, shapes: Sequence[Shape], links: Sequence[Link]) -> bool:
    """Whether it is the same operation on fewer blocks of channels, such as heads: true if a block is a channel."""
    if all(link.inputs == 1 for link in links):
        return True
    blocks = max(link.blocks for link in links if link.inputs > 1)
    masks = [tuple(i < width // blocks for i in range(width)) for width, *_ in (*shapes, shape)]
    return op.narrowed(tuple(masks[:-1]), masks[-1]) == op


def _merged(runs: Iterable[tuple[int, Presence | None]]) -> Channels:
    """Runs without two alike next to each other."""
    found: list[tuple[int, Presence | None]] = []
    for count, run in runs:
        if found and found[-1][1] == run:
            count += found.pop()[0]
        found.append((count, run))
    return tuple(found)
