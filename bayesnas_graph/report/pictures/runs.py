"""Uses of one motif in a row, drawn as one box."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bayesnas_graph.language.elaborate.block import Block, Compute, Nested

SHORTEST = 4  # shorter runs are drawn one by one


@dataclass(frozen=True)
class RepeatedUse:
    """Uses in a row, each reading the ones before it in the same way."""

    first: int  # step
    first_value: int
    count: int
    window: int  # number of preceding uses that each reads

    @property
    def text(self) -> str:
        """Its caption."""
        return f"× {self.count}" + (f", each reads the {self.window} before" if self.window > 1 else "")


def repeated_uses(
    block: Block,
    inside: frozenset[int],
    readers: Mapping[int, Sequence[int | None]],
    opened: Callable[[Block], object],
) -> dict[int, RepeatedUse]:
    """The runs of a block, by each of their steps. Blocks with different panels are not merged."""
    repeated: dict[int, RepeatedUse] = {}
    steps: list[tuple[int, int, Nested]] = []  # step, value and use of the run so far
    value = len(block.inputs)
    for index, step in enumerate(block.steps):
        fits = isinstance(step, Nested) and len(step.block.outputs) == 1 and index not in inside
        if steps and not (fits and isinstance(step, Nested) and _alike(steps[-1], (index, value, step), opened)):
            repeated.update(_closed(steps, readers))
            steps = []
        if fits and isinstance(step, Nested):
            steps.append((index, value, step))
        value += 1 if isinstance(step, Compute) else len(step.block.outputs)
    repeated.update(_closed(steps, readers))
    return repeated


def _alike(last: tuple[int, int, Nested], new: tuple[int, int, Nested], opened: Callable[[Block], object]) -> bool:
    """Return whether a use continues a run: the same motif and size, reading at the same distances.

    Numbers among the arguments may only differ where the number of channels changes: they are shown as a range.
    """
    blocks = last[2].block, new[2].block
    same_motif = blocks[0].definition is blocks[1].definition and opened(blocks[0]) == opened(blocks[1])
    same_size = last[2].block.output_shapes[0][1:] == new[2].block.output_shapes[0][1:]
    same_arguments = _without_flags(blocks[0]) == _without_flags(blocks[1])
    same_width = blocks[0].output_shapes == blocks[1].output_shapes
    distances = [[use[1] - source for source in use[2].inputs] for use in (last, new)]
    alike = same_motif and same_size and (same_arguments or not same_width)
    return alike and distances[0] == distances[1] and 1 in distances[1] and new[0] == last[0] + 1


def _without_flags(block: Block) -> list[tuple[str, object]]:
    return [(name, value) for name, value in block.arguments if not isinstance(value, bool)]


def _closed(
    steps: list[tuple[int, int, Nested]], readers: Mapping[int, Sequence[int | None]]
) -> dict[int, RepeatedUse]:
    if len(steps) < SHORTEST:
        return {}
    first, value, use = steps[0]
    window = max(value - source for source in use.inputs)
    indices = {index for index, _, _ in steps}
    for _, inner, _ in steps[:-window]:
        if any(reader not in indices for reader in readers[inner]):
            return {}  # something else reads from the middle
    run = RepeatedUse(first, value, len(steps), window)
    return dict.fromkeys(indices, run)
