"""Find the choices of a block, which are expanded to candidates and a sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bayesnas_graph.language.elaborate.block import Block, Compute, Nested
from bayesnas_graph.report.pictures.chains import candidate_labels, kernel_of
from bayesnas_graph.report.pictures.diagram import Strand, limit_text


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


@dataclass(frozen=True)
class _Candidate:
    """A candidate of a choice."""

    parts: tuple[Compute | Nested, ...]  # its steps, without those of choices inside it
    inner: tuple[Strand, ...]  # the candidates of the choices inside it
    recipe: str  # all its operations
    plain: bool  # only passes its input on
    note: str  # the limits of the choices inside it


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
        """The candidates of a choice, each followed by those of the choices in it; and the steps of all of them."""
        members = [
            self._members(gate.name, value, sources) for gate, value in zip(step.gates, step.inputs, strict=True)
        ]
        candidates = [self._candidate(steps, depth) for steps in members]
        labels = candidate_labels([gate.label for gate in step.gates], [candidate.parts for candidate in candidates])
        strands: list[Strand] = []
        for gate, label, candidate in zip(step.gates, labels, candidates, strict=True):
            switch = f"{gate.place}: {gate.operation}"
            facts = candidate.recipe, candidate.plain, switch, candidate.note
            kernel = kernel_of(candidate.parts)
            kernels = (kernel,) if kernel else ()
            strands += [Strand(label, gate.name, gate.choice, depth, *facts, kernels), *candidate.inner]
        return strands, set().union(*members)

    def _candidate(self, members: set[int], depth: int) -> _Candidate:
        """A candidate of these steps."""
        inner: list[Strand] = []
        parts: list[Compute | Nested] = []
        recipe: list[str] = []
        notes: list[str] = []
        done: set[int] = set()
        for index in sorted(members, reverse=True):  # a choice comes after the steps of its candidates
            part = self.block.steps[index]
            if index in done:
                continue
            parts.append(part)
            if isinstance(part, Compute) and part.gates:
                strands, steps = self._strands(part, depth + 1, {})
                inner = [*strands, *inner]
                done |= steps
                notes.append(limit_text(part.op.candidate_limit, part.op.candidate_least, len(part.gates)))
                recipe.append(_choice_recipe(part, [strand for strand in strands if strand.depth == depth + 1]))
            else:
                recipe.append(str(part.op) if isinstance(part, Compute) else part.block.definition.name.name)
        plain = _hands_on(self.block.steps[index] for index in members)
        note = ", ".join(filter(None, reversed(notes)))
        return _Candidate(tuple(reversed(parts)), tuple(inner), " > ".join(reversed(recipe)) or "identity", plain, note)

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


def _choice_recipe(step: Compute, strands: list[Strand]) -> str:
    """A choice inside a candidate, as it could be written."""
    candidates = ", ".join(strand.tip for strand in strands)
    if step.op.is_optional:
        return f"optional {candidates}"
    limit = step.op.candidate_limit
    return f"choose {{{candidates}}}" if limit is None else f"choose {limit} {{{candidates}}}"
