"""What is drawn, before anything is known about where: the same for a picture and for text.

A panel is a graph of boxes and choices. Both are numbered together, and wires lead from number to
number: from the source of a choice to the choice, and from there to the node that takes its sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Kind = Literal["input", "output", "node", "operation", "motif"]


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the text, an operation, or a use of a motif."""

    key: int
    kind: Kind
    title: str
    lines: tuple[str, ...] = ()  # smaller, below the title
    shape: str = ""  # of what it gives
    tip: str = ""  # shown when the pointer rests on it
    opened: bool = False  # another panel shows what is inside
    name: str = ""  # of the node that holds the result, where it is not the title


@dataclass(frozen=True, slots=True)
class Strand:
    """A candidate of a choice."""

    label: str
    gate: str  # the switch, named from the motif on
    depth: int = 0  # 1 for a candidate of a choice within a candidate, and so on
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates between a node and another. All may be off: then the node gets nothing from here."""

    key: int
    strands: tuple[Strand, ...]
    limit: int | None = None  # how many may be on; None for any number
    optional: bool = False  # written `optional`
    gate: str = ""  # the switch of all of it, for `optional choose`
    tip: str = ""

    @property
    def switches(self) -> int:
        """How many switches it has."""
        return len(self.strands) + bool(self.gate)

    @property
    def note(self) -> str:
        """How many of how many may be on, where that is not simply any number."""
        count = sum(strand.depth == 0 for strand in self.strands)
        return f"{self.limit} of {count}" if self.limit is not None else ""

    @property
    def bare(self) -> bool:
        """Whether this is an optional connection: there is nothing to tell but that it may be off."""
        return self.optional and [strand.label for strand in self.strands] == ["identity"]


@dataclass(frozen=True, slots=True)
class Wire:
    """A value on its way."""

    source: int
    target: int
    count: int = 1  # how many values, where several go the same way


@dataclass(frozen=True)
class Panel:
    """The body of one motif."""

    title: str
    notes: tuple[str, ...]
    boxes: tuple[Box, ...]
    choices: tuple[Choice, ...]
    wires: tuple[Wire, ...]

    @cached_property
    def titles(self) -> dict[int, str]:
        """What each box is called, by its number."""
        return {box.key: box.name or box.title or "…" for box in self.boxes}

    def sources(self, choice: Choice) -> list[int]:
        """What a choice reads."""
        return [wire.source for wire in self.wires if wire.target == choice.key]

    def target(self, choice: Choice) -> int:
        """What reads a choice: one box or other choice, always."""
        return next(wire.target for wire in self.wires if wire.source == choice.key)

    def route(self, choice: Choice) -> str:
        """A choice as `p → h[0]`."""
        names = {**dict.fromkeys((other.key for other in self.choices), "choice"), **self.titles}
        sources = ", ".join(names[key] for key in self.sources(choice))
        return f"{sources} → {names[self.target(choice)]}"


@dataclass(frozen=True)
class Diagram:
    """A network as a page of panels."""

    title: str
    summary: str
    panels: tuple[Panel, ...]

    @cached_property
    def colours(self) -> dict[str, int]:
        """A number for every candidate's name: the same name is the same colour everywhere."""
        names = dict.fromkeys(strand.label for strand in self._strands())
        return {name: number for number, name in enumerate(names)}

    def _strands(self) -> Iterator[Strand]:
        for panel in self.panels:
            for choice in panel.choices:
                if not choice.bare:
                    yield from choice.strands
