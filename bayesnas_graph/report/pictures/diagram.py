"""The contents of a drawing without positions, for pictures and for text.

A panel is a graph of boxes and choices, which share one numbering. Wires connect numbers: from the source of a choice
to the choice, and from there to the node that takes its sum.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from bayesnas_graph.ir import inner_name as inner_name  # also imported from here
from bayesnas_graph.ir import zero_name
from bayesnas_graph.report.pictures.settings import Settings, settings_lines

Kind = Literal["input", "output", "node", "operation", "motif"]


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the text, an operation, or a use of a motif."""

    key: int
    kind: Kind
    title: str
    lines: tuple[str, ...] = ()  # smaller, below the title and the arguments
    shape: str = ""  # of its value
    tip: str = ""  # shown when the pointer rests on it
    name: str = ""  # of the node that holds the result, if it is not the title
    opens: int | None = None  # the number of the panel that shows its inside
    steps: tuple[str, ...] = ()  # its uses, by names relative to the motif
    stacks: bool = False  # whether it concatenates, so that more inputs make it wider
    settings: Settings = ()  # the arguments of its operation or motif
    repeats: int = 1  # uses in a row that it stands for
    sources: tuple[int, ...] = ()  # of one output of several: the vertices that it depends on
    back: int = 0  # of an input of a cell in a row of cells: which cell before it computes this input
    subscript: str = ""  # of its title

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is written below its title."""
        return *settings_lines(self.settings), *self.lines

    @property
    def opened(self) -> bool:
        """Whether another panel shows its inside."""
        return self.opens is not None


@dataclass(frozen=True, slots=True)
class Strand:
    """A candidate of a choice."""

    label: str
    gate: str  # the switch, relative to the motif
    choice: str  # its choice, relative to the motif
    depth: int = 0  # 1 for a candidate of a choice inside a candidate, and so on
    tip: str = ""
    plain: bool = False  # only passes its input on
    switch: str = ""  # the displayed name of the switch, relative to the motif
    note: str = ""  # the limits of the choices inside it, such as `1 of 2`
    kernels: tuple[str, ...] = ()  # the sizes of its kernel in all uses, such as `3x3`

    @property
    def text(self) -> str:
        """Its label, with the limits of the choices inside it."""
        return f"{self.label} · {self.note}" if self.note else self.label


@dataclass(frozen=True, slots=True)
class DrawnChoice:
    """Candidates between two nodes. If all are off, which only some choices allow, nothing is passed on."""

    key: int
    strands: tuple[Strand, ...]
    limit: int | None = None  # how many candidates may be on; None for any number
    optional: bool = False  # written `optional`
    gate: str = ""  # the switch of the whole choice, for `optional choose`
    tip: str = ""
    is_decided: bool = False  # whether all remaining strands are on
    least: int = 0  # how many candidates must be on

    @property
    def gates(self) -> tuple[str, ...]:
        """Its switches, except the zero switch."""
        return (*((self.gate,) if self.gate else ()), *(strand.gate for strand in self.strands))

    @property
    def zero(self) -> str:
        """The id of its zero switch, if it has one."""
        return zero_name(self.strands[0].choice)

    @property
    def may_be_off(self) -> bool:
        """Whether nothing may be left of it, which pictures show as a diamond."""
        return not self.is_decided and not self.least

    @property
    def has_zero(self) -> bool:
        """Whether it has a zero switch: an `optional` operation has none, nor a choice that must keep candidates."""
        return not self.least and (not self.optional or bool(self.gate))

    @property
    def note(self) -> str:
        """The limit, such as `1 of 4` or `exactly 1 of 4`; empty if any number may be on."""
        count = sum(strand.depth == 0 for strand in self.strands)
        return "" if self.is_decided else limit_text(self.limit, self.least, count)

    @property
    def dashed(self) -> bool:
        """Whether the lines to and from it are dashed, which means optional."""
        return self.optional and not self.is_decided

    @property
    def bare(self) -> bool:
        """Whether this is an optional connection without an operation."""
        return self.optional and [strand.label for strand in self.strands] == ["identity"]


@dataclass(frozen=True, slots=True)
class Wire:
    """A value from one vertex to another."""

    source: int
    target: int
    count: int = 1  # the number of values on this wire


@dataclass(frozen=True)
class Panel:
    """The body of one motif."""

    title: str
    notes: tuple[str, ...]
    boxes: tuple[Box, ...]
    choices: tuple[DrawnChoice, ...]
    wires: tuple[Wire, ...]
    uses: tuple[str, ...] = ()  # the uses of the motif in the graph; "" for the network itself
    named: tuple[str, ...] = ()  # the name of the motif in each use: motifs that look alike share a panel
    role: str = "motif"
    alias: str = ""  # the drawn motif, if the named one only passes its inputs to it
    variant: int = 1  # a motif whose arguments change its structure has several panels

    @property
    def gates(self) -> tuple[str, ...]:
        """Its switches, except zero switches."""
        return tuple(gate for choice in self.choices for gate in choice.gates)

    @cached_property
    def titles(self) -> dict[int, str]:
        """The title of each box, by its number."""
        return {box.key: box.name or box.title or "…" for box in self.boxes}

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The numbers of its boxes and choices, in the order of their positions in a layout."""
        return tuple(sorted([*(box.key for box in self.boxes), *(choice.key for choice in self.choices)]))

    def sources(self, choice: DrawnChoice) -> list[int]:
        """The vertices that a choice reads."""
        return [wire.source for wire in self.wires if wire.target == choice.key]

    def target(self, choice: DrawnChoice) -> int:
        """The only reader of a choice: a box or another choice."""
        return next(wire.target for wire in self.wires if wire.source == choice.key)

    def route(self, choice: DrawnChoice) -> str:
        """A choice as `p → h[0]`."""
        names = {**dict.fromkeys((other.key for other in self.choices), "choice"), **self.titles}
        sources = ", ".join(names[key] for key in self.sources(choice))
        return f"{sources} → {names[self.target(choice)]}"


