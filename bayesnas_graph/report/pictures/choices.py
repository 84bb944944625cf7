"""Find the choices of a block, which are expanded to candidates and a sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.report.pictures.diagram import Strand


@dataclass(frozen=True)
class BlockChoice:
    """A choice of a block, outside the candidates of other choices."""

    step: Compute
    strands: tuple[Strand, ...]
    sources: tuple[int, ...]  # the values that its candidates read
    limit: int | None
    optional: bool
    gate: str = ""  # the switch of the whole choice, for `optional choose`
    least: int = 0


@dataclass(frozen=True)
class BlockChoices:
    """All choices of a block by step, and the steps that are parts of candidates."""

    by_step: dict[int, BlockChoice]
    inside: frozenset[int]
    producers: tuple[int | None, ...]  # the step that produces each value; None for inputs


def choices_of(block: Block) -> BlockChoices:
    """Find the choices of a block."""
    producers: list[int | None] = [None] * len(block.inputs)
    for index, step in enumerate(block.steps):
        producers.extend([index] * (1 if isinstance(step, Compute) else len(step.block.outputs)))
    search = _Search(block, tuple(producers))
    choices = {}
    for index in reversed(range(len(block.steps))):  # a choice comes after the choices inside its candidates
        step = block.steps[index]
        if isinstance(step, Compute) and step.gates and index not in search.inside:
            choices[index] = search.choice(step)
    return BlockChoices(dict(sorted(choices.items())), frozenset(search.inside), search.producers)


class _Search:
    def __init__(self, block: Block, producers: tuple[int | None, ...]) -> None:
        self.block = block
        self.producers = producers
        self.inside: set[int] = set()

    def choice(self, step: Compute) -> BlockChoice:
        sources: dict[int, None] = {}
        optional = step.op.is_optional
        inner = self._wrapped(step) if optional else None
        strands, members = self._strands(step, 0, sources)
        self.inside |= members
        if inner is not None:  # `optional choose` is displayed as one choice
            strands = [replace(strand, depth=strand.depth - 1) for strand in strands[1:]]
        limit, least = (inner or step).op.candidate_limit, (inner or step).op.candidate_least
        gate = step.gates[0].name if inner is not None else ""
        return BlockChoice(step, tuple(strands), tuple(sources), limit, optional, gate, least)

    def _wrapped(self, step: Compute) -> Compute | None:
        """The choice inside `optional choose`; None for other optional operations."""
        producer = self.producers[step.inputs[0]]
        inner = None if producer is None else self.block.steps[producer]
        if not isinstance(inner, Compute) or not inner.op.is_choice:
            return None
        return inner if step.gates[0].name in inner.behind else None

    def _strands(self, step: Compute, depth: int, sources: dict[int, None]) -> tuple[list[Strand], set[int]]:
        """The candidates of a choice, each followed by those of the choices in it, and all their steps."""
        strands: list[Strand] = []
        steps: set[int] = set()
        for gate, value in zip(step.gates, step.inputs, strict=True):
            members = self._members(gate.name, value, sources)
            parts = [self.block.steps[index] for index in sorted(members)]
            switch = f"{gate.place}: {gate.operation}"
            strands.append(Strand(gate.label, gate.name, gate.choice, depth, _recipe(parts), _hands_on(parts), switch))
            done: set[int] = set()
            for index in sorted(members, reverse=True):
                part = self.block.steps[index]
                if index not in done and isinstance(part, Compute) and part.gates:
                    inner, inner_steps = self._strands(part, depth + 1, {})
                    strands += inner
                    done |= inner_steps
            steps |= members
        return strands, steps

    def _members(self, gate: str, value: int, sources: dict[int, None]) -> set[int]:
        """The steps of a candidate; values read from elsewhere are added to `sources`."""
        members: set[int] = set()
        waiting = [value]
        while waiting:
            value = waiting.pop()
            producer = self.producers[value]
            if producer is None or gate not in self.block.steps[producer].behind:
                sources[value] = None
            elif producer not in members:
                members.add(producer)
                waiting.extend(reversed(self.block.steps[producer].inputs))
        return members


def _hands_on(parts: Iterable[Compute | Nested]) -> bool:
    """Return whether a candidate only passes its input on."""
    return all(part.op.passes_through if isinstance(part, Compute) else _hands_on(part.block.steps) for part in parts)


def _recipe(parts: list[Compute | Nested]) -> str:
    """The operations of a candidate."""
    shown = [str(part.op) if isinstance(part, Compute) else part.block.definition.name.name for part in parts]
    return " > ".join(shown) or "identity"