def limit_text(limit: int | None, least: int, count: int) -> str:
    """How many of the candidates of a choice may be on, such as `1 of 4`; empty if any number may.

    >>> limit_text(1, 1, 4), limit_text(2, 0, 3), limit_text(None, 0, 3)
    ('exactly 1 of 4', '2 of 3', '')
    """
    return "" if limit is None else f"{'exactly ' * bool(least)}{limit} of {count}"


def titled(role: str, names: Collection[str], variant: int = 1) -> str:
    """The title of a panel.

    >>> titled("cell", ["normal"]), titled("motif", ["a", "b"], 2)
    ('cell normal', 'motifs a (2), b (2)')
    """
    return f"{role}{'s' if len(names) > 1 else ''} {', '.join(numbered(name, variant) for name in names)}"


def numbered(name: str, variant: int) -> str:
    """The name of a motif, with the number of its panel if that is not the first."""
    return name if variant == 1 else f"{name} ({variant})"


@dataclass(frozen=True)
class Diagram:
    """A network as a page of panels."""

    title: str
    summary: str
    panels: tuple[Panel, ...]
    palette: tuple[str, ...] = ()  # names with colours assigned by another diagram

    @cached_property
    def colours(self) -> dict[str, int]:
        """The colour number of every candidate name: equal names have equal colours everywhere."""
        names = dict.fromkeys([*self.palette, *(strand.label for strand in self._strands())])
        return {name: number for number, name in enumerate(names)}

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the candidates shown, in the order of their colours."""
        return tuple(sorted({strand.label for strand in self._strands()}, key=lambda name: self.colours[name]))

    @property
    def gates(self) -> set[str]:
        """The full names of all switches shown, except zero switches."""
        return {inner_name(use, gate) for panel in self.panels for gate in panel.gates for use in panel.uses}

    def only(self, numbers: Sequence[int]) -> Diagram:
        """A diagram of some of its panels, with unchanged colours."""
        places = {number: place for place, number in enumerate(numbers)}
        panels = []
        for number in numbers:
            panel = self.panels[number]
            boxes = [box if box.opens is None else replace(box, opens=places.get(box.opens)) for box in panel.boxes]
            panels.append(replace(panel, boxes=tuple(boxes)))
        return replace(self, panels=tuple(panels), palette=tuple(self.colours))

    def _strands(self) -> Iterator[Strand]:
        for panel in self.panels:
            for choice in panel.choices:
                if not choice.bare:
                    yield from choice.strands
